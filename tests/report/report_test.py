#!/usr/bin/env python3
"""Makes the pages of `softtpu report` for a sample and for a racy kernel, and looks at them in a headless Chromium.

The pages and their pictures stay in the output folder. Without a browser the pages' text is still checked, and the exit
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
WIDTH = 1280
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


def browse(browser, page, *options):
    common = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=3000",
              f"--user-data-dir={page.parent / 'browser'}"]
    return run([*common, *options, page.as_uri()])


def look_at(browser, page):
    """What the browser shows, as counted by check_page.js."""
    checked = page.with_suffix(".checked.html")
    script = (HERE / "check_page.js").read_text(encoding="utf-8")
    checked.write_text(page.read_text(encoding="utf-8").replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
    dom = browse(browser, checked, f"--window-size={WIDTH},1000", "--dump-dom")
    checked.unlink()
    found = re.search(r'<pre id="result">(.*?)</pre>', dom, re.S)
    assert found, f"{page}: the page's script did not run to its end"
    result = json.loads(html.unescape(found.group(1)))
    browse(browser, page, f"--window-size={WIDTH},2700", f"--screenshot={page.with_suffix('.png')}")
    print(f"{page.name}: {result}")
    return result


def expect(page, result, least):
    problems = list(result["wrong"])
    problems += [f"{what}: {result[what]}, expected at least {number}" for what, number in least.items() if result[what] < number]
    assert not problems, f"{page}:\n  " + "\n  ".join(problems)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--softtpu", required=True)
    parser.add_argument("--sample", required=True)
    parser.add_argument("--racy", nargs=2, required=True, metavar=("HOST", "MODULE"))
    parser.add_argument("--output", required=True, type=pathlib.Path)
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    sample, racy, damaged = (options.output / name for name in ("sample.html", "racy.html", "damaged.html"))
    # 120: there are findings.
    run([options.softtpu, "report", "-o", sample, "--", options.sample], expected=(0, 120))
    run([options.softtpu, "report", "-o", racy, "--check", "race", "--", *options.racy], expected=(120,))
    for page in (sample, racy):
        check_text(page)
    (options.output / "damaged.jsonl").write_text("no record\n", encoding="utf-8")
    run([options.softtpu, "report", "-o", damaged, "--times", options.output / "damaged.jsonl"], expected=(1,))
    assert not damaged.exists()
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        print("SKIPPED: no Chromium (package chromium), so nobody has looked at the pages")
        return SKIPPED
    drawn = {"launches": 1, "commands": 20, "engines": 6, "points": 1, "blocks": 6, "owners": 1, "calls": 3}
    expect(sample, look_at(browser, sample), drawn)
    expect(racy, look_at(browser, racy), drawn | {"overlaps": 2, "findings": 1})
    return 0


if __name__ == "__main__":
    sys.exit(main())
