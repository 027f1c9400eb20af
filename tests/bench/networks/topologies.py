"""The float models of the networks that `scripts/bench --networks` measures, as ONNX files with random weights from a seed:
what another runtime is timed with. Only the shapes matter, so no weight is anything that was trained."""
import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
IR_VERSION = 8


class Graph:
    """Adds nodes one after the other; each method returns the name of its result."""

    def __init__(self, name, shape, seed=1):
        self.name, self.shape = name, shape
        self.random = numpy.random.default_rng(seed)
        self.nodes, self.weights = [], []

    def node(self, kind, *inputs, **attributes):
        result = f"{kind.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [result], **attributes))
        return result

    def constant(self, values):
        name = f"weight{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def weight(self, *shape):
        fan_in = max(1, int(numpy.prod(shape[1:])))
        return self.constant((self.random.standard_normal(shape) / numpy.sqrt(fan_in)).astype(numpy.float32))

    def ints(self, *values):
        return self.constant(numpy.array(values, numpy.int64))

    def conv(self, x, inputs, outputs, kernel, stride=1, group=1):
        pad = kernel // 2
        return self.node("Conv", x, self.weight(outputs, inputs // group, kernel, kernel), self.weight(outputs),
                         kernel_shape=[kernel, kernel], strides=[stride, stride], pads=[pad] * 4, group=group)

    def relu6(self, x):
        return self.node("Clip", x, self.constant(numpy.float32(0)), self.constant(numpy.float32(6)))

    def linear(self, x, inputs, outputs):
        return self.node("Add", self.node("MatMul", x, self.weight(inputs, outputs)), self.weight(outputs))

    def head(self, x, channels, classes=1000):
        flat = self.node("Flatten", self.node("GlobalAveragePool", x))
        return self.node("Gemm", flat, self.weight(classes, channels), self.weight(classes), transB=1)

    def model(self, result, shape):
        graph = helper.make_graph(self.nodes, self.name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)],
                                  [helper.make_tensor_value_info(result, TensorProto.FLOAT, shape)], self.weights)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
        onnx.checker.check_model(made)
        return made


def mobilenetv2():
    g = Graph("mobilenetv2", [1, 3, 224, 224])
    x, channels = g.relu6(g.conv("x", 3, 32, 3, 2)), 32
    for expand, outputs, blocks, first_stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                                  (6, 160, 3, 2), (6, 320, 1, 1)):
        for block in range(blocks):
            stride, inner, start = first_stride if block == 0 else 1, channels * expand, x
            if expand > 1:
                x = g.relu6(g.conv(x, channels, inner, 1))
            x = g.relu6(g.conv(x, inner, inner, 3, stride, group=inner))
            x = g.conv(x, inner, outputs, 1)
            if stride == 1 and channels == outputs:
                x = g.node("Add", start, x)
            channels = outputs
    return g.model(g.head(g.relu6(g.conv(x, channels, 1280, 1)), 1280), [1, 1000])


def resnet18(name, first, side):
    g = Graph(name, [1, 3, side, side])
    x = g.node("Relu", g.conv("x", 3, first, 7, 2))
    x, channels = g.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]), first
    for stage in range(4):
        outputs = first << stage
        for block in range(2):
            stride = 2 if stage > 0 and block == 0 else 1
            y = g.conv(g.node("Relu", g.conv(x, channels, outputs, 3, stride)), outputs, outputs, 3)
            if stride != 1 or channels != outputs:
                x = g.conv(x, channels, outputs, 1, stride)
            x, channels = g.node("Relu", g.node("Add", x, y)), outputs
    return g.model(g.head(x, channels), [1, 1000])


def unet(name, first, side):
    g = Graph(name, [1, 3, side, side])
    levels = 4

    def block(x, inputs, outputs):
        return g.node("Relu", g.conv(g.node("Relu", g.conv(x, inputs, outputs, 3)), outputs, outputs, 3))

    x, channels, skipped = "x", 3, []
    for level in range(levels):
        x = block(x, channels, first << level)
        channels = first << level
        skipped.append(x)
        x = g.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = block(x, channels, first << levels)
    for level in reversed(range(levels)):
        channels = first << level
        x = g.node("ConvTranspose", x, g.weight(2 * channels, channels, 2, 2), g.weight(channels), kernel_shape=[2, 2], strides=[2, 2])
        x = block(g.node("Concat", x, skipped[level], axis=1), 2 * channels, channels)
    return g.model(g.node("Sigmoid", g.conv(x, channels, 2, 1)), [1, 2, side, side])


def vit_tiny(side=96, patch=16, width=192, heads=3, layers=4):
    g = Graph(f"vit_tiny_{side}", [1, 3, side, side])
    tokens = (side // patch) ** 2 + 1
    x = g.node("Conv", "x", g.weight(width, 3, patch, patch), g.weight(width), kernel_shape=[patch, patch], strides=[patch, patch])
    x = g.node("Transpose", g.node("Reshape", x, g.ints(1, width, tokens - 1)), perm=[0, 2, 1])
    x = g.node("Add", g.node("Concat", g.weight(1, 1, width), x, axis=1), g.weight(1, tokens, width))

    def norm(value):
        return g.node("LayerNormalization", value, g.weight(width), g.weight(width), axis=-1)

    def split(value, order):
        return g.node("Transpose", g.node("Reshape", value, g.ints(1, tokens, heads, width // heads)), perm=order)

    for _ in range(layers):
        y = norm(x)
        query, value = split(g.linear(y, width, width), [0, 2, 1, 3]), split(g.linear(y, width, width), [0, 2, 1, 3])
        key = split(g.linear(y, width, width), [0, 2, 3, 1])
        scale = g.constant(numpy.float32((width // heads) ** -0.5))
        weights = g.node("Softmax", g.node("Mul", g.node("MatMul", query, key), scale), axis=-1)
        y = g.node("Transpose", g.node("MatMul", weights, value), perm=[0, 2, 1, 3])
        x = g.node("Add", x, g.linear(g.node("Reshape", y, g.ints(1, tokens, width)), width, width))
        y = g.linear(norm(x), width, 4 * width)
        error = g.node("Erf", g.node("Mul", y, g.constant(numpy.float32(0.5 ** 0.5))))
        y = g.node("Mul", g.node("Mul", y, g.node("Add", error, g.constant(numpy.float32(1)))), g.constant(numpy.float32(0.5)))
        x = g.node("Add", x, g.linear(y, 4 * width, width))
    first = g.node("Gather", norm(x), g.constant(numpy.array(0, numpy.int64)), axis=1)
    return g.model(g.linear(first, width, 1000), [1, 1000])


def gru2(steps=30, inputs=40, hidden=48, outputs=20):
    g = Graph("gru2", [steps, 1, inputs])
    x = "x"
    for _ in range(2):
        x = g.node("GRU", x, g.weight(2, 3 * hidden, inputs), g.weight(2, 3 * hidden, hidden), g.weight(2, 6 * hidden),
                   hidden_size=hidden, direction="bidirectional", linear_before_reset=1)
        x = g.node("Reshape", g.node("Transpose", x, perm=[0, 2, 1, 3]), g.ints(steps, 1, 2 * hidden))
        inputs = 2 * hidden
    return g.model(g.linear(x, inputs, outputs), [steps, 1, outputs])


# By the name of a network.
TOPOLOGIES = {
    "mobilenetv2": mobilenetv2,
    "resnet18h_64": lambda: resnet18("resnet18h_64", 32, 64),
    "unet_64": lambda: unet("unet_64", 16, 64),
    "vit_tiny_96": vit_tiny,
    "gru2": gru2,
}
