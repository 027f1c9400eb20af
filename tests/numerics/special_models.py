"""Special functions of any float type, powers and tangents, carried out by the Python of docs/numerics/bm1684x-1.30.md."""
import numpy as np

from elementwise_models import COEFFICIENTS, Elementwise, scalar
from golden import BITS, BYTES, DTYPES

# Functions of any type: the series that they read, in the order of the page's parameters.
ANY_TYPE = {"fp_sigmoid": ("exp",), "fp_silu": ("exp",), "fp_tanh": ("exp",), "fp_sinh": ("exp",), "fp_cosh": ("exp",), "fp_gelu_fast": ("exp",),
            "fp_gelu_fast2": ("exp",), "fp_arctanh": ("log",), "fp_erf": ("exp", "erf"), "fp_erfc": ("exp", "erf"), "fp_gelu": ("exp", "erf"),
            "fp_softplus": ("exp", "log"), "fp_log_sigmoid": ("exp", "log")}
# Of f32: the page's function, its series and its number.
F32 = {"fp32_tan": ("tan", ("tan",), None), "fp32_cot": ("cot", ("tan",), None), "fp_arcsin": ("arcsin", ("arcsin",), None),
       "fp_arccos": ("arccos", ("arcsin",), None), "fp_arctan": ("arctan", ("arctan",), None), "fp32_logx": ("logx", ("log",), "x"),
       "fp32_softplus": ("softplus", ("exp", "log"), "beta")}
QUOTIENTS = ("fp_div", "fp_div_C", "fp_C_div", "fp_reciprocal")


class SpecialFunctions(Elementwise):
    def run(self, function, a):
        op = function.removeprefix("tpu_bdc_").replace("tunable_", "")
        if not hasattr(self.page, "quotient"):
            return False
        if op == "load_fp_arctan_coeff":
            self.memory.local[:, a["coeff_addr"] % self.memory.npu_bytes:][:, :128] = self.page.static_table(COEFFICIENTS, "arctan_coeff")
            return True
        dtype = DTYPES.get(a.get("dtype"), "fp32")
        if op in ("fp_rsqrt", "fp_sqrt", *QUOTIENTS):
            result = self.root_or_quotient(op, a, dtype)
        elif op in ANY_TYPE:
            numbers = [self.number(a["beta"])] if "beta" in a else []
            result = getattr(self.page, op)(self.source(a, dtype), *(self.series(a, name, dtype) for name in ANY_TYPE[op]), dtype, *numbers)
        elif op in F32:
            name, series, number = F32[op]
            x = self.source(a, "fp32")
            in_place = op == "fp_arcsin" and a["dst_addr"] == a["src_addr"]
            result = getattr(self.page, name)(x & 0x7fffffff if in_place else x, *(self.series(a, one, "fp32") for one in series),
                                              *([self.number(a[number])] if number else []))
            if in_place:    # the sign is that of what dst holds by then
                result = self.page.mul(result, self.page.sign(result, "fp32"))
        elif op in ("fp32_pow", "fp32_pow_C"):
            x = self.tensor(a, "src0" if op == "fp32_pow" else "src", "fp32").get()
            y = self.tensor(a, "src1", "fp32").get() if op == "fp32_pow" else scalar(a["C"], x.shape, "fp32")
            result = self.page.power(x, y, self.series(a, "exp", "fp32"), self.series(a, "log", "fp32"))
        else:
            return False
        self.tensor(a, "dst", dtype).put(result)
        return True

    def source(self, a, dtype):
        return self.tensor(a, "src", dtype).get()

    @staticmethod
    def number(word):
        """The f32 of an argument."""
        return np.array([word & 0xffffffff], np.uint32).view(np.float32)[0]

    def series(self, a, name, dtype):
        """The terms that lie at the same offset of all NPUs."""
        names = {"log": ("log_coeff_addr", "ln_coeff_addr"), "erf": ("erf_coeff_addr",), "exp": ("exp_coeff_addr",)}.get(name, ())
        at = next((a[one] for one in names if one in a), a.get("coeff_addr"))
        terms = {"exp": (10, 7), "log": (16, 8), "erf": (10, 10)}.get(name, (16, 16))[dtype != "fp32"]
        return list(self.memory.local[0, at:][:terms * BYTES[dtype]].copy().view(BITS[BYTES[dtype]]))

    def root_or_quotient(self, op, a, dtype):
        page, steps = self.page, a.get("num_iter", 3)
        if op in ("fp_rsqrt", "fp_sqrt"):
            return (page.root if op == "fp_rsqrt" else page.square_root)(self.source(a, dtype), dtype, steps)
        x = self.tensor(a, "src0" if op == "fp_div" else "src", dtype).get()
        if op == "fp_reciprocal":
            return page.quotient(1, x, dtype, steps)
        y = self.tensor(a, "src1", dtype).get() if op == "fp_div" else scalar(a["C"], x.shape, dtype)
        return page.quotient(y, x, dtype, steps) if op == "fp_C_div" else page.quotient(x, y, dtype, steps)
