"""Layouts of tensors: drawn, and convolution weights and packed batches in the chip's order (libsofttpu_layout).

>>> from softtpu import layout
>>> picture = layout.draw((1, 4, 2, 3), dtype="fp16", npus=4)
>>> picture._repr_svg_().startswith("<svg")
True
"""
import ctypes
import pathlib
import subprocess

import numpy as np

from . import _api, _native
from ._temporary import temporary_folder
from .errors import Error

# Input channels side by side, as softtpu/layout.h names them.
IC_PACKS = {"1ic": 1, "2ic": 2, "32ic": 32, "64ic": 64}


class Picture:
    """Where a tensor's elements lie: text when it is printed, a drawing in a notebook."""

    def __init__(self, text, svg):
        self.text, self.svg = text, svg

    def __str__(self):
        return self.text

    def __repr__(self):
        return self.text

    def _repr_svg_(self):
        return self.svg

    def save(self, path):
        """Writes the drawing as an SVG file."""
        pathlib.Path(path).write_text(self.svg)


def draw(shape=None, *, chip=None, dtype=None, layout=None, **options):
    """Draws a layout as `softtpu layout` does, which lists the options: `stride=(...)`, `start_npu=3`, `banks=True`, ... The shape
    may be an Array, whose type is taken too."""
    if shape is not None and hasattr(shape, "shape"):
        array, shape = shape, shape.shape
        names = {"float32": "fp32", "float16": "fp16", "bfloat16": "bfp16", "float8_e4m3": "fp8e4m3", "float8_e5m2": "fp8e5m2"}
        dtype = dtype or names.get(str(getattr(array, "kind", array.dtype)), str(getattr(array, "kind", array.dtype)))
        chip = chip or (array.device.chip if hasattr(array, "device") else None)
        shape = (1,) * (4 - len(shape)) + tuple(shape)
    given = {"shape": shape, "chip": chip, "dtype": dtype, "layout": layout, **options}
    command = [str(_native.program()), "layout"]
    for name, value in given.items():
        if value is None or value is False:
            continue
        command.append("--" + name.replace("_", "-"))
        if isinstance(value, dict):
            command += [f"{key}={one}" for key, one in value.items()]
        elif value is not True:
            command.append(",".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value))
    with temporary_folder("softtpu-layout-") as folder:
        svg = folder / "layout.svg"
        done = subprocess.run([*command, "-o", svg], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Error((done.stderr or done.stdout).strip())
        return Picture(done.stdout, svg.read_text())


def _fail():
    raise Error(_native.layout().softtpu_layout_error().decode())


def _pointer(array):
    return ctypes.c_void_p(array.ctypes.data)


class ConvBlock:
    """Convolution weights (oc, ic, kh, kw) in the chip's order, with the bias in front of each NPU's part unless `bias_bytes` is 0.

    >>> import numpy as np
    >>> weights = np.arange(8 * 4 * 3 * 3, dtype=np.float16).reshape(8, 4, 3, 3)
    >>> block = ConvBlock(weights.shape, ic_pack="32ic", element_bytes=2, bias_bytes=4)
    >>> merged = block.merge(weights, np.zeros(8, np.float32))
    >>> back, bias = block.split(merged, np.float16, np.float32)
    >>> bool((back == weights).all()), merged.nbytes == block.nbytes
    (True, True)
    """

    def __init__(self, shape, *, ic_pack, element_bytes, bias_bytes=0, npu_num=64, eu_bytes=64):
        oc, ic, kh, kw = shape
        self.shape = tuple(shape)
        self._block = _api.softtpu_conv_block(npu_num, eu_bytes, oc, ic, kh, kw, IC_PACKS.get(ic_pack, ic_pack), element_bytes,
                                              bias_bytes)
        self._lib = _native.layout()
        self.nbytes = self._size("bytes")

    def _size(self, what):
        found = getattr(self._lib, f"softtpu_conv_block_{what}")(ctypes.byref(self._block))
        return found or (_fail() if what != "weight_offset" else 0)

    @property
    def lanes(self):
        """NPUs that hold a part of the block."""
        return self._size("lanes")

    @property
    def lane_bytes(self):
        """Bytes of one NPU's part."""
        return self._size("lane_bytes")

    @property
    def weight_offset(self):
        """Where the weights begin in an NPU's part."""
        return self._size("weight_offset")

    def _call(self, function, *buffers):
        arguments = [item for buffer in buffers for item in (_pointer(buffer), buffer.nbytes)]
        if getattr(self._lib, function)(ctypes.byref(self._block), *arguments) != 0:
            _fail()

    def reorder(self, weights):
        """Weights alone in the chip's order, as bytes."""
        out = np.empty(self.nbytes, np.uint8)
        self._call("softtpu_conv_reorder", np.ascontiguousarray(weights), out)
        return out

    def restore(self, reordered, dtype):
        """What reorder() has reordered, as (oc, ic, kh, kw)."""
        weights = np.empty(self.shape, dtype)
        self._call("softtpu_conv_restore", np.ascontiguousarray(reordered), weights)
        return weights

    def merge(self, weights, bias):
        """Weights and bias as the block that one copy command loads, as bytes."""
        out = np.empty(self.nbytes, np.uint8)
        self._call("softtpu_conv_merge", np.ascontiguousarray(weights), np.ascontiguousarray(bias), out)
        return out

    def split(self, merged, dtype, bias_dtype):
        """Weights and bias of a block."""
        weights, bias = np.empty(self.shape, dtype), np.empty(self.shape[0], bias_dtype)
        self._call("softtpu_conv_split", np.ascontiguousarray(merged), weights, bias)
        return weights, bias


def _batch(shape, itemsize):
    if itemsize not in (1, 2):
        raise ValueError(f"elements of {itemsize} bytes are not packed: 1 and 2 are")
    return _api.softtpu_batch_words(*shape, 4 // itemsize)


def batch_pack(array):
    """BM1684's 4N and 2N modes: the elements of 4 (8 bits) or 2 (16 bits) batches in one 32-bit word. Gives (words, c, h, w).

    >>> import numpy as np
    >>> batch_pack(np.arange(4, dtype=np.uint8).reshape(4, 1, 1, 1)).tolist()
    [[[[50462976]]]]
    """
    plain = np.ascontiguousarray(array)
    tensor, lib = _batch(plain.shape, plain.itemsize), _native.layout()
    nbytes = lib.softtpu_batch_words_bytes(ctypes.byref(tensor)) or _fail()
    n, c, h, w = plain.shape
    words = np.empty((nbytes // (4 * c * h * w), c, h, w), np.uint32)
    if lib.softtpu_batch_pack(ctypes.byref(tensor), _pointer(plain), plain.nbytes, _pointer(words), words.nbytes) != 0:
        _fail()
    return words


def batch_unpack(words, shape, dtype):
    """What batch_pack() has packed, as an array of this shape and type."""
    words = np.ascontiguousarray(words)
    plain = np.empty(shape, dtype)
    tensor, lib = _batch(plain.shape, plain.itemsize), _native.layout()
    if lib.softtpu_batch_unpack(ctypes.byref(tensor), _pointer(words), words.nbytes, _pointer(plain), plain.nbytes) != 0:
        _fail()
    return plain
