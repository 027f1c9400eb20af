#!/usr/bin/env python3
"""The specification of docs/numerics: its Python gives the recorded bytes, and what the code cites is there.

    numerics_test.py [--links | --models] [--golden FOLDER] [-v]
"""
import argparse
import collections
import pathlib
import re
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "grid"))
ROOT = HERE.parent.parent
PAGES = ROOT / "docs/numerics"
SOURCES = ["device", "firmware", "host", "runtime", "tools", "tests", "docs", "samples", "scripts"]
KNOWN_ENDINGS = {".cpp", ".hpp", ".h", ".c", ".def", ".md", ".py", ".toml", ".json", ".txt"}


# ---- links ----

def anchor(title):
    """The anchor that a Markdown heading gets."""
    return re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-")


def headings(page):
    return re.findall(r"^#+ (.*)$", page.read_text(), re.M)


def cited_files():
    for folder in SOURCES:
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in KNOWN_ENDINGS and "golden" not in path.parts and path.is_file():
                yield path


def broken_citations():
    """Citations of a page or a section that does not exist."""
    for path in cited_files():
        text = re.sub(r"\n\s*(//|\*|#)?\s*", " ", path.read_text(errors="replace"))
        for match in re.finditer(r"numerics(?::|/| )\s*((?:bm|README)[\w.\-]*?\.(?:md|json))(#[\w\-]+)?(?: sections? (\d+(?:(?:, | and | to )\d+)*))?", text):
            page = PAGES / match[1]
            where = path.relative_to(ROOT)
            if not page.exists():
                yield f"{where}: docs/numerics/{match[1]} does not exist"
                continue
            if match[2] and match[2][1:] not in map(anchor, headings(page)):
                yield f"{where}: docs/numerics/{match[1]} has no heading {match[2]}"
            for number in re.findall(r"\d+", match[3] or ""):
                if not any(title.startswith(f"{number}. ") for title in headings(page)):
                    yield f"{where}: docs/numerics/{match[1]} has no section {number}"


def broken_references():
    """`numerics` of a family in docs/reference."""
    for path in (ROOT / "docs/reference").glob("*.toml"):
        for name, target in re.findall(r'^numerics = "([^"#]+)#([^"]+)"', path.read_text(), re.M):
            page = PAGES / name
            if not page.exists() or target not in map(anchor, headings(page)):
                yield f"{path.relative_to(ROOT)}: docs/numerics/{name}#{target} does not exist"


def check_links():
    wrong = sorted(set(broken_citations()) | set(broken_references()))
    for line in wrong:
        print(line)
    print(f"{len(wrong)} citations of docs/numerics lead nowhere")
    return 1 if wrong else 0


# ---- models ----

L2_START = 1 << 24      # L2 lies behind global memory in golden.Memory

def argument_value(argument):
    kind, value = next(iter(argument.items()))
    if kind.startswith("out_"):
        return None     # what the call answers
    if kind == "l2addr":
        return L2_START + value
    return None if kind == "null" else value


def expected_answer(call):
    """The recorded answer of a call and its number of bits, or nothing."""
    answers = [call["ret"]] if call.get("ret") else []
    answers += [argument for argument in call["args"] if next(iter(argument)).startswith("out_")]
    if not answers:
        return None
    kind, value = next(iter(answers[0].items()))
    bits = re.fullmatch(r"scalar(\d+)", kind)
    return value, int(bits[1]) if bits else 64


def answered(call, memory):
    """Whether the model's answer is the recorded one; a model need not have an answer."""
    expected = expected_answer(call)
    if memory.answer is None or expected is None:
        return True
    value, bits = expected
    if isinstance(value, list):
        return list(value) == [int(part) for part in memory.answer]
    return (int(value) - int(memory.answer)) % 2**bits == 0


def carry_out(call, memory, names, run):
    """Whether the model's answer to a call is the recorded one, or None where no page has the function."""
    memory.answer = None
    arguments = dict(zip(names[call["fn"]], map(argument_value, call["args"])))
    return answered(call, memory) if run(memory, call["fn"], arguments) else None


def known_instructions():
    """File and id of the recorded instructions that the decoder refuses or whose rule is not known."""
    lines = (ROOT / "tools/golden/known_instructions.txt").read_text().splitlines()
    return {tuple(line.split("|")[0].split()) for line in lines if not line.startswith("#")}


def known_cases():
    """Chip and id of the recorded cases that are known to differ; a chip's newer recordings have its name in front."""
    lines = (ROOT / "tools/golden/known_cases.txt").read_text().splitlines()
    return {tuple(line.split("|")[0].split()) for line in lines if line and not line.startswith("#")}


def check_instructions(root, checked):
    """Single instructions with windows, those of tests/golden-instructions or of the folder beside the corpora: how many differ."""
    import golden
    import models
    from instruction_models import Instructions, decode, name_of
    beside = root.parent / "golden-bmodel"
    corpus = golden.Corpus("bm1684x", models.BM1684X_BYTES, beside if beside.exists() else ROOT / "tests/golden-instructions")
    known, wrong = known_instructions(), 0
    for family in corpus.families():
        if family == "index":
            continue
        for case, data in corpus.cases(family):
            if "expanded" not in case or (family, case["id"]) in known:
                continue
            memory, fields = golden.Memory(models.BM1684X_BYTES), decode(case["expanded"])
            memory.local[...] = memory.system[...] = golden.UNTOUCHED
            corpus.prepare(memory, case, data)
            if not Instructions(memory, models.OF_INSTRUCTIONS).carry_out(fields):
                continue
            bytes_wrong = corpus.differences(memory, case, data)
            checked[f"bm1684x {name_of(fields)}"] += 1
            if bytes_wrong:
                wrong += 1
                print(f"{family} {case['id']}: {bytes_wrong} bytes differ from the recording")
    return wrong


def check_models(verbose, root):
    import numpy
    import golden
    import models
    from answer_models import WAITS
    numpy.seterr(all="ignore")  # NaN and infinities are operands like others
    from signatures import prototypes
    names = {name: [parameter for _, parameter in parameters]
             for header in (*(ROOT / "firmware/include/softtpu").glob("tpu_*.h"), ROOT / "firmware/include/tpu_kernel.h", ROOT / "firmware/include/okk.h")
             for _, name, parameters in prototypes(header)}
    checked, wrong, known = collections.Counter(), 0, known_cases()
    for chip, npu_bytes, npus, run in models.CHIPS:
        corpus = golden.Corpus(chip, npu_bytes, root)
        for family in corpus.families():
            for case, data in corpus.cases(family):
                if "calls" not in case or (chip.split("-")[0], case["id"]) in known:
                    continue    # several cores, or nothing to follow
                if all(call["fn"] in WAITS for call in case["calls"]):
                    continue    # nothing to compare
                memory = golden.Memory(npu_bytes, npus)
                corpus.prepare(memory, case, data)
                answers = [carry_out(call, memory, names, run) for call in case["calls"]]
                if None in answers:
                    continue
                bytes_wrong = corpus.differences(memory, case, data)
                checked[f"{chip} {[call['fn'] for call in case['calls'] if call['fn'] not in WAITS][-1]}"] += 1
                if bytes_wrong or False in answers:
                    wrong += 1
                    print(f"{chip} {case['id']}: {answers.count(False)} answers and {bytes_wrong} bytes differ from the recording")
    wrong += check_instructions(root, checked)
    for name, count in sorted(checked.items()) if verbose else []:
        print(f"{name}: {count}")
    print(f"{sum(checked.values())} recorded cases of {len(checked)} functions, {wrong} not reproduced")
    return 1 if wrong or len(checked) < models.LEAST_FUNCTIONS else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--links", action="store_true", help="only what the code cites")
    parser.add_argument("--models", action="store_true", help="only the models")
    parser.add_argument("--golden", type=pathlib.Path, default=ROOT / "tests/golden", help="recorded cases, a folder for each chip (default: tests/golden)")
    parser.add_argument("-v", "--verbose", action="store_true", help="each function with its number of cases")
    options = parser.parse_args()
    status = 0
    if not options.models:
        status |= check_links()
    if not options.links:
        status |= check_models(options.verbose, options.golden)
    return status


if __name__ == "__main__":
    sys.exit(main())
