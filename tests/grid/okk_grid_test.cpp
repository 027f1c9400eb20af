// Every okk_* function that issues commands: one valid call, and calls with one wrong argument.
#include <fmt/format.h>

#include "tests/grid/call_grid.hpp"

namespace softtpu::grid {
namespace {

const std::vector<Legal> kLegal = {
    // Operands of at most one row of an NPU.
    {"*", "bias_addr", "past the end", "one value per channel"},
    {"*", "scale_addr", "past the end", "one value per channel"},
    {"okk_bdc_depthwise2d", "weight_addr", "past the end", "one window per channel"},
    {"okk_bdc_*int8_to_fp32", "src_addr", "past the end", "bytes in the compact layout"},
    {"okk_bdc_int8_to_fp32", "src_addr", "misaligned", "bytes"},
    // Operands whose lanes are their own, or that are not used.
    {"okk_gdma_*", "*_addr", "next NPU", "DMA goes to any NPU"},
    {"okk_bdc_32bit_set_C", "dst_addr", "next NPU", "has no source"},
    {"okk_bdc_matmul", "left_addr", "next NPU", "the left matrix goes to every lane"},
    {"okk_bdc_conv2d", "input_addr", "next NPU", "input channels go to every lane"},
    {"okk_bdc_*int8_to_fp32", "work_addr", "*", "room for steps of the chip that one command stands for"},
    {"okk_gdma_8bit_*", "*_addr", "misaligned", "bytes"},
    {"okk_gdma_*", "*_stride", "*=largest", "reaches a byte that exists, or is not used"},
    // NULL: no padding, steps of one.
    {"*", "stride", "NULL", "one"},
    {"*", "dilation", "NULL", "one"},
    // Shapes that are moved in parts, and widths beyond the matrix.
    {"okk_gdma_*bit_*", "shape", "?=65536", "split into several transfers"},
    {"okk_gdma_32bit_matrix_*", "row_stride", "0", "the same row again"},
    // Plain numbers.
    {"*", "C", "*", "any value of the type"},
    {"*", "?shift", "0", "no shift"},
};

const std::vector<Alias> kAliases = {
    {"*", "num_series", "number of series terms"},
    {"okk_bdc_conv2d", "output_c", "output shape.c"},
    {"okk_bdc_conv2d", "kernel_stride", "weight"},
    {"okk_gdma_32bit_matrix_*", "row_stride", "src"},
    {"okk_gdma_32bit_matrix_*", "row_stride", "dst"},
    {"okk_gdma_32bit_matrix_*", "cols_per_channel", "src ends"},
    {"okk_gdma_*", "shape", "src ends"},
    {"okk_gdma_32bit_matrix_*", "cols_per_channel", "dst ends"},
    {"okk_gdma_*", "shape", "dst ends"},
};

TEST(InvalidCalls, EachArgumentOfEachOkkFunctionIsChecked) {
  CallGrid grid({"bm1684", okk_recipes(), kLegal, kAliases});
  const Counts counts = grid.run();
  fmt::print("{} rows, {} valid, {} invalid and {} legal calls\n", counts.rows, counts.valid, counts.invalid,
             counts.legal);
  EXPECT_GT(counts.rows, 100);
}

}  // namespace
}  // namespace softtpu::grid
