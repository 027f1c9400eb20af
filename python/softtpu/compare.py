"""softtpu bmodel compare --onnx MODEL.onnx FILE, or --npz REFERENCE.npz FILE: which layer of a compiled network leaves the float model.

The network runs with its layers kept, each is dequantised by its scale and zero point and stands beside the tensor of its name: of an ONNX model that
onnxruntime runs, or of a NumPy file. A layer leaves the reference when its error is more than `margin` times what its type and the errors of
what it reads explain (docs/networks.md).
"""
import argparse
import collections.abc
import html
import json
import math
import os
import pathlib
import re
import signal
import subprocess
import sys
import zipfile

import numpy as np

from . import _native
from ._temporary import temporary_folder
from .errors import Error
from .report import to_json

_DONE, _FAILED, _USAGE, _NOT_WRITTEN, _FINDINGS = 0, 1, 2, 3, 120
_MARGIN = 4.0
# Without a map the types between the layers are not known.
_LEAST_COSINE, _MOST_RELATIVE = 0.99, 0.1
# Of one array of a file: larger than the memory that a tensor of any chip has, and inflated in seconds.
_MOST_BYTES = 1 << 31
# Operations that only copy, to or from the memory of the units.
_COPIES = ("tpu.Load", "tpu.Store")
# More elements at the limits of their type are no rare outliers.
_MOST_SATURATED = 0.01
# What half a unit in the last place is of a number; of f32: what another order of summation and a series instead of a function make.
_FLOATS = {"f32": 2.0**-21, "f16": 2.0**-11, "bf16": 2.0**-8, "f8e4m3": 2.0**-4, "f8e5m2": 2.0**-3}
_INTEGER = re.compile(r"^(?:(s|u)?i|u)(\d+)$")
_QUANTISED = re.compile(r"!quant\.uniform<(i|u)(\d+)(?:<[^>]*>)?:[^,{]+,\s*([-+0-9.eE]+)(?::\s*(-?\d+))?\s*>")
# What the compiler adds to the name of a layer whose type it changes, and the operation behind the name of a node's output.
_TYPE_ENDING = re.compile(r"_(?:bf16|f16|f32|f8e4m3|f8e5m2|u?int\d+|[su]?i\d+|u\d+)$", re.IGNORECASE)
_OPERATION_ENDING = re.compile(r"_[A-Z][A-Za-z0-9]*$")


class UsageError(Error):
    """A file or an argument that is not usable; the text is one line."""


class _Type:
    """The type of a tensor's elements, and what it explains of an error."""

    def __init__(self, name, scale=1.0, zero_point=0):
        whole = _INTEGER.match(name)
        self.name, self.scale, self.zero_point = name, scale, zero_point
        self.is_integer = whole is not None
        self.step = next((step for start, step in _FLOATS.items() if name.lower().startswith(start)), _FLOATS["f32"])
        if whole:
            bits, unsigned = int(whole.group(2)), whole.group(1) == "u" or name.startswith("u")
            low, high = (0, 2**bits - 1) if unsigned else (-(2**(bits - 1)), 2**(bits - 1) - 1)
            self.low, self.high = sorted(((low - zero_point) * scale, (high - zero_point) * scale))

    @classmethod
    def of_mlir(cls, text, storage=None):
        """Of "tensor<1x3x!quant.uniform<i8:f32, 0.03:5>>"; None where the text has no type. `storage`: the type in memory, which counts."""
        quantised = _QUANTISED.search(text)
        if quantised and (storage is None or _INTEGER.match(storage)):
            scale = float(quantised.group(3))
            if not (math.isfinite(scale) and scale > 0):
                raise UsageError(f"the map of tensors has the scale {quantised.group(3)} in {text!r}.")
            return cls(storage or ("u" if quantised.group(1) == "u" else "") + "i" + quantised.group(2), scale, int(quantised.group(4) or 0))
        if storage is not None:
            return cls(storage)
        plain = re.search(r"(?:<|x)(bf16|f16|f32|[su]?i\d+)\s*[,>]", text) or re.search(r"!quant\.calibrated<(bf16|f16|f32)", text)
        return cls(plain.group(1)) if plain else None

    def unit(self, peak):
        """The step between numbers of the type, at the largest value of the tensor for floats."""
        return self.scale if self.is_integer else 2 * self.step * peak

    def explains(self, peak, rms):
        """The error of one layer, relative to the reference: (of the largest, root of the mean square). Whole numbers with a scale stand for weights
        of their kind too: a unit, where rounding alone makes a half."""
        if not self.is_integer:
            return np.array([self.step, self.step])
        if peak is None:  # a tensor without a reference, which fills its type well
            peak, rms = max(abs(self.low), abs(self.high)), max(abs(self.low), abs(self.high)) / 8
        return np.array([self.scale / (peak or self.scale), self.scale / 2 / (rms or self.scale)])

    def decode(self, stored):
        values = stored.astype(np.float64)
        return (values - self.zero_point) * self.scale if self.is_integer else values


# ---- what a file holds, and running it ----


def _start(words, **options):
    try:
        return subprocess.run(list(map(str, words)), encoding="utf-8", errors="replace", check=False, **options)
    except (OSError, ValueError) as problem:  # no such program, no memory, no descriptors; a name with a zero byte
        raise Error(f"{words[0]} cannot be started: {problem}") from None


def _call(program, *words):
    done = _start([program, "bmodel", *words], capture_output=True)
    if done.returncode != 0:
        text = done.stderr.strip().splitlines() or [f"softtpu ended with status {done.returncode}"]
        raise (UsageError if done.returncode == _USAGE else Error)(text[-1].removeprefix("softtpu: "))
    return done.stdout


def _map_beside(path):
    """The map that the compiler has written beside the file."""
    places = [path.with_suffix("") / "tensor_location.json", path.with_name(path.name + ".json")]
    if path.name == "compilation.bmodel":
        places.append(path.with_name("tensor_location.json"))
    return next((place for place in places if place.is_file()), None)


class _Stage:
    """One stage of a network: its tensors and the layers of its map."""

    def __init__(self, program, path, network, number, tensor_map):
        def read(map_file):
            words = ["--map", map_file, "--stage", number] + (["--network", network] if network else []) if map_file else []
            return json.loads(_call(program, "info", "--json", path, *words))
        model = read(tensor_map)
        named = [one for one in model["networks"] if not network or one["name"] == network]
        named = [one for one in named if number < len(one["stages"])]
        if not named:
            raise UsageError(f"{path} has no such network or stage.")
        self.map_file = tensor_map
        if not named[0]["stages"][number]["tensor_map"] and not tensor_map:
            self.map_file = _map_beside(path)
            if self.map_file:
                again = read(self.map_file)
                named = [one for one in again["networks"] if one["name"] == named[0]["name"]]
        self.chip, self.network, self.number = model["chip"], named[0]["name"], number
        stage = named[0]["stages"][number]
        self.inputs, self.outputs, self.between = stage["inputs"], stage["outputs"], stage["between"]
        self.layers, self.map_fault, self.cores = stage["tensor_map"], stage["layers_not_known"], stage["cores"]
        self.dynamic = stage["dynamic"]

    def rows(self):
        """The layers in the order of the map: dictionaries with name, operation, type, operands; `hidden` where nothing of it lies in global memory,
        `no_scale` where the map lacks it. One that is computed in pieces, or stored behind it, is one row."""
        rows, seen, hidden = [], set(), {}
        types = {tensor["name"]: _Type(tensor["type"], tensor["scale"], tensor["zero_point"]) for tensor in self.outputs}
        for layer in self.layers:
            kept = [result for result in layer["results"] if result["name"] not in seen]
            for result in kept:
                seen.add(result["name"])
                of_map = _Type.of_mlir(result["mlir"], result["type"])
                own = types.get(result["name"])
                of_file = own is not None and own.is_integer and own.scale != 1
                row = hidden.pop(result["name"], None)
                if row is None:
                    row = {"name": result["name"], "operation": layer["operation"], "part": layer["part"], "operands": layer["operands"]}
                    rows.append(row)
                row.update(type=own if of_file else of_map, hidden=False, no_scale=of_map.is_integer and not result["mlir"] and not of_file)
            if not layer["results"] and layer["name"] and layer["name"] not in seen and layer["name"] not in hidden:
                hidden[layer["name"]] = {"name": layer["name"], "operation": layer["operation"], "part": layer["part"], "operands": layer["operands"],
                                         "type": _Type.of_mlir(layer["mlir"], layer["type"] or None), "hidden": True}
                rows.append(hidden[layer["name"]])
        for tensor in ([] if self.layers else self.between) + self.outputs:
            if tensor["name"] not in seen:
                seen.add(tensor["name"])
                rows.append({"name": tensor["name"], "operation": "", "part": None, "operands": [], "hidden": False,
                             "type": _Type(tensor["type"], tensor["scale"], tensor["zero_point"])})
        return rows


class _Arrays(collections.abc.Mapping):
    """The arrays of a NumPy file by their names, each read when it is asked for: the file may hold more than memory does."""

    def __init__(self, path, what):
        self._path, self._what = path, what
        try:
            self._loaded = np.load(path, allow_pickle=False)
        except Exception as problem:  # NumPy, zipfile, zlib and tokenize have kinds of their own for damaged files
            raise self._refused(_first_line(problem)) from None
        if isinstance(self._loaded, np.ndarray):
            self._loaded = {path.stem: self._loaded}
        self._names = list(self._loaded.keys())

    def _refused(self, why):
        return UsageError(f"{self._what} {self._path}: {why}")

    def _claimed_bytes(self, name):
        if isinstance(self._loaded, dict):
            return self._loaded[name].nbytes
        members = self._loaded.zip.namelist()
        return self._loaded.zip.getinfo(name if name in members else name + ".npy").file_size

    def __getitem__(self, name):
        if name not in self._names:
            raise KeyError(name)
        try:
            size = self._claimed_bytes(name)
            array = self._loaded[name] if size <= _MOST_BYTES else None
        except Exception as problem:
            raise self._refused(f"array \"{name}\": {_first_line(problem)}") from None
        if array is None:
            raise self._refused(f"array \"{name}\" has {size} bytes; more than {_MOST_BYTES} are not compared.")
        if not isinstance(array, np.ndarray) or array.dtype.kind not in "fiub":
            kind = f"elements of type {array.dtype}" if isinstance(array, np.ndarray) else "no NumPy array"
            raise self._refused(f"array \"{name}\" has {kind}.")
        return array

    def __iter__(self):
        return iter(self._names)

    def __len__(self):
        return len(self._names)


def _write_npz(path, arrays):
    """As np.savez(), whose own arguments some names are."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.asanyarray(array), allow_pickle=False)


def _first_line(problem):
    return (str(problem).strip().splitlines() or [type(problem).__name__])[0]


def _count(shape):
    return int(np.prod(shape, dtype=np.int64))


def _inputs(stage, given, source, seed):
    """Inputs as floats, by the network's names: of arrays, else random as `softtpu bmodel run` describes them."""
    random, inputs = np.random.default_rng(seed), {}
    for i, tensor in enumerate(stage.inputs):
        name, shape = tensor["name"], tuple(tensor["shape"])
        kind = _Type(tensor["type"], tensor["scale"], tensor["zero_point"])
        if given is None:
            indices = kind.is_integer and kind.scale == 1
            inputs[name] = random.integers(0, 10, shape) if indices else random.uniform(-1, 1, shape).astype(np.float32)
            continue
        array = _find(name, given)[1]
        if array is None and source[0] == "--input" and len(given) == len(stage.inputs):
            array = list(given.values())[i]
        if array is None:
            raise UsageError(f"{source[1]} has no array \"{name}\", an input of the network" +
                             ("." if source[0] == "--input" else "; --input names a file with the inputs."))
        if stage.dynamic and array.ndim == len(shape) and all(0 < extent <= most for extent, most in zip(array.shape, shape)):
            shape = array.shape
        if _count(array.shape) != _count(shape):
            raise UsageError(f"{source[1]}: array \"{name}\" has shape {list(array.shape)}, input \"{name}\" "
                             f"{'takes up to' if stage.dynamic else 'has'} {list(shape)}.")
        array = array.reshape(shape)
        if kind.is_integer and kind.scale != 1 and array.dtype.kind != "f":  # as it is stored
            array = (array.astype(np.float64) - kind.zero_point) / kind.scale
        inputs[name] = array.astype(np.float32) if array.dtype.kind == "f" or not kind.is_integer else array.astype(np.int64)
    return inputs


def _file_of(name):
    return name.replace("%", "%25").replace("/", "%2F") + ".npy"


def _run(program, path, stage, inputs, folder, options):
    """Runs the network; its exit status, and what it has printed. Its messages go to standard error as they come."""
    _write_npz(folder / "inputs.npz", {name: array.astype(np.int32) if array.dtype.kind == "i" else array for name, array in inputs.items()})
    words = [program, "bmodel", "run", path, "--network", stage.network, "--stage", stage.number, "--input", folder / "inputs.npz",
             "--dump-layers", options["layers"], *options["words"]]
    if stage.map_file:
        words += ["--map", stage.map_file]
    done = _start(words, stdout=subprocess.PIPE)
    return done.returncode, done.stdout


# ---- references ----


def _find_name(name, arrays):
    """The name of a layer's reference: the same, else without the endings that the compiler adds; None: there is none."""
    names = [name]
    while _TYPE_ENDING.search(names[-1]):
        names.append(_TYPE_ENDING.sub("", names[-1]))
    names += [_OPERATION_ENDING.sub("", one) for one in names if _OPERATION_ENDING.search(one)]
    return next((one for one in names if one in arrays), None)


def _find(name, arrays):
    """The reference of a layer: (its name, the array)."""
    found = _find_name(name, arrays)
    return found, arrays[found] if found is not None else None


def _run_onnx(path, stage, inputs):
    """Every tensor of an ONNX model, by name, and by name and operation as the compiler names its layers."""
    try:
        import onnx
        import onnxruntime
    except ImportError as missing:
        raise UsageError(f"--onnx needs the Python packages onnx and onnxruntime ({missing}): "
                         f"{sys.executable} -m pip install onnx onnxruntime") from None
    try:
        model = onnx.load(str(path), load_external_data=False)
        nodes = {output: node.op_type for node in model.graph.node for output in node.output if output}
        shown = {output.name for output in model.graph.output}
        constants = {one.name for one in model.graph.initializer}
        needed = [one for one in model.graph.input if one.name not in constants]
        model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in nodes if name not in shown)
        settings = onnxruntime.SessionOptions()
        settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL  # tensors keep their names
        settings.log_severity_level = 4
        settings.add_session_config_entry("session.model_external_initializers_file_folder_path", str(path.resolve().parent))
        session = onnxruntime.InferenceSession(model.SerializeToString(), settings, providers=["CPUExecutionProvider"])
    except Exception as problem:  # each package has kinds of its own
        raise UsageError(f"{path} is no ONNX model that can run: {_first_line(problem)}") from None
    feeds = {}
    if len(needed) != len(inputs):
        raise UsageError(f"{path} does not match: it has {len(needed)} inputs, the network has {len(inputs)}.")
    for i, one in enumerate(needed):
        name, array = _find(one.name, inputs)
        if array is None:
            name, array = next(((given, a) for given, a in inputs.items() if _find_name(given, (one.name,))), list(inputs.items())[i])
        extents = [dim.dim_value for dim in one.type.tensor_type.shape.dim]
        fixed = all(extents)
        if (len(extents) != array.ndim or any(extent not in (0, here) for extent, here in zip(extents, array.shape))) and \
                not (fixed and _count(extents) == array.size):
            raise UsageError(f"{path} does not match: its input \"{one.name}\" has shape {extents}, input \"{name}\" of the network has {list(array.shape)}.")
        kind = onnx.helper.tensor_dtype_to_np_dtype(one.type.tensor_type.elem_type)
        feeds[one.name] = (array.reshape(extents) if fixed else array).astype(kind)
    try:
        names = [output.name for output in session.get_outputs()]
        values = session.run(names, feeds)
    except Exception as problem:
        raise UsageError(f"{path} cannot run: {_first_line(problem)}") from None
    arrays = {name: value for name, value in zip(names, values) if isinstance(value, np.ndarray) and value.dtype.kind in "fiub"}
    aliases = {f"{name}_{nodes[name]}": value for name, value in arrays.items() if name in nodes}
    return {**aliases, **arrays, **{one.name: feeds[one.name] for one in needed}}


# ---- comparing ----


def _same_elements(shape, other):
    """Whether the elements of both shapes stand in the same order: extents of 1 do not count, nor does joining or splitting dimensions; the same
    extents in another order are a transposition."""
    if _count(shape) != _count(other):
        return False
    mine, theirs = ([extent for extent in extents if extent != 1] for extents in (shape, other))
    return mine == theirs or sorted(mine) != sorted(theirs)


def _measure(row, got, want, before, margin, known):
    """Compares one tensor. `before`: the relative errors, largest and root of the mean square, of what it reads. `known`: there is a map."""
    kind = row["type"]
    finite_want = np.isfinite(want)
    odd = ~np.isfinite(got) & finite_want
    row["nan"], row["infinite"] = int(np.isnan(got[odd]).sum()), int(np.isinf(got[odd]).sum())
    both = np.isfinite(got) & finite_want
    a, b = got[both], want[both]
    peak, rms = (float(np.abs(b).max()), float(np.sqrt(np.mean(b * b)))) if b.size else (0.0, 0.0)
    row["largest"] = peak
    norms = float(np.linalg.norm(a) * np.linalg.norm(b))
    row["cosine"] = float(np.dot(a, b)) / norms if norms > 0 else (1.0 if not a.any() and not b.any() else 0.0)
    error = np.abs(a - b)
    row["max_error"] = float(error.max()) if error.size else 0.0
    row["unit"] = kind.unit(peak)
    row["units"] = row["max_error"] / row["unit"] if row["unit"] > 0 else (0.0 if row["max_error"] == 0 else math.inf)
    row["saturated"] = 0.0
    if kind.is_integer and b.size:
        outside = (b < kind.low - kind.scale) | (b > kind.high + kind.scale)
        row["saturated"] = float(np.mean(outside & ((a <= kind.low) | (a >= kind.high))))
        if row["saturated"] <= _MOST_SATURATED:
            error = np.abs(a - np.clip(b, kind.low, kind.high))
    scales = np.array([peak or kind.scale, rms or kind.scale])
    measured = np.array([error.max(), np.sqrt(np.mean(error * error))]) / scales if error.size else np.zeros(2)
    own = kind.explains(peak, rms)
    allowed = margin * np.sqrt(own * own + before * before) if known else np.array([_MOST_RELATIVE, math.inf])
    row["relative_error"], row["explained"] = float(measured[1]), float(allowed[1])
    share = float(np.max(measured / allowed))
    if not known and row["cosine"] < _LEAST_COSINE and measured[0] > 0:
        share = max(share, (1 - row["cosine"]) / (1 - _LEAST_COSINE))
    born = bool(odd.any()) and bool(np.isfinite(before).all())
    row["share"] = math.inf if born else 0.0 if odd.any() else share
    row["verdict"] = "leaves" if row["share"] > 1 else "follows" if odd.any() else "explained"
    row["note"] = _guess(row, kind, got, want, a, b) if row["verdict"] == "leaves" else ""
    return np.full(2, math.inf) if odd.any() else measured


def _guess(row, kind, got, want, a, b):
    """What the numbers look like."""
    if row["nan"] or row["infinite"]:
        words = [f"{count} {name}" for count, name in ((row["infinite"], "infinite"), (row["nan"], "NaN")) if count]
        first = int(np.flatnonzero(~np.isfinite(got) & np.isfinite(want))[0])
        return f"{' and '.join(words)} of {got.size} elements, the first at {first}, where the reference has {want[first]:.6g}"
    if row["saturated"] > _MOST_SATURATED:
        return f"{100 * row['saturated']:.0f} % of the elements are at the limits of {kind.name}, [{kind.low:.6g}, {kind.high:.6g}]; the reference reaches {row['largest']:.6g}"
    below = int((a < -2 * row["unit"]).sum())
    if b.size and b.min() >= 0 and below:
        return f"{below} of {a.size} elements are negative, the reference has none: is an activation missing?"
    square = float(np.dot(b, b))
    if square > 0:
        factor = float(np.dot(a, b)) / square
        rest = float(np.linalg.norm(a - factor * b))
        if abs(factor - 1) > 0.03 and rest < 0.1 * float(np.linalg.norm(a - b)):
            return f"it is {factor:.4g} times the reference: is a scale wrong?"
    return ""


def _compare_rows(stage, rows, references, folder, margin, left_out):
    """Fills the rows; how many were compared."""
    states, running, matched = {}, np.zeros(2), 0
    for tensor in stage.inputs:
        kind = _Type(tensor["type"], 1 / tensor["scale"] if tensor["scale"] else 1.0, tensor["zero_point"])
        states[tensor["name"]] = kind.explains(None, None) if kind.is_integer and tensor["scale"] != 1 else np.zeros(2)
    outputs = {tensor["name"] for tensor in stage.outputs}
    for row in rows:
        kind = row["type"]
        reads = [states[name] for name in row["operands"] if name in states]
        # Constants are exact; a map without operands leaves what came before.
        before = np.max(reads, axis=0) if reads else np.zeros(2) if row["operands"] else running
        row["reference"], want = _find(row["name"], references)
        row["verdict"], row["note"] = "not compared", ""
        own = (kind or _Type("si8")).explains(None, None)  # of an unknown type no more is expected than of bytes
        if want is not None:
            flat = want.astype(np.float64).reshape(-1)
            finite = flat[np.isfinite(flat)]
            if kind and kind.is_integer and finite.size and kind.scale != 1:
                own = kind.explains(float(np.abs(finite).max()), float(np.sqrt(np.mean(finite * finite))))
        states[row["name"]] = before if row["operation"] in _COPIES else np.sqrt(before * before + own * own)
        file = folder / _file_of(row["name"])
        if row["hidden"] or not os.path.isfile(file):  # also where the name is too long for a file
            row["note"] = "nothing of it lies in global memory" if row["hidden"] or stage.cores == 1 else "only outputs of a network on several cores are kept"
            if left_out:
                row["note"] += ", or a part that it needs is left out"
            continue
        stored = np.load(file, allow_pickle=False)
        row["shape"] = list(stored.shape)
        if row.get("no_scale"):
            row["note"] = "the map has no scale of it"
            continue
        if want is None:
            row["note"] = "the reference has no tensor of this name"
            continue
        if not _same_elements(stored.shape, want.shape):
            transposed = _count(stored.shape) == _count(want.shape)
            if row["name"] in outputs and not transposed:
                raise UsageError(f"the reference's array \"{row['reference']}\" has shape {list(want.shape)}, output \"{row['name']}\" has {list(stored.shape)}.")
            row["note"] = f"the reference has shape {list(want.shape)}" + (", the same extents in another order" if transposed else "")
            continue
        matched += 1
        states[row["name"]] = _measure(row, kind.decode(stored).reshape(-1), flat, before, margin, bool(stage.layers))
        running = np.maximum(running, states[row["name"]])
    return matched


def compare(file, *, onnx=None, npz=None, input=None, map=None, network=None, stage=0, seed=1, margin=_MARGIN, layers=None, arguments=(), program=None):
    """Compares the layers of a compiled network with a float model: `onnx`, a model that onnxruntime runs, or `npz`, a NumPy file with tensors by name.

    `input` is a file with the inputs (.npz or .npy); without it they are those of `npz`, else random from `seed`. `map` is the compiler's map of
    tensors (tensor_location.json) where the file holds none; one that lies beside the file is found. `layers` is a folder that keeps every tensor,
    `arguments` are further options of `softtpu bmodel run`.

    Returns a dictionary as `softtpu bmodel compare --json` writes it: `first` is the first layer that leaves the reference by more than its type and
    what it reads explain (None: none does), `first_not_finite` the first with a NaN or an infinity, `layers` has a dictionary for each layer in the order
    of the map: `name`, `operation`, `type`, `scale`, `zero_point`, `reference`, `verdict` ("explained", "leaves", "follows", "not compared"), `cosine`, `max_error`,
    `units` (the same in steps of the type), `relative_error` and `explained` (both root of the mean square), `share` (of what is allowed), `nan`, `infinite`,
    `saturated`, `note`. `complete` is False where --static-parts left out what outputs need.
    """
    if (onnx is None) == (npz is None):
        raise UsageError("compare needs one of onnx and npz.")
    if not (math.isfinite(margin) and margin > 0):
        raise UsageError(f"--margin is {margin:g}; it is a number above 0.")
    for option, number in (("--stage", stage), ("--seed", seed)):
        if number < 0:
            raise UsageError(f"{option} is {number}; it is 0 or more.")
    path, source = pathlib.Path(file), pathlib.Path(onnx if onnx is not None else npz)
    program = program or _native.program()
    if not source.is_file():
        raise UsageError(f"{source}: no such file.")
    of = _Stage(program, path, network, stage, pathlib.Path(map) if map else None)
    rows = of.rows()
    references = _Arrays(source, "--npz") if onnx is None else None
    if input is not None:
        inputs = _inputs(of, _Arrays(pathlib.Path(input), "--input"), ("--input", input), seed)
    else:
        inputs = _inputs(of, references, ("--npz", npz), seed)
    if references is None:
        references = _run_onnx(source, of, inputs)
    if not any(_find_name(row["name"], references) is not None for row in rows):
        raise UsageError(f"{source} does not match {path}: none of its {len(references)} tensors has the name of a layer or an output "
                         f"({', '.join(row['name'] for row in rows[-3:])}).")
    with temporary_folder("softtpu-compare-") as folder:
        kept = pathlib.Path(layers) if layers else folder / "layers"
        status, printed = _run(program, path, of, inputs, folder, {"layers": kept, "words": list(arguments)})
        # Without a missing part, outputs that need it are not made; the others and the layers before are.
        complete = status != _FAILED or "--static-parts" not in arguments or not any(kept.glob("*.npy"))
        if complete and status not in (_DONE, _FINDINGS):
            failure = Error(f"{path}: network {of.network} did not run (status {status}).")
            failure.exit_status = status
            raise failure
        matched = _compare_rows(of, rows, references, kept, margin, "--static-parts" in arguments)
    if not matched:
        raise UsageError(f"{source} does not match {path}: no tensor of its names and shapes lies in global memory.")
    leaving = [row for row in rows if row["verdict"] == "leaves"]
    not_finite = [row for row in rows if row.get("nan") or row.get("infinite")]
    shown = [{**row, "type": row["type"].name if row["type"] else None, "scale": row["type"].scale if row["type"] and row["type"].is_integer else None,
              "zero_point": row["type"].zero_point if row["type"] and row["type"].is_integer else None}
             for row in rows if not (row["hidden"] and row["operation"] in _COPIES)]
    return {"format": "softtpu-compare", "version": 1, "file": str(path), "network": of.network, "stage": stage, "chip": of.chip, "reference": str(source),
            "has_map": bool(of.layers), "map_file": str(of.map_file) if of.map_file else None, "map_fault": of.map_fault, "margin": margin,
            "first": leaving[0]["name"] if leaving else None, "first_not_finite": not_finite[0]["name"] if not_finite else None,
            "findings": status == _FINDINGS, "complete": complete, "run": printed.strip(), "layers": shown}


# ---- what is shown ----


def _safe(text):
    return "".join(letter if letter.isprintable() else f"\\x{ord(letter):02x}" for letter in str(text))


def _type_text(row):
    if row["scale"] is None or (row["scale"] == 1 and not row["zero_point"]):
        return row["type"] or "?"
    return f"{row['type']} x {row['scale']:.4g}" + (f", zero {row['zero_point']}" if row["zero_point"] else "")


def _no_map_text(result):
    if result["has_map"]:
        return ""
    why = f"cannot be read ({result['map_fault']})" if result["map_fault"] else "is missing"
    return (f"The file's map of tensors {why}: compared are outputs and what parts hand to each other, by a cosine of {_LEAST_COSINE} and an error of "
            f"{100 * _MOST_RELATIVE:.0f} % of the largest value. --map takes the tensor_location.json that the compiler writes beside the file.")


def _verdict_texts(result):
    lines = []
    for row in result["layers"]:
        if row["name"] == result["first"]:
            title = f"{row['name']} ({row['operation']})" if row["operation"] else row["name"]
            lines.append(f"first layer that leaves the reference: {title}" + (f": {row['note']}" if row["note"] else ""))
        if row["name"] == result["first_not_finite"]:
            lines.append(f"a NaN or an infinity first came up in {row['name']}")
    compared = sum(row["verdict"] != "not compared" for row in result["layers"])
    later = sum(row["verdict"] == "leaves" for row in result["layers"]) - 1
    if result["first"] is None:
        lines.append(f"no layer leaves the reference ({compared} of {len(result['layers'])} compared)")
    elif later > 0:
        lines.append(f"{later} more behind it leave it by more than what they read explains")
    return lines


def to_text(result):
    """What `compare` has found, as a table."""
    lines = [f"{result['network']}: layers beside {result['reference']}"]
    lines += [_no_map_text(result)] if not result["has_map"] else []
    head = ["layer", "operation", "type", "cosine", "largest error", "in units", "of what is explained", ""]
    table = [head]
    for row in result["layers"]:
        if row["verdict"] == "not compared":
            table.append([row["name"], row["operation"], _type_text(row), "-", "-", "-", "-", f"not compared: {row['note']}"])
            continue
        mark = {"leaves": "LEAVES ", "follows": "not finite either", "explained": ""}[row["verdict"]] + row["note"]
        table.append([row["name"], row["operation"], _type_text(row), f"{row['cosine']:.6f}", f"{row['max_error']:.4g}", f"{row['units']:.3g}",
                      f"{row['share']:.2f}", mark])
    table = [[_safe(cell) for cell in row] for row in table]
    widths = [max(len(row[i]) for row in table) for i in range(len(head))]
    for row in table:
        cells = [cell.ljust(width) if i < 3 or i == 7 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join([*map(_safe, lines[:1]), *lines[1:], *map(_safe, _verdict_texts(result))])


_STYLE = """:root { color-scheme: light dark; --ink: #1c2430; --soft: #5b6675; --line: #d5dbe3; --panel: #fff; --back: #f3f5f8; --alarm: #c62828; --steps: #4e79a7; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaf0; --soft: #a5afbd; --line: #3a4352; --panel: #1b212b; --back: #12161d; --alarm: #ff6b5e; --steps: #7fa6d2; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--ink); font: 14px/1.45 system-ui, "DejaVu Sans", sans-serif; }
header, main { width: min(1240px, 100%); margin: 0 auto; padding: 0 16px; }
h1 { font-size: 22px; margin: 18px 0 2px; overflow-wrap: anywhere; } h2 { font-size: 16px; margin: 0 0 6px; }
p { margin: 0 0 8px; overflow-wrap: anywhere; } .hint { color: var(--soft); } .alarm { color: var(--alarm); }
section { background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: 14px 16px; margin: 14px 0; overflow-x: auto; }
svg { display: block; width: 100%; height: auto; } svg text { font: 12px system-ui, "DejaVu Sans", sans-serif; fill: var(--soft); }
svg .grid { stroke: var(--line); } svg .error { fill: none; stroke: var(--steps); stroke-width: 2; } svg .limit { fill: none; stroke: var(--soft); stroke-dasharray: 4 3; }
svg circle { fill: var(--steps); } svg circle.leaves { fill: var(--alarm); }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
th, td { text-align: left; padding: 4px 8px; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; }
td.number, th.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; } tr.leaves td { color: var(--alarm); }"""
_LOWEST, _HIGHEST = -7, 1  # powers of ten of the plot


def _plot(rows):
    """Relative error and what is explained, over the layers: an SVG."""
    width, height, left, bottom, top = 1200, 320, 60, 24, 12
    step = (width - left - 20) / max(len(rows) - 1, 1)

    def place(i, value):
        power = _HIGHEST if not math.isfinite(value) else _LOWEST if value <= 0 else min(max(math.log10(value), _LOWEST), _HIGHEST)
        return left + 10 + i * step, top + (_HIGHEST - power) / (_HIGHEST - _LOWEST) * (height - top - bottom)
    parts = [f"<svg viewBox='0 0 {width} {height}' role='img' aria-label='relative error over the layers'>"]
    for power in range(_LOWEST, _HIGHEST + 1):
        y = place(0, 10.0**power)[1]
        parts.append(f"<line class='grid' x1='{left}' x2='{width - 10}' y1='{y:.1f}' y2='{y:.1f}'/><text x='4' y='{y + 4:.1f}'>{100 * 10.0**power:g} %</text>")
    for name, key in (("limit", "explained"), ("error", "relative_error")):
        points = " ".join("{:.1f},{:.1f}".format(*place(i, row[key])) for i, row in enumerate(rows))
        parts.append(f"<polyline class='{name}' points='{points}'/>")
    for i, row in enumerate(rows):
        odd = row["nan"] or row["infinite"]
        x, y = place(i, math.inf if odd else row["relative_error"])
        title = f"{row['name']}: {'not finite' if odd else format(100 * row['relative_error'], '.3g') + ' %'}, cosine {row['cosine']:.6f}"
        parts.append(f"<circle class='{row['verdict']}' cx='{x:.1f}' cy='{y:.1f}' r='{5 if row['verdict'] == 'leaves' else 3}'>"
                     f"<title>{html.escape(_safe(title))}</title></circle>")
    parts.append(f"<text x='{left + 10}' y='{height - 6}'>layers in the order of the map; solid: error (root of the mean square, of the reference's), "
                 "dashed: what is explained</text></svg>")
    return "".join(parts)


def to_html(result):
    """What `compare` has found, as a page with a plot over the layers. It needs no other file."""
    def text(value):
        return html.escape(_safe(value))
    compared = [row for row in result["layers"] if row["verdict"] != "not compared"]
    rows = []
    for row in result["layers"]:
        cells = [row["name"], row["operation"], _type_text(row)]
        numbers = [f"{row['cosine']:.6f}", f"{row['max_error']:.4g}", f"{row['units']:.3g}", f"{row['share']:.2f}"] if row in compared else ["-"] * 4
        rows.append(f"<tr class='{row['verdict'].replace(' ', '-')}'>" + "".join(f"<td>{text(cell)}</td>" for cell in cells) +
                    "".join(f"<td class='number'>{text(cell)}</td>" for cell in numbers) + f"<td>{text(row['verdict'])}{': ' if row['note'] else ''}{text(row['note'])}</td></tr>")
    head = "".join(f"<th>{name}</th>" for name in ("layer", "operation", "type")) + \
        "".join(f"<th class='number'>{name}</th>" for name in ("cosine", "largest error", "in units", "of what is explained")) + "<th></th>"
    verdicts = "".join(f"<p{' class=alarm' if result['first'] else ''}>{text(line)}</p>" for line in _verdict_texts(result))
    return (f"<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'><meta name='viewport' content='width=device-width'><title>{text(result['network'])}: layers"
            f"</title><style>{_STYLE}</style></head><body><header><h1>{text(result['network'])}</h1><p class='hint'>{text(result['file'])}, {text(result['chip'])}, beside "
            f"{text(result['reference'])}</p></header><main><section><h2>Result</h2>{verdicts}<p class='hint'>{text(_no_map_text(result))}</p></section>"
            f"<section><h2>Error over the layers</h2>{_plot(compared)}</section><section><h2>Layers</h2><table><tr>{head}</tr>{''.join(rows)}</table></section></main></body></html>\n")


def _parser():
    parser = argparse.ArgumentParser(prog="softtpu bmodel compare", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="Exit status: 0; 1 when the network failed or a layer leaves the reference; 2 when a file or an option is not usable; 3 when an "
                                            "output file cannot be written; 120 to 124 as of \"softtpu run\".")
    parser.add_argument("file", help="a compiled network (.bmodel)")
    reference = parser.add_mutually_exclusive_group(required=True)
    reference.add_argument("--onnx", metavar="MODEL", help="the float model (.onnx), which onnxruntime runs")
    reference.add_argument("--npz", metavar="REFERENCE", help="what the layers should be, by their names (.npz)")
    parser.add_argument("--input", help="file with the inputs (.npz, .npy); default: those of --npz, or random ones")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random inputs")
    parser.add_argument("--network", help="name of the network, if the file holds several")
    parser.add_argument("--stage", type=int, default=0, help="number of the stage, if the network has several")
    parser.add_argument("--map", metavar="FILE", help="the compiler's map of tensors beside the file (tensor_location.json)")
    parser.add_argument("--margin", type=float, default=_MARGIN, help="how many times what the types explain an error may be (default: %(default)s)")
    parser.add_argument("--dump-layers", metavar="DIR", help="folder that keeps every tensor (.npy)")
    parser.add_argument("--static-parts", action="store_true", help="run a network although some of its parts cannot run")
    parser.add_argument("--report", action="append", default=[], help="as of `softtpu run`")
    parser.add_argument("--json", metavar="FILE", help="file for the comparison (JSON)")
    parser.add_argument("--page", metavar="FILE", help="file for a page with a plot over the layers (HTML)")
    parser.add_argument("--program", help=argparse.SUPPRESS)  # the softtpu that has started this
    return parser


def _end_by_signal(number, _):
    """Ends what runs, and removes what was made for it, before this process."""
    raise SystemExit(128 + number)


def main(arguments=None):
    options = _parser().parse_args(arguments)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _end_by_signal)
    passed = [word for report in options.report for word in ("--report", report)] + (["--static-parts"] if options.static_parts else [])
    try:
        for path in filter(None, (options.json, options.page)):
            with open(path, "ab"):
                pass
    except OSError as problem:
        print(f"softtpu: {_safe(problem)}", file=sys.stderr)
        return _NOT_WRITTEN
    try:
        result = compare(options.file, onnx=options.onnx, npz=options.npz, input=options.input, map=options.map, network=options.network, stage=options.stage,
                         seed=options.seed, margin=options.margin, layers=options.dump_layers, arguments=passed, program=options.program)
    except Error as problem:
        print(f"softtpu: {_safe(problem)}", file=sys.stderr)
        return _USAGE if isinstance(problem, UsageError) else getattr(problem, "exit_status", _FAILED)
    except KeyboardInterrupt:
        return 130
    print(to_text(result))
    try:
        if options.json:
            pathlib.Path(options.json).write_text(to_json(result) + "\n")
        if options.page:
            pathlib.Path(options.page).write_text(to_html(result))
    except OSError as problem:
        print(f"softtpu: {_safe(problem)}", file=sys.stderr)
        return _NOT_WRITTEN
    return _FAILED if result["first"] is not None or not result["complete"] else _FINDINGS if result["findings"] else _DONE


if __name__ == "__main__":
    sys.exit(main())
