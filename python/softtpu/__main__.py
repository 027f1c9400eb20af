"""python -m softtpu: the command softtpu."""
import os
import sys

from . import _native
from .errors import Error


def main():
    """Becomes the command, with the same arguments."""
    try:
        path = _native.program("softtpu")
    except Error as problem:
        print(f"softtpu: {problem}", file=sys.stderr)
        return 1
    os.execv(path, ["softtpu", *sys.argv[1:]])
    return 0


if __name__ == "__main__":
    sys.exit(main())
