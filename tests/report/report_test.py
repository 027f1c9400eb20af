#!/usr/bin/env python3
"""Makes the pages of `softtpu report` for a sample and for a racy kernel, and looks at them in a headless Chromium.

The pages stay in the output folder, with --pictures pictures of them too. Without a browser the pages' text is still checked, and the exit
status is 77 (skipped)."""
import argparse
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys

SKIPPED = 77
SCHEMES = {"light": 1, "dark": 0}  # as Chromium numbers them
HERE = pathlib.Path(__file__).resolve().parent


def run(command, expected=(0,)):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=240)
    if done.returncode not in expected:
        sys.exit(f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def check_text(page):
    """One file: nothing is fetched from anywhere."""
    text = page.read_text(encoding="utf-8")
    for pattern in (r"\b(?:src|href)\s*=", r"@import", r"url\((?!#)", r"\bfetch\(", r"XMLHttpRequest"):
        found = re.search(pattern, text.replace("url(#${clip})", ""))
        assert not found, f"{page}: refers to another file: {text[found.start():found.start() + 60]!r}"
    for address in re.findall(r"https?://[^\s\"'<>]+", text):
        assert address == "http://www.w3.org/2000/svg", f"{page}: names the address {address}"


def browse(browser, page, scheme, *options):
    common = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=3000",
              f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}", f"--user-data-dir={page.parent / 'browser'}"]
    return run([*common, *options, page.as_uri()])


def framed(page, text, width):
    """The page in a frame of that width, since a browser's window has a least one; what the page says of itself is said outside."""
    frame = page.with_suffix(f".{width}.frame.html")
    tell = "const found = document.querySelector('iframe').contentDocument.getElementById('result'); if (found) document.body.append(found);"
    frame.write_text(f'<!DOCTYPE html><meta name="color-scheme" content="light dark"><style>body {{ margin: 0 }}</style>'
                     f'<iframe srcdoc="{html.escape(text)}" style="width: {width}px; height: 6000px; border: 0"></iframe>'
                     f'<script>window.addEventListener("load", () => {{ {tell} }});</script>', encoding="utf-8")
    return frame


def look_at(browser, page, width, scheme, pictures):
    """What the browser shows, as counted by check_page.js."""
    text = page.read_text(encoding="utf-8")
    script = (HERE / "check_page.js").read_text(encoding="utf-8")
    window = max(width, 600)
    frame = framed(page, text.replace("</body>", f"<script>{script}</script></body>"), width)
    dom = browse(browser, frame, scheme, f"--window-size={window},1000", "--dump-dom")
    frame.unlink()
    found = re.search(r'<pre id="result">(.*?)</pre>', dom.rsplit("</iframe>", 1)[-1], re.S)
    assert found, f"{page}: the page's script did not run to its end"
    result = json.loads(html.unescape(found.group(1)))
    if pictures:
        frame = framed(page, text, width)
        browse(browser, frame, scheme, f"--window-size={window},{2700 if width > 600 else 5200}",
               f"--screenshot={page.with_suffix(f'.{width}.{scheme}.png')}")
        frame.unlink()
    print(f"{page.name}, {width} pixels, {scheme}: {result}")
    return result


def expect(page, result, least):
    problems = list(result["wrong"])
    problems += [f"{what}: {result[what]}, expected at least {number}" for what, number in least.items() if result[what] < number]
    assert not problems, f"{page}:\n  " + "\n  ".join(problems)


def make_small(times, page, softtpu):
    """A launch whose blocks are a row of execution units each: a thousandth of the memory that is shown."""
    records = [json.loads(line) for line in times.read_text(encoding="utf-8").splitlines()]
    for block in records[0]["blocks"]:
        block["end"] = block["begin"] + 64
    small = times.with_suffix(".small.jsonl")
    small.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    run([softtpu, "report", "-o", page, "--times", small])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--softtpu", required=True)
    parser.add_argument("--sample", required=True)
    parser.add_argument("--racy", nargs=2, required=True, metavar=("HOST", "MODULE"))
    parser.add_argument("--output", required=True, type=pathlib.Path)
    parser.add_argument("--pictures", action="store_true", help="also write what the browser shows to PAGE.WIDTH.SCHEME.png")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    sample, racy, crash, small, damaged, network = (options.output / f"{name}.html" for name in ("sample", "racy", "crash", "small", "damaged", "network"))
    times = options.output / "racy.jsonl"
    # 120: there are findings.
    run([options.softtpu, "report", "-o", sample, "--", options.sample], expected=(0, 120))
    run([options.softtpu, "report", "-o", racy, "--check", "race,memory", "--", *options.racy], expected=(120,))
    run([options.softtpu, "report", "-o", crash, "--no-check", "--", *options.racy, "crashing"], expected=(121,))
    run([options.softtpu, "run", "--time-record", times, "--", *options.racy])
    make_small(times, small, options.softtpu)
    run([options.softtpu, "report", "-o", network, "--no-check", "--", options.softtpu, "bmodel", "run", HERE.parent / "golden-networks/attention_small_F16.bmodel"])
    for page in (sample, racy, crash, small, network):
        check_text(page)
    (options.output / "damaged.jsonl").write_text("no record\n", encoding="utf-8")
    run([options.softtpu, "report", "-o", damaged, "--times", options.output / "damaged.jsonl"], expected=(125,))
    assert not damaged.exists()
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        print("SKIPPED: no Chromium (package chromium), so the pages were not looked at")
        return SKIPPED
    drawn = {"launches": 1, "commands": 20, "engines": 6, "points": 1, "blocks": 6, "owners": 1, "calls": 3}
    both = ((sample, drawn), (racy, drawn | {"overlaps": 2, "findings": 2}))
    others = ((small, {"blocks": 6}), (crash, {"failures": 1}), (network, {"layers": 5}))
    for width, scheme, pages in ((1280, "light", both + others), (1280, "dark", both), (390, "light", both), (390, "dark", both + others)):
        for page, least in pages:
            result = look_at(browser, page, width, scheme, options.pictures)
            expect(page, result, least)
            assert result["dark"] == (scheme == "dark"), f"{page}: {scheme} is not heard"
            assert result["selectors"] == (page != crash), f"{page}: there is something, or nothing, to choose from"
    return 0


if __name__ == "__main__":
    sys.exit(main())
