#include "host/client/launch_check.hpp"

#include <fmt/format.h>

#include <cstring>

#include "runtime/protocol/messages.hpp"

namespace softtpu::host {
namespace {

Error refused(std::string text) { return Error{ErrorKind::kUsage, std::move(text)}; }

}  // namespace

Result<void> check_name(std::string_view what, const char* name) {
  if (name == nullptr) return refused(fmt::format("{} is NULL", what));
  const std::size_t length = strnlen(name, kMaxKernelName + 1);
  if (length == 0) return refused(fmt::format("{} is empty", what));
  if (length <= kMaxKernelName) return {};
  return refused(fmt::format("{} \"{}...\" is longer than {} characters", what, std::string_view(name, kMaxKernelName),
                             kMaxKernelName));
}

Result<void> check_arguments(const ArgumentBlock& block) {
  if (block.bytes > block.most)
    return refused(fmt::format("size {} of the arguments is above the limit ({} bytes)", block.bytes, block.most));
  if (block.bytes % block.align != 0)
    return refused(fmt::format("size {} of the arguments is not a multiple of {}", block.bytes, block.align));
  if (block.args == nullptr && block.bytes != 0)
    return refused(fmt::format("the arguments are NULL with size {}", block.bytes));
  return {};
}

std::vector<std::uint8_t> copy_arguments(const void* args, std::size_t bytes) {
  const auto* const data = static_cast<const std::uint8_t*>(args);
  return {data, data + bytes};
}

Result<void> check_counts(std::int64_t groups, std::int64_t blocks) {
  if (groups >= 1 && blocks >= 1) return {};
  return refused(fmt::format("{} groups of {} workitems: both must be at least 1", groups, blocks));
}

}  // namespace softtpu::host
