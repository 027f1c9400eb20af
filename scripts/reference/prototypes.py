"""The prototypes of C headers, for the reference and for tests that call every function."""
import dataclasses
import pathlib
import re

PROTOTYPE = re.compile(r"^(?!typedef|static|inline|  )([a-zA-Z_][\w *]*?[ *])(\w+)\(((?:[^()]|\([^()]*\))*)\)(?:\s*__attribute__[^;]*)?;", re.M)


@dataclasses.dataclass
class Prototype:
    name: str
    returns: str
    parameters: list  # (type, name)
    header: str

    @property
    def include(self):
        """What a program includes for it."""
        name = self.header.split("include/")[1]
        return "tpu_kernel.h" if name.startswith("softtpu/tpu_") else name

    def text(self, width=100):
        """The declaration, broken between parameters."""
        start = f"{self.returns} {self.name}("
        parts = [kind if name == "..." or "(*" in kind else f"{kind} {name}" for kind, name in self.parameters] or ["void"]
        lines, line = [], start
        for i, part in enumerate(parts):
            piece = part + (", " if i + 1 < len(parts) else ")")
            if len(line + piece) > width and line.strip() != start:
                lines.append(line.rstrip())
                line = "    "
            line += piece
        return "\n".join(lines + [line.rstrip()])


def prototypes(path, header=""):
    """Each public function of a header; `header` is its name in the tree."""
    text = re.sub(r"/\*.*?\*/", "", pathlib.Path(path).read_text(), flags=re.S)
    # What C++ programs have besides is not described, nor are defaults.
    text = re.sub(r"^#ifdef __cplusplus\n(?:(?!^#).*\n)*#endif", "", text, flags=re.M)
    text = re.sub(r" [A-Z]+_DEFAULT\(\w+\)(?=[,)])", "", text)
    text = re.sub(r"^#.*(?:\\\n.*)*", "", text, flags=re.M)
    for match in PROTOTYPE.finditer(text):
        name, inside = match[2], " ".join(match[3].split())
        parameters = []
        for part in [] if inside == "void" else re.split(r", (?![^(]*\))", inside):
            if part == "...":
                parameters.append(("...", "..."))
                continue
            if "(*" in part:
                parameters.append((part, re.search(r"\(\*(\w+)\)", part)[1]))
                continue
            kind, parameter = re.fullmatch(r"(.*[ *])(\w+)(?:\[\d*\])?", part).groups()
            parameters.append((kind.strip(), parameter))
        yield Prototype(name, match[1].strip(), parameters, header)
