"""Arrays in the memory of a device."""
import ctypes
import functools
import sys
import weakref

import numpy as np

from . import _api, _native, types

_HAS_BUFFER_METHOD = sys.version_info >= (3, 12)  # PEP 688: a class can give its buffer itself
_CTYPES = {"float32": ctypes.c_float, "float64": ctypes.c_double, "bool": ctypes.c_bool}
# Float types by the names that checks have for them; integers are taken for bits of any type.
_CHECKED_TYPES = {"float32": "fp32", "float16": "fp16", "bfloat16": "bfp16", "float8_e4m3": "fp8e4m3", "float8_e5m2": "fp8e5m2"}
_CTYPES.update({f"{sign}int{bits}": getattr(ctypes, f"c_{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)})


class _Mapping:
    """Device memory in this process's own address space; stays valid without the device."""

    def __init__(self, device, address, nbytes):
        where = ctypes.c_void_p()
        _native.check(_native.bmlib().softtpu_map(device._handle, address, nbytes, ctypes.byref(where)))
        self.pointer, self._nbytes, self._unmap = where.value, nbytes, _native.bmlib().softtpu_unmap

    def __del__(self):
        if getattr(self, "pointer", None):
            self._unmap(self.pointer, self._nbytes)


class Allocation:
    """Bytes that an Array and its views share; given back with the last of them."""

    def __init__(self, device, nbytes, written):
        memory = _api.bm_mem_desc_u64()
        lib = _native.bmlib()
        _native.check(lib.bm_malloc_device_byte_u64(device._handle, ctypes.byref(memory), nbytes))
        self.device, self.nbytes, self.written = device, nbytes, written
        self.address = lib.bm_mem_get_device_addr_u64(memory)
        self._mapping = None
        self.last_result = lambda: None  # of the launch that used it last, while a program refers to it
        self._free = weakref.finalize(self, device._release, self.address, nbytes)
        self._free.atexit = False
        device._allocations.add(self)

    def note_type(self, kind):
        """What the elements are, for checks; None: several types."""
        if self.device.checks and self.device.is_open:
            name = _CHECKED_TYPES.get(kind.name, "") if kind is not None else ""
            _native.check(_native.bmlib().softtpu_note_type(self.device._handle, self.address, name.encode()))

    def release(self):
        """Gives the memory back now. Views of it stay what they are: mappings of their own."""
        # Not by calling the finalizer, which does nothing any more when the interpreter ends.
        detached = self._free.detach()
        if detached is not None:
            _, function, arguments, _ = detached
            function(*arguments)

    def mapping(self):
        if self._mapping is None:
            self._mapping = _Mapping(self.device, self.address, self.nbytes)
        return self._mapping

    def tell_written(self):
        """The program may write here without a call from now on."""
        if self.device.is_open:
            _native.check(_native.bmlib().softtpu_note_mapped(self.device._handle, self.address, self.nbytes))


class Lent(Allocation):
    """Memory that belongs to something else, which stays as long as this does."""

    def __init__(self, device, address, nbytes, owner):
        self.device, self.nbytes, self.written, self.address, self._owner = device, nbytes, True, address, owner
        self._mapping = None

    def release(self):
        """Nothing: the owner frees it."""


@functools.lru_cache(maxsize=1024)
def _class_with_buffer(kind_name, shape):
    """An Array whose buffer is the mapped memory: what Python before 3.12 offers to classes that are written in Python."""
    base = _CTYPES[kind_name]
    for extent in reversed(shape):
        base = base * extent
    return type(base)("Array", (Array, base), {"__module__": __name__})


class Array:
    """Elements in a device's memory; `Device.array` and `Device.empty` make them.

    A slice is a view of the same memory. `numpy()` copies the elements to the host; `view()`, `numpy.asarray`, `memoryview` and
    DLPack show device memory itself, without a copy, where the device shares it with this program (all but remote ones).

    >>> import numpy as np, softtpu
    >>> with softtpu.Device() as dev:
    ...     a = dev.array(np.arange(12, dtype=np.int32).reshape(3, 4))
    ...     a[1, 1:3] = 100
    ...     a[:, 1].numpy().tolist(), a[1].shape, a.nbytes
    ([1, 100, 9], (4,), 48)

    `memoryview(a)` on Python before 3.12 needs a type that ctypes knows (not float16, bfloat16, FP8), contiguous elements, and
    memory that is not `empty` on a device with checks; `memoryview(a.view())` always works.
    """

    @staticmethod
    def _make(allocation, offset, shape, strides, kind):
        contiguous = strides == _strides_of(shape, kind.itemsize) and 0 not in shape
        described = (not _HAS_BUFFER_METHOD and contiguous and len(shape) > 0 and kind.name in _CTYPES
                     and allocation.device.shares_memory and (allocation.written or not allocation.device.checks))
        if described:
            made_class = _class_with_buffer(kind.name, shape)
            made = made_class.from_address(allocation.mapping().pointer + offset)
        else:
            made = object.__new__(Array)
        made._allocation, made._offset, made._shape, made._strides, made._kind = allocation, offset, shape, strides, kind
        return made

    def __init__(self, *_, **__):
        raise TypeError("Device.array() and Device.empty() make arrays")

    # -- What it is

    @property
    def device(self):
        """The Device that it belongs to."""
        return self._allocation.device

    @property
    def shape(self):
        """Extents, the outermost first."""
        return self._shape

    @property
    def dtype(self):
        """The numpy type of the elements; for bfloat16 and FP8 the integer type of the same size, or ml_dtypes' type."""
        return self._kind.storage

    @property
    def kind(self):
        """The type of the elements by softtpu's name (`types.ElementType`)."""
        return self._kind

    @property
    def strides(self):
        """Bytes from one element to the next, for each dimension."""
        return self._strides

    @property
    def ndim(self):
        return len(self._shape)

    @property
    def size(self):
        """The number of elements."""
        return int(np.prod(self._shape, dtype=np.int64))

    @property
    def itemsize(self):
        return self._kind.itemsize

    @property
    def nbytes(self):
        return self.size * self.itemsize

    @property
    def address(self):
        """The device address of the first element: what a kernel gets."""
        return self._allocation.address + self._offset

    @property
    def is_contiguous(self):
        """Whether the elements are contiguous in memory."""
        return self.size == 0 or all(stride == own or extent == 1 for extent, stride, own in
                                     zip(self._shape, self._strides, _strides_of(self._shape, self.itemsize)))

    def __len__(self):
        if not self._shape:
            raise TypeError("an array without dimensions has no length")
        return self._shape[0]

    def __repr__(self):
        return f"<softtpu.Array {list(self._shape)} {self._kind} at 0x{self.address:x}>"

    # -- Views

    def __getitem__(self, index):
        offset, shape, strides = _apply_index(index, self._shape, self._strides)
        return Array._make(self._allocation, self._offset + offset, shape, strides, self._kind)

    def reshape(self, *shape):
        """The same elements with other extents, one of which may be -1."""
        if len(shape) == 1 and not isinstance(shape[0], int):
            shape = tuple(shape[0])
        if not self.is_contiguous:
            raise ValueError("the elements are not contiguous; copy() makes an array whose elements are")
        known = int(np.prod([extent for extent in shape if extent != -1], dtype=np.int64))
        if shape.count(-1) == 1 and known:
            shape = tuple(self.size // known if extent == -1 else extent for extent in shape)
        if min(shape, default=0) < 0 or int(np.prod(shape, dtype=np.int64)) != self.size:
            raise ValueError(f"{self.size} elements have no shape {list(shape)}")
        return Array._make(self._allocation, self._offset, tuple(shape), _strides_of(shape, self.itemsize), self._kind)

    def astype_view(self, dtype):
        """The same bytes as elements of another type of the same size."""
        kind = types.element_type(dtype)
        if kind.itemsize != self.itemsize:
            raise ValueError(f"elements of {kind} have {kind.itemsize} bytes, these have {self.itemsize}")
        self._allocation.note_type(None)
        return Array._make(self._allocation, self._offset, self._shape, self._strides, kind)

    # -- Contents

    def numpy(self):
        """A copy on the host. Waits for launches of this device that are under way.

        bfloat16 and FP8 give their bits, or ml_dtypes' types; `float()` gives float32.
        """
        self.device._wait_for_launches()
        low, high = self._bounds()
        raw = np.empty(high - low, np.uint8)
        if raw.size:
            self._copy(_native.bmlib().bm_memcpy_d2s_partial_offset_u64, raw, self._offset + low, to_host=True)
            self.device._note_reading(self._allocation)
        shown = np.ndarray(self._shape, self.dtype, raw.data if raw.size else None, -low if raw.size else 0,
                           self._strides if raw.size else None)
        return shown if self.is_contiguous else shown.copy()

    def float(self):
        """A copy on the host as float32, whatever the type is."""
        values = self.numpy()
        return types.decode(values, self._kind.name) if self._kind.is_small_float else values.astype(np.float32)

    def view(self):
        """Device memory as a numpy array, without a copy: what is written there is on the device at once."""
        low, high = self._bounds()
        if high == low:
            return np.empty(self._shape, self.dtype)
        self.device._check_open()
        self._allocation.tell_written()
        mapping = self._allocation.mapping()
        memory = (ctypes.c_ubyte * (high - low)).from_address(mapping.pointer + self._offset + low)
        memory.mapping = mapping  # lives as long as a view of it
        return np.ndarray(self._shape, self.dtype, memory, -low, self._strides)

    def __setitem__(self, index, values):
        self[index].write(values)

    def write(self, values):
        """Copies in the elements of a numpy array, or a number, which is broadcast."""
        self.device._wait_for_launches()
        if isinstance(values, Array):
            values = values.numpy()
        fresh = np.broadcast_to(types.as_storage(values, self._kind), self._shape)
        if self.size == 0:
            return self
        if self.is_contiguous:
            self._copy(_native.bmlib().bm_memcpy_s2d_partial_offset_u64, np.asarray(fresh, order="C"), self._offset)
        elif self.device.shares_memory:
            self.view()[...] = fresh
        else:
            low, high = self._bounds()
            whole = Array._make(self._allocation, self._offset + low, (high - low,), (1,), types.element_type(np.uint8))
            raw = whole.numpy()
            np.ndarray(self._shape, self.dtype, raw.data, -low, self._strides)[...] = fresh
            whole.write(raw)
        return self

    def copy_from(self, source):
        """Copies another array's bytes on the device, without a way over the host. Both have contiguous elements and as many bytes."""
        if not isinstance(source, Array) or source.nbytes != self.nbytes or not (self.is_contiguous and source.is_contiguous):
            raise ValueError(f"copy_from takes an array of {self.nbytes} bytes whose elements are contiguous, as this array's have to be")
        lib = _native.bmlib()
        self.device._check_open()
        self.device._wait_for_launches()
        to, start = (lib.bm_mem_from_device_u64(array.address, max(array.nbytes, 1)) for array in (self, source))
        _native.check(lib.bm_memcpy_d2d_byte_u64(self.device._handle, to, 0, start, 0, self.nbytes))
        self._allocation.written = True
        return self

    def fill(self, value):
        """Sets all elements to a number."""
        return self.write(value)

    def copy(self):
        """A contiguous copy of the elements, in new device memory."""
        return self.device.empty(self._shape, self._kind).write(self)

    # -- Protocols

    def __array__(self, dtype=None, copy=None):
        shown = self.view() if copy is not True and self.device.shares_memory and self.device.is_open else None
        if shown is None:
            if copy is False:
                raise ValueError("this device shares no memory with the program: its elements have to be copied")
            shown = self.numpy()
        if dtype is not None and np.dtype(dtype) != shown.dtype:
            if copy is False:
                raise ValueError(f"elements of {self._kind} have to be copied to become {np.dtype(dtype)}")
            shown = shown.astype(dtype)
        return shown

    def __buffer__(self, flags):
        return memoryview(self.view())

    def __dlpack__(self, **options):
        return self.view().__dlpack__(**options)

    def __dlpack_device__(self):
        return (1, 0)  # memory of the host

    def __eq__(self, other):
        return self is other

    __hash__ = object.__hash__

    # -- Inside

    def _bounds(self):
        """The bytes that the elements take, from the first element on; those before it with negative strides."""
        if self.size == 0:
            return 0, 0
        reach = [(extent - 1) * stride for extent, stride in zip(self._shape, self._strides)]
        return sum(min(step, 0) for step in reach), sum(max(step, 0) for step in reach) + self.itemsize

    def _copy(self, function, host, offset, to_host=False):
        device = self.device
        device._check_open()
        memory = _native.bmlib().bm_mem_from_device_u64(self._allocation.address, self._allocation.nbytes)
        pointer = ctypes.c_void_p(host.ctypes.data)
        both = (pointer, memory) if to_host else (memory, pointer)
        _native.check(function(device._handle, *both, host.nbytes, offset))
        if not to_host:
            self._allocation.written = True


def _strides_of(shape, itemsize):
    strides, step = [], itemsize
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))


def _apply_index(index, shape, strides):
    """Offset, shape and strides of a view by numbers, slices, None and one Ellipsis."""
    entries = list(index) if isinstance(index, tuple) else [index]
    used = sum(1 for entry in entries if entry is not None and entry is not Ellipsis)
    if sum(1 for entry in entries if entry is Ellipsis) > 1:
        raise IndexError("an index has one Ellipsis at most")
    if used > len(shape):
        raise IndexError(f"{used} indices for an array of {len(shape)} dimensions")
    if Ellipsis not in [entry for entry in entries if entry is Ellipsis]:
        entries.append(Ellipsis)
    at = next(i for i, entry in enumerate(entries) if entry is Ellipsis)
    entries[at:at + 1] = [slice(None)] * (len(shape) - used)
    offset, new_shape, new_strides, dimension = 0, [], [], 0
    for entry in entries:
        if entry is None:
            new_shape.append(1)
            new_strides.append(0)
            continue
        extent, stride = shape[dimension], strides[dimension]
        dimension += 1
        if isinstance(entry, slice):
            start, stop, step = entry.indices(extent)
            count = len(range(start, stop, step))
            offset += start * stride if count else 0
            new_shape.append(count)
            new_strides.append(stride * step)
            continue
        try:
            number = entry.__index__()
        except AttributeError:
            raise IndexError("an index is a number, a slice, None or Ellipsis") from None
        if not -extent <= number < extent:
            raise IndexError(f"index {number} is outside of dimension {dimension - 1} of {extent} elements")
        offset += (number % extent) * stride
    return offset, tuple(new_shape), tuple(new_strides)
