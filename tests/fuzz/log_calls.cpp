// libbmlib's log: its argument list is open and its callbacks are the caller's code, so that calls are not made from
// the signatures. Formats are fixed, each with arguments that fit it; tags, levels, texts and numbers are any.
#include <cstdarg>
#include <cstdio>
#include <string>

#include "tests/fuzz/host_calls.hpp"

namespace softtpu::fuzz {
namespace {

void print_into_buffer(const char*, int, const char* format, va_list arguments) {
  char text[256];
  static_cast<void>(std::vsnprintf(text, sizeof text, format, arguments));
}

std::string take_text(Input& input) {
  const auto bytes = input.take_bytes(input.byte());
  return {bytes.begin(), bytes.end()};
}

void log(const HostCall&, Input& input, HostState&) {
  const std::string tag_text = take_text(input), text = take_text(input);
  const char* const tag = input.byte() % 16 == 0 ? nullptr : tag_text.c_str();
  const int level = static_cast<int>(take_number(input));
  const auto number = static_cast<long long>(take_number(input));
  switch (input.byte() % 8) {
    case 0: return bmlib_log(tag, level, nullptr);
    case 1: return bmlib_log(tag, level, "%s", text.c_str());
    case 2: return bmlib_log(tag, level, "%s\n", text.c_str());
    case 3: return bmlib_log(tag, level, "100%% of %lld, %#llx\n", number, static_cast<unsigned long long>(number));
    // Longer than any line, or than the C library can print.
    case 4: return bmlib_log(tag, level, "%*d|%s", static_cast<int>(number), level, text.c_str());
    case 5: return bmlib_log(tag, level, "%.*s|%p", static_cast<int>(number), text.c_str(), tag);
    case 6: return bmlib_log(tag, level, "%g %c %hhd", input.take<double>(), level, level);
    default: return bmlib_log(tag, level, "");
  }
}

void set_callback(const HostCall&, Input& input, HostState&) {
  bmlib_log_set_callback(input.byte() % 2 == 0 ? nullptr : print_into_buffer);
}

}  // namespace

std::vector<HostCall> log_calls() { return {{"bmlib_log", {}, log}, {"bmlib_log_set_callback", {}, set_callback}}; }

}  // namespace softtpu::fuzz
