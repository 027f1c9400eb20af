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

/* ---- A runtime, and what is loaded ---- */

/* A runtime on a device; NULL when the handle is none. It is freed with bmrt_destroy, before the handle. */
void* bmrt_create(bm_handle_t bm_handle);

/* A runtime with several handles. Networks run on the first one. */
void* bmrt_create_ex(bm_handle_t* bm_handles, int num_handles);

/* Frees a runtime, its networks, and their memory. */
void bmrt_destroy(void* p_bmrt);

/* The bm_handle_t of a runtime. */
void* bmrt_get_bm_handle(void* p_bmrt);

/* Flags for what is loaded later: a sum of bm_runtime_flag_t. */
void bmrt_set_flags(void* p_bmrt, uint32_t flags);

uint32_t bmrt_get_flags(void* p_bmrt);

/* Loads a file. Its networks are judged completely before anything of the file counts: on false nothing is loaded. */
bool bmrt_load_bmodel(void* p_bmrt, const char* bmodel_path);

/* The same for a file's bytes, which need not stay. */
bool bmrt_load_bmodel_data(void* p_bmrt, const void* bmodel_data, size_t size);

/* Prints the networks that are loaded. */
void bmrt_show_neuron_network(void* p_bmrt);

int bmrt_get_network_number(void* p_bmrt);

/* An array of names, to be freed with free(); the names belong to the runtime. */
void bmrt_get_network_names(void* p_bmrt, const char*** network_names);

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
#endif

#endif
