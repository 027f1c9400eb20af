// The integer network in plain loops, as written down in train.py: what the device must compute, number for number.
#include <algorithm>
#include <cmath>

#include "network.hpp"

namespace {

struct Image {
  int channels = 0, side = 0;
  std::vector<int> values;
  int at(int c, int y, int x) const {
    const bool inside = y >= 0 && y < side && x >= 0 && x < side;
    return inside ? values[static_cast<std::size_t>((c * side + y) * side + x)] : 0;
  }
};

Image convolve(const Image& in, const Layer& layer, bool last) {
  const int pad = layer.window == 3 ? 1 : 0;
  Image out{layer.oc, in.side + 2 * pad - layer.window + 1, {}};
  for (int oc = 0; oc < layer.oc; ++oc) {
    for (int y = 0; y < out.side; ++y) {
      for (int x = 0; x < out.side; ++x) {
        int sum = layer.int16_bias[static_cast<std::size_t>(oc)];
        std::size_t weight = static_cast<std::size_t>(oc * layer.ic * layer.window * layer.window);
        for (int ic = 0; ic < layer.ic; ++ic) {
          for (int i = 0; i < layer.window; ++i) {
            for (int j = 0; j < layer.window; ++j)
              sum += in.at(ic, y + i - pad, x + j - pad) * layer.int8_weights[weight++];
          }
        }
        const int half = layer.rshift > 0 ? 1 << (layer.rshift - 1) : 0;  // ties go up
        sum = (sum + half) >> layer.rshift;
        out.values.push_back(last ? std::clamp(sum, -32768, 32767) : std::clamp(sum, 0, 255));
      }
    }
  }
  return out;
}

Image pool(const Image& in) {
  Image out{in.channels, in.side / 2, {}};
  for (int c = 0; c < out.channels; ++c) {
    for (int y = 0; y < out.side; ++y) {
      for (int x = 0; x < out.side; ++x) {
        out.values.push_back(std::max({in.at(c, 2 * y, 2 * x), in.at(c, 2 * y, 2 * x + 1), in.at(c, 2 * y + 1, 2 * x),
                                       in.at(c, 2 * y + 1, 2 * x + 1)}));
      }
    }
  }
  return out;
}

}  // namespace

std::vector<int> integer_scores(const std::array<Layer, kLayers>& layers, const Digit& digit, float input_scale) {
  Image x{1, kSide, {}};
  for (const std::uint8_t pixel : digit.pixels) {
    x.values.push_back(static_cast<int>(std::nearbyint(static_cast<float>(pixel) / 16 * input_scale)));
  }
  for (std::size_t i = 0; i < kLayers; ++i) {
    x = convolve(x, layers[i], i + 1 == kLayers);
    if (kPoolAfter[i]) x = pool(x);
  }
  return x.values;
}
