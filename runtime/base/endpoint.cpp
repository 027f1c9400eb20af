#include "runtime/base/endpoint.hpp"

#include "runtime/base/text.hpp"

namespace softtpu {

std::optional<Endpoint> find_endpoint(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto port = find_number(text.substr(colon + 1));
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return std::nullopt;  // an IPv6 address needs its brackets: where it ends would be a guess
  }
  // 253 characters are the longest name that exists.
  if (!port || *port > 65535 || host.empty() || host.size() > 253) return std::nullopt;
  return Endpoint{std::string(host), static_cast<std::uint16_t>(*port)};
}

std::string to_text(const Endpoint& endpoint) {
  const bool bare = endpoint.host.find(':') == std::string::npos;
  return (bare ? endpoint.host : "[" + endpoint.host + "]") + ":" + std::to_string(endpoint.port);
}

}  // namespace softtpu
