// softtpu bmodel run and compare, inside the program that runs the network: arrays in, launches through libbmrt, arrays
// out.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <random>

#include "bmruntime_interface.h"
#include "device/numeric/formats.hpp"
#include "runtime/base/config.hpp"
#include "softtpu/networks.h"
#include "tools/softtpu/bmodel.hpp"
#include "tools/softtpu/command.hpp"
#include "tools/softtpu/npy.hpp"
#include "tools/softtpu/npz.hpp"

namespace softtpu::cli {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;

Error usage(const std::string& text) { return {ErrorKind::kUsage, text}; }

template <class T>
void store(std::uint8_t* to, T value) {
  std::memcpy(to, &value, sizeof(value));
}
template <class T>
void store_whole(std::uint8_t* to, double value) {
  store(to, static_cast<T>(std::clamp(value, static_cast<double>(std::numeric_limits<T>::min()),
                                      static_cast<double>(std::numeric_limits<T>::max()))));
}

void store_as(Dtype type, std::uint8_t* to, double value) {
  switch (type) {
    case Dtype::kFp32: return store(to, static_cast<float>(value));
    case Dtype::kFp16: return store(to, round_f16(static_cast<float>(value)));
    case Dtype::kBfp16: return store(to, round_bf16(static_cast<float>(value)));
    case Dtype::kInt8: return store_whole<std::int8_t>(to, value);
    case Dtype::kUint8: return store_whole<std::uint8_t>(to, value);
    case Dtype::kInt16: return store_whole<std::int16_t>(to, value);
    case Dtype::kUint16: return store_whole<std::uint16_t>(to, value);
    case Dtype::kInt32: return store_whole<std::int32_t>(to, value);
    case Dtype::kUint32: return store_whole<std::uint32_t>(to, value);
    case Dtype::kInt4:
    case Dtype::kUint4:
    case Dtype::kFp4:
    case Dtype::kFp8E5M2:
    case Dtype::kFp8E4M3:
    case Dtype::kFp20:
    case Dtype::kTf32: return;  // refused before, or no type of a network
  }
}

double value_of(Dtype type, const std::uint8_t* from) {
  const auto load = [from](auto zero) {
    std::memcpy(&zero, from, sizeof(zero));
    return zero;
  };
  switch (type) {
    case Dtype::kFp32: return load(0.0F);
    case Dtype::kFp16: return widen_f16(load(std::uint16_t{}));
    case Dtype::kBfp16: return widen_bf16(load(std::uint16_t{}));
    case Dtype::kInt8: return load(std::int8_t{});
    case Dtype::kUint8: return load(std::uint8_t{});
    case Dtype::kInt16: return load(std::int16_t{});
    case Dtype::kUint16: return load(std::uint16_t{});
    case Dtype::kInt32: return load(std::int32_t{});
    case Dtype::kUint32: return load(std::uint32_t{});
    case Dtype::kInt4:
    case Dtype::kUint4:
    case Dtype::kFp4:
    case Dtype::kFp8E5M2:
    case Dtype::kFp8E4M3:
    case Dtype::kFp20:
    case Dtype::kTf32: return 0;
  }
  return 0;
}

// Whether the tensor may have this shape: its own, or a smaller one where the stage is dynamic.
bool takes(const bmodel::Stage& stage, const bmodel::Tensor& tensor, const Extents& shape) {
  return shape == tensor.shape ||
         (stage.dynamic && std::equal(shape.begin(), shape.end(), tensor.shape.begin(), tensor.shape.end(),
                                      [](auto given, auto most) { return given > 0 && given <= most; }));
}

void set_shape(bmodel::Tensor& tensor, const Extents& shape) {
  tensor.shape = shape;
  std::uint64_t count = 1;
  for (const std::uint64_t extent : shape) count *= extent;
  tensor.bytes = (count * static_cast<std::uint64_t>(bmodel::bits_of(tensor.type)) + 7) / 8;
}

// Elements as the network reads them. An array of floats for an input of whole numbers is quantised with the input's
// scale and zero point; everything else keeps its values.
Result<Bytes> to_input(const bmodel::Tensor& tensor, const NumpyArray& array, bool dynamic) {
  const Dtype type = to_dtype(tensor.type);
  const auto size = static_cast<std::uint64_t>(size_of(type));
  if (size == 0) return usage(fmt::format("input \"{}\" has elements of four bits", tensor.name));
  const std::uint64_t count = tensor.bytes / size;
  if (array.count() != count)
    return usage(fmt::format("array \"{}\" has shape {}, input \"{}\" {} {}", array.name, shape_text(array.shape),
                             tensor.name, dynamic ? "takes up to" : "has", shape_text(tensor.shape)));
  const bool quantise = array.kind == 'f' && is_integer(type);
  Bytes bytes(tensor.bytes);
  // Without a detour where elements are the same, so that every bit stays.
  const bool same = !quantise && static_cast<std::uint64_t>(array.item_bytes) == size && type != Dtype::kBfp16 &&
                    (array.kind == 'f') == is_float(type);
  if (same) return array.bytes;
  for (std::uint64_t i = 0; i < count; ++i) {
    double value = array.value(i);
    if (quantise) value = std::nearbyint(value * tensor.scale + tensor.zero_point);
    store_as(type, &bytes[i * size], value);
  }
  return bytes;
}

// Floats in [-1, 1); bytes of any value; larger whole numbers, which are mostly indices, from 0 to 9.
Bytes random_input(const bmodel::Tensor& tensor, std::mt19937_64& random) {
  const Dtype type = to_dtype(tensor.type);
  const auto size = std::max<std::uint64_t>(static_cast<std::uint64_t>(size_of(type)), 1);
  Bytes bytes(tensor.bytes);
  for (std::uint64_t at = 0; at + size <= bytes.size(); at += size) {
    const std::uint64_t drawn = random();
    constexpr double kHalf = 9007199254740992.0;  // 2^53
    if (size == 1)
      bytes[at] = static_cast<std::uint8_t>(drawn);
    else if (is_float(type))
      store_as(type, &bytes[at], static_cast<double>(drawn >> 10) / kHalf - 1);
    else
      store_as(type, &bytes[at], static_cast<double>(drawn % 10));
  }
  return bytes;
}

// More is in no chip's memory.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 37;

Result<void> check_sizes(const bmodel::Stage& stage) {
  const auto here = static_cast<std::uint64_t>(std::max(::sysconf(_SC_PHYS_PAGES), 1L)) *
                    static_cast<std::uint64_t>(std::max(::sysconf(_SC_PAGESIZE), 1L));
  std::uint64_t bytes = 0;
  for (const auto* tensors : {&stage.inputs, &stage.outputs}) {
    for (const bmodel::Tensor& tensor : *tensors) {
      bytes += std::min(tensor.bytes, kMostBytes);
      if (tensor.bytes < kMostBytes && bytes < here) continue;
      return usage(
          fmt::format("tensor \"{}\" has {} bytes; with it the inputs and outputs need more memory than this "
                      "machine has ({} bytes)",
                      tensor.name, tensor.bytes, here));
    }
  }
  return {};
}

// The size of the largest array for one of the tensors: its elements may be of any type.
std::uint64_t most_bytes(const std::vector<bmodel::Tensor>& tensors) {
  constexpr std::uint64_t kWidest = 8;
  std::uint64_t most = 0;
  for (const bmodel::Tensor& tensor : tensors) {
    std::uint64_t count = kWidest;
    for (const std::uint64_t extent : tensor.shape) count *= extent;  // checked when the file was read
    most = std::max(most, count);
  }
  return most;
}

// By the tensor's name, else by its place.
const NumpyArray* find_array(const std::vector<NumpyArray>& arrays, const std::vector<bmodel::Tensor>& tensors,
                             std::size_t i) {
  const auto named =
      std::find_if(arrays.begin(), arrays.end(), [&](const auto& one) { return one.name == tensors[i].name; });
  if (named != arrays.end()) return &*named;
  return arrays.size() == tensors.size() ? &arrays[i] : nullptr;
}

// The shapes that are asked for; empty: any.
Result<std::vector<Extents>> wanted_shapes(const BmodelOptions& options, const std::vector<bmodel::Tensor>& inputs,
                                           const std::vector<NumpyArray>& arrays) {
  auto shapes = read_shapes(options.shapes);
  if (!shapes) return shapes.error();
  if (!shapes->empty() && shapes->size() != inputs.size())
    return usage(fmt::format("--shapes has {} shapes, the network has {} inputs", shapes->size(), inputs.size()));
  if (options.input.empty()) return shapes;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const NumpyArray* const array = find_array(arrays, inputs, i);
    if (array == nullptr) return usage(fmt::format("{} has no array \"{}\"", options.input, inputs[i].name));
    shapes->push_back(array->shape);
  }
  return shapes;
}

// Of the first stage that takes their shapes, unless one is named; `stage` becomes that one, with these shapes.
Result<std::vector<Bytes>> find_inputs(const BmodelOptions& options, const bmodel::Network& network,
                                       bmodel::Stage& stage) {
  std::vector<NumpyArray> arrays;
  if (!options.input.empty()) {
    std::uint64_t most = 0;
    for (const bmodel::Stage& one : network.stages) most = std::max(most, most_bytes(one.inputs));
    auto read = read_arrays(options.input, most);
    if (!read) return read.error();
    arrays = *std::move(read);
  }
  const auto shapes = wanted_shapes(options, stage.inputs, arrays);
  if (!shapes) return shapes.error();
  const auto takes_all = [&](const bmodel::Stage& one) {
    return shapes->empty() ||
           std::equal(one.inputs.begin(), one.inputs.end(), shapes->begin(), shapes->end(),
                      [&](const auto& tensor, const auto& shape) { return takes(one, tensor, shape); });
  };
  const auto fits = std::find_if(network.stages.begin(), network.stages.end(), takes_all);
  if (!options.one_stage && fits != network.stages.end()) stage = *fits;
  std::vector<Bytes> inputs;
  std::mt19937_64 random(options.seed);
  for (std::size_t i = 0; i < stage.inputs.size(); ++i) {
    bmodel::Tensor& tensor = stage.inputs[i];
    if (!shapes->empty() && takes(stage, tensor, (*shapes)[i]))
      set_shape(tensor, (*shapes)[i]);
    else if (!options.shapes.empty())
      return usage(fmt::format("--shapes: input \"{}\" {} {}, not {}", tensor.name,
                               stage.dynamic ? "takes up to" : "has", shape_text(tensor.shape),
                               shape_text((*shapes)[i])));
    if (options.input.empty()) {
      inputs.push_back(random_input(tensor, random));
      continue;
    }
    auto bytes = to_input(tensor, *find_array(arrays, stage.inputs, i), stage.dynamic);
    if (!bytes) return bytes.error();
    inputs.push_back(*std::move(bytes));
  }
  return inputs;
}

// A tensor beside a reference.
struct Comparison {
  double cosine = 1, maximum = 0;
  std::uint64_t differing = 0;
  std::optional<std::uint64_t> first;
};

Comparison compare(Dtype type, const Bytes& got, const NumpyArray& want, double tolerance) {
  const auto size = static_cast<std::uint64_t>(size_of(type));
  Comparison result;
  double product = 0;
  double got_square = 0;
  double want_square = 0;
  for (std::uint64_t i = 0; i < got.size() / size; ++i) {
    const double a = value_of(type, &got[i * size]);
    const double b = want.value(i);
    product += a * b;
    got_square += a * a;
    want_square += b * b;
    const bool both_nan = std::isnan(a) && std::isnan(b);
    if (both_nan || a == b) continue;
    const double error = std::abs(a - b);
    if (!(error <= result.maximum)) result.maximum = error;
    if (error <= tolerance) continue;
    ++result.differing;
    if (!result.first) result.first = i;
  }
  const double length = std::sqrt(got_square) * std::sqrt(want_square);
  if (length > 0) result.cosine = product / length;
  return result;
}

std::string indices_of(std::uint64_t element, const std::vector<std::uint64_t>& shape) {
  std::vector<std::uint64_t> indices(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    indices[i] = element % std::max<std::uint64_t>(shape[i], 1);
    element /= std::max<std::uint64_t>(shape[i], 1);
  }
  return fmt::format("[{}]", fmt::join(indices, ", "));
}

struct Choice {
  const bmodel::Network* network = nullptr;
  const bmodel::Stage* stage = nullptr;
};

// Kept open: a device and a runtime.
class Session {
 public:
  Session() = default;
  ~Session() {
    if (runtime_ != nullptr) bmrt_destroy(runtime_);
    if (handle_ != nullptr) bm_dev_free(handle_);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // What went wrong is in the log.
  bool open(const LoadedModel& model, const BmodelOptions& options, const Choice& chosen, const std::string& map) {
    if (bm_dev_request(&handle_, 0) != BM_SUCCESS) return false;
    runtime_ = bmrt_create(handle_);
    if (runtime_ != nullptr) softtpu_bmrt_run_static_parts(runtime_, options.static_parts);
    if (runtime_ != nullptr && !map.empty())
      softtpu_bmrt_use_tensor_map(runtime_, chosen.network->name.c_str(), options.stage, map.data(), map.size());
    if (runtime_ == nullptr) return false;
    // Of a file only what runs is read.
    return model.file != nullptr ? bmrt_load_bmodel(runtime_, options.file.c_str())
                                 : bmrt_load_bmodel_data(runtime_, model.bytes().data(), model.bytes().size());
  }

  void dump_layers(const std::string& folder) {
    folder_ = folder;
    softtpu_bmrt_show_tensors(
        runtime_,
        [](void* self, const char* name, bm_data_type_t dtype, const bm_shape_t* shape, const void* data,
           std::size_t bytes) { static_cast<Session*>(self)->dump(name, dtype, *shape, data, bytes); },
        this);
  }
  bool dumped() const { return dump_error_.empty(); }
  const std::string& dump_error() const { return dump_error_; }

  // The outputs get the shapes that the launch gives them. False: it failed, and only the outputs that it has made
  // stay.
  bool launch(const bmodel::Network& network, bmodel::Stage& stage, std::vector<Bytes>& inputs,
              std::vector<Bytes>& outputs) {
    std::vector<void*> in;
    std::vector<void*> out;
    std::vector<bm_shape_t> shapes;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      in.push_back(inputs[i].data());
      bm_shape_t shape{};
      shape.num_dims = static_cast<int>(stage.inputs[i].shape.size());
      for (std::size_t k = 0; k < stage.inputs[i].shape.size(); ++k)
        shape.dims[k] = static_cast<int>(stage.inputs[i].shape[k]);
      shapes.push_back(shape);
    }
    std::transform(outputs.begin(), outputs.end(), std::back_inserter(out),
                   [](Bytes& output) { return output.data(); });
    bm_shape_t not_made{};
    not_made.num_dims = -1;
    std::vector<bm_shape_t> output_shapes(out.size(), not_made);
    const auto start = std::chrono::steady_clock::now();
    const bool good =
        bmrt_launch_data(runtime_, network.name.c_str(), in.data(), shapes.data(), static_cast<int>(in.size()),
                         out.data(), output_shapes.data(), static_cast<int>(out.size()), true);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    fastest_ms_ = std::min(fastest_ms_, took.count());
    for (std::size_t i = outputs.size(); i-- > 0;) {
      const bm_shape_t& shape = output_shapes[i];
      if (shape.num_dims < 0) {
        stage.outputs.erase(stage.outputs.begin() + static_cast<std::ptrdiff_t>(i));
        outputs.erase(outputs.begin() + static_cast<std::ptrdiff_t>(i));
        continue;
      }
      set_shape(stage.outputs[i], {shape.dims, shape.dims + shape.num_dims});
      outputs[i].resize(std::min<std::uint64_t>(outputs[i].size(), stage.outputs[i].bytes));
    }
    return good;
  }

  double fastest_ms() const { return fastest_ms_; }
  // Of the last launch, in microseconds; 0: times are not estimated.
  unsigned long estimate_us() const {
    const auto settings = read_settings();
    unsigned long us = 0;
    if (!settings || settings->time.empty()) return 0;
    return bm_get_last_api_process_time_us(handle_, &us) == BM_SUCCESS ? us : 0;
  }

 private:
  // A name as a file's: "/" and "%" are written as in a URL, so that "a/b" and "a_b" are two files.
  static std::string file_name(const std::string& name) {
    std::string file;
    for (const char c : name) {
      if (c == '/')
        file += "%2F";
      else if (c == '%')
        file += "%25";
      else
        file += c;
    }
    return file;
  }
  void dump(const std::string& name, bm_data_type_t dtype, const bm_shape_t& shape, const void* data,
            std::size_t bytes) {
    const auto* from = static_cast<const std::uint8_t*>(data);
    const auto written = write_npy((fs::path(folder_) / (file_name(name) + ".npy")).string(),
                                   to_dtype(static_cast<bmodel::DataType>(dtype)),
                                   {shape.dims, shape.dims + shape.num_dims}, Bytes(from, from + bytes));
    if (!written && dump_error_.empty()) dump_error_ = written.error().text;
  }

  bm_handle_t handle_ = nullptr;
  void* runtime_ = nullptr;
  std::string folder_, dump_error_;
  double fastest_ms_ = std::numeric_limits<double>::infinity();
};

Result<Choice> choose(const BmodelOptions& options, const bmodel::Model& model) {
  for (const bmodel::Network& network : model.networks) {
    if (!options.network.empty() && network.name != options.network) continue;
    if (static_cast<std::size_t>(options.stage) < network.stages.size())
      return Choice{&network, &network.stages[static_cast<std::size_t>(options.stage)]};
  }
  return usage(fmt::format("{} has no such network or stage", options.file));
}

// Parts that cannot run as the process is set. Whether the file's firmware can be used, the log says.
std::vector<std::string> left_out(const LoadedModel& loaded, const bmodel::Stage& stage) {
  const char* const setting = std::getenv("SOFTTPU_FIRMWARE");
  const std::string firmware = setting == nullptr ? "" : setting;
  const bool of_file = firmware.empty() || firmware == "file";
  const bool has_firmware = of_file ? !loaded.model.firmware.empty() : firmware != "none";
  return stage.parts_without(has_firmware ? bmodel::Walker::kFirmware : bmodel::Walker::kOwn);
}

void print_times(const Session& session, const Choice& chosen, const std::vector<bmodel::Tensor>& inputs, int repeat) {
  // The first of three dimensions may be steps of a sequence.
  const bool has_images = !inputs.empty() && inputs[0].shape.size() == 4;
  const double images = has_images ? static_cast<double>(inputs[0].shape[0]) : 1.0;
  const char* const what = has_images ? "images" : "launches";
  print_escaped("{}: {:.3f} ms here, {:.1f} {}/s{}", chosen.network->name, session.fastest_ms(),
                images * 1000 / session.fastest_ms(), what, repeat > 1 ? fmt::format(" (fastest of {})", repeat) : "");
  if (const unsigned long us = session.estimate_us(); us > 0)
    print_escaped("; on the chip {} us, {:.1f} {}/s (estimate)", us, images * 1e6 / static_cast<double>(us), what);
  print_escaped("\n");
}

// Whether all outputs are those of the file.
Result<bool> compare_outputs(const BmodelOptions& options, const bmodel::Stage& stage,
                             const std::vector<Bytes>& outputs) {
  const auto arrays = read_arrays(options.reference, most_bytes(stage.outputs));
  if (!arrays) return arrays.error();
  bool equal = true;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const bmodel::Tensor& tensor = stage.outputs[i];
    const NumpyArray* const array = find_array(*arrays, stage.outputs, i);
    if (array == nullptr) return usage(fmt::format("{} has no array \"{}\"", options.reference, tensor.name));
    const Dtype type = to_dtype(tensor.type);
    const auto size = static_cast<std::uint64_t>(size_of(type));
    if (size == 0 || array->count() != outputs[i].size() / size)
      return usage(fmt::format("array \"{}\" has shape [{}], output \"{}\" has [{}]", array->name,
                               fmt::join(array->shape, ", "), tensor.name, fmt::join(tensor.shape, ", ")));
    const Comparison result = compare(type, outputs[i], *array, options.tolerance);
    print_escaped("{}: cosine {:.9f}, maximum error {:.6g}, {} of {} elements differ", tensor.name, result.cosine,
                  result.maximum, result.differing, array->count());
    if (result.first)
      print_escaped(", the first at {}: {:.9g}, expected {:.9g}", indices_of(*result.first, tensor.shape),
                    value_of(type, &outputs[i][*result.first * size]), array->value(*result.first));
    print_escaped("\n");
    equal = equal && result.differing == 0;
  }
  return equal;
}

// Of the stage that has the most: the runtime chooses one for the shapes.
std::uint64_t most_output_bytes(const bmodel::Network& network, std::size_t i) {
  std::uint64_t most = 0;
  for (const bmodel::Stage& stage : network.stages) most = std::max(most, stage.outputs[i].bytes);
  return most;
}

// Masks and numbers of tokens that are drawn at random rarely make sense.
void note_nan(const bmodel::Network& network, const bmodel::Stage& stage, const std::vector<Bytes>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Dtype type = to_dtype(stage.outputs[i].type);
    const auto size = static_cast<std::uint64_t>(size_of(type));
    for (std::uint64_t at = 0; size > 0 && is_float(type) && at + size <= outputs[i].size(); at += size) {
      if (!std::isnan(value_of(type, &outputs[i][at]))) continue;
      print_escaped("{}: output \"{}\" has a NaN; the inputs are random, --input gives others\n", network.name,
                    stage.outputs[i].name);
      return;
    }
  }
}

Result<void> write_outputs(const std::string& path, const bmodel::Stage& stage, const std::vector<Bytes>& outputs) {
  std::vector<NamedTensor> tensors;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    tensors.push_back({stage.outputs[i].name, to_dtype(stage.outputs[i].type), stage.outputs[i].shape, outputs[i]});
  return write_npz(path, tensors);
}

}  // namespace

int execute_model(const BmodelOptions& options) {
  const auto loaded = load_model(options.file);
  if (!loaded) return fail(loaded.error());
  const auto chosen = choose(options, loaded->model);
  if (!chosen) return fail(chosen.error());
  // Loading checks that the tensors lie in the network's memory: before that, their sizes are only claimed.
  Session session;
  auto map = read_map(options.map);
  if (!map) return fail(map.error());
  if (options.map.empty()) {
    bmodel::Stage stage = *chosen->stage;
    std::string beside = bmodel::read_map_beside(options.file);
    if (bmodel::try_tensor_map(stage, beside)) *map = std::move(beside);
  }
  if (!session.open(*loaded, options, *chosen, *map)) return kFailed;
  for (const bmodel::Stage& one : chosen->network->stages) {
    if (auto possible = check_sizes(one); !possible) return fail(possible.error());
  }
  bmodel::Stage stage = *chosen->stage;
  auto inputs = find_inputs(options, *chosen->network, stage);
  if (!inputs) return fail(inputs.error());
  if (!options.layers.empty()) {
    std::error_code failed;
    fs::create_directories(options.layers, failed);
    if (failed) return fail(Error{ErrorKind::kResource, fmt::format("{}: {}", options.layers, failed.message())});
    session.dump_layers(options.layers);
  }
  for (const std::string& part : options.static_parts ? left_out(*loaded, stage) : std::vector<std::string>())
    print_escaped("{}: left out: {}\n", chosen->network->name, part);
  std::vector<Bytes> outputs(stage.outputs.size());
  bool good = true;
  for (int i = 0; i < options.repeat && good; ++i) {
    for (std::size_t k = 0; k < outputs.size(); ++k) outputs[k].assign(most_output_bytes(*chosen->network, k), 0);
    good = session.launch(*chosen->network, stage, *inputs, outputs);
    if (!good && outputs.empty()) return kFailed;
  }
  print_times(session, *chosen, stage.inputs, options.repeat);
  if (options.input.empty()) note_nan(*chosen->network, stage, outputs);
  if (!session.dumped()) {
    fail(session.dump_error().c_str());
    return kNotWritten;
  }
  if (!options.output.empty()) {
    if (auto written = write_outputs(options.output, stage, outputs); !written) {
      fail(written.error());
      return kNotWritten;
    }
  }
  if (options.reference.empty()) return good ? kDone : kFailed;
  const auto equal = compare_outputs(options, stage, outputs);
  if (!equal) return fail(equal.error());
  return good && *equal ? kDone : kFailed;
}

}  // namespace softtpu::cli
