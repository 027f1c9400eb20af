#!/usr/bin/env python3
"""Refuses a public function without purpose, parameters, types, layout, overlap, errors or example in docs/reference (ctest reference_complete)."""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import model  # noqa: E402


ADDRESSES = ("local_addr_t", "system_addr_t", "global_addr_t", "l2_sram_addr_t", "static_addr_t", "addr_t", "const variable_t*", "const fp32_or_addr_t*", "const x32_or_addr_t*")
PLACES = re.compile(r"layout|aligned|compact|continuous|adjacent|stride|one behind the other|one after the other|in a row")


def gaps_of_operands(function, sections):
    """Of a function that works on memory: where its elements lie, and which operands may share bytes."""
    addresses = sum(kind in ADDRESSES for kind, _ in function.prototype.parameters)
    if addresses < 2 or function.prototype.returns != "void" or function.refusal or function.undetermined:
        return []
    said = " ".join(str(text) for text in sections.values())
    return ([] if sections.get("layout") or PLACES.search(said) else ["layout: where the elements lie"]) + \
        ([] if sections.get("overlap") else ["overlap: which operands may share bytes"])


def gaps(function):
    """What a function's reference lacks."""
    sections = dict(function.sections())
    missing = gaps_of_operands(function, sections)
    if len(function.purpose) < 12 or not function.purpose.endswith("."):
        missing.append("a purpose: one sentence")
    for kind, name in function.prototype.parameters:
        if name != "..." and not function.parameter_text(name, kind):
            missing.append(f"parameter {name}")
    takes_types = any(kind == "data_type_t" for kind, _ in function.prototype.parameters)
    if takes_types and not sections.get("types") and not function.refusal:
        missing.append("types")
    if not sections.get("errors"):
        missing.append("errors")
    if function.name not in function.example():
        missing.append("an example that calls it")
    if not (sections.get("rounding") or sections.get("meaning")) and not function.is_host:
        missing.append("rounding: what the result is to the last bit")
    if function.prototype.returns != "void" and not sections.get("returns"):
        missing.append("what it returns")
    if not sections.get("source"):
        missing.append("the source of the facts")
    missing += [f"see also: {name} does not exist" for name in function.related() if name not in function.reference.prototypes]
    return missing


def main():
    try:
        reference = model.Reference()
    except model.Wrong as error:
        print(error)
        return 1
    lines = [f"{name} ({reference.prototypes[name].header}): no entry in docs/reference" for name in reference.missing()]
    for function in reference.functions.values():
        lines += [f"{function.name}: lacks {gap}" for gap in gaps(function)]
    for line in lines:
        print(line)
    host = sum(function.is_host for function in reference.functions.values())
    print(f"{len(reference.functions) - host} kernel functions and {host} host functions described, {len(reference.missing())} without an entry")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
