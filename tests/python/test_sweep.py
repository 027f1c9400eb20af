"""Sweeps on this machine: limits, losses, result files, tuning."""
import base64
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

import numpy as np
import pytest

import sweep_cases as cases
from softtpu import Error, sweep


def test_a_grid_is_all_combinations():
    table = sweep.run(cases.product, grid=dict(rows=[16, 32, 64], columns=[1, 2]), workers=2)
    assert [(row["rows"], row["columns"], row["size"]) for row in table] == [(r, c, r * c) for r in (16, 32, 64) for c in (1, 2)]
    assert table.columns == ["rows", "columns", "size"] and not table.failed
    assert "size" in str(table) and "<table>" in table._repr_html_()
    assert [row["size"] for row in table.sorted("size")] == [16, 32, 32, 64, 64, 128]


def test_a_list_of_parameters_and_arrays():
    def case(x):
        return {"twice": 2 * np.asarray(x), "kind": type(x).__name__}
    table = sweep.run(case, grid=[dict(x=np.arange(3)), dict(x=4)], workers=1)
    assert table[0]["twice"].tolist() == [0, 2, 4] and int(table[1]["twice"]) == 8


@pytest.mark.parametrize("workers", [1, 3])
def test_whatever_a_task_does_costs_that_task_alone(workers):
    what = ["a", "killed", "b", "hung", "raised", "c", "greedy", "d", "unkept", "e"]
    table = sweep.run(cases.troubled, grid=dict(what=what), workers=workers, timeout=4, memory=1 << 31, retries=1)
    status = {row["what"]: row.status for row in table}
    assert status == {**dict.fromkeys("abcde", sweep.OK), "killed": sweep.LOST, "hung": sweep.TIMED_OUT, "raised": sweep.FAILED,
                      "greedy": sweep.FAILED, "unkept": sweep.FAILED}
    errors = {row["what"]: row.error for row in table.failed}
    assert "signal 9" in errors["killed"] and "longer than 4 s" in errors["hung"] and "MemoryError" in errors["greedy"]
    assert "ValueError: no such tiling (sweep_cases.py:" in errors["raised"] and "cannot be kept" in errors["unkept"]
    assert [row.attempts for row in table if row["what"] == "killed"] == [2]


def test_a_lost_task_is_tried_again(tmp_path):
    row, = sweep.run(cases.killed_once, grid=dict(folder=[str(tmp_path)]), workers=1)
    assert row.ok and row.value == "done" and row.attempts == 2


def test_each_task_has_a_device_of_its_own(kernels_file):
    table = sweep.run(cases.adding, grid=dict(count=[1024, 2048]), device=dict(time=True), constants=dict(kernels=str(kernels_file)),
                      workers=2)
    assert [row["sum"] for row in table] == [1024 * 1023.0, 2048 * 2047.0], table
    assert table[0]["us"] > 0


def test_a_hung_or_crashed_kernel_costs_its_task(kernels_file):
    table = sweep.run(cases.launching, grid=dict(what=["add", "spin", "crash", "add"]), device=True,
                      constants=dict(kernels=str(kernels_file)), timeout=8, workers=2)
    assert [row.status for row in table] == [sweep.OK, sweep.TIMED_OUT, sweep.FAILED, sweep.OK]
    assert "signal 11" in table[2].error and "python_kernels.c" in table[2].error


def test_a_sweep_goes_on_where_it_was(tmp_path):
    kept, folder = tmp_path / "results.db", tmp_path / "calls"
    folder.mkdir()
    first = sweep.run(cases.counted, grid=dict(folder=[str(folder)], number=[1, 2]), results=kept, workers=1)
    again = sweep.run(cases.counted, grid=dict(folder=[str(folder)], number=[1, 2, 3]), results=kept, workers=1)
    assert [row.value for row in first] == [1, 4] and [row.value for row in again] == [1, 4, 9]
    assert sorted(name.split("-")[0] for name in os.listdir(folder)) == ["1", "2", "3"]
    assert sqlite3.connect(kept).execute("SELECT count(*) FROM results WHERE status = 'ok'").fetchone() == (3,)
    # Another constant, or a file that has changed, is another sweep.
    depends = tmp_path / "kernel.c"
    for text, calls in (("a", 4), ("a", 4), ("b", 5)):
        depends.write_text(text)
        sweep.run(cases.counted, grid=dict(folder=[str(folder)], number=[1]), results=kept, workers=1, depends=[depends])
        assert len(os.listdir(folder)) == calls


def test_failed_tasks_are_tried_again_by_the_next_run(tmp_path):
    kept = tmp_path / "results.db"
    table = sweep.run(cases.troubled, grid=dict(what=["a", "raised"]), results=kept, workers=1)
    assert [row.status for row in table] == [sweep.OK, sweep.FAILED]
    numbers = [number for number, row in sweep.stream(cases.troubled, dict(what=["a", "raised"]), results=kept, workers=1)]
    assert numbers == [0, 1]


def test_a_file_that_is_no_result_file_is_refused(tmp_path):
    bad = tmp_path / "bad.db"
    bad.write_text("not a database, and longer than a header would be " * 40)
    with pytest.raises(Error, match="cannot hold results"):
        sweep.run(cases.product, grid=dict(rows=[1], columns=[1]), results=bad)
    assert bad.read_text().startswith("not a database")


CTRL_C = """
import sys
sys.path.insert(0, {folder!r})
import sweep_cases
from softtpu import sweep
print("started", flush=True)
sweep.run(sweep_cases.slow, grid=dict(number=range(1000), seconds=[0.05]), results={kept!r}, workers=2, progress=True)
"""


def test_ctrl_c_stops_cleanly_and_keeps_what_has_ended(tmp_path):
    kept = str(tmp_path / "results.db")
    program = subprocess.Popen([sys.executable, "-c", CTRL_C.format(folder=os.path.dirname(__file__), kept=kept)], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    program.stdout.readline()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        time.sleep(0.02)
        try:
            if sqlite3.connect(kept).execute("SELECT count(*) FROM results").fetchone()[0] >= 5:
                break
        except sqlite3.Error:
            pass
    program.send_signal(signal.SIGINT)
    _, said = program.communicate(timeout=30)
    assert program.returncode != 0 and "KeyboardInterrupt" in said and "/1000" in said
    values = sqlite3.connect(kept).execute("SELECT status, value FROM results").fetchall()
    assert 5 <= len(values) < 1000 and {status for status, _ in values} == {"ok"}


def test_processes_of_a_sweep_end_with_it():
    pids = {row["pid"] for row in sweep.run(cases.slow, grid=dict(number=range(4)), workers=2)}
    deadline = time.monotonic() + 10
    while any(os.path.exists(f"/proc/{pid}") for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not [pid for pid in pids if os.path.exists(f"/proc/{pid}")]


def test_functions_that_cannot_travel_are_refused():
    import threading
    lock = threading.Lock()
    with pytest.raises(TypeError):
        sweep.run(lambda x: lock, grid=dict(x=[1]))


# ---- Tuning

TILED = """
#include <tpu_kernel.h>
typedef struct { unsigned long long out, in; int count; } args_t;
#ifndef MISTAKE
#define MISTAKE 0
#endif
void twice(const void* raw) {
  const args_t* args = raw;
  const dim4 shape = {1, tpu_npu_num(), 1, WIDTH};
  tpu_initialize();
  for (int at = 0; at < args->count; at += WIDTH * tpu_npu_num()) {
    tpu_gdma_cpy_S2L(0x0000, args->in + at * 4ULL, &shape, NULL, NULL, DT_FP32);
    tpu_bdc_fp_add(0x8000, 0x0000, MISTAKE == 2 ? 0x20000 : 0x0000, &shape, NULL, NULL, NULL, DT_FP32);
    if (MISTAKE == 1 && at > 0) continue;
    tpu_gdma_cpy_L2S(args->out + at * 4ULL, 0x8000, &shape, NULL, NULL, DT_FP32);
  }
  if (MISTAKE == 3) *(volatile int*)8 = 1;
  tpu_poll();
}
TPUKERNEL_FUNC_REGISTER(twice)
"""
COUNT = 64 * 256


def arguments(dev, **parameters):
    return {"in": dev.array(np.arange(COUNT, dtype=np.float32)), "out": dev.zeros(COUNT), "count": COUNT}


@pytest.fixture
def tiled(tmp_path):
    source = tmp_path / "twice.c"
    source.write_text(TILED)
    return sweep.KernelCase(source, "twice", arguments, "out")


def test_tuning_finds_the_fastest_that_is_right(tiled):
    right = np.arange(COUNT, dtype=np.float32) * 2
    tuning = sweep.tune(tiled, dict(WIDTH=[16, 256, 64], MISTAKE=[0, 1, 2, 3]), reference=right, workers=2)
    verdicts = {(row["WIDTH"], row["MISTAKE"]): row["verdict"] for row in tuning.table}
    assert {verdict for (_, mistake), verdict in verdicts.items() if mistake == 0} == {"accepted"}
    assert verdicts[16, 1] == verdicts[64, 1] == "wrong result" and verdicts[256, 1] == "accepted"
    assert {verdict for (_, mistake), verdict in verdicts.items() if mistake == 3} == {"failed"}
    assert {verdicts[width, 2] for width in (16, 64, 256)} <= {"findings", "wrong result"} and verdicts[16, 2] != "accepted"
    assert tuning.best.parameters["WIDTH"] == 256
    assert [row["WIDTH"] for row in tuning.accepted] == sorted((row["WIDTH"] for row in tuning.accepted), reverse=True)
    why = next(row["why"] for row in tuning.table if (row["WIDTH"], row["MISTAKE"]) == (16, 1))
    assert "elements differ" in why
    # Wide tiles are faster, narrow ones take less local memory: neither beats the other.
    assert {row["WIDTH"] for row in tuning.pareto} == {16, 64, 256}
    assert "guessed" in tuning.trust and "bm1684x" in tuning.trust and "best by estimated_us" in str(tuning)
    assert tuning._repr_html_().startswith("<p>")


def test_tuning_without_an_accepted_variant_says_so(tiled):
    tuning = sweep.tune(tiled, dict(WIDTH=[64], MISTAKE=[3]), workers=1)
    assert tuning.best is None and not tuning.pareto and "0 accepted" in str(tuning)


def test_a_random_part_of_a_space(tiled):
    some = sweep.tune(tiled, dict(WIDTH=[16, 32, 64, 128, 256]), samples=2, seed=5, workers=2)
    assert len(some.table) == 2 and len({row["WIDTH"] for row in some.table}) == 2


def test_results_of_another_kernel_text_do_not_count(tiled, tmp_path):
    kept = tmp_path / "kept.db"
    first = sweep.tune(tiled, dict(WIDTH=[64]), results=kept, workers=1)
    assert [row.attempts for row in first.table] == [1]
    tiled.source.write_text(TILED.replace("tpu_poll();", "tpu_poll(); tpu_poll();"))
    sweep.tune(tiled, dict(WIDTH=[64]), results=kept, workers=1)
    assert sqlite3.connect(kept).execute("SELECT count(*) FROM results").fetchone() == (2,)


def test_without_cloudpickle_the_error_says_what_to_do(monkeypatch):
    from softtpu.sweep import child
    monkeypatch.setattr(child, "cloudpickle", None)
    case = sweep.KernelCase(__file__, "add", lambda dev: {}, "out")
    with pytest.raises(TypeError, match="pip install cloudpickle, or move the function into a module"):
        sweep.run(case, dict(a=[1]), workers=1, progress=False)
    with pytest.raises(TypeError, match=r"^the tuned case .*test_sweep.py cannot be sent"):
        sweep.tune(case, dict(a=[1]), workers=1, progress=False)


# A sweep whose every task fails alike looks like a sweep with results.
@pytest.mark.parametrize("by", ["lambda rows: dict(size=rows)", "made()", "named"])
def test_without_cloudpickle_a_function_that_no_process_finds_fails_at_once(tmp_path, by):
    program = f"""
from softtpu import sweep
from softtpu.sweep import child
child.cloudpickle = None
def named(rows): return dict(size=rows)
def made():
    def inner(rows): return dict(size=rows)
    return inner
if __name__ == "__main__":
    print([row["size"] for row in sweep.run({by}, dict(rows=[1, 2]), workers=1, progress=False)])
"""
    (tmp_path / "program.py").write_text(program)
    for command, text in ((["program.py"], None), (["-"], program)):
        done = subprocess.run([sys.executable, *command], input=text, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
        if by == "named" and text is None:
            assert done.stdout == "[1, 2]\n", done.stderr
        else:
            assert done.returncode != 0 and "pip install cloudpickle" in done.stderr.splitlines()[-1], done.stdout


def test_results_that_are_no_results_are_refused_with_the_file_s_name(tmp_path):
    good, at = tmp_path / "good.db", tmp_path / "damaged.db"
    sweep.run(cases.product, grid=dict(rows=[1, 2], columns=[1]), results=good, workers=1, progress=False)
    array = base64.b64encode(b"\x93NUMPY\x01\x00\x10\x00{'descr': (,'<f8'").decode()
    for column, value in (("value", json.dumps({"__ndarray__": array})), ("value", "[" * 100000), ("value", "{"), ("seconds", "long"), ("attempts", "many")):
        shutil.copy(good, at)
        file = sqlite3.connect(at)
        file.execute(f"UPDATE results SET {column} = ?", (value,))
        file.commit()
        file.close()
        with pytest.raises(Error, match="damaged.db is damaged"):
            sweep.run(cases.product, grid=dict(rows=[1, 2], columns=[1]), results=at, workers=1, progress=False)
