"""Language models of scripts written for SAIL, whose names `softtpu.sail` has."""
import enum

from ..errors import ArgumentError
from .device import Handle
from .engine import Engine, largest_shape
from .tensor import Tensor, dtype_of


class BmrtFlag(enum.IntFlag):
    """What a runtime shares, for EngineLLM: nothing of what is computed depends on it."""

    BM_RUNTIME_AUTO = 0
    BM_RUNTIME_SHARE_MEM = 1
    BM_RUNTIME_CHECK_MEM = 2


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
        return largest_shape(self._find(graph_name, index, True))

    def get_output_max_shape(self, graph_name, index):
        return largest_shape(self._find(graph_name, index, False))

    def get_input_dtype(self, graph_name, index):
        return dtype_of(self._find(graph_name, index, True).dtype)

    def get_output_dtype(self, graph_name, index):
        return dtype_of(self._find(graph_name, index, False).dtype)

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
        return {i: Tensor(self._engine.get_handle(), largest_shape(tensor), dtype_of(tensor.dtype), False, True)
                for i, tensor in enumerate(self._side(graph_name, inputs))}

    def _arrays(self, graph_name, tensors, inputs):
        found = {}
        for i, tensor in enumerate(self._side(graph_name, inputs)):
            if i not in tensors:
                raise ArgumentError(f"graph {graph_name} has the {'input' if inputs else 'output'} {i}, {tensor.name}, for which there is no tensor", str(i))
            found[tensor.name] = tensors[i]._for_launch(tensor.name, tensor.dtype)
        return found
