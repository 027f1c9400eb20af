// Each function that moves or fills device memory, three times behind a launch that the program has not waited for: how
// often the result is not that of the order in which they were called. Arguments: the module, and what to run: "device"
// (what the chip does in its queue) or "host" (copies from and to the program's memory).
#include <bmcv_api_ext.h>
#include <bmlib_internal.h>

#include <array>
#include <cstdio>
#include <functional>
#include <string>

namespace {

constexpr int kWords = 1024;
constexpr unsigned kBytes = kWords * sizeof(int);
constexpr int kFilled = 7;
constexpr auto kDevice = "device";

bm_handle_t handle = nullptr;
bm_device_mem_t from, to;
std::array<int, kWords> words;
int value = 0;  // what the launch writes

bm_device_mem_u64_t wide(const bm_device_mem_t& memory) {
  bm_device_mem_u64_t made{};
  bm_set_device_mem_u64(&made, bm_mem_get_device_size(memory), bm_mem_get_device_addr(memory));
  return made;
}
sg_device_mem_t sg(const bm_device_mem_t& memory) {
  sg_device_mem_t made{};
  sg_set_device_mem(&made, bm_mem_get_device_size(memory), bm_mem_get_device_addr(memory));
  return made;
}

struct Image {
  explicit Image(const bm_device_mem_t& memory) {
    bm_image_create(handle, 16, kBytes / 16, FORMAT_GRAY, DATA_TYPE_EXT_1N_BYTE, &image, nullptr);
    bm_device_mem_t given = memory;
    bm_image_attach(image, &given);
  }
  ~Image() { bm_image_destroy(image); }
  bm_image image{};
};

// Where the operation leaves its words, and what they have to be (0: what the launch wrote).
enum class Result { kInTo, kInFrom, kOnHost };
struct Case {
  const char* group;
  const char* name;
  Result where;
  int wanted;
  std::function<bm_status_t()> run;
};

int result_of(Result where) {
  if (where == Result::kOnHost) return words.back();
  bm_thread_sync(handle);
  bm_memcpy_d2s(handle, words.data(), where == Result::kInTo ? to : from);
  return words.back();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 || bm_dev_request(&handle, 0) != BM_SUCCESS) return 2;
  bm_malloc_device_byte(handle, &from, kBytes);
  bm_malloc_device_byte(handle, &to, kBytes);
  const tpu_kernel_module_t module = tpu_kernel_load_module_file(handle, argv[1]);
  const tpu_kernel_function_t slow = tpu_kernel_get_function(handle, module, "slow");
  struct {
    unsigned long long out;
    int value;
  } args = {bm_mem_get_device_addr(from), 0};
  int seven = kFilled;
  std::array<int, kWords> sevens;
  sevens.fill(seven);
  void* const here = words.data();
  void* const there = sevens.data();
  constexpr auto kHost = "host";
  const auto in_to = Result::kInTo, in_from = Result::kInFrom, on_host = Result::kOnHost;
  const Case cases[] = {
      {kDevice, "bm_memcpy_d2d", in_to, 0, [&] { return bm_memcpy_d2d(handle, to, 0, from, 0, kWords); }},
      {kDevice, "bm_memcpy_d2d_with_core", in_to, 0,
       [&] { return bm_memcpy_d2d_with_core(handle, to, 0, from, 0, kWords, 0); }},
      {kDevice, "bm_memcpy_d2d_byte", in_to, 0, [&] { return bm_memcpy_d2d_byte(handle, to, 0, from, 0, kBytes); }},
      {kDevice, "bm_memcpy_d2d_byte_with_core", in_to, 0,
       [&] { return bm_memcpy_d2d_byte_with_core(handle, to, 0, from, 0, kBytes, 0); }},
      {kDevice, "bm_memcpy_d2d_stride", in_to, 0,
       [&] { return bm_memcpy_d2d_stride(handle, to, 1, from, 1, kWords, 4); }},
      {kDevice, "bm_memcpy_d2d_stride_with_core", in_to, 0,
       [&] { return bm_memcpy_d2d_stride_with_core(handle, to, 1, from, 1, kWords, 4, 0); }},
      {kDevice, "bm_memcpy_d2d_u64", in_to, 0,
       [&] { return bm_memcpy_d2d_u64(handle, wide(to), 0, wide(from), 0, kWords); }},
      {kDevice, "bm_memcpy_d2d_byte_u64", in_to, 0,
       [&] { return bm_memcpy_d2d_byte_u64(handle, wide(to), 0, wide(from), 0, kBytes); }},
      {kDevice, "bm_memcpy_d2d_stride_u64", in_to, 0,
       [&] { return bm_memcpy_d2d_stride_u64(handle, wide(to), 1, wide(from), 1, kWords, 4); }},
      {kDevice, "bm_memcpy_c2c", in_to, 0, [&] { return bm_memcpy_c2c(handle, handle, from, to, true); }},
      {kDevice, "bm_memcpy_p2p", in_to, 0, [&] { return bm_memcpy_p2p(handle, from, handle, to); }},
      {kDevice, "bm_memset_device", in_from, kFilled, [&] { return bm_memset_device(handle, seven, from); }},
      {kDevice, "bm_memset_device_ext", in_from, kFilled,
       [&] { return bm_memset_device_ext(handle, &seven, 4, from); }},
      {kDevice, "bm_memset_device_ext_u64", in_from, kFilled,
       [&] { return bm_memset_device_ext_u64(handle, &seven, 4, wide(from)); }},
      {kDevice, "bmcv_image_copy_to", in_to, 0,
       [&] {
         const Image source(from), target(to);
         return bmcv_image_copy_to(handle, bmcv_copy_to_atrr_t{}, source.image, target.image);
       }},
      {kDevice, "bmcv_image_storage_convert", in_to, 0,
       [&] {
         Image source(from), target(to);
         return bmcv_image_storage_convert(handle, 1, &source.image, &target.image);
       }},
      {kHost, "bm_memcpy_d2s", on_host, 0, [&] { return bm_memcpy_d2s(handle, here, from); }},
      {kHost, "bm_memcpy_d2s_u64", on_host, 0, [&] { return bm_memcpy_d2s_u64(handle, here, wide(from)); }},
      {kHost, "bm_memcpy_d2s_partial", on_host, 0, [&] { return bm_memcpy_d2s_partial(handle, here, from, kBytes); }},
      {kHost, "bm_memcpy_d2s_partial_u64", on_host, 0,
       [&] { return bm_memcpy_d2s_partial_u64(handle, here, wide(from), kBytes); }},
      {kHost, "bm_memcpy_d2s_partial_offset", on_host, 0,
       [&] { return bm_memcpy_d2s_partial_offset(handle, here, from, kBytes, 0); }},
      {kHost, "bm_memcpy_d2s_partial_offset_u64", on_host, 0,
       [&] { return bm_memcpy_d2s_partial_offset_u64(handle, here, wide(from), kBytes, 0); }},
      {kHost, "sg_memcpy_d2s", on_host, 0, [&] { return sg_memcpy_d2s(handle, here, sg(from)); }},
      {kHost, "bm_memcpy_d2s_scatter", on_host, 0,
       [&] { return bm_memcpy_d2s_scatter(handle, from, 2, here, static_cast<unsigned long long>(kBytes)); }},
      {kHost, "bm_memcpy_s2d", in_from, kFilled, [&] { return bm_memcpy_s2d(handle, from, there); }},
      {kHost, "bm_memcpy_s2d_u64", in_from, kFilled, [&] { return bm_memcpy_s2d_u64(handle, wide(from), there); }},
      {kHost, "bm_memcpy_s2d_partial", in_from, kFilled,
       [&] { return bm_memcpy_s2d_partial(handle, from, there, kBytes); }},
      {kHost, "bm_memcpy_s2d_partial_u64", in_from, kFilled,
       [&] { return bm_memcpy_s2d_partial_u64(handle, wide(from), there, kBytes); }},
      {kHost, "bm_memcpy_s2d_partial_offset", in_from, kFilled,
       [&] { return bm_memcpy_s2d_partial_offset(handle, from, there, kBytes, 0); }},
      {kHost, "bm_memcpy_s2d_partial_offset_u64", in_from, kFilled,
       [&] { return bm_memcpy_s2d_partial_offset_u64(handle, wide(from), there, kBytes, 0); }},
      {kHost, "sg_memcpy_s2d", in_from, kFilled, [&] { return sg_memcpy_s2d(handle, sg(from), there); }},
      {kHost, "bm_memcpy_s2d_gather", in_from, kFilled,
       [&] { return bm_memcpy_s2d_gather(handle, from, 2, there, static_cast<unsigned long long>(kBytes)); }},
  };
  for (const Case& one : cases) {
    if (std::string(argv[2]) != one.group) continue;
    int wrong = 0;
    for (int i = 0; i < 3; ++i) {
      args.value = ++value + 1000;
      tpu_kernel_launch_async(handle, slow, &args, sizeof args);
      if (one.run() != BM_SUCCESS) return 3;
      wrong += result_of(one.where) != (one.wanted != 0 ? one.wanted : args.value) ? 1 : 0;
    }
    std::printf("%s %d\n", one.name, wrong);
  }
  bm_free_device(handle, from);
  bm_free_device(handle, to);
  bm_dev_free(handle);
  return 0;
}
