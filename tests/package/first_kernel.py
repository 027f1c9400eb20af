"""A first kernel from Python: doubles 640 numbers with the module of tests/package/project (argument)."""
import struct
import sys

import numpy as np
import softtpu

with softtpu.Device() as device:
    module = device.load(sys.argv[1])
    values = np.arange(640, dtype=np.float32)
    source = device.array(values)
    target = device.empty_like(source)
    # The module has no debug information, so the arguments are given as they lie in memory.
    module.kernel("add_to_itself", args="<QQi")(source, target, values.size)
    if not np.array_equal(target.numpy(), 2 * values):
        sys.exit("the kernel's result is wrong")
print("first kernel: right")
