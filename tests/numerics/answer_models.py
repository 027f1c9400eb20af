"""Functions that answer instead of writing memory: conversions of single values, questions about types and layouts."""
import numpy as np

from golden import BITS, BYTES, DTYPES, GLOBAL_BYTES

OTHERS = {"DT_INT4": "int4", "DT_UINT4": "uint4", "DT_TF32": "tf32", "DT_FP20": "fp20", 15: "e5m2", 47: "e4m3"}     # also by their codes
CASTS = ("cast", "fp_cast", "fp_to_int_cast", "int_to_fp_cast", "int_cast")
# Nothing is computed.
WAITS = ("tpu_poll", "tpu_sdma_poll", "tpu_vsdma_poll", "tpu_hau_poll", "tpu_cdma_poll", "tpu_initialize", "tpu_cdma_initialize", "tpu_flush_cache",
         "tpu_invalidate_cache", "tpu_bdc_end", "tpu_print_local_mem_data", "tpu_dump_registered_kernel_funcs", "tpu_parallel_start", "tpu_parallel_end",
         "okk_initialize", "okk_poll", "okk_parallel_start", "okk_parallel_end", "okk_enable_check_id_node", "okk_disable_check_id_node")


class Calls:
    """What both interfaces have in common."""

    def __init__(self, memory, page):
        self.memory, self.page = memory, page

    def computes_nothing(self, name):
        if name.endswith(("parallel_start", "parallel_end")):
            self.memory.parallel = name.endswith("start")
        return name in WAITS


class OkAnswers(Calls):
    """The answers of BM1684's functions."""

    def run(self, name, a):
        if self.computes_nothing(name):
            return True
        op, shape = name.removeprefix("okk_"), a.get("shape")
        start = a.get("start_idx", 0)
        known = {"is_parallel_state": lambda: self.memory.parallel, "start_npu_index": lambda: a["addr"] // self.memory.npu_bytes,
                 "channle_num_per_npu": lambda: self.page.compact_stride((1, a["num_channels"], 1, 1), start)[0],
                 "compact_stride": lambda: self.page.compact_stride(shape, start),
                 "continuous_stride": lambda: [int(np.prod(shape[axis + 1:])) for axis in range(4)],
                 "local_mem_addr": lambda: [a["idx"], a["addr"]], "global_mem_addr": lambda: a["addr"], "l2_sram_addr": lambda: a["addr"] - GLOBAL_BYTES}
        if op.startswith("128_byte_aligned_stride_for_"):
            self.memory.answer = self.page.aligned_stride(shape, int(op[28:].removesuffix("bit")) // 8, start, row_bytes=128)
        elif op in self.page.MACHINE or op in known:
            self.memory.answer = known[op]() if op in known else self.page.MACHINE[op]
        else:
            return False
        return True


class Answers(Calls):
    """Leaves the value in `memory.answer`."""

    def run(self, name, a):
        if self.computes_nothing(name):
            return True
        if name == "tpu_bd_set_random_gen_seed":
            self.memory.seed = a["seed"]
            return True
        if name in ("tpu_gdma_get_filter_num", "tpu_sdma_get_filter_num") and self.memory.filtered is not None:
            return self.answer(self.memory.filtered)
        op = name.removeprefix("tpu_")
        if op == "is_parallel_state":
            return self.answer(self.memory.parallel)
        if op == "gdma_shape_limit" and hasattr(self.page, "shape_limit"):
            return self.answer(self.page.shape_limit(a["dim"]))
        if op in self.page.MACHINE or op in self.page.LAUNCH:
            return self.answer({**self.page.MACHINE, **self.page.LAUNCH}[op])
        if op in CASTS:
            return self.answer(self.cast(a))
        known = {name: {**DTYPES, **OTHERS}.get(value) for name, value in a.items() if "dtype" in name}
        if None in known.values():
            return False
        for group in (self.of_types, self.of_layouts, self.of_addresses):
            value = group(op, a, known.get("dtype"))
            if value is not None:
                return self.answer(value)
        return False

    def answer(self, value):
        self.memory.answer = value
        return True

    def cast(self, a):
        of, to = DTYPES[a["src_dtype"]], DTYPES[a["dst_dtype"]]
        word = np.array([a["src"] & ((1 << 8 * BYTES[of]) - 1)], BITS[BYTES[of]])
        return int(self.page.scalar_cast(word, of, to, a.get("mode", "RM_HALF_TO_EVEN"))[0])

    def of_types(self, op, a, dtype):
        p = self.page
        if dtype is None:
            return None
        bits, integer = p.BITS_OF.get(dtype, 32), "int" in dtype
        signed = integer and not dtype.startswith("u")
        kind = op.removeprefix("is_data_type_")
        answers = {"signed": signed or not integer, "int": integer, "int4": integer and bits == 4, "int8": integer and bits == 8,
                   "int16": integer and bits == 16, "int32": integer and bits == 32, "signed_int": signed,
                   "unsigned_int": integer and not signed, "fp": not integer, "fp8": dtype in ("e4m3", "e5m2"),
                   "data_type_size": bits // 8, "data_type_bits": bits, "eu_num": 8 * p.ROW_BYTES // bits,
                   "sfu_taylor_exp_len": 10 if bits == 32 else 7, "sfu_taylor_log_len": 16 if bits == 32 else 8,
                   "get_ic_parallel": p.channels_side_by_side(dtype) if dtype in p.BITS_OF else None}
        return answers.get(kind) if kind != op or not op.startswith(("is", "int", "fp", "signed")) else None

    def of_layouts(self, op, a, dtype):
        p = self.page
        size = BYTES.get(dtype)
        questions = {
            "aligned_stride": lambda: p.aligned_stride(a["shape"], size, a["start_idx"]),
            "line_aligned_stride": lambda: p.line_aligned_stride(a["shape"], size, a["start_idx"]),
            "compact_stride": lambda: p.compact_stride(a["shape"], a["start_idx"]),
            "continuous_stride": lambda: [int(np.prod(a["shape"][axis + 1:])) for axis in range(4)],
            "channle_num_per_npu": lambda: p.channels_per_npu(a["start_idx"], a["num_channels"]),
            "aligned_feature_size": lambda: p.channel_stride(a["h"], a["w"], True, size) * size,
            "get_local_cstride": lambda: p.channel_stride(a["h"], a["w"], a["align"], size),
            "get_local_nstride": lambda: p.batch_stride(a["c_stride"], a["c"], a["start_idx"]),
            "get_local_size": lambda: p.local_size(a["shape"], size, a["start_idx"], a["align"]),
            "npu_c_offset": lambda: p.channel_place(a["c"], a["c_stride"], size)[1],
            "unified_c_offset": lambda: np.dot(p.channel_place(a["c"], a["c_stride"], size), (p.NPU_BYTES, 1)),
            "conv_kernel_size_per_oc": lambda: p.kernel_size_per_oc(a["ic"], a["ker"], dtype),
            "conv_kernel_size": lambda: p.channels_per_npu(0, a["oc"]) * p.kernel_size_per_oc(a["ic"], a["ker"], dtype),
            "gdma_compress_normal_max_bytes": lambda: p.compressed_bytes(a["shape"], dtype),
            "gdma_compress_RACU_max_racu_bytes": lambda: p.racu_bytes(a["shape"], dtype),
            "gdma_compress_RACU_max_meta_bytes": lambda: p.meta_bytes(a["shape"]),
            "gdma_compress_RACU_racu_stride": lambda: np.dot(p.racu_stride(a["shape"], dtype)[:2], (1, 2**32)),     # what a recorded answer holds of it
            "gdma_compress_RACU_meta_stride": lambda: np.dot(p.meta_stride(a["shape"])[:2], (1, 2**32)),
            "local_shape_5d_to_4d": lambda: self.page.shape_5d_to_4d([next(iter(part.values())) for part in a["shape_5d"]])}
        try:
            return questions[op]() if op in questions else None
        except AttributeError:
            return None     # the chip's page has no such rule

    def of_addresses(self, op, a, dtype):
        p = self.page
        questions = {
            "npu_index": lambda: a["addr"] // p.NPU_BYTES,
            "bank_index": lambda: p.bank_range(a["addr"], 1)[0],
            "bank_range": lambda: p.bank_range(a["addr"], a["size"]),
            "range_overlapped": lambda: p.overlapped(a["r0"], a["r1"]),
            "any_range_overlapped": lambda: self.any_overlapped([next(iter(part.values())) for part in a["ranges"]], a["num"]),
            "npu_num": lambda: p.NPUS,
            "bank_num": lambda: p.NPU_BYTES // p.BANK_BYTES,
            "local_mem_size_per_npu": lambda: p.NPU_BYTES,
            "local_mem_addr": lambda: [a["start_idx"], a["addr"]],
            "local_mem_addr_unified": lambda: list(divmod(a["addr"], p.NPU_BYTES)),
            "global_mem_addr": lambda: a["addr"],
            "l2_sram_addr": lambda: a["addr"] - GLOBAL_BYTES}
        return questions[op]() if op in questions else None

    def any_overlapped(self, numbers, count):
        ranges = list(zip(numbers[::2], numbers[1::2]))
        if count != len(ranges):
            return None     # it reads beyond what was recorded
        return any(self.page.overlapped(a, b) for i, a in enumerate(ranges) for b in ranges[:i])
