"""softtpu: kernels for SOPHGO TPUs, launched from Python on an emulated chip.

    import numpy as np, softtpu
    dev = softtpu.Device(check="all", time=True)
    mod = dev.compile("add_kernel.c")
    a = dev.array(np.random.rand(1 << 16).astype(np.float32))
    b = dev.array(np.random.rand(1 << 16).astype(np.float32))
    out = dev.empty_like(a)
    result = mod.add(out, a, b, a.size)
    print(out.numpy(), result.estimated_us, result.findings)

Everything happens in libbmlib and the processes behind it; this package brings arguments and results into Python's form.
"""
from . import layout, runner, types
from ._version import __version__
from .array import Array
from .compiler import compile
from .device import Device, Future, Kernel, Module, Stream
from .errors import ArgumentError, CompileError, Error, FindingsError, LaunchError
from .report import Finding, Result
from .runner import Output, Typed
from .types import decode, encode

__all__ = ["Array", "ArgumentError", "CompileError", "Device", "Error", "Finding", "FindingsError", "Future", "Kernel", "Output", "Typed", "runner",
           "LaunchError", "Module", "Result", "Stream", "compile", "decode", "encode", "layout", "types", "__version__"]
