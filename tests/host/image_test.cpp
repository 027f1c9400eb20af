// libbmcv: values by hand from the public manual and the equations that host/bmcv/README.md names.
#include <gmock/gmock.h>

#include <array>
#include <cstdint>
#include <vector>

#include "bmcv_api_ext.h"

// Programs that are written for both versions of the library have functions of these names.
static bm_status_t bm_image_destroy(bm_image& image) { return bm_image_destroy(&image); }
static bm_status_t bm_image_dettach_contiguous_mem(int count, bm_image* images) {
  return bm_image_detach_contiguous_mem(count, images);
}

namespace {

using testing::Each;
using testing::ElementsAre;
using Bytes = std::vector<std::uint8_t>;

class Images : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(bm_dev_request(&handle_, 0), BM_SUCCESS); }
  void TearDown() override {
    for (bm_image& image : made_) bm_image_destroy(image);
    bm_dev_free(handle_);
  }
  bm_image make(int w, int h, bm_image_format_ext format, bm_image_data_format_ext type = DATA_TYPE_EXT_1N_BYTE,
                int* stride = nullptr) {
    bm_image image{};
    EXPECT_EQ(bm_image_create(handle_, h, w, format, type, &image, stride), BM_SUCCESS);
    made_.push_back(image);
    return image;
  }
  bm_image upload(int w, int h, bm_image_format_ext format, std::vector<Bytes> planes) {
    const bm_image image = make(w, h, format);
    std::array<void*, 4> buffers{};
    for (std::size_t i = 0; i < planes.size(); ++i) buffers[i] = planes[i].data();
    EXPECT_EQ(bm_image_copy_host_to_device(image, buffers.data()), BM_SUCCESS);
    return image;
  }
  template <class T = std::uint8_t>
  static std::vector<std::vector<T>> download(const bm_image& image) {
    std::array<int, 4> size{};
    EXPECT_EQ(bm_image_get_byte_size(image, size.data()), BM_SUCCESS);
    std::vector<std::vector<T>> planes;
    std::array<void*, 4> buffers{};
    for (int i = 0; i < bm_image_get_plane_num(image); ++i) {
      planes.emplace_back(static_cast<std::size_t>(size[static_cast<std::size_t>(i)]) / sizeof(T));
    }
    for (std::size_t i = 0; i < planes.size(); ++i) buffers[i] = planes[i].data();
    EXPECT_EQ(bm_image_copy_device_to_host(image, buffers.data()), BM_SUCCESS);
    return planes;
  }
  bm_handle_t handle_ = nullptr;
  std::vector<bm_image> made_;
};

TEST_F(Images, PlanesOfFormats) {
  const struct {
    bm_image_format_ext format;
    std::vector<int> bytes;
  } cases[] = {{FORMAT_YUV420P, {35, 12, 12}},
               {FORMAT_NV12, {35, 24}},
               {FORMAT_NV16, {35, 40}},
               {FORMAT_RGB_PLANAR, {105}},
               {FORMAT_BGR_PACKED, {105}},
               {FORMAT_RGBP_SEPARATE, {35, 35, 35}},
               {FORMAT_GRAY, {35}},
               {FORMAT_YUV422_YUYV, {80}},
               {FORMAT_ARGB_PACKED, {140}}};
  for (const auto& one : cases) {
    const bm_image image = make(7, 5, one.format);
    std::array<int, 4> size{};
    ASSERT_EQ(bm_image_get_byte_size(image, size.data()), BM_SUCCESS);
    ASSERT_EQ(bm_image_get_plane_num(image), static_cast<int>(one.bytes.size())) << one.format;
    for (std::size_t i = 0; i < one.bytes.size(); ++i) EXPECT_EQ(size[i], one.bytes[i]) << one.format;
    EXPECT_FALSE(bm_image_is_attached(image));
  }
}

TEST_F(Images, ChannelsChangePlaces) {
  const bm_image packed = upload(2, 1, FORMAT_BGR_PACKED, {{1, 2, 3, 4, 5, 6}});
  bm_image planar = make(2, 1, FORMAT_RGB_PLANAR);
  bm_image input = packed;
  EXPECT_EQ(bmcv_image_storage_convert(handle_, 1, &input, &planar), BM_SUCCESS);
  EXPECT_THAT(download(planar)[0], ElementsAre(3, 6, 2, 5, 1, 4));
}

TEST_F(Images, CropAndResize) {
  const bm_image gray = upload(4, 2, FORMAT_GRAY, {{0, 10, 20, 30, 40, 50, 60, 70}});
  bm_image cut = make(2, 2, FORMAT_GRAY);
  bmcv_rect_t rect = {1, 0, 2, 2};
  EXPECT_EQ(bmcv_image_crop(handle_, 1, &rect, gray, &cut), BM_SUCCESS);
  EXPECT_THAT(download(cut)[0], ElementsAre(10, 20, 50, 60));
  // Twice as wide: centres at -0.25, 0.25, 0.75, 1.25.
  bm_image wide = make(4, 2, FORMAT_GRAY);
  EXPECT_EQ(bmcv_image_vpp_convert(handle_, 1, gray, &wide, &rect, BMCV_INTER_LINEAR), BM_SUCCESS);
  EXPECT_THAT(download(wide)[0], ElementsAre(10, 13, 18, 20, 50, 53, 58, 60));
  bm_image near = make(4, 2, FORMAT_GRAY);
  EXPECT_EQ(bmcv_image_vpp_convert(handle_, 1, gray, &near, &rect, BMCV_INTER_NEAREST), BM_SUCCESS);
  EXPECT_THAT(download(near)[0], ElementsAre(10, 10, 20, 20, 50, 50, 60, 60));
}

TEST_F(Images, ColoursOfVideo) {
  // Black, white and red of BT.601 from 16 to 235.
  const bm_image yuv = upload(2, 2, FORMAT_NV12, {{16, 16, 235, 235}, {128, 128}});
  bm_image rgb = make(2, 2, FORMAT_RGB_PACKED);
  EXPECT_EQ(bmcv_image_vpp_convert(handle_, 1, yuv, &rgb), BM_SUCCESS);
  EXPECT_THAT(download(rgb)[0], ElementsAre(0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255));
  const bm_image red = upload(2, 2, FORMAT_RGB_PLANAR, {{255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0}});
  bm_image back = make(2, 2, FORMAT_YUV420P);
  EXPECT_EQ(bmcv_image_vpp_convert(handle_, 1, red, &back), BM_SUCCESS);
  const auto planes = download(back);
  EXPECT_THAT(planes[0], Each(81));          // 16 + 0.299 * 219 = 81.48
  EXPECT_THAT(planes[1], ElementsAre(90));   // 128 - 0.299 / 1.772 * 224 = 90.20
  EXPECT_THAT(planes[2], ElementsAre(240));  // 128 + 112
}

TEST_F(Images, LinearFunctionOfPixels) {
  const bm_image input = upload(1, 1, FORMAT_BGR_PLANAR, {{10, 20, 30}});
  bm_image in = input, out = make(1, 1, FORMAT_BGR_PLANAR, DATA_TYPE_EXT_FLOAT32);
  EXPECT_EQ(bmcv_image_convert_to(handle_, 1, {0.5F, 1, 2, 0, 1, -100}, &in, &out), BM_SUCCESS);
  EXPECT_THAT(download<float>(out)[0], ElementsAre(6.0F, 40.0F, -70.0F));
  bm_image half = make(1, 1, FORMAT_BGR_PLANAR, DATA_TYPE_EXT_FP16);
  EXPECT_EQ(bmcv_image_convert_to(handle_, 1, {0.1F, 0, 1, 0, 1, 0}, &in, &half), BM_SUCCESS);
  EXPECT_THAT(download<std::uint16_t>(half)[0], ElementsAre(0x3C00, 0x4D00, 0x4F80));
  bm_image bytes = make(1, 1, FORMAT_BGR_PLANAR, DATA_TYPE_EXT_1N_BYTE_SIGNED);
  EXPECT_EQ(bmcv_image_convert_to(handle_, 1, {100, 0, -100, 0, 0.05F, 0}, &in, &bytes), BM_SUCCESS);
  EXPECT_THAT(download<std::int8_t>(bytes)[0], ElementsAre(127, -128, 2));  // 1.5
}

TEST_F(Images, PaddingRoundAnImage) {
  const bm_image small = upload(1, 1, FORMAT_RGB_PACKED, {{1, 2, 3}});
  bm_image large = make(3, 1, FORMAT_RGB_PACKED);
  EXPECT_EQ(bmcv_image_copy_to(handle_, {1, 0, 7, 8, 9, 1}, small, large), BM_SUCCESS);
  EXPECT_THAT(download(large)[0], ElementsAre(7, 8, 9, 1, 2, 3, 7, 8, 9));
  bmcv_padding_atrr_t padding = {0, 0, 2, 1, 0, 0, 0, 0};  // the rest stays
  EXPECT_EQ(bmcv_image_vpp_convert_padding(handle_, 1, small, &large, &padding), BM_SUCCESS);
  EXPECT_THAT(download(large)[0], ElementsAre(1, 2, 3, 1, 2, 3, 7, 8, 9));
}

TEST_F(Images, RowsWithGapsAndMemoryOfTheProgram) {
  int stride = 8;
  bm_image gapped = make(2, 2, FORMAT_GRAY, DATA_TYPE_EXT_1N_BYTE, &stride);
  bm_device_mem_t memory{};
  ASSERT_EQ(bm_malloc_device_byte(handle_, &memory, 16), BM_SUCCESS);
  ASSERT_EQ(bm_memset_device(handle_, 0x55555555, memory), BM_SUCCESS);
  EXPECT_EQ(bm_image_attach(gapped, &memory), BM_SUCCESS);
  bm_image packed = upload(2, 2, FORMAT_GRAY, {{1, 2, 3, 4}});
  EXPECT_EQ(bmcv_image_storage_convert(handle_, 1, &packed, &gapped), BM_SUCCESS);
  EXPECT_THAT(download(gapped)[0],
              ElementsAre(1, 2, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 3, 4, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55));
  EXPECT_EQ(bm_image_detach(gapped), BM_SUCCESS);
  bm_free_device(handle_, memory);
  bm_image two[2] = {make(2, 2, FORMAT_GRAY), make(2, 2, FORMAT_GRAY)};
  EXPECT_EQ(bm_image_alloc_contiguous_mem(2, two, BMCV_HEAP_ANY), BM_SUCCESS);
  EXPECT_EQ(bm_image_get_contiguous_device_mem(2, two, &memory), BM_SUCCESS);
  EXPECT_EQ(bm_mem_get_device_size(memory), 8U);
  EXPECT_EQ(bm_image_free_contiguous_mem(2, two), BM_SUCCESS);
  EXPECT_FALSE(bm_image_is_attached(two[0]));
}

TEST_F(Images, RowsAreMovedApart) {
  const bm_image packed =
      upload(3, 2, FORMAT_BGR_PACKED, {{1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18, 19}});
  int stride = 16;
  const bm_image apart = make(3, 2, FORMAT_BGR_PACKED, DATA_TYPE_EXT_1N_BYTE, &stride);
  ASSERT_EQ(bmcv_width_align(handle_, packed, apart), BM_SUCCESS);
  const bm_image back = make(3, 2, FORMAT_BGR_PACKED);
  ASSERT_EQ(bmcv_width_align(handle_, apart, back), BM_SUCCESS);
  EXPECT_EQ(download(back), download(packed));
  bm_device_mem_t memory{};
  ASSERT_EQ(bm_image_get_device_mem(apart, &memory), BM_SUCCESS);
  Bytes second(9);  // the gap before it was never written
  ASSERT_EQ(bm_memcpy_d2s_partial_offset(handle_, second.data(), memory, 9, 16), BM_SUCCESS);
  EXPECT_THAT(second, ElementsAre(11, 12, 13, 14, 15, 16, 17, 18, 19));
  EXPECT_EQ(bmcv_width_align(handle_, packed, make(2, 2, FORMAT_BGR_PACKED)), BM_ERR_PARAM);
}

// The name that programs for the library's first version use.
TEST_F(Images, MemoryOfTheProgramIsLeftByBothNames) {
  bm_image images[] = {make(4, 2, FORMAT_GRAY), make(4, 2, FORMAT_GRAY)};
  ASSERT_EQ(bm_image_alloc_contiguous_mem(2, images, BMCV_HEAP_ANY), BM_SUCCESS);
  bm_device_mem_t memory{};
  ASSERT_EQ(bm_image_get_contiguous_device_mem(2, images, &memory), BM_SUCCESS);
  EXPECT_EQ(bm_image_dettach_contiguous_mem(2, images), BM_SUCCESS);
  EXPECT_FALSE(bm_image_is_attached(images[0]));
  EXPECT_EQ(bm_image_attach_contiguous_mem(2, images, memory), BM_SUCCESS);
  EXPECT_EQ(bm_image_dettach_contiguous_mem<bm_image>(2, images), BM_SUCCESS) << "without a function of the program's";
  EXPECT_FALSE(bm_image_is_attached(images[0]));
  bm_free_device(handle_, memory);
}

TEST_F(Images, WhatIsRefused) {
  bm_image image = make(2, 2, FORMAT_GRAY), other{};
  EXPECT_EQ(bm_image_create(handle_, 2, 2, FORMAT_GRAY, DATA_TYPE_EXT_4N_BYTE, &other, nullptr), BM_NOT_SUPPORTED);
  EXPECT_EQ(bm_image_create(handle_, 0, 2, FORMAT_GRAY, DATA_TYPE_EXT_1N_BYTE, &other, nullptr), BM_ERR_PARAM);
  int stride = 1;
  EXPECT_EQ(bm_image_create(handle_, 2, 2, FORMAT_GRAY, DATA_TYPE_EXT_1N_BYTE, &other, &stride), BM_ERR_PARAM);
  EXPECT_EQ(bmcv_image_storage_convert(handle_, 1, &image, &image), BM_ERR_FAILURE) << "no memory";
  EXPECT_EQ(bm_image_alloc_dev_mem(image, BMCV_HEAP_ANY), BM_SUCCESS);
  bmcv_rect_t outside = {1, 1, 2, 2};
  EXPECT_EQ(bmcv_image_vpp_convert(handle_, 1, image, &image, &outside), BM_ERR_PARAM);
  EXPECT_EQ(bmcv_image_draw_rectangle(handle_, image, 1), BM_NOT_SUPPORTED);
  bm_image gone = make(2, 2, FORMAT_GRAY);
  made_.pop_back();
  EXPECT_EQ(bm_image_destroy(&gone), BM_SUCCESS);
  EXPECT_EQ(bm_image_destroy(gone), BM_ERR_PARAM);
  EXPECT_EQ(bm_image_get_plane_num(gone), -1);
  EXPECT_EQ(bm_image_get_plane_num({}), -1);
}

}  // namespace
