// Entry points of poolings and depthwise convolutions over regions of interest.
#include "device/isa/op_names.hpp"
#include "firmware/call.hpp"
#include "tpu_kernel.h"

namespace softtpu {
namespace {

class RoiPooling {
 public:
  RoiPooling(Op op, PoolMode mode) : call_(op) { cmd_.mode = mode; }

  RoiPooling& input(local_addr_t addr, const dim4* shape, data_type_t type) {
    cmd_.src = call_.local(addr, call_.dim("input_shape", shape), call_.dtype("input type", type));
    return *this;
  }
  RoiPooling& regions(local_addr_t addr, int count, const dim2* kernel, const scalar_t& outside) {
    cmd_.regions = call_.local(addr, Dim4{1, count, 1, 4}, Stride4{0, 4, 0, 1}, Dtype::kInt16);
    cmd_.kernel = call_.dim("kernel", kernel);
    cmd_.outside = scalar(outside, cmd_.src.dtype);
    return *this;
  }
  // After input and regions, which give the shape.
  RoiPooling& output(local_addr_t addr, data_type_t type) {
    const Dim4 shape{cmd_.src.shape.n, cmd_.src.shape.c, 1, cmd_.regions.shape.c};
    cmd_.dst = call_.local(addr, shape, call_.dtype("output type", type));
    return *this;
  }
  RoiPooling& weight(local_addr_t addr, data_type_t type) {
    const Dim4 shape{1, cmd_.src.shape.c, cmd_.kernel.h, cmd_.kernel.w};
    cmd_.weight = call_.local(addr, shape, call_.dtype("weight type", type), Layout::kCompact);
    return *this;
  }
  RoiPooling& scale(const scalar_t& value, Dtype type) {
    cmd_.weight = scalar(value, type);
    return *this;
  }
  Dtype input_type() const { return cmd_.src.dtype; }
  void issue() const { call_.issue(cmd_); }

 private:
  Call call_;
  RoiPoolCmd cmd_;
};

// The largest or smallest element of each region's windows.
void roi_best(Op op, PoolMode mode, local_addr_t output_addr, local_addr_t input_addr, local_addr_t roi_addr,
              const dim4* input_shape, int output_w, const dim2* kernel, data_type_t dtype, scalar_t except_val) {
  RoiPooling pool(op, mode);
  pool.input(input_addr, input_shape, dtype).regions(roi_addr, output_w, kernel, except_val);
  pool.output(output_addr, dtype).issue();
}

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

#define ROI_BEST(name, mode)                                                                                       \
  void name(local_addr_t output_addr, local_addr_t input_addr, local_addr_t roi_addr, const dim4* input_shape,     \
            int output_w, const dim2* kernel, data_type_t dtype, scalar_t except_val) {                            \
    roi_best(Op::name, mode, output_addr, input_addr, roi_addr, input_shape, output_w, kernel, dtype, except_val); \
  }
ROI_BEST(tpu_bdc_fp_roi_max_pool2d, PoolMode::kMax)
ROI_BEST(tpu_bdc_fp_roi_min_pool2d, PoolMode::kMin)
ROI_BEST(tpu_bdc_int8_roi_max_pool2d, PoolMode::kMax)
ROI_BEST(tpu_bdc_int8_roi_min_pool2d, PoolMode::kMin)

void tpu_bdc_fp_roi_avg_pool2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t roi_addr,
                               const dim4* input_shape, int output_w, const dim2* kernel, data_type_t dtype,
                               scalar_t except_val, scalar_t scale) {
  RoiPooling pool(Op::tpu_bdc_fp_roi_avg_pool2d, PoolMode::kAverage);
  pool.input(input_addr, input_shape, dtype).regions(roi_addr, output_w, kernel, except_val);
  pool.scale(scale, pool.input_type()).output(output_addr, dtype).issue();
}

void tpu_bdc_fp_roi_depthwise2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
                                local_addr_t roi_addr, const dim4* input_shape, int output_w, const dim2* kernel,
                                data_type_t dtype, scalar_t except_val) {
  RoiPooling pool(Op::tpu_bdc_fp_roi_depthwise2d, PoolMode::kDepthwise);
  pool.input(input_addr, input_shape, dtype).regions(roi_addr, output_w, kernel, except_val);
  pool.weight(weight_addr, dtype).output(output_addr, dtype).issue();
}

void tpu_bdc_int8_roi_avg_pool2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t roi_addr,
                                 const dim4* input_shape, int output_w, const dim2* kernel, data_type_t output_dtype,
                                 data_type_t input_dtype, scalar_t except_val, scalar_t scale) {
  RoiPooling pool(Op::tpu_bdc_int8_roi_avg_pool2d, PoolMode::kAverage);
  pool.input(input_addr, input_shape, input_dtype).regions(roi_addr, output_w, kernel, except_val);
  pool.scale(scale, Dtype::kUint8).output(output_addr, output_dtype).issue();
}

void tpu_bdc_int8_roi_depthwise2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
                                  local_addr_t roi_addr, const dim4* input_shape, int output_w, const dim2* kernel,
                                  data_type_t output_dtype, data_type_t input_dtype, data_type_t weight_dtype,
                                  scalar_t except_val) {
  RoiPooling pool(Op::tpu_bdc_int8_roi_depthwise2d, PoolMode::kDepthwise);
  pool.input(input_addr, input_shape, input_dtype).regions(roi_addr, output_w, kernel, except_val);
  pool.weight(weight_addr, weight_dtype).output(output_addr, output_dtype).issue();
}
}
