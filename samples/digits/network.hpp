// The trained network and the test images, read from data/ (formats: data/README.md).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "args.h"

struct Layer {
  int oc = 0, ic = 0, window = 0, rshift = 0;
  std::vector<float> weights, bias;
  std::vector<std::int8_t> int8_weights;
  std::vector<std::int16_t> int16_bias;
};

struct Digit {
  int label = 0;
  std::array<std::uint8_t, kSide * kSide> pixels{};  // 0..16
};

constexpr std::array<bool, kLayers> kPoolAfter = {false, true, true, false};

// Both end the program with a message when the file is missing or broken.
std::array<Layer, kLayers> read_network(const std::string& path);
std::vector<Digit> read_digits(const std::string& path);

// The ten scores of the integer network, computed on the host.
std::vector<int> integer_scores(const std::array<Layer, kLayers>& layers, const Digit& digit, float input_scale);
