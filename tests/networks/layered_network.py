"""A network of seven layers whose results all lie in global memory, with the compiler's map of tensors: put together from instructions of recorded
networks, because the compiler keeps small networks in local memory. What it computes stands in `reference`; `FAULTS` are changes of one
instruction."""
import json
import pathlib
import struct
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "host")]

import make_networks
import planted_test

NETWORKS = HERE.parent / "golden-networks"
CHANNELS, ROWS, COLUMNS = 8, 16, 16
SHAPE = (1, CHANNELS, ROWS, COLUMNS)
SCALE = 2.0  # of the layer in bytes
_BYTE, _HALF, _FLOAT = 0, 1, 2  # as the units number the types
_BYTES = {_BYTE: 1, _HALF: 2, _FLOAT: 4}
_NAMES = {_BYTE: "si8", _HALF: "f16", _FLOAT: "f32"}
_ADD, _SUB, _MAX, _MUL, _CAST = 2, 3, 4, 0, 14
_PLACE = 0x100000000
_LOCAL = 0x8000000
_ROOM = 0x4000


def bits(kind, value):
    return struct.unpack("<I", struct.pack("<f", value))[0] if kind == _FLOAT else struct.unpack("<H", struct.pack("<e", value))[0]


# Layer, operation, type of its result, and its instructions: (function, type of the operand, type of the result, constant).
LAYERS = [
    ("scaled_Mul", "tpu.MulConst", _FLOAT, [(_MUL, _FLOAT, _FLOAT, 3.0)]),
    ("shifted_Add", "tpu.AddConst", _FLOAT, [(_ADD, _FLOAT, _FLOAT, -0.5)]),
    ("rectified_Relu", "tpu.Relu", _FLOAT, [(_MAX, _FLOAT, _FLOAT, 0.0)]),
    ("rectified_Relu_f16", "tpu.Cast", _HALF, [(_CAST, _FLOAT, _HALF, None)]),
    ("grown_Mul", "tpu.MulConst", _HALF, [(_MUL, _HALF, _HALF, 100.0)]),
    ("grown_Mul_si8", "tpu.Cast", _BYTE, [(_MUL, _HALF, _HALF, 1 / SCALE), (_CAST, _HALF, _BYTE, None)]),
    ("y_f32", "tpu.Cast", _FLOAT, [(_CAST, _BYTE, _FLOAT, None), (_MUL, _FLOAT, _FLOAT, SCALE)]),
]
# Number of a TIU instruction, and the constant that it has instead.
FAULTS = {"wrong scale": (6, bits(_HALF, 0.25)), "lost ReLU": (3, bits(_FLOAT, -1e30)), "overflow": (5, bits(_HALF, 40000.0))}
FIRST = {"wrong scale": "grown_Mul_si8", "lost ReLU": "rectified_Relu", "overflow": "grown_Mul"}


def reference(x):
    """The float model: every tensor by the names of an ONNX model's outputs."""
    scaled = x * 3.0
    shifted = scaled - 0.5
    rectified = shifted.clip(min=0)
    grown = rectified * 100.0
    return {"x": x, "scaled": scaled, "shifted": shifted, "rectified": rectified, "grown": grown, "y": grown}


class _Templates:
    """Instructions of a recorded network whose fields can be set."""

    def __init__(self, program, network):
        file = NETWORKS / f"{network}.bmodel"
        shown = subprocess.run([program, "bmodel", "disasm", "--json", file], capture_output=True, text=True, check=True, timeout=100)
        self.rows = [json.loads(line) for line in shown.stdout.splitlines()]
        self.formats = planted_test.formats("bm1684x")
        data = file.read_bytes()
        self.binary = data[64 + int.from_bytes(data[8:12], "little"):]

    def make(self, unit, operation, group, **fields):
        row = next(row for row in reversed(self.rows) if row["unit"] == unit and row["operation"] == operation)
        places = self.formats[row["instruction"]]
        size = (max(bit + width for bit, width in places.values()) + 7) // 8
        size = {("TIU", "sAR"): 64, ("DMA", "DMA_tensor"): 96}.get((unit, row["instruction"]), 16 if size <= 16 else size)
        start = group["binary_bdc" if unit == "TIU" else "binary_gdma"]["start"] + row["offset"]
        word = int.from_bytes(self.binary[start:start + size], "little")
        for name, value in fields.items():
            bit, width = places[name]
            word = word & ~((1 << width) - 1 << bit) | (value & (1 << width) - 1) << bit
        return word.to_bytes(size, "little")


def _tensor(name, kind, place):
    size = CHANNELS * ROWS * COLUMNS * _BYTES[kind]
    assert kind == _FLOAT
    return {"name": name, "device_addr": place, "size": size, "shape": [{"dim": list(SHAPE)}], "mem_type": 1}


def _mlir(kind, place=None):
    shape = "x".join(map(str, SHAPE))
    element = f"!quant.uniform<i8:f32, {SCALE:.17g}>" if kind == _BYTE else _NAMES[kind]
    return f"tensor<{shape}x{element}" + (f", {place} : i64>" if place is not None else ">")


def _value(name, kind, place):
    return {"name": name, "address": place, "memory_type": f"<{'x'.join(map(str, SHAPE))}x{_NAMES[kind]}>", "layout": "continuous", "type": _mlir(kind, place)}


def write(options, path, fault=None, with_map=True, places=len(LAYERS)):
    """Writes the network, and the map beside it as the compiler does; options: program (softtpu) and flatc. The map's path. Results take turns in
    so many places of memory."""
    options.schema, options.networks, options.output = HERE.parent.parent / "runtime/bmodel/model.fbs", NETWORKS, path.parent
    model = make_networks.Model(options, NETWORKS / "softmax_INT8.bmodel")
    templates = _Templates(options.program, "attention_small_F16")
    group = make_networks.Model(options, NETWORKS / "attention_small_F16.bmodel").stage()["cmd_group"][0]
    row_bytes = ROWS * COLUMNS
    sizes = dict(nchw_copy=1, src_nsize=1, src_csize=CHANNELS, src_hsize=ROWS, src_wsize=COLUMNS)
    strides = {f"{side}_{axis}stride": stride for side in ("src", "dst")
               for axis, stride in zip("nchw", (CHANNELS * row_bytes, row_bytes, COLUMNS, 1))}
    dma = [templates.make("DMA", "tensor", group, cmd_id=1, cmd_id_dep=0, src_data_format=_FLOAT, src_addr=_PLACE, dst_addr=_LOCAL, **sizes, **strides)]
    tiu, tensor_map, local, before, name, kind, place = [], [], 0, [0, 1], "x", _FLOAT, _PLACE
    for number, (layer, operation, result, steps) in enumerate(LAYERS):
        for function, operand_kind, result_kind, constant in steps:
            fault_constant = FAULTS[fault][1] if fault and FAULTS[fault][0] == len(tiu) + 1 else None
            value = 0 if constant is None else bits(operand_kind, constant)
            tiu.append(templates.make(
                "TIU", "mul", group, cmd_id=len(tiu) + 1, cmd_id_dep=1, tsk_eu_typ=function, opd0_const=0, opd1_const=int(constant is not None),
                tsk_opd_num=1 if constant is None else 2, res0_prec=result_kind, opd0_prec=operand_kind, opd1_prec=operand_kind if constant is not None else 0,
                opd0_sign=1, opd1_sign=int(constant is not None), opd2_sign=int(constant is None), opd2_n_str=0, res0_str=0, opd0_str=0, opd1_str=0, res0_n=1,
                res0_c=CHANNELS, res0_h=ROWS, res0_w=COLUMNS, opd0_addr=local, res0_addr=local + _ROOM, opd0_n_str=0, opd0_c_str=0, opd0_h_str=0, opd0_w_str=0,
                opd1_addr=value if fault_constant is None else fault_constant))
            local += _ROOM
        to = _PLACE + 0x2000 * (number % places + 1)
        dma.append(templates.make("DMA", "tensor", group, cmd_id=len(dma) + 1, cmd_id_dep=len(tiu), src_data_format=result, src_addr=_LOCAL + local, dst_addr=to,
                                  **sizes, **strides))
        after = [len(tiu), len(dma)]
        tensor_map.append({"file-line": 10 + number, "subnet_id": 0, "core_id": 0, "opcode": operation, "is_local": False, "tiu_dma_id(before)": before,
                           "tiu_dma_id(after)": after, "operands": [_value(name, kind, place)], "results": [_value(layer, result, to)], "buffers": []})
        before, name, kind, place = after, layer, result, to
    counts = len(tiu) + 1, len(dma) + 1
    tiu.append(templates.make("TIU", "end", group, cmd_id=counts[0]))
    dma.append(templates.make("DMA", "sys", group, cmd_id=counts[1]))
    streams = [b"".join(stream) for stream in (tiu, dma)]
    streams = [stream + bytes(-len(stream) % 128) for stream in streams]
    starts = 4096, 8192
    model.binary = streams[0].ljust(4096, b"\0").rjust(8192, b"\0") + streams[1].ljust(4096, b"\0")
    stage = model.stage()
    area = 0x2000 * (len(LAYERS) + 1)
    stage.update(ctx_addr=_PLACE, ctx_size=area, ctx_sizes=[area])
    stage.pop("coeff_mem", None)
    for part in [stage, *stage["sub_net"]]:
        part["cmd_group"] = [{"bdc_num": counts[0], "gdma_num": counts[1], "binary_bdc": {"start": starts[0], "size": len(streams[0])},
                              "binary_gdma": {"start": starts[1], "size": len(streams[1])}, "bdc_cmd_byte": len(streams[0]), "gdma_cmd_byte": len(streams[1])}]
        part["input_tensor"], part["output_tensor"] = [_tensor("x", _FLOAT, _PLACE)], [_tensor(name, kind, place)]
    stage["sub_net"][0]["id"] = 0
    model.tables["net"][0]["name"] = "layered"
    model.tables["neuron_size"] = area
    text = json.dumps(tensor_map)
    if with_map:
        stage["tensor_loc"] = {"start": len(model.binary), "size": len(text)}
        model.binary += text.encode()
    model.write(path.name)
    beside = path.with_name("map_of_" + path.stem + ".json")
    beside.write_text(text)
    return beside
