#!/usr/bin/env python3
"""How long compiled networks take: a launch, the first run with everything before it, and memory, on one thread and on
all; beside the vendor's emulator, whose seconds stand in NAME.json beside NAME.bmodel, and beside onnxruntime's float32
of the same topology where topologies.py has it and onnxruntime can be imported. Everything of a row is measured in turns."""
import argparse
import functools
import json
import multiprocessing
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
COLLECTION = ROOT.parent / "shared/bmodel"
MODE = re.compile(r"_(F32|F16|BF16|INT8|W4BF16|W4F16|W8BF16|W8F16)$")
MIB = 1 << 20


def ended(command):
    """Standard output, and wall seconds, processor seconds and the most memory of a command."""
    begin = time.perf_counter()
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    output, errors = process.stdout.read(), process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return output, errors, time.perf_counter() - begin, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, process.returncode


class OwnRun:
    """Launches of one network in a process of their own, the device included."""

    def __init__(self, program, network, threads, repeat):
        self.command = [program, "bmodel", "run", network, "--device", "inprocess", "--threads", threads]
        self.repeat = repeat

    def measure(self):
        def run(repeat):
            output, errors, wall, processor, memory, status = ended([*self.command, "--repeat", repeat])
            found = re.search(r": ([\d.]+) ms here", output)
            if status != 0 or not found:
                raise RuntimeError(f"status {status}: {errors.strip() or output.strip()}")
            return float(found.group(1)), wall * 1000, processor * 1000, memory

        _, first_wall, first_processor, _ = run(1)
        launch, _, processor, memory = run(self.repeat)
        return {"launch_ms": launch, "launch_processor_ms": max(0.0, processor - first_processor) / (self.repeat - 1),
                "first_run_ms": first_wall, "first_run_processor_ms": first_processor, "memory_bytes": memory}


class OnnxWorker:
    """A process with onnxruntime. This one stays small: what the parent of a process takes counts as the child's most memory."""

    def __init__(self):
        self.connection, far = multiprocessing.Pipe()
        self.process = multiprocessing.get_context("spawn").Process(target=serve_onnx, args=(far,), daemon=True)
        self.process.start()
        far.close()
        self.names, self.missing = self.connection.recv()

    def measure(self, *request):
        self.connection.send(request)
        return self.connection.recv()


def serve_onnx(connection):
    """Sends the names of the topologies, then the figures of each (name, threads, repeat) that it receives."""
    try:
        import numpy
        import onnxruntime
        from topologies import TOPOLOGIES
    except ImportError as error:
        connection.send(((), str(error)))
        return
    connection.send((tuple(TOPOLOGIES), ""))
    sessions = {}
    while True:
        try:
            name, threads, repeat = connection.recv()
        except EOFError:
            return
        if (name, threads) not in sessions:
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads, options.log_severity_level = threads, 3
            model = TOPOLOGIES[name]().SerializeToString()
            sessions[name, threads] = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        session = sessions[name, threads]
        inputs = {i.name: numpy.random.default_rng(1).random(i.shape, numpy.float32) for i in session.get_inputs()}
        session.run(None, inputs)
        best, processor = float("inf"), time.process_time()
        for _ in range(repeat):
            begin = time.perf_counter()
            session.run(None, inputs)
            best = min(best, time.perf_counter() - begin)
        connection.send({"launch_ms": best * 1000, "launch_processor_ms": (time.process_time() - processor) / repeat * 1000})


def least(measured):
    """The smallest of each figure over the rounds."""
    return {key: min(one[key] for one in measured) for key in measured[0]}


def chip_text(row):
    """The chip, with its cores where the network has streams for several."""
    return row["chip"] if row["cores"] == 1 else f"{row['chip']}, {row['cores']} cores"


def text_of(row, threads):
    """One line of the table."""
    own, other = row["softtpu"], row.get("onnxruntime", {})

    def figure(values, key, digits=2):
        return "" if key not in values else f"{values[key]:.{digits}f}"

    cells = [row["network"], chip_text(row)]
    for count in threads:
        mine, theirs = own[str(count)], other.get(str(count), {})
        ratio = f"{mine['launch_ms'] / theirs['launch_ms']:.2f}" if theirs else ""
        cells += [figure(mine, "launch_ms"), figure(mine, "launch_processor_ms"), figure(theirs, "launch_ms"), ratio]
    one = own[str(threads[0])]
    cells += [figure(one, "first_run_ms", 0), f"{one['memory_bytes'] / MIB:.0f}", f"{row['file_bytes'] / MIB:.1f}"]
    vendor = row.get("vendor_seconds")
    cells += [f"{vendor * 1000:.0f}", f"{vendor * 1000 / max(one['launch_processor_ms'], 1e-3):.0f}"] if vendor else ["", ""]
    return "| " + " | ".join(cells) + " |"


def compared(rows, before):
    """Lines for the networks whose launch differs from that of an earlier run. A network may be there for several numbers
    of cores; earlier runs did not write these, so such a network is compared with one that does."""
    earlier = {}
    for row in before["networks"]:
        earlier.setdefault((row["chip"], row["network"]), []).append(row)
    names = [(row["chip"], row["network"]) for row in rows]
    for row, name in zip(rows, names):
        known = earlier.get(name, [])
        same = [old for old in known if old.get("cores") == row["cores"]]
        if not same and len(known) == 1 and "cores" not in known[0] and names.count(name) == 1:
            same = known
        for old in same[:1]:
            for count, now in row["softtpu"].items():
                was = old["softtpu"].get(count, {}).get("launch_processor_ms", 0)
                if was > 0:
                    yield f"{row['network']} ({chip_text(row)}), {count} threads: {was:.2f} to {now['launch_processor_ms']:.2f} ms of processor time"


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench --networks", description=__doc__)
    parser.add_argument("folders", nargs="*", type=pathlib.Path, help="folders of NAME.bmodel with NAME.json (default: real* of ../shared/bmodel)")
    parser.add_argument("--all", action="store_true", help="models* too: many small networks")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="build tree (default: build/release)")
    parser.add_argument("--filter", default="", help="only networks whose name contains this")
    parser.add_argument("--threads", default="1,0", help="numbers of threads; 0: one for each processor (default: 1,0)")
    parser.add_argument("--repeat", type=int, default=20, help="launches a round, of which the fastest counts (default: 20)")
    parser.add_argument("--rounds", type=int, default=2, help="rounds, in turns (default: 2)")
    parser.add_argument("--json", type=pathlib.Path, help="file for the figures")
    parser.add_argument("--compare", type=pathlib.Path, help="figures of an earlier run: prints what each launch took then and now")
    options = parser.parse_args()
    program = options.build / "bin/softtpu"
    if not program.exists():
        parser.error(f"{program} is not built")
    if options.repeat < 2 or options.rounds < 1:
        parser.error("--repeat takes 2 or more, --rounds 1 or more")
    try:
        threads = [int(count) for count in options.threads.split(",")]
    except ValueError:
        parser.error(f"--threads takes numbers, separated by commas: {options.threads}")
    folders = options.folders or sorted(COLLECTION.glob("real*")) + (sorted(COLLECTION.glob("models*")) if options.all else [])
    files = [file for folder in folders for file in sorted(folder.glob("*.bmodel"))
             if options.filter in file.stem and file.with_suffix(".json").exists() and file.with_suffix(".input.bin").exists()]
    if not files:
        parser.error("no networks with their seconds beside them in " + (", ".join(map(str, folders)) or str(COLLECTION)))
    worker = OnnxWorker()
    if worker.missing:
        print(f"without onnxruntime: {worker.missing} (--onnxruntime installs it into build/bench-python)", file=sys.stderr)
    heads = [f"{'all' if count == 0 else count} thr: {what}" for count in threads for what in ("ms", "processor ms", "onnxruntime ms", "ratio")]
    heads = ["network", "chip", *heads, "first run ms", "MiB", "file MiB", "vendor processor ms", "times as fast"]
    print("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|")
    rows, failed = [], 0
    for file in files:
        facts = json.loads(file.with_suffix(".json").read_text())
        name = MODE.sub("", file.stem)
        runs = {("softtpu", str(count)): OwnRun(program, file, count, options.repeat).measure for count in threads}
        if name in worker.names:
            runs |= {("onnxruntime", str(count)): functools.partial(worker.measure, name, count, options.repeat) for count in threads}
        measured = {key: [] for key in runs}
        try:
            for _ in range(options.rounds):
                for key, run in runs.items():
                    measured[key].append(run())
        except RuntimeError as error:
            print(f"{file}: {error}", file=sys.stderr)
            failed += 1
            continue
        row = {"network": file.stem, "chip": facts.get("chip", ""), "cores": facts.get("core_num", 1), "file_bytes": file.stat().st_size}
        if "vendor_cpu_seconds" in facts:
            row["vendor_seconds"] = facts["vendor_cpu_seconds"]
        for (side, count), values in measured.items():
            row.setdefault(side, {})[count] = least(values)
        rows.append(row)
        print(text_of(row, threads), flush=True)
    document = {"threads": threads, "processors": os.cpu_count(), "networks": rows}
    if options.json:
        options.json.write_text(json.dumps(document, indent=1) + "\n")
    if options.compare:
        print(*compared(rows, json.loads(options.compare.read_text())), sep="\n")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
