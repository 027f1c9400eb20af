"""Where softtpu's libraries and programs are, and calls of the libraries.

Looked for, in this order: inside the package (a wheel), below SOFTTPU_PREFIX, in a build tree of the checkout that holds this
file, below the prefix that this package is installed in, in the system's folders.
"""
import ctypes
import json
import os
import pathlib
import sys
import sysconfig
import threading
import weakref

from . import _api
from .errors import Error

_PACKAGE = pathlib.Path(__file__).resolve().parent
_LIBRARY = "libbmlib.so"


class _Tree:
    """A tree with bin/, lib/ and the folders of headers."""

    def __init__(self, bin_folder, lib_folder, includes):
        self.bin, self.lib, self.includes = bin_folder, lib_folder, includes


def _prefix_tree(prefix):
    names = ["lib", "lib64"]
    multiarch = sysconfig.get_config_var("MULTIARCH")
    if multiarch:
        names.insert(0, "lib/" + multiarch)
    for name in names:
        if (prefix / name / _LIBRARY).exists():
            return _Tree(prefix / "bin", prefix / name, _sources_of(prefix) or [prefix / "include"])
    return None


def _source_folders(checkout):
    return [checkout / "firmware/include", checkout / "host/include"]


def _sources_of(build):
    """The folders of headers that a build tree was made from; None: it is an installed tree."""
    try:
        lines = (build / "CMakeCache.txt").read_text().splitlines()
    except OSError:
        return None
    key = "softtpu_SOURCE_DIR:STATIC="
    return next((_source_folders(pathlib.Path(line[len(key):])) for line in lines if line.startswith(key)), None)


def _build_tree():
    checkout = _PACKAGE.parent.parent
    sources = _source_folders(checkout)
    if not all(folder.is_dir() for folder in sources):
        return None
    built = [folder for folder in (checkout / "build").glob("*") if (folder / "lib" / _LIBRARY).exists()]
    # The release first: its programs are the fastest. Sanitizers' libraries cannot be loaded into this process.
    order = {"release": 0, "dev": 1, "clang": 2}
    built = sorted((folder for folder in built if folder.name in order), key=lambda folder: order[folder.name])
    return _Tree(built[0] / "bin", built[0] / "lib", sources) if built else None


def _find_tree():
    bundled = _prefix_tree(_PACKAGE / "_native")
    if bundled:
        return bundled
    prefix = os.environ.get("SOFTTPU_PREFIX")
    if prefix:
        tree = _prefix_tree(pathlib.Path(prefix).absolute())
        if tree is None:
            raise Error(f"SOFTTPU_PREFIX={prefix}: {_LIBRARY} is not in its lib folder.")
        return tree
    tree = _build_tree()
    if tree:
        return tree
    for place in (sys.prefix, "/usr/local", "/usr"):
        tree = _prefix_tree(pathlib.Path(place))
        if tree:
            return tree
    raise Error(f"{_LIBRARY} is not found. Set SOFTTPU_PREFIX to the prefix that softtpu is installed in, "
                "or build it (scripts/build release).")


_lock = threading.RLock()
_tree = None
_loaded = {}


def tree():
    """The tree that is used, which is looked for once."""
    global _tree
    with _lock:
        if _tree is None:
            _tree = _find_tree()
        return _tree


def _load(name, functions):
    with _lock:
        if name in _loaded:
            return _loaded[name]
        path = tree().lib / name
        try:
            library = ctypes.CDLL(str(path))
        except OSError as problem:
            raise Error(f"{path} cannot be loaded: {problem}") from None
        for function, (result, parameters) in functions.items():
            found = getattr(library, function, None)
            if found is None:
                if function.startswith("softtpu_"):
                    raise Error(f"{path} has no {function}: it belongs to another version of softtpu than this package.")
                continue
            found.restype, found.argtypes = result, parameters
        _loaded[name] = library
        return library


def bmlib():
    """libbmlib.so. What it would print about errors is in exceptions instead, unless BMLIB_LOG asks for it."""
    fresh = _LIBRARY not in _loaded
    library = _load(_LIBRARY, _api.BMLIB)
    if fresh and not os.environ.get("BMLIB_LOG"):
        library.bmlib_log_set_level(_api.BMLIB_LOG_QUIET)
    return library


def layout():
    """libsofttpu_layout.so."""
    return _load("libsofttpu_layout.so", _api.LAYOUT)


def program(name="softtpu"):
    """The path of one of softtpu's programs."""
    path = tree().bin / name
    if not os.access(path, os.X_OK):
        raise Error(f"{path} is not a program.")
    return path


_owned = {}


class Owned:
    """What a call of the library puts into `slot` and `free` gives back, at the latest when nothing holds this any more: also when
    Ctrl-C has come before the owner got it, or while it was given back."""

    def __init__(self, free):
        _free_lost()
        self.slot, self._free = ctypes.c_void_p(), free
        _owned[id(self.slot)] = (weakref.ref(self), self.slot, free)

    @property
    def _as_parameter_(self):
        return self.slot

    def close(self, owned=_owned):  # bound here: the module may be gone before the last of these
        if self.slot.value:
            self._free(self.slot)  # giving back twice is refused, not giving back would be for ever
            self.slot.value = None
        owned.pop(id(self.slot), None)

    def __del__(self):
        self.close()


def _free_lost():
    """Those whose end Ctrl-C has cut off."""
    for key, (owner, slot, free) in list(_owned.items()):
        if owner() is None:
            if slot.value:
                free(slot)
                slot.value = None
            _owned.pop(key, None)


def last_failure():
    """What this thread's last failed call has said, as a dictionary (softtpu_last_failure())."""
    return json.loads(bmlib().softtpu_last_failure().decode("utf-8", "replace"))


def check(status):
    """Raises the thread's last failure unless the status is success."""
    if status != _api.BM_SUCCESS:
        raise Error.of_status(status, last_failure())


def to_text(name):
    """A name as text. Bytes that are no UTF-8 become what to_bytes() turns back into them, as in the names of files."""
    return name.decode("utf-8", "surrogateescape")


def to_bytes(name):
    return name.encode("utf-8", "surrogateescape")


def take_text(pointer):
    """The text behind a pointer that a call has returned, which is given back."""
    if not pointer:
        failure = last_failure()
        raise Error.of_status(failure.get("status", _api.BM_ERR_NOMEM), failure)
    try:
        return ctypes.string_at(pointer).decode("utf-8", "replace")
    finally:
        bmlib().softtpu_free(pointer)


def take_json(pointer):
    return json.loads(take_text(pointer))
