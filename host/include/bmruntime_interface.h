/* libbmrt: runs compiled networks (.bmodel). A call that fails returns false or NULL and writes one line to the log. */
#ifndef BMRUNTIME_INTERFACE_H_
#define BMRUNTIME_INTERFACE_H_

#include "bmdef.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- Shapes and tensors ---- */

/* Bytes of one element; 1 for types of four bits, of which two make a byte. */
size_t bmrt_data_type_size(bm_data_type_t dtype);

/* Fills in a shape; more than BM_MAX_DIMS_NUM dimensions are refused with a message and leave it empty. */
void bmrt_shape(bm_shape_t* shape, const int* dims, int num_dims);

/* Elements of a shape. */
uint64_t bmrt_shape_count(const bm_shape_t* shape);

/* Whether both have the same extents. */
bool bmrt_shape_is_same(const bm_shape_t* left, const bm_shape_t* right);

/* A tensor with memory of its own on the runtime's device, to be freed with bm_free_device. */
bool bmrt_tensor(bm_tensor_t* tensor, void* p_bmrt, bm_data_type_t dtype, bm_shape_t shape);

/* The same on the device with number `devid` among those of bmrt_create_ex. */
bool bmrt_tensor_ex(bm_tensor_t* tensor, void* p_bmrt, int devid, bm_data_type_t dtype, bm_shape_t shape);

/* A tensor in memory that is there already. */
void bmrt_tensor_with_device(bm_tensor_t* tensor, bm_device_mem_t device_mem, bm_data_type_t dtype, bm_shape_t shape);

/* Bytes of a tensor's elements. */
size_t bmrt_tensor_bytesize(const bm_tensor_t* tensor);

/* Bytes of the memory that a tensor lies in. */
size_t bmrt_tensor_device_size(const bm_tensor_t* tensor);

/* Prints a network's tensors and stages on standard output. */
void bmrt_print_network_info(const bm_net_info_t* net_info);

/* The device memory that a file's networks need, by kind; no memory is allocated. */
bool bmrt_get_bmodel_info(const char* bmodel_path, mem_info_t* mem_info);

/* The same for a file's bytes. */
bool bmrt_get_bmodel_data_info(const void* bmodel_data, size_t size, mem_info_t* mem_info);

/* The same for the beginning of a file, header and tables, of which a program has decrypted the tables; `size` is the
   whole file's. */
bool bmrt_get_bmodel_info_from_data(const void* bmodel_data, mem_info_t* mem_info, size_t size);

/* Version of this library, as text. */
const char* libbmrt_version(void);

/* What the library logs: messages of this level and above. */
BMRT_LogLevel bmrt_get_current_log_level(void);

void bmrt_set_current_log_level(BMRT_LogLevel level);

/* ---- Libraries: dlopen and its companions ---- */

void* bmrt_load_lib(const char* libname, int flags);

void* bmrt_find_sym(void* libhandle, const char* symname);

int bmrt_unload_lib(void* libhandle);

char* bmrt_lib_error(void);

/* ---- A runtime, and what is loaded ---- */

/* A runtime on a device; NULL when the handle is none. It is freed with bmrt_destroy, before the handle. */
void* bmrt_create(bm_handle_t bm_handle);

/* A runtime with several handles. Networks run on the first one. */
void* bmrt_create_ex(bm_handle_t* bm_handles, int num_handles);

/* Frees a runtime, its networks, and their memory. */
void bmrt_destroy(void* p_bmrt);

/* Frees the networks of a runtime and their memory, but keeps their constants on the device until bmrt_destroy: a file
   with the same constants that is loaded later, by any runtime of the device, uses them. */
void bmrt_destroy_without_coeff(void* p_bmrt);

/* The bm_handle_t of a runtime. */
void* bmrt_get_bm_handle(void* p_bmrt);

/* Flags for what is loaded later: a sum of bm_runtime_flag_t. */
void bmrt_set_flags(void* p_bmrt, uint32_t flags);

uint32_t bmrt_get_flags(void* p_bmrt);

/* Loads a file. Its networks are judged completely before anything of the file counts: on false nothing is loaded. */
bool bmrt_load_bmodel(void* p_bmrt, const char* bmodel_path);

/* The same for a file's bytes, which need not stay. */
bool bmrt_load_bmodel_data(void* p_bmrt, const void* bmodel_data, size_t size);

/* Loads a file whose networks lie in memory that the caller has allocated: as much of each kind as
   bmrt_get_bmodel_info says. Of a kind with `addr` -1 or size 0 the runtime allocates its own. The memory stays the
   caller's, and has to outlive the networks. */
bool bmrt_load_bmodel_with_mem(void* p_bmrt, const char* bmodel_path, mem_info_t* mem_info);

bool bmrt_load_bmodel_data_with_mem(void* p_bmrt, const void* bmodel_data, size_t size, mem_info_t* mem_info);

/* Loads a file that is in device memory already, at `dev_addr`; `p_bmodel` is the same memory as the host sees it, or
   NULL. Constants stay where they are, if they begin at a multiple of 128 there: the memory has to outlive the
   networks. */
bool bmrt_load_bmodel_in_device(void* p_bmrt, void* p_bmodel, uint64_t dev_addr, size_t size);

/* Loads an encrypted file: its tables, its constants, or all of it. `f` gets the encrypted bytes. */
bool bmrt_load_bmodel_with_decrypt(void* p_bmrt, const char* bmodel_path, decrypt_func f);

/* The same with the function `decrypt` of a library. */
bool bmrt_load_bmodel_with_decrypt_lib(void* p_bmrt, const char* bmodel_path, const char* decrypt_lib);

/* Refused: what the files of new constants look like is not published. */
bool bmrt_update_bmodel_weight_with_decrypt(void* p_bmrt, const char* bmodel_path, const char* update_path,
                                            const char* net_idx, const char* mem_idx, const char** weight_idx,
                                            int weight_count, decrypt_func f);

/* Refused: how `weight_idx` names constants is not published. */
bool bmrt_empty_bmodel_weight_with_decrypt(void* p_bmrt, const char* bmodel_path, const char* net_idx,
                                           const char* mem_idx, const char** weight_idx, int weight_count,
                                           decrypt_func f);

/* Refused: what its arguments are is not published. */
bool bmrt_get_coeff_info(void* p_bmrt, ...);

/* Prints the networks that are loaded. */
void bmrt_show_neuron_network(void* p_bmrt);

int bmrt_get_network_number(void* p_bmrt);

/* An array of names, to be freed with free(); the names belong to the runtime. */
void bmrt_get_network_names(void* p_bmrt, const char*** network_names);

/* Number of a network, in the order of loading; -1 when none has that name. */
int bmrt_get_network_index(void* p_bmrt, const char* net_name);

/* Name of a network by its number; it belongs to the runtime. NULL when there is none. */
const char* bmrt_get_network_name(void* p_bmrt, int index);

/* How many sets of shapes a network was compiled for; -1 when none has that name. */
int bmrt_get_stage_size(void* p_bmrt, const char* net_name);

/* The stage that inputs of these shapes run on; -1 when there is none. */
int bmrt_get_stage_index(void* p_bmrt, const char* net_name, bm_tensor_t* input_tensors);

/* How many pieces the memory between a network's layers has: 1. 0 when none has that name. */
int bmrt_get_neuron_number(void* p_bmrt, const char* net_name);

/* The memory between a network's layers; of size 0 when there is none. All cores work in the same. It is not to be
   written while a launch runs. */
bm_device_mem_t bmrt_get_neuron_memory(void* p_bmrt, const char* net_name, int mem_index, const int* core_list,
                                       int core_num);

/* Valid as long as the runtime; NULL when no network has that name. */
const bm_net_info_t* bmrt_get_network_info(void* p_bmrt, const char* net_name);

/* ---- Running a network ---- */

/* Runs a network. The inputs' shapes choose the stage. Outputs get memory of their own, to be freed with
   bm_free_device. Returns when the launch is queued: bm_thread_sync on the runtime's handle waits, and tells what
   went wrong. */
bool bmrt_launch_tensor(void* p_bmrt, const char* net_name, const bm_tensor_t* input_tensors, int input_num,
                        bm_tensor_t* output_tensors, int output_num);

/* The same; with `user_mem` the outputs lie in memory that the caller gives. `user_stmode` changes nothing:
   BM_STORE_1N is the one mode. */
bool bmrt_launch_tensor_ex(void* p_bmrt, const char* net_name, const bm_tensor_t* input_tensors, int input_num,
                           bm_tensor_t* output_tensors, int output_num, bool user_mem, bool user_stmode);

/* The same with arrays of the host; waits for the result. Without `user_mem` the outputs' arrays are made with
   malloc(). */
bool bmrt_launch_data(void* p_bmrt, const char* net_name, void* const* input_datas, const bm_shape_t* input_shapes,
                      int input_num, void** output_datas, bm_shape_t* output_shapes, int output_num, bool user_mem);

/* As bmrt_launch_tensor_ex, on the listed cores. A network that was compiled for one core runs on the first of them.
 */
bool bmrt_launch_tensor_multi_cores(void* p_bmrt, const char* net_name, const bm_tensor_t* input_tensors, int input_num,
                                    bm_tensor_t* output_tensors, int output_num, bool user_mem, bool user_stmode,
                                    const int* core_list, int core_num);

bool bmrt_launch_data_multi_cores(void* p_bmrt, const char* net_name, void* const* input_datas,
                                  const bm_shape_t* input_shapes, int input_num, void** output_datas,
                                  bm_shape_t* output_shapes, int output_num, bool user_mem, const int* core_list,
                                  int core_num);

/* Makes the memory of a stage ready; here that has happened when the network was loaded. */
bool bmrt_pre_alloc_neuron_multi_cores(void* p_bmrt, const char* net_name, int stage_idx, const int* core_list,
                                       int core_num);

/* The same for all stages and cores. */
bool bmrt_pre_alloc_mem(void* p_bmrt, const char* net_name);

/* The memory stays with its network, which is freed by bmrt_destroy. */
bool bmrt_free_pre_alloc_mem(void* p_bmrt, const char* net_name);

/* Makes launches with this `thread_idx` possible. Launches of one handle follow each other, so that threads share the
   networks' memory; what `mem_info` names is not used. */
bool bmrt_pre_alloc_mem_multi_thread(void* p_bmrt, uint64_t thread_idx, const mem_info_t* mem_info);

/* As bmrt_launch_tensor_multi_cores, of a thread that bmrt_pre_alloc_mem_multi_thread was called for. */
bool bmrt_launch_tensor_multi_thread(void* p_bmrt, const char* net_name, const bm_tensor_t* input_tensors,
                                     int input_num, bm_tensor_t* output_tensors, int output_num, uint64_t thread_idx,
                                     bool user_mem, bool user_stmode, const int* core_list, int core_num);

bool bmrt_launch_data_multi_thread(void* p_bmrt, const char* net_name, void* const* input_datas,
                                   const bm_shape_t* input_shapes, int input_num, void** output_datas,
                                   bm_shape_t* output_shapes, int output_num, uint64_t thread_idx, bool user_mem,
                                   const int* core_list, int core_num);

/* Compares the constants on the device with the file's, and says so when they have changed. */
void bmrt_trace(void* p_bmrt);

/* ---- Copies for several devices: one array of tensors for each device ---- */

bool bmrt_memcpy_s2d_parallel(void* p_bmrt, bm_tensor_t* tensors, void** datas, int* tensor_num, int device_num);

bool bmrt_memcpy_d2s_parallel(void* p_bmrt, void** datas, bm_tensor_t* tensors, int* tensor_num, int device_num);

bool bmrt_memcpy_d2d_byte_parallel(void* p_bmrt, bm_tensor_t* dst_tensors, size_t* dst_offsets,
                                   bm_tensor_t* src_tensors, size_t* src_offsets, size_t* sizes, int* tensor_num,
                                   int device_num);

bool bmrt_memcpy_d2d_stride_ex_parallel(void* p_bmrt, bm_tensor_t* dst_tensors, size_t* dst_offsets,
                                        bm_shape_t* dst_strides, bm_tensor_t* src_tensors, size_t* src_offsets,
                                        bm_shape_t* src_strides, bm_shape_t* shapes, int* tensor_num, int device_num);

#pragma GCC visibility pop
#ifdef __cplusplus
}

#include <vector>

/* As bmrt_load_bmodel_with_mem. `bmodel_head`: header and tables of the file as the program has decrypted them, or
   NULL. `io_mems` has to be empty: what its members are for is not published. */
extern "C" __attribute__((visibility("default"))) bool bmrt_load_bmodel_with_mem_v2(
    void* p_bmrt, const char* bmodel_path, void* bmodel_head, mem_info_t* mem_info,
    std::vector<bm_device_mem_t>& io_mems);
#endif

#endif
