#!/usr/bin/env python3
"""softtpu bmodel compare --npz and --onnx: planted faults are found in the layer where they are, the right network has none, and what cannot be used
is said in one line."""
import argparse
import importlib.util
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
import zipfile

import numpy as np

import layered_network

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "python"))
OPTIONS = None
STAND_IN_FOR_ONNX = """
import json, types
import numpy
helper = types.SimpleNamespace(tensor_dtype_to_np_dtype=lambda _: numpy.float32)
ValueInfoProto = types.SimpleNamespace
class Model:
    def __init__(self, text):
        self.text, data, value = text, json.loads(text), types.SimpleNamespace
        nodes = [("scaled", "Mul"), ("shifted", "Add"), ("rectified", "Relu"), ("grown", "Mul"), ("y", "Identity")]
        self.graph = value(output=[value(name=data["prefix"] + "y")], initializer=[],
                           node=[value(op_type=kind, output=[data["prefix"] + name]) for name, kind in nodes],
                           input=[value(name=name, type=value(tensor_type=value(elem_type=1, shape=value(dim=[value(dim_value=one) for one in shape]))))
                                  for name, shape in data["inputs"]])
    def SerializeToString(self):
        return json.dumps({**json.loads(self.text), "outputs": [one.name for one in self.graph.output]})
def load(path, load_external_data):
    with open(path, encoding="utf-8") as file:
        return Model(file.read())
"""
STAND_IN_FOR_ONNXRUNTIME = """
import json, types
GraphOptimizationLevel = types.SimpleNamespace(ORT_DISABLE_ALL=0)
class SessionOptions:
    def add_session_config_entry(self, *_): pass
class InferenceSession:
    def __init__(self, model, *_, **__):
        self.model = json.loads(model)
    def get_outputs(self):
        return [types.SimpleNamespace(name=name) for name in self.model["outputs"]]
    def run(self, names, feeds):
        import layered_network
        if self.model["fails"]:
            raise RuntimeError(self.model["fails"])
        made = layered_network.reference(feeds["x"])
        return [made[name.removeprefix(self.model["prefix"])] for name in names]
"""


class Compare(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.at = pathlib.Path(cls.folder.name)
        cls.right = cls.at / "right.bmodel"
        cls.map_file = layered_network.write(OPTIONS, cls.right)
        x = np.random.default_rng(3).uniform(-1, 1, layered_network.SHAPE).astype(np.float32)
        cls.tensors = layered_network.reference(x)
        cls.reference = cls.save("reference.npz", cls.tensors)

    @classmethod
    def save(cls, name, arrays):
        np.savez(cls.at / name, **arrays)
        return cls.at / name

    def compare(self, *words, status=0, environment=None):
        done = subprocess.run([OPTIONS.program, "bmodel", "compare", *map(str, words)], capture_output=True, text=True, timeout=100,
                              env={**os.environ, "SOFTTPU_PYTHON": sys.executable, **(environment or {})})
        self.assertEqual(done.returncode, status, f"{words}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def result(self, *words, status=0):
        self.compare(*words, "--json", self.at / "result.json", status=status)
        return json.loads((self.at / "result.json").read_text())

    def test_the_right_network_leaves_the_reference_nowhere(self):
        result = self.result(self.right, "--npz", self.reference)
        self.assertEqual((result["first"], result["first_not_finite"], result["has_map"]), (None, None, True))
        self.assertEqual([row["name"] for row in result["layers"]], [layer[0] for layer in layered_network.LAYERS])
        self.assertEqual({row["verdict"] for row in result["layers"]}, {"explained"})
        quantised = result["layers"][5]
        self.assertEqual((quantised["type"], quantised["scale"], quantised["reference"]), ("si8", 2.0, "grown"))
        self.assertGreater(quantised["units"], 0.4)  # rounding, in steps of two
        self.assertLess(quantised["units"], 0.6)
        self.assertGreater(quantised["cosine"], 0.9999)

    def test_planted_faults_are_found_where_they_are(self):
        words = {"wrong scale": r"it is 0\.5\d* times the reference: is a scale wrong\?",
                 "lost ReLU": r"\d+ of 2048 elements are negative, the reference has none: is an activation missing\?",
                 "overflow": r"\d+ infinite of 2048 elements, the first at \d+, where the reference has \d"}
        for fault, first in layered_network.FIRST.items():
            with self.subTest(fault):
                path = self.at / f"{fault.replace(' ', '_')}.bmodel"
                layered_network.write(OPTIONS, path, fault)
                text = self.compare(path, "--npz", self.reference, status=1)
                self.assertRegex(text, rf"first layer that leaves the reference: {first} \(tpu\.\w+\): {words[fault]}")
                self.assertEqual("a NaN or an infinity first came up in grown_Mul" in text, fault == "overflow")
                result = self.result(path, "--npz", self.reference, status=1)
                leaving = [row["name"] for row in result["layers"] if row["verdict"] == "leaves"]
                self.assertEqual(leaving, [first], text)  # what follows from it is not accused

    def test_a_wrong_scale_of_the_map_is_a_wrong_scale(self):
        text = self.map_file.read_text().replace("f32, 2>", "f32, 2.5>")
        self.assertNotEqual(text, self.map_file.read_text())
        (self.at / "other_scale.json").write_text(text)
        path = self.at / "bare.bmodel"
        layered_network.write(OPTIONS, path, with_map=False)
        text = self.compare(path, "--npz", self.reference, "--map", self.at / "other_scale.json", status=1)
        self.assertRegex(text, r"first layer that leaves the reference: grown_Mul_si8 .*it is 1\.25 times the reference")

    def test_a_range_that_is_too_small_is_named(self):
        path = self.at / "saturated.bmodel"
        layered_network.FAULTS["small range"] = (6, layered_network.bits(1, 2.0))
        self.addCleanup(layered_network.FAULTS.pop, "small range")
        beside = layered_network.write(OPTIONS, path, "small range", with_map=False)
        beside.write_text(beside.read_text().replace("f32, 2>", "f32, 0.5>"))
        text = self.compare(path, "--npz", self.reference, "--map", beside, status=1)
        self.assertRegex(text, r"grown_Mul_si8 .*: \d+ % of the elements are at the limits of si8, \[-64, 63\.5\]; the reference reaches 2\d\d")

    def test_without_a_map_outputs_are_compared_and_it_says_so(self):
        bare, broken = self.at / "no_map.bmodel", self.at / "no_map_lost.bmodel"
        layered_network.write(OPTIONS, bare, with_map=False)
        text = self.compare(bare, "--npz", self.reference)
        self.assertIn("map of tensors is missing: compared are outputs and what parts hand to each other", text)
        self.assertIn("no layer leaves the reference (1 of 1 compared)", text)
        layered_network.write(OPTIONS, broken, "lost ReLU", with_map=False)
        self.assertIn("first layer that leaves the reference: y_f32", self.compare(broken, "--npz", self.reference, status=1))
        # The map that the compiler leaves beside the file is found.
        (self.at / "no_map_lost").mkdir()
        (self.at / "no_map_lost/tensor_location.json").write_text(self.map_file.read_text())
        self.assertIn("first layer that leaves the reference: rectified_Relu", self.compare(broken, "--npz", self.reference, status=1))

    def test_without_a_part_the_others_are_compared(self):
        path, recorded = OPTIONS.build / "tests/host/networks/mixed_outputs.bmodel", HERE.parent / "golden-networks/softmax_INT8"
        given, want = (np.fromfile(f"{recorded}.{part}.bin", np.float32).reshape(3, 12, 50) for part in ("input", "output"))
        np.savez(self.at / "parts.npz", x=given, softmax1_0_Softmax_f32=want, best=want, top_k=want)
        result = self.result(path, "--npz", self.at / "parts.npz", "--static-parts", status=1)
        self.assertEqual({row["name"]: row["verdict"] for row in result["layers"]},
                         {"softmax1_0_Softmax_f32": "explained", "best": "not compared", "top_k": "not compared"})
        self.assertIs(result["complete"], False)
        self.assertIn("did not run (status 1)", self.compare(path, "--npz", self.at / "parts.npz", status=1))

    def test_a_dynamic_network_runs_in_the_shape_of_its_input(self):
        path = HERE.parent / "golden-networks/dynamic/topk_F16.bmodel"
        x = np.random.default_rng(1).permutation(14).reshape(2, 7).astype(np.float32)
        order = np.argsort(-x, 1, kind="stable")[:, :5]
        found = {"x": x, "topk2_0_TopK": np.take_along_axis(x, order, 1), "cast3_0_Cast": order.astype(np.float32)}
        np.savez(self.at / "rows.npz", **found)
        for row in self.result(path, "--npz", self.at / "rows.npz")["layers"]:
            self.assertEqual((row["verdict"], row["max_error"], row["shape"]), ("explained", 0, [2, 5]))
        np.savez(self.at / "large.npz", **{**found, "x": np.zeros((4, 300), np.float32)})
        self.assertIn('array "x" has shape [4, 300], input "x" takes up to [3, 300]', self.compare(path, "--npz", self.at / "large.npz", status=2))

    def test_the_page_plots_the_layers(self):
        page = self.at / "page.html"
        path = self.at / "paged.bmodel"
        layered_network.write(OPTIONS, path, "overflow")
        self.compare(path, "--npz", self.reference, "--page", page, status=1)
        text = page.read_text()
        self.assertEqual(text.count("<circle "), len(layered_network.LAYERS))
        self.assertRegex(text, r"<circle class='leaves'[^>]*><title>grown_Mul: not finite")
        self.assertIn("<polyline class='error'", text)
        self.assertNotIn("http", re.sub(r"xmlns='[^']*'", "", text))  # it needs no other file

    def test_inputs_come_from_their_file_or_a_seed(self):
        x = np.random.default_rng(9).uniform(-1, 1, layered_network.SHAPE).astype(np.float32)
        tensors = layered_network.reference(x)
        given = self.save("x.npz", {"x": x})
        del tensors["x"]
        other = self.save("other.npz", tensors)
        self.compare(self.right, "--npz", other, "--input", given)
        self.compare(self.right, "--npz", self.reference, "--input", given, status=1)  # of other inputs
        self.assertIn("has no array \"x\", an input of the network; --input names a file", self.compare(self.right, "--npz", other, status=2))

    def test_what_cannot_be_used_is_one_line(self):
        def refused(*words, status=2, **options):
            text = self.compare(*words, status=status, **options)
            self.assertEqual(text.count("\n"), 1, text)
            return text
        x = self.tensors["x"]
        self.assertIn("no such file", refused(self.right, "--npz", self.at / "none.npz"))
        self.assertIn("No such file", refused(self.at / "none.bmodel", "--npz", self.reference))
        (self.at / "broken.npz").write_bytes(b"PK\x03\x04 no archive")
        self.assertIn("--npz", refused(self.right, "--npz", self.at / "broken.npz"))
        names = self.save("names.npz", {"x": x, "somewhere": x})
        self.assertIn("does not match", refused(self.right, "--npz", names))
        self.assertIn("none of its 2 tensors has the name of a layer", refused(self.right, "--npz", names))
        shapes = self.save("shapes.npz", {"x": x, "y": np.zeros((1, 8, 16, 15))})
        self.assertIn("array \"y\" has shape [1, 8, 16, 15], output \"y_f32\" has [1, 8, 16, 16]", refused(self.right, "--npz", shapes))
        short = self.save("short.npz", {**self.tensors, "x": x[..., :3]})
        self.assertIn("array \"x\" has shape [1, 8, 16, 3], input \"x\" has [1, 8, 16, 16]", refused(self.right, "--npz", short))
        words = self.save("words.npz", {"x": np.array(["text"])})
        self.assertIn("has elements of type", refused(self.right, "--npz", words))
        self.assertIn("no such network or stage", refused(self.right, "--npz", self.reference, "--network", "other"))
        self.assertIn("no such network or stage", refused(self.right, "--npz", self.reference, "--stage", 3))
        self.assertIn("No such file", refused(self.right, "--npz", self.reference, "--page", "/nowhere/page.html", status=3))
        self.assertIn("belong to a comparison with --reference", refused(self.right, "--npz", self.reference, "--repeat", 2))
        self.compare(self.right, status=2)
        self.compare(self.right, "--npz", self.reference, "--onnx", "model.onnx", status=2)

    def test_damaged_arrays_are_one_line(self):
        whole, kinds = self.reference.read_bytes(), set()
        packed = self.at / "packed.npz"
        np.savez_compressed(packed, **self.tensors)
        header = whole.index(b"{'descr'")
        damaged = {"descr": whole[:header] + b"{'descr': (" + whole[header + 11:], "cut": whole[:len(whole) // 2]}
        contents = bytearray(packed.read_bytes())
        start = contents.index(b"x.npy") + 40
        contents[start:start + 8] = b"\xff" * 8  # no deflated data: zlib's own error
        damaged["deflated"] = bytes(contents)
        contents = bytearray(packed.read_bytes())
        at = 0
        while (at := contents.find(b"PK\x01\x02", at)) >= 0:  # a method that does not exist
            contents[at + 10:at + 12] = b"\x63\0"
            at += 4
        damaged["method"] = bytes(contents)
        for name, contents in damaged.items():
            path = self.at / f"damaged_{name}.npz"
            path.write_bytes(contents)
            text = self.compare(self.right, "--npz", path, status=2)
            self.assertEqual(text.count("\n"), 1, text)
            self.assertIn(f"softtpu: --npz {path}: ", text)
            kinds.add(text.split(": ", 3)[-1])
        self.assertEqual(len(kinds), len(damaged))

    def test_arrays_are_read_when_they_are_needed(self):
        bomb = self.at / "bomb.npz"
        with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for name, array in self.tensors.items():
                with archive.open(f"{name}.npy", "w") as file:
                    np.lib.format.write_array(file, array)
            with archive.open("unused.npy", "w") as file:
                file.write(b"no array")
        self.compare(self.right, "--npz", bomb)
        # What is claimed counts before anything is inflated.
        contents = bytearray(bomb.read_bytes())
        at = contents.rindex(b"y.npy") - 46
        self.assertEqual(contents[at:at + 4], b"PK\x01\x02")
        contents[at + 24:at + 28] = (3 << 30).to_bytes(4, "little")
        bomb.write_bytes(contents)
        self.assertIn("array \"y\" has 3221225472 bytes; more than 2147483648 are not compared", self.compare(self.right, "--npz", bomb, status=2))

    def test_options_out_of_range_are_one_line(self):
        for words, why in ((("--margin", "nan"), "nan is no number above 0"), (("--margin", "0"), "0 is no number above 0"), (("--seed", "-1"), "-1"),
                           (("--stage", "-1"), "-1")):
            text = self.compare(self.right, "--npz", self.reference, *words, status=2)
            self.assertEqual(text.count("\n"), 1, text)
            self.assertIn(words[0], text)
            self.assertIn(why, text)
        self.assertIn("nan is no number of at least 0", self.compare(self.right, "--reference", self.reference, "--tolerance", "nan", status=2))
        module = importlib.import_module("softtpu.compare")
        for option, value, why in (("margin", float("nan"), "--margin is nan; it is a number above 0"), ("seed", -1, "--seed is -1; it is 0 or more"),
                                   ("stage", -1, "--stage is -1; it is 0 or more")):
            with self.assertRaisesRegex(module.UsageError, re.escape(why)):
                module.compare(self.right, npz=self.reference, program=OPTIONS.program, **{option: value})

    def test_a_signal_leaves_nothing(self):
        place = self.at / "temporary"
        place.mkdir()
        for number in (signal.SIGTERM, signal.SIGHUP):
            process = subprocess.Popen([OPTIONS.program, "bmodel", "compare", self.right, "--npz", self.reference], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                       env={**os.environ, "SOFTTPU_PYTHON": sys.executable, "TMPDIR": str(place)})
            while process.poll() is None and not list(place.glob("softtpu-compare-*")):
                time.sleep(0.005)
            process.send_signal(number)
            self.assertEqual(process.wait(timeout=60), 128 + number)
            self.assertEqual(list(place.iterdir()), [])

    def test_an_exception_at_any_line_leaves_no_folder(self):
        module = importlib.import_module("softtpu._temporary")
        place = self.at / "any_line"
        place.mkdir()

        class Signal(BaseException):
            pass

        def run(limit):
            """Raises at the given line that is carried out for the folder, as a handler of a signal would; returns how many there were."""
            lines = 0

            def trace(frame, event, _):
                nonlocal lines
                if frame.f_code.co_filename != module.__file__:
                    return trace
                if event == "line":
                    lines += 1
                    if lines == limit:
                        raise Signal
                return trace

            sys.settrace(trace)
            try:
                with module.temporary_folder("softtpu-") as folder:
                    (folder / "file").touch()
            except Signal:
                pass
            finally:
                sys.settrace(None)
            return lines

        with unittest.mock.patch.object(tempfile, "tempdir", str(place)):
            count = run(0)
            self.assertGreater(count, 5)
            for limit in range(1, count + 1):
                run(limit)
                self.assertEqual(list(place.iterdir()), [], f"line {limit} of {count}")

    def test_a_tensor_may_have_the_name_of_an_argument(self):
        compare = importlib.import_module("softtpu.compare")
        compare._write_npz(self.at / "names.npz", {"file": np.zeros(3), "allow_pickle": np.ones(2)})
        with np.load(self.at / "names.npz") as loaded:
            self.assertEqual(sorted(loaded.files), ["allow_pickle", "file"])

    def test_layers_in_local_memory_explain_what_follows_them(self):
        bare = self.at / "grouped.bmodel"
        layered_network.write(OPTIONS, bare, with_map=False)
        layers = json.loads(self.map_file.read_text())
        quantised, last = layers[5]["results"][0], layers[6]
        quantised["address"] = last["operands"][0]["address"] = 4096
        store = json.loads(json.dumps({**last, "opcode": "tpu.Store", "tiu_dma_id(before)": last["tiu_dma_id(after)"], "operands": last["results"]}))
        last["results"][0]["address"] = store["operands"][0]["address"] = 8192
        layers.append(store)
        (self.at / "grouped.json").write_text(json.dumps(layers))
        result = self.result(bare, "--npz", self.reference, "--map", self.at / "grouped.json")
        rows = [(row["name"], row["operation"], row["verdict"]) for row in result["layers"]]
        # The rounding of bytes that are not kept is in the output, whose own type explains nothing of it; its store is no layer.
        self.assertEqual(rows[5:], [("grown_Mul_si8", "tpu.Cast", "not compared"), ("y_f32", "tpu.Cast", "explained")])
        self.assertGreater(result["layers"][6]["units"], 1000)
        for value in (quantised, last["operands"][0]):
            value["type"] = ""  # a map without the types of MLIR
        (self.at / "grouped.json").write_text(json.dumps(layers))
        self.compare(bare, "--npz", self.reference, "--map", self.at / "grouped.json")

    def test_results_in_local_memory_are_dumped_when_they_are_complete(self):
        # Every layer's result overwrites nothing here, so the store behind it shows what local memory held.
        bare = self.at / "local.bmodel"
        layered_network.write(OPTIONS, bare, with_map=False)
        layers = json.loads(self.map_file.read_text())
        local = 0
        for layer, (_, _, _, steps) in zip(layers[:-1], layered_network.LAYERS):
            local += layered_network._ROOM * len(steps)
            whole = {**layer["results"][0], "layout": "eu_align", "shape": list(layered_network.SHAPE), "reshape": "<1x8x1x16x16>"}
            # In two parts: channel 4 begins in NPU 4.
            layer["results"] = [{**whole, "address": local + (first << 18), "slice": f"[0:1, {first}:{last}, 0:1, 0:16, 0:16]"}
                                for first, last in ((0, 4), (4, 8))]
        layers[0]["results"].pop()
        (self.at / "local").mkdir()
        (self.at / "local/tensor_location.json").write_text(json.dumps(layers))
        done = subprocess.run([OPTIONS.program, "bmodel", "run", bare, "--input", self.save("x.npz", {"x": self.tensors["x"]}), "--dump-layers",
                               self.at / "layers"], capture_output=True, text=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        dumped = {path.stem: np.load(path) for path in (self.at / "layers").iterdir()}
        self.assertNotIn("scaled_Mul", dumped)  # only half of it is named
        for name in ("shifted", "rectified", "grown"):
            layer = next(one for one in dumped if one.startswith(name) and not one.endswith(("_f16", "_si8")))
            np.testing.assert_allclose(dumped[layer], self.tensors[name], rtol=2e-3, err_msg=layer)
        np.testing.assert_array_equal(dumped["rectified_Relu_f16"], dumped["rectified_Relu"].astype(np.float16))
        self.assertEqual(dumped["grown_Mul_si8"].dtype, np.int8)

    def test_results_are_dumped_before_others_take_their_place(self):
        def dumped(path):
            done = subprocess.run([OPTIONS.program, "bmodel", "run", path, "--input", self.save("x.npz", {"x": self.tensors["x"]}), "--dump-layers",
                                   self.at / path.stem], capture_output=True, text=True, timeout=100)
            self.assertEqual(done.returncode, 0, done.stderr)
            return {file.stem: file.read_bytes() for file in (self.at / path.stem).iterdir()}
        turns = self.at / "turns.bmodel"
        layered_network.write(OPTIONS, turns, places=3)
        wanted = dumped(self.right)
        self.assertEqual(set(wanted), {"x", *(layer[0] for layer in layered_network.LAYERS)})
        self.assertEqual(dumped(turns), wanted)

    def test_a_map_of_another_file_is_refused(self):
        bare = self.at / "unmapped.bmodel"
        layered_network.write(OPTIONS, bare, with_map=False)
        layers = json.loads(self.map_file.read_text())
        for change, words in ((lambda: layers[-1].update({"tiu_dma_id(after)": [99, 8]}), "layer y_f32 (tpu.Cast) ends with TIU 99 and DMA 8, part 0 has 10 and 9 instructions"),
                              (lambda: layers.pop(), "no layer has the output \"y_f32\""), (layers.clear, "no layer has the output \"y_f32\"")):
            change()
            (self.at / "other_map.json").write_text(json.dumps(layers))
            for command in (("compare", bare, "--npz", self.reference), ("run", bare), ("info", bare)):
                done = subprocess.run([OPTIONS.program, "bmodel", *map(str, command), "--map", self.at / "other_map.json"], capture_output=True, text=True, timeout=100,
                                      env={**os.environ, "SOFTTPU_PYTHON": sys.executable})
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertIn(f"the map of tensors is of another network: {words}", done.stderr)
        (self.at / "cut.json").write_text(self.map_file.read_text()[:900])
        self.assertIn("the map of tensors is not JSON", self.compare(bare, "--npz", self.reference, "--map", self.at / "cut.json", status=2))
        self.assertIn("no such file", self.compare(bare, "--npz", self.reference, "--map", self.at / "nowhere.json", status=2))

    def test_missing_packages_are_named(self):
        (self.at / "blocked").mkdir(exist_ok=True)
        (self.at / "blocked/onnxruntime.py").write_text("raise ImportError('blocked here')\n")
        (self.at / "model.onnx").write_bytes(b"")
        text = self.compare(self.right, "--onnx", self.at / "model.onnx", status=2, environment={"PYTHONPATH": str(self.at / "blocked")})
        self.assertEqual(text.count("\n"), 1, text)
        self.assertIn("--onnx needs the Python packages onnx and onnxruntime", text)
        self.assertIn("-m pip install onnx onnxruntime", text)

    def test_what_a_model_must_match(self):
        """With packages in the place of onnx and onnxruntime, whose model is JSON: what is done with a model's inputs, names and values."""
        place = self.at / "stand_ins"
        place.mkdir(exist_ok=True)
        (place / "onnx.py").write_text(STAND_IN_FOR_ONNX)
        (place / "onnxruntime.py").write_text(STAND_IN_FOR_ONNXRUNTIME)
        environment = {"PYTHONPATH": os.pathsep.join((str(place), str(HERE)))}

        def model(name, inputs=(("x", layered_network.SHAPE),), prefix="", fails=""):
            path = self.at / f"{name}.onnx"
            path.write_text(json.dumps({"inputs": inputs, "prefix": prefix, "fails": fails}))
            return path
        text = self.compare(self.right, "--onnx", model("right"), environment=environment)
        self.assertIn("scaled_Mul", text)
        for fault, first in layered_network.FIRST.items():
            path = self.at / f"stand_in_{fault.replace(' ', '_')}.bmodel"
            layered_network.write(OPTIONS, path, fault)
            self.assertIn(f"first layer that leaves the reference: {first}", self.compare(path, "--onnx", model("right"), status=1, environment=environment))
        for path, words in (
                (model("two", (("x", layered_network.SHAPE), ("z", [1]))), "does not match: it has 2 inputs, the network has 1"),
                (model("narrow", (("x", (1, 8, 16, 15)),)), "its input \"x\" has shape [1, 8, 16, 15], input \"x\" of the network has [1, 8, 16, 16]"),
                (model("other", prefix="other_"), "has the name of a layer or an output"),
                (model("broken", fails="no kernel for Foo\nat line 3"), "cannot run: no kernel for Foo"),
                (self.reference, "is no ONNX model that can run")):
            text = self.compare(self.right, "--onnx", path, status=2, environment=environment)
            self.assertEqual(text.count("\n"), 1, text)
            self.assertIn(words, text)
        self.compare(self.right, "--onnx", model("right"), environment=environment)  # nothing is left of what was refused

    @unittest.skipUnless(importlib.util.find_spec("onnxruntime") and importlib.util.find_spec("onnx"), "onnx and onnxruntime are not installed")
    def test_onnx_models_run_with_all_their_tensors(self):
        import onnx
        from onnx import TensorProto, helper

        def model(shape=layered_network.SHAPE, opset=17, grown="grown"):
            constants = [helper.make_tensor(name, TensorProto.FLOAT, [], [value]) for name, value in (("three", 3.0), ("half", -0.5), ("hundred", 100.0))]
            nodes = [helper.make_node("Mul", ["x", "three"], ["scaled"]), helper.make_node("Add", ["scaled", "half"], ["shifted"]),
                     helper.make_node("Relu", ["shifted"], ["rectified"]), helper.make_node("Mul", ["rectified", "hundred"], [grown]),
                     helper.make_node("Identity", [grown], ["y"])]
            graph = helper.make_graph(nodes, "layered", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                                      [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)], constants)
            made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
            onnx.save(made, self.at / "float.onnx")
            return self.at / "float.onnx"
        result = self.result(self.right, "--onnx", model())
        self.assertEqual({row["verdict"] for row in result["layers"]}, {"explained"})
        self.assertEqual(result["layers"][0]["reference"], "scaled_Mul")
        self.result(self.right, "--onnx", model(shape=["batch", 8, 16, 16]))
        for fault, first in layered_network.FIRST.items():
            path = self.at / f"onnx_{fault.replace(' ', '_')}.bmodel"
            layered_network.write(OPTIONS, path, fault)
            self.assertEqual(self.result(path, "--onnx", model(), "--seed", 5, status=1)["first"], first)
        for path, words in ((model(shape=(1, 8, 16, 15)), "its input \"x\" has shape [1, 8, 16, 15], input \"x\" of the network has [1, 8, 16, 16]"),
                            (self.reference, "is no ONNX model that can run")):
            text = self.compare(self.right, "--onnx", path, status=2)
            self.assertEqual(text.count("\n"), 1, text)
            self.assertIn(words, text)


def main():
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--flatc", required=True)
    OPTIONS, rest = parser.parse_known_args()
    OPTIONS.program = str(OPTIONS.build.resolve() / "bin/softtpu")
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
