// Matrix products, convolutions and poolings in local memory. Figures of the vendor's emulator: one core, the same kind
// of work.
#include <cstring>
#include <vector>

#include "tests/bench/device.hpp"
#include "tests/bench/work.hpp"
#include "tpu_kernel.h"

namespace softtpu::bench {
namespace {

constexpr unsigned kFirst = 0, kSecond = 0x10000, kResult = 0x20000, kPoints = 0x3c000, kPads = 0x3d000,
                   kTable = 0x3e000;

Work work_of(const char* group, const char* name, double operations, const char* unit, double vendor, double ratio,
             std::function<void()> kernel) {
  BenchDevice& device = BenchDevice::bm1684x();
  Work work;
  work.group = group;
  work.name = name;
  work.amount = work.limit_amount = operations / 1e9;
  work.unit = unit;
  work.prepare = [&device] { device.fill_local_memory(); };
  work.run = [&device, kernel = std::move(kernel)] { device.run(kernel); };
  work.limit_name = "f32 multiply then add";
  work.limit = multiply_add_limit(operations);
  work.vendor = vendor;
  work.required_vendor_ratio = ratio;
  work.large = operations > 1e6;
  return work;
}

Work fp32_mm(const char* name, int size, int per_channel) {
  Work work = work_of("matrix", name, 2.0 * size * size * size, "GFLOP", 0.61, 0, [size, per_channel] {
    tpu_bdc_fp32_mm(kResult, kFirst, kSecond, 0, size, size, size, per_channel, per_channel, false, false);
  });
  work.required = size >= 256 ? 0.6 : 0.3;
  return work;
}
Work fp_mm(const char* name, int size, data_type_t type) {
  return work_of("matrix", name, 2.0 * size * size * size, "GFLOP", 0.185, 60,
                 [size, type] { tpu_bdc_fp_mm(kResult, kFirst, kSecond, size, size, size, DT_FP32, type, false); });
}
// Data that the loops of aligned groups like least: `special` in every `every`-th place of both matrices.
Work hostile_mm(const char* name, int size, data_type_t type, std::uint16_t special, int every) {
  Work work = fp_mm(name, size, type);
  work.prepare = [special, every] {
    BenchDevice& device = BenchDevice::bm1684x();
    device.fill_local_memory();
    auto* halves = reinterpret_cast<std::uint16_t*>(device.memories().local(0));
    const std::size_t count = device.chip().local_mem.bytes / 2;
    for (std::size_t i = 0; i < count; i += static_cast<std::size_t>(every)) halves[i] = special;
  };
  work.vendor = work.required_vendor_ratio = 0;
  work.large = work.quick = false;
  return work;
}
std::vector<Work> hostile_mms() {
  return {
      hostile_mm("fp_mm bf16 512 x 512 x 512, every third value 2^-70", 512, DT_BFP16, 0x1C80, 3),
      hostile_mm("fp_mm f16 128 x 128 x 128, infinities in every group", 128, DT_FP16, 0x7C00, 29),
  };
}
// Against the products of bytes that the machine can sum at best.
Work against_dot_products(Work work) {
  const NamedLimit limit = dot_limit(work.amount * 1e9);
  work.limit_name = limit.name;
  work.limit = limit.run;
  work.required = 0.5;
  return work;
}
Work int8_mm(const char* name, int size) {
  return against_dot_products(work_of("matrix", name, 2.0 * size * size * size, "GOP", 0.8, 0, [size] {
    scalar_t point;
    point.u32 = 3;
    tpu_bdc_int8_zp_mm(kResult, kFirst, kSecond, point, size, size, size, DT_INT8, DT_UINT8, false);
  }));
}

Work int8_mm_trans(const char* name, int size) {
  Work work = against_dot_products(work_of("matrix", name, 2.0 * size * size * size, "GOP", 0.8, 0, [size] {
    scalar_t point;
    point.u32 = 3;
    tpu_bdc_int8_zp_mm_R_trans(kResult, kFirst, kSecond, point, size, size, size, DT_INT8, DT_UINT8);
  }));
  work.quick = false;
  return work;
}

// Other forms of the same products: rows of a full run only.
Work int8_mm_form(const char* name, int size, std::function<void()> kernel) {
  Work work = against_dot_products(work_of("matrix", name, 2.0 * size * size * size, "GOP", 0.8, 0, std::move(kernel)));
  work.quick = false;
  // Every NPU has the same points, as programs lay them.
  work.prepare = [] {
    BenchDevice& device = BenchDevice::bm1684x();
    device.fill_local_memory();
    for (int npu = 1; npu < device.chip().npu_num; ++npu)
      std::memcpy(device.memories().local(npu) + kPoints, device.memories().local(0) + kPoints, 1024);
  };
  return work;
}
// A column has one point, which lies on every NPU; where NPUs hold other ones, the chip takes its own point for each
// row of the right matrix. Shown without a goal.
Work with_differing_points(Work work) {
  work.required = 0;
  work.large = false;
  work.prepare = [] { BenchDevice::bm1684x().fill_local_memory(); };
  return work;
}
Work requantised_mm(const char* name, bool transposed) {
  constexpr int kSize = 512;
  return int8_mm_form(name, kSize, [transposed] {
    scalar_t point;
    point.u32 = 3;
    optional_info_t left = OPTIONAL_ADDR(DT_INT8, kFirst), right = OPTIONAL_ADDR(DT_UINT8, kSecond);
    optional_info_t points = OPTIONAL_VALUE(DT_UINT8, point), bias = OPTIONAL_VALUE(DT_INT32, point);
    requant_int_info_t requant = {false, false, RM_HALF_TO_EVEN, 0, 0x60000000, -40, 5};
    tpu_bdc_quant_mm(kResult, DT_INT8, &left, &right, kSize, kSize, kSize, transposed, transposed, false, false,
                     &points, &bias, &requant);
  });
}
Work shifted_mm(const char* name, int per_channel) {
  constexpr int kSize = 512;
  return int8_mm_form(name, kSize, [per_channel] {
    tpu_bdc_int8_mm(kResult, kFirst, kSecond, 0, kSize, kSize, kSize, per_channel, per_channel, DT_INT8, DT_INT8,
                    DT_UINT8, DT_INT16, 0, 7, false, false, false);
  });
}
std::vector<Work> int8_mm_forms() {
  constexpr int kSize = 512;
  return {
      int8_mm_form("int8_pc_zp_mm 512 x 512 x 512", kSize,
                   [] {
                     tpu_bdc_int8_pc_zp_mm(kResult, kFirst, kSecond, kPoints, kSize, kSize, kSize, DT_INT8, DT_UINT8,
                                           false);
                   }),
      int8_mm_form("int8_pc_zp_mm_R_trans 512 x 512 x 512", kSize,
                   [] {
                     tpu_bdc_int8_pc_zp_mm_R_trans(kResult, kFirst, kSecond, kPoints, kSize, kSize, kSize, DT_INT8,
                                                   DT_UINT8);
                   }),
      int8_mm_form("int8_pc_zp_mm_all_trans 512 x 512 x 512", kSize,
                   [] {
                     tpu_bdc_int8_pc_zp_mm_all_trans(kResult, kFirst, kSecond, kPoints, kSize, kSize, kSize, DT_INT8,
                                                     DT_UINT8, false);
                   }),
      with_differing_points(int8_mm_form("int8_pc_zp_mm 512 x 512 x 512, points of each NPU", kSize,
                                         [] {
                                           tpu_bdc_int8_pc_zp_mm(kResult, kFirst, kSecond, kPoints, kSize, kSize, kSize,
                                                                 DT_INT8, DT_UINT8, false);
                                         })),
      int8_mm_form("int8_zp_mm 512 x 512 x 512, added to the result", kSize,
                   [] {
                     scalar_t point;
                     point.u32 = 3;
                     tpu_bdc_int8_zp_mm(kResult, kFirst, kSecond, point, kSize, kSize, kSize, DT_INT8, DT_UINT8, true);
                   }),
      requantised_mm("quant_mm 512 x 512 x 512, requantised to int8", false),
      requantised_mm("quant_mm 512 x 512 x 512, transposed, requantised to int8", true),
      shifted_mm("int8_mm 512 x 512 x 512, shifted to int8", 64),
      shifted_mm("int8_mm 512 x 512 x 512, shifted to int8, 8 bytes of every 64", 8),
  };
}

constexpr dim4 kInput = {1, 64, 56, 56}, kOddInput = {1, 17, 13, 13};
constexpr dim2 kKernel = {3, 3}, kOne = {1, 1}, kTwo = {2, 2};
constexpr padding_t kPad = {1, 1, 1, 1}, kNoPad = {0, 0, 0, 0};
constexpr double kConvolutionOperations = 2.0 * 64 * 64 * 9 * 56 * 56;
constexpr double kDepthwiseOperations = 2.0 * 64 * 9 * 56 * 56;

Work convolution(const char* name, data_type_t type, double vendor, double ratio) {
  Work work = work_of("convolution", name, kConvolutionOperations, "GFLOP", vendor, ratio, [type] {
    tpu_bdc_fp_conv2d(kResult, kFirst, kSecond, 0, &kInput, nullptr, 64, &kKernel, &kPad, &kOne, &kOne, DT_FP32, type,
                      false, false);
  });
  if (type == DT_FP32) work.required = 0.6;
  return work;
}
Work int8_convolution(const char* name) {
  return against_dot_products(work_of("convolution", name, kConvolutionOperations, "GOP", 3.5, 0, [] {
    scalar_t point, pad;
    point.u32 = pad.u32 = 3;
    tpu_bdc_int8_asym_quant_conv2d(kResult, kFirst, kSecond, point, pad, &kInput, nullptr, 64, &kKernel, &kPad, &kOne,
                                   &kOne, DT_INT32, DT_UINT8, DT_INT8, DT_INT8, false);
  }));
}
std::vector<Work> int8_convolution_forms() {
  std::vector<Work> list = {
      work_of(
          "convolution", "conv2d int8, points per channel 64x56x56 -> 64, 3x3", kConvolutionOperations, "GOP", 3.5, 0,
          [] {
            tpu_bdc_int8_asym_pc_quant_conv2d(kResult, kFirst, kSecond, kPoints, kPads, &kInput, nullptr, 64, &kKernel,
                                              &kPad, &kOne, &kOne, DT_INT32, DT_UINT8, DT_INT8, DT_INT8, false);
          }),
      work_of("convolution", "conv2d int8, shifted to int8 64x56x56 -> 64, 3x3", kConvolutionOperations, "GOP", 3.5, 0,
              [] {
                tpu_bdc_int8_sym_quant_conv2d(kResult, kFirst, kSecond, 0, &kInput, nullptr, 64, &kKernel, &kPad, &kOne,
                                              &kOne, DT_INT8, DT_INT8, DT_INT8, DT_INT16, 7, false, false);
              }),
      work_of("convolution", "conv2d int8, requantised per channel to int8 64x56x56 -> 64, 3x3", kConvolutionOperations,
              "GOP", 3.5, 0,
              [] {
                tpu_bdc_conv2d_requant_pc_asym_pc(kResult, kFirst, kSecond, kPads, kPoints, kPads, kTable, &kInput,
                                                  nullptr, 64, &kKernel, &kPad, &kOne, &kOne, DT_INT8, DT_UINT8,
                                                  DT_INT8, DT_INT32, true, true, true, false, false, RM_HALF_UP);
              }),
  };
  list.back().prepare = [] {
    BenchDevice& device = BenchDevice::bm1684x();
    device.fill_local_memory();
    // Of each channel: the multiplier, the shift, the zero point of the result.
    constexpr std::int32_t kRequant[] = {0x60000000, -40, 5};
    for (int npu = 0; npu < device.chip().npu_num; ++npu)
      std::memcpy(device.memories().local(npu) + kTable, kRequant, sizeof(kRequant));
  };
  for (Work& work : list) {
    work = against_dot_products(std::move(work));
    work.quick = false;
  }
  return list;
}
Work odd_convolution() {
  Work work =
      work_of("convolution", "conv2d f32 17x13x13 -> 31, 3x3", 2.0 * 17 * 31 * 9 * 13 * 13, "GFLOP", 1.2, 0, [] {
        tpu_bdc_fp_conv2d(kResult, kFirst, kSecond, 0, &kOddInput, nullptr, 31, &kKernel, &kPad, &kOne, &kOne, DT_FP32,
                          DT_FP32, false, false);
      });
  work.required = 0.3;
  work.large = false;
  return work;
}
Work depthwise(const char* name, data_type_t type) {
  return work_of("pooling", name, kDepthwiseOperations, "GFLOP", 0.1, 50, [type] {
    tpu_bdc_fp_depthwise2d(kResult, kFirst, kSecond, 0, &kInput, &kKernel, &kPad, &kOne, &kOne, type, false);
  });
}
Work int8_depthwise(const char* name) {
  return work_of("pooling", name, kDepthwiseOperations, "GOP", 0.1, 50, [] {
    scalar_t pad;
    pad.u32 = 0;
    tpu_bdc_int8_depthwise2d(kResult, kFirst, kSecond, 0, pad, &kInput, &kKernel, &kPad, &kOne, &kOne, DT_INT8, DT_INT8,
                             DT_INT8, DT_INT16, 7, false, false, RM_HALF_UP);
  });
}
constexpr dim4 kLargeInput = {1, 64, 112, 112};
Work pool(const char* name, const dim4& input, std::function<void()> kernel) {
  Work work = work_of("pooling", name, 64.0 * input.h * input.w, "G inputs", 0.06, 50, std::move(kernel));
  work.large = &input == &kLargeInput;
  return work;
}
Work max_pool(const char* name, const dim4& input, data_type_t type) {
  return pool(name, input, [&input, type] {
    scalar_t zero;
    zero.u32 = 0;
    const auto function = type == DT_INT8 ? tpu_bdc_int8_max_pool2d : tpu_bdc_fp_max_pool2d;
    function(kResult, kFirst, &input, &kTwo, &kNoPad, &kTwo, &kOne, type, zero);
  });
}
Work avg_pool(const char* name, const dim4& input, data_type_t type) {
  return pool(name, input, [&input, type] {
    if (type == DT_INT8)
      return tpu_bdc_int8_avg_pool2d(kResult, kFirst, &input, &kTwo, &kNoPad, &kTwo, &kOne, type, type, 1, 2);
    scalar_t quarter;
    quarter.f32 = 0.25F;
    if (type != DT_FP32) quarter.u32 = 0x3400;
    tpu_bdc_fp_avg_pool2d(kResult, kFirst, &input, &kTwo, &kNoPad, &kTwo, &kOne, type, quarter);
  });
}

const bool added = add_work([] {
  std::vector<Work> list = {
      fp32_mm("fp32_mm 512 x 512 x 512", 512, 8),
      fp32_mm("fp32_mm 256 x 256 x 256", 256, 8),
      fp32_mm("fp32_mm 61 x 61 x 61", 61, 1),
      fp_mm("fp_mm f16 512 x 512 x 512", 512, DT_FP16),
      fp_mm("fp_mm bf16 512 x 512 x 512", 512, DT_BFP16),
      int8_mm("int8_zp_mm 512 x 512 x 512", 512),
      int8_mm_trans("int8_zp_mm_R_trans 512 x 512 x 512", 512),
      convolution("conv2d f32 64x56x56 -> 64, 3x3", DT_FP32, 1.2, 0),
      odd_convolution(),
      convolution("conv2d f16 64x56x56 -> 64, 3x3", DT_FP16, 0.137, 60),
      convolution("conv2d bf16 64x56x56 -> 64, 3x3", DT_BFP16, 0.137, 60),
      int8_convolution("conv2d int8 64x56x56 -> 64, 3x3"),
      depthwise("depthwise f32 64x56x56, 3x3", DT_FP32),
      depthwise("depthwise f16 64x56x56, 3x3", DT_FP16),
      depthwise("depthwise bf16 64x56x56, 3x3", DT_BFP16),
      int8_depthwise("depthwise int8 64x56x56, 3x3"),
      max_pool("max pool f32 64x56x56, 2x2 / 2", kInput, DT_FP32),
      max_pool("max pool int8 64x56x56, 2x2 / 2", kInput, DT_INT8),
      max_pool("max pool f32 64x112x112, 2x2 / 2", kLargeInput, DT_FP32),
      max_pool("max pool int8 64x112x112, 2x2 / 2", kLargeInput, DT_INT8),
      avg_pool("avg pool f32 64x112x112, 2x2 / 2", kLargeInput, DT_FP32),
      avg_pool("avg pool f16 64x112x112, 2x2 / 2", kLargeInput, DT_FP16),
      avg_pool("avg pool int8 64x112x112, 2x2 / 2", kLargeInput, DT_INT8),
  };
  for (const auto& more : {hostile_mms(), int8_mm_forms(), int8_convolution_forms()})
    for (const Work& work : more) list.push_back(work);
  return list;
});

}  // namespace
}  // namespace softtpu::bench
