"""The notebook docs/first_look.ipynb: its cells run, and show what is kept in it."""

from __future__ import annotations

from typing import Any

import pytest

from scripts.first_look import executed, read


def shown(notebook: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """What each cell of code shows."""
    return [cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
def test_the_cells_of_the_notebook_show_what_is_kept_in_it() -> None:
    kept = read()
    assert (kept["nbformat"], kept["metadata"]["kernelspec"]["name"]) == (4, "python3")
    assert len({cell["id"] for cell in kept["cells"]}) == len(kept["cells"])
    for found, wanted in zip(shown(executed(kept)), shown(kept), strict=True):
        assert found == wanted, "run `python -m scripts.first_look`, and look at what changed"
        assert wanted, "a cell shows nothing"
