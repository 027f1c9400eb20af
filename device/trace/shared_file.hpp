// A file that the processes of several cores write to, each a whole piece at a time.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>

#include "runtime/base/result.hpp"
#include "runtime/base/unique_fd.hpp"

namespace softtpu {

class SharedFile {
 public:
  enum class Content { kLines, kJsonArray };  // the latter is a complete text at all times

  // Opens the file, and empties it unless `keep`: another device of the program may have begun it. The error names
  // `setting` and the path.
  static Result<std::unique_ptr<SharedFile>> create(const char* setting, const std::string& path, Content content,
                                                    bool keep = false);

  void append_line(std::string_view line);
  // Adds elements, separated by commas, to the JSON array that the file holds. `what` says in messages what is added.
  void append_elements(std::string_view elements, std::string_view what);

 private:
  SharedFile(const char* setting, UniqueFd fd) : setting_(setting), fd_(std::move(fd)) {}
  // Where nothing more fits, `former_end` is put there instead.
  void put(std::string_view text, off_t place, std::string_view former_end, std::string_view what);

  const char* setting_;
  UniqueFd fd_;
  bool full_ = false;
};

}  // namespace softtpu
