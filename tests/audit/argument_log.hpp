// Logs the arguments with which kernels call public functions, for scripts/argument_audit.py: distinct calls that the
// core has not refused, and none that another public function makes. Off unless SOFTTPU_ARGUMENT_LOG names a file,
// which is written at the end of the program.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

namespace softtpu::audit {

// A call in progress. What is logged is in the order of the parameters, members of structs one by one.
class Call {
 public:
  explicit Call(const char* function);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  template <class... T>
  void values(const T&... value) {
    if (wanted_) (put(value), ...);
  }
  void null(int members) {
    if (wanted_) values_.insert(values_.end(), static_cast<std::size_t>(members), kNull);
  }

  static constexpr std::int64_t kNull = INT64_MIN;

 private:
  template <class T>
  void put(const T& value) {
    if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      values_.push_back(static_cast<std::int64_t>(value));
    } else {  // floats and unions: their bits
      static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::int64_t));
      std::int64_t bits = 0;
      std::memcpy(&bits, &value, sizeof value);
      values_.push_back(bits);
    }
  }

  const char* function_;
  bool wanted_;
  std::vector<std::int64_t> values_;
};

}  // namespace softtpu::audit
