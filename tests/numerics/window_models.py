"""Functions of convolution and pooling recordings, carried out by the Python of docs/numerics/bm1684x-matmul-conv-pool.md."""
import numpy as np

from elementwise_models import scalar, signed
from golden import BYTES, DTYPES, Tensor


class Windows:
    def __init__(self, memory, page):
        self.memory, self.page = memory, page

    def tensor(self, address, shape, dtype, compact=False, stride=None):
        start = address // self.memory.npu_bytes
        stride = stride or (self.page.compact_stride(shape, start) if compact else self.page.aligned_stride(shape, BYTES[dtype], start))
        return Tensor(self.memory, address, shape, stride, BYTES[dtype])

    def taps(self, a, padding, inserted=0):
        """The input seen through each tap, in (kh, kw) order, each (n, c, oh, ow). Padding and inserted values: one, or one for each channel."""
        n, c, h, w = a["input_shape"]
        (kh, kw), (dh, dw) = a["kernel"], a.get("dilation", (1, 1))
        (sh, sw), (ih, iw) = a.get("stride", (1, 1)), a.get("insert") or a.get("ins") or (0, 0)
        top, bottom, left, right = a["padding"]
        x = self.tensor(a["input_addr"], (n, c, h, w), DTYPES[a.get("dtype") or a["input_dtype"]], stride=a.get("input_stride")).get()
        plane = np.empty((n, c, (h - 1) * (ih + 1) + 1, (w - 1) * (iw + 1) + 1), x.dtype)
        plane[...] = np.asarray(inserted, x.dtype).reshape(1, -1, 1, 1)
        plane[:, :, ::ih + 1, ::iw + 1] = x
        padding = np.asarray(padding, x.dtype).reshape(1, -1, 1, 1)
        extent = a.get("output_extent") or (self.page.output_extent(h, kh, top, bottom, sh, dh, ih), self.page.output_extent(w, kw, left, right, sw, dw, iw))
        rows, columns = (np.arange(count) * step - before for count, step, before in zip(extent, (sh, sw), (top, left)))
        return [self.page.seen_by_tap(plane, rows + i * dh, columns + j * dw, padding, a.get("pad_mode", 0)) for i in range(kh) for j in range(kw)]

    def region_taps(self, a, outside):
        """The same for the functions that look at regions of the input."""
        x = self.tensor(a["input_addr"], a["input_shape"], DTYPES[a.get("dtype") or a["input_dtype"]]).get()
        return self.page.region_taps(x, self.regions(a), a["kernel"], outside)

    def regions(self, a):
        base = a["roi_addr"] % self.memory.npu_bytes
        return [self.memory.local[r % self.memory.npus, base + 8 * (r // self.memory.npus):][:8].view(np.uint16).astype(int) for r in range(a["output_w"])]

    def per_channel(self, a, name, dtype, kernel=(1, 1)):
        """Compact parameters of each channel, one array for each tap."""
        words = self.tensor(a[name], (1, a["input_shape"][1], *kernel), dtype, compact=True).get()
        return list(words.reshape(1, words.shape[1], -1, 1, 1).transpose(2, 0, 1, 3, 4))

    def output(self, a, words, dtype):
        self.tensor(a["output_addr"], words.shape, dtype).put(words)
        return True

    def weights(self, a, dtype, turned):
        """One array for each tap; a constant kernel has one value."""
        constant = a["weight_addr"] if a.get("kernel_is_const") else a.get("C")
        if constant is not None:
            return [scalar(constant, (1,), dtype)] * (a["kernel"][0] * a["kernel"][1])
        words = self.per_channel(a, "weight_addr", dtype, a["kernel"])
        return words[::-1] if turned else words

    def run(self, name, a):
        op = name.removeprefix("tpu_bdc_")
        if op == "fp_hw_reduce_mean" and hasattr(self.page, op[3:]):
            dtype = DTYPES[a["dtype"]]
            return self.output(a, self.page.hw_reduce_mean(self.tensor(a["input_addr"], a["shape"], dtype).get(), dtype), dtype)
        if op == "fp_avg_pool2d_ex":
            op, a = "fp_ins_avg_pool2d", {**a, "input_dtype": a["in_dtype"], "output_dtype": a["out_dtype"]}
        kinds = {"fp_max_pool2d": self.best, "fp_roi_max_pool2d": self.best, "fp_min_pool2d": self.best, "fp_roi_min_pool2d": self.best, "fp_avg_pool2d": self.sums, "fp_ins_avg_pool2d": self.sums,
                 "fp_roi_avg_pool2d": self.sums, "fp_depthwise2d": self.sums, "fp_ins_depthwise": self.sums, "fp_roi_depthwise2d": self.sums,
                 "fp8_avg_pool2d": self.fp8_average, "fp_depthwise_for_deconv2d": self.sums, "int8_max_pool2d": self.extreme, "int8_min_pool2d": self.extreme,
                 "int8_roi_max_pool2d": self.extreme, "int8_roi_min_pool2d": self.extreme, "int8_avg_pool2d": self.average,
                 "int8_ins_avg_pool2d": self.average, "int8_roi_avg_pool2d": self.average, "int8_depthwise2d": self.integer_depthwise,
                 "int8_pc_pad_depthwise2d": self.integer_depthwise, "int8_depthwise_for_deconv2d": self.integer_depthwise,
                 "int8_pc_pad_depthwise_for_deconv2d": self.integer_depthwise, "int8_depthwise2d_kernel_const": self.integer_depthwise,
                 "depthwise2d_requant_C_sym_C": self.integer_depthwise, "int8_roi_depthwise2d": self.region_depthwise}
        return op in kinds and kinds[op](op, a)

    def seen(self, op, a, padding):
        return self.region_taps(a, a["except_val"] & (256 ** BYTES[DTYPES[a.get("dtype") or a["input_dtype"]]] - 1)) if "roi" in op else self.taps(a, padding)

    def best(self, op, a):
        dtype = DTYPES[a["dtype"]]
        padding = a.get("pad_val", 0) & (256 ** BYTES[dtype] - 1)
        return self.output(a, (self.page.max_pool if "max" in op else self.page.min_pool)(self.seen(op, a, padding), dtype), dtype)

    def region_depthwise(self, op, a):
        of, weight, to = (DTYPES[a[name]] for name in ("input_dtype", "weight_dtype", "output_dtype"))
        taps = [signed(np.ascontiguousarray(tap), of) for tap in self.seen(op, a, 0)]
        total = sum(tap * signed(np.ascontiguousarray(w), weight) for tap, w in zip(taps, self.weights(a, weight, False)))
        return self.output(a, self.page.int8_region_sum(total, *self.page.RANGES[to]) & 0xffffffff, to)

    def sums(self, op, a):
        page, dtype = self.page, DTYPES[a.get("dtype") or a["input_dtype"]]
        if DTYPES[a.get("output_dtype") or a.get("dtype")] != dtype:
            return False
        taps = self.seen(op, a, 0)
        average = "avg" in op
        factors = [scalar(a["scale"], (1,), dtype)] * len(taps) if average else self.weights(a, dtype, "deconv" in op)
        addends = [page.window_product(np.ascontiguousarray(tap), np.ascontiguousarray(np.broadcast_to(factor, tap.shape)), dtype)
                   for tap, factor in zip(taps, factors)]
        if a.get("has_bias"):
            bias = self.per_channel(a, "bias_addr", dtype)[0]
            addends.insert(0, page.widen(np.ascontiguousarray(np.broadcast_to(bias, taps[0].shape)), dtype))
        total = page.two_lanes(addends, dtype, 0x80000000 if average else page.SUM_START)
        return self.output(a, page.narrow(total, dtype), dtype)

    def fp8_average(self, op, a):
        of, to = DTYPES[a["input_dtype"]], DTYPES[a["output_dtype"]]
        taps = [np.ascontiguousarray(tap) for tap in self.taps(a, 0)]
        return self.output(a, self.page.fp8_avg_pool(taps, scalar(a["scale"], taps[0].shape, of), of, to, a["re_scale"]), to)

    def average(self, op, a):
        of, to = DTYPES[a["input_dtype"]], DTYPES[a["output_dtype"]]
        total = sum(signed(np.ascontiguousarray(tap), of) for tap in self.seen(op, a, 0))
        if "roi" in op:
            return self.output(a, self.page.int8_region_average(total, a["scale"], *self.page.RANGES[to]) & 0xffffffff, to)
        return self.output(a, self.page.int8_average(total, a["scale"], a["rshift"], *self.page.RANGES[to]) & 0xffffffff, to)

    def extreme(self, op, a):
        of = DTYPES[a["dtype"]]
        taps = [signed(np.ascontiguousarray(tap), of) for tap in self.seen(op, a, a.get("pad_val", 0) & 255)]
        best = (np.max if "max" in op else np.min)(np.stack(taps), axis=0)
        return self.output(a, best & 0xff, of)

    def padding(self, op, a):
        """What is padded and inserted: a byte, or with `pc_pad` one of each channel; with insertion a pair of both."""
        if "pc_pad" not in op:
            padding, inserted = a["pad_val"] & 255, 0
        else:
            pairs = self.tensor(a["pad_addr"], (1, a["input_shape"][1], 1, 2), "uint8", compact=True).get()
            padding, inserted = pairs[..., 0], pairs[..., 1]
        if "deconv" in op:
            _, inserted, padding = self.page.transposed_operands(op, None, inserted, padding)
        return padding, inserted

    def depthwise_sum(self, op, a):
        """Sums, whether they are unsigned, and the result's type."""
        of, weight, to, bias_of = (DTYPES[a[name]] for name in ("input_dtype", "weight_dtype", "output_dtype", "bias_dtype"))
        taps = [signed(np.ascontiguousarray(tap), of) for tap in self.taps(a, *self.padding(op, a))]
        weight = self.page.depthwise_weight(op, weight)
        weights = [signed(np.ascontiguousarray(w), weight) for w in self.weights(a, weight, "deconv" in op)]
        total = sum(tap * w for tap, w in zip(taps, weights))
        unsigned = of == weight == "uint8"
        if a["has_bias"]:
            total = total + self.per_channel(a, "bias_addr", "int32")[0].astype(np.int64)
            unsigned = unsigned and bias_of.startswith("uint")
        return total, unsigned, to

    def integer_depthwise(self, op, a):
        total, unsigned, to = self.depthwise_sum(op, a)
        low, high = self.page.RANGES[to]
        low = -high if a.get("sym_range") and low < 0 else low
        words = [self.page.int8_depthwise(int(v), unsigned, a["rshift"], a["rounding_mode"], a["result_relu"], low, high) & 0xffffffff for v in total.flat]
        return self.output(a, np.array(words, np.uint64).reshape(total.shape), to)
