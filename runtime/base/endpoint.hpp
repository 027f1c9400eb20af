// HOST:PORT as people write it, for devices that are reached through a network.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace softtpu {

struct Endpoint {
  std::string host;  // a name or an address; an IPv6 address without its brackets
  std::uint16_t port = 0;
  bool operator==(const Endpoint&) const = default;
};

// "host:9000", "10.0.0.1:9000", "[::1]:9000"; nullopt: something else, an empty host, or a port outside 0..65535.
std::optional<Endpoint> find_endpoint(std::string_view text);

// What find_endpoint() reads.
std::string to_text(const Endpoint& endpoint);

}  // namespace softtpu
