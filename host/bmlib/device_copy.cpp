// Copies inside and between devices, and filling.
#include <fmt/format.h>

#include <span>

#include "host/bmlib/descriptor.hpp"
#include "host/bmlib/handle.hpp"
#include "host/bmlib/launch.hpp"
#include "host/bmlib/network_launch.hpp"

namespace softtpu::host {
namespace {

constexpr std::uint64_t kWord = 4;

// The SDK's library has the chip itself do these operations: they stand in its queue behind what the handle has
// launched.
template <class Operation>
Result<void> in_queue(Handle& handle, Operation operation) {
  if (auto behind = handle.stream().wait_in_queue(); !behind) return behind;
  return operation();
}

template <class Mem>
bm_status_t copy(const char* function, bm_handle_t handle, const Mem& dst, std::uint64_t dst_offset, const Mem& src,
                 std::uint64_t src_offset, std::uint64_t bytes, int core_id = 0) {
  const std::shared_ptr<Handle> h = find_handle(function, handle);
  if (h == nullptr) return BM_ERR_DEVNOTREADY;
  if (const bm_status_t status = check_core(function, *h, core_id); status != BM_SUCCESS) return status;
  const Result<Range> to = make_range("dst", dst, dst_offset, bytes);
  if (!to) return end_copy(function, h->device(), to.error());
  const Result<Range> from = make_range("src", src, src_offset, bytes);
  if (!from) return end_copy(function, h->device(), from.error());
  if (bytes == 0) return BM_SUCCESS;
  const TracedCall traced(h->trace(), TracedCall::Direction::kInDevice);
  return end_copy(function, h->device(),
                  in_queue(*h, [&] { return h->device().copy(to->address, from->address, bytes); }));
}

bm_status_t copy_words(const char* function, bm_handle_t handle, const bm_device_mem_t& dst, int dst_offset,
                       const bm_device_mem_t& src, int src_offset, int words, int core_id = 0) {
  if (dst_offset < 0 || src_offset < 0 || words < 0) {
    return fail(function, BM_ERR_PARAM,
                fmt::format("dst_offset {}, src_offset {} or len {} is negative", dst_offset, src_offset, words));
  }
  const auto bytes = [](int count) { return static_cast<std::uint64_t>(count) * kWord; };
  return copy(function, handle, dst, bytes(dst_offset), src, bytes(src_offset), bytes(words), core_id);
}

// Bytes from the first element to the end of the last one; the factors are limited, so that nothing overflows.
std::uint64_t extent(std::uint64_t count, std::uint64_t stride, std::uint64_t element_bytes) {
  return count == 0 ? 0 : ((count - 1) * stride + 1) * element_bytes;
}

template <class Mem>
bm_status_t copy_strided(const char* function, bm_handle_t handle, const Mem& dst, long long dst_stride, const Mem& src,
                         long long src_stride, long long count, int element_bytes, int core_id = 0) {
  constexpr long long kLimit = 1LL << 30;
  const std::shared_ptr<Handle> h = find_handle(function, handle);
  if (h == nullptr) return BM_ERR_DEVNOTREADY;
  if (const bm_status_t status = check_core(function, *h, core_id); status != BM_SUCCESS) return status;
  if (element_bytes != 1 && element_bytes != 2 && element_bytes != 4) {
    return fail(function, BM_ERR_PARAM, fmt::format("format_size {} is not 1, 2 or 4", element_bytes));
  }
  const bool spreads_bytes = dst_stride == 4 && src_stride == 1 && element_bytes == 1;
  if (!spreads_bytes && (dst_stride != 1 || src_stride < 1 || src_stride > kLimit)) {
    return fail(
        function, BM_ERR_PARAM,
        fmt::format(
            "dst_stride {} and src_stride {} with format_size {}: dst_stride is 1 and src_stride 1..{}, or dst_stride "
            "4, src_stride 1 and format_size 1",
            dst_stride, src_stride, element_bytes, kLimit));
  }
  if (count < 0 || count > kLimit)
    return fail(function, BM_ERR_PARAM, fmt::format("count {} is outside 0..{}", count, kLimit));

  const auto size = static_cast<std::uint64_t>(element_bytes), elements = static_cast<std::uint64_t>(count);
  const Result<Range> to = make_range("dst", dst, 0, extent(elements, static_cast<std::uint64_t>(dst_stride), size));
  if (!to) return end_copy(function, h->device(), to.error());
  const Result<Range> from = make_range("src", src, 0, extent(elements, static_cast<std::uint64_t>(src_stride), size));
  if (!from) return end_copy(function, h->device(), from.error());
  if (count == 0) return BM_SUCCESS;
  const DeviceClient::StridedCopy what{.destination = to->address,
                                       .source = from->address,
                                       .count = elements,
                                       .element_bytes = static_cast<std::uint32_t>(size),
                                       .destination_stride = static_cast<std::uint32_t>(dst_stride),
                                       .source_stride = static_cast<std::uint32_t>(src_stride)};
  return end_copy(function, h->device(), in_queue(*h, [&] { return h->device().copy_strided(what); }));
}

template <class Mem>
bm_status_t fill(const char* function, bm_handle_t handle, const void* value, int mode, const Mem& mem) {
  const std::shared_ptr<Handle> h = find_handle(function, handle);
  if (h == nullptr) return BM_ERR_DEVNOTREADY;
  if (value == nullptr) return fail(function, BM_ERR_PARAM, "value is NULL");
  if (mode < 1 || mode > 4)
    return fail(function, BM_ERR_PARAM, fmt::format("mode {} is outside 1..4 (bytes of the pattern)", mode));
  const Result<Range> range = make_range("mem", mem);
  if (!range) return end_copy(function, h->device(), range.error());
  const auto bytes = static_cast<std::uint64_t>(mode);
  if (range->bytes % bytes != 0) {
    return fail(function, BM_ERR_PARAM,
                fmt::format("the size of mem ({}) is not a multiple of {} bytes", range->bytes, mode));
  }
  if (range->bytes == 0) return BM_SUCCESS;
  const std::span pattern(static_cast<const std::uint8_t*>(value), bytes);
  return end_copy(function, h->device(),
                  in_queue(*h, [&] { return h->device().fill(range->address, range->bytes, pattern); }));
}

// The descriptor of the source says how much.
bm_status_t copy_between(const char* function, bm_handle_t handle_src, const bm_device_mem_t& src,
                         bm_handle_t handle_dst, const bm_device_mem_t& dst) {
  const std::shared_ptr<Handle> from_handle = find_handle(function, handle_src),
                                to_handle = find_handle(function, handle_dst);
  if (from_handle == nullptr || to_handle == nullptr) return BM_ERR_DEVNOTREADY;
  const Result<Range> from = make_range("src", src);
  if (!from) return end_copy(function, from_handle->device(), from.error());
  const Result<Range> to = make_range("dst", dst, 0, from->bytes);
  if (!to) return end_copy(function, to_handle->device(), to.error());
  if (from->bytes == 0) return BM_SUCCESS;
  const auto move = [&] {
    return from_handle->device().copy_to(to_handle->device(), to->address, from->address, from->bytes);
  };
  return end_copy(function, from_handle->device(), in_queue(*from_handle, [&] { return in_queue(*to_handle, move); }));
}

long long clamp(unsigned long long value) {
  constexpr unsigned long long kMost = 1ULL << 62;
  return static_cast<long long>(value < kMost ? value : kMost);
}

}  // namespace

bm_status_t wait_in_queue(const char* function, bm_handle_t handle) {
  const std::shared_ptr<Handle> h = find_handle(function, handle);
  if (h == nullptr) return BM_ERR_DEVNOTREADY;
  return end_copy(function, h->device(), in_queue(*h, [] { return Result<void>(); }));
}

}  // namespace softtpu::host

using namespace softtpu::host;

extern "C" {

bm_status_t bm_memcpy_d2d(bm_handle_t handle, bm_device_mem_t dst, int dst_offset, bm_device_mem_t src, int src_offset,
                          int len) try {
  return copy_words(__func__, handle, dst, dst_offset, src, src_offset, len);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_memcpy_d2d_with_core(bm_handle_t handle, bm_device_mem_t dst, int dst_offset, bm_device_mem_t src,
                                    int src_offset, int len, int core_id) try {
  return copy_words(__func__, handle, dst, dst_offset, src, src_offset, len, core_id);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_memcpy_d2d_byte(bm_handle_t handle, bm_device_mem_t dst, size_t dst_offset, bm_device_mem_t src,
                               size_t src_offset, size_t size) try {
  return copy(__func__, handle, dst, dst_offset, src, src_offset, size);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_memcpy_d2d_byte_with_core(bm_handle_t handle, bm_device_mem_t dst, size_t dst_offset,
                                         bm_device_mem_t src, size_t src_offset, size_t size, int core_id) try {
  return copy(__func__, handle, dst, dst_offset, src, src_offset, size, core_id);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_memcpy_d2d_stride(bm_handle_t handle, bm_device_mem_t dst, int dst_stride, bm_device_mem_t src,
                                 int src_stride, int count, int format_size) try {
  return copy_strided(__func__, handle, dst, dst_stride, src, src_stride, count, format_size);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_memcpy_d2d_stride_with_core(bm_handle_t handle, bm_device_mem_t dst, int dst_stride, bm_device_mem_t src,
                                           int src_stride, int count, int format_size, int core_id) try {
  return copy_strided(__func__, handle, dst, dst_stride, src, src_stride, count, format_size, core_id);
} catch (...) {
  return softtpu::caught(__func__);
}

// Offsets and lengths of the 64-bit form are 4-byte words as well.
bm_status_t bm_memcpy_d2d_u64(bm_handle_t handle, bm_device_mem_u64_t dst, unsigned long long dst_offset,
                              bm_device_mem_u64_t src, unsigned long long src_offset, unsigned long long len) try {
  std::uint64_t to = 0, from = 0, bytes = 0;
  if (__builtin_mul_overflow(dst_offset, kWord, &to) || __builtin_mul_overflow(src_offset, kWord, &from) ||
      __builtin_mul_overflow(len, kWord, &bytes)) {
    return fail(
        __func__, BM_ERR_PARAM,
        fmt::format("dst_offset {}, src_offset {} or len {} (4-byte words) is too large", dst_offset, src_offset, len));
  }
  return copy(__func__, handle, dst, to, src, from, bytes);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_memcpy_d2d_byte_u64(bm_handle_t handle, bm_device_mem_u64_t dst, unsigned long long dst_offset,
                                   bm_device_mem_u64_t src, unsigned long long src_offset,
                                   unsigned long long size) try {
  return copy(__func__, handle, dst, dst_offset, src, src_offset, size);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_memcpy_d2d_stride_u64(bm_handle_t handle, bm_device_mem_u64_t dst, unsigned long long dst_stride,
                                     bm_device_mem_u64_t src, unsigned long long src_stride, unsigned long long count,
                                     int format_size) try {
  return copy_strided(__func__, handle, dst, clamp(dst_stride), src, clamp(src_stride), clamp(count), format_size);
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_memcpy_p2p(bm_handle_t handle_src, bm_device_mem_t src, bm_handle_t handle_dst,
                          bm_device_mem_t dst) try {
  return copy_between(__func__, handle_src, src, handle_dst, dst);
} catch (...) {
  return softtpu::caught(__func__);
}
// Which device's copy engine works makes no difference here.
bm_status_t bm_memcpy_c2c(bm_handle_t src_handle, bm_handle_t dst_handle, bm_device_mem_t src, bm_device_mem_t dst,
                          bool /*force_dst_cdma*/) try {
  return copy_between(__func__, src_handle, src, dst_handle, dst);
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_memset_device(bm_handle_t handle, const int value, bm_device_mem_t mem) try {
  return fill(__func__, handle, &value, static_cast<int>(sizeof value), mem);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_memset_device_ext(bm_handle_t handle, void* value, int mode, bm_device_mem_t mem) try {
  return fill(__func__, handle, value, mode, mem);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_memset_device_ext_u64(bm_handle_t handle, void* value, int mode, bm_device_mem_u64_t mem) try {
  return fill(__func__, handle, value, mode, mem);
} catch (...) {
  return softtpu::caught(__func__);
}

}  // extern "C"
