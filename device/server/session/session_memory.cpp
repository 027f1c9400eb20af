// What a client does with device memory: allocations, copies, fills. What may take long is done in pieces.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "device/server/session/session.hpp"
#include "runtime/base/memory_ops.hpp"

namespace softtpu {
namespace {

constexpr std::uint64_t kMaxReadBytes = 16ULL << 20;
constexpr std::uint64_t kReadPiece = 16 << 10;

}  // namespace

Result<void> Session::check_range(const char* what, std::uint64_t address, std::uint64_t bytes) const {
  return check_allocated(allocations_, what, address, bytes);
}

void Session::on_allocate(std::uint64_t request, msg::Allocate& allocate, Frame&) {
  const std::uint64_t pages = Allocator::whole_pages(allocate.bytes);
  if (auto taken = share_->take_memory(device_, pages); !taken) return fail(request, taken.error());
  auto address = device_->allocate(allocate.bytes);
  if (!address) {
    share_->give_memory(device_, pages);
    return fail(request, address.error());
  }
  allocations_.emplace(*address, allocate.bytes);
  allocated_ += allocate.bytes;
  work_in_pieces(device_->freshen(*address, allocate.bytes), [this, request, address = *address, allocate] {
    if (watch() != nullptr) watch()->allocated(client_number_, address, allocate.bytes);
    reply(request, msg::AllocateReply{address});
  });
}

void Session::on_release(std::uint64_t request, msg::Release& release, Frame&) {
  const auto found = allocations_.find(release.address);
  if (found == allocations_.end()) {
    return fail(request,
                {ErrorKind::kUsage, fmt::format("address 0x{:x} is not allocated by this program.", release.address)});
  }
  if (watch() != nullptr) watch()->freed(found->first, found->second, std::exchange(freed_at_, {}));
  work_in_pieces(device_->clear(found->first, found->second), [this, request, address = found->first] {
    forget_allocation(address);
    reply(request, msg::Done{});
  });
}

void Session::forget_allocation(std::uint64_t address) {
  const auto found = allocations_.find(address);
  share_->give_memory(device_, Allocator::whole_pages(found->second));
  allocated_ -= found->second;
  allocations_.erase(found);
  device_->release(address);
}

void Session::on_write(std::uint64_t request, msg::Write& write, Frame&) {
  if (auto inside = check_range("the destination", write.address, write.data.size()); !inside)
    return fail(request, inside.error());
  std::copy(write.data.begin(), write.data.end(), device_->global(write.address));
  if (watch() != nullptr) watch()->wrote(write.address, write.data.size());
  reply(request, msg::Done{});
}

// The same, where the data comes in pieces.
Result<std::optional<std::size_t>> Session::begin_write(const FrameHeader& header,
                                                        std::span<const std::uint8_t> payload) {
  auto write = find_incoming_write(payload, header.payload_bytes);
  if (!write) return write.error();
  if (!*write) return std::optional<std::size_t>();
  const std::uint64_t address = (*write)->address;
  const std::size_t at = (*write)->at, bytes = (*write)->bytes;
  if (auto inside = check_range("the destination", address, bytes); !inside) {
    incoming_ = {bytes, [](auto) {},
                 [this, request = header.request, error = inside.error()] { fail(request, error); }};
    return std::optional(at);
  }
  incoming_ = {bytes,
               [to = device_->global(address)](std::span<const std::uint8_t> piece) mutable {
                 to = std::copy(piece.begin(), piece.end(), to);
               },
               [this, request = header.request, address, bytes] {
                 if (watch() != nullptr) watch()->wrote(address, bytes);
                 reply(request, msg::Done{});
               }};
  return std::optional(at);
}

void Session::on_read(std::uint64_t request, msg::Read& read, Frame&) {
  if (auto inside = check_range("the source", read.address, read.bytes); !inside) return fail(request, inside.error());
  if (read.bytes > kMaxReadBytes) {
    return fail(request, {ErrorKind::kUsage,
                          fmt::format("a read of {} bytes is over the limit of {}.", read.bytes, kMaxReadBytes)});
  }
  if (request == 0) return;  // no answer is due
  const std::uint8_t* from = device_->global(read.address);
  if (read.bytes <= kReadPiece) return reply(request, msg::ReadReply{Bytes(from, from + read.bytes)});
  out_.begin_bytes(request, MessageType::kReadReply, static_cast<std::uint32_t>(read.bytes));
  work_in_pieces(in_pieces(read.bytes, kReadPiece,
                           [this, from](std::uint64_t done, std::uint64_t bytes) {
                             out_.add_bytes({from + done, static_cast<std::size_t>(bytes)});
                           }),
                 [] {});
}

void Session::on_fill(std::uint64_t request, msg::Fill& fill, Frame&) {
  auto inside = check_range("the destination", fill.address, fill.bytes);
  if (inside) inside = check_fill(fill.bytes, fill.pattern.size());
  if (!inside) return fail(request, inside.error());
  work_in_pieces(fill_in_pieces(device_->global(fill.address), fill.bytes, fill.pattern),
                 [this, request, address = fill.address, bytes = fill.bytes] {
                   if (watch() != nullptr) watch()->wrote(address, bytes);
                   reply(request, msg::Done{});
                 });
}

void Session::on_copy(std::uint64_t request, msg::Copy& copy, Frame&) {
  auto extent = copy_extent(copy.count, copy.element_bytes, copy.destination_stride, copy.source_stride);
  if (!extent) return fail(request, extent.error());
  auto inside = check_range("the source", copy.source, extent->source_bytes);
  if (inside) inside = check_range("the destination", copy.destination, extent->destination_bytes);
  if (!inside) return fail(request, inside.error());
  work_in_pieces(copy_in_pieces({device_->global(copy.destination), device_->global(copy.source), copy.count,
                                 copy.element_bytes, copy.destination_stride, copy.source_stride}),
                 [this, request, address = copy.destination, bytes = extent->destination_bytes] {
                   if (watch() != nullptr) watch()->wrote(address, bytes);
                   reply(request, msg::Done{});
                 });
}

// Ranges are checked: another program's bytes are none of this one's.
void Session::on_note(std::uint64_t request, msg::HostNote& note, Frame&) {
  const bool own = note.bytes == 0 || check_range("the note", note.address, note.bytes);
  if (watch() != nullptr && own) {
    switch (note.event) {
      case HostEvent::kAllocated:
        if (!allocations_.contains(note.address)) break;
        note.text.empty() ? watch()->located(note.address, note.stack) : watch()->typed(note.address, note.text);
        break;
      case HostEvent::kFreeing: freed_at_ = std::move(note.stack); break;
      case HostEvent::kWrote: watch()->wrote(note.address, note.bytes); break;
      case HostEvent::kRead: watch()->read(note.address, note.bytes, note.stack); break;
      case HostEvent::kRefusedCopy: watch()->refused_copy(note.text, note.stack); break;
      case HostEvent::kClosed: watch()->closed(client_number_, note.stack); break;
      case HostEvent::kSynced: watch()->synced(client_number_); break;
      case HostEvent::kUnorderedWrite:
      case HostEvent::kUnorderedRead:
        watch()->unordered_copy(client_number_,
                                {note.address, note.bytes, note.event == HostEvent::kUnorderedWrite, note.text},
                                note.stack);
        break;
    }
  }
  if (note.wait) reply(request, msg::Done{});
}

}  // namespace softtpu
