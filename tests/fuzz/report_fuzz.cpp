// What commands read of earlier runs: journals, times of launches, findings, maps of tensors, recorded launches.
#include <string>
#include <vector>

#include "device/record/launch_record.hpp"
#include "runtime/bmodel/tensor_map.hpp"
#include "runtime/report/journal.hpp"
#include "runtime/report/report.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/fuzz/temporary_file.hpp"
#include "tools/softtpu/report_page.hpp"

// The page itself does not matter.
std::string_view softtpu::cli::embedded_page(std::string_view name) {
  return name == "page.html" ? "@STYLE@@SCRIPT@@DATA@" : "";
}

namespace softtpu::fuzz {
namespace {

std::string text_of(std::span<const std::uint8_t> bytes) { return {bytes.begin(), bytes.end()}; }

void read_as_journal(std::span<const std::uint8_t> bytes) {
  const TemporaryFile file(".journal", bytes);
  auto contents = read_journal(file.path(), 0);
  require(static_cast<bool>(contents), "a journal has no rules that it could break: what is damaged is left out");
  const RunReport report{{}, "fuzz", "", 0, *std::move(contents)};
  require(!to_json_text(report).empty(), "it can be reported");
  static_cast<void>(time_entries(text_of(bytes)));
}

void make_page_of(std::span<const std::uint8_t> bytes) {
  cli::ReportInput input;
  const std::string text = text_of(bytes);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    (text[begin] == '!' ? input.findings : input.launches.emplace_back()) =
        text.substr(begin + (text[begin] == '!' ? 1 : 0), end - begin);
    begin = end + 1;
  }
  const auto page = cli::make_page(input);
  require(page || !page.error().text.empty(), "a refusal says why");
}

void read_as_map(std::span<const std::uint8_t> bytes) {
  const auto layers = bmodel::read_tensor_map(text_of(bytes));
  require(layers || !layers.error().text.empty(), "a refusal says why");
  if (layers)
    require(bmodel::unpack_layers(bmodel::pack_layers(*layers)).size() == layers->size(), "each layer comes back");
  static_cast<void>(bmodel::unpack_layers(bytes));
}

void read_as_record(std::span<const std::uint8_t> bytes) {
  const TemporaryFile file(".record", bytes);
  const auto record = read_launch_record(file.path());
  require(record || !record.error().text.empty(), "a refusal says why");
}

}  // namespace
}  // namespace softtpu::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace softtpu::fuzz;
  Input input(data, bytes);
  switch (input.byte() % 4) {
    case 0: read_as_journal(input.rest()); break;
    case 1: make_page_of(input.rest()); break;
    case 2: read_as_map(input.rest()); break;
    default: read_as_record(input.rest());
  }
  return 0;
}
