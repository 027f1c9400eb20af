"""Samples that are a kernel and a case: right on every chip that they name, with nothing found; on any other chip the message names what it lacks."""
import json
import pathlib

import pytest

from softtpu import runner, trial

ROOT = pathlib.Path(__file__).parents[2]
CASES = sorted((ROOT / "samples").glob("*/case.py"))
# Chips with tpu_* functions, by the names of their descriptions; demo4 is none that exists, and small.
CHIPS = sorted(path.stem for path in (ROOT / "device/chip/chips").glob("*.json") if path.stem != "demo4" and json.loads(path.read_text()).get("api") != "okkernel")


@pytest.fixture(scope="module")
def trier():
    with trial.Trier() as made:
        yield made


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.parent.name)
def test_sample(case, trier):
    made = trier.run(case.parent / "kernel.c", case)
    assert made.ok and len({one["chip"] for one in made["cases"]}) == 5 and not made["left_out"], made.text


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.parent.name)
def test_on_all_chips(case, trier):
    made = trier.run(case.parent / "kernel.c", case, chips=CHIPS, shapes=trial.Case(case).shapes[:1], timed=False)
    assert made.verdict == runner.UNSUPPORTED and made.exit_status == 123, made.text
    for one in made["cases"]:
        assert one["verdict"] == (runner.UNSUPPORTED if one["chip"] == "cv184x" else runner.OK), made.text
        if one["chip"] == "cv184x":  # it computes with bf16 and bytes
            assert "is not a type of this function on cv184x" in one["failure"]["text"], made.text
    assert "1 on chips without what the kernel uses" in made.text


def test_they_are_found():
    assert {"rmsnorm", "rope", "dynamic_quant", "max_pool_index", "w4a16"} <= {case.parent.name for case in CASES}
    assert {"bm1684x", "bm1684x2", "bm1690e", "cv184x"} <= set(CHIPS) and "bm1684" not in CHIPS
