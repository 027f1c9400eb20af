"""What checks find in launches from Python: by which result, and with what the program knows of its arrays; times by a clock."""
import time

import numpy as np
import pytest

import softtpu

SOURCE = """
#include <tpu_kernel.h>
typedef struct { unsigned long long out, a; int load, use, store; } args_t;
static const dim4 kShape = {1, 64, 1, 100};
void square(const void* raw) {
  const args_t* args = raw;
  tpu_initialize();
  tpu_gdma_cpy_S2L(0, args->a, &kShape, NULL, NULL, args->load);
  tpu_bdc_fp_mul(0x8000, 0, 0, &kShape, NULL, NULL, NULL, args->use);
  tpu_gdma_cpy_L2S(args->out, 0x8000, &kShape, NULL, NULL, args->store);
  tpu_poll();
}
void half(const void* raw) {
  const args_t* args = raw;
  const dim4 part = {1, 32, 1, 100};
  tpu_initialize();
  tpu_gdma_cpy_S2L(0, args->a, &part, NULL, NULL, DT_FP32);
  tpu_gdma_cpy_L2S(args->out, 0, &part, NULL, NULL, DT_FP32);
  tpu_poll();
}
void divide(const void* raw) {
  const args_t* args = raw;
  tpu_initialize();
  tpu_gdma_cpy_S2L(0, args->a, &kShape, NULL, NULL, DT_FP32);
  tpu_bdc_fp_sub(0x8000, 0, 0, &kShape, NULL, NULL, NULL, DT_FP32);
  tpu_bdc_fp_div(0x10000, 0x8000, 0x8000, &kShape, NULL, NULL, NULL, DT_FP32);
  tpu_gdma_cpy_L2S(args->out, 0x10000, &kShape, NULL, NULL, DT_FP32);
  tpu_poll();
}
void bank(const void* raw) {
  const args_t* args = raw;
  const dim4 shape = {1, 64, 8, 100};
  tpu_initialize();
  tpu_bdc_set_C(0, (scalar_t){.f32 = 1}, &shape, NULL, DT_FP32);
  for (int i = 0; i < 50; ++i) tpu_bdc_fp_mul(0x1000, 0, 0, &shape, NULL, NULL, NULL, DT_FP32);
  tpu_gdma_cpy_L2S(args->out, 0x1000, &kShape, NULL, NULL, DT_FP32);
  tpu_poll();
}
void channels(const void* raw) {
  const args_t* args = raw;
  const dim4 loaded = {1, args->load, 1, 16}, used = {1, args->load + 1, 1, 16};
  tpu_initialize();
  tpu_gdma_cpy_S2L(0, args->a, &loaded, NULL, NULL, DT_FP32);
  tpu_bdc_fp_add(0x4000, 0, 0, &used, NULL, NULL, NULL, DT_FP32);
  tpu_gdma_cpy_L2S(args->out, 0x4000, &used, NULL, NULL, DT_FP32);
  tpu_poll();
  if (args->use) tpu_bdc_fp_add(0x4000 + args->use, 0, 0, &used, NULL, NULL, NULL, DT_FP32);
}
void misaligned(const void* raw) {
  const args_t* args = raw;
  const dim4 shape = {1, args->load, 1, 16};
  tpu_initialize();
  tpu_gdma_cpy_S2L(1, args->a, &shape, NULL, NULL, DT_FP32);
}
void of_type(const void* raw) {
  const args_t* args = raw;
  tpu_initialize();
  if (args->load) tpu_gdma_cpy_S2L(0, args->a, &kShape, NULL, NULL, args->load);
  if (args->use) tpu_bdc_cast(0, 0x4000, &kShape, NULL, NULL, DT_FP16, args->use, RM_DOWN);
  if (args->store) tpu_bdc_fp_rsqrt(0, 0x4000, &kShape, args->store);
}
TPUKERNEL_FUNC_REGISTER(of_type)
TPUKERNEL_FUNC_REGISTER(square)
TPUKERNEL_FUNC_REGISTER(misaligned)
TPUKERNEL_FUNC_REGISTER(channels)
TPUKERNEL_FUNC_REGISTER(half)
TPUKERNEL_FUNC_REGISTER(divide)
TPUKERNEL_FUNC_REGISTER(bank)
"""
# Codes of data_type_t.
FP16, FP32, UINT16, BFP16, UINT4 = 3, 5, 6, 11, 12
COUNT = 6400


@pytest.fixture(scope="module")
def module():
    with softtpu.Device(check="all,bank") as dev:
        yield dev.compile(SOURCE, flags=["-g"])


def rules(result):
    return sorted({finding.rule for finding in result.findings if finding.severity != "note" or finding.rule.startswith("bank/")})


def square(module, array, load, use, store):
    dev = module.device
    return module.square(dev.empty(COUNT, array), dev.array(np.ones(COUNT), array), load, use, store)


def test_bfp16_given_for_an_array_of_float16(module):
    result = square(module, "float16", BFP16, BFP16, BFP16)
    assert rules(result) == ["constraint/operand-type"]
    assert "comes from an array of fp16" in result.findings[0].what and "read as bfp16" in result.findings[0].what
    assert rules(square(module, "bfloat16", FP16, FP16, FP16)) == ["constraint/operand-type"]


def test_a_result_of_another_type_than_its_array(module):
    dev = module.device
    result = module.square(dev.empty(COUNT, "bfloat16"), dev.array(np.ones(COUNT), "float16"), FP16, FP16, FP16)
    assert rules(result) == ["constraint/operand-type"] and "to an array of bfp16" in result.findings[0].what


@pytest.mark.parametrize("array, load, use, store", [
    ("float16", FP16, FP16, FP16), ("bfloat16", BFP16, BFP16, BFP16), ("float32", FP32, FP32, FP32),
    ("float16", BFP16, FP16, UINT16),  # copies move halves as whatever has their size
    ("uint16", BFP16, BFP16, BFP16)])  # bits that NumPy has no type for
def test_right_types_have_no_finding(module, array, load, use, store):
    assert rules(square(module, array, load, use, store)) == []


def test_bytes_that_the_program_views_as_another_type(module):
    dev = module.device
    array = dev.array(np.ones(COUNT), "float16")
    out = dev.empty(COUNT, "bfloat16")
    assert rules(module.square(out, array.astype_view("bfloat16"), BFP16, BFP16, BFP16)) == []


def test_what_follows_from_exchanged_types_is_folded(module):
    dev = module.device
    result = module.square(dev.empty(COUNT, np.uint32), dev.array(np.ones(COUNT), "uint16"), FP16, FP32, FP32)
    assert rules(result) == ["constraint/operand-type"]
    assert "was loaded as fp16 at" in result.findings[0].what and "and is read as fp32 at" in result.findings[0].what
    assert "with it, and perhaps because of it: init/" in result.findings[0].what


def test_what_followed_in_a_later_launch_is_said_too(module):
    dev = module.device
    out, a = dev.empty(COUNT, np.uint32), dev.array(np.ones(COUNT), "uint16")
    texts = [module.square(out, a, FP16, FP32, FP32).findings[0].what for _ in range(3)]
    assert texts[0] == texts[1] == texts[2] and "with it, and perhaps because of it: init/" in texts[0]


def test_findings_speak_of_their_launch(module):
    """Later launches repeated channels and NPUs of the first one, which they do not have."""
    dev = module.device
    for count in (3, 11, 5, 11):
        finding, = module.channels(dev.empty(COUNT, np.float32), dev.array(np.ones(COUNT, np.float32)), count, 0, 0).findings
        assert f"reads channel {count} of src0" in finding.what and f"wrote only channels 0..{count - 1}" in finding.what
        assert finding.place["npu"] == count


def test_findings_of_a_failed_launch_are_its_own(module):
    dev = module.device
    for count, offset in ((3, 4), (11, 8)):
        with pytest.raises(softtpu.LaunchError) as caught:
            module.channels(dev.empty(COUNT, np.float32), dev.array(np.ones(COUNT, np.float32)), count, offset, 0)
        texts = {finding.rule: finding.what for finding in caught.value.findings}
        assert f"reads channel {count} of src0" in texts["init/stale-tail"]
        assert f"(0x{0x4000 + offset:x})" in texts["constraint/alignment"]


def test_the_calls_of_a_finding_are_those_of_its_launch(module):
    """The sentence names no tensor: it was the same, and the first launch's addresses stood below it."""
    dev = module.device
    out, arrays = dev.empty(COUNT, np.float32), [dev.array(np.ones(COUNT, np.float32)) for _ in range(2)]
    for array in (*arrays, arrays[0]):
        with pytest.raises(softtpu.LaunchError) as caught:
            module.misaligned(out, array, 3, 0, 0)
        finding, = caught.value.findings
        assert finding.rule == "constraint/alignment" and f"src 0x{array.address:x}" in str(finding) and f"src 0x{array.address:x}" in str(caught.value), finding


@pytest.mark.parametrize("argument, type, says, nearest", [
    (0, UINT4, "Copy two 4-bit integers as one uint8", ""), (1, UINT4, "unpack them with tpu_bdc_and_C", ""), (2, FP16, "dtype is fp16 (allowed: fp32)", "fp32 for dtype")])
def test_a_type_that_a_command_does_not_take(module, argument, type, says, nearest):
    """No cast is named as the way out of a copy, or of the cast itself."""
    array = module.device.array(np.ones(COUNT, np.float32))
    with pytest.raises(softtpu.LaunchError) as caught:
        module.of_type(array, array, *(type if i == argument else 0 for i in range(3)))
    finding, = caught.value.findings
    assert finding.rule == "constraint/data-type" and says in finding.what and "[1, 1, 1, 1]" not in str(finding), finding
    assert (f"(nearest: {nearest})" in str(finding)) if nearest else "nearest" not in str(finding), finding


LOGARITHM = """
#include <tpu_kernel.h>
typedef struct { unsigned long long out, a; } args_t;
void logarithm(const void* raw) {
  const args_t* args = raw;
  const dim4 shape = {1, 64, 1, 16};
  tpu_initialize();
  tpu_gdma_cpy_S2L(0x0, args->a, &shape, NULL, NULL, DT_FP32);
  tpu_bdc_load_fp32_log_coeff(0x1000);
  for (int i = 0; i < 2; ++i) tpu_bdc_fp32_log(0x4000, 0x0, 0x8000, 0x1000, &shape);
  tpu_gdma_cpy_L2S(args->out, 0x4000, &shape, NULL, NULL, DT_FP32);
  tpu_poll();
}
TPUKERNEL_FUNC_REGISTER(logarithm)
"""


@pytest.mark.parametrize("chip, notes", [("bm1684x-23.05", 1), ("bm1684x", 0)])
def test_functions_of_a_library_that_was_repaired(chip, notes):
    with softtpu.Device(chip=chip, check="all") as dev:
        found = dev.compile(LOGARITHM).logarithm(dev.empty(1024, np.float32), dev.array(np.ones(1024, np.float32))).findings
        assert [(finding.rule, finding.severity) for finding in found] == [("constraint/deviation", "note")] * notes
        assert all("127 ln 2" in finding.what for finding in found)


def test_an_output_that_is_not_filled_belongs_to_its_launch(module):
    dev = module.device
    out = dev.empty((64, 100), np.float32)
    result = module.half(out, dev.array(np.ones((64, 100), np.float32)), 0, 0, 0)
    assert rules(result) == []  # it was not read
    out.numpy()
    assert rules(result) == ["init/unfilled-output"]
    out.numpy()
    assert rules(result) == ["init/unfilled-output"] and result.findings[0].count > 1
    assert "1 finding: init/unfilled-output" in repr(result) and "(all in .text)" in repr(result)


def test_where_a_nan_comes_from_belongs_to_its_launch(module):
    dev = module.device
    result = module.divide(dev.empty(COUNT, np.float32), dev.array(np.ones(COUNT, np.float32)), 0, 0, 0)
    assert rules(result) == ["nan/nan"] and "tpu_bdc_fp_div" in str(result.findings[0])


def test_banks_belong_to_their_launch(module):
    dev = module.device
    result = module.bank(dev.empty(COUNT, np.float32), dev.empty(1, np.float32), 0, 0, 0)
    assert rules(result) == ["bank/operands"]


def test_a_clock_sees_multiples_of_the_estimate():
    with softtpu.Device(time=True, settings={"SOFTTPU_TIME": "on:2000"}) as dev:
        kernel = dev.compile(SOURCE).half
        out, a = dev.empty(COUNT, np.float32), dev.array(np.ones(COUNT, np.float32))
        begun = time.monotonic()
        result = kernel(out, a, 0, 0, 0)
        passed = time.monotonic() - begun
    assert result.estimated_us > 10 and passed >= result.estimated_us * 2000e-6
