#include "device/server/session/incoming.hpp"

namespace softtpu {
namespace {

constexpr std::size_t kLongestName = 64 << 10;

Error damaged() { return Error{ErrorKind::kConnection, "a long message is damaged"}; }

// A 32-bit count at this place.
std::optional<std::uint32_t> find_count(std::span<const std::uint8_t> payload, std::size_t at) {
  if (payload.size() < at + sizeof(std::uint32_t)) return std::nullopt;
  std::uint32_t count = 0;
  Decoder(payload.subspan(at, sizeof(count)))(count);
  return count;
}

}  // namespace

Result<std::optional<IncomingWrite>> find_incoming_write(std::span<const std::uint8_t> payload, std::size_t whole) {
  IncomingWrite write;
  const auto bytes = find_count(payload, sizeof(write.address));
  if (!bytes) return std::optional<IncomingWrite>();
  Decoder(payload.first(sizeof(write.address)))(write.address);
  write.at = sizeof(write.address) + sizeof(*bytes);
  write.bytes = *bytes;
  if (write.at + write.bytes != whole) return damaged();
  return std::optional(write);
}

Result<std::optional<IncomingModule>> find_incoming_module(std::span<const std::uint8_t> payload, std::size_t whole) {
  const auto characters = find_count(payload, 0);
  if (!characters) return std::optional<IncomingModule>();
  if (*characters > kLongestName) return damaged();
  const std::size_t behind_name = sizeof(*characters) + *characters;
  const auto bytes = find_count(payload, behind_name);
  if (!bytes) return std::optional<IncomingModule>();
  IncomingModule module;
  module.name.assign(reinterpret_cast<const char*>(payload.data()) + sizeof(*characters), *characters);
  module.at = behind_name + sizeof(*bytes);
  module.bytes = *bytes;
  if (module.at + module.bytes != whole) return damaged();
  return std::optional(std::move(module));
}

}  // namespace softtpu
