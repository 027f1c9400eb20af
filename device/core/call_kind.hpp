// What the core of this thread runs, for tools that treat compiled networks differently.
#pragma once

#include <cstdint>

namespace softtpu {

enum class CallKind : std::uint8_t { kKernel, kNetwork };

CallKind current_call_kind();

// For as long as it lives.
class CallKindScope {
 public:
  explicit CallKindScope(CallKind kind);
  ~CallKindScope();
  CallKindScope(const CallKindScope&) = delete;
  CallKindScope& operator=(const CallKindScope&) = delete;

 private:
  const CallKind before_;
};

}  // namespace softtpu
