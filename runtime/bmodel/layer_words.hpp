// Words of the parameters of layers that both their rules and firmware/dynamic read.
#pragma once

#include <cstddef>

namespace softtpu::bmodel {

// Of two words: h and w; of pads: top, bottom, left, right.
struct ConvolutionWords {
  static constexpr std::size_t kGroups = 0, kIn = 1, kOut = 2, kKernel = 3, kStride = 5, kDilation = 7, kPads = 9,
                               kBias = 13, kRelu = 14, kLimit = 15, kRounding = 17, kMerged = 24;
  // Of kMerged: which taps of the kernel become channels; whether the layer itself spreads the input out for them.
  static constexpr int kMergedTaps = 0xf, kSpreadByLayer = 0x10;
};

struct PoolingWords {
  static constexpr std::size_t kKernel = 1, kPads = 3, kStride = 7, kDilation = 9, kGlobal = 11, kAverage = 12,
                               kAdaptive = 13, kMode = 14, kRelu = 15, kScale = 21, kShift = 22;
};

// Bytes of the first word: has a bias, signed, right side transposed.
struct PackedProductWords {
  static constexpr std::size_t kFlags = 0, kBits = 1, kZeroPoints = 2, kGroup = 3;
};

// In front: addresses of operands. Bytes of the flags: has a bias, and which results are wanted.
struct LstmWords {
  static constexpr std::size_t kBuffer = 16, kFlags = 18, kBatch = 20, kInput = 21, kHidden = 22, kBehind = 23,
                               kCount = 28;
};

// Products with weights in front of it and behind it. Of bytes: multiplier, shift and offset for what each of the five
// products makes.
struct HeadWords {
  static constexpr std::size_t kScale = 1, kBiases = 2, kDepth = 5, kRequantisations = 6, kBehind = 21, kCount = 24;
  static constexpr int kBiasOfInputs = 7, kBiasOfResult = 8;
};

// In front: addresses of result, operands and mask. Behind: places in local memory.
struct AttentionWords {
  static constexpr std::size_t kBatch = 10, kScale = 13, kHasMask = 15, kHeads = 16, kKeyHeads = 17, kDepth = 18,
                               kKeysAtOnce = 19, kHeadsAtOnce = 20, kKeyHeadsAtOnce = 21, kMaskRow = 22, kCount = 70;
};

}  // namespace softtpu::bmodel
