"""Compiled networks (.bmodel), run by libbmrt on a device."""
import ctypes
import json
import os
import pathlib
import subprocess

import numpy as np

from . import _native, types
from .array import Array
from .errors import ArgumentError, Error

# Of libbmrt's interface, as far as it is used here (bmdef.h).
_MOST_DIMENSIONS = 8
_TYPES = ["float32", "float16", "int8", "uint8", "int16", "uint16", "int32", "uint32", "bfloat16"]


class _Shape(ctypes.Structure):
    _fields_ = [("num_dims", ctypes.c_int), ("dims", ctypes.c_int * _MOST_DIMENSIONS)]


class _Stage(ctypes.Structure):
    _fields_ = [("input_shapes", ctypes.POINTER(_Shape)), ("output_shapes", ctypes.POINTER(_Shape)),
                ("input_mems", ctypes.c_void_p), ("output_mems", ctypes.c_void_p)]


class _NetInfo(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("is_dynamic", ctypes.c_bool), ("input_num", ctypes.c_int),
                ("input_names", ctypes.POINTER(ctypes.c_char_p)), ("input_dtypes", ctypes.POINTER(ctypes.c_int)),
                ("input_scales", ctypes.POINTER(ctypes.c_float)), ("output_num", ctypes.c_int),
                ("output_names", ctypes.POINTER(ctypes.c_char_p)), ("output_dtypes", ctypes.POINTER(ctypes.c_int)),
                ("output_scales", ctypes.POINTER(ctypes.c_float)), ("stage_num", ctypes.c_int), ("stages", ctypes.POINTER(_Stage)),
                ("max_input_bytes", ctypes.POINTER(ctypes.c_size_t)), ("max_output_bytes", ctypes.POINTER(ctypes.c_size_t))]


_FUNCTIONS = {
    "bmrt_create": (ctypes.c_void_p, [ctypes.c_void_p]),
    "bmrt_destroy": (None, [ctypes.c_void_p]),
    "bmrt_load_bmodel": (ctypes.c_bool, [ctypes.c_void_p, ctypes.c_char_p]),
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
    arrays. `networks` names those in the file; `network=` chooses one."""

    def __init__(self, device, path):
        path = pathlib.Path(path)
        if not path.is_file():
            raise Error(f"{path} is no file.")
        lib = _bmrt()
        self.device, self._runtime = device, lib.bmrt_create(device._handle)
        if not self._runtime:
            raise Error(f"libbmrt cannot be used with this device: {_native.last_failure()['text']}")
        if not lib.bmrt_load_bmodel(self._runtime, os.fsencode(path)):
            text = _native.last_failure()["text"]
            self.close()
            raise Error(f"{path} cannot be loaded: {text or 'it is no network for this chip'}")
        count = lib.bmrt_get_network_number(self._runtime)
        names = ctypes.POINTER(ctypes.c_char_p)()
        lib.bmrt_get_network_names(self._runtime, ctypes.byref(names))
        self.networks = [names[i].decode() for i in range(count)]
        ctypes.CDLL(None).free(ctypes.cast(names, ctypes.c_void_p))
        self._infos = {name: lib.bmrt_get_network_info(self._runtime, name.encode()).contents for name in self.networks}

    def inputs(self, network=None):
        """The inputs of a network, as `Tensor`s."""
        info = self._infos[network or self.networks[0]]
        return [Tensor(info.input_names[i].decode(), _TYPES[info.input_dtypes[i]],
                       [_to_tuple(info.stages[s].input_shapes[i]) for s in range(info.stage_num)], info.max_input_bytes[i])
                for i in range(info.input_num)]

    def outputs(self, network=None):
        """The outputs of a network, as `Tensor`s."""
        info = self._infos[network or self.networks[0]]
        return [Tensor(info.output_names[i].decode(), _TYPES[info.output_dtypes[i]],
                       [_to_tuple(info.stages[s].output_shapes[i]) for s in range(info.stage_num)], info.max_output_bytes[i])
                for i in range(info.output_num)]

    def __call__(self, *values, network=None, **named):
        self.device._check_open()
        network = network or self.networks[0]
        if network not in self._infos:
            raise Error(f"the file has no network {network!r}: {', '.join(self.networks)}")
        inputs, outputs = self.inputs(network), self.outputs(network)
        data = [self._to_input(tensor, value) for tensor, value in zip(inputs, self._ordered(inputs, values, named))]
        results = [np.empty(tensor.most_bytes, np.uint8) for tensor in outputs]
        shapes = (_Shape * max(len(outputs), 1))()
        given = (_Shape * max(len(data), 1))(*(_to_shape(array.shape) for array in data))
        ok = _bmrt().bmrt_launch_data(self._runtime, network.encode(), _pointers(data), given, len(data), _pointers(results), shapes,
                                      len(results), True)
        if not ok:
            raise Error(f"network {network}: {_native.last_failure()['text'] or 'the launch failed'}")
        return {tensor.name: _cut(raw, tensor, _to_tuple(shape)) for tensor, raw, shape in zip(outputs, results, shapes)}

    @staticmethod
    def time(path, network=None):
        """How long the networks of a file would take on their chip, without running them: a list of dictionaries as `softtpu bmodel time --json`
        prints it, one for each network and stage. `us` is the estimate, `error` what networks of the same precision were off."""
        command = [_native.program(), "bmodel", "time", "--json", path, *(["--network", network] if network else [])]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Error(done.stderr.strip().removeprefix("softtpu: "))
        return json.loads(done.stdout)

    def close(self):
        """Gives the network's memory back."""
        runtime, self._runtime = self._runtime, None
        if runtime and self.device.is_open:
            _bmrt().bmrt_destroy(runtime)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

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
    def _to_input(tensor, value):
        array = value.numpy() if isinstance(value, Array) else np.asarray(value)
        if tuple(array.shape) not in tensor.shapes:
            raise ArgumentError(f"input {tensor!r} is given with shape {list(array.shape)}", tensor.name)
        return types.as_storage(array, tensor.dtype)


def _to_tuple(shape):
    return tuple(shape.dims[:shape.num_dims])


def _to_shape(extents):
    return _Shape(len(extents), (ctypes.c_int * _MOST_DIMENSIONS)(*extents))


def _pointers(arrays):
    return (ctypes.c_void_p * max(len(arrays), 1))(*(array.ctypes.data for array in arrays))


def _cut(raw, tensor, shape):
    storage = types.element_type(tensor.dtype).storage
    count = int(np.prod(shape, dtype=np.int64))
    return raw[:count * storage.itemsize].view(storage).reshape(shape)
