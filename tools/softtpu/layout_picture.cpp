#include "tools/softtpu/layout_picture.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/base/text.hpp"

namespace softtpu::cli {
namespace {

constexpr std::int64_t kMaxElements = std::int64_t{1} << 22;  // drawn one by one

std::string plural(std::int64_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// The columns of a picture, and which NPU each stands for.
class Columns {
 public:
  Columns(Picture& picture, const LayoutSubject& subject, int npus) : picture_(picture) {
    const Lanes& lanes = subject.tensor.lanes;
    if (!subject.tensor.local) {
      picture.columns = {{"system memory", {}}};
      of_npu_ = {0};
      return;
    }
    of_npu_.assign(static_cast<std::size_t>(lanes.npu_num), -1);
    const bool all = lanes.npu_num <= npus;
    const int used = std::min(lanes.npu_num, subject.shape.c);
    const int shown = all ? lanes.npu_num : std::min(used, npus);
    for (int i = 0; i < shown; ++i) {
      const int npu = all ? i : (subject.tensor.start_npu() + i) % lanes.npu_num;
      of_npu_[static_cast<std::size_t>(npu)] = i;
      picture.columns.push_back({fmt::format("NPU {}", npu), {}});
    }
    if (!all && used > shown) {
      picture.notes.push_back(fmt::format("{} more NPUs hold data and are not drawn.", used - shown));
    }
  }

  Column* find(int npu) {
    const int column = of_npu_[static_cast<std::size_t>(npu)];
    return column < 0 ? nullptr : &picture_.columns[static_cast<std::size_t>(column)];
  }

 private:
  Picture& picture_;
  std::vector<int> of_npu_;
};

std::string label_of(const LayoutSubject& subject, int first, int last, int c, int h, int w) {
  if (subject.labels == "element") return std::to_string(c * subject.shape.w + w);
  if (subject.labels == "row,column") return fmt::format("{},{}", first, c * subject.shape.w + w);
  const std::string n = first == last ? std::to_string(first) : fmt::format("{}-{}", first, last);
  return fmt::format("{},{},{},{}", n, c, h, w);
}

// Calls draw(unit's first n, its last n, c, h, w) for each unit that holds elements.
template <class Draw>
void for_each_unit(const LayoutSubject& subject, Draw draw) {
  const Dim4& shape = subject.shape;
  for (int n = 0; n < shape.n; n += subject.tensor.pack) {
    for (int c = 0; c < shape.c; ++c) {
      for (int h = 0; h < shape.h; ++h) {
        for (int w = 0; w < shape.w; ++w) {
          if (subject.columns != 0 && std::int64_t{c} * shape.w + w >= subject.columns) continue;
          draw(n, std::min(n + subject.tensor.pack, shape.n) - 1, c, h, w);
        }
      }
    }
  }
}

int preferred_row(const LayoutSubject& subject) {
  const Stride4& stride = subject.tensor.stride;
  const bool dense = stride.w == 1 && stride.h == subject.shape.w && subject.shape.w >= 2 && subject.shape.w <= 8;
  const bool whole = stride.c % subject.shape.w == 0 && stride.n % subject.shape.w == 0;
  if (dense && whole) return subject.shape.w;
  return 8;
}

void describe(Picture& picture, const LayoutSubject& subject) {
  const Placement& tensor = subject.tensor;
  const Lanes& lanes = tensor.lanes;
  picture.title = fmt::format("{} {}, {}", to_text(subject.shape), to_text(subject.dtype), subject.layout);
  if (subject.columns != 0) {
    picture.title = fmt::format("{} x {} {}, {}, {} columns per channel", subject.shape.n, subject.columns,
                                to_text(subject.dtype), subject.layout, subject.shape.w);
  }
  if (tensor.local) {
    const std::int64_t offset = split_local_address(lanes, tensor.addr).offset;
    picture.title += fmt::format(", from NPU {}", tensor.start_npu());
    if (offset != 0) picture.title += fmt::format(", offset {}", offset);
    picture.notes.push_back(
        fmt::format("{}: {} with {} each, aligned layouts count {} bytes; {} per NPU, {} per NPU used.", subject.chip,
                    plural(lanes.npu_num, "NPU"), to_size_text(lanes.local_bytes), lanes.eu_bytes,
                    plural(channels_per_npu(lanes.npu_num, tensor.start_npu(), subject.shape.c), "channel"),
                    plural(tensor.reserved_bytes(), "byte")));
  }
  picture.notes.push_back(fmt::format(
      "Strides N {}, C {}, H {}, W {}{}. A cell is {}{}; labels are {}; grey or dots: padding.{}", tensor.stride.n,
      tensor.stride.c, tensor.stride.h, tensor.stride.w,
      tensor.pack > 1 ? fmt::format(", in units of {} elements", tensor.pack) : "", plural(subject.unit_bytes, "byte"),
      tensor.pack > 1 ? fmt::format(" ({} elements)", tensor.pack) : "", subject.labels,
      tensor.pack > 1 && subject.shape.n % tensor.pack != 0 ? " Paler units are completed by dummy elements." : ""));
}

}  // namespace

Result<Picture> draw_elements(const LayoutSubject& subject, int npus) {
  if (subject.shape.elements() > kMaxElements) {
    return Error{ErrorKind::kUsage,
                 fmt::format("{} elements are too many to draw (at most {})", subject.shape.elements(), kMaxElements)};
  }
  Picture picture;
  const Placement& tensor = subject.tensor;
  const std::int64_t start = tensor.local ? split_local_address(tensor.lanes, tensor.addr).offset : 0;
  picture.cell_bytes = subject.unit_bytes;
  picture.first_offset = start;
  picture.preferred_row = preferred_row(subject);
  const std::int64_t room = tensor.local ? tensor.lanes.local_bytes - start : tensor.reserved_bytes();
  picture.cells = ceil_div(std::min(tensor.reserved_bytes(), room), subject.unit_bytes);
  const Dim4& s = subject.shape;
  picture.single_digits = tensor.pack == 1 && std::max({s.n, s.c, s.h, s.w}) <= 10 && subject.columns == 0;
  describe(picture, subject);
  Columns columns(picture, subject, npus);
  std::int64_t shared = 0;
  for_each_unit(subject, [&](int first, int last, int c, int h, int w) {
    const LocalSpot spot = tensor.spot(first, c, h, w);
    Column* column = columns.find(spot.npu);
    if (column == nullptr) return;
    const bool partial = last - first + 1 < tensor.pack;
    const bool weights = subject.labels == "ic,oc,kh,kw";
    const int shade = weights ? first / tensor.pack : first;
    const auto [cell, fresh] = column->cells.try_emplace(
        (spot.offset - start) / subject.unit_bytes, Cell{label_of(subject, first, last, c, h, w), c, shade, partial});
    if (!fresh) ++shared;
  });
  if (shared > 0)
    picture.notes.push_back(
        fmt::format("{} lie on a cell that another element has; the first is shown.", plural(shared, "element")));
  return picture;
}

Result<Picture> draw_features(const LayoutSubject& subject, int npus) {
  if (!subject.tensor.local || subject.columns != 0 || subject.tensor.pack != 1) {
    return Error{ErrorKind::kUsage, "--features is for plain tensors in local memory"};
  }
  const std::int64_t features = std::int64_t{subject.shape.n} * subject.shape.c;
  if (features > kMaxElements) {
    return Error{ErrorKind::kUsage,
                 fmt::format("{} features are too many to draw (at most {})", features, kMaxElements)};
  }
  Picture picture;
  const int npu_num = subject.tensor.lanes.npu_num;
  const int start = subject.tensor.start_npu();
  const std::int64_t rows = channels_per_npu(npu_num, start, subject.shape.c);
  picture.title = fmt::format("Features of {} from NPU {}", to_text(subject.shape), start);
  picture.notes.push_back(
      fmt::format("{}: {}; {} per NPU. A cell is the memory of one feature (n,c); grey or dots: empty.", subject.chip,
                  plural(npu_num, "NPU"), plural(rows, "channel")));
  picture.cell_bytes = 0;
  picture.preferred_row = 1;
  picture.cells = rows * subject.shape.n;
  Columns columns(picture, subject, npus);
  for (int n = 0; n < subject.shape.n; ++n) {
    for (int c = 0; c < subject.shape.c; ++c) {
      Column* column = columns.find(npu_of_channel(npu_num, start, c));
      if (column == nullptr) continue;
      column->cells[n * rows + row_of_channel(npu_num, start, c)] = {fmt::format("{},{}", n, c), c, n, false};
    }
  }
  return picture;
}

Result<Picture> draw_marks(const std::string& chip, const Lanes& lanes, const std::vector<Mark>& marks, int npus) {
  constexpr std::int64_t kCells = 256;
  Picture picture;
  picture.title = "Addresses in local memory";
  picture.cell_bytes = std::max<std::int64_t>(4, lanes.local_bytes / kCells);
  picture.cells = ceil_div(lanes.local_bytes, picture.cell_bytes);
  picture.preferred_row = 16;
  picture.notes.push_back(fmt::format("{}: {} with {} each. A cell is {}.", chip, plural(lanes.npu_num, "NPU"),
                                      to_size_text(lanes.local_bytes), plural(picture.cell_bytes, "byte")));
  const int shown = std::min(npus, lanes.npu_num);
  for (int npu = 0; npu < shown; ++npu) picture.columns.push_back({fmt::format("NPU {}", npu), {}});
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const Mark& mark = marks[i];
    const std::uint64_t end = std::uint64_t{lanes.local_bytes} * static_cast<std::uint64_t>(lanes.npu_num);
    if (mark.addr >= end) {
      return Error{ErrorKind::kUsage,
                   fmt::format("--mark {}={} is outside the local memories (0..{})", mark.name, mark.addr, end - 1)};
    }
    const LocalSpot spot = split_local_address(lanes, mark.addr);
    picture.notes.push_back(fmt::format("{} = {} = {} * {} + {}: NPU {}, offset {}", mark.name, mark.addr, spot.npu,
                                        lanes.local_bytes, spot.offset, spot.npu, spot.offset));
    if (spot.npu >= shown) continue;
    picture.columns[static_cast<std::size_t>(spot.npu)].cells[spot.offset / picture.cell_bytes] = {
        mark.name, static_cast<int>(i), 0, false};
  }
  return picture;
}

Picture draw_banks(const Chip& chip, int npus) {
  Picture picture;
  picture.title = fmt::format("Local memory of {}", chip.name);
  picture.notes.push_back(fmt::format("{} with {} each, in {} of {}. A cell is a bank with its first and last address.",
                                      plural(chip.npu_num, "NPU"), to_size_text(chip.local_bytes),
                                      plural(chip.banks, "bank"), to_size_text(chip.bank_bytes())));
  picture.preferred_row = 1;
  picture.cells = chip.banks;
  picture.cell_bytes = chip.bank_bytes();
  const int shown = std::min(npus, chip.npu_num);
  for (int i = 0; i < shown; ++i) {
    const int npu = i + 1 == shown ? chip.npu_num - 1 : i;  // the last column is the last NPU
    Column column{fmt::format("NPU {}", npu), {}};
    for (int bank = 0; bank < chip.banks; ++bank) {
      const std::uint64_t first =
          static_cast<std::uint64_t>(npu) * chip.local_bytes + static_cast<std::uint64_t>(bank) * chip.bank_bytes();
      column.cells[bank] = {fmt::format("{}-{}", first, first + chip.bank_bytes() - 1), bank, 0, false};
    }
    picture.columns.push_back(std::move(column));
  }
  if (shown < chip.npu_num) picture.notes.push_back(fmt::format("{} NPUs are not drawn.", chip.npu_num - shown));
  return picture;
}

}  // namespace softtpu::cli
