#!/usr/bin/python3
"""Trains the network of this sample and writes data/network.bin and data/digits.bin.

Needs the Debian package python3-sklearn and is run once, when the network is changed; the files it writes are part of the
repository. The data set is scikit-learn's copy of "Optical Recognition of Handwritten Digits" (see data/README.md).
Formats: data/README.md.
"""
import pathlib
import struct

import numpy as np
from sklearn.datasets import load_digits

HERE = pathlib.Path(__file__).resolve().parent
LAYERS = [(16, 1, 3), (32, 16, 3), (64, 32, 3), (10, 64, 2)]  # output channels, input channels, window
POOL_AFTER = (1, 2)  # layers followed by 2 x 2 max pooling
TEST_IMAGES = 360
INPUT_EXPONENT = 7  # the chip gets round(x * 2^7) for the integer network, x in 0..1


def columns(x, k, pad):
    """Windows of (n, c, h, w) as (n, c*k*k, pixels)."""
    n, c, h, w = x.shape
    padded = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    out = h + 2 * pad - k + 1
    taps = [padded[:, :, i:i + out, j:j + out] for i in range(k) for j in range(k)]
    return np.stack(taps, 2).reshape(n, c * k * k, out * out), out


def forward(x, weights, biases, keep=None):
    for layer, (oc, ic, k) in enumerate(LAYERS):
        cols, out = columns(x, k, 1 if k == 3 else 0)
        y = np.matmul(weights[layer].reshape(oc, -1), cols).reshape(len(x), oc, out, out) + biases[layer][None, :, None, None]
        if keep is not None:
            keep.append((x.shape, cols, y))
        if layer + 1 < len(LAYERS):
            y = np.maximum(y, 0)
        if layer in POOL_AFTER:
            n, c, h, w = y.shape
            y = y.reshape(n, c, h // 2, 2, w // 2, 2).max((3, 5))
        x = y
    return x[:, :, 0, 0]


def backward(d, weights, keep):
    gradients = []
    for layer in reversed(range(len(LAYERS))):
        oc, ic, k = LAYERS[layer]
        shape, cols, y = keep[layer]
        if layer in POOL_AFTER:
            active = np.maximum(y, 0)
            n, c, h, w = y.shape
            blocks = active.reshape(n, c, h // 2, 2, w // 2, 2)
            best = blocks == blocks.max((3, 5), keepdims=True)
            d = (best * d[:, :, :, None, :, None]).reshape(y.shape)
        if layer + 1 < len(LAYERS):
            d = d * (y > 0)
        flat = d.reshape(len(d), oc, -1)
        gradients.append((np.einsum("nop,nkp->ok", flat, cols, optimize=True).reshape(oc, ic, k, k), d.sum((0, 2, 3))))
        if layer:
            n, c, h, w = shape
            pad = 1 if k == 3 else 0
            out = h + 2 * pad - k + 1
            dcols = np.matmul(weights[layer].reshape(oc, -1).T, flat).reshape(n, c, k * k, out, out)
            dx = np.zeros((n, c, h + 2 * pad, w + 2 * pad), np.float32)
            for tap in range(k * k):
                dx[:, :, tap // k:tap // k + out, tap % k:tap % k + out] += dcols[:, :, tap]
            d = dx[:, :, pad:pad + h, pad:pad + w]
    return gradients[::-1]


def train(x, labels, rng):
    weights = [rng.normal(0, (2 / (ic * k * k)) ** 0.5, (oc, ic, k, k)).astype(np.float32) for oc, ic, k in LAYERS]
    biases = [np.zeros(oc, np.float32) for oc, _, _ in LAYERS]
    moments = [[np.zeros_like(v), np.zeros_like(v)] for pair in zip(weights, biases) for v in pair]
    step = 0
    for epoch in range(30):
        order = rng.permutation(len(x))
        for first in range(0, len(x), 64):
            batch = order[first:first + 64]
            shift = rng.integers(-1, 2, 2)
            images = np.roll(x[batch], shift, (2, 3)) if epoch % 2 else x[batch]
            keep = []
            scores = forward(images, weights, biases, keep)
            p = np.exp(scores - scores.max(1, keepdims=True))
            p /= p.sum(1, keepdims=True)
            p[np.arange(len(batch)), labels[batch]] -= 1
            step += 1
            rate = 2e-3 * (0.5 + 0.5 * np.cos(np.pi * epoch / 30))
            flat = [g for pair in backward((p / len(batch))[:, :, None, None].astype(np.float32), weights, keep) for g in pair]
            for value, g, m in zip([v for pair in zip(weights, biases) for v in pair], flat, moments):
                m[0] += 0.1 * (g - m[0])
                m[1] += 0.001 * (g * g - m[1])
                value -= (rate * (m[0] / (1 - 0.9 ** step)) / (np.sqrt(m[1] / (1 - 0.999 ** step)) + 1e-8)).astype(np.float32)
        print(f"epoch {epoch + 1}: training accuracy of the last batch {np.mean(scores.argmax(1) == labels[batch]):.3f}", flush=True)
    return weights, biases


def exponent(limit, largest):
    """The largest e with largest * 2^e <= limit."""
    return int(np.floor(np.log2(limit / largest)))


def quantise(x, weights, biases):
    """Powers of two as scales, as the chip's integer convolution wants: (weights int8, biases int16, right shift) per layer."""
    keep = []
    forward(x, weights, biases, keep)
    result = []
    e_in = INPUT_EXPONENT
    for layer in range(len(LAYERS)):
        last = layer + 1 == len(LAYERS)
        e_w = exponent(127, np.abs(weights[layer]).max())
        e_w = min(e_w, exponent(32767, max(np.abs(biases[layer]).max(), 1e-6)) - e_in)
        e_out = exponent(32767, np.abs(keep[layer][2]).max() * 1.5) if last else exponent(255, keep[layer][2].max())
        shift = max(0, e_in + e_w - e_out)
        result.append((np.clip(np.round(weights[layer] * 2.0 ** e_w), -127, 127).astype(np.int8),
                       np.clip(np.round(biases[layer] * 2.0 ** (e_in + e_w)), -32768, 32767).astype(np.int16), shift))
        e_in = e_in + e_w - shift
    return result


def integer_forward(x, network):
    """What the chip computes with the integer network."""
    x = np.round(x * 2 ** INPUT_EXPONENT).astype(np.int64)
    for layer, (w, b, shift) in enumerate(network):
        oc, ic, k = LAYERS[layer]
        cols, out = columns(x, k, 1 if k == 3 else 0)
        y = np.matmul(w.reshape(oc, -1).astype(np.int64), cols).reshape(len(x), oc, out, out) + b[None, :, None, None]
        y = (y + (1 << shift >> 1)) >> shift
        y = np.clip(y, 0, 255) if layer + 1 < len(LAYERS) else np.clip(y, -32768, 32767)
        if layer in POOL_AFTER:
            n, c, h, w2 = y.shape
            y = y.reshape(n, c, h // 2, 2, w2 // 2, 2).max((3, 5))
        x = y
    return x[:, :, 0, 0]


def main():
    rng = np.random.default_rng(2024)
    digits = load_digits()
    order = rng.permutation(len(digits.target))
    pixels = digits.images[order].astype(np.uint8)
    labels = digits.target[order].astype(np.uint8)
    x = (pixels[:, None] / 16).astype(np.float32)
    weights, biases = train(x[TEST_IMAGES:], labels[TEST_IMAGES:], rng)
    network = quantise(x[TEST_IMAGES:], weights, biases)
    test, truth = x[:TEST_IMAGES], labels[:TEST_IMAGES]
    print("test accuracy, float:  ", np.mean(forward(test, weights, biases).argmax(1) == truth))
    print("test accuracy, integer:", np.mean(integer_forward(test, network).argmax(1) == truth))

    out = bytearray(b"softtpu digits 1")
    out += struct.pack("<i", len(LAYERS))
    for (oc, ic, k), w, b, (wq, bq, shift) in zip(LAYERS, weights, biases, network):
        out += struct.pack("<5i", oc, ic, k, k, shift)
        out += w.astype("<f4").tobytes() + b.astype("<f4").tobytes() + wq.tobytes() + bq.astype("<i2").tobytes()
    (HERE / "data").mkdir(exist_ok=True)
    (HERE / "data/network.bin").write_bytes(out)
    (HERE / "data/digits.bin").write_bytes(b"".join(bytes([t]) + p.tobytes() for t, p in zip(truth, pixels[:TEST_IMAGES])))


if __name__ == "__main__":
    main()
