// bm_atomic.h: an older interface to BM1684, which is declared so that projects with it build. Each call is a fault
// that names what okk.h has instead.
#include "bm_atomic.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "device/core/core.hpp"

namespace softtpu {
namespace {

void refuse_atomic(const char* function, const char* instead) {
  Core* core = Core::current();
  if (core == nullptr) {
    std::fprintf(stderr, "%s: called outside a kernel: no device core runs on this thread.\n", function);
    std::abort();
  }
  core->fault(
      ErrorKind::kUnsupported,
      fmt::format("{}: this older interface (bm_atomic.h) has no description, so softtpu does not implement it; {}.",
                  function, instead));
}

}  // namespace
}  // namespace softtpu

extern "C" {

#define ATOMIC(name, parameter, instead) \
  void name(const parameter*) { softtpu::refuse_atomic(#name, instead); }

ATOMIC(bm_atomic_conv, ConvParam, "okk_bdc_conv2d does this")
ATOMIC(bm_atomic_conv_quantized, ConvQuantParam, "okk.h has no convolution of 8-bit integers")
ATOMIC(bm_atomic_winograd_quantized, WinoQuantParam, "okk.h has no convolution of 8-bit integers")
ATOMIC(bm_atomic_avg_pool, PoolParam, "okk_bdc_avg_pool2d does this")
ATOMIC(bm_atomic_avg_pool_quantized, PoolQuantParam, "okk.h has no pooling of 8-bit integers")
ATOMIC(bm_atomic_max_pool, PoolParam, "okk_bdc_max_pool2d does this")
ATOMIC(bm_atomic_max_pool_quantized, PoolQuantParam, "okk.h has no pooling of 8-bit integers")
ATOMIC(bm_atomic_sum_pool, SumPoolParam, "okk_bdc_avg_pool2d and okk_bdc_mul_C do this")
ATOMIC(bm_atomic_depthwise, DepthwiseParam, "okk_bdc_depthwise2d does this")
ATOMIC(bm_atomic_depthwise_quantized, DepthwiseQuantParam, "okk.h has no convolution of 8-bit integers")
ATOMIC(bm_atomic_matmul, MatmulParam, "okk_bdc_matmul does this")
ATOMIC(bm_atomic_matmul_quantized, MatmulQuantParam, "okk.h has no product of 8-bit matrices")
ATOMIC(bm_atomic_tensor_arithmetic, ArithParam, "okk_bdc_add and its relatives do this")
ATOMIC(bm_atomic_tensor_arithmetic_quantized, ArithQuantParam,
       "okk_bdc_fixed_point_packed_add and its relatives do this")
ATOMIC(bm_atomic_table_lookup, TableLookupParam, "okk_bdc_lookup_exp and okk_bdc_lookup_int32_to_fp32 look up")
ATOMIC(bm_atomic_md_scalar, MDScalarParam, "okk_bdc_add and its relatives do this")
ATOMIC(bm_atomic_md_linear, MDLinearParam, "okk_bdc_mac does this")
ATOMIC(bm_atomic_md_cmp, MDCmpParam, "okk_bdc_greater_select and okk_bdc_equal_select do this")
ATOMIC(bm_atomic_md_sfu, MDSFUParam, "okk_bdc_taylor_exp, okk_bdc_rsqrt and okk_bdc_fp32_to_int32 do this")
ATOMIC(bm_atomic_vec_correlation, VecParam, "okk.h has no products of vectors; okk_bdc_matmul multiplies matrices")
ATOMIC(bm_atomic_sort, SortParam, "okk.h has no sorting")
ATOMIC(bm_atomic_gather_data, GatherDataParam, "okk.h has no gathering; okk_gdma_32bit_cpy_L2L copies")
ATOMIC(bm_local_exp, ExpParam, "okk_bdc_exp does this")
ATOMIC(bm_local_act, ActParam, "okk_bdc_relu, okk_bdc_sigmoid and okk_bdc_tanh do this")
ATOMIC(bm_atomic_memcpy_1D, MemCpy1DParam, "okk_gdma_32bit_cpy_S2L and its relatives do this")
ATOMIC(bm_atomic_memcpy_2D, MemCpy2DParam, "okk_gdma_32bit_matrix_S2L and okk_gdma_32bit_matrix_L2S do this")
ATOMIC(bm_atomic_memcpy_4D, MemCpy4DParam, "okk_gdma_32bit_cpy_S2L and its relatives do this")
ATOMIC(bm_atomic_memset_4D, MemSet4DParam, "okk_gdma_32bit_set_C_local and its relatives do this")
ATOMIC(bm_atomic_cwtrans, CWTransParam, "okk_gdma_32bit_cpy_L2L with exchanged strides does this")
ATOMIC(bm_atomic_mask_memcpy_4D, MaskMemCpy4DPram, "okk.h has no copy through a mask")

unsigned int bm_get_mask_memcpy_res_num() {
  softtpu::refuse_atomic("bm_get_mask_memcpy_res_num", "okk.h has no copy through a mask");
  return 0;
}

}  // extern "C"
