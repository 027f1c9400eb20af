#!/usr/bin/env python3
"""Command lines of `softtpu` that are nearly right: every option of every command with values that fit, do not fit, or are hostile. Each
ends soon with a status that its help promises, says in plain lines why it is not usable, and never ends by a signal.

    scripts/fuzz options                                   # or tests/fuzz/options_fuzz.py --build build/dev [--runs 300] [--seed 1]

A seed is a command line as a list of JSON. With a name that begins with "refused" it must not succeed.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

import programs

COMMANDS = [["run"], ["replay"], ["report"], ["bmodel", "info"], ["bmodel", "run"], ["bmodel", "compare"], ["bmodel", "disasm"], ["bmodel", "time"],
            ["try"], ["info"], ["rules"], ["env"], ["sdk"], ["sdk", "ppl"], ["dump"], ["layout"], ["api"], ["golden"], ["serve"]]
VALUES = ["", "0", "-1", "1", "18446744073709551615", "18446744073709551616", "99999999999999999999999", "0x", "0x10", "1e308", "nan", "-inf",
          "bm1684x", "bm1690", "bm9999", "/dev/null", "/proc/nowhere/file", "/", ".", "\x1b[31mred", "\u009b31m", "a" * 5000, "%s%s%n", "--", "-",
          "on", "off", "json:", "json:/proc/nowhere/x", "race", "all", "[1,2,3,4]", "1,2,3,4", "f32", "\n\n", "{", "@", "=", "a=b", "\xff"]
# Programs that are named do not exist, and a server ends at once, without a place for its socket. 110 to 112 are of `softtpu try`.
STATUSES = {0, 1, 2, 3, 110, 111, 112, *range(120, 128)}


class Fuzzer:
    def __init__(self, options, seeds, folder):
        self.softtpu, self.folder = str((options.build / "bin/softtpu").resolve()), folder
        self.lines = [json.loads(contents) for contents in seeds.values()]
        self.known = {}
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("SOFTTPU_")}
        self.environment.update(XDG_RUNTIME_DIR="/proc/nowhere", SOFTTPU_PYTHON=sys.executable, PYTHONDONTWRITEBYTECODE="1",
                                PYTHONPATH=str(programs.HERE.parent.parent / "python"), SOFTTPU_PREFIX=str(options.build.resolve()))

    def options_of(self, command):
        key = tuple(command)
        if key not in self.known:
            text = subprocess.run([self.softtpu, *command, "--help"], capture_output=True, text=True, timeout=60, env=self.environment).stdout
            # A daemon or a loop would stay.
            self.known[key] = sorted(set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", text)) - {"--daemon", "--watch"}) or ["--help"]
        return self.known[key]

    def add_word(self, chance, words, command):
        kind, option, value = chance.randrange(4), chance.choice(self.options_of(command)), chance.choice(VALUES)
        words += [[option], [option, value], [f"{option}={value}"], [value]][kind]

    def changed(self, chance):
        if chance.randrange(4) == 0:
            words = list(chance.choice(self.lines))
            at = chance.randrange(min(1, len(words)), len(words) + 1)
            words[at:at + chance.randrange(2)] = [chance.choice(VALUES)]
        else:
            command = chance.choice(COMMANDS)
            words = list(command)
            for _ in range(chance.randrange(6)):
                self.add_word(chance, words, command)
        return words

    def run(self, words, may_succeed=True):
        words = [word.replace("\0", "") for word in words]
        if words[:1] == ["serve"]:
            words.append("--socket=/proc/nowhere/socket")
        try:
            done = subprocess.run([self.softtpu, *words], capture_output=True, stdin=subprocess.DEVNULL, cwd=self.folder, env=self.environment, timeout=60)
            wrong = self.judge(done, may_succeed)
        except subprocess.TimeoutExpired as late:
            done, wrong = late, "it does not end within a minute"
        return wrong and f"{wrong}\n  {words!r}\n  {(done.stderr or b'')[-500:]!r}"

    @staticmethod
    def judge(done, may_succeed):
        text = done.stdout + done.stderr
        if done.returncode not in STATUSES:
            return f"status {done.returncode}"
        if re.search(rb"terminate called|what\(\):|Sanitizer|runtime error|Traceback", text):
            return "an exception that nothing catches, or a sanitizer's report"
        if re.search(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]", done.stderr):
            return "a control character on standard error"
        if done.returncode != 0 and not done.stderr.strip() and not done.stdout.strip():
            return "it does not say why"
        if done.returncode == 0 and not may_succeed:
            return "it is not refused"
        return None


def main():
    options = programs.parser(__doc__, 300).parse_args()
    seeds = programs.read_seeds("options")
    with tempfile.TemporaryDirectory() as folder:
        fuzzer = Fuzzer(options, seeds, folder)
        return programs.fuzz(options, seeds, lambda name, contents: fuzzer.run(json.loads(contents), not name.startswith("refused")),
                             lambda chance: fuzzer.run(fuzzer.changed(chance)))


if __name__ == "__main__":
    sys.exit(main())
