#include "runtime/protocol/wire.hpp"

#include <algorithm>
#include <boost/endian/conversion.hpp>
#include <cstring>

namespace softtpu {

void Encoder::grow(std::size_t bytes) {
  // Of a frame of usual length.
  constexpr std::size_t kUsualBytes = 128;
  const std::size_t before = used();
  out_.resize(before + std::max(bytes, kUsualBytes));
  next_ = out_.data() + before;
  end_ = out_.data() + out_.size();
}

void Encoder::put(std::uint64_t value, std::size_t bytes) {
  // All eight, of which some are given back: a store of fixed length is one instruction.
  need(sizeof value);
  boost::endian::store_little_u64(next_, value);
  next_ += bytes;
}

void Encoder::put_bytes(const void* data, std::size_t bytes) {
  put(bytes, 4);
  if (bytes == 0) return;
  need(bytes);
  std::memcpy(next_, data, bytes);
  next_ += bytes;
}

void Decoder::operator()(std::string& text) {
  if (const std::size_t bytes = get_count(); ok_) {
    text.assign(reinterpret_cast<const char*>(in_.data()), bytes);
    in_ = in_.subspan(bytes);
  }
}

void Decoder::operator()(Bytes& out) {
  if (const std::size_t bytes = get_count(); ok_) {
    out.assign(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(bytes));
    in_ = in_.subspan(bytes);
  }
}

bool Decoder::get(std::uint64_t& value, std::size_t bytes) {
  if (!ok_ || in_.size() < bytes) return ok_ = false;
  if (in_.size() >= sizeof value) {
    value = boost::endian::load_little_u64(in_.data()) & ~std::uint64_t{0} >> (64 - 8 * bytes);
  } else {
    for (std::size_t i = 0; i < bytes; ++i) value |= static_cast<std::uint64_t>(in_[i]) << (8 * i);
  }
  in_ = in_.subspan(bytes);
  return true;
}

std::size_t Decoder::get_count() {
  std::uint64_t count = 0;
  if (!get(count, 4)) return 0;
  if (count > in_.size()) ok_ = false;
  return ok_ ? static_cast<std::size_t>(count) : 0;
}

void Printer::operator()(std::string_view name, const double& value) {
  label(name);
  text_ += std::to_string(value);
}

void Printer::operator()(std::string_view name, const std::string& value) {
  label(name);
  text_ += '"' + value + '"';
}

void Printer::operator()(std::string_view name, const Bytes& bytes) {
  label(name);
  text_ += '[' + std::to_string(bytes.size()) + " bytes]";
}

void Printer::label(std::string_view name) {
  if (!text_.empty() && text_.back() != '{' && text_.back() != '[') text_ += ", ";
  text_ += name;
  if (!name.empty()) text_ += '=';
}

void Printer::number(std::string_view name, std::uint64_t value) {
  label(name);
  text_ += std::to_string(value);
}

}  // namespace softtpu
