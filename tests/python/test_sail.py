"""Scripts as SAIL's users write them, and a network's memory, futures and batches."""
import os
import pathlib

import numpy as np
import pytest

import softtpu
from softtpu import _native, sail

NETWORKS = pathlib.Path(__file__).parent.parent / "golden-networks"
pytestmark = pytest.mark.skipif(not (_native.tree().lib / "libbmrt.so").exists(), reason="this tree has no libbmrt")


def recorded(name):
    path = NETWORKS / f"{name}.bmodel"
    return path, path.with_suffix(".input.bin").read_bytes(), path.with_suffix(".output.bin").read_bytes()


def test_a_script_with_its_import_changed():
    path, given, want = recorded("attention_small_F16")
    engine = sail.Engine(str(path), 0, sail.IOMode.SYSIO)
    graph = engine.get_graph_names()[0]
    names, results = engine.get_input_names(graph), engine.get_output_names(graph)
    shape = engine.get_input_shape(graph, names[0])
    assert engine.get_input_dtype(graph, names[0]) == sail.Dtype.BM_FLOAT32 and engine.get_input_scale(graph, names[0]) == 1.0
    assert engine.get_max_output_shapes(graph)[results[0]] == engine.get_output_shape(graph, results[0])
    assert engine.get_device_id() == 0 and engine.get_handle().get_target() == "BM1684X" and sail.get_available_tpu_num() >= 1
    data = np.frombuffer(given, np.float32).reshape(shape)
    outputs = engine.process(graph, {names[0]: data})
    assert outputs[results[0]].tobytes() == want
    # With tensors, as scripts that keep their memory.
    inputs, made = engine.create_input_tensors_map(graph), engine.create_output_tensors_map(graph)
    inputs[names[0]].update_data(data)
    engine.process(graph, inputs, made)
    assert made[results[0]].asnumpy().tobytes() == want
    # Memory of the device alone.
    engine.set_io_mode(graph, sail.IOMode.DEVIO)
    handle = sail.Handle(0)
    source = sail.Tensor(handle, data)
    result = sail.Tensor(handle, engine.get_output_shape(graph, results[0]), engine.get_output_dtype(graph, results[0]), True, True)
    engine.process(graph, {names[0]: source}, {names[0]: shape}, {results[0]: result})
    assert not result.asnumpy().any()
    result.sync_d2s()
    assert result.asnumpy().tobytes() == want


def test_an_engine_of_bytes_and_one_that_loads_later():
    path, given, want = recorded("softmax_INT8")
    data = path.read_bytes()
    engine = sail.Engine(data, len(data), 0, sail.IOMode.SYSIO)
    graph = engine.get_graph_names()[0]
    name, result = engine.get_input_names(graph)[0], engine.get_output_names(graph)[0]
    kind = engine.get_input_dtype(graph, name)
    storage = {sail.Dtype.BM_INT8: np.int8, sail.Dtype.BM_UINT8: np.uint8, sail.Dtype.BM_FLOAT32: np.float32}[kind]
    array = np.frombuffer(given, storage).reshape(engine.get_input_shape(graph, name))
    assert engine.process(graph, {name: array})[result].tobytes() == want
    later = sail.Engine(sail.Handle(0))
    assert later.get_graph_names() == [] and later.load(str(path))
    assert later.process(graph, {name: array})[result].tobytes() == want


def test_an_engine_of_several_devices():
    path, given, want = recorded("attention_small_F16")
    engine = sail.MultiEngine(str(path), [0, 0])
    graph = engine.get_graph_names()[0]
    name, result = engine.get_input_names(graph)[0], engine.get_output_names(graph)[0]
    data = np.frombuffer(given, np.float32).reshape(engine.get_input_shape(graph, name))
    assert engine.get_device_ids() == [0, 0] and list(engine.get_output_shape(graph, result))
    engine.set_print_flag(True), engine.set_print_time(False)
    assert engine.process({name: data})[result].tobytes() == want
    assert [one[result].tobytes() == want for one in engine.process([{name: data}, {name: data}, {name: data}])] == [True] * 3
    # Tensors, as documented: one map in a list gives one map.
    made = engine.process([{name: sail.Tensor(sail.Handle(0), data)}])
    assert made[result].own_sys_data() and made[result].asnumpy().tobytes() == want
    device = sail.MultiEngine(str(path), [0], sys_out=False).process([{name: sail.Tensor(sail.Handle(0), data)}])[result]
    assert not device.own_sys_data() and device.asnumpy().tobytes() == want
    for call, text in ((lambda: sail.MultiEngine(str(path), []), "no device in the list"),
                       (lambda: sail.MultiEngine(str(path), [0], graph_idx=1), "graph 1 of 1"),
                       (lambda: engine.process({"z": data}), "has the inputs x; given are z")):
        with pytest.raises(softtpu.Error, match=text):
            call()


def test_graphs_run_on_the_cores_that_are_named():
    path, given, want = recorded("attention_small_F16")
    engine = sail.Engine(str(path), 0, sail.IOMode.SYSIO)
    graph = engine.get_graph_names()[0]
    name, result = engine.get_input_names(graph)[0], engine.get_output_names(graph)[0]
    data = np.frombuffer(given, np.float32).reshape(engine.get_input_shape(graph, name))
    assert engine.process(graph, {name: data}, core_list=[0])[result].tobytes() == want
    outputs = engine.create_output_tensors_map(graph)
    engine.process(graph, {name: sail.Tensor(sail.Handle(0), data)}, outputs, [0])
    assert outputs[result].asnumpy().tobytes() == want
    with pytest.raises(softtpu.Error, match="core 7"):
        engine.process(graph, {name: data}, core_list=[7])


def test_tensors_share_copy_and_scale():
    handle = sail.Handle(0)
    whole = sail.Tensor(handle, [4, 6], sail.Dtype.BM_FLOAT32, True, True)
    whole.update_data(np.arange(24, dtype=np.float32).reshape(4, 6))
    whole.sync_s2d()
    part = sail.Tensor(whole, [2, 3], 6)
    assert part.asnumpy().tolist() == [[6, 7, 8], [9, 10, 11]] and part.shape() == [2, 3] and not part.own_sys_data()
    other = sail.Tensor(handle, [24], sail.Dtype.BM_FLOAT32, False, True)
    other.sync_d2d(whole, 3, 1, 5)
    assert other.asnumpy().tolist()[:7] == [0, 3, 4, 5, 6, 7, 0]
    other.ones()
    assert other.asnumpy().sum() == 24
    small = sail.Tensor(handle, [3], sail.Dtype.BM_INT8, True, True)
    small.scale_from([0.5, -1.0, 200.0], 2.0)
    assert small.asnumpy().tolist() == [1, -2, 127] and small.scale_to(0.5).tolist() == [0.5, -1.0, 63.5]
    whole.reshape([3, 8])
    assert whole.shape() == [3, 8] and whole.dtype() == sail.Dtype.BM_FLOAT32


def test_wrong_arguments_are_one_sentence_each():
    path, _, _ = recorded("attention_small_F16")
    engine = sail.Engine(str(path), 0, sail.IOMode.SYSIO)
    graph = engine.get_graph_names()[0]
    for call, text in ((lambda: engine.process("other", {}), "no graph 'other' is loaded"),
                       (lambda: engine.process(graph, {}), "has the inputs x; given are none"),
                       (lambda: engine.process(graph, {"x": np.zeros((1, 1), np.float32)}), "is given with shape"),
                       (lambda: engine.get_input_shape(graph, "z"), "has no input 'z'"),
                       (lambda: sail.Tensor(sail.Handle(0), [2], sail.Dtype.BM_INT8, True, False).sync_s2d(), "no memory of the device"),
                       (lambda: engine.load(str(path)), "is loaded already")):
        with pytest.raises(softtpu.Error, match=text) as failure:
            call()
        assert "\n" not in str(failure.value)
    with pytest.raises(softtpu.Error, match="is no file"):
        sail.Engine("no-such.bmodel", 0, sail.IOMode.SYSIO)


def test_networks_run_in_device_memory_and_in_the_background(dev):
    path, given, want = recorded("attention_small_F16")
    with dev.load_model(path) as model:
        data = np.frombuffer(given, np.float32).reshape(model.inputs()[0].shapes[0])
        name, result = model.inputs()[0].name, model.outputs()[0].name
        own = model.memory(name)
        own.write(data)
        assert model.launch()[result].numpy().tobytes() == want
        out = dev.empty(model.outputs()[0].shapes[0], np.float32)
        model.launch(inputs={name: dev.array(data)}, outputs={result: out})
        assert out.numpy().tobytes() == want
        futures = [model.submit(data) for _ in range(3)]
        assert all(future.result()[result].tobytes() == want for future in futures)
        assert [one[result].tobytes() == want for one in model.map([data] * 4)] == [True] * 4
        with pytest.raises(softtpu.ArgumentError, match="has no tensor 'z'"):
            model.memory("z")
        with pytest.raises(softtpu.ArgumentError, match="has to be an Array of float32"):
            model.launch(inputs={name: data})
        with pytest.raises(ValueError, match="copy_from takes an array"):
            own.copy_from(out[:, :1])
        before = dev.used_bytes
        out.copy_from(model.memory(result))
        assert out.numpy().tobytes() == want and dev.used_bytes == before


def test_layers_for_the_hosts_processor_give_real_shapes(dev):
    made = pathlib.Path(os.environ.get("SOFTTPU_PREFIX", "")) / "tests/host/networks"
    if not (made / "host_nms.bmodel").exists():
        pytest.skip("this tree has no networks of the tests")
    boxes = np.array([[[0, y, 1, y + 1] for y in (0, 0.1, -0.1, 10, 10.1, 100)]], np.float32)
    scores = np.array([[[0.9, 0.75, 0.6, 0.95, 0.5, 0.3], [0.1, 0.2, 0.3, 0.1, 0.41, 0.4]]], np.float32)
    with dev.load_model(made / "host_nms.bmodel") as model:
        assert model(boxes=boxes, scores=scores)["found"].tolist() == [[0, 0, 3], [0, 0, 0], [0, 1, 4]]
    with dev.load_model(made / "host_unknown.bmodel") as model, pytest.raises(softtpu.Error, match=r"YOLO \(7\) is not carried out"):
        model(np.zeros((2, 3), np.float32))


def test_what_libbmrt_says_is_the_error(dev, tmp_path):
    bad = tmp_path / "bad.bmodel"
    bad.write_bytes(bytes(100))
    with pytest.raises(softtpu.Error, match="it begins with 0x00000000"):
        dev.load_model(bad)
    with pytest.raises(softtpu.Error, match="a header has 64"):
        dev.load_model(b"short")
