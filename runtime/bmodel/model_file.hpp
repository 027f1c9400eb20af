// A file of which only the parts that are asked for are read: networks have constants of gigabytes.
//
// The bytes are copies, not a mapping of the file: when others shorten the file or write to it, a read is an error, and
// no access to memory fails. Of the bytes only what was fetched may be looked at: the others cannot be accessed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "runtime/base/result.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/bmodel/container.hpp"

namespace softtpu::bmodel {

class ModelFile {
 public:
  // Header and tables are there, where the file has them. An error says what is wrong with the file, without its path.
  static Result<std::shared_ptr<ModelFile>> open(const std::string& path);
  ~ModelFile();
  ModelFile(const ModelFile&) = delete;
  ModelFile& operator=(const ModelFile&) = delete;

  Bytes bytes() const { return {data_, size_}; }
  // Reads a part of bytes(). Not by two threads at once.
  Result<void> fetch(Bytes part) const;
  // The same for read_model(); empty where there is no file, whose bytes are there.
  static Fetch fetch_of(std::shared_ptr<const ModelFile> file);
  // These take the place of the file's first bytes.
  Result<void> replace_head(Bytes head);

  // Where a part of bytes() lies in the file; nullopt: it is none.
  std::optional<std::uint64_t> offset_of(Bytes part) const;
  int fd() const { return fd_.get(); }
  // The same for all that have this file open with these contents.
  std::string identity() const;
  // An error: its size or its time of change are others than they were when it was opened.
  Result<void> check_unchanged() const;

 private:
  ModelFile() = default;
  Result<void> open_up(std::uint64_t offset, std::uint64_t bytes) const;

  UniqueFd fd_;
  std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0, replaced_ = 0;
  std::uint64_t device_ = 0, number_ = 0;
  std::int64_t changed_ = 0;  // nanoseconds
};

}  // namespace softtpu::bmodel
