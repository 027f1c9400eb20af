"""Compiled networks (.bmodel), run by libbmrt on a device."""
import concurrent.futures
import ctypes
import json
import os
import pathlib
import subprocess

import numpy as np

from . import _api, _native, types
from .array import Array, Lent, _strides_of
from .errors import ArgumentError, Error

# Of libbmrt's interface, as far as it is used here (bmdef.h).
_MOST_DIMENSIONS = 8
_TYPES = ["float32", "float16", "int8", "uint8", "int16", "uint16", "int32", "uint32", "bfloat16"]


class _Shape(ctypes.Structure):
    _fields_ = [("num_dims", ctypes.c_int), ("dims", ctypes.c_int * _MOST_DIMENSIONS)]


class _Tensor(ctypes.Structure):
    _fields_ = [("dtype", ctypes.c_int), ("shape", _Shape), ("memory", _api.bm_mem_desc), ("mode", ctypes.c_int)]


class _Stage(ctypes.Structure):
    _fields_ = [("input_shapes", ctypes.POINTER(_Shape)), ("output_shapes", ctypes.POINTER(_Shape)),
                ("input_mems", ctypes.POINTER(_api.bm_mem_desc)), ("output_mems", ctypes.POINTER(_api.bm_mem_desc))]


class _NetInfo(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("is_dynamic", ctypes.c_bool), ("input_num", ctypes.c_int),
                ("input_names", ctypes.POINTER(ctypes.c_char_p)), ("input_dtypes", ctypes.POINTER(ctypes.c_int)),
                ("input_scales", ctypes.POINTER(ctypes.c_float)), ("output_num", ctypes.c_int),
                ("output_names", ctypes.POINTER(ctypes.c_char_p)), ("output_dtypes", ctypes.POINTER(ctypes.c_int)),
                ("output_scales", ctypes.POINTER(ctypes.c_float)), ("stage_num", ctypes.c_int), ("stages", ctypes.POINTER(_Stage)),
                ("max_input_bytes", ctypes.POINTER(ctypes.c_size_t)), ("max_output_bytes", ctypes.POINTER(ctypes.c_size_t)),
                ("input_zero_point", ctypes.POINTER(ctypes.c_int)), ("output_zero_point", ctypes.POINTER(ctypes.c_int)),
                ("input_loc_devices", ctypes.POINTER(ctypes.c_int)), ("output_loc_devices", ctypes.POINTER(ctypes.c_int)),
                ("core_num", ctypes.c_int), ("addr_mode", ctypes.c_int32)]


_FUNCTIONS = {
    "bmrt_create": (ctypes.c_void_p, [ctypes.c_void_p]),
    "bmrt_destroy": (None, [ctypes.c_void_p]),
    "bmrt_load_bmodel": (ctypes.c_bool, [ctypes.c_void_p, ctypes.c_char_p]),
    "bmrt_load_bmodel_data": (ctypes.c_bool, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]),
    "softtpu_bmrt_use_firmware": (ctypes.c_bool, [ctypes.c_void_p, ctypes.c_char_p]),
    "bmrt_launch_tensor_ex": (ctypes.c_bool, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_int,
                                              ctypes.c_bool, ctypes.c_bool]),
    "bmrt_launch_tensor_multi_cores": (ctypes.c_bool, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p,
                                                       ctypes.c_int, ctypes.c_bool, ctypes.c_bool, ctypes.c_void_p, ctypes.c_int]),
    "bmrt_launch_data_multi_cores": (ctypes.c_bool, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int,
                                                     ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_bool, ctypes.c_void_p,
                                                     ctypes.c_int]),
    "bmrt_get_network_number": (ctypes.c_int, [ctypes.c_void_p]),
    "bmrt_get_network_names": (None, [ctypes.c_void_p, ctypes.c_void_p]),
    "bmrt_get_network_info": (ctypes.POINTER(_NetInfo), [ctypes.c_void_p, ctypes.c_char_p]),
    "bmrt_launch_data": (ctypes.c_bool, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int,
                                         ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_bool]),
}


def _bmrt():
    if not (_native.tree().lib / "libbmrt.so").exists():
        raise Error(f"compiled networks need libbmrt.so, which is not in {_native.tree().lib}: this softtpu was built without it.")
    return _native._load("libbmrt.so", _FUNCTIONS)


class Tensor:
    """An input or output of a network: `name`, `dtype` and the `shapes` that it may have, one for each stage."""

    def __init__(self, name, dtype, shapes, most_bytes):
        self.name, self.dtype, self.shapes, self.most_bytes = name, dtype, shapes, most_bytes

    def __repr__(self):
        return f"<{self.name}: {self.dtype} {' or '.join(str(list(shape)) for shape in self.shapes)}>"


class Model:
    """A compiled network on a device. Called with its inputs, by position or name, it gives its outputs as a dictionary of numpy
    arrays. `networks` names those in the file; `network=` chooses one. `cores=` lists the cores that it runs on, as many as it was
    compiled for; without it the first ones."""

    _worker = None

    def __init__(self, device, path, *, firmware=None):
        data = bytes(path) if isinstance(path, (bytes, bytearray, memoryview)) else None
        if data is None:
            path = pathlib.Path(path)
            if not path.is_file():
                raise Error(f"{path} is no file.")
        lib = _bmrt()
        self.device, self._runtime = device, lib.bmrt_create(device._handle)
        if not self._runtime:
            raise Error(f"libbmrt cannot be used with this device: {_native.last_failure()['text']}")
        if firmware is not None:
            lib.softtpu_bmrt_use_firmware(self._runtime, os.fsencode(firmware))
        if data is None:
            loaded, what = lib.bmrt_load_bmodel(self._runtime, os.fsencode(path)), path
        else:
            loaded, what = lib.bmrt_load_bmodel_data(self._runtime, data, len(data)), f"a network of {len(data)} bytes"
        if not loaded:
            text = _native.last_failure()["text"]
            self.close()
            raise Error(f"{what} cannot be loaded: {text or 'it is no network for this chip'}")
        count = lib.bmrt_get_network_number(self._runtime)
        names = ctypes.POINTER(ctypes.c_char_p)()
        lib.bmrt_get_network_names(self._runtime, ctypes.byref(names))
        self.networks = [_native.to_text(names[i]) for i in range(count)]
        ctypes.CDLL(None).free(ctypes.cast(names, ctypes.c_void_p))
        self._infos = {name: lib.bmrt_get_network_info(self._runtime, _native.to_bytes(name)).contents for name in self.networks}

    def inputs(self, network=None):
        """The inputs of a network, as `Tensor`s."""
        info = self._infos[self._name(network)]
        return [Tensor(_native.to_text(info.input_names[i]), _TYPES[info.input_dtypes[i]],
                       [_to_tuple(info.stages[s].input_shapes[i]) for s in range(info.stage_num)], info.max_input_bytes[i])
                for i in range(info.input_num)]

    def outputs(self, network=None):
        """The outputs of a network, as `Tensor`s."""
        info = self._infos[self._name(network)]
        return [Tensor(_native.to_text(info.output_names[i]), _TYPES[info.output_dtypes[i]],
                       [_to_tuple(info.stages[s].output_shapes[i]) for s in range(info.stage_num)], info.max_output_bytes[i])
                for i in range(info.output_num)]

    def __call__(self, *values, network=None, cores=None, **named):
        self.device._check_open()
        network = self._name(network)
        inputs, outputs = self.inputs(network), self.outputs(network)
        dynamic = bool(self._infos[network].is_dynamic)
        data = [self._to_input(tensor, value, dynamic) for tensor, value in zip(inputs, self._ordered(inputs, values, named))]
        results = [np.empty(tensor.most_bytes, np.uint8) for tensor in outputs]
        shapes = (_Shape * max(len(outputs), 1))()
        given = (_Shape * max(len(data), 1))(*(_to_shape(array.shape) for array in data))
        function, chosen = _on_cores("bmrt_launch_data", cores)
        ok = function(self._runtime, _native.to_bytes(network), _pointers(data), given, len(data), _pointers(results), shapes, len(results), True,
                      *chosen)
        if not ok:
            raise Error(f"network {network}: {_native.last_failure()['text'] or 'the launch failed'}")
        return {tensor.name: _cut(raw, tensor, _to_tuple(shape)) for tensor, raw, shape in zip(outputs, results, shapes)}

    def submit(self, *values, network=None, cores=None, **named):
        """As a call, in the background: a `concurrent.futures.Future` of the outputs. Submitted calls run in their order."""
        if self._worker is None:
            self._worker = concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="softtpu-model")
        return self._worker.submit(self, *values, network=network, cores=cores, **named)

    def map(self, batches, network=None):
        """The outputs for each of many inputs (a dictionary, a tuple or a single array), in their order; the next inputs are
        taken while a network runs."""
        waiting = None
        for batch in batches:
            future = self.submit(*(batch if isinstance(batch, (tuple, list)) else (batch,)), network=network)
            if waiting is not None:
                yield waiting.result()
            waiting = future
        if waiting is not None:
            yield waiting.result()

    def memory(self, name, network=None, stage=0):
        """An input or output of a network as an `Array`: the network's own device memory, where state stays between launches."""
        network = self._name(network)
        info = self._infos[network]
        for count, names, kinds, side in ((info.input_num, info.input_names, info.input_dtypes, "input"),
                                          (info.output_num, info.output_names, info.output_dtypes, "output")):
            for i in range(count):
                if _native.to_text(names[i]) == name:
                    shape = _to_tuple(getattr(info.stages[stage], f"{side}_shapes")[i])
                    address = _native.bmlib().bm_mem_get_device_addr(getattr(info.stages[stage], f"{side}_mems")[i])
                    return self._array(address, shape, _TYPES[kinds[i]])
        raise ArgumentError(f"network {network} has no tensor {name!r}")

    def launch(self, network=None, inputs=None, outputs=None, stage=0, cores=None):
        """Runs a network in device memory: `Array`s by name; tensors that are not named are the network's own (`memory`). Returns when
        the launch has ended, with the outputs as `Array`s."""
        self.device._check_open()
        network = self._name(network)
        info = self._infos[network]
        given = [(info.input_num, info.input_names, info.input_dtypes, dict(inputs or {})),
                 (info.output_num, info.output_names, info.output_dtypes, dict(outputs or {}))]
        sides, shown = [], {}
        for which, (count, names, kinds, arrays) in enumerate(given):
            tensors = (_Tensor * max(count, 1))()
            for i in range(count):
                name = _native.to_text(names[i])
                array = arrays.pop(name, None)
                if array is None:
                    array = self.memory(name, network, stage)
                if not isinstance(array, Array) or array.kind.name != _TYPES[kinds[i]] or not array.is_contiguous:
                    raise ArgumentError(f"tensor {name!r} has to be an Array of {_TYPES[kinds[i]]} with contiguous elements", name)
                tensors[i] = _Tensor(kinds[i], _to_shape(array.shape), _native.bmlib().bm_mem_from_device(array.address, array.nbytes), 0)
                if which == 1:
                    shown[name] = array
            if arrays:
                raise ArgumentError(f"network {network} has no {'input' if which == 0 else 'output'} {', '.join(map(repr, arrays))}")
            sides.append((tensors, count))
        self.device._wait_for_launches()
        (ins, in_count), (outs, out_count) = sides
        function, chosen = _on_cores("bmrt_launch_tensor", cores)
        if not function(self._runtime, _native.to_bytes(network), ins, in_count, outs, out_count, True, False, *chosen):
            raise Error(f"network {network}: {_native.last_failure()['text'] or 'the launch failed'}")
        _native.check(_native.bmlib().bm_thread_sync(self.device._handle))
        # A dynamic network says here how large its outputs are.
        return {name: self._array(array.address, _to_tuple(tensor.shape), array.kind.name, array)
                for (name, array), tensor in zip(shown.items(), outs)}

    @property
    def last_estimate_us(self):
        """How long the last launch would take on the chip, in microseconds; None on a device that estimates no times."""
        if not self.device.estimates_times:
            return None
        us = ctypes.c_ulong()
        _native.check(_native.bmlib().bm_get_last_api_process_time_us(self.device._handle, ctypes.byref(us)))
        return us.value

    @staticmethod
    def time(path, network=None, *, cores=None, length=None, blocks=None, together_with=None):
        """How long the networks of a file would take on their chip, without running them: a list of dictionaries as `softtpu bmodel time --json`
        prints it, one for each network and stage. `us` is the estimate, `error` what networks of the same precision were off, `rests_on_us` which
        parts of it rest on measured, fitted and guessed parameters. The other arguments are the options of that command."""
        options = {"network": network, "cores": cores, "length": length, "blocks": blocks, "with": together_with}
        command = [_native.program(), "bmodel", "time", "--json", path]
        for name, value in options.items():
            command += [f"--{name}", str(value)] if value else []
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Error(done.stderr.strip().removeprefix("softtpu: "))
        return json.loads(done.stdout)

    def close(self):
        """Gives the network's memory back."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.shutdown()
        runtime, self._runtime = self._runtime, None
        if runtime and self.device.is_open:
            _bmrt().bmrt_destroy(runtime)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _name(self, network):
        if not self._runtime:
            raise Error("the network is closed.")
        network = network or self.networks[0]
        if network not in self._infos:
            raise Error(f"the file has no network {network!r}: {', '.join(self.networks)}")
        return network

    def _array(self, address, shape, name, owner=None):
        kind = types.element_type(name)
        nbytes = int(np.prod(shape, dtype=np.int64)) * kind.itemsize
        return Array._make(Lent(self.device, address, nbytes, owner or self), 0, shape, _strides_of(shape, kind.itemsize), kind)

    @staticmethod
    def _ordered(inputs, values, named):
        names = [tensor.name for tensor in inputs]
        if len(values) == 1 and isinstance(values[0], dict) and not named:
            values, named = (), values[0]
        given = dict(zip(names, values))
        if len(values) > len(names) or set(named) - set(names) or set(named) & set(given) or len(given) + len(named) != len(names):
            raise ArgumentError(f"the network has the inputs {', '.join(names)}; given are {len(values)} by position and "
                                f"{', '.join(map(str, named)) or 'none'} by name")
        return [{**given, **named}[name] for name in names]

    @staticmethod
    def _to_input(tensor, value, dynamic=False):
        if isinstance(value, Array):
            array = value.numpy()
        elif hasattr(value, "__dlpack__") and not isinstance(value, np.ndarray):
            array = np.from_dlpack(value)
        else:
            array = np.asarray(value)
        fits = any(len(shape) == array.ndim and all(0 < extent <= most for extent, most in zip(array.shape, shape)) for shape in tensor.shapes)
        if tuple(array.shape) not in tensor.shapes and not (dynamic and fits):
            raise ArgumentError(f"input {tensor!r} is given with shape {list(array.shape)}" + ("; it may be smaller, not larger" if dynamic else ""),
                                tensor.name)
        return types.as_storage(array, tensor.dtype)


def _to_tuple(shape):
    return tuple(shape.dims[:shape.num_dims])


def _to_shape(extents):
    return _Shape(len(extents), (ctypes.c_int * _MOST_DIMENSIONS)(*extents))


def _on_cores(name, cores):
    """The function that launches on these cores, and what it takes for them."""
    if cores is None:
        return getattr(_bmrt(), {"bmrt_launch_tensor": "bmrt_launch_tensor_ex"}.get(name, name)), ()
    numbers = [int(core) for core in cores]
    return getattr(_bmrt(), f"{name}_multi_cores"), ((ctypes.c_int * max(len(numbers), 1))(*numbers), len(numbers))


def _pointers(arrays):
    return (ctypes.c_void_p * max(len(arrays), 1))(*(array.ctypes.data for array in arrays))


def _cut(raw, tensor, shape):
    storage = types.element_type(tensor.dtype).storage
    count = int(np.prod(shape, dtype=np.int64))
    return raw[:count * storage.itemsize].view(storage).reshape(shape)
