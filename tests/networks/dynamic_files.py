"""Files with dynamic networks, as bytes: lists of layers that a test writes (`Network`), and recorded ones with other greatest shapes
(`recorded`). The layout: runtime/bmodel/layer_list.cpp."""
import argparse
import os
import pathlib
import struct
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "host"))

import make_networks

RECORDED = HERE.parent / "golden-networks/dynamic"
CODES = {"float32": 0, "float16": 1, "int8": 2, "uint8": 3, "int16": 4, "uint16": 5, "int32": 6, "uint32": 7, "bfloat16": 8}
SIZES = {"float32": 4, "float16": 2, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "bfloat16": 2}
PLAIN, WITH_HEAD = 0x0F00FFFF, 0x1F00FFFF
CONTEXT, CONSTANTS = 0x100000000, 0x80000000
PAGE, LINE, NPUS = 4096, 64, 64
# Words of parameters with addresses of the context area, by layers.
ADDRESSES = {20: (14,), 28: (10,), 49: (0,), 50: (14,), 57: (4, 6), 116: range(0, 18, 2), 10009: range(0, 10, 2)}


def arguments(description):
    """The parser of a test; --build makes softtpu importable."""
    def prefix(text):
        os.environ["SOFTTPU_PREFIX"] = text
        sys.path.insert(0, str(HERE.parent.parent / "python"))
        return pathlib.Path(text)

    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--build", type=prefix, required=True)
    parser.add_argument("--flatc", default="flatc")
    parser.add_argument("--seed", type=int, default=1)
    return parser


def _options(flatc):
    return argparse.Namespace(flatc=flatc, schema=HERE.parent.parent / "runtime/bmodel/model.fbs", networks=RECORDED)


def _file(model, binary, list_bytes, list_at=0):
    """The bytes of a file whose list of layers lies there in its binary part."""
    stage = model.stage()
    model.binary = binary
    stage["sub_net"][0]["ir_len"] = list_bytes
    whole = -(-list_bytes // 4) * 4
    stage["binary_ir"] = {"start": list_at, "size": whole}
    stage["stage_ir"] = [{"ir_info_len": whole // 4}]
    with tempfile.TemporaryDirectory() as folder:
        model.options.output = pathlib.Path(folder)
        model.write("network.bmodel")
        return (model.options.output / "network.bmodel").read_bytes()


def count_of(shape):
    return int(np.prod(shape, dtype=np.int64))


def words(*values):
    """Parameters of a layer: integers and floats of four bytes, addresses (larger integers) of eight."""
    return b"".join(struct.pack("<f", value) if isinstance(value, float) else
                    struct.pack("<i", value) if -2**31 <= value < 2**31 else struct.pack("<I" if value < 2**32 else "<Q", value) for value in values)


def local_bytes(kind, shape):
    """Of a tensor in each NPU."""
    n, c, h, w = (*shape, 1, 1, 1, 1)[:4]
    return n * -(-c // NPUS) * (-(-h * w * SIZES[kind] // LINE) * LINE)


class Tensor:
    """An operand: what it is, and where it lies as compiled."""

    def __init__(self, number, kind, shape, address, constant=False):
        self.id, self.kind, self.shape, self.address, self.constant = number, kind, tuple(shape), address, constant
        self.bytes = count_of(shape) * SIZES[kind]


class Network:
    """A list of layers. Shapes are the greatest ones."""

    def __init__(self, flatc):
        self.model = make_networks.Model(_options(flatc), RECORDED / "topk_F16.bmodel")
        self.groups, self.given, self.results, self.constants, self.used, self.number = [], [], [], b"", 0, 0

    def room(self, size):
        """The address of so many bytes of the context area."""
        at = CONTEXT + self.used
        self.used += -(-size // PAGE) * PAGE
        return at

    def _tensor(self, kind, shape):
        self.number += 1
        return Tensor(self.number, kind, shape, self.room(count_of(shape) * SIZES[kind]))

    def input(self, kind, shape):
        self.given.append(self._tensor(kind, shape))
        return self.given[-1]

    def constant(self, kind, values):
        """Values as they are stored: bits of types that NumPy has not."""
        self.number += 1
        made = Tensor(self.number, kind, values.shape, CONSTANTS + len(self.constants), True)
        assert values.nbytes == made.bytes
        self.constants += values.tobytes() + bytes(-values.nbytes % PAGE)
        return made

    def output(self, *tensors):
        self.results += tensors

    def layer(self, kind, inputs, results, parameters=b""):
        """A layer with operands in device memory. results: types and shapes; the tensors."""
        made = [self._tensor(*result) for result in results]

        def record(last):
            body = struct.pack("<I", len(inputs))
            for one in inputs:
                body += struct.pack(f"<BIIB{len(one.shape)}i", one.constant, one.id, CODES[one.kind], len(one.shape), *one.shape)
                body += struct.pack("<Q", one.address) if one.constant else struct.pack("<B", one in self.given)
            body += struct.pack("<I", len(made))
            for one in made:
                body += struct.pack("<BIIQB", 0, one.id, CODES[one.kind], one.address, one in last)
            body += parameters
            return struct.pack("<3I4I", kind, WITH_HEAD, len(body), 1, 0, 0, 0) + body
        self.groups.append((1, 1, 0, [one for one in inputs if not one.constant], made, record))
        return made

    def local(self, layers, rows=0):
        """A group of layers with operands in local memory: (type, inputs, (type, shape) of the result, parameters, bytes of work memory). An input
        is a Tensor, or the number of a layer before. parameters: bytes, or a function of the work memory's address. `rows` are those of a slice.
        The tensor that the last layer makes."""
        loaded, places, next_place = [], {}, 0

        def take(size):
            nonlocal next_place
            at = next_place
            next_place += -(-size // LINE) * LINE
            assert next_place <= 0x40000, "local memory has no room for this test"
            return at

        def sliced(shape):
            return (rows, *shape[1:]) if rows and shape[0] > rows else shape
        made, records = [], b""
        loads = b""
        for kind, inputs, result, parameters, work in layers:
            operands = [made[one] if isinstance(one, int) else one for one in inputs]
            for one in operands:
                if one.id in places:
                    continue
                places[one.id] = take(local_bytes(one.kind, one.shape if one.constant else sliced(one.shape)))
                loaded += [] if one.constant else [one]
                if one.constant:
                    n, c, h, w = (*one.shape, 1, 1, 1, 1)[:4]
                    transfer = struct.pack("<Q8I", one.address, places[one.id], n << 16 | c, h << 16 | w, 1 | 1 << 16, CODES[one.kind], 0, 0, kind)
                    loads += struct.pack("<3I", 4, PLAIN, len(transfer)) + transfer
                elif one in self.given:
                    transfer = struct.pack("<6II", places[one.id], one.id, one.id, 0, CODES[one.kind], 3, 1)
                    loads += struct.pack("<3I", 0, PLAIN, len(transfer)) + transfer
                else:
                    transfer = struct.pack("<Q9I4x", one.address, places[one.id], 0, one.id, 0, one.id, 0, CODES[one.kind], 3, 1)
                    loads += struct.pack("<3I", 13, PLAIN, len(transfer)) + transfer
            made.append(self._tensor(*result))
            places[made[-1].id] = take(local_bytes(made[-1].kind, sliced(made[-1].shape)))
            body = struct.pack("<I", len(operands))
            for one in operands:
                body += struct.pack("<BII", one.constant, one.id, places[one.id])
                if one.constant:
                    body += struct.pack(f"<IB{len(one.shape)}i", CODES[one.kind], len(one.shape), *one.shape)
            body += struct.pack("<IBIIIB", 1, 0, made[-1].id, places[made[-1].id], CODES[made[-1].kind], 1)
            at_work = take(work)
            body += parameters if isinstance(parameters, bytes) else parameters(at_work)
            records += struct.pack("<4I", 12 + len(body), kind, PLAIN, len(body)) + body
        last = made[-1]

        def record(results):
            if last in results:
                transfer = struct.pack("<7I", places[last.id], last.id, 0, 0, 0, CODES[last.kind], 3)
                stores = struct.pack("<3I", 1, PLAIN, len(transfer)) + transfer
            else:
                transfer = struct.pack("<Q8I", last.address, places[last.id], last.id, 0, 0, 0, 0, CODES[last.kind], 3)
                stores = struct.pack("<3I", 3, PLAIN, len(transfer)) + transfer
            transfers = sum(1 for one in places if one not in {tensor.id for tensor in made})
            return struct.pack("<2I", 0, transfers) + loads + struct.pack("<I", len(layers)) + records + struct.pack("<3I", 0, 0, 1) + stores
        self.groups.append((3, 1, rows or 65535, loaded, [last], record))
        return last

    def file(self):
        """The bytes of the file."""
        results = self.results
        data = struct.pack(f"<{len(self.given) + len(results)}I", *(one.id for one in self.given + results))
        data += struct.pack("<I", len(self.groups))
        for steps, stages, rows, inputs, made, record in self.groups:
            data += struct.pack("<I4BB3xI", steps << 16, 255, len(inputs), len(made), 0x22, stages, rows)
            data += struct.pack(f"<{len(inputs) + len(made)}I", *(one.id for one in inputs), *(one.id << 16 | 1 for one in made)) + record(results)
        stage = self.model.stage()

        def table(one, name, hidden, index):
            return {"name": name, "data_type": CODES[one.kind], "device_addr": one.address, "size": one.bytes, "shape": [{"dim": list(one.shape)}],
                    "mem_type": 1, "hidden": hidden, "index": index}
        for place in (stage, stage["sub_net"][0]):
            place["input_tensor"] = [table(one, f"input{i}", 1, i) for i, one in enumerate(self.given)]
            place["output_tensor"] = [table(one, f"output{i}", 2, i) for i, one in enumerate(results)]
        stage.update(ctx_addr=CONTEXT, ctx_size=self.used, ctx_sizes=[self.used], dynamic_ctx_addr=CONTEXT)
        if self.constants:
            stage["coeff_mem"] = {"address": CONSTANTS, "binary_coeff": {"start": 0, "size": len(self.constants)}}
        self.model.tables["neuron_size"] = self.used
        self.model.tables["net"][0]["name"] = "listed"
        return _file(self.model, self.constants + data + bytes(-len(data) % 4), len(data), len(self.constants))


class _Places:
    """Where the numbers of a list stand: extents of operands in device memory, and addresses of eight bytes."""

    def __init__(self, data, inputs, outputs):
        self.data, self.at, self.extents, self.addresses = data, 4 * (inputs + outputs), [], []
        for _ in range(self.take("I")):
            self.group()
        assert self.at == len(data), "a list that ends elsewhere"

    def take(self, kind):
        values = struct.unpack_from("<" + kind, self.data, self.at)
        self.at += struct.calcsize("<" + kind)
        return values[0] if len(values) == 1 else values

    def group(self):
        steps = self.take("I") >> 16
        _, inputs, outputs, flags, stages = self.take("5B")
        self.at += 3 + 4 + 4 * outputs + inputs * (16 if flags & 1 else 4)
        if steps == 1:
            return self.layer(False)
        for _ in range(steps):
            for _ in range(self.take("I")):
                self.layer(True)
            for _ in range(self.take("I")):
                self.at += 4 if stages > 1 else 0
                kind, _, size = self.take("3I")
                self.addresses += [self.at] if kind in (3, 4, 13) else []
                self.at += size

    def layer(self, local):
        self.at += 4 if local else 0
        layer, magic, size = self.take("3I")
        self.at += 16 if magic == WITH_HEAD else 0
        end = self.at + size
        for output in (False, True):
            for _ in range(self.take("I")):
                kind = self.take("B")
                self.at += 4 + (4 if local else 0)
                if local and (output or kind):
                    self.at += 4
                if not local:
                    self.at += 4
                if output and not local:
                    self.addresses.append(self.at)
                    self.at += 8
                elif output:
                    self.at += 1
                elif not local or kind:
                    count = self.take("B")
                    if not kind:
                        self.extents.append((self.at, count))
                    self.at += 4 * count
                    if kind == 1 and not local:
                        self.addresses.append(self.at)
                        self.at += 8
                self.at += 1 if not local and kind == 0 else 0
        self.addresses += [self.at + 4 * word for word in ADDRESSES.get(layer, ()) if self.at + 4 * word + 8 <= end]
        self.at = end


def recorded(flatc, name, extents, room=1, replace=()):
    """A recorded network with other greatest shapes. extents: from those of a tensor (an input, output, or one between) to new ones of the same
    rank. room: so many times the memory for tensors between layers, where larger ones need it. replace: (bytes, bytes) in the list, each of which
    comes exactly once. In local memory the compiler has placed tensors for the greatest shape: there larger ones may lie on each other."""
    model = make_networks.Model(_options(flatc), RECORDED / f"{name}.bmodel")
    stage = model.stage()
    assert len(stage["sub_net"]) == 1
    begin, size = stage["binary_ir"]["start"], stage["sub_net"][0]["ir_len"]
    data = bytearray(model.binary[begin:begin + size])
    used = set()

    def new(old):
        used.add(tuple(old))
        return list(extents.get(tuple(old), old))
    places = _Places(data, len(stage["input_tensor"]), len(stage["output_tensor"]))
    for at, count in places.extents:
        data[at:at + 4 * count] = struct.pack(f"<{count}i", *new(struct.unpack_from(f"<{count}i", data, at)))
    start, area = stage["ctx_addr"], stage["ctx_size"]
    for at in places.addresses:
        address = struct.unpack_from("<Q", data, at)[0]
        if start <= address < start + area:
            data[at:at + 8] = struct.pack("<Q", start + (address - start) * room)
    for place in (stage, stage["sub_net"][0]):
        for tensor in make_networks.Model.parts(model, place):
            tensor["shape"][0]["dim"] = new(tensor["shape"][0]["dim"])
            tensor["size"] = count_of(tensor["shape"][0]["dim"]) * list(SIZES.values())[list(CODES.values()).index(tensor.get("data_type", 0))]
            if start <= tensor["device_addr"] < start + area:
                tensor["device_addr"] = start + (tensor["device_addr"] - start) * room
    assert set(extents) <= used, f"{name} has no tensors of {set(extents) - used}"
    stage["ctx_size"] = area * room
    stage["ctx_sizes"] = [one * room for one in stage["ctx_sizes"]]
    model.tables["neuron_size"] = model.tables.get("neuron_size", 0) * room
    for old, now in replace:
        assert data.count(old) == 1 and len(old) == len(now), f"{old.hex()} comes {data.count(old)} times"
        data[:] = data.replace(old, now)
    binary = model.binary[:begin] + bytes(data) + model.binary[begin + size:]
    return _file(model, binary, size, begin)


def run(device, file, *inputs, refused=None):
    """The outputs of a launch, in their order. refused: the launch must fail with this text instead."""
    import softtpu
    try:
        with device.load_model(file) as model:
            made = model(*inputs)
            outputs = [made[tensor.name] for tensor in model.outputs()]
    except softtpu.Error as error:
        if refused is None:
            raise
        assert refused in str(error), f"refused with: {error}"
        return None
    assert refused is None, f"not refused: {refused}"
    return outputs


def same(made, expected, what):
    """Bit for bit; expected as it is stored."""
    assert made.shape == expected.shape and made.dtype == expected.dtype, f"{what}: {made.dtype} {made.shape}, not {expected.dtype} {expected.shape}"
    wrong = np.flatnonzero(made.reshape(-1).view(np.uint8) != np.ascontiguousarray(expected).reshape(-1).view(np.uint8)) // made.itemsize
    if wrong.size:
        first = np.unravel_index(wrong[0], made.shape)
        raise AssertionError(f"{what}: {np.unique(wrong).size} of {made.size} elements differ, the first at {tuple(map(int, first))}: "
                             f"{made[first]}, not {expected[first]}")
