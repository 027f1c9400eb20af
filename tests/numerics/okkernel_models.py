"""Functions of BM1684's recordings, carried out by the Python of docs/numerics/bm1684-okkernel.md."""
import re

import numpy as np

from golden import SystemTensor, Tensor, move
from product_models import flat


class OkKernel:
    def __init__(self, memory, page):
        self.memory, self.page = memory, page

    def tensor(self, a, name, shape=None):
        shape = shape or a["shape"]
        address = a[f"{name}_addr"]
        stride = a.get(f"{name}_stride") or self.page.aligned_stride(shape, 4, address // self.memory.npu_bytes, row_bytes=128)
        return Tensor(self.memory, address, shape, stride, 4)

    def run(self, name, a):
        op = name.removeprefix("okk_bdc_")
        if op == name:
            return False
        page = self.page
        two = {"add": page.add, "sub": page.sub, "mul": page.mul, "div": page.okk_div, "max": page.okk_max, "min": page.okk_min}
        one = {"reciprocal": page.okk_reciprocal, "sqrt": page.okk_sqrt, "rsqrt": page.okk_rsqrt,
               "neg": lambda x: page.sub(np.zeros_like(x), x), "relu": lambda x: np.where(page.value(page.flush(x)) > 0, page.flush(x), 0)}
        base = op.removesuffix("_C").removeprefix("C_")
        if op in two:
            result = two[op](self.tensor(a, "src0").get(), self.tensor(a, "src1").get())
        elif base in two and op != base:
            x = self.tensor(a, "src").get()
            c = np.full(x.shape, a["C"], np.uint32)
            result = two[base](c, x) if op.startswith("C_") else two[base](x, c)
        elif op in one:
            result = one[op](self.tensor(a, "src").get())
        elif op == "taylor_exp":
            result = page.okk_taylor(self.tensor(a, "src").get(), a["num_series"])
        elif op == "fp32_to_int32":
            result = page.okk_to_int(self.tensor(a, "src").get()) & 0xffffffff
        elif op in ("32bit_arithmetic_shift", "32bit_logical_shift"):
            result = page.okk_shift(self.tensor(a, "src0").get(), self.tensor(a, "src1").get(), "arithmetic" in op)
        elif op == "matmul":
            return self.matmul(a)
        else:
            return any(group(op, a) for group in (self.plain, self.exponential, self.select, self.channels, self.fixed, self.halves, self.windows))
        self.tensor(a, "dst").put(result)
        return True

    def store(self, a, words):
        self.tensor(a, "dst").put(words)
        return True

    def plain(self, op, a):
        """Bits, shifts by and of a constant, and multiply-add."""
        page, base = self.page, op.removeprefix("32bit_")
        if base in ("cpy", "set_C", "and", "or", "xor", "and_C", "or_C", "xor_C"):
            if base == "cpy":
                return self.store(a, self.tensor(a, "src").get())
            if base == "set_C":
                return self.store(a, np.full(a["shape"], a["C"] & 0xffffffff))
            x = self.tensor(a, "src" if base.endswith("_C") else "src0").get()
            y = np.full(x.shape, a["C"] & 0xffffffff, np.uint32) if base.endswith("_C") else self.tensor(a, "src1").get()
            return self.store(a, {"a": x & y, "o": x | y, "x": x ^ y}[base[0]])
        if base in ("arithmetic_shift_C", "logical_shift_C", "C_arithmetic_shift", "C_logical_shift"):
            x = self.tensor(a, "src").get()
            c = np.full(x.shape, a["C"] & 0xffffffff, np.uint32)
            return self.store(a, page.okk_shift(*((c, x) if base.startswith("C_") else (x, c)), "arithmetic" in base))
        if op in ("mac", "mac_C"):
            x = self.tensor(a, "src0" if op == "mac" else "src").get()
            y = self.tensor(a, "src1").get() if op == "mac" else np.full(x.shape, a["C"], np.uint32)
            return self.store(a, page.add(page.mul(x, y), self.tensor(a, "dst").get()))
        return False

    def exponential(self, op, a):
        page, name = self.page, op.removesuffix("_tunable")
        if op == "lookup_exp":
            return self.store(a, page.okk_lookup_exp(self.tensor(a, "src").get()))
        if op == "lookup_int32_to_fp32":
            return self.store(a, page.bits(page.okk_low8(self.tensor(a, "src").get()).astype(np.float32)))
        if name not in ("exp", "sigmoid", "tanh"):
            return False
        x, count = self.tensor(a, "src").get(), a.get("num_series", 32)
        if a["dst_addr"] == a["src_addr"] and name != "sigmoid":
            x = page.okk_in_place(x)
        if name == "exp":
            result, work = page.okk_exp(x, count)
            self.tensor(a, "work").put(work)
            return self.store(a, result)
        return self.store(a, (page.okk_sigmoid if name == "sigmoid" else page.okk_tanh)(x, count))

    def select(self, op, a):
        page = self.page
        if op in ("greater_select", "equal_select"):
            if isinstance(a["src0"], list):
                x, y, yes, no = (self.variable(a[name], a["shape"]) for name in ("src0", "src1", "select0", "select1"))
                return self.store(a, np.where((page.okk_greater if op[0] == "g" else page.okk_equal)(x, y), yes, no))
        if not op.endswith("select_value"):
            return False
        x = self.tensor(a, "src0" if "src0_addr" in a else "src").get()
        y = self.tensor(a, "src1").get() if "src1_addr" in a else np.full(x.shape, a["C"], np.uint32)
        x, y = (y, x) if op.startswith("C_") else (x, y)
        return self.store(a, np.where(x == y if op.startswith("equal") else page.okk_greater(x, y), a["select_val"], 0))

    def variable(self, pair, shape):
        """A tensor or a constant."""
        word = pair[1]["u32"]
        if not pair[0]["bool"]:
            return np.full(shape, word, np.uint32)
        return self.tensor({"shape": shape, "x_addr": word}, "x").get()

    def of_channels(self, address, channels, kernel=(1, 1)):
        shape = (1, channels, *kernel)
        return Tensor(self.memory, address, shape, self.page.compact_stride(shape, address // self.memory.npu_bytes), 4).get()

    def channels(self, op, a):
        """bias, scale and scale_bias."""
        if op in ("int8_to_fp32", "4N_int8_to_fp32"):
            return self.bytes_to_floats(op, a)
        if op not in ("bias", "scale", "scale_bias"):
            return False
        page, x = self.page, self.tensor(a, "src").get()
        if op != "bias":
            x = page.mul(x, np.broadcast_to(self.of_channels(a["scale_addr"], a["shape"][1]), x.shape))
        if op != "scale":
            x = page.add(x, np.broadcast_to(self.of_channels(a["bias_addr"], a["shape"][1]), x.shape))
        elif not a["dst_stride"] and not a["src_stride"]:
            x = page.add(x, np.zeros_like(x))
        return self.store(a, x)

    def bytes_to_floats(self, op, a):
        n, c, h, w = a["shape"]
        start, kind = a["src_addr"] // self.memory.npu_bytes, np.int8 if a["is_signed"] else np.uint8
        packed = op.startswith("4N")
        shape, size = ((-(-n // 4), c, h, w), 4) if packed else (a["shape"], 1)
        stride = self.page.aligned_stride(shape, size, start, row_bytes=128) if a["is_aligned_layout"] else \
            self.page.compact_stride(shape, start) if packed else self.page.okk_byte_stride(shape, start)
        words = Tensor(self.memory, a["src_addr"], shape, stride, size).get()
        values = words.view(kind)
        if packed:
            values = np.moveaxis(np.ascontiguousarray(words)[..., None].view(kind), -1, 1).reshape(-1, c, h, w)[:n]
        start = a["dst_addr"] // self.memory.npu_bytes
        stride = self.page.aligned_stride(a["shape"], 4, start, row_bytes=128) if a["is_aligned_layout"] else self.page.compact_stride(a["shape"], start)
        Tensor(self.memory, a["dst_addr"], a["shape"], stride, 4).put(self.page.bits(values.astype(np.float32)))
        return True

    # ---- packed integers ----

    def packed(self, a, name, size, stride=None):
        """The word tensor of packed elements."""
        n, c, h, w = a["shape"]
        shape = (-(-n * size // 4), c, h, w)
        address = a[f"{name}_addr"]
        stride = a.get(f"{name}_stride") or self.page.aligned_stride(shape, 4, address // self.memory.npu_bytes, row_bytes=128)
        tensor = Tensor(self.memory, address, shape, stride, 4)
        tensor.element = size
        return tensor

    def unpack(self, a, name, kind):
        """All elements of the words, those behind the last batch too."""
        kind = np.dtype(kind)
        words = self.packed(a, name, kind.itemsize).get()
        return np.moveaxis(np.ascontiguousarray(words)[..., None].view(kind), -1, 1).reshape(-1, *words.shape[1:])

    def pack(self, a, name, values, kind):
        """Writes the batches that there are; what lies behind the last one stays."""
        kind = np.dtype(kind)
        elements = self.unpack(a, name, kind)
        batches = a["shape"][0]
        elements[:batches] = (values[:batches] & ((1 << 8 * kind.itemsize) - 1)).astype(kind)
        per_word = 4 // kind.itemsize
        dst = self.packed(a, name, kind.itemsize)
        dst.put(np.ascontiguousarray(np.moveaxis(elements.reshape(-1, per_word, *elements.shape[1:]), 1, -1)).view(np.uint32)[..., 0])
        return True

    KINDS = {"S8": np.int8, "U8": np.uint8, "S16": np.int16, "U16": np.uint16}

    def fixed(self, op, a):
        base = op.removeprefix("fixed_point_packed_")
        if base == op or "op_type" not in a:
            return False
        first, rest = a["op_type"].split("_OP_")
        second, result = rest.split("_TO_")
        is_signed = "S" in first + second or "sub" in base
        def wide(name, kind):
            return self.unpack(a, name, self.KINDS[kind]).astype(np.int64)
        kind = base.removesuffix("_C").removeprefix("C_")
        if "src0_addr" in a:
            x, y = wide("src0", first), wide("src1", second)
            count = min(len(x), len(y))
            x, y = x[:count], y[:count]
        else:
            x, y = wide("src", second if base.startswith("C_") else first), a["C"]
            x, y = (np.full(x.shape, y), x) if base.startswith("C_") else (x, y)
        v = {"add": lambda: x + y, "sub": lambda: x - y, "mul": lambda: x * y, "mac": lambda: x * y,
             "max": lambda: np.maximum(x, y), "min": lambda: np.minimum(x, y)}[kind]()
        bits = f"u{np.dtype(self.KINDS[result]).itemsize}"
        if kind == "mac":
            old = wide("dst", ("S" if a["is_origin_dst_signed"] else "U") + result[1:])     # as documented: docs/deviations.md
            count = min(len(old), len(v))
            v = (old[:count] << a["lshift"]) + v[:count]
        return self.pack(a, "dst", self.page.okk_fixed(v, a.get("rshift", 0), np.dtype(bits).itemsize, is_signed), bits)

    def halves(self, op, a):
        """Sixteen bits: shifts, bytes, products with bytes."""
        base = op.removeprefix("fixed_point_packed_")
        page = self.page
        if base in ("16bit_C_arithmetic_shift", "16bit_C_logical_shift"):     # as documented: docs/deviations.md
            y = self.unpack(a, "src", np.uint16)
            return self.pack(a, "dst", page.okk_shift16(np.full(y.shape, a["C"] & 0xffff, np.uint16), y, "arithmetic" in base), np.uint16)
        if base in ("16bit_arithmetic_shift", "16bit_logical_shift", "16bit_arithmetic_shift_C", "16bit_logical_shift_C"):
            x = self.unpack(a, "src0" if "src0_addr" in a else "src", np.uint16)
            y = self.unpack(a, "src1", np.uint16) if "src1_addr" in a else np.full(x.shape, a["C"])
            return self.pack(a, "dst", page.okk_shift16(np.ascontiguousarray(x), y, "arithmetic" in base), np.uint16)
        if base == "16bit_split_high_8bit":
            return self.pack(a, "dst", self.unpack(a, "src", np.uint16) >> 8, np.uint8)
        if base == "16bit_split_low_8bit":
            low = self.unpack(a, "src", np.uint16) & 0xff
            self.pack(a, "work", low, np.uint16)
            return self.pack(a, "dst", low, np.uint8)
        if base == "s16_mul_u8_to_s16":
            self.packed(a, "dst", 2).put(self.packed(a, "work", 2).get() & 0x00ff00ff)     # all words, also what fills the last one
            x, y = self.unpack(a, "src0", np.int16).astype(np.int64), self.unpack(a, "src1", np.uint8).astype(np.int64)
            return self.pack(a, "dst", page.okk_s16_mul_u8(x[:a["shape"][0]], y[:a["shape"][0]], a["rshift"]), np.uint16)
        if base == "16bit_mul_8bit":
            first, rest = a["mul_type"].split("_MUL_")
            second, result = rest.split("_TO_")
            high, low = (self.unpack(a, f"src0_{part}", np.uint8).astype(np.uint16) for part in ("high", "low"))
            x = (high << 8 | low).view(self.KINDS[first]).astype(np.int64)
            v = x * self.unpack(a, "src1", self.KINDS[second]).astype(np.int64)
            return self.pack(a, "dst", page.okk_fixed(v, a["rshift"], 2, result[0] == "S"), np.uint16)
        return False

    # ---- windows ----

    def taps(self, a, outside):
        n, c, h, w = a["input_shape"]
        top, bottom, left, right = a["padding"] or (0, 0, 0, 0)
        (sh, sw), (dh, dw) = a.get("stride") or (1, 1), a.get("dilation") or (1, 1)
        kh, kw = a["kernel_h"], a["kernel_w"]
        x = self.tensor({**a, "shape": a["input_shape"]}, "input").get()
        x = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=np.uint32(outside))
        rows, columns = (h + top + bottom - ((kh - 1) * dh + 1)) // sh + 1, (w + left + right - ((kw - 1) * dw + 1)) // sw + 1
        return [x[:, :, i * dh:i * dh + rows * sh:sh, j * dw:j * dw + columns * sw:sw][:, :, :rows, :columns] for i in range(kh) for j in range(kw)]

    def windows(self, op, a):
        page = self.page
        if op not in ("conv2d", "depthwise2d", "avg_pool2d", "max_pool2d"):
            return False
        taps = self.taps(a, 0xff7fffff if op == "max_pool2d" else 0)
        kernel = a["kernel_h"], a["kernel_w"]
        if op == "conv2d":
            return self.conv2d(a, np.stack(taps, 2), kernel)
        if op == "max_pool2d":
            result = page.okk_max_pool(taps)
        elif op == "avg_pool2d":
            factor = page.bits(np.float32(1) / np.float32(len(taps)))
            result = page.okk_window_sum([page.mul(tap, factor) for tap in taps])
        else:
            weights = self.of_channels(a["weight_addr"], a["input_shape"][1], kernel).reshape(1, -1, len(taps), 1, 1)
            bias = self.of_channels(a["bias_addr"], a["input_shape"][1]) if a["using_bias"] else None
            result = page.okk_window_sum([page.mul(tap, weights[:, :, i]) for i, tap in enumerate(taps)], bias)
        self.tensor({**a, "shape": result.shape}, "output").put(result)
        return True

    def conv2d(self, a, taps, kernel):
        channels, outputs = a["input_shape"][1], a["output_c"]
        shape = (-(-channels // 2), outputs, *kernel)
        stride = a["kernel_stride"] or self.page.compact_stride(shape, a["weight_addr"] // self.memory.npu_bytes)
        pairs = [Tensor(self.memory, a["weight_addr"] + 4 * parity, shape, [2 * step for step in stride], 4).get() for parity in range(2)]
        weights = np.stack(pairs, 1).reshape(-1, outputs, kernel[0] * kernel[1])[:channels].transpose(1, 0, 2)
        bias = self.of_channels(a["bias_addr"], outputs).reshape(-1) if a["using_bias"] else None
        dst = self.tensor({**a, "shape": (taps.shape[0], outputs, *taps.shape[3:])}, "output")
        dst.put(self.page.okk_conv2d(taps, np.ascontiguousarray(weights), bias, dst.get() if a["result_add"] else None))
        return True

    def matrix(self, address, rows, columns, per_channel):
        shape = (rows, -(-columns // per_channel), 1, per_channel)
        return Tensor(self.memory, address, shape,
                      self.page.aligned_stride(shape, 4, address // self.memory.npu_bytes, row_bytes=128), 4)

    def matmul(self, a):
        n = a["right_cols"], a["right_cols_per_channel"]
        left = flat(self.matrix(a["left_addr"], a["left_rows"], a["left_cols"], a["left_cols_per_channel"]))[:, :a["left_cols"]]
        right = flat(self.matrix(a["right_addr"], a["left_cols"], *n))
        bias = flat(self.matrix(a["bias_addr"], 1, *n)) if a["using_bias"] else None
        dst = self.matrix(a["output_addr"], a["left_rows"], *n)
        old = flat(dst) if a["result_add"] else None
        dst.put(self.page.okk_matmul(np.ascontiguousarray(left), right, bias, old).reshape(dst.npu.shape))
        return True


class OkCopies:
    """BM1684's GDMA: plain moves."""

    def __init__(self, memory, page):
        self.memory, self.page = memory, page

    def side(self, letter, address, shape, stride, size):
        if letter == "S":
            return SystemTensor(self.memory, address, shape, stride, size, self.page.MACHINE["local_mem_start_addr"])
        return Tensor(self.memory, address, shape, stride or self.page.aligned_stride(shape, size, address // self.memory.npu_bytes, row_bytes=128), size)

    def run(self, name, a):
        match = re.fullmatch(r"okk_gdma_(32|16|8)bit_(cpy|set_C|matrix)_(?:([SL])2([SL])|(local|system))", name)
        if not match:
            return False
        size, op, source, target = int(match[1]) // 8, match[2], match[3], match[4]
        if op == "cpy":
            src = self.side(source, a["src_addr"], a["shape"], a["src_stride"], size)
            move(self.side(target, a["dst_addr"], a["shape"], a["dst_stride"], size), src, np.arange(np.prod(a["shape"])))
        elif op == "set_C":
            constant = np.full(a["shape"], a["C"] & ((1 << 8 * size) - 1), np.uint64)
            self.side("L" if match[5] == "local" else "S", a["dst_addr"], a["shape"], a["dst_stride"], size).put(constant)
        else:
            self.matrix(source, a, size)
        return True

    def matrix(self, source, a, size):
        rows, columns, per_channel = a["rows"], a["cols"], a["cols_per_channel"]
        spread = (rows, -(-columns // per_channel), 1, per_channel)
        line = (1, 1, rows, columns), [0, 0, a["row_stride"], 1]
        if source == "S":
            words = np.zeros((rows, spread[1] * per_channel), np.uint32)
            words[:, :columns] = self.side("S", a["src_addr"], *line, size).get()[0, 0]
            used = np.broadcast_to((np.arange(spread[1] * per_channel) < columns).reshape(1, *spread[1:]), spread)
            self.side("L", a["dst_addr"], spread, self.page.okk_matrix_stride(rows, columns, per_channel), size).put(words.reshape(spread), used)
        else:
            words = self.side("L", a["src_addr"], spread, self.page.okk_matrix_stride(rows, columns, per_channel), size).get().reshape(rows, -1)[:, :columns]
            self.side("S", a["dst_addr"], *line, size).put(words[None, None])
