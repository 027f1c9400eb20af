"""Programs in Python under `softtpu run` and `softtpu report`, as README's add.py: a clean end, and checks, findings and times that reach the reports."""
import json
import os
import pathlib
import subprocess
import sys
import time

import numpy as np
import pytest

import softtpu

KERNEL = """
#include <tpu_kernel.h>
typedef struct { unsigned long long out, a, b; int count; } args_t;
void add(const void* raw) {
  const args_t* args = raw;
  const dim4 shape = {1, tpu_npu_num(), 1, args->count / tpu_npu_num()};
  tpu_initialize();
  tpu_gdma_cpy_S2L(0x0000, args->a, &shape, NULL, NULL, DT_FP32);
  tpu_gdma_cpy_S2L(0x4000, args->b, &shape, NULL, NULL, DT_FP32);
  tpu_bdc_fp_add(ADDRESS, 0x0000, 0x4000, &shape, NULL, NULL, NULL, DT_FP32);
  tpu_gdma_cpy_L2S(args->out, 0x8000, &shape, NULL, NULL, DT_FP32);
  tpu_poll();
}
TPUKERNEL_FUNC_REGISTER(add)
"""
PROGRAM = """
import numpy as np, softtpu
MAKE
mod = dev.compile("add_kernel.c")
a, b = (dev.array(np.random.rand(1 << 16).astype(np.float32)) for _ in range(2))
out = dev.empty_like(a)
result = mod.add(out, a, b, a.size)
print(np.array_equal(out.numpy(), a.numpy() + b.numpy()), result)
END
"""
LAUNCHER = pathlib.Path(os.environ.get("SOFTTPU_PREFIX", "")) / "bin/softtpu"
pytestmark = pytest.mark.skipif(not LAUNCHER.exists(), reason="no launcher")


@pytest.fixture
def program(tmp_path):
    def make(made, end="", address="0x8000"):
        (tmp_path / "add_kernel.c").write_text(KERNEL.replace("ADDRESS", address))
        (tmp_path / "add.py").write_text(PROGRAM.replace("MAKE", made).replace("END", end))

        def run(*options, status=0):
            done = subprocess.run([str(LAUNCHER), *options, "--", sys.executable, "add.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300,
                                  check=False)
            assert done.returncode == status, done.stdout + done.stderr
            return done.stdout + done.stderr
        run.folder = tmp_path
        return run
    return make


@pytest.mark.parametrize("made, end", [("dev = softtpu.Device(check='all', time=True)", ""),
                                       ("dev = softtpu.Device()", "dev.close()"),
                                       ("import contextlib; stack = contextlib.ExitStack(); dev = stack.enter_context(softtpu.Device())", "stack.close()"),
                                       ("dev = softtpu.Device(check=False)", "keep = [dev, out, mod, result]"),
                                       ("dev = softtpu.Device()", "import sys; sys.keep = (dev, out)"),
                                       ("dev = softtpu.Device()", "view = out.view(); dev.close(); print(view[0] * 0)")])
def test_a_program_that_ends_leaves_no_memory(program, made, end):
    said = program(made, end)("run", "--check=all")
    assert "True" in said and "memory/leak" not in said and "finding" not in said


def test_memory_that_is_there_while_the_program_runs_is_given_back_at_the_end():
    with softtpu.Device(check="all") as dev:
        array = dev.empty(16)
        address = array.address
    assert not dev._findings
    assert array.address == address


@pytest.mark.parametrize("made", ["dev = softtpu.Device(time=True)", "dev = softtpu.Device()", "dev = softtpu.Device(check=False, time=True)"])
def test_a_report_has_the_launches(program, made):
    run = program(made)
    assert "1 launch in page.html" in run("report", "-o", "page.html")
    assert "softtpu-time-1" in (run.folder / "page.html").read_text()


def test_a_time_record_has_the_launches_of_every_device(program):
    run = program("dev = softtpu.Device(time=True)", """
with softtpu.Device() as other:
    x = other.zeros(1 << 16)
    other.compile("add_kernel.c").add(other.empty_like(x), x, x, x.size)
assert result.estimated_us > 0 and len(result.times) == 1
""")
    for _ in range(2):  # an old record is not kept
        run("run", "--time-record", "times.jsonl")
        assert [json.loads(line)["kernel"] for line in (run.folder / "times.jsonl").read_text().splitlines()] == ["add", "add"]


def test_a_time_record_has_the_launches_of_every_process(program):
    run = program("dev = softtpu.Device()", """
from softtpu import sweep
def case(dev, count):
    x = dev.zeros(count)
    dev.compile("add_kernel.c").add(dev.empty_like(x), x, x, x.size)
    return 0
assert sweep.run(case, dict(count=[1 << 16, 1 << 15]), device={}, workers=2, progress=False).ok[:][1].ok
""")
    run("run", "--time-record", "times.jsonl")
    assert len((run.folder / "times.jsonl").read_text().splitlines()) == 3


def test_a_second_device_with_a_file_of_its_own_finds_it_empty(tmp_path, kernels_file):
    import numpy as np
    old = tmp_path / "old.json"
    old.write_text("old")
    softtpu.Device().close()
    with softtpu.Device(settings={"SOFTTPU_TRACE": old}) as dev:
        a = dev.array(np.ones(4096, np.float32))
        dev.compile(kernels_file, flags=["-DWITHOUT_CLOCK"]).add(dev.empty_like(a), a, a, a.size)
    assert json.loads(old.read_text())


@pytest.mark.parametrize("options, made", [(["--time"], "dev = softtpu.Device()"), ([], "dev = softtpu.Device(time=True)"),
                                           (["--time"], "dev = softtpu.Device(time=True)"),
                                           (["--time-record", "times.jsonl"], "dev = softtpu.Device(time=True)")])
def test_the_json_report_holds_times(program, options, made):
    run = program(made)
    run("run", *options, "--report", "json:report.json")
    report = json.loads((run.folder / "report.json").read_text())
    assert report["version"] == 4 and len(report["times"]) == 1
    assert report["times"][0]["total_us"] > 0 and "commands" not in report["times"][0] and "advice" in report["times"][0]


def test_no_times_where_nobody_asks(program):
    run = program("dev = softtpu.Device()")
    run("run", "--report", "json:report.json")
    assert json.loads((run.folder / "report.json").read_text())["times"] == []


def test_checks_of_the_program_and_of_run_add_up(program):
    said = program("dev = softtpu.Device(check='race')", "assert 'race' in dev.checks and 'memory' in dev.checks, dev.checks")("run", "--check=memory")
    assert "finding" not in said


def test_a_chip_that_differs_is_named(program):
    said = program("dev = softtpu.Device('bm1684x')")("run", "--chip", "bm1688")
    assert "the program's device is a bm1684x" in said and "bm1688" in said
    assert "the program's device" not in program("dev = softtpu.Device()")("run", "--chip", "bm1688")


def test_a_failure_has_its_place_and_its_fix(program):
    run = program("dev = softtpu.Device()", address="0x8001")
    run("run", "--report", "json:report.json", status=1)
    failure = json.loads((run.folder / "report.json").read_text())["failures"][0]
    assert failure["file"] == "add_kernel.c" and failure["line"] == 10 and failure["command"] == 4 and failure["core"] == 0
    assert failure["why"] and failure["fix"]


@pytest.mark.parametrize("name, chip, cores", [("sg2260", "bm1690", 8), ("BM1686", "bm1688", 2), ("cv186x", "bm1688", 1), ("BM1684X", "bm1684x", 1),
                                               ("bm1684xe", "bm1684x", 1), ("bm1684x-23.05", "bm1684x", 1), ("bm1688-1.30", "bm1688", 2)])
def test_names_that_people_use(name, chip, cores):
    with softtpu.Device(name) as dev:
        assert (dev.chip, dev.cores) == (chip, cores)


def test_an_unknown_chip_lists_those_that_are_known():
    with pytest.raises(softtpu.Error, match=r"^softtpu\.Device: \"nochip.*bm1684x.*softtpu info"):
        softtpu.Device("nochip")


def test_a_shared_device_of_another_chip_is_refused(tmp_path):
    socket = tmp_path / "s"
    os.chmod(tmp_path, 0o700)
    with subprocess.Popen([str(LAUNCHER), "serve", "--socket", str(socket), "--chip", "bm1688", "--devices", "1"], stdout=subprocess.PIPE, text=True) as server:
        try:
            server.stdout.readline()
            with softtpu.Device("bm1686", device=f"unix:{socket}") as dev:
                assert dev.chip == "bm1688"
            with pytest.raises(softtpu.Error, match="the device that was started is a bm1688-1.30, not a bm1690"):
                softtpu.Device("bm1690", device=f"unix:{socket}")
        finally:
            server.terminate()


def plain(*words, status=0):
    done = subprocess.run([str(LAUNCHER), *words], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    return json.loads(done.stdout)


def test_json_of_the_commands():
    chips = {chip["name"]: chip for chip in plain("info", "--json")["chips"]}
    assert "sg2260" in chips["bm1690"]["also_called"] and chips["bm1688"]["cores"] == 2 and "fp16" in chips["bm1684x"]["types"]
    assert {rule["name"] for rule in plain("info", "--json", "--chips")["rules"]} >= set(chips["bm1688"]["rules"])
    assert "SOFTTPU_CHIP" in {row["name"] for row in plain("env", "--json")["variables"]}
    race, = plain("rules", "--json", "race/raw")
    assert race["fix"] and {rule["check"] for rule in plain("rules", "--json", "race")} == {"race"}
    layout = plain("layout", "--json", "--shape", "1,3,2,2")
    assert layout["columns"][0]["cells"][0] == {"label": "0,0,0,0", "offset": 0, "partial": False}


@pytest.mark.parametrize("name, value", [("SOFTTPU_CHIP", "bm9999"), ("CHIP_ARCH", "bm9999"), ("SOFTTPU_PORTABLE_TO", "bm1688,bm9999"), ("SOFTTPU_SCHEDULE", "soon")])
def test_env_refuses_what_a_device_would(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    rows = {row["name"]: row.get("not_usable", "") for row in plain("env", "--json", status=1)["variables"]}
    assert value.split(",")[-1] in rows.pop(name) and not any(rows.values()), rows


@pytest.mark.parametrize("name", ["SG2260", "bm1688-1.30", "Mars3", "bm1684x-23.05"])
def test_env_takes_every_name_of_a_chip(monkeypatch, name):
    monkeypatch.setenv("SOFTTPU_CHIP", name)
    plain("env", "--json")


def test_results_and_failures_as_data(kernels_file):
    import numpy as np
    with softtpu.Device(check="all", time=True) as dev:
        a = dev.array(np.ones(4096, np.float32))
        result = dev.compile(kernels_file, flags=["-DWITHOUT_CLOCK"]).add(dev.empty_like(a), a, a, a.size)
        data = json.loads(result.to_json())
        assert data["format"] == "softtpu-result" and data["estimated_us"] == result.estimated_us and data["findings"] == []
        assert data["times"][0]["kernel"] == "add" and isinstance(data["advice"], list)
        assert result.text.startswith("add on bm1684x: no findings\n") and "us estimated" in result.text
    failure = softtpu.LaunchError("text")
    failure.kernel, failure.line = "add", 3
    assert json.loads(failure.to_json())["line"] == 3


def test_a_clock_sees_multiples_of_the_estimate(kernels_file):
    """As PPL's autotuning measures: SOFTTPU_TIME=on:N."""
    with softtpu.Device(time=True, settings={"SOFTTPU_TIME": "on:2000"}) as dev:
        out, one = dev.empty(4096, np.float32), dev.array(np.ones(4096, np.float32))
        kernel = dev.compile(kernels_file).add
        begun = time.monotonic()
        result = kernel(out, one, one, 4096)
        passed = time.monotonic() - begun
    assert result.estimated_us > 1 and passed >= result.estimated_us * 2000e-6


@pytest.mark.parametrize("value", ["on:0", "on:", "on:x", "on:1000001", "off:3"])
def test_a_pace_that_is_none_is_refused(value):
    with pytest.raises(softtpu.Error, match="SOFTTPU_TIME"):
        softtpu.Device(settings={"SOFTTPU_TIME": value})


def test_memory_of_boards():
    """BM1684's has 12 GB; what runs out names the setting that gives more."""
    with softtpu.Device("bm1684") as dev:
        arrays = [dev.empty(3 << 30, np.uint8) for _ in range(3)]
        with pytest.raises(softtpu.Error, match="CMODEL_GLOBAL_MEM_SIZE, or softtpu run --global-memory"):
            dev.empty(3 << 30, np.uint8)
        del arrays


SLOW_KERNEL = """
#include <tpu_kernel.h>
typedef struct { unsigned long long out; int value; } args_t;
void slow(const void* raw) {
  const args_t* args = raw;
  const dim4 large = {1, 64, 64, 400}, words = {1, 1, 1, 1024};
  const scalar_t value = {.s32 = args->value};
  tpu_initialize();
  for (int i = 0; i < 20; ++i) tpu_bdc_set_C(0, value, &large, NULL, DT_INT32);
  tpu_gdma_set_C_system(args->out, value, &words, NULL, DT_INT32);
  tpu_poll();
}
TPUKERNEL_FUNC_REGISTER(slow)
"""


@pytest.fixture(scope="module")
def queued_copies(tmp_path_factory):
    place, folder = pathlib.Path(os.environ.get("SOFTTPU_PREFIX", "")), tmp_path_factory.mktemp("queued")
    (folder / "slow.c").write_text(SLOW_KERNEL)
    paths = ["-I", place / "include", "-L", place / "lib", f"-Wl,-rpath,{place / 'lib'}"]
    subprocess.run(["gcc", "-w", "-shared", "-fPIC", "-o", folder / "slow.so", folder / "slow.c", *paths, "-lcmodel_firmware"], check=True)
    subprocess.run(["g++", "-std=c++17", "-o", folder / "host", pathlib.Path(__file__).parent / "kernels/queued_copies.cpp", *paths, "-lbmcv", "-lbmlib"],
                   check=True)

    def run(group, *launcher, **settings):
        done = subprocess.run([*launcher, str(folder / "host"), str(folder / "slow.so"), group], capture_output=True, text=True, check=False,
                              cwd=folder, env={**os.environ, **settings})
        wrong = dict(line.split() for line in done.stdout.splitlines())
        assert len(wrong) == 16, done.stdout + done.stderr
        return {name: int(count) for name, count in wrong.items()}, done.stderr
    return run


def test_what_the_chip_does_in_its_queue_comes_behind_launches(queued_copies):
    """With every setting, and the race check has nothing to say."""
    assert not any(queued_copies("device")[0].values())
    assert not any(queued_copies("device", SOFTTPU_COPIES="overtake")[0].values())
    wrong, said = queued_copies("device", str(LAUNCHER), "run", "--check=race", "--")
    assert not any(wrong.values()) and "race/" not in said, said


def test_copies_of_the_host_wait_for_launches_and_the_race_check_names_each(queued_copies):
    assert not any(queued_copies("host")[0].values())
    wrong, said = queued_copies("host", str(LAUNCHER), "run", "--check=race", "--")
    for name, count in wrong.items():
        assert count == 0 and f"race/host-copy (3 times): {name} " in said and "call bm_thread_sync" in said, said
    # Whether one overtakes is a matter of time.
    assert any(queued_copies("host", SOFTTPU_COPIES="overtake")[0].values())
