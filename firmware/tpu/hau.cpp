// Entry points of HAU functions.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "device/isa/op_names.hpp"
#include "firmware/call.hpp"
#include "tpu_kernel.h"

namespace softtpu {
namespace {

// `count` words, lines or boxes in a row; a negative number is left to the rules.
Tensor array(const Call& call, system_addr_t addr, int rows, int count, Dtype type) {
  return call.system(addr, {1, 1, rows, count}, nullptr, type);
}

struct SortAddresses {
  system_addr_t dst, dst_index, src, src_index;
};

HauSortCmd sort_command(const Call& call, SortIndex index, const SortAddresses& at, int len, int K, bool descending,
                        Dtype type) {
  return {index,
          descending,
          array(call, at.dst, 1, K, type),
          array(call, at.dst_index, 1, K, Dtype::kUint32),
          array(call, at.src, 1, len, type),
          array(call, at.src_index, 1, len, Dtype::kUint32)};
}

void sort(Op op, SortIndex index, const SortAddresses& at, int len, int K, bool descending, data_type_t dtype) {
  const Call call(op);
  call.issue(sort_command(call, index, at, len, K, descending, call.dtype("dtype", dtype)));
}

// Every row by itself; row r of the results follows row r - 1 without a gap.
void sort_rows(Op op, SortIndex index, const SortAddresses& at, int rows, int len, int K, bool descending,
               data_type_t dtype) {
  const Call call(op);
  const Dtype type = call.dtype("dtype", dtype);
  if (!call.positive("row_num", rows)) return;
  const auto row_command = [&](int row) {
    constexpr std::uint64_t kWord = 4;
    const std::uint64_t out = static_cast<std::uint64_t>(row) * static_cast<unsigned>(std::max(K, 0)) * kWord;
    const std::uint64_t in = static_cast<std::uint64_t>(row) * static_cast<unsigned>(std::max(len, 0)) * kWord;
    return sort_command(call, index, {at.dst + out, at.dst_index + out, at.src + in, at.src_index + in}, len, K,
                        descending, type);
  };
  // With the first and the last row inside memory all are: a refused call changes nothing.
  if (!call.core().accepts(op, row_command(0)) || !call.core().accepts(op, row_command(rows - 1))) return;
  for (int row = 0; row < rows && !call.core().faulted(); ++row) call.issue(row_command(row));
}

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

void tpu_hau_sort(system_addr_t output_addr, system_addr_t input_addr, int len, int K, bool descended,
                  data_type_t dtype) {
  sort(Op::tpu_hau_sort, SortIndex::kNone, {output_addr, 0, input_addr, 0}, len, K, descended, dtype);
}
void tpu_hau_sort_natural_index(system_addr_t output_data_addr, system_addr_t output_idx_addr, system_addr_t input_addr,
                                int len, int K, bool descended, data_type_t dtype) {
  sort(Op::tpu_hau_sort_natural_index, SortIndex::kNatural, {output_data_addr, output_idx_addr, input_addr, 0}, len, K,
       descended, dtype);
}
void tpu_hau_sort_specific_index(system_addr_t output_data_addr, system_addr_t output_idx_addr,
                                 system_addr_t input_data_addr, system_addr_t input_idx_addr, int len, int K,
                                 bool descended, data_type_t dtype) {
  sort(Op::tpu_hau_sort_specific_index, SortIndex::kGiven,
       {output_data_addr, output_idx_addr, input_data_addr, input_idx_addr}, len, K, descended, dtype);
}
// dtype_flags: 0 f32, 1 i32, 2 u32 (golden bm1684x-1.30: new_hau); idx_auto chooses natural indices.
void tpu_hau_sort_general(system_addr_t src_data_addr, system_addr_t src_idx_addr, system_addr_t dst_data_addr,
                          system_addr_t dst_idx_addr, int dtype_flags, int len, int is_descend, int idx_enable,
                          int idx_auto, int topk) {
  const Call call(Op::tpu_hau_sort_general);
  constexpr Dtype kTypes[] = {Dtype::kFp32, Dtype::kInt32, Dtype::kUint32};
  const Dtype type = kTypes[call.in_range("dtype_flags", dtype_flags, 0, static_cast<int>(std::size(kTypes)) - 1)];
  call.in_range("idx_enable", idx_enable, 0, 1);
  call.in_range("idx_auto", idx_auto, 0, 1);
  const SortIndex with_index = idx_auto != 0 ? SortIndex::kNatural : SortIndex::kGiven;
  call.issue(sort_command(call, idx_enable != 0 ? with_index : SortIndex::kNone,
                          {dst_data_addr, dst_idx_addr, src_data_addr, src_idx_addr}, len, topk, is_descend != 0,
                          type));
}
void tpu_hau_sort_2d(system_addr_t output_addr, system_addr_t input_addr, int row_num, int len, int K, bool descended,
                     data_type_t dtype) {
  sort_rows(Op::tpu_hau_sort_2d, SortIndex::kNone, {output_addr, 0, input_addr, 0}, row_num, len, K, descended, dtype);
}
void tpu_hau_sort_natural_index_2d(system_addr_t output_data_addr, system_addr_t output_idx_addr,
                                   system_addr_t input_addr, int row_num, int len, int K, bool descended,
                                   data_type_t dtype) {
  sort_rows(Op::tpu_hau_sort_natural_index_2d, SortIndex::kNatural, {output_data_addr, output_idx_addr, input_addr, 0},
            row_num, len, K, descended, dtype);
}
void tpu_hau_sort_specific_index_2d(system_addr_t output_data_addr, system_addr_t output_idx_addr,
                                    system_addr_t input_data_addr, system_addr_t input_idx_addr, int row_num, int len,
                                    int K, bool descended, data_type_t dtype) {
  sort_rows(Op::tpu_hau_sort_specific_index_2d, SortIndex::kGiven,
            {output_data_addr, output_idx_addr, input_data_addr, input_idx_addr}, row_num, len, K, descended, dtype);
}

void tpu_hau_hard_nms(system_addr_t output_addr, system_addr_t input_addr, int box_num, int keep_num) {
  const Call call(Op::tpu_hau_hard_nms);
  const auto bytes = static_cast<int>(ceil_div(box_num, 8));
  call.issue(HauHardNmsCmd{array(call, output_addr, 1, bytes, Dtype::kUint8),
                           array(call, input_addr, box_num, box_num, Dtype::kUint8), keep_num});
}
void tpu_hau_soft_nms(system_addr_t output_addr, system_addr_t iou_addr, system_addr_t score_addr, float threshold,
                      int box_num, int keep_num) {
  const Call call(Op::tpu_hau_soft_nms);
  const auto bytes = static_cast<int>(ceil_div(box_num, 8));
  call.issue(HauSoftNmsCmd{array(call, output_addr, 1, bytes, Dtype::kUint8),
                           array(call, iou_addr, box_num, box_num, Dtype::kFp32),
                           array(call, score_addr, 1, box_num, Dtype::kFp32), threshold, keep_num});
}
void tpu_hau_line_gather(system_addr_t output_addr, system_addr_t param_addr, system_addr_t index_addr, scalar_t C,
                         int line_num, int line_len, int index_len, int start, int end, data_type_t dtype,
                         bool fill_const) {
  const Call call(Op::tpu_hau_line_gather);
  const Dtype type = call.dtype("dtype", dtype);
  // The lines from start to end are all that is read.
  const auto lines = static_cast<int>(std::clamp<std::int64_t>(std::int64_t{end} - start + 1, 1, INT32_MAX));
  call.issue(HauLineGatherCmd{
      array(call, output_addr, index_len, line_len, type), array(call, param_addr, lines, line_len, type),
      array(call, index_addr, 1, index_len, Dtype::kInt32), line_num, start, end, fill_const, scalar(C, type)});
}
}
