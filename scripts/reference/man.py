#!/usr/bin/env python3
"""Writes man pages: NAME(3) of every public function from docs/reference, and softtpu(1) from what the program says of itself."""
import argparse
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import model  # noqa: E402

TITLES = {"types": "TYPES", "limits": "LIMITS", "NULL": "NULL", "overlap": "OVERLAP", "rounding": "ROUNDING", "meaning": "DESCRIPTION", "note": "NOTES",
          "errors": "ERRORS", "engine": "ENGINE", "waits": "WAITING", "time": "TIME", "chips": "CHIPS",
          "numbers": "NUMBERS", "samples": "SAMPLES", "returns": "RETURN VALUE", "layout": "LAYOUT"}


def escaped(text):
    """Text as troff shows it: backslashes, dashes, and lines that would begin a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def paragraphs(text):
    out = []
    for block in text.split("\n\n"):
        plain = [line for line in block.split("\n") if not line.startswith("    ")]
        kept = [line for line in block.split("\n") if line.startswith("    ")]
        if plain:
            out.append(".PP\n" + escaped("\n".join(plain)))
        if kept:
            out.append(".PP\n.nf\n" + escaped("\n".join(kept)) + "\n.fi")
    return "\n".join(out)


def function_page(function):
    name = function.name
    out = [f'.TH {name.upper()} 3 "" "softtpu" "softtpu: {escaped(function.family["title"])}"', ".SH NAME", f"{name} \\- {escaped(function.purpose)}", ".SH SYNOPSIS",
           f".nf\n#include <{function.prototype.include}>\n\n{escaped(function.prototype.text(78))};\n.fi"]
    for label, value in function.sections():
        if label == "source":
            continue  # for maintainers: docs/reference has it
        if label == "parameters":
            if value:
                out.append(".SH PARAMETERS")
            out += [f".TP\n.I {parameter}\n{escaped(text)}" for parameter, text in value]
        elif label == "see also":
            out.append(".SH SEE ALSO\n" + ",\n".join(f".BR {other} (3)" for other in function.related()).replace("(3),", "(3),"))
        elif label == "example":
            out.append(".SH EXAMPLE\n.nf\n" + escaped(value) + "\n.fi")
        else:
            out.append(f".SH {TITLES[label]}")
            out.append("\n".join(paragraphs(one) for one in value) if isinstance(value, list) else paragraphs(value))
    known = function.known_text()
    if known:
        out.append(".SH TESTED\n" + escaped(known))
    return "\n".join(out) + "\n"


def program_page(softtpu):
    def said(*arguments):
        return subprocess.run([softtpu, *arguments], capture_output=True, text=True, check=True).stdout.strip("\n")
    top = said("--help")
    commands = re.findall(r"^  (\w+) {2,}\S", top.split("Subcommands:")[1], re.M)
    out = ['.TH SOFTTPU 1 "" "softtpu" "softtpu"', ".SH NAME", "softtpu \\- an emulator of SOPHGO's TPUs for TPUKernel and OKKernel programs",
           ".SH SYNOPSIS", ".B softtpu\n.I COMMAND\n[options]", ".SH DESCRIPTION\n.nf\n" + escaped(top) + "\n.fi"]
    out += [f".SH softtpu {command}\n.nf\n{escaped(said(command, '--help'))}\n.fi" for command in commands]
    out.append(".SH ENVIRONMENT\n.nf\n" + escaped("`softtpu env` lists every variable with its value, default and meaning.") + "\n.fi")
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path, help="where man1 and man3 go")
    parser.add_argument("--softtpu", help="the program, for softtpu(1)")
    options = parser.parse_args()
    section = options.folder / "man3"
    section.mkdir(parents=True, exist_ok=True)
    for function in model.Reference().functions.values():
        (section / f"{function.name}.3").write_text(function_page(function))
    if options.softtpu:
        (options.folder / "man1").mkdir(exist_ok=True)
        (options.folder / "man1/softtpu.1").write_text(program_page(options.softtpu))


if __name__ == "__main__":
    main()
