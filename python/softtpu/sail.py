"""Inference scripts written for SAIL, the vendor's Python library, run here with their import changed:

    import softtpu.sail as sail                     # was: import sophon.sail as sail
    engine = sail.Engine("net.bmodel", 0, sail.IOMode.SYSIO)
    graph = engine.get_graph_names()[0]
    outputs = engine.process(graph, {name: array for name, array in zip(engine.get_input_names(graph), arrays)})

Names, arguments and meaning are those of SAIL's documentation, as far as networks are concerned: Handle, Tensor, Engine, IOMode, Dtype.
Pictures and video (Bmcv, Decoder, MultiDecoder) are not here: use numpy or OpenCV.
"""
import atexit
import enum
import threading
import weakref

import numpy as np

from . import types
from .device import Device
from .errors import ArgumentError, Error

__all__ = ["DataType", "Dtype", "Engine", "Handle", "IOMode", "MultiEngine", "Tensor", "get_available_tpu_num", "set_dump_io_flag", "set_loglevel",
           "set_print_flag"]


class IOMode(enum.Enum):
    """Where a program has the inputs and outputs of a network: in the host's memory or in the device's."""

    SYSI = 0
    SYSO = 1
    SYSIO = 2
    DEVIO = 3


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
    from . import _native
    import ctypes
    count = ctypes.c_int()
    _native.check(_native.bmlib().bm_dev_getcount(ctypes.byref(count)))
    return count.value


def set_print_flag(print_flag):
    """Accepted: SAIL prints times of its steps; `softtpu run --time` shows them."""


def set_dump_io_flag(dump_io_flag):
    """Accepted: SAIL writes files of inputs and outputs; `softtpu bmodel run --dump-layers` does."""


def set_loglevel(loglevel):
    """Accepted: BMLIB_LOG sets what is logged."""


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
    Tensor(tensor, shape, offset): a part of another tensor's device memory, from element `offset` on.
    """

    def __init__(self, source, data_or_shape, third=None, own_sys_data=None, own_dev_data=None):
        self._scale, self._host, self._array = 1.0, None, None
        if isinstance(source, Tensor):
            self._view_of(source, data_or_shape, third or 0)
            return
        if not isinstance(source, Handle):
            raise ArgumentError(f"a Tensor is made with a Handle or a Tensor, not with {type(source).__name__}", "handle")
        self._device = source.device
        if isinstance(third, Dtype):
            kind = types.element_type(_KINDS[third.value])
            own_sys, own_dev = bool(own_sys_data), bool(own_dev_data)
            self._kind, self._shape = kind, [int(extent) for extent in data_or_shape]
            if own_sys:
                self._host = np.zeros(self._shape, kind.storage)
            if own_dev:
                self._array = self._device.zeros(self._shape, kind)
            return
        values = np.asarray(data_or_shape)
        if values.dtype == np.float64:
            values = values.astype(np.float32)
        if values.dtype == np.int64:
            values = values.astype(np.int32)
        keeps = True if third is None else bool(third)
        self._kind, self._shape = types.element_type(values.dtype), list(values.shape)
        self._array = self._device.array(values)
        self._host = np.array(values, order="C") if keeps else None

    def _view_of(self, source, shape, offset):
        if source._array is None:
            raise Error("the tensor has no device memory to share.")
        count = int(np.prod(shape, dtype=np.int64))
        flat = source._array.reshape(-1)
        if offset < 0 or offset + count > flat.size:
            raise ArgumentError(f"elements {offset} to {offset + count} are not in a tensor of {flat.size}", "offset")
        self._device, self._kind, self._shape, self._owner = source._device, source._kind, [int(extent) for extent in shape], source
        self._array = flat[offset:offset + count].reshape(tuple(self._shape))

    @classmethod
    def _of_array(cls, array, scale=1.0):
        made = cls.__new__(cls)
        made._device, made._kind, made._shape, made._array, made._host, made._scale = (
            array.device, array.kind, list(array.shape), array, None, scale)
        return made

    # -- What it is

    def shape(self):
        return list(self._shape)

    def dtype(self):
        return _dtype_of(self._kind)

    def own_sys_data(self):
        return self._host is not None

    def own_dev_data(self):
        return self._array is not None

    def is_dev_data_valid(self):
        return self._array is not None

    def is_sys_data_valid(self):
        return self._host is not None

    def size(self):
        return int(np.prod(self._shape, dtype=np.int64))

    def element_size(self):
        return self._kind.itemsize

    def nbytes(self):
        return self.size() * self._kind.itemsize

    def device_id(self):
        return 0

    def __repr__(self):
        return f"<softtpu.sail.Tensor {self._shape} {self._kind}>"

    # -- Contents

    def reshape(self, shape):
        """Other extents; as many elements, or fewer."""
        if int(np.prod(shape, dtype=np.int64)) > self.size():
            raise ArgumentError(f"a tensor of {self.size()} elements has no shape {list(shape)}", "shape")
        count = int(np.prod(shape, dtype=np.int64))
        if self._array is not None:
            self._array = self._array.reshape(-1)[:count].reshape(tuple(shape))
        if self._host is not None:
            self._host = self._host.reshape(-1)[:count].reshape(shape)
        self._shape = [int(extent) for extent in shape]

    def asnumpy(self, shape=None):
        """The elements as an array: the host's where the tensor has them, else the device's. bfloat16 gives its bits."""
        values = self._host.copy() if self._host is not None else self._array.numpy()
        return values if shape is None else values.reshape(shape)

    def pysys_data(self):
        if self._host is None:
            raise Error("the tensor has no memory of the host.")
        return self._host

    def update_data(self, data):
        """Other elements, of as many bytes at most; in the host's memory where the tensor has some, else in the device's."""
        values = np.ascontiguousarray(data)
        if values.size > self.size():
            raise ArgumentError(f"{values.size} elements do not fit a tensor of {self.size()}", "data")
        values = types.as_storage(values, self._kind).reshape(-1)
        if self._host is not None:
            self._host.reshape(-1)[:values.size] = values
        if self._array is not None and self._host is None:
            self._array.reshape(-1)[:values.size].write(values)

    def scale_from(self, data, scale):
        """Stores data * scale, rounded to whole numbers of the tensor's type."""
        self.update_data(_quantise(np.asarray(data, np.float32), self._kind, scale, 0))
        self._scale = scale

    def scale_to(self, scale, shape=None):
        """The elements as float32, times scale."""
        values = self.asnumpy().astype(np.float32) * np.float32(scale)
        return values if shape is None else values.reshape(shape)

    def sync_s2d(self, size=None):
        """From the host's memory to the device's: all elements, or the first `size`."""
        host, array = self._both()
        count = self.size() if size is None else int(size)
        array.reshape(-1)[:count].write(host.reshape(-1)[:count])

    def sync_d2s(self, size=None):
        """From the device's memory to the host's: all elements, or the first `size`."""
        host, array = self._both()
        count = self.size() if size is None else int(size)
        host.reshape(-1)[:count] = array.reshape(-1)[:count].numpy()

    def sync_d2d(self, src, offset_src, offset_dst, length):
        """Copies `length` elements of another tensor on the device."""
        if self._array is None or src._array is None:
            raise Error("both tensors need device memory.")
        self._array.reshape(-1)[offset_dst:offset_dst + length].copy_from(src._array.reshape(-1)[offset_src:offset_src + length])

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
        values = self.asnumpy()
        if bin:
            values.tofile(file_name)
        else:
            np.savetxt(file_name, values.reshape(-1), fmt="%.8g")

    def _both(self):
        if self._host is None or self._array is None:
            raise Error("the tensor has no memory of the " + ("host." if self._host is None else "device."))
        return self._host, self._array

    def _on(self, handle):
        """The tensor itself, or a copy of its elements on another device."""
        return self if self._device is handle.device else Tensor(handle, self.asnumpy())

    def _for_launch(self, name, kind):
        """Device memory of the network's type."""
        if self._kind.name != kind:
            raise ArgumentError(f"tensor {name!r} is of {self._kind}, the network's is of {kind}", name)
        if self._array is None:
            self._array = self._device.array(self._host)
        return self._array


def _quantise(values, kind, scale, zero_point):
    limits = np.iinfo(kind.storage)
    return np.clip(np.rint(values * np.float32(scale) + zero_point), limits.min, limits.max).astype(kind.storage)


class Engine:
    """Networks of compiled files on a device.

    Engine(tpu_id) or Engine(handle): without a network yet.
    Engine(bmodel_path, tpu_id, mode), Engine(bmodel_bytes, bmodel_size, tpu_id, mode): with those of a file or of its bytes.
    """

    def __init__(self, source, second=None, third=None, fourth=None):
        self._models, self._modes, self._mode, self._tensors = {}, {}, IOMode.SYSIO, weakref.WeakValueDictionary()
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
        """Tensors for all inputs, with memory as `create_mode` or the graph's IOMode says: 0 both, 1 the host's, 2 the device's."""
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
        """
        model = self._of(graph_name)
        if rest and isinstance(rest[-1], (list, tuple)):
            rest, core_list = rest[:-1], rest[-1]
        cores = list(core_list) if core_list else None
        names = self.get_input_names(graph_name)
        if set(input_tensors) != set(names):
            raise ArgumentError(f"graph {graph_name} has the inputs {', '.join(names)}; given are {', '.join(map(str, input_tensors)) or 'none'}")
        if not rest:
            if any(isinstance(value, Tensor) for value in input_tensors.values()):
                raise ArgumentError("with tensors as inputs, tensors for the outputs are needed", "output_tensors")
            return self._process_arrays(model, graph_name, input_tensors, cores)
        shapes, outputs = ({}, rest[0]) if len(rest) == 1 else rest[:2]
        self._process_tensors(model, graph_name, input_tensors, shapes, outputs, cores)
        return None

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
            if mode in (IOMode.SYSI, IOMode.SYSIO) and value.own_sys_data() and value.own_dev_data():
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
            if mode in (IOMode.SYSO, IOMode.SYSIO) and outputs[name].own_sys_data():
                outputs[name].sync_d2s()

    # -- Inside

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
        own_sys = create_mode in (0, 1) if create_mode >= 0 else mode in ((IOMode.SYSI, IOMode.SYSIO) if inputs else (IOMode.SYSO, IOMode.SYSIO))
        own_dev = create_mode in (0, 2) if create_mode >= 0 else True
        return {tensor.name: Tensor(self._handle, _largest(tensor), _dtype_of(tensor.dtype), own_sys, own_dev)
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
        outputs = engine.create_output_tensors_map(self._graph, 0 if self._sys_out else 2)
        engine.process(self._graph, own, outputs)
        return outputs
