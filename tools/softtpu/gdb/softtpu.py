"""What gdb knows of softtpu: prints the SDK's types, shows tensors in device memories, stops in kernels.

`softtpu run --gdb` loads it. By hand: (gdb) source PREFIX/share/softtpu/gdb/softtpu.py"""
import pathlib
import re
import struct
import subprocess

import gdb
import gdb.printing

LAUNCHER = pathlib.Path(__file__).resolve().parent.parent.parent.parent / "bin" / "softtpu"
# Addresses from here on are of the system map; those below count from the start of local memory.
FIRST_SYSTEM_ADDRESS = 1 << 27

# ---- Printers ----


class Extents:
    """dim2, dim4, dim5: [1, 64, 28, 28]."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        return "[" + ", ".join(str(int(self.value[field])) for field in self.value.type.strip_typedefs()) + "]"


def float_of(bits, exponent_bits, fraction_bits):
    """The number that a small float's bits stand for."""
    fraction = bits & ((1 << fraction_bits) - 1)
    exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1)
    sign = -1.0 if bits >> (exponent_bits + fraction_bits) & 1 else 1.0
    bias = (1 << (exponent_bits - 1)) - 1
    if exponent == (1 << exponent_bits) - 1:
        return sign * float("inf") if fraction == 0 else float("nan")
    if exponent == 0:
        return sign * fraction * 2.0 ** (1 - bias - fraction_bits)
    return sign * (1 + fraction / (1 << fraction_bits)) * 2.0 ** (exponent - bias)


class SmallFloat:
    """float16, bfloat16: 1.5 (0x3e00)."""

    def __init__(self, value, exponent_bits, fraction_bits):
        self.value, self.sizes = value, (exponent_bits, fraction_bits)

    def to_string(self):
        bits = int(self.value["bits"])
        return f"{float_of(bits, *self.sizes):g} (0x{bits:04x})"


def word_text(bits):
    """A 32-bit word as each of the types that an element may have."""
    signed = struct.unpack("<i", struct.pack("<I", bits))[0]
    single = struct.unpack("<f", struct.pack("<I", bits))[0]
    low = bits & 0xFFFF
    return (f"0x{bits:08x} = {signed} = {single:g} fp32 = {float_of(low, 5, 10):g} fp16 = {float_of(low, 8, 7):g} bfp16"
            f" = {(low & 0xFF) - (256 if low & 0x80 else 0)} int8")


class Word:
    """scalar_t, x32: the same bits as each type."""

    def __init__(self, value, field):
        self.value, self.field = value, field

    def to_string(self):
        return word_text(int(self.value[self.field]))


BYTES_OF_TYPE = {"INT8": "1 byte", "UINT8": "1 byte", "FP8E5M2": "1 byte", "FP8E4M3": "1 byte", "INT4": "half a byte",
                 "UINT4": "half a byte", "INT16": "2 bytes", "UINT16": "2 bytes", "FP16": "2 bytes", "BFP16": "2 bytes"}


class DataType:
    """data_type_t: DT_FP16 (2 bytes)."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        name = enumerator_of(self.value)
        if name is None:
            return f"{int(self.value)} (no data type)"
        return f"{name} ({BYTES_OF_TYPE.get(name.removeprefix('DT_'), '4 bytes')})"


class Variable:
    """variable_t: a tensor or vector at an address, or a constant."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        kind = enumerator_of(self.value["type"])
        context = self.value["context"]
        if kind == "SCALAR":
            return "SCALAR " + word_text(int(context["scalar"]["u32"]))
        return f"{kind or int(self.value['type'])} at 0x{int(context['addr']):x}"


def enumerator_of(value):
    """The enumerator's name; None when no enumerator has the value."""
    for field in value.type.strip_typedefs().fields():
        if field.enumval == int(value):
            return field.name
    return None


def make_printers():
    printers = gdb.printing.RegexpCollectionPrettyPrinter("softtpu")
    for name, pattern, make in (("extents", "dim[245]", Extents), ("float16", "float16", lambda value: SmallFloat(value, 5, 10)),
                                ("bfloat16", "bfloat16", lambda value: SmallFloat(value, 8, 7)),
                                ("scalar_t", "scalar_t", lambda value: Word(value, "u32")), ("x32", "x32", lambda value: Word(value, "u32")),
                                ("data_type_t", "data_type_t", DataType), ("variable_t", "variable_t", Variable)):
        printers.add_printer(name, f"^{pattern}$", make)
    return printers


# ---- Commands ----


class Softtpu(gdb.Command):
    """What is in the memories of softtpu's device; `help softtpu tensor`, `help softtpu memory`."""

    def __init__(self):
        super().__init__("softtpu", gdb.COMMAND_DATA, gdb.COMPLETE_NONE, True)


def run_dump(words):
    """`softtpu dump` reads the memories while this process is stopped; it knows the layouts."""
    process = gdb.selected_inferior().pid
    if process == 0:
        raise gdb.GdbError("no process is being debugged")
    done = subprocess.run([str(LAUNCHER), "dump", "--pid", str(process), *words], capture_output=True, text=True)
    if done.returncode:
        raise gdb.GdbError(done.stderr.strip() or f"softtpu dump ended with status {done.returncode}")
    gdb.write(done.stdout)


def number_of(text):
    return int(gdb.parse_and_eval(text)) & (1 << 64) - 1


def extents_of(text):
    """N,C,H,W as they are; else an expression: a dim4, a pointer to one, or a dim2."""
    if re.fullmatch(r"\d+(,\d+)*", text):
        return text
    value = gdb.parse_and_eval(text)
    kind = value.type.strip_typedefs()
    if kind.code == gdb.TYPE_CODE_PTR and kind.target().strip_typedefs().code == gdb.TYPE_CODE_STRUCT:
        value = value.dereference()
    if value.type.strip_typedefs().code != gdb.TYPE_CODE_STRUCT:
        raise gdb.GdbError(f"{text} is no shape: N,C,H,W, a dim4 or a pointer to one")
    return ",".join(str(int(value[field])) for field in value.type.strip_typedefs())


def dtype_of(text):
    """fp32 and so on as they are; else an expression of data_type_t."""
    if re.fullmatch(r"u?int(8|16|32)|b?fp16|fp32|fp8e(4m3|5m2)", text):
        return text
    value = gdb.parse_and_eval(text)
    name = enumerator_of(value) if value.type.strip_typedefs().code == gdb.TYPE_CODE_ENUM else None
    if name is None or not name.startswith("DT_"):
        raise gdb.GdbError(f"{text} is no data type: DT_FP32 or fp32, for example")
    return name.removeprefix("DT_").lower()


class Tensor(gdb.Command):
    """softtpu tensor ADDRESS SHAPE [TYPE] [LAYOUT] [OPTIONS]

Prints a tensor, one line for each row. ADDRESS, SHAPE and TYPE may be expressions: a local_addr_t, or an address of
global memory or L2; a dim4, a pointer to one, or N,C,H,W; a data_type_t, or fp32 and so on (default fp32). LAYOUT:
aligned (default), compact, line-aligned, free, matrix, vector; continuous for global memory. OPTIONS are those of
`softtpu dump`: --stride (also a dim4), --width, --mode, --core, -o FILE.npy."""

    def __init__(self):
        super().__init__("softtpu tensor", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, from_tty):
        words, options = [], []
        rest = gdb.string_to_argv(argument)
        while rest:
            word = rest.pop(0)
            if not word.startswith("-") or re.match(r"-\d", word):
                words.append(word)
                continue
            value = rest.pop(0) if "=" not in word and rest else None
            name = word.split("=")[0]
            if value is None and "=" in word:
                value = word.split("=", 1)[1]
            if value is None:
                raise gdb.GdbError(f"{word} needs a value")
            options += [name, extents_of(value) if name == "--stride" else value]
        if not 2 <= len(words) <= 4:
            raise gdb.GdbError("usage: softtpu tensor ADDRESS SHAPE [TYPE] [LAYOUT] [OPTIONS]")
        address = number_of(words[0])
        options += ["--address", hex(address), "--shape", extents_of(words[1]), "--dtype", dtype_of(words[2] if len(words) > 2 else "fp32")]
        if len(words) > 3:
            options += ["--layout", words[3]]
        if "--space" not in options:
            options += ["--space", space_of(address)]
        run_dump(options)


def space_of(address):
    """Global memory lies above everything else of the system map."""
    if address < FIRST_SYSTEM_ADDRESS:
        return "local"
    return "l2" if address < 1 << 32 else "global"


class Memory(gdb.Command):
    """softtpu memory ADDRESS [BYTES] [SPACE]

Prints bytes of a device memory (256 unless BYTES says otherwise). SPACE: local, global, l2, static or dtcm; without it the
address decides."""

    def __init__(self):
        super().__init__("softtpu memory", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, from_tty):
        words = gdb.string_to_argv(argument)
        if not 1 <= len(words) <= 3:
            raise gdb.GdbError("usage: softtpu memory ADDRESS [BYTES] [SPACE]")
        address = number_of(words[0])
        size = number_of(words[1]) if len(words) > 1 else 256
        run_dump(["--address", hex(address), "--bytes", str(size), "--space", words[2] if len(words) > 2 else space_of(address)])


class Begin(gdb.Command):
    """softtpu begin PROCESS ADDRESS...

Attaches to a core, puts breakpoints on the kernels at these addresses and goes on to the first one. `softtpu run --gdb` does
this."""

    def __init__(self):
        super().__init__("softtpu begin", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        process, *kernels = argument.split()
        try:
            # What gdb reads symbols from is of no interest here, and would fill a screen.
            gdb.execute(f"attach {int(process)}", to_string=True)
        except gdb.error as error:
            raise gdb.GdbError(f"gdb cannot attach to the core, so its kernels run without it: {error}")
        for kernel in kernels:
            break_in(int(kernel, 0))
        gdb.execute("continue")


def break_in(address):
    """At the function's first line, behind what the compiler puts before it; without debug information, at its first
    instruction."""
    block = gdb.block_for_pc(address)
    function = block.function if block is not None else None
    if function is None or function.symtab is None:
        return gdb.Breakpoint(f"*{address:#x}")
    file = function.symtab.filename.replace('"', r"\"")
    return gdb.Breakpoint(f'-source "{file}" -function {function.name}')


gdb.printing.register_pretty_printer(None, make_printers(), replace=True)
for command in (Softtpu, Tensor, Memory, Begin):
    command()
