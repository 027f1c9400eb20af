#!/usr/bin/env python3
"""Writes the documentation as a static site: the reference of functions and the pages of docs/, by mkdocs (Debian), with its search; no network."""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import model  # noqa: E402

DOCS = model.ROOT / "docs"
SAMPLES = model.ROOT / "samples"
LABELS = {"types": "Types", "limits": "Limits", "NULL": "NULL", "overlap": "Overlap", "rounding": "Rounding", "meaning": "Meaning", "note": "Notes",
          "errors": "What breaking a rule says", "engine": "Engine", "waits": "Waiting", "time": "Time", "chips": "Chips", "returns": "Returns",
          "layout": "Layout"}
STYLE = """
table, .figure { display: block; overflow-x: auto; max-width: 100%; }
pre, pre code { overflow-x: auto; white-space: pre; }
.rst-content pre code { font-size: 11.5px; }  /* lines of 120 characters fit beside the navigation */
h1, h2, h3, p code, li code, td code, a { overflow-wrap: anywhere; }
img, svg { max-width: 100%; height: auto; }
.figure { margin-bottom: 24px; }
.figure img { min-width: 44rem; }
.rst-content table { margin-bottom: 24px; }
.rst-content table td, .rst-content table th { padding: 4px 8px; }
.wy-nav-content { max-width: 60rem; }
.rst-content table.docutils td, .rst-content table td { white-space: normal; }
"""


def cell(text):
    return re.sub(r"\s*\n\s*", "<br>", text.strip()).replace("|", "\\|").replace("*", "\\*").replace("_", "\\_")


def shown(text):
    """A text in Markdown: literal, except that indented lines are kept."""
    out = []
    for line in text.split("\n"):
        out.append(line if line.startswith("    ") else re.sub(r"([*_<>|])", r"\\\1", line))
    return re.sub(r"\n(?=    )", "\n\n", "\n".join(out), count=1)


def function_text(function, reference, pages):
    out = [f"### {function.name}\n", shown(function.purpose) + "\n", f"```c\n#include <{function.prototype.include}>\n\n{function.prototype.text()};\n```\n"]
    for label, value in function.sections():
        if label == "source":
            continue  # for maintainers: docs/reference has it
        if label == "parameters":
            if value:
                out.append("| parameter | |\n|---|---|")
                out += [f"| `{name}` | {cell(text)} |" for name, text in value]
                out.append("")
        elif label == "see also":
            links = [f"[{name}]({pages.get(name, '')}#{name})" for name in function.related() if name in pages]
            out.append("**See also** " + ", ".join(links) + "\n")
        elif label == "samples":
            out.append("**Samples** " + ", ".join(f"[{path}](../../{path}/README.md)" for path in function.samples()) + "\n")
        elif label == "example":
            out.append(f"**Example**\n\n```c\n{value}\n```\n")
        elif label == "errors":
            out.append("**What breaking a rule says**\n\n" + "\n".join(f"- `{one}`" if one.startswith(function.name) else f"- {shown(one)}" for one in value) + "\n")
        elif label == "numbers":
            page, _, anchor = value.removeprefix("docs/numerics/").partition("#")
            out.append(f"**Numbers** [{page}](../../numerics/{page}#{anchor})\n")
        elif isinstance(value, list):
            out.append(f"**{LABELS[label]}**\n\n" + "\n".join(f"- {shown(one)}" for one in value) + "\n")
        else:
            out.append(f"**{LABELS[label]}** {shown(value)}\n")
    known = function.known_text()
    if known:
        out.append(f"**Tested** {shown(known)}\n")
    return "\n".join(out)


def write_reference(target, reference):
    """One page for each family; returns the navigation."""
    pages = {name: f"../{page}/{family['id']}.md" for page, (_, _, families) in reference.pages.items() for family in families
             for name in family["functions"] if name in reference.functions}
    navigation = ["  - Reference:\n    - All functions: reference/index.md"]
    for page, (title, about, families) in reference.pages.items():
        folder = target / "reference" / page
        folder.mkdir(parents=True, exist_ok=True)
        entries = []
        for family in families:
            functions = [reference.functions[name] for name in family["functions"] if name in reference.functions]
            if not functions:
                continue
            text = [f"# {family['title']}\n", shown(model.flat(about)) + "\n" if about else "", shown(model.flat(family.get("about", ""))) + "\n"]
            text += [drawing(figure.removesuffix(".svg").replace("_", " "), f"../../figures/{figure}") + "\n" for figure in family.get("figures", [])]
            text += [function_text(function, reference, pages) for function in functions]
            (folder / f"{family['id']}.md").write_text("\n".join(text))
            entries.append(f'      - "{family["title"]}": reference/{page}/{family["id"]}.md')
        if entries:
            navigation.append(f'    - "{title}":\n' + "\n".join(entries))
    lines = ["# All functions\n", "| function | |\n|---|---|"]
    lines += [f"| [{name}]({pages[name].removeprefix('../')}#{name}) | {cell(reference.functions[name].purpose)} |" for name in sorted(pages)]
    (target / "reference/index.md").write_text("\n".join(lines) + "\n")
    return navigation


def drawing(text, link):
    """A drawing that is not made smaller than can be read: it scrolls."""
    return f'<div class="figure"><img alt="{text}" src="{link}"></div>'


def site_place(path):
    """Where a file of the repository stands in the site; None: nowhere."""
    if path == model.ROOT / "README.md":
        return pathlib.Path("index.md")
    if path == DOCS / "README.md":
        return pathlib.Path("pages.md")
    if path == DOCS / "reference/README.md":
        return pathlib.Path("reference/index.md")
    if path.is_relative_to(SAMPLES) and path.name == "README.md":
        return pathlib.Path("samples") / path.relative_to(SAMPLES)
    if path.is_relative_to(DOCS) and path.is_file() and "reference" not in path.relative_to(DOCS).parts:
        return path.relative_to(DOCS)
    return None


def with_links(path, text):
    """Links as they are in the site; those that leave it become plain text. Code stays as it is."""
    here = site_place(path).parent

    def kept(match):
        link, _, anchor = match[3].partition("#")
        if not link or re.match(r"\w+:", link):
            return match[0]
        there = (path.parent / link).resolve()
        place = site_place(there / "README.md" if there.is_dir() else there)
        if place is None:
            return match[2]
        if place.suffix == ".svg" and match[1]:
            return drawing(match[2], os.path.relpath(place, here))
        return f"{match[1]}[{match[2]}]({os.path.relpath(place, here)}{'#' + anchor if anchor else ''})"
    pieces = re.split(r"(```.*?```)", text, flags=re.S)
    return "".join(piece if piece.startswith("```") else re.sub(r"(!(?=\[)|)\[((?<=!\[)[^\n]*?|[^\]]*)\]\(([^)\s]+)\)", kept, piece) for piece in pieces)


def sample_pages():
    """What several samples share is no sample."""
    return sorted(path for path in SAMPLES.glob("*/README.md") if not path.parent.name.endswith("common"))


def copy_docs(target):
    """The README, the pages of docs/ with their figures, and the samples with their code."""
    samples = [SAMPLES / "README.md", *sample_pages()]
    for path in [model.ROOT / "README.md", *sorted(DOCS.rglob("*")), *samples]:
        place = site_place(path)
        if place is None or "reference" in place.parts:
            continue
        (target / place).parent.mkdir(parents=True, exist_ok=True)
        if path.suffix != ".md":
            shutil.copy(path, target / place)
            continue
        text = with_links(path, path.read_text())
        if path.parent.parent == SAMPLES:
            for name in ("kernel.c", "main.c"):
                if (path.parent / name).exists():
                    text += f"\n## {name}\n\n```c\n{(path.parent / name).read_text()}```\n"
        (target / place).write_text(text)


def title(path):
    return path.read_text().split("\n")[0].removeprefix("# ")


def entries(folder, paths):
    return "\n".join(f'    - "{title(path)}": {folder}{path.relative_to(DOCS) if path.is_relative_to(DOCS) else path.relative_to(SAMPLES)}' for path in paths)


def pages_navigation():
    chapters = [DOCS / "tutorial/README.md", *sorted((DOCS / "tutorial").glob("[0-9]*.md"))]
    samples = [SAMPLES / "README.md", *sample_pages()]
    top = sorted(path for path in DOCS.glob("*.md") if path.name != "README.md")
    return (["  - Tutorial:\n" + entries("", chapters), "  - Samples:\n" + entries("samples/", samples)],
            ["  - Numbers:\n" + entries("", sorted((DOCS / "numerics").glob("*.md"))), "  - Guides:\n    - All pages: pages.md\n" + entries("", top),
             "  - Rules of the checks:\n" + entries("", sorted((DOCS / "rules").glob("*.md")))])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path, help="where the site goes (FOLDER/site)")
    options = parser.parse_args()
    if shutil.which("mkdocs", path="/usr/bin") is None:
        print("mkdocs is not installed (scripts/packages.txt)", file=sys.stderr)
        return 77
    source = options.folder / "source"
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    copy_docs(source)
    navigation = write_reference(source, model.Reference())
    learning, looking_up = pages_navigation()
    (source / "extra.css").write_text(STYLE)
    settings = ["site_name: softtpu", "docs_dir: source", "site_dir: site", "use_directory_urls: false", "theme:\n  name: readthedocs\n  highlightjs: false\n  navigation_depth: 2",
                "extra_css: [extra.css]", "plugins: [search]", "nav:", "  - Home: index.md", *learning, *navigation, *looking_up]
    (options.folder / "mkdocs.yml").write_text("\n".join(settings) + "\n")
    environment = {**os.environ, "PATH": "/usr/bin:/bin"}
    done = subprocess.run(["mkdocs", "build", "-q", "-f", options.folder / "mkdocs.yml"], env=environment, capture_output=True, text=True, check=False)
    print("\n".join(line for line in (done.stdout + done.stderr).split("\n") if "WARNING" in line or "ERROR" in line or done.returncode))
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
