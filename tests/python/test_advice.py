"""Advice: each rule on a kernel that it is about, the saving beside the estimate of the kernel that follows it, and silence where there is nothing to say."""
import pathlib
import re

import numpy as np
import pytest

import softtpu

KERNEL = r"""
#include <tpu_kernel.h>
typedef struct { unsigned long long out, in; int tiles; } args_t;
enum { WIDTH = 4096 };
static unsigned long long place(unsigned long long start, int tile, int npus) { return start + 4ull * (unsigned)(tile * WIDTH * npus); }

// A constant is loaded again for each tile, INSIDE the loop or not.
void repeated(const void* raw) {
  const args_t* args = raw;
  const dim4 shape = {1, tpu_npu_num(), 1, WIDTH};
  tpu_initialize();
#ifndef INSIDE
  tpu_gdma_cpy_S2L(0x10000, args->in, &shape, NULL, NULL, DT_FP32);
#endif
  for (int i = 0; i < args->tiles; ++i) {
    tpu_gdma_cpy_S2L(0x0000, place(args->in, i, tpu_npu_num()), &shape, NULL, NULL, DT_FP32);
#ifdef INSIDE
    tpu_gdma_cpy_S2L(0x10000, args->in, &shape, NULL, NULL, DT_FP32);
#endif
    for (int j = 0; j < 32; ++j) tpu_bdc_fp_mul(0x8000, j ? 0x8000 : 0x0000, 0x10000, &shape, NULL, NULL, NULL, DT_FP32);
    tpu_gdma_cpy_L2S(place(args->out, i, tpu_npu_num()), 0x8000, &shape, NULL, NULL, DT_FP32);
  }
  tpu_poll();
}
TPUKERNEL_FUNC_REGISTER(repeated)

// What looks repeated and is not: in place, and with an operand or a result that is written in between.
void needed(const void* raw) {
  const args_t* args = raw;
  const dim4 shape = {1, tpu_npu_num(), 1, WIDTH};
  tpu_initialize();
  tpu_gdma_cpy_S2L(0x0000, args->in, &shape, NULL, NULL, DT_FP32);
  for (int i = 0; i < args->tiles; ++i) {
    tpu_bdc_fp_mul_C(0x0000, 0x0000, (scalar_t){.f32 = 0.5f}, &shape, NULL, NULL, DT_FP32);
    tpu_bdc_cpy(0x8000, 0x0000, &shape, NULL, NULL, DT_FP32);
    tpu_bdc_fp_add(0x8000, 0x8000, 0x0000, &shape, NULL, NULL, NULL, DT_FP32);
  }
  tpu_gdma_cpy_L2S(args->out, 0x8000, &shape, NULL, NULL, DT_FP32);
  tpu_poll();
}
TPUKERNEL_FUNC_REGISTER(needed)

void small(const void* raw) {
  const args_t* args = raw;
  const dim4 shape = {1, tpu_npu_num(), 1, 16};
  tpu_initialize();
  for (int i = 0; i < 256 * args->tiles; ++i) tpu_bdc_set_C(64 * (unsigned)(i % 256), (scalar_t){.f32 = (float)i}, &shape, NULL, DT_FP32);
  tpu_gdma_cpy_L2S(args->out, 0, &shape, NULL, NULL, DT_FP32);
  tpu_poll();
}
TPUKERNEL_FUNC_REGISTER(small)

void one_npu(const void* raw) {
  const args_t* args = raw;
  const dim4 shape = {1, 1, 1, 4 * WIDTH};
  tpu_initialize();
  tpu_gdma_cpy_S2L(0x0000, args->in, &shape, NULL, NULL, DT_FP32);
  for (int i = 0; i < 64; ++i) tpu_bdc_fp_mul_C(0x0000, 0x0000, (scalar_t){.f32 = 0.5f}, &shape, NULL, NULL, DT_FP32);
  tpu_gdma_cpy_L2S(args->out, 0x0000, &shape, NULL, NULL, DT_FP32);
  tpu_poll();
}
TPUKERNEL_FUNC_REGISTER(one_npu)

// The same bytes to another place: kept, they would not have to be loaded.
void again(const void* raw) {
  const args_t* args = raw;
  const dim4 shape = {1, tpu_npu_num(), 1, WIDTH};
  tpu_initialize();
  for (int i = 0; i < args->tiles; ++i) {
    tpu_gdma_cpy_S2L(0x8000 * (unsigned)(i % 2), args->in, &shape, NULL, NULL, DT_FP32);
    tpu_bdc_fp_mul_C(0x8000 * (unsigned)(i % 2), 0x8000 * (unsigned)(i % 2), (scalar_t){.f32 = 0.5f}, &shape, NULL, NULL, DT_FP32);
  }
  tpu_gdma_cpy_L2S(args->out, 0, &shape, NULL, NULL, DT_FP32);
  tpu_poll();
}
TPUKERNEL_FUNC_REGISTER(again)

void product(const void* raw) {
  const args_t* args = raw;
  const dim4 left = {1, tpu_npu_num(), 1, 512};
  tpu_initialize();
  tpu_bdc_set_C(0x0000, (scalar_t){.f32 = 1}, &left, NULL, DT_FP32);
  tpu_bdc_set_C(0x10000, (scalar_t){.f32 = 1}, &left, NULL, DT_FP32);
  for (int i = 0; i < 64; ++i) tpu_bdc_fp32_mm(0x20000, 0x0000, 0x10000, 0, 64, 512, 512, 16, 16, false, false);
  tpu_poll();
}
TPUKERNEL_FUNC_REGISTER(product)

void nearly_nothing(const void* raw) {
  const args_t* args = raw;
  const dim4 shape = {1, tpu_npu_num(), 1, 16};
  tpu_initialize();
  tpu_gdma_cpy_S2L(0x0000, args->in, &shape, NULL, NULL, DT_FP32);
  tpu_gdma_cpy_L2S(args->out, 0x0000, &shape, NULL, NULL, DT_FP32);
  tpu_poll();
}
TPUKERNEL_FUNC_REGISTER(nearly_nothing)
"""
TILES = 16


@pytest.fixture(scope="module")
def launch():
    with softtpu.Device(time=True) as dev:
        modules = {flags: dev.compile(KERNEL, flags=flags, name="advice") for flags in ((), ("-DINSIDE",))}
        values = dev.array(np.ones(TILES * 64 * 4096, np.float32))
        out = dev.empty_like(values)
        yield lambda kernel, *flags: modules[flags].kernel(kernel)(out, values, TILES)


def rules(result):
    return {one["rule"]: one for one in result.advice}


def test_repeated_work_and_what_it_costs(launch):
    inside, outside = launch("repeated", "-DINSIDE"), launch("repeated")
    one = rules(inside)["repeated-work"]
    assert one["text"].startswith(f"tpu_gdma_cpy_S2L at {one['file']}:{one['line']} repeats the same work {TILES} times: move it out of the loop, saves about ")
    assert KERNEL.splitlines()[one["line"] - 1].strip().startswith("tpu_gdma_cpy_S2L(0x10000") and one["function"] == "tpu_gdma_cpy_S2L"
    assert "repeated-work" not in rules(outside)
    gained = inside.estimated_us - outside.estimated_us
    assert one["saves_us"] == pytest.approx(gained, rel=0.02), (one, gained)


def test_work_that_is_needed_is_not_repeated_work(launch):
    assert not {"repeated-work", "loaded-again"} & set(rules(launch("needed")))


def test_small_commands(launch):
    one = rules(launch("small"))["small-commands"]
    assert f"is {256 * TILES} small commands" in one["text"] and "saves at most" in one["text"] and one["function"] == "tpu_bdc_set_C"


def test_idle_npus(launch):
    one = rules(launch("one_npu"))["idle-npus"]
    assert one["function"] == "tpu_bdc_fp_mul_C" and "spread" in one["text"]


def test_bytes_that_are_loaded_again(launch):
    one = rules(launch("again"))["loaded-again"]
    assert one["function"] == "tpu_gdma_cpy_S2L" and f"{TILES - 1} times" in one["text"]


def test_engines_in_turn(launch):
    assert "tpu_parallel_start" in rules(launch("repeated"))["in-turn"]["text"]


def test_products_of_a_wider_type(launch):
    one = rules(launch("product"))["narrow-type"]
    assert one["function"] == "tpu_bdc_fp32_mm" and "fp16 operands" in one["text"]


def test_a_launch_that_is_mostly_a_launch(launch):
    result = launch("nearly_nothing")
    one, = result.advice
    assert one["rule"] == "small-launch" and one["saves_us"] > result.estimated_us / 2 and "give it more work" in one["text"]


def test_every_rule_of_the_table_is_tested():
    page = (pathlib.Path(__file__).parents[2] / "docs/time.md").read_text()
    table = page[page.index("## Advice"):page.index("## Networks")]
    named = set(re.findall(r"^\| `([a-z-]+)` \|", table, re.M))
    tested = set(re.findall(r"\[\"([a-z-]+)\"\]|== \"([a-z-]+)\"", pathlib.Path(__file__).read_text()))
    assert len(named) == 7 and named <= {name for pair in tested for name in pair}


def test_each_has_its_saving_and_the_largest_comes_first(launch):
    for kernel in ("repeated", "needed", "small", "one_npu", "again", "product", "nearly_nothing"):
        result = launch(kernel)
        savings = [one["saves_us"] for one in result.advice]
        assert savings == sorted(savings, reverse=True) and all(0 < saving < result.estimated_us for saving in savings)
        assert all("saves" in one["text"] for one in result.advice)
