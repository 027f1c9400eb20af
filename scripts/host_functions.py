#!/usr/bin/env python3
"""Keeps the table of functions in host/README.md true: it is made from the bodies in host/bmlib and the list of published functions.

Rewrites the text between `<!-- functions -->` and `<!-- end functions -->`; with --check it only compares (ctest runs that)."""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
README = ROOT / "host/README.md"
BODY = re.compile(r"^[a-z][\w ]*[ *]+(\w+)\((?:[^{};]|\n)*?\)\s*(?:try )?\{(.*?)(?:\}$|^\})", re.M | re.S)
ROW = re.compile(r"^[A-Z_]+\(((?:bm|sg)_\w+),", re.M)  # of a macro that makes the body
SOC_ONLY = "works in SoC mode; in PCIe mode BM_NOT_SUPPORTED (host and device share no memory)"


def state(body, constants, source):
    reason = re.search(r"no_feature\(__func__,\s*(?:\"([^\"]*)\"|(\w+))\)", body)
    if reason:
        return "no feature: " + (reason[1] or constants[reason[2]])
    if source.name == "mapping.cpp":
        return SOC_ONLY
    refusal = re.search(r"not_supported\(__func__,\s*\"([^\"]*)\"\)", body)
    return "works" + (f"; not supported: {refusal[1]}" if refusal else "")


def states():
    found = {}
    for source in sorted((ROOT / "host/bmlib").glob("*.cpp")):
        text = source.read_text()
        constants = dict(re.findall(r"constexpr const char\* (\w+) =\s*\"([^\"]*)\"", text))
        exported = text[text.find('extern "C" {'):] if 'extern "C" {' in text else ""
        for name, body in BODY.findall(exported):
            found[name] = (source.name, state(body, constants, source))
        for name in ROW.findall(exported):
            found[name] = (source.name, state("", constants, source))
    return found


def table():
    published = [name for facts in ("bmlib", "bmlib_internal") for name in json.loads((ROOT / f"tests/api/{facts}.json").read_text())["functions"]]
    found = states()
    missing = [name for name in published if name not in found]
    if missing:
        sys.exit(f"host_functions.py: no body found for {', '.join(missing)}")
    groups = {}
    for name in published:
        groups.setdefault(found[name], []).append(name)
    rows = ["| functions | state | file |", "|---|---|---|"]
    for (source, text), names in sorted(groups.items(), key=lambda item: (item[0][1] != "works", item[0][1], item[0][0])):
        rows.append(f"| {', '.join(f'`{name}`' for name in names)} | {text} | {source} |")
    counts = {}
    for name in published:
        kind = "work" if found[name][1].startswith("works") else "answer BM_ERR_NOFEATURE"
        counts[kind] = counts.get(kind, 0) + 1
    summary = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items(), reverse=True))
    return [f"{len(published)} functions: {summary}.", "", *rows]


def main():
    text = README.read_text()
    block = "<!-- functions -->\n" + "\n".join(table()) + "\n<!-- end functions -->"
    filled, count = re.subn(r"<!-- functions -->.*?<!-- end functions -->", lambda _: block, text, flags=re.S)
    if count != 1:
        sys.exit("host/README.md: the markers of the table are not there once")
    if "--check" not in sys.argv[1:]:
        README.write_text(filled)
    elif filled != text:
        print("host/README.md: the table of functions is not current; run scripts/host_functions.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
