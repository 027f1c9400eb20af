#!/usr/bin/env python3
"""`softtpu run --gdb`, driven by files of gdb commands. Skipped (77) where there is no gdb, or it may not attach."""
import argparse
import fcntl
import os
import pathlib
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import termios
import time
import unittest

BUILD = None
SOURCE = pathlib.Path(__file__).resolve().parent / "kernels.c"
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("SOFTTPU_", "CMODEL_"))}


def line_of(text):
    """The number of the kernel source's line that holds the text."""
    return next(number for number, line in enumerate(SOURCE.read_text().splitlines(), 1) if text in line)


def run(*command, **variables):
    """Exit status and everything that was printed."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env={**CLEAN, **variables}, timeout=120)
    return done.returncode, done.stdout + done.stderr


class Session(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.commands = pathlib.Path(self.folder.name) / "commands.gdb"

    def debug(self, commands, *kernels, options=(), module="kernels", **variables):
        self.commands.write_text(commands)
        return run(BUILD / "bin/softtpu", "run", "--gdb-commands", self.commands, *options, "--", BUILD / "bin/debug_host",
                   BUILD / f"lib/debug_{module}.so", *(kernels or ["typed"]), **variables)


class Stops(Session):
    def test_stops_at_the_first_line_and_nobody_hurries(self):
        # Longer than every limit: that of the program (300 ms), of launches and of commands.
        status, text = self.debug("info line\nbt 1\nshell sleep 2.5\n", SOFTTPU_TIMEOUT="1", SOFTTPU_LAUNCH_LIMIT="1",
                                  TMPDIR=self.folder.name)
        self.assertEqual(status, 0, text)
        line = line_of("const debug_args_t* args = raw;")
        self.assertRegex(text, rf"#0 +typed \(raw=0x\w+\) at .*kernels\.c:{line}\n")
        self.assertIn("typed: status 0\nfirst value 1.5\n", text)
        self.assertEqual([file.name for file in pathlib.Path(self.folder.name).iterdir()], ["commands.gdb"])

    def test_stops_in_every_kernel_of_the_module(self):
        status, text = self.debug("continue\nbt 1\n", "typed", "second", "typed")
        self.assertEqual(status, 0, text)
        self.assertRegex(text, rf"#0 +second \(raw=0x\w+\) at .*kernels\.c:{line_of('int count = raw')}\n")
        self.assertEqual(text.count("status 0"), 3)

    def test_stops_where_a_kernel_crashes(self):
        status, text = self.debug("continue\nbt 1\nprint nowhere\n", "crashes", "second")
        self.assertEqual(status, 121, text)
        self.assertIn("received signal SIGSEGV", text)
        self.assertRegex(text, rf"#0 .*crashes \(raw=0x\w+\) at .*kernels\.c:{line_of('*nowhere = 1')}\n")
        self.assertIn("(volatile int *) 0x0", text)
        self.assertIn("softtpu: crash: kernel \"crashes\"", text)
        self.assertIn("second: status 0", text)


class Terminal(Session):
    """A person at a terminal."""

    def setUp(self):
        super().setUp()
        self.terminal, other = pty.openpty()
        command = [str(BUILD / "bin/softtpu"), "run", "--gdb", "--", str(BUILD / "bin/debug_host"), str(BUILD / "lib/debug_kernels.so"), "spins"]
        environment = {**CLEAN, "TERM": "dumb", "HOME": self.folder.name}
        self.run = subprocess.Popen(command, stdin=other, stdout=other, stderr=other, env=environment, start_new_session=True,
                                    preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(other)
        self.seen = ""
        self.addCleanup(os.close, self.terminal)
        self.addCleanup(self.run.wait)
        self.addCleanup(self.run.kill)

    def expect(self, text):
        """Everything up to the text, which must come within a minute."""
        while text not in self.seen:
            ready, _, _ = select.select([self.terminal], [], [], 60)
            self.assertTrue(ready, f"no {text!r} in {self.seen!r}")
            self.seen += os.read(self.terminal, 4096).decode(errors="replace")
        before, self.seen = self.seen.split(text, 1)
        return before

    def say(self, text):
        os.write(self.terminal, text.encode())

    def test_control_c_interrupts_the_kernel_and_not_the_program(self):
        self.assertIn("spins (raw=", self.expect("(gdb) "))
        self.say("continue\n")
        self.expect("Continuing.")
        time.sleep(1)
        self.say("\x03")
        self.assertIn("SIGINT", self.expect("(gdb) "))
        self.say("print spinning\n")
        self.assertIn("= 1", self.expect("(gdb) "))
        self.say("set var spinning = 0\n")
        self.expect("(gdb) ")
        self.say("continue\n")
        self.expect("spins: status 0")
        self.expect("The program no longer exists.")
        self.expect("(gdb) ")
        self.say("quit\n")
        self.assertEqual(self.run.wait(timeout=60), 0)

    def test_after_quit_the_kernel_goes_on(self):
        self.expect("(gdb) ")
        self.say("next\n")
        self.expect("(gdb) ")
        self.say("set var spinning = 0\n")
        self.expect("(gdb) ")
        self.say("quit\n")
        self.expect("y or n")
        self.say("y\n")
        self.expect("spins: status 0")
        self.assertEqual(self.run.wait(timeout=60), 0)


class Starts(Session):
    """Other kernels and other ways to run them."""

    def test_kernels_without_debug_information(self):
        status, text = self.debug("info symbol $pc\nsofttpu tensor 0 1,1,1,2\n", module="stripped")
        self.assertEqual(status, 0, text)
        self.assertRegex(text, r"typed( in section \.text)?")
        self.assertIn("[0,0,0] 0 0\n", text)

    def test_kernels_of_okkernel(self):
        status, text = self.debug("next\nnext\nnext\nprint constant\nprint shape\n", "okk_typed", module="okk_kernel", options=["--chip=bm1684"])
        self.assertEqual(status, 0, text)
        self.assertIn("= 0xc0000000 = -1073741824 = -2 fp32", text)
        self.assertIn("= [1, 64, 4, 16]", text)

    def test_in_a_sandboxed_core_and_under_checks(self):
        status, text = self.debug("bt 1\n", options=["--sandbox", "--check=all"])
        self.assertEqual(status, 0, text)
        self.assertIn("#0  typed", text)

    def test_replays_stop_too(self):
        record = pathlib.Path(self.folder.name) / "launch"
        self.assertEqual(run(BUILD / "bin/softtpu", "run", "--record", record, "--", BUILD / "bin/debug_host", BUILD / "lib/debug_kernels.so",
                             "typed")[0], 0)
        self.commands.write_text(f"break {line_of('all is in place')}\ncontinue\nsofttpu tensor 0x4000 1,1,1,3\n")
        status, text = run(BUILD / "bin/softtpu", "replay", "--gdb-commands", self.commands, record)
        self.assertEqual(status, 0, text)
        self.assertIn("[0,0,0] 1.5 1.75 2\n", text)
        self.assertIn("all bytes are the recorded ones", text)


# What gdb has to say, and what in its answer shows that it is right.
REFUSED = (("tensor 0", "usage: softtpu tensor ADDRESS SHAPE"), ("tensor 0 raw", "raw is no shape"), ("tensor 0 half", "half is no shape"),
           ("tensor 0 1,1,1,1 7", "7 is no data type"), ("tensor 0x3fffff0 1,64,1,16", "0x3fffff0"), ("tensor 0 1,1,1", "1,1,1"),
           ("tensor 0 1,1,1,1 fp32 diagonal", "diagonal"), ("memory 0 16 flash", '"flash" is not one of'),
           ("tensor 0 1,1,1,1 --stride", "--stride needs a value"), ("memory 0x7000000000", "outside global memory"),
           ("memory", "usage: softtpu memory ADDRESS"), ("tensor no_such_name 1,1,1,1", 'No symbol "no_such_name" in current context'))


class Shows(Session):
    """One session for everything that is printed."""

    def test_types_tensors_and_complaints(self):
        array = pathlib.Path(self.folder.name) / "tensor.npy"
        names = ("pair", "shape", "*where", "scalar", "half", "none", "rounding", "vector", "constant", "small", "brain")
        refused = "".join(f"""python
try: gdb.execute({("softtpu " + command)!r})
except gdb.error as error: print({command!r}, "|", error)
end
""" for command, _ in REFUSED)
        status, text = self.debug(f"""break {line_of('all is in place')}
continue
{"".join(f"print {name}{chr(10)}" for name in names)}
echo LOCAL\\n
softtpu tensor 0x4000 shape
echo NARROW\\n
softtpu tensor 0x4000 1,2,2,4 half
echo POINTER\\n
softtpu tensor 0x0000 where DT_FP32 aligned
echo ROWS\\n
softtpu tensor 16384 1,2,2,3 fp32 free --stride 64,64,16,1
echo GLOBAL\\n
softtpu tensor args->data 1,1,2,4 DT_FP32 continuous
echo BYTES\\n
softtpu memory 0x4000 32
softtpu memory args->data 16
softtpu tensor 0x4000 shape DT_FP32 aligned -o {array}
{refused}""")
        self.assertEqual(status, 0, text)
        self.check_types(text)
        self.check_tensors(text)
        self.assertEqual(array.read_bytes()[:6], b"\x93NUMPY")
        self.assertEqual(array.stat().st_size, 128 + 4096 * 4)
        for command, reason in REFUSED:
            answer = next((line for line in text.splitlines() if line.startswith(command + " | ")), "")
            self.assertIn(reason, answer, command)

    def check_types(self, text):
        for printed in ("$1 = [3, 4]", "$2 = [1, 64, 4, 16]", "$3 = [1, 64, 4, 16]", "$4 = 0x3fc00000 = 1069547520 = 1.5 fp32 = 0 fp16",
                        "$5 = DT_FP16 (2 bytes)", "$6 = 44 (no data type)", "$7 = RM_TOWARDS_ZERO", "$8 = VECTOR at 0x40",
                        "$9 = SCALAR 0x3fc00000", "$10 = 1.5 (0x3e00)", "$11 = -1.5 (0xbfc0)"):
            self.assertIn(printed, text)

    def check_tensors(self, text):
        def part(name):
            return text.split(name + "\n")[1]
        self.assertTrue(part("LOCAL").startswith("[0,0,0] 1.5 1.75 2 2.25 "), text)
        self.assertIn("[0,63,3] 1021.5 ", part("LOCAL"))
        self.assertTrue(part("NARROW").startswith("[0,0,0] 0 1.9375 0 1.9688\n"))
        self.assertTrue(part("POINTER").startswith("[0,0,0] 0 0.25 0.5 "))
        self.assertTrue(part("ROWS").startswith("[0,0,0] 1.5 1.75 2\n[0,0,1] 5.5 5.75 6\n[0,1,0] 17.5 17.75 18\n"))
        self.assertTrue(part("GLOBAL").startswith("[0,0,0] 0 0.25 0.5 0.75\n[0,0,1] 1 1.25 1.5 1.75\n"))
        self.assertIn("00004000  00 00 c0 3f 00 00 e0 3f 00 00 00 40 ", part("BYTES"))
        self.assertIn("00 00 00 00 00 00 80 3e 00 00 00 3f 00 00 40 3f", part("BYTES"))


class Refusals(unittest.TestCase):
    def test_a_missing_gdb_is_named(self):
        status, text = run(BUILD / "bin/softtpu", "run", "--gdb", "--", "/bin/true", PATH="/nowhere")
        self.assertEqual((status, text), (125, "softtpu: --gdb: there is no gdb in PATH; it is the Debian package gdb\n"))

    def test_bad_options_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            gdb = pathlib.Path(folder) / "gdb"
            gdb.write_text("#!/bin/sh\nexit 3\n")
            gdb.chmod(0o755)
            status, text = run(BUILD / "bin/softtpu", "run", "--gdb-commands", "/no/such/file", "--", "/bin/true", PATH=folder)
            self.assertEqual(status, 125)
            self.assertIn('--gdb-commands: "/no/such/file": No such file or directory', text)
            status, text = run(BUILD / "bin/softtpu", "run", "--gdb", "--device=unix:/tmp/x.sock", "--", "/bin/true", PATH=folder)
            self.assertEqual(status, 125)
            self.assertIn("--gdb stops kernels of a private device", text)
            # A debugger that does not attach does not stop the program.
            status, text = run(BUILD / "bin/softtpu", "run", "--gdb", "--", BUILD / "bin/debug_host", BUILD / "lib/debug_kernels.so", "typed",
                               PATH=folder)
            self.assertEqual(status, 0, text)
            self.assertIn("the debugger did not attach; kernels run without it", text)
            self.assertIn("gdb ended with status 3", text)
            self.assertIn("first value 1.5", text)


def gdb_can_attach():
    if shutil.which("gdb") is None:
        return False
    sleeper = subprocess.Popen(["sleep", "60"])
    try:
        done = subprocess.run(["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-p", str(sleeper.pid), "-ex", "python print('at' + 'tached')"],
                              capture_output=True, text=True, timeout=60)
        return "attached" in done.stdout and "not permitted" not in done.stderr
    finally:
        sleeper.kill()
        sleeper.wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, type=pathlib.Path, help="the build tree")
    options, rest = parser.parse_known_args()
    BUILD = options.build
    if "Refusals" not in rest and not gdb_can_attach():
        print("skipped: there is no gdb, or it may not attach to processes")
        sys.exit(77)
    unittest.main(argv=["gdb_test.py", *rest])
