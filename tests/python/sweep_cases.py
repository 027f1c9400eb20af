"""Cases of the sweeps' tests, in a module as a user has them."""
import os
import signal
import time

import numpy as np


def product(rows, columns):
    return {"size": rows * columns}


def troubled(what):
    """Whatever can happen to a task."""
    if what == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "hung":
        time.sleep(1000)
    if what == "raised":
        raise ValueError("no such tiling")
    if what == "greedy":
        return float(np.ones(1 << 29).sum())
    if what == "unkept":
        return object()
    return what


def killed_once(folder):
    """Its process dies the first time."""
    mark = os.path.join(folder, "tried")
    if not os.path.exists(mark):
        open(mark, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"


def counted(folder, number):
    """Leaves a file for each call."""
    open(os.path.join(folder, f"{number}-{time.monotonic_ns()}"), "w").close()
    return number * number


def adding(dev, count, kernels):
    mod = dev.compile(kernels)
    a = dev.array(np.arange(count, dtype=np.float32))
    out = dev.empty_like(a)
    result = mod.add(out, a, a, count)
    return {"sum": float(out.numpy().sum()), "us": result.estimated_us}


def launching(dev, what, kernels):
    """A kernel that works, crashes or hangs."""
    mod = dev.compile(kernels)
    a = dev.array(np.ones(4096, np.float32))
    mod.spin() if what == "spin" else mod.kernel(what)(a, a, a, 64)
    return what


def slow(number, seconds=0.02):
    time.sleep(seconds)
    return {"number": number, "square": number * number, "pid": os.getpid()}
