/* Images in device memory (libbmcv): create, copy, crop, resize, change colours and types.
 *
 * No recording of the vendor's library decides these functions: they do what its public manual says of them, and where
 * that leaves bits open, what host/bmcv/README.md says. Results that a program depends on to the bit are to be compared
 * with a board. All other functions of the library are declared too and refuse every call by their name.
 *
 * Threads: any; one image belongs to one thread at a time. Library: -lbmcv -lbmlib. */
#ifndef BMCV_API_EXT_H
#define BMCV_API_EXT_H

#include <stdbool.h>
#include <stddef.h>

#include "bmlib_runtime.h"

#ifdef __cplusplus
#define BMCV_DEFAULT(value) = value
extern "C" {
#else
#define BMCV_DEFAULT(value)
#endif
#pragma GCC visibility push(default)

#define BMCV_VERSION_MAJOR 2

typedef enum bmcv_heap_id_ { BMCV_HEAP0_ID = 0, BMCV_HEAP1_ID = 1, BMCV_HEAP_ANY } bmcv_heap_id;
#define BMCV_IMAGE_FOR_IN BMCV_HEAP1_ID
#define BMCV_IMAGE_FOR_OUT BMCV_HEAP0_ID

/* Types of the elements. Of those of BM1684 with four images in one (4N) there are the names alone. */
typedef enum bm_image_data_format_ext_ {
  DATA_TYPE_EXT_FLOAT32,
  DATA_TYPE_EXT_1N_BYTE,
  DATA_TYPE_EXT_1N_BYTE_SIGNED,
  DATA_TYPE_EXT_FP16,
  DATA_TYPE_EXT_BF16,
  DATA_TYPE_EXT_U16,
  DATA_TYPE_EXT_S16,
  DATA_TYPE_EXT_U32,
  DATA_TYPE_EXT_4N_BYTE = 254,
  DATA_TYPE_EXT_4N_BYTE_SIGNED
} bm_image_data_format_ext;

typedef enum bm_image_format_ext_ {
  FORMAT_YUV420P,
  FORMAT_YUV422P,
  FORMAT_YUV444P,
  FORMAT_NV12,
  FORMAT_NV21,
  FORMAT_NV16,
  FORMAT_NV61,
  FORMAT_NV24,
  FORMAT_RGB_PLANAR,
  FORMAT_BGR_PLANAR,
  FORMAT_RGB_PACKED,
  FORMAT_BGR_PACKED,
  FORMAT_RGBP_SEPARATE,
  FORMAT_BGRP_SEPARATE,
  FORMAT_GRAY,
  FORMAT_COMPRESSED,
  FORMAT_HSV_PLANAR,
  FORMAT_ARGB_PACKED,
  FORMAT_ABGR_PACKED,
  FORMAT_YUV444_PACKED,
  FORMAT_YVU444_PACKED,
  FORMAT_YUV422_YUYV,
  FORMAT_YUV422_YVYU,
  FORMAT_YUV422_UYVY,
  FORMAT_YUV422_VYUY,
  FORMAT_RGBYP_PLANAR,
  FORMAT_HSV180_PACKED,
  FORMAT_HSV256_PACKED,
  FORMAT_BAYER,
  FORMAT_BAYER_RG8,
  FORMAT_ARGB4444_PACKED,
  FORMAT_ABGR4444_PACKED,
  FORMAT_ARGB1555_PACKED,
  FORMAT_ABGR1555_PACKED
} bm_image_format_ext;

/* YCbCr: 16..235; YPbPr: the full range. */
typedef enum csc_type {
  CSC_YCbCr2RGB_BT601 = 0,
  CSC_YPbPr2RGB_BT601,
  CSC_RGB2YCbCr_BT601,
  CSC_YCbCr2RGB_BT709,
  CSC_RGB2YCbCr_BT709,
  CSC_RGB2YPbPr_BT601,
  CSC_YPbPr2RGB_BT709,
  CSC_RGB2YPbPr_BT709,
  CSC_FANCY_PbPr_BT601 = 100,
  CSC_FANCY_PbPr_BT709,
  CSC_USER_DEFINED_MATRIX = 1000,
  CSC_MAX_ENUM
} csc_type_t;

typedef enum bmcv_resize_algorithm_ {
  BMCV_INTER_NEAREST = 0,
  BMCV_INTER_LINEAR = 1,
  BMCV_INTER_BICUBIC = 2,
  BMCV_INTER_AREA = 3
} bmcv_resize_algorithm;

struct bm_image_private;
typedef struct bm_image {
  int width, height;
  bm_image_format_ext image_format;
  bm_image_data_format_ext data_type;
  struct bm_image_private* image_private;
} bm_image;

typedef struct bm_image_format_info {
  int plane_nb;
  bm_device_mem_t plane_data[8];
  int stride[8];
  int width, height;
  bm_image_format_ext image_format;
  bm_image_data_format_ext data_type;
  bool default_stride;
} bm_image_format_info_t;

typedef struct bmcv_rect {
  unsigned int start_x, start_y, crop_w, crop_h;
} bmcv_rect_t;

/* y = alpha * x + beta, for each of the channels as they are stored. */
typedef struct bmcv_convert_to_attr_s {
  float alpha_0, beta_0, alpha_1, beta_1, alpha_2, beta_2;
} bmcv_convert_to_attr;

typedef struct bmcv_copy_to_atrr_s {
  int start_x, start_y; /* where the input lies in the output */
  unsigned char padding_r, padding_g, padding_b;
  int if_padding; /* whether the rest of the output gets that colour */
} bmcv_copy_to_atrr_t;

typedef struct bmcv_padding_atrr_s {
  unsigned int dst_crop_stx, dst_crop_sty, dst_crop_w, dst_crop_h; /* the part of the output that gets the image */
  unsigned char padding_r, padding_g, padding_b;
  int if_memset; /* whether the rest of the output gets that colour */
} bmcv_padding_atrr_t;
typedef bmcv_padding_atrr_t bmcv_padding_attr_t;

typedef struct bmcv_resize_s {
  int start_x, start_y, in_width, in_height, out_width, out_height;
} bmcv_resize_t;
typedef struct bmcv_resize_image_s {
  bmcv_resize_t* resize_img_attr;
  int roi_num;
  unsigned char stretch_fit, padding_b, padding_g, padding_r;
  unsigned int interpolation;
} bmcv_resize_image;

/* ---- Images ---- */

/** Makes an image without memory. stride: bytes from one row to the next for each plane; NULL: rows without gaps. */
bm_status_t bm_image_create(bm_handle_t handle, int img_h, int img_w, bm_image_format_ext image_format,
                            bm_image_data_format_ext data_type, bm_image* image, int* stride BMCV_DEFAULT(NULL));
/** Gives back the image, and memory that bm_image_alloc_dev_mem has taken for it. */
#ifdef __cplusplus
bm_status_t bm_image_destroy_value(bm_image image) __asm__("bm_image_destroy");
#else
bm_status_t bm_image_destroy(bm_image image);
#endif
/** The handle that the image was made with; NULL: not an image. */
bm_handle_t bm_image_get_handle(bm_image* image);
/** Takes memory for the planes. */
bm_status_t bm_image_alloc_dev_mem(bm_image image, int heap_id BMCV_DEFAULT(BMCV_HEAP_ANY));
/** Takes memory for the planes. */
bm_status_t bm_image_alloc_dev_mem_heap_mask(bm_image image, int heap_mask);
/** Takes one piece of memory for several images. */
bm_status_t bm_image_alloc_contiguous_mem(int image_num, bm_image* images, int heap_id BMCV_DEFAULT(BMCV_HEAP_ANY));
/** Takes one piece of memory for several images. */
bm_status_t bm_image_alloc_contiguous_mem_heap_mask(int image_num, bm_image* images, int heap_mask);
/** Gives back what bm_image_alloc_contiguous_mem has taken. */
bm_status_t bm_image_free_contiguous_mem(int image_num, bm_image* images);
/** Makes the planes lie in memory of the caller's, one descriptor for each plane. */
bm_status_t bm_image_attach(bm_image image, bm_device_mem_t* device_memory);
/** Makes several images lie in one piece of memory of the caller's. */
bm_status_t bm_image_attach_contiguous_mem(int image_num, bm_image* images, bm_device_mem_t dmem);
/** Leaves the memory; what bm_image_alloc_dev_mem has taken is given back. */
bm_status_t bm_image_detach(bm_image image);
/** Leaves the memory of the caller's. */
bm_status_t bm_image_detach_contiguous_mem(int image_num, bm_image* images);
#ifndef __cplusplus
/** The same, as the library's first version spells it. */
bm_status_t bm_image_dettach_contiguous_mem(int image_num, bm_image* images);
#endif
/** Whether the image has memory. */
bool bm_image_is_attached(bm_image image);
/** Number of planes; below 0: not an image. */
int bm_image_get_plane_num(bm_image image);
/** Bytes from one row to the next, for each plane. */
bm_status_t bm_image_get_stride(bm_image image, int* stride);
/** Bytes of each plane. */
bm_status_t bm_image_get_byte_size(bm_image image, int* size);
/** Memory of each plane. */
bm_status_t bm_image_get_device_mem(bm_image image, bm_device_mem_t* mem);
/** The memory of several images as one piece. */
bm_status_t bm_image_get_contiguous_device_mem(int image_num, bm_image* images, bm_device_mem_t* mem);
/** All of the above. */
bm_status_t bm_image_get_format_info(bm_image* image, bm_image_format_info_t* info);
/** Copies the planes from buffers of the host; takes memory first where the image has none. */
bm_status_t bm_image_copy_host_to_device(bm_image image, void* buffers[]);
/** Copies the planes to buffers of the host. */
bm_status_t bm_image_copy_device_to_host(bm_image image, void* buffers[]);

/* ---- Operations. An output without memory gets some. ---- */

/** Crops, resizes and changes the format: one output for each rectangle. crop_rect NULL: the whole input. */
bm_status_t bmcv_image_vpp_convert(bm_handle_t handle, int output_num, bm_image input, bm_image* output,
                                   bmcv_rect_t* crop_rect BMCV_DEFAULT(NULL),
                                   bmcv_resize_algorithm algorithm BMCV_DEFAULT(BMCV_INTER_LINEAR));
/** The same with a conversion of colours that is named. matrix: not supported, NULL. */
bm_status_t bmcv_image_vpp_csc_matrix_convert(bm_handle_t handle, int output_num, bm_image input, bm_image* output,
                                              csc_type_t csc, void* matrix BMCV_DEFAULT(NULL),
                                              bmcv_resize_algorithm algorithm BMCV_DEFAULT(BMCV_INTER_LINEAR),
                                              bmcv_rect_t* crop_rect BMCV_DEFAULT(NULL));
/** The same into a part of each output. */
bm_status_t bmcv_image_vpp_convert_padding(bm_handle_t handle, int output_num, bm_image input, bm_image* output,
                                           bmcv_padding_atrr_t* padding_attr, bmcv_rect_t* crop_rect BMCV_DEFAULT(NULL),
                                           bmcv_resize_algorithm algorithm BMCV_DEFAULT(BMCV_INTER_LINEAR));
/** All of it for several inputs: crop_num_vec[i] outputs of input i, one of each where it is NULL. */
bm_status_t bmcv_image_vpp_basic(bm_handle_t handle, int in_img_num, bm_image* input, bm_image* output,
                                 int* crop_num_vec BMCV_DEFAULT(NULL), bmcv_rect_t* crop_rect BMCV_DEFAULT(NULL),
                                 bmcv_padding_atrr_t* padding_attr BMCV_DEFAULT(NULL),
                                 bmcv_resize_algorithm algorithm BMCV_DEFAULT(BMCV_INTER_LINEAR),
                                 csc_type_t csc_type BMCV_DEFAULT(CSC_MAX_ENUM), void* matrix BMCV_DEFAULT(NULL));
/** Changes format and type, image by image. */
bm_status_t bmcv_image_storage_convert(bm_handle_t handle, int image_num, bm_image* input_image,
                                       bm_image* output_image);
/** The same with a conversion of colours that is named. */
bm_status_t bmcv_image_storage_convert_with_csctype(bm_handle_t handle, int image_num, bm_image* input_image,
                                                    bm_image* output_image, csc_type_t csc_type);
/** Computes alpha * x + beta for each channel, and changes the type. */
bm_status_t bmcv_image_convert_to(bm_handle_t handle, int input_num, bmcv_convert_to_attr convert_to_attr,
                                  bm_image* input, bm_image* output);
/** Cuts rectangles out of an image; their sizes are those of the outputs. */
bm_status_t bmcv_image_crop(bm_handle_t handle, int crop_num, bmcv_rect_t* rects, bm_image input, bm_image* output);
/** Resizes parts of images: roi_num outputs of each input, one behind the other. */
bm_status_t bmcv_image_resize(bm_handle_t handle, int input_num, bmcv_resize_image resize_attr[], bm_image* input,
                              bm_image* output);
/** Copies an image into a part of another one of the same format and type. */
bm_status_t bmcv_image_copy_to(bm_handle_t handle, bmcv_copy_to_atrr_t copy_to_attr, bm_image input, bm_image output);

/** Copies an image into one of the same format, type and size whose rows are as far apart as they like. */
bm_status_t bmcv_width_align(bm_handle_t handle, bm_image input, bm_image output);

/* ---- What the library has besides: every call is refused, BM_NOT_SUPPORTED ---- */

/* clang-format off */
#define BMCV_REFUSED_FUNCTIONS(F) \
  F(bmcv_image_absdiff) F(bmcv_image_add_weighted) F(bmcv_image_axpy) F(bmcv_image_bitwise_and) \
  F(bmcv_image_bitwise_or) F(bmcv_image_bitwise_xor) F(bmcv_image_canny) F(bmcv_image_csc_convert_to) \
  F(bmcv_image_draw_lines) F(bmcv_image_draw_point) F(bmcv_image_draw_rectangle) \
  F(bmcv_image_fill_rectangle) F(bmcv_image_flip) F(bmcv_image_rotate) \
  F(bmcv_image_gaussian_blur) F(bmcv_image_jpeg_dec) F(bmcv_image_jpeg_enc) F(bmcv_image_laplacian) \
  F(bmcv_image_lkpyramid_create_plan) F(bmcv_image_lkpyramid_execute) F(bmcv_image_mosaic) \
  F(bmcv_image_overlay) F(bmcv_image_put_text) F(bmcv_image_pyramid_down) F(bmcv_image_quantify) \
  F(bmcv_image_sobel) F(bmcv_image_split) F(bmcv_image_threshold) F(bmcv_image_transpose) \
  F(bmcv_image_vpp_stitch) F(bmcv_image_warp) F(bmcv_image_warp_affine) \
  F(bmcv_image_warp_affine_similar_to_opencv) F(bmcv_image_warp_perspective) \
  F(bmcv_image_warp_perspective_with_coordinate) F(bmcv_image_watermark_repeat_superpose) \
  F(bmcv_image_watermark_superpose) F(bmcv_image_yuv2bgr_ext) F(bmcv_image_yuv2hsv) F(bmcv_as_strided) \
  F(bmcv_base64_dec) F(bmcv_base64_enc) F(bmcv_batch_topk) F(bmcv_calc_hist) F(bmcv_calc_hist_with_weight) \
  F(bmcv_close_cpu_process) F(bmcv_cmulp) F(bmcv_cos_similarity) F(bmcv_debug_savedata) F(bmcv_distance) \
  F(bmcv_dct_coeff) F(bmcv_faiss_indexPQ_ADC) F(bmcv_faiss_indexPQ_SDC) F(bmcv_faiss_indexflatIP) \
  F(bmcv_faiss_indexflatL2) F(bmcv_feature_match) F(bmcv_feature_match_normalized) F(bmcv_fft_execute) \
  F(bmcv_fft_1d_create_plan) F(bmcv_fft_2d_create_plan) F(bmcv_gemm) F(bmcv_gemm_ext) F(bmcv_hamming_distance) F(bmcv_hm_distance) \
  F(bmcv_hist_balance) F(bmcv_matmul) F(bmcv_matmul_transpose_opt) F(bmcv_min_max) F(bmcv_nms) F(bmcv_nms_ext) \
  F(bmcv_nms_yolo) F(bmcv_nms_yolov3) F(bmcv_open_cpu_process) F(bmcv_sort) F(bmcv_stft) F(bmcv_istft)
/* clang-format on */

/* Any arguments are accepted, so that programs compile. */
#ifdef __cplusplus
#define BMCV_REFUSED(name) bm_status_t name(...);
#else
#define BMCV_REFUSED(name) bm_status_t name(bm_handle_t handle, ...);
#endif
BMCV_REFUSED_FUNCTIONS(BMCV_REFUSED)
#undef BMCV_REFUSED
/** Refused, too. */
bm_status_t bm_image_write_to_bmp(bm_image image, const char* filename);

#pragma GCC visibility pop
#ifdef __cplusplus
}
/* BM1688's form takes a pointer. */
static inline bm_status_t bm_image_destroy(bm_image* image) {
  return image != NULL ? bm_image_destroy_value(*image) : BM_ERR_PARAM;
}
/* Programs for both versions of the library define these two themselves, as functions: those are preferred to
 * templates. */
template <class Image>
static inline bm_status_t bm_image_destroy(Image image) {
  return bm_image_destroy_value(image);
}
template <class Image>
static inline bm_status_t bm_image_dettach_contiguous_mem(int image_num, Image* images) {
  return bm_image_detach_contiguous_mem(image_num, images);
}
#endif
#endif
