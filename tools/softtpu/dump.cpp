#include "tools/softtpu/dump.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "device/chip/layout.hpp"
#include "runtime/base/text.hpp"
#include "tools/softtpu/command.hpp"
#include "tools/softtpu/dump_source.hpp"
#include "tools/softtpu/npy.hpp"

namespace softtpu::cli {
namespace {

constexpr std::uint64_t kMostBytes = 1ULL << 32;
constexpr std::uint64_t kHexRow = 16;

Error usage(std::string text) { return Error{ErrorKind::kUsage, std::move(text)}; }

// A shared file, mapped to be read.
class MappedFile {
 public:
  static Result<MappedFile> open(const UniqueFd& file) {
    struct stat status {};
    MappedFile mapped;
    if (::fstat(file.get(), &status) != 0)
      return Error{ErrorKind::kResource, fmt::format("fstat: {}", std::strerror(errno))};
    mapped.bytes_ = static_cast<std::uint64_t>(status.st_size);
    void* data = ::mmap(nullptr, mapped.bytes_, PROT_READ, MAP_SHARED, file.get(), 0);
    if (data == MAP_FAILED)
      return Error{ErrorKind::kResource,
                   fmt::format("mmap of {}: {}", to_size_text(mapped.bytes_), std::strerror(errno))};
    mapped.data_ = static_cast<const std::uint8_t*>(data);
    return mapped;
  }
  MappedFile(MappedFile&& other) noexcept : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  MappedFile& operator=(MappedFile&&) = delete;
  MappedFile(const MappedFile&) = delete;
  ~MappedFile() {
    if (data_ != nullptr) ::munmap(const_cast<std::uint8_t*>(data_), bytes_);
  }
  const std::uint8_t* data() const { return data_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  MappedFile() = default;
  const std::uint8_t* data_ = nullptr;
  std::uint64_t bytes_ = 0;
};

// Where a memory begins for kernels; 0 for local memory, whose addresses count from its own start.
Result<std::uint64_t> start_of(const Chip& chip, const std::string& space) {
  if (space == "local" || space == "static") return std::uint64_t{0};
  if (space == "global") return chip.global_mem.start;
  if (space == "l2") return chip.l2_sram.start;
  if (space == "dtcm" && chip.dtcm) return chip.dtcm->start;
  return usage(
      fmt::format("--space \"{}\" is not one of local, global, l2, static{}", space, chip.dtcm ? ", dtcm" : ""));
}

Result<std::uint64_t> offset_of(const DumpOptions& options, const Chip& chip, std::uint64_t memory_bytes) {
  auto start = start_of(chip, options.space);
  if (!start) return start;
  const auto address = options.address.empty() ? *start : find_number(options.address);
  if (!address) return usage(fmt::format("--address \"{}\" is not a number", options.address));
  const std::uint64_t offset = *address >= *start ? *address - *start : *address;
  if (offset < memory_bytes) return offset;
  return usage(fmt::format("--address {} is outside {} memory (0x{:x}..0x{:x})", options.address, options.space, *start,
                           *start + memory_bytes - 1));
}

void print_hex(const MappedFile& memory, std::uint64_t offset, std::uint64_t bytes, std::uint64_t shown_start) {
  for (std::uint64_t at = 0; at < bytes; at += kHexRow) {
    std::string numbers, letters;
    for (std::uint64_t i = at; i < std::min(bytes, at + kHexRow); ++i) {
      const std::uint8_t byte = memory.data()[offset + i];
      numbers += fmt::format("{:02x} ", byte);
      letters += byte >= 32 && byte < 127 ? static_cast<char>(byte) : '.';
    }
    fmt::print("{:08x}  {:48} {}\n", shown_start + offset + at, numbers, letters);
  }
}

struct Elements {
  Dtype dtype;
  std::vector<std::uint64_t> shape;
  std::vector<std::uint8_t> bytes;
};

// As people count them: a matrix has rows and columns, wherever its channels lie.
std::vector<std::uint64_t> extents_of(const LayoutSubject& subject) {
  const Dim4& shape = subject.shape;
  const auto extent = [](int value) { return static_cast<std::uint64_t>(value); };
  if (subject.columns == 0) return {extent(shape.n), extent(shape.c), extent(shape.h), extent(shape.w)};
  if (subject.labels == "element") return {extent(subject.columns)};
  return {extent(shape.n), extent(subject.columns)};
}

// In the order of extents_of(), the last one fastest.
template <class Visit>
void for_each_element(const LayoutSubject& subject, const Visit& visit) {
  const Dim4& shape = subject.shape;
  for (int n = 0; n < shape.n; ++n) {
    for (int column = 0; column < subject.columns; ++column) visit(n, column / shape.w, 0, column % shape.w);
    for (int c = 0; c < shape.c && subject.columns == 0; ++c) {
      for (int h = 0; h < shape.h; ++h) {
        for (int w = 0; w < shape.w; ++w) visit(n, c, h, w);
      }
    }
  }
}

Result<Elements> read_tensor(const DumpOptions& options, const Chip& chip, const MappedFile& memory,
                             std::uint64_t offset) {
  LayoutOptions layout = options.tensor;
  const bool local = options.space == "local";
  const Lanes lanes = lanes_of(chip);
  if (local) {
    layout.start_npu = static_cast<int>(offset / static_cast<std::uint64_t>(lanes.local_bytes));
    layout.offset = offset % static_cast<std::uint64_t>(lanes.local_bytes);
  } else if (layout.layout == "aligned") {
    layout.layout = "continuous";
  }
  auto subject = make_layout_subject(layout, chip);
  if (!subject) return subject.error();
  if (subject->tensor.local != local) {
    return usage(fmt::format("--layout {} is not for {} memory", layout.layout, options.space));
  }
  // In local memory the placement has been checked against the end of an NPU.
  const std::uint64_t base = local ? 0 : offset;
  const auto end = static_cast<std::uint64_t>(subject->tensor.end_offset());
  if (!local && end > memory.bytes() - base)
    return usage(fmt::format("the tensor ends outside {} memory ({} bytes)", options.space, memory.bytes()));
  Elements elements{subject->dtype, extents_of(*subject), {}};
  const auto size = static_cast<std::uint64_t>(size_of(subject->dtype));
  std::uint64_t bytes = size;
  for (const std::uint64_t extent : elements.shape) bytes *= extent;
  if (bytes > kMostBytes) return usage(fmt::format("the tensor's {} bytes are more than {}", bytes, kMostBytes));
  elements.bytes.reserve(bytes);
  for_each_element(*subject, [&](int n, int c, int h, int w) {
    const LocalSpot spot = subject->tensor.spot(n, c, h, w);
    const std::uint64_t lane = local ? static_cast<std::uint64_t>(spot.npu) * lanes.local_bytes : 0;
    const std::uint8_t* from = memory.data() + base + lane + spot.offset;
    elements.bytes.insert(elements.bytes.end(), from, from + size);
  });
  return elements;
}

Result<Elements> read_region(const DumpOptions& options, const MappedFile& memory, std::uint64_t offset) {
  const auto* from = memory.data() + offset;
  return Elements{Dtype::kUint8, {options.bytes}, std::vector<std::uint8_t>(from, from + options.bytes)};
}

void print_region_json(const DumpOptions& options, const MappedFile& memory, std::uint64_t offset,
                       std::uint64_t start) {
  const std::uint8_t* const from = memory.data() + offset;
  print_json({{"format", "softtpu-dump"},
              {"version", 1},
              {"space", options.space},
              {"address", start + offset},
              {"hex", fmt::format("{:02x}", fmt::join(from, from + options.bytes, ""))}});
}

void print_elements_json(const DumpOptions& options, const Elements& elements, std::uint64_t address) {
  const auto size = static_cast<std::size_t>(size_of(elements.dtype));
  nlohmann::json values = nlohmann::json::array();
  for (std::size_t at = 0; at < elements.bytes.size(); at += size) {
    const std::string text = element_text(elements.dtype, &elements.bytes[at]);
    nlohmann::json value = nlohmann::json::parse(text, nullptr, false);
    values.push_back(value.is_discarded() ? nlohmann::json(text) : std::move(value));  // nan, inf
  }
  print_json({{"format", "softtpu-dump"},
              {"version", 1},
              {"space", options.space},
              {"address", address},
              {"dtype", to_text(elements.dtype)},
              {"shape", elements.shape},
              {"values", std::move(values)}});
}

Result<void> dump(const DumpOptions& options) {
  auto source = find_dump_source(options);
  if (!source) return source.error();
  auto chip = load_chip(source->chip);
  if (!chip) return chip.error();
  if (options.core < 0 || options.core >= chip->cores) {
    return usage(fmt::format("--core {} does not exist: chip {} has {}", options.core, chip->name, chip->cores));
  }
  if (auto known = start_of(*chip, options.space); !known) return known.error();
  auto file = source->open(options.space, options.ended && options.folder.empty());
  if (!file) return file.error();
  auto memory = MappedFile::open(*file);
  if (!memory) return memory.error();
  const auto offset = offset_of(options, *chip, memory->bytes());
  if (!offset) return offset.error();
  const bool tensor = !options.tensor.shape.empty();
  if (!tensor && (options.bytes == 0 || options.bytes > std::min(kMostBytes, memory->bytes() - *offset))) {
    return usage(
        fmt::format("--bytes {} is outside 1..{}", options.bytes, std::min(kMostBytes, memory->bytes() - *offset)));
  }
  if (!tensor && options.output.empty() && options.json) {
    print_region_json(options, *memory, *offset, *start_of(*chip, options.space));
    return {};
  }
  if (!tensor && options.output.empty()) {
    print_hex(*memory, *offset, options.bytes, *start_of(*chip, options.space));
    return {};
  }
  auto elements = tensor ? read_tensor(options, *chip, *memory, *offset) : read_region(options, *memory, *offset);
  if (!elements) return elements.error();
  if (!options.output.empty()) return write_npy(options.output, elements->dtype, elements->shape, elements->bytes);
  if (options.json) {
    print_elements_json(options, *elements, *start_of(*chip, options.space) + *offset);
  } else {
    print_elements(elements->dtype, elements->shape, elements->bytes);
  }
  return {};
}

int run_dump(const DumpOptions& options) {
  auto done = dump(options);
  if (done) return 0;
  fmt::print(stderr, "softtpu dump: {}\n", escape_controls(done.error().text));
  if (done.error().kind == ErrorKind::kResource) return kNotWritten;
  return done.error().kind == ErrorKind::kUsage ? kUsageError : kFailed;
}

}  // namespace

Run add_dump(CLI::App& app) {
  auto options = std::make_shared<DumpOptions>();
  app.add_option("--socket", options->socket,
                 "socket of a shared device (default: of SOFTTPU_DEVICE, else softtpu serve's)");
  app.add_option("--pid", options->pid,
                 "a device process, or the program that an embedded device belongs to, instead of a socket");
  app.add_option("--from", options->folder,
                 "folder of SOFTTPU_DUMP: the memories after the last crash of a kernel, when the device has ended");
  app.add_option("--device", options->device, "number of the device")->capture_default_str();
  app.add_option("--core", options->core, "number of the core")->capture_default_str();
  app.add_flag("--ended", options->ended, "the memory of the last core that a kernel crashed");
  app.add_option("--space", options->space, "local, global, l2, static or dtcm")->capture_default_str();
  app.add_option("--address", options->address,
                 "address of the first byte, as kernels see it (default: the memory's first)");
  app.add_option("--bytes", options->bytes, "size of a region")->capture_default_str();
  app.add_option(
      "--shape", options->tensor.shape,
      "a tensor instead of a region: N,C,H,W; ROWS,COLUMNS of a matrix; COLUMNS of a vector; IC,OC,KH,KW of weights");
  app.add_option("--dtype", options->tensor.dtype, kDtypeNames)->capture_default_str();
  app.add_option("--layout", options->tensor.layout, kLayoutNames)->capture_default_str();
  app.add_option("--mode", options->tensor.mode, "storage mode: none, 2n, 4n or 2ic (shape IC,OC,KH,KW)")
      ->capture_default_str();
  app.add_option("--stride", options->tensor.stride, "N,C,H,W in elements, for the layouts free and system");
  app.add_option("--width", options->tensor.width, "columns per channel, for matrix and vector");
  app.add_flag("--json", options->json, "JSON instead of text: the bytes in hexadecimal, or the elements");
  app.add_option("-o,--output", options->output,
                 "write a NumPy file (.npy) instead of text; FP8 as bytes, with their type in FILE.json");
  app.footer(
      "Exit status: 0; 1 when the device does not answer; 2 when there is no such device, memory or tensor; 3 when a "
      "memory\n"
      "cannot be read or the file cannot be written.");
  return [options] { return run_dump(*options); };
}

}  // namespace softtpu::cli
