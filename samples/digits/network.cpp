#include "network.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

namespace {

class Reader {
 public:
  explicit Reader(std::string path) : path_(std::move(path)) {
    std::ifstream file(path_, std::ios::binary);
    if (!file) fail("cannot be read");
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
  }
  template <class T>
  std::vector<T> take(std::size_t count) {
    if (count > left() / sizeof(T)) fail("is too short");
    std::vector<T> values(count);
    std::memcpy(values.data(), bytes_.data() + at_, count * sizeof(T));
    at_ += count * sizeof(T);
    return values;
  }
  int number(int low, int high) {
    const std::int32_t value = take<std::int32_t>(1)[0];
    if (value < low || value > high) fail("has an impossible number");
    return value;
  }
  std::size_t left() const { return bytes_.size() - at_; }
  [[noreturn]] void fail(const char* what) const {
    std::fprintf(stderr, "digits: %s %s\n", path_.c_str(), what);
    std::exit(1);
  }

 private:
  std::string path_;
  std::vector<char> bytes_;
  std::size_t at_ = 0;
};

}  // namespace

std::array<Layer, kLayers> read_network(const std::string& path) {
  Reader file(path);
  const std::string magic = "softtpu digits 1";
  const std::vector<char> start = file.take<char>(magic.size());
  if (!std::equal(start.begin(), start.end(), magic.begin())) file.fail("is not a network of this sample");
  file.number(kLayers, kLayers);
  std::array<Layer, kLayers> layers;
  for (Layer& layer : layers) {
    layer.oc = file.number(1, 1024);
    layer.ic = file.number(1, 1024);
    layer.window = file.number(1, kSide);
    file.number(layer.window, layer.window);
    layer.rshift = file.number(0, 31);
    const auto count =
        static_cast<std::size_t>(layer.oc * layer.ic) * static_cast<std::size_t>(layer.window * layer.window);
    layer.weights = file.take<float>(count);
    layer.bias = file.take<float>(static_cast<std::size_t>(layer.oc));
    layer.int8_weights = file.take<std::int8_t>(count);
    layer.int16_bias = file.take<std::int16_t>(static_cast<std::size_t>(layer.oc));
  }
  return layers;
}

std::vector<Digit> read_digits(const std::string& path) {
  Reader file(path);
  std::vector<Digit> digits;
  while (file.left() != 0) {
    Digit digit;
    digit.label = file.take<std::uint8_t>(1)[0];
    const auto pixels = file.take<std::uint8_t>(digit.pixels.size());
    std::copy(pixels.begin(), pixels.end(), digit.pixels.begin());
    digits.push_back(digit);
  }
  if (digits.empty()) file.fail("has no images");
  return digits;
}
