// The newest headers' own checks of memory. They ask what softtpu knows: which memories there are, what the kernel has
// recorded and, under `--check`, what the host program has allocated and what was written.
#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <vector>

#include "device/command/checks.hpp"
#include "device/isa/op_names.hpp"
#include "device/memory/tensor_view.hpp"
#include "firmware/call.hpp"
#include "tpu_kernel.h"

namespace softtpu {
namespace {

// False: the range is none, or lies in no memory; then the launch has its fault.
bool is_range(const Call& call, system_addr_t addr, u64 size) {
  return call.require(size > 0, "the range has no bytes.") && call.in_one_memory(addr, size);
}

// What the kernel has said of these bytes last decides: memory that it has taken off the record has no owner, and a
// range may not run over the end of one that it has put there.
bool is_on_record(const Call& call, std::uint64_t begin, std::uint64_t end) {
  const std::vector<MemoryRecord>& records = call.core().state().records;
  for (auto record = records.rbegin(); record != records.rend(); ++record) {
    if (begin >= record->end || end <= record->begin) continue;
    const bool inside = begin >= record->begin && end <= record->end;
    if (inside && !record->deleted) return true;
    return call.require(
        false, inside ? "{value} lies inside {limit}." : "{value} runs over an end of {limit}.", {},
        fmt::format("[0x{:x}, 0x{:x})", begin, end),
        fmt::format("[0x{:x}, 0x{:x}), which the kernel has {}", record->begin, record->end,
                    record->deleted ? "taken off the record" : fmt::format("recorded with {}", record->info)));
  }
  return true;
}

std::uint64_t end_of(const Tensor& tensor) {
  const Dim4& shape = tensor.shape;
  const Stride4& stride = tensor.stride;
  const std::int64_t last =
      (shape.n - 1) * stride.n + (shape.c - 1) * stride.c + (shape.h - 1) * stride.h + (shape.w - 1) * stride.w + 1;
  return tensor.addr + static_cast<std::uint64_t>(last * size_of(tensor.dtype));
}

void check_tensor(const Call& call, const Tensor& tensor, bool reads) {
  if (call.core().faulted()) return;
  Checks check(call.core().memories(), call.op());
  check.shape("shape", tensor.shape).tensor("addr", tensor, NaturalAlignment::kElement);
  if (check.violation()) return call.core().fault(ErrorKind::kUsage, *check.violation());
  if (is_on_record(call, tensor.addr, end_of(tensor))) call.core().ask(call.op(), tensor, reads);
}

bool is_nan(const std::uint8_t* element, Dtype type) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, element, static_cast<std::size_t>(size_of(type)));
  switch (type) {
    case Dtype::kFp32: return (bits & 0x7FFFFFFFU) > 0x7F800000U;
    case Dtype::kFp16: return (bits & 0x7FFFU) > 0x7C00U;
    case Dtype::kBfp16: return (bits & 0x7FFFU) > 0x7F80U;
    default: return false;
  }
}

int has_nan(const Call& call, const Tensor& tensor) {
  if (call.core().faulted()) return 0;
  Checks check(call.core().memories(), call.op());
  check.shape("shape", tensor.shape).tensor("buffer", tensor, NaturalAlignment::kElement);
  if (check.violation()) return call.core().fault(ErrorKind::kUsage, *check.violation()), 0;
  const TensorView view(call.core().memories(), tensor);
  const auto size = static_cast<std::size_t>(size_of(tensor.dtype));
  const Dim4& shape = tensor.shape;
  for (int n = 0; n < shape.n; ++n)
    for (int c = 0; c < shape.c; ++c)
      for (int h = 0; h < shape.h; ++h)
        for (int w = 0; w < shape.w; ++w)
          if (is_nan(view.byte_at(n, c, h, w, size), tensor.dtype)) return 1;
  return 0;
}

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

void tpu_mem_record_add(system_addr_t addr, u64 size, u64 info) {
  const Call call(Op::tpu_mem_record_add);
  if (is_range(call, addr, size)) call.core().state().records.push_back({addr, addr + size, info, false});
}
void tpu_mem_record_del(system_addr_t addr, u64 size) {
  const Call call(Op::tpu_mem_record_del);
  if (is_range(call, addr, size)) call.core().state().records.push_back({addr, addr + size, 0, true});
}

void tpu_mem_check_range(system_addr_t addr, u64 size, int is_read) {
  const Call call(Op::tpu_mem_check_range);
  if (!is_range(call, addr, size) || !is_on_record(call, addr, addr + size)) return;
  // As many rows as a row's length needs.
  constexpr u64 kRow = u64{1} << 30;
  for (u64 done = 0; done < size; done += kRow) {
    const int bytes = static_cast<int>(std::min(kRow, size - done));
    call.core().ask(call.op(), call.system(addr + done, {1, 1, 1, bytes}, nullptr, Dtype::kUint8), is_read != 0);
  }
}
void tpu_mem_check_tensor(system_addr_t addr, const dim4* shape, const dim4* stride, data_type_t dtype, int is_read) {
  const Call call(Op::tpu_mem_check_tensor);
  check_tensor(call, call.system(addr, call.dim("shape", shape), stride, call.dtype("dtype", dtype)), is_read != 0);
}
void tpu_mem_check_matrix(system_addr_t addr, u32 rows, u32 cols, u32 row_stride, data_type_t dtype, int is_read) {
  const Call call(Op::tpu_mem_check_matrix);
  const Dtype type = call.dtype("dtype", dtype);
  const Dim4 shape{1, 1, call.in_range("rows", rows, 1, INT_MAX), call.in_range("cols", cols, 1, INT_MAX)};
  call.require(row_stride >= cols, "{argument} ({value}) is less than cols ({limit}).", "row_stride", row_stride, cols);
  const Stride4 stride{0, 0, call.in_range("row_stride", row_stride, 1, INT_MAX), 1};
  check_tensor(call, {Space::kSystem, addr, shape, stride, type, false}, is_read != 0);
}

void tpu_set_mem_guard(int id, system_addr_t addr, uint64_t size, mem_guard_attr_t attr) {
  const Call call(Op::tpu_set_mem_guard);
  const bool known = attr >= READABLE_WRITABLE && attr <= NON_READABLE_NON_WRITABLE;
  if (!call.require(known, "{argument} ({value}) is no mem_guard_attr_t (0..3).", "attr", static_cast<int>(attr)))
    return;
  if (!call.not_negative("id", id)) return;
  if (attr == READABLE_WRITABLE) return static_cast<void>(call.core().state().guards.erase(id));
  if (!is_range(call, addr, size)) return;
  call.core().state().guards[id] = {addr, addr + size, attr != NON_WRITABLE, attr != NON_READABLE};
}

// 1 where an element is a NaN, else 0.
int _tpu_mem_check_ddr_nan(global_addr_t buffer_addr, int num_elements, data_type_t dtype) {
  const Call call(Op::_tpu_mem_check_ddr_nan);
  const Dim4 shape{1, 1, 1, call.in_range("num_elements", num_elements, 1, INT_MAX)};
  return has_nan(call, call.system(buffer_addr, shape, nullptr, call.dtype("dtype", dtype)));
}
int _tpu_mem_check_local_nan(local_addr_t buffer_addr, dim4* shape, dim4* stride, data_type_t dtype) {
  const Call call(Op::_tpu_mem_check_local_nan);
  return has_nan(call, call.local(buffer_addr, call.dim("shape", shape), stride, call.dtype("dtype", dtype)));
}
}
