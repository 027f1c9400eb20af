"""Scripts as SAIL's users write them, and a network's memory, futures and batches."""
import os
import pathlib
import tarfile

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


def test_tensors_keep_their_room_and_bits():
    handle = sail.Handle(0)
    half = sail.Tensor(handle, [2, 2], sail.Dtype.BM_FLOAT16, False, True)
    bits = np.array([[0x3C00, 0x4000], [0xC61C, 0]], np.uint16)
    half.update_data(bits)
    assert half.asnumpy().dtype == np.uint16 and half.asnumpy().tolist() == bits.tolist() and half.scale_to(2).tolist()[0] == [2, 4]
    half.update_data(np.array([[1, 2]], np.float16))
    assert half.asnumpy().view(np.float16).tolist()[0] == [1, 2]
    whole = sail.Tensor(handle, np.arange(12, dtype=np.int32), False)
    whole.reshape([2, 2])
    assert whole.asnumpy().tolist() == [[0, 1], [2, 3]]
    whole.reshape([3, 4])
    assert whole.asnumpy()[2].tolist() == [8, 9, 10, 11]
    part = sail.Tensor(whole, [1, 2], 4)
    part.reshape([8])
    assert part.asnumpy().tolist() == list(range(4, 12)) and not part.own_dev_data() and part.is_dev_data_valid()
    other = sail.Tensor(handle, [4], sail.Dtype.BM_INT32, False, True)
    other.sync_d2d_stride(whole, 3, 1, 4)
    assert other.asnumpy().tolist() == [0, 3, 6, 9]
    whole.reshape([13])
    assert whole.asnumpy().tolist() == [0] * 13 and part.asnumpy().tolist() == list(range(4, 12))
    for call, text in ((lambda: part.reshape([9]), "of 8 elements, has no shape"),
                       (lambda: other.sync_d2d(half, 0, 0, 1), "of float16 cannot be copied to one of int32"),
                       (lambda: other.sync_d2d(whole, 10, 0, 4), "14 elements are not in a tensor of 13"),
                       (lambda: other.sync_d2d_stride(whole, 1, 2, 2), "2 apart"),
                       (lambda: sail.Tensor(whole, [2], 12), "not in a tensor of 13")):
        with pytest.raises(softtpu.Error, match=text):
            call()


def test_tensors_are_copied_from_each_other():
    handle = sail.Handle(0)
    host, device, both = (sail.Tensor(handle, [4], sail.Dtype.BM_FLOAT32, *where) for where in ((True, False), (False, True), (True, True)))
    host.update_data(np.arange(1, 5, dtype=np.float32))
    device.sync_s2d(host, 1, 0, 2)
    assert device.asnumpy().tolist() == [2, 3, 0, 0]
    both.sync_d2s(device, 0, 2, 2)
    assert both.asnumpy().tolist() == [0, 0, 2, 3]
    both.sync_s2d(12)  # bytes
    device.sync_from(both)
    assert device.asnumpy().tolist() == [0, 0, 2, 0]
    host.sync_to(device)
    device.sync_to(both)
    both.sync_d2s(8)
    assert device.asnumpy().tolist() == [1, 2, 3, 4] and both.asnumpy().tolist() == [1, 2, 2, 3]
    other = sail.Tensor(handle, [4], sail.Dtype.BM_FLOAT32, True, False)
    other.sync_from(host)
    other.sync_from(device)
    assert other.asnumpy().tolist() == [1, 2, 3, 4]
    for call, text in ((lambda: both.sync_s2d(7), "7 bytes are no whole elements"), (lambda: host.sync_d2s(), "no memory of the device"),
                       (lambda: device.sync_s2d(), "no memory of the host"), (lambda: device.sync_s2d(host, 3, 0, 2), "5 elements are not in a tensor of 4"),
                       (lambda: both.sync_from(sail.Tensor(handle, [3], sail.Dtype.BM_FLOAT32, True, True)), "of 3 elements is not copied to one of 4")):
        with pytest.raises(softtpu.Error, match=text):
            call()


def test_maps_of_tensors_have_the_memory_of_their_mode():
    path, given, want = recorded("attention_small_F16")
    engine = sail.Engine(str(path), sail.Handle(0))
    (graph,), given = engine.get_graph_names(), np.frombuffer(given, np.float32)
    for mode, where in ((0, (True, False)), (1, (False, True)), (-1, (True, True))):
        inputs = engine.create_input_tensors_map(graph, mode)
        (tensor,) = inputs.values()
        assert (tensor.is_sys_data_valid(), tensor.is_dev_data_valid()) == where
        for factor in (0, 1):  # a tensor of the host alone is read again for each launch
            tensor.update_data(given * np.float32(factor))
            outputs = engine.create_output_tensors_map(graph, mode)
            assert engine.process(graph, inputs, outputs, core_list=[0, 1, 2]) is None
        (result,) = outputs.values()
        assert result.asnumpy().tobytes() == want
        (result,) = engine.process(graph, inputs).values()
        assert result.asnumpy().tobytes() == want
    assert sail.set_loglevel(sail.LogLevel.WARN) == 0 and sail.set_loglevel(17) == -1
    total, used, busy = sail.get_dev_stat(0)
    large = sail.Tensor(sail.Handle(0), [8 << 20], sail.Dtype.BM_INT8, False, True)
    assert total > used >= 0 and 0 <= busy <= 100 and sail.get_dev_stat(0)[1] >= used + 8 and large.size() == 8 << 20
    assert 0 <= sail.get_tpu_util(0) <= 100


class Chat:
    """The loop of public programs over EngineLLM: state is device memory of the program's own, of which networks get parts."""

    HIDDEN = 0xC61C  # -10000 in bf16

    def __init__(self, model):
        self.net, self.handle = sail.EngineLLM(model, len(model), [0]), sail.Handle(0)
        names = self.net.get_graph_names()
        self.blocks, self.length = (len(names) - 3) // 2, self.net.get_input_shape("block_0", 0)[1]
        self.width = self.net.get_output_shape("embedding", 0)[-1]
        self.own = {name: (self.net.get_input_tensors_addrmode0(name), self.net.get_output_tensors_addrmode0(name)) for name in names}
        caches = [self.own[f"block_cache_{i}"][0] for i in range(self.blocks)]
        self.past = [[sail.Tensor(self.handle, cache[3 + j].shape(), cache[3 + j].dtype(), False, True) for j in range(2)] for cache in caches]
        self.heads = self.past[0][0].shape()[-2:]
        self.states = self.net.create_max_output_tensors("embedding")[0]
        self.ids, self.places, self.mask = (sail.Tensor(self.handle, self.net.get_input_shape(name, i), self.net.get_input_dtype(name, i), False, True)
                                            for name, i in (("embedding", 0), ("block_0", 1), ("block_0", 2)))
        self.next_states = self.net.create_max_output_tensors("embedding_cache")[0]
        self.token = self.net.create_max_output_tensors("lm_head")[0]

    def head(self, states):
        states.reshape(self.net.get_input_shape("lm_head", 0))
        assert self.net.process("lm_head", {0: states}, {0: self.token}) == 0
        return int(self.token.asnumpy())

    def first(self, tokens):
        count, length = len(tokens), self.length
        ids, places = np.zeros((2, 1, length), np.int32)
        ids[0, :count], places[0, :count] = tokens, range(count)
        mask = np.full((1, 1, length, length), self.HIDDEN, np.uint16)
        mask[0, 0, :count] = np.where(np.tri(count, length), 0, self.HIDDEN)
        self.ids.update_data(ids), self.places.update_data(places), self.mask.update_data(mask)
        self.net.process("embedding", {0: self.ids}, {0: self.states})
        for i in range(self.blocks):
            made = {0: self.states, **{1 + j: sail.Tensor(self.past[i][j], self.net.get_output_shape("block_0", 1 + j), 0) for j in range(2)}}
            self.net.process(f"block_{i}", {0: self.states, 1: self.places, 2: self.mask}, made)
        self.count = count
        return self.head(sail.Tensor(self.states, [1, 1, self.width], (count - 1) * self.width))

    def next(self):
        place, size = self.count, int(np.prod(self.heads))
        mask = np.full(self.length + 1, self.HIDDEN, np.uint16)
        mask[:place] = mask[-1] = 0
        self.token.reshape([1, 1])
        self.net.process("embedding_cache", {0: self.token}, {0: self.next_states})
        for i in range(self.blocks):
            given, _ = self.own[f"block_cache_{i}"]
            given[1].update_data(np.array([[place]], np.int32))
            given[2].update_data(mask.reshape(given[2].shape()))
            self.net.process(f"block_cache_{i}", {**given, 0: self.next_states, 3: self.past[i][0], 4: self.past[i][1]},
                             {0: self.next_states, **{1 + j: sail.Tensor(self.past[i][j], [1, 1, *self.heads], place * size) for j in range(2)}})
        self.count += 1
        return self.head(sail.Tensor(self.next_states, [1, 1, self.width], 0))


def test_a_chat_loop_over_the_engine_for_language_models():
    data = pathlib.Path(__file__).parents[2] / "samples/llm/data"
    with tarfile.open(data / "model.tar.xz") as archive:
        chat = Chat(archive.extractfile("model.bmodel").read())
    wanted = [int(word) for word in (data / "tokens.txt").read_text().split()]
    assert [chat.first([17, 4, 1203, 88, 951, 3, 640, 12])] + [chat.next() for _ in range(3)] == wanted[:4]


def test_what_the_engine_for_language_models_says_of_a_network():
    path, given, want = recorded("addtwoioalone_F16")
    net = sail.EngineLLM(str(path), sail.BmrtFlag.BM_RUNTIME_SHARE_MEM, [0])
    graph = net.get_graph_names()[0]
    assert net.get_device_ids() == [0] and net.get_addr_mode(graph) == 1 and net.get_stage_num(graph) == 1 and not net.get_is_dynamic(graph)
    count = net.get_input_num(graph)
    assert count == len(net.get_input_names(graph)) and net.get_output_num(graph) == len(net.get_output_names(graph))
    assert net.get_input_name(graph, 0) == net.get_input_names(graph)[0] and net.get_input_max_shape(graph, 0) == net.get_input_shape(graph, 0)
    assert net.get_output_max_shape(graph, 0) == net.get_output_shape(graph, 0, 0) and net.get_input_scale(graph, 0) == net.get_output_scale(graph, 0) == 1
    assert net.get_input_tensor_devid(graph, 0) == net.get_output_tensor_devid(graph, 0) == 0 and net.get_output_dtype(graph, 0) == sail.Dtype.BM_FLOAT32
    own, made = net.get_input_tensors(graph), net.get_output_tensors(graph, 0)
    assert list(own) == list(range(count)) and list(net.get_input_tensors(graph, net.get_input_name(graph, count - 1))) == [count - 1]
    data = np.frombuffer(given, np.float32).reshape(count, -1)
    for i, tensor in own.items():
        tensor.update_data(data[i].reshape(tensor.shape()))
    assert net.process(graph, own, made) == 0
    assert b"".join(made[i].asnumpy().tobytes() for i in made) == want
    # The memory is the network's own: it is seen through each of its tensors.
    assert net.get_input_tensor(graph, 0).asnumpy().tobytes() == own[0].asnumpy().tobytes()
    assert net.get_output_tensor(graph, 0).asnumpy().tobytes() == made[0].asnumpy().tobytes()
    for call, text in ((lambda: net.process(graph, {}, made), "has the input 0, .*for which there is no tensor"),
                       (lambda: net.process(graph, own, {}), "has the output 0, .*for which there is no tensor"),
                       (lambda: net.get_input_shape(graph, 9), "has no input 9"), (lambda: net.get_input_shape(graph, 0, 1), "has no stage 1"),
                       (lambda: net.get_addr_mode("other"), "no graph 'other'"), (lambda: sail.EngineLLM(str(path), []), "at least one")):
        with pytest.raises(softtpu.Error, match=text) as failure:
            call()
        assert "\n" not in str(failure.value)
    plain = recorded("softmax_INT8")[0]
    other = sail.EngineLLM(str(plain), [0])
    assert other.get_input_tensors(other.get_graph_names()[0]) == {} and other.get_input_tensors_addrmode0(other.get_graph_names()[0])


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
