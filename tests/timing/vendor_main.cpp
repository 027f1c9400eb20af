// The cycle formulas of BM1684X against the estimates of the vendor's emulator. Prints, for each class of commands, how
// many of them are reproduced exactly. Exit status: 0 when all are; 1 otherwise.
#include <fmt/format.h>

#include <cstdlib>
#include <functional>

#include "device/cost/cycle_model.hpp"
#include "tests/timing/csv.hpp"

namespace softtpu::timing {
namespace {

Dtype dtype_of(const std::string& text) {
  if (text == "int8") return Dtype::kInt8;
  if (text == "f16") return Dtype::kFp16;
  if (text == "bf16") return Dtype::kBfp16;
  return Dtype::kFp32;
}

// "f16->f32": the wider type decides.
Dtype widest(const std::string& text) {
  const std::size_t arrow = text.find("->");
  if (arrow == std::string::npos) return dtype_of(text);
  const Dtype from = dtype_of(text.substr(0, arrow));
  const Dtype to = dtype_of(text.substr(arrow + 2));
  return size_of(from) > size_of(to) ? from : to;
}

DmaPath path_of(const std::string& text) {
  if (text == "S2L") return DmaPath::kLoad;
  if (text == "L2S") return DmaPath::kStore;
  return text == "L2L" ? DmaPath::kLocal : DmaPath::kSystem;
}

struct Estimate {
  const CycleModel& model;
  const Row& row;

  const std::string& text(const char* name) const { return row.at(name); }
  bool notes(const char* what) const { return text("note").find(what) != std::string::npos; }
  int noted_number() const { return std::atoi(text("note").substr(text("note").find_last_of(" =") + 1).c_str()); }
  int number(const char* name) const { return integer(row, name); }
  Dim4 shape() const { return {number("n"), number("c"), number("h"), number("w")}; }
  Dtype type() const { return widest(text("dtype")); }
  DmaPath path() const { return path_of(text("direction")); }
  bool one_bank() const { return notes("one bank"); }
  DmaPieces pieces() const {
    const Dim4 s = shape();
    const std::int64_t piece = notes("contiguous") ? std::int64_t{s.h} * s.w : notes("rows") ? s.w : 1;
    return {s.elements() / piece, piece * size_of(type())};
  }
};

using Formula = std::function<double(const Estimate&)>;

double arithmetic(const Estimate& e) {
  const int stride = e.notes("w stride") ? e.noted_number() : 1;
  return e.model.arithmetic(e.shape(), 0, e.type(), stride, e.one_bank());
}
double sum_of_products(const Estimate& e) {
  const int lane = e.notes("start lane") ? e.noted_number() : 0;
  return e.model.arithmetic(e.shape(), lane, e.type(), 1, false);
}
double one_pass(const Estimate& e) { return e.model.arithmetic(e.shape(), 0, e.type(), 1, false); }
double taylor(const Estimate& e) { return e.model.taylor(e.shape(), 0, e.type(), e.number("table_len")); }
double window(const Estimate& e) {
  return e.model.window(e.shape(), {e.number("kh"), e.number("kw")}, {e.number("stride_h"), e.number("stride_w")}, 0,
                        e.type());
}
double convolution(const Estimate& e) {
  return e.model.convolution(e.shape(), e.number("ic"), {e.number("kh"), e.number("kw")}, 0, e.type());
}
double tiles(const Estimate& e) {
  return e.model.matmul_tiles(e.number("m"), e.number("k"), e.number("n_cols"), e.type());
}
// The note reads "result split into CHANNELS channels of COLUMNS columns".
double rows(const Estimate& e) {
  constexpr std::size_t kBefore = sizeof("result split into");
  const int channels = std::atoi(e.text("note").substr(kBefore).c_str());
  const int columns = std::atoi(e.text("note").substr(e.text("note").find(" of ") + 4).c_str());
  return e.model.matmul_rows(e.number("m"), e.number("k"), channels, columns, 0, e.type());
}
Formula gather(CycleModel::Gather kind) {
  return [kind](const Estimate& e) { return e.model.gather(e.number("n"), e.number("c"), e.number("h"), kind); };
}
Formula matrix(bool transposed) {
  return [transposed](const Estimate& e) {
    return e.model.vendor_matrix_copy(e.path(), e.number("m"), e.number("n_cols"), e.number("w"), e.type(), transposed);
  };
}
double stream(const Estimate& e) { return e.model.stream(e.path(), e.number("bytes")); }

const std::map<std::string, Formula>& formulas() {
  using Gather = CycleModel::Gather;
  static const std::map<std::string, Formula> kFormulas = {
      {"fused_linear (mac / square sum / square diff)", sum_of_products},
      {"fused_compare_select", [](const Estimate& e) { return e.model.compare(e.shape(), 0, e.type()); }},
      {"sfu taylor_4x", taylor},
      {"sfu taylor", taylor},
      {"sfu normalize", one_pass},
      {"sfu rsqrt", [](const Estimate& e) { return e.model.root(e.shape(), 0, e.type()); }},
      {"arith add", arithmetic},
      {"arith mul", arithmetic},
      {"arith cast", arithmetic},
      {"arith copy", arithmetic},
      {"arith mac", arithmetic},
      {"arith clamp", arithmetic},
      {"arith div", [](const Estimate& e) { return e.model.divide(e.shape(), 0, e.type(), e.noted_number()); }},
      {"depthwise conv / pooling", window},
      {"conv2d", convolution},
      {"mm2 NN", tiles},
      {"mm2 NT", tiles},
      {"mm2 TT", tiles},
      {"mm (row-wise; f32)", rows},
      {"vector correlation", one_pass},
      {"cw transpose (mode 0)", [](const Estimate& e) { return e.model.transpose_to_w(e.shape(), e.type()); }},
      {"wc transpose (mode 1)", [](const Estimate& e) { return e.model.transpose_to_c(e.shape(), e.type()); }},
      {"gather/scatter line", [](const Estimate& e) { return e.model.gather_lines(e.shape(), e.type()); }},
      {"lane copy / broadcast",
       [](const Estimate& e) { return e.model.lane_copy(e.shape(), 0, e.type(), e.one_bank()); }},
      {"requant/dequant", [](const Estimate& e) { return e.model.quantise(e.shape(), 0, e.one_bank()); }},
      {"sg gather 1d (per lane)", gather(Gather::kIndex)},
      {"sg gather 1d (shared source)", gather(Gather::kIndex)},
      {"sg scatter 1d (per lane)", gather(Gather::kIndex)},
      {"sg mask select", gather(Gather::kIndex)},
      {"sg nonzero", gather(Gather::kIndex)},
      {"sg gather hw (h out of range 0)", gather(Gather::kPair)},
      {"sg gather multi", gather(Gather::kFourBanks)},
      {"sg mask select hw", gather(Gather::kMaskPair)},
      {"static broadcast", [](const Estimate& e) { return e.model.static_broadcast(e.number("n_cols")); }},
      {"static distribute", [](const Estimate& e) { return e.model.static_broadcast(e.number("c")); }},
      {"gdma linear copy", stream},
      {"gdma gather", stream},
      {"gdma cw transpose", stream},
      {"gdma tensor copy", [](const Estimate& e) { return e.model.tensor_copy(e.path(), e.pieces()); }},
      {"gdma fill constant", [](const Estimate& e) { return e.model.fill(e.pieces()); }},
      {"gdma matrix copy", matrix(false)},
      {"gdma matrix copy transposed", matrix(true)},
  };
  return kFormulas;
}

struct Score {
  int exact = 0;
  int total = 0;
};

int run(const std::string& path) {
  const auto chip = load_chip("bm1684x");
  const auto model = chip ? CycleModel::make(*chip, TimingPreset::kVendor) : Result<CycleModel>(chip.error());
  if (!model) return fmt::print(stderr, "{}\n", model.error().text), 1;
  const auto table = read_table(path);
  if (table.empty()) return fmt::print(stderr, "{}: no estimates\n", path), 1;
  std::map<std::string, Score> scores;
  Score all;
  for (const Row& row : table) {
    const auto formula = formulas().find(row.at("command"));
    if (formula == formulas().end()) return fmt::print(stderr, "no formula for \"{}\"\n", row.at("command")), 1;
    const double expected = std::stod(row.at("vendor_cycles"));
    const double got = formula->second({*model, row});
    Score& score = scores[row.at("command")];
    const int exact = got == expected ? 1 : 0;
    score.exact += exact;
    all.exact += exact;
    ++score.total;
    ++all.total;
    if (exact == 0)
      fmt::print("{} {}: {} cycles, the vendor says {}\n", row.at("command"), row.at("note"), got, expected);
  }
  for (const auto& [name, score] : scores) fmt::print("{:<46} {:>4} of {:>4} exact\n", name, score.exact, score.total);
  fmt::print("{:<46} {:>4} of {:>4} exact\n", "all", all.exact, all.total);
  return all.exact == all.total ? 0 : 1;
}

}  // namespace
}  // namespace softtpu::timing

int main(int argc, char** argv) {
  if (argc > 2) return fmt::print(stderr, "usage: timing_vendor [vendor_estimates.csv]\n"), 2;
  return softtpu::timing::run(argc == 2 ? argv[1] : SOFTTPU_VENDOR_TABLE);
}
