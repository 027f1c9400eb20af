"""Every command that takes a chip takes every built-in chip, by each of its names, and refuses a name that is none."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = sys.argv[1]
# Of a chip's description: its name and the others that it is called by.
CHIPS = {path.stem: json.loads(path.read_text()) for path in sorted((ROOT / "device/chip/chips").glob("*.json"))}


def run(status, *words):
    done = subprocess.run([TOOL, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    if done.returncode != status:
        sys.exit(f"FAILED: softtpu {' '.join(words)} gives {done.returncode}, not {status}:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def names_of(stem, chip):
    return [stem, *chip.get("also_called", {})]


def cases_of(stem, folder):
    """A recorded family that another chip's commands can be asked for: one case, whatever comes of it."""
    source = ROOT / "tests/golden" / stem / "layout.json"
    if not source.exists():
        return None
    recorded = json.loads(source.read_text())
    recorded["cases"] = recorded["cases"][:1]
    (folder / f"{stem}.json").write_text(json.dumps(recorded))
    (folder / f"{stem}.bin").write_bytes(source.with_suffix(".bin").read_bytes())
    return folder / f"{stem}.json"


def main():
    shown = run(0, "info", "--chips")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for stem, chip in CHIPS.items():
            if stem not in shown and chip.get("name", stem) not in shown:
                sys.exit(f"FAILED: softtpu info --chips does not show {stem}")
            for called in names_of(stem, chip):
                listed = run(0, "api", "--chip", called)
                if not re.search(r"^(tpu|okk)_\w+", listed, re.M):
                    sys.exit(f"FAILED: softtpu api --chip {called} lists nothing")
                drawn = run(0, "layout", "--chip", called, "--shape", "1,3,2,2")
                if "NPU" not in drawn:
                    sys.exit(f"FAILED: softtpu layout --chip {called} draws nothing")
                run(0, "layout", "--chip", called, "--banks")
                if cases := cases_of(stem, folder):
                    run(0, "golden", "--chip", called, str(cases))
        # Other JSON beside the cases of a folder is counted; alone, or with its cases damaged, a folder is no success.
        other = folder / "other"
        other.mkdir()
        (other / "index.json").write_text('{"total": 0}')
        run(1, "golden", str(other))
        recorded = cases_of("bm1684x", other)
        if "1 files of other JSON passed over" not in run(0, "golden", str(other)):
            sys.exit("FAILED: softtpu golden does not count what it passes over")
        recorded.with_suffix(".bin").unlink()
        run(1, "golden", str(other))
        recorded.write_text(recorded.read_text()[:500])
        run(1, "golden", str(other))
    for status, *words in ((2, "api"), (2, "layout", "--shape", "1,1,1,1"), (1, "golden", str(ROOT / "tests/golden/cv184x/layout.json"))):
        if "bm9999" not in run(status, *words, "--chip", "bm9999"):
            sys.exit(f"FAILED: softtpu {words[0]} does not name the chip that is none")
    print(f"{sum(len(names_of(*one)) for one in CHIPS.items())} names of {len(CHIPS)} chips")


main()
