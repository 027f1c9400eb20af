#!/usr/bin/env python3
"""Calls in inlined helpers: whatever speaks of them names the helper's line, and a broken rule the kernel's too."""
import argparse
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

BUILD = None
SOURCE = pathlib.Path(__file__).resolve().parent / "kernels.c"
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("SOFTTPU_", "CMODEL_"))}


def line_of(text):
    return next(number for number, line in enumerate(SOURCE.read_text().splitlines(), 1) if text in line)


class Inline(unittest.TestCase):
    def test_both_lines_are_named(self):
        done = subprocess.run([str(BUILD / "bin/bugs_host"), str(BUILD / "lib/debug_kernels.so"), "inlines"], capture_output=True, text=True,
                              env=CLEAN, timeout=60)
        self.assertIn(f"at kernels.c:{line_of('in the helper')}, inlined into inlines (kernels.c:{line_of('in the kernel')})",
                      done.stdout + done.stderr)

    def run_helped(self, *options, module="debug_fast", kernel="helped"):
        done = subprocess.run([str(BUILD / "bin/softtpu"), "run", *options, "--", str(BUILD / "bin/bugs_host"), str(BUILD / f"lib/{module}.so"), kernel],
                              capture_output=True, text=True, env=CLEAN, timeout=60)
        return done.stdout + done.stderr

    def test_all_tools_name_the_line_of_the_call(self):
        loads, activates = line_of("loads in the helper"), line_of("activates in the helper")
        with tempfile.TemporaryDirectory() as folder:
            files = {name: pathlib.Path(folder) / name for name in ("timeline", "record", "findings", "trace")}
            text = self.run_helped("--time", f"--timeline={files['timeline']}", "--check=init", f"--report=json:{files['findings']}")
            timeline = json.loads(files["timeline"].read_text())
            findings = json.loads(files["findings"].read_text())["findings"]
            environment = {**CLEAN, "SOFTTPU_TIME_RECORD": str(files["record"]), "SOFTTPU_TRACE": str(files["trace"])}
            subprocess.run([str(BUILD / "bin/bugs_host"), str(BUILD / "lib/debug_fast.so"), "helped"], env=environment, timeout=60, check=True)
            record = json.loads(files["record"].read_text().splitlines()[0])
            trace = json.loads(files["trace"].read_text())
        self.assertIn(f"tpu_gdma_cpy_S2L, at kernels.c:{loads}", text)
        self.assertRegex(text, rf"tpu_bdc_fp_hswish \[tpu_bdc_\w+\], at kernels.c:{activates}")
        events = timeline if isinstance(timeline, list) else timeline["traceEvents"]
        self.assertEqual({event["args"]["at"] for event in events if "at" in event.get("args", {})},
                         {f"kernels.c:{loads}", f"kernels.c:{activates}"})
        self.assertEqual({re.search(r"kernels.c:\d+", json.dumps(call)).group() for call in record["calls"]},
                         {f"kernels.c:{loads}", f"kernels.c:{activates}"})
        self.assertEqual({event["args"]["at"] for event in trace if event.get("cat") in ("BDC", "GDMA")}, {f"kernels.c:{loads}", f"kernels.c:{activates}"})
        # Every step of the composite, and nothing else but the loads and the kernel's own waiting.
        for names in ([event["name"] for event in trace if event.get("cat") == "BDC"], [event["name"] for event in events if event.get("cat") == "BDC"],
                      [call["function"] for call in record["calls"] if call["engine"] == "BDC"]):
            self.assertGreater(len(names), 2)
            for name in names:
                self.assertRegex(name, r"^tpu_bdc_fp_hswish \[tpu_bdc_\w+\]$")
        parties = [party for finding in findings for party in finding["parties"]]
        self.assertTrue(parties)
        self.assertEqual({party["line"] for party in parties}, {loads, activates})
        self.assertEqual({party["caller"] for party in parties}, {"load_to", "activate"})

    def test_composites_have_the_name_that_the_kernel_called(self):
        text = self.run_helped("--check=init")
        self.assertRegex(text, r"tpu_bdc_fp_hswish \[tpu_bdc_\w+\] reads src0? 0x")

    def test_the_last_commands_of_a_crash_have_the_name_that_the_kernel_called(self):
        text = self.run_helped(kernel="crashes_after_steps")
        last = re.findall(r"^ +\d+ (tpu_\S+(?: \[\w+\])?)", text, re.MULTILINE)
        steps = [name for name in last if name != "tpu_initialize"]
        self.assertGreater(len(steps), 2, text)
        for name in steps:
            self.assertRegex(name, r"^tpu_bdc_fp_hswish \[tpu_bdc_\w+\]$")

    def test_a_crash_is_reported_once(self):
        program = [str(BUILD / "bin/bugs_host"), str(BUILD / "lib/debug_fast.so"), "crashes"]
        for launcher in ([], [str(BUILD / "bin/softtpu"), "run", "--"], [str(BUILD / "bin/softtpu"), "run", "--check=all", "--"]):
            done = subprocess.run([*launcher, *program], capture_output=True, text=True, env=CLEAN, timeout=60)
            text = done.stdout + done.stderr
            # On a busy machine without their source.
            self.assertEqual(text.count("Calls, innermost first"), 1, text)

    def test_without_debug_information_it_is_said_once(self):
        text = self.run_helped("--check=init", module="debug_stripped")
        self.assertEqual(text.count("has no debug information: compiled with -g"), 1, text)
        self.assertNotIn("compiled with -g", self.run_helped("--check=init"))
        done = subprocess.run([str(BUILD / "bin/bugs_host"), str(BUILD / "lib/debug_stripped.so"), "inlines", "3"], capture_output=True, text=True,
                              env=CLEAN, timeout=60)
        self.assertEqual((done.stdout + done.stderr).count("has no debug information: compiled with -g"), 1, done.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, type=pathlib.Path, help="the build tree")
    options, rest = parser.parse_known_args()
    BUILD = options.build
    unittest.main(argv=["inline_test.py", *rest])
