// softtpu layout: draws where the elements of a tensor lie, as text and as SVG.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "device/chip/chip.hpp"
#include "runtime/base/result.hpp"
#include "tools/softtpu/layout_picture.hpp"
#include "tools/softtpu/picture.hpp"

namespace softtpu::cli {

struct LayoutOptions {
  std::string chip = "bm1684x";
  std::string shape;           // "N,C,H,W"; "ROWS,COLS" for matrix; "COLS" for vector; "IC,OC,KH,KW" for the weights
  std::string dtype = "fp32";  // kDtypeNames
  std::string layout = "aligned";  // kLayoutNames
  std::string mode = "none";       // none, 2n, 4n, 2ic
  std::string stride;              // "N,C,H,W", for free and system
  int width = 0;                   // columns per channel, for matrix and vector
  int start_npu = 0;
  std::uint64_t offset = 0;        // of the first element in its NPU
  std::optional<int> eu_bytes;     // alignment; none: the chip's
  bool features = false;           // one cell per feature (n, c)
  std::vector<std::string> marks;  // "A=340": where these addresses are, instead of a tensor
  bool banks = false;              // addresses of the banks, instead of a tensor
  int npus = 8;                    // columns at most
  std::int64_t rows = 64;          // at most
  std::string output;              // SVG file; empty: none
  bool json = false;               // the cells as JSON instead of the drawing
};

inline constexpr const char* kDtypeNames =
    "fp32, fp16, bfp16, int8, uint8, int16, uint16, int32, uint32; fp8e4m3 and fp8e5m2 on chips that have them";
inline constexpr const char* kLayoutNames =
    "aligned, compact, line-aligned, free, matrix, vector, 1ic, 2ic, 32ic, 64ic, continuous, system";

// What the options describe on a chip; shape, dtype, layout, mode, stride, width, start_npu and offset count.
Result<LayoutSubject> make_layout_subject(const LayoutOptions& options, const Chip& chip);

Result<Picture> make_layout_picture(const LayoutOptions& options);

// Exit status: 0; 2 for options that make no picture; 3 when the SVG cannot be written.
int run_layout(const LayoutOptions& options);

}  // namespace softtpu::cli
