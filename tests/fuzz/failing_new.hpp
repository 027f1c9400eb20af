// operator new that fails: what the functions under test do when the program has no memory left. Of the program, so
// that the libraries use it as well. Nothing fails unless SOFTTPU_FUZZ_NO_MEMORY is set.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

namespace softtpu::fuzz {

class FailingNew {
 public:
  // Makes one call of function `row`. Of its allocations one fails, or one and all that follow: of the function's first
  // call here the first, of its second call the second ... until a call has made fewer; then from the first again.
  template <class Call>
  static auto during(std::size_t row, std::string_view name, Call call) {
    if (!is_on()) return call();
    const Armed armed(row, name);
    return call();
  }
  // From now on, of the allocations of threads that the libraries have made, one of so many fails; 0: none.
  static void of_other_threads(unsigned one_of);
  static bool is_on();
  // How often all allocations of the row's calls have been gone through: twice when each has failed in both ways.
  static int sweeps(std::size_t row);
  // Allocations that have failed.
  static unsigned long failures();

 private:
  class Armed {
   public:
    Armed(std::size_t row, std::string_view name);
    ~Armed();
    Armed(const Armed&) = delete;
    Armed& operator=(const Armed&) = delete;

   private:
    std::size_t row_;
  };
};

}  // namespace softtpu::fuzz
