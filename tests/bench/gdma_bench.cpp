// GDMA against memcpy of the same bytes with the same number of threads. Vendor's emulator: 0.10 to 0.60 GB/s on one
// core (public measurements; the middle of the range is used).
#include <vector>

#include "tests/bench/device.hpp"
#include "tests/bench/work.hpp"
#include "tpu_kernel.h"

namespace softtpu::bench {
namespace {

constexpr double kVendor = 0.4;
constexpr std::int64_t kMega = 1 << 20;

Work copy(const std::string& name, std::int64_t bytes, double required, std::function<void(BenchDevice&)> kernel) {
  BenchDevice& device = BenchDevice::bm1684x();
  Work work;
  work.group = "GDMA";
  work.name = name;
  work.amount = work.limit_amount = static_cast<double>(bytes) / 1e9;
  work.unit = "GB";
  work.run = [&device, kernel] { device.run([&] { kernel(device); }); };
  work.limit_name = "memcpy, all threads";
  work.limit = memcpy_limit(static_cast<std::size_t>(bytes));
  work.required = required;
  work.vendor = kVendor;
  work.large = bytes >= 2 * kMega;
  return work;
}

struct Type {
  const char* name;
  data_type_t type;
  int bytes;
};
constexpr Type kTypes[] = {{"f32", DT_FP32, 4}, {"f16", DT_FP16, 2}, {"int8", DT_INT8, 1}};

// [2, 64, h, w] with rows of 128 elements; `mega` MB in all.
dim4 contiguous(int mega, int element_bytes) {
  return {2, 64, static_cast<int>(mega * kMega / (2 * 64 * 128 * element_bytes)), 128};
}

// The four directions with contiguous rows.
void add_contiguous(std::vector<Work>& list, const Type& type, int mega) {
  const dim4 shape = contiguous(mega, type.bytes);
  const auto label = [&](const char* way) {
    return std::string("cpy ") + way + " " + type.name + " " + std::to_string(mega) + " MB";
  };
  const auto dtype = type.type;
  const auto add = [&](const char* way, std::function<void(BenchDevice&)> kernel) {
    list.push_back(copy(label(way), mega * kMega, 0.8, std::move(kernel)));
    list.back().quick = dtype == DT_FP32 && mega == 4;
  };
  add("S2L", [=](BenchDevice& d) { tpu_gdma_cpy_S2L(0, d.scratch(), &shape, nullptr, nullptr, dtype); });
  add("L2S", [=](BenchDevice& d) { tpu_gdma_cpy_L2S(d.scratch(), 0, &shape, nullptr, nullptr, dtype); });
  add("S2S",
      [=](BenchDevice& d) { tpu_gdma_cpy_S2S(d.scratch(64 * kMega), d.scratch(), &shape, nullptr, nullptr, dtype); });
  if (mega <= 8) add("L2L", [=](BenchDevice&) { tpu_gdma_cpy_L2L(0x20000, 0, &shape, nullptr, nullptr, dtype); });
}

constexpr dim4 kRows = {1, 64, 128, 64};
constexpr dim4 kImage = {1, 64, 128, 128};
constexpr dim4 kNc = {16, 64, 32, 32};

std::vector<Work> strided() {
  const dim4 from = {64 * 128 * 128, 128 * 128, 128, 1};
  return {
      copy("cpy S2L f32 2 MB, strided rows of 256 bytes", 2 * kMega, 0.5,
           [from](BenchDevice& d) { tpu_gdma_cpy_S2L(0, d.scratch(), &kRows, nullptr, &from, DT_FP32); }),
      copy("cpy L2S f32 2 MB, strided rows of 256 bytes", 2 * kMega, 0.5,
           [from](BenchDevice& d) { tpu_gdma_cpy_L2S(d.scratch(), 0, &kRows, &from, nullptr, DT_FP32); }),
      copy("cpy S2S f16 1 MB, strided rows of 128 bytes", kMega, 0.5,
           [from](BenchDevice& d) {
             tpu_gdma_cpy_S2S(d.scratch(64 * kMega), d.scratch(), &kRows, &from, &from, DT_FP16);
           }),
  };
}

std::vector<Work> rearranging() {
  std::vector<Work> list;
  for (const Type& type : kTypes) {
    const auto dtype = type.type;
    const std::int64_t bytes = 16LL * 64 * 32 * 32 * type.bytes;
    const auto add = [&](const char* what, std::function<void(BenchDevice&)> kernel) {
      list.push_back(copy(std::string(what) + " " + type.name + " " + std::to_string(bytes / kMega) + " MB", bytes, 0.4,
                          std::move(kernel)));
      list.back().quick = dtype == DT_FP32;
    };
    add("nc_trans S2L",
        [=](BenchDevice& d) { tpu_gdma_cpy_nc_trans_S2L(0, d.scratch(), &kNc, nullptr, nullptr, dtype); });
    add("nc_trans L2S",
        [=](BenchDevice& d) { tpu_gdma_cpy_nc_trans_L2S(d.scratch(), 0, &kNc, nullptr, nullptr, dtype); });
    add("cw_trans S2L",
        [=](BenchDevice& d) { tpu_gdma_cpy_cw_trans_S2L(0, d.scratch(), &kImage, nullptr, nullptr, dtype); });
    add("cw_trans L2S",
        [=](BenchDevice& d) { tpu_gdma_cpy_cw_trans_L2S(d.scratch(), 0, &kImage, nullptr, nullptr, dtype); });
    add("cw_trans S2S", [=](BenchDevice& d) {
      tpu_gdma_cpy_cw_trans_S2S(d.scratch(64 * kMega), d.scratch(), &kImage, nullptr, nullptr, dtype);
    });
    const int per_channel = 64 / type.bytes;  // one vector of each NPU's EUs
    add("matrix S2L",
        [=](BenchDevice& d) { tpu_gdma_matrix_S2L(0, d.scratch(), 1024, 1024, per_channel, 1024, dtype); });
    add("matrix L2S",
        [=](BenchDevice& d) { tpu_gdma_matrix_L2S(d.scratch(), 0, 1024, 1024, per_channel, 1024, dtype); });
    add("matrix_trans S2L",
        [=](BenchDevice& d) { tpu_gdma_matrix_trans_S2L(0, d.scratch(), 1024, 1024, per_channel, 1024, dtype); });
    list.push_back(copy(std::string("vector S2L ") + type.name + " 65535", 65535LL * type.bytes, 0.4,
                        [=](BenchDevice& d) { tpu_gdma_vector_S2L(0, d.scratch(), 65535, 1024, dtype); }));
    add("channel_bcast S2L",
        [=](BenchDevice& d) { tpu_gdma_channel_bcast_S2L(0, d.scratch(), &kImage, nullptr, nullptr, dtype); });
    add("reverse h S2S", [=](BenchDevice& d) {
      tpu_gdma_reverse_S2S(d.scratch(64 * kMega), d.scratch(), &kImage, nullptr, nullptr, 2, dtype);
    });
    add("set_C local", [=](BenchDevice&) { tpu_gdma_set_C_local(0, scalar_t{}, &kImage, nullptr, dtype); });
    add("set_C system",
        [=](BenchDevice& d) { tpu_gdma_set_C_system(d.scratch(), scalar_t{}, &kImage, nullptr, dtype); });
  }
  return list;
}

// Rows of a local matrix begin at multiples of 64 bytes: with 16 bytes in each, a move touches four times as much
// memory as it moves, and its limit is a loop that does so, too.
std::vector<Work> narrow_matrices() {
  std::vector<Work> list;
  const auto add = [&](const char* what, std::function<void(BenchDevice&)> kernel) {
    list.push_back(copy(std::string(what) + " int8 1 MB, 16 bytes of every 64", kMega, 0.4, std::move(kernel)));
    list.back().limit_name = "16 of every 64 bytes written, all threads";
    list.back().limit = quarter_lines_limit(kMega);
    list.back().quick = false;
  };
  add("matrix S2L", [](BenchDevice& d) { tpu_gdma_matrix_S2L(0, d.scratch(), 1024, 1024, 16, 1024, DT_INT8); });
  add("matrix L2S", [](BenchDevice& d) { tpu_gdma_matrix_L2S(d.scratch(), 0, 1024, 1024, 16, 1024, DT_INT8); });
  add("matrix_trans S2L",
      [](BenchDevice& d) { tpu_gdma_matrix_trans_S2L(0, d.scratch(), 1024, 1024, 16, 1024, DT_INT8); });
  return list;
}

const bool added = add_work([] {
  std::vector<Work> list;
  for (const Type& type : kTypes)
    for (const int mega : {1, 4, 16}) add_contiguous(list, type, mega);
  for (Work& work : strided()) list.push_back(std::move(work));
  for (Work& work : rearranging()) list.push_back(std::move(work));
  for (Work& work : narrow_matrices()) list.push_back(std::move(work));
  return list;
});

}  // namespace
}  // namespace softtpu::bench
