#!/usr/bin/env python3
"""Ctrl-C in a Python program that waits for a launch through ctypes: the launch is ended and KeyboardInterrupt is raised at once. A
handler that raises something else ends it too, one that raises nothing leaves the launch alone."""
import argparse
import ctypes
import os
import pathlib
import pty
import signal
import subprocess
import sys
import threading
import time

PROMPT = 15.0  # seconds; a machine that is busy needs some
MARK = f"SOFTTPU_TEST_INTERRUPT={os.getpid()}"  # in the environment of programs, and so of their devices


class Host:
    """Device 0 with one module loaded."""

    def __init__(self, options):
        self.lib = ctypes.CDLL(str(options.bmlib))
        self.lib.tpu_kernel_load_module_file.restype = ctypes.c_void_p
        self.handle = ctypes.c_void_p()
        assert self.lib.bm_dev_request(ctypes.byref(self.handle), 0) == 0
        assert self.lib.tpu_kernel_load_module_file(self.handle, str(options.kernels).encode())

    def launch(self, name, value=0):
        args = (ctypes.c_int * 4)(0, 0, 0, value)
        return self.lib.tpu_kernel_launch_sync(self.handle, name.encode(), args, ctypes.sizeof(args))

    def start(self, name):
        args = (ctypes.c_int * 4)()
        return self.lib.okkernel_launch_async(self.handle, name.encode(), args, ctypes.sizeof(args))


def launch_for_ever(host):
    host.launch("e2e_spin")


def sync_for_ever(host):
    for _ in range(3):
        assert host.start("e2e_spin") == 0
    host.lib.tpu_kernel_sync(host.handle)


def with_threads(host):
    """Another thread waits as well, and may be the one that reads the answers."""
    def wait():
        host.lib.tpu_kernel_launch_sync(host.handle, b"e2e_sleep", (ctypes.c_int * 4)(0, 0, 0, 300), 16)

    thread = threading.Thread(target=wait)
    thread.start()
    try:
        host.launch("e2e_spin")
    finally:
        thread.join()


def child(options):
    """Runs in a process of its own: waits, is interrupted, and goes on with its device."""
    host = Host(options)
    if options.child == "alarm":
        def late(*_):
            raise TimeoutError("too late", 4711)
        signal.signal(signal.SIGALRM, late)
        signal.alarm(1)
        try:
            host.launch("e2e_spin")
            print("no exception")
        except TimeoutError as error:
            print("raised", error.args)
    elif options.child == "note":
        seen = []
        signal.signal(signal.SIGINT, lambda *_: seen.append(time.monotonic()))
        print("waiting", flush=True)
        status = host.launch("e2e_sleep", 2000)
        print("status", status, "seen before the end", bool(seen) and time.monotonic() - seen[0] > 0.5)
    else:
        try:
            print("waiting", flush=True)
            {"launch": launch_for_ever, "sync": sync_for_ever, "threads": with_threads}[options.child](host)
            print("no exception")
        except KeyboardInterrupt:
            print("KeyboardInterrupt")
    print("next launch", host.launch("e2e_nothing"))


def check(holds, text, output):
    if not holds:
        sys.exit(f"FAILED: {text}\n{output}")


def stat_of(pid):
    """(state, parent, ticks of processor time) of a process, as /proc/PID/stat has them; None: it has gone."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return fields[0], int(fields[1]), int(fields[11]) + int(fields[12])


def core_of_program():
    """The core process of the program that runs: it, or its parent where its own environment cannot be read, has the mark."""
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if not entry.name.isdigit() or (entry / "comm").read_text() != "softtpu-core0\n":
                continue
        except OSError:
            continue
        stat = stat_of(entry.name)
        for pid in (entry.name, stat and stat[1]):
            try:
                if MARK.encode() in pathlib.Path(f"/proc/{pid}/environ").read_bytes():
                    return int(entry.name)
            except OSError:
                pass
    return None


def wait_until_running(pid, sleeps=False):
    """Until the kernel spins, or, where it sleeps, until the program has waited for it for a while."""
    core, last, still = None, None, 0
    deadline = time.monotonic() + 60
    while still < 5:
        if time.monotonic() > deadline:
            sys.exit("FAILED: the launch does not begin")
        time.sleep(0.02)
        core = core or core_of_program()
        if core is None:
            continue
        now = stat_of(pid if sleeps else core)
        if sleeps:
            still = still + 1 if now and now[0] == "S" else 0
        else:  # a core that waits for work needs no tick
            still += 1 if now and last and now[2] > last[2] else 0
        last = now


def start(options, scenario, **more):
    command = [sys.executable, __file__, "--bmlib", options.bmlib, "--kernels", options.kernels, "--child", scenario]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SOFTTPU_")}
    name, mark = MARK.split("=")
    clean[name] = mark
    return subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=clean, text=True, **more)


def finish(program):
    rest, _ = program.communicate(timeout=60)
    return rest


def interrupted(options, scenario):
    program = start(options, scenario)
    line = program.stdout.readline()
    wait_until_running(program.pid, sleeps=scenario == "note")
    begin = time.monotonic()
    program.send_signal(signal.SIGINT)
    output = line + finish(program)
    return output, time.monotonic() - begin


def at_a_terminal(options):
    """Ctrl-C typed: the whole process group of the terminal gets the signal, the device's processes too."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update([MARK.split("=")])
        os.execv(sys.executable, [sys.executable, __file__, "--bmlib", str(options.bmlib), "--kernels", str(options.kernels),
                                  "--child", "launch"])
    output, sent = "", False
    begin = time.monotonic()
    while time.monotonic() < begin + 60:
        try:
            output += os.read(terminal, 4096).decode(errors="replace")
        except OSError:
            break
        if "waiting" in output and not sent:
            wait_until_running(pid)
            os.write(terminal, b"\x03")
            sent = True
    os.waitpid(pid, 0)
    return output


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bmlib", type=pathlib.Path, required=True)
    parser.add_argument("--kernels", type=pathlib.Path, required=True)
    parser.add_argument("--child")
    options = parser.parse_args()
    if options.child:
        return child(options)
    for scenario in ("launch", "sync", "threads"):
        output, seconds = interrupted(options, scenario)
        check("KeyboardInterrupt" in output and "no exception" not in output, f"{scenario}: no KeyboardInterrupt", output)
        check("was ended, because its program was interrupted" in output, f"{scenario}: the launch's status says nothing", output)
        check("next launch 0" in output, f"{scenario}: the device is lost", output)
        check(seconds < PROMPT, f"{scenario}: KeyboardInterrupt after {seconds:.1f} s", output)
        print(f"{scenario}: KeyboardInterrupt and all the rest after {seconds:.2f} s")
    output = at_a_terminal(options)
    check("KeyboardInterrupt" in output and "next launch 0" in output, "terminal: no KeyboardInterrupt", output)
    output = finish(start(options, "alarm"))
    check("raised ('too late', 4711)" in output and "next launch 0" in output, "alarm: another exception", output)
    output, _ = interrupted(options, "note")
    check("status 0 seen before the end True" in output, "note: a handler that raises nothing", output)
    print("Ctrl-C at a terminal, other exceptions and quiet handlers: as they must be")
    return 0


if __name__ == "__main__":
    sys.exit(main())
