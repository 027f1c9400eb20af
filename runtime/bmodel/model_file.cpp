#include "runtime/bmodel/model_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/base/read_at.hpp"

namespace softtpu::bmodel {
namespace {

constexpr std::size_t kHeaderOfFile = 64;

std::int64_t time_of(const struct stat& status) {
  return std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

Error error_of(int number) { return {ErrorKind::kUsage, std::strerror(number)}; }

}  // namespace

Result<std::shared_ptr<ModelFile>> ModelFile::open(const std::string& path) {
  std::shared_ptr<ModelFile> file(new ModelFile);
  file->fd_ = UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!file->fd_ || ::fstat(file->fd(), &status) != 0) return error_of(errno);
  if (!S_ISREG(status.st_mode)) return Error{ErrorKind::kUsage, "it is no file"};
  file->size_ = static_cast<std::size_t>(status.st_size);
  file->device_ = status.st_dev;
  file->number_ = status.st_ino;
  file->changed_ = time_of(status);
  if (file->size_ == 0) return file;
  void* const data = ::mmap(nullptr, file->size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) return Error{ErrorKind::kResource, std::strerror(errno)};
  file->data_ = static_cast<std::uint8_t*>(data);
  const Bytes header = file->bytes().first(std::min(file->size_, kHeaderOfFile));
  if (auto read = file->fetch(header); !read) return read.error();
  // A header that is damaged is judged where the file is read.
  const auto head = head_bytes(header, file->size_);
  if (!head) return file;
  if (auto read = file->fetch(file->bytes().first(*head)); !read) return read.error();
  return file;
}

ModelFile::~ModelFile() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

// Bytes that can be written to from now on.
Result<void> ModelFile::open_up(std::uint64_t offset, std::uint64_t bytes) const {
  const std::uint64_t into = offset % static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  if (::mprotect(data_ + offset - into, into + bytes, PROT_READ | PROT_WRITE) == 0) return {};
  return Error{ErrorKind::kResource, fmt::format("memory for {} bytes of the file: {}", bytes, std::strerror(errno))};
}

Result<void> ModelFile::fetch(Bytes part) const {
  const auto offset = offset_of(part);
  if (!offset || part.empty()) return {};
  if (auto open = open_up(*offset, part.size()); !open) return open;
  const std::uint64_t from = std::max<std::uint64_t>(*offset, replaced_), end = *offset + part.size();
  return from < end ? read_at(fd(), from, {data_ + from, static_cast<std::size_t>(end - from)}) : Result<void>();
}

Fetch ModelFile::fetch_of(std::shared_ptr<const ModelFile> file) {
  if (file == nullptr) return {};
  return [file = std::move(file)](Bytes part) { return file->fetch(part); };
}

Result<void> ModelFile::replace_head(Bytes head) {
  replaced_ = std::min(head.size(), size_);
  if (replaced_ == 0) return {};
  if (auto open = open_up(0, replaced_); !open) return open;
  std::memcpy(data_, head.data(), replaced_);
  return {};
}

std::optional<std::uint64_t> ModelFile::offset_of(Bytes part) const {
  if (part.data() < data_ || part.data() + part.size() > data_ + size_) return std::nullopt;
  return static_cast<std::uint64_t>(part.data() - data_);
}

std::string ModelFile::identity() const {
  return fmt::format("file {:x}:{:x}, {} bytes of {}", device_, number_, size_, changed_);
}

Result<void> ModelFile::check_unchanged() const {
  struct stat status {};
  if (::fstat(fd(), &status) != 0) return error_of(errno);
  if (static_cast<std::size_t>(status.st_size) == size_ && time_of(status) == changed_) return {};
  return Error{ErrorKind::kUsage, "the file has been changed since it was loaded"};
}

}  // namespace softtpu::bmodel
