#!/usr/bin/env python3
"""A broken rule in an inlined helper: the report names the helper's line and the kernel's."""
import argparse
import os
import pathlib
import subprocess
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


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, type=pathlib.Path, help="the build tree")
    options, rest = parser.parse_known_args()
    BUILD = options.build
    unittest.main(argv=["inline_test.py", *rest])
