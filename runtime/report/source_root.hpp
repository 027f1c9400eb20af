// The folder that a report names source files from, so that it means the same on every machine that has the sources.
#pragma once

#include <string>
#include <vector>

namespace softtpu {

// The repository (a folder with .git) around the working directory. Without one: the deepest folder that holds the
// working directory and all `files`, as far as they share more than the root of the file system.
class SourceRoot {
 public:
  explicit SourceRoot(const std::vector<std::string>& files);

  // "file:///home/me/project/"
  std::string uri() const;
  // "src/add.c"; of a file elsewhere its whole URI.
  std::string uri_of(const std::string& file) const;
  bool holds(const std::string& file) const;

 private:
  std::string folder_;
};

}  // namespace softtpu
