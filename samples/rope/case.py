"""Rotary embedding: numpy rounds every fp16 operation as the chip does, so every bit is the same."""
import numpy as np

from softtpu import Output

chips = ["bm1684x", "bm1688", "bm1690"]
shapes = [dict(positions=5, heads=2, dim=64), dict(positions=100, heads=4, dim=128)]


def arguments(positions, heads, dim):
    rng = np.random.default_rng(1)
    angles = np.arange(positions)[:, None] * 10000.0 ** (-np.arange(0, dim, 2) / dim)
    return dict(out=Output((positions, heads, dim), np.float16), x=rng.normal(size=(positions, heads, dim)).astype(np.float16),
                cosine=np.cos(angles).astype(np.float16), sine=np.sin(angles).astype(np.float16), positions=positions, heads=heads, dim=dim)


def reference(x, cosine, sine):
    first, second = np.split(x, 2, axis=2)
    cosine, sine = cosine[:, None], sine[:, None]
    return np.concatenate([first * cosine - second * sine, second * cosine + first * sine], axis=2)
