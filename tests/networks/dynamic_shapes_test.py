#!/usr/bin/env python3
"""Dynamic networks in shapes that are not recorded: beside plain references, and rows together beside each row alone."""
import struct

import numpy as np

import dynamic_files

NETWORKS = dynamic_files.RECORDED
# As recorded, a single row of f32 is summed in two halves; and rows that are steps of a sequence depend on each other.
BY_ROWS = {"cnn_small_F32", "lstm_F32"}


def inputs_of(model, rng, rows):
    """Random operands of the greatest shapes, with so many rows where all inputs have as many."""
    made = {}
    for tensor in model.inputs():
        shape = (rows, *tensor.shapes[0][1:])
        made[tensor.name] = rng.uniform(-2, 2, shape).astype(np.float32) if tensor.dtype == "float32" else rng.integers(0, 9, shape).astype(tensor.dtype)
    return made


def largest(device, rng):
    """Top-k and the index of the largest, against numpy."""
    with device.load_model(NETWORKS / "topk_F16.bmodel") as model:
        for rows, columns in ((1, 5), (2, 6), (3, 299), *((int(rng.integers(1, 4)), int(rng.integers(5, 301))) for _ in range(20))):
            x = rng.permutation(rows * columns).reshape(rows, columns).astype(np.float32)
            values, indices = (model(x)[tensor.name] for tensor in model.outputs())
            order = np.argsort(-x, 1, kind="stable")[:, :5]
            np.testing.assert_array_equal(indices, order)
            np.testing.assert_array_equal(values, np.take_along_axis(x, order, 1))
    with device.load_model(NETWORKS / "argmax_F32.bmodel") as model:
        most = model.inputs()[0].shapes[0]
        for _ in range(20):
            shape = [int(rng.integers(1, extent + 1)) for extent in most]
            x = rng.permutation(int(np.prod(shape))).reshape(shape).astype(np.float32)
            found = model(x)[model.outputs()[0].name]
            np.testing.assert_array_equal(found.reshape(-1), x.reshape(-1, shape[-1]).argmax(1))


def blocks(device, rng):
    """Depth to space, and space to depth of tiles, against NumPy."""
    with device.load_model(NETWORKS / "depth2space_F32.bmodel") as model:
        most = model.inputs()[0].shapes[0]
        for channels, height, width in ((4, 1, 1), most[1:], *((4 * int(rng.integers(1, 5)), int(rng.integers(1, 7)), int(rng.integers(1, 6))) for _ in range(10))):
            x = rng.standard_normal((1, channels, height, width)).astype(np.float32)
            wide, deep = (model(x)[tensor.name] for tensor in model.outputs())
            np.testing.assert_array_equal(wide, x.reshape(2, 2, channels // 4, height, width).transpose(2, 3, 0, 4, 1).reshape(wide.shape))
            tiles = np.tile(x, (1, 1, 2, 2)).reshape(channels, height, 2, width, 2)
            np.testing.assert_array_equal(deep, tiles.transpose(2, 4, 0, 1, 3).reshape(deep.shape))


def doubled(x, axis):
    """Between two elements lie two, a quarter and three quarters of the way; the ends stay."""
    x = np.moveaxis(x, axis, 0)
    difference = x[1:] - x[:-1]
    made = np.repeat(x, 2, 0)
    made[1:-1:2], made[2:-1:2] = (x[:-1] + difference * x.dtype.type(way) for way in (0.25, 0.75))
    return np.moveaxis(made, 0, axis)


def resized(device, rng, flatc):
    """To twice the size, against NumPy: the list of a network for other shapes."""
    for shape in ((1, 5, 2, 2), (1, 100, 2, 2), (3, 5, 5, 5), (1, 1, 2, 200), (1, 1, 200, 2), (1, 2, 20, 10), (1, 1, 17, 23)):
        result = (*shape[:2], 2 * shape[2], 2 * shape[3])
        words = [struct.pack("<4i", *some) for some in ((1, 5, 18, 18), result)]
        file = dynamic_files.recorded(flatc, "resize_F16", {(1, 5, 9, 9): shape, (1, 5, 18, 18): result}, 8, [words])
        x = rng.standard_normal(shape).astype(np.float32)
        half = x.astype(np.float16)
        for values, expected in zip(dynamic_files.run(device, file, x), (half.repeat(2, 2).repeat(2, 3), doubled(doubled(half, 2), 3))):
            dynamic_files.same(values, expected.astype(np.float32), f"resize of {shape}")


def rows_alone(device, rng):
    checked = []
    for path in sorted(NETWORKS.glob("*.bmodel")):
        if not path.with_suffix(".json").exists():
            continue
        with device.load_model(path) as model:
            counts = {tensor.shapes[0][0] for tensor in model.inputs()}
            if len(counts) != 1 or counts == {1} or path.stem in BY_ROWS or any(tensor.shapes[0][0] not in counts for tensor in model.outputs()):
                continue
            rows = counts.pop()
            given = inputs_of(model, rng, rows)
            whole = model(given)
            for row in range(rows):
                alone = model({name: values[row:row + 1] for name, values in given.items()})
                for name, values in alone.items():
                    assert values.tobytes() == whole[name][row:row + 1].tobytes(), f"{path.stem}: row {row} of {name} has other bits alone"
            checked.append(path.stem)
    return checked


def main():
    options = dynamic_files.arguments(__doc__).parse_args()
    import softtpu
    rng = np.random.default_rng(options.seed)
    with softtpu.Device() as device:
        largest(device, rng)
        blocks(device, rng)
        resized(device, rng, options.flatc)
        checked = rows_alone(device, rng)
    print(f"{len(checked)} networks give each row the same bits alone: {' '.join(checked)}")
    assert len(checked) >= 17


if __name__ == "__main__":
    main()
