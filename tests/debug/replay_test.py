#!/usr/bin/env python3
"""Launches that `softtpu run --record` keeps, and what `softtpu replay` makes of them."""
import argparse
import os
import pathlib
import subprocess
import tempfile
import unittest

BUILD = None
SMALL_CHIP = pathlib.Path(__file__).resolve().parent.parent / "bugs/small_chip.json"
# Settings of the surroundings must not decide anything here.
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("SOFTTPU_", "CMODEL_"))}


def run(*command, **variables):
    """Exit status and everything that was printed."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env={**CLEAN, **variables}, timeout=60)
    return done.returncode, done.stdout + done.stderr


def replay(*words, **variables):
    return run(BUILD / "bin/softtpu", "replay", *words, **variables)


class Replay(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.file = pathlib.Path(self.folder.name) / "launch"
        self.addCleanup(self.folder.cleanup)

    def record(self, module, kernel, *options, launches=1, **variables):
        return run(BUILD / "bin/softtpu", "run", "--record", self.file, *options, "--", BUILD / "bin/bugs_host",
                   BUILD / f"lib/bugs_{module}.so", kernel, launches, **variables)

    def test_the_same_bytes_come_out(self):
        self.assertEqual(self.record("race", "ok_use_while_loading"), (0, ""))
        status, text = replay(self.file)
        self.assertEqual(status, 0, text)
        self.assertIn('kernel "ok_use_while_loading" of', text)
        self.assertIn("ended as recorded: success", text)
        self.assertIn("all bytes are the recorded ones", text)

    def test_a_clean_kernel_stays_clean_under_every_check(self):
        for module, kernel in (("race", "ok_use_while_loading"), ("memory", "ok_read_past_end"), ("init", "ok_unwritten_input")):
            self.assertEqual(self.record(module, kernel)[0], 0)
            status, text = replay("--check=memory,init,race", self.file)
            self.assertEqual(status, 0, text)

    def test_checks_find_in_the_replay_what_they_find_in_the_program(self):
        for module, kernel, rule in (("race", "bug_use_while_loading", "race/raw"), ("memory", "bug_read_past_end", "memory/overrun"),
                                     ("init", "bug_unwritten_input", "init/global")):
            self.assertEqual(self.record(module, kernel)[0], 0)
            status, text = replay("--check=memory,init,race", self.file)
            self.assertEqual(status, 120, text)
            self.assertIn(f'{rule} in kernel "{kernel}"', text)
            self.assertIn(f"{module}.c:", text)
        # The host program's stack is in the record.
        self.assertEqual(self.record("memory", "bug_read_past_end")[0], 0)
        self.assertIn("host.c:", replay("--check=memory", self.file)[1])

    def test_another_order_gives_other_bytes_of_a_racy_kernel(self):
        self.assertEqual(self.record("race", "bug_use_while_loading")[0], 0)
        status, text = replay("--schedule=late", self.file)
        self.assertEqual(status, 1)
        self.assertRegex(text, r"\d+ bytes differ from the recorded ones, the first at global memory 0x\w+\.\.0x\w+, byte \d+ of an allocation of 16384")
        self.assertIn("at local memory", text)
        self.assertEqual(self.record("race", "ok_use_while_loading")[0], 0)
        self.assertEqual(replay("--schedule=late", self.file)[0], 0)

    def test_times_are_estimated(self):
        self.assertEqual(self.record("race", "ok_use_while_loading")[0], 0)
        status, text = replay("--time", self.file)
        self.assertEqual(status, 0)
        self.assertRegex(text, r"[\d.]+ us estimated")

    def test_another_chip(self):
        self.assertEqual(self.record("race", "ok_use_while_loading")[0], 0)
        status, text = replay(f"--chip={SMALL_CHIP}", self.file)
        self.assertEqual(status, 0, text)
        self.assertIn("on chip small", text)
        self.assertIn("local memory is not compared: this chip has another", text)
        status, text = replay("--chip=bm1684", self.file)
        self.assertEqual(status, 123)
        self.assertIn("tpu_initialize: BM1684 has no TPUKernel functions", text)
        self.assertEqual(replay("--chip=bm1999", self.file)[0], 125)
        status, text = replay(self.file, CMODEL_GLOBAL_MEM_SIZE="84938752")
        self.assertEqual(status, 125)
        self.assertIn("has no room for 16384 bytes at 0x", text)

    def test_a_chip_from_a_file_is_in_the_record(self):
        chip = pathlib.Path(self.folder.name) / "chip.json"
        chip.write_text(SMALL_CHIP.read_text())
        self.assertEqual(self.record("race", "ok_use_while_loading", f"--chip={chip}")[0], 0)
        chip.unlink()
        status, text = replay(self.file)
        self.assertEqual(status, 0, text)
        self.assertIn("on chip small", text)

    def test_the_launch_that_is_asked_for(self):
        self.assertEqual(self.record("init", "ok_operand_not_loaded", "--record-launch=3", launches=4)[0], 0)
        status, text = replay("--show", self.file)
        self.assertEqual(status, 0)
        self.assertRegex(text, r"launch +3, on core 0 of chip bm1684x")
        self.assertRegex(text, r"allocation 0x\w+, 16384 bytes, at host.c:\d+")
        self.assertEqual(replay(self.file)[0], 0)

    def test_without_that_launch_there_is_no_record(self):
        self.file.write_text("older")
        status, text = self.record("race", "ok_use_while_loading", "--record-launch=2")
        self.assertEqual(status, 125)
        self.assertIn("the program made no launch 2 that can be kept", text)
        self.assertFalse(self.file.exists())

    def test_a_launch_that_fails_fails_again(self):
        self.assertEqual(self.record("constraint", "bug_other_npu")[0], 0)
        status, text = replay(self.file)
        self.assertEqual(status, 0, text)
        self.assertIn("ended as recorded: \n   tpu_bdc", text)

    def test_a_kernel_that_ends_its_core_does_so_again(self):
        for scenario, verdict in (("exit_in_kernel", 121), ("hang", 122)):
            host = [BUILD / "bin/e2e_host", scenario, BUILD / "lib/e2e_kernels.so"]
            status, _ = run(BUILD / "bin/softtpu", "run", "--timeout=1", "--record", self.file, "--", *host)
            self.assertEqual(status, verdict)
            self.assertIn("the kernel did not return", replay("--show", self.file)[1])
            status, text = replay("--timeout=1", self.file)
            self.assertEqual(status, verdict, text)
            self.assertIn("recorded outcome: the kernel did not return", text)

    def test_a_sandboxed_core_records_too(self):
        self.assertEqual(self.record("race", "ok_use_while_loading", SOFTTPU_SANDBOX="on"), (0, ""))
        self.assertEqual(replay(self.file, SOFTTPU_SANDBOX="on")[0], 0)

    def test_kernels_of_the_program_itself_cannot_be_kept(self):
        status, text = run(BUILD / "bin/softtpu", "run", "--record", self.file, "--", BUILD / "bin/e2e_inprocess_host", "use")
        self.assertEqual(status, 125)
        self.assertIn("linked into the program, so there is no module to keep", text)

    def test_modules_in_a_program_of_one_process_can(self):
        self.assertEqual(self.record("race", "ok_use_while_loading", SOFTTPU_DEVICE="inprocess"), (0, ""))
        self.assertEqual(replay(self.file)[0], 0)

    def test_damaged_records_are_refused(self):
        self.assertEqual(self.record("race", "ok_use_while_loading")[0], 0)
        whole = self.file.read_bytes()
        for bad, reason in ((whole[:-1], "truncated"), (whole[:100], "100 bytes are not a record"), (b"", "0 bytes are not a record"),
                            (whole[:5000] + b"?" + whole[5001:], "checksum is wrong"), (b"x" * 1000, "not a record of a launch")):
            self.file.write_bytes(bad)
            status, text = replay(self.file)
            self.assertEqual(status, 125)
            self.assertIn(reason, text)
            self.assertEqual(replay("--show", self.file)[0], 125)
        self.assertIn("No such file", replay("/no/such/file")[1])

    def test_places_that_cannot_be_written_are_refused(self):
        status, text = run(BUILD / "bin/softtpu", "run", "--record", "/no/such/folder/x", "--", "/bin/true")
        self.assertEqual(status, 125)
        self.assertIn('"/no/such/folder/x" cannot be written: No such file or directory', text)
        status, text = run(BUILD / "bin/softtpu", "run", "--record", self.file, "--device=unix:/tmp/x.sock", "--", "/bin/true")
        self.assertEqual(status, 125)
        self.assertIn("sets up a private device", text)
        self.assertEqual(run(BUILD / "bin/softtpu", "run", "--record-launch=0", "--", "/bin/true")[0], 125)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, type=pathlib.Path, help="the build tree")
    options, rest = parser.parse_known_args()
    BUILD = options.build
    unittest.main(argv=["replay_test.py", *rest])
