#include "tools/softtpu/npy.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "device/numeric/formats.hpp"
#include "device/numeric/fp8.hpp"

namespace softtpu::cli {
namespace {

const char* npy_name(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFp8E5M2:  // raw bytes: numpy has no such type (npy_type_note)
    case Dtype::kFp8E4M3:
    case Dtype::kUint8: return "|u1";
    case Dtype::kInt8: return "|i1";
    case Dtype::kFp16: return "<f2";
    case Dtype::kFp32:
    case Dtype::kBfp16: return "<f4";
    case Dtype::kUint16: return "<u2";
    case Dtype::kInt16: return "<i2";
    case Dtype::kFp20:
    case Dtype::kTf32:
    case Dtype::kUint32: return "<u4";
    case Dtype::kInt32: return "<i4";
    case Dtype::kUint4:
    case Dtype::kInt4:
    case Dtype::kFp4: return nullptr;  // no whole bytes
  }
  return nullptr;
}

// The type's name in the package ml_dtypes; nullptr where there is none.
const char* ml_dtypes_name(Dtype dtype) {
  if (dtype == Dtype::kFp8E4M3) return "float8_e4m3fn";
  return dtype == Dtype::kFp8E5M2 ? "float8_e5m2" : nullptr;
}

constexpr const char* kNoteFormat = "softtpu-npy-type-1";

// Mode 0600: the file contains user data.
bool write_private(const std::string& path, const std::string& contents) {
  const int opened = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  std::FILE* file = opened >= 0 ? ::fdopen(opened, "wb") : nullptr;
  bool good = file != nullptr && std::fwrite(contents.data(), 1, contents.size(), file) == contents.size();
  if (file != nullptr) good = std::fclose(file) == 0 && good;
  return good;
}

// Removes the note of an earlier array of this name, which would be read as one of the new array.
void remove_note(const std::string& path) {
  std::ifstream file(path);
  std::string start(std::strlen(kNoteFormat) + 16, '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  if (start.find(kNoteFormat) != std::string::npos) ::unlink(path.c_str());
}

template <class T>
T load(const std::uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

}  // namespace

std::string element_text(Dtype dtype, const std::uint8_t* from) {
  switch (dtype) {
    case Dtype::kFp8E5M2: return fmt::format("{:.4g}", kFp8Values<E5m2>[*from]);
    case Dtype::kFp8E4M3: return fmt::format("{:.4g}", kFp8Values<E4m3>[*from]);
    case Dtype::kUint8: return fmt::format("{}", *from);
    case Dtype::kInt8: return fmt::format("{}", load<std::int8_t>(from));
    case Dtype::kUint16: return fmt::format("{}", load<std::uint16_t>(from));
    case Dtype::kInt16: return fmt::format("{}", load<std::int16_t>(from));
    case Dtype::kFp20:
    case Dtype::kTf32: return fmt::format("0x{:08x}", load<std::uint32_t>(from));
    case Dtype::kUint32: return fmt::format("{}", load<std::uint32_t>(from));
    case Dtype::kInt32: return fmt::format("{}", load<std::int32_t>(from));
    case Dtype::kFp32: return fmt::format("{:.9g}", load<float>(from));
    case Dtype::kBfp16: return fmt::format("{:.4g}", widen_bf16(load<std::uint16_t>(from)));
    case Dtype::kFp16: return fmt::format("{:.5g}", widen_f16(load<std::uint16_t>(from)));
    case Dtype::kUint4:
    case Dtype::kInt4:
    case Dtype::kFp4: return "?";
  }
  return "?";
}

Result<std::string> encode_npy(Dtype dtype, const std::vector<std::uint64_t>& shape,
                               const std::vector<std::uint8_t>& bytes) {
  const char* name = npy_name(dtype);
  if (name == nullptr) return Error{ErrorKind::kUsage, fmt::format("{} has no type in .npy files", to_text(dtype))};
  std::vector<std::uint8_t> widened;
  if (dtype == Dtype::kBfp16) {
    widened.resize(bytes.size() * 2);
    for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) {
      const float value = widen_bf16(load<std::uint16_t>(&bytes[i]));
      std::memcpy(&widened[i * 2], &value, sizeof value);
    }
  }
  const std::vector<std::uint8_t>& data = dtype == Dtype::kBfp16 ? widened : bytes;
  std::string extents;
  for (const std::uint64_t extent : shape) extents += fmt::format("{}, ", extent);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", name, extents);
  // Magic, version and length take 10 bytes; the data begins at a multiple of 64.
  constexpr std::size_t kFixed = 10, kAlignment = 64;
  header.append(kAlignment - (kFixed + header.size() + 1) % kAlignment, ' ');
  header += '\n';
  std::string start = "\x93NUMPY";
  for (const std::size_t byte : {std::size_t{1}, std::size_t{0}, header.size() & 0xFF, header.size() >> 8})
    start += static_cast<char>(byte);
  return start + header + std::string(data.begin(), data.end());
}

std::string npy_type_note(Dtype dtype, const std::vector<std::uint64_t>& shape) {
  const char* name = ml_dtypes_name(dtype);
  if (name == nullptr) return {};
  return fmt::format("{{\"format\": \"{}\", \"type\": \"{}\", \"ml_dtypes\": \"{}\", \"shape\": [{}]}}\n", kNoteFormat,
                     to_text(dtype), name, fmt::join(shape, ", "));
}

Result<void> write_npy(const std::string& path, Dtype dtype, const std::vector<std::uint64_t>& shape,
                       const std::vector<std::uint8_t>& bytes) {
  const auto contents = encode_npy(dtype, shape, bytes);
  if (!contents) return contents.error();
  const std::string note = npy_type_note(dtype, shape), note_path = path + ".json";
  if (note.empty()) {
    remove_note(note_path);
  } else if (!write_private(note_path, note)) {
    return Error{ErrorKind::kResource, fmt::format("cannot write \"{}\": {}", note_path, std::strerror(errno))};
  }
  if (write_private(path, *contents)) return {};
  return Error{ErrorKind::kResource, fmt::format("cannot write \"{}\": {}", path, std::strerror(errno))};
}

void print_elements(Dtype dtype, const std::vector<std::uint64_t>& shape, const std::vector<std::uint8_t>& bytes) {
  const auto size = static_cast<std::size_t>(size_of(dtype));
  const std::uint64_t row = shape.back();
  for (std::uint64_t at = 0; at * size < bytes.size(); at += row) {
    std::string indices;
    std::uint64_t rest = at / row;
    for (std::size_t i = shape.size() - 1; i-- > 0;) {
      indices = fmt::format("{}{}{}", rest % shape[i], indices.empty() ? "" : ",", indices);
      rest /= shape[i];
    }
    std::string text = "[" + indices + "]";
    for (std::uint64_t i = at; i < at + row; ++i) text += " " + element_text(dtype, &bytes[i * size]);
    fmt::print("{}\n", text);
  }
}

}  // namespace softtpu::cli
