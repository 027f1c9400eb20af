// The options of softtpu layout; the picture itself is also drawn without them, by tests.
#include <CLI/CLI.hpp>
#include <memory>

#include "tools/softtpu/command.hpp"
#include "tools/softtpu/layout.hpp"

namespace softtpu::cli {

Run add_layout(CLI::App& app) {
  auto options = std::make_shared<LayoutOptions>();
  app.add_option("--chip", options->chip, "a chip's name, or a file with its description")->capture_default_str();
  app.add_option("--shape", options->shape,
                 "N,C,H,W; ROWS,COLUMNS of a matrix; COLUMNS of a vector; IC,OC,KH,KW of weights");
  app.add_option("--dtype", options->dtype, kDtypeNames)->capture_default_str();
  app.add_option("--layout", options->layout, kLayoutNames)->capture_default_str();
  app.add_option("--mode", options->mode, "storage mode: none, 2n, 4n or 2ic (shape IC,OC,KH,KW)")
      ->capture_default_str();
  app.add_option("--stride", options->stride, "N,C,H,W in elements, for the layouts free and system");
  app.add_option("--width", options->width, "columns per channel, for matrix and vector");
  app.add_option("--start-npu", options->start_npu, "the NPU of channel 0");
  app.add_option("--offset", options->offset, "bytes from the start of that NPU's memory");
  app.add_option("--eu-bytes", options->eu_bytes, "alignment of the aligned layouts, instead of the chip's");
  app.add_flag("--features", options->features, "one cell for each feature (n, c)");
  app.add_option("--mark", options->marks, "NAME=ADDRESS: show where local addresses are, instead of a tensor");
  app.add_flag("--banks", options->banks, "show the addresses of the banks, instead of a tensor");
  app.add_option("--npus", options->npus, "NPUs drawn at most")->capture_default_str();
  app.add_option("--rows", options->rows, "rows drawn at most")->capture_default_str();
  app.add_option("-o,--output", options->output, "also write an SVG file");
  app.add_flag("--json", options->json, "all cells as JSON instead of the drawing");
  app.footer("Exit status: 0; 2 when the options make no picture; 3 when the SVG file cannot be written.");
  return [options] { return run_layout(*options); };
}

}  // namespace softtpu::cli
