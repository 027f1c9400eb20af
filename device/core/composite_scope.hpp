// Which function the kernel called, while that issues the commands of others.
#pragma once

#include <string_view>

namespace softtpu {

// While it lives, calls on this thread are steps of a function that the kernel called: the outermost one counts.
class CompositeScope {
 public:
  explicit CompositeScope(std::string_view function);
  ~CompositeScope();
  CompositeScope(CompositeScope&& other) noexcept;
  CompositeScope(const CompositeScope&) = delete;
  CompositeScope& operator=(const CompositeScope&) = delete;
  // A launch that was cut off has left its scopes behind.
  static void forget();

 private:
  bool outermost_;
};

}  // namespace softtpu
