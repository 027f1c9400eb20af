// Encode, decode and print: three visitors of a message's members (runtime/base/members.hpp). Numbers travel in
// little-endian order, one after the other; texts, byte strings and lists start with a 32-bit count, alternatives with
// their number in a byte. No struct's memory is ever sent.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/base/members.hpp"

namespace softtpu {

using Bytes = std::vector<std::uint8_t>;

namespace wire {

template <class T>
concept Number = std::is_integral_v<T> || std::is_enum_v<T>;

// A message, or a struct inside one.
template <class T>
concept Record = std::is_aggregate_v<T>;

// An element of a list; a list of bytes is a byte string instead.
template <class T>
concept Item = !std::is_same_v<T, std::uint8_t>;

template <class T>
concept List = requires(T list) {
  list.emplace_back();
}
&&Item<typename T::value_type>;

template <class T>
struct RawOf {
  using type = T;
};
template <class T>
requires std::is_enum_v<T>
struct RawOf<T> {
  using type = std::underlying_type_t<T>;
};
template <>
struct RawOf<bool> {
  using type = std::uint8_t;
};
// The unsigned integer that stands for a number on the wire.
template <Number T>
using Raw = std::make_unsigned_t<typename RawOf<T>::type>;

}  // namespace wire

// Appends to `out`, behind `left_out` bytes that the caller writes. `out` has its final size when the encoder has gone.
class Encoder {
 public:
  explicit Encoder(Bytes& out, std::size_t left_out = 0) : out_(out), next_(out.data() + out.size()), end_(next_) {
    need(left_out);
    next_ += left_out;
  }
  ~Encoder() { out_.resize(used()); }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  template <wire::Number T>
  void operator()(const T& value) {
    put(static_cast<std::uint64_t>(static_cast<wire::Raw<T>>(value)), sizeof(wire::Raw<T>));
  }
  void operator()(const double& value) { put(std::bit_cast<std::uint64_t>(value), sizeof(value)); }
  void operator()(const std::string& text) { put_bytes(text.data(), text.size()); }
  void operator()(const Bytes& bytes) { put_bytes(bytes.data(), bytes.size()); }
  template <wire::Record T>
  void operator()(const T& message) {
    std::apply([this](const auto&... member) { ((*this)(member), ...); }, members::tie(message));
  }
  template <wire::List T>
  void operator()(const T& list) {
    put(list.size(), 4);
    for (const auto& item : list) (*this)(item);
  }
  template <class T>
  void operator()(const std::optional<T>& value) {
    put(value ? 1 : 0, 1);
    if (value) (*this)(*value);
  }
  template <class... T>
  void operator()(const std::variant<T...>& value) {
    put(value.index(), 1);
    std::visit([this](const auto& alternative) { (*this)(alternative); }, value);
  }

 private:
  // At most 8 bytes. This and its like stand in wire.cpp: every message calls them, in most files of both sides.
  void put(std::uint64_t value, std::size_t bytes);
  void put_bytes(const void* data, std::size_t bytes);
  std::size_t used() const { return static_cast<std::size_t>(next_ - out_.data()); }
  // Room for so many at `next_`.
  void need(std::size_t bytes) {
    if (static_cast<std::size_t>(end_ - next_) < bytes) grow(bytes);
  }
  void grow(std::size_t bytes);
  Bytes& out_;
  std::uint8_t* next_;  // in out_, which is longer until the end
  std::uint8_t* end_;
};

namespace wire {
template <class T>
void append(Bytes& out, const T& value, std::size_t left_out = 0) {
  Encoder encoder(out, left_out);
  encoder(value);
}
}  // namespace wire

// Reads what Encoder wrote. The first field that does not fit in the bytes left turns ok() false; later fields are then
// left alone.
class Decoder {
 public:
  explicit Decoder(std::span<const std::uint8_t> in) : in_(in) {}

  bool ok() const { return ok_; }
  bool at_end() const { return in_.empty(); }

  template <wire::Number T>
  void operator()(T& value) {
    std::uint64_t raw = 0;
    if (!get(raw, sizeof(wire::Raw<T>))) return;
    if constexpr (std::is_same_v<T, bool>) {
      ok_ = raw <= 1;
      value = raw == 1;
    } else {
      value = static_cast<T>(static_cast<wire::Raw<T>>(raw));
    }
  }
  void operator()(double& value) {
    std::uint64_t raw = 0;
    if (get(raw, sizeof(value))) value = std::bit_cast<double>(raw);
  }
  void operator()(std::string& text);
  void operator()(Bytes& out);
  template <wire::Record T>
  void operator()(T& message) {
    std::apply([this](auto&... member) { ((*this)(member), ...); }, members::tie(message));
  }
  template <wire::List T>
  void operator()(T& list) {
    static_assert(has_bytes<typename T::value_type>(),
                  "a count is checked against the bytes left, of which each item takes one at least");
    const std::size_t count = get_count();
    list.clear();
    for (std::size_t i = 0; i < count && ok_; ++i) (*this)(list.emplace_back());
  }
  template <class T>
  void operator()(std::optional<T>& value) {
    bool there = false;
    (*this)(there);
    value.reset();
    if (ok_ && there) (*this)(value.emplace());
  }
  template <class... T>
  void operator()(std::variant<T...>& value) {
    std::uint64_t index = 0;
    if (!get(index, 1)) return;
    ok_ = index < sizeof...(T);
    if (ok_) get_alternative(value, index, std::index_sequence_for<T...>());
  }

 private:
  template <class T>
  static constexpr bool has_bytes() {
    if constexpr (wire::Record<T>) return members::count<T> > 0;
    return true;
  }
  template <class Variant, std::size_t... I>
  void get_alternative(Variant& value, std::size_t index, std::index_sequence<I...>) {
    ((I == index ? (*this)(value.template emplace<I>()) : void()), ...);
  }
  bool get(std::uint64_t& value, std::size_t bytes);
  // Every item takes at least one byte.
  std::size_t get_count();
  std::span<const std::uint8_t> in_;
  bool ok_ = true;
};

// One line for the log: "Sync{stream=1}".
class Printer {
 public:
  const std::string& text() const { return text_; }

  template <wire::Number T>
  void operator()(std::string_view name, const T& value) {
    number(name, static_cast<std::uint64_t>(static_cast<wire::Raw<T>>(value)));
  }
  void operator()(std::string_view name, const double& value);
  void operator()(std::string_view name, const std::string& value);
  void operator()(std::string_view name, const Bytes& bytes);
  template <wire::Record T>
  void operator()(std::string_view name, const T& message) {
    label(name);
    all_of(message);
  }
  template <wire::List T>
  void operator()(std::string_view name, const T& list) {
    label(name);
    text_ += '[';
    for (const auto& item : list) (*this)("", item);
    text_ += ']';
  }
  template <class T>
  void operator()(std::string_view name, const std::optional<T>& value) {
    if (value) return (*this)(name, *value);
    label(name);
    text_ += "none";
  }
  template <class... T>
  void operator()(std::string_view name, const std::variant<T...>& value) {
    label(name);
    const auto print = [this]<class Alternative>(const Alternative& alternative) {
      text_ += members::type_name<Alternative>();
      all_of(alternative);
    };
    std::visit(print, value);
  }
  // Without the struct's name.
  template <class M>
  void all_of(const M& message) {
    text_ += '{';
    members::visit(message, *this);
    text_ += '}';
  }

 private:
  void label(std::string_view name);
  void number(std::string_view name, std::uint64_t value);
  std::string text_;
};

}  // namespace softtpu
