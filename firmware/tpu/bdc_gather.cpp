// Entry points of BDC gather, scatter and mask selection.
#include <fmt/format.h>

#include <algorithm>
#include <climits>

#include "device/chip/rules.hpp"
#include "device/isa/op_names.hpp"
#include "firmware/call.hpp"
#include "runtime/base/unreachable.hpp"
#include "tpu_kernel.h"

namespace softtpu {
namespace {

// What the functions of this file have in common.
struct Gather {
  Op op;
  GatherMode mode;
  bool scatter;
  local_addr_t output, param, index;
  const dim4* shape;
  int param_h, param_w;  // 1: not a gathered dimension
  data_type_t dtype, index_dtype;
  bool repeated = false;
};

// What an index that is the largest of its type does.
struct Exception {
  bool fill;
  scalar_t constant;
};

// Indices for all the positions that the call walks.
Dim4 index_shape(const Gather& gather, const Dim4& walked) {
  const auto places = std::int64_t{walked.h} * walked.w;
  switch (gather.mode) {
    case GatherMode::kW: return {1, walked.w, 1, 1};
    case GatherMode::kHw: return {1, static_cast<int>(std::clamp<std::int64_t>(places, INT_MIN, INT_MAX)), 1, 2};
    case GatherMode::kBatchW: return {walked.n, walked.c, 1, walked.w};
    case GatherMode::kBatchH: return {walked.n, walked.c, 1, walked.h};
  }
  unreachable(gather.mode);
}

void issue_gather(const Gather& gather, const Exception* exception = nullptr, bool four_banks = false) {
  const Call call(gather.op);
  const Dim4 dim = call.dim("shape", gather.shape);
  const Dtype type = call.dtype("dtype", gather.dtype);
  const Dtype index_type = call.dtype("index_dtype", gather.index_dtype);
  const bool shared = gather.mode == GatherMode::kW || gather.mode == GatherMode::kHw;
  if (gather.mode == GatherMode::kBatchH && call.chip().has(Quirk::kNoMissingBatchRows)) exception = nullptr;
  if (gather.mode == GatherMode::kBatchH && call.chip().has(Quirk::kNoRepeatedRows))
    call.require(!gather.repeated, "{argument} has to be false on this chip.", "is_param_repeated");
  const Layout data = gather.mode == GatherMode::kBatchH ? Layout::kLineAligned : Layout::kAligned;
  const Dim4 param{shared ? dim.n : 1, dim.c, gather.param_h, gather.param_w};
  const Dim4 walked = gather.scatter ? Dim4{dim.n, dim.c, gather.param_h, gather.param_w} : dim;
  GatherCmd cmd{
      gather.mode,
      gather.scatter,
      exception != nullptr,
      false,
      four_banks,
      call.local(gather.output, dim, type, data),
      call.local(gather.param, param, type, data),
      call.local(gather.index, index_shape(gather, walked), index_type, shared ? Layout::kCompact : Layout::kAligned),
      {}};
  if (gather.repeated) cmd.param.stride.c = 0;
  if (exception != nullptr) {
    cmd.fill = exception->fill || call.chip().has(Quirk::kGathersFill);
    cmd.constant = scalar(exception->constant, type);
  }
  call.issue(cmd);
}

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

void tpu_bdc_w_gather(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr, const dim4* shape,
                      int param_w, data_type_t dtype, data_type_t index_dtype) {
  issue_gather({Op::tpu_bdc_w_gather, GatherMode::kW, false, output_addr, param_addr, index_addr, shape, 1, param_w,
                dtype, index_dtype});
}
void tpu_bdc_w_gather_exception(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr, scalar_t C,
                                const dim4* shape, int param_w, data_type_t dtype, data_type_t index_dtype,
                                bool fill_const) {
  const Exception exception{fill_const, C};
  issue_gather({Op::tpu_bdc_w_gather_exception, GatherMode::kW, false, output_addr, param_addr, index_addr, shape, 1,
                param_w, dtype, index_dtype},
               &exception);
}
void tpu_bdc_w_scatter(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr, const dim4* shape,
                       int param_w, data_type_t dtype, data_type_t index_dtype) {
  issue_gather({Op::tpu_bdc_w_scatter, GatherMode::kW, true, output_addr, param_addr, index_addr, shape, 1, param_w,
                dtype, index_dtype});
}

void tpu_bdc_hw_gather(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr, const dim4* shape,
                       int param_h, int param_w, data_type_t dtype) {
  issue_gather({Op::tpu_bdc_hw_gather, GatherMode::kHw, false, output_addr, param_addr, index_addr, shape, param_h,
                param_w, dtype, DT_UINT16});
}
void tpu_bdc_hw_gather_exception(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr, scalar_t C,
                                 const dim4* shape, int param_h, int param_w, data_type_t dtype, bool fill_const) {
  const Exception exception{fill_const, C};
  issue_gather({Op::tpu_bdc_hw_gather_exception, GatherMode::kHw, false, output_addr, param_addr, index_addr, shape,
                param_h, param_w, dtype, DT_UINT16},
               &exception);
}
void tpu_bdc_hw_scatter(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr, const dim4* shape,
                        int param_h, int param_w, data_type_t dtype) {
  issue_gather({Op::tpu_bdc_hw_scatter, GatherMode::kHw, true, output_addr, param_addr, index_addr, shape, param_h,
                param_w, dtype, DT_UINT16});
}

void tpu_bdc_batch_bcast_w_gather(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr,
                                  const dim4* shape, int param_w, data_type_t dtype, data_type_t index_dtype,
                                  bool is_param_repeated) {
  issue_gather({Op::tpu_bdc_batch_bcast_w_gather, GatherMode::kBatchW, false, output_addr, param_addr, index_addr,
                shape, 1, param_w, dtype, index_dtype, is_param_repeated});
}
void tpu_bdc_batch_bcast_w_gather_exception(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr,
                                            scalar_t C, const dim4* shape, int param_w, data_type_t dtype,
                                            data_type_t index_dtype, bool is_param_repeated, bool fill_const) {
  const Exception exception{fill_const, C};
  issue_gather({Op::tpu_bdc_batch_bcast_w_gather_exception, GatherMode::kBatchW, false, output_addr, param_addr,
                index_addr, shape, 1, param_w, dtype, index_dtype, is_param_repeated},
               &exception);
}
void tpu_bdc_batch_bcast_w_scatter(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr,
                                   const dim4* shape, int param_w, data_type_t dtype, data_type_t index_dtype,
                                   bool is_param_repeated) {
  issue_gather({Op::tpu_bdc_batch_bcast_w_scatter, GatherMode::kBatchW, true, output_addr, param_addr, index_addr,
                shape, 1, param_w, dtype, index_dtype, is_param_repeated});
}

// Rows as wide as the output's.
void tpu_bdc_batch_bcast_h_gather(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr,
                                  const dim4* shape, int param_h, data_type_t dtype, data_type_t index_dtype,
                                  bool is_param_repeated) {
  const int width = shape != nullptr ? shape->w : 1;
  issue_gather({Op::tpu_bdc_batch_bcast_h_gather, GatherMode::kBatchH, false, output_addr, param_addr, index_addr,
                shape, param_h, width, dtype, index_dtype, is_param_repeated});
}
void tpu_bdc_batch_bcast_h_gather_exception(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr,
                                            scalar_t C, const dim4* shape, int param_h, data_type_t dtype,
                                            data_type_t index_dtype, bool is_param_repeated, bool fill_const) {
  const Exception exception{fill_const, C};
  const int width = shape != nullptr ? shape->w : 1;
  issue_gather({Op::tpu_bdc_batch_bcast_h_gather_exception, GatherMode::kBatchH, false, output_addr, param_addr,
                index_addr, shape, param_h, width, dtype, index_dtype, is_param_repeated},
               &exception);
}
void tpu_bdc_batch_bcast_h_scatter(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr,
                                   const dim4* shape, int param_h, data_type_t dtype, data_type_t index_dtype,
                                   bool is_param_repeated) {
  const int width = shape != nullptr ? shape->w : 1;
  issue_gather({Op::tpu_bdc_batch_bcast_h_scatter, GatherMode::kBatchH, true, output_addr, param_addr, index_addr,
                shape, param_h, width, dtype, index_dtype, is_param_repeated});
}

void tpu_bdc_4bank_w_gather(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr,
                            const dim4* shape, int param_w, data_type_t dtype, data_type_t index_dtype,
                            bool is_param_repeated) {
  issue_gather({Op::tpu_bdc_4bank_w_gather, GatherMode::kBatchW, false, output_addr, param_addr, index_addr, shape, 1,
                param_w, dtype, index_dtype, is_param_repeated},
               nullptr, true);
}
void tpu_bdc_4bank_w_gather_exception(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr,
                                      scalar_t C, const dim4* shape, int param_w, data_type_t dtype,
                                      data_type_t index_dtype, bool is_param_repeated, bool fill_const) {
  const Exception exception{fill_const, C};
  issue_gather({Op::tpu_bdc_4bank_w_gather_exception, GatherMode::kBatchW, false, output_addr, param_addr, index_addr,
                shape, 1, param_w, dtype, index_dtype, is_param_repeated},
               &exception, true);
}

void tpu_bdc_batch_bcast_w_mask_select(local_addr_t output_addr, local_addr_t count_addr, local_addr_t param_addr,
                                       local_addr_t mask_addr, const dim4* shape, data_type_t dtype,
                                       data_type_t mask_dtype, bool is_param_repeated) {
  const Call call(Op::tpu_bdc_batch_bcast_w_mask_select);
  const Dim4 dim = call.dim("shape", shape);
  const Dtype type = call.dtype("dtype", dtype);
  Tensor param = call.local(param_addr, {1, dim.c, 1, dim.w}, type);
  if (is_param_repeated) param.stride.c = 0;
  call.issue(MaskSelectCmd{call.local(output_addr, dim, type),
                           call.local(count_addr, {dim.n, dim.c, 1, 1}, Dtype::kUint16, Layout::kCompact), param,
                           call.local(mask_addr, dim, call.dtype("mask_dtype", mask_dtype))});
}
}
