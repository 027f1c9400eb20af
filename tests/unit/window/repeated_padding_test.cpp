// Windows that see the input again beyond its end give what the same windows give for an input that was padded in
// memory. No function asks for this: instructions of compiled networks can.
#include <vector>

#include "device/command/functions.hpp"
#include "device/engines/bdc/window/command.hpp"
#include "device/memory/tensor_view.hpp"
#include "tests/reference/random_data.hpp"
#include "tests/unit/device_fixture.hpp"

namespace softtpu::repeated_padding_test {
namespace {

constexpr std::uint64_t kInput = 0, kPadded = 0x8000, kWeights = 0x18000, kWanted = 0x20000, kResult = 0x30000;

class RepeatedPadding : public testing::TestWithParam<Beyond> {
 protected:
  TestDevice device_;
  reference::RandomData random_{17};

  // One step after the other, as the three are described.
  static int seen(Beyond beyond, int place, int extent) {
    if (beyond == Beyond::kReplicated) return place < 0 ? 0 : place >= extent ? extent - 1 : place;
    while (beyond == Beyond::kCircular && place < 0) place += extent;
    while (beyond == Beyond::kCircular && place >= extent) place -= extent;
    while (extent > 1 && (place < 0 || place >= extent)) place = place < 0 ? -place : 2 * (extent - 1) - place;
    return extent == 1 ? 0 : place;
  }
  static Tensor tensor(std::uint64_t address, const Dim4& shape, Dtype type) {
    return {
        .addr = address, .shape = shape, .stride = {shape.h * shape.w, shape.h * shape.w, shape.w, 1}, .dtype = type};
  }
  void fill(const Tensor& at) {
    const TensorView view(device_.memories(), at);
    for (int c = 0; c < at.shape.c; ++c) {
      for (int i = 0; i < at.shape.h * at.shape.w; ++i)
        view.at<std::uint8_t>(0, c, 0, 0)[i] = static_cast<std::uint8_t>(random_.bits());
    }
  }
  // What windows see of `from`, with what is inserted and the padding, written out.
  Tensor pad(const Tensor& from, const Window& window, std::uint8_t inserted) {
    const auto extent = [](int size, int insert) { return static_cast<int>(spread_extent(size, insert)); };
    const int height = extent(from.shape.h, window.insert.h), width = extent(from.shape.w, window.insert.w);
    const Padding4& around = window.padding;
    const Tensor to =
        tensor(kPadded, {1, from.shape.c, height + around.top + around.bottom, width + around.left + around.right},
               from.dtype);
    const TensorView source(device_.memories(), from), padded(device_.memories(), to);
    for (int c = 0; c < to.shape.c; ++c) {
      for (int y = 0; y < to.shape.h; ++y) {
        for (int x = 0; x < to.shape.w; ++x) {
          const int h = seen(window.beyond, y - around.top, height), w = seen(window.beyond, x - around.left, width);
          const bool stored = h % (window.insert.h + 1) == 0 && w % (window.insert.w + 1) == 0;
          *padded.at<std::uint8_t>(0, c, y, x) =
              stored ? *source.at<std::uint8_t>(0, c, h / (window.insert.h + 1), w / (window.insert.w + 1)) : inserted;
        }
      }
    }
    return to;
  }
  Window window(bool inserted) {
    const auto pair = [&](int low, int high) { return Dim2{random_.in(low, high), random_.in(low, high)}; };
    Window made;
    made.kernel = pair(1, 4);
    made.stride = pair(1, 3);
    made.dilation = pair(1, 2);
    if (inserted) made.insert = pair(0, 2);
    made.padding = {random_.in(0, 15), random_.in(0, 15), random_.in(0, 15), random_.in(0, 15)};
    made.beyond = GetParam();
    return made;
  }
  // The command as it is, and without padding for the input that is padded.
  template <class Cmd>
  void expect_same(Cmd cmd, const Dim2& out, int channels) {
    cmd.insertion = Scalar{55, Dtype::kUint8};
    cmd.padding = Scalar{77, Dtype::kUint8};
    cmd.dst = tensor(kResult, {1, channels, out.h, out.w}, cmd.dst.dtype);
    Cmd plain = cmd;
    plain.dst.addr = kWanted;
    plain.src = pad(cmd.src, cmd.window, 55);
    plain.window.beyond = Beyond::kValue;
    plain.window.padding = {};
    plain.window.insert = {0, 0};
    execute(device_.memories(), cmd);
    execute(device_.memories(), plain);
    const TensorView results(device_.memories(), cmd.dst), wanted(device_.memories(), plain.dst);
    const int bytes = out.h * out.w * size_of(cmd.dst.dtype);
    for (int c = 0; c < channels; ++c) {
      const auto* got = results.at<std::uint8_t>(0, c, 0, 0);
      ASSERT_EQ(
          std::vector<std::uint8_t>(got, got + bytes),
          std::vector<std::uint8_t>(wanted.at<std::uint8_t>(0, c, 0, 0), wanted.at<std::uint8_t>(0, c, 0, 0) + bytes))
          << "channel " << c;
    }
  }
};

TEST_P(RepeatedPadding, IsSeenByConvolutions) {
  for (int round = 0; round < 100 && !HasFatalFailure(); ++round) {
    Conv2dCmd cmd;
    cmd.kind = Conv2dKind::kAsymmetric;
    cmd.window = window(round % 2 == 1);
    cmd.src = tensor(kInput, {1, random_.in(1, 9), random_.in(1, 12), random_.in(1, 40)}, Dtype::kUint8);
    fill(cmd.src);
    const Dim2 out = output_size(cmd.src.shape, cmd.window);
    if (out.h < 1 || out.w < 1) continue;
    const int channels = random_.in(1, 20), groups = (cmd.src.shape.c + 63) / 64;
    const Tensor weights =
        tensor(kWeights, {1, channels, groups * static_cast<int>(cmd.window.taps()), 64}, Dtype::kUint8);
    fill(weights);
    cmd.weight = weights;
    cmd.zero_point = Scalar{3, Dtype::kUint8};
    cmd.dst.dtype = Dtype::kInt32;
    expect_same(cmd, out, channels);
  }
}

TEST_P(RepeatedPadding, IsSeenByPoolings) {
  for (int round = 0; round < 100 && !HasFatalFailure(); ++round) {
    PoolCmd cmd;
    cmd.mode = round % 4 < 2 ? PoolMode::kMax : PoolMode::kDepthwise;
    cmd.window = window(round % 2 == 1);
    cmd.src = tensor(kInput, {1, random_.in(1, 9), random_.in(1, 12), random_.in(1, 40)}, Dtype::kUint8);
    fill(cmd.src);
    const Dim2 out = output_size(cmd.src.shape, cmd.window);
    if (out.h < 1 || out.w < 1) continue;
    cmd.weight = Scalar{3, Dtype::kUint8};
    cmd.dst.dtype = cmd.mode == PoolMode::kMax ? Dtype::kUint8 : Dtype::kInt32;
    expect_same(cmd, out, cmd.src.shape.c);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, RepeatedPadding,
                         testing::Values(Beyond::kReflected, Beyond::kReplicated, Beyond::kCircular));

}  // namespace
}  // namespace softtpu::repeated_padding_test
