#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tools/softtpu/picture.hpp"

namespace softtpu::cli {
namespace {

constexpr int kMargin = 16;
constexpr int kOffsetWidth = 44;  // left of the cells, for the row's offset
constexpr int kCellHeight = 20;
constexpr int kColumnGap = 18;    // at least
constexpr int kNameWidth = 9;     // of a letter of a column's name
constexpr int kHeader = 22;       // a line of text
constexpr int kMostWidth = 2200;  // columns that do not fit stand below the others

// Hues far apart for neighbouring channels; saturation and lightness keep black labels readable.
constexpr std::array kHues = {212, 32, 142, 352, 272, 182, 52, 312};

std::string escape(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '"': safe += "&quot;"; break;
      default: safe += c;
    }
  }
  return safe;
}

// HSL as #rrggbb: not every viewer of SVG knows hsl().
std::string to_colour(int hue, double saturation, double lightness) {
  const double a = saturation * std::min(lightness, 1 - lightness);
  const auto channel = [&](int n) {
    const double k = (n + hue / 30) % 12 + hue % 30 / 30.0;
    const double wrapped = k >= 12 ? k - 12 : k;
    return static_cast<int>(255 * (lightness - a * std::max(-1.0, std::min({wrapped - 3, 9 - wrapped, 1.0}))));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", channel(0), channel(8), channel(4));
}

std::string colour_of(const Cell& cell) {
  const int hue = kHues[static_cast<std::size_t>(cell.group) % kHues.size()];
  const double lightness = 0.88 - 0.09 * (cell.subgroup % 4);
  return to_colour(hue, cell.partial ? 0.35 : 0.75, lightness);
}

std::size_t letters_in_a_cell(const Picture& picture) {
  std::size_t width = 1;
  for (const Column& column : picture.columns) {
    for (const auto& [at, cell] : column.cells) width = std::max(width, cell.label.size());
  }
  return width;
}

struct Grid {
  std::int64_t per_row, rows, shown;
  int cell_width, column_width, gap, top;
  int columns, per_band;  // a band: the columns that stand beside each other
  int band_height;

  int bands() const { return (columns + per_band - 1) / per_band; }
  int left_of(int column) const { return kMargin + kOffsetWidth + column % per_band * (column_width + gap); }
  int top_of(int column) const { return top + column / per_band * band_height; }
};

// Names of narrow columns stay apart.
int gap_between(const Picture& picture, int column_width) {
  std::size_t longest = 0;
  for (const Column& column : picture.columns) longest = std::max(longest, column.name.size());
  return std::max(kColumnGap, static_cast<int>(longest) * kNameWidth + 8 - column_width);
}

Grid make_grid(const Picture& picture, const PictureLimits& limits) {
  Grid grid{};
  constexpr int kRoom = kMostWidth - 2 * kMargin - kOffsetWidth - kColumnGap;
  grid.cell_width = std::min(std::max(26, static_cast<int>(letters_in_a_cell(picture)) * 6 + 8), kRoom);
  grid.per_row = std::clamp(picture.preferred_row, 1, kRoom / grid.cell_width);
  grid.rows = (picture.cells + grid.per_row - 1) / grid.per_row;
  grid.shown = std::min(grid.rows, limits.rows);
  grid.column_width = static_cast<int>(grid.per_row) * grid.cell_width;
  grid.gap = gap_between(picture, grid.column_width);
  grid.top = kMargin + kHeader + static_cast<int>(picture.notes.size()) * (kHeader - 5) + 10 + kHeader;
  grid.columns = static_cast<int>(picture.columns.size());
  grid.per_band = std::clamp((kRoom + grid.gap) / (grid.column_width + grid.gap), 1, std::max(grid.columns, 1));
  grid.band_height = static_cast<int>(grid.shown) * kCellHeight + kHeader + kMargin;
  return grid;
}

// Padding everywhere; cells are drawn over it. One path for the whole grid keeps the file small.
void draw_empty_cells(std::string& svg, const Grid& grid, std::int64_t drawn, int left, int top) {
  std::string path;
  for (std::int64_t row = 0; row * grid.per_row < drawn; ++row) {
    const int cells = static_cast<int>(std::min(grid.per_row, drawn - row * grid.per_row));
    const int y = top + static_cast<int>(row) * kCellHeight;
    path += fmt::format("M{} {}h{}v{}h{}z", left, y, cells * grid.cell_width, kCellHeight, -cells * grid.cell_width);
    for (int i = 1; i < cells; ++i) path += fmt::format("M{} {}v{}", left + i * grid.cell_width, y, kCellHeight);
  }
  svg += fmt::format("<path d=\"{}\"/>\n", path);
}

// The byte offset of each row, left of a band.
void draw_offsets(std::string& svg, const Picture& picture, const Grid& grid, int top) {
  for (std::int64_t row = 0; row < grid.shown; ++row) {
    const std::int64_t offset =
        picture.cell_bytes == 0 ? row : picture.first_offset + row * grid.per_row * picture.cell_bytes;
    svg += fmt::format("<text class=\"offset\" x=\"{}\" y=\"{}\">{}</text>\n", kMargin + kOffsetWidth - 6,
                       top + static_cast<int>(row) * kCellHeight + 14, offset);
  }
}

void draw_column(std::string& svg, const Picture& picture, const Grid& grid, const Column& column, int left, int top) {
  svg += fmt::format("<text class=\"npu\" x=\"{}\" y=\"{}\">{}</text>\n", left + grid.column_width / 2, top - 7,
                     escape(column.name));
  const std::int64_t drawn = std::min(grid.shown * grid.per_row, picture.cells);
  draw_empty_cells(svg, grid, drawn, left, top);
  for (const auto& [i, cell] : column.cells) {
    if (i >= drawn) break;
    const int x = left + static_cast<int>(i % grid.per_row) * grid.cell_width;
    const int y = top + static_cast<int>(i / grid.per_row) * kCellHeight;
    svg += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n", x, y, grid.cell_width,
                       kCellHeight, colour_of(cell));
    svg += fmt::format("<text class=\"cell\" x=\"{}\" y=\"{}\">{}</text>\n", x + grid.cell_width / 2, y + 14,
                       escape(cell.label));
  }
}

}  // namespace

std::string to_svg(const Picture& picture, const PictureLimits& limits) {
  const Grid grid = make_grid(picture, limits);
  std::size_t longest = picture.title.size() * 8;
  for (const std::string& note : picture.notes) longest = std::max(longest, note.size() * 7);
  const int width = std::max(2 * kMargin + kOffsetWidth + grid.per_band * (grid.column_width + grid.gap),
                             2 * kMargin + static_cast<int>(longest));
  const int height = grid.top + (grid.bands() - 1) * grid.band_height + static_cast<int>(grid.shown) * kCellHeight +
                     kMargin + (grid.rows > grid.shown ? 20 : 0);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n"
      "<style>text{{font-family:DejaVu Sans,Arial,sans-serif;fill:#222}} .title{{font-size:15px;font-weight:bold}}"
      " .note{{font-size:12px;fill:#555}} .npu{{font-size:13px;font-weight:bold;text-anchor:middle}}"
      " .cell{{font-family:DejaVu Sans Mono,monospace;font-size:9.5px;text-anchor:middle}}"
      " .offset{{font-size:10px;fill:#777;text-anchor:end}} rect,path{{stroke:#8a8a8a;stroke-width:0.6}}"
      " path{{fill:#e4e4e4}}</style>\n"
      "<rect x=\"0\" y=\"0\" width=\"{0}\" height=\"{1}\" fill=\"#ffffff\" style=\"stroke:none\"/>\n",
      width, height);
  int y = kMargin + 13;
  svg += fmt::format("<text class=\"title\" x=\"{}\" y=\"{}\">{}</text>\n", kMargin, y, escape(picture.title));
  for (const std::string& note : picture.notes) {
    y += kHeader - 5;
    svg += fmt::format("<text class=\"note\" x=\"{}\" y=\"{}\">{}</text>\n", kMargin, y + 3, escape(note));
  }
  for (int band = 0; band < grid.bands(); ++band) draw_offsets(svg, picture, grid, grid.top_of(band * grid.per_band));
  for (int i = 0; i < grid.columns; ++i) {
    draw_column(svg, picture, grid, picture.columns[static_cast<std::size_t>(i)], grid.left_of(i), grid.top_of(i));
  }
  if (grid.rows > grid.shown) {
    svg += fmt::format("<text class=\"note\" x=\"{}\" y=\"{}\">... {} more rows</text>\n", kMargin + kOffsetWidth,
                       height - kMargin, grid.rows - grid.shown);
  }
  return svg + "</svg>\n";
}

}  // namespace softtpu::cli
