"""Single instructions of BM1684X with windows (CONV, PorD), carried out by the Python of docs/numerics/bm1684x-matmul-conv-pool.md: only they have a pad_mode."""
import functools
import re

import numpy as np

from conv_models import Convolutions
from elementwise_models import scalar, signed
from golden import BYTES, ROOT

TYPES = ("int8", "fp16", "fp32", "int16", "int32", "bfp16")      # by their codes; integers get their sign
CONV, POOL = 0, 1


@functools.cache
def long_layout():
    """Name and width of each field of the long form, from the table of the decoder."""
    text = (ROOT / "device/instruction/formats/bm1684x.def").read_text()
    body = re.search(r"#define LONG_TIU \\\n((?:.*\\\n)*.*\n)", text)[1]
    return [(name, int(width)) for name, width in re.findall(r"([\w-]+):(\d+)", body)]


def decode(expanded):
    """The fields of the long form, 128 bytes in hex."""
    word, fields = int.from_bytes(bytes.fromhex(expanded), "little"), {}
    for name, width in long_layout():
        fields[name] = word & ((1 << width) - 1)
        word >>= width
    return fields


def name_of(fields):
    """An instruction and what its windows see beyond the input."""
    return f"{('CONV', 'PorD')[fields['tsk_typ']]} {fields['tsk_eu_typ']} pad_mode {fields['pad_mode']}"


class Instructions(Convolutions):
    """Makes the arguments of a function from an instruction's fields."""

    @staticmethod
    def type_of(code, is_signed):
        name = TYPES[code]
        return name if "fp" in name or is_signed else f"u{name}"

    def carry_out(self, f):
        """Whether the pages have the instruction; f are its fields."""
        if f["tsk_typ"] not in (CONV, POOL) or f["tsk_eu_typ"] > (2 if f["tsk_typ"] == CONV else 4) or max(f["opd0_prec"], f["res0_prec"]) >= len(TYPES):
            return False
        of = self.type_of(f["opd0_prec"], f["opd0_sign"])
        a = {"input_addr": f["opd0_addr"], "output_addr": f["res0_addr"], "output_c": f["res0_c"], "kernel": (f["opd1_h"], f["opd1_w"]),
             "input_shape": (f["res0_n"], f["opd0_c"] if f["tsk_typ"] == CONV else f["res0_c"], f["opd0_h"], f["opd0_w"]),
             "output_extent": (f["res0_h"], f["res0_w"]), "stride": (f["res_op_y_str"], f["res_op_x_str"]),
             "dilation": (f["opd1_y_ins0"] + 1, f["opd1_x_ins0"] + 1), "insert": (f["opd0_y_ins0"], f["opd0_x_ins0"]),
             "padding": [f[f"opd0_{side}_pad"] for side in ("up", "dn", "lf", "rt")], "pad_mode": f["pad_mode"], "input_dtype": f"DT_{of.upper()}",
             "weight_addr": f["opd1_addr"], "bias_addr": f["opd2_addr"], "has_bias": not f["opd2_const"], "result_add": f["res_add"]}
        if f["tsk_typ"] == CONV and f["opd0_str"]:
            a["input_stride"] = self.stride(f, a["input_shape"], of)
        return (self.convolution if f["tsk_typ"] == CONV else self.pooling)(f, a, of)

    def stride(self, f, shape, of):
        """Of the input, as the instruction chooses its layout."""
        start = f["opd0_addr"] // self.memory.npu_bytes
        given = [f[f"opd0_{axis}_str"] for axis in "nchw"]
        return {1: lambda: self.page.compact_stride(shape, start), 2: lambda: [0, 1, 0, 0], 3: lambda: given,
                4: lambda: self.page.line_aligned_stride(shape, BYTES[of], start)}[f["opd0_str"]]()

    def around(self, f, of, shape, insertion):
        """Padding and inserted values: constants, or a pair of each channel."""
        if f["opd3_const"]:
            mask = 256 ** BYTES[of] - 1
            return f["opd3_addr"] & mask, insertion & mask
        pairs = self.tensor(f["opd3_addr"], (1, shape[1], 1, 2), of, stride=[0, 2, 0, 1]).get()
        return pairs[..., 0], pairs[..., 1]

    def convolution(self, f, a, of):
        floats, function = "fp" in of, f["tsk_eu_typ"]
        weight = of if floats else "int8" if f["opd1_sign"] else "uint8"
        relu = function == 2
        third = f["opd2_sign"] and not (function and f["opd2_const"])
        to = self.type_of(f["res0_prec"], (f["opd0_sign"] or f["opd1_sign"] or third) and not relu)
        op = "deconv" if f["kernel_rotate"] else ""
        if f["opd1_const"]:
            op, a["C"] = "kernel_const", f["opd1_addr"]
        outputs = (a["input_shape"][0], f["res0_c"], f["res0_h"], f["res0_w"])
        if floats:
            if function:
                return False
            bias = self.of_outputs(a, a["bias_addr"], "fp32") if a["has_bias"] else None
            old = self.result(a, outputs, "fp32").get() if a["result_add"] else None
            self.result(a, outputs, to).put(self.page.fp_conv2d(self.window(a), self.kernel(op, a, of), of, to, bias, old))
            return True
        padding, inserted = self.around(f, of, a["input_shape"], f["res1_addr"]) if not function else (0, 0)
        taps, weights = signed(self.window(a, padding, inserted), of), signed(self.kernel(op, a, weight).copy(), weight)
        return (self.shifted if function else self.with_zero_points)(f, a, taps, weights, to, outputs)

    def with_zero_points(self, f, a, taps, weights, to, outputs):
        zero_of = "int8" if f["opd2_sign"] else "uint8"
        zero = self.page.constant_zero_point(f["opd2_addr"] & 255, zero_of) if f["opd2_const"] else signed(self.of_outputs(a, f["opd2_addr"], zero_of), zero_of)
        total = self.page.int8_conv_sum(taps, weights, zero)
        out = self.result(a, outputs, to)
        if f["res_add"]:
            total = total + signed(out.get(), to)
        unsigned = not (f["opd0_sign"] or f["opd1_sign"] or f["opd2_sign"]) and f["opd2_const"] and f["opd2_addr"] & 255 == 0
        out.put(self.page.int8_asym_conv2d(total, unsigned, BYTES[to], *self.page.RANGES[to]) & 0xffffffff)
        return True

    def shifted(self, f, a, taps, weights, to, outputs):
        total = self.page.int8_conv_sum(taps, weights)
        bias_of = "int16" if f["opd2_sign"] else "uint16"
        if a["has_bias"]:
            total = total + signed(self.of_outputs(a, f["opd2_addr"], bias_of), bias_of)[None, :, None, None]
        unsigned = not (f["opd0_sign"] or f["opd1_sign"] or f["opd2_sign"])
        v = self.page.int8_sym_conv2d(total, unsigned, f["opd3_addr"] & 255, f["tsk_eu_typ"] == 2, BYTES[to], *self.page.RANGES[to])
        self.result(a, outputs, to).put(v & 0xffffffff)
        return True

    def pooling(self, f, a, of):
        page, function, floats = self.page, f["tsk_eu_typ"], "fp" in of
        relu, average, depthwise = function == 2, function == 1, function in (0, 2)
        weight = of if floats else "uint8" if average else "int8" if f["opd1_sign"] else "uint8"
        bias = depthwise and not f["opd2_const"]
        sign = f["opd0_sign"] or (depthwise and (f["opd1_sign"] or (f["opd2_sign"] and bias)))
        to = self.type_of(f["res0_prec"], sign and not relu)
        padding, inserted = self.around(f, of, a["input_shape"], 0)
        taps = [np.ascontiguousarray(tap) for tap in self.taps(a, padding, inserted)]
        if function == 4:
            best = page.max_pool(taps, of) if floats else np.max(np.stack([signed(tap, of) for tap in taps]), axis=0) & (256 ** BYTES[of] - 1)
            return self.output(a, best, to)
        weights = [scalar(f["opd1_addr"], (1,), weight)] * len(taps) if f["opd1_const"] else self.per_channel(a, "weight_addr", weight, a["kernel"])
        weights = weights[::-1] if f["kernel_rotate"] else weights
        bias_of = of if floats else "int32"
        extra = [np.ascontiguousarray(np.broadcast_to(self.per_channel(a, "bias_addr", bias_of)[0], taps[0].shape))] if bias else []
        if floats:
            if relu or to != of:
                return False
            addends = [page.widen(words, of) for words in extra]
            addends += [page.window_product(tap, np.ascontiguousarray(np.broadcast_to(w, tap.shape)), of) for tap, w in zip(taps, weights)]
            return self.output(a, page.narrow(page.two_lanes(addends, of, 0x80000000 if average else page.SUM_START), of), of)
        total = sum(signed(tap, of) * signed(np.ascontiguousarray(w), weight) for tap, w in zip(taps, weights)) + sum(words.astype(np.int64) for words in extra)
        unsigned = not (f["opd0_sign"] or (depthwise and f["opd1_sign"]) or (bias and f["opd2_sign"]))
        rshift = (f["res1_addr"] >> 8 if depthwise else f["opd2_addr"]) & 255
        mode = "RM_HALF_UP" if average else page.MODES[f["opd2_n_str"]]     # an average has no mode
        words = [page.int8_depthwise(int(v), unsigned, rshift, mode, relu, *page.RANGES[to]) & 0xffffffff for v in total.flat]
        return self.output(a, np.array(words, np.uint64).reshape(total.shape), to)
