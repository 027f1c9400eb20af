"""Tensors of scripts written for SAIL, whose names `softtpu.sail` has."""
import enum

import numpy as np

from .. import types
from ..errors import ArgumentError, Error
from .device import Handle


class Dtype(enum.Enum):
    """Types of elements."""

    BM_FLOAT32 = 0
    BM_FLOAT16 = 1
    BM_INT8 = 2
    BM_UINT8 = 3
    BM_INT16 = 4
    BM_UINT16 = 5
    BM_INT32 = 6
    BM_UINT32 = 7
    BM_BFLOAT16 = 8


DataType = Dtype
_KINDS = ["float32", "float16", "int8", "uint8", "int16", "uint16", "int32", "uint32", "bfloat16"]
_FLOATS_OF_16_BITS = ("float16", "bfloat16")


def dtype_of(kind):
    return Dtype(_KINDS.index(str(kind)))


def quantise(values, kind, scale, zero_point):
    limits = np.iinfo(kind.storage)
    return np.clip(np.rint(values * np.float32(scale) + zero_point), limits.min, limits.max).astype(kind.storage)


class Tensor:
    """Elements in device memory, in the host's, or in both; `sync_s2d` and `sync_d2s` copy between them.

    Tensor(handle, array, own_sys_data=True): with the elements of an array.
    Tensor(handle, shape, dtype, own_sys_data, own_dev_data): without values yet.
    Tensor(tensor, shape, offset): a part of another tensor's memory, from element `offset` on.
    """

    _lent = False  # device memory only for launches: the host's has the elements

    def __init__(self, source, data_or_shape, third=None, own_sys_data=None, own_dev_data=None):
        self._scale, self._host, self._array, self._owns = 1.0, None, None, True
        if isinstance(source, Tensor):
            self._view_of(source, data_or_shape, third or 0)
            return
        if not isinstance(source, Handle):
            raise ArgumentError(f"a Tensor is made with a Handle or a Tensor, not with {type(source).__name__}", "handle")
        self._device, self._tpu_id = source.device, source.get_device_id()
        if isinstance(third, Dtype):
            self._kind = types.element_type(_KINDS[third.value])
            self._make(data_or_shape, bool(own_sys_data), bool(own_dev_data))
            return
        values = np.asarray(data_or_shape)
        if values.dtype == np.float64:
            values = values.astype(np.float32)
        if values.dtype == np.int64:
            values = values.astype(np.int32)
        keeps = True if third is None else bool(third)
        self._kind = types.element_type(values.dtype)
        self._make(values.shape, keeps, True)
        self._array.write(values)
        if keeps:
            self._host[...] = values

    def _make(self, shape, on_host, on_device):
        """Memory of its own, all 0."""
        self._shape = [int(extent) for extent in shape]
        self._host = np.zeros(self._shape, self._kind.storage) if on_host else None
        self._array = self._device.zeros(self._shape, self._kind) if on_device else None
        self._set_room()

    def _set_room(self):
        """All elements that it may have: `reshape` can take fewer and, later, all again."""
        self._room = tuple(None if memory is None else memory.reshape(-1) for memory in (self._host, self._array))

    def _view_of(self, source, shape, offset):
        if source._array is None:
            raise Error("the tensor has no device memory to share.")
        shape, count = [int(extent) for extent in shape], int(np.prod(shape, dtype=np.int64))
        if offset < 0 or offset + count > source.size():
            raise ArgumentError(f"elements {offset} to {offset + count} are not in a tensor of {source.size()}", "offset")
        self._device, self._tpu_id, self._kind, self._owns = source._device, source._tpu_id, source._kind, False
        self._room = tuple(None if room is None else room[offset:] for room in source._room)
        self._take(shape)

    def _take(self, shape):
        """The first elements of its memory."""
        count = int(np.prod(shape, dtype=np.int64))
        self._host, self._array = (None if room is None else room[:count].reshape(tuple(shape)) for room in self._room)
        self._shape = shape

    @classmethod
    def _of_array(cls, array, tpu_id):
        """Another's device memory."""
        made = cls.__new__(cls)
        made._device, made._tpu_id, made._kind, made._shape, made._array, made._host, made._scale, made._owns = (
            array.device, tpu_id, array.kind, list(array.shape), array, None, 1.0, False)
        made._set_room()
        return made

    # -- What it is

    def shape(self):
        return list(self._shape)

    def dtype(self):
        return dtype_of(self._kind)

    def own_sys_data(self):
        return self._owns and self._host is not None

    def own_dev_data(self):
        return self._owns and self.is_dev_data_valid()

    def is_dev_data_valid(self):
        return self._array is not None and not self._lent

    def is_sys_data_valid(self):
        return self._host is not None

    def size(self):
        return int(np.prod(self._shape, dtype=np.int64))

    def element_size(self):
        return self._kind.itemsize

    def nbytes(self):
        return self.size() * self._kind.itemsize

    def device_id(self):
        return self._tpu_id

    def __repr__(self):
        return f"<softtpu.sail.Tensor {self._shape} {self._kind}>"

    # -- Contents

    def reshape(self, shape):
        """Other extents. Elements stay where they are; a tensor that is too small gets new memory, and is 0 then."""
        shape, count = [int(extent) for extent in shape], int(np.prod(shape, dtype=np.int64))
        room = min(memory.size for memory in self._room if memory is not None)
        if count <= room:
            self._take(shape)
        elif self._owns:
            self._make(shape, self._host is not None, self._array is not None)
        else:
            raise ArgumentError(f"a tensor in another's memory, of {room} elements, has no shape {shape}", "shape")

    def asnumpy(self, shape=None):
        """The elements as an array: the host's where the tensor has them, else the device's. Floats of 16 bits are given as their bits,
        uint16: `.view(numpy.float16)` makes numbers of them."""
        values = self._values()
        if self._kind.name in _FLOATS_OF_16_BITS:
            values = values.view(np.uint16)
        return values if shape is None else values.reshape(shape)

    def pysys_data(self):
        if self._host is None:
            raise Error("the tensor has no memory of the host.")
        return self._host

    def update_data(self, data):
        """Other elements, as many at most; in the host's memory where the tensor has some, else in the device's. Whole numbers of 16 bits are
        the bits of floats of 16 bits."""
        values = np.ascontiguousarray(data)
        if values.size > self.size():
            raise ArgumentError(f"{values.size} elements do not fit a tensor of {self.size()}", "data")
        if self._kind.name in _FLOATS_OF_16_BITS and values.dtype in (np.uint16, np.int16):
            values = values.view(self._kind.storage)
        values = types.as_storage(values, self._kind).reshape(-1)
        if self._host is not None:
            self._host.reshape(-1)[:values.size] = values
        else:
            self._array.reshape(-1)[:values.size].write(values)

    def scale_from(self, data, scale):
        """Stores data * scale, rounded to whole numbers of the tensor's type."""
        self.update_data(quantise(np.asarray(data, np.float32), self._kind, scale, 0))
        self._scale = scale

    def scale_to(self, scale, shape=None):
        """The elements as float32, times scale."""
        values = self._values()
        values = types.decode(values, self._kind.name) if self._kind.is_small_float else values.astype(np.float32)
        values = values * np.float32(scale)
        return values if shape is None else values.reshape(shape)

    def sync_s2d(self, src=None, offset_src=0, offset_dst=0, len=None):
        """From the host's memory to the device's: sync_s2d() all elements, sync_s2d(size) the first `size` bytes,
        sync_s2d(src, offset_src, offset_dst, len) so many elements of another tensor."""
        src, count = self._part_of(src, len)
        self._check_copy(src, offset_src + count, offset_dst + count, host=[src._host], device=[self._array])
        self._array.reshape(-1)[offset_dst:offset_dst + count].write(src._host.reshape(-1)[offset_src:offset_src + count])

    def sync_d2s(self, src=None, offset_src=0, offset_dst=0, len=None):
        """From the device's memory to the host's, as `sync_s2d`."""
        src, count = self._part_of(src, len)
        self._check_copy(src, offset_src + count, offset_dst + count, host=[self._host], device=[src._array])
        self._host.reshape(-1)[offset_dst:offset_dst + count] = src._array.reshape(-1)[offset_src:offset_src + count].numpy()

    def sync_from(self, src):
        """Copies all elements of another tensor, of as many: on the device where both have memory there, else in the host's."""
        if src.size() != self.size():
            raise ArgumentError(f"a tensor of {src.size()} elements is not copied to one of {self.size()}", "src")
        if self._array is not None and src._array is not None:
            self.sync_d2d(src, 0, 0, self.size())
        elif self._array is not None:
            self.sync_s2d(src, 0, 0, self.size())
        elif src._host is None:
            self.sync_d2s(src, 0, 0, self.size())
        else:
            self._check_copy(src, 0, 0)
            self._host.reshape(-1)[:] = src._host.reshape(-1)

    def sync_to(self, dst):
        """Copies all elements to another tensor, as its `sync_from`."""
        dst.sync_from(self)

    def sync_d2d(self, src, offset_src, offset_dst, len):
        """Copies `len` elements of another tensor on the device."""
        self._check_copy(src, offset_src + len, offset_dst + len, device=[self._array, src._array])
        self._array.reshape(-1)[offset_dst:offset_dst + len].copy_from(src._array.reshape(-1)[offset_src:offset_src + len])

    def sync_d2d_stride(self, src, stride_src, stride_dst, count):
        """Copies `count` elements of another tensor on the device, each stride_src elements behind the one before."""
        self._check_copy(src, count * stride_src, count * stride_dst, device=[self._array, src._array])
        if stride_dst != 1 and (stride_dst, stride_src, self.element_size()) != (4, 1, 1):
            raise ArgumentError(f"elements cannot be stored {stride_dst} apart: 1, or 4 for bytes that are read one by one", "stride_dst")
        self._array.reshape(-1)[:count * stride_dst:stride_dst].write(src._array.reshape(-1)[:count * stride_src:stride_src])

    def memory_set(self, value):
        """All elements, in every memory that the tensor has."""
        if self._host is not None:
            self._host[...] = types.as_storage(np.asarray(value), self._kind)
        if self._array is not None:
            self._array.fill(value)

    def zeros(self):
        self.memory_set(0)

    def ones(self):
        self.memory_set(1)

    def dump_data(self, file_name, bin=False):
        """Writes the elements to a file: as bytes, or one number in a line."""
        values = self._values()
        if bin:
            values.tofile(file_name)
        else:
            np.savetxt(file_name, values.reshape(-1), fmt="%.8g")

    def _values(self):
        return self._host.copy() if self._host is not None else self._array.numpy()

    def _part_of(self, src, count):
        """Another tensor, and how many of its elements; or this one, and all of its elements or so many bytes."""
        if isinstance(src, Tensor):
            return src, src.size() if count is None else int(count)
        count, rest = divmod(self.nbytes() if src is None else int(src), self._kind.itemsize)
        if rest:
            raise ArgumentError(f"{src} bytes are no whole elements of {self._kind}", "size")
        return self, count

    def _check_copy(self, src, most_src, most_dst, host=(), device=()):
        for name, memories in (("host", host), ("device", device)):
            if any(memory is None for memory in memories):
                raise Error(f"a tensor has no memory of the {name}.")
        if self._kind != src._kind:
            raise ArgumentError(f"a tensor of {src._kind} cannot be copied to one of {self._kind}", "src")
        for tensor, most in ((src, most_src), (self, most_dst)):
            if most > tensor.size():
                raise ArgumentError(f"{most} elements are not in a tensor of {tensor.size()}", "len")

    def _on(self, handle):
        """The tensor itself, or a copy of its elements on another device."""
        return self if self._device is handle.device else Tensor(handle, self.asnumpy())

    def _for_launch(self, name, kind):
        """Device memory of the network's type."""
        if self._kind.name != kind:
            raise ArgumentError(f"tensor {name!r} is of {self._kind}, the network's is of {kind}", name)
        if self._array is None:
            self._array, self._lent = self._device.array(self._host), True
            self._set_room()
        elif self._lent:
            self.sync_s2d()
        return self._array

    def _after_launch(self, to_host=False):
        if self._host is not None and (to_host or self._lent):
            self.sync_d2s()
