"""The complete collection of recorded networks, through libbmrt, where it lies beside the checkout."""
import pathlib

import numpy as np
import pytest

import softtpu
from softtpu import _native

COLLECTION = pathlib.Path(__file__).resolve().parents[3] / "shared/bmodel"
REFUSED = {}  # of a folder: networks that are refused, by name
FOLDERS = [("bm1684", "models-bm1684_1"), ("bm1688", "models-bm1688_2"), ("bm1690", "models-bm1690_8")]

pytestmark = [pytest.mark.skipif(not COLLECTION.exists(), reason="the complete collection is not here"),
              pytest.mark.skipif(not (_native.tree().lib / "libbmrt.so").exists(), reason="this tree has no libbmrt")]


def stored(dtype):
    return np.dtype("u2") if dtype == "bfloat16" else softtpu.types.element_type(dtype).storage


def arrays(tensors, raw):
    found = {}
    for tensor in tensors:
        kind = stored(tensor.dtype)
        size = int(np.prod(tensor.shapes[0])) * kind.itemsize
        found[tensor.name], raw = raw[:size].view(kind).reshape(tensor.shapes[0]), raw[size:]
    assert raw.size == 0
    return found


def run(device, path):
    with device.load_model(path) as network:
        given = arrays(network.inputs(), np.fromfile(path.with_suffix(".input.bin"), np.uint8))
        for tensor in network.inputs():
            network.memory(tensor.name)[...] = given[tensor.name]
        got = network.launch()
        return b"".join(got[tensor.name].numpy().tobytes() for tensor in network.outputs())


@pytest.mark.parametrize("chip, folder", FOLDERS)
def test_networks_give_the_recorded_bytes(chip, folder):
    different, refused = [], {}
    with softtpu.Device(chip=chip) as device:
        for path in sorted((COLLECTION / folder).glob("*.bmodel")):
            if not path.with_suffix(".output.bin").exists():
                continue
            try:
                if run(device, path) != path.with_suffix(".output.bin").read_bytes():
                    different.append(path.stem)
            except softtpu.Error as error:
                refused[path.stem] = str(error)
    assert different == []
    assert refused.keys() == REFUSED.get(folder, set()), refused
