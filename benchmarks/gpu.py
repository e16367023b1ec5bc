"""`make gpu-plan`: what the game's programs would do on a GPU, counted where there is none; `make gpu-check` compares.

XLA's own GPU compiler runs, for a device that is only described, and the program that it makes tells how many kernels
each loop launches and how many bytes they move. That is a plan and no measurement: what follows is a bound on speed.

    python -m benchmarks.gpu [--all] [--check]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.gpu_devices import DEVICES
from benchmarks.second_venv import ROOT, NotHere, SecondVenv
from scripts.setup import last_line

JAX = "0.10.2"
"""With which the figures are made: another compiler joins other kernels."""
VENV = SecondVenv(
    "gpu-venv", f"JAX {JAX} with its CUDA wheels",
    ("-c", str(ROOT / "constraints.txt"), f"jax[cuda13]=={JAX}", "gymnasium", "flax", "optax", "safetensors"),
    series=((3, 11), (3, 12), (3, 13)), note="this downloads about 4.4 GB of CUDA wheels",
)  # fmt: skip

SHIPPED = Path(__file__).with_name("gpu_plan.json")
PAGE, README = ROOT / "docs" / "gpu.md", ROOT / "README.md"
BEGIN, END = "<!-- gpu plan: begin -->", "<!-- gpu plan: end -->"

GAMES = ("plain", "specials", "everything")
BOARDS, LEARNED = 65_536, 4_096
LAUNCH = (2e-6, 5e-6)
"""Seconds that a launch takes at least, and often."""
GROWTH = 1.10
"""By how much a count may grow unnoticed."""

Plan = dict[str, Any]


class Case(NamedTuple):
    """One program to compile."""

    program: str
    game: str
    boards: int = BOARDS
    device: str = "a100"
    devices: int = 1

    @property
    def name(self) -> str:
        return f"{self.program}, {self.game}, {self.boards:,} boards, {self.devices} x {self.device}"


def cases(everything: bool) -> list[Case]:
    """What is compiled."""
    usual = [Case(program, game) for program in ("rollout", "step", "environment") for game in GAMES]
    usual += [Case("update", "plain", LEARNED), Case("rollout", "plain", devices=8)]
    if not everything:
        return usual
    more = [Case("rollout", game, device="h100") for game in GAMES]
    more += [Case("rollout", "plain", boards) for boards in (4_096, 524_288)]
    return [*usual, *more, Case("update", "plain", LEARNED, devices=8)]


def main() -> None:
    """Compile, then write or compare."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("--all", action="store_true", help="a newer GPU, more sizes, and PPO on eight devices, too")
    parser.add_argument("--check", action="store_true", help="compare with the figures that ship, and write nothing")
    options = parser.parse_args()
    try:
        python = VENV.python()
    except NotHere as reason:
        sys.exit(f"{reason}: nothing was planned")
    if options.check:
        sys.exit("\n".join(compared(python)) or None)
    figures = shipped()
    for case in cases(options.all):
        plan = planned(python, case)
        if "error" in plan:
            sys.exit(plan["error"])
        figures["plans"][case.name] = plan
        keep(figures)
    for game in GAMES:
        print(f"counting beats: {game}", file=sys.stderr, flush=True)
        figures["beats a move"][game] = counted(game)
        keep(figures)
    write(**{name.replace(" ", "_"): figures[name] for name in figures})


def shipped() -> dict[str, Any]:
    """The plans by their names, and the beats that a move takes by games."""
    return json.loads(SHIPPED.read_text(encoding="utf-8")) if SHIPPED.is_file() else {"plans": {}, "beats a move": {}}


def keep(figures: dict[str, Any]) -> None:
    """Write them, all or nothing."""
    new = SHIPPED.with_suffix(".new")
    new.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    new.replace(SHIPPED)


def counted(game: str) -> float:
    """Beats a move; what counts them runs on the CPU, and is imported only for that."""
    from benchmarks.gpu_beats import beats_a_move

    return round(beats_a_move(game), 3)


def compared(python: Path) -> list[str]:
    """What no longer compiles, or has grown; all that ships is compiled again."""
    found: list[str] = []
    for old in shipped()["plans"].values():
        case = Case(*(old[field] for field in Case._fields))
        new = planned(python, case)
        found += [new["error"]] if "error" in new else grown(case.name, old, new)
    return found


def grown(name: str, old: Plan, new: Plan) -> list[str]:
    """A sentence for each count that has grown by too much."""
    return [
        f"{name}: {what} were {before:,} and are {now:,}; if that is meant, `make gpu-plan` writes new figures"
        for (what, before), (_, now) in zip(counts(old).items(), counts(new).items(), strict=True)
        if now > before * GROWTH
    ]


def counts(plan: Plan) -> dict[str, int]:
    """What is watched."""
    beat = plan["beats"][0]
    return {
        "launches a beat": beat["launches"],
        "bytes a beat": beat["bytes"],
        "loops in a beat that ask the host": beat["open_loops"],
        "collectives in a beat": beat["collectives"],
        "launches outside of beats": plan["outside"]["launches"],
        "bytes of temporary memory a board": plan["temporary_bytes"],
    }


def planned(python: Path, case: Case) -> Plan:
    """The plan of one program, with the beats that a move takes; or a sentence, as its `error`."""
    print(f"compiling: {case.name}", file=sys.stderr, flush=True)
    command = [str(python), "-m", "benchmarks.gpu_compile", *map(str, case)]
    done = subprocess.run(command, cwd=ROOT, env=surroundings(python), capture_output=True, text=True)
    if done.returncode != 0:
        return {"error": f"{case.name} does not compile: {last_line(done.stderr)}"}
    plan: Plan = json.loads(done.stdout.splitlines()[-1])
    return plan


def surroundings(python: Path) -> dict[str, str]:
    """In which XLA's GPU compiler runs without a driver: nobody documents the second one, nor where libraries lie."""
    libraries = python.parent.parent.glob("lib/python3*/site-packages/nvidia/cu13/lib")
    return {
        **os.environ,
        "JAX_PLATFORMS": "cpu",
        "JAX_SKIP_CUDA_CONSTRAINTS_CHECK": "1",
        "LD_LIBRARY_PATH": os.pathsep.join(map(str, libraries)),
        "CRUSH_GYM_PLATFORM": "gpu",
        "CRUSH_GYM_CACHE": "off",
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }


# ------------------------------------------------------------------ the page


def bound(plan: Plan, beats_a_move: float, launch: float) -> float:
    """Moves a second that cannot be exceeded: each beat takes its launches, or its bytes, whichever is longer."""
    beat, bandwidth = plan["beats"][0], DEVICES[plan["device"]].bandwidth * plan["devices"]
    bytes_of_all = beat["bytes"] * plan["devices"]  # the plan is that of one device
    seconds = max(beat["launches"] * launch, bytes_of_all / bandwidth)
    moves: float = plan["boards"] / beats_a_move / seconds
    return moves


def table(plans: dict[str, Plan], beats: dict[str, float]) -> str:
    """Rollouts of games whose beats were counted, by beat and by move, with the bound."""
    lines = [
        "| rollout on | launches a beat | bytes a beat (x state) | beats a move | launches, MB a move of all boards "
        "| temporary bytes a board | bound, M moves/s |",
        "|---|---|---|---|---|---|---|",
    ]
    for plan in plans.values():
        if plan["program"] != "rollout" or plan["game"] not in beats:
            continue
        beat, each = plan["beats"][0], beats[plan["game"]]
        low, high = (bound(plan, each, launch) / 1e6 for launch in reversed(LAUNCH))
        own = plan["boards"] // plan["devices"]
        lines.append(
            f"| {plan['devices']} x {plan['device'].upper()}, {plan['game']}, {plan['boards']:,} boards "
            f"| {beat['launches']} | {beat['bytes'] / 1e6:,.0f} MB ({beat['bytes'] / own / plan['state_bytes']:.1f}) "
            f"| {each:.2f} | {beat['launches'] * each:.0f}, {beat['bytes'] * each / 1e6:,.0f} "
            f"| {plan['temporary_bytes']:,} | {low:,.0f} to {high:,.0f} |"
        )
    return "\n".join(lines)


def other_table(plans: dict[str, Plan]) -> str:
    """The other programs: what they do once, and in each beat of their first loop."""
    lines = [
        "| program | launches, MB outside of beats | launches, MB a beat | loops of beats "
        "| collectives in a beat, in all | temporary bytes a board | compiled in, of all cores |",
        "|---|---|---|---|---|---|---|",
    ]
    for plan in plans.values():
        beat, outside = plan["beats"][0], plan["outside"]
        lines.append(
            f"| {plan['program']}, {plan['game']}, {plan['boards']:,} boards, {plan['devices']} x {plan['device']} "
            f"| {outside['launches']}, {outside['bytes'] / 1e6:,.0f} | {beat['launches']}, {beat['bytes'] / 1e6:,.0f} "
            f"| {len(plan['beats'])} | {beat['collectives']}, {plan['collectives']} | {plan['temporary_bytes']:,} "
            f"| {seconds_of(plan)} |"
        )
    return "\n".join(lines)


def seconds_of(plan: Plan) -> str:
    """What compiling took of all cores together, where that was measured."""
    return "-" if plan["seconds"] is None else f"{plan['seconds']:.0f} s"


def write(plans: dict[str, Plan], beats_a_move: dict[str, float]) -> None:
    """Put the tables where they belong."""
    rollouts = table(plans, beats_a_move)
    put(PAGE, f"{rollouts}\n\n{other_table(plans)}")
    put(README, table({name: plan for name, plan in plans.items() if plan_of_readme(plan)}, beats_a_move))
    print(rollouts)


def plan_of_readme(plan: Plan) -> bool:
    """Whether the README shows it."""
    return (plan["boards"], plan["device"], plan["devices"]) == (BOARDS, "a100", 1)


def put(path: Path, text: str) -> None:
    """Replace what stands between the marks of a file."""
    old = path.read_text(encoding="utf-8")
    if BEGIN not in old or END not in old:
        raise ValueError(f"{path.name} has no place for the plan: expected a line {BEGIN} and a line {END}")
    new = re.sub(f"{re.escape(BEGIN)}.*{re.escape(END)}", lambda _: f"{BEGIN}\n{text}\n{END}", old, flags=re.S)
    path.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
