#!/usr/bin/env python3
"""Layers for the host's processor with random operands beside plain references of ONNX's operators (onnx_reference.py), and beside onnxruntime
where it is installed; it judges the references as well. Those whose operator ONNX has."""
import argparse
import importlib.util
import os
import pathlib
import struct
import sys
import tempfile

import numpy as np

import onnx_reference

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
OPSET = 18


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cases(rng):
    """Name, number, record, operands by name, ONNX operator with its operands and attributes, greatest error."""
    x = rng.standard_normal((3, 5, 7)).astype(np.float32)
    image = rng.standard_normal((2, 3, 9, 11)).astype(np.float32)
    for axis in (0, 1, -1):
        rows = rng.integers(-3, 3, (2, 4)).astype(np.int32)
        yield f"gather{axis}", 9, struct.pack("<i", axis), {"x": x, "i": rows}, "Gather", "x i", {"axis": axis}, 0
        for largest in (0, 1):
            yield (f"topk{axis}{largest}", 17, struct.pack("<2i3Bx", 3, axis, 1, largest, 0), {"x": x}, "TopK", ["x", np.array([3], np.int64)],
                   {"axis": axis, "largest": largest}, 0)
    yield "gathernd0", 12, struct.pack("<2i", 1, 0), {"x": x, "i": rng.integers(-3, 3, (4, 2)).astype(np.int32)}, "GatherND", "x i", {}, 0
    yield ("gathernd1", 12, struct.pack("<2i", 1, 1), {"x": x, "i": rng.integers(-5, 5, (3, 2, 1)).astype(np.int32)}, "GatherND", "x i",
           {"batch_dims": 1}, 0)
    yield ("reverse", 53, struct.pack("<2i", 0, 1), {"x": x, "i": rng.integers(1, 4, 5).astype(np.int32)}, "ReverseSequence", "x i",
           {"time_axis": 0, "batch_axis": 1}, 0)
    places = rng.permutation(15)[:6]
    pairs = np.stack([places // 5, places % 5], 1).astype(np.int32)
    for number, reduction in ((0, "none"), (1, "add"), (3, "max"), (4, "min"), (5, "mul")):
        yield (f"scatter{number}", 56, struct.pack("<2i", 0, number), {"x": x, "i": pairs, "u": rng.standard_normal((6, 7)).astype(np.float32)},
               "ScatterND", "x i u", {"reduction": reduction}, 0)
    for center in (0, 1):
        corners = rng.random((2, 20, 4)).astype(np.float32)
        scores = rng.random((2, 3, 20)).astype(np.float32)
        limits = {"m": np.array([5], np.int32), "t": np.array([0.3], np.float32), "s": np.array([0.2], np.float32)}
        yield (f"nms{center}", 46, struct.pack("<2i", center, 5), {"b": corners, "c": scores, **limits}, "NonMaxSuppression",
               ["b", "c", np.array([5], np.int64), "t", "s"], {"center_point_box": center}, 0)
    grid = (rng.random((2, 6, 5, 2)) * 3 - 1.5).astype(np.float32)
    for mode, padding, aligned in ((m, p, a) for m in (0, 1) for p in (0, 1, 2) for a in (0, 1)):
        yield (f"grid{mode}{padding}{aligned}", 40, struct.pack("<2iB3x", mode, padding, aligned), {"x": image, "g": grid}, "GridSample", "x g",
               {"mode": ("bilinear", "nearest")[mode], "padding_mode": ("zeros", "border", "reflection")[padding], "align_corners": aligned}, 2e-6)
    boxes = np.sort(rng.random((6, 2, 2)) * 10, axis=1).reshape(6, 4).astype(np.float32)
    batch = rng.integers(0, 2, 6)
    rois = np.concatenate([batch[:, None].astype(np.float32), boxes], 1).astype(np.float32)
    for aligned, ratio in ((0, 2), (1, 2), (0, 0), (1, 0)):
        attributes = {"output_height": 3, "output_width": 4, "sampling_ratio": ratio, "spatial_scale": 0.8,
                      "coordinate_transformation_mode": ("output_half_pixel", "half_pixel")[aligned]}
        yield (f"align{aligned}{ratio}", 38, struct.pack("<2ifiB3x", 3, 4, 0.8, ratio, aligned), {"x": image, "r": rois}, "RoiAlign",
               ["x", boxes, batch], attributes, 2e-6)
    yield ("roipool", 4, struct.pack("<2if", 3, 4, 0.8), {"x": image, "r": rois}, "MaxRoiPool", "x r",
           {"pooled_shape": [3, 4], "spatial_scale": 0.8}, 0)
    for method, mode in ((0, "linear"), (1, "nearest")):
        for aligned, half in ((0, 0), (1, 0), (0, 1)):
            kind = ("align_corners" if aligned else "half_pixel" if half else "asymmetric")
            # Centres of two pixels are the upper one for TensorFlow, which ONNX calls so; the rest goes down.
            nearest = "round_prefer_ceil" if aligned or half else "floor"
            attributes = {"mode": mode, "coordinate_transformation_mode": kind, **({"nearest_mode": nearest} if method else {})}
            yield (f"resize{method}{aligned}{half}", 18, struct.pack("<7i", aligned, half, method, 0, 0, 13, 8), {"x": image}, "Resize",
                   ["x", None, None, np.array([2, 3, 13, 8], np.int64)], attributes, 2e-6)
    for number, operator in enumerate(("Sin", "Cos", None, "Ceil", "Floor", "Round")):
        if operator:
            yield operator, 23, struct.pack("<i", number), {"x": x * 3}, operator, "x", {}, 2e-7


def plain_reference(operator, operands, inputs, attributes):
    return onnx_reference.OPERATORS[operator](*(operands[one] if isinstance(one, str) else one for one in inputs), **attributes)


def reference_of_onnxruntime(name, operator, operands, inputs, attributes):
    import onnx
    import onnxruntime
    values, names = {}, []
    for i, one in enumerate(inputs):
        names.append(one if isinstance(one, str) else "" if one is None else f"constant{i}")
        if one is not None:
            value = operands[one] if isinstance(one, str) else one
            values[names[-1]] = value.astype(np.int64) if value.dtype == np.int32 else value
    used = values
    counts = {"TopK": 2}
    outputs = [f"y{i}" for i in range(counts.get(operator, 1))]
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node(operator, names, outputs, **attributes)], name,
        [onnx.helper.make_tensor_value_info(key, onnx.helper.np_dtype_to_tensor_dtype(value.dtype), value.shape) for key, value in used.items()],
        [onnx.helper.make_empty_tensor_value_info(one) for one in outputs])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", OPSET)], ir_version=9)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, used)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--flatc", default="flatc")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    has_onnxruntime = all(importlib.util.find_spec(name) is not None for name in ("onnx", "onnxruntime"))
    os.environ["SOFTTPU_PREFIX"] = str(options.build)
    sys.path.insert(0, str(ROOT / "python"))
    import softtpu
    make = load(ROOT / "tests/host/make_networks.py")
    kinds = {"float32": "f32", "int32": "i32"}
    failed = count = 0
    with tempfile.TemporaryDirectory() as folder, softtpu.Device() as device:
        place = argparse.Namespace(flatc=options.flatc, schema=ROOT / "runtime/bmodel/model.fbs", networks=ROOT / "tests/golden-networks",
                                   output=pathlib.Path(folder))
        for name, number, record, operands, operator, inputs, attributes, most in cases(np.random.default_rng(options.seed)):
            inputs = inputs.split() if isinstance(inputs, str) else inputs
            wanted = plain_reference(operator, operands, inputs, attributes)
            references = [("the reference", wanted)]
            if has_onnxruntime:
                references.append(("onnxruntime", reference_of_onnxruntime(name, operator, operands, inputs, attributes)))
            shapes = [list(one.shape) for one in wanted]
            if number == 46:
                shapes = [[60, 3]]
            make.host_network(place, name, number, record,
                              [make.tensor(key, kinds[str(value.dtype)], value.shape) for key, value in operands.items()],
                              [make.tensor(f"y{i}", "i32" if one.dtype == np.int64 else "f32", shape)
                               for i, (one, shape) in enumerate(zip(wanted, shapes))])
            with device.load_model(place.output / f"{name}.bmodel") as model:
                found = model(dict(operands))
            found = [found[f"y{i}"] for i in range(len(wanted))]
            pairs = [(of, found, other) for of, other in references] + [("onnxruntime, of the reference", wanted, other) for _, other in references[1:]]
            for of, ours, theirs in pairs:
                for i, (got, one) in enumerate(zip(ours, theirs)):
                    count += 1
                    error = np.abs(got.astype(np.float64) - one).max(initial=0) if got.shape == one.shape else np.inf
                    if not error <= most:
                        failed += 1
                        print(f"{name}, output {i}: shape {got.shape}, {of} {one.shape}, error {error}")
    print(f"{count} results compared{' with onnxruntime, too' if has_onnxruntime else ''}, {failed} differ")
    sys.exit(1 if failed or count < 50 else 0)


if __name__ == "__main__":
    main()
