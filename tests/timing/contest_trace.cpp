#include "tests/timing/contest_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>
#include <vector>

#include "device/timing/engine_times.hpp"
#include "runtime/layout/formulas.hpp"

namespace softtpu::timing {
namespace {

using Words = std::vector<std::string_view>;

template <char separator>
Words split(std::string_view text) {
  Words words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::vector<std::int64_t> numbers(std::string_view text) {
  std::vector<std::int64_t> values;
  if (text != "-") {
    for (const std::string_view word : split<','>(text)) values.push_back(number(word));
  }
  return values;
}

Dim4 to_shape(std::string_view text) {
  const auto v = numbers(text);
  return {static_cast<int>(v.at(0)), static_cast<int>(v.at(1)), static_cast<int>(v.at(2)), static_cast<int>(v.at(3))};
}

std::optional<Stride4> find_stride(std::string_view text) {
  const auto v = numbers(text);
  if (v.size() != 4) return std::nullopt;
  return Stride4{v[0], v[1], v[2], v[3]};
}

// Turns one line into features.
class Line {
 public:
  Line(const TimeModel& model, const Chip& chip, const Words& words) : model_(model), chip_(chip), words_(words) {}

  bool is_gdma() const { return words_[0].starts_with("gdma"); }
  Features features() const { return is_gdma() ? gdma() : bdc(); }

 private:
  std::string_view word(std::size_t i) const { return words_.at(i); }
  int integer(std::size_t i) const { return static_cast<int>(number(word(i))); }
  int lane() const { return chip_.npu_of(static_cast<std::uint64_t>(number(word(1)))) % chip_.npu_num; }

  Features gdma() const {
    const std::string_view name = word(0);
    const bool load = name.ends_with("S2L");
    const auto system_addr = static_cast<std::uint64_t>(number(word(load ? 2 : 1)));
    if (name.find("matrix") != std::string_view::npos) {
      return model_.matrix_transfer(load, system_addr, integer(3), integer(4), integer(5), integer(6));
    }
    const Dim4 shape = to_shape(word(3));
    const std::int64_t bytes = shape.elements() * 4;
    if (name.find("set_C") != std::string_view::npos) {
      return name.ends_with("local") ? model_.local_move(bytes) : model_.system_fill(bytes);
    }
    if (name.ends_with("L2L")) return model_.local_move(bytes);
    if (name.ends_with("S2S")) return model_.system_move(bytes);
    const auto system = find_stride(word(load ? 5 : 4)).value_or(continuous_stride(shape));
    return model_.transfer(load, shape, {system_addr, system}, find_stride(word(load ? 4 : 5)));
  }

  TimeModel::Window window(std::size_t kernel, std::size_t pad, bool has_dilation) const {
    TimeModel::Window window;
    window.kh = integer(kernel);
    window.kw = integer(kernel + 1);
    if (const auto v = numbers(word(pad)); v.size() == 4) {
      window.pad = {static_cast<int>(v[0]), static_cast<int>(v[1]), static_cast<int>(v[2]), static_cast<int>(v[3])};
    }
    const auto pair = [&](std::size_t i) {
      const auto v = numbers(word(i));
      return v.size() == 2 ? Dim2{static_cast<int>(v[0]), static_cast<int>(v[1])} : Dim2{};
    };
    window.stride = pair(pad + 1);
    if (has_dilation) window.dilation = pair(pad + 2);
    return window;
  }

  Features bdc() const {
    const std::string_view name = word(0);
    if (name == "bdc_conv2d") return model_.convolution(to_shape(word(5)), integer(6), window(7, 13, true), lane());
    if (name == "bdc_depthwise2d") return model_.depthwise(to_shape(word(5)), window(6, 9, true), lane());
    if (name == "bdc_avg_pool2d" || name == "bdc_max_pool2d")
      return model_.depthwise(to_shape(word(3)), window(4, 6, false), lane());
    if (name == "bdc_matmul") return model_.matmul(integer(5), integer(6), integer(7), integer(8), integer(9), lane());
    const auto shape_word = std::find_if(words_.begin() + 1, words_.end(), [](std::string_view text) {
      return std::count(text.begin(), text.end(), ',') == 3;
    });
    const Dim4 shape = to_shape(shape_word == words_.end() ? std::string_view() : *shape_word);
    // An exponential is nine commands: the series, a table look-up and the steps between them.
    constexpr int kExpCommands = 9;
    if (name == "bdc_taylor_exp") return model_.exponential(shape, lane(), integer(4), 1);
    if (name == "bdc_exp_tunable") return model_.exponential(shape, lane(), integer(5) + 10, kExpCommands);
    if (name == "bdc_exp") return model_.exponential(shape, lane(), 20, kExpCommands);
    if (name == "bdc_div" || name == "bdc_reciprocal" || name == "bdc_div_C") return model_.divide(shape, lane());
    return model_.element_wise(shape, lane());
  }

  const TimeModel& model_;
  const Chip& chip_;
  const Words& words_;
};

}  // namespace

Result<std::optional<Trace>> read_trace(const TimeModel& model, const Chip& chip, const std::string& path) {
  std::ifstream file(path);
  if (!file) return Error{ErrorKind::kResource, path + ": cannot be opened"};
  Trace trace;
  int sections = 0;
  int number_of_line = 0;
  bool open = false;
  std::map<std::string, int> known;  // traces repeat few different lines
  for (std::string text; std::getline(file, text);) {
    ++number_of_line;
    if (text.empty() || text == "init") continue;
    if (text == "[" || text == "]" || text == "poll") {
      trace.steps.push_back(text == "[" ? Trace::kBegin : text == "]" ? Trace::kEnd : Trace::kPoll);
      if (text == "poll") continue;
      open = text == "[";
      sections += open ? 0 : 1;
      continue;
    }
    auto found = known.find(text);
    if (found == known.end()) {
      const Words words = split<' '>(text);
      const Line line(model, chip, words);
      try {
        trace.commands.push_back({line.is_gdma(), line.features()});
      } catch (const std::out_of_range&) {
        return Error{ErrorKind::kUsage, fmt::format("{}:{}: too few arguments: {}", path, number_of_line, text)};
      }
      found = known.emplace(text, static_cast<int>(trace.commands.size()) - 1).first;
    }
    trace.steps.push_back(found->second);
    sections += open ? 0 : 1;
  }
  if (sections < 2) return std::optional<Trace>();
  return std::optional<Trace>(std::move(trace));
}

Sections::Sections(const Trace& trace) {
  const auto sparse = [](const Features& features) {
    Sparse list;
    for (std::size_t i = 0; i < static_cast<std::size_t>(Feature::kCount); ++i) {
      const auto feature = static_cast<Feature>(i);
      if (features[feature] != 0) list.emplace_back(feature, features[feature]);
    }
    return list;
  };
  std::map<std::pair<Features, Features>, double> counts;
  Features bdc, gdma, total;
  bool open = false;
  const auto close = [&] {
    ++counts[{bdc, gdma}];
    bdc = gdma = {};
  };
  for (const int step : trace.steps) {
    if (step == Trace::kPoll) continue;
    if (step == Trace::kBegin || step == Trace::kEnd) {
      if (step == Trace::kEnd) close();
      open = step == Trace::kBegin;
      continue;
    }
    const Trace::Command& command = trace.commands[static_cast<std::size_t>(step)];
    (command.gdma ? gdma : bdc) += command.features;
    total += command.features;
    if (!open) close();
  }
  for (const auto& [both, count] : counts) sections_.push_back({sparse(both.first), sparse(both.second), count});
  total_ = sparse(total);
}

double Sections::time_us(const TimeModel& model) const {
  const auto engine = [&](const Sparse& features) {
    double sum = 0;
    for (const auto& [feature, amount] : features) sum += amount * model.engine_price(feature);
    return sum;
  };
  double engines = 0;
  for (const Section& section : sections_) {
    const double join = section.bdc.empty() || section.gdma.empty() ? 0 : model.section_us();
    engines += section.count * (std::max(engine(section.bdc), engine(section.gdma)) + join);
  }
  double issue = 0;
  for (const auto& [feature, amount] : total_) issue += amount * model.issue_price(feature);
  return model.launch_us() + std::max(engines, issue);
}

double event_time_us(const Trace& trace, const TimeModel& model) {
  std::vector<CommandCost> costs;
  for (const Trace::Command& command : trace.commands) {
    CommandCost cost;
    cost.work_us = command.gdma ? model.gdma_us(command.features) : model.bdc_us(command.features);
    cost.issue_us = model.issue_us(command.features);
    costs.push_back(cost);
  }
  EngineTimes times(model.launch_us(), model.section_us());
  for (const int step : trace.steps) {
    switch (step) {
      case Trace::kBegin: times.begin_section(); break;
      case Trace::kEnd: times.end_section(); break;
      case Trace::kPoll: times.poll(); break;
      default: {
        const auto index = static_cast<std::size_t>(step);
        times.add(trace.commands[index].gdma ? Queue::kGdma : Queue::kBdc, costs[index]);
      }
    }
  }
  return times.end().us;
}

}  // namespace softtpu::timing
