// A file of which only the parts that are looked at are read: networks have constants of gigabytes.
#pragma once

#include <memory>
#include <string>

#include "runtime/base/result.hpp"
#include "runtime/bmodel/container.hpp"

namespace softtpu::bmodel {

class MappedFile {
 public:
  // An error says what is wrong with the file, without its path.
  static Result<std::shared_ptr<const MappedFile>> open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  Bytes bytes() const { return bytes_; }

 private:
  explicit MappedFile(Bytes bytes) : bytes_(bytes) {}
  Bytes bytes_;
};

}  // namespace softtpu::bmodel
