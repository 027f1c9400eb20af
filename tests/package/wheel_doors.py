#!/usr/bin/env python3
"""Run by the Python of a fresh environment into which the wheel is installed, with distributed: README's add.py under run, report and
--time-record, tuning from a script, a Dask sweep, `softtpu try`. Nothing of a checkout is used but README.md and docs/agents.md."""
import importlib.metadata
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

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


def block(page, name):
    """The code block that a page calls by this name."""
    return re.search(r"`%s`[^\n]*\n\n```\w+\n(.*?)```" % re.escape(name), (ROOT / page).read_text(), re.S)[1]


class WheelDoors(unittest.TestCase):
    """What people start first, each by itself."""

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.place.name)
        for page, file in (("README.md", "add_kernel.c"), ("README.md", "add.py"), ("docs/agents.md", "add_case.py")):
            (cls.folder / file).write_text(block(page, file))

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def run_here(self, *command):
        done = subprocess.run([str(word) for word in command], cwd=self.folder, env=CLEAN, capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def run_program(self, name, text):
        (self.folder / name).write_text(text)
        return self.run_here(sys.executable, name)

    def test_the_first_program_has_no_findings(self):
        said = self.run_here(SOFTTPU, "run", "--check=all", "--", sys.executable, "add.py")
        self.assertIn("True", said)
        self.assertNotIn("finding", said.replace("no findings", ""))

    def test_times_reach_record_and_json(self):
        self.run_here(SOFTTPU, "run", "--time-record", "times.jsonl", "--report", "json:report.json", "--", sys.executable, "add.py")
        self.assertEqual(len((self.folder / "times.jsonl").read_text().splitlines()), 1)
        self.assertEqual(len(json.loads((self.folder / "report.json").read_text())["times"]), 1)

    def test_the_report_has_the_launch(self):
        self.assertIn("1 launch in page.html", self.run_here(SOFTTPU, "report", "-o", "page.html", "--", sys.executable, "add.py"))

    def test_tuning_runs_from_a_script(self):
        self.assertIn("tuned", self.run_program("tuning.py", TUNE))

    def test_a_sweep_runs_on_a_dask_cluster(self):
        self.assertIn("swept", self.run_program("sweeping.py", SWEEP))

    def test_a_case_is_tried(self):
        self.assertEqual(json.loads(self.run_here(SOFTTPU, "try", "--json", "add_kernel.c", "add_case.py"))["verdict"], "ok")


if __name__ == "__main__":
    print("distributed", importlib.metadata.version("distributed"), flush=True)
    unittest.main(verbosity=2)
