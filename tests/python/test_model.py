"""Compiled networks: their outputs bit for bit, where libbmrt is built."""
import os
import pathlib
import threading

import numpy as np
import pytest

import softtpu
from softtpu import _native, model

NETWORKS = pathlib.Path(__file__).parent.parent / "golden-networks"
has_bmrt = (_native.tree().lib / "libbmrt.so").exists()


@pytest.fixture
def network():
    return sorted(NETWORKS.glob("*.bmodel"))[0]


@pytest.mark.skipif(has_bmrt, reason="libbmrt is there")
def test_without_libbmrt_the_error_says_so(dev, network):
    with pytest.raises(softtpu.Error, match="compiled networks need libbmrt.so"):
        dev.load_model(network)


def test_a_missing_file_is_an_error(dev):
    with pytest.raises(softtpu.Error, match="no-such.bmodel is no file"):
        dev.load_model("no-such.bmodel")


@pytest.mark.skipif(not has_bmrt, reason="this tree has no libbmrt")
@pytest.mark.parametrize("path", sorted(NETWORKS.glob("*.bmodel"))[:3], ids=lambda path: path.stem)
def test_outputs_are_those_recorded(dev, path):
    with dev.load_model(path) as model:
        raw = np.fromfile(path.with_suffix(".input.bin"), np.uint8)
        inputs, at = {}, 0
        for tensor in model.inputs():
            storage = softtpu.types.element_type(tensor.dtype).storage
            count = int(np.prod(tensor.shapes[0])) * storage.itemsize
            inputs[tensor.name] = raw[at:at + count].view(storage).reshape(tensor.shapes[0])
            at += count
        assert at == raw.size
        outputs = model(inputs)
        got = b"".join(outputs[tensor.name].tobytes() for tensor in model.outputs())
        assert got == path.with_suffix(".output.bin").read_bytes()
        with pytest.raises(softtpu.ArgumentError, match="the network has the inputs"):
            model(*inputs.values(), 3)
        first = model.inputs()[0]
        with pytest.raises(softtpu.ArgumentError, match="is given with shape"):
            model({**inputs, first.name: np.zeros((1,) * 7)})


def recorded(model, path):
    """The inputs of a network by name, and its recorded outputs."""
    raw, inputs = np.fromfile(path.with_suffix(".input.bin"), np.uint8), {}
    for tensor in model.inputs():
        storage = softtpu.types.element_type(tensor.dtype).storage
        size = int(np.prod(tensor.shapes[0])) * storage.itemsize
        inputs[tensor.name], raw = raw[:size].view(storage).reshape(tensor.shapes[0]), raw[size:]
    assert raw.size == 0
    return inputs, path.with_suffix(".output.bin").read_bytes()


@pytest.mark.skipif(not has_bmrt, reason="this tree has no libbmrt")
@pytest.mark.parametrize("chip, name, lists", [("bm1688", "bm1688_2/matmul_two_F32", ([0, 1], [1, 0])),
                                               ("bm1690", "bm1690_8/conv_3d_F32", (range(8), range(7, -1, -1))),
                                               ("bm1690", "bm1690/embedding_F16", ([0], [5]))])
def test_networks_run_on_the_cores_that_are_listed(chip, name, lists):
    path = NETWORKS / f"{name}.bmodel"
    with softtpu.Device(chip=chip) as device, device.load_model(path) as network:
        inputs, wanted = recorded(network, path)
        for cores in (None, *lists):
            outputs = network(inputs, cores=cores)
            assert b"".join(outputs[tensor.name].tobytes() for tensor in network.outputs()) == wanted, cores
        for tensor in network.inputs():
            network.memory(tensor.name)[...] = inputs[tensor.name]
        outputs = network.launch(cores=lists[1])
        assert b"".join(np.asarray(outputs[tensor.name]).tobytes() for tensor in network.outputs()) == wanted
        with pytest.raises(softtpu.Error, match="core 99 does not exist"):
            network(inputs, cores=[99])
        with pytest.raises(softtpu.Error, match="core"):
            network(inputs, cores=[])


@pytest.mark.skipif(not has_bmrt, reason="this tree has no libbmrt")
@pytest.mark.parametrize("chip, names", [("bm1688", ("bm1688/conv_relu_INT8", "bm1688/softmax_BF16")),
                                         ("bm1690", ("bm1690/embedding_F16", "bm1690/conv_relu_INT8"))])
def test_networks_run_side_by_side_on_cores_of_their_own(chip, names):
    def run(name, core, results):
        path = NETWORKS / f"{name}.bmodel"
        with softtpu.Device(chip=chip) as device, device.load_model(path) as network:
            inputs, wanted = recorded(network, path)
            ready.wait()
            for _ in range(12):
                outputs = network(inputs, cores=[core])
                results.append(b"".join(outputs[tensor.name].tobytes() for tensor in network.outputs()) == wanted)

    ready, results = threading.Barrier(len(names)), [[] for _ in names]
    threads = [threading.Thread(target=run, args=(name, core, results[core])) for core, name in enumerate(names)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert results == [[True] * 12 for _ in names]


@pytest.mark.skipif(not has_bmrt, reason="this tree has no libbmrt")
def test_names_may_have_bytes_that_are_no_text(tmp_path):
    """The compiler keeps the bytes of a model's names; such a file could not be loaded."""
    path = NETWORKS / "softmax_INT8.bmodel"
    raw = path.read_bytes()
    assert raw.count(b"softmax\0") > 0
    (tmp_path / "named.bmodel").write_bytes(raw.replace(b"softmax\0", b"soft\xffax\0"))
    with softtpu.Device(chip="bm1684x") as device, device.load_model(tmp_path / "named.bmodel") as network:
        assert [os.fsencode(name) for name in network.networks] == [b"soft\xffax"]
        inputs, wanted = recorded(network, path)
        outputs = network(inputs, network=os.fsdecode(b"soft\xffax"))
        assert b"".join(outputs[tensor.name].tobytes() for tensor in network.outputs()) == wanted


@pytest.mark.skipif(not has_bmrt, reason="this tree has no libbmrt")
def test_the_firmwares_gather_of_rows_runs_on_bm1684():
    path = NETWORKS / "dynamic/embedding_F32.bmodel"
    with softtpu.Device(chip="bm1684") as device, device.load_model(path) as network:
        inputs, wanted = recorded(network, path)
        assert network(inputs)["gather2_0_Gather"].tobytes() == wanted
        for index in (-1, 50):
            with pytest.raises(softtpu.Error):
                network({"ids": np.full((2, 7), index, np.int32)})
        assert network(inputs)["gather2_0_Gather"].tobytes() == wanted


def test_time_is_estimated_without_running():
    network = NETWORKS / "attention_small_F16.bmodel"
    (row,) = model.Model.time(network)
    assert row["us"] > 0 and row["error"]["networks"] > 0
    assert sum(row["rests_on_us"].values()) == pytest.approx(row["us"])
    both = model.Model.time(network, together_with=network)[-1]
    assert both["us"] == pytest.approx(2 * row["us"]) and not both["side_by_side"]
    with pytest.raises(softtpu.Error, match="no such network"):
        model.Model.time(network, network="other")


@pytest.mark.skipif(not has_bmrt, reason="this tree has no libbmrt")
def test_the_first_input_chooses_the_dynamic_stage(dev):
    path = pathlib.Path(os.environ.get("SOFTTPU_PREFIX", "")) / "tests/host/networks/dynamic_stages.bmodel"
    if not path.exists():
        pytest.skip("this tree has no networks of the tests")
    # Equal sizes, else the smallest product of the differences that are not 0.
    stages = {(3, 300): 5, (2, 300): 4, (3, 200): 3, (1, 300): 4, (3, 250): 5, (2, 200): 3, (1, 150): 3, (3, 201): 5}
    with dev.load_model(path) as network:
        for shape, found in stages.items():
            values = np.random.default_rng(2).permutation(shape[0] * shape[1]).astype(np.float32).reshape(shape)
            assert np.array_equal(network(values)["topk2_0_TopK"], np.sort(values)[:, :-found - 1:-1]), shape
        with pytest.raises(softtpu.ArgumentError, match="is given with shape"):
            network(np.zeros((3, 301), np.float32))


@pytest.mark.skipif(not has_bmrt, reason="this tree has no libbmrt")
def test_arrays_of_other_libraries_come_and_go_by_dlpack(dev):
    class Foreign:
        """An array that is known by DLPack alone."""

        def __init__(self, values):
            self.values = values

        def __dlpack__(self, **options):
            return self.values.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.values.__dlpack_device__()

    path = NETWORKS / "attention_small_F16.bmodel"
    with dev.load_model(path) as network:
        inputs, wanted = recorded(network, path)
        (name, values), = inputs.items()
        result = network.outputs()[0].name
        assert np.from_dlpack(network(Foreign(values.copy()))[result]).tobytes() == wanted
        network.memory(name).write(values)
        assert np.from_dlpack(network.launch()[result]).tobytes() == wanted


@pytest.mark.skipif(not has_bmrt, reason="this tree has no libbmrt")
def test_firmware_is_chosen_when_a_network_is_loaded(dev):
    path = NETWORKS / "dynamic/topk_F16.bmodel"
    with dev.load_model(path, firmware="none") as model:
        values = np.random.default_rng(1).permutation(600).astype(np.float32).reshape(2, 300)
        assert np.array_equal(model(values)["topk2_0_TopK"], np.sort(values)[:, :-6:-1])
    with pytest.raises(softtpu.Error, match="the firmware /nowhere.so cannot be used"):
        dev.load_model(path, firmware="/nowhere.so")


def test_a_closed_network_says_so(dev):
    model = dev.load_model(NETWORKS / "softmax_INT8.bmodel")
    model.close()
    for use in (model.inputs, model.outputs, model.launch, lambda: model(np.zeros(1)), lambda: model.memory("x")):
        with pytest.raises(softtpu.Error, match="the network is closed"):
            use()
    model.close()
