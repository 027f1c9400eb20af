/* libbmrt: functions of its first generation. A network is named by `net_name`, or by its number where that is NULL;
   device memory is passed as arrays of bm_device_mem_t. */
#ifndef BMRUNTIME_LEGACY_H_
#define BMRUNTIME_LEGACY_H_

#include "bmruntime_interface.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- A runtime ---- */

/* A runtime on device `devid`; the handle it opens is stored at `pbm_handle` and freed by the caller. */
void* create_bmrt_helper(void* pbm_handle, const char* chip_type, int devid);

void destroy_bmruntime(void* p_bmrt);

/* Loads compilation.bmodel of a folder. */
bool bmrt_load_context(void* p_bmrt, const char* ctx_dir);

/* ---- Networks and tensors ---- */

/* False: networks of fixed shapes are what runs. */
bool bmrt_can_batch_size_change(void* p_bmrt, int net_idx, const char* net_name);

bool bmrt_can_height_and_width_change(void* p_bmrt, int net_idx, const char* net_name);

/* Names of the inputs; they belong to the runtime. */
bool bmrt_get_input_tensor(void* p_bmrt, int net_idx, const char* net_name, int* input_num, const char*** input_names);

bool bmrt_get_output_tensor(void* p_bmrt, int net_idx, const char* net_name, int* output_num,
                            const char*** output_names);

/* The largest extents over all stages; 1 for dimensions that the tensor does not have, 0 when it does not exist. */
void bmrt_get_input_blob_max_nhw(void* p_bmrt, const char* tensor_name, int net_idx, const char* net_name, int* max_n,
                                 int* max_c, int* max_h, int* max_w);

/* Writes the extents; returns how many there are, or -1. */
int bmrt_get_input_blob_max_shape(void* p_bmrt, const char* tensor_name, int net_idx, const char* net_name, int* shape);

void bmrt_get_output_blob_max_nhw(void* p_bmrt, const char* tensor_name, int net_idx, const char* net_name, int* max_n,
                                  int* max_c, int* max_h, int* max_w);

int bmrt_get_output_blob_max_shape(void* p_bmrt, const char* tensor_name, int net_idx, const char* net_name,
                                   int* shape);

/* A bm_data_type_t, or -1. */
int bmrt_get_input_data_type(void* p_bmrt, const char* tensor_name, int net_idx, const char* net_name);

int bmrt_get_output_data_type(void* p_bmrt, const char* tensor_name, int net_idx, const char* net_name);

/* BM_STORE_1N, or -1 when there is no such tensor. */
int bmrt_get_input_gmem_stmode(void* p_bmrt, const char* tensor_name, int net_idx, const char* net_name);

int bmrt_get_output_gmem_stmode(void* p_bmrt, const char* tensor_name, int net_idx, const char* net_name);

/* ---- Running a network; outputs lie in memory that the caller gives ---- */

/* With the shapes of the first stage. */
bool bmrt_launch(void* p_bmrt, int net_idx, const char* net_name, const void* input_tensors, int input_num,
                 const void* output_tensors, int output_num, bm_shape_t* output_shapes);

/* With the stage whose first input has these extents. */
bool bmrt_launch_nhw(void* p_bmrt, int net_idx, const char* net_name, const void* input_tensors, int input_num,
                     const void* output_tensors, int output_num, int n, int h, int w, bm_shape_t* output_shapes);

/* With all shapes, one behind the other. */
bool bmrt_launch_shape(void* p_bmrt, int net_idx, const char* net_name, const void* input_tensors, int input_num,
                       const int* input_dim, const int* input_shape, const void* output_tensors, int output_num,
                       bm_shape_t* output_shapes);

/* The modes have to be BM_STORE_1N. */
bool bmrt_launch_nhw_stmode(void* p_bmrt, int net_idx, const char* net_name, const void* input_tensors, int input_num,
                            const void* output_tensors, int output_num, int n, int h, int w, int* in_stmode,
                            int* out_stmode, bm_shape_t* output_shapes);

/* With a height and a width for each input. */
bool bmrt_launch_nhw_stmode_multi_input(void* p_bmrt, int net_idx, const char* net_name, const void* input_tensors,
                                        int input_num, const void* output_tensors, int output_num, int n, int* h,
                                        int* w, int* in_stmode, int* out_stmode, bm_shape_t* output_shapes);

bool bmrt_launch_shape_stmode(void* p_bmrt, int net_idx, const char* net_name, const void* input_tensors, int input_num,
                              const int* input_dim, const int* input_shape, const void* output_tensors, int output_num,
                              int* in_stmode, int* out_stmode, bm_shape_t* output_shapes);

/* Refused: what its arrays point to is not published. bmrt_launch_data does the same. */
bool bmrt_launch_cpu_data(void* p_bmrt, int net_idx, const char* net_name, void* input_tensors, int input_num,
                          void* output_tensors, int output_num, const int* in_shape, bm_shape_t* out_shapes);

/* ---- Memory, as in bmlib ---- */

int bmrt_malloc_neuron_device(void* p_bmrt, bm_device_mem_t* pmem, int n, int c, int h, int w);

int bmrt_malloc_device_byte(void* p_bmrt, bm_device_mem_t* pmem, unsigned int size);

void bmrt_free_device(void* p_bmrt, bm_device_mem_t mem);

int bmrt_memcpy_s2d(void* p_bmrt, bm_device_mem_t dst, void* src);

int bmrt_memcpy_d2s(void* p_bmrt, void* dst, bm_device_mem_t src);

int bmrt_memcpy_s2d_withsize(void* p_bmrt, bm_device_mem_t dst, void* src, unsigned int size);

int bmrt_memcpy_d2s_withsize(void* p_bmrt, void* dst, bm_device_mem_t src, unsigned int size);

int bmrt_memcpy_s2d_withsize_offset(void* p_bmrt, bm_device_mem_t dst, void* src, unsigned int size,
                                    unsigned int dev_offset);

int bmrt_memcpy_d2s_withsize_offset(void* p_bmrt, void* dst, bm_device_mem_t src, unsigned int size,
                                    unsigned int dev_offset);

/* Waits for the runtime's launches. */
int bmrt_thread_sync(void* p_bmrt);

int bmrt_dev_getcount(void* p_bmrt, int* dev_count);

void bmrt_get_last_api_process_time_us(void* p_bmrt, unsigned long* time_us);

/* ---- Messages for the chip's firmware ---- */

/* Refused with NULL: softtpu reads the instructions itself and sends no messages to a firmware. */
api_info_c* get_bmodel_api_info_c(void* p_bmrt, const char* net_name, const bm_tensor_t* input_tensors, int input_num,
                                  bm_tensor_t* output_tensors, int output_num, bool user_mem, bool user_stmode,
                                  uint32_t* core_ids);

/* Accepts NULL, the one value there is. */
void bmrt_free_api_info(api_info_c* api_info);

/* A runtime on device 0, or on the one whose number follows. */
#define create_bmruntime(pbm_handle, chip_type, ...) \
  create_bmrt_helper(pbm_handle, chip_type, SOFTTPU_FIRST_OR_0(__VA_ARGS__))
#define create_bmruntime_per_device(pbm_handle, chip_type, devid) create_bmrt_helper(pbm_handle, chip_type, devid)
#define SOFTTPU_FIRST_OR_0(...) ((int[]){0, ##__VA_ARGS__}[sizeof((int[]){0, ##__VA_ARGS__}) / sizeof(int) - 1])

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
