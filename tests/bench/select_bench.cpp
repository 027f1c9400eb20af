// Work whose addresses come from data: gathers, scatters, selections, sorts, NMS. Vendor's emulator: 0.4 to 7
// GB/s, 10.5 million keys sorted a second, 0.04 million with their indices.
#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "tests/bench/device.hpp"
#include "tests/bench/work.hpp"
#include "tpu_kernel.h"

namespace softtpu::bench {
namespace {

constexpr std::int64_t kMega = 1 << 20;
constexpr double kVendorGather = 0.4, kVendorKeys = 10.5, kVendorIndexedKeys = 0.04;

constexpr int kKeys = 1 << 20;

// Places in global memory.
constexpr std::uint64_t kSource = 0, kResult = 64 * kMega, kIndices = 128 * kMega, kMore = 192 * kMega,
                        kBoxMask = 320 * kMega;

template <class T>
T* global(std::uint64_t offset) {
  BenchDevice& device = BenchDevice::bm1684x();
  return reinterpret_cast<T*>(device.memories().global() + (device.scratch(offset) - device.chip().global_mem.start));
}

// Random floats, a permutation of rows, masks that are half zero, indices for the local gathers.
void fill_memories() {
  std::mt19937 random(11);
  BenchDevice& device = BenchDevice::bm1684x();
  auto* keys = global<float>(kSource);
  auto* mask = global<std::uint32_t>(kMore);
  for (int i = 0; i < kKeys; ++i) {
    keys[i] = static_cast<float>(static_cast<std::int32_t>(random()));
    mask[i] = random() & 1U;
  }
  for (int c = 0; c < 64; ++c) {
    auto* indices = global<std::uint32_t>(kIndices) + c * 256;
    std::iota(indices, indices + 256, 0U);
    std::shuffle(indices, indices + 256, random);
    auto* local = reinterpret_cast<std::uint16_t*>(device.memories().local(c) + 0x10000);
    for (int i = 0; i < 4096; ++i) local[i] = static_cast<std::uint16_t>(random() % 4096);
  }
}

Work moving(const std::string& name, std::int64_t bytes, double required, std::function<void(BenchDevice&)> kernel) {
  BenchDevice& device = BenchDevice::bm1684x();
  Work work;
  work.group = "gather";
  work.name = name;
  work.amount = work.limit_amount = static_cast<double>(bytes) / 1e9;
  work.unit = "GB";
  work.prepare = fill_memories;
  work.run = [&device, kernel] { device.run([&] { kernel(device); }); };
  work.limit_name = "memcpy, all threads";
  work.limit = memcpy_limit(static_cast<std::size_t>(bytes));
  work.required = required;
  work.vendor = kVendorGather;
  work.large = true;
  return work;
}

// Rows of 256 bytes in a random order; the last is not asked for.
constexpr dim4 kGathered = {1, 64, 256, 64};

std::vector<Work> rows() {
  const std::int64_t bytes = 64LL * 256 * 64 * 4;
  const scalar_t zero = {};
  return {
      moving("h_gather S2S f32, rows of 256 bytes, 4 MB", bytes, 0.4,
             [zero](BenchDevice& d) {
               tpu_gdma_h_gather_S2S(d.scratch(kResult), d.scratch(kSource), d.scratch(kIndices), false, zero,
                                     &kGathered, 256, nullptr, nullptr, nullptr, DT_FP32);
             }),
      moving("h_gather S2L f32, rows of 256 bytes, 4 MB", bytes, 0.4,
             [zero](BenchDevice& d) {
               tpu_gdma_h_gather_S2L(0, d.scratch(kSource), d.scratch(kIndices), false, zero, &kGathered, 256, nullptr,
                                     nullptr, nullptr, DT_FP32);
             }),
      moving("h_scatter S2S f32, rows of 256 bytes, 4 MB", bytes, 0.3,
             [](BenchDevice& d) {
               tpu_gdma_h_scatter_S2S(d.scratch(kResult), d.scratch(kSource), d.scratch(kIndices), false, &kGathered,
                                      256, nullptr, nullptr, nullptr, DT_FP32);
             }),
      moving("mask_select S2S f32, half of 4 MB", 6 * kMega, 0.3,
             [](BenchDevice& d) {
               tpu_gdma_mask_select_S2S(d.scratch(kResult), d.scratch(kSource), d.scratch(kMore), 0, &kGathered,
                                        DT_FP32, DT_UINT32);
             }),
      moving(
          "nonzero S2S f32, half of 4 MB", 6 * kMega, 0.3,
          [](BenchDevice& d) { tpu_gdma_nonzero_S2S(d.scratch(kResult), d.scratch(kMore), &kGathered, DT_UINT32, 0); }),
      moving("w_gather f32, 64 x 4096 of 4096", 64LL * 4096 * 4 * 2, 0.3,
             [](BenchDevice&) {
               const dim4 shape = {1, 64, 1, 4096};
               tpu_bdc_w_gather(0x20000, 0, 0x10000, &shape, 4096, DT_FP32, DT_UINT16);
             }),
      moving("w_scatter f32, 64 x 4096 of 4096", 64LL * 4096 * 4 * 2, 0.3,
             [](BenchDevice&) {
               const dim4 shape = {1, 64, 1, 4096};
               tpu_bdc_w_scatter(0x20000, 0, 0x10000, &shape, 4096, DT_FP32, DT_UINT16);
             }),
  };
}

Work keys(const std::string& name, std::int64_t count, double at_least, double vendor,
          std::function<void(BenchDevice&)> kernel) {
  BenchDevice& device = BenchDevice::bm1684x();
  Work work;
  work.group = "HAU";
  work.name = name;
  work.amount = static_cast<double>(count) / 1e6;
  work.unit = "M keys";
  work.prepare = fill_memories;
  work.run = [&device, kernel] { device.run([&] { kernel(device); }); };
  work.at_least = at_least;
  work.vendor = vendor;
  work.large = true;
  return work;
}

std::vector<Work> sorting() {
  Work plain = keys("sort f32, 1 M keys, all of them", kKeys, 0, kVendorKeys, [](BenchDevice& d) {
    tpu_hau_sort(d.scratch(kResult), d.scratch(kSource), kKeys, kKeys, true, DT_FP32);
  });
  plain.limit_name = "std::sort, one thread";
  plain.limit_amount = plain.amount;
  plain.limit = [] {
    std::vector<float> copy(global<float>(kSource), global<float>(kSource) + kKeys);
    std::sort(copy.begin(), copy.end());
    keep(copy.data());
  };
  plain.required = 1;
  return {
      plain,
      keys("sort with natural index f32, 1 M keys", kKeys, 20, kVendorIndexedKeys,
           [](BenchDevice& d) {
             tpu_hau_sort_natural_index(d.scratch(kResult), d.scratch(kMore + 64 * kMega), d.scratch(kSource), kKeys,
                                        kKeys, true, DT_FP32);
           }),
      keys("sort with natural index f32, best 100 of 1 M keys", kKeys, 20, kVendorIndexedKeys,
           [](BenchDevice& d) {
             tpu_hau_sort_natural_index(d.scratch(kResult), d.scratch(kMore + 64 * kMega), d.scratch(kSource), kKeys,
                                        100, true, DT_FP32);
           }),
  };
}

// Boxes of which four of five stay, so that nearly the whole half of the mask is read; every box has a say in soft NMS.
constexpr int kBoxes = 8192, kSoftBoxes = 2048;

void fill_boxes() {
  auto* mask = global<std::uint8_t>(kBoxMask);
  std::fill_n(mask, kBoxes * kBoxes, std::uint8_t{1});
  for (int box = 0; box + 1 < kBoxes; box += 5) mask[box * kBoxes + box + 1] = 0;
  std::fill_n(global<float>(kBoxMask + 128 * kMega), kSoftBoxes * kSoftBoxes, 1.0F);
}

std::vector<Work> suppression() {
  constexpr std::int64_t kRead = 4LL * kBoxes * kBoxes / 2 / 5, kSoftRead = 4LL * kSoftBoxes * kSoftBoxes;
  std::vector<Work> list = {
      moving("hard NMS, 8192 boxes", kRead, 0.3,
             [](BenchDevice& d) { tpu_hau_hard_nms(d.scratch(kResult), d.scratch(kBoxMask), kBoxes, 0); }),
      moving("soft NMS, 2048 boxes", kSoftRead, 0.3, [](BenchDevice& d) {
        tpu_hau_soft_nms(d.scratch(kResult), d.scratch(kBoxMask + 128 * kMega), d.scratch(kSource), 0.0F, kSoftBoxes,
                         0);
      })};
  for (Work& work : list) {
    work.group = "HAU";
    work.vendor = 0;
    work.prepare = [] {
      fill_memories();
      fill_boxes();
    };
  }
  list.back().large = false;  // one short round after the other
  return list;
}

const bool added = add_work([] {
  std::vector<Work> list = rows();
  for (Work& work : sorting()) list.push_back(std::move(work));
  for (Work& work : suppression()) list.push_back(std::move(work));
  return list;
});

}  // namespace
}  // namespace softtpu::bench
