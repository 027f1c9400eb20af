#!/usr/bin/env python3
"""Run by the Python of a fresh environment into which the wheel is installed, with distributed: README's add.py under run, report and
--time-record, tuning from a script, a Dask sweep, `softtpu try`. Nothing of a checkout is used but README.md and docs/agents.md."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SOFTTPU = pathlib.Path(sys.executable).parent / "softtpu"
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("SOFTTPU_", "PYTHONPATH", "LD_LIBRARY_PATH", "CHIP"))}

TUNE = """
import numpy as np
from softtpu import sweep
def args(dev, **_):
    a = dev.array(np.ones(4096, np.float32))
    return dict(out=dev.empty_like(a), a=a, b=a, count=4096)
def reference(**_):
    return np.full(4096, 2, np.float32)
if __name__ == "__main__":
    found = sweep.tune(sweep.KernelCase("add_kernel.c", "add", args, "out"), dict(UNUSED=[1, 2]), reference=reference, workers=1, progress=False)
    assert found.best is not None and len(found.as_dict()["variants"]) == 2, found
    print("tuned")
"""
SWEEP = """
from softtpu import sweep
import distributed
def case(rows, columns):
    return {"size": rows * columns}
if __name__ == "__main__":
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
        table = sweep.run(case, dict(rows=[1, 2], columns=[3]), cluster=cluster, progress=False)
    assert [row["size"] for row in table] == [3, 6], table
    print("swept")
"""


def run(*command, cwd):
    done = subprocess.run([str(word) for word in command], cwd=cwd, env=CLEAN, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        sys.exit(f"FAILED ({done.returncode}): {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def block(page, name):
    """The code block that a page calls by this name."""
    return re.search(r"`%s`[^\n]*\n\n```\w+\n(.*?)```" % re.escape(name), (ROOT / page).read_text(), re.S)[1]


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for page, file in (("README.md", "add_kernel.c"), ("README.md", "add.py"), ("docs/agents.md", "add_case.py")):
            (folder / file).write_text(block(page, file))
        (folder / "tuning.py").write_text(TUNE)
        (folder / "sweeping.py").write_text(SWEEP)
        said = run(SOFTTPU, "run", "--check=all", "--time-record", "times.jsonl", "--report", "json:report.json", "--", sys.executable, "add.py", cwd=folder)
        assert "True" in said and "finding" not in said, said
        assert len((folder / "times.jsonl").read_text().splitlines()) == 1
        assert len(json.loads((folder / "report.json").read_text())["times"]) == 1
        assert "1 launch in page.html" in run(SOFTTPU, "report", "-o", "page.html", "--", sys.executable, "add.py", cwd=folder)
        assert "tuned" in run(sys.executable, "tuning.py", cwd=folder)
        assert "swept" in run(sys.executable, "sweeping.py", cwd=folder)
        assert json.loads(run(SOFTTPU, "try", "--json", "add_kernel.c", "add_case.py", cwd=folder))["verdict"] == "ok"
    print("add.py, reports, tuning, a Dask sweep and softtpu try work from the wheel")


if __name__ == "__main__":
    main()
