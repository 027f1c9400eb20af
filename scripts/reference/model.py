"""The reference of public functions as data: hand-written text (docs/reference/*.toml), prototypes (the headers), limits that the
rules themselves gave (docs/reference/limits.json) and the ledger (tools/softtpu/ledger.json), put together once for all its readers."""
import dataclasses
import json
import pathlib
import re
import sys
import tomllib

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import examples  # noqa: E402
import host_functions  # noqa: E402
from prototypes import Prototype, prototypes  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SOURCE = ROOT / "docs/reference"
KERNEL_HEADERS = ["firmware/include/tpu_kernel.h", "firmware/include/softtpu/tpu_bdc_elementwise.h",
                  "firmware/include/softtpu/tpu_bdc_move.h", "firmware/include/softtpu/tpu_bdc_special.h",
                  "firmware/include/softtpu/tpu_bdc_matrix.h", "firmware/include/softtpu/tpu_bdc_window.h",
                  "firmware/include/softtpu/tpu_bdc_tensor.h", "firmware/include/softtpu/tpu_dma.h",
                  "firmware/include/softtpu/tpu_hau.h", "firmware/include/softtpu/tpu_sdma.h", "firmware/include/softtpu/tpu_newer.h", "firmware/include/okk.h"]
HOST_HEADERS = ["host/include/bmlib_runtime.h", "host/include/bmlib_internal.h", "host/include/softtpu/layout.h",
                "host/include/tpuv7/tpuv7_rt.h", "host/include/tpuv7/tpuv7_manager.h", "host/include/tpuv7/tpuv7_modelrt.h",
                "host/include/tpudnn/tpuDNN.h", "host/include/tpudnn/tpuDNNTensor.h", "host/include/tpu_runtime_api/tpu_runtime_api.h"]
FAMILY_FIELDS = {"id", "title", "functions", "parameters", "about", "layout", "rounding", "overlap", "notes", "errors", "waits", "numerics",
                 "source", "see", "example", "before", "after", "chips", "newer", "types", "returns", "figures"}
FUNCTION_FIELDS = {"purpose", "parameters", "rounding", "layout", "notes", "errors", "example", "see", "gives", "returns", "overlap",
                   "before", "after", "types", "call", "chips", "source"}
TYPE_WORDS = {"DT_FP32": "fp32", "DT_FP16": "fp16", "DT_BFP16": "bfp16", "DT_INT8": "int8", "DT_UINT8": "uint8", "DT_INT16": "int16",
              "DT_UINT16": "uint16", "DT_INT32": "int32", "DT_UINT32": "uint32"}
TYPE_ORDER = ["fp32", "fp16", "bfp16", "int32", "uint32", "int16", "uint16", "int8", "uint8"]

# The sections of a page in reading order.
LABELS = ["parameters", "returns", "layout", "types", "limits", "NULL", "overlap", "rounding", "meaning", "note", "errors", "engine", "waits", "time", "chips",
          "source", "numbers", "samples", "see also", "example"]
# The ranges of a product, in the letters of its shapes.
OF_PRODUCT = {"number of output rows": "M (rows of output)", "number of columns of left": "K (columns of left)", "output.w": "N (columns of output)"}
# What an example tells of a host function that an emulated device refuses (tests/manual runs it).
REFUSAL = re.compile(r"status == (BM_NOT_SUPPORTED|BM_ERR_NOFEATURE|tpuRtErrNoFeature)|loaded == NULL")

NARROW_ELSEWHERE = "tpu_bdc_cast takes 4-bit integers to wider types; what other functions do with them is mostly not determined."
OWN_TYPE = re.compile(r"index|weight|kzp|bias|quant|coeff|table|work|iou|score")
MOST_SAMPLES = 6    # what nearly every kernel calls needs no list
MOST_SIBLINGS = 9   # of a larger family only the neighbours are named


class Wrong(Exception):
    """An error in the sources of the reference."""


def all_prototypes():
    found = {}
    for header in KERNEL_HEADERS + HOST_HEADERS:
        for one in prototypes(ROOT / header, header):
            if not one.name.startswith("softtpu_kernel_"):
                found.setdefault(one.name, one)
    return found


def ledger():
    """What update_ledger.py has counted: "verified", "assumed" and "recorded"."""
    return json.loads((ROOT / "tools/softtpu/ledger.json").read_text())


def verified():
    known = ledger()
    rows = known["verified"]
    for name in known["assumed"]:
        rows.setdefault(name, {"exact": 0, "deviating": 0, "reference": "", "oracle": 0})["assumed"] = True
    return rows


def recorded():
    """Function -> chips with the exact and the different cases that were recorded there."""
    found = {}
    for chip, functions in ledger()["recorded"].items():
        for name, (exact, different, _) in functions.items():
            found.setdefault(name, []).append((chip.split("-")[0].upper(), exact, different))
    return found


def not_varied():
    """Chip -> function -> the arguments that nothing varies, and "CHIP compared" -> function -> those that only calls compared with
    docs/numerics vary (tests/argument_gaps_of_chips.txt)."""
    found, chip = {}, None
    for line in (ROOT / "tests/argument_gaps_of_chips.txt").read_text().splitlines():
        if line.startswith("["):
            chip = found.setdefault(line.strip("[]"), {})
        elif line and not line.startswith("#"):
            name, *arguments = line.split()
            chip[name] = arguments
    return found


def words(values, last="and"):
    values = list(values)
    return values[0] if len(values) < 2 else ", ".join(values[:-1]) + f" {last} {values[-1]}"


def count(number, what):
    return f"{number} {what}{'' if number == 1 else 's'}"


def box_text(box):
    """Data types that go together."""
    return "; ".join(f"{name} {words(in_order(types), 'or')}" for name, types in box.items())


def in_order(types):
    return [name for name in TYPE_ORDER if name in types] + sorted(set(types) - set(TYPE_ORDER))


def flat(text):
    """A paragraph without its line breaks; an empty line parts paragraphs, an indented line stays as it is."""
    out = []
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        lines = block.split("\n")
        if any(line.startswith("    ") for line in lines):
            out.append("\n".join(lines))
        else:
            out.append(" ".join(line.strip() for line in lines))
    return "\n\n".join(out)


class Function:
    """One public function with everything that is known of it, family texts included."""

    def __init__(self, prototype, family, own, reference, chip=None):
        self.prototype, self.family, self.own, self.reference = prototype, family, own, reference
        self.name = prototype.name
        self.written = own
        self.limits = reference.limits.get(self.name, {})
        self.chip = chip
        if chip is not None:
            self.limits = self.limits_on(chip)
        self.is_host = prototype.header in HOST_HEADERS
        self.is_okkernel = reference.is_okkernel(self.name)
        # What a chip has is said with its own numbers.
        filled = {field: text for field, text in own.items() if field in ("returns", "gives") and "{" in text}
        if filled:
            about = chip or self.limits.get("chip", "bm1684x")
            values = values_of(reference.facts_of(about), about)
            self.own = {**own, **{field: text.format(**values) for field, text in filled.items()}}

    def with_numbers(self, text):
        """A text with the numbers of the chip that it names in braces; without a chip those of the first one, with what others have behind them."""
        if "{" not in text:
            return text
        chips = [self.chip] if self.chip else [self.limits.get("chip", "bm1684x"), *self.limits.get("chips", [])]
        values = {chip: values_of(self.reference.facts_of(chip), chip) for chip in chips}

        def number(match):
            if match[1] not in values[chips[0]]:
                raise Wrong(f"{self.name}: no number of a chip is called {match[1]}")
            first = values[chips[0]][match[1]]
            others = {}
            for chip in chips:
                if values[chip][match[1]] != first:
                    others.setdefault(values[chip][match[1]], []).append(chip.upper())
            there = "; ".join(f"{words(names)}: {value}" for value, names in others.items())
            return f"{first} ({there})" if there else str(first)
        return re.sub(r"\{(\w+)\}", number, text)

    def on(self, chip):
        """The same on a further chip."""
        return Function(self.prototype, self.family, self.written, self.reference, chip)

    def limits_on(self, chip):
        """What the rules answer on a further chip. What is stored of a chip is how it differs from the chip that its description begins with."""
        base = self.reference.bases.get(chip)
        asked = base in self.reference.limits.get(self.name, {}).get("chips", []) and not self.limits.get("on", {}).get(base, {}).get("not_asked")
        known = self.limits_on(base) if asked else self.limits
        there = self.limits.get("on", {}).get(chip, {})
        limits = {**known, "parameters": {**known.get("parameters", {}), **there.get("parameters", {})}, "not_asked": there.get("not_asked", "")}
        if limits["not_asked"]:
            limits["parameters"] = {}
            limits["messages"] = [limits["not_asked"]]
        elif "messages" in there:
            limits["messages"] = there["messages"]
        limits.update({what: there[what] for what in ("cost", "engine") if what in there})
        if chip in self.limits.get("types_on", {}):
            limits["types"] = self.limits["types_on"][chip]
        return limits

    def types_elsewhere(self):
        """(chip, combinations of types) of the chips that do not take those of the first; those that begin with another one's description have pages
        of their own (`softtpu api --chip`)."""
        if self.chip is not None:
            return []
        first = self.limits.get("chip")
        there = [(chip, self.limits_on(chip).get("types")) for chip in self.limits.get("chips", []) if chip != first and chip not in self.reference.bases]
        return [(chip.upper(), types) for chip, types in there if types is not None and types != self.limits.get("types")]

    def sections_on(self, chip):
        """The sections that a further chip has otherwise."""
        usual = self.usual = getattr(self, "usual", None) or dict(self.sections())
        return [(label, text) for label, text in self.on(chip).sections() if text != usual.get(label) and label not in ("see also", "samples")]

    def field(self, name):
        """The function's own text if it has one, else the family's."""
        return self.own.get(name, self.family.get(name, ""))

    @property
    def purpose(self):
        return self.own["purpose"]

    @property
    def lacks(self):
        return self.limits.get("lacks", "") if self.chip is None else ""

    def own_parameter_text(self, name, kind):
        """What the function or its family says of a parameter; a text can belong to a type of it alone."""
        for table in (self.own.get("parameters", {}), self.family.get("parameters", {})):
            for key in (f"{kind} {name}", name):
                if key in table:
                    return flat(table[key])
        return None

    @property
    def is_refused_on_hosts(self):
        """Whether it is a host function that does nothing on an emulated device."""
        return self.is_host and (bool(REFUSAL.fullmatch(self.own.get("gives", ""))) or self.name in self.reference.without_feature)

    @property
    def undetermined(self):
        """What neither a recording nor a description determines: "result", "effect" or "answer"; empty for functions that work."""
        return self.limits.get("undetermined", "")

    @property
    def refusal(self):
        """Why every call is refused; empty where it is not."""
        chip = self.reference.chip_name(self.name)
        if self.lacks:
            return f"{chip} has no {self.lacks}"
        return f"its {self.undetermined} on {chip} is neither recorded nor described" if self.undetermined else ""

    def parameter_text(self, name, kind):
        default = self.reference.common["parameters"]
        found = self.own_parameter_text(name, kind)
        if found is None:
            found = flat(default.get(f"{kind} {name}", default.get(name, "")))
        if self.limits.get("parameters", {}).get(name, {}).get("zero_w_stride") is False:
            found = found.replace("; 0 repeats the element", "; 0 repeats the element, but not in w, where it is refused")
        return found or ("not described" if self.undetermined else "")

    # ---- What the rules gave ----

    def types_text(self):
        takes_types = any(kind == "data_type_t" for kind, _ in self.prototype.parameters)
        # What a family says of its type arguments is not said of a function that has none.
        if self.field("types") and ("types" in self.own or takes_types or not self.field("types").startswith("any ")):
            return flat(self.field("types"))
        boxes = self.limits.get("types")
        elsewhere = [(chip, box) for chip, boxes_there in self.types_elsewhere() for box in boxes_there]
        if boxes is None and not elsewhere:
            fixed = "fp32" if re.search(r"fp32|okk_bdc_(?!.*(fixed|32bit))", self.name) else ""
            return f"{fixed} only; no argument of type data_type_t" if fixed else ""
        lines = [box_text(box) for box in boxes or []]
        bias = self.limits.get("parameters", {}).get("bias_dtype", {}).get("types")
        bias = f"bias_dtype {words(in_order(bias), 'or')}" if bias else ""
        if len(lines) == 1 and not elsewhere:
            return lines[0] + (f"; {bias}" if bias else "")
        lines += [f"and {bias}"] if bias else []
        lines += [f"on {chip}: {box_text(box)}" for chip, box in elsewhere]
        return lines[0] if len(lines) == 1 else "one of these:\n" + "\n".join(f"    {line}" for line in lines)

    def limits_lines(self):
        parameters = self.limits.get("parameters", {})
        if self.limits.get("not_asked"):
            return [f"not asked on this chip, which refuses the first question: {self.limits['not_asked']}"]
        lines = []
        ranges = {}
        for limits in parameters.values():
            for what, (low, high) in limits.get("ranges", {}).items():
                ranges.setdefault((low, high), []).append(what)
        for (low, high), names in ranges.items():
            names = sorted(dict.fromkeys(names), key=lambda n: ("nchw".find(n[-1]) if "." in n else 0))
            if {"number of columns of left", "number of output rows"} <= set(names):
                names = [OF_PRODUCT.get(name, name) for name in names]
            # A bound that another argument gives is text.
            top = f"at least {low}" if isinstance(high, int) and high >= 2**31 - 1 else f"{low}..{high}"
            lines.append(f"{words(names)}: {top}")
        aligned = {}
        for name, limits in parameters.items():
            if "multiple_of" not in limits:
                continue
            step, with_strides = (self.step_text(name, limits.get(key)) for key in ("multiple_of", "multiple_of_with_strides"))
            text = f"a multiple of {step}" + (f" ({with_strides} with strides)" if with_strides else "")
            aligned.setdefault(text, []).append(name)
        lines += [f"{words(names)}: {text}" for text, names in aligned.items()]
        places = {}
        for name, limits in parameters.items():
            if limits.get("npu") in ("0", "any"):
                places.setdefault("starts on NPU 0" if limits["npu"] == "0" else "may start on any NPU", []).append(name)
            elif limits.get("npu"):
                places.setdefault("start on one and the same NPU", []).append(name)
        for text, names in places.items():
            if len(names) == 1 and text.startswith("start on one"):
                continue
            text = text.replace("starts", "start") if len(names) > 1 else text
            lines.append(f"{words(names)} {text}")
        return lines

    def step_text(self, name, step):
        """The rules were asked with one type; a step of its size is the element's size, except where the operand has a type of its own."""
        if step and step <= 4 and self.limits.get("types") and not OWN_TYPE.match(name) and \
                any("multiple of the element size" in message for message in self.limits.get("messages", [])):
            return "the element size"
        return step

    def null_text(self):
        pointers = [(name, limits["null"]) for name, limits in self.limits.get("parameters", {}).items() if "null" in limits]
        may = [name for name, null in pointers if null]
        must = [name for name, null in pointers if not null]
        if not pointers:
            return ""
        if not may:
            return f"{words(must)} must not be NULL"
        layout = "the 128-byte aligned layout" if self.is_okkernel else "the aligned layout"
        meaning = ""
        if any("stride" in name and name != "stride" for name in may):
            local = [n for n in may if n.endswith("stride") and n != "stride" and self.space(n) == "local"]
            system = [n for n in may if n.endswith("stride") and n != "stride" and self.space(n) == "system"]
            parts = ([f"{layout} in local memory"] if local else []) + (["the continuous layout in system memory"] if system else [])
            meaning = ": " + " and ".join(parts) if parts else ""
        return f"{words(may)} may be NULL{meaning}" + (f"; {words(must)} must not" if must else "")

    def space(self, stride):
        wanted = stride.replace("_stride", "_addr")
        for kind, name in self.prototype.parameters:
            if name == wanted or (wanted == "index_addr" and name == wanted):
                return "local" if kind == "local_addr_t" else "system"
        return "local"

    def in_place_text(self):
        places = {name: limits["in_place"] for name, limits in self.limits.get("parameters", {}).items() if "in_place" in limits}
        allowed = [name for name, legal in places.items() if legal]
        refused = [name for name, legal in places.items() if not legal]
        parts = [f"{words(allowed)} may be dst itself (same address, same strides)"] if allowed else []
        parts += [f"{words(refused)} must lie apart from dst"] if refused else []
        return "; ".join(parts)

    def engine_text(self):
        engine = self.limits.get("engine")
        if self.is_host:
            return ""
        if self.refusal:
            return f"{self.refusal}: the call is refused {'there' if self.limits.get('chips') else 'and says so'}"
        if engine in (None, "none"):
            return "none: answered by the processor that runs the kernel, no command is issued"
        if engine == "control":
            return "none: acts on the order of commands"
        composite = " in several commands, one after the other" if self.limits.get("support") == "composite" else ""
        return f"{engine}{composite}, in the order of the calls" + \
            ("; inside tpu_parallel_start ... tpu_parallel_end it does not wait for other engines" if not self.is_okkernel else
             "; inside okk_parallel_start ... okk_parallel_end it does not wait for the other engine")

    def cost_text(self):
        cost = self.limits.get("cost")
        if not cost or not cost["commands"]:
            return ""
        count = "one command" if cost["commands"] == 1 else f"{cost['commands']} commands"
        return f"{count}, about {cost['start_us'] + cost['work_us']:.3g} us for a very small tensor (model); `softtpu run --time` shows yours"

    def chips_text(self):
        if self.is_host:
            return ""
        # A generation of a chip is not another chip.
        chips = [chip for chip in self.limits.get("chips", []) if chip.partition("-")[0] == chip or chip.partition("-")[0] not in self.limits["chips"]]
        if chips:
            return words([chip.upper() for chip in chips])
        return self.field("chips") or ("none: every call is refused" if self.refusal else "all")

    def errors_lines(self):
        lines = [flat(self.field("errors"))] if self.field("errors") else []
        if self.refusal:
            return [f"{self.name}: {self.refusal}."] + lines
        lines += [f"{self.name}: {message}" for message in self.messages_here()]
        if not lines and not self.is_host:
            lines = ["none: the call accepts every argument" if self.prototype.parameters else "none"]
        return lines

    def messages_here(self):
        """The messages are those of the first chip. One that lists types goes for chips with the same types, and what it says of 4-bit integers
        only for those that have none (device/command/checks.cpp)."""
        messages = self.limits.get("messages", [])
        if self.chip in self.limits.get("types_on", {}):
            messages = [message for message in messages if "(allowed: " not in message]
        narrow = self.chip in self.reference.narrow
        return [re.sub(r"The chip does not compute with 4-bit.*", NARROW_ELSEWHERE, message) if narrow else message for message in messages]

    def known_text(self):
        row = self.reference.ledger.get(self.name)
        if self.is_host:
            return ""
        if self.undetermined:
            return f"refused: its {self.undetermined} is neither recorded nor described"
        if self.lacks or row is None:
            return self.known_elsewhere() or ("unsupported on this chip" if self.lacks else "not verified by a recording or a reference")
        oracle = f"equals an independent calculation in {count(row['oracle'], 'random case')}" if row["oracle"] else ""
        deviating = f"; {row['deviating']} where the emulator is wrong are listed in docs/deviations.md" if row["deviating"] else ""
        if row["exact"]:
            return f"equals the vendor's emulator in {count(row['exact'], 'recorded case')}" + (f"; {oracle}" if oracle else "") + deviating
        if row["oracle"]:
            return ("partly assumed (firmware/README.md); " if row.get("assumed") else "") + oracle + deviating
        if row["reference"]:
            return f"reference within {row['reference']}" + deviating
        return self.known_elsewhere() or "not verified by a recording or a reference" + deviating

    def known_elsewhere(self):
        """What the chips of the main recordings do not show."""
        return ", ".join(f"equals the vendor's emulator in {count(exact, 'recorded case')} of {chip}" + (f" (not on {different} more)" if different else "")
                         for chip, exact, different in self.reference.recorded.get(self.name, []) if exact)

    # ---- Examples ----

    @property
    def claim(self):
        """What the example gives; on a further chip only where it names the chip's own numbers, as the others are those of BM1684X."""
        gives = self.own.get("gives")
        return gives if gives is None or self.chip is None or "{" in self.written["gives"] else None

    @property
    def example_runs(self):
        """Whether the chip takes it (tests/manual runs all of them)."""
        return self.name not in self.reference.common["examples_refused"].get(self.chip, [])

    def example(self):
        return examples.text_of(self)

    def related(self):
        own = self.field("see")
        own = own if isinstance(own, list) else []
        family = [name for name in self.family["functions"] if name in self.reference.prototypes]
        at = family.index(self.name)
        near = family if len(family) <= MOST_SIBLINGS else family[max(0, at - 3):at + 4]
        return [name for name in dict.fromkeys(own + near) if name != self.name]

    def notes(self):
        out = []
        for table in (self.own, self.family):
            notes = table.get("notes", [])
            out += [notes] if isinstance(notes, str) else notes
        return [self.with_numbers(flat(note)) for note in out]

    def layout_text(self):
        """Tensors without strides are aligned where nothing else is said."""
        names = [name for _, name in self.prototype.parameters]
        local = any(kind == "local_addr_t" for kind, _ in self.prototype.parameters)
        written = self.with_numbers(flat(self.field("layout")))
        if written or not local or "shape" not in names or any("stride" in name for name in names):
            return written
        return "Tensors lie in the aligned layout."

    def sections(self):
        """(label, text) in reading order; what is empty is left out."""
        parameters = [(name, self.parameter_text(name, kind)) for kind, name in self.prototype.parameters if name != "..."]
        out = [("parameters", parameters)]
        overlap = "; ".join(part for part in (self.in_place_text(), flat(self.field("overlap"))) if part)
        out += [("returns", self.returns_text() if self.prototype.returns != "void" else ""), ("layout", self.layout_text()),
                ("types", self.types_text()), ("limits", self.limits_lines()), ("NULL", self.null_text()), ("overlap", overlap),
                ("rounding" if not self.is_host else "meaning", self.rounding_text()), ("note", self.notes()),
                ("errors", self.errors_lines()), ("engine", self.engine_text()), ("waits", flat(self.field("waits"))),
                ("time", self.cost_text()), ("chips", self.chips_text()), ("source", flat(self.field("source"))),
                ("numbers", self.numerics()), ("samples", words(self.samples()) if self.samples() else ""), ("see also", words(self.related()) if self.related() else ""), ("example", self.example())]
        return [(label, text) for label, text in sorted(out, key=lambda one: LABELS.index(one[0])) if text]

    def samples(self):
        """Folders of samples/ whose kernels call the function."""
        found = [] if self.is_host else self.reference.samples.get(self.name, [])
        return found if len(found) <= MOST_SAMPLES else []

    def rounding_text(self):
        return self.with_numbers(flat(self.field("rounding"))) or ("Neither recorded nor described." if self.undetermined else "")

    def returns_text(self):
        return flat(self.field("returns")) or ("0, after the refusal" if self.undetermined else "")

    def numerics(self):
        target = self.family.get("numerics", "")
        own = f"{self.chip}.md"     # what the chip has otherwise
        if not target or target.startswith(own) or not (ROOT / "docs/numerics" / own).exists():
            return f"docs/numerics/{target}" if target else ""
        return f"docs/numerics/{own} (what this chip has otherwise), docs/numerics/{target}"


def merged(base, own):
    """An object of a description upon the one that it begins with: null takes away."""
    out = dict(base)
    for name, value in own.items():
        known = base.get(name)
        out[name] = merged(known if isinstance(known, dict) else {}, value) if isinstance(value, dict) else value
    return {name: value for name, value in out.items() if value is not None}


def values_of(facts, chip):
    """What texts name in braces: {npus} is a chip's number of NPUs."""
    local, l2 = facts["local_mem"], facts["l2_sram"]
    return {"chip": chip.upper(), "npus": facts["npu_num"], "banks": local["banks"], "eu_bytes": facts["eu_bytes"], "fp32_elements": facts["eu_bytes"] // 4,
            "local_bytes": local["bytes_per_npu"], "l2_bytes": next((l2[name] for name in ("told_bytes", "per_core_bytes", "usable_bytes", "bytes") if name in l2), 0),
            "l2_start": l2.get("start", "none"), "local_start": local["start"], "static_start": facts["static_mem"]["start"], "global_start": facts["global_mem"]["start"],
            "cores": facts["cores"], "sum_group": facts.get("sum_group"), "sum_group_of_bytes": 2 * facts.get("sum_group", 0),
            "weight_block": facts.get("weight_block"), "f16_subnormals": "become zeros" if "f16-subnormals-are-zeros" in facts.get("rules", []) else "stay", "dma_w_stride": facts.get("dma_w_stride_bytes", 128)}


def calls_in_samples():
    """Function -> the samples whose kernels call it."""
    found = {}
    for path in sorted((ROOT / "samples").glob("*/kernel.c")):
        for name in set(re.findall(r"\b((?:tpu|okk)_\w+)\(", path.read_text())):
            found.setdefault(name, []).append(f"samples/{path.parent.name}")
    return found


class Reference:
    def __init__(self):
        self.common = tomllib.loads((SOURCE / "common.toml").read_text())
        self.limits = json.loads((SOURCE / "limits.json").read_text())
        self.chips = {path.stem: json.loads(path.read_text()) for path in sorted((ROOT / "device/chip/chips").glob("*.json"))}
        self.not_varied = not_varied()
        self.bases = {name: chip["base"] for name, chip in self.chips.items() if "base" in chip}
        # The chips that have 4-bit integers.
        self.narrow = {name for name, chip in self.chips.items() if "int4" in chip.get("types", [])}
        self.narrow |= {chip for chip, base in self.bases.items() if base in self.narrow}
        self.ledger = verified()
        self.recorded = recorded()
        self.prototypes = all_prototypes()
        self.samples = calls_in_samples()
        self.without_feature = {name for name, (_, state) in host_functions.states().items() if state.startswith("no feature")}
        self.pages = {}     # file stem -> (title, [family])
        self.functions = {}
        for path in sorted(SOURCE.glob("*.toml")):
            if path.stem != "common":
                self.read(path)

        for names in self.common["topics"].values():
            for name in names:
                if name not in self.prototypes and not (ROOT / name / "case.py").is_file():
                    raise Wrong(f"common.toml: a topic names {name}, which is in no public header, and no sample with a case")

    def facts_of(self, chip):
        """A chip's description, with what it takes from the one that it begins with."""
        own = self.chips[chip]
        return merged(self.facts_of(own["base"]), own) if "base" in own else own

    def topics(self, name):
        """What the function is looked for under."""
        return " ".join(topic for topic, names in self.common["topics"].items() if name in names)

    def samples_of_topics(self):
        """The samples that topics name: what they show, what they are looked for under, and the chips of their case."""
        found = {}
        for name in sorted({name for names in self.common["topics"].values() for name in names if name not in self.prototypes}):
            shows = (ROOT / name / "README.md").read_text().split("\n\n")[1]
            chips = re.search(r"^chips = (\[.*\])$", (ROOT / name / "case.py").read_text(), re.M)
            found[name] = {"purpose": " ".join(shows.split()), "topics": self.topics(name), "chips": json.loads(chips[1])}
        return found

    def is_okkernel(self, name):
        """Of the other interface, as the chip says that was asked about it."""
        return self.limits.get(name, {}).get("chip") == "bm1684"

    def chip_name(self, name):
        return "BM1684" if self.is_okkernel(name) else "BM1684X"

    def read(self, path):
        data = tomllib.loads(path.read_text())
        families = data["family"]
        self.pages[path.stem] = (data["title"], data.get("about", ""), families)
        for family in families:
            unknown = set(family) - FAMILY_FIELDS
            if unknown:
                raise Wrong(f"{path.name}: family {family.get('id')} has unknown fields {sorted(unknown)}")
            for figure in family.get("figures", []):
                if not (ROOT / "docs/figures" / figure).exists():
                    raise Wrong(f"{path.name}: family {family['id']} shows docs/figures/{figure}, which does not exist")
            for name, own in family["functions"].items():
                own = {"purpose": own} if isinstance(own, str) else own
                if set(own) - FUNCTION_FIELDS:
                    raise Wrong(f"{path.name}: {name} has unknown fields {sorted(set(own) - FUNCTION_FIELDS)}")
                if name in self.functions:
                    raise Wrong(f"{path.name}: {name} is described twice")
                if name not in self.prototypes:
                    if family.get("newer"):
                        continue
                    raise Wrong(f"{path.name}: {name} is in no public header")
                for parameter in list(own.get("parameters", {})):
                    if parameter not in [n for _, n in self.prototypes[name].parameters]:
                        raise Wrong(f"{path.name}: {name} has no parameter {parameter}")
                self.functions[name] = Function(self.prototypes[name], family, own, self)

    def missing(self):
        return [name for name in self.prototypes if name not in self.functions]
