"""python -m softtpu: the command softtpu."""
import os
import sys

from . import _native
from .errors import Error


def main():
    """Becomes the command, with the same arguments."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["golden"] and any(word.split("=")[0] == "--cluster" for word in arguments):
        from . import golden
        return golden.main(arguments[1:])
    if arguments[:1] == ["try"]:
        from . import trial
        return trial.main(arguments[1:])
    if arguments[:2] == ["bmodel", "compare"]:
        os.environ.setdefault("SOFTTPU_PYTHON", sys.executable)  # the command comes back to softtpu.compare
    try:
        path = _native.program("softtpu")
    except Error as problem:
        print(f"softtpu: {problem}", file=sys.stderr)
        return 1
    os.execv(path, ["softtpu", *sys.argv[1:]])
    return 0


if __name__ == "__main__":
    sys.exit(main())
