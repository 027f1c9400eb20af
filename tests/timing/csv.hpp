// Tables of numbers and words, comma separated, with a header line.
#pragma once

#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace softtpu::timing {

using Row = std::map<std::string, std::string>;

inline std::vector<std::string> split_row(const std::string& line) {
  std::vector<std::string> list;
  std::istringstream text(line + ",");
  for (std::string field; std::getline(text, field, ',');) list.push_back(field);
  return list;
}

// Empty when the file cannot be read or holds no rows.
inline std::vector<Row> read_table(const std::string& path) {
  std::vector<Row> rows;
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  const auto names = split_row(line);
  while (std::getline(file, line)) {
    const auto values = split_row(line);
    Row row;
    for (std::size_t i = 0; i < names.size() && i < values.size(); ++i) row[names[i]] = values[i];
    rows.push_back(std::move(row));
  }
  return rows;
}

// The number in a field, or `otherwise` when the field is empty.
inline int integer(const Row& row, const char* name, int otherwise = 1) {
  const auto found = row.find(name);
  return found == row.end() || found->second.empty() ? otherwise : std::stoi(found->second);
}

}  // namespace softtpu::timing
