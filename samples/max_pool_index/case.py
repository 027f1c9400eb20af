"""Max pooling with index; numbers are repeated so that windows with equal elements are among them."""
import numpy as np

from softtpu import Output

chips = ["bm1684x", "bm1688", "bm1690", "bm1690e", "bm1684x2"]
shapes = [dict(c=3, h=4, w=6), dict(c=70, h=28, w=28)]


def arguments(c, h, w):
    values = np.random.default_rng(1).integers(-5, 6, (c, h, w)).astype(np.float32)
    return dict(out=Output((c, h // 2, w // 2)), index=Output((c, h // 2, w // 2), np.int32), c=c, h=h, w=w, **{"in": values})


def reference(c, h, w, **rest):
    windows = rest["in"].reshape(c, h // 2, 2, w // 2, 2).transpose(0, 1, 3, 2, 4).reshape(c, h // 2, w // 2, 4)
    return dict(out=windows.max(axis=3), index=windows.argmax(axis=3).astype(np.int32))
