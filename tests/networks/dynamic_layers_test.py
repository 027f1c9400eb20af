#!/usr/bin/env python3
"""Layers of dynamic networks one by one, in sizes between the recorded ones and the limits, beside plain NumPy: bit for bit, with elements for
which every result is exact. What has no room must be refused by its layer."""
import numpy as np

import dynamic_files
from dynamic_files import words

FLOATS = "float32", "float16", "bfloat16"
BYTES = "int8", "uint8"


class Layers:
    """Layers one by one, of which many are a network."""
    MOST_TENSORS, MOST_BYTES = 100, 64 << 20

    def __init__(self, device, flatc, rng):
        self.device, self.flatc, self.rng, self.count = device, flatc, rng, 0
        self._begin()

    def _begin(self):
        self.network, self.known, self.given, self.checks = dynamic_files.Network(self.flatc), {}, [], []

    def numbers(self, kind, shape, low=-9, high=10):
        """Whole numbers, which every type has."""
        return self.rng.integers(max(low, 0) if kind[0] == "u" else low, high, shape).astype(np.float32)

    def _operand(self, kind, values, constant):
        """Of values that are given several times, one."""
        key = kind, id(values), constant
        if key not in self.known:
            stored = stored_as(kind, values)
            self.known[key] = self.network.constant(kind, stored) if constant else self.network.input(kind, values.shape), values
            self.given += [] if constant else [stored]
        return self.known[key][0]

    def run(self, refused=None):
        """All that wait."""
        waiting, given, network = self.checks, self.given, self.network
        self._begin()
        if not waiting:
            return
        made = iter(dynamic_files.run(self.device, network.file(), *given, refused=refused) or ())
        for check, count in waiting if refused is None else ():
            check([next(made) for _ in range(count)])

    def _add(self, what, given, make, results, expected, check, refused):
        if refused:
            self.run()
        made = make([self._operand(*one) for one in given])
        self.network.output(*made)
        self.count += 1

        def compare(values):
            for one, (kind, shape), wanted in zip(values, results, expected):
                wanted = wanted() if callable(wanted) else stored_as(kind, wanted)
                dynamic_files.same(one, wanted.reshape(shape), f"{what}, {kind}")
        self.checks.append((check or compare, len(made)))
        if refused or len(self.given) + len(self.network.results) > self.MOST_TENSORS or self.network.used > self.MOST_BYTES:
            self.run(refused)

    def layer(self, what, number, given, results, parameters, expected=(), *, check=None, refused=None):
        """With operands in device memory. given: (type, values, is constant); results: types and shapes; parameters: bytes, or a function of the
        network; expected: values of each result, or a function that gives them as they are stored when layers before have run; check: a function
        that takes the results instead."""
        self._add(what, given, lambda operands: self.network.layer(number, operands, results, parameters if isinstance(parameters, bytes) else parameters(self.network)),
                  results, expected, check, refused)

    def local(self, what, number, given, result, parameters, expected=None, work=0, *, rows=0, check=None, refused=None):
        """With operands in local memory; `rows` in a slice."""
        self._add(what, given, lambda operands: [self.network.local([(number, operands, result, parameters, work)], rows)], [result],
                  [expected], check, refused)


def stored_as(kind, values):
    import softtpu
    return softtpu.types.as_storage(values, kind)


def concatenations(layers):
    for kind, axis, shapes in (("float32", 1, ((2, 1, 3, 5), (2, 64, 3, 5), (2, 2, 3, 5))), ("int8", 3, ((3, 70, 1, 1), (3, 70, 1, 1), (3, 70, 1, 3))),
                               ("float16", 0, ((1, 70000), (2, 70000))), ("int32", 1, ((1, 70000), (1, 5))), ("bfloat16", 2, ((2, 3, 1, 4, 2), (2, 3, 7, 4, 2))),
                               ("uint8", 0, ((5,), (1,), (70000,))), ("float16", 1, ((3, 1, 100), (3, 255, 100)))):
        parts = [layers.numbers(kind, shape) for shape in shapes]
        whole = np.concatenate(parts, axis)
        layers.layer(f"concatenation of {shapes}", 7, [(kind, part, False) for part in parts], [(kind, whole.shape)], words(len(parts), axis, 0, 0), [whole])
    for kind, axis, shapes in (("float32", 1, ((2, 1, 3, 5), (2, 64, 3, 5), (2, 70, 3, 5))), ("int8", 3, ((3, 70, 5, 1), (3, 70, 5, 1), (3, 70, 5, 3))),
                               ("float16", 0, ((1, 70, 3), (2, 70, 3))), ("float16", 2, ((2, 70, 3, 7), (2, 70, 1, 7))), ("bfloat16", 1, ((3, 63), (3, 3), (3, 129))),
                               ("float32", 2, ((2, 3, 5), (2, 3, 1))), ("uint8", 1, ((1, 130, 3, 3), (1, 1, 3, 3)))):
        parts = [layers.numbers(kind, shape) for shape in shapes]
        for constant in (False, True):
            whole = np.concatenate(parts, axis)
            layers.local(f"local concatenation of {shapes}", 7, [(kind, part, constant and i == 1) for i, part in enumerate(parts)], (kind, whole.shape),
                         words(len(parts), axis, 0, 0), whole)


def reshapes(layers):
    for kind, shape, to in (("float32", (3, 5, 7), (105,)), ("int8", (1,), (1, 1, 1)), ("bfloat16", (70000, 3), (3, 70000)), ("int32", (2, 3, 4, 5, 6), (720,))):
        x = layers.numbers(kind, shape)
        layers.layer(f"reshape of {shape}", 18, [(kind, x, False)], [(kind, to)], words(len(to), *to, *[0] * (9 - len(to))), [x.reshape(to)])


def transposes(layers):
    for kind, shape, order in (("float32", (3, 5, 7), (2, 0, 1)), ("int8", (70000, 3), (1, 0)), ("int8", (3, 70000), (1, 0)), ("float16", (1, 127, 129), (0, 2, 1)),
                               ("bfloat16", (2, 3, 4, 5, 6), (4, 2, 0, 1, 3)), ("float32", (300, 4, 100), (0, 2, 1)), ("float16", (66000, 1, 2), (0, 2, 1)),
                               ("int8", (5, 300, 300), (2, 0, 1)), ("float32", (2, 1, 7, 1), (1, 3, 0, 2)), ("int32", (7,), (0,)), ("uint8", (2, 4099), (1, 0)),
                               ("float16", (1, 64, 1024), (0, 2, 1)), ("float32", (512, 64), (1, 0)), ("float32", (513, 64), (1, 0)), ("int8", (1, 2047, 67), (2, 1, 0)),
                               ("int8", (2, 65536), (1, 0)), ("float32", (2, 3, 2, 3, 2, 3), (5, 4, 3, 2, 1, 0)), ("float16", (131, 3, 5), (1, 0, 2)),
                               ("uint8", (1024, 128), (1, 0)), ("uint8", (128, 1024), (1, 0)), ("float16", (70, 70, 2, 3), (2, 3, 0, 1)), ("int8", (1000, 6400), (1, 0)), ("uint8", (1, 6400, 1000), (0, 2, 1))):
        x = layers.numbers(kind, shape)
        layers.layer(f"transpose of {shape} to {order}", 49, [(kind, x, False)], [(kind, tuple(shape[i] for i in order))],
                     lambda network: words(network.room(x.size * 4), *order, *[0] * (8 - len(order))), [x.transpose(order)])


def slices(layers):
    for kind, shape, ranges in (("float32", (1, 3, 10, 17), ((0, 1, 1), (0, 3, 1), (0, 10, 1), (0, 17, 2))), ("float16", (5, 17), ((0, 5, 1), (1, 17, 2))),
                                ("float32", (3, 5, 17), ((0, 3, 1), (0, 5, 1), (0, 16, 2))), ("int8", (300,), ((1, 300, 3),)), ("int8", (1, 1, 1, 140000), ((0, 1, 1),) * 3 + ((0, 139998, 2),)),
                                ("float16", (1, 100, 20, 30), ((0, 1, 1), (3, 90, 5), (0, 20, 2), (1, 29, 3))), ("int8", (2, 66000, 1, 4), ((0, 2, 1), (0, 66000, 1), (0, 1, 1), (0, 4, 2))),
                                ("bfloat16", (2, 3, 4, 5, 6), ((0, 2, 1), (1, 3, 1), (0, 4, 3), (0, 5, 1), (0, 6, 2))), ("float32", (40000, 10), ((0, 40000, 1), (0, 10, 2))),
                                ("float32", (1, 1, 1000, 200), ((0, 1, 1), (0, 1, 1), (0, 1000, 1), (0, 200, 10))), ("int8", (3, 7), ((2, 3, 1), (0, 7, 7))),
                                ("float16", (64, 128, 1, 8), ((0, 64, 1), (0, 128, 1), (0, 1, 1), (2, 6, 2))), ("uint8", (1, 1, 1, 65536), ((0, 1, 1),) * 3 + ((0, 65536, 2),)),
                                ("uint8", (1, 1, 1, 70000), ((0, 1, 1),) * 3 + ((1, 70000, 1),)), ("float32", (1, 2, 3, 9), ((0, 1, 1), (0, 2, 1), (0, 3, 1), (0, 9, 4)))):
        x = layers.numbers(kind, shape)
        y = x[tuple(slice(*one) for one in ranges)]
        fill = [0] * (8 - len(shape))
        layers.layer(f"slice {ranges} of {shape}", 51, [(kind, x, False)], [(kind, y.shape)],
                     words(0, 0, *(one[0] for one in ranges), *fill, *(one[1] for one in ranges), *fill, *(one[2] for one in ranges), *fill, len(shape), 0, 0, 0, 0), [y])


def slice_borders(layers):
    """Borders that count from the end, lie beyond it, or that masks lift."""
    x = layers.numbers("float16", (2, 7, 5, 9))
    for begin, end, step, masks, taken in (((0, -5, 1, -9), (2, -1, 99, 9), (1, 2, 1, 3), (0, 0), x[:, -5:-1:2, 1:, ::3]), ((1, 3, 2, 4), (2, 4, 3, 5), (1, 1, 1, 2), (0b1000, 0b0010), x[1:2, 3:, 2:3, :5:2]),
                                           ((0, 0, 0, 8), (9, 9, 9, -20), (1, 1, 1, 1), (0, 0b1000), x[:, :, :, 8:])):
        layers.layer(f"slice from {begin} to {end}", 51, [("float16", x, False)], [("float16", taken.shape)],
                     words(*masks, *begin, *[0] * 4, *end, *[0] * 4, *step, *[1] * 4, 4, 0, 0, 0, 0), [taken])


def paddings(layers):
    for kind, shape, pads, value in (("float32", (2, 3, 4, 5), ((0, 0), (0, 0), (1, 2), (3, 0)), 2.5), ("int8", (2, 3, 4, 5), ((1, 0), (0, 2), (1, 0), (0, 1)), -3.0),
                                     ("float16", (1, 1, 1, 70000), ((0, 0), (0, 0), (1, 0), (2, 3)), 1.0), ("bfloat16", (1, 70000, 1, 2), ((0, 0), (0, 0), (0, 1), (1, 1)), 1.0),
                                     ("float32", (1, 130, 3, 3), ((0, 0), (0, 0), (0, 0), (0, 0)), 7.0), ("float16", (1, 1, 3, 3), ((0, 0), (1, 1), (0, 0), (0, 0)), -1.0),
                                     ("int8", (1, 70000, 1, 1), ((0, 1), (0, 0), (0, 0), (1, 0)), 9.0), ("float32", (1, 1, 70000, 1), ((0, 0), (0, 0), (5, 5), (1, 1)), 3.0)):
        x = layers.numbers(kind, shape)
        y = np.pad(x, pads, constant_values=value)
        layers.layer(f"padding {pads} of {shape}", 26, [(kind, x, False)], [(kind, y.shape)], words(*(one for pair in pads for one in pair), 0, value, 0, 0, 0), [y])


def tiles(layers):
    for kind, shape, times in (("float32", (2, 3, 4, 5), (1, 2, 1, 3)), ("int8", (1, 1), (1, 66000)), ("float16", (70000, 2), (1, 2)), ("bfloat16", (3, 5, 7), (2, 3, 4)),
                               ("int32", (2, 70000), (3, 1)), ("float32", (1, 5), (70000, 1)), ("uint8", (5,), (3,)), ("float16", (2, 3), (1, 1)), ("int8", (64, 1025), (2, 1)),
                               ("float32", (4000, 3), (1, 20)), ("float16", (7, 2, 3), (5, 1, 9)), ("float32", (2, 2, 2, 2, 2), (2, 1, 2, 1, 2)), ("int8", (60000, 1, 3), (1, 300, 1))):
        x = layers.numbers(kind, shape)
        y = np.tile(x, times)
        layers.layer(f"tile {times} of {shape}", 28, [(kind, x, False)], [(kind, y.shape)],
                     lambda network: words(*times, *[1] * (8 - len(times)), 0, 0, network.room(y.size * 4), *[0] * 12), [y])


def upsamplings(layers):
    for kind, shape, factor in (("float32", (2, 3, 4, 5), 2), ("int8", (1, 130, 1, 1), 7), ("float16", (1, 1, 1, 40000), 2), ("bfloat16", (1, 65, 90, 90), 3), ("float32", (3, 1, 3000, 1), 2),
                                ("uint8", (1, 2, 1, 1), 255), ("float32", (1, 1, 1, 2), 100), ("int8", (2, 64, 64, 64), 4), ("float16", (1, 3, 5, 7), 1)):
        x = layers.numbers(kind, shape)
        y = x.repeat(factor, 2).repeat(factor, 3)
        layers.layer(f"upsampling of {shape} by {factor}", 66, [(kind, x, False)], [(kind, y.shape)], words(factor, 0), [y])
    x = layers.numbers("float32", (1, 1, 1, 1))
    layers.layer("upsampling by 300", 66, [("float32", x, False)], [("float32", (1, 1, 300, 300))], words(300, 0), refused="nearest upsampling (66): each element 300 x 300 times")


def blocks(layers):
    for kind, shape, (h, w) in (("float32", (2, 3, 4, 6), (2, 3)), ("int8", (1, 1, 2, 2), (2, 2)), ("float16", (1, 70, 6, 600), (3, 2)), ("bfloat16", (1, 2, 2, 140000), (1, 2)),
                                ("uint8", (3, 2, 8, 5), (4, 5)), ("float32", (1, 1, 70000, 4), (1, 2)), ("int8", (1, 1, 132000, 2), (2, 1)), ("float16", (1, 65, 130, 66), (2, 2)),
                                ("float32", (1, 2, 5000, 2), (1, 1)), ("float32", (1, 1, 2, 200000), (2, 2)), ("int8", (1, 1, 200, 60000), (1, 2))):
        wide = layers.numbers(kind, shape)
        n, c, height, width = shape
        deep = wide.reshape(n, c, height // h, h, width // w, w).transpose(0, 3, 5, 1, 2, 4).reshape(n, c * h * w, height // h, width // w)
        for to_depth, x, y in ((1, wide, deep), (0, deep, wide)):
            layers.layer(f"{'space to depth' if to_depth else 'depth to space'} of {x.shape} by {h} x {w}", 102, [(kind, x, False)], [(kind, y.shape)],
                         words(h, w, 1, 1, to_depth, 0, 0), [y])


def gathers(layers):
    for kind, table, indices in (("float32", (50, 32), (2, 7)), ("int8", (1, 1), (1,)), ("float16", (65535, 3), (9000,)), ("bfloat16", (7, 3, 5), (3, 1)), ("float32", (300, 1), (20000,)),
                                 ("int32", (5, 65535), (3,)), ("int8", (3, 140000), (9,)), ("bfloat16", (65536, 3), (2, 9)), ("float32", (140000, 2), (300,)), ("float16", (3, 1), (8193,))):
        x = layers.numbers(kind, table)
        at = layers.rng.integers(-table[0], table[0], indices)
        for constant in (False, True):
            layers.layer(f"gather of {indices} of {table}", 96, [(kind, x, constant), ("int32", at, False)], [(kind, (*indices, *table[1:]))], words(0, 1, 1), [x[at]])
    for table in (65536, 70001):
        at = np.array([table], np.float32)
        x = layers.numbers("float32", (table, 3))
        layers.layer(f"gather of row {table} of {table}", 96, [("float32", x, False), ("int32", at, False)], [("float32", (1, 3))], words(0, 1, 1),
                     refused=f"gather (96): row {table} of {table}")


def largest(layers):
    for shape, k in (((3, 300), 5), ((1, 1), 1), ((2, 3, 70), 70), ((1, 70000), 66000), ((200, 400), 399), ((5,), 2)):
        x = layers.rng.permutation(int(np.prod(shape))).reshape(shape).astype(np.float32) - 100
        for descending in (1, 0):
            order = np.argsort(-x if descending else x, -1, kind="stable")[..., :k]
            layers.layer(f"top {k} of {shape}", 57, [("float32", x, False)], [("float32", order.shape), ("int32", order.shape)],
                         lambda network: words(k, len(shape) - 1, descending, 0, network.room(order.size * 4), network.room(order.size * 4), 0, 0, 0, 0),
                         [np.take_along_axis(x, order, -1), order])
    for shape in ((1, 1), (65, 255), (3, 2, 64, 17), (128, 254), (1, 255)):
        x = layers.rng.permutation(int(np.prod(shape))).reshape(shape).astype(np.float32) - 100
        x[..., -1] = x[..., 0]
        layers.layer(f"index of the largest of {shape}", 27, [("float32", x, False)], [("int32", shape[:-1])], words(len(shape) - 1, 0, 1, 0, 0), [x.argmax(-1)])


# Elements around those that fill the NPUs and the places of a piece.
FLAT = (1,), (2,), (63,), (64,), (65,), (129,), (3, 5, 7), (1, 64, 256), (64 * 256 + 1,), (64 * 1024 + 1,), (2, 64 * 1024 + 63), (3, 1000, 73)
SPREAD = (((2, 3, 4, 5), (2, 3, 4, 5)), ((2, 3, 4, 5), (1, 1, 1, 1)), ((1, 3, 1, 5), (2, 1, 4, 1)), ((2, 130, 3, 7), (2, 1, 3, 7)), ((1, 130, 1, 1), (3, 130, 50, 51)),
          ((2, 65, 60, 60), (1, 1, 60, 60)), ((70,), (1,)), ((5, 70), (1, 70)), ((1, 70), (129, 1)), ((3, 1, 5), (1, 129, 1)), ((1, 1, 1, 1), (2, 65, 100, 100)),
          ((2, 64, 128, 64), (2, 64, 1, 64)), ((1, 65, 33, 1024), (1, 65, 33, 1)), ((70000, 1), (70000, 3)), ((1, 40000), (2, 40000)), ((1, 1, 1, 3000), (2, 3, 4, 3000)),
          ((1, 3, 4097), (2, 3, 1)), ((600, 2, 3), (1, 2, 1)), ((2, 3, 1, 2, 4), (2, 1, 5, 2, 1)))
OPERATIONS = {0: np.add, 1: np.subtract, 2: np.multiply, 4: np.maximum, 10000: np.minimum, 10001: lambda a, b: (a > b).astype(np.float32), 3: None}


def binary_words(operation, work=0, scales=(1, 1), shifts=(0, 0)):
    return words(operation, 0, -1.0, *scales, *shifts, 1.0, 1.0, 0, 0, 0, work, 0, 0)


def element_by_element(layers):
    for shape in FLAT:
        for kind in FLOATS:
            x, y = layers.numbers(kind, shape), layers.numbers(kind, shape)
            layers.layer(f"relu of {shape}", 11, [(kind, x, False)], [(kind, shape)], words(-1.0, 0.0, 1, 0, 0), [np.maximum(x, 0)])
            layers.layer(f"prelu of {shape}", 11, [(kind, x, False)], [(kind, shape)], words(-1.0, 0.5, 1, 0, 0), [np.where(x > 0, x, x / 2)])
            layers.layer(f"sum of {shape}", 31, [(kind, x, False), (kind, y, False)], [(kind, shape)], binary_words(0), [x + y])
            layers.layer(f"C - x of {shape}", 32, [(kind, x, False)], [(kind, shape)], words(3.0, 0, 1, 1, 0, -1.0, 1, 0, 1.0, 0, 0), [3 - x])
            layers.layer(f"max C of {shape}", 32, [(kind, x, False)], [(kind, shape)], words(3.0, 0, 0, 4, 0, -1.0, 1, 0, 1.0, 0, 0), [np.maximum(x, 3)])
            layers.layer(f"magnitude of {shape}", 35, [(kind, x, False)], [(kind, shape)], words(8, *[0.0] * 8, 0), [abs(x)])
        x = layers.numbers("int8", shape)
        layers.layer(f"relu of bytes {shape}", 11, [("int8", x, False)], [("int8", shape)], words(-1.0, 0.0, 1, 0, 0), [np.maximum(x, 0)])
        layers.layer(f"prelu of bytes {shape}", 11, [("int8", x, False)], [("int8", shape)], words(-1.0, 3.0, 1, 0, 0), [np.where(x > 0, x, 3 * x)])
        for kind, to in (("float32", "int8"), ("float32", "float16"), ("float16", "float32"), ("int8", "float32"), ("uint8", "float16"), ("float32", "int32"), ("bfloat16", "float32"),
                         ("float16", "uint8"), ("int32", "float32"), ("float32", "float32"), ("int8", "int32"), ("int8", "int8"), ("int32", "int8"), ("uint8", "bfloat16")):
            values = layers.numbers(to, shape) if kind[0] != "u" else layers.numbers(kind, shape)
            layers.layer(f"{kind} {shape} to {to}", 74, [(kind, values, False)], [(to, shape)], words(dynamic_files.CODES[kind], dynamic_files.CODES[to], 0), [values])
        layers.layer(f"quantisation of {shape}", 132, [("float32", x / 4, False)], [("int8", shape)], words(0, 4.0, 0.0, 2, 0, 0, 0), [x])
        layers.layer(f"dequantisation of {shape}", 134, [("int8", x, False)], [("float32", shape)], words(0, 0.5, 0.0, 0, 0), [x / 2])
        entries = layers.rng.permutation(256).astype(np.uint8)
        layers.layer(f"table of {shape}", 106, [("uint8", x + 9, False), ("uint8", entries.reshape(1, 1, 1, 256), True)], [("uint8", shape)], words(0, 0), [entries[(x + 9).astype(int)]])
    layers.layer("conversion between halves", 74, [("float16", x, False)], [("bfloat16", x.shape)], words(1, 8, 0), refused="conversion (74): f16 and bf16")
    # Quotients are not exact: each pair of operands has one, wherever it stands.
    values = np.arange(-9, 10, dtype=np.float32)
    pairs = [np.ascontiguousarray(one.reshape(-1)) for one in np.broadcast_arrays(values[:, None], 2.0 ** np.arange(-2, 3, dtype=np.float32)[None])]
    network = dynamic_files.Network(layers.flatc)
    operands = [network.input("float32", one.shape) for one in pairs]
    network.output(*network.layer(31, operands, [("float32", pairs[0].shape)], binary_words(3)))
    found = dynamic_files.run(layers.device, network.file(), *pairs)[0]
    quotients = dict(zip(zip(*(one.tolist() for one in pairs)), found))
    quotient = np.vectorize(lambda one, other: quotients[one, other], otypes=[np.float32])
    for shapes in SPREAD:
        large = max(np.prod(shape) for shape in shapes) > 100000
        for operation, function in ((one, OPERATIONS[one]) for one in ((0, 3) if large else OPERATIONS)):
            kind = FLOATS[operation % 3] if operation != 3 else "float32"
            x, y = (layers.numbers(kind, shape) for shape in shapes)
            if operation == 3:
                y = 2.0 ** layers.numbers(kind, shapes[1], -2, 3)
            for one, other in ((x, y),) if operation == 3 else ((x, y), (y, x)):
                result = function(one, other) if operation != 3 else quotient(one, other)
                layers.layer(f"operation {operation} of {one.shape} and {other.shape}", 31, [(kind, one, False), (kind, other, operation == 1)], [(kind, result.shape)], binary_words(operation),
                             [result])


def reductions(layers):
    def one(kind, shape, axis, method, keep, expected):
        result = list(shape)
        result[axis:axis + 1] = [1] if keep else []
        layers.layer(f"reduction {method} of {shape} along {axis}", 50, [(kind, x, False)], [(kind, tuple(result))],
                     lambda network: words(axis, *[0] * 7, 1, method, 1.0, 1.0, int(keep), 0, network.room(x.size * 4), 0, 0), [expected.reshape(result)])
    for shape in ((2, 3, 4, 5), (65, 7), (2, 130, 255, 3), (1, 70, 255, 70), (3, 200, 64, 65), (255, 2, 300), (1, 1, 1, 255), (2, 255, 129, 2), (70000, 3), (1, 2, 11000, 5), (1, 2, 16384, 1),
                  (1, 2, 32768, 1), (2, 3, 2, 5, 7), (1, 1, 255, 2048), (3, 5, 8200, 2), (255,), (1,)):
        for axis, extent in enumerate(shape):
            for kind in FLOATS if np.prod(shape) < 30000 else FLOATS[:2]:
                x = layers.numbers(kind, shape)
                if extent <= 255:
                    one(kind, shape, axis, 2, axis % 2 or len(shape) == 1, x.max(axis))
                if axis == len(shape) - 1 and extent in (1, 2, 4, 8, 16):
                    one(kind, shape, axis, 0, True, x.mean(axis))
        extent = shape[-1]
        if extent <= 16 and len(shape) > 1:
            # Rows with one element that is not 0, of which the root is exact.
            x = np.zeros((int(np.prod(shape[:-1])), extent), np.float32)
            x[np.arange(len(x)), layers.rng.integers(0, extent, len(x))] = layers.numbers("float16", len(x))
            x = x.reshape(shape)
            one("float16", shape, len(shape) - 1, 5, False, abs(x).sum(-1))


# Extents of tensors in local memory: more channels than NPUs, several images, whole lines and one element more or less.
LOCAL = (1, 1, 1, 1), (2, 3, 4, 5), (1, 64, 1, 16), (3, 65, 1, 17), (2, 130, 7, 9), (1, 200, 3), (5, 70), (7,), (1, 1, 1, 1000), (1, 3, 100, 33), (4, 128, 2, 32), (1, 64, 128, 64)
LOCAL_SPREAD = (((2, 3, 4, 5), (2, 3, 4, 5)), ((2, 130, 3, 4), (1, 1, 1, 1)), ((2, 130, 3, 4), (2, 1, 3, 4)), ((3, 65, 1, 17), (1, 65, 1, 1)), ((1, 3, 1, 5), (2, 1, 4, 1)),
                ((5, 70), (1, 70)), ((5, 70), (5, 1)), ((1, 1, 40, 40), (1, 200, 40, 40)), ((3, 1, 5), (1, 129, 1)), ((1, 2, 1, 1), (3, 2, 1, 1)), ((4, 64, 16, 16), (4, 64, 1, 16)))
WORK = 0x8000


def local_elements(layers):
    for shape in LOCAL:
        channels = (shape[1] if len(shape) > 1 else 1)
        along = (1, channels, 1, 1) if len(shape) > 1 else (1,)
        work = 4 * dynamic_files.local_bytes("float32", shape) + 1024
        for kind in FLOATS:
            x, y, z = (layers.numbers(kind, shape) for _ in range(3))
            layers.local(f"relu of {shape}", 11, [(kind, x, False)], (kind, shape), words(-1.0, 0.0, 1, 0, 0), np.maximum(x, 0))
            layers.local(f"prelu of {shape}", 11, [(kind, x, False)], (kind, shape), words(-1.0, 0.5, 1, 0, 0), np.where(x > 0, x, x / 2))
            slopes = layers.numbers(kind, along)
            for constant in (False, True):
                layers.local(f"prelu of each channel of {shape}", 11, [(kind, x, False), (kind, slopes, constant)], (kind, shape), words(-1.0, 0.0, 0, 0, 0),
                             np.where(x > 0, x, x * slopes.reshape([*along, *[1] * 4][:len(shape)])))
            condition = layers.numbers(kind, shape, 0, 2)
            if work > 0x20000:
                continue
            layers.local(f"select of {shape}", 29, [(kind, condition, False), (kind, y, False), (kind, z, False)], (kind, shape),
                         lambda at: words(0, 0, 0.0, 0.0, at, 0), np.where(condition == 0, z, y), work)
            layers.local(f"C - x of {shape}", 32, [(kind, x, False)], (kind, shape), words(3.0, 0, 1, 1, 0, -1.0, 1, 0, 1.0, 0, 0), 3 - x)
            layers.local(f"min C of {shape}", 32, [(kind, x, False)], (kind, shape), words(3.0, 0, 0, 10000, 0, -1.0, 1, 0, 1.0, 0, 0), np.minimum(x, 3))
            layers.local(f"magnitude of {shape}", 35, [(kind, x, False)], (kind, shape), lambda at: words(8, *[0.0] * 8, at), abs(x), work)
        x = layers.numbers("int8", shape)
        layers.local(f"prelu of bytes {shape}", 11, [("int8", x, False)], ("int8", shape), words(-1.0, 3.0, 1, 0, 0), np.where(x > 0, x, 3 * x))
        slopes = layers.numbers("int8", along)
        layers.local(f"prelu of each channel of bytes {shape}", 11, [("int8", x, False), ("int8", slopes, True)], ("int8", shape), words(-1.0, 0.0, 0, 0, 0),
                     np.where(x > 0, x, x * slopes.reshape([*along, *[1] * 4][:len(shape)])))
        for kind, to in (("float32", "int8"), ("float16", "float32"), ("int8", "bfloat16"), ("uint8", "float32"), ("int32", "int8"), ("float16", "float16"), ("int8", "int32")):
            values = layers.numbers("uint8" if "uint8" in (kind, to) else kind, shape)
            layers.local(f"{kind} {shape} to {to}", 74, [(kind, values, False)], (to, shape), words(dynamic_files.CODES[kind], dynamic_files.CODES[to], 0), values)
        for kind in ("float32", "float16"):
            layers.local(f"quantisation of {shape}", 132, [(kind, x / 4, False)], ("int8", shape), lambda at: words(0, 4.0, 0.0, 2, 0, 0, 0, at), x, work)
            layers.local(f"dequantisation of {shape}", 134, [("int8", x, False)], (kind, shape), words(0, 0.5, 0.0, dynamic_files.CODES[kind], 0), x / 2)
        layers.local(f"requantisation of {shape}", 133, [("int32", 4 * x, False)], ("int8", shape), words(0, 1 << 28, -30 + 0, 0, 2, 2, 0, 0, 0, 0), x)
        entries = layers.rng.permutation(256).astype(np.uint8)
        layers.local(f"table of {shape}", 106, [("uint8", x + 9, False), ("uint8", entries.reshape(1, 1, 1, 256), True)], ("uint8", shape), words(0, 0, 0), entries[(x + 9).astype(int)])
    for shapes in LOCAL_SPREAD:
        for operation, function in OPERATIONS.items():
            if operation == 3:
                continue
            for kind in FLOATS:
                x, y = (layers.numbers(kind, shape) for shape in shapes)
                for one, other in ((x, y), (y, x)):
                    for constant in (False, True):
                        result = function(one, other)
                        layers.local(f"operation {operation} of {one.shape} and {other.shape}{' constant' if constant else ''}", 31, [(kind, one, False), (kind, other, constant)],
                                     (kind, result.shape), lambda at: binary_words(operation, at), result, WORK)
        for kind, to in (("int8", "int8"), ("uint8", "uint8")):
            x, y = (layers.numbers(kind, shape) for shape in shapes)
            for one, other in ((x, y), (y, x)):
                result = 2 * one + 3 * other
                layers.local(f"sum of bytes {one.shape} and {other.shape}", 31, [(kind, one, False), (kind, other, False)], (to, result.shape),
                             lambda at: binary_words(0, at, (4, 6), (1, 1)), result, WORK)
        x, y = (layers.numbers("int32", shapes[0]) for _ in range(2))
        layers.local(f"sum of {shapes[0]}", 31, [("int32", x, False), ("int32", y, False)], ("int32", x.shape), lambda at: binary_words(0, at), x + y, WORK)
    # Slices of rows.
    x, y = layers.numbers("float32", (7, 70, 3, 4)), layers.numbers("float32", (1, 70, 1, 4))
    for rows in range(1, 9):
        layers.local(f"slices of {rows}", 31, [("float32", x, False), ("float32", y, rows % 2 == 0)], ("float32", x.shape), lambda at: binary_words(0, at), x + y, WORK, rows=rows)


# Functions by their numbers: of which types, and over which numbers.
FUNCTIONS = {0: (FLOATS[:1], -9), 1: (FLOATS[:1], -9), 3: (FLOATS, -9), 4: (FLOATS[:1], -9), 5: (FLOATS[:1], 0), 9: (FLOATS, 1), 18: (FLOATS, -9), 19: (FLOATS[:1], -9),
             29: (FLOATS[:1], -9), 30: (FLOATS[:1], -9), 33: (FLOATS[:1], -9)}


def activation(layers, function, kind, low):
    found = {}
    few = np.arange(low, 10, dtype=np.float32)
    coefficients = words(function, 1.0 if function == 4 else 0.0, *[0.0] * 7)

    def keep(made):
        found.update(zip(few.tolist(), made[0]))
        assert len(set(values_of(kind, made[0]).tolist())) > 5, f"function {function} of {kind}"

    def look_up(x):
        return lambda: np.array([found[value] for value in x.reshape(-1).tolist()]).reshape(x.shape)
    layers.layer(f"function {function}", 35, [(kind, few, False)], [(kind, few.shape)], coefficients + words(0), check=keep)
    for shape in FLAT[:9]:
        x = layers.numbers(kind, shape, low)
        layers.layer(f"function {function} of {shape}", 35, [(kind, x, False)], [(kind, shape)], coefficients + words(0), [look_up(x)])
    for shape in LOCAL[:-1]:
        x = layers.numbers(kind, shape, low)
        layers.local(f"local function {function} of {shape}", 35, [(kind, x, False)], (kind, shape), lambda at: coefficients + words(at), look_up(x),
                     4 * dynamic_files.local_bytes(kind, shape) + 4 * 64)


def activations(layers):
    """What a function makes of a number, wherever it stands: few numbers in device memory against tensors of all sizes there and in local memory."""
    for function, (kinds, low) in FUNCTIONS.items():
        for kind in kinds:
            activation(layers, function, kind, low)


def windows_of(x, kernel, stride, pads, dilation, fill):
    padded = np.pad(x, ((0, 0), (0, 0), pads[:2], pads[2:]), constant_values=fill)
    spans = [step * (size - 1) + 1 for size, step in zip(kernel, dilation)]
    all = np.lib.stride_tricks.sliding_window_view(padded, spans, (2, 3))
    return all[:, :, ::stride[0], ::stride[1], ::dilation[0], ::dilation[1]]


def poolings(layers):
    def one(kind, shape, kernel, stride, pads, dilation, average, every=0, refused=None):
        x = layers.numbers(kind, shape, *(-2, 3) if average else (-9, 10))  # of which sums are exact
        if average and kind in FLOATS and not refused:
            x = x * (kernel[0] * kernel[1])
        view = windows_of(x, kernel, stride, pads, dilation, 0 if average else -np.inf)
        y = view.mean((4, 5)) if average else view.max((4, 5))
        if average:
            counts = windows_of(np.ones((1, 1, *shape[2:])), kernel, stride, pads, dilation, 0).sum((4, 5))
            y = y * (kernel[0] * kernel[1]) / counts
        layers.local(f"{'average' if average else 'maximum'} {kernel} of {shape} by {stride}, pads {pads}, dilation {dilation}", 1, [(kind, x, False)], (kind, y.shape),
                     lambda at: words(at, *kernel, *pads, *stride, *dilation, every, int(average), 0, 1 if average else 0, 0, -1.0, 0, 0, 0, 0, 1, 0, *[0] * 6), y,
                     2 * dynamic_files.local_bytes("float32", (*shape[:2], 1, 16)), refused=refused)
    for kind in (*FLOATS, *BYTES):
        for shape in ((1, 3, 9, 11), (3, 65, 8, 8), (2, 130, 1, 7), (1, 1, 255, 20), (2, 3, 20, 300)):
            for kernel, stride, pads, dilation in (((1, 1), (1, 1), (0,) * 4, (1, 1)), ((1, 3), (2, 1), (0, 0, 1, 1), (1, 1)), ((1, 2), (15, 3), (0, 0, 1, 0), (1, 3)),
                                                   ((3, 3), (2, 2), (1, 1, 1, 1), (1, 1)), ((8, 4), (1, 4), (2, 3, 3, 0), (1, 2)), ((255, 1), (1, 1), (0,) * 4, (1, 1))):
                if any(extent + sum(pads[2 * i:2 * i + 2]) < dilation[i] * (kernel[i] - 1) + 1 for i, extent in enumerate(shape[2:])):
                    continue
                one(kind, shape, kernel, stride, pads, dilation, False)
    one("float32", (1, 2, 40, 40), (20, 20), (1, 1), (16, 0, 0, 0), (1, 1), False, refused="pooling (1)")
    for kind in FLOATS:
        for shape, kernel, stride, pads in (((1, 3, 8, 8), (2, 2), (2, 2), (0,) * 4), ((3, 65, 9, 8), (2, 4), (1, 2), (0,) * 4), ((2, 130, 8, 9), (4, 2), (2, 1), (2, 2, 1, 0)),
                                            ((1, 1, 64, 3), (64, 1), (1, 1), (0,) * 4), ((1, 2, 7, 2), (2, 2), (1, 1), (1, 1, 1, 1)), ((2, 70, 1, 1), (1, 1), (1, 1), (0,) * 4)):
            one(kind, shape, kernel, stride, pads, (1, 1), True)
        for shape in ((2, 70, 4, 4), (1, 1, 1, 1), (3, 130, 16, 8), (2, 3, 1, 2), (1, 2, 2, 1), (1, 65, 32, 16)):
            one(kind, shape, shape[2:], (1, 1), (0,) * 4, (1, 1), True, 1)
        one(kind, (1, 1, 200, 200) if kind != "float32" else (1, 1, 120, 120), (200, 200) if kind != "float32" else (120, 120), (1, 1), (0,) * 4, (1, 1), True, 1, "pooling (1)")
    one("float32", (1, 2, 4, 4), (4, 4), (1, 1), (1, 1, 1, 1), (1, 1), True, 1, "pooling (1): a global average of this window")


def softmaxes(layers):
    """Rows together beside each row alone: exponentials are not exact."""
    def run(what, kind, x, local, check):
        axis = x.ndim - 1
        if local:
            layers.local(what, 19, [(kind, x, False)], (kind, x.shape), lambda at: words(1.0, axis, axis, 0, 0, at),
                         work=8 * dynamic_files.local_bytes("float32", (1, *x.shape[1:])) + 4096, check=check)
        else:
            layers.layer(what, 19, [(kind, x, False)], [(kind, x.shape)], words(1.0, axis, axis, 0, 0), check=check)

    def whole_and_parts(what, kind, x, local, parts):
        whole = []

        def keep(made):
            whole.append(made[0].reshape(x.shape))
            assert abs(values_of(kind, whole[0]).astype(np.float64).sum(-1) - 1).max() < 0.02, f"{what}, {kind}: a row does not sum to 1"
        run(what, kind, x, local, keep)
        for part in parts:
            run(what, kind, np.ascontiguousarray(x[part]), local, lambda made, part=part: dynamic_files.same(made[0], whole[0][part], f"{what}, {kind}, {part}"))
    for kind in FLOATS:
        for shape in ((1, 64), (3, 17), (1030, 33), (2048, 64), (420, 40), (50, 50), (1025, 17)):
            whole_and_parts(f"softmax of {shape}", kind, layers.numbers(kind, shape), False, [slice(row, row + 1) for row in (0, shape[0] - 1, *layers.rng.integers(0, shape[0], 3))])
    for kind in FLOATS[1:]:
        for shape in ((1, 1, 1, 1), (2, 130, 1, 10), (2, 70, 1, 32), (1, 200, 1, 64), (3, 65, 1, 33), (2, 130, 20, 7), (1, 3, 33, 24), (2, 66, 5, 50), (1, 64, 16, 64), (1, 129, 2, 1), (2, 65, 2, 64), (1, 256, 31, 50)):
            planes = {(0, 0), (shape[0] - 1, shape[1] - 1), (shape[0] - 1, min(64, shape[1] - 1)), (0, 2 * shape[1] // 3)}
            whole_and_parts(f"local softmax of {shape}", kind, layers.numbers(kind, shape), True, [(slice(n, n + 1), slice(c, c + 1)) for n, c in sorted(planes)])


def values_of(kind, stored):
    import softtpu
    return softtpu.types.decode(stored, kind) if kind == "bfloat16" else stored


def resizes(layers):
    for kind in FLOATS[:2]:
        for shape in ((1, 1, 2, 2), (2, 65, 2, 1024), (1, 3, 1024, 2), (1, 130, 32, 64), (2, 2, 45, 45), (1, 64, 3, 5)):
            x = 4 * layers.numbers(kind, shape)
            y = x
            for axis in (2, 3):  # between two elements lie two, a quarter and three quarters of the way; the ends stay
                y = np.moveaxis(y, axis, 0)
                made = np.repeat(y, 2, 0)
                made[1:-1:2], made[2:-1:2] = (y[:-1] + (y[1:] - y[:-1]) * way for way in (0.25, 0.75))
                y = np.moveaxis(made, 0, axis)
            layers.layer(f"resize of {shape}", 20, [(kind, x, False)], [(kind, y.shape)],
                         lambda network: words(0, 0, 256, 4, 1, *y.shape, *[0] * 4, 4, network.room(64 * 2 * shape[2] * 4), *[0] * 4), [y])


def softmax_of_row(layers, length):
    exponentials = 2.0 ** -np.arange(256, dtype=np.float32).clip(0, 20)
    x = layers.numbers("int8", (length,), -4, 4)
    orders = []

    def forwards(made):
        orders.append(made[0].reshape(-1))
        dynamic_files.same(orders[-1], orders[0], f"softmax of {length} bytes")
        assert abs(int(orders[0].sum()) - 255) <= length

    def backwards(made):
        forwards([made[0].reshape(-1)[::-1]])
    for shape, values, check in (((length,), x, forwards), ((1, length), x[::-1], backwards), ((1, 1, length, 1), x, forwards)):
        axis = shape.index(length) if length > 1 else 0
        layers.layer(f"softmax of {length} bytes", 19, [("int8", np.ascontiguousarray(values).reshape(shape), False), ("float32", exponentials.reshape(1, 1, 1, 256), True)],
                     [("uint8", shape)], words(1 / 255, axis, axis, 0, 0), check=check)


def softmax_of_bytes(layers):
    """Elements in another order: the sums are exact."""
    for length in range(1, 11):
        softmax_of_row(layers, length)


def smaller(device, flatc, rng):
    """A list in many shapes below its greatest one: a group in slices of three rows, moves, a reduction, and a shape that a tensor holds."""
    most = (7, 130, 6, 9)
    for kind in FLOATS:
        network = dynamic_files.Network(flatc)
        x, sizes = network.input(kind, most), network.input("float32", (2,))
        slopes = network.constant(kind, stored_as(kind, np.full((1, 1, 1, 1), 2.0)))
        tripled = network.local([(32, [x], (kind, most), words(3.0, 0, 0, 2, 0, -1.0, 1, 0, 1.0, 0, 0), 0),
                                 (31, [0, slopes], (kind, most), lambda at: binary_words(2, at), 0x4000)], 3)
        turned, = network.layer(49, [tripled], [(kind, (most[2], most[3], most[0], most[1]))], words(network.room(x.bytes), 2, 3, 0, 1, 0, 0, 0, 0))
        joined, = network.layer(7, [turned, turned], [(kind, (most[2], 2 * most[3], most[0], most[1]))], words(2, 1, 0, 0))
        best, = network.layer(50, [joined], [(kind, (most[2], 2 * most[3], most[1]))], words(2, *[0] * 7, 1, 2, 1.0, 1.0, 0, 0, network.room(2 * x.bytes), 0, 0))
        flat, = network.layer(18, [best], [(kind, (most[2], 2 * most[3] * most[1]))], words(2, 0, -1, *[0] * 7))
        network.output(tripled, joined, flat)
        with device.load_model(network.file()) as model:
            for shape in (most, (1, 1, 1, 1), (3, 64, 1, 9), (4, 65, 6, 1), *(tuple(int(rng.integers(1, extent + 1)) for extent in most) for _ in range(12))):
                values = rng.integers(-9, 10, shape).astype(np.float32)
                made = model(values, np.zeros(2, np.float32))
                moved = np.concatenate([(6 * values).transpose(2, 3, 0, 1)] * 2, 1)
                for one, expected in zip((made[tensor.name] for tensor in model.outputs()), (6 * values, moved, moved.max(2).reshape(moved.shape[0], -1))):
                    dynamic_files.same(one, stored_as(kind, expected), f"{kind} {shape}")


def norms(layers):
    """Rows together beside each row alone."""
    for kind in FLOATS[1:]:
        for shape in ((1, 1, 1), (2, 130, 32), (3, 65, 255), (1, 7, 64), (5, 64, 33), (1, 200, 17)):
            for affine in range(4):
                x = layers.numbers(kind, shape)
                along = [(kind, layers.numbers(kind, (1, 1, shape[2])), True) for _ in range((affine & 1) + (affine >> 1))]
                whole = []

                def run(values, check):
                    work = 2 * (dynamic_files.local_bytes("float32", values.shape) + dynamic_files.local_bytes("float32", values.shape[:2]))
                    layers.local(f"norm of {shape}", 131, [(kind, values, False), *along], (kind, values.shape), lambda at: words(2, 1e-5, affine, 0, 0, at), work=work, check=check)
                run(x, whole.extend)
                for n, c in sorted({(0, 0), (shape[0] - 1, shape[1] - 1), (shape[0] - 1, min(64, shape[1] - 1))}):
                    part = slice(n, n + 1), slice(c, c + 1)
                    run(np.ascontiguousarray(x[part]), lambda made, whole=whole, part=part, what=f"norm of {kind} {shape}, {part}, affine {affine}":
                        dynamic_files.same(made[0], whole[0][part], what))


def empty(device, flatc):
    """A slice that takes nothing of a launch's rows, and what follows."""
    def slice_words(extents):
        return words(0, 0, 0, 3, *[0] * 6, *extents, *[0] * 4, *[1] * 8, 4, 0, 0, 0, 0)
    most = 2, 6, 3, 4
    for local in (False, True):
        network = dynamic_files.Network(flatc)
        x, y = network.input("float32", most), network.input("float32", (2, 1, 3, 1))
        rest, = network.layer(51, [x], [("float32", (2, 3, 3, 4))], slice_words(most))
        if local:
            network.output(network.local([(11, [rest], ("float32", rest.shape), words(-1.0, 0.0, 1, 0, 0), 0)]))
        else:
            rest, = network.layer(11, [rest], [("float32", rest.shape)], words(-1.0, 0.0, 1, 0, 0))
            rest, = network.layer(31, [rest, y], [("float32", rest.shape)], binary_words(0))
            rest, = network.layer(26, [rest], [("float32", (2, 3, 4, 4))], words(0, 0, 0, 0, 1, 0, 0, 0, 0, 2.0, 0, 0, 0))
            rest, = network.layer(49, [rest], [("float32", (2, 3, 4, 4))], words(network.room(4096), 0, 1, 3, 2, 0, 0, 0, 0))
            rest, = network.layer(66, [rest], [("float32", (2, 3, 8, 8))], words(2, 0))
            rest, = network.layer(18, [rest], [("float32", (2, 3, 8, 8))], words(4, 0, 0, 8, 8, 0, 0, 0, 0))
            network.output(*network.layer(7, [rest, network.input("float32", (2, 1, 8, 8))], [("float32", (2, 4, 8, 8))], words(2, 1, 0, 0)))
        values = np.arange(2 * 2 * 3 * 4, dtype=np.float32).reshape(2, 2, 3, 4)
        last = np.ones((2, 1, 8, 8), np.float32)
        made = dynamic_files.run(device, network.file(), values, np.ones((2, 1, 3, 1), np.float32), *([] if local else [last]), refused="relu (11): tensors without elements" if local else None)
        if made:
            dynamic_files.same(made[0], last, "a concatenation with nothing")


def unwritten(device, flatc):
    """An output that is an input, which no layer copies, and one that stays in local memory."""
    x = np.ones((3, 4), np.float32)
    network = dynamic_files.Network(flatc)
    network.output(network.input("float32", x.shape))
    dynamic_files.run(device, network.file(), x, refused="nothing makes one of its outputs")
    network = dynamic_files.Network(flatc)
    add = 32, [network.input("float32", x.shape)], ("float32", x.shape), words(3.0, 0, 0, 0, 0, -1.0, 1, 0, 1.0, 0, 0), 0
    last = network.local([add, (11, [0], ("float32", x.shape), words(-1.0, 0.0, 1, 0, 0), 0)])
    network.output(dynamic_files.Tensor(last.id - 1, last.kind, last.shape, network.room(last.bytes)))
    dynamic_files.run(device, network.file(), x, refused="nothing makes one of its outputs")


# Of which the checks say nothing. Pieces of element-by-element layers have a last channel that is not full, which is computed all the same: behind
# other layers it holds some of their elements.
CHECKED = concatenations, reshapes, transposes, slices, slice_borders, paddings, upsamplings, blocks, gathers, largest, poolings, softmaxes, softmax_of_bytes, resizes, norms
UNCHECKED = tiles, element_by_element, activations, reductions, local_elements


def main():
    options = dynamic_files.arguments(__doc__).parse_args()
    import softtpu
    rng = np.random.default_rng(options.seed)
    count = 0
    for checks, functions in ((None, UNCHECKED), ("all", CHECKED)):
        with softtpu.Device(check=checks) as device:
            layers = Layers(device, options.flatc, rng)
            for function in functions:
                function(layers)
                layers.run()
            if checks is None:
                smaller(device, options.flatc, rng)
                empty(device, options.flatc)
                unwritten(device, options.flatc)
            assert not device.findings, "\n".join(map(str, device.findings))
            count += layers.count
    print(f"{count} layers beside NumPy, {layers.count} of them with all checks")


if __name__ == "__main__":
    main()
