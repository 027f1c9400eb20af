#!/usr/bin/env python3
"""softtpu api: the manual of a function, searches, mistyped names, JSON, the ledger."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

SOFTTPU = sys.argv[1]


def api(*arguments, status=0):
    done = subprocess.run([SOFTTPU, "api", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == status, f"softtpu api {arguments}: status {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout if status == 0 else done.stderr


def main():
    page = api("tpu_bdc_fp_mm")
    for text in ("void tpu_bdc_fp_mm(", "left_rows", "types", "1..65535", "2^(emax - 24)", "errors", "tested      equals the vendor's emulator in", "see also",
                 "#include <tpu_kernel.h>", "tpu_bdc_fp_mm(output, left, right,"):
        assert text in page, f"{text} is not in the page:\n{page}"
    assert max(map(len, page.split("\n"))) <= 125, "a line is too long"
    page = " ".join(api("tpuRtKernelLaunch").split())
    for text in ("#include <tpuv7/tpuv7_rt.h>", "Every workitem of every group has a copy", "multiple of 4 up to 65536", "tpuRtErrFailure"):
        assert text in page, f"{text} is not in the page:\n{page}"
    assert "tpuGraphLaunch" in api("--search", "graph queue") and "tpudnnLaunchKernel" in api("--search", "kernel launch tpudnn")
    entry = json.loads(api("bm_memcpy_s2d", "--json"))
    assert entry["parameters"][0]["name"] == "handle" and "BM_ERR_PARAM" in " ".join(entry["errors"])
    entry = json.loads(api("tpu_bdc_cast", "--json"))
    assert entry["known"].startswith("equals the vendor's emulator in") and "bfp16" in entry["types"]

    assert "tpu_bdc_fp_max_pool2d" in api("--search", "row softmax")
    assert "tpu_gdma_h_gather_S2L" in api("--search", "Gather ROWS index")
    assert "tpu_bdc_fp32_arcsin" in [hit["name"] for hit in json.loads(api("--search", "inverse sine", "--json"))]
    assert "holds any of these words" in api("--search", "zzzz", status=1)

    assert "did you mean tpu_bdc_fp_mm" in api("tpu_bdc_fp_mmm", status=1)
    assert "did you mean" not in api("zzzzzzzzzzzzzzzzzzzzzz", status=1)
    assert "neither a chip" in api("--chip", "nochip", status=2)

    # What newcomers ask for.
    for words, name in (("negate", "tpu_bdc_neg"), ("rope", "tpu_bdc_fp32_sin"), ("rms norm", "tpu_bdc_fp32_rsqrt"), ("argmax", "tpu_hau_sort_natural_index"),
                        ("which core am I?", "tpu_core_index"), ("reduce sum over w", "tpu_bdc_fp_avg_pool2d"), ("row maximum", "tpu_bdc_fp_max_pool2d"),
                        ("broadcast per channel multiply", "tpu_bdc_fp_scale"), ("cumulative sum", "tpu_bdc_fp32_mm"), ("dot product", "tpu_bdc_fp_mm"),
                        ("concat", "tpu_gdma_cpy_S2L"), ("load", "tpu_gdma_cpy_S2L"), ("store", "tpu_gdma_cpy_L2S"),
                        ("divide", "tpu_bdc_fp_div"), ("pad", "tpu_bdc_set_C"), ("arg max", "tpu_hau_sort_natural_index"), ("which NPU am I", "tpu_npu_index"), ("resize", "tpu_bdc_cpy")):
        hits = [hit["name"] for hit in json.loads(api("--search", words, "--json"))]
        assert name in hits[:6] and not hits[0].startswith("okk"), f"{words}: {hits}"
    # These have one answer, or one that most people mean: it stands among the first two.
    for words, name in (("fill with zeros", "tpu_bdc_set_C"), ("bitwise and", "tpu_bdc_and"), ("maxpool", "tpu_bdc_fp_max_pool2d"), ("top k", "tpu_hau_sort"),
                        ("swap axes", "tpu_bdc_cw_trans"), ("free memory", "bm_free_device"), ("element wise add", "tpu_bdc_fp_add"), ("max", "tpu_bdc_max"),
                        ("copy to host", "bm_memcpy_d2s"), ("copy to device", "bm_memcpy_s2d"), ("allocate memory", "bm_malloc_device_byte"),
                        ("embedding", "tpu_hau_line_gather"), ("log", "tpu_bdc_fp_log"), ("lookup table", "tpu_bdc_table_lookup"), ("compare", "tpu_bdc_less"),
                        ("average pooling", "tpu_bdc_fp_avg_pool2d"), ("reshape", "tpu_gdma_cpy_L2L"), ("absolute value of a tensor", "tpu_bdc_abs")):
        hits = [hit["name"] for hit in json.loads(api("--search", words, "--json"))]
        assert name in hits[:2], f"{words}: {hits}"
    # A kernel with 4-bit weights: its steps, and the sample that has them.
    for words in ("int4 weight matrix product dequant", "dequantise int4 weights", "unpack nibbles", "uint4 unpack", "4-bit", "interleave"):
        hits = {hit["name"]: hit["usable_on"] for hit in json.loads(api("--search", words, "--json"))}
        assert {"samples/w4a16", "tpu_bdc_and_C", "tpu_bdc_logical_shift_C", "tpu_bdc_cast"} <= set(list(hits)[:6]), f"{words}: {list(hits)}"
        assert "bm1688" in hits["samples/w4a16"] and "cv184x" not in hits["samples/w4a16"], hits
    assert next(iter(json.loads(api("--search", "4-bit", "--json", "--chip", "cv184x"))))["name"] != "samples/w4a16"
    # Words where a name is expected, and several words without quotation marks.
    assert "tpu_bdc_fp32_sin" in api("rope") and "tpu_core_index" in api("which", "core", "am", "I") and "tpu_bdc_fp32_mm" in api("--search", "cumulative", "sum")
    assert "did you mean" not in api("tpu_bdc_fp_add", "--json")
    # What every chip refuses comes last.
    usable = [bool(hit["usable_on"]) for hit in json.loads(api("--search", "tpu_bdc", "--json"))]
    assert usable == sorted(usable, reverse=True), usable
    hits = json.loads(api("--search", "sends a message", "--json"))
    assert hits[0]["name"].startswith("tpu_") and [bool(hit["usable_on"]) for hit in hits] == sorted((bool(hit["usable_on"]) for hit in hits), reverse=True), hits
    hits = {hit["name"]: hit["usable_on"] for hit in json.loads(api("--search", "bm_send_api", "--json"))}
    assert hits["bm_send_api"] == [] and json.loads(api("bm_memcpy_s2d", "--json"))["usable_on"], hits

    # Types, enumerators and macros.
    assert "int n; int c; int h; int w;" in api("dim4") and "tpu_bdc_fp_add" in json.loads(api("dim4", "--json"))["used_by"]
    assert "DT_FP16 = 3" in api("DT_FP16") and "data_type_t" in api("DT_FP16") and "#define DIV_UP(a, b)" in api("DIV_UP")

    # As a chip's headers declare them.
    assert "DT_FP16 = 21" in api("DT_FP16", "--chip", "BM1684X2") and "differs on  bm1684x2" in api("DT_FP16") and "DT_FP16 = 3" in api("DT_FP16", "--chip", "bm1690")
    assert "DT_FP4 = 11" in api("DT_FP4", "--chip", "bm1684x2") and "not declared for this chip" in api("DT_FP4", "--chip", "bm1688")
    assert "float rescale" in api("requant_int_info_t", "--chip", "sg2260") and "float rescale" not in api("requant_int_info_t")
    # Functions that have no page: what their headers say.
    crop, refused = (json.loads(api(name, "--json")) for name in ("bmcv_image_crop", "bmcv_gemm"))
    assert "bmcv_rect_t* rects" in crop["declaration"] and crop["purpose"].startswith("Cuts rectangles") and crop["usable_on"] and refused["usable_on"] == []
    assert "bmrt_launch_tensor_ex(void* p_bmrt" in api("bmrt_launch_tensor_ex") and "bmcv_image_resize" in api("resize", "image")

    # The page of one chip speaks of that chip.
    for chip, local_bytes in (("bm1684x", 262144), ("bm1688", 131072), ("cv184x", 65536), ("sg2260e", 262144)):
        page = json.loads(api("tpu_bdc_fp_add", "--json", "--chip", chip))
        assert f"({local_bytes} bytes)" in " ".join(page["errors"]), page["errors"]
    assert "{1, 8, 28, 28}" in api("tpu_bdc_abs", "--chip", "cv184x") and "DT_FP32)" not in api("tpu_bdc_abs", "--chip", "cv184x")
    assert "npus == 64" in api("tpu_npu_num") and "npus == 32" in api("tpu_npu_num", "--chip", "bm1688") and "2076672 on BM1684X" in api("tpu_l2_sram_size")
    # What only later chips have is described as it is there.
    page = json.loads(api("tpu_gdma_lossy_compress_S2S", "--json", "--chip", "bm1690"))
    assert page["engine"].startswith("GDMA") and "BM1684X" not in " ".join(page["errors"]), page
    labels = re.findall(r"^  (limits|engine|tested|example) ", api("tpu_gdma_lossy_compress_S2S", "--chip", "bm1690"), re.M)
    assert labels == ["limits", "engine", "tested", "example"], labels
    # A generation has its own rules.
    today, before = (json.loads(api("tpu_bdc_fp_div", "--json", "--chip", chip)) for chip in ("bm1684x", "BM1684X-23.05"))
    assert before["chip"] == "bm1684x-23.05" and "fp16" in before["types"] and "fp16" not in today["types"], (today, before)
    assert json.loads(api("tpu_bdc_fp_roi_depthwise2d", "--json", "--chip", "bm1684x-23.05"))["limits"]
    # A page says nothing of how to call what the chip refuses.
    for chip in ("bm1684", "bm1688"):
        name = "tpu_bdc_fp_add" if chip == "bm1684" else "tpu_cdma_send"
        page = json.loads(api(name, "--json", "--chip", chip))
        assert page["on_chip"] and page["parameters"] and not page.keys() & {"types", "limits", "errors", "engine", "example", "time"}, page
        assert chip not in page["usable_on"] and not re.search(r"BM1684X\b", api(name, "--chip", chip).split("chips  ")[0]), page
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write('{"base": "bm1688", "name": "mine", "npu_num": 16}')
        file.flush()
        page = json.loads(api("tpu_bdc_fp_add", "--json", "--chip", file.name))
    assert page["chip"] == "mine" and "16 NPUs" in page["on_chip"] and "not those of this description" in page["on_chip"], page
    assert "neither recorded nor described" in json.loads(api("tpu_cdma_send_v2", "--json", "--chip", "bm1690"))["on_chip"]
    # The ranges that the limits give are not said again in other words.
    page = json.loads(api("tpu_bdc_int8_zp_mm", "--json", "--chip", "bm1684x"))
    assert "number of output rows" not in page["on_chip"] and "M (rows of output)" in " ".join(page["limits"]), page
    # Plain words below a list.
    assert re.search(r"^8 functions: 8 equal to recordings$", api("int8_zp_mm"), re.M), api("int8_zp_mm")
    assert re.search(r"in 1 random case$", api("tpu_core_index", "--ledger"), re.M) and "oracle" not in api("send")
    here, there = (json.loads(api("tpu_bdc_fp_add", "--json", "--chip", chip)) for chip in ("bm1684x", "BM1686"))
    assert there["chip"] == "bm1688" and there["chip_sizes"] == {"npus": 32, "local_bytes": 131072, "banks": 16, "alignment": 16, "cores": 2}
    assert "bm1688" in there["usable_on"] and "bm1684" not in there["usable_on"]
    assert "multiple of 64" in " ".join(here["limits"]) and "multiple of 16" in " ".join(there["limits"]), there["limits"]
    assert "16 bytes" in api("tpu_bdc_fp_add", "--chip", "bm1688")
    assert "on BM1688" in api("tpu_bdc_cast") and not any(f"on BM16{chip}" in api("tpu_bdc_cast", "--chip", "bm1684x") for chip in (88, 90))
    steps = {chip: json.loads(api("tpu_bdc_fp_add", "--json", "--chip", chip))["chip_parameters"]["dst_addr"]["multiple_of"]
             for chip in ("bm1684x", "bm1688", "bm1690", "bm1684x2", "cv184x", "bm1690e")}
    assert steps == {"bm1684x": 64, "bm1688": 16, "bm1690": 64, "bm1684x2": 32, "cv184x": 16, "bm1690e": 64}, steps
    # Special values are said for each chip.
    notes = " ".join(json.loads(api("tpu_bdc_fp32_rsqrt", "--json", "--chip", "bm1690"))["note"])
    assert "BM1690E and BM1684X2: rsqrt(+-0) is +-Inf" in notes and "sqrt(+Inf) is NaN" in notes, notes
    # So are numbers that texts name; without a chip those of the others stand beside the first one's.
    for name in ("tpu_bdc_fp_mm", "tpu_bdc_fp_mm_R_trans"):
        for chip, group in (("bm1684x", 32), ("bm1688", 16), ("bm1690", 32), ("bm1684x2", 16), ("cv184x", 8)):
            page = json.loads(api(name, "--json", "--chip", chip))
            assert page["rounding"].startswith(f"K in groups of {group}:") and f"at multiples of {group} the bits" in " ".join(page["note"]), (chip, page)
        assert "K in groups of 32 (BM1688 and BM1684X2: 16; CV184X: 8):" in json.loads(api(name, "--json"))["rounding"]
    page = json.loads(api("tpu_bdc_fp_mul", "--json", "--chip", "bm1684x2"))
    assert "subnormals of fp16 become zeros" in page["rounding"] and page["numbers"].startswith("docs/numerics/bm1684x2.md"), page
    assert "subnormals of fp16 stay, " in json.loads(api("tpu_bdc_fp_mul", "--json", "--chip", "bm1684x"))["rounding"]
    # A function that the first chip lacks has its limits on the chips that have it.
    assert json.loads(api("tpu_sdma_cpy_S2S", "--json", "--chip", "bm1690"))["limits"] and "chip_parameters" not in json.loads(api("tpu_bdc_fp_add", "--json"))
    # What no recording of a chip varies is said, and only there.
    listed = (pathlib.Path(__file__).parents[1] / "argument_gaps_of_chips.txt").read_text().split("[bm1690]\n")[1].splitlines()
    name, *arguments = next(line for line in listed if line.startswith("tpu_bdc_")).split()
    assert json.loads(api(name, "--json", "--chip", "bm1690"))["not_varied"] == arguments
    assert "not determined by a recording" in api(name, "--chip", "bm1690") and "not determined by a recording" not in api(name)
    # What random calls compare with docs/numerics stands apart.
    compared = listed[listed.index("[bm1690 compared]") + 1:]
    name, *arguments = next(line for line in compared if line.startswith("tpu_bdc_")).split()
    assert json.loads(api(name, "--json", "--chip", "bm1690"))["compared"] == arguments
    assert "compared with docs/numerics" in api(name, "--chip", "bm1690") and "compared with docs/numerics" not in api(name)
    # The JSON has what the page has; two labels have keys of their own.
    for name in (name, "tpu_bdc_cast", "tpu_sdma_cpy_S2S", "tpu_bdc_fp32_tunable_div"):
        page, entry = api(name, "--chip", "bm1690"), json.loads(api(name, "--json", "--chip", "bm1690"))
        labels = ["tested", "not varied", "compared", "types", "limits", "NULL", "overlap", "rounding", "note", "errors", "engine", "time", "chips", "numbers", "see also"]
        shown = [label for label in labels if re.search(rf"^  {label} ", page, re.M)]
        assert shown == [label for label in labels if {"tested": "known", "not varied": "not_varied"}.get(label, label) in entry] and len(shown) > 7, (name, shown, entry.keys())
    # Pages that name no other function say it too.
    for name in ("tpu_bdc_table_lookup", "tpu_bdc_fp_taylor"):
        page = api(name, "--chip", "bm1684x")
        assert "see also" not in page and "tested      equals" in page and "not varied  not determined by a recording" in page, page
    # Types that only some chips have, and what is not determined of them.
    types = {chip: json.loads(api("tpu_bdc_cast", "--json", "--chip", chip))["types"] for chip in ("bm1684x", "bm1688", "bm1690")}
    assert ["uint4" in types[chip] for chip in types] == [False, True, True] and ["fp8e4m3" in types[chip] for chip in types] == [False, False, True], types
    assert "M (rows of output) and N (columns of output): 1..65535" in " ".join(api("tpu_bdc_fp8_mm", "--chip", "bm1690").split())
    for chip, text in (("bm1684x", "The chip does not compute with 4-bit"), ("bm1688", "mostly not determined")):
        assert text in " ".join(json.loads(api("tpu_bdc_and", "--json", "--chip", chip))["errors"]), chip
        assert "Copy two 4-bit integers as one uint8" in " ".join(json.loads(api("tpu_gdma_cpy_S2L", "--json", "--chip", chip))["errors"]), chip
    for name in ("tpu_bdc_fp_mm", "tpu_bdc_int8_sym_quant_conv2d", "tpu_gdma_cpy_S2L", "tpu_bdc_int_mul"):
        named = ["4-bit integers" in json.loads(api(name, "--json", "--chip", chip))["on_chip"] for chip in ("bm1684x", "bm1688", "bm1690")]
        assert named == [False, True, True], f"{name}: {named}"
    ranges = {chip: json.loads(api("tpu_bdc_int8_mm", "--json", "--chip", chip))["chip_ranges"]["rshift"] for chip in ("bm1684x", "bm1688", "bm1690")}
    assert ranges == {"bm1684x": ["0", "31"], "bm1688": ["-31", "127"], "bm1690": ["0", "0"]}, ranges
    assert "every call is refused" in api("tpu_sdma_cpy_S2S", "--chip", "bm1684x") or "refuses every call" in api("tpu_sdma_cpy_S2S", "--chip", "bm1684x")

    # What was recorded on a chip is known there.
    recorded = {call["fn"] for path in (pathlib.Path(__file__).parents[1] / "golden/bm1690").glob("*.json")
                for case in json.loads(path.read_text())["cases"] for call in case.get("calls", sum(case.get("core_calls", []), []))}
    states = {row["name"]: row["state"] for row in json.loads(api("--chip", "bm1690", "--json"))}
    assert len(recorded) > 200 and not [name for name in recorded if states[name] == "unverified"]

    ledger = api("--ledger", "tpu_bdc_fp_mm")
    assert "tpu_bdc_fp_mm_R_trans" in ledger and "equals the vendor's emulator in" in ledger
    assert len(json.loads(api("--json"))) > 700 and len(json.loads(api("--json", "--chip", "bm1684"))) > 100
    print("the manual, searches, suggestions and the ledger are as they should be")


if __name__ == "__main__":
    main()
