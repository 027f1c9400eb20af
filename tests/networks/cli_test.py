#!/usr/bin/env python3
"""softtpu bmodel: info, disasm, run and compare on recorded networks; what goes wrong is said with the right status."""
import argparse
import io
import json
import lzma
import math
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
import unittest
import zipfile

import numpy_files

HERE = pathlib.Path(__file__).resolve().parent
NETWORKS = HERE.parent / "golden-networks"
OPTIONS = None


def softtpu(*words, status=0):
    done = subprocess.run([OPTIONS.build / "bin/softtpu", "bmodel", *map(str, words)], capture_output=True, text=True, timeout=100)
    if done.returncode != status:
        raise AssertionError(f"{words}: status {done.returncode}, not {status}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


class Bmodel(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.at = pathlib.Path(self.folder.name)

    def recorded(self, name, part):
        return (NETWORKS / f"{name}.{part}.bin").read_bytes()

    def write_input(self):
        numpy_files.write_npz(self.at / "x.npz", {"x": ("<f4", (1, 12, 48), self.recorded("attention_small_F16", "input"))})
        return self.at / "x.npz"

    def test_info_lists_tensors_memory_and_streams(self):
        text = softtpu("info", NETWORKS / "attention_small_F16.bmodel")
        for part in ("chip BM1684X", "network attention_small, address mode 0", "[1, 12, 48]", "scale 1, zero point 0",
                     "131072 bytes of constants at 0x100000000", "212 TIU instructions (12032 bytes)"):
            self.assertIn(part, text)
        self.assertIn("part 3 runs on the host's processor (layer", softtpu("info", OPTIONS.made / "cpu_part.bmodel"))
        self.assertNotIn("cannot run", text)
        data = (NETWORKS / "attention_small_F16.bmodel").read_bytes()
        self.assertEqual(data.count(b"BM1684X\0"), 1)
        (self.at / "other.bmodel").write_bytes(data.replace(b"BM1684X\0", b"SGTPUV8\0"))
        self.assertIn("\ncannot run: the file is for chip SGTPUV8, whose networks cannot run; those of BM1684X,", softtpu("info", self.at / "other.bmodel"))
        self.assertIn("SGTPUV8", json.loads(softtpu("info", "--json", self.at / "other.bmodel"))["cannot_run"])

    def test_disasm_names_every_instruction(self):
        lines = softtpu("disasm", "--json", NETWORKS / "attention_small_F16.bmodel").splitlines()
        rows = [json.loads(line) for line in lines]
        self.assertEqual(len(rows), 212 + 21)
        self.assertEqual([row["id"] for row in rows[:211]], list(range(1, 212)))
        self.assertTrue(all(row["function"] for row in rows if row["operation"] not in ("end", "sys")))
        text = softtpu("disasm", NETWORKS / "softmax_INT8.bmodel")
        self.assertIn("TIU 1 sAR.cast after DMA 1", text)
        self.assertIn("= tpu_bdc_cast\n            reads src 0x00000000, shape [1, 63, 1, 29], fp32", text)

    def test_all_instructions_give_their_bytes_again(self):
        networks = sorted(NETWORKS.rglob("*.bmodel"))
        self.assertGreater(len(networks), 20)
        counts = {path: softtpu("disasm", "--encode", path) for path in networks}
        self.assertEqual([str(path) for path, text in counts.items() if not text.endswith(" instructions give their bytes again\n")], [])
        self.assertEqual(counts[NETWORKS / "attention_small_F16.bmodel"], "233 instructions give their bytes again\n")

    def test_disasm_knows_where_tags_point(self):
        for network in ("bm1688_2/matmul_two_F32", "bm1688/conv_relu_INT8", "bm1690/conv_relu_INT8"):
            text = softtpu("disasm", NETWORKS / f"{network}.bmodel")
            self.assertNotIn("outside", text)
        self.assertIn("reads src 0xc000001e00, shape [24,", softtpu("disasm", NETWORKS / "bm1688_2/matmul_two_F32.bmodel"))

    def test_disasm_of_a_chip_whose_networks_do_not_run_has_fields_alone(self):
        # These chips share the forms of a few instructions with BM1688: its file under their names.
        file = self.at / "other.bmodel"
        whole = (NETWORKS / "bm1688/softmax_BF16.bmodel").read_bytes()
        self.assertEqual(whole.count(b"BM1688\0"), 1)
        for chip in (b"SG2380\0\0", b"SGTPUV8\0", b"CV184X\0\0"):
            length = len(chip.rstrip(b"\0")).to_bytes(4, "little")
            file.write_bytes(whole.replace(b"\6\0\0\0BM1688\0\0", length + chip))
            text = softtpu("disasm", file)
            self.assertIn("  TIU 1 ", text)
            self.assertNotIn("= tpu_", text)
            self.assertEqual(softtpu("disasm", "--encode", file), "34 instructions give their bytes again\n")
        self.assertIn("= tpu_", softtpu("disasm", NETWORKS / "bm1688/softmax_BF16.bmodel"))
        self.assertIn("the file is for chip CV184X, whose networks cannot run", softtpu("run", file, status=1))
        file.write_bytes(whole.replace(b"BM1688\0", b"BM9999\0"))
        self.assertIn("no instructions of BM9999 are known", softtpu("disasm", file, status=2))

    def test_a_network_runs_on_its_own_chip(self):
        for network in ("bm1688_2/matmul_two_F32", "bm1690/embedding_F16", "bm1684/conv_relu_F32"):
            self.assertIn(" ms here", softtpu("run", NETWORKS / f"{network}.bmodel"))
        self.assertIn("the file is for chip BM1690", softtpu("run", "--chip", "bm1684x", NETWORKS / "bm1690/embedding_F16.bmodel", status=1))

    def test_networks_of_several_cores_give_the_same_in_every_order(self):
        for network in ("bm1688_2/matmul_two_F32", "bm1690_8/conv_3d_F32"):
            self.assertIn(" ms here", softtpu("run", "--schedules", "3", NETWORKS / f"{network}.bmodel"))

    def test_info_says_what_each_core_has(self):
        (stage,) = json.loads(softtpu("info", "--json", NETWORKS / "bm1688_2/matmul_two_F32.bmodel"))["networks"][0]["stages"]
        self.assertEqual((stage["cores"], [group["core"] for group in stage["groups"]]), (2, [0, 1]))

    def test_a_file_of_gigabytes_opens_at_once(self):
        path = self.at / "large.bmodel"
        path.write_bytes((NETWORKS / "softmax_INT8.bmodel").read_bytes())
        os.truncate(path, 4 << 30)  # a hole: it takes no room
        begin = os.times()
        softtpu("info", path)
        softtpu("time", path)
        end = os.times()
        self.assertLess(end.children_user + end.children_system - begin.children_user - begin.children_system, 1)

    def test_test_has_the_options_and_lines_of_bmrt_test(self):
        context = self.at / "context"
        context.mkdir()
        (context / "compilation.bmodel").write_bytes((NETWORKS / "attention_small_F16.bmodel").read_bytes())
        (context / "input_ref_data.dat").write_bytes(self.recorded("attention_small_F16", "input"))
        (context / "output_ref_data.dat").write_bytes(self.recorded("attention_small_F16", "output"))
        text = softtpu("test", "--context_dir", context, "--loopnum", 2, "--thread_num", 2, "--accuracy_f", 0)
        for part in ("[BMRT][bmrt_test] INFO:net[attention_small] stage[0], launch total time is ", "us (npu ", "us), (launch func time ",
                     "INFO:==> running network #0, name: attention_small, loop: 1\n", "INFO:reading input #0, bytesize=2304\n",
                     "INFO:  --> input_data: < ", "INFO:reading output #0, bytesize=2304\n", "INFO:  --> output ref_data: < ",
                     "INFO:==>comparing output in mem #0 ... \n",
                     "INFO:+++ The network[attention_small] stage[0] output_data +++", "INFO:load input time(s): ",
                     "INFO:get output time(s): ", "INFO:compare    time(s): "):
            self.assertIn(part, text)
        self.assertEqual(text.count("INFO:+++ The network[attention_small] stage[0] cmp success +++"), 4)
        self.assertRegex(text, r"INFO:output data #0 shape: \[1 12 48 \] <( [-+.e\d]+){16} \.\.\. > len=576\n")
        self.assertRegex(text, r"INFO:pre alloc  time\(s\): \d+\.\d+\n")
        self.assertRegex(text, r"INFO:calculate  time\(s\): \d+\.\d+, on the chip 0\.0*[1-9]\d* \(estimate\)")
        wrong = bytearray((context / "output_ref_data.dat").read_bytes())
        wrong[4 * 7:4 * 8] = struct.pack("<f", 12345)
        (context / "output_ref_data.dat").write_bytes(wrong)
        self.assertIn("cmp failed: output add55_0_Add_f32, element 7 is ", softtpu("test", "--context_dir", context, status=1))
        self.assertNotIn("cmp", softtpu("test", "--context_dir", context, "--compare", 0))
        (context / "input_ref_data.dat").write_bytes(bytes(8))
        self.assertIn("input_ref_data.dat has 8 bytes, 2296 more are needed", softtpu("test", "--context_dir", context, status=2))
        self.assertIn("one of --bmodel and --context_dir", softtpu("test", status=2))
        self.assertIn("--shapes [1,: not of the form", softtpu("test", "--bmodel", NETWORKS / "softmax_INT8.bmodel", "--shapes", "[1,", status=2))
        self.assertIn("--net_idx 4: the file has 1 networks", softtpu("test", "--bmodel", NETWORKS / "softmax_INT8.bmodel", "--net_idx", 4, status=2))
        # The chip is the file's.
        network = next(NETWORKS.glob("bm1688_2/*.bmodel"))
        self.assertIn("output data #0", softtpu("test", "--bmodel", network, "--core_list", "1,0"))
        self.assertIn("is compiled for 2 cores, core_list has 1", softtpu("test", "--bmodel", network, "--core_list", 1, status=1))
        self.assertIn("core 2 does not exist", softtpu("test", "--bmodel", network, "--core_list", "0,2", status=1))
        self.assertIn("--core_list 0,: not of the form 0,1", softtpu("test", "--bmodel", network, "--core_list", "0,", status=2))
        rows = NETWORKS / "dynamic/topk_F16.bmodel"
        self.assertIn("net[topk] stage[0]", softtpu("test", "--bmodel", rows, "--shapes", "[2,300]", "--calculate_times", 2))
        self.assertIn("is compiled for inputs up to [3, 300], not for [4, 300]", softtpu("test", "--bmodel", rows, "--shapes", "[4,300]", status=1))

    def test_time_estimates_without_running(self):
        path = NETWORKS / "attention_small_F16.bmodel"
        text = softtpu("time", path, "--layers", 3)
        self.assertRegex(text, r"attention_small, stage 0: 0\.\d+ ms \+- \d+ % \(\d+ networks of this precision\), mostly ")
        self.assertRegex(text, r"rests on \d+ % fitted")
        self.assertRegex(text, r"layers .*: bound by .*(, next | alone)")
        self.assertIn("device memory: ", text)
        (row,) = json.loads(softtpu("time", path, "--json"))
        self.assertEqual((row["network"], row["chip"], row["precision"]), ("attention_small", "BM1684X", "F16"))
        self.assertAlmostEqual(sum(row["spent_us"].values()), row["us"], places=6)
        self.assertAlmostEqual(sum(row["rests_on_us"].values()), row["us"], places=6)
        self.assertEqual(softtpu("time", path, "--csv").splitlines()[0], "file,chip,network,stage,cores,precision,ms,bound,error,networks,measured,fitted,vendor,guess,trust")
        (vendor,) = json.loads(softtpu("time", path, "--json", "--vendor"))
        self.assertLess(vendor["us"], row["us"])
        both = json.loads(softtpu("time", path, "--with", NETWORKS / "softmax_INT8.bmodel", "--json"))
        self.assertAlmostEqual(both[-1]["us"], both[0]["us"] + both[1]["us"], places=6)
        self.assertFalse(both[-1]["side_by_side"])
        self.assertIn("in turns on one core", softtpu("time", path, "--with", NETWORKS / "softmax_INT8.bmodel"))
        self.assertIn("no such network or stage", softtpu("time", path, "--network", "other", status=2))
        self.assertIn("No such file", softtpu("time", self.at / "none.bmodel", status=2))

    def unpacked(self, name):
        path = self.at / (name.replace("/", "_") + ".bmodel")
        path.write_bytes(lzma.decompress((HERE.parent / f"timing/data/networks/{name}.bmodel.xz").read_bytes()))
        return path

    def test_networks_on_two_cores_share_ddr(self):
        path = self.unpacked("bm1688/lprnet_1b_INT8")
        one, two, both = json.loads(softtpu("time", path, "--with", path, "--json"))
        self.assertTrue(both["side_by_side"])
        self.assertEqual(both["alone_us"], [one["us"], two["us"]])
        self.assertAlmostEqual(both["ends_us"][0], both["ends_us"][1], places=6)
        # Later than alone, and sooner than one after the other.
        self.assertGreater(both["us"], 1.01 * one["us"])
        self.assertLess(both["us"], 1.9 * one["us"])
        self.assertIn("side by side on cores that share DDR", softtpu("time", path, "--with", path))
        other = NETWORKS / "attention_small_F16.bmodel"
        self.assertIn("they cannot share a chip", softtpu("time", path, "--with", other, status=2))

    def test_cores_of_a_network_wait_for_each_other(self):
        path = self.unpacked("bm1688/lprnet_1b_F32_2core")
        (two,) = json.loads(softtpu("time", path, "--json", "--cores", 2))
        (one,) = json.loads(softtpu("time", self.unpacked("bm1688/lprnet_1b_F32"), "--json"))
        self.assertEqual(two["cores"], 2)
        self.assertLess(two["us"], one["us"])
        self.assertGreater(two["us"], one["us"] / 2)
        self.assertGreater(two["spent_us"]["other cores"], 0)
        self.assertAlmostEqual(sum(two["spent_us"].values()), two["us"], places=3)

    def test_time_takes_cores_and_says_what_fits(self):
        path = NETWORKS / "attention_small_F16.bmodel"
        softtpu("time", path, "--cores", 1)
        self.assertIn("number of cores", softtpu("time", path, "--cores", 2, status=2))
        self.assertIn("SM7M, layout mm0: fits", softtpu("time", path))
        boards = json.loads(softtpu("info", path, "--json"))["memory"]["boards"]
        self.assertEqual([(board["heap_mib"], board["fits"]) for board in boards], [(7615, True), (2416, True)])
        header, line = softtpu("time", path, "--csv").splitlines()
        row = dict(zip(header.split(","), line.split(",")))
        self.assertAlmostEqual(sum(float(row[name]) for name in ("measured", "fitted", "vendor", "guess")), 1, places=2)

    def test_time_of_networks_whose_addresses_have_tags(self):
        for network in ("bm1690/embedding_F16", "bm1690/conv_relu_INT8", "bm1690_8/conv_3d_F32", "bm1688/conv_relu_INT8"):
            (row, *_) = json.loads(softtpu("time", "--json", NETWORKS / f"{network}.bmodel"))
            self.assertGreater(row["us"], 0, network)

    def test_time_of_instructions_whose_results_are_not_known(self):
        for name, precision in (("lprnet_1b_F32", "F32"), ("resnet50_1b_INT8", "INT8")):
            path = self.unpacked(f"bm1684/{name}")
            (row,) = json.loads(softtpu("time", path, "--json"))
            self.assertEqual((row["chip"], row["precision"], row["error"]["networks"]), ("BM1684", precision, 2))
            self.assertLess(row["rests_on_us"]["guess"], 1)

    def test_the_heap_of_bm1690_is_documented(self):
        (board,) = json.loads(softtpu("info", NETWORKS / "bm1690/embedding_F16.bmodel", "--json"))["memory"]["boards"]
        self.assertEqual((board["heap_mib"], board["fits"]), (123392, True))

    def test_time_of_a_language_model_from_one_block(self):
        path = self.at / "block.bmodel"
        packed = HERE.parent / "timing/data/networks/bm1684x/qwen7b_block_cache_W4BF16.bmodel.xz"
        with lzma.open(packed) as source, open(path, "wb") as file:
            while block := source.read(1 << 20):
                if block.count(0) == len(block):
                    file.seek(len(block), 1)
                else:
                    file.write(block)
            file.truncate()
        text = softtpu("time", path, "--blocks", 32, "--length", 512)
        self.assertIn("networks of this precision, no language model among them)", text)
        self.assertRegex(text, r"language model of 32 blocks, compiled for 512 tokens \(a shorter text takes as long\): then [\d.]+ tokens/s, without the host")
        one, = (row for row in json.loads(softtpu("time", path, "--json")) if "tokens_per_s" in row)
        all, = (row for row in json.loads(softtpu("time", path, "--json", "--blocks", 32)) if "tokens_per_s" in row)
        self.assertEqual((all["blocks"], all["blocks_in_file"], all["places"], all["first_token_us"]), (32, 1, 512, None))
        self.assertAlmostEqual(all["next_token_us"], 32 * one["next_token_us"], places=3)
        self.assertIn("holds at most 512 tokens", softtpu("time", path, "--length", 513, status=2))

    def test_comparing_without_computing_is_refused(self):
        path = NETWORKS / "attention_small_F16.bmodel"
        self.assertIn("compare needs results", softtpu("compare", path, "--time-only", "--reference", self.write_input(), status=2))
        self.assertRegex(softtpu("run", path, "--time-only"), r"attention_small, stage 0: 0\.\d+ ms \+- ")

    def test_time_of_a_run_is_that_without_running(self):
        path = NETWORKS / "attention_small_F16.bmodel"
        (row,) = json.loads(softtpu("time", path, "--json"))
        text = softtpu("run", path, "--time")
        # Reading the instructions when the network is loaded is no launch.
        self.assertEqual(text.count("softtpu: time: kernel"), 1)
        self.assertIn(f"{row['us']:.1f} us estimated", text)
        self.assertRegex(text, r"error     \+- \d+ % \(\d+ networks of this precision\), F16, each left out of the fit")

    def test_run_writes_the_recorded_outputs(self):
        out = self.at / "y.npz"
        text = softtpu("run", NETWORKS / "attention_small_F16.bmodel", "--input", self.write_input(), "--output", out, "--repeat", 3)
        self.assertRegex(text, r"attention_small: [\d.]+ ms here, [\d.]+ launches/s \(fastest of 3\)")
        ((name, (dtype, shape, data)),) = numpy_files.read_npz(out).items()
        self.assertEqual((name, dtype, shape), ("add55_0_Add_f32", "<f4", (1, 12, 48)))
        self.assertEqual(data, self.recorded("attention_small_F16", "output"))

    def test_compare_names_the_first_difference(self):
        good = self.recorded("attention_small_F16", "output")
        numpy_files.write_npz(self.at / "good.npz", {"add55_0_Add_f32": ("<f4", (1, 12, 48), good)})
        command = ("compare", NETWORKS / "attention_small_F16.bmodel", "--input", self.write_input(), "--reference")
        self.assertIn("cosine 1.000000000, maximum error 0, 0 of 576 elements differ", softtpu(*command, self.at / "good.npz"))
        element = 3 * 48 + 2
        changed = bytearray(good)
        value = struct.unpack_from("<f", changed, 4 * element)[0]
        struct.pack_into("<f", changed, 4 * element, value + 0.5)
        numpy_files.write_npz(self.at / "bad.npz", {"y": ("<f4", (1, 12, 48), bytes(changed))}, compression=0)
        text = softtpu(*command, self.at / "bad.npz", status=1)
        self.assertIn("1 of 576 elements differ, the first at [0, 3, 2]", text)
        self.assertRegex(text, r"maximum error 0\.5\b")
        softtpu(*command, self.at / "bad.npz", "--tolerance", 0.6)

    def test_random_inputs_come_from_the_seed(self):
        def run(seed):
            softtpu("run", NETWORKS / "reduce_INT8.bmodel", "--seed", seed, "--output", self.at / "y.npz")
            return numpy_files.read_npz(self.at / "y.npz")
        self.assertEqual(run(1), run(1))
        self.assertNotEqual(run(1), run(2))

    def test_layers_are_dumped_after_their_last_write(self):
        softtpu("run", NETWORKS / "attention_small_F16.bmodel", "--input", self.write_input(), "--dump-layers", self.at / "layers")
        files = {path.stem: numpy_files.decode(path.read_bytes()) for path in (self.at / "layers").iterdir()}
        self.assertEqual(files["x"][2], self.recorded("attention_small_F16", "input"))
        self.assertEqual(files["add55_0_Add_f32"], ("<f4", (1, 12, 48), self.recorded("attention_small_F16", "output")))

    def test_names_with_a_slash_have_files_of_their_own(self):
        """Layers "a/b" and "a_b" were written to one file."""
        named = self.at / "named.bmodel"
        name = b"softmax1_0_Softmax_f32"
        named.write_bytes((NETWORKS / "softmax_INT8.bmodel").read_bytes().replace(name, b"softmax1/0%Softmax_f32"))
        softtpu("run", named, "--dump-layers", self.at / "layers")
        self.assertIn("softmax1%2F0%25Softmax_f32.npy", [path.name for path in (self.at / "layers").iterdir()])

    def test_layers_of_the_compilers_map_are_named_and_dumped(self):
        given = self.recorded("softmax_INT8", "input")
        wanted = self.recorded("softmax_INT8", "output")
        numpy_files.write_npz(self.at / "x.npz", {"x": ("<f4", (3, 12, 50), given)})
        network = OPTIONS.made / "layers.bmodel"
        self.assertIn("layers   3 in the compiler's map of tensors", softtpu("info", network))
        text = softtpu("run", network, "--time", "--trace", self.at / "t.json", "--timeline", self.at / "line.json", "--input",
                       self.at / "x.npz", "--dump-layers", self.at / "layers")
        self.assertIn("of shares (tpu.Softmax)", (self.at / "line.json").read_text())
        self.assertIn("TIU 1 sAR.cast of scores (tpu.Cast)", text)
        events = json.loads((self.at / "t.json").read_text())
        events = events["traceEvents"] if isinstance(events, dict) else events
        names = {event.get("args", {}).get("at") for event in events}
        self.assertIn("TIU 1 sAR.cast of scores (tpu.Cast)", names)
        self.assertTrue(any(name and name.startswith("TIU 26 ") and name.endswith("of shares (tpu.Softmax)") for name in names), names)
        files = {path.stem: numpy_files.decode(path.read_bytes()) for path in (self.at / "layers").iterdir()}
        self.assertEqual(files["shares"], ("<f4", (3, 12, 50), wanted))
        self.assertEqual(files["shares_as_words"], ("<u4", (1800,), wanted))
        self.assertNotIn("scores", files)  # in local memory only

    def test_results_of_several_cores_are_put_together(self):
        """Each core multiplies two of the four matrices and stores each product behind it."""
        def layer(core, before, after, *results):
            return {"core_id": core, "opcode": "tpu.MatMul", "tiu_dma_id(before)": before, "tiu_dma_id(after)": after, "results": list(results)}
        def local(core):  # 32 of the columns of the first product of each core
            return {"name": "columns", "address": 0x10000, "memory_type": "<48x4x1x8xf32>", "layout": "eu_align", "shape": [48, 32],
                    "reshape": "<48x4x1x1x8>", "slice": f"[{24 * core}:{24 * core + 24}, 0:4, 0:1, 0:1, 0:8]"}
        def whole(name):
            return {"name": name, "address": 0xd000000000, "memory_type": "<3168xui32>", "layout": "continuous"}
        output = {"name": "matmul1_0_MatMul", "address": 0xd000000000, "memory_type": "<4x24x33xf32>", "layout": "continuous"}
        layers = [part for core in (0, 1) for part in (layer(core, [0, 0], [3, 4], local(core)), layer(core, [2, 4], [4, 8], whole("words"), output))]
        layers.append(layer(1, [2, 4], [4, 8], whole("half")))  # the first core is said to have no part in it
        (self.at / "map.json").write_text(json.dumps(layers))
        given, wanted = (self.recorded("bm1688_2/matmul_two_F32", part) for part in ("input", "output"))
        numpy_files.write_npz(self.at / "x.npz", {"a": ("<f4", (4, 24, 40), given[:15360]), "b": ("<f4", (4, 40, 33), given[15360:])})
        rows = [wanted[132 * row:132 * row + 128] for row in (*range(24), *range(48, 72))]
        for more in ([], ["--check=all"], ["--schedule=random:7"]):
            softtpu("run", NETWORKS / "bm1688_2/matmul_two_F32.bmodel", "--map", self.at / "map.json", "--input", self.at / "x.npz", "--dump-layers",
                    self.at / "layers", *more)
            files = {path.stem: numpy_files.decode(path.read_bytes()) for path in (self.at / "layers").iterdir()}
            self.assertEqual(files, {"a": ("<f4", (4, 24, 40), given[:15360]), "b": ("<f4", (4, 40, 33), given[15360:]), "words": ("<u4", (3168,), wanted),
                                     "columns": ("<f4", (48, 32), b"".join(rows)), "matmul1_0_MatMul": ("<f4", (4, 24, 33), wanted)})
            shutil.rmtree(self.at / "layers")

    def test_reports_name_layers(self):
        page, program = self.at / "page.html", OPTIONS.build / "bin/softtpu"
        subprocess.run([program, "report", "--no-check", "-o", page, "--", program, "bmodel", "execute", OPTIONS.made / "layers.bmodel"],
                       check=True, capture_output=True, timeout=100)
        self.assertIn("TIU 1 sAR.cast of scores (tpu.Cast) [tpu_bdc_cast]", page.read_text())

    def test_a_damaged_map_of_tensors_costs_only_names(self):
        network = OPTIONS.made / "damaged_map.bmodel"
        self.assertIn("layers   not known: the map of tensors is not JSON", softtpu("info", network))
        self.assertIn("TIU 1 sAR.cast [tpu_bdc_cast]", softtpu("run", "--time", network))

    def test_shapes_are_those_of_the_inputs(self):
        rows, two = NETWORKS / "dynamic/topk_F16.bmodel", OPTIONS.made / "two_stages.bmodel"
        values = struct.pack("<14f", *range(7), *range(20, 13, -1))
        numpy_files.write_npz(self.at / "x.npz", {"x": ("<f4", (2, 7), values)})
        self.assertIn("topk: ", softtpu("run", rows, "--input", self.at / "x.npz", "--output", self.at / "y.npz"))
        found = numpy_files.read_npz(self.at / "y.npz")
        self.assertEqual([shape for _, shape, _ in found.values()], [(2, 5)] * 2)
        self.assertIn(struct.pack("<10f", 6, 5, 4, 3, 2, *range(20, 15, -1)), [data for _, _, data in found.values()])
        softtpu("compare", rows, "--input", self.at / "x.npz", "--reference", self.at / "y.npz")
        softtpu("run", rows, "--shapes", "[1,9]", "--output", self.at / "y.npz")
        self.assertEqual([shape for _, shape, _ in numpy_files.read_npz(self.at / "y.npz").values()], [(1, 5)] * 2)
        for shape in ((4, 300), (3, 301), (2, 300, 1), (0, 300)):
            numpy_files.write_npz(self.at / "x.npz", {"x": ("<f4", shape, bytes(4 * math.prod(shape)))})
            self.assertIn(f'array "x" has shape {list(shape)}, input "x" takes up to [3, 300]',
                          softtpu("run", rows, "--input", self.at / "x.npz", status=2))
        for text, why in (("[4,300]", 'input "x" takes up to [3, 300], not [4, 300]'), ("[3,300],[1]", "has 2 shapes, the network has 1 inputs"),
                          ("[1x9]", "not of the form"), ("[-1,9]", "not of the form")):
            self.assertIn(why, softtpu("run", rows, "--shapes", text, status=2))
        for name in ("none.npz", "none.npy"):
            self.assertIn("No such file", softtpu("run", rows, "--input", self.at / name, status=2))
        self.assertIn("excludes", softtpu("run", rows, "--shapes", "[1,9]", "--input", self.at / "x.npz", status=2))
        text = softtpu("run", NETWORKS / "dynamic/subdiv_const_F16.bmodel")
        self.assertIn('subdiv_const: output "sqrt4_0_Sqrt" has a NaN; the inputs are random, --input gives others\n', text)
        self.assertNotIn("NaN", softtpu("run", rows))
        # Of several stages the one that they fit, unless one is named.
        shape = tuple(json.loads(softtpu("info", "--json", two))["networks"][0]["stages"][1]["inputs"][0]["shape"])
        numpy_files.write_npz(self.at / "x.npz", {"x": ("<f4", shape, self.recorded("conv_3d_F32", "input"))})
        softtpu("run", two, "--input", self.at / "x.npz", "--output", self.at / "y.npz")
        ((_, _, data),) = numpy_files.read_npz(self.at / "y.npz").values()
        self.assertEqual(data, self.recorded("conv_3d_F32", "output"))
        self.assertIn(f'array "x" has shape {list(shape)}, input "x" has [3, 12, 50]',
                      softtpu("run", two, "--stage", 0, "--input", self.at / "x.npz", status=2))

    def test_static_parts_run_when_asked(self):
        numpy_files.write_npz(self.at / "x.npz", {"x": ("<f4", (3, 12, 50), self.recorded("softmax_INT8", "input"))})
        network = OPTIONS.made / "mixed.bmodel"
        self.assertIn("part 3 runs on the host's processor (layer top_k, operation 12)", softtpu("run", network, status=1))
        text = softtpu("run", "--static-parts", network, "--input", self.at / "x.npz", "--output", self.at / "y.npz")
        self.assertIn("softmax: left out: part 3 runs on the host's processor (layer top_k, operation 12)", text)
        ((_, _, data),) = numpy_files.read_npz(self.at / "y.npz").values()
        self.assertEqual(data, self.recorded("softmax_INT8", "output"))
        # What needs a missing part is not made: not written, and the status says so.
        for more in ([], ["--dump-layers", self.at / "layers"]):
            text = softtpu("run", "--static-parts", OPTIONS.made / "mixed_outputs.bmodel", "--input", self.at / "x.npz", "--output", self.at / "y.npz",
                           *more, status=1)
            self.assertRegex(text, 'network "softmax" has not made "best", "top_k": left out is part 3 runs on the host')
            self.assertEqual([data for _, _, data in numpy_files.read_npz(self.at / "y.npz").values()], [self.recorded("softmax_INT8", "output")])
        self.assertEqual({path.name for path in (self.at / "layers").iterdir()} & {"best.npy", "top_k.npy"}, set())
        self.assertIn("needs the chip's firmware", softtpu("run", "--static-parts", OPTIONS.made / "dynamic_part.bmodel", status=1))

    def test_layers_run_on_the_hosts_processor(self):
        network = OPTIONS.made / "host_nms.bmodel"
        self.assertIn("part 0 (layer found, operation 46): ONNX_NMS (46), as ONNX NonMaxSuppression (documented, not compared with the vendor's)",
                      softtpu("info", network))
        stage = json.loads(softtpu("info", "--json", network))["networks"][0]["stages"][0]
        self.assertEqual(stage["host_layers"], [{"part": 0, "type": 46, "name": "ONNX_NMS (46)", "as": "ONNX NonMaxSuppression", "verified": False}])
        self.assertEqual((stage["dynamic_parts"], stage["cannot_run"]), (0, []))
        boxes = [value for y in (0, 0.1, -0.1, 10, 10.1, 100) for value in (0, y, 1, y + 1)]
        scores = [0.9, 0.75, 0.6, 0.95, 0.5, 0.3, 0.1, 0.2, 0.3, 0.1, 0.41, 0.4]
        numpy_files.write_npz(self.at / "x.npz", {"boxes": ("<f4", (1, 6, 4), struct.pack("<24f", *boxes)), "scores": ("<f4", (1, 2, 6), struct.pack("<12f", *scores))})
        softtpu("run", network, "--input", self.at / "x.npz", "--output", self.at / "y.npz")
        ((_, shape, data),) = numpy_files.read_npz(self.at / "y.npz").values()
        self.assertEqual((tuple(shape), struct.unpack("<9i", data)), ((3, 3), (0, 0, 3, 0, 0, 0, 0, 1, 4)))
        self.assertIn("without  part 1 (layers values, places, operation 17): time of the host's processor is not estimated",
                      softtpu("time", OPTIONS.made / "host_behind.bmodel"))
        self.assertIn("on the host's processor alone", softtpu("time", network, status=1))
        self.assertIn("YOLO (7) is not carried out", softtpu("info", OPTIONS.made / "host_unknown.bmodel"))
        self.assertIn("YOLO (7) is not carried out", softtpu("run", OPTIONS.made / "host_unknown.bmodel", status=1))

    def test_firmware_walks_what_softtpu_cannot(self):
        network = OPTIONS.made / "walked.bmodel"
        self.assertIn("a layer of type 20001", softtpu("info", network))
        self.assertIn("--firmware LIBRARY", softtpu("run", network, status=1))
        values = [i / 4 - 30 for i in range(900)]
        numpy_files.write_npz(self.at / "x.npz", {"x": ("<f4", (3, 300), struct.pack("<900f", *values))})
        softtpu("run", "--firmware", OPTIONS.firmware, "--check=all", network, "--input", self.at / "x.npz", "--output", self.at / "y.npz")
        ((_, shape, data),) = numpy_files.read_npz(self.at / "y.npz").values()
        self.assertEqual((tuple(shape), list(struct.unpack("<900f", data))), ((3, 300), [(value + 1.5) * 2 for value in values]))
        # Functions of the firmware are places.
        text = softtpu("run", "--firmware", OPTIONS.firmware, "--trace", self.at / "t.json", network)
        self.assertIn("layer_walker.c", (self.at / "t.json").read_text(), text)
        inside = OPTIONS.made / "walked_inside.bmodel"
        if inside.exists() and shutil.which("qemu-aarch64"):
            self.assertIn("firmware libbm1684x_kernel_module.so", softtpu("info", inside))
            softtpu("run", "--trace", self.at / "t.json", inside)
            self.assertIn("sg_api_dynamic_fullnet", (self.at / "t.json").read_text())
            self.assertIn('"at":"layer_elementwise"', (self.at / "t.json").read_text())
            softtpu("run", "--check=all", "--time", inside)
            self.assertIn("SOFTTPU_SANDBOX", softtpu("run", "--sandbox", inside, status=1))
        self.assertIn("/nowhere.so", softtpu("run", "--firmware", "/nowhere.so", network, status=1))

    def test_traces_and_times_know_instructions(self):
        text = softtpu("run", "--time", "--trace", self.at / "t.json", NETWORKS / "softmax_INT8.bmodel")
        self.assertRegex(text, r"on the chip \d+ us, [\d.]+ launches/s \(estimate\)")
        self.assertIn("TIU 1 sAR.cast [tpu_bdc_cast]", text)
        events = json.loads((self.at / "t.json").read_text())
        events = events["traceEvents"] if isinstance(events, dict) else events
        self.assertIn("TIU 1 sAR.cast", [event.get("args", {}).get("at") for event in events])

    def test_a_missing_dependency_is_a_finding(self):
        softtpu("run", "--check=race", NETWORKS / "softmax_INT8.bmodel")
        text = softtpu("run", "--check=race", OPTIONS.made / "missing_dependency.bmodel", status=120)
        self.assertIn("race/", text)
        self.assertIn("TIU 1 sAR.cast [tpu_bdc_cast] reads src", text)

    def test_every_legal_order_gives_the_same(self):
        softtpu("run", "--schedules", 6, NETWORKS / "softmax_INT8.bmodel")
        numpy_files.write_npz(self.at / "good.npz", {"y": ("<f4", (1, 12, 48), self.recorded("attention_small_F16", "output"))})
        for order in ("late", "random:7"):
            softtpu("compare", "--schedule", order, NETWORKS / "attention_small_F16.bmodel", "--input", self.write_input(),
                    "--reference", self.at / "good.npz")

    def test_what_cannot_be_used_is_said(self):
        file = NETWORKS / "attention_small_F16.bmodel"
        self.assertIn("No such file", softtpu("info", "/nowhere.bmodel", status=2))
        self.assertIn("/nowhere.bmodel", softtpu("run", "/nowhere.bmodel", status=2))
        self.assertIn("not a .bmodel file", softtpu("info", HERE / "cli_test.py", status=2))
        (self.at / "x.npz").write_bytes(b"PK\x05\x06 this is no archive")
        softtpu("run", file, "--input", self.at / "x.npz", status=2)
        numpy_files.write_npz(self.at / "x.npz", {"x": ("<f4", (1, 12, 47), bytes(4 * 12 * 47))})
        self.assertIn("has shape [1, 12, 47], input \"x\" has [1, 12, 48]", softtpu("run", file, "--input", self.at / "x.npz", status=2))
        numpy_files.write_npz(self.at / "x.npz", {"x": ("<c8", (1,), bytes(8))})
        self.assertIn("elements of type", softtpu("run", file, "--input", self.at / "x.npz", status=2))
        self.assertIn("no such network or stage", softtpu("run", file, "--network", "other", status=2))
        self.assertIn("needs the chip's firmware", softtpu("run", OPTIONS.made / "dynamic_part.bmodel", status=1))
        self.assertIn("--output", softtpu("run", file, "--output", "/nowhere/y.npz", status=125))
        (self.at / "half.bmodel").write_bytes(file.read_bytes()[:3000])
        for command in ("info", "disasm", "run"):
            softtpu(command, self.at / "half.bmodel", status=2)
        (self.at / "pointer.bmodel").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 123\n" + 64 * " ")
        self.assertIn("pointer of Git LFS", softtpu("info", self.at / "pointer.bmodel", status=2))

    def test_names_reach_a_terminal_without_control_characters(self):
        data = bytearray((NETWORKS / "attention_small_F16.bmodel").read_bytes())
        at = data.find(b"attention_small\0")
        data[at:at + 7] = b"\x1b[31mXX"
        (self.at / "named.bmodel").write_bytes(data)
        for command in ("info", "run"):
            text = softtpu(command, self.at / "named.bmodel")
            self.assertNotIn("\x1b", text)
            self.assertIn("\\x1b[31mXX", text)

    def test_sizes_that_are_only_claimed_cost_nothing(self):
        data = bytearray((NETWORKS / "attention_small_F16.bmodel").read_bytes())
        shape = struct.pack("<QQQ", 1, 12, 48)
        claimed = struct.pack("<QQQ", 1, 12, 1 << 34)
        self.assertIn(shape, data)
        (self.at / "huge.bmodel").write_bytes(data.replace(shape, claimed))
        self.assertIn("has an extent of 17179869184", softtpu("run", self.at / "huge.bmodel", status=1))
        # An entry that would be inflated to 64 MiB; its header makes 2304 bytes.
        entry = io.BytesIO()
        with zipfile.ZipFile(entry, "w", zipfile.ZIP_DEFLATED) as archive:
            header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 12, 48), }\n"
            archive.writestr("x.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(1 << 26))
        (self.at / "bomb.npz").write_bytes(entry.getvalue())
        text = softtpu("run", NETWORKS / "attention_small_F16.bmodel", "--input", self.at / "bomb.npz", status=2)
        self.assertIn("its shape makes 2304 bytes, the file has 67108864", text)


def main():
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--firmware", type=pathlib.Path, required=True)
    parser.add_argument("--made", type=pathlib.Path, required=True, help="folder of tests/host/make_networks.py")
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=["cli_test.py", *rest])


if __name__ == "__main__":
    main()
