#include "tests/stress/process_figures.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

namespace softtpu::stress {

namespace fs = std::filesystem;

ProcessFigures figures_of(const std::vector<pid_t>& processes) {
  ProcessFigures sum;
  for (const pid_t process : processes) {
    const fs::path folder = "/proc/" + std::to_string(process);
    std::ifstream status(folder / "status");
    for (std::string word; status >> word;) {
      std::uint64_t kib = 0;
      if (word == "RssAnon:" && status >> kib) sum.private_kib += kib;
    }
    std::error_code gone;
    const fs::directory_iterator descriptors(folder / "fd", gone);
    if (!gone)
      sum.descriptors += static_cast<std::uint64_t>(std::distance(fs::begin(descriptors), fs::end(descriptors)));
  }
  return sum;
}

std::string to_text(const ProcessFigures& figures) {
  return std::to_string(figures.private_kib) + " KiB private, " + std::to_string(figures.descriptors) + " descriptors";
}

}  // namespace softtpu::stress
