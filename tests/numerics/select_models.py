"""Selections and vectors by vectors, carried out by the Python of docs/numerics/bm1684x-elementwise.md."""
import numpy as np

from elementwise_models import Elementwise, scalar, signed
from golden import BYTES, DTYPES, FLOATS, Tensor

COMPARISONS = ("greater", "less", "equal", "greater_equal", "less_equal", "not_equal")


class Selections(Elementwise):
    def run(self, function, a):
        op = function.removeprefix("tpu_bdc_")
        if op in ("greater_select", "less_select", "equal_select"):
            return self.select(op.removesuffix("_select"), a)
        if op in ("maximum_greater_select", "minimum_less_select"):
            return self.both(op, a)
        return "vc_" in op and "src0_len_per_channel" in a and self.vectors(op, a)

    def operand(self, variable, a, dtype):
        """A tensor, a constant, or a vector: one value at the same offset of every NPU."""
        kind, word = variable[0]["enum"], variable[1]["u32"]
        if kind == "SCALAR":
            return scalar(word, a["shape"], dtype)
        if kind == "VECTOR":
            return Tensor(self.memory, word, a["shape"], [0, 0, 0, 0], BYTES[dtype]).get()
        stride = self.page.aligned_stride(a["shape"], BYTES[dtype], word // self.memory.npu_bytes)
        return Tensor(self.memory, word, a["shape"], stride, BYTES[dtype]).get()

    def select(self, op, a):
        of, to = DTYPES[a["src0_src1_dtype"]], DTYPES[a["dst_dtype"]]
        x, y, yes, no = (self.operand(a[f"src{i}"], a, of if i < 2 else to) for i in range(4))
        if of not in FLOATS:
            x, y = signed(x, of), signed(y, of)
        self.tensor(a, "dst", to).put(np.where(self.page.compare(op, x, y, of), yes, no))
        return True

    def both(self, op, a):
        """The larger or smaller of two, and what belongs to it."""
        first, second = DTYPES[a["dst0_dtype"]], DTYPES[a["dst1_dtype"]]
        x, y = (self.operand(a[f"src{i}"], a, first) for i in (0, 1))
        companions = [self.operand(a[f"src{i}"], a, second) for i in (2, 3)]
        u, v = (x, y) if first in FLOATS else (signed(x, first), signed(y, first))
        takes = self.page.compare("greater" if op.startswith("max") else "less", u, v, first)
        winner = np.where(takes, x, y)
        self.tensor(a, "dst0", first).put(self.page.keep(winner, first) if first in FLOATS else winner)
        self.tensor(a, "dst1", second).put(np.where(takes, *companions))
        return True

    def vector(self, address, length, per_channel, dtype):
        shape = (1, -(-length // per_channel), 1, per_channel)
        return Tensor(self.memory, address, shape, self.page.aligned_stride(shape, BYTES[dtype], address // self.memory.npu_bytes), BYTES[dtype]).get().reshape(-1)

    def vectors(self, op, a):
        base = op.removeprefix("fp_").removeprefix("fp32_").removeprefix("int_").removeprefix("vc_")
        to = DTYPES[a.get("dst_dtype") or a.get("dtype", "DT_FP32")]
        types = [DTYPES[a.get(f"src{i}_dtype") or a.get("src_dtype") or a.get("dtype", "DT_FP32")] for i in range(2)]
        rows, per_channel = a["src0_len"], a["src1_len_per_channel"]
        x = self.vector(a["src0_addr"], rows, a["src0_len_per_channel"], types[0])[:rows]
        y = self.vector(a["src1_addr"], a["src1_len"], per_channel, types[1])    # the last channel in its full width
        if op.startswith("int_"):
            def function(u, v):
                words = [self.page.int_binary(base, int(p), int(q), 0, "RM_DOWN", a["saturation"], to) % 2**32 for p, q in zip(u.flat, v.flat)]
                return np.array(words, np.uint64).reshape(u.shape)
            x, y = signed(x, types[0]), signed(y, types[1])
        elif base in COMPARISONS:
            def function(u, v):
                return np.where(self.page.compare(base, u, v, types[0]), scalar(a["true_val"], u.shape, to), 0)
            if types[0] not in FLOATS:
                x, y = signed(x, types[0]), signed(y, types[0])
        elif base in ("and", "or", "xor"):
            function = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}[base]
        elif base == "div":
            function = self.page.divide
        else:
            def function(u, v):
                return self.binary(base if base in ("max", "min") else f"fp_{base}", u, v, to)
        shape = (rows, -(-a["src1_len"] // per_channel), 1, per_channel)
        stride = self.page.aligned_stride(shape, BYTES[to], a["dst_addr"] // self.memory.npu_bytes)
        Tensor(self.memory, a["dst_addr"], shape, stride, BYTES[to]).put(self.page.outer(function, x, y).reshape(shape))
        return True
