// DeviceClient: allocations, copies and mappings.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <vector>

#include "host/client/device_client.hpp"
#include "host/client/device_client_state.hpp"
#include "runtime/base/memory_ops.hpp"
#include "runtime/base/read_at.hpp"
#include "runtime/protocol/messages.hpp"

namespace softtpu {
namespace {

// The size of one message of a streamed copy.
constexpr std::uint64_t kStreamBytes = 4ULL << 20;
// A fill or copy inside the device is cut into pieces, so that a server that serves several programs never stops for
// long.
constexpr std::uint64_t kServerStepBytes = 16ULL << 20;

}  // namespace

Result<std::uint64_t> DeviceClient::allocate(std::uint64_t bytes) {
  release_owed();
  // Made before the call: what the device has allocated must not be forgotten for want of memory here.
  Allocations made;
  made.emplace(0, bytes);
  auto reply = state_->call<msg::AllocateReply>(msg::Allocate{bytes});
  if (!reply) return reply.error();
  {
    const std::unique_lock lock(state_->mutex);
    auto row = made.extract(made.begin());
    row.key() = reply->address;
    state_->allocations.insert(std::move(row));
    state_->owed.erase(reply->address);
    state_->allocated += bytes;
    state_->peak = std::max(state_->peak, state_->allocated);
  }
  if (state_->watched) note(HostEvent::kAllocated, reply->address, bytes, false);
  return reply->address;
}

Result<void> DeviceClient::release(std::uint64_t address) {
  if (auto own = state_->check_process(); !own) return own;
  release_owed();
  Allocations::node_type row;
  {
    const std::unique_lock lock(state_->mutex);
    const auto found = state_->allocations.find(address);
    if (found == state_->allocations.end()) {
      return Error{ErrorKind::kUsage, fmt::format("address 0x{:x} is not allocated by this program.", address)};
    }
    state_->allocated -= found->second;
    row = state_->allocations.extract(found);
  }
  return release_row(std::move(row));
}

// What the program has given back is on no other list; without memory for the message it is kept for the next call.
Result<void> DeviceClient::release_row(Allocations::node_type row) {
  try {
    if (state_->watched) note(HostEvent::kFreeing, row.key(), 0, false);
    return to_void(state_->call<msg::Done>(msg::Release{row.key()}));
  } catch (const std::bad_alloc&) {
    const std::unique_lock lock(state_->mutex);
    state_->owed.insert(std::move(row));
    throw;
  }
}

void DeviceClient::release_owed() {
  for (;;) {
    Allocations::node_type row;
    {
      const std::unique_lock lock(state_->mutex);
      if (state_->owed.empty()) return;
      row = state_->owed.extract(state_->owed.begin());
    }
    static_cast<void>(release_row(std::move(row)));
  }
}

std::uint64_t DeviceClient::peak_bytes() const {
  const std::shared_lock lock(state_->mutex);
  return state_->peak;
}

void DeviceClient::reset_peak() {
  const std::unique_lock lock(state_->mutex);
  state_->peak = state_->allocated;
}

Result<std::uint64_t> DeviceClient::allocation_bytes(std::uint64_t address) const {
  const std::shared_lock lock(state_->mutex);
  const auto found = state_->allocations.find(address);
  if (found == state_->allocations.end()) {
    return Error{ErrorKind::kUsage, fmt::format("address 0x{:x} is not allocated by this program.", address)};
  }
  return found->second;
}

Result<void> DeviceClient::check_range(const char* what, std::uint64_t address, std::uint64_t bytes) const {
  return state_->check_range(what, address, bytes);
}

Result<void> DeviceClient::write(std::uint64_t destination, const void* source, std::uint64_t bytes) {
  if (auto inside = state_->check_range("the destination", destination, bytes); !inside) return inside;
  const auto* from = static_cast<const std::uint8_t*>(source);
  if (state_->memory != nullptr) {
    std::memmove(state_->at(destination), from, bytes);  // the program may have mapped what it copies from
    note_written(destination, bytes);
    return {};
  }
  for (std::uint64_t done = 0; done < bytes; done += kStreamBytes) {
    const std::uint64_t step = std::min(kStreamBytes, bytes - done);
    auto written = state_->call<msg::Done>(msg::Write{destination + done, Bytes(from + done, from + done + step)});
    if (!written) return written.error();
  }
  return {};
}

Result<void> DeviceClient::write_from_file(std::uint64_t destination, int fd, std::uint64_t offset,
                                           std::uint64_t bytes) {
  if (auto inside = state_->check_range("the destination", destination, bytes); !inside) return inside;
  if (state_->memory != nullptr) {
    auto read = read_at(fd, offset, {state_->at(destination), static_cast<std::size_t>(bytes)});
    if (read) note_written(destination, bytes);
    return read;
  }
  for (std::uint64_t done = 0; done < bytes; done += kStreamBytes) {
    Bytes piece(std::min(kStreamBytes, bytes - done));
    if (auto read = read_at(fd, offset + done, piece); !read) return read;
    auto written = state_->call<msg::Done>(msg::Write{destination + done, std::move(piece)});
    if (!written) return written.error();
  }
  return {};
}

Result<void> DeviceClient::read(std::uint64_t source, void* destination, std::uint64_t bytes) {
  if (auto inside = state_->check_range("the source", source, bytes); !inside) return inside;
  if (state_->watched) note(HostEvent::kRead, source, bytes, true);
  auto* to = static_cast<std::uint8_t*>(destination);
  if (state_->memory != nullptr) {
    std::memmove(to, state_->at(source), bytes);  // as in write()
    return {};
  }
  for (std::uint64_t done = 0; done < bytes; done += kStreamBytes) {
    const std::uint64_t step = std::min(kStreamBytes, bytes - done);
    auto reply = state_->call<msg::ReadReply>(msg::Read{source + done, step});
    if (!reply) return reply.error();
    if (reply->data.size() != step)
      return Error{ErrorKind::kConnection, "the device answered a read with another size"};
    std::memcpy(to + done, reply->data.data(), step);
  }
  return {};
}

Result<void> DeviceClient::fill(std::uint64_t destination, std::uint64_t bytes, std::span<const std::uint8_t> pattern) {
  auto good = check_fill(bytes, pattern.size());
  if (good) good = state_->check_range("the destination", destination, bytes);
  if (!good) return good;
  if (state_->memory != nullptr) {
    fill_bytes(state_->at(destination), bytes, pattern);
    note_written(destination, bytes);
    return {};
  }
  const std::uint64_t step = kServerStepBytes / pattern.size() * pattern.size();
  for (std::uint64_t done = 0; done < bytes; done += step) {
    auto filled = state_->call<msg::Done>(
        msg::Fill{destination + done, std::min(step, bytes - done), Bytes(pattern.begin(), pattern.end())});
    if (!filled) return filled.error();
  }
  return {};
}

Result<void> DeviceClient::copy(std::uint64_t destination, std::uint64_t source, std::uint64_t bytes) {
  auto inside = state_->check_range("the source", source, bytes);
  if (inside) inside = state_->check_range("the destination", destination, bytes);
  if (!inside) return inside;
  if (state_->memory != nullptr) {
    std::memmove(state_->at(destination), state_->at(source), bytes);
    note_written(destination, bytes);
    return {};
  }
  // Pieces go from the end when the destination lies behind the source, as in memmove.
  const bool backwards = destination > source;
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t step = std::min(kServerStepBytes, bytes - done);
    const std::uint64_t at = backwards ? bytes - done - step : done;
    auto copied = state_->call<msg::Done>(msg::Copy{destination + at, source + at, step, 1, 1, 1});
    if (!copied) return copied.error();
    done += step;
  }
  return {};
}

Result<void> DeviceClient::copy_strided(const StridedCopy& what) {
  auto extent = copy_extent(what.count, what.element_bytes, what.destination_stride, what.source_stride);
  if (!extent) return extent.error();
  auto inside = state_->check_range("the source", what.source, extent->source_bytes);
  if (inside) inside = state_->check_range("the destination", what.destination, extent->destination_bytes);
  if (!inside) return inside;
  if (state_->memory != nullptr) {
    copy_elements(state_->at(what.destination), state_->at(what.source), what.count, what.element_bytes,
                  what.destination_stride, what.source_stride);
    note_written(what.destination, extent->destination_bytes);
    return {};
  }
  return to_void(state_->call<msg::Done>(msg::Copy{what.destination, what.source, what.count, what.element_bytes,
                                                   what.destination_stride, what.source_stride}));
}

Result<void> DeviceClient::copy_to(DeviceClient& other, std::uint64_t destination, std::uint64_t source,
                                   std::uint64_t bytes) {
  if (&other == this) return copy(destination, source, bytes);
  auto inside = state_->check_range("the source", source, bytes);
  if (inside) inside = other.state_->check_range("the destination", destination, bytes);
  if (!inside) return inside;
  if (state_->memory != nullptr) return other.write(destination, state_->at(source), bytes);
  std::vector<std::uint8_t> piece(std::min(kStreamBytes, bytes));
  for (std::uint64_t done = 0; done < bytes; done += kStreamBytes) {
    const std::uint64_t step = std::min(kStreamBytes, bytes - done);
    if (auto moved = read(source + done, piece.data(), step); !moved) return moved;
    if (auto moved = other.write(destination + done, piece.data(), step); !moved) return moved;
  }
  return {};
}

Result<void*> DeviceClient::map(std::uint64_t address, std::uint64_t bytes) {
  if (auto inside = state_->check_range("the memory to map", address, bytes); !inside) return inside.error();
  if (state_->memory == nullptr) {
    return Error{ErrorKind::kUnsupported,
                 "device memory cannot be mapped: this device is reached through a socket only."};
  }
  // From now on the program can write without a call.
  note_written(address, bytes);
  return static_cast<void*>(state_->at(address));
}

Result<void*> DeviceClient::map_alone(std::uint64_t address, std::uint64_t bytes, std::uint64_t& into_page) {
  if (auto inside = state_->check_range("the memory to map", address, bytes); !inside) return inside.error();
  if (state_->memory == nullptr) {
    return Error{ErrorKind::kUnsupported,
                 "device memory cannot be mapped: this device is reached through a socket only."};
  }
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  into_page = (address - state_->info.global_start) % page;
  // An old size of 0 makes a second mapping of shared pages.
  void* const at = ::mremap(state_->at(address) - into_page, 0, into_page + bytes, MREMAP_MAYMOVE);
  if (at == MAP_FAILED) return Error{ErrorKind::kResource, fmt::format("mapping memory: {}", std::strerror(errno))};
  return at;
}

Result<void> DeviceClient::note_mapped(std::uint64_t address, std::uint64_t bytes) {
  if (auto inside = state_->check_range("the mapped memory", address, bytes); !inside) return inside;
  note_written(address, bytes);
  return {};
}

Result<std::uint64_t> DeviceClient::find_address(const void* pointer) const {
  const auto* at = static_cast<const std::uint8_t*>(pointer);
  if (state_->memory == nullptr || at < state_->memory || at >= state_->memory + state_->info.global_bytes) {
    return Error{ErrorKind::kUsage, "the pointer is not one of mapped device memory."};
  }
  return state_->info.global_start + static_cast<std::uint64_t>(at - state_->memory);
}

}  // namespace softtpu
