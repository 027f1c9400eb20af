"""The Python that stands beside the formulas of docs/numerics, as one namespace."""
import pathlib
import re
import types

import numpy as np

PAGES = pathlib.Path(__file__).resolve().parent.parent.parent / "docs/numerics"


def load(*names):
    """Runs the ```python blocks of pages in order."""
    space = types.SimpleNamespace(np=np)
    for name in names:
        blocks = re.findall(r"^```python\n(.*?)^```$", (PAGES / f"{name}.md").read_text(), re.M | re.S)
        assert blocks, f"{name}.md has no Python"
        for block in blocks:
            exec(compile(block, f"docs/numerics/{name}.md", "exec"), space.__dict__)
    return space
