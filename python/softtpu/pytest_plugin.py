"""A plug-in of pytest: the fixture `softtpu_device`, and findings in the report of a test that fails because of them.

    def test_add(softtpu_device):
        mod = softtpu_device.compile("add_kernel.c")
        ...

    def test_add_on_every_chip(softtpu_try):
        softtpu_try("add_kernel.c", "add_case.py")      # what `softtpu try` does, a failure shows its document

Options: --softtpu-check=CHECKS (default: all), --softtpu-chip=CHIP, --softtpu-time. A test whose launches have findings (notes
do not count) fails unless it is marked @pytest.mark.softtpu_findings("race/*") for the rules that it expects.
"""
import fnmatch

import pytest

_FINDINGS = "softtpu findings"


def pytest_addoption(parser):
    group = parser.getgroup("softtpu", "kernels on emulated chips")
    group.addoption("--softtpu-check", default="all", metavar="CHECKS",
                    help="what kernels are checked for, as `softtpu run --check`; none switches the checks off (default: all)")
    group.addoption("--softtpu-chip", default=None, metavar="CHIP", help="chip of the devices (default: SOFTTPU_CHIP, else CHIP_ARCH, else bm1684x)")
    group.addoption("--softtpu-time", action="store_true", help="results estimate how long launches take on the chip")


def pytest_configure(config):
    config.addinivalue_line("markers", "softtpu_findings(*rules): findings that the test expects, as patterns of rules")


@pytest.fixture
def softtpu_device_options(request):
    """Options of the test's Device; a fixture of the same name in a conftest.py changes them."""
    check = request.config.getoption("--softtpu-check")
    options = {"check": "" if check == "none" else check, "time": request.config.getoption("--softtpu-time")}
    chip = request.config.getoption("--softtpu-chip")
    if chip:
        options["chip"] = chip
    return options


@pytest.fixture
def softtpu_device(request, softtpu_device_options):
    """A device of the test's own, with the checks of --softtpu-check."""
    import softtpu
    device = softtpu.Device(**softtpu_device_options)
    request.node._softtpu_device = device
    yield device
    with_findings = device.findings if device.is_open else device._findings
    device.close()
    findings = with_findings or device._findings
    request.node._softtpu_findings = findings
    expected = [rule for mark in request.node.iter_markers("softtpu_findings") for rule in mark.args]
    grave = [finding for finding in softtpu.runner.grave(findings) if not any(fnmatch.fnmatchcase(finding.rule, rule) for rule in expected)]
    failed = getattr(request.node, "_softtpu_failed", False)
    if grave and not failed:
        pytest.fail("the kernels have findings:\n" + "\n".join(str(finding).rstrip() for finding in grave), pytrace=False)


@pytest.fixture
def softtpu_try(request, softtpu_device_options):
    """A function like `softtpu.trial.run(kernel, case, **options)`, which fails the test with the document's text unless the verdict is ok. Paths
    are relative to the test's folder. Findings that the test is marked for are left aside."""
    from softtpu import runner, trial
    expected = [rule for mark in request.node.iter_markers("softtpu_findings") for rule in mark.args]
    trier = trial.Trier()

    def run(kernel, case, **options):
        given = {"check": softtpu_device_options["check"]}
        if "chip" in softtpu_device_options:
            given["chips"] = [softtpu_device_options["chip"]]
        made = trier.run(request.path.parent / kernel, request.path.parent / case, **{**given, **options})
        for one in made["cases"]:
            if one["verdict"] == runner.FINDINGS and not _unexpected(one["findings"], expected):
                one["verdict"] = runner.OK
        if any(one["verdict"] != runner.OK for one in made["cases"]) or made["compile"]:
            pytest.fail(made.text, pytrace=False)
        return made

    yield run
    trier.close()


def _unexpected(findings, expected):
    return [one for one in findings if one["severity"] != "note" and not any(fnmatch.fnmatchcase(one["rule"], rule) for rule in expected)]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    device = getattr(item, "_softtpu_device", None)
    if device is None or report.when != "call" or not report.failed:
        return
    item._softtpu_failed = True
    findings = device.findings if device.is_open else device._findings
    if findings:
        report.sections.append((_FINDINGS, "\n".join(str(finding).rstrip() for finding in findings)))
