"""The recorded corpora that scripts work with (tests/replay/corpora.txt)."""
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent


def folders(golden):
    """The folders below `golden` that the list names."""
    lines = (ROOT / "tests/replay/corpora.txt").read_text().splitlines()
    return [golden / line for line in lines if line and not line.startswith("#")]
