"""Files that scripts generate."""
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent


def write_or_check(path, text, check, script):
    """Writes the file, or with `check` compares it: the exit status of a script."""
    if not check:
        path.write_text(text)
    elif not path.exists() or path.read_text() != text:
        print(f"{path.relative_to(ROOT)} is not current; run scripts/{script}")
        return 1
    return 0
