// Runs a fuzz target without libFuzzer: every seed as it is, then random changes of them, the same in every run.
//
//   fuzz_NAME [--runs N] [--random-seed N] [FILE_OR_FOLDER...]
//
// An input that crashes the target lies in the file fuzz_NAME.input, which is written before each call.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/input.hpp"

namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kMostBytes = 4096;

Bytes read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<Bytes> read_seeds(const std::vector<std::string>& paths) {
  std::vector<fs::path> files;
  for (const std::string& path : paths) {
    if (!fs::is_directory(path)) {
      files.emplace_back(path);
      continue;
    }
    for (const auto& entry : fs::directory_iterator(path)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<Bytes> seeds;
  for (const fs::path& file : files) seeds.push_back(read_file(file));
  return seeds;
}

class Changes {
 public:
  explicit Changes(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t count) { return static_cast<std::size_t>(random_() % count); }
  Bytes change(Bytes bytes, const Bytes& other) {
    for (std::size_t i = 0, count = 1 + below(6); i < count; ++i) change_once(bytes, other);
    if (bytes.size() > kMostBytes) bytes.resize(kMostBytes);
    return bytes;
  }

 private:
  void change_once(Bytes& bytes, const Bytes& other) {
    constexpr std::uint8_t kEdges[] = {0, 1, 0x7F, 0x80, 0xFF, 4, 16, 64};
    const std::size_t at = bytes.empty() ? 0 : below(bytes.size());
    const auto here = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    switch (below(7)) {
      case 0:
        if (!bytes.empty()) bytes[at] ^= static_cast<std::uint8_t>(1U << below(8));
        break;
      case 1:
        if (!bytes.empty()) bytes[at] = static_cast<std::uint8_t>(random_());
        break;
      case 2:
        if (!bytes.empty()) bytes[at] = kEdges[below(std::size(kEdges))];
        break;
      case 3: bytes.resize(at); break;
      case 4: bytes.insert(here, 1 + below(8), kEdges[below(std::size(kEdges))]); break;
      case 5:
        for (std::size_t i = 0; i < 8; ++i) bytes.push_back(static_cast<std::uint8_t>(random_()));
        break;
      default:
        if (!other.empty())
          bytes.insert(here, other.begin() + static_cast<std::ptrdiff_t>(below(other.size())), other.end());
    }
  }
  std::mt19937_64 random_;
};

void run(const std::string& kept, const Bytes& input) {
  if (std::FILE* file = std::fopen(kept.c_str(), "wb")) {
    std::fwrite(input.data(), 1, input.size(), file);
    std::fclose(file);
  }
  LLVMFuzzerTestOneInput(input.data(), input.size());
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t runs = 0, random_seed = 1;
  std::vector<std::string> paths;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if ((word == "--runs" || word == "--random-seed") && i + 1 < argc) {
      (word == "--runs" ? runs : random_seed) = std::strtoull(argv[++i], nullptr, 10);
    } else {
      paths.push_back(word);
    }
  }
  const std::string kept = fs::path(argv[0]).filename().string() + ".input";
  std::vector<Bytes> seeds = read_seeds(paths);
  for (const Bytes& seed : seeds) run(kept, seed);
  const std::size_t given = seeds.size();
  if (seeds.empty()) seeds.emplace_back();
  Changes changes(random_seed);
  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < runs; ++i) {
    const Bytes& seed = seeds[changes.below(seeds.size())];
    run(kept, changes.change(seed, seeds[changes.below(seeds.size())]));
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  fs::remove(kept);
  std::printf("%zu seeds and %llu changed inputs in %.1f s\n", given, static_cast<unsigned long long>(runs), seconds);
  return 0;
}
