#!/usr/bin/env python3
"""Figures of sweeps, no assertions: throughput with 1, 2 and 4 workers, and what a task costs besides its own work.

Tasks that wait 20 ms show how workers add up, whichever processors there are; empty ones show the overhead. CPU time is that of
all processes together: it says what the overhead is on a machine that does something else too."""
import argparse
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import sweep_cases as cases
from softtpu import sweep

STEP = 0.02


def cpu_seconds():
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def cpu_of(pids):
    """User and system time of running processes."""
    ticks = os.sysconf("SC_CLK_TCK")
    total = 0
    for pid in pids:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        total += sum(int(field) for field in fields[11:15]) / ticks
    return total


def measure(tasks, seconds, pids=(), **options):
    """Wall and CPU seconds of so many tasks that wait so long."""
    begin, cpu = time.monotonic(), cpu_seconds() + cpu_of(pids)
    table = sweep.run(cases.slow, grid=dict(number=range(tasks), seconds=[seconds]), progress=False, **options)
    wall = time.monotonic() - begin
    if len(table.ok) != tasks:
        sys.exit(f"{len(table.failed)} tasks failed: {table.failed[0].error}")
    return wall, cpu_seconds() + cpu_of(pids) - cpu


def row(where, count, tasks, **options):
    measure(count * 2, 0, **options)  # processes start
    wall, _ = measure(tasks // 5, STEP, **options)
    empty, cpu = measure(tasks, 0, **options)
    print(f"| {where} | {count} | {tasks / 5 / wall:.0f} | {count / STEP:.0f} | {1000 * empty / tasks:.2f} | {1000 * cpu / tasks:.2f} |", flush=True)


def on_cluster(workers, tasks):
    import distributed
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.path.dirname(os.path.abspath(__file__)), os.environ.get("PYTHONPATH", "")])}
    with tempfile.TemporaryDirectory() as folder:
        def start(module, *options):
            return subprocess.Popen([sys.executable, "-c", f"from distributed.cli.{module} import main; main()", "--no-dashboard", "--host",
                                     "127.0.0.1", *options], env=environment, stderr=subprocess.DEVNULL)
        file = f"{folder}/scheduler.json"
        made = [start("dask_scheduler", "--port", "0", "--scheduler-file", file)]
        while not os.path.exists(file):
            time.sleep(0.05)
        made += [start("dask_worker", "--scheduler-file", file, "--nthreads", "1", "--no-nanny", "--local-directory", folder)
                 for _ in range(workers)]
        try:
            with distributed.Client(scheduler_file=file, set_as_default=False, timeout=60) as client:
                client.wait_for_workers(workers, timeout=60)
                row("Dask", workers, tasks, cluster=client, pids=[process.pid for process in made])
        finally:
            for process in made:
                process.kill()
                process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=1000)
    options = parser.parse_args()
    print(f"| where | workers | tasks of {STEP * 1000:.0f} ms per s | at most | ms per empty task | of it CPU, all processes |\n|---|---|---|---|---|---|")
    for workers in (1, 2, 4):
        row("this machine", workers, options.tasks, workers=workers)
    for workers in (1, 2, 4):
        on_cluster(workers, options.tasks)


if __name__ == "__main__":
    main()
