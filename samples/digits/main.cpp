// Recognises handwritten digits with a small network that runs completely on the device, in fp32, fp16 and int8.
#include <bmlib_runtime.h>
#include <softtpu/layout.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "../half.h"
#include "network.hpp"

namespace {

using Layers = std::array<Layer, kLayers>;

constexpr int kBatch = 60;          // images that pass through local memory together
constexpr float kInputScale = 128;  // train.py: INPUT_EXPONENT

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "digits: %s\n", what);
  std::exit(1);
}
void require(bm_status_t status, const char* what) {
  if (status != BM_SUCCESS) fail(what);
}

// Device memory that is freed with its owner.
class Memory {
 public:
  Memory(bm_handle_t handle, std::size_t bytes) : handle_(handle) {
    require(bm_malloc_device_byte(handle, &memory_, static_cast<unsigned>(bytes)), "no device memory");
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { bm_free_device(handle_, memory_); }
  void upload(const void* data) {
    require(bm_memcpy_s2d(handle_, memory_, const_cast<void*>(data)), "the upload failed");
  }
  void download(void* data) const { require(bm_memcpy_d2s(handle_, data, memory_), "the download failed"); }
  unsigned long long addr() const { return bm_mem_get_device_addr(memory_); }

 private:
  bm_handle_t handle_;
  bm_device_mem_t memory_{};
};

struct Type {
  const char* name;
  int code, ic_pack, weight_bytes, bias_bytes, score_bytes;
};
constexpr Type kTypes[] = {{"fp32", kFp32, SOFTTPU_1IC, 4, 4, 4},
                           {"fp16", kFp16, SOFTTPU_32IC, 2, 4, 4},
                           {"int8", kInt8, SOFTTPU_64IC, 1, 2, 2}};

struct Result {
  std::vector<int> predictions;
  std::vector<char> scores;
  int right = 0;
  report_t report{};
  double seconds = 0;
};

// Weights and bias of a layer in the order that the chip wants, in one block.
std::vector<char> make_block(const Layer& layer, const Type& type, layer_t& place) {
  const softtpu_conv_block_t block = {64,           64,           layer.oc,          layer.ic,       layer.window,
                                      layer.window, type.ic_pack, type.weight_bytes, type.bias_bytes};
  std::vector<char> bytes(softtpu_conv_block_bytes(&block));
  std::vector<half_t> halves;
  for (const float weight : layer.weights) halves.push_back(to_half(weight));
  const void* weights = type.code == kFp32   ? static_cast<const void*>(layer.weights.data())
                        : type.code == kFp16 ? static_cast<const void*>(halves.data())
                                             : layer.int8_weights.data();
  const void* bias = type.code == kInt8 ? static_cast<const void*>(layer.int16_bias.data()) : layer.bias.data();
  const std::size_t count = layer.weights.size();
  if (softtpu_conv_merge(&block, weights, count * static_cast<std::size_t>(type.weight_bytes), bias,
                         layer.bias.size() * static_cast<std::size_t>(type.bias_bytes), bytes.data(),
                         bytes.size()) != 0) {
    fail(softtpu_layout_error());
  }
  place.lanes = static_cast<int>(softtpu_conv_block_lanes(&block));
  place.lane_bytes = static_cast<int>(softtpu_conv_block_lane_bytes(&block));
  place.weight_offset = static_cast<int>(softtpu_conv_block_weight_offset(&block));
  place.oc = layer.oc;
  place.window = layer.window;
  place.padding = layer.window == 3 ? 1 : 0;
  place.rshift = layer.rshift;
  return bytes;
}

int best_of(const std::vector<char>& scores, std::size_t image, const Type& type) {
  const auto score = [&](std::size_t digit) {
    const char* at = scores.data() + (image * kScores + digit) * static_cast<std::size_t>(type.score_bytes);
    if (type.code == kInt8) return static_cast<float>(*reinterpret_cast<const std::int16_t*>(at));
    return *reinterpret_cast<const float*>(at);
  };
  std::size_t best = 0;
  for (std::size_t digit = 1; digit < kScores; ++digit) best = score(digit) > score(best) ? digit : best;
  return static_cast<int>(best);
}

Result classify(bm_handle_t handle, tpu_kernel_function_t kernel, const Layers& layers,
                const std::vector<Digit>& digits, const Type& type) {
  std::vector<float> pixels;
  for (const Digit& digit : digits) {
    for (const std::uint8_t pixel : digit.pixels) pixels.push_back(static_cast<float>(pixel) / 16);
  }
  std::vector<char> scores(digits.size() * kScores * static_cast<std::size_t>(type.score_bytes));
  Memory images(handle, pixels.size() * sizeof(float)), out(handle, scores.size()), report(handle, 64);
  images.upload(pixels.data());
  digits_args_t args{};
  std::vector<std::unique_ptr<Memory>> blocks;
  for (std::size_t i = 0; i < kLayers; ++i) {
    const std::vector<char> bytes = make_block(layers[i], type, args.layers[i]);
    blocks.push_back(std::make_unique<Memory>(handle, bytes.size()));
    blocks.back()->upload(bytes.data());
    args.layers[i].block = blocks.back()->addr();
    args.layers[i].pool = kPoolAfter[i];
  }
  args.images = images.addr();
  args.scores = out.addr();
  args.report = report.addr();
  args.type = type.code;
  args.count = static_cast<int>(digits.size());
  args.batch = kBatch;
  args.input_scale = kInputScale;

  Result result;
  const auto start = std::chrono::steady_clock::now();
  require(tpu_kernel_launch(handle, kernel, &args, sizeof args), "the launch failed");
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  out.download(scores.data());
  char raw_report[64];
  report.download(raw_report);
  result.report = *reinterpret_cast<const report_t*>(raw_report);
  for (std::size_t i = 0; i < digits.size(); ++i) {
    result.predictions.push_back(best_of(scores, i, type));
    result.right += result.predictions.back() == digits[i].label;
  }
  result.scores = std::move(scores);
  return result;
}

std::size_t count_exact(const Layers& layers, const std::vector<Digit>& digits, const std::vector<char>& scores) {
  const auto* score = reinterpret_cast<const std::int16_t*>(scores.data());
  std::size_t exact = 0;
  for (const Digit& digit : digits) {
    for (const int expected : integer_scores(layers, digit, kInputScale)) exact += *score++ == expected;
  }
  return exact;
}

// Images `first` to `first + count - 1` side by side, with the predictions below.
void print_images(const std::vector<Digit>& digits, const std::vector<Result>& results, std::size_t first,
                  std::size_t count) {
  static constexpr char kShades[] = " .:-=+*#%@";
  for (std::size_t row = 0; row < kSide; ++row) {
    for (std::size_t i = first; i < first + count; ++i) {
      for (std::size_t col = 0; col < kSide; ++col) {
        const char shade = kShades[digits[i].pixels[row * kSide + col] * 9 / 16];
        std::printf("%c%c", shade, shade);
      }
      std::printf("  ");
    }
    std::printf("\n");
  }
  for (std::size_t i = first; i < first + count; ++i) {
    std::printf("%d: ", digits[i].label);
    for (const Result& result : results)
      std::printf("%d %s", result.predictions[i], &result == &results.back() ? "" : "/ ");
    std::printf("     ");
  }
  std::printf("\n\n");
}

}  // namespace

int main(int argc, char** argv) {
  const char* module_path = argc > 1 ? argv[1] : KERNEL_MODULE;
  const std::string data = argc > 2 ? argv[2] : DATA_DIR;
  const Layers layers = read_network(data + "/network.bin");
  const std::vector<Digit> digits = read_digits(data + "/digits.bin");
  bm_handle_t handle = nullptr;
  require(bm_dev_request(&handle, 0), "no device");
  const tpu_kernel_module_t module = tpu_kernel_load_module_file(handle, module_path);
  if (module == nullptr) fail("the kernel module cannot be loaded");
  const tpu_kernel_function_t kernel = tpu_kernel_get_function(handle, module, "classify");

  std::vector<Result> results;
  for (const Type& type : kTypes) results.push_back(classify(handle, kernel, layers, digits, type));

  std::printf("Below each image: the true digit: what the network says in fp32 / fp16 / int8.\n\n");
  print_images(digits, results, 0, 6);
  print_images(digits, results, 6, 6);
  std::printf("type  right of %-5zu accuracy   computing   copying  bytes moved  time (ms)  images/s\n", digits.size());
  std::printf("                             commands   commands\n");
  bool good = true;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Result& r = results[i];
    const double accuracy = 100.0 * r.right / static_cast<double>(digits.size());
    std::printf("%-5s %14d %8.1f %% %11u %9u %12llu %10.2f %9.0f\n", kTypes[i].name, r.right, accuracy,
                r.report.compute_commands, r.report.copy_commands, r.report.bytes, r.seconds * 1e3,
                static_cast<double>(digits.size()) / r.seconds);
    good = good && accuracy > 97;
  }
  const std::size_t scores = digits.size() * kScores;
  const std::size_t exact = count_exact(layers, digits, results.back().scores);
  std::printf("\nint8: %zu of %zu scores equal plain integer arithmetic on the host.\n", exact, scores);
  good = good && exact == scores;
  tpu_kernel_free_module(handle, module);
  bm_dev_free(handle);
  return good ? 0 : 1;
}
