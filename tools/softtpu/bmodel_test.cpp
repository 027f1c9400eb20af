// softtpu bmodel test: the options and lines of bmrt_test, the vendor's program that runs the networks of a file and
// compares what comes out.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <optional>
#include <random>
#include <thread>

#include "bmruntime_interface.h"
#include "device/numeric/formats.hpp"
#include "runtime/base/text_file.hpp"
#include "softtpu/device.h"
#include "tools/softtpu/bmodel.hpp"
#include "tools/softtpu/command.hpp"

namespace softtpu::cli {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

template <class... Parts>
void say(fmt::format_string<Parts...> form, Parts&&... parts) {
  print_escaped("[BMRT][bmrt_test] {}\n", fmt::format(form, std::forward<Parts>(parts)...));
}

Result<Bytes> read_whole(const fs::path& path) {
  const auto text = read_text_file(path, SIZE_MAX / 2);
  if (!text) return Error{ErrorKind::kUsage, text.error().text};
  return Bytes(text->begin(), text->end());
}

// "0,1"
Result<std::vector<int>> read_cores(const std::string& text) {
  std::vector<int> cores;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    const auto [last, failed] = std::from_chars(text.data() + from, text.data() + comma, cores.emplace_back());
    if (failed != std::errc() || last != text.data() + comma || cores.back() < 0 || comma + 1 == text.size())
      return Error{ErrorKind::kUsage, fmt::format("--core_list {}: not of the form 0,1", text)};
    from = comma + 1;
  }
  return cores;
}

bm_shape_t to_shape(const Extents& extents) {
  bm_shape_t shape{};
  for (const std::uint64_t extent : extents) shape.dims[shape.num_dims++] = static_cast<int>(extent);
  return shape;
}

double value_of(bm_data_type_t type, const std::uint8_t* from) {
  const auto load = [from](auto zero) {
    std::memcpy(&zero, from, sizeof(zero));
    return zero;
  };
  switch (type) {
    case BM_FLOAT32: return load(0.0F);
    case BM_FLOAT16: return widen_f16(load(std::uint16_t{}));
    case BM_BFLOAT16: return widen_bf16(load(std::uint16_t{}));
    case BM_INT8: return load(std::int8_t{});
    case BM_UINT8:
    case BM_INT4:
    case BM_UINT4: return load(std::uint8_t{});
    case BM_INT16: return load(std::int16_t{});
    case BM_UINT16: return load(std::uint16_t{});
    case BM_INT32: return load(std::int32_t{});
    case BM_UINT32: return load(std::uint32_t{});
  }
  return 0;
}

// As bmrt_test shows an array: its first elements.
std::string text_of(bm_data_type_t type, const Bytes& bytes) {
  constexpr std::size_t kShown = 16;
  const std::size_t size = bmrt_data_type_size(type);
  const std::size_t count = bytes.size() / size;
  std::string text = "<";
  for (std::size_t i = 0; i < std::min(count, kShown); ++i)
    text += fmt::format(" {:g}", value_of(type, &bytes[i * size]));
  return text + fmt::format("{} > len={}", count > kShown ? " ..." : "", count);
}

bool is_float(bm_data_type_t type) { return type == BM_FLOAT32 || type == BM_FLOAT16 || type == BM_BFLOAT16; }

// One network on one stage: what goes in, what is expected.
struct Case {
  std::string net;
  int number = 0, stage = 0;
  std::vector<bm_shape_t> shapes;
  std::vector<Bytes> inputs, expected;  // expected: empty without comparison
};

std::size_t bytes_of(bm_data_type_t type, const bm_shape_t& shape) {
  bm_tensor_t tensor{};
  tensor.dtype = type;
  tensor.shape = shape;
  return bmrt_tensor_bytesize(&tensor);
}

class Test {
 public:
  Test(const BmodelOptions& options, const std::vector<int>& cores, int thread)
      : options_(options), cores_(cores), thread_(thread) {}
  ~Test() {
    if (runtime_ != nullptr) bmrt_destroy(runtime_);
    if (handle_ != nullptr) bm_dev_free(handle_);
  }
  Test(const Test&) = delete;
  Test& operator=(const Test&) = delete;

  bool open(const LoadedModel& model, const std::string& path) {
    if (softtpu_device_open(&handle_, options_.devid, nullptr, SOFTTPU_KEEP_TIMES) != BM_SUCCESS) return false;
    runtime_ = bmrt_create(handle_);
    if (runtime_ == nullptr) return false;
    return model.file != nullptr ? bmrt_load_bmodel(runtime_, path.c_str())
                                 : bmrt_load_bmodel_data(runtime_, model.bytes().data(), model.bytes().size());
  }

  // All cases that the options choose. References hold them one behind the other, in the order of networks and stages.
  Result<std::vector<Case>> find_cases(const std::optional<Bytes>& input, const std::optional<Bytes>& output) const {
    const auto shapes = read_shapes(options_.shapes);
    if (!shapes) return shapes.error();
    std::vector<Case> cases;
    std::size_t in_at = 0;
    std::size_t out_at = 0;
    const int count = bmrt_get_network_number(runtime_);
    if (options_.net_idx >= count)
      return Error{ErrorKind::kUsage, fmt::format("--net_idx {}: the file has {} networks", options_.net_idx, count)};
    for (int n = 0; n < count; ++n) {
      const bm_net_info_t& info = *bmrt_get_network_info(runtime_, bmrt_get_network_name(runtime_, n));
      if (n == options_.net_idx && options_.stage_idx >= info.stage_num)
        return Error{ErrorKind::kUsage, fmt::format("--stage_idx {}: network {} has {} stages", options_.stage_idx,
                                                    info.name, info.stage_num)};
      for (int s = 0; s < info.stage_num; ++s) {
        Case one{info.name, n, s, {info.stages[s].input_shapes, info.stages[s].input_shapes + info.input_num}, {}, {}};
        const bool chosen =
            (options_.net_idx < 0 || options_.net_idx == n) && (options_.stage_idx < 0 || options_.stage_idx == s);
        if (chosen && !shapes->empty()) {
          if (shapes->size() != one.shapes.size())
            return Error{ErrorKind::kUsage, fmt::format("--shapes has {} shapes, network {} has {} inputs",
                                                        shapes->size(), info.name, one.shapes.size())};
          std::transform(shapes->begin(), shapes->end(), one.shapes.begin(), to_shape);
        }
        for (int i = 0; i < info.input_num; ++i) {
          const std::size_t bytes = bytes_of(info.input_dtypes[i], one.shapes[static_cast<std::size_t>(i)]);
          auto part = input ? cut(*input, in_at, bytes, "input_ref_data.dat") : Result<Bytes>(random(bytes, info, i));
          if (!part) return part.error();
          one.inputs.push_back(*std::move(part));
        }
        for (int i = 0; output && i < info.output_num; ++i) {
          auto part = cut(*output, out_at, bytes_of(info.output_dtypes[i], info.stages[s].output_shapes[i]),
                          "output_ref_data.dat");
          if (!part) return part.error();
          one.expected.push_back(*std::move(part));
        }
        if (chosen) cases.push_back(std::move(one));
      }
    }
    return cases;
  }

  // Runs a case; whether it did, and gave what is expected.
  bool run(const Case& one, int loop) {
    const bm_net_info_t& info = *bmrt_get_network_info(runtime_, one.net.c_str());
    say("INFO:==> running network #{}, name: {}, loop: {}", one.number, one.net, loop);
    show_arrays("input", "input_data", one.inputs, info.input_dtypes);
    show_arrays("output", "output ref_data", one.expected, info.output_dtypes);
    std::vector<bm_tensor_t> inputs(one.inputs.size());
    std::vector<bm_tensor_t> outputs(static_cast<std::size_t>(info.output_num));
    const auto start = Clock::now();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!bmrt_tensor(&inputs[i], runtime_, info.input_dtypes[i], one.shapes[i]) ||
          bm_memcpy_s2d(handle_, inputs[i].device_mem, const_cast<std::uint8_t*>(one.inputs[i].data())) !=  // NOLINT
              BM_SUCCESS)
        return false;
    }
    const double loading = seconds_since(start);
    const auto allocated = Clock::now();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto bytes = static_cast<unsigned>(info.max_output_bytes[i]);
      if (bm_malloc_device_byte(handle_, &outputs[i].device_mem, bytes) != BM_SUCCESS) return false;
    }
    const double allocating = seconds_since(allocated);
    double launching = 0;
    double waiting = 0;
    for (int i = 0; i < options_.calculate_times; ++i) {
      const auto launched = Clock::now();
      if (!launch(info, inputs, outputs)) return false;
      const auto waits = Clock::now();
      if (bm_thread_sync(handle_) != BM_SUCCESS) return false;
      launching += std::chrono::duration<double>(waits - launched).count() / options_.calculate_times;
      waiting += seconds_since(waits) / options_.calculate_times;
    }
    const double calculating = launching + waiting;
    unsigned long us = 0;
    static_cast<void>(bm_get_last_api_process_time_us(handle_, &us));
    const auto total = static_cast<unsigned long>(calculating * 1e6);
    say("INFO:net[{}] stage[{}], launch total time is {} us (npu {} us, cpu {} us), (launch func time {:.0f} us, sync "
        "{:.0f} us)",
        one.net, one.stage, total, us, total > us ? total - us : 0, launching * 1e6, waiting * 1e6);
    say("INFO:+++ The network[{}] stage[{}] output_data +++", one.net, one.stage);
    const auto fetched = Clock::now();
    std::vector<Bytes> got;
    for (const bm_tensor_t& output : outputs) {
      Bytes& bytes = got.emplace_back(bmrt_tensor_bytesize(&output));
      if (bm_memcpy_d2s_partial(handle_, bytes.data(), output.device_mem, static_cast<unsigned>(bytes.size())) !=
          BM_SUCCESS)
        return false;
    }
    const double getting = seconds_since(fetched);
    for (std::size_t i = 0; i < got.size(); ++i) {
      const bm_shape_t& shape = outputs[i].shape;
      say("INFO:output data #{} shape: [{} ] {}", i, fmt::join(shape.dims, shape.dims + shape.num_dims, " "),
          text_of(info.output_dtypes[i], got[i]));
    }
    const auto comparing = Clock::now();
    if (!one.expected.empty()) say("INFO:==>comparing output in mem #0 ... ");
    const bool equal = one.expected.empty() || compare(one, info, got);
    if (!one.expected.empty() && equal) say("INFO:+++ The network[{}] stage[{}] cmp success +++", one.net, one.stage);
    say("INFO:load input time(s): {:.6f}", loading);
    say("INFO:pre alloc  time(s): {:.6f}", allocating);
    say("INFO:calculate  time(s): {:.6f}, on the chip {:.6f} (estimate)", calculating, static_cast<double>(us) * 1e-6);
    say("INFO:get output time(s): {:.6f}", getting);
    say("INFO:compare    time(s): {:.6f}", seconds_since(comparing));
    release(inputs);
    release(outputs);
    return equal;
  }

 private:
  static void show_arrays(const char* kind, const char* title, const std::vector<Bytes>& arrays,
                          const bm_data_type_t* types) {
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      say("INFO:reading {} #{}, bytesize={}", kind, i, arrays[i].size());
      say("INFO:  --> {}: {}", title, text_of(types[i], arrays[i]));
    }
  }

  bool launch(const bm_net_info_t& info, std::vector<bm_tensor_t>& inputs, std::vector<bm_tensor_t>& outputs) {
    if (cores_.empty())
      return bmrt_launch_tensor_ex(runtime_, info.name, inputs.data(), info.input_num, outputs.data(), info.output_num,
                                   true, false);
    return bmrt_launch_tensor_multi_cores(runtime_, info.name, inputs.data(), info.input_num, outputs.data(),
                                          info.output_num, true, false, cores_.data(), static_cast<int>(cores_.size()));
  }

  static Result<Bytes> cut(const Bytes& all, std::size_t& at, std::size_t bytes, const char* name) {
    if (bytes > all.size() - at)
      return Error{ErrorKind::kUsage, fmt::format("{} has {} bytes, {} more are needed behind {}", name, all.size(),
                                                  bytes - (all.size() - at), at)};
    const auto from = all.begin() + static_cast<std::ptrdiff_t>(at);
    at += bytes;
    return Bytes(from, from + static_cast<std::ptrdiff_t>(bytes));
  }

  // Floats in [-1, 1), small whole numbers.
  Bytes random(std::size_t bytes, const bm_net_info_t& info, int i) const {
    std::mt19937_64 drawn(options_.seed + static_cast<std::uint64_t>(i) + 1000 * static_cast<std::uint64_t>(thread_));
    Bytes values(bytes);
    const bm_data_type_t type = info.input_dtypes[i];
    const std::size_t size = bmrt_data_type_size(type);
    for (std::size_t at = 0; at + size <= bytes; at += size) {
      const auto number = static_cast<float>(static_cast<std::int64_t>(drawn() % 2000) - 1000) / 1000;
      const auto put = [&](auto value) { std::memcpy(&values[at], &value, sizeof(value)); };
      if (type == BM_FLOAT32)
        put(number);
      else if (type == BM_FLOAT16)
        put(round_f16(number));
      else if (type == BM_BFLOAT16)
        put(round_bf16(number));
      else
        values[at] = static_cast<std::uint8_t>(size == 1 ? drawn() : drawn() % 10);
    }
    return values;
  }

  bool compare(const Case& one, const bm_net_info_t& info, const std::vector<Bytes>& got) const {
    for (std::size_t i = 0; i < got.size(); ++i) {
      const bm_data_type_t type = info.output_dtypes[i];
      const std::size_t size = bmrt_data_type_size(type);
      if (got[i].size() != one.expected[i].size()) {
        say("WRONG:output {} has {} bytes, the reference has {}", info.output_names[i], got[i].size(),
            one.expected[i].size());
        return false;
      }
      for (std::size_t at = 0; at + size <= got[i].size(); at += size) {
        const double a = value_of(type, &got[i][at]);
        const double b = value_of(type, &one.expected[i][at]);
        const bool same =
            (std::isnan(a) && std::isnan(b)) || a == b ||
            (is_float(type) ? std::abs(a - b) <= options_.accuracy_f * std::max({std::abs(a), std::abs(b), 1.0})
                            : std::abs(a - b) <= options_.accuracy_i);
        if (same) continue;
        say("WRONG:+++ The network[{}] stage[{}] cmp failed: output {}, element {} is {}, expected is {} +++", one.net,
            one.stage, info.output_names[i], at / size, a, b);
        return false;
      }
    }
    return true;
  }

  void release(std::vector<bm_tensor_t>& tensors) {
    for (bm_tensor_t& tensor : tensors) bm_free_device(handle_, std::exchange(tensor.device_mem, {}));
  }

  const BmodelOptions& options_;
  const std::vector<int>& cores_;
  int thread_;
  bm_handle_t handle_ = nullptr;
  void* runtime_ = nullptr;
};

}  // namespace

int test_model(const BmodelOptions& options) {
  if (options.file.empty() == options.context_dir.empty())
    return fail(Error{ErrorKind::kUsage, "one of --bmodel and --context_dir is needed"});
  const fs::path folder = options.context_dir;
  const std::string path = options.file.empty() ? (folder / "compilation.bmodel").string() : options.file;
  const auto file = load_model(path);
  if (!file) return fail(file.error());
  use_chip_of(file->model);
  const auto cores = read_cores(options.core_list);
  if (!cores) return fail(cores.error());
  std::optional<Bytes> input;
  std::optional<Bytes> output;
  if (options.compare < 0 ? !folder.empty() : options.compare > 0) {
    const fs::path beside = folder.empty() ? fs::path(options.file).parent_path() : folder;
    for (const auto& [name, to] :
         {std::pair("input_ref_data.dat", &input), std::pair("output_ref_data.dat", &output)}) {
      auto read = read_whole(beside / name);
      if (!read) return fail(read.error());
      *to = *std::move(read);
    }
  }
  std::atomic<int> status{kDone};
  std::vector<std::thread> threads;
  const auto work = [&](int number) {
    Test test(options, *cores, number);
    if (!test.open(*file, path)) return void(status = static_cast<int>(kFailed));
    const auto cases = test.find_cases(input, output);
    if (!cases) return void(status = fail(cases.error()));
    for (int i = 0; i < options.loopnum; ++i) {
      for (const Case& one : *cases) {
        if (!test.run(one, i)) status = kFailed;
      }
    }
  };
  for (int i = 1; i < options.thread_num; ++i) threads.emplace_back(work, i);
  work(0);
  for (std::thread& thread : threads) thread.join();
  return status;
}

}  // namespace softtpu::cli
