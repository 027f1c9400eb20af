// The planes that convolutions read: every tap of every output pixel finds there what the window sees, for steps,
// dilations, insertions and paddings of all kinds.
#include "device/engines/bdc/window/conv_planes.hpp"

#include "tests/unit/device_fixture.hpp"
#include "tests/unit/window_fixture.hpp"

namespace softtpu::conv_planes_test {
namespace {

class ConvPlanesTest : public WindowTest {
 protected:
  static Conv2dCmd command(const Geometry& g, const LocalTensor& in, Dtype type) {
    Conv2dCmd cmd;
    cmd.window.kernel = {g.kernel.h, g.kernel.w};
    cmd.window.stride = {g.stride.h, g.stride.w};
    cmd.window.dilation = {g.dilation.h, g.dilation.w};
    cmd.window.insert = {g.insert.h, g.insert.w};
    cmd.window.padding.top = g.pad.top;
    cmd.window.padding.bottom = g.pad.bottom;
    cmd.window.padding.left = g.pad.left;
    cmd.window.padding.right = g.pad.right;
    cmd.src.addr = static_cast<std::uint64_t>(in.addr);
    cmd.src.shape = {in.n, in.c, in.h, in.w};
    cmd.src.stride = {in.n_stride, in.c_stride, in.h_stride, in.w_stride};
    cmd.src.dtype = type;
    cmd.dst.shape = {in.n, 1, g.oh(), g.ow()};
    cmd.weight = Scalar{1, type};
    cmd.padding = Scalar{77, type};
    cmd.insertion = Scalar{55, type};
    return cmd;
  }
};

TEST_F(ConvPlanesTest, EveryTapFindsWhatItsWindowSees) {
  for (int round = 0; round < 200; ++round) {
    const Geometry g = geometry(3, round % 2 == 0 ? Steps::kStrided : Steps::kInserted);
    const LocalTensor in = input(g, kInput, 1, round % 3 == 0);
    for (int npu = 0; npu < g.in.c; ++npu) {
      for (int i = 0; i < 0x4000; ++i)
        *device_.local<std::uint8_t>(npu, kInput + static_cast<unsigned>(i)) =
            static_cast<std::uint8_t>(random_.bits());
    }
    const Conv2dCmd cmd = command(g, in, Dtype::kUint8);
    const PlaneGeometry planes(cmd.window, {g.oh(), g.ow()});
    const PlaneFiller<std::uint8_t> filler(device_.memories(), cmd, planes);
    const TensorView view(device_.memories(), cmd.src);
    std::vector<std::uint8_t> filled(static_cast<std::size_t>(planes.channel_size()));
    for (int n = 0; n < g.in.n; ++n) {
      filler.fill(n, 2, filled.data());
      std::vector<int> visits(static_cast<std::size_t>(g.oh() * g.ow()));
      const int before = n * ((planes.cols() + kTileCols - 1) / kTileCols * kTileCols);
      planes.pixels(before, planes.cols(), [&](int i, int batch, int oh, int ow, int run) {
        ASSERT_EQ(batch, n);
        for (int x = 0; x < run; ++x) {
          ++visits[static_cast<std::size_t>(oh * g.ow() + ow + x)];
          for (int tap = 0; tap < g.kernel.h * g.kernel.w; ++tap) {
            const auto spot = g.spot(oh, ow + x, tap / g.kernel.w, tap % g.kernel.w);
            const int expected = spot.sees == Geometry::Sees::kPadding ? 77
                                 : spot.sees == Geometry::Sees::kInserted
                                     ? 55
                                     : *view.at<std::uint8_t>(n, 2, spot.h, spot.w);
            ASSERT_EQ(filled.at(static_cast<std::size_t>(planes.offset(tap) + i + x)), expected)
                << g.text() << " tap " << tap << " of pixel " << oh << ", " << ow + x;
          }
        }
      });
      EXPECT_EQ(visits, std::vector<int>(visits.size(), 1)) << g.text();
    }
  }
}

// A result that is stored at the end has all batches: pixels of each are found, whatever part of the columns is asked
// for.
TEST_F(ConvPlanesTest, PixelsOfSeveralBatchesAreFoundTogether) {
  for (int round = 0; round < 200; ++round) {
    Geometry g = geometry(1, round % 2 == 0 ? Steps::kStrided : Steps::kInserted);
    if (round % 3 == 0) g.kernel.w = 1;  // rows without gaps
    const LocalTensor in = input(g, kInput, 1, false);
    const Conv2dCmd cmd = command(g, in, Dtype::kUint8);
    const int height = g.oh(), width = g.ow(), size = height * width;
    const PlaneGeometry planes(cmd.window, {height, width});
    const int step = (planes.cols() + kTileCols - 1) / kTileCols * kTileCols, batches = 3;
    for (const bool joined : {false, true}) {
      std::vector<int> visits(static_cast<std::size_t>(batches * size));
      const auto visit = [&](int from) {
        return [&visits, &planes, from, step, width, size](int i, int n, int oh, int ow, int run) {
          EXPECT_EQ(from + i, n * step + oh * planes.pitch() + ow);
          for (int x = 0; x < run; ++x) ++visits.at(static_cast<std::size_t>(n * size + oh * width + ow + x));
        };
      };
      const int cut = random_.in(0, batches * step);
      const std::pair<int, int> pieces[] = {{0, cut}, {cut, batches * step - cut}};
      for (const auto& [first, count] : pieces)
        joined ? planes.joined_pixels(first, count, visit(first)) : planes.pixels(first, count, visit(first));
      EXPECT_EQ(visits, std::vector<int>(visits.size(), 1)) << g.text() << ", joined " << joined;
    }
  }
}

}  // namespace
}  // namespace softtpu::conv_planes_test
