"""Functions of BDC's gathers, tables and moves over NPUs, carried out by the Python of docs/numerics/bm1684x-dma-hau-gather.md."""
import numpy as np

from elementwise_models import COEFFICIENTS, scalar
from golden import BITS, BYTES, DTYPES, Tensor


class Gathers:
    def __init__(self, memory, page):
        self.memory, self.page = memory, page

    def tensor(self, address, shape, dtype, layout="aligned", repeated=False):
        start = address // self.memory.npu_bytes
        stride = {"aligned": lambda: self.page.aligned_stride(shape, BYTES[dtype], start), "compact": lambda: self.page.compact_stride(shape, start),
                  "line": lambda: self.page.line_aligned_stride(shape, BYTES[dtype], start)}[layout]()
        if repeated:    # the channels of one NPU share a row
            stride = [stride[0], 0, *stride[2:]]
        return Tensor(self.memory, address, shape, stride, BYTES[dtype])

    def run(self, name, a):
        op = name.removeprefix("tpu_bdc_")
        base = op.removesuffix("_exception").removesuffix("_with_dtype")
        kinds = {"w_gather": self.columns, "w_scatter": self.columns, "hw_gather": self.pixels, "hw_scatter": self.pixels,
                 "batch_bcast_w_gather": self.batches, "batch_bcast_w_scatter": self.batches, "batch_bcast_h_gather": self.batches,
                 "batch_bcast_h_scatter": self.batches, "4bank_w_gather": self.batches, "batch_bcast_w_mask_select": self.masks,
                 "table_lookup": self.table, "npu_bcast": self.spread, "cpy_cross_npu": self.spread, "arithmetic_sequence_bcast": self.sequence,
                 "arithmetic_sequence_general": self.sequence, "arithmetic_sequence_distribute": self.sequence,
                 "arithmetic_sequence_distribute_aligned": self.sequence, "generate_arithmetic_sequence": self.sequence,
                 "npu_bcast_from_static": self.from_static, "npu_distribute_from_static": self.from_static, "random_gen_init": self.random}
        return base in kinds and kinds[base](base, a, op.endswith("_exception"))

    def put(self, out, words, missing, a, exception):
        if exception:
            constant = scalar(a["C"], (1,), DTYPES[a["dtype"]]) if a["fill_const"] else None
            words = self.page.exception(words, out.get(), missing, constant)
        out.put(words)
        return True

    def columns(self, op, a, exception):
        n, c, _, w = a["shape"]
        dtype, index_type = DTYPES[a["dtype"]], DTYPES[a["index_dtype"]]
        param = self.tensor(a["param_addr"], (n, c, 1, a["param_w"]), dtype).get()
        out = self.tensor(a["output_addr"], (n, c, 1, w), dtype)
        index = self.tensor(a["index_addr"], (1, w if op == "w_gather" else a["param_w"], 1, 1), index_type, "compact").get().reshape(-1)
        if op == "w_scatter":
            return self.put(out, self.page.w_scatter(out.get(), param, index), None, a, False)
        missing = (index == (1 << 8 * BYTES[index_type]) - 1) & exception
        return self.put(out, self.page.w_gather(param, np.where(missing, 0, index)), missing, a, exception)

    def pixels(self, op, a, exception):
        n, c, h, w = a["shape"]
        dtype = DTYPES[a["dtype"]]
        rows, columns = a["param_h"], a["param_w"]
        param = self.tensor(a["param_addr"], (n, c, rows, columns), dtype).get()
        out = self.tensor(a["output_addr"], (n, c, h, w), dtype)
        extent = (h, w) if op == "hw_gather" else (rows, columns)
        pairs = self.tensor(a["index_addr"], (1, extent[0] * extent[1], 1, 2), "uint16", "compact").get().reshape(*extent, 2).astype(np.int64)
        missing = (pairs == 0xffff).any(-1) & exception
        column, row = (np.where(missing, 0, pairs[..., i]) for i in range(2))
        if op == "hw_scatter":
            return self.put(out, self.page.hw_scatter(out.get(), param, column, row), None, a, False)
        return self.put(out, self.page.hw_gather(param, column, row), missing, a, exception)

    def batches(self, op, a, exception):
        """An index of its own for each batch and channel; the parameter has one batch."""
        n, c, h, w = a["shape"]
        dtype, index_type = DTYPES[a["dtype"]], DTYPES[a["index_dtype"]]
        along_h = "_h_" in op
        extent = a["param_h" if along_h else "param_w"]
        layout, param_shape = ("line", (1, c, extent, w)) if along_h else ("aligned", (1, c, 1, extent))
        param = self.tensor(a["param_addr"], param_shape, dtype, layout, a["is_param_repeated"]).get().reshape(1, c, extent, -1)
        out = self.tensor(a["output_addr"], (n, c, h, w), dtype, layout)
        count = extent if "scatter" in op else h if along_h else w
        index = self.tensor(a["index_addr"], (n, c, 1, count), index_type).get()[:, :, 0, :]
        if "scatter" in op:
            old = out.get().reshape(n, c, h if along_h else w, -1)
            return self.put(out, self.page.batch_scatter(old, param, index).reshape(out.shape), None, a, False)
        missing = (index == (1 << 8 * BYTES[index_type]) - 1) & exception
        words = self.page.batch_gather(param, np.where(missing, 0, index))
        return self.put(out, words.reshape(out.shape), np.broadcast_to(missing[..., None], words.shape).reshape(out.shape), a, exception)

    def masks(self, op, a, exception):
        n, c, _, w = a["shape"]
        dtype = DTYPES[a["dtype"]]
        param = self.tensor(a["param_addr"], (1, c, 1, w), dtype, repeated=a["is_param_repeated"]).get()
        mask = self.tensor(a["mask_addr"], (n, c, 1, w), DTYPES[a["mask_dtype"]]).get()
        out, counts = self.tensor(a["output_addr"], (n, c, 1, w), dtype), self.tensor(a["count_addr"], (n, c, 1, 1), "uint16", "compact")
        words, numbers = out.get(), counts.get()
        for i, j in np.ndindex(n, c):
            words[i, j, 0], numbers[i, j] = self.page.row_select(words[i, j, 0], param[0, j, 0], mask[i, j, 0])
        out.put(words)
        counts.put(numbers)
        return True

    def table(self, op, a, exception):
        of, to = DTYPES[a["src_dtype"]], DTYPES[a["dst_dtype"]]
        src, dst = self.tensor(a["src_addr"], a["shape"], of), self.tensor(a["dst_addr"], a["shape"], to)
        words, out = src.get(), np.zeros(dst.shape, BITS[BYTES[to]])
        for npu in np.unique(src.npu):    # each NPU has its own copy
            table = self.memory.local[npu, a["table_addr"]:a["table_addr"] + a["len"] * BYTES[to]].copy().view(BITS[BYTES[to]])
            out[src.npu == npu] = self.page.table_lookup(table, words[src.npu == npu])
        dst.put(out)
        return True

    def spread(self, op, a, exception):
        n, c, h, w = a["shape"]
        dtype = DTYPES[a["dtype"]]
        src = self.tensor(a["src_addr"], (n, 1 if op == "npu_bcast" else c, h, w), dtype).get()
        self.tensor(a["dst_addr"], (n, c, h, w), dtype).put(np.broadcast_to(src, (n, c, h, w)))
        return True

    def sequence(self, op, a, exception):
        dtype, num, npus = DTYPES[a.get("dtype", "DT_INT32")], a["num"], a.get("npu_num", 1)
        num = max(num, 64) if op.startswith("generate") else num
        words = self.page.sequence(a.get("start", 0), a.get("step", 1), npus * num if op.endswith("general") else num)
        if "distribute" in op:
            layout = "aligned" if op.endswith("aligned") else "compact"
            self.tensor(a["dst_addr"], (1, num, 1, 1), dtype, layout).put(words.reshape(1, num, 1, 1))
        else:
            self.tensor(a["dst_addr"], (1, npus, 1, num), dtype).put(words.reshape(1, -1, 1, num))
        return True

    def from_static(self, op, a, exception):
        dtype, count = DTYPES[a["dtype"]], a["len"]
        at = self.page.static_offset(a["src_addr"])
        words = self.page.static_memory(COEFFICIENTS)[at:at + count * BYTES[dtype]].copy().view(BITS[BYTES[dtype]])
        if op == "npu_bcast_from_static":
            self.tensor(a["dst_addr"], (1, a["npu_num"], 1, count), dtype).put(words)
        else:
            self.tensor(a["dst_addr"], (1, count, 1, 1), dtype, "compact").put(words.reshape(1, count, 1, 1))
        return True

    def random(self, op, a, exception):
        """Numbers of a row, and the states of its generators behind one another."""
        if not hasattr(self.page, "random_row"):
            return False
        row = a["shape"][3] * BYTES[DTYPES[a["dtype"]]]
        for channel in range(a["shape"][1]):
            numbers, states = self.page.random_row(self.memory.seed, a["c_offset"] + channel, a["jump_cnt"], -(-row // 8))
            self.memory.local[channel, a["res_addr"]:][:8 * len(numbers)] = np.array(numbers, np.uint64).view(np.uint8)
            if a["need_store_state"]:
                self.memory.local[channel, a["store_state_addr"]:][:8 * len(states)] = np.array(states, np.uint64).view(np.uint8)
        return True
