// Layers of 8-bit integers of BM1684: sums are exact, so their order does not show (golden-bmodel/bm1684).
#include <algorithm>
#include <limits>
#include <vector>

#include "device/command/functions.hpp"
#include "device/engines/bdc/bm1684_bytes/command.hpp"
#include "device/engines/bdc/product/byte_product.hpp"
#include "device/memory/parallel.hpp"
#include "device/memory/rows.hpp"
#include "device/memory/tensor_view.hpp"

namespace softtpu {
namespace {

constexpr int kBytesPerWord = 4;
using Value = std::int16_t;  // holds bytes of either sign

struct ByteRange {
  int low = 0, high = 0;
};
ByteRange byte_range(Dtype type) { return type == Dtype::kInt8 ? ByteRange{-128, 127} : ByteRange{0, 255}; }

Value read_byte(const std::uint8_t* at, Dtype type) {
  return type == Dtype::kInt8 ? static_cast<Value>(static_cast<std::int8_t>(*at)) : static_cast<Value>(*at);
}
int read_half(const std::uint8_t* at, Dtype type) {
  const auto bits = static_cast<std::uint16_t>(at[0] | at[1] << 8);
  return type == Dtype::kInt16 ? static_cast<std::int16_t>(bits) : bits;
}

std::uint8_t finish(const OkkByteEnd& end, std::int64_t sum) {
  if (end.relu) sum = std::max<std::int64_t>(sum, 0);
  if (end.rshift > 0) sum = (sum + (std::int64_t{1} << (end.rshift - 1))) >> end.rshift;
  const ByteRange range = byte_range(end.type);
  return static_cast<std::uint8_t>(std::clamp<std::int64_t>(sum, range.low, range.high));
}

// Bytes of one batch among words: byte i of a row lies `step` bytes behind byte i - 1.
class PackedBytes {
 public:
  PackedBytes(const Memories& mem, const Tensor& words) : view_(mem, words), step_(words.stride.w * kBytesPerWord) {}
  std::uint8_t* row(int n, int c, int h) const {
    return reinterpret_cast<std::uint8_t*>(view_.at<std::uint32_t>(n / kBytesPerWord, c, h, 0)) + n % kBytesPerWord;
  }
  std::int64_t step() const { return step_; }

 private:
  TensorView view_;
  std::int64_t step_;
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
      for (int h = 0; h < shape_.h; ++h) {
        const std::uint8_t* from = rows_.row(n, c, h);
        T* to = at(c, window_.padding.top + h * (window_.insert.h + 1), window_.padding.left);
        const int every = window_.insert.w + 1;
        for (int w = 0; w < shape_.w; ++w) to[w * every] = static_cast<T>(read_byte(from + w * rows_.step(), type_));
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

// Weights of one output channel: [kh][kw][input channels].
void load_weights(const TensorView& stored, const OkkByteConvCmd& cmd, int oc, std::uint8_t* weights) {
  const Dim2 kernel = cmd.window.kernel;
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
  std::vector<Value> weights;
  for (int i = 0; i < kernel.h; ++i) {
    for (int j = 0; j < kernel.w; ++j) {
      if (const auto* constant = std::get_if<Scalar>(&cmd.weight)) {
        const auto byte = static_cast<std::uint8_t>(constant->bits);
        weights.push_back(read_byte(&byte, cmd.weight_type));
      } else {
        const TensorView view(mem, std::get<Tensor>(cmd.weight));
        weights.push_back(read_byte(view.byte_at(0, c, i, j, 1), cmd.weight_type));
      }
    }
  }
  return weights;
}

void store_row(const PackedBytes& output, int n, int c, int h, const OkkByteEnd& end, int bias,
               const std::vector<std::int32_t>& sums) {
  std::uint8_t* to = output.row(n, c, h);
  for (std::size_t w = 0; w < sums.size(); ++w)
    to[static_cast<std::int64_t>(w) * output.step()] = finish(end, std::int64_t{sums[w]} + bias);
}

}  // namespace

void execute(Memories& mem, const OkkByteConvCmd& cmd) {
  ByteInput<std::uint8_t> input(mem, cmd.input, cmd.input_type, cmd.window, 0);
  const PackedBytes output(mem, cmd.output);
  const TensorView weights(mem, cmd.weight);
  const Dim4& out = cmd.output.shape;
  std::vector<int> biases;
  for (int oc = 0; oc < out.c; ++oc) biases.push_back(bias_at(mem, cmd.bias, oc));
  ByteProduct product;
  product.size = {out.c, cmd.window.kernel.h * cmd.window.kernel.w * cmd.input_channels, out.h * out.w};
  product.left_signed = cmd.weight_type == Dtype::kInt8;
  product.right_signed = cmd.input_type == Dtype::kInt8;
  product.source.left = [&](int oc, int count, std::uint8_t* values) {
    for (int i = 0; i < count; ++i, values += product.size.inner) load_weights(weights, cmd, oc + i, values);
  };
  product.source.right = [&](int k, int depth, int col, int count, std::uint8_t* values) {
    load_windows(input, cmd, k, depth, col, count, values);
  };
  for (int n = 0; n < cmd.batches; ++n) {
    input.load(n);
    product.store = by_rows<std::uint32_t>([&](int oc, int col, int count, const std::uint32_t* sums) {
      for (int i = 0; i < count; ++i) {
        const int h = (col + i) / out.w, w = (col + i) % out.w;
        output.row(n, oc, h)[w * output.step()] =
            finish(cmd.end, std::int64_t{static_cast<std::int32_t>(sums[i])} + biases[static_cast<std::size_t>(oc)]);
      }
    });
    multiply(product);
  }
}

void execute(Memories& mem, const OkkByteWindowCmd& cmd) {
  const auto lowest = static_cast<Value>(byte_range(cmd.input_type).low);
  ByteInput<Value> input(mem, cmd.input, cmd.input_type, cmd.window, cmd.is_max ? lowest : Value{0});
  const PackedBytes output(mem, cmd.output);
  const Dim2 kernel = cmd.window.kernel;
  const Dim4& out = cmd.output.shape;
  const auto step = static_cast<std::size_t>(cmd.window.stride.w);
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
        store_row(output, n, c, h, cmd.end, bias, results);
      }
    });
  }
}

void execute(Memories& mem, const OkkByteMatmulCmd& cmd) {
  const TensorView left(mem, cmd.left), right(mem, cmd.right), output(mem, cmd.output);
  const auto cols = static_cast<std::size_t>(cmd.cols);
  const auto place = [](const TensorView& view, const Tensor& matrix, int row, int col, std::size_t size) {
    return view.byte_at(row, col / matrix.shape.w, 0, col % matrix.shape.w, size);
  };
  std::vector<int> biases(cols);
  if (cmd.bias) {
    const TensorView bias(mem, *cmd.bias);
    for (int j = 0; j < cmd.cols; ++j)
      biases[static_cast<std::size_t>(j)] =
          read_half(place(bias, *cmd.bias, 0, j, sizeof(std::int16_t)), cmd.bias->dtype);
  }
  std::vector<Value> matrix(static_cast<std::size_t>(cmd.inner) * cols);
  parallel_for(cmd.inner, static_cast<std::int64_t>(matrix.size()), [&](int k) {
    Value* to = matrix.data() + static_cast<std::size_t>(k) * cols;
    for (int j = 0; j < cmd.cols; ++j) to[j] = read_byte(place(right, cmd.right, k, j, 1), cmd.right.dtype);
  });
  // All of the output at the end: it may lie where an operand does.
  const int rows = cmd.output.shape.n;
  std::vector<std::uint8_t> results(static_cast<std::size_t>(rows) * cols);
  parallel_for(rows, static_cast<std::int64_t>(cmd.operations()), [&](int row) {
    std::vector<std::int32_t> sums(cols);
    for (int k = 0; k < cmd.inner; ++k) {
      const int value = read_byte(place(left, cmd.left, row, k, 1), cmd.left.dtype);
      add_products(matrix.data() + static_cast<std::size_t>(k) * cols, 1, value, sums);
    }
    std::uint8_t* to = results.data() + static_cast<std::size_t>(row) * cols;
    for (std::size_t j = 0; j < cols; ++j) to[j] = finish(cmd.end, std::int64_t{sums[j]} + biases[j]);
  });
  for (int row = 0; row < rows; ++row)
    for (int j = 0; j < cmd.cols; ++j)
      *place(output, cmd.output, row, j, 1) =
          results[static_cast<std::size_t>(row) * cols + static_cast<std::size_t>(j)];
}

void execute(Memories& mem, const OkkTableCmd& cmd) {
  using Word = std::uint32_t;
  const auto* table =
      reinterpret_cast<const Word*>(mem.find_system(cmd.table.addr, OkkTableCmd::kWords * sizeof(Word)).data);
  for_each_row<Word, Word>(
      mem, cmd.dst,
      [&](Word* dst, const Word* src, int count) {
        for (int i = 0; i < count; ++i) dst[i] = table[src[i] & 255U];
      },
      cmd.src);
}

}  // namespace softtpu
