// Encode, decode and print: three visitors of a message's fields(). Numbers travel in little-endian order, one after
// the other; texts, byte strings and lists start with a 32-bit count. No struct's memory is ever sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace softtpu {

using Bytes = std::vector<std::uint8_t>;

namespace wire {

template <class T>
concept Number = std::is_integral_v<T> || std::is_enum_v<T>;

// A message, or a struct inside one.
template <class T>
concept Record = !Number<T> && !std::is_same_v<T, std::string> && !std::is_same_v<T, Bytes>;

// An element of a list; a list of bytes is a byte string instead.
template <class T>
concept Item = !std::is_same_v<T, std::uint8_t>;

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
  void operator()(const char*, const T& value) {
    put(static_cast<std::uint64_t>(static_cast<wire::Raw<T>>(value)), sizeof(wire::Raw<T>));
  }
  void operator()(const char*, const std::string& text) { put_bytes(text.data(), text.size()); }
  void operator()(const char*, const Bytes& bytes) { put_bytes(bytes.data(), bytes.size()); }
  template <wire::Record T>
  void operator()(const char*, T& message) {
    message.fields(*this);
  }
  template <wire::Item T>
  void operator()(const char* name, std::vector<T>& list) {
    put(list.size(), 4);
    for (auto& item : list) (*this)(name, item);
  }

 private:
  // At most 8 bytes. This and its like stand in wire.cpp: every message's fields() calls them, in most files of both
  // sides.
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
  encoder("", const_cast<T&>(value));  // a visitor that only reads
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
  void operator()(const char*, T& value) {
    std::uint64_t raw = 0;
    if (!get(raw, sizeof(wire::Raw<T>))) return;
    if constexpr (std::is_same_v<T, bool>) {
      ok_ = raw <= 1;
      value = raw == 1;
    } else {
      value = static_cast<T>(static_cast<wire::Raw<T>>(raw));
    }
  }
  void operator()(const char*, std::string& text);
  void operator()(const char*, Bytes& out);
  template <wire::Record T>
  void operator()(const char*, T& message) {
    message.fields(*this);
  }
  template <wire::Item T>
  void operator()(const char* name, std::vector<T>& list) {
    const std::size_t count = get_count();
    list.clear();
    for (std::size_t i = 0; i < count && ok_; ++i) (*this)(name, list.emplace_back());
  }

 private:
  bool get(std::uint64_t& value, std::size_t bytes);
  // Every item takes at least one byte.
  std::size_t get_count();
  std::span<const std::uint8_t> in_;
  bool ok_ = true;
};

// One line for the log: "LaunchRequest{stream=1, name=\"add\", args=[16 bytes]}".
class Printer {
 public:
  const std::string& text() const { return text_; }

  template <wire::Number T>
  void operator()(const char* name, const T& value) {
    number(name, static_cast<std::uint64_t>(static_cast<wire::Raw<T>>(value)));
  }
  void operator()(const char* name, const std::string& value);
  void operator()(const char* name, const Bytes& bytes);
  template <wire::Record T>
  void operator()(const char* name, T& message) {
    label(name);
    message_fields(message);
  }
  template <wire::Item T>
  void operator()(const char* name, std::vector<T>& list) {
    label(name);
    text_ += '[';
    for (auto& item : list) (*this)("", item);
    text_ += ']';
  }
  template <class M>
  void message_fields(M& message) {
    text_ += '{';
    message.fields(*this);
    text_ += '}';
  }

 private:
  void label(const char* name);
  void number(const char* name, std::uint64_t value);
  std::string text_;
};

}  // namespace softtpu
