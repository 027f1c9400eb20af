// Costs of commands in networks: what each does with local memory, DDR and the array, times parameters that are fitted
// to published times of whole networks (tests/timing/README.md).
//
// A lane's local memory gives or takes 64 bytes in a cycle, and its EU works on a row of its own width. Where both are
// as wide (BM1684X), memory alone explains most of what is not a narrow product: an element-wise command touches the
// rows of its operands and of its result; a pooling, and a convolution of 32-bit floats, touch for each tap the rows
// that the inputs of one row of results lie in, which are two where they are not aligned; a row product reads a row of
// the right matrix and reads and writes one of sums; a lookup reads an index and an entry and writes a result. The rows
// of BM1688 are a quarter as wide, so that memory keeps up and the rows that the EU works through count. DDR moves
// lines: a run that begins or ends inside one moves all of it.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "device/cost/contiguous.hpp"
#include "device/engines/cost.hpp"
#include "device/timing/command_cost.hpp"
#include "device/timing/fit.hpp"
#include "runtime/layout/formulas.hpp"

namespace softtpu {
namespace {

enum class Term : std::uint8_t {
  kBdcStart,
  kGdmaStart,
  kHauStart,
  kHauKib,
  kRow,
  kConvRow,
  kProductRow,
  kConvNarrow,
  kProductHalf,
  kLookup,
  kDivide,
  kSeries,
  kMove,
  kPiece,
  kLoad,
  kStore,
  kCopy,
  kFill,
  kCount,
};
constexpr std::size_t kTerms = static_cast<std::size_t>(Term::kCount);
constexpr std::array<std::string_view, kTerms> kNames = {
    "bdc_start_us",       "gdma_start_us", "hau_start_us",   "hau_us_per_kib", "row_cycles",    "conv_row_cycles",
    "product_row_cycles", "conv_factor",   "product_factor", "lookup_cycles",  "divide_factor", "series_factor",
    "move_factor",        "piece_us",      "load_gbps",      "store_gbps",     "copy_gbps",     "fill_gbps",
};
bool is_rate(Term term) { return term >= Term::kLoad; }

// At most a start and some work.
struct Amounts {
  std::array<std::pair<Term, double>, 3> list{};
  std::size_t count = 0;
  void add(Term term, double amount) {
    if (amount > 0) list[count++] = {term, amount};
  }
};

class FittedCosts final : public CostModel {
 public:
  FittedCosts(const Chip& chip, TimingParameters& timing, CycleModel model, const Fit& fit)
      : CostModel(chip, timing),
        model_(std::move(model)),
        bdc_mhz_(timing.get("bdc_mhz")),
        memory_rows_(std::max(1, static_cast<int>(fit["memory_bytes"].value) / chip.eu_bytes)),
        line_(fit["line_bytes"].value) {
    for (std::size_t i = 0; i < kTerms; ++i) {
      const Fit::Parameter& parameter = fit[kNames[i]];
      each_[i] = is_rate(static_cast<Term>(i)) ? 1 / parameter.value : parameter.value;
      basis_[i] = parameter.basis;
    }
    set_launch(fit["launch_us"].value, fit["launch_us"].basis);
    set_read_gbps(fit["load_gbps"].value);
    const Fit::Parameter* all = fit.parameter("all_cores_gbps");
    const Fit::Parameter* message = fit.parameter("message_us");
    if (all != nullptr && message != nullptr) set_cores(all->value, message->value, all->basis);
    // What no line of the compiler's streams does: inputs and outputs on their way to and from where it put them.
    io_us_per_kb_ = 1 / fit["io_gbps"].value;
    io_basis_ = fit["io_gbps"].basis;
  }

  std::vector<Quantity> quantities(Op op, const Command& command) const override {
    if (is_io(command)) return {{"io_gbps", io_bytes(command) / 1e3}};
    const Amounts amounts = amounts_of(op, command);
    std::vector<Quantity> list;
    for (std::size_t i = 0; i < amounts.count; ++i)
      list.push_back({kNames[static_cast<std::size_t>(amounts.list[i].first)], amounts.list[i].second});
    return list;
  }

 private:
  static bool is_start(Term term) {
    return term == Term::kBdcStart || term == Term::kGdmaStart || term == Term::kHauStart;
  }

  CommandCost engine_cost(Op op, const Command& command) const override {
    CommandCost cost;
    if (is_io(command)) {
      // Its start-up is part of the launch.
      cost.work_us = io_bytes(command) / 1e3 * io_us_per_kb_;
      cost.by_basis[static_cast<std::size_t>(io_basis_)] = cost.work_us;
      return cost;
    }
    const Amounts amounts = amounts_of(op, command);
    for (std::size_t i = 0; i < amounts.count; ++i) {
      const auto& [term, amount] = amounts.list[i];
      const double us = amount * each_[static_cast<std::size_t>(term)];
      (is_start(term) ? cost.start_us : cost.work_us) += us;
      cost.by_basis[static_cast<std::size_t>(basis_[static_cast<std::size_t>(term)])] += us;
    }
    return cost;
  }

  // Blocks of global memory are copied by nothing but a launch itself.
  static bool is_io(const Command& command) {
    const auto* copy = std::get_if<DmaCopyCmd>(&command);
    return copy != nullptr && copy->order == CopyOrder::kBlock && copy->dst.space == Space::kSystem &&
           copy->src.space == Space::kSystem;
  }
  static double io_bytes(const Command& command) {
    return static_cast<double>(CycleTerms::bytes_of(std::get<DmaCopyCmd>(command).dst));
  }

  Amounts amounts_of(Op op, const Command& command) const {
    Amounts amounts;
    const CycleTerms at(model_, chip(), TimingPreset::kFull, op);
    const auto engine = info(op).engine;
    if (engine == Engine::kBdc) {
      amounts.add(Term::kBdcStart, 1);
      std::visit([&](const auto& cmd) { add_bdc(amounts, at, cmd); }, command);
    } else if (engine == Engine::kHau) {
      amounts.add(Term::kHauStart, 1);
      std::visit([&](const auto& cmd) { amounts.add(Term::kHauKib, at.touched_bytes(cmd).cycles / 1024); }, command);
    } else {
      amounts.add(Term::kGdmaStart, 1);
      std::visit([&](const auto& cmd) { add_dma(amounts, at, cmd); }, command);
    }
    return amounts;
  }

  // ---- BDC: cycles of its clock ----
  void add_cycles(Amounts& amounts, Term term, double cycles) const { amounts.add(term, cycles / bdc_mhz_); }

  double blocks(const Tensor& tensor) const {
    const int lane = chip().npu_of(tensor.addr) % chip().npu_num;
    return static_cast<double>(tensor.shape.n * ceil_div(std::int64_t{tensor.shape.c} + lane, chip().npu_num));
  }
  // Rows of local memory that hold the tensor, in one lane. What is one value for a whole channel counts once in it.
  double rows(const Tensor& tensor) const {
    const std::int64_t elements = std::max(1, size_of(tensor.dtype) > 0 ? chip().eu_num(tensor.dtype) : 1);
    const bool one_value = (tensor.shape.h > 1 && tensor.stride.h == 0) || (tensor.shape.w > 1 && tensor.stride.w == 0);
    if (one_value) return blocks(tensor);
    const std::int64_t step = tensor.shape.w > 1 ? std::clamp<std::int64_t>(tensor.stride.w, 1, elements) : 1;
    const std::int64_t area = std::int64_t{tensor.shape.h} * tensor.shape.w;
    return blocks(tensor) * static_cast<double>(ceil_div(area, std::max<std::int64_t>(1, elements / step)));
  }
  // Cycles in which memory moves all operands, and the EU works through the rows of the longest.
  template <class Cmd>
  double row_cycles(const Cmd& cmd) const {
    double sum = 0;
    double most = 0;
    for_each_operand(cmd, [&](Access access, const char*, const Operand& operand) {
      const auto* tensor = std::get_if<Tensor>(&operand);
      if (tensor == nullptr || tensor->space != Space::kLocal) return;
      most = std::max(most, rows(*tensor));
      sum += rows(*tensor) * (access == Access::kReadWrite ? 2 : 1);
    });
    return std::max(most, sum / memory_rows_);
  }

  // Cycles in which memory gives one channel of the input to a window command: for each tap, and each row of results,
  // what it moves in a cycle holds some of the inputs of those results.
  double touched(const Tensor& dst, const Tensor& src, const Window& window) const {
    const int elements = std::max(1, chip().eu_num(src.dtype));
    const std::array<int, 15> key = {dst.shape.h,        dst.shape.w,         src.shape.h,       src.shape.w,
                                     window.kernel.h,    window.kernel.w,     window.stride.h,   window.stride.w,
                                     window.padding.top, window.padding.left, window.dilation.h, window.dilation.w,
                                     window.insert.h,    window.insert.w,     elements};
    const auto [entry, is_new] = touched_.emplace(key, 0);
    if (is_new) entry->second = count_touched(dst.shape, src.shape, window, elements, elements * memory_rows_);
    return entry->second;
  }
  // `elements`: of a row; `width`: that memory gives in a cycle.
  static double count_touched(const Dim4& dst, const Dim4& src, const Window& window, std::int64_t elements,
                              std::int64_t width) {
    std::int64_t sum = 0;
    const std::int64_t area = std::int64_t{dst.h} * dst.w;
    const std::int64_t step_x = std::max(1, window.stride.w);
    const std::int64_t step_y = std::max(1, window.stride.h);
    // Zeros between inputs, as transposed convolutions have them, are places as well, and lie in no row.
    const std::int64_t gap_y = window.insert.h + 1;
    const std::int64_t gap_x = window.insert.w + 1;
    const std::int64_t places_y = (src.h - 1) * gap_y + 1;
    const std::int64_t places_x = (src.w - 1) * gap_x + 1;
    for (int tap_y = 0; tap_y < window.kernel.h; ++tap_y) {
      for (int tap_x = 0; tap_x < window.kernel.w; ++tap_x) {
        const std::int64_t left = std::int64_t{tap_x} * window.dilation.w - window.padding.left;
        // Results of a line whose inputs are not padding.
        const std::int64_t first = left >= 0 ? 0 : ceil_div(-left, step_x);
        const std::int64_t last =
            std::min<std::int64_t>(dst.w - 1, places_x - 1 < left ? -1 : (places_x - 1 - left) / step_x);
        for (std::int64_t begin = 0; begin < area; begin += elements) {
          const std::int64_t end = std::min(begin + elements, area);
          std::int64_t count = 0;
          std::int64_t before = -1;
          for (std::int64_t line = begin / dst.w; line * dst.w < end; ++line) {
            const std::int64_t y = line * step_y + std::int64_t{tap_y} * window.dilation.h - window.padding.top;
            if (y < 0 || y >= places_y || y % gap_y != 0) continue;
            const std::int64_t from = std::max(begin - line * dst.w, first);
            const std::int64_t to = std::min(end - 1 - line * dst.w, last);
            if (from > to) continue;
            const std::int64_t start = y / gap_y * src.w;
            const std::int64_t low = (start + ceil_div(from * step_x + left, gap_x)) / width;
            const std::int64_t high = (start + (to * step_x + left) / gap_x) / width;
            if (high < low) continue;
            const std::int64_t most = step_x <= width ? high - low + 1 : to - from + 1;
            count += std::min(high - low + 1, most) - (low == before ? 1 : 0);
            before = high;
          }
          sum += std::max<std::int64_t>(count, 1);
        }
      }
    }
    return static_cast<double>(sum);
  }

  template <class Cmd>
  void add_bdc(Amounts& amounts, const CycleTerms& at, const Cmd& cmd) const {
    if constexpr (std::is_same_v<Cmd, Conv2dCmd>) {
      if (size_of(cmd.src.dtype) >= 4) {
        add_cycles(amounts, Term::kConvRow, touched(cmd.dst, cmd.src, cmd.window) * blocks(cmd.dst) * cmd.src.shape.c);
      } else {
        add_cycles(amounts, Term::kConvNarrow, work_of(at, cmd).cycles);
      }
    } else if constexpr (std::is_same_v<Cmd, PoolCmd>) {
      add_cycles(amounts, Term::kRow, touched(cmd.dst, cmd.src, cmd.window) * blocks(cmd.dst));
    } else if constexpr (std::is_same_v<Cmd, MatMulCmd>) {
      const Dtype type = type_of(cmd.left);
      const bool by_rows = spreads_columns(cmd.kind);
      const Term term = by_rows ? Term::kProductRow : size_of(type) == 2 ? Term::kProductHalf : Term::kConvNarrow;
      add_cycles(amounts, term, work_of(at, cmd).cycles);
    } else if constexpr (std::is_same_v<Cmd, GatherCmd> || std::is_same_v<Cmd, LookupCmd>) {
      add_cycles(amounts, Term::kLookup, blocks(cmd.dst) * cmd.dst.shape.h * cmd.dst.shape.w);
    } else if constexpr (std::is_same_v<Cmd, MaskSelectCmd>) {
      add_cycles(amounts, Term::kLookup, work_of(at, cmd).cycles);
    } else if constexpr (std::is_same_v<Cmd, DivideCmd>) {
      add_cycles(amounts, Term::kDivide, work_of(at, cmd).cycles);
    } else if constexpr (std::is_same_v<Cmd, TaylorCmd> || std::is_same_v<Cmd, RootCmd> ||
                         std::is_same_v<Cmd, ExponentCmd> || std::is_same_v<Cmd, ReduceCmd>) {
      add_cycles(amounts, Term::kSeries, work_of(at, cmd).cycles);
    } else if constexpr (std::is_same_v<Cmd, CrossCopyCmd>) {
      if (cmd.src.space == Space::kStatic || cmd.order == CopyOrder::kNwhc) {
        add_cycles(amounts, Term::kMove, work_of(at, cmd).cycles);
      } else {
        add_cycles(amounts, Term::kRow, row_cycles(cmd));
      }
    } else if constexpr (std::is_same_v<Cmd, StaticLoadCmd>) {
      add_cycles(amounts, Term::kMove, work_of(at, cmd).cycles);
    } else {
      add_cycles(amounts, Term::kRow, row_cycles(cmd));
    }
  }

  // ---- DMA: KB, lines as a whole ----
  static Term term_of(DmaPath path) {
    switch (path) {
      case DmaPath::kLoad: return Term::kLoad;
      case DmaPath::kStore: return Term::kStore;
      case DmaPath::kSystem:
      case DmaPath::kLocal: return Term::kCopy;
    }
    return Term::kCopy;
  }
  void add_lines(Amounts& amounts, Term term, double runs, double bytes, bool aligned) const {
    const double lines = aligned ? std::ceil(bytes / line_) : 1 + (bytes - 1) / line_;
    amounts.add(term, runs * lines * line_ / 1e3);
  }
  // Whether every run of `run` elements begins where a line does.
  bool begins_lines(const Tensor& tensor, std::int64_t run) const {
    const auto whole = [&](double bytes) { return std::fmod(bytes, line_) == 0; };
    const double size = size_of(tensor.dtype);
    const Dim4& shape = tensor.shape;
    const bool by_h = run < std::int64_t{shape.h} * shape.w;
    return run > 1 && whole(static_cast<double>(tensor.addr)) &&
           (shape.n <= 1 || whole(static_cast<double>(tensor.stride.n) * size)) &&
           (shape.c <= 1 || whole(static_cast<double>(tensor.stride.c) * size)) &&
           (!by_h || shape.h <= 1 || whole(static_cast<double>(tensor.stride.h) * size));
  }

  template <class Cmd>
  void add_dma(Amounts& amounts, const CycleTerms& at, const Cmd& cmd) const {
    if constexpr (std::is_same_v<Cmd, DmaCopyCmd>) {
      const DmaPath path = at.path(cmd.dst, cmd.src);
      const bool inside = path == DmaPath::kSystem || path == DmaPath::kLocal;
      if (inside && (cmd.order == CopyOrder::kBlock || cmd.order == CopyOrder::kNwhc))
        return amounts.add(term_of(path), static_cast<double>(at.bytes_of(cmd.dst)) / 1e3);
      const std::int64_t run = inside ? run_inside(cmd)
                                      : std::min(contiguous_elements(cmd.dst.shape, cmd.dst.stride, cmd.dst.stride),
                                                 contiguous_elements(cmd.src.shape, cmd.src.stride, cmd.src.stride));
      const DmaPieces pieces = at.pieces(moved_by(at, cmd), run);
      const bool aligned = (path == DmaPath::kStore || begins_lines(cmd.src, run)) &&
                           (path == DmaPath::kLoad || begins_lines(cmd.dst, run));
      add_lines(amounts, term_of(path), static_cast<double>(pieces.pieces), static_cast<double>(pieces.piece_bytes),
                aligned);
      // A run that fills no line is a request of its own.
      if (static_cast<double>(pieces.piece_bytes) < line_)
        amounts.add(Term::kPiece, static_cast<double>(pieces.pieces));
    } else if constexpr (std::is_same_v<Cmd, DmaMatrixCmd>) {
      const DmaPath path = at.path(cmd.dst, cmd.src);
      const Tensor& local = path == DmaPath::kLoad ? cmd.dst : cmd.src;
      const Tensor& system = path == DmaPath::kLoad ? cmd.src : cmd.dst;
      const int per_channel = std::max(1, std::min(local.shape.w, system.shape.w));
      const auto runs = static_cast<double>(system.shape.n * ceil_div(system.shape.w, per_channel));
      const double bytes = static_cast<double>(per_channel) * size_of(system.dtype);
      amounts.add(term_of(path), runs * std::max(bytes, line_) / 1e3);
    } else if constexpr (std::is_same_v<Cmd, DmaFillCmd>) {
      amounts.add(Term::kFill, static_cast<double>(at.bytes_of(cmd.dst)) / 1e3);
    } else if constexpr (std::is_same_v<Cmd, DmaRowsCmd>) {
      // As many rows as there are indices, each from a place of its own.
      const Dim4& moved = cmd.mode == RowsMode::kGather ? cmd.dst.shape : cmd.param.shape;
      const double bytes = static_cast<double>(moved.w) * size_of(cmd.dst.dtype);
      add_lines(amounts, Term::kCopy, static_cast<double>(moved.elements()) / std::max(1, moved.w), bytes, false);
    } else {
      // What is read, or what is written, whichever is more.
      double read = 0;
      double written = 0;
      for_each_operand(cmd, [&](Access access, const char*, const Operand& operand) {
        const auto* tensor = std::get_if<Tensor>(&operand);
        if (tensor == nullptr) return;
        const auto bytes = static_cast<double>(at.bytes_of(*tensor));
        read += access == Access::kWrite ? 0 : bytes;
        written += access == Access::kRead ? 0 : bytes;
      });
      amounts.add(Term::kCopy, std::max(read, written) / 1e3);
    }
  }
  // Elements that follow each other on both sides of a copy whose ends lie in one memory: no lane ends a run there.
  static std::int64_t run_inside(const DmaCopyCmd& cmd) {
    const bool in_order = cmd.order == CopyOrder::kNchw || cmd.order == CopyOrder::kReshape;
    const auto run_of = [&](const Tensor& tensor) {
      const Dim4& shape = tensor.shape;
      const Stride4& stride = tensor.stride;
      std::int64_t run = contiguous_elements(shape, stride, stride);
      if (!in_order || run < std::int64_t{shape.h} * shape.w || (shape.c > 1 && stride.c != run)) return run;
      run *= shape.c;
      return shape.n > 1 && stride.n != run ? run : run * shape.n;
    };
    return std::min(run_of(cmd.dst), run_of(cmd.src));
  }

  CycleModel model_;
  double bdc_mhz_ = 1;
  int memory_rows_ = 1;  // rows of an EU that local memory moves in a cycle
  double line_ = 64, io_us_per_kb_ = 0;
  Basis io_basis_ = Basis::kGuess;
  std::array<double, kTerms> each_{};  // microseconds of one
  std::array<Basis, kTerms> basis_{};
  mutable std::map<std::array<int, 15>, double> touched_;
};

}  // namespace

Result<std::unique_ptr<CostModel>> make_fitted_costs(const Chip& chip, const Fit& fit) {
  auto model = CycleModel::make(chip, TimingPreset::kFull);
  if (!model) return model.error();
  TimingParameters timing(chip, TimingPreset::kFull);
  auto costs = std::make_unique<FittedCosts>(chip, timing, std::move(*model), fit);
  if (auto complete = timing.complete(); !complete) return complete.error();
  return std::unique_ptr<CostModel>(std::move(costs));
}

}  // namespace softtpu
