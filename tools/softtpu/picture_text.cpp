#include <fmt/format.h>

#include <algorithm>

#include "tools/softtpu/picture.hpp"

namespace softtpu::cli {
namespace {

constexpr std::size_t kTargetWidth = 120;  // characters; a wider picture is drawn with fewer cells side by side

std::string label_of(const Picture& picture, const Cell& cell) {
  std::string label = cell.label;
  if (picture.single_digits) std::erase(label, ',');
  return label;
}

std::size_t label_width(const Picture& picture) {
  std::size_t width = 1;
  for (const Column& column : picture.columns) {
    for (const auto& [at, cell] : column.cells) width = std::max(width, label_of(picture, cell).size());
  }
  return width;
}

// The preferred number of cells side by side, or the largest divisor of it that fits.
std::int64_t cells_per_row(const Picture& picture, std::size_t label) {
  std::int64_t best = 1;
  for (std::int64_t count = 2; count <= picture.preferred_row; ++count) {
    const std::size_t column = static_cast<std::size_t>(count) * (label + 1) + 2;
    if (8 + picture.columns.size() * column <= kTargetWidth && picture.preferred_row % count == 0) best = count;
  }
  return best;
}

std::string row_of(const Picture& picture, const Column& column, std::int64_t first, std::int64_t count,
                   std::size_t width) {
  std::string line;
  for (std::int64_t i = first; i < first + count; ++i) {
    const auto cell = column.cells.find(i);
    std::string text(width, i < picture.cells ? '.' : ' ');
    if (cell != column.cells.end()) text = fmt::format("{:<{}}", label_of(picture, cell->second), width);
    line += text + ' ';
  }
  return line;
}

}  // namespace

std::string to_text(const Picture& picture, const PictureLimits& limits) {
  const std::size_t width = label_width(picture);
  const std::int64_t per_row = cells_per_row(picture, width);
  const std::int64_t rows = (picture.cells + per_row - 1) / per_row;
  std::string text = picture.title + "\n";
  for (const std::string& note : picture.notes) text += note + "\n";
  text += fmt::format("\n{:>7} ", picture.cell_bytes == 0 ? "row" : "offset");
  const std::size_t column_width = static_cast<std::size_t>(per_row) * (width + 1);
  for (const Column& column : picture.columns)
    text += fmt::format("| {:<{}.{}}", column.name, column_width, column_width);
  text.erase(text.find_last_not_of(' ') + 1);
  text += "\n";
  for (std::int64_t row = 0; row < std::min(rows, limits.rows); ++row) {
    const std::int64_t offset =
        picture.cell_bytes == 0 ? row : picture.first_offset + row * per_row * picture.cell_bytes;
    std::string line = fmt::format("{:>7} ", offset);
    for (const Column& column : picture.columns) {
      line += "| " + row_of(picture, column, row * per_row, per_row, width);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  if (rows > limits.rows) text += fmt::format("        ... {} more rows of {} cells\n", rows - limits.rows, per_row);
  return text;
}

}  // namespace softtpu::cli
