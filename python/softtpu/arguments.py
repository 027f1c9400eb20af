"""Packs the arguments of a launch into the struct that the kernel reads."""
import ctypes
import keyword
import numbers
import struct

import numpy as np

from .array import Array
from .errors import ArgumentError

_ALIGN = 4  # the size of an argument block is a multiple of this


class Member:
    """One member of the struct, as softtpu_argument_layout() describes it."""

    __slots__ = ("name", "type", "kind", "offset", "bytes", "counts", "members")

    def __init__(self, name, type, kind, offset, bytes, counts=(), members=()):
        self.name, self.type, self.kind, self.offset, self.bytes = name, type, kind, offset, bytes
        self.counts = tuple(counts)
        self.members = [Member(**member) for member in members]

    @property
    def elements(self):
        return int(np.prod(self.counts, dtype=np.int64)) if self.counts else 1

    def __str__(self):
        return self.type + "".join(f"[{count}]" for count in self.counts)


class Layout:
    """The struct of a kernel's arguments: `type`, `bytes` and `members`."""

    def __init__(self, type, bytes, members):
        self.type, self.bytes = type, bytes
        self.members = [member if isinstance(member, Member) else Member(**member) for member in members]

    def signature(self):
        """How a call looks: "(out: u64, a: u64, count: int)"."""
        return "(" + ", ".join(f"{member.name}: {member}" for member in self.members) + ")"

    @staticmethod
    def of(what):
        """From what a user gives: a ctypes struct's class, a numpy record type, or a format as of the module struct."""
        if isinstance(what, Layout):
            return what
        if isinstance(what, type) and issubclass(what, ctypes.Structure):
            return Layout(what.__name__, ctypes.sizeof(what), _members_of_ctypes(what))
        if isinstance(what, str) and not what.startswith(("{", "[")):
            return _layout_of_format(what)
        dtype = np.dtype(what)
        if not dtype.fields:
            raise TypeError(f"{dtype} is no record type: it has no members")
        return Layout("numpy record", dtype.itemsize, _members_of_dtype(dtype))


_NUMPY_KINDS = {"i": "signed", "u": "unsigned", "f": "float", "b": "bool"}


def _scalar_of_dtype(name, dtype, offset):
    counts = dtype.shape
    dtype = dtype.base
    if dtype.fields:
        return _make(name, "struct", "struct", offset, dtype.itemsize, counts, _members_of_dtype(dtype))
    if dtype.kind not in _NUMPY_KINDS:
        raise TypeError(f"member {name} of type {dtype} cannot be an argument")
    return _make(name, dtype.name, _NUMPY_KINDS[dtype.kind], offset, dtype.itemsize, counts)


def _members_of_dtype(dtype):
    return [_scalar_of_dtype(name, dtype.fields[name][0], dtype.fields[name][1]) for name in dtype.names]


def _make(name, type_name, kind, offset, nbytes, counts=(), members=()):
    made = Member(name, type_name, kind, offset, nbytes, counts)
    made.members = list(members)
    return made


def _members_of_ctypes(structure):
    members = []
    for name, kind, *bits in structure._fields_:
        if bits:
            raise TypeError(f"member {name} is a bit field, which is not supported: pass bytes")
        counts = []
        while issubclass(kind, ctypes.Array):
            counts.append(kind._length_)
            kind = kind._type_
        offset = getattr(structure, name).offset
        if issubclass(kind, ctypes.Structure):
            members.append(_make(name, kind.__name__, "struct", offset, ctypes.sizeof(kind), counts, _members_of_ctypes(kind)))
        elif issubclass(kind, ctypes.Union):
            members.append(_make(name, kind.__name__, "union", offset, ctypes.sizeof(kind), counts, _members_of_ctypes(kind)))
        elif kind is ctypes.c_void_p:
            members.append(_make(name, "pointer", "pointer", offset, 8, counts))
        elif kind is ctypes.c_char:
            members.append(_make(name, "char", "signed", offset, 1, counts))
        else:
            scalar = _scalar_of_dtype(name, np.dtype(kind), offset)
            scalar.counts = tuple(counts)
            members.append(scalar)
    return members


def _layout_of_format(text):
    kinds = {**dict.fromkeys("bhilqn", "signed"), **dict.fromkeys("BHILQN", "unsigned"), **dict.fromkeys("efd", "float"),
             "?": "bool", "P": "pointer"}
    order = text[0] if text[:1] in "@=<" else "@"
    members, offset, count = [], 0, ""
    for letter in text.lstrip("@=<").replace(" ", ""):
        if letter.isdigit():
            count += letter
            continue
        if letter == "x":
            offset += int(count or 1)
            count = ""
            continue
        if letter not in kinds:
            raise TypeError(f"format {text!r}: {letter!r} is no letter for a number")
        size = struct.calcsize((order if order != "@" else "") + letter)
        for _ in range(int(count or 1)):
            if order == "@":
                offset = -(-offset // size) * size
            members.append(_make(f"#{len(members)}", letter, kinds[letter], offset, size))
            offset += size
        count = ""
    largest = max((member.bytes for member in members), default=1) if order == "@" else 1
    return Layout(f"format {text}", -(-offset // largest) * largest, members)


class Packer:
    """Packs calls of one kernel. What does not fit is an ArgumentError that names the member."""

    def __init__(self, kernel, layout, device):
        self._kernel, self._layout, self._device = kernel, layout, device

    def pack(self, args, named):
        """The struct's bytes for these arguments, given by position and by name."""
        if self._layout is None and not args and not named:
            return b""
        if len(args) == 1 and not named:
            whole = self._whole(args[0])
            if whole is not None:
                return _aligned(whole)
        values = self._by_member(args, named)
        block = bytearray(self._layout.bytes)
        for member, value in values:
            self._put(block, member, value, 0, member.name)
        return _aligned(bytes(block))

    def _fail(self, text, member=None):
        raise ArgumentError(f"{self._kernel}: {text}", member)

    def _whole(self, value):
        """The bytes of a struct that is given as one; None: it is no struct."""
        if isinstance(value, (bytes, bytearray)):
            raw = bytes(value)
        elif isinstance(value, (ctypes.Structure, ctypes.Union)):
            raw = bytes(value)
        elif isinstance(value, np.void) or (isinstance(value, np.ndarray) and value.dtype.fields and value.size == 1):
            raw = value.tobytes()
        else:
            return None
        if self._layout is not None and len(raw) != self._layout.bytes:
            self._fail(f"a struct of {len(raw)} bytes is given, and {self._layout.type} has {self._layout.bytes}")
        return raw

    def _by_member(self, args, named):
        if self._layout is None:
            self._fail("the module does not say what its arguments are (it has no debug information, or its file has changed since it "
                       "was loaded): compile it with -g, pass one struct (bytes, ctypes or numpy), or say what it is with "
                       "Module.kernel(name, args=...)")
        members = self._layout.members
        if len(args) > len(members):
            self._fail(f"{len(args)} arguments are given, and {self._layout.type} has {len(members)} members: "
                       f"{self._layout.signature()}")
        values = list(zip(members, args))
        names = {member.name: member for member in members}
        given = {member.name for member, _ in values}
        for name, value in named.items():
            if name not in names and name[-1:] == "_" and keyword.iskeyword(name[:-1]):
                name = name[:-1]  # as Python writes a name that is one of its words: in_
            if name not in names:
                self._fail(f"{self._layout.type} has no member {name!r}: {self._layout.signature()}", name)
            if name in given:
                self._fail(f"member {name!r} is given twice", name)
            values.append((names[name], value))
            given.add(name)
        for member in members:
            if member.name not in given and member.elements:
                self._fail(f"member {member.name!r} ({member}) of {self._layout.type} is not given: {self._layout.signature()}",
                           member.name)
        return values

    # One value at an offset of the block; `path` names it in messages.
    def _put(self, block, member, value, base, path):
        if not member.counts:
            return self._put_one(block, member, value, base + member.offset, path)
        if member.elements == 0:
            self._fail(f"member {path!r} ({member}) has no elements of its own: pass the whole struct as bytes", path)
        if isinstance(value, (bytes, bytearray, str)) and member.bytes == 1:
            raw = value.encode() if isinstance(value, str) else bytes(value)
            if len(raw) > member.elements:
                self._fail(f"member {path!r} ({member}) takes {member.elements} bytes, not {len(raw)}", path)
            block[base + member.offset:base + member.offset + len(raw)] = raw
            return None
        try:
            flat = _flatten(value, member.counts)
        except (TypeError, ValueError) as problem:
            self._fail(f"member {path!r} ({member}) {problem}", path)
        for i, item in enumerate(flat):
            self._put_one(block, member, item, base + member.offset + i * member.bytes, f"{path}[{i}]")
        return None

    def _put_one(self, block, member, value, at, path):
        if member.kind in ("struct", "union"):
            return self._put_struct(block, member, value, at, path)
        if isinstance(value, Array):
            return self._put_address(block, member, value, at, path)
        if member.kind == "float":
            if not isinstance(value, (numbers.Real, np.generic)) or isinstance(value, (complex, np.complexfloating)):
                self._refuse(member, value, path, "a number")
            form = {2: "<e", 4: "<f", 8: "<d"}.get(member.bytes)
            if form is None:
                self._fail(f"member {path!r} ({member}) has {member.bytes} bytes: pass the whole struct as bytes", path)
            try:
                struct.pack_into(form, block, at, float(value))
            except (OverflowError, TypeError, ValueError):
                self._refuse(member, value, path, "a number that it can hold")
            return None
        try:
            number = int(value) if isinstance(value, np.bool_) else value.__index__()
        except (AttributeError, TypeError):
            wanted = "an array or an address" if member.kind == "pointer" else "an integer"
            if isinstance(value, np.ndarray) and member.bytes == 8 and value.ndim > 0:
                wanted = "a device array: pass dev.array(x)"
            self._refuse(member, value, path, wanted)
        low, high = _range_of(member)
        if not low <= number <= high:
            self._refuse(member, value, path, f"an integer from {low} to {high}")
        block[at:at + member.bytes] = (number & ((1 << 8 * member.bytes) - 1)).to_bytes(member.bytes, "little")
        return None

    def _put_address(self, block, member, array, at, path):
        if member.kind not in ("pointer", "unsigned", "signed") or member.bytes != 8:
            self._refuse(member, array, path, "a number, and no array")
        if array.device is not self._device:
            self._fail(f"member {path!r}: the array is on another device", path)
        if not array.device.is_open or not array._allocation._free.alive:
            self._fail(f"member {path!r}: the array's device is closed", path)
        if not array.is_contiguous:
            self._fail(f"member {path!r}: the array's elements are not contiguous, and a kernel gets no strides: pass "
                       "a copy(), or .address with strides of its own", path)
        block[at:at + 8] = array.address.to_bytes(8, "little")

    def _put_struct(self, block, member, value, at, path):
        if isinstance(value, (bytes, bytearray, ctypes.Structure, ctypes.Union, np.void)):
            raw = value.tobytes() if isinstance(value, np.void) else bytes(value)
            if len(raw) != member.bytes:
                self._fail(f"member {path!r} ({member}) has {member.bytes} bytes, not {len(raw)}", path)
            block[at:at + member.bytes] = raw
            return
        if isinstance(value, dict):
            pairs = value.items()
        elif isinstance(value, (list, tuple, np.ndarray)):
            if member.kind == "union" or len(value) != len(member.members):
                self._refuse(member, value, path, "a dictionary with one member" if member.kind == "union"
                             else f"{len(member.members)} values")
            pairs = [(inner.name, one) for inner, one in zip(member.members, value)]
        else:
            self._refuse(member, value, path, "a dictionary, a sequence or bytes")
        known = {inner.name: inner for inner in member.members}
        for name, one in pairs:
            if name not in known:
                self._fail(f"member {path!r} ({member}) has no member {name!r}", path)
            self._put(block, known[name], one, at, f"{path}.{name}")
        missing = [] if member.kind == "union" else [name for name in known if name not in dict(pairs)]
        if missing:
            self._fail(f"member {path}.{missing[0]!s} is not given", path)

    def _refuse(self, member, value, path, wanted):
        shown = repr(value)
        self._fail(f"member {path!r} ({member}) takes {wanted}, not {shown if len(shown) < 80 else type(value).__name__}", path)


def _range_of(member):
    bits = 8 * member.bytes
    if member.kind == "bool":
        return 0, 1
    if member.kind == "signed":
        return -(1 << bits - 1), (1 << bits - 1) - 1
    return (-(1 << bits - 1) if member.kind == "enum" else 0), (1 << bits) - 1


def _flatten(value, counts):
    """The elements of nested sequences with these extents, in order."""
    try:
        items = list(value)
    except TypeError:
        raise TypeError(f"takes {counts[0]} values, not {value!r}") from None
    if len(items) != counts[0]:
        raise ValueError(f"takes {counts[0]} values, not {len(items)}")
    if len(counts) == 1:
        return items
    return [leaf for item in items for leaf in _flatten(item, counts[1:])]


def _aligned(raw):
    return raw + bytes(-len(raw) % _ALIGN)
