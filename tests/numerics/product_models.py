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
        if op.startswith("fp_mm"):
            return self.rows_product(op.removeprefix("fp_mm"), a, True)
        if op.startswith("fp8_mm"):
            return self.fp8(op, a)
        if op.startswith(("int8_zp_mm", "int8_pc_zp_mm")):
            return self.rows_product(op.removeprefix("int8_zp_mm").removeprefix("int8_pc_zp_mm"), a, False)
        if op in ("fp32_mm", "fp32_mm_L_trans", "fp32_mm_L_const"):
            return self.fp32(op, a)
        if op in ("int8_mm", "int8_mm_L_trans", "int8_mm_L_const"):
            return self.int8(op, a)
        if op in ("int_mm", "int_mm_L_trans", "int_mm_L_const", "int_pcs_mm", "int_pcs_mm_L_trans", "int_pcs_mm_L_const"):
            return self.integers(op, a)
        return False

    def rows_product(self, form, a, floats):
        """fp_mm and int8_zp_mm: every matrix is (1, R, 1, C) on NPU 0."""
        page = self.page
        form = page.product_form(form, "zp_addr" in a)
        right_trans, all_trans = "R_trans" in form, "all_trans" in form
        rows, columns = a["left_rows"], a["left_cols"]
        m, k = rows, columns
        if all_trans:
            m, k = (columns, rows) if floats else page.transposed_sizes(rows, columns)
        n = a.get("right_rows") or a["right_cols"]
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
        if a.get("result_add") or a.get("add_result"):
            old = matrix_rows(self.memory, page, a["output_addr"], *shape, "fp32").get()[0, :, 0, :]
            old = old.T if all_trans else old
        if floats:
            bias = self.factors(a, m, n, "bias", all_trans, page.BIAS_OF_ROWS) if "bias_data" in a else None
            result = page.fp_mm(np.ascontiguousarray(left), np.ascontiguousarray(right), of, to, old, bias, a.get("do_relu", False))
        else:
            zero = self.zero_points(a, form, k, n) if "zp_addr" in a else page.zero_point(a["zp_val"] & 255, right_of)
            result = page.int8_zp_mm(signed(np.ascontiguousarray(left), of), signed(np.ascontiguousarray(right), right_of), zero, old)
        result = result.T if all_trans else result
        matrix_rows(self.memory, page, a["output_addr"], *shape, to).put(result[None, :, None, :])
        return True

    def zero_points(self, a, form, k, n):
        """[K, N], or one for each column: where they lie depends on how the right matrix is stored."""
        dtype = self.page.ZERO_POINTS or DTYPES[a.get("right_zp_dtype") or a["C_zp_dtype"]]
        shape, stride = self.page.zero_point_places(form, k, n)
        words = signed(Tensor(self.memory, a["zp_addr"], shape, stride, BYTES[dtype]).get(), dtype)[0, :, 0, :]
        return words.reshape(1, n) if "all_trans" in form else self.page.zero_points_of(words, form)

    def fp8(self, op, a):
        page, all_trans = self.page, "all_trans" in op
        of, right_of, to = (DTYPES[a[name]] for name in ("left_dtype", "right_dtype", "output_dtype"))
        m, k = (a["left_cols"], a["left_rows"]) if all_trans else (a["left_rows"], a["left_cols"])
        n = a.get("right_cols") or a["right_rows"]
        left = matrix_rows(self.memory, page, a["left_addr"], a["left_rows"], a["left_cols"], of).get()[0, :, 0, :]
        stored = (k, n) if "right_cols" in a else (n, k)
        right = matrix_rows(self.memory, page, a["right_addr"], *stored, right_of).get()[0, :, 0, :]
        left, right = left.T if all_trans else left, right if "right_cols" in a else right.T
        shape = (n, m) if all_trans else (m, n)
        old = matrix_rows(self.memory, page, a["output_addr"], *shape, "fp32").get()[0, :, 0, :] if a["result_add"] else None
        old = old.T if all_trans and old is not None else old
        bias = self.factors(a, m, n, "bias", all_trans) if "bias_data" in a else None
        scale = self.factors(a, m, n, "rescale", all_trans) if a["do_rescale"] else None
        acc = page.fp_mm_sum(np.ascontiguousarray(left), np.ascontiguousarray(right), of, right_of, old, bias)
        result = page.finished(acc, to, a.get("do_relu", False), scale)
        matrix_rows(self.memory, page, a["output_addr"], *shape, to).put((result.T if all_trans else result)[None, :, None, :])
        return True

    def factors(self, a, m, n, name, all_trans, of_rows=True):
        """f32 of each element of a result [M, N]: a constant, a row on the NPU of each of its rows, one row for all, or a value on the NPU of each column."""
        dtype, data = DTYPES[a.get(f"{name}_dtype", "DT_FP32")], a[f"{name}_data"]
        if a[f"{name}_is_const"]:
            words = scalar(data, (m, n), dtype)
        elif all_trans:
            words = np.broadcast_to(Tensor(self.memory, data, (1, n, 1, 1), [0, 1, 0, 0], BYTES[dtype]).get()[0, :, 0, 0], (m, n))
        else:
            rows = Tensor(self.memory, data, (1, m if of_rows else 1, 1, n), [0, 0, 0, 1], BYTES[dtype]).get()[0, :, 0, :]
            words = np.broadcast_to(rows, (m, n))
        return self.page.widen(np.ascontiguousarray(words), dtype)

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
        unsigned = of == right_of == "uint8" and not (a["has_bias"] and bias_of.startswith("int"))
        old_of = "uint16" if unsigned else "int16"
        old = signed(flat(self.output(a, m, old_of)), old_of) if a["result_add"] else None
        low, high = self.page.RANGES[to]
        dst = self.output(a, m, to)
        v = self.page.int8_mm(signed(left, of), signed(right, right_of), low, high, bias, old, a["lshift"], a["rshift"], a["result_relu"], unsigned)
        dst.put((v & 0xffffffff).reshape(dst.npu.shape))
        return True

    def integers(self, op, a):
        of, right_of = DTYPES[a.get("left_dtype") or a["C_dtype"]], DTYPES[a["right_dtype"]]
        m, left, right = self.spread(op, a, of, right_of)
        if BYTES[of] == 4:
            shifts = signed(self.row(a, "shift_addr", "int8"), "int8").reshape(-1) if "pcs" in op else [a["shift"]] * right.shape[1]
            places = [a[name] // self.memory.npu_bytes for name in ("shift_addr", "output_addr") if "pcs" in op]
            if len(set(places)) == 2 and self.page.FOREIGN_SHIFTS_ARE_NONE:
                shifts = [0] * len(shifts)
            to = "uint32" if of == right_of == "uint32" else "int32"
            words = self.page.wide_int_mm(signed(left, of), signed(right, right_of), shifts, a["rounding_mode"], to)
            dst = self.output(a, m, to)
            dst.put((words & 0xffffffff).reshape(dst.npu.shape))
            return True
        dst = self.output(a, m, "int32")
        dst.put(self.page.int_mm(signed(left, of), signed(right, right_of)).reshape(dst.npu.shape))
        return True
