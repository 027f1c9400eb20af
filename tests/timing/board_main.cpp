// BM1690's estimated times beside published medians of boards: the FP16 sum of two matrices of 1024 x 1024 on one core,
// as one block and in tiles, and products in blocks. Prints the table of docs/time.md. Exit status: 0; 1 when --check
// finds another table there.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>

#include "device/core/core.hpp"
#include "device/timing/time_observer.hpp"
#include "tpu_kernel.h"

namespace softtpu::timing {
namespace {

constexpr int kExtent = 1024;
constexpr const char* kBegin = "<!-- board -->\n";
constexpr const char* kEnd = "<!-- end board -->";

struct Row {
  const char* what;
  int rows, columns;  // of a tile
  double board_us;
};
constexpr Row kRows[] = {
    {"one block", 1024, 1024, 115},
    {"8 tiles of 128 x 1024", 128, 1024, 121},
    {"256 tiles of 32 x 128", 32, 128, 632},
};

// One tile after the other, each loaded, added and stored.
void add_in_tiles(std::uint64_t memory, const Row& row) {
  constexpr std::uint64_t kBytes = std::uint64_t{kExtent} * kExtent * 2;
  const dim4 shape = {1, row.rows, 1, row.columns}, whole = {kExtent * kExtent, kExtent, kExtent, 1};
  const auto local = static_cast<local_addr_t>(tpu_aligned_feature_size(1, row.columns, DT_FP16)) *
                     static_cast<local_addr_t>((row.rows + tpu_npu_num() - 1) / tpu_npu_num());
  tpu_initialize();
  for (int h = 0; h < kExtent; h += row.rows) {
    for (int w = 0; w < kExtent; w += row.columns) {
      const std::uint64_t at = memory + (static_cast<std::uint64_t>(h) * kExtent + static_cast<std::uint64_t>(w)) * 2;
      tpu_gdma_cpy_S2L(0, at, &shape, nullptr, &whole, DT_FP16);
      tpu_gdma_cpy_S2L(local, at + kBytes, &shape, nullptr, &whole, DT_FP16);
      tpu_bdc_fp_add(2 * local, 0, local, &shape, nullptr, nullptr, nullptr, DT_FP16);
      tpu_gdma_cpy_L2S(at + 2 * kBytes, 2 * local, &shape, &whole, nullptr, DT_FP16);
    }
  }
  tpu_poll();
}

// A product in blocks of 32 x 32 x 32: two loads and a product for each step, a store for each block of results.
struct Product {
  const char* type;
  data_type_t dtype;
  int extent;
  double board_us, other_board_us;  // of two compilers
};
constexpr Product kProducts[] = {
    {"BF16", DT_BFP16, 256, 1121, 1260}, {"BF16", DT_BFP16, 512, 7257, 8422},  {"BF16", DT_BFP16, 1024, 55043, 64281},
    {"FP16", DT_FP16, 256, 1070, 1196},  {"FP16", DT_FP16, 512, 7283, 8370},   {"FP16", DT_FP16, 1024, 55982, 64836},
    {"FP32", DT_FP32, 256, 1551, 1768},  {"FP32", DT_FP32, 512, 11135, 12840}, {"FP32", DT_FP32, 1024, 86846, 98204},
};
void multiply_in_blocks(std::uint64_t memory, const Product& product) {
  const int extent = product.extent;
  const auto size = static_cast<std::uint64_t>(tpu_data_type_size(product.dtype));
  constexpr int kBlock = 32;
  // Rows lie in channels, those of 32-bit floats one after the other in one channel.
  const bool in_channels = product.dtype != DT_FP32;
  const dim4 shape = in_channels ? dim4{1, kBlock, 1, kBlock} : dim4{kBlock, 1, 1, kBlock};
  const dim4 whole = in_channels ? dim4{extent * extent, extent, extent, 1} : dim4{extent, extent, extent, 1};
  constexpr local_addr_t kStep = 0x4000;
  const std::uint64_t bytes = size * static_cast<std::uint64_t>(extent) * static_cast<std::uint64_t>(extent);
  const auto at = [&](int row, int column) {
    return static_cast<std::uint64_t>(row) * static_cast<std::uint64_t>(extent) + static_cast<std::uint64_t>(column);
  };
  tpu_initialize();
  for (int m = 0; m < extent; m += kBlock) {
    for (int n = 0; n < extent; n += kBlock) {
      for (int k = 0; k < extent; k += kBlock) {
        tpu_gdma_cpy_S2L(0, memory + size * at(m, k), &shape, nullptr, &whole, product.dtype);
        tpu_gdma_cpy_S2L(kStep, memory + bytes + size * at(k, n), &shape, nullptr, &whole, product.dtype);
        if (product.dtype == DT_FP32) {
          tpu_bdc_fp32_mm(2 * kStep, 0, kStep, 0, kBlock, kBlock, kBlock, kBlock, kBlock, false, k > 0);
        } else {
          tpu_bdc_fp_mm(2 * kStep, 0, kStep, kBlock, kBlock, kBlock, DT_FP32, product.dtype, k > 0);
        }
      }
      tpu_gdma_cpy_L2S(memory + 2 * bytes + 4 * at(m, n), 2 * kStep, &shape, &whole, nullptr, DT_FP32);
    }
  }
  tpu_poll();
}

Result<double> estimate(const std::function<void()>& kernel, const Chip& chip) {
  auto memories = Memories::create(chip);
  if (!memories) return memories.error();
  auto observer = make_time_observer(chip, {TimingPreset::kFull, false, {}, {}});
  if (!observer) return observer.error();
  Core core(**memories, 0);
  core.add_observer(*observer);
  const auto call = [](const void* argument) { (*static_cast<const std::function<void()>*>(argument))(); };
  const LaunchOutcome outcome = core.run(call, "add", &kernel);
  if (!outcome.ok) return Error{outcome.kind, outcome.text};
  return *outcome.estimated_us;
}

Result<std::string> table() {
  const auto chip = load_chip("bm1690");
  if (!chip) return chip.error();
  std::string text =
      "| FP16 sum of 1024 x 1024, one core | board, median | estimated | estimated / board |\n|---|---|---|---|\n";
  for (const Row& row : kRows) {
    const std::uint64_t memory = chip->global_mem.start + chip->global_reserved;
    const auto us = estimate([&] { add_in_tiles(memory, row); }, *chip);
    if (!us) return us.error();
    text += fmt::format("| {} | {:.0f} us | {:.0f} us | {:.2f} |\n", row.what, row.board_us, *us, *us / row.board_us);
  }
  text +=
      "\n| product in blocks of 32 x 32 x 32, one core | board, by TileLang | by PPL | estimated | estimated / the "
      "former "
      "|\n|---|---|---|---|---|\n";
  for (const Product& product : kProducts) {
    const std::uint64_t memory = chip->global_mem.start + chip->global_reserved;
    const auto us = estimate([&] { multiply_in_blocks(memory, product); }, *chip);
    if (!us) return us.error();
    text += fmt::format("| {} of {} | {:.2f} ms | {:.2f} ms | {:.2f} ms | {:.2f} |\n", product.type, product.extent,
                        product.board_us / 1e3, product.other_board_us / 1e3, *us / 1e3, *us / product.board_us);
  }
  return text;
}

// The page with the table between its markers; an empty text when they are not there.
std::string filled(const std::string& page, const std::string& rows) {
  const std::size_t begin = page.find(kBegin), end = page.find(kEnd);
  if (begin == std::string::npos || end == std::string::npos || end < begin) return {};
  return page.substr(0, begin) + kBegin + rows + page.substr(end);
}

int run(const std::string& check, const std::string& write) {
  const auto rows = table();
  if (!rows) return fmt::print(stderr, "{}\n", rows.error().text), 1;
  fmt::print("{}", *rows);
  const std::string& path = check.empty() ? write : check;
  if (path.empty()) return 0;
  std::ifstream file(path);
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  const std::string wanted = filled(page, *rows);
  if (wanted.empty()) return fmt::print(stderr, "{}: no place for the table\n", path), 1;
  if (wanted == page) return 0;
  if (!check.empty())
    return fmt::print(stderr, "{}: another table; timing_board --write {} renews it\n", path, path), 1;
  std::ofstream(path) << wanted;
  return 0;
}

}  // namespace
}  // namespace softtpu::timing

int main(int argc, char** argv) {
  CLI::App app("Estimated times of BM1690 beside published medians of boards");
  std::string check, write;
  auto* checked = app.add_option("--check", check, "a page that has to hold the table");
  app.add_option("--write", write, "a page to be given the table")->excludes(checked);
  CLI11_PARSE(app, argc, argv);
  return softtpu::timing::run(check, write);
}
