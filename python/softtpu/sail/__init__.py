"""Inference scripts written for SAIL, the vendor's Python library, run here with their import changed:

    import softtpu.sail as sail                     # was: import sophon.sail as sail
    engine = sail.Engine("net.bmodel", 0, sail.IOMode.SYSIO)
    graph = engine.get_graph_names()[0]
    outputs = engine.process(graph, {name: array for name, array in zip(engine.get_input_names(graph), arrays)})

Names, arguments and meaning are those of SAIL's documentation, as far as networks are concerned: Handle, Tensor, Engine, EngineLLM,
MultiEngine, IOMode, Dtype, BmrtFlag, LogLevel.
Pictures and video (Bmcv, Decoder, MultiDecoder) are not here: use numpy or OpenCV.
"""
from .device import Handle, LogLevel, get_available_tpu_num, get_dev_stat, get_tpu_util, set_dump_io_flag, set_loglevel, set_print_flag
from .engine import Engine, IOMode, MultiEngine
from .llm import BmrtFlag, EngineLLM
from .tensor import DataType, Dtype, Tensor

__all__ = ["BmrtFlag", "DataType", "Dtype", "Engine", "EngineLLM", "Handle", "IOMode", "LogLevel", "MultiEngine", "Tensor", "get_available_tpu_num",
           "get_dev_stat", "get_tpu_util", "set_dump_io_flag", "set_loglevel", "set_print_flag"]
