#include "runtime/report/source_root.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace softtpu {
namespace {

namespace fs = std::filesystem;

fs::path whole(const std::string& file) {
  std::error_code failed;
  const fs::path path = fs::absolute(file, failed);
  const fs::path real = fs::weakly_canonical(path, failed);
  return failed ? path.lexically_normal() : real;
}

fs::path repository_of(const fs::path& folder) {
  std::error_code failed;
  for (fs::path at = folder; at != at.root_path(); at = at.parent_path()) {
    if (fs::exists(at / ".git", failed)) return at;
  }
  return {};
}

bool is_inside(const fs::path& file, const fs::path& folder) {
  const fs::path way = file.lexically_relative(folder);
  return !way.empty() && *way.begin() != "..";
}

// Empty when the two share nothing but the root.
fs::path shared_folder(fs::path folder, const fs::path& file) {
  while (folder != folder.root_path() && !is_inside(file, folder)) folder = folder.parent_path();
  return folder == folder.root_path() ? fs::path() : folder;
}

std::string encode(const std::string& path) {
  static constexpr std::string_view kPlain = "-._~/!$&'()*+,;=@";
  std::string uri;
  for (const char letter : path) {
    const bool plain = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                       (letter >= '0' && letter <= '9') || kPlain.find(letter) != std::string_view::npos;
    uri += plain ? std::string(1, letter) : fmt::format("%{:02X}", static_cast<unsigned char>(letter));
  }
  return uri;
}

}  // namespace

SourceRoot::SourceRoot(const std::vector<std::string>& files) {
  const fs::path here = whole(".");
  fs::path folder = repository_of(here);
  if (folder.empty()) {
    folder = here.has_filename() ? here : here.parent_path();
    for (const std::string& file : files) {
      if (const fs::path both = shared_folder(folder, whole(file)); !both.empty()) folder = both;
    }
  }
  folder_ = folder.string();
}

std::string SourceRoot::uri() const { return "file://" + encode(folder_) + (folder_.ends_with('/') ? "" : "/"); }

bool SourceRoot::holds(const std::string& file) const { return is_inside(whole(file), folder_); }

std::string SourceRoot::uri_of(const std::string& file) const {
  const fs::path path = whole(file);
  return holds(file) ? encode(path.lexically_relative(folder_).string()) : "file://" + encode(path.string());
}

}  // namespace softtpu
