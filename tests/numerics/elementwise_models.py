"""Functions of element-wise recordings, carried out by the Python of docs/numerics/bm1684x-elementwise.md."""
import json

import numpy as np

from golden import BITS, BYTES, DTYPES, FLOATS, ROOT, Tensor

COEFFICIENTS = {name: np.array([int(word, 16) for word in words], np.uint32)
                for name, words in json.loads((ROOT / "docs/numerics/bm1684x-sfu-tables.json").read_text()).items()
                if isinstance(words, list)}


def scalar(value, shape, dtype):
    size = BYTES[dtype]
    return np.full(shape, value & ((1 << 8 * size) - 1), BITS[size])


def signed(words, dtype):
    """Bits as Python-sized integers."""
    kinds = {"int8": np.int8, "int16": np.int16, "int32": np.int32}
    return words.view(kinds[dtype]).astype(np.int64) if dtype in kinds else words.astype(np.int64)


class Elementwise:
    """Looks at a call's arguments by their names, as the headers give them, and calls the page's function."""

    def __init__(self, memory, page):
        self.memory, self.page = memory, page

    def tensor(self, a, name, dtype, shape=None, layout=None):
        address = a[f"{name}_addr"]
        shape = shape or a["shape"]
        stride = a.get(f"{name}_stride")
        size = BYTES[dtype]
        if layout == "compact":
            stride = self.page.compact_stride(shape, address // self.memory.npu_bytes)
        if layout == "line":
            stride = self.page.line_aligned_stride(shape, size, address // self.memory.npu_bytes)
        return Tensor(self.memory, address, shape, stride or self.page.aligned_stride(shape, size, address // self.memory.npu_bytes), size)

    def parameter(self, a, name, dtype):
        """One value per channel, compact."""
        words = self.tensor(a, name, dtype, (1, a["shape"][1], 1, 1), "compact").get()
        return np.broadcast_to(words, a["shape"])

    # ---- what is computed, by name ----

    def binary(self, op, x, y, dtype):
        p = self.page
        if op in ("fp_add", "fp_sub", "fp_mul"):
            return p.fp_binary(op[3:], x, y, dtype)
        if op == "fp_diff_abs":
            return p.difference(x, y, dtype)
        if dtype in FLOATS:
            return (p.maximum if op == "max" else p.minimum)(x, y, dtype)
        larger = signed(x, dtype) > signed(y, dtype)
        return np.where(larger, x, y) if op == "max" else np.where(larger, y, x)

    def run(self, function, a):
        """Carries the call out; False when no page has this function."""
        op = function.removeprefix("tpu_bdc_")
        dtype = DTYPES.get(a.get("dtype"))
        if op in ("int_max_C", "int_min_C"):
            op = op.removeprefix("int_")
        if op in ("fp_add", "fp_sub", "fp_mul", "fp_diff_abs", "max", "min"):
            x, y = self.tensor(a, "src0", dtype).get(), self.tensor(a, "src1", dtype).get()
            if a["src0_stride"] is None and a["src1_stride"] is not None and op != "fp_sub":
                x, y = y, x
            self.tensor(a, "dst", dtype).put(self.binary(op, x, y, dtype))
            return True
        if op in ("fp_add_C", "fp_sub_C", "fp_mul_C", "fp_diff_abs_C", "max_C", "min_C", "fp_C_sub"):
            x, c = self.tensor(a, "src", dtype).get(), scalar(a["C"], a["shape"], dtype)
            result = self.binary("fp_sub", c, x, dtype) if op == "fp_C_sub" else self.binary(op[:-2], x, c, dtype)
            self.tensor(a, "dst", dtype).put(result)
            return True
        return any(group(op, a, dtype) for group in (self.logic, self.unary, self.comparison, self.integer, self.per_channel, self.conversion,
                                                     self.special, self.movement))

    def logic(self, op, a, dtype):
        base = op.removesuffix("_C")
        if base not in ("and", "or", "xor", "not"):
            return False
        x = self.tensor(a, "src0" if "src0_addr" in a else "src", dtype).get()
        if base == "not":
            result = ~x
        else:
            y = scalar(a["C"], a["shape"], dtype) if op.endswith("_C") else self.tensor(a, "src1", dtype).get()
            result = {"and": x & y, "or": x | y, "xor": x ^ y}[base]
        self.tensor(a, "dst", dtype).put(result)
        return True

    def unary(self, op, a, dtype):
        p = self.page
        if op == "prelu" and dtype in FLOATS:
            x = self.tensor(a, "src", dtype).get()
            self.tensor(a, "dst", dtype).put(p.prelu(x, scalar(a["alpha"], x.shape, dtype), dtype))
            return True
        if op == "sign" and dtype in FLOATS:
            self.tensor(a, "dst", dtype).put(p.sign(self.tensor(a, "src", dtype).get(), dtype))
            return True
        if op not in ("abs", "neg", "relu", "fp_round", "fp_floor", "fp_ceil", "fp32_mac", "fp32_mac_C"):
            return False
        if op.startswith("fp32_mac"):
            dst = self.tensor(a, "dst", "fp32")
            x = self.tensor(a, "src" if op.endswith("C") else "src0", "fp32").get()
            y = np.full(x.shape, a["C"], np.uint32) if op.endswith("C") else self.tensor(a, "src1", "fp32").get()
            dst.put(p.add(p.mul(x, y), dst.get()))
            return True
        x = self.tensor(a, "src", dtype).get()
        zero = np.zeros_like(x)
        top = x.dtype.type(1 << (8 * BYTES[dtype] - 1))
        if op.startswith("fp_"):
            mode = {"fp_floor": "RM_DOWN", "fp_ceil": "RM_UP"}.get(op) or a["mode"]
            result = p.fp_round(x, dtype, mode)
        elif op == "relu":
            result = p.maximum(x, zero, dtype) if dtype in FLOATS else np.where(signed(x, dtype) > 0, x, zero)
        elif op == "abs":
            result = p.absolute(x, dtype) if dtype in FLOATS else np.where(signed(x, dtype) < 0, -x.view(x.dtype), x)
        else:
            result = p.fp_binary("sub", zero, x, dtype) if dtype in FLOATS else -x
        self.tensor(a, "dst", dtype).put(result)
        return True

    def comparison(self, op, a, dtype):
        base = op.removesuffix("_C")
        if base not in ("greater", "less", "equal", "greater_equal", "less_equal", "not_equal"):
            return False
        of, to = DTYPES[a["src_dtype"]], DTYPES[a["dst_dtype"]]
        x = self.tensor(a, "src" if op.endswith("_C") else "src0", of).get()
        y = scalar(a["C"], a["shape"], of) if op.endswith("_C") else self.tensor(a, "src1", of).get()
        if of not in FLOATS:
            x, y = signed(x, of), signed(y, of)
        holds = self.page.compare(base, x, y, of)
        self.tensor(a, "dst", to).put(np.where(holds, scalar(a["true_val"], a["shape"], to), 0))
        return True

    def integer(self, op, a, dtype):
        if not op.startswith(("int_add", "int_sub", "int_mul", "int_C_sub", "int_pcs_", "int_square")) or "mm" in op:
            return False
        if op == "int_square":
            op = "int_mul"
            a = {**a, **{f"src{i}_{name}": a[f"src_{name}"] for i in (0, 1) for name in ("addr", "stride", "dtype")}}
        parts = op.removeprefix("int_").removeprefix("pcs_").split("_")
        base = next(part for part in parts if part != "C")
        to = DTYPES[a["dst_dtype"]]
        if "src0_addr" in a:
            types = DTYPES[a["src0_dtype"]], DTYPES[a["src1_dtype"]]
            x, y = self.tensor(a, "src0", types[0]).get(), self.tensor(a, "src1", types[1]).get()
        else:
            types = DTYPES[a["src_dtype"]], DTYPES[a["C_dtype"]]
            x, y = self.tensor(a, "src", types[0]).get(), scalar(a["C"], a["shape"], types[1])
        x, y = signed(x, types[0]), signed(y, types[1])
        if parts[0] == "C":
            x, y = y, x
        shift = [self.page.channel_shift(int(s)) for s in signed(self.parameter(a, "shift", "int8").copy(), "int8").flat] if "shift_addr" in a else \
            [self.page.constant_shift(a["shift"])] * x.size
        kept = [self.page.channel_result] if "shift_addr" in a else []
        words = [self.page.int_binary(base, int(u), int(v), int(s), a["rounding_mode"], a["saturation"], to, *kept) % 2**32
                 for u, v, s in zip(x.flat, y.flat, shift)]
        self.tensor(a, "dst", to).put(np.array(words, np.uint64).reshape(x.shape))
        return True

    def per_channel(self, op, a, dtype):
        p = self.page
        if op in ("fp_add_C_sqr", "fp_sub_C_sqr"):
            x = self.tensor(a, "src", dtype).get()
            self.tensor(a, "dst", dtype).put(p.squared(op[3:6], x, scalar(a["C"], x.shape, dtype), dtype))
            return True
        if op == "fp_scale_bias_C":
            x = self.tensor(a, "src", dtype).get()
            self.tensor(a, "dst", dtype).put(p.fp_scale_bias(x, *(scalar(a[name], x.shape, dtype) for name in ("scale", "bias")), dtype))
            return True
        if op not in ("fp_bias", "fp_scale", "fp_scale_bias", "fp_add_bias_sqr", "fp_sub_bias_sqr"):
            return False
        x = self.tensor(a, "src", dtype).get()
        def two(name, u, v):
            return p.fp_binary(name, u, v, dtype)
        if op == "fp_bias":
            result = p.fp_bias(x, self.parameter(a, "bias", dtype), dtype)
        elif op == "fp_scale":
            result = p.fp_scale(x, self.parameter(a, "scale", dtype), dtype)
        elif op == "fp_scale_bias":
            result = p.fp_scale_bias(x, self.parameter(a, "scale", dtype), self.parameter(a, "bias", dtype), dtype)
        else:
            result = p.squared(op[3:6], x, self.parameter(a, "bias", dtype), dtype)
        self.tensor(a, "dst", dtype).put(result)
        return True

    def conversion(self, op, a, dtype):
        if op in ("fp8_add_C", "fp8_C_sub", "fp8_mul_C"):
            of, constant_of, to = (DTYPES[a[name]] for name in ("src_dtype", "C_dtype", "dst_dtype"))
            x = self.tensor(a, "src", of).get()
            base = next(name for name in ("add", "sub", "mul") if name in op)
            words = self.page.fp8_constant(base, x, scalar(a["C"], x.shape, constant_of), of, constant_of, to, a["satu_mode"])
            self.tensor(a, "dst", to).put(words)
            return True
        if op != "cast":
            return False
        of, to = DTYPES[a["src_dtype"]], DTYPES[a["dst_dtype"]]
        self.tensor(a, "dst", to).put(self.page.cast(self.tensor(a, "src", of).get(), of, to, a["mode"]))
        return True

    def special(self, op, a, dtype):
        p = self.page
        if op.startswith("load_fp_"):
            return hasattr(p, "fp_exp") and self.load_series(op, a)
        plain = op.replace("tunable_", "")
        if dtype == "fp32" and plain in ("fp_rsqrt", "fp_sqrt", "fp_div", "fp_div_C", "fp_C_div", "fp_reciprocal"):
            plain = plain.replace("fp_", "fp32_", 1)
        if plain in ("fp_square", "fp_hsigmoid", "fp_hswish", "fp_isfinite") and hasattr(p, "hswish"):
            return self.simple(plain, a, dtype)
        steps = a.get("num_iter", 3)
        if plain in ("fp32_rsqrt", "fp32_sqrt"):
            result = getattr(p, plain[5:])(self.tensor(a, "src", "fp32").get(), steps)
        elif plain in ("fp32_div", "fp32_div_C", "fp32_C_div", "fp32_reciprocal"):
            x = self.tensor(a, "src0" if plain == "fp32_div" else "src", "fp32").get()
            one = np.full(x.shape, a.get("C", 0x3f800000), np.uint32)
            if plain == "fp32_div":
                result = p.divide(x, self.tensor(a, "src1", "fp32").get(), steps)
            else:
                result = p.divide(x, one, steps) if plain == "fp32_div_C" else p.divide(one, x, steps)
        elif plain == "fp32_compensate_reciprocal":
            result = p.compensate_reciprocal(self.tensor(a, "src", "fp32").get(), steps, a["num_comp"])
        elif plain == "fp_taylor":
            x = self.tensor(a, "src", dtype)
            size = BYTES[dtype]
            rows = self.memory.local[:, a["coeff_addr"]:a["coeff_addr"] + a["num"] * size].copy().view(BITS[size])
            words, result = x.get(), np.zeros(x.npu.shape, BITS[size])
            for npu in np.unique(x.npu):    # each NPU has its own copy
                result[x.npu == npu] = p.taylor(words[x.npu == npu], list(rows[npu]), dtype)
        elif plain == "fp_exponent_part":
            of, to = DTYPES[a["src_dtype"]], DTYPES[a["dst_dtype"]]
            u = self.tensor(a, "src", of).get()
            self.tensor(a, "dst", to).put(p.exponent_as_float(u, of) if to in FLOATS else p.exponent_part(u, of))
            return True
        else:
            return self.composite(plain, a)
        self.tensor(a, "dst", dtype or "fp32").put(result)
        return True

    def load_series(self, op, a):
        """A series of any type, to one offset of all NPUs."""
        name, dtype = op.removeprefix("load_fp_").removesuffix("_coeff"), DTYPES[a["dtype"]]
        if f"{name}_coeff" not in COEFFICIENTS:
            return False
        words = COEFFICIENTS[f"{name}_coeff"]
        if dtype == "fp32":
            words = words[:{"exp": 10, "log": 16}.get(name, 32)]
        elif dtype not in ("fp16", "bfp16"):
            # As many elements of any other type as there are terms, from where the bf16 series lies.
            at, terms = self.page.STATIC_PLACES.get(f"{name}_bf16_coeff"), {"exp": 7, "log": 8, "erf": 10}.get(name, 16)
            words = self.page.narrow(words[:terms], "bfp16").astype(np.uint16).view(np.uint8)[:terms * BYTES[dtype]] if at is None else \
                self.page.static_memory(COEFFICIENTS)[at:at + terms * BYTES[dtype]]
        elif name in ("exp", "log"):
            short = {"fp16": "fp16", "bfp16": "bf16"}[dtype]
            words = COEFFICIENTS[f"{name}_{short}_coeff"][:{"exp": 7, "log": 8}[name]].astype(np.uint16)
        else:
            words = self.page.narrow(words[:16], dtype).astype(np.uint16)
        row = np.ascontiguousarray(words).view(np.uint8)
        self.memory.local[:, a["coeff_addr"]:][:, :len(row)] = row
        return True

    def series(self, op, a):
        """Functions of any type with one series, which lies at the same offset of all NPUs."""
        dtype = DTYPES[a["dtype"]]
        name = {"fp_expm1": "fp_exp"}.get(op, op)
        terms = {"fp_exp": (10, 7), "fp_log": (16, 8)}.get(name, (16, 16))[dtype != "fp32"]
        words = self.memory.local[0, a["coeff_addr"]:][:terms * BYTES[dtype]].copy().view(BITS[BYTES[dtype]])
        result = getattr(self.page, name)(self.tensor(a, "src", dtype).get(), list(words), dtype)
        if op == "fp_expm1":
            result = self.page.with_constant("sub", result, 1, dtype)
        self.tensor(a, "dst", dtype).put(result)
        return True

    def simple(self, op, a, dtype):
        """Compositions that need no coefficients."""
        x = self.tensor(a, "src", dtype).get()
        def real(name):
            return np.array([a[name]], np.uint32).view(np.float32)[0]
        result = {"fp_square": lambda: self.page.fp_binary("mul", x, x, dtype), "fp_hswish": lambda: self.page.hswish(x, dtype),
                  "fp_hsigmoid": lambda: self.page.hsigmoid(x, real("alpha"), real("beta"), dtype),
                  "fp_isfinite": lambda: self.page.isfinite(x, dtype)}[op]()
        self.tensor(a, "dst", dtype).put(result)
        return True

    def composite(self, op, a):
        """A function of several steps. The indices into a table of exponentials lie in dst first: its padding may keep them."""
        index = self.page.exp_index

        def noted(k):
            self.tensor(a, "dst", "int16").put(index(k) & 0xffff)
            return index(k)
        self.page.exp_index = noted
        try:
            return self.steps(op, a)
        finally:
            self.page.exp_index = index

    def stored(self, a, name, count=32):
        """The words of a series or table, which lie at the same offset of all NPUs."""
        names = {"log": ("log_coeff_addr", "ln_coeff_addr", "coeff_addr"), "exp_table": ("exp_table_addr", "table_addr")}.get(name, (f"{name}_coeff_addr", "coeff_addr"))
        at = next((a[one] for one in names if one in a), 0) % self.memory.npu_bytes
        return np.resize(self.memory.local[0, at:][:4 * count].copy(), 4 * count).view(np.uint32)

    def steps(self, op, a):
        p = self.page
        if hasattr(p, "fp_exp") and op in ("fp_exp", "fp_expm1", "fp_log", "fp_sin", "fp_cos"):
            return self.series(op, a)
        newer = op.removeprefix("fp32_")
        if newer in ("softsign", "swish", "sinh", "cosh", "log_sigmoid", "arcsinh", "arccosh", "arctanh") and hasattr(p, newer):
            x = self.tensor(a, "src", "fp32").get()
            first = [a["beta"]] if newer == "swish" else []
            used = {"softsign": (), "log_sigmoid": ("exp", "log")}.get(newer, ("log",) if newer.startswith("arc") else ("exp",))
            series = [list(self.stored(a, name)) for name in used]
            self.tensor(a, "dst", "fp32").put(getattr(p, newer)(x, *first, *series))
            return True
        coefficients = {name.removesuffix("_coeff"): list(self.stored(a, name.removesuffix("_coeff"))) for name in COEFFICIENTS}
        table = self.stored(a, "exp_table", 192)
        if op in ("fp32_erf", "fp32_erfc", "fp32_gelu", "fp32_elu", "fp32_selu", "fp32_silu", "fp32_expm1", "fp32_C_pow"):
            return self.activation(op.removeprefix("fp32_"), a, coefficients, table)
        if op == "fp32_gelu_fast":
            x = self.tensor(a, "src", "fp32").get()
            self.tensor(a, "dst", "fp32").put(p.gelu_fast(x, coefficients["exp"], table))
            return True
        series = {"fp32_log": "log", "fp32_log1p": "log", "fp32_mish": "exp", "fp32_arcsin": "arcsin", "fp32_arccos": "arcsin"}
        if op not in ("fp32_sin", "fp32_cos", "fp32_exp", "fp32_sigmoid", "fp32_tanh") and not (op in series and hasattr(p, op[5:])):
            return False
        x = self.tensor(a, "src", "fp32").get()
        if op in series:
            result = getattr(p, op[5:])(x, coefficients[series[op]])
        elif op in ("fp32_sin", "fp32_cos"):
            result = p.sine(x, coefficients["sin"]) if op == "fp32_sin" else p.cosine(x, coefficients["cos"])
        else:
            result = getattr(p, op[5:])(x, coefficients["exp"], table)
        dst = self.tensor(a, "dst", "fp32")
        dst.put(result)
        return True

    def activation(self, name, a, coefficients, table):
        if not hasattr(self.page, name):
            return False
        x = self.tensor(a, "src", "fp32").get()
        arguments = {"elu": ("alpha",), "C_pow": ("C",)}.get(name, ())
        extra = [a[argument] & 0xffffffff for argument in arguments]
        series = [coefficients["erf"]] if name in ("erf", "erfc", "gelu") else []
        self.tensor(a, "dst", "fp32").put(getattr(self.page, name)(x, *extra, coefficients["exp"], table, *series))
        return True

    def movement(self, op, a, dtype):
        if op == "cpy":
            self.tensor(a, "dst", dtype).put(self.tensor(a, "src", dtype).get())
        elif op == "set_C":
            self.tensor(a, "dst", dtype).put(scalar(a["C"], a["shape"], dtype))
        elif op in ("cw_trans", "wc_trans"):
            n, c, h, w = a["shape"]
            src = self.tensor(a, "src", dtype, (n, w, h, c)).get()
            self.tensor(a, "dst", dtype, layout="line" if op == "cw_trans" else None).put(self.page.wc_trans(src))
        else:
            return False
        return True
