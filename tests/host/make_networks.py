#!/usr/bin/env python3
"""Makes compiled networks that the compiler's small ones are no examples of: with two stages, with relocated tensors, with
parts that closed firmware would run. Each is a recorded network whose tables are changed as JSON, by flatc."""
import argparse
import json
import pathlib
import struct
import subprocess
import tempfile

HEADER = struct.Struct("<4I48x")


class Model:
    def __init__(self, options, path):
        self.options = options
        data = path.read_bytes()
        magic, header, tables, binary = HEADER.unpack(data[:64])
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "tables.bin")
            file.write_bytes(data[header:header + tables])
            self.flatc(folder, "--json", "--raw-binary", "--strict-json", options.schema, "--", file)
            self.tables = json.loads(file.with_suffix(".json").read_text())
        self.binary = data[header + tables:]

    def flatc(self, folder, *arguments):
        subprocess.run([self.options.flatc, "-o", folder, *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)

    def write(self, name, zeros=0):
        """With so many zeros at the end of the binary part, which take no room on the disk."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "tables.json")
            file.write_text(json.dumps(self.tables))
            self.flatc(folder, "--binary", self.options.schema, file)
            tables = file.with_suffix(".bin").read_bytes()
        tables += bytes(-len(tables) % 16)
        header = HEADER.pack(0xFF55AAEE, 64, len(tables), (len(self.binary) + zeros) % 2**32)
        with open(self.options.output / name, "wb") as file:
            file.write(header + tables + self.binary)
            file.truncate(file.tell() + zeros)

    def stage(self):
        return self.tables["net"][0]["parameter"][0]

    def parts(self, stage):
        return [tensor for key in ("input_tensor", "output_tensor") for tensor in stage[key]]


def binaries(node):
    """Every range of the binary part in the tables."""
    if isinstance(node, dict):
        if set(node) == {"start", "size"}:
            yield node
        for child in node.values():
            yield from binaries(child)
    elif isinstance(node, list):
        for child in node:
            yield from binaries(child)


def rename(stage, names):
    for place in [stage, *stage["sub_net"]]:
        for key in ("input_tensor", "output_tensor"):
            for tensor in place.get(key, []):
                tensor["name"] = names[key]


def two_stages(options):
    """softmax and a convolution as one network: the input's shape chooses."""
    first, second = (Model(options, options.networks / name) for name in ("softmax_INT8.bmodel", "conv_3d_F32.bmodel"))
    offset = len(first.binary)
    for part in binaries(second.tables):
        part["start"] += offset
    names = {"input_tensor": "x", "output_tensor": "y"}
    rename(first.stage(), names)
    rename(second.stage(), names)
    first.tables["net"][0]["parameter"].append(second.stage())
    first.binary += second.binary
    first.write("two_stages.bmodel")


CIPHER = 0x5A  # tests/host/cipher.c


def changed(data):
    return bytes(byte ^ CIPHER for byte in data)


def encrypted(options):
    """Constants, tables, and a whole file, each byte changed as tests/host/cipher.c changes it back."""
    model = Model(options, options.networks / "attention_small_F16.bmodel")
    memory = model.stage()["coeff_mem"]
    start, size = memory["binary_coeff"]["start"], memory["binary_coeff"]["size"]
    model.binary = model.binary[:start] + changed(model.binary[start:start + size]) + model.binary[start + size:]
    memory["encrypt_mode"] = 1
    memory["decrypt_size"] = size
    model.write("encrypted_constants.bmodel")
    data = (options.networks / "attention_small_F16.bmodel").read_bytes()
    _, header, tables, _ = HEADER.unpack(data[:64])
    (options.output / "encrypted_tables.bmodel").write_bytes(data[:header] + changed(data[header:header + tables]) + data[header + tables:])
    (options.output / "encrypted_file.bmodel").write_bytes(changed(data))


def large(options, name="large.bmodel", size=20 << 20):
    """Constants that are not read before they are used: the recorded ones, and zeros behind them."""
    model = Model(options, options.networks / "attention_small_F16.bmodel")
    constants = model.stage()["coeff_mem"]["binary_coeff"]
    model.binary += model.binary[constants["start"]:constants["start"] + constants["size"]]
    zeros = size - constants["size"]
    constants.update(start=len(model.binary) - constants["size"], size=size)
    model.write(name, zeros)


def two_networks(options):
    first, second = (Model(options, options.networks / name) for name in ("resize_F32.bmodel", "reduce_INT8.bmodel"))
    offset = len(first.binary)
    for part in binaries(second.tables):
        part["start"] += offset
    first.tables["net"] += second.tables["net"]
    first.binary += second.binary
    first.write("two_networks.bmodel")


def relocated(options):
    """Addresses of inputs and outputs are written into the instructions."""
    model = Model(options, options.networks / "addtwoioalone_F16.bmodel")
    net, stage = model.tables["net"][0], model.stage()
    net["addr_mode"] = 4
    begin, end = stage["io_addr"], stage["io_addr"] + stage["io_size"]
    tensors = sorted((tensor["device_addr"], i) for i, tensor in enumerate(model.parts(stage)))
    for group in [*stage["cmd_group"], *stage["sub_net"][0]["cmd_group"]]:
        start, size = group["binary_gdma"]["start"], group["gdma_cmd_byte"]
        stream = bytearray(model.binary[start:start + size])
        entries = []
        # Its DMA instructions are all tensors of 96 bytes, with the addresses at 64 and 72.
        for at in (first + place for first in range(0, size - 96, 96) for place in (64, 72)):
            address = int.from_bytes(stream[at:at + 5], "little")
            if begin <= address < end:
                base, tensor = max(entry for entry in tensors if entry[0] <= address)
                entries.append({"base_addr_id": tensor, "addr_offset": address - base, "cmd_offset": at})
        group["reloc_entries"] = entries
        for entry in entries:  # nothing is right before it is relocated
            stream[entry["cmd_offset"]:entry["cmd_offset"] + 5] = bytes(5)
        changed = bytes(stream)
    for group in [*stage["cmd_group"], *stage["sub_net"][0]["cmd_group"]]:
        group["binary_gdma"]["start"] = len(model.binary)
    model.binary += changed
    for i, tensor in enumerate(model.parts(stage)):
        tensor["device_addr"] = 0
        tensor["relentry"] = {"base_addr_id": i, "addr_offset": 0, "cmd_offset": 0}
    del stage["io_addr"], stage["io_size"]
    model.write("relocated.bmodel")


def refused(options):
    for name, change in {
            "cpu_part": lambda stage: stage["sub_net"][0].update(subnet_mode=1, id=3),
            "dynamic_part": lambda stage: stage["sub_net"][0].update(is_dynamic=1, id=3),
            "dynamic": lambda stage: stage.update(is_dynamic=1),
            "huge_context": lambda stage: stage.update(ctx_size=100 << 30, ctx_sizes=[100 << 30]),
            "stray_tensor": lambda stage: stage["output_tensor"][0].update(device_addr=0x1FFFFFFFF),
            "eight_cores": lambda stage: stage.update(core_num=8),
    }.items():
        model = Model(options, options.networks / "softmax_INT8.bmodel")
        change(model.stage())
        model.write(name + ".bmodel")
    model = Model(options, options.networks / "softmax_INT8.bmodel")
    model.tables["chip"] = "BM1688"
    model.write("other_chip.bmodel")
    # A stream that is damaged, and one whose last dependency never comes.
    model = Model(options, options.networks / "softmax_INT8.bmodel")
    start = model.stage()["cmd_group"][0]["binary_bdc"]["start"]
    changed = bytearray(model.binary)
    word = int.from_bytes(changed[start:start + 8], "little")
    changed[start:start + 8] = (word & ~(0xF << 41) | 8 << 41).to_bytes(8, "little")
    model.binary = bytes(changed)
    model.write("unknown_instruction.bmodel")
    changed[start:start + 8] = (word & ~(0xFFFFF << 21) | 0xFFFF << 21).to_bytes(8, "little")
    model.binary = bytes(changed)
    model.write("waits_for_ever.bmodel")


def missing_dependency(options):
    """The first TIU instruction does not wait for the DMA that brings its operand."""
    model = Model(options, options.networks / "softmax_INT8.bmodel")
    start = model.stage()["cmd_group"][0]["binary_bdc"]["start"]
    changed = bytearray(model.binary)
    word = int.from_bytes(changed[start:start + 8], "little")
    changed[start:start + 8] = (word & ~(0xFFFFF << 21)).to_bytes(8, "little")
    model.binary = bytes(changed)
    model.write("missing_dependency.bmodel")


def damaged_streams(options):
    """What is wrong with an instruction, or with where it points."""
    def write(name, unit, change):
        model = Model(options, options.networks / "softmax_INT8.bmodel")
        start = model.stage()["cmd_group"][0][f"binary_{unit}"]["start"]
        changed = bytearray(model.binary)
        change(changed, start)
        model.binary = bytes(changed)
        model.write(name + ".bmodel")

    def reserved(stream, start):
        stream[start + 11] |= 4  # bit 90 of sAR

    def outside(stream, start):
        stream[start + 64:start + 69] = 0x1F0000000.to_bytes(5, "little")

    write("reserved_bit", "bdc", reserved)
    write("address_outside", "gdma", outside)
    model = Model(options, options.networks / "softmax_INT8.bmodel")
    for group in [*model.stage()["cmd_group"], *model.stage()["sub_net"][0]["cmd_group"]]:
        group["bdc_cmd_byte"] = 1000
    model.write("ends_early.bmodel")


def layers(options):
    """With the compiler's map of tensors; with one that is damaged."""
    def record(operation, name, before, after, address, kind="<3x12x50xf32>"):
        return {"file-line": 1, "subnet_id": 0, "core_id": 0, "opcode": operation, "tiu_dma_id(before)": before,
                "tiu_dma_id(after)": after, "operands": [],
                "results": [{"name": name, "address": address, "memory_type": kind, "layout": "continuous"}]}
    place = 0x100002000  # of the output
    tensor_map = [record("tpu.Cast", "scores", [0, 0], [5, 3], 4096), record("tpu.Softmax", "shares", [5, 3], [26, 6], place),
                  record("tpu.Cast", "shares_as_words", [26, 6], [26, 6], place, "<1800xui32>")]
    for name, text in {"layers": json.dumps(tensor_map), "damaged_map": "no map"}.items():
        model = Model(options, options.networks / "softmax_INT8.bmodel")
        model.stage()["tensor_loc"] = {"start": len(model.binary), "size": len(text)}
        for part in model.stage()["sub_net"]:
            part["id"] = 0
        model.binary += text.encode()
        model.write(name + ".bmodel")
    # The same layers in a part for firmware: the map names each of them.
    model = Model(options, options.networks / "softmax_INT8.bmodel")
    text = json.dumps(tensor_map)
    model.stage()["tensor_loc"] = {"start": len(model.binary), "size": len(text)}
    model.stage()["sub_net"][0].update(is_dynamic=1, id=0)
    model.binary += text.encode()
    model.write("dynamic_layers.bmodel")


def mixed(options):
    """A part that can run, and layers behind it for the host's processor."""
    model = Model(options, options.networks / "softmax_INT8.bmodel")
    part = json.loads(json.dumps(model.stage()["sub_net"][0]))
    part.update(subnet_mode=1, id=3)
    del part["cmd_group"]
    part["output_tensor"][0]["name"] = "top_k"
    part["cpu_param"] = [{"op_type": 12}]
    model.stage()["sub_net"].append(part)
    model.write("mixed.bmodel")
    # One that makes an output, and one behind it that makes another one of it.
    model.stage()["output_tensor"].append({**part["output_tensor"][0], "name": "best"})
    last = json.loads(json.dumps(model.stage()["sub_net"][0]))
    last["input_tensor"], last["output_tensor"][0]["name"] = part["output_tensor"], "best"
    model.stage()["output_tensor"].append(part["output_tensor"][0])
    model.stage()["sub_net"].append(last)
    model.write("mixed_outputs.bmodel")


KINDS = {"f32": 0, "f16": 1, "i8": 2, "i32": 6}
SIZES = {"f32": 4, "f16": 2, "i8": 1, "i32": 4}


def tensor(name, kind, shape, address=0):
    count = 1
    for extent in shape:
        count *= extent
    return {"name": name, "data_type": KINDS[kind], "shape": [{"dim": list(shape)}], "device_addr": address, "size": count * SIZES[kind],
            "mem_type": 1 if address else 2}


def append(model, data):
    """Where bytes lie that are put behind the others."""
    place = {"start": len(model.binary), "size": len(data)}
    model.binary += data + bytes(-len(data) % 16)
    return place


def host_part(model, number, operation, record, inputs, outputs, constants=()):
    """A part of one layer for the host's processor. Its constants are the bytes of inputs, by name."""
    layer = {"op_type": operation, "binary_param": append(model, record),
             "cpu_const": [{"name": name, "const_data": append(model, data)} for name, data in constants]}
    return {"subnet_mode": 1, "id": number, "cpu_param": [layer], "input_tensor": inputs, "output_tensor": outputs}


def host_network(options, name, operation, record, inputs, outputs, constants=()):
    """A network of one layer for the host's processor and nothing else; of constants only the part knows."""
    model = Model(options, options.networks / "softmax_INT8.bmodel")
    stage = model.stage()
    model.tables["net"][0]["name"] = name
    model.binary = b""
    for key in [key for key in stage if key not in ("input_tensor", "output_tensor", "sub_net")]:
        del stage[key]
    known = {constant for constant, _ in constants}
    stage["input_tensor"] = [one for one in inputs if one["name"] not in known]
    stage["output_tensor"] = outputs
    stage["sub_net"] = [host_part(model, 0, operation, record, inputs, outputs, constants)]
    model.write(name + ".bmodel")


def host_parts(options):
    """Layers for the host's processor: alone, before, behind and between instructions; some that nothing carries out."""
    boxes, scores = tensor("boxes", "f32", (1, 6, 4)), tensor("scores", "f32", (1, 2, 6))
    limits = [tensor(name, kind, (1,)) for name, kind in (("most", "i32"), ("overlap", "f32"), ("least", "f32"))]
    constants = [("most", struct.pack("<i", 3)), ("overlap", struct.pack("<f", 0.5)), ("least", struct.pack("<f", 0.4))]
    nms = [tensor("found", "i32", (12, 3))]
    host_network(options, "host_nms", 46, struct.pack("<2i", 0, 6), [boxes, scores, *limits], nms, constants)
    x, y = tensor("x", "f32", (2, 3)), tensor("y", "f32", (2, 3))
    host_network(options, "host_user", 3, struct.pack("<if", 0, 2.5), [x], [y])
    host_network(options, "host_unknown", 7, bytes(8), [x], [y])
    host_network(options, "host_record", 17, bytes(8), [x], [y])
    host_network(options, "host_other_operands", 9, struct.pack("<i", 0), [x, tensor("rows", "i32", (3,))], [y])
    host_network(options, "host_smaller", 12, struct.pack("<2i", 1, 0), [x, tensor("rows", "i32", (2, 1))], [tensor("y", "i8", (2, 3))])

    def softmax():
        model = Model(options, options.networks / "softmax_INT8.bmodel")
        part = model.stage()["sub_net"][0]
        part["id"] = 0
        return model, model.stage(), part
    shape = (3, 12, 50)
    # The five largest of each row.
    model, stage, part = softmax()
    middle = part["output_tensor"][0]
    outputs = [tensor("values", "f32", (3, 12, 5)), tensor("places", "i32", (3, 12, 5))]
    stage["sub_net"].append(host_part(model, 1, 17, struct.pack("<2i3Bx", 5, -1, 1, 1, 0), [middle], outputs))
    stage["output_tensor"] = outputs
    model.write("host_behind.bmodel")
    # Floors of the network's input go into the instructions.
    model, stage, part = softmax()
    raw = tensor("raw", "f32", shape)
    stage["sub_net"].insert(0, host_part(model, 1, 23, struct.pack("<i", 4), [raw], [part["input_tensor"][0]]))
    stage["input_tensor"] = [raw]
    model.write("host_before.bmodel")
    # The instructions twice, with sorting between.
    model, stage, part = softmax()
    begin, end = part["input_tensor"][0], part["output_tensor"][0]
    again = json.loads(json.dumps(part))
    again["id"] = 2
    again["input_tensor"] = [dict(begin, name="sorted")]
    again["output_tensor"] = [dict(end, name="result")]
    stage["sub_net"] += [host_part(model, 1, 20, struct.pack("<i4B", -1, 0, 0, 0, 0), [end], again["input_tensor"]), again]
    stage["output_tensor"] = again["output_tensor"]
    model.write("host_between.bmodel")


def listed(layers):
    """The list of layers of a dynamic part: from tensor 1 by way of tensors 2, 3 ... to the last, each by a layer of
    (type, float) with its operands in device memory."""
    head = struct.pack("<I4BB3xI", 1 << 16, 255, 1, 1, 0x22, 1, 0)
    data = struct.pack("<3I", 1, len(layers) + 1, len(layers))
    for i, (kind, constant) in enumerate(layers):
        from_id, to_id = i + 1, i + 2
        body = struct.pack("<IBIIB2iB", 1, 0, from_id, 0, 2, 3, 300, i == 0)
        body += struct.pack("<IBIIQB", 1, 0, to_id, 0, 0x100000000 + 4096 * i, i + 1 == len(layers))
        body += struct.pack("<f", constant)
        data += head + struct.pack("<2I", from_id, to_id << 16 | 1)
        data += struct.pack("<3I", kind, 0x1F00FFFF, len(body)) + struct.pack("<4I", 1, 0, 0, 0) + body
    return data


def firmware(options):
    """Dynamic parts with layers that tests/host/firmware/layer_walker.c alone knows: x of up to [3, 300] to y. Without firmware in the
    file, and with the given one."""
    add, multiply = 20001, 20002
    files = {"walked": [(add, 1.5), (multiply, 2.0)], "walked_exit": [(20003, 0)], "walked_refused": [(20004, 0)],
             "walked_silent": [(20005, 0)], "walked_bad_pointer": [(20006, 0)], "walked_too_large": [(20007, 0)],
             "walked_loops": [(20008, 0)]}
    for name, layers in files.items():
        for module in [None, options.firmware] if options.firmware else [None]:
            model = Model(options, options.networks / "dynamic/topk_F16.bmodel")
            stage = model.stage()
            part = stage["sub_net"][0]
            data = listed(layers)
            for place in (stage, part):
                output = dict(place["input_tensor"][0], name="y", device_addr=0x100003000, hidden=2)
                place["output_tensor"] = [output]
            model.tables["net"][0]["name"] = "walked"
            model.binary = data + bytes(-len(data) % 4)
            part["ir_len"] = len(data)
            stage["binary_ir"] = {"start": 0, "size": len(model.binary)}
            stage["stage_ir"] = [{"ir_info_len": len(model.binary) // 4}]
            stage["ctx_sizes"] = [4096, stage["ctx_size"] - 4096]
            if module is not None:
                model.tables["kernel_module"]["binary"] = {"start": len(model.binary), "size": module.stat().st_size}
                model.binary += module.read_bytes()
            model.write(name + ("" if module is None else "_inside") + ".bmodel")


def dynamic_stages(options):
    """Top-k of up to 3 x 300, 2 x 300 and 3 x 200 elements. The first stage finds five of a row, the others four and three."""
    model = Model(options, options.networks / "dynamic/topk_F16.bmodel")
    first, plain = model.stage(), model.binary
    for rows, columns, found in ((2, 300, 4), (3, 200, 3)):
        stage = json.loads(json.dumps(first))
        for place in (stage, stage["sub_net"][0]):
            place["input_tensor"][0].update(shape=[{"dim": [rows, columns]}], size=4 * rows * columns)
            for tensor in place["output_tensor"]:
                tensor.update(shape=[{"dim": [rows, found]}], size=4 * rows * found)
        data = plain[:stage["binary_ir"]["size"]]
        count, axis, descending = 5, 1, 1
        assert data.count(struct.pack("<3I", count, axis, descending)) == 1
        stage["binary_ir"]["start"] = len(model.binary)
        model.binary += data.replace(struct.pack("<3I", count, axis, descending), struct.pack("<3I", found, axis, descending))
        model.tables["net"][0]["parameter"].append(stage)
    model.write("dynamic_stages.bmodel")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flatc", default="flatc")
    parser.add_argument("--schema", type=pathlib.Path, required=True)
    parser.add_argument("--networks", type=pathlib.Path, required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--firmware", type=pathlib.Path, help="module for files that have their firmware inside")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    two_stages(options)
    encrypted(options)
    large(options)
    two_networks(options)
    relocated(options)
    refused(options)
    missing_dependency(options)
    damaged_streams(options)
    layers(options)
    mixed(options)
    host_parts(options)
    firmware(options)
    dynamic_stages(options)


if __name__ == "__main__":
    main()
