// The arguments of one command that are numbers, as its numbers() lists them.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#include "runtime/base/unreachable.hpp"

namespace softtpu {

struct Number {
  const char* argument;
  std::int64_t value;
};

class Numbers {
 public:
  static constexpr unsigned kMost = 16;

  template <class Cmd>
  explicit Numbers(const Cmd& cmd) {
    cmd.numbers([this](const char* argument, std::int64_t value) {
      if (count_ == kMost) unreachable(count_);
      numbers_[count_++] = {argument, value};
    });
  }

  bool empty() const { return count_ == 0; }
  unsigned size() const { return count_; }
  std::span<const Number> all() const { return {numbers_, count_}; }
  const Number& operator[](unsigned i) const { return numbers_[i]; }
  // The place of the argument's number, looked for from `start` on; size(): it has none. One literal of a name is
  // nearly always one address.
  unsigned find(const char* argument, unsigned start = 0) const {
    for (unsigned i = start; i < count_; ++i) {
      if (numbers_[i].argument == argument) return i;
    }
    for (unsigned i = 0; i < count_; ++i) {
      if (std::strcmp(numbers_[i].argument, argument) == 0) return i;
    }
    return count_;
  }

 private:
  Number numbers_[kMost];  // only the first count_ are ever read
  unsigned count_ = 0;
};

}  // namespace softtpu
