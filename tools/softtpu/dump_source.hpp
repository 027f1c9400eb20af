// Where the memories of a device are for a process that is not part of it: the shared files that the device process has
// open.
#pragma once

#include <map>
#include <string>

#include "runtime/base/result.hpp"
#include "runtime/base/unique_fd.hpp"

namespace softtpu::cli {

struct DumpOptions;

struct DumpSource {
  std::string chip;  // name, or file with its description
  // Paths by memory ("local"), then by how many cores had been ended before it.
  std::map<std::string, std::map<int, std::string>> files;

  // The newest, or with `ended` what the last core that was ended has left.
  Result<UniqueFd> open(const std::string& memory, bool ended) const;
};

Result<DumpSource> find_dump_source(const DumpOptions& options);

}  // namespace softtpu::cli
