// Chooses a function by a key that comes from its name, so that inputs keep their meaning when the table grows.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string_view>

namespace softtpu::fuzz {

template <class Row>
class NameKeys {
 public:
  explicit NameKeys(std::span<const Row> rows) {
    for (const Row& row : rows) {
      std::uint16_t key = hash(row.name);
      while (!rows_.emplace(key, &row).second) ++key;
    }
  }
  // The row with this key or the next one.
  const Row& find(std::uint16_t key) const {
    const auto found = rows_.lower_bound(key);
    return found == rows_.end() ? *rows_.begin()->second : *found->second;
  }

 private:
  // FNV-1a, folded.
  static std::uint16_t hash(std::string_view name) {
    std::uint32_t sum = 2166136261U;
    for (const char letter : name) sum = (sum ^ static_cast<std::uint8_t>(letter)) * 16777619U;
    return static_cast<std::uint16_t>(sum ^ (sum >> 16));
  }
  std::map<std::uint16_t, const Row*> rows_;
};

}  // namespace softtpu::fuzz
