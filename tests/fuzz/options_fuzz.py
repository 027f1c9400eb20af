#!/usr/bin/env python3
"""Command lines of `softtpu` that are nearly right: every option of every command with values that fit, do not fit, or are hostile. Each
ends soon with a status that its help promises, says in plain lines why it is not usable, and never ends by a signal.

    tests/fuzz/options_fuzz.py --softtpu build/dev/bin/softtpu [--runs 300] [--seed 1]
"""
import argparse
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

COMMANDS = [["run"], ["replay"], ["report"], ["bmodel", "info"], ["bmodel", "run"], ["bmodel", "compare"], ["bmodel", "disasm"],
            ["bmodel", "time"], ["info"], ["rules"], ["env"], ["sdk"], ["sdk", "ppl"], ["dump"], ["layout"], ["api"], ["golden"], ["serve"]]
VALUES = ["", "0", "-1", "1", "18446744073709551615", "18446744073709551616", "99999999999999999999999", "0x", "0x10", "1e308", "nan", "-inf",
          "bm1684x", "bm1690", "bm9999", "/dev/null", "/proc/nowhere/file", "/", ".", "\x1b[31mred", "\u009b31m", "a" * 5000, "%s%s%n", "--", "-",
          "on", "off", "json:", "json:/proc/nowhere/x", "race", "all", "[1,2,3,4]", "1,2,3,4", "f32", "\n\n", "{", "@", "=", "a=b", "\xff"]
# Programs that are named do not exist, and a server ends at once, without a place for its socket.
STATUSES = {0, 1, 2, 3, *range(120, 128)}


def options_of(softtpu, command, cache={}):
    key = tuple(command)
    if key not in cache:
        text = subprocess.run([softtpu, *command, "--help"], capture_output=True, text=True, timeout=60).stdout
        cache[key] = sorted(set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", text)) - {"--daemon"}) or ["--help"]
    return cache[key]


def make(random_, softtpu):
    command = random_.choice(COMMANDS)
    words = list(command)
    for _ in range(random_.randrange(6)):
        kind = random_.randrange(4)
        option = random_.choice(options_of(softtpu, command))
        value = random_.choice(VALUES)
        if kind == 0:
            words.append(option)
        elif kind == 1:
            words += [option, value]
        elif kind == 2:
            words.append(f"{option}={value}")
        else:
            words.append(value)
    if command == ["serve"]:
        words.append("--socket=/proc/nowhere/socket")
    return [word.replace("\0", "") for word in words]


def judge(done):
    text = done.stdout + done.stderr
    if done.returncode not in STATUSES:
        return f"status {done.returncode}"
    if re.search(rb"terminate called|what\(\):|Sanitizer|runtime error", text):
        return "an exception that nothing catches, or a sanitizer's report"
    if re.search(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]", done.stderr):
        return "a control character on standard error"
    if done.returncode != 0 and not done.stderr.strip() and not done.stdout.strip():
        return "it does not say why"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--softtpu", type=pathlib.Path, required=True)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    softtpu, bad = str(options.softtpu.resolve()), 0
    random_ = random.Random(options.seed)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SOFTTPU_")}
    clean["XDG_RUNTIME_DIR"] = "/proc/nowhere"
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.runs):
            words = [softtpu, *make(random_, softtpu)]
            try:
                done = subprocess.run(words, capture_output=True, stdin=subprocess.DEVNULL, cwd=folder, env=clean, timeout=60)
                wrong = judge(done)
            except subprocess.TimeoutExpired as late:
                done, wrong = late, "it does not end within a minute"
            if wrong:
                bad += 1
                print(f"run {number} of seed {options.seed}: {wrong}\n  {words[1:]!r}\n  {(done.stderr or b'')[-500:]!r}")
    print(f"{options.runs} command lines, {bad} wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
