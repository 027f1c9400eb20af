"""The recorded corpora that scripts work with (tests/replay/corpora.txt)."""
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent


def folders(golden):
    """The folders below `golden` that the list names."""
    lines = (ROOT / "tests/replay/corpora.txt").read_text().splitlines()
    return [golden / line for line in lines if line and not line.startswith("#")]


def passing_families(golden):
    """The families of newer corpora that pass as a whole (tests/replay/families.txt): (folder, its files) of each corpus."""
    lines = (ROOT / "tests/replay/families.txt").read_text().splitlines()
    names = [line for line in lines if line and not line.startswith("#")]
    for folder in sorted({name.split("/")[0] for name in names}):
        yield golden / folder, [golden / f"{name}.json" for name in names if name.startswith(folder + "/")]
