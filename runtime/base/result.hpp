// Result<T>: a value or an error text with its kind. Used inside softtpu instead of exceptions and status codes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace softtpu {

// Whose failure it is; decides the status that the host program gets (see host/README.md for the table).
enum class ErrorKind : std::uint8_t {
  kUsage,        // the kernel or the application broke a documented rule
  kUnsupported,  // the chip, or softtpu, does not have it
  kResource,     // memory, files, limits
  kConnection,   // the device process is gone or does not answer
  kTimeout,      // a time limit passed
  kInternal,     // a defect of softtpu
};

struct Error {
  ErrorKind kind = ErrorKind::kInternal;
  std::string text;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit on purpose
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit on purpose
  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() & { return std::get<0>(state_); }
  const T& operator*() const& { return std::get<0>(state_); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

// The outcome of something without a value: success, or why not.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit on purpose
  explicit operator bool() const { return !error_; }
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace softtpu
