"""Everything that looks at a program, on every chip with TPUKernel and by each of its names: checks, times, traces, records and their replays, pages,
memories of a device; and what a PPL project finds for the chip."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv[1])
TOOL, HELLO = str(BUILD / "bin/softtpu"), str(BUILD / "bin/hello_world")
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("SOFTTPU_", "CHIP", "PPL_", "LD_LIBRARY_PATH"))}
# These chips by all of their names, the others by the first.
ALL_NAMES = ("bm1690e", "bm1684x2", "cv184x", "bm1684x")


def run(*words, **variables):
    done = subprocess.run([str(word) for word in words], env={**CLEAN, **variables}, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=120)
    if done.returncode != 0:
        sys.exit(f"FAILED ({done.returncode}): {' '.join(map(str, words))} {variables}:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def check(holds, what):
    if not holds:
        sys.exit(f"FAILED: {what}")


def look_at(name, chip, folder):
    """One run with everything on, and what reads its files."""
    trace, times, kept, findings, page = (folder / file for file in ("trace.json", "times.jsonl", "launch", "findings.json", "page.html"))
    said = run(TOOL, "run", "--chip", name, "--check=all,bank", "--time", "--trace", trace, "--time-record", times, "--record", kept, "--report",
               f"json:{findings}", "--", HELLO)
    check("64 of 64 numbers are 42" in said and " us" in said, f"no times of {name}: {said}")
    check("tpu_gdma_cpy_L2S" in trace.read_text(), f"the trace of {name} has no copy")
    check(json.loads(times.read_text().splitlines()[0])["chip"]["name"] == chip, f"the times of {name} name another chip")
    report = json.loads(findings.read_text())
    check(not report["findings"], f"findings on {name}: {report['findings']}")
    run(TOOL, "replay", kept)
    run(TOOL, "report", "--times", times, "--findings", findings, "-o", page)
    check(chip.upper() in page.read_text().upper(), f"the page of {name} does not name it")
    run(TOOL, "report", "--chip", name, "-o", page, "--", HELLO)


def dump(name, folder):
    """The first number in global memory that the kernel wrote: the copy that it made of local memory."""
    socket = folder / "socket"
    with subprocess.Popen([TOOL, "serve", "--chip", name, "--socket", str(socket)], env=CLEAN, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as device:
        try:
            for _ in range(200):
                if socket.exists():
                    break
                time.sleep(0.02)
            run(HELLO, SOFTTPU_DEVICE=f"unix:{socket}")
            shown = json.loads(run(TOOL, "dump", "--socket", socket, "--shape", "1,1,1,1", "--json"))
            check("42" in json.dumps(shown), f"local memory of {name}: {shown}")
        finally:
            device.terminate()


def ppl(chips, folder):
    """Folder, macro and headers by which a PPL project's kernel is compiled for each of the chips, and runs there."""
    run(TOOL, "sdk", "ppl", folder)
    known = json.loads((folder / "chip/chip_map.json").read_text())
    kernel = folder / "hello.so"
    for name, macro in chips.items():
        check(name in known, f"{name} is not in the map of chips: {known}")
        place = folder / "chip" / known[name]
        check(macro in (place / "config_common.cmake").read_text(), f"the build files of {name} do not define {macro}")
        run("gcc", "-shared", "-fPIC", "-DUSING_CMODEL", f"-D{macro}", f"-I{place}/TPU1686/kernel/include", "-o", kernel,
            ROOT / "samples/hello_world/kernel.c", f"-L{place}/lib", "-lcmodel_firmware")
        check("64 of 64" in run(HELLO, kernel, SOFTTPU_CHIP=known[name]), f"the kernel does not run on {known[name]}")


def main():
    names = {}
    for path in sorted((ROOT / "device/chip/chips").glob("*.json")):
        chip = json.loads(path.read_text())
        if chip.get("api") == "okkernel" or path.stem == "demo4":
            continue
        names.update({called: path.stem for called in [path.stem, *(chip.get("also_called", {}) if path.stem in ALL_NAMES else {})]})
    for name, stem in names.items():
        with tempfile.TemporaryDirectory() as folder:
            chip = stem if stem != "bm1684x-23.05" else "bm1684x"
            look_at(name, chip, pathlib.Path(folder))
            dump(name, pathlib.Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        ppl({"bm1684x": "__bm1684x__", "bm1684xe": "__bm1684x__", "bm1688": "__bm1688__", "bm1684x2": "__bm1684x2__", "cv184x": "__mars3__",
             "mars3": "__mars3__", "bm1690": "__sg2260__", "bm1690e": "__sg2260e__", "sg2260e": "__sg2260e__"}, pathlib.Path(folder))
    print(f"{len(names)} names: {' '.join(names)}")


main()
