// Poolings over regions of interest against oracles that are written from the description.
#include "tests/unit/window_fixture.hpp"

namespace softtpu::roi_pool_test {
namespace {

constexpr int kCases = 30;  // of each function

struct Region {
  int w, h, last_w, last_h;
  bool holds(int kh, int kw) const { return h + kh <= last_h && w + kw <= last_w; }
};

class RegionPoolings : public WindowTest {
 protected:
  static constexpr unsigned kRegions = 0x2F000;

  // A random case: the regions lie in the input and are not larger than the kernel.
  struct Case {
    dim4 in;
    dim2 kernel;
    std::vector<Region> regions;
    LocalTensor input, output;
    int npu;
    int count() const { return static_cast<int>(regions.size()); }
    std::string text() const {
      return fmt::format("in [{}, {}, {}, {}] kernel {}x{} regions {} npu {}", in.n, in.c, in.h, in.w, kernel.h,
                         kernel.w, count(), npu);
    }
  };
  Case make(int size, int out_size) {
    Case made;
    made.in = {random_.in(1, 2), random_.in(1, 130), random_.in(1, 9), random_.in(1, 20)};
    made.kernel = {random_.in(1, 4), random_.in(1, 4)};
    made.npu = random_.in(0, 63);
    for (int r = random_.in(1, 90); r > 0; --r) {
      const int h = random_.in(0, made.in.h - 1), w = random_.in(0, made.in.w - 1);
      made.regions.push_back({w, h, random_.in(w, std::min(made.in.w, w + made.kernel.w) - 1),
                              random_.in(h, std::min(made.in.h, h + made.kernel.h) - 1)});
    }
    made.input = aligned(address(made.npu, kInput), made.in.n, made.in.c, made.in.h, made.in.w, size);
    made.output = aligned(address(made.npu, kResult), made.in.n, made.in.c, 1, made.count(), out_size);
    // Four 16-bit corners of region r, in NPU r mod 64.
    const LocalTensor corners = compact(kRegions, 1, made.count(), 1, 4, 2);
    for (int r = 0; r < made.count(); ++r) {
      const Region& region = made.regions[static_cast<std::size_t>(r)];
      const int values[] = {region.w, region.h, region.last_w, region.last_h};
      for (int k = 0; k < 4; ++k) RandomData::put(image_, corners, 0, r, 0, k, static_cast<std::uint32_t>(values[k]));
    }
    return made;
  }
  // The bits that a tap of region `r` sees.
  std::uint32_t seen(const Case& made, const scalar_t& outside, int n, int c, int r, int kh, int kw) const {
    const Region& region = made.regions[static_cast<std::size_t>(r)];
    if (region.holds(kh, kw)) return take(made.input, n, c, region.h + kh, region.w + kw);
    return outside.u32 & (made.input.size == 4 ? ~0U : (1U << 8 * made.input.size) - 1);
  }
  // dst = body(n, c, r), which gives bits.
  template <class Body>
  Image filled(const Case& made, Body body) {
    Image wanted = image_;
    each_element(made.output,
                 [&](int n, int c, int h, int r) { RandomData::put(wanted, made.output, n, c, h, r, body(n, c, r)); });
    return wanted;
  }
};

TEST_F(RegionPoolings, FloatExtremes) {
  for (int i = 0; i < 2 * kCases && !HasFatalFailure(); ++i) {
    const bool maximum = i % 2 == 0;
    const Float type = any_float();
    const Case made = make(reference::size_of(type), reference::size_of(type));
    fill_bits({&made.input, &made.output});
    const scalar_t outside = scalar_bits(random_.element(type));
    const Image wanted = filled(made, [&](int n, int c, int r) {
      return reference::float_window_best(type, maximum, made.kernel,
                                          [&](int kh, int kw) { return seen(made, outside, n, c, r, kh, kw); });
    });
    const auto function = maximum ? tpu_bdc_fp_roi_max_pool2d : tpu_bdc_fp_roi_min_pool2d;
    expect(
        wanted,
        [&] {
          function(addr(made.output), addr(made.input), kRegions, &made.in, made.count(), &made.kernel, code(type),
                   outside);
        },
        made.text());
  }
}

TEST_F(RegionPoolings, FloatSums) {
  for (int i = 0; i < 2 * kCases && !HasFatalFailure(); ++i) {
    const bool average = i % 2 == 0;
    const Float type = any_float();
    const Case made = make(reference::size_of(type), reference::size_of(type));
    const LocalTensor weight =
        compact(address(made.npu, kWeight), 1, made.in.c, made.kernel.h, made.kernel.w, reference::size_of(type));
    fill({&made.input, &made.output, &weight}, type);
    const scalar_t outside = scalar_bits(random_.element(type)), scale = scalar_bits(random_.element(type));
    const Image wanted = filled(made, [&](int n, int c, int r) {
      return reference::float_window_sum(type, average, std::nullopt, made.kernel, [&](int kh, int kw) {
        return std::pair{reference::value_of(seen(made, outside, n, c, r, kh, kw), type),
                         average ? reference::value_of(scale.u32, type) : value(weight, type, 0, c, kh, kw)};
      });
    });
    expect(
        wanted,
        [&] {
          if (average) {
            tpu_bdc_fp_roi_avg_pool2d(addr(made.output), addr(made.input), kRegions, &made.in, made.count(),
                                      &made.kernel, code(type), outside, scale);
          } else {
            tpu_bdc_fp_roi_depthwise2d(addr(made.output), addr(made.input), addr(weight), kRegions, &made.in,
                                       made.count(), &made.kernel, code(type), outside);
          }
        },
        made.text());
  }
}

TEST_F(RegionPoolings, ByteExtremes) {
  for (int i = 0; i < 2 * kCases && !HasFatalFailure(); ++i) {
    const bool maximum = i % 2 == 0, is_signed = random_.flip();
    const Case made = make(1, 1);
    fill_bits({&made.input, &made.output});
    const scalar_t outside = scalar_bits(random_.bits() & 0xFFU);
    const Image wanted = filled(made, [&](int n, int c, int r) {
      std::int64_t best = maximum ? -1000 : 1000;
      for (int kh = 0; kh < made.kernel.h; ++kh) {
        for (int kw = 0; kw < made.kernel.w; ++kw) {
          const std::int64_t tap = RandomData::integer(seen(made, outside, n, c, r, kh, kw), 1, is_signed);
          best = maximum ? std::max(best, tap) : std::min(best, tap);
        }
      }
      return static_cast<std::uint32_t>(best);
    });
    const auto function = maximum ? tpu_bdc_int8_roi_max_pool2d : tpu_bdc_int8_roi_min_pool2d;
    expect(
        wanted,
        [&] {
          function(addr(made.output), addr(made.input), kRegions, &made.in, made.count(), &made.kernel,
                   code(integer_type(1, is_signed)), outside);
        },
        made.text());
  }
}

// The low bits of the sum are stored: nothing saturates.
TEST_F(RegionPoolings, ByteSumsWrap) {
  for (int i = 0; i < 2 * kCases && !HasFatalFailure(); ++i) {
    const bool average = i % 2 == 0, in_signed = random_.flip(), weight_signed = random_.flip();
    const Dtype type = integer_type(average ? 2 : 2 * random_.in(1, 2), random_.flip());
    const Case made = make(1, size_of(type));
    const LocalTensor weight = compact(address(made.npu, kWeight), 1, made.in.c, made.kernel.h, made.kernel.w, 1);
    fill_bits({&made.input, &made.output, &weight});
    const scalar_t outside = scalar_bits(random_.bits() & 0xFFU), scale = scalar_bits(random_.bits() & 0xFFU);
    const Image wanted = filled(made, [&](int n, int c, int r) {
      std::int64_t sum = 0;
      for (int kh = 0; kh < made.kernel.h; ++kh) {
        for (int kw = 0; kw < made.kernel.w; ++kw) {
          sum += RandomData::integer(seen(made, outside, n, c, r, kh, kw), 1, in_signed) *
                 (average ? std::int64_t{scale.u32} : integer(weight, weight_signed, 0, c, kh, kw));
        }
      }
      return static_cast<std::uint32_t>(sum);
    });
    expect(
        wanted,
        [&] {
          if (average) {
            tpu_bdc_int8_roi_avg_pool2d(addr(made.output), addr(made.input), kRegions, &made.in, made.count(),
                                        &made.kernel, code(type), code(integer_type(1, in_signed)), outside, scale);
          } else {
            tpu_bdc_int8_roi_depthwise2d(addr(made.output), addr(made.input), addr(weight), kRegions, &made.in,
                                         made.count(), &made.kernel, code(type), code(integer_type(1, in_signed)),
                                         code(integer_type(1, weight_signed)), outside);
          }
        },
        made.text());
  }
}

TEST_F(RegionPoolings, RegionsThatDoNotFitAreRefused) {
  const dim4 in = {1, 3, 6, 6};
  const dim2 kernel = {3, 3};
  const auto pool = [&](const Region& region) {
    return [=, this] {
      auto* corners = device_.local<std::int16_t>(0, kRegions);
      corners[0] = static_cast<std::int16_t>(region.w);
      corners[1] = static_cast<std::int16_t>(region.h);
      corners[2] = static_cast<std::int16_t>(region.last_w);
      corners[3] = static_cast<std::int16_t>(region.last_h);
      tpu_bdc_fp_roi_max_pool2d(kResult, kInput, kRegions, &in, 1, &kernel, DT_FP32, scalar_t{});
    };
  };
  const auto refused = [&](const Region& region, const std::string& text) {
    const LaunchOutcome outcome = device_.run(pool(region));
    EXPECT_FALSE(outcome.ok) << text;
    EXPECT_NE(outcome.text.find(text), std::string::npos) << outcome.text;
  };
  refused({0, 0, 6, 0}, "region 0 (w 0..6, h 0..0) lies outside the input (6 x 6, h x w)");
  refused({-1, 0, 0, 0}, "lies outside the input");
  refused({3, 3, 2, 3}, "is empty");
  refused({0, 0, 3, 0}, "is larger than the kernel (3 x 3, h x w)");
}

}  // namespace
}  // namespace softtpu::roi_pool_test
