"""A product with 4-bit weights beside numpy; the order of its sums is the chip's own."""
import numpy as np

from softtpu import Output

chips = ["bm1684x", "bm1688", "bm1690", "bm1690e", "bm1684x2"]
shapes = [dict(m=1, k=64, n=32), dict(m=16, k=128, n=96)]
tolerance = (2e-3, 2e-3)


def arguments(m, k, n):
    rng = np.random.default_rng(1)
    return dict(out=Output((m, n), np.float16), x=rng.normal(size=(m, k)).astype(np.float16), weight=rng.integers(0, 256, (k, n // 2), dtype=np.uint8),
                scale=rng.uniform(0.01, 0.02, n).astype(np.float16), m=m, k=k, n=n)


def reference(x, weight, scale):
    bits = np.stack([weight & 15, weight >> 4], axis=2).reshape(weight.shape[0], -1)
    weights = (bits.astype(np.float16) - np.float16(8)) * scale
    return x.astype(np.float64) @ weights.astype(np.float64)
