"""What a result depends on besides agent, task and seed: versions and hardware."""

from __future__ import annotations

import platform
from importlib import metadata
from typing import Any

import jax

import crush_gym
from crush_gym.runtime.threads import cores

PACKAGES = ("jax", "jaxlib", "numpy")


def origin() -> dict[str, Any]:
    """Versions, and the hardware that this process computes on, for JSON."""
    versions = {"python": platform.python_version(), "crush_gym": crush_gym.__version__}
    return {
        "versions": versions | {name: metadata.version(name) for name in PACKAGES},
        "hardware": {
            "system": f"{platform.system()} {platform.machine()}",
            "cpu": cpu(),
            "cores": cores(),
            "devices": [f"{device.platform} ({device.device_kind})" for device in jax.devices()],
        },
    }


def cpu() -> str:
    """The name of the processor's model, as far as the system tells."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()
