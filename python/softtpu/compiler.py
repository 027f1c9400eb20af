"""Compiles kernels into modules, and caches the modules by what they were made from."""
import hashlib
import os
import pathlib
import shlex
import shutil
import subprocess
import tempfile

from . import _native
from .errors import CompileError

# As cmake/SofttpuKernel.cmake compiles them, and optimised.
FLAGS = ("-g", "-O2", "-fPIC", "-fsigned-char", "-ffp-contract=off", "-DUSING_CMODEL")
_CPLUSPLUS = {".cc", ".cpp", ".cxx", ".C"}


def cache_folder():
    """Where compiled modules are kept: $SOFTTPU_CACHE, else softtpu/ in the user's cache folder."""
    own = os.environ.get("SOFTTPU_CACHE")
    base = pathlib.Path(own) if own else pathlib.Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "softtpu"
    return base / "kernels"


def compile(source, *, flags=(), compiler=None, name=None):
    """Compiles the file or text into a module and returns its path. The same input, compiler and headers give the same file
    again without compiling."""
    flags = shlex.split(flags) if isinstance(flags, str) else [os.fspath(flag) for flag in flags]
    is_text = isinstance(source, str) and "\n" in source
    if is_text:
        path = _keep_text(source, name or "kernel")
    else:
        path = pathlib.Path(source).absolute()
        if not path.is_file():
            raise CompileError(f"{path} is no file. (Text of a kernel has more than one line.)")
    command = shlex.split(compiler) if compiler else _default_compiler(path)
    tree = _native.tree()
    common = [*command, *FLAGS, *(f"-I{folder}" for folder in tree.includes), *flags]
    text = _run([*common, "-E", str(path)], path)
    key = hashlib.sha256("\0".join([_version(command), *map(str, common), str(tree.lib)]).encode() + b"\0" + text).hexdigest()
    target = cache_folder() / key[:2] / key / f"{name or path.stem}.so"
    if not target.exists():
        _build([*common, "-shared", str(path), f"-L{tree.lib}", "-lcmodel_firmware", "-lm", "-Wl,--no-undefined"], path, target)
    return target


def _keep_text(text, name):
    """A file for a text, so that messages and debuggers can show its lines."""
    key = hashlib.sha256(text.encode()).hexdigest()
    path = cache_folder() / "sources" / key / f"{name}.c"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        _put(path, lambda place: place.write_text(text))
    return path


def _default_compiler(path):
    variable, fallback = ("CXX", "g++") if path.suffix in _CPLUSPLUS else ("CC", "gcc")
    command = shlex.split(os.environ.get(variable) or fallback)
    if shutil.which(command[0]) is None:
        raise CompileError(f"the compiler {command[0]!r} is not installed; ${variable} can name another one. A module that is "
                           "compiled elsewhere is loaded with Device.load().")
    return command


_versions = {}


def _version(command):
    key = tuple(command)
    if key not in _versions:
        try:
            _versions[key] = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True).stdout.split("\n")[0]
        except (OSError, subprocess.CalledProcessError) as problem:
            raise CompileError(f"the compiler {shlex.join(command)!r} cannot be run: {problem}") from None
    return _versions[key]


def _run(command, path):
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except OSError as problem:
        raise CompileError(f"the compiler {command[0]!r} cannot be run: {problem}") from None
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace")
        raise CompileError(f"{path.name} does not compile:\n{said}", said)
    return done.stdout


def _build(command, path, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    _put(target, lambda place: _run([*command, "-o", str(place)], path))


def _put(path, make):
    """Makes a file that others see whole or not at all. One that is there by now stays: its content is the same, and another process
    may have it open already."""
    handle, place = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=path.suffix)
    os.close(handle)
    try:
        make(pathlib.Path(place))
        try:
            os.link(place, path)
        except FileExistsError:
            pass
        except OSError:  # a file system without links
            os.replace(place, path)
    finally:
        pathlib.Path(place).unlink(missing_ok=True)
