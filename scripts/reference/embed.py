#!/usr/bin/env python3
"""Writes the reference of functions as a C++ source with one JSON text, for `softtpu api`. Texts that functions share stand once, in "texts"; a
section names them by number."""
import json
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import model  # noqa: E402

PIECE = 60000  # characters of one string literal


def as_json(reference):
    texts, numbers = [], {}

    def number_of(value):
        key = json.dumps(value)
        if key not in numbers:
            numbers[key] = len(texts)
            texts.append(value)
        return numbers[key]

    def shared(asked):
        """Chips with the same answers stand together: [[chips, answers]]."""
        found = {}
        for chip, answers in asked.items():
            found.setdefault(json.dumps(answers, sort_keys=True), ([], answers))[0].append(chip)
        return list(found.values())

    functions = {}
    for page, (title, _, families) in reference.pages.items():
        for family in families:
            for name in family["functions"]:
                function = reference.functions.get(name)
                if function is None:
                    continue
                sections = [[label, number_of(value)] for label, value in function.sections()]
                first, chips = function.limits.get("chip"), function.limits.get("chips", [])
                further = {chip: [[label, number_of(value)] for label, value in function.sections_on(chip)] for chip in chips if chip != first}
                # The first chip's text lists types and numbers of the others, too.
                further[first] = [[label, number_of(value)] for label, value in function.sections_on(first) if label in ("types", "layout", "rounding", "note")]
                asked = {chip: {parameter: number_of(answers) for parameter, answers in limits.get("parameters", {}).items()}
                         for chip, limits in ((chip, function.limits if chip == first else function.limits_on(chip)) for chip in chips)}
                fixed = {chip: number_of(listed[name]) for chip, listed in reference.not_varied.items() if name in listed}
                functions[name] = {"not_varied": fixed, "refused": function.is_refused_on_hosts, "on": {chip: differing for chip, differing in further.items() if differing},
                                   "asked": shared({chip: answers for chip, answers in asked.items() if answers}), "signature": function.prototype.text(), "purpose": function.purpose, "include": function.prototype.include,
                                   "family": family["title"], "page": page, "title": title, "topics": reference.topics(name), "sections": sections}
    return {"texts": texts, "functions": functions, "samples": reference.samples_of_topics(), "names": names_of_headers(), "limit_words": model.OF_PRODUCT, "labels": model.LABELS}


# ---- Types, enumerators and macros, and functions that have no page

HEADERS = ("firmware/include/*.h", "firmware/include/softtpu/*.h", "host/include/*.h", "host/include/tpuv7/*.h", "host/include/tpudnn/*.h", "host/include/tpu_runtime_api/*.h")
# Headers whose comments are all that is written about their functions.
DESCRIBED_IN_HEADER = ("bmruntime_interface.h", "bmruntime_legacy.h", "bmcv_api_ext.h")

# What these declare reaches programs through another header.
INCLUDED_BY = {"kernel_common.h": "tpu_kernel.h"}

# The macros of chips, and those that headers make of them.
CHIP_MACRO = re.compile(r"__(?:bm|sg|mars)\w*__|SOFTTPU_\w+_(?:CHIP|INTERFACE|CDMA)")


def macros_of_chips():
    """Chip -> the macros that its kernels are compiled with."""
    rows = re.findall(r'^\{"(\w+)", "\w+", "([^"]+)"', (model.ROOT / "tools/softtpu/ppl_chips.def").read_text(), re.M)
    return {chip: set(re.findall(r"__\w+__", macros)) for chip, macros in rows if chip in CHIP_NAMES}


CHIP_NAMES = {path.stem for path in (model.ROOT / "device/chip/chips").glob("*.json")}


def holds(condition, macros):
    """An #if, #ifdef, #ifndef or #elif about chips."""
    kind, text = re.fullmatch(r"\s*#\s*(\w+)\s*(.*)", condition).groups()
    names = [name in macros for name in re.findall(r"\w*__\w+|SOFTTPU_\w+", text)]
    return not names[0] if kind == "ifndef" or text.startswith("!") else any(names)


def as_on(text, macros):
    """A header as it is where these macros are defined; other conditions stay."""
    macros, out, open_ifs = set(macros), [], []  # of each #if: about chips, holds, has held
    for line in text.split("\n"):
        directive = re.match(r"\s*#\s*(ifdef|ifndef|if|elif|else|endif)\b", line)
        kind = directive[1] if directive else ""
        if kind.startswith("if"):
            about_chips = bool(CHIP_MACRO.search(line))
            held = not about_chips or holds(line, macros)
            open_ifs.append([about_chips, held, held])
        elif kind == "elif" and open_ifs[-1][0]:
            open_ifs[-1][1] = not open_ifs[-1][2] and holds(line, macros)
            open_ifs[-1][2] |= open_ifs[-1][1]
        elif kind == "else" and open_ifs[-1][0]:
            open_ifs[-1][1] = not open_ifs[-1][2]
        about_chips = bool(kind) and open_ifs[-1][0]
        if kind == "endif":
            open_ifs.pop()
        if not about_chips and all(one[1] for one in open_ifs):
            out.append(line)
            macros |= set(re.findall(r"^\s*#\s*define\s+(SOFTTPU_\w+_(?:CHIP|INTERFACE|CDMA))", line))
    return "\n".join(out)


def names_of_headers():
    """Name -> [kind, declaration, header, what it belongs to, what it is for, chip -> declaration where it differs]. A chip's declaration is empty where
    its headers have no such name."""
    headers = [path for pattern in HEADERS for path in sorted(model.ROOT.glob(pattern))]
    choosing = (model.ROOT / "firmware/include/tpu_defs.h").read_text()  # makes macros of the chips' ones, for all headers

    def declared(macros):
        known = macros | set(re.findall(r"define (SOFTTPU_\w+)", as_on(choosing, macros)))
        names = {}
        for path in headers:
            for name, entry in names_in(as_on(path.read_text(), known)).items():
                names.setdefault(name, [*entry[:2], INCLUDED_BY.get(path.name, path.name), entry[2], "", {}])
        return names

    names = declared(set())
    further = {chip: declared(macros) for chip, macros in macros_of_chips().items()}
    usual = dict(names)
    for there in further.values():
        for name, entry in there.items():
            names.setdefault(name, [entry[0], "", *entry[2:]])
    for chip, there in further.items():
        for name, entry in names.items():
            declaration = there[name][1] if name in there else ""
            if declaration != (usual[name][1] if name in usual else ""):
                entry[5][chip] = declaration
    for path in headers:
        if path.name in DESCRIBED_IN_HEADER:
            names.update(functions_in(path))
    return names


def functions_in(path):
    """The functions that a header declares, each with the comment above it or above the lines that it stands in."""
    text, found = path.read_text(), {}
    for one in model.prototypes(path, f"include/{path.name}"):
        match = re.search(rf"^[a-zA-Z_][\w *]*?[ *]{one.name}\([^;]*;", text, re.M)
        if not match:
            continue
        above = text[:match.start()].rstrip(" ").removesuffix("\n")
        above = above if above.endswith("*/") else above[above.rfind("\n\n") + 1:]
        comment = re.findall(r"/\*.*?\*/", above[above.rfind("/*"):] if above.endswith("*/") else above, re.S)
        about = " ".join(re.sub(r"^[/* ]+|[*/ ]+$", "", line) for line in (comment[-1] if comment else "").split("\n")).strip()
        found[one.name] = ["function", re.sub(r" [A-Z]+_DEFAULT\(\w+\)", "", " ".join(match[0].split())), path.name, "", "" if about.startswith("---") else about, {}]
    for name in re.findall(r"\bF\((\w+)\)", text):
        found[name] = ["function", f"bm_status_t {name}(bm_handle_t handle, ...);", path.name, "", "Refused: every call gives BM_NOT_SUPPORTED.", {}]
    return found


def names_in(text):
    names = {}
    bare = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)
    for match in re.finditer(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(\([^)\n]*\))?((?:[^\n\\]|\\.|\\\n)*)", bare, re.M):
        if not match[1].endswith("_H") and not match[1].startswith("__") and not match[1].endswith("_H_"):
            value = " ".join((match[3] or "").replace("\\\n", " ").split())
            names[match[1]] = ["macro", f"#define {match[1]}{match[2] or ''} {value}".rstrip(), ""]
    for match in re.finditer(r"\b(typedef\s+)?(enum|struct|union)\s*(\w+)?\s*\{((?:[^{}]|\{[^{}]*\})*)\}\s*(?:__attribute__\(\([^)]*\)\)\s*)?(\w+)?", bare):
        name = match[5] if match[1] and match[5] else match[3]
        members = [" ".join(part.split()) for part in match[4].split("," if match[2] == "enum" else ";") if part.strip() and "#" not in part]
        separator = ", " if match[2] == "enum" else "; "
        if name:
            names[name] = [match[2], f"{match[2]} {name} {{ {separator.join(members)}{';' if match[2] != 'enum' else ''} }}", ""]
        if match[2] == "enum":
            count = -1
            for member in members:
                known = re.match(r"(\w+)(?:\s*=\s*(.+))?$", member)
                if not known:
                    continue
                try:
                    count = int(known[2], 0) if known[2] else count + 1
                    shown = f"{known[1]} = {count}"
                except ValueError:
                    shown = member
                names[known[1]] = ["enumerator", shown, name or ""]
    for match in re.finditer(r"^[ \t]*typedef\s+([^;{}()]+?)\s*\b(\w+)\s*(\[[^\]]*\])?;", bare, re.M):
        names.setdefault(match[2], ["type", f"typedef {' '.join(match[1].split())} {match[2]}{match[3] or ''}", ""])
    return names


def main():
    target = pathlib.Path(sys.argv[1])
    text = json.dumps(as_json(model.Reference()), separators=(",", ":"))
    pieces = [text[at:at + PIECE] for at in range(0, len(text), PIECE)]
    literals = "\n".join(f'    R"embedded({piece})embedded"' for piece in pieces)
    target.write_text(f'#include "tools/softtpu/reference.hpp"\n\nstd::string_view softtpu::cli::embedded_reference() {{\n  return\n{literals};\n}}\n')


if __name__ == "__main__":
    main()
