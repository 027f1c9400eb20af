#include "tools/softtpu/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "device/chip/layout.hpp"
#include "runtime/base/text.hpp"
#include "tools/softtpu/layout_picture.hpp"

namespace softtpu::cli {
namespace {

Error usage(std::string text) { return Error{ErrorKind::kUsage, std::move(text)}; }

Result<std::vector<std::int64_t>> parse_list(const char* option, std::string_view text, std::size_t count) {
  std::vector<std::int64_t> values;
  std::string_view rest = text;
  while (true) {
    const std::size_t comma = rest.find(',');
    const auto number = find_number(rest.substr(0, comma));
    if (!number || *number > INT64_MAX) break;
    values.push_back(static_cast<std::int64_t>(*number));
    if (comma == std::string_view::npos) {
      if (values.size() == count) return values;
      break;
    }
    rest.remove_prefix(comma + 1);
  }
  return usage(fmt::format("{} \"{}\" is not {} whole {} separated by commas", option, text, count,
                           count == 1 ? "number" : "numbers"));
}

std::optional<Dtype> find_dtype(std::string_view name) {
  for (const Dtype type : {Dtype::kFp32, Dtype::kFp16, Dtype::kBfp16, Dtype::kInt8, Dtype::kUint8, Dtype::kInt16,
                           Dtype::kUint16, Dtype::kInt32, Dtype::kUint32, Dtype::kFp8E4M3, Dtype::kFp8E5M2}) {
    if (to_text(type) == name) return type;
  }
  return std::nullopt;
}

// What a --layout name means.
struct LayoutRow {
  std::string_view name;
  LayoutKind kind;
  int pack;           // storage mode that the layout itself brings
  TypeSet types;      // it exists for
  std::size_t shape;  // numbers in --shape
  const char* labels;
};
constexpr const char* kWeightLabels = "ic,oc,kh,kw";
constexpr std::array kLayouts = {
    LayoutRow{"aligned", LayoutKind::kAligned, 1, kAnyTypes, 4, "n,c,h,w"},
    LayoutRow{"compact", LayoutKind::kCompact, 1, kAnyTypes, 4, "n,c,h,w"},
    LayoutRow{"line-aligned", LayoutKind::kLineAligned, 1, kAnyTypes, 4, "n,c,h,w"},
    LayoutRow{"free", LayoutKind::kFree, 1, kAnyTypes, 4, "n,c,h,w"},
    LayoutRow{"matrix", LayoutKind::kAligned, 1, kAnyTypes, 2, "row,column"},
    LayoutRow{"vector", LayoutKind::kAligned, 1, kAnyTypes, 1, "element"},
    LayoutRow{"1ic", LayoutKind::kWeight, 1, kFp32Only, 4, kWeightLabels},
    LayoutRow{"2ic", LayoutKind::kWeight, 2, kFp32Only, 4, kWeightLabels},
    LayoutRow{"32ic", LayoutKind::kWeight, 32, kHalves, 4, kWeightLabels},
    LayoutRow{"64ic", LayoutKind::kWeight, 64, kInts8 | kFp8s, 4, kWeightLabels},
    LayoutRow{"continuous", LayoutKind::kContinuous, 1, kAnyTypes, 4, "n,c,h,w"},
    LayoutRow{"system", LayoutKind::kFreeContinuous, 1, kAnyTypes, 4, "n,c,h,w"},
};

// What a --mode name means: so many neighbours of the first dimension form a unit.
struct ModeRow {
  std::string_view name;
  int pack;
  TypeSet types;
  std::string_view types_text, title;
};
constexpr std::array kModes = {
    ModeRow{"2n", 2, kInts16, "int16 and uint16", ", 2N mode"},
    ModeRow{"4n", 4, kInts8, "int8 and uint8", ", 4N mode"},
    ModeRow{"2ic", 2, kFp32Only, "fp32", ", 2IC mode"},
};

// The mode of --mode; nullptr for none.
Result<const ModeRow*> parse_mode(const LayoutOptions& options, const LayoutRow& layout, Dtype type) {
  if (options.mode == "none") return nullptr;
  const auto mode =
      std::find_if(kModes.begin(), kModes.end(), [&](const ModeRow& row) { return row.name == options.mode; });
  if (mode == kModes.end()) return usage(fmt::format("--mode \"{}\" is not one of none, 2n, 4n, 2ic", options.mode));
  if (layout.kind == LayoutKind::kWeight || layout.labels != std::string_view("n,c,h,w")) {
    return usage(fmt::format("--mode {} does not go with --layout {}", options.mode, layout.name));
  }
  if (!contains(mode->types, type)) {
    return usage(fmt::format("--mode {} is for {}, not for {}", options.mode, mode->types_text, to_text(type)));
  }
  return &*mode;
}

bool takes_stride(const LayoutRow& layout) {
  return layout.kind == LayoutKind::kFree || layout.kind == LayoutKind::kFreeContinuous;
}

Result<std::optional<Stride4>> parse_stride(const LayoutOptions& options, const LayoutRow& layout) {
  if (options.stride.empty() != !takes_stride(layout)) {
    return usage(
        fmt::format("--stride {} with --layout {}", takes_stride(layout) ? "is missing" : "does not go", layout.name));
  }
  if (options.stride.empty()) return std::optional<Stride4>();
  const auto numbers = parse_list("--stride", options.stride, 4);
  if (!numbers) return numbers.error();
  return std::optional<Stride4>(Stride4{(*numbers)[0], (*numbers)[1], (*numbers)[2], (*numbers)[3]});
}

constexpr std::int64_t kMostColumns = 1 << 20;  // of a matrix or vector; a channel's part of them is a tensor's extent

// "columns is 2000000, outside 1..1048576".
Result<void> check_extents(const LayoutOptions& options, const LayoutRow& layout,
                           const std::vector<std::int64_t>& numbers) {
  static constexpr std::array<const char*, 4> kTensor = {"N", "C", "H", "W"}, kWeights = {"IC", "OC", "KH", "KW"};
  const bool matrix = numbers.size() < 4;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const bool columns = matrix && i + 1 == numbers.size();
    const std::int64_t most = columns ? kMostColumns : kMaxExtent;
    if (numbers[i] >= 1 && numbers[i] <= most) continue;
    const bool weights = layout.kind == LayoutKind::kWeight || options.mode == "2ic";
    const char* name = columns ? "columns" : matrix ? "rows" : weights ? kWeights[i] : kTensor[i];
    return usage(fmt::format("--shape {}: {} is {}, outside 1..{}", options.shape, name, numbers[i], most));
  }
  return {};
}

// Fills shape and, for a matrix, the columns that exist.
Result<void> parse_shape(const LayoutOptions& options, const LayoutRow& layout, LayoutSubject& subject) {
  if (options.shape.empty())
    return usage(fmt::format("--shape is missing; for the layout {}: {}", layout.name,
                             layout.shape == 4   ? "--shape 1,64,28,28"
                             : layout.shape == 2 ? "--shape 128,256 --width 32"
                                                 : "--shape 256 --width 32"));
  const auto numbers = parse_list("--shape", options.shape, layout.shape);
  if (!numbers) return numbers.error();
  if (auto good = check_extents(options, layout, *numbers); !good) return good;
  const auto extent = [&](std::size_t i) { return static_cast<int>((*numbers)[i]); };
  const bool matrix = layout.shape < 4;
  if (matrix != (options.width != 0)) {
    return usage(fmt::format("--width {} with --layout {}", matrix ? "is missing" : "does not go", layout.name));
  }
  if (!matrix) {
    subject.shape = {extent(0), extent(1), extent(2), extent(3)};
    return {};
  }
  subject.columns = extent(numbers->size() - 1);
  if (options.width < 1 || options.width > subject.columns) {
    return usage(fmt::format("--width {} is outside 1..{}, the columns of the matrix", options.width, subject.columns));
  }
  subject.shape = matrix_shape(numbers->size() == 2 ? extent(0) : 1, subject.columns, options.width);
  return {};
}

Result<LayoutSubject> parse_subject(const LayoutOptions& options, const Chip& chip, const Lanes& lanes) {
  const auto layout =
      std::find_if(kLayouts.begin(), kLayouts.end(), [&](const LayoutRow& row) { return row.name == options.layout; });
  if (layout == kLayouts.end()) {
    return usage(fmt::format("--layout \"{}\" is not one of {}", options.layout, kLayoutNames));
  }
  const auto type = find_dtype(options.dtype);
  if (!type)
    return usage(fmt::format("--dtype \"{}\" is not a type with whole bytes, for example fp32", options.dtype));
  if (!contains(kAllTypes | chip.extra_types, *type))
    return usage(fmt::format("--dtype {} is not a data type of {}", options.dtype, chip.name));
  if (!contains(layout->types, *type)) {
    return usage(fmt::format("--layout {} does not exist for {}", layout->name, to_text(*type)));
  }
  const auto mode = parse_mode(options, *layout, *type);
  if (!mode) return mode.error();
  const int pack = *mode != nullptr ? (*mode)->pack : layout->pack;
  LayoutSubject subject;
  subject.chip = chip.name;
  subject.dtype = *type;
  subject.layout = std::string(layout->name) + " layout";
  if (*mode != nullptr) subject.layout += (*mode)->title;
  subject.labels = options.mode == "2ic" ? kWeightLabels : layout->labels;
  subject.tensor.lanes = lanes;
  if (auto shape = parse_shape(options, *layout, subject); !shape) return shape.error();
  const auto stride = parse_stride(options, *layout);
  if (!stride) return stride.error();
  if (options.start_npu < 0 || options.start_npu >= lanes.npu_num) {
    return usage(fmt::format("--start-npu {} is outside 0..{}", options.start_npu, lanes.npu_num - 1));
  }
  if (options.offset >= lanes.local_bytes) {
    return usage(fmt::format("--offset {} is outside an NPU's {}", options.offset, to_size_text(lanes.local_bytes)));
  }
  const int unit_bytes = size_of(*type) * pack;
  if (options.offset % static_cast<unsigned>(size_of(*type)) != 0) {
    return usage(fmt::format("--offset {} is not divisible by {}, the size of {}", options.offset, size_of(*type),
                             to_text(*type)));
  }
  const std::uint64_t addr = static_cast<std::uint64_t>(options.start_npu) * lanes.local_bytes + options.offset;
  const auto tensor = make_placement(lanes, layout->kind, addr, subject.shape, pack, size_of(*type), *stride);
  if (!tensor) return usage(fmt::format("[{}] {}: {}", options.shape, to_text(*type), tensor.error().text));
  subject.tensor = *tensor;
  subject.unit_bytes = unit_bytes;
  return subject;
}

constexpr std::size_t kMostMarkName = 24;  // it stands in a cell

Result<std::vector<Mark>> parse_marks(const LayoutOptions& options) {
  std::vector<Mark> marks;
  for (const std::string& text : options.marks) {
    const std::size_t equals = text.find('=');
    const auto addr =
        equals == std::string::npos ? std::nullopt : find_number(std::string_view(text).substr(equals + 1));
    if (!addr || equals == 0) return usage(fmt::format("--mark \"{}\" is not NAME=ADDRESS", text));
    if (equals > kMostMarkName)
      return usage(fmt::format("--mark \"{}\": the name has {} characters (limit {})", text, equals, kMostMarkName));
    marks.push_back({text.substr(0, equals), *addr});
  }
  return marks;
}

}  // namespace

Result<LayoutSubject> make_layout_subject(const LayoutOptions& options, const Chip& chip) {
  return parse_subject(options, chip, lanes_of(chip));
}

Result<Picture> make_layout_picture(const LayoutOptions& options) {
  const auto chip = load_chip(options.chip);
  if (!chip) return chip.error();
  Lanes lanes = lanes_of(*chip);
  if (options.eu_bytes) {
    const int bytes = *options.eu_bytes;
    if (bytes < 1 || bytes > 1024 || (bytes & (bytes - 1)) != 0)
      return usage(fmt::format("--eu-bytes {} is not a power of two up to 1024", bytes));
    lanes.eu_bytes = bytes;
  }
  if (options.npus < 1) return usage(fmt::format("--npus {} is less than 1", options.npus));
  if (options.rows < 1) return usage(fmt::format("--rows {} is less than 1", options.rows));
  if (options.banks) return draw_banks(*chip, options.npus);
  if (!options.marks.empty()) {
    const auto marks = parse_marks(options);
    if (!marks) return marks.error();
    return draw_marks(chip->name, lanes, *marks, options.npus);
  }
  const auto subject = parse_subject(options, *chip, lanes);
  if (!subject) return subject.error();
  return options.features ? draw_features(*subject, options.npus) : draw_elements(*subject, options.npus);
}

namespace {

std::string to_json_text(const Picture& picture) {
  nlohmann::json columns = nlohmann::json::array();
  for (const Column& column : picture.columns) {
    nlohmann::json cells = nlohmann::json::array();
    for (const auto& [number, cell] : column.cells) {
      cells.push_back({{"offset", picture.first_offset + number * picture.cell_bytes},
                       {"label", cell.label},
                       {"partial", cell.partial}});
    }
    columns.push_back({{"name", column.name}, {"cells", std::move(cells)}});
  }
  const nlohmann::json json = {{"format", "softtpu-layout"},       {"version", 1},
                               {"title", picture.title},           {"notes", picture.notes},
                               {"cell_bytes", picture.cell_bytes}, {"columns", std::move(columns)}};
  return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace

int run_layout(const LayoutOptions& options) {
  const auto picture = make_layout_picture(options);
  if (!picture) {
    fmt::print(stderr, "softtpu layout: {}\n", escape_controls(picture.error().text));
    return 2;
  }
  fmt::print("{}", options.json ? to_json_text(*picture) : to_text(*picture, {options.rows}));
  if (options.output.empty()) return 0;
  std::ofstream file(options.output);
  file << to_svg(*picture, {options.rows});
  file.close();
  if (!file) {
    fmt::print(stderr, "softtpu layout: -o: \"{}\" cannot be written: {}\n", escape_controls(options.output),
               std::strerror(errno));
    return 3;
  }
  return 0;
}

}  // namespace softtpu::cli
