"""Functions of BM1684's recordings, carried out by the Python of docs/numerics/bm1684-okkernel.md."""
import numpy as np

from golden import Tensor
from product_models import flat


class OkKernel:
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
