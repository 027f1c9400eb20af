#include "runtime/bmodel/host_layer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <utility>

#include "runtime/bmodel/host_layer_work.hpp"

namespace softtpu::bmodel {
namespace {

using on_host::Made;
using on_host::Record;
using on_host::Values;
using on_host::Work;

// Why a record is refused: a value of it is not documented. Empty: it is accepted.
using Check = std::string (*)(const Record& record);

std::string anything(const Record& /*record*/) { return {}; }
std::string no_sub(const Record& record) {
  // Two operations of the published list have the number 2.
  const std::int32_t operation = record.whole(4);
  return operation >= 0 && operation <= 5 && operation != 2 ? ""
                                                            : fmt::format("its operation {} is not known", operation);
}
std::string no_position(const Record& record) {
  return record.whole(16) == 0 ? "" : "position_sensitive is not carried out";
}
std::string known_code(const Record& record) {
  const std::int32_t code = record.whole(20);
  if (record.real(48) > 0) return "an objectness score is not carried out";
  return code >= 1 && code <= 3 ? "" : fmt::format("its code type {} is not known", code);
}
std::string known_unary(const Record& record) {
  const std::int32_t operation = record.whole(0);
  return operation >= 0 && operation <= 5 ? "" : fmt::format("its operation {} is not known", operation);
}
std::string known_sampler(const Record& record) {
  const std::int32_t mode = record.whole(0);
  const std::int32_t padding = record.whole(4);
  return mode >= 0 && mode <= 1 && padding >= 0 && padding <= 2
             ? ""
             : fmt::format("its mode {} with padding {} is not known", mode, padding);
}
std::string known_sampler_behind(const Record& record) { return known_sampler(record.from(16)); }
std::string known_resize(const Record& record) {
  const std::int32_t method = record.whole(8);
  if (method < 0 || method > 3) return fmt::format("its method {} is not known", method);
  for (const std::size_t at : {12U, 16U}) {
    if (record.whole(at) < 0 || record.whole(at) > 1)
      return fmt::format("its order of dimensions {} is not known", record.whole(at));
  }
  return {};
}
std::string known_topk(const Record& record) {
  const std::int32_t kind = record.whole(8);
  return kind >= 0 && kind <= 3 ? "" : fmt::format("its kind of result {} is not known", kind);
}

struct Row {
  std::int32_t type;
  const char* name;
  const char* meaning = "";  // empty: not carried out
  std::size_t record = 0;    // bytes
  std::size_t inputs = 0, most_inputs = 0, outputs = 1, most_outputs = 1;
  bool by_value = false;  // how large the result is depends on values
  Made (*run)(const Work& work) = nullptr;
  Check check = anything;
};

constexpr Row kRows[] = {
    {0, "SSD_DETECTION_OUTPUT", "Caffe's DetectionOutput of SSD", 52, 3, 3, 1, 1, true, on_host::ssd_detections,
     known_code},
    {1, "ANAKIN_DETECT_OUTPUT"},
    {2, "RPN"},
    {kUserLayer, "USER_DEFINED"},
    {4, "ROI_POOLING", "Caffe's ROIPooling", 12, 2, 2, 1, 1, false, on_host::roi_pooling},
    {5, "ROIALIGN", "MXNet's ROIAlign", 20, 2, 2, 1, 1, false, on_host::roi_align_of_mxnet, no_position},
    {6, "BOXNMS", "MXNet's box_nms", 40, 1, 1, 1, 1, false, on_host::box_nms},
    {7, "YOLO"},
    {8, "CROP_AND_RESIZE"},
    {9, "GATHER", "ONNX Gather", 4, 2, 2, 1, 1, false, on_host::gather},
    {10, "NON_MAX_SUPPRESSION", "TensorFlow's non_max_suppression", 12, 2, 2, 1, 1, true, on_host::nms_of_tensorflow},
    {11, "ARGSORT", "MXNet's argsort", 8, 1, 1, 1, 1, false, on_host::argsort},
    {12, "GATHERND", "ONNX GatherND", 8, 2, 2, 1, 1, false, on_host::gather_nd},
    {13, "YOLOV3_DETECTION_OUTPUT"},
    {14, "WHERE", "TensorFlow's where", 0, 1, 1, 1, 1, true, on_host::where},
    {15, "ADAPTIVE_AVERAGE_POOL"},
    {16, "ADAPTIVE_MAX_POOL"},
    {17, "TOPK", "PyTorch's topk", 12, 1, 2, 1, 2, false, on_host::top_k},
    {18, "RESIZE_INTERPOLATION", "TensorFlow's and PyTorch's resizing", 28, 1, 1, 1, 1, false, on_host::resize,
     known_resize},
    {19, "GATHERND_TF"},
    {20, "SORT_PER_DIM", "PyTorch's sort and argsort", 8, 1, 1, 1, 2, false, on_host::sort_per_dim},
    {21, "WHERE_SQUEEZE_GATHER"},
    {22, "MASKED_SELECT", "PyTorch's masked_select", 1, 2, 2, 1, 1, true, on_host::masked_select},
    {23, "UNARY", "the functions of these names", 4, 1, 1, 1, 1, false, on_host::unary, known_unary},
    {24, "EMBEDDING"},
    {25, "TOPK_MX", "MXNet's topk", 20, 1, 1, 1, 2, false, on_host::top_k_of_mxnet, known_topk},
    {26, "INDEX_PUT"},
    {27, "SCATTER_ND", "TensorFlow's scatter_nd", 36, 2, 2, 1, 1, false, on_host::scatter_nd},
    {28, "RANDOM_UNIFORM"},
    {29, "GATHER_PT"},
    {30, "BINARY"},
    {31, "TENSORFLOW_NMS_V5", "TensorFlow's NonMaxSuppressionV5", 20, 2, 2, 1, 3, true, on_host::nms_v5_of_tensorflow},
    {32, "GENERATE_PROPOSALS"},
    {33, "BBOX_TRANSFORM"},
    {34, "BOX_WITH_NMS_LIMIT"},
    {35, "COLLECT_RPN_PROPOSALS"},
    {36, "DISTRIBUTE_FPN_PROPOSALS"},
    {37, "DISTRIBUTE_FPN_PROPOSALS_ROI_ALIGN_CONCAT"},
    {38, "PYTORCH_ROI_ALIGN", "torchvision's roi_align", 20, 2, 2, 1, 1, false, on_host::roi_align_of_pytorch},
    {39, "AFFINE_GRID_GENERATOR", "PyTorch's affine_grid", 16, 1, 1, 1, 1, false, on_host::affine_grid},
    {40, "GRID_SAMPLER", "PyTorch's grid_sample", 12, 2, 2, 1, 1, false, on_host::grid_sample, known_sampler},
    {41, "AFFINE_GRID_SAMPLER", "PyTorch's affine_grid and grid_sample", 28, 2, 2, 1, 1, false,
     on_host::affine_grid_sample, known_sampler_behind},
    {42, "RANDOM_UNIFORM_INT"},
    {43, "TOPK_ASCENDING"},
    {44, "PYTORCH_INDEX"},
    {45, "EMBEDDING_BAG"},
    {46, "ONNX_NMS", "ONNX NonMaxSuppression", 8, 2, 5, 1, 1, true, on_host::nms_of_onnx},
    {47, "DEFORM_GATHER"},
    {48, "DEFORM_PSROIPOOLING"},
    {49, "PADDLE_YOLO_BOX"},
    {50, "PADDLE_MULTICLASS_NMS"},
    {51, "PADDLE_DEFORM_CONV"},
    {52, "PADDLE_MATRIX_NMS"},
    {53, "REVERSE_SEQUENCE", "ONNX ReverseSequence", 8, 2, 2, 1, 1, false, on_host::reverse_sequence},
    {54, "FULL_INDEX"},
    {55, "ADAPTIVE_AVERAGE_POOL_3D"},
    {56, "TENSOR_SCATTER_OP", "TensorFlow's tensor_scatter_nd_update, _add, _max, _min", 8, 3, 3, 1, 1, false,
     on_host::tensor_scatter, no_sub},
    {57, "REPEAT_INTERLEAVE", "PyTorch's repeat_interleave", 4, 2, 2, 1, 1, true, on_host::repeat_interleave},
    {58, "PADDLE_DENSITY_PRIOR_BOX"},
    {59, "PADDLE_BOX_CODER"},
};

const Row* find_row(std::int32_t type) {
  const auto* const found =
      std::find_if(std::begin(kRows), std::end(kRows), [type](const Row& row) { return row.type == type; });
  return found == std::end(kRows) ? nullptr : found;
}

std::string in_words(std::size_t least, std::size_t most) {
  return least == most ? std::to_string(least) : fmt::format("{} to {}", least, most);
}

// Floats of 16 bits, as double and back; the nearest one, of two the even one.
double from_small(std::uint16_t bits, int exponent_bits) {
  const int mantissa_bits = 15 - exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = bits >> mantissa_bits & ((1 << exponent_bits) - 1);
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  double value = 0;
  if (exponent == (1 << exponent_bits) - 1) {
    const std::uint64_t special = std::uint64_t{0x7FF} << 52 | static_cast<std::uint64_t>(mantissa)
                                                                   << (52 - mantissa_bits);
    value = std::bit_cast<double>(special);
  } else {
    value = exponent == 0 ? std::ldexp(mantissa, 1 - bias - mantissa_bits)
                          : std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

std::uint16_t to_small(double value, int exponent_bits) {
  const int mantissa_bits = 15 - exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const int special = ((1 << exponent_bits) - 1) << mantissa_bits;
  if (std::isnan(value)) {
    const auto top = std::bit_cast<std::uint64_t>(value) >> (52 - mantissa_bits) & ((1U << mantissa_bits) - 1);
    return static_cast<std::uint16_t>(sign | special | 1 << (mantissa_bits - 1) | static_cast<int>(top));
  }
  const double magnitude = std::abs(value);
  if (std::isinf(magnitude)) return static_cast<std::uint16_t>(sign | special);
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  // Of a subnormal result the place of the last bit is that of the smallest normal one.
  const int last = std::max(exponent - 1, 1 - bias) - mantissa_bits;
  const auto steps = static_cast<int>(std::nearbyint(std::ldexp(magnitude, -last)));
  const int bits = steps + (last + mantissa_bits + bias - 1) * (1 << mantissa_bits);
  return static_cast<std::uint16_t>(sign | std::min(magnitude == 0 ? 0 : bits, special));
}

template <class T>
void append(const std::vector<std::uint8_t>& bytes, std::vector<double>& to) {
  for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    T value{};
    std::memcpy(&value, &bytes[at], sizeof(T));
    to.push_back(static_cast<double>(value));
  }
}

Values read(const HostTensor& tensor) {
  const bool is_float =
      tensor.type == DataType::kFloat32 || tensor.type == DataType::kFloat16 || tensor.type == DataType::kBfloat16;
  Values values{tensor.shape, {}, !is_float};
  switch (tensor.type) {
    case DataType::kFloat32: append<float>(tensor.bytes, values.data); break;
    case DataType::kInt8: append<std::int8_t>(tensor.bytes, values.data); break;
    case DataType::kUint8: append<std::uint8_t>(tensor.bytes, values.data); break;
    case DataType::kInt16: append<std::int16_t>(tensor.bytes, values.data); break;
    case DataType::kUint16: append<std::uint16_t>(tensor.bytes, values.data); break;
    case DataType::kInt32: append<std::int32_t>(tensor.bytes, values.data); break;
    case DataType::kUint32: append<std::uint32_t>(tensor.bytes, values.data); break;
    case DataType::kFloat16:
    case DataType::kBfloat16: {
      append<std::uint16_t>(tensor.bytes, values.data);
      const int exponent_bits = tensor.type == DataType::kFloat16 ? 5 : 8;
      for (double& value : values.data) value = from_small(static_cast<std::uint16_t>(value), exponent_bits);
      break;
    }
    case DataType::kInt4:
    case DataType::kUint4: break;  // refused before
  }
  return values;
}

template <class T>
bool write_as(const std::vector<double>& values, std::vector<std::uint8_t>& to) {
  to.resize(values.size() * sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if constexpr (std::is_integral_v<T>) {
      if (!on_host::whole_number(values[i]) || values[i] < static_cast<double>(std::numeric_limits<T>::min()) ||
          values[i] > static_cast<double>(std::numeric_limits<T>::max()))
        return false;
    }
    const T value = static_cast<T>(values[i]);
    std::memcpy(&to[i * sizeof(T)], &value, sizeof(T));
  }
  return true;
}

bool write(const std::vector<double>& values, DataType type, std::vector<std::uint8_t>& to) {
  switch (type) {
    case DataType::kFloat32: return write_as<float>(values, to);
    case DataType::kInt8: return write_as<std::int8_t>(values, to);
    case DataType::kUint8: return write_as<std::uint8_t>(values, to);
    case DataType::kInt16: return write_as<std::int16_t>(values, to);
    case DataType::kUint16: return write_as<std::uint16_t>(values, to);
    case DataType::kInt32: return write_as<std::int32_t>(values, to);
    case DataType::kUint32: return write_as<std::uint32_t>(values, to);
    case DataType::kFloat16:
    case DataType::kBfloat16: {
      std::vector<double> bits(values.size());
      std::transform(values.begin(), values.end(), bits.begin(),
                     [&](double value) { return to_small(value, type == DataType::kFloat16 ? 5 : 8); });
      return write_as<std::uint16_t>(bits, to);
    }
    case DataType::kInt4:
    case DataType::kUint4: break;
  }
  return false;
}

}  // namespace

std::string name_of_host_layer(std::int32_t type) {
  const Row* const row = find_row(type);
  return row == nullptr ? std::to_string(type) : fmt::format("{} ({})", row->name, type);
}

std::string meaning_of_host_layer(std::int32_t type) {
  const Row* const row = find_row(type);
  return row == nullptr ? "" : row->meaning;
}

std::string why_not_on_host(const HostLayer& layer, std::span<const Tensor> inputs, std::span<const Tensor> outputs) {
  const std::string name = name_of_host_layer(layer.type);
  for (const auto& tensors : {inputs, outputs}) {
    for (const Tensor& tensor : tensors) {
      if (bits_of(tensor.type) < 8) return fmt::format("{} with {}", name, to_text(tensor.type));
    }
  }
  if (layer.type == kUserLayer) {
    for (const auto& tensors : {inputs, outputs}) {
      for (const Tensor& tensor : tensors) {
        if (bits_of(tensor.type) != 32)
          return fmt::format("{} has elements of 32 bits, tensor \"{}\" of {}", name, tensor.name,
                             to_text(tensor.type));
      }
    }
    return {};
  }
  const Row* const row = find_row(layer.type);
  if (row == nullptr) return fmt::format("layer {} is not in the published list", layer.type);
  if (row->run == nullptr) return fmt::format("{} is not carried out", name);
  if (layer.parameters.size() != row->record)
    return fmt::format("{} has {} bytes of parameters, its published record has {}", name, layer.parameters.size(),
                       row->record);
  if (inputs.size() < row->inputs || inputs.size() > row->most_inputs)
    return fmt::format("{} has {} inputs, not {}", name, inputs.size(), in_words(row->inputs, row->most_inputs));
  if (outputs.size() < row->outputs || outputs.size() > row->most_outputs)
    return fmt::format("{} has {} outputs, not {}", name, outputs.size(), in_words(row->outputs, row->most_outputs));
  // Thresholds beside those of the record: all three, or none.
  if (row->run == on_host::nms_of_onnx && inputs.size() != row->inputs && inputs.size() != row->most_inputs)
    return fmt::format("{} has {} inputs, whose meaning is not published", name, inputs.size());
  const std::string why = row->check(Record(layer.parameters));
  return why.empty() ? why : fmt::format("{}: {}", name, why);
}

Result<std::vector<HostTensor>> run_on_host(const HostLayer& layer, std::span<const HostTensor> inputs,
                                            std::span<const Tensor> outputs, bool whole) {
  const Row* const row = find_row(layer.type);
  const auto wrong = [&](const std::string& text) {
    return Error{ErrorKind::kUsage, fmt::format("{}: {}", name_of_host_layer(layer.type), text)};
  };
  if (row == nullptr || row->run == nullptr) return wrong("it is not carried out");
  std::vector<Values> values;
  for (const HostTensor& input : inputs) {
    values.push_back(read(input));
    if (values.back().data.size() != on_host::count_of(input.shape)) return wrong("an input is not whole");
  }
  auto made = row->run(
      {Record(layer.parameters), values, outputs.size(), outputs.empty() ? 0 : on_host::count_of(outputs[0].shape)});
  if (!made) return wrong(made.error().text);
  if (made->size() < outputs.size())
    return wrong(fmt::format("it gives {} results, the file has {}", made->size(), outputs.size()));
  std::vector<HostTensor> results;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& output = outputs[i];
    const Values& one = (*made)[i];
    const std::uint64_t room = on_host::count_of(output.shape);
    if (one.data.size() != on_host::count_of(one.shape)) return wrong("the operands do not belong together");
    const bool fills = one.data.size() == room;
    if (one.data.size() > room || (whole && !row->by_value && !fills))
      return wrong(fmt::format("it gives [{}] for output \"{}\", which has shape [{}] in the file",
                               fmt::join(one.shape, ", "), output.name, fmt::join(output.shape, ", ")));
    HostTensor& result = results.emplace_back();
    result.type = output.type;
    result.shape = fills && !row->by_value ? output.shape : one.shape;
    if (!write(one.data, output.type, result.bytes))
      return wrong(fmt::format("a value of output \"{}\" does not fit its type {}", output.name, to_text(output.type)));
  }
  return results;
}

}  // namespace softtpu::bmodel
