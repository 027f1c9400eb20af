#!/usr/bin/env python3
"""Draws docs/pictures/folders.svg: which folder includes which, read from the sources, with every arrow downwards.

An arrow that others imply is left out. A circle cannot be drawn: it is printed, and the script ends with 1. --check compares instead of
writing (ctest runs that)."""
import importlib.util
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs/pictures/folders.svg"
LEFT_OUT = ("tests", "samples")
FAMILIES = "device/engines/bdc/"
# Rows of the include table that are one box in the picture.
BOXES = {"device/engines/dma/": "device/engines/dma", "device/engines/hau/": "device/engines/hau", FAMILIES: "device/engines/bdc",
         "device/engines/command.hpp": "device/engines", "device/engines/cost.hpp": "device/engines"}
CHARACTER, HEIGHT, GAP, LEVEL, MARGIN = 7.3, 26, 18, 62, 24


def include_table():
    spec = importlib.util.spec_from_file_location("check_includes", ROOT / "scripts/check_includes.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def box_of(row):
    return next((box for prefix, box in BOXES.items() if row.startswith(prefix)), row)


def arrows(table, box):
    """box -> the boxes that its files include. Boxes are what box() makes of rows of the include table; None leaves a row out."""
    found = {}
    for folder in ("device", "firmware", "host", "runtime", "tools"):
        for file in sorted((ROOT / folder).rglob("*")):
            row = table.rule_of(file.relative_to(ROOT).as_posix())
            if file.suffix not in (".hpp", ".cpp", ".h", ".c") or row is None or box(row) is None:
                continue
            below = found.setdefault(box(row), set())
            for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', file.read_text(errors="replace"), flags=re.M):
                target = table.rule_of(name) if (ROOT / name).exists() else None
                if target and not target.startswith(LEFT_OUT) and box(target) not in (None, box(row)):
                    below.add(box(target))
    for targets in list(found.values()):
        for target in targets:
            found.setdefault(target, set())
    return found


def levels(graph):
    """How far each box stands above the lowest ones. A circle of arrows is a ValueError with one of its boxes."""
    level, open_boxes = {}, set()

    def visit(box):
        if box in open_boxes:
            raise ValueError(box)
        if box not in level:
            open_boxes.add(box)
            level[box] = max((visit(below) + 1 for below in graph[box]), default=0)
            open_boxes.discard(box)
        return level[box]

    for box in sorted(graph):
        visit(box)
    return level


def without_implied(graph):
    def reached(box):
        return {box}.union(*(reached(below) for below in graph[box]))

    return {box: {below for below in targets if not any(below in reached(other) for other in targets - {below})} for box, targets in graph.items()}


class Drawing:
    """Boxes in levels; an arrow over several levels has a bend in each."""

    def __init__(self, graph, short):
        level = levels(graph)
        self.lines = []
        self.rows = [[] for _ in range(max(level.values()) + 1)]
        self.label = {box: short(box) for box in graph}
        for box in sorted(graph):
            self.rows[level[box]].append(box)
        self.steps = []  # pairs of neighbours in levels
        self.ways = []
        for box, targets in sorted(without_implied(graph).items()):
            for below in sorted(targets):
                bends = [(box, below, i) for i in range(level[box] - 1, level[below], -1)]
                for bend in bends:
                    self.rows[bend[2]].append(bend)
                way = [box, *bends, below]
                self.ways.append(way)
                self.steps += list(zip(way, way[1:]))
        self.place()

    def width(self, item):
        return CHARACTER * len(self.label[item]) + 16 if item in self.label else 6

    def spread(self, row, wished):
        """Centres of a row's items, near where they want to be and apart."""
        order = sorted(row, key=lambda item: (wished[item], str(item)))
        centres, right = {}, None
        for item in order:
            least = wished[item] if right is None else max(wished[item], right + GAP + self.width(item) / 2)
            centres[item] = least
            right = least + self.width(item) / 2
        shift = sum(wished[item] - centres[item] for item in order) / len(order)
        return {item: centre + shift for item, centre in centres.items()}

    def place(self):
        self.x = {}
        for row in self.rows:
            at = 0
            for item in row:
                self.x[item] = at + self.width(item) / 2
                at += self.width(item) + GAP
        for turn in range(60):
            for row in self.rows if turn % 2 else reversed(self.rows):
                wished = {}
                for item in row:
                    near = [b if a == item else a for a, b in self.steps if item in (a, b)]
                    wished[item] = sum(self.x[other] for other in near) / len(near) if near else self.x[item]
                self.x.update(self.spread(row, wished))
        left = min(self.x[item] - self.width(item) / 2 for row in self.rows for item in row)
        self.x = {item: round(x - left, 1) for item, x in self.x.items()}
        self.y = {item: (len(self.rows) - 1 - number) * LEVEL for number, row in enumerate(self.rows) for item in row}
        self.size = (max(self.x[item] + self.width(item) / 2 for row in self.rows for item in row), (len(self.rows) - 1) * LEVEL + HEIGHT)

    def svg(self, left, top):
        lines = []
        for way in self.ways:
            path = []
            for a, b in zip(way, way[1:]):
                x0, y0 = left + self.x[a], top + self.y[a] + (HEIGHT if a in self.label else HEIGHT / 2)
                x1, y1 = left + self.x[b], top + self.y[b] + (0 if b in self.label else HEIGHT / 2)
                middle = (y0 + y1) / 2
                path.append(("M%.1f %.1f" % (x0, y0) if not path else "") + " C%.1f %.1f %.1f %.1f %.1f %.1f" % (x0, middle, x1, middle, x1, y1))
            lines.append(f'<path d="{"".join(path)}" class="arrow" marker-end="url(#tip)"/>')
        for item, label in self.label.items():
            width = self.width(item)
            lines.append('<rect x="%.1f" y="%.1f" width="%.1f" height="%d" rx="5" class="box"/>' % (left + self.x[item] - width / 2, top + self.y[item], width, HEIGHT))
            lines.append('<text x="%.1f" y="%.1f">%s</text>' % (left + self.x[item], top + self.y[item] + 17.5, label))
        return lines


def picture(table):
    whole = Drawing(arrows(table, lambda row: None if row.startswith(LEFT_OUT) else box_of(row)), lambda box: box)
    families = Drawing(arrows(table, lambda row: row if row.startswith(FAMILIES) else None), lambda box: box.removeprefix(FAMILIES))
    title = 30
    width = max(whole.size[0], families.size[0]) + 2 * MARGIN
    second = MARGIN + title + whole.size[1] + 2 * MARGIN
    height = second + title + families.size[1] + MARGIN
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" font-family="monospace" font-size="12" text-anchor="middle">',
             '<title>Which folder includes which</title>',
             '<style>.box{fill:#eef3fa;stroke:#4a6a94}.arrow{fill:none;stroke:#7a8aa0;stroke-width:1.2}.name{font-family:sans-serif;font-size:15px;text-anchor:start}</style>',
             '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="#7a8aa0"/></marker></defs>',
             f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>',
             f'<text x="{MARGIN}" y="{MARGIN + 8}" class="name">Folders: an arrow goes to what is included</text>',
             *whole.svg(MARGIN, MARGIN + title),
             f'<text x="{MARGIN}" y="{second + 8}" class="name">{FAMILIES}: one folder for each family of commands</text>',
             *families.svg(MARGIN, second + title), "</svg>"]
    return "\n".join(lines) + "\n"


def main():
    try:
        drawn = picture(include_table())
    except ValueError as circle:
        print(f"folder_picture: a circle of includes leads from {circle} back to it")
        return 1
    if "--check" not in sys.argv[1:]:
        PICTURE.write_text(drawn)
    elif not PICTURE.exists() or PICTURE.read_text() != drawn:
        print("docs/pictures/folders.svg is not current: run scripts/folder_picture.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
