// What the layers for the host's processor share (host_layer.hpp).
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/bmodel/container.hpp"

namespace softtpu::bmodel::on_host {

using Shape = std::vector<std::uint64_t>;

// Elements of any type; double holds each of them exactly.
struct Values {
  Shape shape;
  std::vector<double> data;
  bool whole = false;  // of a type of whole numbers

  std::uint64_t extent(std::size_t axis) const { return axis < shape.size() ? shape[axis] : 1; }
  float real(std::uint64_t i) const { return static_cast<float>(data[i]); }
};

inline std::uint64_t count_of(const Shape& shape) {
  std::uint64_t count = 1;
  for (const std::uint64_t extent : shape) count *= extent;
  return count;
}
Values values_of(Shape shape, double value = 0);

// A record of parameters, as C lays it out: at byte offsets.
class Record {
 public:
  explicit Record(Bytes bytes) : bytes_(bytes) {}
  std::int32_t whole(std::size_t at) const { return read<std::int32_t>(at); }
  float real(std::size_t at) const { return read<float>(at); }
  bool flag(std::size_t at) const { return read<std::uint8_t>(at) != 0; }
  Record from(std::size_t at) const { return Record(bytes_.subspan(at)); }

 private:
  template <class T>
  T read(std::size_t at) const {
    T value{};
    if (at + sizeof(T) <= bytes_.size()) std::memcpy(&value, bytes_.data() + at, sizeof(T));
    return value;
  }
  Bytes bytes_;
};

struct Work {
  Record record;
  std::span<const Values> inputs;
  std::size_t outputs = 1;  // that the file has
  std::uint64_t room = 0;   // elements of the first one
};
using Made = Result<std::vector<Values>>;

inline Error wrong(std::string text) { return {ErrorKind::kUsage, std::move(text)}; }

// A number that a tensor holds as an index or a count; nullopt: it is no whole number.
inline std::optional<std::int64_t> whole_number(double value) {
  constexpr double kMost = 9007199254740992.0;
  if (!(std::abs(value) <= kMost) || value != std::floor(value)) return std::nullopt;
  return static_cast<std::int64_t>(value);
}
// That a result of so many elements, a product, fits the file's: before memory is taken for it.
Result<void> fits(const Work& work, std::initializer_list<std::uint64_t> factors);
// Of 0..extent - 1, where -1 is the last one.
Result<std::uint64_t> index_within(double value, std::uint64_t extent);
Result<std::size_t> axis_within(std::int32_t axis, std::size_t rank);

// A shape as lines along one axis.
struct Lines {
  std::uint64_t outer = 1, extent = 1, inner = 1;
  Lines(const Shape& shape, std::size_t axis);
  std::uint64_t count() const { return outer * inner; }
  // The first element of a line, where the axis has `along` elements.
  std::uint64_t start(std::uint64_t line, std::uint64_t along) const {
    return line / inner * along * inner + line % inner;
  }
};

Made gather(const Work& work);
Made gather_nd(const Work& work);
Made scatter_nd(const Work& work);
Made tensor_scatter(const Work& work);
Made masked_select(const Work& work);
Made where(const Work& work);
Made reverse_sequence(const Work& work);
Made repeat_interleave(const Work& work);
Made unary(const Work& work);
Made argsort(const Work& work);
Made top_k(const Work& work);
Made top_k_of_mxnet(const Work& work);
Made sort_per_dim(const Work& work);

Made nms_of_onnx(const Work& work);
Made nms_of_tensorflow(const Work& work);
Made nms_v5_of_tensorflow(const Work& work);
Made box_nms(const Work& work);
Made ssd_detections(const Work& work);

Made roi_pooling(const Work& work);
Made roi_align_of_mxnet(const Work& work);
Made roi_align_of_pytorch(const Work& work);
Made affine_grid(const Work& work);
Made grid_sample(const Work& work);
Made affine_grid_sample(const Work& work);
Made resize(const Work& work);

}  // namespace softtpu::bmodel::on_host
