"""Networks of scripts written for SAIL, whose names `softtpu.sail` has."""
import enum

import numpy as np

from .. import types
from ..errors import ArgumentError, Error
from .device import Handle
from .tensor import Tensor, dtype_of, quantise


class IOMode(enum.Enum):
    """Where a program has the inputs and outputs of a network: in the host's memory or in the device's."""

    SYSI = 0
    SYSO = 1
    SYSIO = 2
    DEVIO = 3


def largest_shape(tensor):
    return [max(extents) for extents in zip(*tensor.shapes)]


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
        return {tensor.name: largest_shape(tensor) for tensor in self._of(graph_name).inputs(graph_name)}

    def get_max_output_shapes(self, graph_name):
        return {tensor.name: largest_shape(tensor) for tensor in self._of(graph_name).outputs(graph_name)}

    def get_input_dtype(self, graph_name, tensor_name):
        return dtype_of(self._find(graph_name, tensor_name, True).dtype)

    def get_output_dtype(self, graph_name, tensor_name):
        return dtype_of(self._find(graph_name, tensor_name, False).dtype)

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
                values = quantise(values, kind, info.input_scales[i], info.input_zero_point[i])
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
        return {tensor.name: Tensor(self._handle, largest_shape(tensor), dtype_of(tensor.dtype), own_sys, create_mode != 0)
                for tensor in (model.inputs(graph_name) if inputs else model.outputs(graph_name))}


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
