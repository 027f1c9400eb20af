#include "tools/softtpu/npz.hpp"

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "device/numeric/formats.hpp"
#include "runtime/base/text_file.hpp"
#include "tools/softtpu/npy.hpp"

namespace softtpu::cli {
namespace {

// More is no input of a network; a small archive may claim any size.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 32;

Error bad(const std::string& name, const std::string& why) {
  return {ErrorKind::kUsage, fmt::format("{}: {}", name, why)};
}

template <class T>
double load(const std::uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return static_cast<double>(value);
}

// What follows `key` in the header's text, which is a Python dictionary.
std::string_view after(std::string_view header, std::string_view key) {
  const auto at = header.find(key);
  if (at == std::string_view::npos) return {};
  header.remove_prefix(at + key.size());
  const auto begin = header.find_first_not_of(": ");
  return begin == std::string_view::npos ? std::string_view() : header.substr(begin);
}

std::optional<std::vector<std::uint64_t>> parse_shape(std::string_view text) {
  std::vector<std::uint64_t> shape;
  if (text.empty() || text.front() != '(' || text.find(')') == std::string_view::npos) return std::nullopt;
  text = text.substr(1, text.find(')') - 1);
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    std::string number;
    for (const char letter : text.substr(0, comma)) {
      if (letter == ' ') continue;
      if (letter < '0' || letter > '9' || number.size() > 12) return std::nullopt;
      number += letter;
    }
    if (!number.empty()) shape.push_back(std::stoull(number));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return shape;
}

struct CloseArchive {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct CloseEntry {
  void operator()(zip_file_t* entry) const { zip_fclose(entry); }
};
using Archive = std::unique_ptr<zip_t, CloseArchive>;

// What the beginning of a .npy file says.
struct Header {
  NumpyArray array;               // without its bytes
  std::uint64_t begin = 0;        // of the elements
  std::uint64_t array_bytes = 0;  // of the elements
};

constexpr std::size_t kFixedBytes = 12;  // in which the length of the text stands
constexpr std::size_t kMostHeaderBytes = std::size_t{1} << 16;

// The bytes of the header; `beginning` has at least kFixedBytes.
std::size_t header_bytes(std::span<const std::uint8_t> beginning) {
  const bool wide = beginning[6] >= 2;
  std::size_t length = beginning[8] | std::size_t{beginning[9]} << 8;
  if (wide) length |= std::size_t{beginning[10]} << 16 | std::size_t{beginning[11]} << 24;
  return (wide ? 12 : 10) + length;
}

Result<Header> decode_header(const std::string& name, std::span<const std::uint8_t> file) {
  constexpr std::string_view kMagic = "\x93NUMPY";
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (file.size() < kFixedBytes || !text.starts_with(kMagic)) return bad(name, "it is not a NumPy array");
  Header found;
  found.begin = header_bytes(file);
  if (found.begin > file.size()) return bad(name, "its header is longer than the file");
  const std::string_view header = text.substr(0, found.begin);
  NumpyArray& array = found.array;
  array.name = name;
  const std::string_view type = after(header, "'descr'");
  const bool known = type.size() > 4 && type[0] == '\'' && std::string_view("<|=").find(type[1]) != std::string::npos &&
                     std::string_view("fiub").find(type[2]) != std::string::npos &&
                     std::string_view("1248").find(type[3]) != std::string::npos && type[4] == '\'';
  if (!known || (type[2] == 'f' && type[3] == '1') || (type[2] == 'b' && type[3] != '1'))
    return bad(name, fmt::format("elements of type {} are not supported", type.substr(0, type.find(','))));
  array.kind = type[2];
  array.item_bytes = type[3] - '0';
  if (after(header, "'fortran_order'").starts_with("True")) return bad(name, "it is in Fortran order");
  const auto shape = parse_shape(after(header, "'shape'"));
  if (!shape) return bad(name, "its shape is not readable");
  array.shape = *shape;
  found.array_bytes = static_cast<unsigned>(array.item_bytes);
  for (const std::uint64_t extent : array.shape) {
    if (extent != 0 && found.array_bytes > kMostBytes / extent) return bad(name, "its shape is too large");
    found.array_bytes *= extent;
  }
  return found;
}

Error wrong_size(const std::string& name, std::uint64_t made, std::uint64_t has) {
  return bad(name, fmt::format("its shape makes {} bytes, the file has {}", made, has));
}

// Reads the header before all else: the sizes that an archive claims are checked, and nothing is inflated that
// no array needs.
Result<NumpyArray> read_entry(zip_t* archive, zip_uint64_t index, const std::string& name, std::uint64_t most_bytes) {
  zip_stat_t stat;
  if (zip_stat_index(archive, index, 0, &stat) != 0) return bad(name, zip_strerror(archive));
  if ((stat.valid & ZIP_STAT_SIZE) == 0) return bad(name, "the archive does not say how long it is");
  const std::unique_ptr<zip_file_t, CloseEntry> entry(zip_fopen_index(archive, index, 0));
  if (entry == nullptr) return bad(name, zip_strerror(archive));
  std::vector<std::uint8_t> bytes;
  const auto read_up_to = [&](std::uint64_t size) {
    for (std::uint8_t piece[1 << 12]; bytes.size() < size;) {
      const zip_int64_t got =
          zip_fread(entry.get(), piece, std::min<std::uint64_t>(sizeof(piece), size - bytes.size()));
      if (got < 0) return false;
      if (got == 0) return true;
      bytes.insert(bytes.end(), piece, piece + got);
    }
    return true;
  };
  if (!read_up_to(kFixedBytes)) return bad(name, "it is damaged");
  if (bytes.size() < kFixedBytes) return bad(name, "it is not a NumPy array");
  if (!read_up_to(std::min(header_bytes(bytes), kMostHeaderBytes))) return bad(name, "it is damaged");
  auto header = decode_header(name, bytes);
  if (!header) return header.error();
  const std::uint64_t whole = header->begin + header->array_bytes;
  if (stat.size != whole) return wrong_size(name, header->array_bytes, stat.size - std::min(stat.size, header->begin));
  if (header->array_bytes > most_bytes) return std::move(header->array);
  if (!read_up_to(whole)) return bad(name, "it is damaged");
  if (bytes.size() < whole) return wrong_size(name, header->array_bytes, bytes.size() - header->begin);
  header->array.bytes.assign(bytes.begin() + static_cast<std::ptrdiff_t>(header->begin), bytes.end());
  return std::move(header->array);
}

std::string without_ending(std::string name) {
  if (name.ends_with(".npy")) name.resize(name.size() - 4);
  return name;
}

}  // namespace

double NumpyArray::value(std::uint64_t i) const {
  const std::uint8_t* from = bytes.data() + i * static_cast<unsigned>(item_bytes);
  switch (kind) {
    case 'f':
      if (item_bytes == 8) return load<double>(from);
      if (item_bytes == 4) return load<float>(from);
      std::uint16_t half;
      std::memcpy(&half, from, sizeof(half));
      return widen_f16(half);
    case 'i':
      switch (item_bytes) {
        case 1: return load<std::int8_t>(from);
        case 2: return load<std::int16_t>(from);
        case 4: return load<std::int32_t>(from);
        default: return load<std::int64_t>(from);
      }
    default:
      switch (item_bytes) {
        case 1: return load<std::uint8_t>(from);
        case 2: return load<std::uint16_t>(from);
        case 4: return load<std::uint32_t>(from);
        default: return load<std::uint64_t>(from);
      }
  }
}

Result<NumpyArray> decode_npy(const std::string& name, const std::vector<std::uint8_t>& file) {
  auto header = decode_header(name, file);
  if (!header) return header.error();
  if (header->array_bytes != file.size() - header->begin)
    return wrong_size(name, header->array_bytes, file.size() - header->begin);
  header->array.bytes.assign(file.begin() + static_cast<std::ptrdiff_t>(header->begin), file.end());
  return std::move(header->array);
}

Result<std::vector<NumpyArray>> read_arrays(const std::string& path, std::uint64_t most_bytes) {
  std::vector<NumpyArray> arrays;
  if (path.ends_with(".npy")) {
    const auto file = read_text_file(path, SIZE_MAX / 2);
    if (!file) return Error{ErrorKind::kUsage, file.error().text};
    const std::vector<std::uint8_t> bytes(file->begin(), file->end());
    auto array = decode_npy(without_ending(std::filesystem::path(path).filename()), bytes);
    if (!array) return array.error();
    arrays.push_back(*std::move(array));
    return arrays;
  }
  int failure = 0;
  const Archive archive(zip_open(path.c_str(), ZIP_RDONLY, &failure));
  if (archive == nullptr) {
    zip_error_t error;
    zip_error_init_with_code(&error, failure);
    const std::string text = zip_error_strerror(&error);
    zip_error_fini(&error);
    return bad(path, text);
  }
  const zip_int64_t count = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<zip_uint64_t>(i);
    const char* raw = zip_get_name(archive.get(), index, 0);
    const std::string name = without_ending(raw != nullptr ? raw : "");
    auto array = read_entry(archive.get(), index, path + ", " + name, most_bytes);
    if (!array) return array.error();
    array->name = name;
    arrays.push_back(*std::move(array));
  }
  return arrays;
}

Result<void> write_npz(const std::string& path, const std::vector<NamedTensor>& tensors) {
  const auto cannot = [&](const std::string& why) {
    return Error{ErrorKind::kResource, fmt::format("cannot write \"{}\": {}", path, why)};
  };
  int failure = 0;
  Archive archive(zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &failure));
  if (archive == nullptr) return cannot(std::strerror(errno));
  std::vector<std::string> files;  // libzip reads them when it closes
  files.reserve(tensors.size());
  for (const NamedTensor& tensor : tensors) {
    auto file = encode_npy(tensor.dtype, tensor.shape, tensor.bytes);
    if (!file) return file.error();
    files.push_back(*std::move(file));
    zip_source_t* source = zip_source_buffer(archive.get(), files.back().data(), files.back().size(), 0);
    const zip_int64_t index =
        source == nullptr ? -1 : zip_file_add(archive.get(), (tensor.name + ".npy").c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
      if (source != nullptr) zip_source_free(source);
      return cannot(zip_strerror(archive.get()));
    }
    // As numpy.savez does.
    zip_set_file_compression(archive.get(), static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0);
  }
  if (zip_close(archive.get()) != 0) return cannot(zip_strerror(archive.get()));
  static_cast<void>(archive.release());
  return {};
}

}  // namespace softtpu::cli
