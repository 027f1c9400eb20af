// What a target that calls functions tells at its end: how many calls, and which functions it has never called.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace softtpu::fuzz {

class CallFigures {
 public:
  // Printed when the program ends.
  template <class Row>
  static void begin(std::span<const Row> rows) {
    for (const Row& row : rows) all().names_.push_back(row.name);
    all().called_.resize(rows.size());
    std::atexit(print);
  }
  static void note(std::size_t row) {
    ++all().calls_;
    all().called_[row] = true;
  }

 private:
  static CallFigures& all() {
    static auto* const figures = new CallFigures;
    return *figures;
  }
  static void print() {
    const auto& called = all().called_;
    std::printf("%llu calls; of %zu functions %td called\n", static_cast<unsigned long long>(all().calls_),
                called.size(), std::count(called.begin(), called.end(), true));
    for (std::size_t i = 0; i < called.size(); ++i) {
      if (!called[i]) std::printf("never called: %s\n", std::string(all().names_[i]).c_str());
    }
  }

  std::vector<std::string_view> names_;
  std::vector<bool> called_;
  std::uint64_t calls_ = 0;
};

}  // namespace softtpu::fuzz
