#include "host/bmcv/image.hpp"

#include <fmt/format.h>

#include <mutex>
#include <optional>
#include <unordered_set>

#include "host/client/log_sink.hpp"

namespace softtpu::bmcv {
namespace {

// Images that are alive: a copy of one that was destroyed is refused.
std::mutex images_mutex;
std::unordered_set<const bm_image_private*>& images() {
  static auto* const set = new std::unordered_set<const bm_image_private*>();  // outlives static images of programs
  return *set;
}

int half(int extent, int step) { return (extent + step - 1) / step; }

// Rows and their bytes for each plane; nullopt: another format.
std::optional<std::vector<Plane>> find_planes(bm_image_format_ext format, int w, int h, int size) {
  const auto plane = [&](int elements, int rows) { return Plane{elements * size, rows, elements * size}; };
  switch (format) {
    case FORMAT_YUV420P: return std::vector{plane(w, h), plane(half(w, 2), half(h, 2)), plane(half(w, 2), half(h, 2))};
    case FORMAT_YUV422P: return std::vector{plane(w, h), plane(half(w, 2), h), plane(half(w, 2), h)};
    case FORMAT_YUV444P:
    case FORMAT_RGBP_SEPARATE:
    case FORMAT_BGRP_SEPARATE:
    case FORMAT_HSV_PLANAR: return std::vector{plane(w, h), plane(w, h), plane(w, h)};
    case FORMAT_NV12:
    case FORMAT_NV21: return std::vector{plane(w, h), plane(2 * half(w, 2), half(h, 2))};
    case FORMAT_NV16:
    case FORMAT_NV61: return std::vector{plane(w, h), plane(2 * half(w, 2), h)};
    case FORMAT_NV24: return std::vector{plane(w, h), plane(2 * w, h)};
    case FORMAT_RGB_PLANAR:
    case FORMAT_BGR_PLANAR: return std::vector{plane(w, 3 * h)};
    case FORMAT_RGB_PACKED:
    case FORMAT_BGR_PACKED:
    case FORMAT_YUV444_PACKED:
    case FORMAT_YVU444_PACKED:
    case FORMAT_HSV180_PACKED:
    case FORMAT_HSV256_PACKED: return std::vector{plane(3 * w, h)};
    case FORMAT_ARGB_PACKED:
    case FORMAT_ABGR_PACKED: return std::vector{plane(4 * w, h)};
    case FORMAT_YUV422_YUYV:
    case FORMAT_YUV422_YVYU:
    case FORMAT_YUV422_UYVY:
    case FORMAT_YUV422_VYUY: return std::vector{plane(4 * half(w, 2), h)};
    case FORMAT_GRAY: return std::vector{plane(w, h)};
    default: return std::nullopt;
  }
}

std::uint64_t bytes_of(const bm_image_private& image) {
  std::uint64_t bytes = 0;
  for (const Plane& plane : image.planes) bytes += plane.bytes();
  return bytes;
}

void attach(bm_image_private& image, unsigned long long address, bool owns) {
  for (std::size_t i = 0; i < image.planes.size(); ++i) {
    const auto bytes = static_cast<unsigned>(image.planes[i].bytes());
    image.memory[i] = bm_mem_from_device(address, bytes);
    address += bytes;
  }
  image.attached = true;
  image.owns = owns;
}

void release(bm_image_private& image) {
  // One piece: it begins with the first plane.
  if (image.attached && image.owns) {
    bm_free_device(image.handle,
                   bm_mem_from_device(bm_mem_get_device_addr(image.memory[0]), static_cast<unsigned>(bytes_of(image))));
  }
  image.attached = image.owns = false;
}

bm_status_t allocate(const char* function, bm_image_private& image) {
  if (image.attached) return refuse(function, "the image has memory already", BM_ERR_FAILURE);
  bm_device_mem_t memory{};
  const bm_status_t status = bm_malloc_device_byte(image.handle, &memory, static_cast<unsigned>(bytes_of(image)));
  if (status == BM_SUCCESS) attach(image, bm_mem_get_device_addr(memory), true);
  return status;
}

// All of them, or nullopt after a message.
std::optional<std::vector<bm_image_private*>> find_all(const char* function, int count, const bm_image* list) {
  if (count < 1 || list == nullptr) {
    refuse(function, fmt::format("image_num {} or images is wrong", count));
    return std::nullopt;
  }
  std::vector<bm_image_private*> found;
  for (int i = 0; i < count; ++i) {
    found.push_back(find_image(function, list[i]));
    if (found.back() == nullptr) return std::nullopt;
  }
  return found;
}

}  // namespace

bm_status_t refuse(const char* function, const std::string& text, bm_status_t status) {
  host::write_log("bmcv", BMLIB_LOG_ERROR, fmt::format("{}: {}.", function, text));
  return status;
}

int element_bytes(bm_image_data_format_ext type) {
  switch (type) {
    case DATA_TYPE_EXT_FLOAT32:
    case DATA_TYPE_EXT_U32: return 4;
    case DATA_TYPE_EXT_1N_BYTE:
    case DATA_TYPE_EXT_1N_BYTE_SIGNED: return 1;
    case DATA_TYPE_EXT_FP16:
    case DATA_TYPE_EXT_BF16:
    case DATA_TYPE_EXT_U16:
    case DATA_TYPE_EXT_S16: return 2;
    default: return 0;
  }
}

bm_image_private* find_image(const char* function, const bm_image& image) {
  const std::lock_guard lock(images_mutex);
  if (images().contains(image.image_private)) return image.image_private;
  refuse(function, "the image is none of bm_image_create, or was destroyed", BM_ERR_PARAM);
  return nullptr;
}

bm_status_t need_memory(const char* function, const bm_image& image) {
  bm_image_private* const own = find_image(function, image);
  if (own == nullptr) return BM_ERR_PARAM;
  return own->attached ? BM_SUCCESS : allocate(function, *own);
}

}  // namespace softtpu::bmcv

using namespace softtpu::bmcv;

// The first lines of a function that takes an image: `own` is its data, or the function returns.
#define BMCV_IMAGE(image)                                    \
  bm_image_private* const own = find_image(__func__, image); \
  if (own == nullptr) return BM_ERR_PARAM
#define BMCV_NOT_NULL(argument) \
  if ((argument) == nullptr) return refuse(__func__, #argument " is NULL")

extern "C" {

bm_status_t bm_image_create(bm_handle_t handle, int img_h, int img_w, bm_image_format_ext image_format,
                            bm_image_data_format_ext data_type, bm_image* image, int* stride) try {
  constexpr int kMostPixels = 16384;
  BMCV_NOT_NULL(image);
  if (handle == nullptr) return refuse(__func__, "handle is NULL", BM_ERR_DEVNOTREADY);
  if (img_h < 1 || img_w < 1 || img_h > kMostPixels || img_w > kMostPixels) {
    return refuse(__func__, fmt::format("size {} x {} is outside 1..{}", img_w, img_h, kMostPixels));
  }
  const int size = element_bytes(data_type);
  if (size == 0) {
    return refuse(__func__, fmt::format("data type {} is not supported", static_cast<int>(data_type)),
                  BM_NOT_SUPPORTED);
  }
  auto planes = find_planes(image_format, img_w, img_h, size);
  if (!planes) {
    return refuse(__func__, fmt::format("format {} is not supported", static_cast<int>(image_format)),
                  BM_NOT_SUPPORTED);
  }
  for (std::size_t i = 0; stride != nullptr && i < planes->size(); ++i) {
    Plane& plane = (*planes)[i];
    if (stride[i] < plane.row_bytes || stride[i] > 1 << 24) {
      return refuse(__func__, fmt::format("stride {} of plane {} is outside {}..{} (bytes of a row)", stride[i], i,
                                          plane.row_bytes, 1 << 24));
    }
    plane.stride = stride[i];
  }
  auto made = std::make_unique<bm_image_private>();
  made->handle = handle;
  made->planes = *std::move(planes);
  made->default_stride = stride == nullptr;
  if (bytes_of(*made) > UINT32_MAX) return refuse(__func__, fmt::format("{} bytes are too many", bytes_of(*made)));
  *image = {img_w, img_h, image_format, data_type, made.get()};
  const std::lock_guard lock(images_mutex);
  images().insert(made.release());
  return BM_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_image_destroy_value(bm_image image) try {
  bm_image_private* const own = find_image("bm_image_destroy", image);
  if (own == nullptr) return BM_ERR_PARAM;
  release(*own);
  const std::lock_guard lock(images_mutex);
  images().erase(own);
  delete own;
  return BM_SUCCESS;
} catch (...) {
  return softtpu::caught("bm_image_destroy");
}

bm_handle_t bm_image_get_handle(bm_image* image) try {
  bm_image_private* const own = image != nullptr ? find_image(__func__, *image) : nullptr;
  return own != nullptr ? own->handle : nullptr;
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_image_alloc_dev_mem(bm_image image, int heap_id) try {
  BMCV_IMAGE(image);
  if (heap_id < 0 || heap_id > BMCV_HEAP_ANY) return refuse(__func__, fmt::format("heap_id {} is none", heap_id));
  return allocate(__func__, *own);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_image_alloc_dev_mem_heap_mask(bm_image image, int heap_mask) try {
  BMCV_IMAGE(image);
  if (heap_mask == 0) return refuse(__func__, "heap_mask 0 names no heap");
  return allocate(__func__, *own);
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_image_alloc_contiguous_mem(int image_num, bm_image* list, int /*heap_id*/) try {
  const auto all = find_all(__func__, image_num, list);
  if (!all) return BM_ERR_PARAM;
  std::uint64_t bytes = 0;
  for (const bm_image_private* own : *all) {
    if (own->attached) return refuse(__func__, "an image has memory already", BM_ERR_FAILURE);
    bytes += bytes_of(*own);
  }
  if (bytes > UINT32_MAX) return refuse(__func__, fmt::format("{} bytes are too many for one piece", bytes));
  bm_device_mem_t memory{};
  const bm_status_t status = bm_malloc_device_byte(all->front()->handle, &memory, static_cast<unsigned>(bytes));
  if (status != BM_SUCCESS) return status;
  return bm_image_attach_contiguous_mem(image_num, list, memory);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_image_alloc_contiguous_mem_heap_mask(int image_num, bm_image* list, int /*heap_mask*/) try {
  return bm_image_alloc_contiguous_mem(image_num, list, BMCV_HEAP_ANY);
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_image_free_contiguous_mem(int image_num, bm_image* list) try {
  bm_device_mem_t memory{};
  bm_status_t status = bm_image_get_contiguous_device_mem(image_num, list, &memory);
  if (status == BM_SUCCESS) status = bm_image_detach_contiguous_mem(image_num, list);
  if (status == BM_SUCCESS) bm_free_device(list[0].image_private->handle, memory);
  return status;
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_image_attach(bm_image image, bm_device_mem_t* device_memory) try {
  BMCV_IMAGE(image);
  BMCV_NOT_NULL(device_memory);
  for (std::size_t i = 0; i < own->planes.size(); ++i) {
    const std::uint64_t has = bm_mem_get_device_size(device_memory[i]), needs = own->planes[i].bytes();
    if (has < needs) return refuse(__func__, fmt::format("memory {} has {} bytes, the plane needs {}", i, has, needs));
  }
  release(*own);
  for (std::size_t i = 0; i < own->planes.size(); ++i) own->memory[i] = device_memory[i];
  own->attached = true;
  return BM_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_image_attach_contiguous_mem(int image_num, bm_image* list, bm_device_mem_t dmem) try {
  const auto all = find_all(__func__, image_num, list);
  if (!all) return BM_ERR_PARAM;
  std::uint64_t bytes = 0;
  for (const bm_image_private* own : *all) bytes += bytes_of(*own);
  if (bm_mem_get_device_size(dmem) < bytes) {
    return refuse(__func__,
                  fmt::format("the memory has {} bytes, the images need {}", bm_mem_get_device_size(dmem), bytes));
  }
  unsigned long long address = bm_mem_get_device_addr(dmem);
  for (bm_image_private* own : *all) {
    release(*own);
    attach(*own, address, false);
    address += bytes_of(*own);
  }
  return BM_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_image_detach(bm_image image) try {
  BMCV_IMAGE(image);
  release(*own);
  return BM_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_image_detach_contiguous_mem(int image_num, bm_image* list) try {
  const auto all = find_all(__func__, image_num, list);
  if (!all) return BM_ERR_PARAM;
  for (bm_image_private* own : *all) release(*own);
  return BM_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}
// Programs in C, and those that were built before, ask for it by this name.
__attribute__((visibility("default"))) bm_status_t bm_image_dettach_contiguous_mem(int image_num, bm_image* list) {
  return bm_image_detach_contiguous_mem(image_num, list);
}

bool bm_image_is_attached(bm_image image) try {
  const bm_image_private* const own = find_image(__func__, image);
  return own != nullptr && own->attached;
} catch (...) {
  return softtpu::caught(__func__);
}
int bm_image_get_plane_num(bm_image image) try {
  const bm_image_private* const own = find_image(__func__, image);
  return own != nullptr ? static_cast<int>(own->planes.size()) : -1;
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_image_get_stride(bm_image image, int* stride) try {
  BMCV_IMAGE(image);
  BMCV_NOT_NULL(stride);
  for (std::size_t i = 0; i < own->planes.size(); ++i) stride[i] = own->planes[i].stride;
  return BM_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_image_get_byte_size(bm_image image, int* size) try {
  BMCV_IMAGE(image);
  BMCV_NOT_NULL(size);
  for (std::size_t i = 0; i < own->planes.size(); ++i) size[i] = static_cast<int>(own->planes[i].bytes());
  return BM_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_image_get_device_mem(bm_image image, bm_device_mem_t* mem) try {
  BMCV_IMAGE(image);
  BMCV_NOT_NULL(mem);
  if (!own->attached) return refuse(__func__, "the image has no memory", BM_ERR_FAILURE);
  for (std::size_t i = 0; i < own->planes.size(); ++i) mem[i] = own->memory[i];
  return BM_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_image_get_contiguous_device_mem(int image_num, bm_image* list, bm_device_mem_t* mem) try {
  const auto all = find_all(__func__, image_num, list);
  if (!all) return BM_ERR_PARAM;
  BMCV_NOT_NULL(mem);
  std::optional<unsigned long long> begin, end;
  for (const bm_image_private* own : *all) {
    if (!own->attached) return refuse(__func__, "an image has no memory", BM_ERR_FAILURE);
    for (std::size_t i = 0; i < own->planes.size(); ++i) {
      const unsigned long long address = bm_mem_get_device_addr(own->memory[i]);
      if (end && *end != address) return refuse(__func__, "the images do not lie in one piece", BM_ERR_FAILURE);
      if (!begin) begin = address;
      end = address + own->planes[i].bytes();
    }
  }
  *mem = bm_mem_from_device(*begin, static_cast<unsigned>(*end - *begin));
  return BM_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_image_get_format_info(bm_image* image, bm_image_format_info_t* info) try {
  BMCV_NOT_NULL(image);
  BMCV_NOT_NULL(info);
  BMCV_IMAGE(*image);
  *info = {};
  info->plane_nb = static_cast<int>(own->planes.size());
  for (std::size_t i = 0; i < own->planes.size(); ++i) {
    if (own->attached) info->plane_data[i] = own->memory[i];
    info->stride[i] = own->planes[i].stride;
  }
  info->width = image->width;
  info->height = image->height;
  info->image_format = image->image_format;
  info->data_type = image->data_type;
  info->default_stride = own->default_stride;
  return BM_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_image_copy_host_to_device(bm_image image, void* buffers[]) try {
  BMCV_IMAGE(image);
  BMCV_NOT_NULL(buffers);
  bm_status_t status = need_memory(__func__, image);
  for (std::size_t i = 0; status == BM_SUCCESS && i < own->planes.size(); ++i) {
    BMCV_NOT_NULL(buffers[i]);
    status =
        bm_memcpy_s2d_partial(own->handle, own->memory[i], buffers[i], static_cast<unsigned>(own->planes[i].bytes()));
  }
  return status;
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_image_copy_device_to_host(bm_image image, void* buffers[]) try {
  BMCV_IMAGE(image);
  BMCV_NOT_NULL(buffers);
  if (!own->attached) return refuse(__func__, "the image has no memory", BM_ERR_FAILURE);
  bm_status_t status = BM_SUCCESS;
  for (std::size_t i = 0; status == BM_SUCCESS && i < own->planes.size(); ++i) {
    BMCV_NOT_NULL(buffers[i]);
    status =
        bm_memcpy_d2s_partial(own->handle, buffers[i], own->memory[i], static_cast<unsigned>(own->planes[i].bytes()));
  }
  return status;
} catch (...) {
  return softtpu::caught(__func__);
}

}  // extern "C"
