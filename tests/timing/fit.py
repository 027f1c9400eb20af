#!/usr/bin/env python3
"""Fits what networks cost on a chip to published times of boards, and writes how far estimates are off when the network
in question was left out: device/timing/fits/CHIP.json and the tables of docs/time-boards.md.

    tests/timing/fit.py --softtpu build/dev/bin/softtpu [--check | --write]

The time of a network is that of the longest chain of its commands, and a chain's time is a sum of quantities times parameters: so
each step of the fit is a linear problem. Parameters stay near a starting value as far as its deviation says; those that
physics fixes (a row of local memory takes one cycle) stay where they are, and the fit only shows that they may."""
import argparse
import csv
import json
import lzma
import math
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DATA = HERE / "data/networks"
FITS = ROOT / "device/timing/fits"
PAGE = ROOT / "docs/time-boards.md"

# Name: starting value, relative deviation, how it is founded (None: fitted).
# Rates are in GB/s; everything else in microseconds, cycles or as a factor of the vendor's formula.
START = {
    "launch_us": (40, .3, None),
    "io_gbps": (28, .1, None),  # as the vendor's estimates copy within DDR; both ways pass its pins, so that more than 34 cannot be
    "bdc_start_us": (.05, .3, None),
    "gdma_start_us": (.1, .3, None),
    "hau_start_us": (5, 0, "guess"),
    "hau_us_per_kib": (.25, 0, "guess"),
    "row_cycles": (1, .02, None),
    "conv_row_cycles": (1.05, .05, None),
    "product_row_cycles": (3, .02, None),
    "conv_factor": (1, 0, "vendor"),
    "product_factor": (1.5, .3, None),
    "lookup_cycles": (2.7, .15, None),
    "divide_factor": (1.8, .3, None),
    "series_factor": (1.6, .3, None),
    "move_factor": (1, 0, "vendor"),
    "piece_us": (.0005, 1, None),  # of 0, 0.0005, 0.001 and 0.002 the start with the least error of networks left out
    "line_bytes": (64, 0, "fitted"),  # chosen among 16, 32, 64 and 128
    "memory_bytes": (64, 0, "fitted"),  # of local memory in a cycle: the page says what shows it
    "load_gbps": (50, .05, None),  # language models decode at 42 to 54, the host's work in it
    "store_gbps": (44, .15, None),
    "copy_gbps": (28, .3, None),
    "fill_gbps": (58, 0, "vendor"),
}
# BM1684's parameters are those of its kernels, whose values 45 published times of kernels decide, and start there: how far each
# may move says how well those times decide it.
KERNELS = {
    "launch_us": .3, "bdc_start_us": .7, "read_gbps": .05, "write_gbps": .1, "small_piece_ns": .5, "local_gbps": .5,
    "conv_per_tap": .5, "conv_per_tile": .2, "conv_per_tap_per_extra_stride": .3,
    "dw_per_tap": .5, "dw_per_tile": .7, "dw_per_tap_strided": .7,
    "mm_per_mac": .1, "mm_per_row": .5, "mm_per_left_segment": .5,
    "eltwise_per_tile": 1, "div_per_tile": .7, "exp_per_tile_term": .5,
}


def of_kernels(chip):
    timing = json.loads((ROOT / f"device/chip/chips/{chip}.json").read_text(encoding="utf-8"))["timing"]
    return {name: (timing[name]["value"], deviation, None) for name, deviation in KERNELS.items()}


# Each chip's networks lie in folders, and some parameters start elsewhere.
CHIPS = {
    "bm1684x": {"folders": ("bm1684x",), "start": START},
    # The same TPU at the same clock under two names. Starting values of DDR are the rates at which language models decode.
    "bm1688": {"folders": ("bm1688", "cv186x"), "start": {
        **START,
        "launch_us": (60, .4, None), "gdma_start_us": (.3, .5, None), "load_gbps": (19, .1, None), "store_gbps": (17, .3, None),
        "copy_gbps": (12, .3, None), "io_gbps": (12, .3, None), "fill_gbps": (24, 0, "guess"),
        "conv_factor": (2, .1, None),  # the 32 bytes of a step are two rows of an EU
        "product_row_cycles": (1, .02, None),  # its three rows are 48 bytes, which local memory moves in a cycle
        "line_bytes": (16, 0, "fitted"), "piece_us": (1e-9, 0, "guess")}},  # lines of 16 bytes leave no cost of runs beside them
    # What issuing is part of on the control processor starts as on the newer chips.
    "bm1684": {"folders": ("bm1684",), "start": {
        **of_kernels("bm1684"), "gdma_start_us": (.3, 1, None), "run_ns": (.5, 1, None), "mac_cycles": (1, 0, "vendor")}},
}
# What two cores move together, as language models decode with them (19 to 25 GB/s).
ALL_CORES_GBPS = 22
# What bounds a part of a network, of the parameters that its time is made of.
WORK = {
    "convolutions and products": ("mac_cycles", "conv_per_tap", "conv_per_tile", "conv_per_tap_per_extra_stride", "mm_per_mac", "mm_per_row",
                                  "mm_per_left_segment", "conv_row_cycles", "conv_factor", "product_row_cycles", "product_factor"),
    "element by element, pooling": ("row_cycles", "move_factor", "dw_per_tap", "dw_per_tile", "dw_per_tap_strided", "eltwise_per_tile"),
    "lookups, special functions, divisions": ("lookup_cycles", "divide_factor", "series_factor", "div_per_tile", "exp_per_tile_term"),
    "moving data": ("read_gbps", "write_gbps", "local_gbps", "small_piece_ns", "run_ns", "load_gbps", "store_gbps", "copy_gbps", "fill_gbps", "io_gbps", "piece_us"),
    "launch and start-up": ("launch_us", "bdc_start_us", "gdma_start_us", "hau_start_us", "hau_us_per_kib"),
}
NOISE = .08  # of published times: the same network by several publishers
PRECISIONS = ("F32", "F16", "INT8")


def is_rate(name):
    return name.endswith("_gbps")


class Network:
    def __init__(self, row, line, names):
        self.file, self.precision = row["file"], row["precision"]
        self.board_us = float(row["board_ms"]) * 1e3
        self.weight = float(row["weight"])
        self.family = re.sub(r"(lp|bn)?_.*", "", self.file.split("/")[1])
        self.rows = line["rows"]
        self.quantities = np.zeros((len(self.rows), len(names)))
        for i, (_, _, amounts) in enumerate(self.rows):
            for name, amount in amounts.items():
                self.quantities[i, names.index(name)] += amount
        self.outside = np.zeros(len(names))  # what no command of a stream costs
        self.outside[names.index("launch_us")] = 1

    def run(self, each):
        """The time, and the quantities along the chain of commands that determines it."""
        took = (self.quantities @ each).tolist()
        ends, before = [0.0] * len(took), [-1] * len(took)
        free, last = [0.0, 0.0], [-1, -1]
        for i, (engine, after, _) in enumerate(self.rows):
            start, reason = free[engine], last[engine]
            if after >= 0 and ends[after] > start:
                start, reason = ends[after], after
            free[engine] = ends[i] = start + took[i]
            before[i], last[engine] = reason, i
        at = last[0] if free[0] >= free[1] else last[1]
        chain = []
        while at >= 0:
            chain.append(at)
            at = before[at]
        return max(free) + float(self.outside @ each), self.quantities[chain].sum(0) + self.outside


class Fit:
    def __init__(self, start):
        self.names = list(start)
        values = np.array([start[name][0] for name in self.names])
        rates = np.array([is_rate(name) for name in self.names])
        self.start = np.where(rates, 1 / values, values)
        self.rates = rates
        self.deviation = np.array([max(start[name][1], 1e-4) for name in self.names])

    def fit(self, networks, rounds=6):
        logs = np.log(self.start)
        for _ in range(rounds):
            each = np.exp(logs)
            lines, rests = [], []
            for network in networks:
                us, quantities = network.run(each)
                rest = math.log(network.board_us / us)
                # What is far off counts less: it is another instruction stream than that of the board.
                weight = math.sqrt(network.weight) / NOISE / math.sqrt(1 + (rest / .25) ** 2)
                lines.append(weight * quantities * each / us)
                rests.append(weight * rest)
            matrix = np.array(lines + list(np.diag(1 / self.deviation)))
            right = np.array(rests + list((np.log(self.start) - logs) / self.deviation))
            logs = logs + np.clip(np.linalg.lstsq(matrix, right, rcond=None)[0], -.5, .5)
        return np.exp(logs)

    def values(self, each):
        """As the files have them: a size that stays where it is has to be a whole number again."""
        return {name: float(f"{1 / x if rate else x:.4g}") for name, x, rate in zip(self.names, each, self.rates)}


def quartile(values, share):
    return float(np.quantile(np.array(values), share))


def errors_of(pairs):
    """pairs of estimate / board."""
    return {"networks": len(pairs), "error": round(float(np.mean([abs(math.log(x)) for x in pairs])), 3),
            "median": round(quartile(pairs, .5), 3), "lower": round(quartile(pairs, .25), 3),
            "upper": round(quartile(pairs, .75), 3)}


def unpack(source, target):
    """Zeros become holes: most of a file are constants that were zeroed."""
    with lzma.open(source) as packed, open(target, "wb") as file:
        size = 0
        while block := packed.read(1 << 20):
            if block.count(0) == len(block):
                file.seek(len(block), 1)
            else:
                file.write(block)
            size += len(block)
        file.truncate(size)


def ask(softtpu, *words):
    done = subprocess.run([softtpu, "bmodel", "time", *words], capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        sys.exit(f"fit.py: softtpu bmodel time: {done.stderr}")
    return done.stdout


def with_fit(chip, parameters, folder):
    text = json.dumps({"parameters": {name: {"value": value, "founded": "fitted"} for name, value in parameters.items()}, "errors": {}})
    (folder / "fit.json").write_text(text, encoding="utf-8")
    return "--fit", f"{chip}={folder / 'fit.json'}"


def read_networks(softtpu, chip, rows, start, folder):
    if not rows:
        return [], []
    files = []
    for row in rows:
        files.append(folder / row["file"].replace("/", "_"))
        unpack(DATA / (row["file"] + ".xz"), files[-1])
    lines = ask(softtpu, "--fit-rows", *with_fit(chip, {name: item[0] for name, item in start.items()}, folder), *files).splitlines()
    return [Network(row, json.loads(line), list(start)) for row, line in zip(rows, lines)], files


def times_of(softtpu, chip, files, parameters, folder):
    """What the program says of networks with other parameters, in microseconds."""
    return [row["us"] for row in json.loads(ask(softtpu, "--json", *with_fit(chip, parameters, folder), *files))]


def on_cores(softtpu, chip, files, values, folder):
    """Microseconds of networks on several cores, with this fit of networks on one."""
    parameters = {**values, "all_cores_gbps": max(ALL_CORES_GBPS, values["load_gbps"]), "message_us": 0}
    return times_of(softtpu, chip, files, parameters, folder)


def compare_with_program(softtpu, chip, files, networks, fit, each, folder):
    """The program has to say of every network what the fit says: what either counts twice or leaves out would be an error."""
    for network, us in zip(networks, times_of(softtpu, chip, files, fit.values(each), folder)):
        ours = network.run(each)[0]
        if abs(us - ours) > .01 * ours:
            sys.exit(f"fit.py: of {network.file} the program says {us:.1f} us, the fit {ours:.1f} us")


def error_of_work(networks, each_of):
    """By what bounds it: how far estimates are off to one side, a network counted by its share of that work."""
    rows = []
    for kind, names in WORK.items():
        sum_of, logs = 0, 0
        for network, each in ((network, each_of[network.file]) for network in networks):
            us, quantities = network.run(each.each)
            share = sum((quantities * each.each)[each.names.index(name)] for name in names if name in each.names) / us
            sum_of += share
            logs += share * math.log(us / network.board_us)
        rows.append((kind, sum_of / len(networks), logs / sum_of if sum_of else 0))
    return rows


class Left:
    def __init__(self, names, each):
        self.names, self.each = names, each


def fit_chip(chip, softtpu):
    with tempfile.TemporaryDirectory() as folder:
        return fit_in(chip, softtpu, pathlib.Path(folder))


def fit_in(chip, softtpu, folder):
    with open(DATA / "networks.csv", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["file"].split("/")[0] in CHIPS[chip]["folders"]]
    start = CHIPS[chip]["start"]
    fit = Fit(start)
    networks, files = read_networks(softtpu, chip, [row for row in rows if row["cores"] == "1"], start, folder)
    several, several_files = read_networks(softtpu, chip, [row for row in rows if row["cores"] != "1"], start, folder)
    used = [network for network in networks if network.weight > 0]
    each = fit.fit(used)
    without, each_of, left_out = {}, {}, {}
    for family in sorted({network.family for network in used}):
        without[family] = fit.fit([network for network in used if network.family != family])
        for network in used:
            if network.family == family:
                each_of[network.file] = Left(fit.names, without[family])
                left_out[network.file] = network.run(without[family])[0] / network.board_us
    values = fit.values(each)
    compare_with_program(softtpu, chip, files, networks, fit, each, folder)
    parameters = {name: {"value": values[name], "founded": start[name][2] or "fitted"} for name in fit.names}
    errors = {}
    for precision in PRECISIONS:
        ratios = [left_out[n.file] for n in used if n.precision == precision]
        if ratios:
            errors[precision] = errors_of(ratios)
    estimates = {network.file: network.run(each)[0] for network in networks}
    if several:
        parameters["all_cores_gbps"] = {"value": max(ALL_CORES_GBPS, parameters["load_gbps"]["value"]), "founded": "measured"}
        parameters["message_us"] = {"value": 0, "founded": "guess"}  # values above 0 bring no family of networks nearer without the others
        estimates.update(zip((n.file for n in several), on_cores(softtpu, chip, several_files, values, folder)))
        ratios = {}
        for family in {network.family for network in several}:
            times = on_cores(softtpu, chip, several_files, fit.values(without[family]), folder)
            ratios.update({n.file: us / n.board_us for n, us in zip(several, times) if n.family == family})
        left_out.update(ratios)
        for precision in PRECISIONS:
            ours = [ratios[n.file] for n in several if n.precision == precision]
            if ours:
                errors[f"{precision} on 2 cores"] = errors_of(ours)
    lines = [f"## {chip.upper()}\n",
             "| network | board, ms | estimate, ms | estimate / board, fitted | the same, its network left out | used |",
             "|---|---|---|---|---|---|"]
    by_file = {network.file: network for network in networks + several}
    for network, row in ((by_file[row["file"]], row) for row in rows):
        us = estimates[network.file]
        ratio = f"{left_out[network.file]:.2f}" if network.file in left_out else "-"
        lines.append(f"| {network.file.removeprefix(chip + '/').removesuffix('.bmodel')} | {network.board_us / 1e3:.3f} | {us / 1e3:.3f} | "
                     f"{us / network.board_us:.2f} | {ratio} | {row['note'] or 'yes'} |")
    everything = [left_out[network.file] for network in used]
    lines += ["", "| precision | networks | error (mean of abs(log)) | median of estimate / board | quartiles |", "|---|---|---|---|---|"]
    for precision, error in {**errors, "all on one core": errors_of(everything)}.items():
        lines.append(f"| {precision} | {error['networks']} | {100 * error['error']:.1f} % | {error['median']:.2f} | "
                     f"{error['lower']:.2f} to {error['upper']:.2f} |")
    within = sum(abs(math.log(x)) <= math.log(1.2) for x in everything)
    lines += ["", f"Within 20 %: {within} of {len(everything)} on one core, each left out of the fit with all networks of its family.", "",
              "| kind of network | networks | error, left out |", "|---|---|---|"]
    for family in sorted(without):
        ratios = [left_out[n.file] for n in used if n.family == family]
        lines.append(f"| {family} | {len(ratios)} | {100 * errors_of(ratios)['error']:.1f} % |")
    lines += ["", "| kind of work | share of the time | off to one side by |", "|---|---|---|"]
    work = error_of_work(used, each_of)
    lines += [f"| {kind} | {100 * share:.0f} % | {100 * off:+.1f} % |" for kind, share, off in work]
    lines += goals(used, left_out, work)
    lines += twins(used, left_out)
    lines += second_core(networks, several, estimates)
    lines += language_models(chip, values)
    lines += ["", "| parameter | value | founded |", "|---|---|---|"]
    lines += [f"| `{name}` | {item['value']:g} | {item['founded']} |" for name, item in parameters.items()]
    return json.dumps({"parameters": parameters, "errors": errors}, indent=2) + "\n", "\n".join(lines) + "\n"


def goals(networks, left_out, work):
    """What is wanted of networks that were left out, and whether it is so."""
    logs = [math.log(left_out[network.file]) for network in networks]
    by_precision = {precision: [math.log(left_out[n.file]) for n in networks if n.precision == precision] for precision in PRECISIONS}
    sides = {precision: float(np.mean(logs)) for precision, logs in by_precision.items() if logs}
    kinds = {kind: off for kind, share, off in work if share >= .005}
    rows = [("mean error at most 9 %", f"{100 * np.mean(np.abs(logs)):.1f} %", np.mean(np.abs(logs)) <= .09),
            ("nine of ten within 20 %", f"{100 * np.mean(np.abs(logs) <= math.log(1.2)):.0f} %", np.mean(np.abs(logs) <= math.log(1.2)) >= .9)]
    for what, off in (("precision", sides), ("kind of work", kinds)):
        worst = max(off, key=lambda name: abs(off[name]))
        rows.append((f"no {what} off to one side by more than 8 %", f"{worst}: {100 * off[worst]:+.1f} %", abs(off[worst]) <= .08))
    return ["", "| wanted of networks left out | seen | reached |", "|---|---|---|"] + [f"| {what} | {seen} | {'yes' if reached else 'no'} |" for what, seen, reached in rows]


def second_core(networks, several, estimates):
    """How many times as fast two cores are as one, on the board and by the estimate."""
    one = {network.file: network for network in networks}
    lines = []
    for two in several:
        alone = one[two.file.replace("_2core", "")]
        lines.append(f"| {alone.file.split('/')[1].removesuffix('.bmodel')} | {alone.board_us / two.board_us:.2f} | {estimates[alone.file] / estimates[two.file]:.2f} |")
    return ["", "| two cores, times as fast as one | board | estimate |", "|---|---|---|"] + lines if lines else []


def twins(networks, left_out):
    """The same network, published of two boards with the same TPU: no estimate can be nearer to both than half of what lies between."""
    boards = {}
    for network in networks:
        boards.setdefault(network.file.split("/")[1], []).append(network.board_us)
    ratios = {}
    for network in networks:
        ratios.setdefault(network.file.split("/")[1], []).append(math.log(left_out[network.file]))
    halves = [abs(math.log(pair[0] / pair[1])) / 2 for pair in boards.values() if len(pair) == 2]
    if not halves:
        return []
    return ["", f"{len(halves)} networks are published of two boards with this TPU. One estimate for both is off by {100 * sum(halves) / len(halves):.1f} % "
            f"in the mean at least. Against the mean of both boards the estimates, left out, are off by "
            f"{100 * sum(abs(sum(of) / len(of)) for of in ratios.values()) / len(ratios):.1f} %."]


def language_models(chip, values):
    """Each token reads all weights, so that published rates say what DDR gives; the host's work and the attention are in them."""
    lines = []
    with open(DATA.parent / "language_models.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["chip"] != chip:
                continue
            # Of 4 bits, a group of 64 has three bytes more, as the block of Qwen1.5-7B that is at hand; heads have 16 bits.
            each = .5 + 3 / 64 if row["bits"] == "4" else int(row["bits"]) / 8
            size = int(row["blocks"]) * int(row["block_weights"]) * each + int(row["head_weights"]) * 2
            rate = values["load_gbps"] if row["cores"] == "1" else max(ALL_CORES_GBPS, values["load_gbps"])
            ours = size / rate / 1e6 + (int(row["blocks"]) + 2) * values["launch_us"] / 1e3
            board = sum(map(float, row["ms"].split())) / len(row["ms"].split())
            lines.append(f"| {row['model']} | {row['bits']} | {row['cores']} | {board:.1f} | {size / board / 1e6:.1f} | {ours:.1f} | {ours / board:.2f} |")
    return ["", "| language model | bits | cores | ms a token on the board | weights, GB/s | weights and launches alone, ms | estimate / board |",
            "|---|---|---|---|---|---|---|"] + lines if lines else []


def same(left, right):
    """Whether two texts agree; numbers may differ in their last places, as they do between processors."""
    number = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
    if number.sub("#", left) != number.sub("#", right):
        return False
    pairs = zip(map(float, number.findall(left)), map(float, number.findall(right)))
    return all(abs(a - b) <= .02 * max(abs(a), abs(b)) + .011 for a, b in pairs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--softtpu", type=pathlib.Path, default=ROOT / "build/dev/bin/softtpu")
    parser.add_argument("--write", action="store_true", help="write the fits and the page")
    parser.add_argument("--check", action="store_true", help="fail when the fits or the page say something else")
    options = parser.parse_args()
    page = PAGE.read_text(encoding="utf-8")
    tables, stale = [], []
    for chip in CHIPS:
        text, table = fit_chip(chip, options.softtpu)
        tables.append(table)
        path = FITS / f"{chip}.json"
        if options.write:
            path.write_text(text, encoding="utf-8")
        elif not path.is_file() or not same(path.read_text(encoding="utf-8"), text):
            stale.append(path)
    head, tail = "<!-- fit -->\n", "<!-- end fit -->\n"
    new = page[:page.index(head) + len(head)] + "\n".join(tables) + page[page.index(tail):]
    if options.write:
        PAGE.write_text(new, encoding="utf-8")
    elif not same(new, page):
        stale.append(PAGE)
    if options.check and stale:
        sys.exit(f"fit.py: another fit than {', '.join(str(path.relative_to(ROOT)) for path in stale)}: run it with --write")
    if not options.check and not options.write:
        print("\n".join(tables))


if __name__ == "__main__":
    main()
