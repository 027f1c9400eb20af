"""RMSNorm beside numpy in double precision; the chip's root and its sums are not numpy's, so a little may differ."""
import numpy as np

from softtpu import Output

chips = ["bm1684x", "bm1688", "bm1690", "bm1690e", "bm1684x2"]
shapes = [dict(rows=1, columns=128), dict(rows=70, columns=256)]
tolerance = (1e-3, 1e-3)


def arguments(rows, columns):
    rng = np.random.default_rng(1)
    return dict(out=Output((rows, columns), np.float16), rows=rows, columns=columns, epsilon=1e-5,
                **{"in": rng.normal(size=(rows, columns)).astype(np.float16)}, gamma=rng.normal(1, 0.1, columns).astype(np.float16))


def reference(gamma, epsilon, **rest):
    x = rest["in"].astype(np.float64)
    return x / np.sqrt((x * x).mean(axis=1, keepdims=True) + epsilon) * gamma
