"""The plug-in of pytest, in sessions of its own."""
import pathlib

import pytest

BODY = """
import numpy as np, pytest, softtpu
KERNELS = {kernels!r}

def launch(device, kernel):
    mod = device.compile(KERNELS, flags=["-DWITHOUT_CLOCK"])
    a = device.array(np.ones(4096, np.float32))
    out = device.empty_like(a)
    getattr(mod, kernel)(out, a, a, a.size)
    return out.numpy()

def test_right(softtpu_device):
    assert (launch(softtpu_device, "add") == 2).all()

def test_finding(softtpu_device):
    launch(softtpu_device, "forgetful")

@pytest.mark.softtpu_findings("init/*")
def test_expected(softtpu_device):
    launch(softtpu_device, "forgetful")

def test_wrong_result(softtpu_device):
    launch(softtpu_device, "forgetful")
    assert False, "not what I want"
"""


@pytest.fixture
def session(pytester, kernels_file):
    pytester.makepyfile(BODY.format(kernels=str(kernels_file)))

    def run(*options):
        return pytester.runpytest_subprocess("-p", "softtpu.pytest_plugin", "-p", "no:cacheprovider", *options)
    return run


def test_findings_fail_a_test_and_stand_in_its_report(session):
    result = session("-rA")
    # A test with findings passes by itself, and its end is what fails.
    result.assert_outcomes(passed=3, failed=1, errors=1)
    result.stdout.fnmatch_lines(["*ERROR at teardown of test_finding*", "*the kernels have findings*", "*init/*forgetful*"])
    result.stdout.fnmatch_lines(["*test_wrong_result*", "*not what I want*", "*softtpu findings*", "*init/*forgetful*"])
    assert result.stdout.str().count("ERROR at teardown") == 1


def test_the_checks_can_be_chosen(session):
    session("--softtpu-check=none").assert_outcomes(passed=3, failed=1)
    session("--softtpu-check=race").assert_outcomes(passed=3, failed=1)
    session("--softtpu-check=nonsense", "-k", "right").assert_outcomes(errors=1)


def test_the_chip_can_be_chosen(pytester):
    pytester.makepyfile("def test_chip(softtpu_device):\n    assert softtpu_device.chip == 'bm1684'\n")
    pytester.runpytest_subprocess("-p", "softtpu.pytest_plugin", "--softtpu-chip=bm1684", "--softtpu-time").assert_outcomes(passed=1)


def test_a_case_of_softtpu_try_is_a_test(pytester):
    sample = pathlib.Path(__file__).parents[2] / "samples/rmsnorm"
    for name in ("kernel.c", "case.py"):
        (pytester.path / name).write_text((sample / name).read_text())
    pytester.makepyfile("""
def test_right(softtpu_try):
    assert len(softtpu_try("kernel.c", "case.py", shapes=[dict(rows=2, columns=64)])["cases"]) == 5

def test_wrong(softtpu_try):
    softtpu_try("kernel.c", "case.py", tolerance=1e-9)
""")
    result = pytester.runpytest_subprocess("-p", "softtpu.pytest_plugin", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*wrong *bm1688*", "*elements differ, the first is*"])
