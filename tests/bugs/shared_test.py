#!/usr/bin/env python3
"""Findings of a device that several programs share: each goes to the program that caused it, and to no other."""
import argparse
import contextlib
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

BUILD = None
RACE = 'softtpu: error race/raw in kernel "bug_use_while_loading"'


class Device:
    """`softtpu serve` with checks, and programs that use it."""

    def __init__(self, folder, *options):
        self.folder = pathlib.Path(folder)
        self.socket = self.folder / "device.sock"
        self.log = open(self.folder / "server.log", "w+", encoding="utf-8")
        self.server = subprocess.Popen([BUILD / "bin/softtpu", "serve", "--socket", self.socket, *options], stdout=subprocess.PIPE,
                                       stderr=self.log, text=True)
        line = self.server.stdout.readline()
        assert "use with" in line, line

    def end(self):
        self.server.terminate()
        self.server.wait(20)
        self.server.stdout.close()
        self.log.seek(0)
        text = self.log.read()
        self.log.close()
        return text

    def start(self, *words, options=None, **variables):
        command = [str(BUILD / "bin/bugs_host"), *map(str, words)]
        if options is not None:
            command = [str(BUILD / "bin/softtpu"), "run", *options, "--", *command]
        environment = {**os.environ, "SOFTTPU_DEVICE": f"unix:{self.socket}", **variables}
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def run(self, *words, **rest):
        program = self.start(*words, **rest)
        text, _ = program.communicate(timeout=60)
        return program.returncode, text


@contextlib.contextmanager
def device(*options):
    with tempfile.TemporaryDirectory() as folder:
        served = Device(folder, *options)
        try:
            yield served
        finally:
            served.end()


def module(name):
    return BUILD / f"lib/bugs_{name}.so"


class SharedDevice(unittest.TestCase):
    def test_findings_go_to_the_program_that_caused_them(self):
        with device("--check=all") as shared:
            bad = [shared.start(module("race"), "bug_use_while_loading") for _ in range(3)]
            good = [shared.start(module("race"), "ok_use_while_loading") for _ in range(3)]
            for program in bad:
                text, _ = program.communicate(timeout=60)
                self.assertEqual((program.returncode, text.count(RACE)), (0, 1), text)
                self.assertIn("at race.c:", text)
            for program in good:
                text, _ = program.communicate(timeout=60)
                self.assertEqual((program.returncode, text), (0, ""))

    def test_a_later_program_is_told_again(self):
        with device("--check=all") as shared:
            for _ in range(3):
                self.assertEqual(shared.run(module("race"), "bug_use_while_loading")[1].count(RACE), 1)

    def test_what_comes_again_is_counted(self):
        with device("--check=race") as shared:
            text = shared.run(module("race"), "bug_use_while_loading", 5)[1]
            self.assertEqual(text.count(RACE), 1)
            counts = [int(line.split('"bug_use_while_loading" ')[1].split()[0]) for line in text.splitlines() if " more time" in line]
            self.assertEqual(sum(counts), 4, text)

    def test_the_programs_own_calls_are_told_to_it(self):
        with device("--check=memory") as shared:
            status, text = shared.run("bug_host_leak")
            self.assertIn("softtpu: warning memory/leak: ", text)
            self.assertIn("host.c:", text)
            self.assertNotIn('kernel ""', text)
            self.assertIn("softtpu: error memory/host-copy", shared.run("bug_host_copy_too_long")[1])
            self.assertEqual(shared.run("ok_host_leak"), (0, ""))

    def test_the_report_is_that_of_a_device_of_its_own(self):
        def report(run):
            with tempfile.TemporaryDirectory() as folder:
                place = pathlib.Path(folder) / "report.json"
                status, text = run([f"--report=json:{place}"])
                return status, json.loads(place.read_text(encoding="utf-8")), text

        for kernel, part in (("bug_use_while_loading", "race"), ("bug_read_past_end", "memory"), ("bug_unwritten_input", "init")):
            with device("--check=all,output") as shared:
                status, got, text = report(lambda options: shared.run(module(part), kernel, 3, options=options))
            own_status, own, _ = report(lambda options: Device.run_alone(module(part), kernel, 3, options=["--check=all,output", *options]))
            self.assertEqual((status, own_status), (120, 120), text)
            for finding in got["findings"] + own["findings"]:
                finding.pop("what")  # names addresses
                for party in finding["parties"]:
                    party.pop("text")
                finding.pop("place", None)
            self.assertEqual(got["findings"], own["findings"])
            self.assertEqual(got["verdict"], "findings")

    def test_allowed_findings_reach_the_report(self):
        with device("--check=race", "--allow=race/*@bug_use*") as shared, tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder) / "report.json"
            status, text = shared.run(module("race"), "bug_use_while_loading", options=[f"--report=json:{place}"])
            self.assertEqual(status, 0, text)
            self.assertEqual(json.loads(place.read_text())["allowed"], [{"rule": "race/raw", "kernel": "bug_use_while_loading", "count": 1}])

    def test_each_program_has_the_whole_limit(self):
        with device("--check=memory,race", "--max-findings=1") as shared:
            for _ in range(2):
                text = shared.run(module("race"), "bug_use_while_loading")[1]
                self.assertEqual(text.count(RACE), 1, text)

    def test_without_checks_nothing_is_told(self):
        with device() as shared:
            self.assertEqual(shared.run(module("race"), "bug_use_while_loading"), (0, ""))

    def test_the_servers_log_says_whose_they_are(self):
        with tempfile.TemporaryDirectory() as folder:
            shared = Device(folder, "--check=race")
            program = shared.start(module("race"), "bug_use_while_loading")
            program.communicate(timeout=60)
            text = shared.end()
            self.assertIn(f'process {program.pid}: error race/raw in kernel "bug_use_while_loading": ', text)
            self.assertNotIn("fix:", text)


def run_alone(*words, options):
    command = [str(BUILD / "bin/softtpu"), "run", *options, "--", str(BUILD / "bin/bugs_host"), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


Device.run_alone = staticmethod(run_alone)

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="the build tree")
    arguments, rest = parser.parse_known_args()
    BUILD = arguments.build
    unittest.main(argv=["shared_test.py", *rest])
