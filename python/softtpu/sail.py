"""Inference scripts written for SAIL, the vendor's Python library, run here with their import changed:

    import softtpu.sail as sail                     # was: import sophon.sail as sail
    engine = sail.Engine("net.bmodel", 0, sail.IOMode.SYSIO)
    graph = engine.get_graph_names()[0]
    outputs = engine.process(graph, {name: array for name, array in zip(engine.get_input_names(graph), arrays)})

Names, arguments and meaning are those of SAIL's documentation, as far as networks are concerned: Handle, Tensor, Engine, EngineLLM,
MultiEngine, IOMode, Dtype, BmrtFlag, LogLevel.
Pictures and video (Bmcv, Decoder, MultiDecoder) are not here: use numpy or OpenCV.
"""
import atexit
import ctypes
import enum
import threading

import numpy as np

from . import _native, types
from .device import Device
from .errors import ArgumentError, Error

__all__ = ["BmrtFlag", "DataType", "Dtype", "Engine", "EngineLLM", "Handle", "IOMode", "LogLevel", "MultiEngine", "Tensor", "get_available_tpu_num",
           "get_dev_stat", "get_tpu_util", "set_dump_io_flag", "set_loglevel", "set_print_flag"]


class IOMode(enum.Enum):
    """Where a program has the inputs and outputs of a network: in the host's memory or in the device's."""

    SYSI = 0
    SYSO = 1
    SYSIO = 2
    DEVIO = 3


class BmrtFlag(enum.IntFlag):
    """What a runtime shares, for EngineLLM: nothing of what is computed depends on it."""

    BM_RUNTIME_AUTO = 0
    BM_RUNTIME_SHARE_MEM = 1
    BM_RUNTIME_CHECK_MEM = 2


class LogLevel(enum.IntEnum):
    """What SAIL would log."""

    TRACE = 0
    DEBUG = 1
    INFO = 2
    WARN = 3
    ERR = 4
    CRITICAL = 5
    OFF = 6


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


def _dtype_of(kind):
    return Dtype(_KINDS.index(str(kind)))


_devices = {}
_lock = threading.Lock()


@atexit.register
def _close():
    for device in list(_devices.values()):
        device.close()
    _devices.clear()


def _device(tpu_id):
    """One device for each number, which all handles of the program share."""
    with _lock:
        if tpu_id not in _devices or not _devices[tpu_id].is_open:
            _devices[tpu_id] = Device(device_id=int(tpu_id))
        return _devices[tpu_id]


def get_available_tpu_num():
    """How many devices there are."""
    count = ctypes.c_int()
    _native.check(_native.bmlib().bm_dev_getcount(ctypes.byref(count)))
    return count.value


def get_dev_stat(dev_id):
    """Of a device: MiB of memory in all, MiB that are used, and how busy it is in percent."""
    stat = (ctypes.c_int * 16)()
    _native.check(_native.bmlib().bm_get_stat(_device(dev_id)._handle, stat))
    return list(stat[:3])


def get_tpu_util(dev_id):
    """How busy a device is, in percent."""
    return get_dev_stat(dev_id)[2]


def set_print_flag(print_flag):
    """Accepted: SAIL prints times of its steps; `softtpu run --time` shows them."""


def set_dump_io_flag(dump_io_flag):
    """Accepted: SAIL writes files of inputs and outputs; `softtpu bmodel run --dump-layers` does."""


def set_loglevel(loglevel):
    """Accepted: BMLIB_LOG sets what is logged. Returns 0, or -1 where it is no level."""
    return 0 if loglevel in list(LogLevel) else -1


class Handle:
    """A device by its number."""

    def __init__(self, tpu_id):
        self._tpu_id, self.device = int(tpu_id), _device(int(tpu_id))

    def get_device_id(self):
        return self._tpu_id

    def get_sn(self):
        return f"softtpu-{self._tpu_id}"

    def get_target(self):
        return self.device.chip.upper()


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
        return _dtype_of(self._kind)

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
        self.update_data(_quantise(np.asarray(data, np.float32), self._kind, scale, 0))
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


def _quantise(values, kind, scale, zero_point):
    limits = np.iinfo(kind.storage)
    return np.clip(np.rint(values * np.float32(scale) + zero_point), limits.min, limits.max).astype(kind.storage)


class Engine:
    """Networks of compiled files on a device.

    Engine(tpu_id) or Engine(handle): without a network yet.
    Engine(bmodel_path, tpu_id, mode), Engine(bmodel_bytes, bmodel_size, tpu_id, mode): with those of a file or of its bytes.
    """

    def __init__(self, source, second=None, third=None, fourth=None):
        self._models, self._modes, self._mode = {}, {}, IOMode.SYSIO
        if isinstance(source, Handle):
            self._handle = source
        elif isinstance(source, (bytes, bytearray, memoryview)):
            self._handle, self._mode = Handle(0 if third is None else third), fourth or IOMode.SYSIO
            self.load(source, second)
        elif isinstance(source, int):
            self._handle = Handle(source)
        else:
            self._handle, self._mode = (second if isinstance(second, Handle) else Handle(second or 0)), third or IOMode.SYSIO
            self.load(source)

    # -- Loading

    def load(self, source, bmodel_size=None):
        """Loads a file, or the bytes of one."""
        if bmodel_size is not None and isinstance(source, (bytes, bytearray, memoryview)):
            source = bytes(source)[:bmodel_size]
        model = self._handle.device.load_model(source)
        for name in model.networks:
            if name in self._models:
                model.close()
                raise Error(f"a graph {name!r} is loaded already.")
        for name in model.networks:
            self._models[name] = model
            self._modes[name] = self._mode
        return True

    def get_handle(self):
        return self._handle

    def get_device_id(self):
        return self._handle.get_device_id()

    def get_graph_names(self):
        return list(self._models)

    def set_io_mode(self, graph_name, mode):
        self._of(graph_name)
        self._modes[graph_name] = mode

    def graph_is_dynamic(self, graph_name):
        return bool(self._info(graph_name).is_dynamic)

    # -- What a graph has

    def get_input_names(self, graph_name):
        return [tensor.name for tensor in self._of(graph_name).inputs(graph_name)]

    def get_output_names(self, graph_name):
        return [tensor.name for tensor in self._of(graph_name).outputs(graph_name)]

    def get_input_shape(self, graph_name, tensor_name):
        return list(self._find(graph_name, tensor_name, True).shapes[0])

    def get_output_shape(self, graph_name, tensor_name):
        return list(self._find(graph_name, tensor_name, False).shapes[0])

    def get_max_input_shapes(self, graph_name):
        return {tensor.name: _largest(tensor) for tensor in self._of(graph_name).inputs(graph_name)}

    def get_max_output_shapes(self, graph_name):
        return {tensor.name: _largest(tensor) for tensor in self._of(graph_name).outputs(graph_name)}

    def get_input_dtype(self, graph_name, tensor_name):
        return _dtype_of(self._find(graph_name, tensor_name, True).dtype)

    def get_output_dtype(self, graph_name, tensor_name):
        return _dtype_of(self._find(graph_name, tensor_name, False).dtype)

    def get_input_scale(self, graph_name, tensor_name):
        self._find(graph_name, tensor_name, True)
        return self._info(graph_name).input_scales[self.get_input_names(graph_name).index(tensor_name)]

    def get_output_scale(self, graph_name, tensor_name):
        self._find(graph_name, tensor_name, False)
        return self._info(graph_name).output_scales[self.get_output_names(graph_name).index(tensor_name)]

    def create_input_tensors_map(self, graph_name, create_mode=-1):
        """Tensors for all inputs, with memory as `create_mode` says: 0 the host's, 1 the device's, else as the graph's IOMode does."""
        return self._tensors_for(graph_name, True, create_mode)

    def create_output_tensors_map(self, graph_name, create_mode=-1):
        return self._tensors_for(graph_name, False, create_mode)

    # -- Running

    def process(self, graph_name, input_tensors, *rest, core_list=None):
        """Runs a graph, on the cores of `core_list` or the first ones.

        process(graph, {name: array}) returns {name: array}. Floats for an input of whole numbers are quantised with the input's scale;
        outputs of 8 bits are given as float32, times their scale; all others as they are.
        process(graph, {name: Tensor}, {name: Tensor}) and process(graph, {name: Tensor}, {name: shape}, {name: Tensor}) run it on tensors:
        results are in device memory, and in the host's where the output tensor has some and the graph's mode is SYSO or SYSIO.
        process(graph, {name: Tensor}) returns new tensors. Of more cores than the graph is compiled for the first ones count.
        """
        model = self._of(graph_name)
        if rest and isinstance(rest[-1], (list, tuple)):
            rest, core_list = rest[:-1], rest[-1]
        cores = self._cores(graph_name, core_list)
        names = self.get_input_names(graph_name)
        if set(input_tensors) != set(names):
            raise ArgumentError(f"graph {graph_name} has the inputs {', '.join(names)}; given are {', '.join(map(str, input_tensors)) or 'none'}")
        if not rest and not any(isinstance(value, Tensor) for value in input_tensors.values()):
            return self._process_arrays(model, graph_name, input_tensors, cores)
        shapes, outputs = rest[:2] if len(rest) > 1 else ({}, rest[0] if rest else self.create_output_tensors_map(graph_name))
        self._process_tensors(model, graph_name, input_tensors, shapes, outputs, cores)
        return None if rest else outputs

    def _process_arrays(self, model, graph_name, arrays, cores=None):
        info = self._info(graph_name)
        given = {}
        for i, tensor in enumerate(model.inputs(graph_name)):
            values, kind = np.asarray(arrays[tensor.name]), types.element_type(tensor.dtype)
            if values.dtype.kind == "f" and kind.storage.kind in "iu" and not kind.is_small_float:
                values = _quantise(values, kind, info.input_scales[i], info.input_zero_point[i])
            given[tensor.name] = values
        outputs = model(given, network=graph_name, cores=cores)
        for i, tensor in enumerate(model.outputs(graph_name)):
            if tensor.dtype in ("int8", "uint8"):
                values = outputs[tensor.name].astype(np.float32) - np.float32(info.output_zero_point[i])
                outputs[tensor.name] = values * np.float32(info.output_scales[i])
        return outputs

    def _process_tensors(self, model, graph_name, inputs, shapes, outputs, cores=None):
        mode = self._modes[graph_name]
        given, wanted = {}, {}
        for tensor in model.inputs(graph_name):
            value = inputs[tensor.name]
            if mode in (IOMode.SYSI, IOMode.SYSIO) and value.is_sys_data_valid() and value.is_dev_data_valid():
                value.sync_s2d()
            array = value._for_launch(tensor.name, tensor.dtype)
            if tensor.name in shapes:
                count = int(np.prod(shapes[tensor.name], dtype=np.int64))
                array = array.reshape(-1)[:count].reshape(tuple(shapes[tensor.name]))
            given[tensor.name] = array
        for tensor in model.outputs(graph_name):
            if tensor.name not in outputs:
                raise ArgumentError(f"graph {graph_name} has the output {tensor.name}, for which there is no tensor", tensor.name)
            wanted[tensor.name] = outputs[tensor.name]._for_launch(tensor.name, tensor.dtype)
        model.launch(graph_name, given, wanted, cores=cores)
        for name in wanted:
            outputs[name]._after_launch(mode in (IOMode.SYSO, IOMode.SYSIO))

    # -- Inside

    def _cores(self, graph_name, core_list):
        """As many cores as the graph is compiled for; None: the first ones."""
        return list(core_list)[:max(int(self._info(graph_name).core_num), 1)] if core_list else None

    def _of(self, graph_name):
        if graph_name not in self._models:
            raise ArgumentError(f"no graph {graph_name!r} is loaded: {', '.join(self._models) or 'none'}", "graph_name")
        return self._models[graph_name]

    def _info(self, graph_name):
        return self._of(graph_name)._infos[graph_name]

    def _find(self, graph_name, tensor_name, inputs):
        model = self._of(graph_name)
        for tensor in model.inputs(graph_name) if inputs else model.outputs(graph_name):
            if tensor.name == tensor_name:
                return tensor
        raise ArgumentError(f"graph {graph_name} has no {'input' if inputs else 'output'} {tensor_name!r}", "tensor_name")

    def _tensors_for(self, graph_name, inputs, create_mode):
        model, mode = self._of(graph_name), self._modes[graph_name]
        by_mode = mode in ((IOMode.SYSI, IOMode.SYSIO) if inputs else (IOMode.SYSO, IOMode.SYSIO))
        own_sys = {0: True, 1: False}.get(create_mode, by_mode)
        return {tensor.name: Tensor(self._handle, _largest(tensor), _dtype_of(tensor.dtype), own_sys, create_mode != 0)
                for tensor in (model.inputs(graph_name) if inputs else model.outputs(graph_name))}


def _largest(tensor):
    return [max(extents) for extents in zip(*tensor.shapes)]


class MultiEngine:
    """One file on several devices; `process` uses them in turn.

    MultiEngine(bmodel_path, tpu_ids, sys_out=True, graph_idx=0): with `sys_out` results are in the host's memory, too.
    """

    def __init__(self, bmodel_path, device_ids, sys_out=True, graph_idx=0):
        self._ids, self._turn, self._sys_out = [int(one) for one in device_ids], 0, bool(sys_out)
        if not self._ids:
            raise ArgumentError("there is no device in the list", "device_ids")
        self._engines = [Engine(bmodel_path, tpu_id, IOMode.SYSIO) for tpu_id in self._ids]
        graphs = self._engines[0].get_graph_names()
        if not 0 <= graph_idx < len(graphs):
            raise ArgumentError(f"graph {graph_idx} of {len(graphs)}", "graph_idx")
        self._graph = graphs[graph_idx]

    def set_print_flag(self, print_flag):
        """Accepted: SAIL prints what it does."""

    def set_print_time(self, print_flag):
        """Accepted: SAIL prints times of its steps; `softtpu run --time` shows them."""

    def get_device_ids(self):
        return list(self._ids)

    def get_graph_names(self):
        return self._engines[0].get_graph_names()

    def get_input_names(self, graph_name):
        return self._engines[0].get_input_names(graph_name)

    def get_output_names(self, graph_name):
        return self._engines[0].get_output_names(graph_name)

    def get_input_shape(self, graph_name, tensor_name):
        return self._engines[0].get_input_shape(graph_name, tensor_name)

    def get_output_shape(self, graph_name, tensor_name):
        return self._engines[0].get_output_shape(graph_name, tensor_name)

    def process(self, input_tensors):
        """Runs the graph on the next device: {name: array} gives {name: array}, [{name: Tensor}] gives {name: Tensor}. A list of more than
        one, each on the next device, gives a list, which is chosen here."""
        if isinstance(input_tensors, dict):
            return self._process(input_tensors)
        results = [self._process(inputs) for inputs in input_tensors]
        return results[0] if len(results) == 1 and any(isinstance(value, Tensor) for value in input_tensors[0].values()) else results

    def _process(self, inputs):
        turn, self._turn = self._turn, (self._turn + 1) % len(self._engines)
        engine = self._engines[turn]
        if not any(isinstance(value, Tensor) for value in inputs.values()):
            return engine.process(self._graph, inputs)
        own = {name: value._on(engine._handle) for name, value in inputs.items()}
        outputs = engine.create_output_tensors_map(self._graph, -1 if self._sys_out else 1)
        engine.process(self._graph, own, outputs)
        return outputs


class EngineLLM:
    """The networks of a language model. Tensors are known by their numbers, and lie in device memory.

    EngineLLM(bmodel_path, device_ids), EngineLLM(bmodel_bytes, bmodel_size, device_ids), EngineLLM(bmodel_path, flags, device_ids).
    Networks are for one device here: the first one of the list.
    """

    def __init__(self, source, second, third=None):
        ids = second if third is None else third
        if not isinstance(ids, (list, tuple)) or not ids:
            raise ArgumentError("the devices are a list of at least one number", "device_ids")
        self._ids = [int(one) for one in ids]
        self._engine = Engine(Handle(self._ids[0]))
        self._engine.load(source, second if isinstance(source, (bytes, bytearray, memoryview)) and third is not None else None)

    def get_device_ids(self):
        return list(self._ids)

    def get_graph_names(self):
        return self._engine.get_graph_names()

    def get_addr_mode(self, graph_name):
        """1: inputs and outputs of the network have device memory of their own, which `get_input_tensors` gives."""
        return int(self._engine._info(graph_name).addr_mode)

    def get_stage_num(self, graph_name):
        return int(self._engine._info(graph_name).stage_num)

    def get_is_dynamic(self, graph_name):
        return self._engine.graph_is_dynamic(graph_name)

    def process(self, graph_name, input, output, core_list=None):
        """Runs a network: {number: Tensor} for its inputs and outputs. Returns 0."""
        model = self._engine._of(graph_name)
        given = self._arrays(graph_name, input, True)
        wanted = self._arrays(graph_name, output, False)
        model.launch(graph_name, given, wanted, cores=self._engine._cores(graph_name, core_list))
        for tensor in output.values():
            tensor._after_launch()
        return 0

    def get_input_num(self, graph_name):
        return len(self._side(graph_name, True))

    def get_output_num(self, graph_name):
        return len(self._side(graph_name, False))

    def get_input_names(self, graph_name):
        return self._engine.get_input_names(graph_name)

    def get_output_names(self, graph_name):
        return self._engine.get_output_names(graph_name)

    def get_input_name(self, graph_name, index):
        return self._find(graph_name, index, True).name

    def get_output_name(self, graph_name, index):
        return self._find(graph_name, index, False).name

    def get_input_shape(self, graph_name, index, stage=0):
        return self._shape(graph_name, index, stage, True)

    def get_output_shape(self, graph_name, index, stage=0):
        return self._shape(graph_name, index, stage, False)

    def get_input_max_shape(self, graph_name, index):
        return _largest(self._find(graph_name, index, True))

    def get_output_max_shape(self, graph_name, index):
        return _largest(self._find(graph_name, index, False))

    def get_input_dtype(self, graph_name, index):
        return _dtype_of(self._find(graph_name, index, True).dtype)

    def get_output_dtype(self, graph_name, index):
        return _dtype_of(self._find(graph_name, index, False).dtype)

    def get_input_scale(self, graph_name, index):
        return self._engine.get_input_scale(graph_name, self.get_input_name(graph_name, index))

    def get_output_scale(self, graph_name, index):
        return self._engine.get_output_scale(graph_name, self.get_output_name(graph_name, index))

    def get_input_tensor_devid(self, graph_name, index):
        self._find(graph_name, index, True)
        return self._ids[0]

    def get_output_tensor_devid(self, graph_name, index):
        self._find(graph_name, index, False)
        return self._ids[0]

    def get_input_tensors(self, graph_name, name_or_stage=None, stage=0):
        """The network's own device memory, where state stays between launches: all inputs, or those of a name. Empty in mode 0, in which
        that memory holds an input only while its network runs."""
        return self._own(graph_name, name_or_stage, stage, True) if self.get_addr_mode(graph_name) == 1 else {}

    def get_output_tensors(self, graph_name, name_or_stage=None, stage=0):
        return self._own(graph_name, name_or_stage, stage, False) if self.get_addr_mode(graph_name) == 1 else {}

    def get_input_tensor(self, graph_name, index, stage=0):
        self._find(graph_name, index, True)
        return self.get_input_tensors(graph_name, stage).get(index, {})

    def get_output_tensor(self, graph_name, index, stage=0):
        self._find(graph_name, index, False)
        return self.get_output_tensors(graph_name, stage).get(index, {})

    def get_input_tensors_addrmode0(self, graph_name, stage=0):
        """As `get_input_tensors`, in every mode."""
        return self._own(graph_name, None, stage, True)

    def get_output_tensors_addrmode0(self, graph_name, stage=0):
        return self._own(graph_name, None, stage, False)

    def create_max_input_tensors(self, graph_name):
        """New tensors in device memory, for the largest shapes."""
        return self._new(graph_name, True)

    def create_max_output_tensors(self, graph_name):
        return self._new(graph_name, False)

    # -- Inside

    def _side(self, graph_name, inputs):
        model = self._engine._of(graph_name)
        return model.inputs(graph_name) if inputs else model.outputs(graph_name)

    def _find(self, graph_name, index, inputs):
        tensors = self._side(graph_name, inputs)
        if not 0 <= index < len(tensors):
            raise ArgumentError(f"graph {graph_name} has no {'input' if inputs else 'output'} {index}: it has {len(tensors)}", "index")
        return tensors[index]

    def _shape(self, graph_name, index, stage, inputs):
        self._check_stage(graph_name, stage)
        return list(self._find(graph_name, index, inputs).shapes[stage])

    def _check_stage(self, graph_name, stage):
        if not 0 <= stage < self.get_stage_num(graph_name):
            raise ArgumentError(f"graph {graph_name} has no stage {stage}: it has {self.get_stage_num(graph_name)}", "stage")

    def _own(self, graph_name, name_or_stage, stage, inputs):
        name = name_or_stage if isinstance(name_or_stage, str) else None
        stage = stage if name is not None or name_or_stage is None else name_or_stage
        self._check_stage(graph_name, stage)
        model = self._engine._of(graph_name)
        return {i: Tensor._of_array(model.memory(tensor.name, graph_name, stage), self._ids[0])
                for i, tensor in enumerate(self._side(graph_name, inputs)) if name in (None, tensor.name)}

    def _new(self, graph_name, inputs):
        return {i: Tensor(self._engine.get_handle(), _largest(tensor), _dtype_of(tensor.dtype), False, True)
                for i, tensor in enumerate(self._side(graph_name, inputs))}

    def _arrays(self, graph_name, tensors, inputs):
        found = {}
        for i, tensor in enumerate(self._side(graph_name, inputs)):
            if i not in tensors:
                raise ArgumentError(f"graph {graph_name} has the {'input' if inputs else 'output'} {i}, {tensor.name}, for which there is no tensor", str(i))
            found[tensor.name] = tensors[i]._for_launch(tensor.name, tensor.dtype)
        return found
