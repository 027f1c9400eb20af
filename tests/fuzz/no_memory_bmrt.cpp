// Each C function of libbmrt and libbmcv, and those of the other libraries that fuzz_host_api and fuzz_host_rt do not
// call, with arguments that are right, while its allocations fail (failing_new.hpp): of each call one, then one and all
// that follow, each in turn. A call gives a status, and afterwards a network still gives what it gave before.
//
// The libraries' symbol tables say which functions there are: one that has no row here fails the test.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bmcv_api_ext.h"
#include "bmruntime_interface.h"
#include "bmruntime_legacy.h"
#include "softtpu/device.h"
#include "softtpu/layout.h"
#include "softtpu/networks.h"
#include "tests/fuzz/failing_new.hpp"
#include "tests/fuzz/input.hpp"
#include "tpudnn/tpuDNN.h"
#include "tpuv7/tpuv7_rt.h"

namespace softtpu::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = SOFTTPU_FUZZ_NETWORK;
constexpr const char* kName = "softmax";
constexpr int kMostCalls = 4000;
constexpr int kSide = 8;  // of images

// The row whose function is called now.
std::size_t current = 0;
std::string current_name;

// Makes one call, of whose allocations some fail.
template <class Function>
auto fail(Function function) {
  return FailingNew::during(current, current_name, function);
}

std::vector<char> read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::uint8_t* copy_as_plain(const std::uint8_t* input, std::uint64_t bytes, std::uint64_t* output_bytes) {
  auto* const plain = static_cast<std::uint8_t*>(std::malloc(bytes));
  if (plain != nullptr) std::memcpy(plain, input, bytes);
  *output_bytes = bytes;
  return plain;
}

// What the calls share: a device, a runtime with a network, its tensors, and an image that has memory.
struct World {
  bm_handle_t handle = nullptr, own = nullptr;  // the second is of softtpu_device_open()
  void* runtime = nullptr;
  const bm_net_info_t* info = nullptr;
  bm_tensor_t input{}, output{};
  bm_shape_t shape{};
  std::vector<char> in, out, right, file = read_file(kFile);
  bm_image image{}, other{};
  std::vector<unsigned char> pixels = std::vector<unsigned char>(kSide * kSide * 3);
  std::string folder;  // with a compilation.bmodel
  int core = 0;

  World() {
    require(bm_dev_request(&handle, 0) == BM_SUCCESS, "a device can be requested");
    runtime = make_runtime();
    info = bmrt_get_network_info(runtime, kName);
    shape = info->stages[0].input_shapes[0];
    require(bmrt_tensor(&input, runtime, info->input_dtypes[0], shape), "an input");
    require(bmrt_tensor(&output, runtime, info->output_dtypes[0], info->stages[0].output_shapes[0]), "an output");
    in.assign(bmrt_tensor_bytesize(&input), 1);
    out.resize(bmrt_tensor_bytesize(&output));
    right = run();
    image = make_image(true);
    other = make_image(true);
    folder = (fs::temp_directory_path() / ("softtpu-no-memory-" + std::to_string(::getpid()))).string();
    fs::create_directory(folder);
    fs::create_symlink(kFile, folder + "/compilation.bmodel");
  }
  ~World() {
    fs::remove_all(folder);
    bm_image_destroy(other);
    bm_image_destroy(image);
    bm_free_device(handle, input.device_mem);
    bm_free_device(handle, output.device_mem);
    bmrt_destroy(runtime);
    bm_dev_free(handle);
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  void* make_runtime() const {
    void* const made = bmrt_create(handle);
    require(made != nullptr && bmrt_load_bmodel(made, kFile), "a network can be loaded");
    return made;
  }
  std::vector<char> run() {
    require(bm_memcpy_s2d(handle, input.device_mem, in.data()) == BM_SUCCESS, "the input can be written");
    require(bmrt_launch_tensor_ex(runtime, kName, &input, 1, &output, 1, true, false), "a network can be launched");
    require(bm_thread_sync(handle) == BM_SUCCESS, "it ends well");
    std::vector<char> result(out.size());
    require(bm_memcpy_d2s(handle, result.data(), output.device_mem) == BM_SUCCESS, "the output can be read");
    return result;
  }
  bm_image make_image(bool with_memory) const {
    bm_image made{};
    require(
        bm_image_create(handle, kSide, kSide, FORMAT_RGB_PLANAR, DATA_TYPE_EXT_1N_BYTE, &made, nullptr) == BM_SUCCESS,
        "an image can be made");
    require(!with_memory || bm_image_alloc_dev_mem(made, BMCV_HEAP_ANY) == BM_SUCCESS, "it can have memory");
    return made;
  }
  bm_device_mem_t make_memory(unsigned bytes) const {
    bm_device_mem_t made{};
    require(bm_malloc_device_byte(handle, &made, bytes) == BM_SUCCESS, "memory is left");
    return made;
  }
  // The outputs of a launch that makes their memory.
  void give_back(bool done, bm_tensor_t& made) const {
    if (done) bm_free_device(handle, made.device_mem);
  }
};

struct Row {
  std::string name;
  std::function<void(World&)> call;
};

// ---- libbmrt ----

#define CALL(function, ...) \
  rows.push_back({#function, []([[maybe_unused]] World& w) { fail([&] { return function(__VA_ARGS__); }); }})
#define ROW(function, ...) rows.push_back({#function, []([[maybe_unused]] World & w) __VA_ARGS__})

void add_runtimes(std::vector<Row>& rows) {
  ROW(bmrt_create, { bmrt_destroy(fail([&] { return bmrt_create(w.handle); })); });
  ROW(bmrt_create_ex, { bmrt_destroy(fail([&] { return bmrt_create_ex(&w.handle, 1); })); });
  ROW(create_bmrt_helper, {
    bm_handle_t handle = nullptr;
    void* const made = fail([&] { return create_bmrt_helper(&handle, "bm1684x", 0); });
    if (made != nullptr) destroy_bmruntime(made);
    if (handle != nullptr) bm_dev_free(handle);
  });
  ROW(bmrt_destroy, {
    void* const made = w.make_runtime();
    fail([&] { bmrt_destroy(made); });
  });
  ROW(destroy_bmruntime, {
    void* const made = w.make_runtime();
    fail([&] { destroy_bmruntime(made); });
  });
  ROW(bmrt_destroy_without_coeff, {
    void* const made = w.make_runtime();
    fail([&] { bmrt_destroy_without_coeff(made); });
    bmrt_destroy(made);
  });
#define LOAD(function, ...)                                               \
  rows.push_back({#function, []([[maybe_unused]] World& w) {              \
                    void* const runtime = bmrt_create(w.handle);          \
                    fail([&] { return function(runtime, __VA_ARGS__); }); \
                    bmrt_destroy(runtime);                                \
                  }})
  LOAD(bmrt_load_bmodel, kFile);
  LOAD(bmrt_load_context, w.folder.c_str());
  LOAD(bmrt_load_bmodel_data, w.file.data(), w.file.size());
  LOAD(bmrt_load_bmodel_with_decrypt, kFile, copy_as_plain);
  LOAD(bmrt_load_bmodel_with_decrypt_lib, kFile, SOFTTPU_TEST_CIPHER);
  LOAD(bmrt_update_bmodel_weight_with_decrypt, kFile, kFile, "0", "0", nullptr, 0, copy_as_plain);
  LOAD(bmrt_empty_bmodel_weight_with_decrypt, kFile, "0", "0", nullptr, 0, copy_as_plain);
#undef LOAD
#define LOAD_WITH_MEMORY(function, ...)                                     \
  rows.push_back({#function, []([[maybe_unused]] World& w) {                \
                    void* const runtime = bmrt_create(w.handle);            \
                    mem_info_t memory{};                                    \
                    std::vector<bm_device_mem_t> no_memories;               \
                    require(bmrt_get_bmodel_info(kFile, &memory), "sizes"); \
                    fail([&] { return function(runtime, __VA_ARGS__); });   \
                    bmrt_destroy(runtime);                                  \
                  }})
  LOAD_WITH_MEMORY(bmrt_load_bmodel_with_mem, kFile, &memory);
  LOAD_WITH_MEMORY(bmrt_load_bmodel_data_with_mem, w.file.data(), w.file.size(), &memory);
  LOAD_WITH_MEMORY(bmrt_load_bmodel_with_mem_v2, kFile, nullptr, &memory, no_memories);
#undef LOAD_WITH_MEMORY
  ROW(bmrt_load_bmodel_in_device, {
    void* const runtime = bmrt_create(w.handle);
    const bm_device_mem_t memory = w.make_memory(static_cast<unsigned>(w.file.size()));
    require(bm_memcpy_s2d(w.handle, memory, w.file.data()) == BM_SUCCESS, "the file can be written");
    fail([&] { return bmrt_load_bmodel_in_device(runtime, nullptr, bm_mem_get_device_addr(memory), w.file.size()); });
    bmrt_destroy(runtime);
    bm_free_device(w.handle, memory);
  });
  CALL(bmrt_get_bm_handle, w.runtime);
  CALL(bmrt_set_flags, w.runtime, 0);
  CALL(bmrt_get_flags, w.runtime);
  CALL(bmrt_get_coeff_info, w.runtime);
  CALL(bmrt_get_current_log_level);
  CALL(bmrt_set_current_log_level, BMRT_LOG_INFO);
  CALL(libbmrt_version);
  CALL(bmrt_lib_error);
  CALL(bmrt_load_lib, "no_such_library.so", 1);
  CALL(bmrt_find_sym, nullptr, "bmrt_create");
  CALL(bmrt_unload_lib, nullptr);
}

void add_descriptions(std::vector<Row>& rows) {
  CALL(bmrt_data_type_size, BM_FLOAT32);
  ROW(bmrt_shape, {
    bm_shape_t made{};
    fail([&] { bmrt_shape(&made, w.shape.dims, BM_MAX_DIMS_NUM + 1); });
  });
  CALL(bmrt_shape_count, &w.shape);
  CALL(bmrt_shape_is_same, &w.shape, &w.shape);
  ROW(bmrt_tensor, {
    bm_tensor_t made{};
    w.give_back(fail([&] { return bmrt_tensor(&made, w.runtime, BM_INT8, w.shape); }), made);
  });
  ROW(bmrt_tensor_ex, {
    bm_tensor_t made{};
    w.give_back(fail([&] { return bmrt_tensor_ex(&made, w.runtime, 0, BM_INT8, w.shape); }), made);
  });
  ROW(bmrt_tensor_with_device, {
    bm_tensor_t made{};
    fail([&] { bmrt_tensor_with_device(&made, w.input.device_mem, BM_INT8, w.shape); });
  });
  CALL(bmrt_tensor_bytesize, &w.input);
  CALL(bmrt_tensor_device_size, &w.input);
  CALL(bmrt_print_network_info, w.info);
  CALL(bmrt_show_neuron_network, w.runtime);
  ROW(bmrt_get_bmodel_info, {
    mem_info_t memory{};
    fail([&] { return bmrt_get_bmodel_info(kFile, &memory); });
  });
  ROW(bmrt_get_bmodel_data_info, {
    mem_info_t memory{};
    fail([&] { return bmrt_get_bmodel_data_info(w.file.data(), w.file.size(), &memory); });
  });
  ROW(bmrt_get_bmodel_info_from_data, {
    mem_info_t memory{};
    fail([&] { return bmrt_get_bmodel_info_from_data(w.file.data(), &memory, w.file.size()); });
  });
  CALL(bmrt_get_network_number, w.runtime);
  ROW(bmrt_get_network_names, {
    const char** names = nullptr;
    fail([&] { bmrt_get_network_names(w.runtime, &names); });
    std::free(names);
  });
  CALL(bmrt_get_network_index, w.runtime, "another");
  CALL(bmrt_get_network_name, w.runtime, 1);
  CALL(bmrt_get_stage_size, w.runtime, "another");
  CALL(bmrt_get_stage_index, w.runtime, kName, &w.input);
  CALL(bmrt_get_neuron_number, w.runtime, "another");
  CALL(bmrt_get_neuron_memory, w.runtime, kName, 0, &w.core, 1);
  CALL(bmrt_get_network_info, w.runtime, "another");
  CALL(bmrt_can_batch_size_change, w.runtime, 0, nullptr);
  CALL(bmrt_can_height_and_width_change, w.runtime, 0, nullptr);
  ROW(bmrt_get_input_tensor, {
    int count = 0;
    const char** names = nullptr;
    fail([&] { return bmrt_get_input_tensor(w.runtime, 0, nullptr, &count, &names); });
  });
  ROW(bmrt_get_output_tensor, {
    int count = 0;
    const char** names = nullptr;
    fail([&] { return bmrt_get_output_tensor(w.runtime, 0, nullptr, &count, &names); });
  });
#define OF_TENSOR(function)                                                                 \
  ROW(function, {                                                                           \
    int n = 0, c = 0, h = 0, x = 0;                                                         \
    fail([&] { function(w.runtime, w.info->input_names[0], 0, nullptr, &n, &c, &h, &x); }); \
  })
  OF_TENSOR(bmrt_get_input_blob_max_nhw);
  OF_TENSOR(bmrt_get_output_blob_max_nhw);
#undef OF_TENSOR
  ROW(bmrt_get_input_blob_max_shape, {
    int extents[BM_MAX_DIMS_NUM] = {};
    fail([&] { return bmrt_get_input_blob_max_shape(w.runtime, "another", 0, nullptr, extents); });
  });
  ROW(bmrt_get_output_blob_max_shape, {
    int extents[BM_MAX_DIMS_NUM] = {};
    fail([&] { return bmrt_get_output_blob_max_shape(w.runtime, w.info->output_names[0], 0, nullptr, extents); });
  });
  CALL(bmrt_get_input_data_type, w.runtime, w.info->input_names[0], 0, nullptr);
  CALL(bmrt_get_output_data_type, w.runtime, "another", 0, nullptr);
  CALL(bmrt_get_input_gmem_stmode, w.runtime, w.info->input_names[0], 0, nullptr);
  CALL(bmrt_get_output_gmem_stmode, w.runtime, "another", 0, nullptr);
}

void add_launches(std::vector<Row>& rows) {
  ROW(bmrt_launch_tensor, {
    bm_tensor_t made{};
    const bool done = fail([&] { return bmrt_launch_tensor(w.runtime, kName, &w.input, 1, &made, 1); });
    bm_thread_sync(w.handle);
    w.give_back(done, made);
  });
  CALL(bmrt_launch_tensor_ex, w.runtime, kName, &w.input, 1, &w.output, 1, true, false);
  CALL(bmrt_launch_tensor_multi_cores, w.runtime, kName, &w.input, 1, &w.output, 1, true, false, &w.core, 1);
  CALL(bmrt_launch_tensor_multi_thread, w.runtime, kName, &w.input, 1, &w.output, 1, 0, true, false, &w.core, 1);
#define DATA(function, ...)                                                                                     \
  rows.push_back(                                                                                               \
      {#function, []([[maybe_unused]] World& w) {                                                               \
         void* inputs[] = {w.in.data()};                                                                        \
         void* outputs[] = {w.out.data()};                                                                      \
         bm_shape_t made{};                                                                                     \
         fail([&] { return function(w.runtime, kName, inputs, &w.shape, 1, outputs, &made, 1, __VA_ARGS__); }); \
       }})
  DATA(bmrt_launch_data_multi_cores, true, &w.core, 1);
  DATA(bmrt_launch_data_multi_thread, 0, true, &w.core, 1);
#undef DATA
  ROW(bmrt_launch_data, {
    void* inputs[] = {w.in.data()};
    void* outputs[] = {nullptr};
    bm_shape_t made{};
    if (!fail([&] { return bmrt_launch_data(w.runtime, kName, inputs, &w.shape, 1, outputs, &made, 1, false); }))
      return;
    require(std::memcmp(outputs[0], w.right.data(), w.right.size()) == 0, "a launch that succeeds gives what is right");
    std::free(outputs[0]);
  });
  CALL(bmrt_pre_alloc_neuron_multi_cores, w.runtime, kName, 0, &w.core, 1);
  CALL(bmrt_pre_alloc_mem, w.runtime, kName);
  CALL(bmrt_free_pre_alloc_mem, w.runtime, kName);
  ROW(bmrt_pre_alloc_mem_multi_thread, {
    const mem_info_t memory{};
    fail([&] { return bmrt_pre_alloc_mem_multi_thread(w.runtime, 0, &memory); });
  });
  CALL(bmrt_trace, w.runtime);
#define LEGACY(function, ...)                                                                                   \
  rows.push_back({#function, []([[maybe_unused]] World& w) {                                                    \
                    int mode = BM_STORE_1N, side = 1;                                                           \
                    static_cast<void>(mode), static_cast<void>(side);                                           \
                    bm_shape_t made{};                                                                          \
                    fail([&] { return function(w.runtime, 0, nullptr, &w.input.device_mem, 1, __VA_ARGS__); }); \
                  }})
  LEGACY(bmrt_launch, &w.output.device_mem, 1, &made);
  LEGACY(bmrt_launch_nhw, &w.output.device_mem, 1, w.shape.dims[0], w.shape.dims[2], w.shape.dims[3], &made);
  LEGACY(bmrt_launch_shape, &w.shape.num_dims, w.shape.dims, &w.output.device_mem, 1, &made);
  LEGACY(bmrt_launch_nhw_stmode, &w.output.device_mem, 1, w.shape.dims[0], w.shape.dims[2], w.shape.dims[3], &mode,
         &mode, &made);
  LEGACY(bmrt_launch_nhw_stmode_multi_input, &w.output.device_mem, 1, w.shape.dims[0], &w.shape.dims[2],
         &w.shape.dims[3], &mode, &mode, &made);
  LEGACY(bmrt_launch_shape_stmode, &w.shape.num_dims, w.shape.dims, &w.output.device_mem, 1, &mode, &mode, &made);
  LEGACY(bmrt_launch_cpu_data, &w.output.device_mem, 1, w.shape.dims, &made);
#undef LEGACY
  CALL(get_bmodel_api_info_c, w.runtime, kName, &w.input, 1, &w.output, 1, true, false, nullptr);
  CALL(bmrt_free_api_info, nullptr);
  CALL(bmrt_thread_sync, w.runtime);
  ROW(bmrt_get_last_api_process_time_us, {
    unsigned long time = 0;
    fail([&] { bmrt_get_last_api_process_time_us(w.runtime, &time); });
  });
  ROW(softtpu_bmrt_show_tensors, {
    void* const runtime = w.make_runtime();
    fail([&] {
      return softtpu_bmrt_show_tensors(
          runtime, [](void*, const char*, bm_data_type_t, const bm_shape_t*, const void*, std::size_t) {}, nullptr);
    });
    fail([&] { return bmrt_launch_tensor_ex(runtime, kName, &w.input, 1, &w.output, 1, true, false); });
    bmrt_destroy(runtime);
  });
  ROW(softtpu_bmrt_use_tensor_map, {
    void* const runtime = bmrt_create(w.handle);
    static constexpr char kMap[] = "[]";
    fail([&] { return softtpu_bmrt_use_tensor_map(runtime, "softmax", 0, kMap, sizeof kMap - 1); });
    bmrt_destroy(runtime);
  });
  ROW(softtpu_bmrt_use_firmware, {
    void* const runtime = bmrt_create(w.handle);
    fail([&] { return softtpu_bmrt_use_firmware(runtime, "a path that is longer than what a string holds itself"); });
    bmrt_destroy(runtime);
  });
  ROW(softtpu_bmrt_run_static_parts, {
    void* const runtime = bmrt_create(w.handle);
    fail([&] { return softtpu_bmrt_run_static_parts(runtime, true); });
    bmrt_destroy(runtime);
  });
}

void add_copies(std::vector<Row>& rows) {
  ROW(bmrt_malloc_neuron_device, {
    bm_device_mem_t made{};
    if (fail([&] { return bmrt_malloc_neuron_device(w.runtime, &made, 1, 1, 1, 1); }) == 0)
      bm_free_device(w.handle, made);
  });
  ROW(bmrt_malloc_device_byte, {
    bm_device_mem_t made{};
    if (fail([&] { return bmrt_malloc_device_byte(w.runtime, &made, kSide); }) == 0) bm_free_device(w.handle, made);
  });
  ROW(bmrt_free_device, {
    const bm_device_mem_t made = w.make_memory(kSide);
    fail([&] { bmrt_free_device(w.runtime, made); });
  });
  CALL(bmrt_memcpy_s2d, w.runtime, w.input.device_mem, w.in.data());
  CALL(bmrt_memcpy_d2s, w.runtime, w.out.data(), w.output.device_mem);
  CALL(bmrt_memcpy_s2d_withsize, w.runtime, w.input.device_mem, w.in.data(), kSide);
  CALL(bmrt_memcpy_d2s_withsize, w.runtime, w.out.data(), w.output.device_mem, kSide);
  CALL(bmrt_memcpy_s2d_withsize_offset, w.runtime, w.input.device_mem, w.in.data(), 1, 1);
  CALL(bmrt_memcpy_d2s_withsize_offset, w.runtime, w.out.data(), w.output.device_mem, 1, 1);
  ROW(bmrt_dev_getcount, {
    int count = 0;
    fail([&] { return bmrt_dev_getcount(w.runtime, &count); });
  });
#define PARALLEL(function, ...)                                                                                       \
  rows.push_back({#function, []([[maybe_unused]] World& w) {                                                          \
                    void* in[] = {w.in.data()};                                                                       \
                    void* out[] = {w.out.data()};                                                                     \
                    int one = 1;                                                                                      \
                    std::size_t zero = 0, bytes = 4;                                                                  \
                    bm_shape_t steps{1, {1}};                                                                         \
                    static_cast<void>(in), static_cast<void>(out), static_cast<void>(zero), static_cast<void>(bytes); \
                    static_cast<void>(steps);                                                                         \
                    fail([&] { return function(w.runtime, __VA_ARGS__, &one, 1); });                                  \
                  }})
  PARALLEL(bmrt_memcpy_s2d_parallel, &w.input, in);
  PARALLEL(bmrt_memcpy_d2s_parallel, out, &w.output);
  PARALLEL(bmrt_memcpy_d2d_byte_parallel, &w.output, &zero, &w.input, &zero, &bytes);
  PARALLEL(bmrt_memcpy_d2d_stride_ex_parallel, &w.output, &zero, &steps, &w.input, &zero, &steps, &steps);
#undef PARALLEL
}

// ---- libbmcv ----

void add_images(std::vector<Row>& rows) {
  ROW(bm_image_create, {
    bm_image made{};
    const bm_status_t status = fail([&] {
      return bm_image_create(w.handle, kSide, kSide, FORMAT_RGB_PLANAR, DATA_TYPE_EXT_1N_BYTE, &made, nullptr);
    });
    if (status == BM_SUCCESS) bm_image_destroy(made);
  });
#define NEW_IMAGE(function, with_memory, ...)                    \
  rows.push_back({#function, []([[maybe_unused]] World& w) {     \
                    bm_image made = w.make_image(with_memory);   \
                    fail([&] { return function(__VA_ARGS__); }); \
                    bm_image_destroy(made);                      \
                  }})
  NEW_IMAGE(bm_image_destroy, true, made);
  NEW_IMAGE(bm_image_alloc_dev_mem, false, made, BMCV_HEAP_ANY);
  NEW_IMAGE(bm_image_alloc_dev_mem_heap_mask, false, made, 1);
  NEW_IMAGE(bm_image_alloc_contiguous_mem, false, 1, &made, BMCV_HEAP_ANY);
  NEW_IMAGE(bm_image_alloc_contiguous_mem_heap_mask, false, 1, &made, 1);
  NEW_IMAGE(bm_image_attach_contiguous_mem, false, 1, &made, w.input.device_mem);
  NEW_IMAGE(bm_image_attach, false, made, &w.input.device_mem);
  NEW_IMAGE(bm_image_detach, true, made);
  NEW_IMAGE(bm_image_write_to_bmp, true, made, "image.bmp");
#undef NEW_IMAGE
  ROW(bm_image_free_contiguous_mem, {
    bm_image made = w.make_image(false);
    require(bm_image_alloc_contiguous_mem(1, &made, BMCV_HEAP_ANY) == BM_SUCCESS, "an image can have memory");
    fail([&] { return bm_image_free_contiguous_mem(1, &made); });
    bm_image_destroy(made);
  });
#define DETACH(function)                                                                                     \
  ROW(function, {                                                                                            \
    bm_image made = w.make_image(false);                                                                     \
    const bm_device_mem_t memory = w.make_memory(kSide * kSide * 3);                                         \
    require(bm_image_attach_contiguous_mem(1, &made, memory) == BM_SUCCESS, "an image can be given memory"); \
    fail([&] { return function(1, &made); });                                                                \
    bm_image_destroy(made);                                                                                  \
    bm_free_device(w.handle, memory);                                                                        \
  })
  DETACH(bm_image_detach_contiguous_mem);
  DETACH(bm_image_dettach_contiguous_mem);
#undef DETACH
  CALL(bm_image_get_handle, &w.image);
  CALL(bm_image_is_attached, w.image);
  CALL(bm_image_get_plane_num, w.image);
  ROW(bm_image_get_stride, {
    int strides[8] = {};
    fail([&] { return bm_image_get_stride(w.image, strides); });
  });
  ROW(bm_image_get_byte_size, {
    int sizes[8] = {};
    fail([&] { return bm_image_get_byte_size(w.image, sizes); });
  });
  ROW(bm_image_get_device_mem, {
    bm_device_mem_t memories[8] = {};
    fail([&] { return bm_image_get_device_mem(w.image, memories); });
  });
  ROW(bm_image_get_contiguous_device_mem, {
    bm_device_mem_t memory{};
    fail([&] { return bm_image_get_contiguous_device_mem(1, &w.image, &memory); });
  });
  ROW(bm_image_get_format_info, {
    bm_image_format_info_t info{};
    fail([&] { return bm_image_get_format_info(&w.image, &info); });
  });
  ROW(bm_image_copy_host_to_device, {
    void* planes[] = {w.pixels.data()};
    fail([&] { return bm_image_copy_host_to_device(w.image, planes); });
  });
  ROW(bm_image_copy_device_to_host, {
    void* planes[] = {w.pixels.data()};
    fail([&] { return bm_image_copy_device_to_host(w.image, planes); });
  });
}

void add_operations(std::vector<Row>& rows) {
  // The output has no memory yet where the call may take some.
#define OPERATION(function, ...)                                                                    \
  rows.push_back({#function, []([[maybe_unused]] World& w) {                                        \
                    bm_image made = w.make_image(false);                                            \
                    bmcv_rect_t rect{0, 0, kSide, kSide};                                           \
                    bmcv_padding_atrr_t padding{0, 0, kSide, kSide, 0, 0, 0, 1};                    \
                    bmcv_resize_t part{0, 0, kSide, kSide, kSide, kSide};                           \
                    bmcv_resize_image resize{&part, 1, 1, 0, 0, 0, BMCV_INTER_LINEAR};              \
                    static_cast<void>(rect), static_cast<void>(padding), static_cast<void>(resize); \
                    fail([&] { return function(w.handle, __VA_ARGS__); });                          \
                    bm_image_destroy(made);                                                         \
                  }})
  OPERATION(bmcv_image_vpp_convert, 1, w.image, &made, &rect, BMCV_INTER_LINEAR);
  OPERATION(bmcv_image_vpp_csc_matrix_convert, 1, w.image, &made, CSC_MAX_ENUM, nullptr, BMCV_INTER_NEAREST, &rect);
  OPERATION(bmcv_image_vpp_convert_padding, 1, w.image, &made, &padding, &rect, BMCV_INTER_BICUBIC);
  OPERATION(bmcv_image_vpp_basic, 1, &w.image, &made, nullptr, &rect, &padding, BMCV_INTER_LINEAR, CSC_MAX_ENUM,
            nullptr);
  OPERATION(bmcv_image_storage_convert, 1, &w.image, &made);
  OPERATION(bmcv_image_storage_convert_with_csctype, 1, &w.image, &made, CSC_MAX_ENUM);
  OPERATION(bmcv_image_convert_to, 1, bmcv_convert_to_attr{2, 0, 2, 0, 2, 0}, &w.image, &made);
  OPERATION(bmcv_image_crop, 1, &rect, w.image, &made);
  OPERATION(bmcv_image_resize, 1, &resize, &w.image, &made);
  OPERATION(bmcv_width_align, w.image, made);
  OPERATION(bmcv_image_copy_to, bmcv_copy_to_atrr_t{0, 0, 0, 0, 0, 1}, w.image, w.other);
#undef OPERATION
#define REFUSED(function) CALL(function, w.handle);
  BMCV_REFUSED_FUNCTIONS(REFUSED)
#undef REFUSED
}

// ---- What the fuzzers of the other libraries leave out ----

void add_others(std::vector<Row>& rows) {
  ROW(bm_dev_request, {
    bm_handle_t made = nullptr;
    if (fail([&] { return bm_dev_request(&made, 0); }) == BM_SUCCESS) bm_dev_free(made);
  });
  ROW(bm_dev_free, {
    bm_handle_t made = nullptr;
    require(bm_dev_request(&made, 0) == BM_SUCCESS, "a handle can be had");
    fail([&] { bm_dev_free(made); });
  });
  CALL(bm_memcpy_s2d_gather, w.handle, w.input.device_mem, 2, w.in.data(), 4ULL);
  CALL(bm_memcpy_d2s_scatter, w.handle, w.output.device_mem, 2, w.out.data(), 4ULL);
  ROW(softtpu_device_open, {
    bm_handle_t made = nullptr;
    if (fail([&] { return softtpu_device_open(&made, 0, nullptr, SOFTTPU_KEEP_TIMES); }) == BM_SUCCESS)
      bm_dev_free(made);
  });
  ROW(softtpu_stream_open, {
    bm_handle_t made = nullptr;
    if (fail([&] { return softtpu_stream_open(&made, w.own); }) == BM_SUCCESS) bm_dev_free(made);
  });
  CALL(softtpu_cancel, w.own);
  ROW(softtpu_map, {
    void* mapped = nullptr;
    const unsigned long long at = bm_mem_get_device_addr(w.input.device_mem);
    if (fail([&] { return softtpu_map(w.handle, at, kSide, &mapped); }) == BM_SUCCESS) softtpu_unmap(mapped, kSide);
  });
  ROW(softtpu_unmap, {
    void* mapped = nullptr;
    const unsigned long long at = bm_mem_get_device_addr(w.input.device_mem);
    if (softtpu_map(w.handle, at, kSide, &mapped) == BM_SUCCESS) fail([&] { softtpu_unmap(mapped, kSide); });
  });
  CALL(softtpu_note_mapped, w.own, 0, 1);
  CALL(softtpu_note_type, w.own, 0, "fp32");
  ROW(softtpu_device_info, { softtpu_free(fail([&] { return softtpu_device_info(w.own); })); });
  // With a finding: a copy past the end of an allocation.
  ROW(softtpu_take_notes, {
    bm_device_mem_t memory{};
    require(bm_malloc_device_byte(w.own, &memory, kSide) == BM_SUCCESS, "memory is left");
    bm_device_mem_t beyond = memory;
    bm_mem_set_device_size(&beyond, 1U << 20);
    require(bm_memcpy_d2s(w.own, w.out.data(), beyond) != BM_SUCCESS, "a copy past its end is refused");
    static bool first = true;
    char* const text =
        std::exchange(first, false) ? softtpu_take_notes(w.own) : fail([&] { return softtpu_take_notes(w.own); });
    bm_free_device(w.own, memory);
    static const bool is_noted = text != nullptr && std::strstr(text, "memory/host-copy") != nullptr;
    require(is_noted, "a finding is noted");
    softtpu_free(text);
  });
  ROW(softtpu_take_times, { softtpu_free(fail([&] { return softtpu_take_times(w.own); })); });
  CALL(softtpu_last_failure);
  CALL(softtpu_set_last_failure, "function", "a text that is longer than what a string holds itself", BM_ERR_FAILURE);
  ROW(softtpu_argument_layout,
      { softtpu_free(fail([&] { return softtpu_argument_layout(SOFTTPU_FUZZ_KERNELS, "nothing"); })); });
  ROW(softtpu_free, {
    char* const text = softtpu_device_info(w.own);
    fail([&] { softtpu_free(text); });
  });
  // Fails, which the next wait says.
  ROW(softtpu_kernel_launch_async_by_name, {
    fail([&] { return softtpu_kernel_launch_async_by_name(w.handle, "not registered", w.in.data(), 4); });
    bm_thread_sync(w.handle);
  });
  ROW(tpudnnHandleFromStreamV2, {
    const auto made = fail([&] { return tpudnnHandleFromStreamV2(0, nullptr, std::tuple<void*, void*>{}); });
    if (made != nullptr) tpudnnDestroy(made);
  });
#define LAYOUT(function, ...)                                                                      \
  rows.push_back({#function, [](World&) {                                                          \
                    const softtpu_conv_block_t plain{64, 64, 2, 3, 1, 1, 1, 4, 0};                 \
                    const softtpu_conv_block_t biased{64, 64, 2, 3, 1, 1, 1, 4, 4};                \
                    const softtpu_batch_words_t words{4, 1, 1, 1, SOFTTPU_4N};                     \
                    static std::vector<char> a(4096), b(4096), c(4096);                            \
                    static_cast<void>(plain), static_cast<void>(biased), static_cast<void>(words); \
                    fail([&] { return function(__VA_ARGS__); });                                   \
                  }})
  LAYOUT(softtpu_conv_block_bytes, &plain);
  LAYOUT(softtpu_conv_block_lanes, &plain);
  LAYOUT(softtpu_conv_block_lane_bytes, &plain);
  LAYOUT(softtpu_conv_block_weight_offset, &biased);
  LAYOUT(softtpu_conv_reorder, &plain, a.data(), 24, b.data(), softtpu_conv_block_bytes(&plain));
  LAYOUT(softtpu_conv_restore, &plain, b.data(), softtpu_conv_block_bytes(&plain), a.data(), 24);
  LAYOUT(softtpu_conv_merge, &biased, a.data(), 24, c.data(), 8, b.data(), softtpu_conv_block_bytes(&biased));
  LAYOUT(softtpu_conv_split, &biased, b.data(), softtpu_conv_block_bytes(&biased), a.data(), 24, c.data(), 8);
  LAYOUT(softtpu_batch_words_bytes, &words);
  LAYOUT(softtpu_batch_pack, &words, a.data(), 4, b.data(), 4);
  LAYOUT(softtpu_batch_unpack, &words, b.data(), 4, a.data(), 4);
  LAYOUT(softtpu_layout_error);
#undef LAYOUT
}

// C functions that a library exports and that no row, here or of a fuzzer, calls.
std::vector<std::string> find_left_out(const std::vector<Row>& rows) {
  std::set<std::string> called = {
#define FUNCTION(name, ...) #name,
#include "bmlib_signatures.inc"
#include "host_rt_signatures.inc"
#undef FUNCTION
      "bmlib_log", "bmlib_log_set_callback"};  // fuzz_host_api, log_calls.cpp
  for (const Row& row : rows) called.insert(row.name);
  std::vector<std::string> left_out;
  int found = 0;
  std::FILE* const symbols = ::popen(SOFTTPU_NM " -D --defined-only " SOFTTPU_LIBRARIES, "r");
  require(symbols != nullptr, "the libraries' symbols can be read");
  char line[4096], name[4096], kind = 0;
  while (std::fgets(line, sizeof line, symbols) != nullptr) {
    if (std::sscanf(line, "%*x %c %4095s", &kind, name) != 2 || kind != 'T' || std::strncmp(name, "_Z", 2) == 0)
      continue;
    ++found;
    if (!called.contains(name)) left_out.emplace_back(name);
  }
  require(::pclose(symbols) == 0 && found > static_cast<int>(rows.size()), "the libraries' symbols can be read");
  std::printf("%d functions in the libraries, %zu of them here\n", found, rows.size());
  return left_out;
}

int run() {
  ::setenv("SOFTTPU_CHIP", "bm1684x", 1);
  ::setenv("SOFTTPU_LOG", "off", 0);
  bmlib_log_set_level(BMLIB_LOG_QUIET);
  std::vector<Row> rows;
  add_runtimes(rows);
  add_descriptions(rows);
  add_launches(rows);
  add_copies(rows);
  add_images(rows);
  add_operations(rows);
  add_others(rows);
  const auto left_out = find_left_out(rows);
  for (const std::string& name : left_out) std::printf("never called: %s\n", name.c_str());
  if (!left_out.empty()) return 1;
  // What networks print of themselves is not read.
  std::fflush(stdout);
  std::FILE* const figures = ::fdopen(::dup(STDOUT_FILENO), "w");
  require(figures != nullptr && std::freopen("/dev/null", "w", stdout) != nullptr, "output can be turned away");
  World world;
  const char* const settings[] = {"SOFTTPU_CHECK=all", nullptr};
  require(softtpu_device_open(&world.own, 0, settings, SOFTTPU_KEEP_TIMES) == BM_SUCCESS, "a device of its own");
  int calls = 0;
  for (current = 0; current < rows.size(); ++current) {
    current_name = rows[current].name;
    int here = 0;
    do {
      rows[current].call(world);
    } while (FailingNew::sweeps(current) < 2 && ++here < kMostCalls);
    calls += here + 1;
    require(here < kMostCalls, "a function's allocations come to an end");
    require(world.run() == world.right, "a network gives what it gave before");
  }
  bm_dev_free(world.own);
  std::fprintf(figures, "%d calls of %zu functions, ", calls, rows.size());
  std::fprintf(figures, "%lu allocations failed\n", FailingNew::failures());
  std::fclose(figures);
  return 0;
}

}  // namespace
}  // namespace softtpu::fuzz

int main() { return softtpu::fuzz::run(); }
