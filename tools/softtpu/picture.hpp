// A picture of memory: columns (one per NPU, or system memory) of labelled cells. Drawn as text and as SVG.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace softtpu::cli {

struct Cell {
  std::string label;
  int group = 0;         // cells of one group have one colour
  int subgroup = 0;      // shade of that colour
  bool partial = false;  // a unit that dummy elements complete
};

struct Column {
  std::string name;
  std::map<std::int64_t, Cell> cells;  // by cell number from the column's first cell
};

struct Picture {
  std::string title;
  std::vector<std::string> notes;
  std::vector<Column> columns;
  std::int64_t cells = 0;         // in each column
  std::int64_t cell_bytes = 1;    // 0: rows are counted, not bytes
  std::int64_t first_offset = 0;  // byte offset of the first cell
  int preferred_row = 8;          // cells side by side that show the structure best
  bool single_digits = false;     // labels are one-digit numbers: text leaves the commas out
};

struct PictureLimits {
  std::int64_t rows = 64;  // per column; the rest is counted in a line
};

std::string to_text(const Picture& picture, const PictureLimits& limits = {});
std::string to_svg(const Picture& picture, const PictureLimits& limits = {});

}  // namespace softtpu::cli
