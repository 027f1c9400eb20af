"""Functions of matrix recordings, carried out by the Python of docs/numerics/bm1684x-matmul-conv-pool.md."""
import numpy as np

from elementwise_models import scalar, signed
from golden import BYTES, DTYPES, Tensor


def matrix_rows(memory, page, address, rows, columns, dtype):
    """(1, R, 1, C), aligned."""
    shape = (1, rows, 1, columns)
    return Tensor(memory, address, shape, page.aligned_stride(shape, BYTES[dtype], address // memory.npu_bytes), BYTES[dtype])


def matrix_spread(memory, page, address, rows, columns, per_channel, dtype):
    """(R, ceil(C / p), 1, p), aligned; in the full width of the last channel."""
    shape = (rows, -(-columns // per_channel), 1, per_channel)
    return Tensor(memory, address, shape, page.aligned_stride(shape, BYTES[dtype], address // memory.npu_bytes), BYTES[dtype])


def flat(tensor):
    words = tensor.get()
    return words.reshape(words.shape[0], -1)


class Products:
    def __init__(self, memory, page):
        self.memory, self.page = memory, page

    def run(self, name, a):
        op = name.removeprefix("tpu_bdc_")
        if op.startswith("fp_mm") and "bias" not in op:
            return self.rows_product(op.removeprefix("fp_mm"), a, True)
        if op.startswith("int8_zp_mm"):
            return self.rows_product(op.removeprefix("int8_zp_mm"), a, False)
        if op in ("fp32_mm", "fp32_mm_L_trans", "fp32_mm_L_const"):
            return self.fp32(op, a)
        if op in ("int8_mm", "int8_mm_L_trans", "int8_mm_L_const"):
            return self.int8(op, a)
        if op in ("int_mm", "int_mm_L_trans", "int_mm_L_const"):
            return self.integers(op, a)
        return False

    def rows_product(self, form, a, floats):
        """fp_mm and int8_zp_mm: every matrix is (1, R, 1, C) on NPU 0."""
        page = self.page
        right_trans, all_trans = "R_trans" in form, "all_trans" in form
        rows, columns = a["left_rows"], a["left_cols"]
        m, k = rows, columns
        if all_trans:
            m, k = (columns, rows) if floats else page.transposed_sizes(rows, columns)
        n = a["right_rows"] if right_trans or all_trans else a["right_cols"]
        of = DTYPES[next(a[name] for name in ("left_right_dtype", "right_C_dtype", "left_C_dtype", "left_dtype", "C_dtype") if name in a)]
        right_of = of if floats else page.right_type(of, DTYPES[a.get("right_zp_dtype") or a["C_zp_dtype"]])
        to = DTYPES[a["output_dtype"]] if floats else "int32"
        left = scalar(a["C"], (m, k), of) if "L_const" in form else \
            matrix_rows(self.memory, page, a["left_addr"], *((k, m) if all_trans else (m, k)), of).get()[0, :, 0, :]
        if all_trans and "L_const" not in form:
            left = left.T
        if "R_const" in form:
            right = scalar(a["C"], (k, n), right_of)
        else:
            stored = (n, k) if right_trans or all_trans else (k, n)
            right = matrix_rows(self.memory, page, a["right_addr"], *stored, right_of).get()[0, :, 0, :]
            right = right.T if right_trans or all_trans else right
        shape = (n, m) if all_trans else (m, n)
        old = None
        if a.get("result_add"):
            old = matrix_rows(self.memory, page, a["output_addr"], *shape, "fp32").get()[0, :, 0, :]
            old = old.T if all_trans else old
        if floats:
            result = page.fp_mm(np.ascontiguousarray(left), np.ascontiguousarray(right), of, to, old)
        else:
            zero = page.zero_point(a["zp_val"] & 255, right_of)
            result = page.int8_zp_mm(signed(np.ascontiguousarray(left), of), signed(np.ascontiguousarray(right), right_of), zero, old)
        result = result.T if all_trans else result
        matrix_rows(self.memory, page, a["output_addr"], *shape, to).put(result[None, :, None, :])
        return True

    def spread(self, op, a, of, right_of):
        """Operands of the functions whose columns are spread over channels: left [M, K], right [K, all columns]."""
        k, m = (a["left_rows"], a["left_cols"]) if "L_trans" in op else (a["left_cols"], a["left_rows"])
        if "L_const" in op:
            left = scalar(a["C"], (m, k), of)
        else:
            stored = matrix_spread(self.memory, self.page, a["left_addr"], a["left_rows"], a["left_cols"], a["left_cols_per_channel"], of)
            left = flat(stored)[:, :a["left_cols"]]
            left = np.ascontiguousarray(left.T) if "L_trans" in op else left
        right = flat(matrix_spread(self.memory, self.page, a["right_addr"], k, a["right_cols"], a["right_cols_per_channel"], right_of))
        return m, np.ascontiguousarray(left), right

    def output(self, a, rows, dtype):
        return matrix_spread(self.memory, self.page, a["output_addr"], rows, a["right_cols"], a["right_cols_per_channel"], dtype)

    def row(self, a, name, dtype):
        return flat(matrix_spread(self.memory, self.page, a[name], 1, a["right_cols"], a["right_cols_per_channel"], dtype))

    def fp32(self, op, a):
        m, left, right = self.spread(op, a, "fp32", "fp32")
        dst = self.output(a, m, "fp32")
        bias = self.row(a, "bias_addr", "fp32") if a["has_bias"] else None
        old = flat(dst) if a["result_add"] else None
        dst.put(self.page.fp32_mm(left, right, bias, old).reshape(dst.npu.shape))
        return True

    def int8(self, op, a):
        of = DTYPES[a.get("left_dtype") or a["C_dtype"]]
        right_of, to, bias_of = DTYPES[a["right_dtype"]], DTYPES[a["output_dtype"]], DTYPES[a["bias_dtype"]]
        m, left, right = self.spread(op, a, of, right_of)
        bias = signed(self.row(a, "bias_addr", bias_of), bias_of) if a["has_bias"] else None
        unsigned = of == right_of == "uint8" and not (a["has_bias"] and bias_of == "int16")
        old_of = "uint16" if unsigned else "int16"
        old = signed(flat(self.output(a, m, old_of)), old_of) if a["result_add"] else None
        low, high = self.page.RANGES[to]
        dst = self.output(a, m, to)
        v = self.page.int8_mm(signed(left, of), signed(right, right_of), low, high, bias, old, a["lshift"], a["rshift"], a["result_relu"])
        dst.put((v & 0xffffffff).reshape(dst.npu.shape))
        return True

    def integers(self, op, a):
        of, right_of = DTYPES[a.get("left_dtype") or a["C_dtype"]], DTYPES[a["right_dtype"]]
        if BYTES[of] == 4:
            return False
        m, left, right = self.spread(op, a, of, right_of)
        dst = self.output(a, m, "int32")
        dst.put(self.page.int_mm(signed(left, of), signed(right, right_of)).reshape(dst.npu.shape))
        return True


class Movers:
    """GDMA inside local memory, and the HAU on global memory."""

    def __init__(self, memory, page):
        self.memory, self.page = memory, page

    def local(self, address, shape, stride, dtype):
        size = BYTES[dtype]
        return Tensor(self.memory, address, shape, stride or self.page.aligned_stride(shape, size, address // self.memory.npu_bytes), size)

    def run(self, name, a):
        op = name.removeprefix("tpu_")
        if op in ("gdma_cpy_L2L", "gdma_cpy_nc_trans_L2L", "gdma_cpy_cw_trans_L2L"):
            shape, dtype = tuple(a.get("shape") or a["dst_shape"]), DTYPES[a["dtype"]]
            n, c, h, w = shape
            order = {"gdma_cpy_L2L": (n, c, h, w), "gdma_cpy_nc_trans_L2L": (c, n, h, w), "gdma_cpy_cw_trans_L2L": (n, w, h, c)}[op]
            strides = a["dst_stride"], a["src_stride"]
            if "nc_trans" in op:
                strides = [s and [*s[:3], 1] for s in strides]
            src = self.local(a["src_addr"], order, strides[1], dtype).get()
            moved = src if op == "gdma_cpy_L2L" else (self.page.nc_trans if "nc_trans" in op else self.page.cw_trans)(src)
            self.local(a["dst_addr"], shape, strides[0], dtype).put(moved)
            return True
        if op == "gdma_h_gather_L2L" and a["index_is_local"]:
            n, c, h, w = a["shape"]
            dtype = DTYPES[a["dtype"]]
            param = self.local(a["param_addr"], (n, c, a["param_h"], w), a["param_stride"], dtype).get()
            index = self.local(a["index_addr"], (n, c, h, 1), a["index_stride"], "uint32").get()
            constant = scalar(a["C"], (1,), dtype)
            self.local(a["output_addr"], (n, c, h, w), a["output_stride"], dtype).put(self.page.h_gather(param, index, constant))
            return True
        if op in ("hau_sort_natural_index", "hau_sort"):
            return self.sort(op, a)
        if op == "hau_hard_nms":
            boxes = a["box_num"]
            block = self.memory.spaces["gmem"]
            survives = block[a["input_addr"]:a["input_addr"] + boxes * boxes].reshape(boxes, boxes)
            bitmap = self.page.hard_nms(survives, a["keep_num"])
            block[a["output_addr"]:a["output_addr"] + len(bitmap)] = bitmap
            return True
        return False

    def sort(self, op, a):
        block, kinds = self.memory.spaces["gmem"], {"DT_FP32": np.float32, "DT_INT32": np.int32, "DT_UINT32": np.uint32}
        count, kind = a["len"], kinds[a["dtype"]]
        words = block[a["input_addr"]:a["input_addr"] + 4 * count].copy()
        keys = words.view(kind).astype(np.float64)
        _, order = self.page.sort(keys, np.arange(count), a["K"], a["descended"])
        target = a.get("output_data_addr", a.get("output_addr"))
        block[target:target + 4 * a["K"]] = words.view(np.uint32)[order].view(np.uint8)
        if "output_idx_addr" in a:
            at = a["output_idx_addr"]
            block[at:at + 4 * a["K"]] = order.astype(np.uint32).view(np.uint8)
        return True


class OkKernel:
    """BM1684's f32 functions: docs/numerics/bm1684-okkernel.md."""

    def __init__(self, memory, page):
        self.memory, self.page = memory, page

    def tensor(self, a, name, shape=None):
        shape = shape or a["shape"]
        address = a[f"{name}_addr"]
        stride = a.get(f"{name}_stride") or self.page.aligned_stride(shape, 4, address // self.memory.npu_bytes, row_bytes=128)
        return Tensor(self.memory, address, shape, stride, 4)

    def run(self, name, a):
        op = name.removeprefix("okk_bdc_")
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
            return False
        self.tensor(a, "dst").put(result)
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
