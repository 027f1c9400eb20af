// Printing of memory from inside a kernel: tensors in local memory to the standard output, layers to files.
#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <memory>

#include "device/command/checks.hpp"
#include "device/isa/op_names.hpp"
#include "device/memory/tensor_view.hpp"
#include "device/numeric/by_type.hpp"
#include "firmware/call.hpp"
#include "tpu_kernel.h"

namespace softtpu {
namespace {

std::string to_text(float value) { return fmt::format("{}", value); }
std::string to_text(F16 value) { return to_text(widen_f16(value.bits)); }
std::string to_text(Bf16 value) { return to_text(widen_bf16(value.bits)); }
template <class T>
std::string to_text(T value) {
  return fmt::format("{}", static_cast<std::int64_t>(value));
}

// One element as a decimal number.
std::string element_text(const std::uint8_t* bytes, Dtype type) {
  std::string text;
  for_any_type(type, [&]<class T>(T value) {
    std::memcpy(&value, bytes, sizeof(T));
    text = to_text(value);
  });
  return text;
}

// Rows of w, each with the position of its first element.
void print_tensor(const Memories& memories, const Tensor& tensor) {
  const TensorView view(memories, tensor);
  const auto size = static_cast<std::size_t>(size_of(tensor.dtype));
  for (int n = 0; n < tensor.shape.n; ++n) {
    for (int c = 0; c < tensor.shape.c; ++c) {
      for (int h = 0; h < tensor.shape.h; ++h) {
        std::printf("[%d, %d, %d]", n, c, h);
        for (int w = 0; w < tensor.shape.w; ++w) {
          std::printf(" %s", element_text(view.byte_at(n, c, h, w, size), tensor.dtype).c_str());
        }
        std::printf("\n");
      }
    }
  }
}

// Number of elements of an n-dimensional shape, 0 when it is none or larger than any memory.
std::uint64_t elements_of(const int* shape, int dims, std::uint64_t most) {
  std::uint64_t count = dims > 0 ? 1 : 0;
  for (int i = 0; i < dims && count != 0; ++i) {
    const std::uint64_t extent = shape[i] > 0 ? static_cast<std::uint64_t>(shape[i]) : 0;
    count = extent != 0 && count <= most / extent ? count * extent : 0;
  }
  return count;
}

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

void tpu_print_local_mem_data(local_addr_t local_offset, int start_idx, const dim4* shape, const dim4* stride,
                              data_type_t dtype) {
  const Call call(Op::tpu_print_local_mem_data);
  const Chip& chip = call.chip();
  if (start_idx < 0 || start_idx >= chip.npu_num || local_offset >= chip.local_bytes)
    return call.fault({"NPU {argument} or offset {value} is outside local memory ({limit}).", std::to_string(start_idx),
                       text_of(Address{local_offset}),
                       fmt::format("{} NPUs of {} bytes", chip.npu_num, chip.local_bytes)});
  const local_addr_t addr = static_cast<local_addr_t>(start_idx) * chip.local_bytes + local_offset;
  const Tensor tensor = call.local(addr, call.dim("shape", shape), stride, call.dtype("dtype", dtype));
  Checks check(call.core().memories(), call.op());
  check.shape("shape", tensor.shape).tensor("data", tensor, NaturalAlignment::kElement);
  if (check.violation()) return call.core().fault(ErrorKind::kUsage, *check.violation());
  if (!call.core().faulted()) print_tensor(call.core().memories(), tensor);
}

void tpu_print_global_mem_data(global_addr_t addr, const dim4* shape, const dim4* stride, data_type_t dtype) {
  const Call call(Op::tpu_print_global_mem_data);
  const Tensor tensor = call.system(addr, call.dim("shape", shape), stride, call.dtype("dtype", dtype));
  Checks check(call.core().memories(), call.op());
  check.shape("shape", tensor.shape).tensor("data", tensor, NaturalAlignment::kElement);
  if (check.violation()) return call.core().fault(ErrorKind::kUsage, *check.violation());
  if (!call.core().faulted()) print_tensor(call.core().memories(), tensor);
}

// One element a line, in the memory's order.
void tpu_dump_global_layer_data(const char* filename, global_addr_t addr, const int* shape, int dims,
                                data_type_t dtype) {
  const Call call(Op::tpu_dump_global_layer_data);
  const Dtype type = call.dtype("dtype", dtype);
  const auto size = static_cast<std::uint64_t>(size_of(type));
  if (!call.given("filename or shape", filename) || !call.given("filename or shape", shape)) return;
  const std::uint64_t count = elements_of(shape, dims, call.chip().global_mem.bytes);
  if (!call.require(count != 0 && size != 0, "the shape has no elements, too many, or a type without bytes.")) return;
  const std::uint8_t* bytes = call.core().memories().find_system(addr, count * size).data;
  if (!call.require(bytes != nullptr && addr % size == 0, "{value} elements at {limit} do not lie inside one memory.",
                    {}, count, Address{addr}))
    return;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(filename, "w"), std::fclose);
  if (!call.require(file != nullptr, "file \"{value}\" cannot be written.", {}, filename)) return;
  for (std::uint64_t i = 0; i < count; ++i)
    std::fprintf(file.get(), "%s\n", element_text(bytes + i * size, type).c_str());
}
}
