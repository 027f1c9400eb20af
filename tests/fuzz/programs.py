"""What the fuzzers have in common that start programs: options, seeds, the run, and the line at its end, which scripts/fuzz reads."""
import argparse
import pathlib
import random
import tarfile
import time

HERE = pathlib.Path(__file__).resolve().parent


def parser(description, runs):
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--build", type=pathlib.Path, required=True, help="the build tree")
    made.add_argument("--runs", type=int, default=runs, help=f"changed inputs behind the seeds ({runs})")
    made.add_argument("--seconds", type=float, default=0, help="as many changed inputs as fit, in place of --runs")
    made.add_argument("--seed", type=int, default=1, help="of the random numbers")
    made.add_argument("--only", type=int, help="this changed input alone, without the seeds")
    made.add_argument("--keep", type=pathlib.Path, help="folder that gets the inputs with which something was wrong")
    return made


def read_seeds(name):
    """The files of tests/fuzz/seeds/NAME.tar.gz: {name: bytes}. scripts/fuzz --add adds to them."""
    with tarfile.open(HERE / "seeds" / f"{name}.tar.gz") as archive:
        return {member.name: archive.extractfile(member).read() for member in sorted(archive, key=lambda m: m.name) if member.isfile()}


def fuzz(options, seeds, run_seed, run_changed):
    """Runs each seed, then changed inputs; both functions give what is wrong, or None. `run_changed` gets a Random of that input alone.
    The status that the program ends with."""
    start, done, bad = time.monotonic(), 0, 0

    def judge(what, wrong):
        nonlocal done, bad
        done += 1
        if wrong:
            bad += 1
            print(f"{what}: {wrong}", flush=True)

    if options.only is None:
        for name, contents in seeds.items():
            judge(f"seed {name}", run_seed(name, contents))
    number = options.only or 0
    while number == options.only or (options.only is None and (time.monotonic() - start < options.seconds if options.seconds else number < options.runs)):
        judge(f"--seed {options.seed} --only {number}", run_changed(random.Random(f"{options.seed} {number}")))
        number += 1
    seconds = time.monotonic() - start
    print(f"{done} inputs, {done / max(seconds, 0.001):.0f} a second, {bad} wrong")
    return 1 if bad else 0
