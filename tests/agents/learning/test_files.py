"""Trained networks in files: what is written is read, and whatever is wrong is one sentence."""

import json
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from agents.learning import files
from agents.learning.files import PolicyFileError, Trained, read, write
from agents.learning.inputs import Inputs
from agents.learning.networks import Architecture

INPUTS = Inputs(("colour a", "colour b", "ones"), preview=False)
ARCHITECTURE = Architecture.parse("edge:layers=1,filters=4,hidden=2")


@pytest.fixture(scope="module")
def trained() -> Trained:
    weights = ARCHITECTURE.made().init(jax.random.key(0), jnp.ones((1, 5, 5, 3)))
    return Trained(ARCHITECTURE, INPUTS, (5, 5), weights, {"steps": 7})


@pytest.fixture
def path(trained: Trained, tmp_path: Path) -> Path:
    write(tmp_path / "x.safetensors", trained)
    return tmp_path / "x.safetensors"


def test_what_is_written_is_read(trained: Trained, path: Path) -> None:
    again = read(path)
    assert (again.architecture, again.inputs, again.shape, again.about) == (ARCHITECTURE, INPUTS, (5, 5), {"steps": 7})
    assert again.digest == trained.digest
    for a, b in zip(jax.tree.leaves(trained.weights), jax.tree.leaves(again.weights), strict=True):
        assert np.array_equal(a, b)


def test_weights_in_another_order_of_memory_are_written_as_they_are(path: Path, trained: Trained) -> None:
    turned = jax.tree.map(lambda x: np.asfortranarray(np.asarray(x)), trained.weights)
    write(path, Trained(ARCHITECTURE, INPUTS, (5, 5), turned))
    assert read(path).digest == trained.digest


def test_the_digest_tells_weights_apart_and_not_how_they_came_about(trained: Trained) -> None:
    other = jax.tree.map(lambda x: x + 1, trained.weights)
    assert Trained(ARCHITECTURE, INPUTS, (5, 5), other).digest != trained.digest
    assert Trained(ARCHITECTURE, INPUTS, (5, 5), trained.weights, {"steps": 8}).digest == trained.digest


def changed(path: Path, heading: dict | None = None, **arrays) -> None:
    """The file with some things changed."""
    known = load_file(path) | arrays
    with files.safetensors.safe_open(path, "numpy") as file:
        said = json.loads(file.metadata()[files.KEY]) | (heading or {})
    save_file({k: v for k, v in known.items() if v is not None}, path, {files.KEY: json.dumps(said)})


KERNEL = "params/conv0/kernel"


@pytest.mark.parametrize(
    ("heading", "arrays", "said"),
    [
        ({}, {KERNEL: np.full((3, 3, 3, 4), np.nan, np.float32)}, "holds NaN"),
        ({}, {KERNEL: np.zeros((3, 3, 3, 5), np.float32)}, r"is float32\[3, 3, 3, 5\], expected float32\[3, 3, 3, 4\]"),
        ({}, {KERNEL: None}, f"lacks '{KERNEL}'"),
        ({}, {"more": np.zeros(1, np.float32)}, "has 'more', which no edge"),
        ({"architecture": {"name": "os.system", "arguments": {}}}, {}, "there is no network 'os.system'"),
        ({"architecture": {"name": "edge", "arguments": {"filters": 10**9}}}, {}, "from 0 to 4096"),
        ({"architecture": 3}, {}, "does not name its architecture"),
        ({"channels": ["ones", "ones"]}, {}, "names a plane twice"),
        ({"channels": []}, {}, "does not name the planes"),
        ({"architecture": {"name": "edge", "arguments": {"foresight": 4}}}, {}, "sees no previews"),
        ({"shape": [5, 500]}, {}, "which size of board"),
        ({"format": 2}, {}, "has format 2, and this version reads format 1"),
        ({"format": "1"}, {}, "does not say what it is"),
    ],
)
def test_refuses_what_is_not_a_trained_network(path: Path, heading: dict, arrays: dict, said: str) -> None:
    changed(path, heading, **arrays)
    with pytest.raises(PolicyFileError, match=said):
        read(path)


def test_refuses_files_of_other_kinds(tmp_path: Path) -> None:
    with pytest.raises(PolicyFileError, match="there is no file"):
        read(tmp_path / "nothing")
    (tmp_path / "text").write_text("{}")
    with pytest.raises(PolicyFileError, match="no whole safetensors file"):
        read(tmp_path / "text")
    save_file({"x": np.zeros(2, np.float32)}, tmp_path / "others")
    with pytest.raises(PolicyFileError, match="was not written by `crush-gym train`"):
        read(tmp_path / "others")


def test_damage_is_one_sentence(path: Path) -> None:
    """400 files with bytes flipped, or cut off: read as what they say, or refused in one line."""
    whole, rng, refused = path.read_bytes(), np.random.default_rng(0), 0
    for _ in range(400):
        content = bytearray(whole)
        for place in rng.integers(0, min(len(content), 1500), rng.integers(1, 4)):
            content[place] ^= 1 << rng.integers(8)
        path.write_bytes(bytes(content[: rng.integers(1, len(content))] if rng.random() < 0.3 else content))
        try:
            read(path)
        except PolicyFileError as error:
            refused += 1
            assert "\n" not in str(error)
    assert refused > 300
