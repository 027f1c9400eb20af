"""Many clients of one shared device, each a process that runs a compiled network with its own input: each gets the outputs that a device
of its own gives, bit for bit."""
import argparse
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np


def run(softtpu, network, seed, output, device):
    words = [softtpu, "bmodel", "run", network, "--seed", str(seed), "--repeat", "5", "--output", str(output)]
    environment = dict(os.environ, **({"SOFTTPU_DEVICE": device} if device else {}))
    return subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--softtpu", required=True)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("network", nargs="+")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        socket = folder / "device.sock"
        jobs = [(options.network[i % len(options.network)], 1 + i % 5) for i in range(options.clients)]
        for network, seed in sorted(set(jobs)):
            assert run(options.softtpu, network, seed, folder / f"{pathlib.Path(network).stem}-{seed}.npz", "").wait() == 0
        server = subprocess.Popen([options.softtpu, "serve", "--socket", str(socket), "--chip", "bm1684x"], stdout=subprocess.DEVNULL)
        while not socket.exists():
            time.sleep(0.05)
        start, wrong = time.monotonic(), 0
        for _ in range(options.rounds):
            running = [run(options.softtpu, network, seed, folder / f"{i}.npz", f"unix:{socket}") for i, (network, seed) in enumerate(jobs)]
            for i, (network, seed) in enumerate(jobs):
                good = running[i].wait() == 0
                if good:
                    with np.load(folder / f"{i}.npz") as got, np.load(folder / f"{pathlib.Path(network).stem}-{seed}.npz") as expected:
                        good = got.files == expected.files and all(got[key].tobytes() == expected[key].tobytes() for key in expected.files)
                if not good:
                    wrong += 1
                    print(f"client {i} ({network}, seed {seed}): a wrong result, or none")
        seconds = time.monotonic() - start
        server.send_signal(signal.SIGTERM)
        assert server.wait(20) == 0
        print(f"{options.clients} clients at once, {options.rounds} times 5 launches each: {wrong} wrong, {seconds:.1f} s")
        return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
