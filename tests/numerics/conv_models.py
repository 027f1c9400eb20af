"""Convolutions, carried out by the Python of docs/numerics/bm1684x-matmul-conv-pool.md."""
import numpy as np

from elementwise_models import scalar, signed
from golden import BITS, BYTES, DTYPES
from window_models import Windows


class Convolutions(Windows):
    """Taps and tensors are those of the windows."""

    def run(self, name, a):
        op = name.removeprefix("tpu_bdc_")
        if op in ("fp_conv2d", "fp_conv2d_kernel_const", "fp_conv2d_for_deconv2d", "fp_conv2d_long_instr"):
            return self.floats(op, a)
        if op.startswith("int8_sym_quant_conv2d"):
            return self.symmetric(op, a)
        if op == "depthwise2d_requant_pc_asym_C" and hasattr(self.page, "requantised"):
            total, unsigned, to = self.depthwise_sum(op, a)
            return self.output(a, self.requantise(a, total, unsigned, a["has_requant"], to), to)
        if op in ("fp_conv2d_with_rescale", "fp_conv2d_rescale_pc"):
            return self.rescaled(op, a)
        if op.startswith("conv2d_requant_"):
            return hasattr(self.page, "requantised") and self.requantising(op, a)
        return op.startswith(("int8_asym_quant_conv2d", "int8_asym_pc_quant_conv2d")) and self.asymmetric(op, a)

    def kernel(self, op, a, dtype):
        """[OC, IC, T] as bits, turned for the functions of transposed convolution."""
        (kh, kw), channels, outputs = a["kernel"], a["input_shape"][1], a["output_c"]
        if "kernel_const" in op:
            return scalar(a["C"], (outputs, channels, kh * kw), dtype)
        size, start = BYTES[dtype], a["output_addr"] // self.memory.npu_bytes
        oc, ic, i, j = np.ogrid[:outputs, :channels, :kh, :kw]
        element = self.page.weight_offset(oc, ic, i, j, channels, kh, kw, self.page.BLOCK[size], start, self.memory.npus)
        at = a["weight_addr"] % self.memory.npu_bytes + size * element
        words = np.stack([self.memory.local[(start + oc) % self.memory.npus, at + byte] for byte in range(size)], -1).view(BITS[size])
        words = words.reshape(outputs, channels, kh * kw)
        return np.ascontiguousarray(words[:, :, ::-1]) if "deconv" in op else words

    def window(self, a, padding=0, inserted=0):
        """[N, IC, T, H, W] as bits."""
        return np.ascontiguousarray(np.stack(self.taps(a, padding, inserted), 2))

    def of_outputs(self, a, address, dtype):
        return self.tensor(address, (1, a["output_c"], 1, 1), dtype, compact=True).get().reshape(-1)

    def result(self, a, shape, dtype):
        return self.tensor(a["output_addr"], shape, dtype)

    def floats(self, op, a):
        of, to = DTYPES[a["input_dtype"]], DTYPES[a["output_dtype"]]
        taps = self.window(a)
        shape = taps.shape[0], a["output_c"], *taps.shape[3:]
        bias = self.of_outputs(a, a["bias_addr"], "fp32") if a["has_bias"] else None
        old = self.result(a, shape, "fp32").get() if a["result_add"] else None
        self.result(a, shape, to).put(self.page.fp_conv2d(taps, self.kernel(op, a, of), of, to, bias, old))
        return True

    def rescaled(self, op, a):
        """BM1690's, also of FP8: the old result and the factors are f32."""
        of, weight, to, bias_of = (DTYPES[a[name]] for name in ("input_dtype", "weight_dtype", "output_dtype", "bias_dtype"))
        taps = self.window(a)
        shape = taps.shape[0], a["output_c"], *taps.shape[3:]
        bias = self.page.widen(self.of_outputs(a, a["bias_addr"], bias_of), bias_of) if a["has_bias"] else None
        old = self.result(a, shape, "fp32").get() if a["result_add"] else None
        scale = None
        if a.get("do_rescale", True):
            scale = np.full((1, 1, 1, 1), a["rescale_addr"], np.uint32) if a.get("scale_const") else \
                self.of_outputs(a, a["rescale_addr"], "fp32")[None, :, None, None]
        acc = self.page.fp_conv2d_sum(taps, self.kernel(op, a, weight), of, weight, bias, old)
        self.result(a, shape, to).put(self.page.finished(acc, to, a["do_relu"], scale))
        return True

    def integers(self, op, a, padding=0, inserted=0):
        of, weight, to = (DTYPES[a[name]] for name in ("input_dtype", "weight_dtype", "output_dtype"))
        return signed(self.window(a, padding, inserted), of), signed(self.kernel(op, a, weight).copy(), weight), of == weight == "uint8", to

    def symmetric(self, op, a):
        taps, weights, unsigned, to = self.integers(op, a)
        bias_of = DTYPES[a["bias_dtype"]]
        total = self.page.int8_conv_sum(taps, weights)
        if a["has_bias"]:
            address = self.page.transposed_operands(op, a["bias_addr"], 0, 0)[0] if "deconv" in op else a["bias_addr"]
            total = total + signed(self.of_outputs(a, address, bias_of), bias_of)[None, :, None, None]
        typed = a["has_bias"] or self.page.UNUSED_BIAS_COUNTS
        unsigned = unsigned and (bias_of.startswith("uint") or not typed)
        v = self.page.int8_sym_conv2d(total, unsigned, a["rshift"], a["result_relu"], BYTES[to], *self.page.RANGES[to])
        self.result(a, total.shape, to).put(v & 0xffffffff)
        return True

    def surroundings(self, a):
        """Padding and inserted values of each channel."""
        channels, start = a["input_shape"][1], a["input_addr"] // self.memory.npu_bytes
        address = a.get("pad_addr", a.get("pad_insert_addr"))
        pairs = self.tensor(address % self.memory.npu_bytes + start * self.memory.npu_bytes, (1, channels, 1, 2), "uint8", compact=True).get()
        return pairs[..., 0], pairs[..., 1]

    def records(self, a, channels):
        """Multiplier, shift and offset of each channel of the result."""
        if "requant_addr" not in a:
            return [(a["multiplier"], a["rshift"], a["output_zp"])] * channels
        words = self.tensor(a["requant_addr"], (1, channels, 1, 2), "uint32", compact=True).get().reshape(channels, 2).astype(np.int64)
        return [(int(m ^ 2**31) - 2**31, int(w & 255 ^ 128) - 128, int(w >> 16 ^ 2**15) - 2**15) for m, w in words]

    def requantising(self, op, a):
        weight, bias_of = DTYPES[a["weight_dtype"]], DTYPES[a["bias_dtype"]]
        padding, inserted = self.surroundings(a) if op.endswith("asym_pc") else (a.get("pad_val", 0) & 255, 0)
        taps, weights, unsigned, to = self.integers(op, a, padding, inserted)
        zero = signed(self.of_outputs(a, a["kzp_addr"], self.page.ZERO_POINTS), self.page.ZERO_POINTS) if op.endswith("asym_pc") else \
            self.page.constant_zero_point(a.get("kzp_val", 0) & 255, weight)
        total = self.page.int8_conv_sum(taps, weights, zero)
        if a["has_bias"]:
            total = total + signed(self.of_outputs(a, a["bias_addr"], bias_of), bias_of)[None, :, None, None]
        out = self.result(a, total.shape, to)
        if a.get("result_add"):
            total = total + signed(out.get(), to)
        unsigned = unsigned and not (a["has_bias"] and bias_of.startswith("int")) and not op.endswith("asym_pc") and a.get("kzp_val", 0) & 255 == 0
        out.put(self.requantise(a, total, unsigned, a["has_requant"] or op.endswith("asym_pc"), to))
        return True

    def requantise(self, a, total, unsigned, used, to):
        channels = total.shape[1]
        records = self.records(a, channels) if used else [None] * channels
        mode = a.get("rounding_mode", "RM_HALF_UP")
        words = [self.page.requantised(int(v), unsigned, a["result_relu"], records[c], mode, to, a["sym_range"]) & 0xffffffff
                 for (_, c, _, _), v in np.ndenumerate(total)]
        return np.array(words, np.uint64).reshape(total.shape)

    def asymmetric(self, op, a):
        zero_of = DTYPES[a["kzp_dtype"]]
        if "_pc_" in op:
            padding, inserted = self.surroundings(a)
            stored = self.page.ZERO_POINTS or zero_of
            zero = signed(self.of_outputs(a, a["kzp_addr"], stored), stored)
        else:
            padding, inserted = a["pad_val"] & 255, a.get("insert_val", 0) & 255
            zero = self.page.constant_zero_point(a["kzp_val"] & 255, zero_of)
        taps, weights, unsigned, to = self.integers(op, a, padding, inserted)
        total = self.page.int8_conv_sum(taps, weights, zero)
        out = self.result(a, total.shape, to)
        if a["result_add"]:
            total = total + signed(out.get(), to)
        unsigned = unsigned and zero_of == "uint8" and "_pc_" not in op and a["kzp_val"] & 255 == 0
        out.put(self.page.int8_asym_conv2d(total, unsigned, BYTES[to], *self.page.RANGES[to]) & 0xffffffff)
        return True
