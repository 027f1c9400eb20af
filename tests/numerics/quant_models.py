"""Shifts, quantisation and 8-bit sums, carried out by the Python of docs/numerics/bm1684x-elementwise.md."""
import numpy as np

from elementwise_models import Elementwise, scalar, signed
from golden import BYTES, DTYPES


class Quantisation(Elementwise):
    def run(self, function, a):
        op = function.removeprefix("tpu_bdc_")
        kinds = {"arithmetic_shift": self.shift, "logical_shift": self.shift, "arithmetic_shift_C": self.shift, "logical_shift_C": self.shift,
                 "int8_mac": self.mac, "int8_mac_C": self.mac, "int_requant": self.quantise, "int_pc_requant": self.quantise,
                 "int_dequant": self.quantise, "int_pc_dequant": self.quantise, "fp32_requant": self.float_quantise,
                 "fp32_pc_requant": self.float_quantise, "fp32_dequant": self.float_quantise, "fp32_pc_dequant": self.float_quantise}
        return op in kinds and kinds[op](op, a)

    def store(self, a, dtype, words, shape):
        self.tensor(a, "dst", dtype).put(np.array([word % 2**32 for word in words], np.uint64).reshape(shape))
        return True

    def shift(self, op, a):
        of, to = DTYPES[a["src_dtype"]], DTYPES[a["dst_dtype"]]
        x = signed(self.tensor(a, "src", of).get(), of)
        if "shift_addr" in a:
            kind = DTYPES[a["shift_dtype"]].removeprefix("u")
            amounts = np.vectorize(self.page.memory_shift, otypes=[np.int64])(signed(self.tensor(a, "shift", kind).get(), kind))
        else:
            amounts = np.full(x.shape, a["C"])
        words = [self.page.shift_bits(int(v), int(s), a["rounding_mode"], BYTES[to]) for v, s in zip(x.flat, amounts.flat)]
        return self.store(a, to, words, x.shape)

    def mac(self, op, a):
        types = [DTYPES[a.get("src0_dtype") or a["src_dtype"]], DTYPES[a.get("src1_dtype") or a["C_dtype"]]]
        x = self.tensor(a, "src0" if "src0_addr" in a else "src", types[0]).get()
        y = self.tensor(a, "src1", types[1]).get() if "src1_addr" in a else scalar(a["C"], x.shape, types[1])
        to = "uint16" if types == ["uint8", "uint8"] else "int16"
        old = signed(self.tensor(a, "dst", to).get(), to)
        words = [self.page.int8_mac(int(w), int(u), int(v), a["lshift"], a["rshift"], a["rounding_mode"], *self.page.RANGES[to])
                 for w, u, v in zip(old.flat, signed(x, types[0]).flat, signed(y, types[1]).flat)]
        return self.store(a, to, words, x.shape)

    def records(self, a, count):
        """Parameters of each channel: (1, c, 1, count) of 32 bits, each broadcast over its channel."""
        layout = self.page.QUANT_LAYOUT
        words = self.tensor(a, "quant", "uint32", (1, a["shape"][1], 1, count), layout).get()
        return [np.broadcast_to(words[..., i:i + 1], a["shape"]) for i in range(count)]

    def quantise(self, op, a):
        of, to = DTYPES[a["src_dtype"]], DTYPES[a["dst_dtype"]]
        x = signed(self.tensor(a, "src", of).get(), of)
        requant = "requant" in op
        if "_pc_" in op:
            values = self.page.quant_record(self.records(a, self.page.QUANT_WORDS), requant)
        else:
            values = [np.full(x.shape, a[name]) for name in ("multiplier", "shift", "offset")]
        words = []
        for v, m, s, o in zip(x.flat, *(part.flat for part in values)):
            m, s = (int(m) & 0xffffffff ^ 0x80000000) - 0x80000000, (int(s) & 0xff ^ 0x80) - 0x80
            s = self.page.quant_shift(s) if "_pc_" in op else s
            offset = self.page.quant_offset(int(o) & 0xffff, to if requant else of, "_pc_" in op)
            words.append(self.page.int_requant(int(v), m, s, offset, a["rounding_mode"], to) if requant else
                         self.page.int_dequant(int(v), offset, m, s, a["rounding_mode"], to))
        return self.store(a, to, words, x.shape)

    def float_quantise(self, op, a):
        of = DTYPES[a["src_dtype"]]
        x = signed(self.tensor(a, "src", of).get(), of)
        modes = [a[name] for name in ("dst_rounding_mode", "src_rounding_mode", "rounding_mode") if name in a]
        if any(mode not in self.page.MODES for mode in modes):
            return False
        if "_pc_" in op:
            first, second = self.records_of_floats(a)
        else:
            first, second = (np.full(x.shape, a[name] & 0xffffffff, np.uint32) for name in (("scale", "offset") if "requant" in op else ("offset", "scale")))
        if "requant" in op:
            to = DTYPES[a["dst_dtype"]]
            self.tensor(a, "dst", to).put(self.page.fp32_requant(x, first, second, to, *modes) & 0xffffffff)
        else:
            offsets = np.vectorize(lambda word: self.page.quant_offset(int(word) & 0xffff, of, "_pc_" in op))(first)
            self.tensor(a, "dst", "fp32").put(self.page.fp32_dequant(x, offsets, second, modes[0]))
        return True

    def records_of_floats(self, a):
        words = self.tensor(a, "quant", "uint32", (1, a["shape"][1], 1, 2), self.page.FLOAT_QUANT_LAYOUT).get()
        return [np.broadcast_to(words[..., i:i + 1], a["shape"]) for i in range(2)]
