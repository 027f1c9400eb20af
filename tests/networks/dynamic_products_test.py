#!/usr/bin/env python3
"""Layers of dynamic networks that multiply and add, bit for bit beside plain NumPy: each layer alone, from its smallest to its greatest sizes, most of
which no recording has. Operands are such that sums are exact and softmax takes one element; what is rounded is rounded here as well."""
import sys

import numpy as np

import dynamic_files

types = None  # softtpu.types


# ---- Numbers ----

def small(rng, shape, most=3):
    """Whole numbers, half of them 0, so that sums of many stay exact in every type."""
    return (rng.integers(-most, most + 1, shape) * rng.integers(0, 2, shape)).astype(np.float32)


def stored(values, kind):
    """Bits of elements."""
    return types.encode(np.asarray(values, np.float32), kind) if kind == "bfloat16" else np.asarray(values).astype(kind)


def rounded(values, kind):
    """The nearest numbers of a type, as f32 or whole numbers."""
    if kind == "bfloat16":
        return types.decode(types.encode(np.asarray(values, np.float32), kind), kind)
    return np.asarray(values).astype(kind)


def scaled(sums, multiplier, shift, kind, half_up=False):
    """Whole numbers times multiplier / 2^shift, halves away from 0 or up, as far as the type reaches."""
    product = np.asarray(sums, np.int64) * multiplier
    half = np.int64(1) << (shift - 1)
    away = np.sign(product) * (np.abs(product) + half >> shift)
    limits = np.iinfo(kind)
    return np.clip(product + half >> shift if half_up else away, limits.min, limits.max).astype(kind)


def convolved(x, weights, stride, dilation, pads, groups=1):
    """x: n, c, spatial ...; weights: out, in of a group, spatial ...; pads: before and behind for each spatial dimension."""
    x = np.pad(x.astype(np.float64), [(0, 0), (0, 0), *pads])
    axes = tuple(range(2, x.ndim))
    spans = [step * (extent - 1) + 1 for extent, step in zip(weights.shape[2:], dilation)]
    windows = np.lib.stride_tricks.sliding_window_view(x, spans, axes)
    windows = windows[(slice(None), slice(None), *(slice(None, None, step) for step in stride), *(slice(None, None, step) for step in dilation))]
    outs, ins = weights.shape[0] // groups, weights.shape[1]
    letters = "hwd"[:len(axes)]
    kernels = letters.upper()
    parts = [np.einsum(f"nc{letters}{kernels},oc{kernels}->no{letters}", windows[:, g * ins:(g + 1) * ins],
                       weights[g * outs:(g + 1) * outs].astype(np.float64), optimize=True) for g in range(groups)]
    return np.concatenate(parts, 1)


class Tensor:
    """An input or the output: `kind` of elements and greatest shape."""

    def __init__(self, kind, shape):
        self.kind, self.shape = kind, tuple(shape)


class Constant(Tensor):
    """`data`: its bytes."""

    def __init__(self, kind, shape, data):
        super().__init__(kind, shape)
        self.data = data


def file_of(flatc, layer, words, operands, output, work=None, work_bytes=0x8000, buffer=None, rows=0):
    """A network of one layer. work: the word of its parameters with the address of work memory; the layer then lies in local memory, in slices of
    so many rows, as it does where work is False. buffer: the word with the address of one in device memory."""
    network = dynamic_files.Network(flatc)
    made = [network.constant(one.kind, np.frombuffer(one.data, f"u{dynamic_files.SIZES[one.kind]}").reshape(one.shape))
            if isinstance(one, Constant) else network.input(one.kind, one.shape) for one in operands]
    result = output.kind, output.shape

    def parameters(at_work=0):
        placed = [*words]
        if work is not None and work is not False:
            placed[work] = at_work
        data = dynamic_files.words(*placed)
        return data if buffer is None else data[:4 * buffer] + dynamic_files.words(network.room(dynamic_files.PAGE)) + data[4 * buffer + 8:]
    if work is None:
        network.output(*network.layer(layer, made, [result], parameters()))
    else:
        network.output(network.local([(layer, made, result, parameters, 0 if work is False else work_bytes)], rows))
    return network.file()


class Signs:
    """Results that are 0 or far from it: all above 0 are one number, near 1, and so are all below 0."""

    levels = {}

    def __init__(self, values):
        self.values = values

    def match(self, found):
        for sign in (-1, 1):
            for number in np.unique(found[np.sign(found) == sign]):
                if self.levels.setdefault(sign, number) != number or round(float(number)) != sign:
                    return False
        return found.shape == self.values.shape and (np.sign(found) == self.values).all()


# ---- Cases: name, what File.add takes, and runs of (inputs, what is wanted or the text of a refusal) ----

def products(rng):
    fully = [0, 1, 0, -1.0, 0, 0, 0, 0, 0, -1] + [0] * 10
    batched = [0, 0, 0, 0, 0, 0, 0, -1.0, -1] + [0] * 6
    depths = [1, 2, 15, 16, 17, 63, 64, 65, 95, 96]

    for kind in ("float32", "float16", "bfloat16"):
        sizes = [(1, 384, 16), (1, 384, 1), (2, 400, 256), (64, 400, 256), (64, 97, 255), (2, 399, 129), (1, 96, 256), (200, 65, 40)] + [
            (int(rng.choice([1, 2, 3, 8, 16, 33, 63, 64])), int(rng.choice(depths + [97, 128, 300, 400])), int(rng.choice([1, 7, 16, 17, 64, 127, 256])))
            for _ in range(12)]
        for number, (rows, depth, columns) in enumerate(sizes):
            with_bias = number % 3 != 2
            weights, bias = small(rng, (depth, columns)), small(rng, columns, 9)
            operands = [Tensor(kind, (rows, depth)), Constant(kind, weights.shape, stored(weights, kind).tobytes())]
            if with_bias:
                operands.append(Constant(kind, (1, 1, 1, columns), stored(bias, kind).tobytes()))
            calls = []
            for some in sorted({1, 2, (rows + 1) // 2, min(rows, 64), rows} & set(range(rows + 1))):
                x = small(rng, (some, depth))
                if some > 64:
                    calls.append(((x,), "fully connected (3): a product of this size"))
                    continue
                if kind == "float32" and some == 1 and depth > 96 and (depth != 384 or columns > 16):
                    calls.append(((x,), "fully connected (3): a row of this length"))
                    continue
                wanted = rounded(x.astype(np.float64) @ weights, kind)
                calls.append(((x,), rounded(wanted.astype(np.float32) + bias, kind) if with_bias else wanted))
            yield f"fully_connected {kind} {rows}x{depth}x{columns}", (3, [0, int(with_bias), *fully[2:]], operands, Tensor(kind, (rows, columns))), {}, calls
    for left, result in (("int8", "int8"), ("uint8", "int8"), ("int8", "uint8"), ("uint8", "uint8")):
        for rows, depth, columns in [(64, 400, 256), (1, 1, 1), (7, 65, 33), (33, 399, 255), (63, 129, 65)]:
            lowest = 0 if left == "uint8" else -20
            weights, bias = rng.integers(-20, 20, (depth, columns)).astype(np.int8), rng.integers(-1000, 1000, columns).astype(np.int32)
            words = [0, 1, int(result == "uint8"), -1.0, 0, 1, 0, 1, 0, 2, 1234567, -24] + [0] * 8
            operands = [Tensor(left, (rows, depth)), Constant("int8", weights.shape, weights.tobytes()), Constant("int32", (1, columns), bias.tobytes())]
            calls = []
            for some in sorted({1, (rows + 1) // 2, rows}):
                x = rng.integers(lowest, 20, (some, depth)).astype(left)
                calls.append(((x,), scaled(x.astype(np.int64) @ weights + bias, 1234567, 24, result)))
            yield f"fully_connected {left} {result} {rows}x{depth}x{columns}", (3, words, operands, Tensor(result, (rows, columns))), {}, calls
    for kind in ("float32", "float16", "bfloat16", "int8"):
        code = {"float32": 0, "float16": 1, "bfloat16": 8, "int8": 2}[kind]
        deep = [1, 64, 97, 1024] if kind == "int8" else [1, 16, 33, 64, 96]
        sizes = [((3,), 64, deep[-1], 256), ((1,), 1, 1, 1), ((2, 100), 1, 5, 3), ((700,), 17, 31, 5), ((40,), 64, deep[-1], 256), ((2000,), 5, 9, 3), ((201,), 3, 96, 256), ((2,), 65, 7, 9)] + [
            (tuple(map(int, rng.choice([1, 2, 3, 5], int(rng.integers(0, 3))))), int(rng.choice([1, 5, 16, 63])), int(rng.choice(deep)),
             int(rng.choice([1, 15, 17, 64, 65, 200]))) for _ in range(8)]
        for number, (batch, rows, depth, columns) in enumerate(sizes):
            with_bias = kind != "float32" and number % 2 == 0
            bias = rng.integers(-9, 9, columns).astype(np.int32)
            words = [code, 0, 0, int(kind == "int8"), 0, 0, int(with_bias), -1.0, 2 if kind == "int8" else -1, 1234567 if kind == "int8" else 0,
                     -20 if kind == "int8" else 0, 0, 0, 0, 0]
            operands = [Tensor(kind, (*batch, rows, depth)), Tensor(kind, (*batch, depth, columns))]
            if with_bias:
                operands.append(Constant("int32" if kind == "int8" else kind, (1,) * len(batch) + (1, columns),
                                         bias.tobytes() if kind == "int8" else stored(bias, kind).tobytes()))
            calls = []
            for few in (1, 0):
                some = tuple(max(1, extent - few) for extent in batch)
                x, y = small(rng, (*some, max(1, rows - few), depth)), small(rng, (*some, depth, columns))
                if x.shape[-2] > 64 or depth > deep[-1] or columns > 256:
                    calls.append(((x, y), "batched product (65): a product of this size"))
                    continue
                sums = np.matmul(x.astype(np.float64), y)
                if kind == "int8":
                    wanted = scaled(sums + (bias if with_bias else 0), 1234567, 20, kind)
                    x, y = x.astype(kind), y.astype(kind)
                else:
                    wanted = rounded(sums, kind)
                    wanted = rounded(wanted.astype(np.float32) + bias, kind) if with_bias else wanted
                calls.append(((x, y), wanted))
            yield f"batched {kind} {batch} {rows}x{depth}x{columns}", (65, words, operands, Tensor(kind, (*batch, rows, columns))), {}, calls


def packed(rng):
    """4-bit weights: two in a byte, scales and zero points for 64 of a row."""
    kind = "bfloat16"
    for rows, depth, columns in [(64, 128, 4096), (64, 1024, 512), (1, 128, 64), (33, 512, 1024), (2, 896, 448), (5, 384, 1344), (63, 640, 768), (64, 256, 2048), (512, 128, 128)]:
        for with_bias in (0, 1):
            weights = rng.integers(0, 16, (columns, depth))
            each, groups = columns // dynamic_files.NPUS, depth // 64
            zeros, scales = rng.integers(0, 16, (dynamic_files.NPUS, each, groups)), np.exp2(rng.integers(-3, 2, (dynamic_files.NPUS, each, groups)))
            # Row c of the weights lies on NPU c % 64.
            of_rows = [one.transpose(1, 0, 2).reshape(columns, groups).repeat(64, 1) for one in (zeros, scales)]
            bias = small(rng, columns, 50)
            operands = [Tensor(kind, (1, rows, depth)), Constant("uint8", (columns, depth // 2), (weights[:, 0::2] | weights[:, 1::2] << 4).astype(np.uint8).tobytes()),
                        Constant(kind, scales.shape, stored(scales, kind).tobytes()), Constant("uint8", zeros.shape, zeros.astype(np.uint8).tobytes())]
            if with_bias:
                operands.append(Constant(kind, (1, 1, columns), stored(bias, kind).tobytes()))
            numbers = rounded((weights - of_rows[0]) * of_rows[1], kind).astype(np.float64)
            calls = []
            for some in sorted({1, 2, min(rows // 2 + 1, 64), rows} & set(range(rows + 1))):
                x = small(rng, (1, some, depth))
                if some > 64:
                    calls.append(((x,), f"product with 4- or 8-bit weights (155): a product of {some} x {depth} x {columns}"))
                    continue
                wanted = rounded(x.astype(np.float64) @ numbers.T, kind)
                calls.append(((x,), rounded(wanted + bias, kind) if with_bias else wanted))
            yield f"4-bit {rows}x{depth}x{columns}{' bias' * with_bias}", (155, [0x10100 | with_bias, 4, 1, 64, 0], operands, Tensor(kind, (1, rows, columns))), {}, calls


def windows(rng):
    """Convolutions with operands in device memory and in local memory."""
    def words(groups, ins, outs, kernel, stride, dilation, pads, bias, relu, limit, rounding=1, merged=0, count=35):
        all_words = [groups, ins, outs, *kernel, *stride, *dilation, *pads, bias, relu, limit, 0, rounding, 0, 1, 0, 1, 0, 1, merged, 1]
        return all_words + [0] * (count - len(all_words))

    def geometry():
        kernel = tuple(map(int, rng.choice([1, 2, 3, 5, 7, 11], 2)))
        stride, dilation = tuple(map(int, rng.choice([1, 1, 2, 3, 4, 15], 2))), tuple(map(int, rng.choice([1, 1, 1, 2, 3, 15], 2)))
        pads = tuple(int(rng.integers(0, rng.choice([k, 15]) + 1)) for k in np.repeat(kernel, 2))
        least = [d * (k - 1) + 1 for k, d in zip(kernel, dilation)]
        return kernel, stride, dilation, pads, least

    def finish(sums, relu, limit, kind):
        made = rounded(sums, kind)
        return np.minimum(np.maximum(made, 0), limit if limit > 0 else np.inf).astype(made.dtype) if relu else made

    def in_pairs(pads):
        return [(pads[0], pads[1]), (pads[2], pads[3])]

    for number in range(22):
        kernel, stride, dilation, pads, least = geometry()
        groups = int(rng.choice([1, 1, 2, 3, 5, 70]))
        ins, outs = groups * int(rng.choice([1, 2, 3, 65])) if groups < 70 else 70, groups * int(rng.choice([1, 2, 7, 67]))
        n, h, w = int(rng.choice([1, 2, 3])), least[0] + int(rng.integers(0, 12)), least[1] + int(rng.integers(0, 12))
        if number < 3:
            n, h, w = 3, max(h, 60 + 20 * number), max(w, 200)
        extreme = {3: (3, 5, 1, 12000), 4: (5000, 3, 2, 2), 5: (3, 5000, 2, 2), 6: (1, 1, 1, 28000)}
        if number in extreme:
            groups, kernel, dilation, pads, least, n = 1, (1, 1), (1, 1), (0, 0, 0, 0), (1, 1), 2
            ins, outs, h, w = extreme[number]
        # Planes that local memory does not hold.
        large = {7: (1, 3, 5, 224, 230), 8: (2, 2, 4, 600, 130), 9: (1, 65, 3, 150, 140), 10: (1, 1, 2, 70000, 3), 11: (1, 3, 3, 257, 300), 12: (2, 4, 130, 200, 120)}
        if number in large:
            groups, ins, outs, h, w = large[number]
            kernel = tuple(map(int, rng.integers(1, 4, 2)))
            least = [d * (k - 1) + 1 for k, d in zip(kernel, dilation)]
            pads = tuple(int(rng.integers(0, span)) for span in np.repeat(least, 2).clip(1, 16))
            n, h, w = 1, max(h, least[0]), max(w, least[1])
        relu, limit, with_bias = int(number % 2), 6.0 if number % 4 == 1 else -1.0, int(number % 3 != 0)
        weights, bias = small(rng, (outs, ins // groups, *kernel)), small(rng, outs, 9)
        operands = [Tensor("float32", (n, ins, h, w)), Constant("float32", (1, outs, ins // groups, kernel[0] * kernel[1]), weights.tobytes())]
        if with_bias:
            operands.append(Constant("float32", (1, outs, 1, 1), bias.tobytes()))
        calls = []
        for few in (0, 1):
            shape = (max(1, n - few), ins, max(least[0], h - few), max(least[1], w - 3 * few))
            x = small(rng, shape)
            sums = convolved(x, weights, stride, dilation, in_pairs(pads), groups) + (bias[:, None, None] if with_bias else 0)
            calls.append(((x,), finish(sums, relu, limit, "float32")))
        output = Tensor("float32", (n, outs, *calls[0][1].shape[2:]))
        yield f"convolution {number} {(n, ins, h, w)} {weights.shape} g{groups}", (0, words(groups, ins, outs, kernel, stride, dilation, pads, with_bias, relu, limit), operands, output), {}, calls

    for number in range(36):
        kernel, stride, dilation, pads, least = geometry()
        kind = ("float32", "float16", "bfloat16", "int8", "uint8")[number % 5]
        merged = int(rng.choice([0, 1, 3])) if kind != "float32" else 0
        depthwise = kind == "float32" and number % 2 == 0
        is_deep = number in (30, 31)
        if is_deep:
            kernel, dilation, pads, least, merged = (1, 1), (1, 1), (0, 0, 0, 0), (1, 1), 0
        taps = {0: 1, 1: kernel[0], 3: kernel[0] * kernel[1]}[merged]
        ins, outs = int(rng.choice([1, 2, 3, 20, 64, 70, 130])), int(rng.choice([1, 5, 64, 65, 129]))
        if merged:
            if taps > 64:
                merged, taps = 0, 1
            else:
                ins = int(rng.integers(1, 64 // taps + 1))
        if is_deep:
            ins, outs = 3000, 3
        while -(-outs // dynamic_files.NPUS) * ins * kernel[0] * kernel[1] * 4 > 0x10000:
            ins //= 2
        if depthwise:
            outs = ins
        is_byte = kind in ("int8", "uint8")
        if is_byte:
            outs = min(outs, 64)
        n, h, w = int(rng.choice([1, 2, 3])), least[0] + int(rng.integers(0, 12)), least[1] + int(rng.integers(0, 12))
        if is_deep:
            h = w = 3
        rounding = int(rng.integers(0, 2))
        relu, limit, with_bias = int(rng.integers(0, 2)), 6.0 if number % 4 == 1 and not is_byte else -1.0, 1 if is_byte else int(number % 3 != 0)
        weights, bias = small(rng, (outs, 1 if depthwise else ins, *kernel)), small(rng, outs, 9)
        # The kernel as the layer's command takes it: merged taps are channels.
        taken = weights.reshape(outs, -1, kernel[0] * kernel[1])
        if merged == 1:
            taken = weights.transpose(0, 1, 2, 3).reshape(outs, ins * kernel[0], kernel[1])
        if merged == 3:
            taken = weights.reshape(outs, ins * taps, 1)
        result = kind
        if is_byte:
            result = "uint8" if relu else str(rng.choice(["int8", "uint8"]))
            multiplier, shift, offset = rng.integers(1 << 20, 1 << 21, outs), rng.integers(20, 25, outs), rng.integers(0 if result == "uint8" else -9, 9, outs)
            block = 64
        else:
            block = 32
        if kind != "float32":
            blocks = -(-taken.shape[1] // block)
            padded = np.zeros((outs, blocks * block, taken.shape[2]), np.float32)
            padded[:, :taken.shape[1]] = taken
            taken = padded.reshape(outs, blocks, block, -1).transpose(0, 1, 3, 2)
        data = stored(taken.reshape(outs, -1), "int8" if is_byte else kind)
        if is_byte:
            head = np.zeros((outs, 16), np.int32)
            head[:, 0], head[:, 1], head[:, 2], head[:, 3] = multiplier, -shift, offset, bias
            data = np.concatenate([head.view(np.int8), data], 1)
        constants = [Constant("int8" if is_byte else kind, (1, outs, 1, data.shape[1]), data.tobytes())]
        if with_bias and not is_byte:
            constants.append(Constant("float32", (1, outs, 1, 1), bias.tobytes()))
        calls = []
        for few in (0, 1):
            shape = (max(1, n - few), ins, max(least[0], h - few), max(least[1], w - 3 * few))
            x = small(rng, shape)
            if kind == "uint8":
                x = np.abs(x)
            sums = convolved(x, weights, stride, dilation, in_pairs(pads), ins if depthwise else 1) + (bias[:, None, None] if with_bias else 0)
            if is_byte:
                product = sums.astype(np.int64) * multiplier[:, None, None]
                half = np.int64(1) << (shift - 1)[:, None, None]
                away = np.sign(product) * (np.abs(product) + half >> shift[:, None, None])
                limits = np.iinfo(result)
                wanted = np.clip((product + half >> shift[:, None, None] if rounding else away) + offset[:, None, None], limits.min, limits.max).astype(result)
                x = x.astype(kind)
            else:
                wanted = finish(sums, relu, limit, kind)
            calls.append(((x,), wanted))
        output = Tensor(result, (n, outs, *calls[0][1].shape[2:]))
        layer = words(ins if depthwise else 1, ins, outs, kernel, stride, dilation, pads, with_bias, relu, limit, rounding, 0x10 * bool(merged) | merged, 44)
        if is_byte:
            layer[39:41] = 1, 2
        yield (f"local convolution {number} {kind} {(n, ins, h, w)} {weights.shape} merged {merged}{' depthwise' * depthwise}", (0, layer, [Tensor(kind, (n, ins, h, w)), *constants], output),
               {"work": 32, "work_bytes": 0x10000, "rows": int(rng.choice([n, 1, 2]))}, calls)

    for n, ins, depth, h, w, outs in [(1, 1, 1, 1, 1, 1), (2, 4, 7, 32, 64, 64), (3, 2, 2, 1, 2048, 3), (1, 3, 5, 2048, 1, 5), (2, 4, 3, 45, 45, 33)]:
        weights, bias = small(rng, (outs, ins, 3, 3, 3)), small(rng, outs, 9)
        layer = [1, outs, 3, 3, 3] + [1] * 13 + [0] * 4 + [1, -1.0] + [0] * 12
        operands = [Tensor("float32", (n, ins, depth, h, w)), Constant("float32", weights.shape, weights.tobytes()), Constant("float32", (1, outs, 1, 1, 1), bias.tobytes())]
        calls = []
        for few in (0, 1):
            x = small(rng, (max(1, n - few), ins, max(1, depth - few), max(1, h - few), max(1, w - few)))
            sums = convolved(x, weights, (1, 1, 1), (1, 1, 1), [(1, 1)] * 3) + bias[:, None, None, None]
            calls.append(((x,), np.maximum(sums, 0).astype(np.float32)))
        yield f"3-D {(n, ins, depth, h, w)} {outs}", (109, layer, operands, Tensor("float32", (n, outs, depth, h, w))), {}, calls

    for number in range(14):
        kind = ("float16", "bfloat16")[number % 2]
        kernel, step = tuple(map(int, rng.integers(1, 9, 2))), tuple(map(int, rng.integers(1, 9, 2)))
        pads = tuple(int(rng.integers(0, k)) for k in np.repeat(kernel, 2))
        n, ins, outs = int(rng.choice([1, 2, 3])), int(rng.choice([1, 10, 33, 64, 70])), int(rng.choice([1, 4, 64, 65]))
        h, w = (1 + -(-max(0, before + behind - k + 1) // s) + int(rng.integers(0, 5)) for k, s, before, behind in zip(kernel, step, pads[::2], pads[1::2]))
        weights, bias = small(rng, (outs, ins, *kernel)), small(rng, outs, 9)
        blocks = -(-ins // 32)
        padded = np.zeros((outs, blocks * 32, kernel[0] * kernel[1]), np.float32)
        padded[:, :ins] = weights.reshape(outs, ins, -1)
        data = stored(padded.reshape(outs, blocks, 32, -1).transpose(0, 1, 3, 2).reshape(outs, -1), kind)
        layer = [1, outs, *kernel, *step, 1, 1, *pads, 0, 0, 1, 1, 1, 0, 1, 0, -1.0] + [0] * 8
        constants = [Constant(kind, (1, outs, 1, data.shape[1]), data.tobytes()), Constant("float32", (1, outs, 1, 1), bias.tobytes())]
        calls = []
        for few in (0, 1):
            x = small(rng, (max(1, n - few), ins, h, w + 1 - few))
            spread = np.zeros((*x.shape[:2], (x.shape[2] - 1) * step[0] + 1, (x.shape[3] - 1) * step[1] + 1), np.float32)
            spread[:, :, ::step[0], ::step[1]] = x
            around = [(k - 1 - before, k - 1 - behind) for k, before, behind in zip(kernel, pads[::2], pads[1::2])]
            sums = convolved(spread, weights[:, :, ::-1, ::-1], (1, 1), (1, 1), around) + bias[:, None, None]
            calls.append(((x,), rounded(sums, kind)))
        yield (f"deconvolution {number} {kind} {(n, ins, h, w)} {weights.shape} step {step} pads {pads}", (22, layer, [Tensor(kind, (n, ins, h, w + 1)), *constants], Tensor(kind, (n, outs, *calls[0][1].shape[2:]))),
               {"work": False, "rows": int(rng.choice([n, 1]))}, calls)

def language(rng):
    """Layers of language models, in bfloat16."""
    kind = "bfloat16"
    # One element of a row is not 0: what a row of s * s elements makes of it is s, whichever it is. Rows of one magnitude make 1 of each.
    for place in (None, 3):
        for n, rows, width in [(1, 64, 484), (2, 64, 400), (1, 1, 1), (1, 63, 512), (3, 17, 121), (1, 5, 16), (2, 2, 36), (1, 64, 8)] + ([(1, 130, 512), (5, 65, 64)] if place is None else []):
            weight = small(rng, width) + 0.5
            operands = [Tensor(kind, (n, rows, width)), Constant(kind, (1, 1, width), stored(weight, kind).tobytes())]
            calls = []
            for some in sorted({1, rows // 2 + 1, rows}):
                magnitudes = np.exp2(rng.integers(-3, 4, (n, some, 1)))
                x = rng.choice([-1, 1], (n, some, width)) * magnitudes
                calls.append(((x,), rounded(np.sign(x) * weight, kind)))
                side = int(width ** 0.5)
                if side * side == width:
                    x = np.zeros((n, some, width))
                    np.put_along_axis(x, rng.integers(0, width, (n, some, 1)), magnitudes, 2)
                    calls.append(((x,), rounded(np.sign(x) * side * weight, kind)))
            more = {} if place is None else {"work": place, "work_bytes": 0x18000}
            yield (f"rms norm {'local ' * (place is not None)}{(n, rows, width)}", (154, [1e-30, 1, 0] + [0] * (place is not None), operands, Tensor(kind, (n, rows, width))), more, calls)

    for n, rows, heads, width in [(1, 64, 8, 64), (1, 1, 1, 2), (2, 65, 3, 128), (1, 130, 2, 6), (1, 17, 32, 128), (3, 5, 1, 34)]:
        operands = [Tensor(kind, (n, rows, heads, width)), Tensor(kind, (n, rows, 1, width)), Tensor(kind, (n, rows, 1, width))]
        calls = []
        for some in sorted({1, rows // 2 + 1, rows}):
            x, sines, cosines = (rounded(rng.standard_normal((n, some, count, width)), kind) for count in (heads, 1, 1))
            turned = np.concatenate([-x[..., width // 2:], x[..., :width // 2]], 3)
            calls.append(((x, sines, cosines), rounded(rounded(turned * sines, kind) + rounded(x * cosines, kind), kind)))
        yield f"rotary {(n, rows, heads, width)}", (172, [0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0], operands, Tensor(kind, (n, rows, heads, width))), {"work": 0, "work_bytes": 0x10000}, calls

    # Each query is one of the keys that it may see: its score is far above those of all others.
    heads, key_heads, depth, most_rows, most_keys = 8, 2, 64, 64, 128
    codes = np.array([[1 - 2 * ((i & j).bit_count() & 1) for j in range(depth)] for i in range(depth)], np.float32)
    codes = np.concatenate([codes, -codes])
    mask = np.where(np.arange(most_keys) <= np.arange(most_keys)[:, None], 0, -1e9).astype(np.float32)
    words = [0] * 70
    words[10], words[13], words[15:23] = 1, 16.0, [1, heads, key_heads, depth, most_keys, heads, key_heads, most_keys]
    # The network is for more than it can be launched with.
    operands = [Tensor(kind, (1, 2 * most_rows, heads, depth)), *(Tensor(kind, (1, 2 * most_keys, key_heads, depth)) for _ in range(2)),
                Constant("float32", mask.shape, mask.tobytes())]
    calls = [(tuple(np.zeros((1, count, some, depth)) for count, some in ((rows, heads), (keys, key_heads), (keys, key_heads))), f"attention over heads (10009): {text}")
             for rows, keys, text in ((65, 65, "65 rows (up to 64 are recorded)"), (1, 129, "129 keys (up to 128 are recorded)"), (2, 1, "2 rows over 1 keys with a mask of 128 x 128"))]
    of_key = np.arange(heads) * key_heads // heads
    for rows, keys in [(1, 1), (1, 2), (2, 2), (1, 128), (64, 64), (64, 128), (63, 127), (17, 65), (33, 33), (2, 17), (16, 16), (15, 81), (64, 113), (3, 100), (31, 64), (1, 79), (50, 96)]:
        # The same keys follow again where the row does not see them.
        period = int(rng.integers(keys // 2, keys)) + 1 if rows > 1 else keys
        names = np.stack([rng.permutation(128)[np.arange(keys) % period] for _ in range(key_heads)], 1)
        seen = np.arange(keys - rows, keys)
        chosen = np.stack([[rng.integers(max(0, last + 1 - period), min(last + 1, period)) for last in seen] for _ in range(heads)], 1)
        values = rounded(rng.standard_normal((1, keys, key_heads, depth)), kind)
        wanted = values[0, chosen, of_key[None]].reshape(1, rows, heads * depth)
        calls.append(((codes[names[chosen, of_key[None]]][None], codes[names][None], values), wanted))
    # Keys that are all alike: the mean of those that a row sees, here of 2^k.
    for rows, keys in [(1, 1), (1, 64), (1, 128), (1, 32), (1, 2)]:
        values = small(rng, (1, keys, key_heads, depth))
        mean = values.mean(1)[:, of_key].reshape(1, 1, heads * depth)
        calls.append(((np.zeros((1, 1, heads, depth)), small(rng, (1, keys, key_heads, depth)), values), rounded(mean, kind)))
    for rows in (2, 33, 64):
        values = small(rng, (1, rows, key_heads, depth))
        made = np.cumsum(values, 1) / np.arange(1, rows + 1)[None, :, None, None]
        exact = [row for row in range(rows) if row & (row + 1) == 0]
        wanted = np.full((1, rows, heads * depth), np.nan, np.float32)
        wanted[0, exact] = rounded(made[0][:, of_key].reshape(rows, -1)[exact], kind)
        calls.append(((np.zeros((1, rows, heads, depth)), small(rng, (1, rows, key_heads, depth)), values), wanted))
    yield "attention over heads", (10009, words, operands, Tensor(kind, (1, 2 * most_rows, heads * depth))), {}, calls


def head(rng):
    """Attention of one head with its products: each query is far nearer to one key than to the others."""
    for number in range(24):
        kind = ("float16", "bfloat16", "int8")[number % 3]
        is_byte = kind == "int8"
        depth = int(rng.choice([4, 8, 16, 32] if is_byte else [4, 8, 15, 16]))
        width, columns, with_bias = int(rng.choice([16, 33, 48, 64])), int(rng.choice([1, 7, 48, 64, 65, 200])), int(rng.integers(0, 2))
        rows = (16, 1, 2, 15, 7, 12, 13, 16)[number // 3]
        calls = []
        query, key, value = (rng.integers(-1, 2, (width, depth)) for _ in range(3))
        biases = [rng.integers(-2, 3, depth) for _ in range(3)]
        behind, last = rng.integers(-2, 3, (depth, columns)), rng.integers(-9, 9, columns)
        for some in sorted({1, rows // 2 + 1, rows}):
            while True:
                x = rng.integers(-2, 3, (some, width))
                q, k, v = (x @ weights + bias for weights, bias in zip((query, key, value), biases))
                if is_byte:
                    break
                q, k, v = (rounded(one, kind).astype(np.float64) for one in (q, k, v))
                scores = rounded(q @ k.T, kind).astype(np.float32)
                best = np.sort(scores, 1)
                if some == 1 or (best[:, -1] - best[:, -2]).min() > 0:
                    break
            if is_byte:
                q, k, v = (np.clip(one, -128, 127) for one in (q, k, v))
                scores = scaled(q @ k.T, 1, 2, "int8")
                table = np.exp2(-np.minimum(np.arange(256), 20.0)).astype(np.float32)
                weight = table[127 - scores.astype(int)]
                total = weight.astype(np.float64).sum(1, keepdims=True)
                shares = weight * (np.float32(252) / total.astype(np.float32))
                weight = np.clip(np.floor(shares.astype(np.float64) + 0.5), 0, 255).astype(np.int64)
                made = scaled(weight @ v, 1, 8, "int8").astype(np.int64) @ behind
                calls.append(((x[None],), (made + last * with_bias)[None].astype(np.int32)))
            else:
                made = rounded(rounded(v[scores.argmax(1)] @ behind, kind).astype(np.float32) + last * with_bias, kind)
                calls.append(((x[None],), made[None]))
        size = 1 if is_byte else 2
        sums = "int32" if is_byte else kind
        packed = np.zeros((64, 3, 64 // size), np.float32)
        for i, weights in enumerate((query, key, value)):
            packed[:width, i, :depth] = weights
        all_biases = np.concatenate(biases + [last] * with_bias)
        bits = lambda values, kind: (values.astype(np.int32) if kind == "int32" else stored(values, kind)).tobytes()
        operands = [Tensor(kind, (1, rows, width)), Constant(kind, (1, *packed.shape), bits(packed, kind)),
                    Constant(sums, (1, 1, len(all_biases)), bits(all_biases, sums)),
                    Constant(kind, (1, depth, columns), bits(behind, kind))]
        words = [1, float(np.float32(1 / 252)) if is_byte else {"float16": 32.0, "bfloat16": 128.0}[kind], 7 | 8 * with_bias, 0, 1, depth] + [0] * 15 + [0, 1, 0]
        if is_byte:
            operands.append(Constant("float32", (1, 1, 1, 256), table.tobytes()))
            words[6:21] = [1, 0, 0] * 3 + [1, 2, 0] + [1, 8, 0]
        yield f"head {number} {kind} {rows}x{width} {depth} {columns}", (177, words, operands, Tensor(sums, (1, rows, columns))), {"work": 23}, calls


def steps(rng):
    """LSTM: sums of the gates are far from 0, so that each gate is 0 or 1; cells count and stay far from 0 as well."""
    def far(shape):
        return (rng.integers(-3, 4, shape) * 200).astype(np.float32)
    for count, width, hidden in [(1, 1, 1), (6, 20, 16), (40, 20, 15), (7, 19, 16), (3, 3, 2), (200, 5, 16), (17, 20, 1), (2, 1, 16)]:
        weights = far((width + hidden, 4, hidden))
        weights[:, 1] = 0
        bias = far((2, 4, hidden)) + np.array([100, 0], np.float32)[:, None, None]
        bias[0, 1] = 1e6  # gates that forget do not
        state, cell = rng.choice([-1, 0, 1], hidden).astype(np.float32), (rng.choice([-1, 1], hidden) * 1000).astype(np.float32)
        order = ("in", "forget", "out", "candidate")
        operands = [Tensor("float32", (count, 1, width)), Constant("float32", (1, (width + hidden) * 4, hidden), weights.tobytes()),
                    Constant("float32", (1, 8 * hidden), bias.tobytes()), Constant("float32", (1, 1, hidden), state.tobytes()),
                    Constant("float32", (1, 1, hidden), cell.tobytes())]
        words = [0] * 28
        words[18:25] = 0x101, count, 1, width, hidden, 2, 0
        words[25] = 1
        calls = []
        for some in sorted({1, count // 2 + 1, count}):
            x = rng.integers(-2, 3, (some, 1, width)).astype(np.float32)
            h, c, wanted = state, cell, []
            for one in x[:, 0]:
                sums = one @ weights[:width].reshape(width, -1) + h @ weights[width:].reshape(hidden, -1) + bias.reshape(2, -1).sum(0)
                gates = dict(zip(order, sums.reshape(4, hidden)))
                c = c + (gates["in"] > 0) * np.sign(gates["candidate"])
                h = (gates["out"] > 0) * np.sign(c)
                wanted.append(h)
            calls.append(((x,), Signs(np.array(wanted, np.float32).reshape(some, 1, 1, hidden))))
        yield f"LSTM {count} {width} {hidden}", (116, words, operands, Tensor("float32", (count, 1, 1, hidden))), {"buffer": 16}, calls


def convolution_words(groups, ins, outs, kernel, pads=(0, 0, 0, 0), relu=0, merged=0, stride=(1, 1)):
    return [groups, ins, outs, *kernel, *stride, 1, 1, *pads, 1, relu, -1.0, 0, 1, 0, 1, 0, 1, 0, 1, merged, 1] + [0] * 19


def refusals(rng):
    """What is larger than any recording, or other than it: refused at the launch, by layer."""
    def case(text, layer, words, operands, result, **more):
        """operands: kinds and shapes, of constants a third that is True."""
        made = [Constant(kind, shape, bytes(dynamic_files.count_of(shape) * dynamic_files.SIZES[kind])) if constant else Tensor(kind, shape)
                for kind, shape, *constant in operands]
        inputs = tuple(np.zeros(one.shape, np.float32) for one in made if not isinstance(one, Constant))
        return f"refused {layer} {text} {number()}", (layer, words, made, Tensor(*result)), more, [(inputs, text)]
    count = iter(range(1000))
    number = lambda: next(count)
    half, single = "bfloat16", "float32"

    def fully(kind, rows, depth, columns, relu=0, result=None, bias=None, weights=None):
        bytes_ = kind == "int8"
        words = [0, 1, relu, -1.0, 0, int(bytes_), 0, int(bytes_), 0, 2 if bytes_ else -1, 1, -1] + [0] * 8
        return words, [(kind, (rows, depth)), (weights or kind, (depth, columns), True), (bias or ("int32" if bytes_ else kind), (1, columns), True)], (result or kind, (rows, columns))
    for rows, depth, columns in [(65, 16, 16), (2, 401, 16), (2, 16, 257)]:
        for kind in (single, half, "int8"):
            yield case("fully connected (3): a product of this size", 3, *fully(kind, rows, depth, columns))
    yield case("fully connected (3): a row of this length", 3, *fully(single, 1, 97, 4))
    yield case("fully connected (3): relu of a type with signs", 3, *fully("int8", 2, 4, 4, relu=1))
    yield case("fully connected (3): a bias of this kind", 3, *fully(half, 2, 4, 4, bias=single))
    yield case("fully connected (3): whole numbers of this kind", 3, *fully("int8", 2, 4, 4, weights="uint8"))
    for kind, rows, depth, columns in [(single, 65, 4, 4), (single, 4, 97, 4), (half, 4, 97, 4), ("int8", 4, 1025, 4), (half, 4, 4, 257)]:
        code = dynamic_files.CODES[kind]
        yield case("batched product (65): a product of this size", 65, [code] + [0] * 6 + [-1.0, 2 if kind == "int8" else -1] + [0] * 6,
                   [(kind, (2, rows, depth)), (kind, (2, depth, columns))], (kind, (2, rows, columns)))
    for rows, depth, columns in [(65, 128, 64), (1, 1152, 64), (1, 1024, 576)]:
        scales = 64, columns // 64, depth // 64
        yield case(f"product with 4- or 8-bit weights (155): a product of {rows} x {depth} x {columns}", 155, [0x10100, 4, 1, 64, 0],
                   [(half, (rows, depth)), ("uint8", (columns, depth // 2), True), (half, scales, True), ("uint8", scales, True)], (half, (rows, columns)))
    yield case("rms norm (154): rows of 513 elements", 154, [1e-6, 1, 0], [(half, (1, 2, 513)), (half, (513,), True)], (half, (1, 2, 513)))
    yield case("rms norm (154): so many rows", 154, [1e-6, 1, 0, 0], [(half, (1, 65, 16)), (half, (1, 1, 16), True)], (half, (1, 65, 16)), work=3)
    yield case("LSTM (116): 21 inputs and 4 states", 116, [0] * 18 + [0x101, 2, 1, 21, 4, 2, 0, 1, 0, 0],
               [(single, (2, 1, 21)), *((single, (size,), True) for size in (25 * 16, 32, 4, 4))], (single, (2, 1, 1, 4)))
    bank = [(half, (1, 64, 3, 32), True), (half, (1, 1, 48), True), (half, (1, 16, 4), True)]
    yield case("attention of a head (177): other than up to 16 rows", 177, [1, 1.0, 7, 0, 1, 16] + [0] * 16 + [1, 0], [(half, (1, 17, 16)), *bank], (half, (1, 17, 4)), work=23)
    yield case("3-D convolution (109): an input of this size", 109, [1, 2, 3, 3, 3] + [1] * 13 + [0] * 4 + [1, -1.0] + [0] * 12,
               [(single, (1, 5, 3, 4, 4)), (single, (2, 5, 3, 3, 3), True), (single, (1, 2, 1, 1, 1), True)], (single, (1, 2, 3, 4, 4)))
    yield case("deconvolution (22): this window", 22, [1, 1, 17, 17, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 1, 0, -1.0] + [0] * 8,
               [(half, (1, 1, 2, 2)), (half, (1, 1, 1, 17 * 17 * 32), True), (single, (1, 1, 1, 1), True)], (half, (1, 1, 18, 18)), work=False)
    for h, w, ins in [(1, 65537, 1), (2, 40000, 1), (1, 30000, 65)]:
        yield case("convolution (0): an input of this size", 0, convolution_words(1, ins, 1, (1, 1)),
                   [(single, (1, ins, h, w)), (single, (1, 1, ins, 1), True), (single, (1, 1, 1, 1), True)], (single, (1, 1, h, w)))
    for merged, text in ((0x1, "a kernel that is merged by other than itself"), (0x21, "a kernel that is merged by other than itself"), (0x12, "this merging of its kernel")):
        yield case(f"convolution (0): {text}", 0, convolution_words(1, 1, 1, (1, 1), merged=merged),
                   [(half, (1, 1, 2, 2)), (half, (1, 1, 1, 32), True), (single, (1, 1, 1, 1), True)], (half, (1, 1, 2, 2)), work=32)
    words = convolution_words(1, 1, 1, (1, 1), relu=1)
    words[39:41] = 1, 2
    yield case("convolution (0): relu of a type with signs", 0, words, [("int8", (1, 1, 2, 2)), ("int8", (1, 1, 1, 128), True)], ("int8", (1, 1, 2, 2)), work=32)
    yield case("convolution (0): tensors of this size", 0, convolution_words(1, 1, 1, (1, 1)),
               [(single, (1, 1, 128, 129)), (single, (1, 1, 1, 1), True), (single, (1, 1, 1, 1), True)], (single, (1, 1, 2, 2)), work=32)


def spread_inputs(options, device):
    """A convolution that merges its kernel spreads its input out in place: nothing may read that input afterwards."""
    rng = np.random.default_rng(options.seed)
    x, weights = small(rng, (2, 3, 9, 8)), small(rng, (3, 3, 3, 3))
    sums = convolved(x, weights, (1, 1), (1, 1), [(1, 1), (1, 1)])
    for merged in (0, 3):
        taken = weights.reshape(3, 1, -1, 1) if merged else weights.reshape(3, 1, 3, 9)
        stored_weights = np.zeros((3, 1, 32, taken.shape[3]), np.float16)
        stored_weights[:, :, :taken.shape[2]] = taken
        words = convolution_words(1, 3, 3, (3, 3), (1, 1, 1, 1), merged=0x10 * (merged > 0) | merged)
        for before in (False, True):
            network = dynamic_files.Network(options.flatc)
            given = network.input("float16", x.shape)
            constant = network.constant("float16", stored_weights.transpose(0, 1, 3, 2).reshape(1, 3, 1, -1).view(np.uint16))
            bias = network.constant("float32", np.zeros((1, 3, 1, 1), np.float32))
            convolution = (0, [given, constant, bias], ("float16", x.shape), lambda at: dynamic_files.words(*words[:32], at, *words[33:]), 0x8000)
            relu = (11, [given], ("float16", x.shape), dynamic_files.words(-1.0, 0.0, 1, 0, 0), 0)
            total = (31, [0, 1] if before else [given, 0], ("float16", x.shape), lambda at: dynamic_files.words(0, 0, -1.0, 1, 1, 0, 0, 1.0, 1.0, 0, 0, 0, at, 0, 0), 0x8000)
            layers = [relu, convolution, total] if before else [convolution, total]
            network.output(network.local(layers))
            expected = (sums + (np.maximum(x, 0) if before else x)).astype(np.float16)
            refused = "convolution (0) spreads out an input that is read again" if merged and not before else None
            made = dynamic_files.run(device, network.file(), x.astype(np.float16), refused=refused)
            if made is not None:
                dynamic_files.same(made[0], expected, f"a sum with a convolution, merged {merged}")


CASES = (products, packed, windows, language, head, steps, refusals)


def mistake(model, inputs, expected):
    """What is wrong with a launch; None: nothing. expected: elements (NaN: any), Signs, or the text of a refusal."""
    import softtpu
    kind = model.outputs()[0].dtype
    try:
        found = model(*(stored(value, tensor.dtype) for value, tensor in zip(inputs, model.inputs())))["output0"]
    except softtpu.Error as error:
        return None if isinstance(expected, str) and expected in str(error) else str(error)
    if isinstance(expected, str):
        return "not refused"
    shown = types.decode(found, kind) if kind == "bfloat16" else found
    if isinstance(expected, Signs):
        return None if expected.match(shown) else "other signs or levels"
    if found.shape != expected.shape:
        return f"{found.shape}, not {expected.shape}"
    bad = np.flatnonzero(((stored(expected, kind) != found) & ~np.isnan(expected)).reshape(-1))
    if bad.size == 0:
        return None
    return f"{bad.size} of {found.size} elements differ, first {bad[0]}: {shown.reshape(-1)[bad[:3]]}, not {expected.reshape(-1)[bad[:3]]}"


def main():
    parser = dynamic_files.arguments(__doc__)
    parser.add_argument("--only", default="", help="cases whose name begins so")
    options = parser.parse_args()
    import softtpu
    global types
    types = softtpu.types
    cases = [(name, file_of(options.flatc, *layer, **more), calls) for make in CASES for name, layer, more, calls in make(np.random.default_rng(options.seed))
             if name.startswith(options.only)]
    failed = count = refused = 0
    for check in (None, "all"):
        with softtpu.Device(check=check) as device:
            for name, file, calls in cases:
                with device.load_model(file) as model:
                    for inputs, expected in calls:
                        count += 1
                        refused += isinstance(expected, str)
                        what = mistake(model, inputs, expected)
                        if what is not None:
                            print(f"{name} {[value.shape for value in inputs]}: {what}")
                            failed += 1
            spread_inputs(options, device)
            for finding in device.findings if check else ():
                print(finding)
                failed += 1
    print(f"{count - failed} of {count} launches as expected, {refused} of them refused by layer")
    assert count > 0
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
