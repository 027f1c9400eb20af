"""Samples that are a kernel and a case: right on every chip that they name, with nothing found."""
import pathlib

import pytest

from softtpu import trial

CASES = sorted((pathlib.Path(__file__).parents[2] / "samples").glob("*/case.py"))


@pytest.fixture(scope="module")
def trier():
    with trial.Trier() as made:
        yield made


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.parent.name)
def test_sample(case, trier):
    made = trier.run(case.parent / "kernel.c", case)
    assert made.ok and len({one["chip"] for one in made["cases"]}) == 3 and not made["left_out"], made.text


def test_they_are_found():
    assert {"rmsnorm", "rope", "dynamic_quant", "max_pool_index", "w4a16"} <= {case.parent.name for case in CASES}
