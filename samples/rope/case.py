"""Rotary embedding: numpy rounds every fp16 operation as the chip does, so every bit is the same. On BM1684X2 fp16 subnormals are zeros."""
import numpy as np

from softtpu import Output

chips = ["bm1684x", "bm1688", "bm1690", "bm1690e", "bm1684x2"]
shapes = [dict(positions=5, heads=2, dim=64), dict(positions=100, heads=4, dim=128)]


def arguments(positions, heads, dim):
    rng = np.random.default_rng(1)
    angles = np.arange(positions)[:, None] * 10000.0 ** (-np.arange(0, dim, 2) / dim)
    return dict(out=Output((positions, heads, dim), np.float16), x=rng.normal(size=(positions, heads, dim)).astype(np.float16),
                cosine=np.cos(angles).astype(np.float16), sine=np.sin(angles).astype(np.float16), positions=positions, heads=heads, dim=dim)


def reference(x, cosine, sine, chip):
    def settled(values):
        small = np.abs(values) < np.finfo(np.float16).tiny
        return np.where(small, np.copysign(np.float16(0), values), values) if chip == "bm1684x2" else values

    first, second, cosine, sine = (settled(values) for values in (*np.split(x, 2, axis=2), cosine[:, None], sine[:, None]))
    return np.concatenate([settled(settled(first * cosine) - settled(second * sine)), settled(settled(second * cosine) + settled(first * sine))],
                          axis=2)
