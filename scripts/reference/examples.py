"""Examples of functions: a call made from the prototype, with arguments from the family where the usual ones do not fit. What shows an
example shows this text; tests/manual compiles and runs it."""
import re

# What a status that says that all went well is called.
SUCCESS = {"bm_status_t": "BM_SUCCESS", "tpuRtStatus_t": "tpuRtSuccess", "tpudnnStatus_t": "TPUDNN_STATUS_SUCCESS", "tpuError_t": "tpuSuccess"}
PREFERRED = ["fp32", "fp16", "int8", "int16", "int32", "uint8", "uint16", "uint32", "bfp16", "fp8e4m3", "fp8e5m2", "int4", "uint4"]
OWN_TYPES = ("index", "mask", "shift")
MEMBER = {"DT_FP32": "f32", "DT_FP16": "f16.bits", "DT_BFP16": "bf16.bits", "DT_INT8": "s8", "DT_UINT8": "u8", "DT_INT16": "s16",
          "DT_UINT16": "u16", "DT_INT32": "s32", "DT_UINT32": "u32", "DT_FP8E4M3": "u8", "DT_FP8E5M2": "u8"}
ONE = {"DT_FP32": "1.5f", "DT_FP16": "0x3e00", "DT_BFP16": "0x3fc0", "DT_FP8E4M3": "0x3c", "DT_FP8E5M2": "0x3e"}


def constant_of(word):
    return "DT_" + word.upper()


class Maker:
    """Builds one example: declarations first, then the call."""

    def __init__(self, function):
        self.function = function
        own = function.own.get("example", {})
        common = {} if function.is_host else function.reference.common["example"]
        self.given = {**common, **function.family.get("example", {}), **(own if isinstance(own, dict) else {})}
        self.given.update(self.given.get(function.chip, {}))
        self.types = self.choose_types()
        self.declared = []
        self.next_local = 0

    @staticmethod
    def shared(box):
        """Types that all operands can have; indices, masks and shifts have types of their own."""
        sets = [set(types) for name, types in box.items() if not name.startswith(OWN_TYPES)]
        return set.intersection(*sets) if sets else set()

    @staticmethod
    def rank(types):
        return min((PREFERRED.index(word) for word in types), default=len(PREFERRED))

    def choose_types(self):
        """Data types that go together: from the first combination that the rules accept."""
        boxes = self.function.limits.get("types") or []
        if not boxes:
            return {}
        box = min(boxes, key=lambda one: self.rank(self.shared(one)))
        chosen = {}
        shared = self.shared(box)
        for name, types in box.items():
            pool = shared if shared and not name.startswith(OWN_TYPES) else set(types)
            chosen[name] = constant_of(next((word for word in PREFERRED if word in pool), sorted(pool)[0]))
        return chosen

    def type_near(self, name):
        """The data type of a scalar argument."""
        for wanted in (f"{name}_dtype", f"{name.removesuffix('_val')}_dtype", "C_dtype", "right_zp_dtype", "C_zp_dtype", "kzp_dtype", "dtype",
                       "input_dtype", "dst_dtype", "dst0_dtype", "output_dtype", "src_dtype", "left_C_dtype", "right_C_dtype"):
            for kind, other in self.function.prototype.parameters:
                if other == wanted and kind == "data_type_t":
                    return self.argument(kind, other)
        return "DT_FP32"

    def local(self, name, size=0x4000):
        address = self.next_local
        self.next_local += size
        self.declared.append(("local_addr_t", name, f"0x{address:x}"))
        return name

    def argument(self, kind, name):
        if name in self.given:
            value = self.given[name]
            return self.declare(kind, name, value) if isinstance(value, str) and value.startswith("{") else str(value)
        if self.function.is_host:
            return self.function.reference.common["host_types"].get(kind, "0")
        if kind == "data_type_t":
            return self.types.get(name, "DT_FP32")
        if kind == "local_addr_t":
            return self.local(name.removesuffix("_addr"))
        if self.function.name.endswith("L2") and kind != "local_addr_t" and name == "dst_addr":
            return "L2_SRAM_START_ADDR"
        if self.function.name.endswith("_cpy_reduce_L22L2") and name == "src_addr":
            return "L2_SRAM_START_ADDR + 0x10000"
        if kind in ("system_addr_t", "global_addr_t", "addr_t"):
            return f"args->{name.removesuffix('_addr')}"
        if kind == "const dim4*":
            return "NULL" if "stride" in name else self.declare(kind, name, "{1, 64, 28, 28}")
        if kind == "const dim2*":
            return self.declare(kind, name, "{3, 3}" if name.endswith("kernel") else "{1, 1}")
        if kind in ("const padding_t*", "const Padding*"):
            return self.declare(kind, name, "{1, 1, 1, 1}")
        if kind == "const variable_t*":
            self.next_local += 0x4000
            return self.declare(kind, name, f"{{TENSOR, {{.addr = 0x{self.next_local - 0x4000:x}}}}}")
        if kind == "scalar_t":
            dtype = self.type_near(name)
            return self.declare(kind, name, f"{{.{MEMBER.get(dtype, 'f32')} = {ONE.get(dtype, '3')}}}")
        if kind == "rounding_mode_t":
            return "RM_HALF_TO_EVEN"
        if kind == "bool":
            return "false"
        if kind == "float":
            return "0.5f"
        return "1" if kind in ("int", "unsigned int", "u32") else "0"

    def declare(self, kind, name, value):
        plain = re.sub(r"^const |\*$", "", kind).strip()
        if (plain, name, value) not in self.declared:
            self.declared.append((plain, name, value))
        return f"&{name}" if kind.endswith("*") else name

    def text(self):
        function, own = self.function, self.function.own.get("example")
        text = own.strip("\n") if isinstance(own, str) else self.written()
        if function.chip is None:
            return text
        if not function.example_runs:
            return f"// the form of the call: {function.chip.upper()} refuses these arguments\n{text}"
        return fitting(text, function.reference.facts_of(function.chip))

    def written(self):
        function = self.function
        arguments = [self.argument(kind, name) for kind, name in function.prototype.parameters if name != "..."]
        groups = {}
        for kind, name, value in self.declared:
            groups.setdefault(kind, []).append(f"{name} = {value}")
        lines = [] if "call" in function.own else [f"const {kind} {', '.join(names)};" for kind, names in groups.items()]
        returns = function.prototype.returns
        result = f"{returns} status = " if function.is_host and returns in SUCCESS else ""
        call = function.own.get("call") or f"{result}{function.name}({', '.join(arguments)});"
        if function.claim:
            call += f"  // {function.claim}"
        before, after = function.field("before"), function.field("after")
        return "\n".join([*(before.strip().split("\n") if before else []), *wrapped(lines), *wrapped([call]),
                          *(after.strip().split("\n") if after else [])])


def fitting(text, chip):
    """An example of BM1684X as it is on a chip with fewer NPUs or less local memory: one channel to an NPU, addresses closer together."""
    if "{2, 32, 28, 28}" not in text:
        text = text.replace("{1, 64, 28, 28}", f"{{1, {min(64, chip['npu_num'])}, 28, 28}}")
    if chip["local_mem"]["bytes_per_npu"] < 0x20000:
        text = re.sub(r"0x[1-9a-f]?[048c]000\b", lambda match: hex(int(match[0], 0) // 4), text)
    return text


def wrapped(lines, width=110):
    out = []
    for line in lines:
        while len(line) > width:
            cut = line.rfind(", ", 0, width)
            if cut < 0:
                break
            out.append(line[:cut + 1])
            line = "    " + line[cut + 2:]
        out.append(line)
    return out


def text_of(function):
    return Maker(function).text()
