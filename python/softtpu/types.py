"""Types of elements that numpy does not have: bfloat16 and two kinds of FP8.

They are kept as numpy integers of the same bits, or as ml_dtypes' types where that package is installed.

>>> import numpy as np
>>> from softtpu import types
>>> bits = types.encode(np.array([1.0, -2.5], np.float32), "bfloat16")
>>> [hex(b) for b in bits.view(np.uint16)]
['0x3f80', '0xc020']
>>> types.decode(bits, "bfloat16").tolist()
[1.0, -2.5]
"""
import functools
import json

import numpy as np

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

# Name -> bits of exponent and mantissa, and whether the greatest exponent has infinities (else one NaN only).
_FORMATS = {"bfloat16": (8, 7, True), "float8_e4m3": (4, 3, False), "float8_e5m2": (5, 2, True)}
_ALIASES = {"bf16": "bfloat16", "e4m3": "float8_e4m3", "float8_e4m3fn": "float8_e4m3", "fp8_e4m3": "float8_e4m3",
            "e5m2": "float8_e5m2", "fp8_e5m2": "float8_e5m2", "fp8e4m3": "float8_e4m3", "fp8e5m2": "float8_e5m2", "fp16": "float16", "fp32": "float32"}
_ML_NAMES = {"bfloat16": "bfloat16", "float8_e4m3": "float8_e4m3fn", "float8_e5m2": "float8_e5m2"}


class ElementType:
    """What an Array's elements are: `name`, `itemsize`, and `storage`, the numpy type of the same bits."""

    __slots__ = ("name", "storage")

    def __init__(self, name, storage):
        self.name, self.storage = name, np.dtype(storage)

    @property
    def itemsize(self):
        return self.storage.itemsize

    @property
    def is_small_float(self):
        """Whether numpy itself has no such type."""
        return self.name in _FORMATS

    def __eq__(self, other):
        if isinstance(other, ElementType):
            return self.name == other.name
        try:
            return self == element_type(other)
        except TypeError:
            return NotImplemented

    def __hash__(self):
        return hash(self.name)

    def __repr__(self):
        return self.name


def _bits_type(name):
    return np.dtype(np.uint16 if name == "bfloat16" else np.uint8)


def _of_ml_dtypes(name):
    return np.dtype(getattr(ml_dtypes, _ML_NAMES[name])) if ml_dtypes is not None else None


def element_type(what):
    """The ElementType that a name, a numpy type or an ElementType stands for.

    >>> element_type("fp16"), element_type(np.int8), element_type("bf16").itemsize
    (float16, int8, 2)
    """
    if isinstance(what, ElementType):
        return what
    name = what if isinstance(what, str) else None
    name = _ALIASES.get(name, name)
    if name in _FORMATS:
        return ElementType(name, _of_ml_dtypes(name) or _bits_type(name))
    try:
        dtype = np.dtype(name if name is not None else what)
    except TypeError:
        raise TypeError(f"{what!r} is no type of elements") from None
    for small, ml_name in _ML_NAMES.items():
        if dtype.name == ml_name:
            return ElementType(small, dtype)
    if dtype.hasobject or dtype.itemsize == 0:
        raise TypeError(f"elements of type {dtype} cannot be on a device")
    return ElementType(dtype.name if not dtype.fields else str(dtype), dtype.newbyteorder("=") if dtype.byteorder == ">" else dtype)


@functools.lru_cache(maxsize=None)
def _values(name):
    """What each pattern of bits stands for."""
    exponent_bits, mantissa_bits, has_infinity = _FORMATS[name]
    bits = np.arange(1 << (1 + exponent_bits + mantissa_bits))
    mantissa = bits & ((1 << mantissa_bits) - 1)
    exponent = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1)
    bias = (1 << (exponent_bits - 1)) - 1
    normal = np.ldexp(1.0 + mantissa / (1 << mantissa_bits), exponent - bias)
    value = np.where(exponent == 0, np.ldexp(mantissa / (1 << mantissa_bits), 1 - bias), normal)
    top = exponent == (1 << exponent_bits) - 1
    if has_infinity:
        value = np.where(top, np.where(mantissa == 0, np.inf, np.nan), value)
    else:
        value = np.where(top & (mantissa == (1 << mantissa_bits) - 1), np.nan, value)
    return np.where(bits >> (exponent_bits + mantissa_bits), -value, value).astype(np.float32)


def decode(array, name):
    """float32 values of elements that are given as bits or as ml_dtypes' type."""
    name = _ALIASES.get(name, name)
    return _values(name)[np.asarray(array).view(_bits_type(name))]


def _encode_bfloat16(values):
    bits = np.asarray(values, np.float32, order="C").view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    quiet = (bits >> 16) | 0x40  # rounding would make an infinity of some NaNs
    return np.where((bits & 0x7FFFFFFF) > 0x7F800000, quiet, rounded).astype(np.uint16)


def _encode_fp8(values, name):
    table = _values(name)[:128]
    last = int(np.flatnonzero(np.isfinite(table))[-1])
    magnitude = np.abs(np.asarray(values, np.float64))
    finite = table[:last + 1].astype(np.float64)
    # Beyond the last finite number by half a step or more lies infinity, or NaN where there is none.
    edges = np.append((finite[:-1] + finite[1:]) / 2, finite[-1] + (finite[-1] - finite[-2]) / 2)
    code = np.searchsorted(edges, magnitude, side="left")
    on_edge = (code < edges.size) & (edges[np.minimum(code, edges.size - 1)] == magnitude)
    code = np.where(on_edge & (code % 2 == 1), code + 1, code)
    infinity = last + 1
    code = np.where(np.isnan(magnitude), 0x7F, np.minimum(code, infinity))
    return (code | np.where(np.signbit(values), 0x80, 0)).astype(np.uint8)


def encode(values, name):
    """Rounds numbers to the nearest of the type, ties to even. Gives bits, or ml_dtypes' type where that is installed."""
    name = _ALIASES.get(name, name)
    values = np.asarray(values, np.float32)
    bits = _encode_bfloat16(values) if name == "bfloat16" else _encode_fp8(values, name)
    return bits.reshape(values.shape).view(element_type(name).storage)


def as_storage(values, what):
    """An array of numbers as contiguous elements of the type, without a copy where it is of that type already."""
    kind = element_type(what)
    array = np.asarray(values)
    if kind.is_small_float and array.dtype != kind.storage and array.dtype != _bits_type(kind.name):
        return encode(array, kind.name)
    if kind.is_small_float:
        return np.asarray(array, order="C").view(kind.storage)
    return np.asarray(array, kind.storage, order="C")


def load_npy(path):
    """The array of a NumPy file that `softtpu dump` has written. Such a file holds FP8 as bytes; the array has ml_dtypes' type
    where that package is installed, else the bits, of which `decode(array, name)` makes numbers.

    The file PATH.json says which type the bytes are."""
    array = np.load(path)
    try:
        with open(f"{path}.json", encoding="utf-8") as file:
            note = json.load(file)
    except FileNotFoundError:
        return array
    if not isinstance(note, dict) or note.get("format") != "softtpu-npy-type-1":
        return array  # not a file of softtpu
    kind = element_type(note.get("type"))
    if list(array.shape) != note.get("shape") or array.dtype != _bits_type(kind.name):
        raise ValueError(f"{path}.json is not about {path}: it says {kind} of shape {note.get('shape')}, the file holds {array.dtype} of shape {list(array.shape)}")
    return array.view(kind.storage)
