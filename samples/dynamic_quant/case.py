"""Dynamic quantisation beside the same steps in numpy. Only the reciprocal of a scale can round to another neighbour than numpy's, which moves a few
numbers by one step of their row."""
import numpy as np

from softtpu import Output

chips = ["bm1684x", "bm1688", "bm1690", "bm1690e", "bm1684x2"]
shapes = [dict(m=3, k=64, n=48), dict(m=70, k=128, n=96)]
tolerance = (0.02, 0.01)


def arguments(m, k, n):
    rng = np.random.default_rng(1)
    return dict(out=Output((m, n), np.float16), x=rng.normal(size=(m, k)).astype(np.float16), weight=rng.integers(-127, 128, (k, n), dtype=np.int8),
                weight_scale=rng.uniform(0.001, 0.002, n).astype(np.float32), m=m, k=k, n=n)


def reference(x, weight, weight_scale):
    x = x.astype(np.float32)
    scale = np.abs(x).max(axis=1, keepdims=True) / 127
    quantised = np.clip(np.rint(x / scale), -128, 127).astype(np.int32)
    return (quantised @ weight.astype(np.int32)) * scale * weight_scale
