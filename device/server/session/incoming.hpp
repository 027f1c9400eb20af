// A long message of a client that is taken from the socket piece by piece, so that it never lies in the server's memory
// as a whole: bytes for device memory, and a module's image.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "runtime/protocol/frame.hpp"

namespace softtpu {

// From this length on, Write and LoadModule are received in pieces; no other message may be as long.
inline constexpr std::size_t kLongMessageBytes = 128 << 10;

struct Incoming {
  std::uint64_t left = 0;                                   // bytes that are still to come
  std::function<void(std::span<const std::uint8_t>)> take;  // gets each piece
  std::function<void()> end;                                // when all of them are there
};

// The fields before the long byte string of such a message, when they are here. `at` is where the byte string begins.
struct IncomingWrite {
  std::uint64_t address = 0;
  std::size_t at = 0, bytes = 0;
};
struct IncomingModule {
  std::string name;
  std::size_t at = 0, bytes = 0;
};
// nullopt: more bytes are needed. An error: the message is damaged.
Result<std::optional<IncomingWrite>> find_incoming_write(std::span<const std::uint8_t> payload, std::size_t whole);
Result<std::optional<IncomingModule>> find_incoming_module(std::span<const std::uint8_t> payload, std::size_t whole);

}  // namespace softtpu
