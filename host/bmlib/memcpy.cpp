// Copies between the program's memory and device memory.
#include <fmt/format.h>

#include <cstdarg>
#include <vector>

#include "host/bmlib/descriptor.hpp"
#include "host/bmlib/handle.hpp"

namespace softtpu::host {
namespace {

// The part of a descriptor's memory that is meant.
struct Part {
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;
};

// The chip orders these copies behind no launch. Most programs do not wait, and get their results all the same: they
// wait here, too, and the race check names those that only this made right.
Result<void> wait_for_launches(const char* function, Handle& handle, const Range& range, bool to_device) {
  if (!handle.device().copies_wait()) return {};
  if (auto done = handle.stream().wait_for_all(); !done) return done;
  if (handle.stream().has_unawaited())
    handle.device().note_unordered_copy(function, range.address, range.bytes, to_device);
  return {};
}

template <class Mem>
bm_status_t to_device(const char* function, bm_handle_t handle, const Mem& dst, const void* src, Part part) {
  const std::shared_ptr<Handle> h = find_handle(function, handle);
  if (h == nullptr) return BM_ERR_DEVNOTREADY;
  const Result<Range> range = make_range("dst", dst, part.offset, part.bytes);
  if (!range) return end_copy(function, h->device(), range.error());
  if (range->bytes == 0) return BM_SUCCESS;
  if (src == nullptr) return fail(function, BM_ERR_PARAM, "src is NULL");
  const TracedCall traced(h->trace(), TracedCall::Direction::kToDevice);
  if (auto done = wait_for_launches(function, *h, *range, true); !done) return end_copy(function, h->device(), done);
  return end_copy(function, h->device(), h->device().write(range->address, src, range->bytes));
}

template <class Mem>
bm_status_t to_host(const char* function, bm_handle_t handle, void* dst, const Mem& src, Part part) {
  const std::shared_ptr<Handle> h = find_handle(function, handle);
  if (h == nullptr) return BM_ERR_DEVNOTREADY;
  const Result<Range> range = make_range("src", src, part.offset, part.bytes);
  if (!range) return end_copy(function, h->device(), range.error());
  if (range->bytes == 0) return BM_SUCCESS;
  if (dst == nullptr) return fail(function, BM_ERR_PARAM, "dst is NULL");
  const TracedCall traced(h->trace(), TracedCall::Direction::kToHost);
  if (auto done = wait_for_launches(function, *h, *range, false); !done) return end_copy(function, h->device(), done);
  return end_copy(function, h->device(), h->device().read(range->address, dst, range->bytes));
}

struct Piece {
  void* pointer;
  std::uint64_t bytes;
};

// The pieces of a gather or scatter: `argc` arguments, a pointer and an unsigned long long in turn.
Result<std::vector<Piece>> make_pieces(int argc, va_list args) {
  if (argc < 2 || argc % 2 != 0) {
    return Error{ErrorKind::kUsage,
                 fmt::format("argc {} is not an even number of 2 or more (a pointer and a size for each piece)", argc)};
  }
  std::vector<Piece> pieces;
  for (int i = 0; i < argc; i += 2) {
    Piece piece{};
    piece.pointer = va_arg(args, void*);
    piece.bytes = va_arg(args, unsigned long long);
    if (piece.pointer == nullptr)
      return Error{ErrorKind::kUsage, fmt::format("the pointer of piece {} is NULL", i / 2)};
    pieces.push_back(piece);
  }
  return pieces;
}

Result<void> check_pieces(const char* role, const bm_device_mem_t& mem, const std::vector<Piece>& pieces) {
  std::uint64_t left = mem.size;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].bytes > left) {
      return Error{ErrorKind::kUsage, fmt::format("piece {} of {} bytes runs past the end of {} ({} bytes)", i,
                                                  pieces[i].bytes, role, mem.size)};
    }
    left -= pieces[i].bytes;
  }
  return {};
}

// `move` takes one piece and its place in the device memory. Nothing is moved unless all of them fit.
template <class Move>
bm_status_t move_pieces(const char* function, bm_handle_t handle, const char* role, const bm_device_mem_t& mem,
                        const Result<std::vector<Piece>>& pieces, Move move) {
  const std::shared_ptr<Handle> h = find_handle(function, handle);
  if (h == nullptr) return BM_ERR_DEVNOTREADY;
  if (!pieces) return fail(function, pieces.error());
  if (const auto fit = check_pieces(role, mem, *pieces); !fit) return end_copy(function, h->device(), fit);
  Part part;
  for (const Piece& piece : *pieces) {
    part.bytes = piece.bytes;
    if (const bm_status_t status = move(piece.pointer, part); status != BM_SUCCESS) return status;
    part.offset += piece.bytes;
  }
  return BM_SUCCESS;
}

}  // namespace
}  // namespace softtpu::host

using namespace softtpu;
using namespace softtpu::host;

extern "C" {

bm_status_t bm_memcpy_s2d(bm_handle_t handle, bm_device_mem_t dst, void* src) try {
  return to_device(__func__, handle, dst, src, {dst.size, 0});
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t sg_memcpy_s2d(bm_handle_t handle, sg_device_mem_t dst, void* src) try {
  return to_device(__func__, handle, dst, src, {dst.size, 0});
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_memcpy_s2d_u64(bm_handle_t handle, bm_device_mem_u64_t dst, void* src) try {
  return to_device(__func__, handle, dst, src, {dst.size, 0});
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_memcpy_s2d_partial_offset(bm_handle_t handle, bm_device_mem_t dst, void* src, unsigned int size,
                                         unsigned int offset) try {
  return to_device(__func__, handle, dst, src, {size, offset});
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t sg_memcpy_s2d_partial_offset(bm_handle_t handle, sg_device_mem_t dst, void* src, unsigned long long size,
                                         unsigned long long offset) try {
  return to_device(__func__, handle, dst, src, {size, offset});
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_memcpy_s2d_partial_offset_u64(bm_handle_t handle, bm_device_mem_u64_t dst, void* src,
                                             unsigned long long size, unsigned long long offset) try {
  return to_device(__func__, handle, dst, src, {size, offset});
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_memcpy_s2d_partial(bm_handle_t handle, bm_device_mem_t dst, void* src, unsigned int size) try {
  return to_device(__func__, handle, dst, src, {size, 0});
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t sg_memcpy_s2d_partial(bm_handle_t handle, sg_device_mem_t dst, void* src, unsigned long long size) try {
  return to_device(__func__, handle, dst, src, {size, 0});
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_memcpy_s2d_partial_u64(bm_handle_t handle, bm_device_mem_u64_t dst, void* src,
                                      unsigned long long size) try {
  return to_device(__func__, handle, dst, src, {size, 0});
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_memcpy_d2s(bm_handle_t handle, void* dst, bm_device_mem_t src) try {
  return to_host(__func__, handle, dst, src, {src.size, 0});
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t sg_memcpy_d2s(bm_handle_t handle, void* dst, sg_device_mem_t src) try {
  return to_host(__func__, handle, dst, src, {src.size, 0});
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_memcpy_d2s_u64(bm_handle_t handle, void* dst, bm_device_mem_u64_t src) try {
  return to_host(__func__, handle, dst, src, {src.size, 0});
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_memcpy_d2s_partial_offset(bm_handle_t handle, void* dst, bm_device_mem_t src, unsigned int size,
                                         unsigned int offset) try {
  return to_host(__func__, handle, dst, src, {size, offset});
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t sg_memcpy_d2s_partial_offset(bm_handle_t handle, void* dst, sg_device_mem_t src, unsigned long long size,
                                         unsigned long long offset) try {
  return to_host(__func__, handle, dst, src, {size, offset});
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_memcpy_d2s_partial_offset_u64(bm_handle_t handle, void* dst, bm_device_mem_u64_t src,
                                             unsigned long long size, unsigned long long offset) try {
  return to_host(__func__, handle, dst, src, {size, offset});
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_memcpy_d2s_partial(bm_handle_t handle, void* dst, bm_device_mem_t src, unsigned int size) try {
  return to_host(__func__, handle, dst, src, {size, 0});
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t sg_memcpy_d2s_partial(bm_handle_t handle, void* dst, sg_device_mem_t src, unsigned long long size) try {
  return to_host(__func__, handle, dst, src, {size, 0});
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_memcpy_d2s_partial_u64(bm_handle_t handle, void* dst, bm_device_mem_u64_t src,
                                      unsigned long long size) try {
  return to_host(__func__, handle, dst, src, {size, 0});
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_memcpy_s2d_gather(bm_handle_t handle, bm_device_mem_t dst, int argc, ...) try {
  const char* const function = __func__;
  va_list args;
  va_start(args, argc);
  const Result<std::vector<Piece>> pieces = make_pieces(argc, args);
  va_end(args);
  return move_pieces(function, handle, "dst", dst, pieces,
                     [&](const void* src, Part part) { return to_device(function, handle, dst, src, part); });
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_memcpy_d2s_scatter(bm_handle_t handle, bm_device_mem_t src, int argc, ...) try {
  const char* const function = __func__;
  va_list args;
  va_start(args, argc);
  const Result<std::vector<Piece>> pieces = make_pieces(argc, args);
  va_end(args);
  return move_pieces(function, handle, "src", src, pieces,
                     [&](void* dst, Part part) { return to_host(function, handle, dst, src, part); });
} catch (...) {
  return softtpu::caught(__func__);
}

// Both sides see one memory, or talk through a socket: there is nothing to translate.
void bm_enable_iommu(bm_handle_t handle) try {
  if (find_handle(__func__, handle) != nullptr) log_verbose(__func__, "copies need no IOMMU here; nothing changes");
} catch (...) {
  softtpu::caught(__func__);
}
void bm_disable_iommu(bm_handle_t handle) try {
  if (find_handle(__func__, handle) != nullptr) log_verbose(__func__, "copies need no IOMMU here; nothing changes");
} catch (...) {
  softtpu::caught(__func__);
}

}  // extern "C"
