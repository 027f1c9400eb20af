"""Sweeps on a Dask cluster: a scheduler and three workers as processes on the loopback address."""
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import sweep_cases as cases
from softtpu import Error, sweep
from softtpu.sweep import runners

distributed = pytest.importorskip("distributed")
SCHEDULER = "from distributed.cli.dask_scheduler import main; main()"
WORKER = "from distributed.cli.dask_worker import main; main()"


class Cluster:
    """Processes as `dask scheduler` and `dask worker` start them."""

    def __init__(self, folder):
        self.folder = folder
        self.environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), os.environ.get("PYTHONPATH", "")]),
                            "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False"}
        file = folder / "scheduler.json"
        self.scheduler = self._start(SCHEDULER, "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file))
        deadline = time.monotonic() + 60
        while not file.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        self.workers = [self._start(WORKER, "--scheduler-file", str(file), "--nthreads", "1", "--no-nanny", "--no-dashboard", "--host",
                                    "127.0.0.1", "--local-directory", str(folder)) for _ in range(3)]
        self.client = distributed.Client(scheduler_file=str(file), set_as_default=False, timeout=60)
        self.client.wait_for_workers(3, timeout=60)
        self.address = self.client.scheduler_info()["address"]

    def _start(self, program, *options):
        return subprocess.Popen([sys.executable, "-c", program, *options], env=self.environment, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)

    def close(self):
        self.client.close()
        for process in [*self.workers, self.scheduler]:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    made = Cluster(tmp_path_factory.mktemp("dask"))
    yield made
    made.close()


def test_nobody_at_the_address_is_an_error(monkeypatch):
    monkeypatch.setattr(runners, "_CONNECT_SECONDS", 1)
    with pytest.raises(Error, match="cluster tcp://127.0.0.1:9"):
        sweep.run(cases.product, grid=dict(rows=[1], columns=[1]), cluster="tcp://127.0.0.1:9")


def test_the_table_is_that_of_this_machine(cluster):
    grid = dict(rows=range(1, 6), columns=[1, 2])
    assert sweep.run(cases.product, grid=grid, cluster=cluster.address) == sweep.run(cases.product, grid=grid, workers=1)


def test_kernels_run_on_devices_of_the_workers(cluster, kernels_file):
    options = dict(device=dict(time=True), constants=dict(kernels=str(kernels_file)))
    there = sweep.run(cases.adding, grid=dict(count=[1024, 2048, 4096]), cluster=cluster.address, **options)
    here = sweep.run(cases.adding, grid=dict(count=[1024, 2048, 4096]), workers=2, **options)
    assert there == here and all(row.ok for row in there)


def test_whatever_a_task_does_costs_that_task_alone(cluster):
    what = ["a", "killed", "hung", "raised", "b"]
    table = sweep.run(cases.troubled, grid=dict(what=what), cluster=cluster.address, timeout=4)
    assert [row.status for row in table] == [sweep.OK, sweep.LOST, sweep.TIMED_OUT, sweep.FAILED, sweep.OK]
    cluster.client.wait_for_workers(3, timeout=10)  # none of them was lost with its task


def test_a_killed_worker_costs_nothing_but_time(cluster, tmp_path):
    grid, kept = dict(number=range(60), seconds=[0.1]), tmp_path / "kept.db"
    seen = []

    def kill_one():
        while len(seen) < 5:
            time.sleep(0.02)
        cluster.workers[0].send_signal(signal.SIGKILL)
    killer = threading.Thread(target=kill_one)
    killer.start()
    rows = {}
    for number, row in sweep.stream(cases.slow, grid, cluster=cluster.address, results=kept, retries=2):
        seen.append(number)
        rows[number] = row
    killer.join()
    assert cluster.workers[0].wait(timeout=10) == -signal.SIGKILL
    here = sweep.run(cases.slow, grid=grid, workers=2)
    assert sorted(rows) == list(range(60)) and all(row.ok for row in rows.values())
    assert [rows[i]["square"] for i in range(60)] == [row["square"] for row in here]


GOLDEN = os.path.join(os.path.dirname(__file__), "../golden/bm1684")


def golden(*options):
    return subprocess.run([sys.executable, "-m", "softtpu", "golden", *options], capture_output=True, text=True, timeout=300)


@pytest.mark.skipif(not os.path.isdir(GOLDEN), reason="no recorded cases")
def test_recorded_cases_are_replayed_by_the_workers(cluster, tmp_path):
    here = golden(GOLDEN, "--function", "okk_bdc_add", "--ledger", str(tmp_path / "here.json"))
    there = golden(GOLDEN, "--function", "okk_bdc_add", "--ledger", str(tmp_path / "there.json"), "--cluster", cluster.address)
    assert there.returncode == here.returncode == 0, there.stderr
    assert there.stdout.splitlines()[-1] == here.stdout.splitlines()[-1] and here.stdout.splitlines()[-1][0] in "123456789"
    assert sorted(there.stdout.splitlines()) == sorted(here.stdout.splitlines())
    assert (tmp_path / "there.json").read_text() == (tmp_path / "here.json").read_text()


def test_a_missing_corpus_is_an_error():
    missing = golden("/no/such/corpus", "--cluster", "local")
    assert missing.returncode == 1 and "/no/such/corpus" in missing.stderr
