"""Functions of convolution and pooling recordings, carried out by the Python of docs/numerics/bm1684x-matmul-conv-pool.md."""
import numpy as np

from elementwise_models import scalar, signed
from golden import BYTES, DTYPES, Tensor


class Windows:
    def __init__(self, memory, page):
        self.memory, self.page = memory, page

    def tensor(self, address, shape, dtype, compact=False):
        start = address // self.memory.npu_bytes
        stride = self.page.compact_stride(shape, start) if compact else self.page.aligned_stride(shape, BYTES[dtype], start)
        return Tensor(self.memory, address, shape, stride, BYTES[dtype])

    def taps(self, a, padding):
        """The input seen through each tap, in (kh, kw) order, each (n, c, oh, ow)."""
        n, c, h, w = a["input_shape"]
        (kh, kw), (sh, sw), (dh, dw) = a["kernel"], a["stride"], a["dilation"]
        top, bottom, left, right = a["padding"]
        x = self.tensor(a["input_addr"], (n, c, h, w), DTYPES[a.get("dtype") or a["input_dtype"]]).get()
        x = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=x.dtype.type(padding))
        rows, columns = self.page.output_extent(h, kh, top, bottom, sh, dh), self.page.output_extent(w, kw, left, right, sw, dw)
        return [x[:, :, i * dh:i * dh + rows * sh:sh, j * dw:j * dw + columns * sw:sw][:, :, :rows, :columns] for i in range(kh) for j in range(kw)]

    def per_channel(self, a, name, dtype, kernel=(1, 1)):
        """Compact parameters of each channel, one array for each tap."""
        words = self.tensor(a[name], (1, a["input_shape"][1], *kernel), dtype, compact=True).get()
        return list(words.reshape(1, words.shape[1], -1, 1, 1).transpose(2, 0, 1, 3, 4))

    def output(self, a, words, dtype):
        self.tensor(a["output_addr"], words.shape, dtype).put(words)
        return True

    def run(self, name, a):
        op = name.removeprefix("tpu_bdc_")
        if op == "fp_max_pool2d" and a["dtype"] == "DT_FP32":
            return self.output(a, self.page.max_pool(self.taps(a, a["pad_val"])), "fp32")
        if op in ("fp_avg_pool2d", "fp_depthwise2d"):
            return self.sums(op, a, DTYPES[a["dtype"]])
        if op in ("int8_max_pool2d", "int8_min_pool2d", "int8_avg_pool2d"):
            return self.integer_pool(op, a)
        return op == "int8_depthwise2d" and self.integer_depthwise(a)

    def sums(self, op, a, dtype):
        page = self.page
        taps = self.taps(a, 0)
        average = op == "fp_avg_pool2d"
        factors = [scalar(a["scale"], (1,), dtype)] * len(taps) if average else self.per_channel(a, "weight_addr", dtype, a["kernel"])
        addends = [page.window_product(tap, np.broadcast_to(factor, tap.shape), dtype) for tap, factor in zip(taps, factors)]
        if a.get("has_bias"):
            bias = self.per_channel(a, "bias_addr", dtype)[0]
            addends.insert(0, page.widen(np.ascontiguousarray(np.broadcast_to(bias, taps[0].shape)), dtype))
        total = page.two_lanes(addends, dtype, 0x80000000 if average else 0)
        return self.output(a, page.narrow(total, dtype), dtype)

    def integer_pool(self, op, a):
        of = DTYPES[a.get("dtype") or a["input_dtype"]]
        if op == "int8_avg_pool2d":
            to = DTYPES[a["output_dtype"]]
            total = sum(signed(tap.copy(), of) for tap in self.taps(a, 0))
            return self.output(a, self.page.int8_average(total, a["scale"], a["rshift"], *self.page.RANGES[to]) & 0xffffffff, to)
        taps = [signed(tap.copy(), of) for tap in self.taps(a, a["pad_val"] & 255)]
        best = (np.max if "max" in op else np.min)(np.stack(taps), axis=0)
        return self.output(a, best & 0xff, of)

    def integer_depthwise(self, a):
        of, weight, to, bias_of = (DTYPES[a[name]] for name in ("input_dtype", "weight_dtype", "output_dtype", "bias_dtype"))
        taps = [signed(tap.copy(), of) for tap in self.taps(a, a["pad_val"] & 255)]
        weights = [signed(np.ascontiguousarray(w), weight) for w in self.per_channel(a, "weight_addr", weight, a["kernel"])]
        total = sum(tap * w for tap, w in zip(taps, weights))
        unsigned = of == weight == "uint8"
        if a["has_bias"]:
            total = total + self.per_channel(a, "bias_addr", "int32")[0].astype(np.int64)
            unsigned = unsigned and bias_of.startswith("uint")
        low, high = self.page.RANGES[to]
        words = [self.page.int8_depthwise(int(v), unsigned, a["rshift"], a["rounding_mode"], a["result_relu"], low, high) & 0xffffffff for v in total.flat]
        return self.output(a, np.array(words, np.uint64).reshape(total.shape), to)
