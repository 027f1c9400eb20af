#!/usr/bin/env python3
"""Runs the seeded-bug corpus: every planted defect must be found at its line, every twin must be silent.

Prints the detection table and exits with 1 when anything is missed or invented."""
import argparse
import collections
import concurrent.futures
import pathlib
import sys

from corpus import judge, read_corpus, run_case


def problems_of_corpus(cases):
    names = {case.name for case in cases}
    twins = {case.twin for case in cases if case.has_bug}
    yield from (f"{case.name} has no twin" for case in cases if case.has_bug and case.twin not in names)
    yield from (f"{case.name} has no bug" for case in cases if case.name.startswith("ok_") and case.name not in twins)
    yield from (f"{case.name} expects nothing" for case in cases if case.has_bug and not case.expected)
    yield from (f"{case.name} expects something" for case in cases if not case.has_bug and case.expected)


def run(case, build):
    findings, text = run_case(case, build)
    return case, [text] if findings is None else judge(case, findings), text


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="the build tree")
    parser.add_argument("--only", default="", help="cases whose name or module contains this text")
    parser.add_argument("-v", "--verbose", action="store_true", help="print what each case prints")
    options = parser.parse_args()
    cases = read_corpus()
    failed = list(problems_of_corpus(cases))
    cases = [case for case in cases if options.only in case.name or options.only in case.module]
    found, silent = collections.Counter(), 0
    planted = collections.Counter(rule for case in cases for rule, _ in case.expected)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for case, wrong, text in pool.map(lambda case: run(case, options.build), cases):
            failed += [f"{case.name}: {what}" for what in wrong]
            if options.verbose:
                print(f"---- {case.name}\n{text}")
            if case.has_bug and not wrong:
                found.update(rule for rule, _ in case.expected)
            silent += not case.has_bug and not wrong
    print(f"{'rule':<30} {'planted':>8} {'found':>8}")
    for rule in sorted(planted):
        print(f"{rule:<30} {planted[rule]:>8} {found[rule]:>8}")
    twins = sum(not case.has_bug for case in cases)
    print(f"{'all':<30} {planted.total():>8} {found.total():>8}\n{silent} of {twins} clean twins are silent")
    print("\n".join(failed))
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
