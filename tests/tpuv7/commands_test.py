#!/usr/bin/env python3
"""What the launcher does for programs on libbmlib it does for those on the newer interfaces: `commands_test.py COMMAND` runs the program
of each interface (interfaces.c) under one command. Without COMMAND all of them."""
import argparse
import json
import os
import pathlib
import re
import shutil
import socket as sockets
import struct
import subprocess
import sys
import tempfile
import threading
import time as clock

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
INTERFACES = ["rt", "wrapper", "tpudnn"]
RIGHT = "0 of 1024 numbers wrong"
CLEAN = {name: value for name, value in os.environ.items()
         if not name.startswith(("SOFTTPU_", "LD_LIBRARY_PATH", "TPUKERNEL_", "PPL_", "TPU_", "CHIP"))}


class Bench:
    """The programs, and a folder for what they leave."""

    def __init__(self, options, folder):
        self.launcher, self.program, self.module, self.folder = options.launcher, options.program, options.module, folder

    def finish(self, status, *command, **variables):
        """Runs a command that has to end with this status; both of its outputs."""
        done = subprocess.run([str(word) for word in command], env={**CLEAN, **variables}, capture_output=True, text=True, timeout=100)
        if done.returncode != status:
            sys.exit(f"FAILED ({done.returncode}, not {status}): {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def interface(self, interface, *words):
        return [self.program, interface, self.module, *words]

    def run(self, interface, *options, status=0, word=None, **variables):
        return self.finish(status, self.launcher, "run", *options, "--", *self.interface(interface, *([word] if word else [])), **variables)

    def path(self, interface, name):
        return self.folder / f"{interface}.{name}"


def need(text, *expected):
    for part in expected:
        if part not in text:
            sys.exit(f"FAILED: {part!r} is not in {text!r}")


def check(bench, interface):
    """run --check: nothing in a sound program; what a broken one does, with the kernel's line, and as JSON."""
    need(bench.run(interface, "--check=all"), RIGHT)
    report = bench.path(interface, "json")
    text = bench.run(interface, "--check=all", f"--report=json:{report}", status=120, word="bad")
    need(text, "add_tensors", "interface_kernels.c:")
    findings = json.loads(report.read_text())["findings"]
    if not findings or findings[0]["kernel"] != "add_tensors":
        sys.exit(f"FAILED: {findings}")


def alone(bench, interface):
    """A program prints its own lines only, several start at the same moment, and one that is killed keeps none of them
    waiting."""
    if bench.finish(0, *bench.interface(interface)) != RIGHT + "\n":
        sys.exit("FAILED: something else is printed")
    killed = subprocess.Popen([str(word) for word in bench.interface(interface)], env=CLEAN, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    clock.sleep(0.02)
    killed.kill()
    killed.communicate(timeout=30)
    several = [subprocess.Popen([str(word) for word in bench.interface(interface)], env=CLEAN, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    for process in several:
        need(process.communicate(timeout=60)[0], RIGHT)


def time(bench, interface):
    """run --time: estimates of the kernel; the timeline has its commands."""
    timeline = bench.path(interface, "timeline.json")
    need(bench.run(interface, "--time", "--timeline", timeline), RIGHT, "add_tensors", " us")
    need(timeline.read_text(), "tpu_bdc_fp_add")


def report(bench, interface):
    page = bench.path(interface, "html")
    bench.finish(0, bench.launcher, "report", "-o", page, "--", *bench.interface(interface))
    need(page.read_text(), "add_tensors")


def record(bench, interface):
    """run --record, replay: the launch again, without its program, and with checks."""
    kept = bench.path(interface, "launch")
    need(bench.run(interface, "--record", kept), RIGHT)
    need(bench.finish(0, bench.launcher, "replay", "--check=all", kept), "add_tensors")


def dump(bench, interface):
    """run --dump, dump --from: the first tensor in the local memory that a kernel which crashed has left."""
    folder, tensor = bench.path(interface, "memories"), bench.path(interface, "npy")
    need(bench.run(interface, "--dump", folder, status=121, word="crash"), "crash", "signal 11")
    bench.finish(0, bench.launcher, "dump", "--from", folder, "--address", "0", "--shape", "1,64,1,16", "-o", tensor)
    data = struct.unpack("<1024f", tensor.read_bytes()[-4096:])
    if data != tuple(float(i % 97) for i in range(1024)):
        sys.exit(f"FAILED: {data[:16]}")


def gdb(bench, interface):
    """run --gdb-commands: stops in the kernel, with its arguments."""
    if shutil.which("gdb") is None:
        print("gdb is not installed: left out")
        return
    commands = bench.path(interface, "gdb")
    commands.write_text("backtrace 1\ninfo args\n")
    need(bench.run(interface, "--gdb-commands", commands), "add_tensors", "args = ")


class Served:
    """`softtpu serve` with these options, until the end of the block."""

    def __init__(self, bench, ready, *options):
        self.bench, self.ready, self.options = bench, ready, options

    def __enter__(self):
        runtime = self.bench.folder / "run"
        runtime.mkdir(mode=0o700, exist_ok=True)
        self.socket = runtime / "device.sock"
        self.process = subprocess.Popen([str(self.bench.launcher), "serve", "--socket", str(self.socket), *map(str, self.options)],
                                        env={**CLEAN, "XDG_RUNTIME_DIR": str(runtime)}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.line = ""
        while self.ready not in self.line:
            self.line = self.process.stdout.readline()
            if not self.line:
                sys.exit(f"FAILED: softtpu serve {' '.join(map(str, self.options))} ended")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.communicate(timeout=30)


def serve(bench, interface):
    """A shared device: findings are told to who caused them; its end is a status and one line."""
    with Served(bench, "use with", "--check=all") as served:
        device = {"SOFTTPU_DEVICE": f"unix:{served.socket}"}
        need(bench.finish(0, *bench.interface(interface), **device), RIGHT)
        need(bench.finish(0, *bench.interface(interface, "bad"), **device), "add_tensors", "interface_kernels.c:")
        need(bench.finish(0, *bench.interface(interface), **device), RIGHT)
    text = bench.finish(1, *bench.interface(interface), **device)
    lines = [line for line in text.split("\n") if "[error]" in line]
    if len(lines) != 1 or str(served.socket) not in lines[0]:
        sys.exit(f"FAILED: {text}")


def info(bench, interface):
    """info and dump of a served device, after the program has used it."""
    with Served(bench, "use with") as served:
        device = {"SOFTTPU_DEVICE": f"unix:{served.socket}"}
        need(bench.finish(0, *bench.interface(interface), **device), RIGHT)
        need(bench.finish(0, bench.launcher, "info", **device), "bm1684x", "launches 1 finished, 0 failed")
        need(bench.finish(0, bench.launcher, "dump", "--address", "0", "--bytes", "16", **device), "00000000")


def remote(bench, interface):
    """A device of another machine: TLS and a token, streamed copies and a module that is sent; a wrong token is refused."""
    key, certificate, token, wrong = (bench.folder / name for name in ("key.pem", "certificate.pem", "token", "wrong"))
    if shutil.which("openssl") is None:
        sys.exit("FAILED: openssl makes the certificate")
    bench.finish(0, "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out",
                 certificate, "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1")
    token.write_text("a token of the tests\n")
    wrong.write_text("another token of tests\n")
    for path in (key, token, wrong):
        path.chmod(0o600)
    with Served(bench, "tcp://", "--tcp", "127.0.0.1:0", "--tls-cert", certificate, "--tls-key", key, "--token-file", token) as served:
        address = "tcp://" + served.line.split("tcp://")[1].split()[0].rstrip(".,;")
        device = {"SOFTTPU_DEVICE": address, "SOFTTPU_TLS_CA": str(certificate), "SOFTTPU_TOKEN_FILE": str(token)}
        need(bench.finish(0, *bench.interface(interface), **device), RIGHT)
        need(bench.finish(1, *bench.interface(interface), **{**device, "SOFTTPU_TOKEN_FILE": str(wrong)}), "[error]", "token")


class OtherVersion:
    """Passes the greeting of one client on to a server, with other version numbers: what each tells the other."""

    def __init__(self, socket, client, server):
        self.path, self.server, self.versions = f"{socket}.{client}", str(socket), (client, server)
        self.listener = sockets.socket(sockets.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen()
        threading.Thread(target=self.greet, daemon=True).start()

    def greet(self):
        client, _ = self.listener.accept()
        with client, sockets.socket(sockets.AF_UNIX) as server:
            server.connect(self.server)
            for source, target, at, version in ((client, server, 24, self.versions[0]), (server, client, 16, self.versions[1])):
                frame = bytearray(source.recv(4096))
                frame[at:at + 4] = struct.pack("<I", version)
                target.sendall(frame)
            client.recv(1)  # until it has gone


def version(bench, interface):
    """An old client at a new server, and the other way round: both are told."""
    own = int(re.search(r"kProtocolVersion = (\d+)", (ROOT / "runtime/protocol/messages.hpp").read_text())[1])
    log = bench.path(interface, "log")
    for other in (own - 1, own + 1):
        with Served(bench, "use with", "--log-file", log) as served:
            # A client of version `other` meets a server that is as far from it, seen from here.
            proxy = OtherVersion(served.socket, other, 2 * own - other)
            text = bench.finish(1, *bench.interface(interface), SOFTTPU_DEVICE=f"unix:{proxy.path}")
            need(text, f"the device speaks version {2 * own - other} of the protocol, this library version {own}", "from the same softtpu")
            if len([line for line in text.split("\n") if "[error]" in line]) != 1:
                sys.exit(f"FAILED: {text}")
            need(bench.finish(0, *bench.interface(interface), SOFTTPU_DEVICE=f"unix:{served.socket}"), RIGHT)
        need(log.read_text(), f"speaks version {other} of the protocol, this device version {own}")


COMMANDS = {function.__name__: function for function in (alone, check, time, report, record, dump, gdb, serve, info, remote, version)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", required=True, type=pathlib.Path)
    parser.add_argument("--program", required=True, type=pathlib.Path)
    parser.add_argument("--module", required=True, type=pathlib.Path)
    parser.add_argument("command", nargs="*", help=", ".join(COMMANDS))
    options = parser.parse_args()
    for command in options.command or COMMANDS:
        for interface in INTERFACES:
            with tempfile.TemporaryDirectory() as name:
                COMMANDS[command](Bench(options, pathlib.Path(name)), interface)
        print(f"{command}: as with libbmlib, through {', '.join(INTERFACES)}")


if __name__ == "__main__":
    main()
