// Layers of 8-bit integers of BM1684: sums are exact, so their order does not show (golden-bmodel/bm1684).
#include <algorithm>
#include <limits>
#include <vector>

#include "device/command/functions.hpp"
#include "device/engines/bdc/bm1684_bytes/command.hpp"
#include "device/engines/bdc/bm1684_layers/okk_planes.hpp"
#include "device/engines/bdc/product/byte_kernels.hpp"
#include "device/engines/bdc/product/byte_product.hpp"
#include "device/engines/bdc/product/load.hpp"
#include "device/engines/bdc/requant/shifted_sums.hpp"
#include "device/engines/bdc/window/conv_planes.hpp"
#include "device/memory/kernel_choice.hpp"
#include "device/memory/parallel.hpp"
#include "device/memory/rows.hpp"
#include "device/memory/scratch.hpp"
#include "device/memory/tensor_view.hpp"

namespace softtpu {
namespace {

constexpr int kBytesPerWord = 4;
using Value = std::int16_t;  // holds bytes of either sign

Value value_of(std::uint8_t byte, bool is_signed) {
  return is_signed ? static_cast<Value>(static_cast<std::int8_t>(byte)) : static_cast<Value>(byte);
}
int read_half(const std::uint8_t* at, Dtype type) {
  const auto bits = static_cast<std::uint16_t>(at[0] | at[1] << 8);
  return type == Dtype::kInt16 ? static_cast<std::int16_t>(bits) : bits;
}

// How sums of `products` products, and a bias, end.
class ByteEnds {
 public:
  ByteEnds(const OkkByteEnd& end, std::int64_t products, Dtype a, Dtype b)
      : rule_{true,
              {-end.rshift, Rounding::kHalfUp},
              end.relu ? std::max<std::int64_t>(range_of(end.type).low, 0) : range_of(end.type).low,
              range_of(end.type).high} {
    // Sums have 32 bits (rules.cpp), which a bias may leave.
    const auto largest = [](Dtype type) { return std::max(-range_of(type).low, range_of(type).high); };
    constexpr std::int64_t kMostBias = 1 << 16;
    narrow_ = products * largest(a) * largest(b) <= std::numeric_limits<std::int32_t>::max() - kMostBias;
  }

  // Sums with one bias.
  void end(const std::uint32_t* sums, int bias, int count, std::uint8_t* ended) const {
    if (narrow_) return shift_(rule_, sums, static_cast<std::uint32_t>(bias), nullptr, count, ended);
    std::int64_t* biases = room<std::int64_t, struct OkkBiases>(count);
    std::fill_n(biases, count, bias);
    end(sums, biases, count, ended);
  }
  // With a bias for each.
  void end(const std::uint32_t* sums, const std::int64_t* biases, int count, std::uint8_t* ended) const {
    shift_(rule_, sums, 0, biases, count, ended);
  }

 private:
  SumShift rule_;
  ShiftSums shift_ = shift_sums(1);
  bool narrow_;
};

// Bytes of one batch among words.
class PackedBytes {
 public:
  PackedBytes(const Memories& mem, const Tensor& words)
      : view_(mem, words), shape_(words.shape), stride_(words.stride) {}

  // Whether rows follow each other without a gap.
  bool joined() const { return stride_.h == shape_.w * stride_.w; }
  // `count` neighbours from (h, w) on, which may go on in the next rows where those are joined.
  void load(int n, int c, int h, int w, int count, std::uint8_t* out) const {
    const std::uint32_t* words = at(n, c, h, w);
    const int place = place_of(n);
    if (stride_.w == 1) {
      for (int i = 0; i < count; ++i) out[i] = static_cast<std::uint8_t>(words[i] >> place);
    } else {
      for (int i = 0; i < count; ++i) out[i] = static_cast<std::uint8_t>(words[i * stride_.w] >> place);
    }
  }
  void store(int n, int c, int h, int w, int count, const std::uint8_t* bytes) const {
    std::uint32_t* words = at(n, c, h, w);
    const int place = place_of(n);
    if (stride_.w == 1) {
      const std::uint32_t others = ~(0xFFU << place);
      for (int i = 0; i < count; ++i) words[i] = (words[i] & others) | std::uint32_t{bytes[i]} << place;
    } else {
      // Words may lie on top of each other: one after the other.
      auto* byte = reinterpret_cast<std::uint8_t*>(words) + n % kBytesPerWord;
      for (int i = 0; i < count; ++i) byte[i * stride_.w * kBytesPerWord] = bytes[i];
    }
  }
  // A whole channel, row by row.
  void load_channel(int n, int c, std::uint8_t* out) const {
    if (joined()) return load(n, c, 0, 0, shape_.h * shape_.w, out);
    for (int h = 0; h < shape_.h; ++h) load(n, c, h, 0, shape_.w, out + h * shape_.w);
  }

 private:
  static int place_of(int n) { return n % kBytesPerWord * 8; }
  std::uint32_t* at(int n, int c, int h, int w) const { return view_.at<std::uint32_t>(n / kBytesPerWord, c, h, w); }

  TensorView view_;
  Dim4 shape_;
  Stride4 stride_;
};

// One batch of an input, padded: as values, or (of T uint8) as the bytes that they are.
template <class T>
class ByteInput {
 public:
  ByteInput(const Memories& mem, const Tensor& words, Dtype type, const OkkWindow& window, T padding)
      : rows_(mem, words), shape_(words.shape), type_(type), window_(window), padding_(padding) {
    height_ = static_cast<int>(window.spread_height(shape_.h)) + window.padding.top + window.padding.bottom;
    width_ = static_cast<int>(window.spread_width(shape_.w)) + window.padding.left + window.padding.right;
    values_.resize(static_cast<std::size_t>(std::int64_t{shape_.c} * height_ * width_));
  }

  void load(int n) {
    std::fill(values_.begin(), values_.end(), padding_);
    parallel_for(shape_.c, shape_.elements(), [&](int c) {
      std::uint8_t* bytes = room<std::uint8_t, struct OkkChannelBytes>(std::int64_t{shape_.h} * shape_.w);
      rows_.load_channel(n, c, bytes);
      const bool is_signed = type_ == Dtype::kInt8;
      for (int h = 0; h < shape_.h; ++h, bytes += shape_.w) {
        T* to = at(c, window_.padding.top + h * (window_.insert.h + 1), window_.padding.left);
        const int every = window_.insert.w + 1;
        if constexpr (sizeof(T) == 1) {
          for (int w = 0; w < shape_.w; ++w) to[w * every] = bytes[w];
        } else {
          for (int w = 0; w < shape_.w; ++w) to[w * every] = value_of(bytes[w], is_signed);
        }
      }
    });
  }
  // Where the window of output (h, 0) has its tap (i, j).
  const T* tap(int c, int h, int i, int j) const {
    return at(c, h * window_.stride.h + i * window_.dilation.h, j * window_.dilation.w);
  }

 private:
  std::int64_t index(int c, int h, int w) const { return (std::int64_t{c} * height_ + h) * width_ + w; }
  T* at(int c, int h, int w) { return values_.data() + index(c, h, w); }
  const T* at(int c, int h, int w) const { return values_.data() + index(c, h, w); }

  PackedBytes rows_;
  Dim4 shape_;
  Dtype type_;
  const OkkWindow& window_;
  T padding_;
  int height_ = 0, width_ = 0;
  std::vector<T> values_;
};

void add_products(const Value* values, int step, int weight, std::vector<std::int32_t>& sums) {
  const std::size_t count = sums.size();
  if (step == 1) {
    for (std::size_t i = 0; i < count; ++i) sums[i] += values[i] * weight;
    return;
  }
  for (std::size_t i = 0; i < count; ++i) sums[i] += values[static_cast<std::size_t>(step) * i] * weight;
}

int bias_at(const Memories& mem, const std::optional<Tensor>& bias, int c) {
  return bias ? read_half(TensorView(mem, *bias).byte_at(0, c, 0, 0, sizeof(std::int16_t)), bias->dtype) : 0;
}

// One batch of the input of a convolution as planes (conv_planes.hpp) of words, each of as many input channels as the
// loops over bytes multiply at once. Sums of integers have no order: the steps of the inner dimension are words of
// channels and taps as the weights lie, word by word inside a tap or tap by tap inside a word.
class WordPlanes {
 public:
  WordPlanes(const Memories& mem, const OkkByteConvCmd& cmd)
      : cmd_(cmd),
        geometry_(window_of(cmd.window), {cmd.output.shape.h, cmd.output.shape.w}),
        rows_(mem, cmd.input),
        stored_(std::get_if<Tensor>(&cmd.weight)),
        per_word_(byte_kernels().per_word),
        words_((cmd.input_channels + per_word_ - 1) / per_word_) {
    const int pixels = cmd.output.shape.h * cmd.output.shape.w;
    // What lies behind an output row is computed and not used.
    pay_ = stored_ != nullptr && !plain_kernels() && geometry_.cols() <= 2 * std::max(pixels, kTileCols);
    if (!pay_) return;
    weights_.emplace(mem, *stored_);
    right_.parts = 1;
    right_.part_cols = geometry_.cols();
    right_.part_step = words_ * geometry_.channel_size();
    for_steps(
        [&](int word, int tap) { right_.offsets.push_back(word * geometry_.channel_size() + geometry_.offset(tap)); });
    values_ = room<std::uint32_t, struct OkkPlanes>(right_.part_step + kTileCols);
    std::fill_n(values_ + right_.part_step, kTileCols, 0U);
    right_.values = values_;
  }

  bool pay() const { return pay_; }
  const PlaneGeometry& geometry() const { return geometry_; }
  const PackedRight<std::uint32_t>& right() const { return right_; }
  ProductSize size() const { return {cmd_.output.shape.c, words_ * taps() * per_word_, right_.tiles() * kTileCols}; }

  void load(int n) {
    const Dim4& shape = cmd_.input.shape;
    const std::int64_t size = geometry_.channel_size();
    const bool is_signed = is_signed_int(cmd_.input_type);
    const std::uint8_t turn = byte_turn(is_signed_int(cmd_.weight_type), is_signed);
    parallel_for(words_, shape.elements(), [&](int word) {
      const int first = word * per_word_, count = std::min(per_word_, cmd_.input_channels - first);
      std::uint8_t* bytes = room<std::uint8_t, struct OkkChannelBytes>(std::int64_t{shape.h} * shape.w);
      std::uint8_t* planes = room<std::uint8_t, struct OkkBytePlanes>(size * per_word_);
      const std::uint8_t* from[kBytesPerWord];
      for (int c = 0; c < count; ++c) {
        std::uint8_t* out = planes + c * size;
        from[c] = out;
        rows_.load_channel(n, first + c, bytes);
        const OkkChannel<std::uint8_t> channel{bytes, {shape.h, shape.w}, shape.w, 1};
        for (int plane = 0; plane < geometry_.planes(); ++plane)
          for (int row = 0; row < geometry_.rows(); ++row, out += geometry_.pitch())
            fill_plane_row(cmd_.window, channel, geometry_.phase(plane), row, geometry_.pitch(), out);
      }
      byte_kernels().pack_right(count, from, static_cast<int>(size), is_signed, turn, values_ + word * size);
    });
  }

  // The weights of one output channel in the order of the steps, zeros for channels behind the last.
  void load_weights(int oc, std::uint8_t* out) const {
    const Tensor& stored = *stored_;
    const Dim2 kernel = cmd_.window.kernel;
    const auto* first = weights_->at<std::uint32_t>(0, oc, 0, 0);
    if (lies_in_order()) return copy_run(first, words_ * taps(), reinterpret_cast<std::uint32_t*>(out));
    for_steps([&](int word, int tap) {
      const int c = word * per_word_, count = std::min(per_word_, cmd_.input_channels - c);
      const Dim2 at = cmd_.window.stored_tap(tap / kernel.w, tap % kernel.w);
      const std::uint32_t* stored_word =
          first + std::int64_t{c / kBytesPerWord} * stored.stride.n + at.h * stored.stride.h + at.w * stored.stride.w;
      const std::uint8_t* from = reinterpret_cast<const std::uint8_t*>(stored_word) + c % kBytesPerWord;
      for (int k = 0; k < per_word_; ++k) *out++ = k < count ? from[k] : std::uint8_t{0};
    });
  }

 private:
  int taps() const { return cmd_.window.kernel.h * cmd_.window.kernel.w; }
  bool by_tap() const { return stored_->stride.n < stored_->stride.w; }
  // visit(word, tap)
  template <class Visit>
  void for_steps(Visit visit) const {
    if (by_tap()) {
      for (int tap = 0; tap < taps(); ++tap)
        for (int word = 0; word < words_; ++word) visit(word, tap);
    } else {
      for (int word = 0; word < words_; ++word)
        for (int tap = 0; tap < taps(); ++tap) visit(word, tap);
    }
  }
  // Whether the weights of an output channel follow each other as the steps do.
  bool lies_in_order() const {
    const Stride4& stride = stored_->stride;
    const int inside = by_tap() ? words_ : 1;
    return per_word_ == kBytesPerWord && cmd_.input_channels % kBytesPerWord == 0 && !cmd_.window.rotated_180 &&
           stride.w == inside && stride.h == std::int64_t{cmd_.window.kernel.w} * inside &&
           stride.n == (by_tap() ? 1 : taps());
  }

  const OkkByteConvCmd& cmd_;
  const PlaneGeometry geometry_;
  PackedBytes rows_;
  const Tensor* stored_;  // the weights; nullptr: one constant
  std::optional<TensorView> weights_;
  int per_word_, words_;
  bool pay_ = false;
  PackedRight<std::uint32_t> right_;
  std::uint32_t* values_ = nullptr;
};

// The plain way: weights of one output channel, [kh][kw][input channels].
void load_weights(const Memories& mem, const OkkByteConvCmd& cmd, int oc, std::uint8_t* weights) {
  const Dim2 kernel = cmd.window.kernel;
  if (const auto* constant = std::get_if<Scalar>(&cmd.weight)) {
    std::fill_n(weights, kernel.h * kernel.w * cmd.input_channels, static_cast<std::uint8_t>(constant->bits));
    return;
  }
  const TensorView stored(mem, std::get<Tensor>(cmd.weight));
  for (int i = 0; i < kernel.h; ++i) {
    for (int j = 0; j < kernel.w; ++j) {
      const Dim2 at = cmd.window.stored_tap(i, j);
      for (int c = 0; c < cmd.input_channels; ++c) {
        const auto* word =
            reinterpret_cast<const std::uint8_t*>(stored.at<std::uint32_t>(c / kBytesPerWord, oc, at.h, at.w));
        *weights++ = word[c % kBytesPerWord];
      }
    }
  }
}

// What the taps [k, k + depth) see in output pixels [first, first + count).
void load_windows(const ByteInput<std::uint8_t>& input, const OkkByteConvCmd& cmd, int k, int depth, int first,
                  int count, std::uint8_t* values) {
  const int width = cmd.output.shape.w, step = cmd.window.stride.w;
  for (int t = k; t < k + depth; ++t, values += kTileCols) {
    const int c = t % cmd.input_channels, tap = t / cmd.input_channels;
    const int i = tap / cmd.window.kernel.w, j = tap % cmd.window.kernel.w;
    for (int at = 0; at < count;) {
      const int h = (first + at) / width, w = (first + at) % width, run = std::min(count - at, width - w);
      const std::uint8_t* from = input.tap(c, h, i, j) + w * step;
      if (step == 1) {
        std::copy_n(from, run, values + at);
      } else {
        for (int x = 0; x < run; ++x) values[at + x] = from[x * step];
      }
      at += run;
    }
  }
}

// Weights of one channel: [kh][kw].
std::vector<Value> weights_of(const Memories& mem, const OkkByteWindowCmd& cmd, int c) {
  const Dim2 kernel = cmd.window.kernel;
  const bool is_signed = cmd.weight_type == Dtype::kInt8;
  std::vector<Value> weights;
  for (int i = 0; i < kernel.h; ++i) {
    for (int j = 0; j < kernel.w; ++j) {
      if (const auto* constant = std::get_if<Scalar>(&cmd.weight)) {
        weights.push_back(value_of(static_cast<std::uint8_t>(constant->bits), is_signed));
      } else {
        const TensorView view(mem, std::get<Tensor>(cmd.weight));
        weights.push_back(value_of(*view.byte_at(0, c, i, j, 1), is_signed));
      }
    }
  }
  return weights;
}

// Calls visit(i, run) for runs of neighbours among the columns [first, first + count) of a matrix that has `width` of
// them in a channel.
template <class Visit>
void for_column_runs(int first, int count, int width, Visit visit) {
  for (int i = 0; i < count;) {
    const int run = std::min(count - i, width - (first + i) % width);
    visit(i, run);
    i += run;
  }
}

// Bytes of a matrix: its column j is column j % w of channel j / w.
class ByteMatrix {
 public:
  ByteMatrix(const Memories& mem, const Tensor& matrix)
      : view_(mem, matrix), width_(matrix.shape.w), step_(matrix.stride.w) {}
  void load(int row, int col, int count, std::uint8_t* out) const {
    for_column_runs(col, count, width_, [&](int i, int run) {
      const std::uint8_t* from = at(row, col + i);
      if (step_ == 1) return copy_run(from, run, out + i);
      for (int k = 0; k < run; ++k) out[i + k] = from[k * step_];
    });
  }
  void store(int row, int col, int count, const std::uint8_t* values) const {
    for_column_runs(col, count, width_, [&](int i, int run) {
      std::uint8_t* to = at(row, col + i);
      for (int k = 0; k < run; ++k) to[k * step_] = values[i + k];
    });
  }

 private:
  std::uint8_t* at(int row, int col) const { return view_.byte_at(row, col / width_, 0, col % width_, 1); }

  TensorView view_;
  int width_;
  std::int64_t step_;
};

}  // namespace

void execute(Memories& mem, const OkkByteConvCmd& cmd) {
  const PackedBytes output(mem, cmd.output);
  const Dim4& out = cmd.output.shape;
  std::vector<int> biases;
  biases.reserve(static_cast<std::size_t>(out.c));
  for (int oc = 0; oc < out.c; ++oc) biases.push_back(bias_at(mem, cmd.bias, oc));
  WordPlanes planes(mem, cmd);
  const PlaneGeometry& geometry = planes.geometry();
  std::optional<ByteInput<std::uint8_t>> input;
  ByteProduct product;
  product.left_signed = cmd.weight_type == Dtype::kInt8;
  product.right_signed = cmd.input_type == Dtype::kInt8;
  const int inner = cmd.window.kernel.h * cmd.window.kernel.w * cmd.input_channels;
  if (planes.pay()) {
    product.size = planes.size();
    product.packed = &planes.right();
    product.source.left = [&](int oc, int count, std::uint8_t* values) {
      for (int i = 0; i < count; ++i, values += product.size.inner) planes.load_weights(oc + i, values);
    };
  } else {
    input.emplace(mem, cmd.input, cmd.input_type, cmd.window, std::uint8_t{0});
    product.size = {out.c, inner, out.h * out.w};
    product.source.left = [&](int oc, int count, std::uint8_t* values) {
      for (int i = 0; i < count; ++i, values += inner) load_weights(mem, cmd, oc + i, values);
    };
    product.source.right = [&](int k, int depth, int col, int count, std::uint8_t* values) {
      load_windows(*input, cmd, k, depth, col, count, values);
    };
  }
  const ByteEnds ends(cmd.end, inner, cmd.input_type, cmd.weight_type);
  const bool joined = output.joined();
  for (int n = 0; n < cmd.batches; ++n) {
    planes.pay() ? planes.load(n) : input->load(n);
    product.store = by_rows<std::uint32_t>([&](int oc, int col, int count, const std::uint32_t* sums) {
      std::uint8_t* ended = room<std::uint8_t, struct OkkEnded>(count);
      ends.end(sums, biases[static_cast<std::size_t>(oc)], count, ended);
      const auto store = [&](int i, int, int h, int w, int run) { output.store(n, oc, h, w, run, ended + i); };
      if (planes.pay()) return joined ? geometry.joined_pixels(col, count, store) : geometry.pixels(col, count, store);
      if (joined) return output.store(n, oc, 0, col, count, ended);
      for_column_runs(col, count, out.w,
                      [&](int i, int run) { store(i, 0, (col + i) / out.w, (col + i) % out.w, run); });
    });
    multiply(product);
  }
}

void execute(Memories& mem, const OkkByteWindowCmd& cmd) {
  const auto lowest = static_cast<Value>(range_of(cmd.input_type).low);
  ByteInput<Value> input(mem, cmd.input, cmd.input_type, cmd.window, cmd.is_max ? lowest : Value{0});
  const PackedBytes output(mem, cmd.output);
  const Dim2 kernel = cmd.window.kernel;
  const Dim4& out = cmd.output.shape;
  const auto step = static_cast<std::size_t>(cmd.window.stride.w);
  const ByteEnds ends(cmd.end, std::int64_t{kernel.h} * kernel.w, cmd.input_type, cmd.weight_type);
  for (int n = 0; n < cmd.batches; ++n) {
    input.load(n);
    parallel_for(out.c, static_cast<std::int64_t>(cmd.operations() / cmd.batches), [&](int c) {
      const std::vector<Value> weights = weights_of(mem, cmd, c);
      const int bias = bias_at(mem, cmd.bias, c);
      std::vector<std::int32_t> results(static_cast<std::size_t>(out.w));
      for (int h = 0; h < out.h; ++h) {
        std::fill(results.begin(), results.end(), cmd.is_max ? lowest : 0);
        const Value* weight = weights.data();
        for (int i = 0; i < kernel.h; ++i) {
          for (int j = 0; j < kernel.w; ++j, ++weight) {
            const Value* values = input.tap(c, h, i, j);
            if (!cmd.is_max) {
              add_products(values, cmd.window.stride.w, *weight, results);
              continue;
            }
            for (std::size_t w = 0; w < results.size(); ++w)
              results[w] = std::max<std::int32_t>(results[w], values[w * step]);
          }
        }
        std::uint8_t* ended = room<std::uint8_t, struct OkkEnded>(out.w);
        ends.end(reinterpret_cast<const std::uint32_t*>(results.data()), bias, out.w, ended);
        output.store(n, c, h, 0, out.w, ended);
      }
    });
  }
}

void execute(Memories& mem, const OkkByteMatmulCmd& cmd) {
  const ByteMatrix left(mem, cmd.left), right(mem, cmd.right), output(mem, cmd.output);
  std::vector<std::int64_t> biases(static_cast<std::size_t>(cmd.cols));
  if (cmd.bias) {
    const TensorView bias(mem, *cmd.bias);
    const int width = cmd.bias->shape.w;
    for (int j = 0; j < cmd.cols; ++j)
      biases[static_cast<std::size_t>(j)] =
          read_half(bias.byte_at(0, j / width, 0, j % width, sizeof(std::int16_t)), cmd.bias->dtype);
  }
  const ByteEnds ends(cmd.end, cmd.inner, cmd.left.dtype, cmd.right.dtype);
  ByteProduct product;
  product.size = {cmd.output.shape.n, cmd.inner, cmd.cols};
  product.left_signed = is_signed_int(cmd.left.dtype);
  product.right_signed = is_signed_int(cmd.right.dtype);
  product.source.left = [&](int row, int count, std::uint8_t* values) {
    for (int i = 0; i < count; ++i, values += cmd.inner) left.load(row + i, 0, cmd.inner, values);
  };
  product.source.right = [&](int k, int depth, int col, int count, std::uint8_t* values) {
    for (int i = 0; i < depth; ++i, values += kTileCols) right.load(k + i, col, count, values);
  };
  product.store = by_rows<std::uint32_t>([&](int row, int col, int count, const std::uint32_t* sums) {
    std::uint8_t* ended = room<std::uint8_t, struct OkkEnded>(count);
    ends.end(sums, biases.data() + col, count, ended);
    output.store(row, col, count, ended);
  });
  product.store_last = true;  // the output may lie where an operand does
  multiply(product);
}

void execute(Memories& mem, const OkkTableCmd& cmd) {
  using Word = std::uint32_t;
  const std::uint8_t* bytes = cmd.table.space == Space::kStatic
                                  ? mem.static_mem() + cmd.table.addr
                                  : mem.find_system(cmd.table.addr, OkkTableCmd::kWords * sizeof(Word)).data;
  const auto* table = reinterpret_cast<const Word*>(bytes);
  for_each_row<Word, Word>(
      mem, cmd.dst,
      [&](Word* dst, const Word* src, int count) {
        for (int i = 0; i < count; ++i) dst[i] = table[src[i] & 255U];
      },
      cmd.src);
}

}  // namespace softtpu
