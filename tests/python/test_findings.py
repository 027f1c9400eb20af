"""What checks find in launches from Python: by which result."""
import numpy as np
import pytest

import softtpu

SOURCE = """
#include <tpu_kernel.h>
typedef struct { unsigned long long out, a; } args_t;
static const dim4 kShape = {1, 64, 1, 100};
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
TPUKERNEL_FUNC_REGISTER(half)
TPUKERNEL_FUNC_REGISTER(divide)
TPUKERNEL_FUNC_REGISTER(bank)
"""
COUNT = 6400


@pytest.fixture(scope="module")
def module():
    with softtpu.Device(check="all,bank") as dev:
        yield dev.compile(SOURCE, flags=["-g"])


def rules(result):
    return sorted({finding.rule for finding in result.findings if finding.severity != "note" or finding.rule.startswith("bank/")})


def test_an_output_that_is_not_filled_belongs_to_its_launch(module):
    dev = module.device
    out = dev.empty((64, 100), np.float32)
    result = module.half(out, dev.array(np.ones((64, 100), np.float32)))
    assert rules(result) == []  # it was not read
    out.numpy()
    assert rules(result) == ["init/unfilled-output"]


def test_where_a_nan_comes_from_belongs_to_its_launch(module):
    dev = module.device
    result = module.divide(dev.empty(COUNT, np.float32), dev.array(np.ones(COUNT, np.float32)))
    assert rules(result) == ["nan/nan"] and "tpu_bdc_fp_div" in str(result.findings[0])


def test_banks_belong_to_their_launch(module):
    dev = module.device
    result = module.bank(dev.empty(COUNT, np.float32), dev.empty(1, np.float32))
    assert rules(result) == ["bank/operands"]
