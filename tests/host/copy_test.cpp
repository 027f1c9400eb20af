// Copies between host and device, inside a device, between devices; filling; conversion; mapping.
#include <algorithm>
#include <cstring>

#include "tests/host/host_fixture.hpp"

namespace softtpu::host_test {
namespace {

using Bytes = std::vector<std::uint8_t>;

TEST_F(Host, PartialCopiesMoveOnlyTheirPart) {
  const bm_device_mem_t mem = upload(Bytes(64, 0xEE));
  Bytes part = pattern(16);
  ASSERT_EQ(bm_memcpy_s2d_partial(handle_, mem, part.data(), 16), BM_SUCCESS);
  ASSERT_EQ(bm_memcpy_s2d_partial_offset(handle_, mem, part.data(), 8, 40), BM_SUCCESS);
  Bytes expected(64, 0xEE);
  std::copy_n(part.begin(), 16, expected.begin());
  std::copy_n(part.begin(), 8, expected.begin() + 40);
  EXPECT_EQ(download(mem), expected);
  Bytes out(8);
  ASSERT_EQ(bm_memcpy_d2s_partial_offset(handle_, out.data(), mem, 8, 40), BM_SUCCESS);
  EXPECT_EQ(out, pattern(8));
  ASSERT_EQ(bm_memcpy_d2s_partial(handle_, out.data(), mem, 4), BM_SUCCESS);
  EXPECT_EQ(out, (Bytes{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(bm_memcpy_s2d_partial(handle_, mem, nullptr, 0), BM_SUCCESS) << "nothing to copy";
  bm_free_device(handle_, mem);
}

TEST_F(Host, WideDescriptorsCopyAlike) {
  Bytes in = pattern(300), out(300);
  sg_device_mem_t large;
  ASSERT_EQ(sg_malloc_device_byte(handle_, &large, 300), BM_SUCCESS);
  ASSERT_EQ(sg_memcpy_s2d(handle_, large, in.data()), BM_SUCCESS);
  ASSERT_EQ(sg_memcpy_s2d_partial(handle_, large, in.data() + 5, 4), BM_SUCCESS);
  ASSERT_EQ(sg_memcpy_s2d_partial_offset(handle_, large, in.data(), 4, 100), BM_SUCCESS);
  ASSERT_EQ(sg_memcpy_d2s(handle_, out.data(), large), BM_SUCCESS);
  EXPECT_EQ(out[0], 5);
  EXPECT_EQ(out[100], 0);
  EXPECT_EQ(out[200], 200);
  ASSERT_EQ(sg_memcpy_d2s_partial(handle_, out.data(), large, 2), BM_SUCCESS);
  ASSERT_EQ(sg_memcpy_d2s_partial_offset(handle_, out.data(), large, 2, 200), BM_SUCCESS);
  EXPECT_EQ(out[0], 200);
  sg_free_device(handle_, large);

  bm_device_mem_u64_t wide;
  ASSERT_EQ(bm_malloc_device_byte_u64(handle_, &wide, 300), BM_SUCCESS);
  ASSERT_EQ(bm_memcpy_s2d_u64(handle_, wide, in.data()), BM_SUCCESS);
  ASSERT_EQ(bm_memcpy_s2d_partial_u64(handle_, wide, in.data() + 5, 4), BM_SUCCESS);
  ASSERT_EQ(bm_memcpy_s2d_partial_offset_u64(handle_, wide, in.data(), 4, 100), BM_SUCCESS);
  ASSERT_EQ(bm_memcpy_d2s_u64(handle_, out.data(), wide), BM_SUCCESS);
  EXPECT_EQ(out[0], 5);
  EXPECT_EQ(out[100], 0);
  ASSERT_EQ(bm_memcpy_d2s_partial_u64(handle_, out.data(), wide, 2), BM_SUCCESS);
  ASSERT_EQ(bm_memcpy_d2s_partial_offset_u64(handle_, out.data(), wide, 2, 200), BM_SUCCESS);
  EXPECT_EQ(out[0], 200);
  bm_free_device_u64(handle_, wide);
}

TEST_F(Host, GatherAndScatterJoinPieces) {
  const bm_device_mem_t mem = upload(Bytes(32, 0xEE));
  Bytes a = pattern(10), b = pattern(6, 100);
  ASSERT_EQ(bm_memcpy_s2d_gather(handle_, mem, 4, a.data(), 10ULL, b.data(), 6ULL), BM_SUCCESS);
  const Bytes joined = download(mem);
  EXPECT_EQ(joined[9], 9);
  EXPECT_EQ(joined[10], 100);
  EXPECT_EQ(joined[16], 0xEE);
  Bytes c(4), d(12);
  ASSERT_EQ(bm_memcpy_d2s_scatter(handle_, mem, 4, c.data(), 4ULL, d.data(), 12ULL), BM_SUCCESS);
  EXPECT_EQ(c, pattern(4));
  EXPECT_EQ(d[0], 4);
  EXPECT_EQ(d[6], 100);
  EXPECT_REFUSED(bm_memcpy_s2d_gather(handle_, mem, 3, a.data(), 10ULL, b.data()), BM_ERR_PARAM, "bm_memcpy_s2d_gather",
                 "argc 3");
  EXPECT_REFUSED(bm_memcpy_s2d_gather(handle_, mem, 4, a.data(), 10ULL, b.data(), 23ULL), BM_ERR_PARAM,
                 "bm_memcpy_s2d_gather", "piece 1 of 23 bytes runs past the end of dst (32 bytes)");
  EXPECT_EQ(download(mem), joined) << "a refused gather moves nothing";
  EXPECT_REFUSED(bm_memcpy_d2s_scatter(handle_, mem, 2, nullptr, 4ULL), BM_ERR_PARAM, "bm_memcpy_d2s_scatter",
                 "piece 0 is NULL");
  bm_free_device(handle_, mem);
}

TEST_F(Host, BadCopiesAreRefused) {
  const bm_device_mem_t mem = upload(pattern(64));
  Bytes bytes(256);
  EXPECT_REFUSED(bm_memcpy_s2d(handle_, mem, nullptr), BM_ERR_PARAM, "bm_memcpy_s2d", "src is NULL");
  EXPECT_REFUSED(bm_memcpy_d2s(handle_, nullptr, mem), BM_ERR_PARAM, "bm_memcpy_d2s", "dst is NULL");
  EXPECT_REFUSED(bm_memcpy_s2d_partial(handle_, mem, bytes.data(), 65), BM_ERR_PARAM, "bm_memcpy_s2d_partial",
                 "(64 bytes at");
  EXPECT_REFUSED(bm_memcpy_s2d_partial_offset(handle_, mem, bytes.data(), 8, 57), BM_ERR_PARAM,
                 "bm_memcpy_s2d_partial_offset", "offset 57 and 8 bytes run past the end of dst");
  EXPECT_REFUSED(bm_memcpy_d2s_partial_offset(handle_, bytes.data(), mem, 0xFFFFFFFFU, 2), BM_ERR_PARAM,
                 "bm_memcpy_d2s_partial_offset", "past the end of src");
  EXPECT_REFUSED(bm_memcpy_s2d(handle_, bm_mem_from_device(0x50, 4), bytes.data()), BM_ERR_PARAM, "bm_memcpy_s2d", "");
  EXPECT_REFUSED(bm_memcpy_s2d(handle_, bm_mem_from_device(0x1FFFFFFFFULL, 4), bytes.data()), BM_ERR_PARAM,
                 "bm_memcpy_s2d", "");
  const unsigned long long address = bm_mem_get_device_addr(mem);
  EXPECT_REFUSED(bm_memcpy_s2d(handle_, bm_mem_from_device(address, 8192), Bytes(8192).data()), BM_ERR_PARAM,
                 "bm_memcpy_s2d", "");
  EXPECT_REFUSED(bm_memcpy_s2d(handle_, bm_mem_from_system(bytes.data()), bytes.data()), BM_ERR_PARAM, "bm_memcpy_s2d",
                 "dst is not device memory (type 2)");
  EXPECT_EQ(download(mem), pattern(64)) << "refused copies move nothing";
  bm_free_device(handle_, mem);
  EXPECT_REFUSED(bm_memcpy_d2s(handle_, bytes.data(), mem), BM_ERR_PARAM, "bm_memcpy_d2s", "");
}

TEST_F(Host, CopiesInsideADevice) {
  const bm_device_mem_t src = upload(pattern(64)), dst = upload(Bytes(64, 0xEE));
  ASSERT_EQ(bm_memcpy_d2d(handle_, dst, 2, src, 1, 3), BM_SUCCESS);
  Bytes expected(64, 0xEE);
  for (unsigned i = 0; i < 12; ++i) expected[8 + i] = static_cast<std::uint8_t>(4 + i);
  EXPECT_EQ(download(dst), expected) << "offsets and lengths are 4-byte words";
  ASSERT_EQ(bm_memcpy_d2d_byte(handle_, dst, 1, src, 60, 3), BM_SUCCESS);
  for (unsigned i = 0; i < 3; ++i) expected[1 + i] = static_cast<std::uint8_t>(60 + i);
  EXPECT_EQ(download(dst), expected);
  ASSERT_EQ(bm_memcpy_d2d_byte(handle_, src, 0, src, 8, 56), BM_SUCCESS) << "overlapping";
  EXPECT_EQ(download(src)[55], 63);
  EXPECT_EQ(bm_memcpy_d2d_with_core(handle_, dst, 0, src, 0, 1, 0), BM_SUCCESS);
  EXPECT_EQ(bm_memcpy_d2d_byte_with_core(handle_, dst, 0, src, 0, 1, 0), BM_SUCCESS);
  EXPECT_REFUSED(bm_memcpy_d2d(handle_, dst, 15, src, 0, 2), BM_ERR_PARAM, "bm_memcpy_d2d", "past the end of dst");
  EXPECT_REFUSED(bm_memcpy_d2d(handle_, dst, 0, src, -1, 2), BM_ERR_PARAM, "bm_memcpy_d2d", "src_offset -1");
  EXPECT_REFUSED(bm_memcpy_d2d_byte(handle_, dst, 0, src, ~0ULL, 2), BM_ERR_PARAM, "bm_memcpy_d2d_byte",
                 "past the end of src");

  const bm_device_mem_u64_t wide_src = bm_mem_from_device_u64(bm_mem_get_device_addr(src), 64);
  const bm_device_mem_u64_t wide_dst = bm_mem_from_device_u64(bm_mem_get_device_addr(dst), 64);
  EXPECT_EQ(bm_memcpy_d2d_u64(handle_, wide_dst, 0, wide_src, 0, 16), BM_SUCCESS);
  EXPECT_EQ(download(dst), download(src));
  EXPECT_EQ(bm_memcpy_d2d_byte_u64(handle_, wide_dst, 3, wide_src, 4, 5), BM_SUCCESS);
  EXPECT_REFUSED(bm_memcpy_d2d_u64(handle_, wide_dst, 0, wide_src, 0, 1ULL << 63), BM_ERR_PARAM, "bm_memcpy_d2d_u64",
                 "too large");
  for (const bm_device_mem_t& mem : {src, dst}) bm_free_device(handle_, mem);
}

// Found by fuzzing the server: source and destination of one element share bytes.
TEST_F(Host, StridedCopiesOfElementsThatOverlapThemselves) {
  const Bytes before = pattern(40);
  for (const unsigned size : {2u, 4u}) {
    for (const unsigned shift : {0u, 1u, 3u}) {
      const bm_device_mem_t memory = upload(before);
      bm_device_mem_t from = memory, to = memory;
      bm_set_device_mem(&from, 32, bm_mem_get_device_addr(memory));
      bm_set_device_mem(&to, 32, bm_mem_get_device_addr(memory) + shift);
      ASSERT_EQ(bm_memcpy_d2d_stride(handle_, to, 1, from, 2, 4, static_cast<int>(size)), BM_SUCCESS);
      Bytes expected = before;
      for (unsigned i = 0; i < 4; ++i) {
        const Bytes element(expected.begin() + 2 * i * size, expected.begin() + (2 * i + 1) * size);
        std::copy(element.begin(), element.end(), expected.begin() + shift + i * size);
      }
      EXPECT_EQ(download(memory), expected) << "elements of " << size << " bytes, shifted by " << shift;
      bm_free_device(handle_, memory);
    }
  }
}

TEST_F(Host, StridedCopies) {
  const bm_device_mem_t src = upload(pattern(64)), dst = upload(Bytes(64, 0xEE));
  ASSERT_EQ(bm_memcpy_d2d_stride(handle_, dst, 1, src, 3, 5, 4), BM_SUCCESS);
  Bytes expected(64, 0xEE);
  for (unsigned i = 0; i < 5; ++i) {
    for (unsigned k = 0; k < 4; ++k) expected[4 * i + k] = static_cast<std::uint8_t>(12 * i + k);
  }
  EXPECT_EQ(download(dst), expected);
  ASSERT_EQ(bm_memcpy_d2d_stride_with_core(handle_, dst, 4, src, 1, 16, 1, 0), BM_SUCCESS);
  for (unsigned i = 0; i < 16; ++i) expected[4 * i] = static_cast<std::uint8_t>(i);
  EXPECT_EQ(download(dst), expected);
  EXPECT_REFUSED(bm_memcpy_d2d_stride(handle_, dst, 2, src, 3, 4, 1), BM_ERR_PARAM, "bm_memcpy_d2d_stride",
                 "dst_stride 2 and src_stride 3");
  EXPECT_REFUSED(bm_memcpy_d2d_stride(handle_, dst, 1, src, 0, 4, 1), BM_ERR_PARAM, "bm_memcpy_d2d_stride",
                 "src_stride 0");
  EXPECT_REFUSED(bm_memcpy_d2d_stride(handle_, dst, 1, src, 1, 4, 3), BM_ERR_PARAM, "bm_memcpy_d2d_stride",
                 "format_size 3 is not 1, 2 or 4");
  EXPECT_REFUSED(bm_memcpy_d2d_stride(handle_, dst, 1, src, 1, -1, 1), BM_ERR_PARAM, "bm_memcpy_d2d_stride",
                 "count -1");
  EXPECT_REFUSED(bm_memcpy_d2d_stride(handle_, dst, 1, src, 13, 6, 1), BM_ERR_PARAM, "bm_memcpy_d2d_stride",
                 "past the end of src");
  const bm_device_mem_u64_t wide = bm_mem_from_device_u64(bm_mem_get_device_addr(dst), 64);
  EXPECT_EQ(bm_memcpy_d2d_stride_u64(handle_, wide, 1, wide, 2, 8, 2), BM_SUCCESS);
  EXPECT_REFUSED(bm_memcpy_d2d_stride_u64(handle_, wide, 1, wide, ~0ULL, 8, 2), BM_ERR_PARAM,
                 "bm_memcpy_d2d_stride_u64", "src_stride");
  for (const bm_device_mem_t& mem : {src, dst}) bm_free_device(handle_, mem);
}

TEST_F(Host, FillsWithPatternsOfOneToFourBytes) {
  const bm_device_mem_t mem = upload(Bytes(24, 0xEE));
  ASSERT_EQ(bm_memset_device(handle_, 0x04030201, mem), BM_SUCCESS);
  EXPECT_EQ(download(mem)[5], 2);
  for (int mode = 1; mode <= 4; ++mode) {
    Bytes value = {10, 20, 30, 40};
    ASSERT_EQ(bm_memset_device_ext(handle_, value.data(), mode, mem), BM_SUCCESS);
    const Bytes bytes = download(mem);
    for (unsigned i = 0; i < 24; ++i) ASSERT_EQ(bytes[i], value[i % static_cast<unsigned>(mode)]) << "mode " << mode;
  }
  std::uint16_t half = 0xABCD;
  const bm_device_mem_u64_t wide = bm_mem_from_device_u64(bm_mem_get_device_addr(mem), 24);
  EXPECT_EQ(bm_memset_device_ext_u64(handle_, &half, 2, wide), BM_SUCCESS);
  EXPECT_EQ(download(mem)[23], 0xAB);
  bm_device_mem_t odd = mem;
  bm_mem_set_device_size(&odd, 23);
  EXPECT_REFUSED(bm_memset_device(handle_, 0, odd), BM_ERR_PARAM, "bm_memset_device", "(23) is not a multiple of 4");
  EXPECT_REFUSED(bm_memset_device_ext(handle_, &half, 2, odd), BM_ERR_PARAM, "bm_memset_device_ext",
                 "(23) is not a multiple of 2");
  EXPECT_REFUSED(bm_memset_device_ext(handle_, &half, 5, mem), BM_ERR_PARAM, "bm_memset_device_ext", "mode 5");
  EXPECT_REFUSED(bm_memset_device_ext(handle_, nullptr, 1, mem), BM_ERR_PARAM, "bm_memset_device_ext", "value is NULL");
  bm_free_device(handle_, mem);
}

TEST_F(Host, CopiesBetweenDevices) {
  bm_handle_t other = nullptr;
  ASSERT_EQ(bm_dev_request(&other, 1), BM_SUCCESS);
  const bm_device_mem_t src = upload(pattern(1000));
  bm_device_mem_t dst;
  ASSERT_EQ(bm_malloc_device_byte(other, &dst, 1000), BM_SUCCESS);
  Bytes bytes(1000);
  ASSERT_EQ(bm_memcpy_p2p(handle_, src, other, dst), BM_SUCCESS);
  ASSERT_EQ(bm_memcpy_d2s(other, bytes.data(), dst), BM_SUCCESS);
  EXPECT_EQ(bytes, pattern(1000));
  ASSERT_EQ(bm_memset_device(other, 0, dst), BM_SUCCESS);
  EXPECT_EQ(download(src), pattern(1000)) << "the devices have memories of their own";
  ASSERT_EQ(bm_memcpy_c2c(handle_, other, src, dst, true), BM_SUCCESS);
  ASSERT_EQ(bm_memcpy_d2s(other, bytes.data(), dst), BM_SUCCESS);
  EXPECT_EQ(bytes, pattern(1000));
  bm_device_mem_t small = dst;
  bm_mem_set_device_size(&small, 999);
  EXPECT_REFUSED(bm_memcpy_p2p(handle_, src, other, small), BM_ERR_PARAM, "bm_memcpy_p2p",
                 "past the end of dst (999 bytes");
  EXPECT_REFUSED(bm_memcpy_p2p(handle_, src, nullptr, dst), BM_ERR_DEVNOTREADY, "bm_memcpy_p2p", "handle is NULL");
  bm_free_device(other, dst);
  bm_free_device(handle_, src);
  bm_dev_free(other);
}

TEST_F(Host, ConvertsHostMemory) {
  Bytes bytes = pattern(480);
  const bm_system_mem_t system = bm_mem_from_system(bytes.data());
  bm_device_mem_t mem;
  ASSERT_EQ(bm_mem_convert_system_to_device_neuron(handle_, &mem, system, true, 2, 3, 4, 5), BM_SUCCESS);
  EXPECT_EQ(download(mem), bytes);
  bm_free_device(handle_, mem);
  ASSERT_EQ(bm_mem_convert_system_to_device_neuron_byte(handle_, &mem, system, true, 2, 3, 4, 5), BM_SUCCESS);
  EXPECT_EQ(download(mem), pattern(120));
  bm_free_device(handle_, mem);
  ASSERT_EQ(bm_mem_convert_system_to_device_coeff(handle_, &mem, system, false, 120), BM_SUCCESS);
  EXPECT_EQ(download(mem), Bytes(480, 0));
  bm_free_device(handle_, mem);
  ASSERT_EQ(bm_mem_convert_system_to_device_coeff_byte(handle_, &mem, system, true, 17), BM_SUCCESS);
  EXPECT_EQ(download(mem), pattern(17));
  bm_free_device(handle_, mem);
  EXPECT_REFUSED(bm_mem_convert_system_to_device_coeff(handle_, &mem, bm_mem_from_device(0, 4), true, 1), BM_ERR_PARAM,
                 "bm_mem_convert_system_to_device_coeff", "sys_mem is not system memory");
  EXPECT_REFUSED(bm_mem_convert_system_to_device_coeff(handle_, &mem, system, true, -1), BM_ERR_PARAM,
                 "bm_mem_convert_system_to_device_coeff", "count -1 is negative");
  EXPECT_REFUSED(bm_mem_convert_system_to_device_coeff(handle_, &mem, bm_mem_from_system(nullptr), true, 1),
                 BM_ERR_PARAM, "bm_mem_convert_system_to_device_coeff", "address of sys_mem is NULL");
}

TEST_F(Host, MappingIsRefusedInPcieMode) {
  bm_device_mem_t mem = allocate(64);
  unsigned long long pointer = 7;
  const char* reason = "bm1684x is in PCIe mode";
  EXPECT_REFUSED(bm_mem_mmap_device_mem(handle_, &mem, &pointer), BM_NOT_SUPPORTED, "bm_mem_mmap_device_mem", reason);
  EXPECT_REFUSED(bm_mem_flush_device_mem(handle_, &mem), BM_NOT_SUPPORTED, "bm_mem_flush_device_mem", reason);
  EXPECT_REFUSED(bm_mem_unmap_device_mem(handle_, &mem, 64), BM_NOT_SUPPORTED, "bm_mem_unmap_device_mem", reason);
  EXPECT_EQ(pointer, 7ULL);
  bm_free_device(handle_, mem);
}

// A device of its own kind has to be chosen before the handle of the fixture is requested.
class SocHost : public Host {
 protected:
  void SetUp() override {
    ASSERT_EQ(setenv("SOFTTPU_CHIP", SOFTTPU_SOC_CHIP, 1), 0);
    Host::SetUp();
  }
};

// A program that has mapped device memory may copy from there to the same memory.
TEST_F(SocHost, CopiesWithinMappedMemoryAsMemmoveDoes) {
  constexpr unsigned kBytes = 3 << 16, kStep = 37;
  Bytes expected = pattern(kBytes + kStep);
  bm_device_mem_t mem = upload(expected);
  unsigned long long pointer = 0;
  ASSERT_EQ(bm_mem_mmap_device_mem(handle_, &mem, &pointer), BM_SUCCESS);
  auto* const mapped = reinterpret_cast<std::uint8_t*>(pointer);
  ASSERT_EQ(bm_memcpy_s2d_partial_offset(handle_, mem, mapped, kBytes, kStep), BM_SUCCESS);
  std::copy_backward(expected.begin(), expected.begin() + kBytes, expected.end());
  EXPECT_EQ(download(mem), expected);
  ASSERT_EQ(bm_memcpy_d2s_partial_offset(handle_, mapped, mem, kBytes, kStep), BM_SUCCESS);
  std::copy(expected.begin() + kStep, expected.end(), expected.begin());
  EXPECT_EQ(download(mem), expected);
  bm_free_device(handle_, mem);
}

TEST_F(SocHost, MapsDeviceMemory) {
  bm_device_mem_t mem = upload(pattern(8192));
  unsigned long long pointer = 0;
  ASSERT_EQ(bm_mem_mmap_device_mem(handle_, &mem, &pointer), BM_SUCCESS);
  auto* bytes = reinterpret_cast<std::uint8_t*>(pointer);
  EXPECT_EQ(bytes[100], 100);
  bytes[100] = 0xAA;
  EXPECT_EQ(bm_mem_flush_device_mem(handle_, &mem), BM_SUCCESS);
  EXPECT_EQ(bm_mem_flush_partial_device_mem(handle_, &mem, 0, 8192), BM_SUCCESS);
  EXPECT_EQ(download(mem)[100], 0xAA);
  ASSERT_EQ(bm_memset_device(handle_, 0, mem), BM_SUCCESS);
  EXPECT_EQ(bm_mem_invalidate_device_mem(handle_, &mem), BM_SUCCESS);
  EXPECT_EQ(bm_mem_invalidate_partial_device_mem(handle_, &mem, 100, 100), BM_SUCCESS);
  EXPECT_EQ(bytes[100], 0);
  unsigned long long address = 0;
  EXPECT_EQ(bm_mem_vir_to_phy(handle_, pointer + 16, &address), BM_SUCCESS);
  EXPECT_EQ(address, bm_mem_get_device_addr(mem) + 16);
  EXPECT_REFUSED(bm_mem_flush_partial_device_mem(handle_, &mem, 8000, 193), BM_ERR_PARAM,
                 "bm_mem_flush_partial_device_mem", "past the end of dmem");
  int elsewhere = 0;
  EXPECT_REFUSED(bm_mem_unmap_device_mem(handle_, &elsewhere, 4), BM_ERR_PARAM, "bm_mem_unmap_device_mem", "");
  EXPECT_REFUSED(bm_mem_mmap_device_mem(handle_, nullptr, &pointer), BM_ERR_PARAM, "bm_mem_mmap_device_mem",
                 "dmem is NULL");
  EXPECT_REFUSED(bm_mem_mmap_device_mem(handle_, &mem, nullptr), BM_ERR_PARAM, "bm_mem_mmap_device_mem",
                 "vmem is NULL");
  EXPECT_EQ(bm_mem_unmap_device_mem(handle_, bytes, 8192), BM_SUCCESS);

  sg_device_mem_t large = sg_mem_from_device(bm_mem_get_device_addr(mem), 8192);
  bm_device_mem_u64_t wide = bm_mem_from_device_u64(bm_mem_get_device_addr(mem), 8192);
  unsigned long long same = 0;
  EXPECT_EQ(bm_mem_mmap_device_mem_no_cache(handle_, &mem, &same), BM_SUCCESS);
  EXPECT_EQ(same, pointer);
  EXPECT_EQ(sg_mem_mmap_device_mem(handle_, &large, &same), BM_SUCCESS);
  EXPECT_EQ(sg_mem_mmap_device_mem_no_cache(handle_, &large, &same), BM_SUCCESS);
  EXPECT_EQ(bm_mem_mmap_device_mem_u64(handle_, &wide, &same), BM_SUCCESS);
  EXPECT_EQ(bm_mem_mmap_device_mem_no_cache_u64(handle_, &wide, &same), BM_SUCCESS);
  EXPECT_EQ(sg_mem_flush_device_mem(handle_, &large), BM_SUCCESS);
  EXPECT_EQ(sg_mem_invalidate_device_mem(handle_, &large), BM_SUCCESS);
  EXPECT_EQ(sg_mem_flush_partial_device_mem(handle_, &large, 1, 2), BM_SUCCESS);
  EXPECT_EQ(sg_mem_invalidate_partial_device_mem(handle_, &large, 1, 2), BM_SUCCESS);
  EXPECT_EQ(bm_mem_flush_device_mem_u64(handle_, &wide), BM_SUCCESS);
  EXPECT_EQ(bm_mem_invalidate_device_mem_u64(handle_, &wide), BM_SUCCESS);
  EXPECT_EQ(bm_mem_flush_partial_device_mem_u64(handle_, &wide, 1, 2), BM_SUCCESS);
  EXPECT_EQ(bm_mem_invalidate_partial_device_mem_u64(handle_, &wide, 1, 2), BM_SUCCESS);
  EXPECT_EQ(sg_mem_unmap_device_mem(handle_, bytes, 8192), BM_SUCCESS);
  EXPECT_EQ(bm_mem_unmap_device_mem_u64(handle_, bytes, 8192), BM_SUCCESS);
  struct bm_misc_info info;
  EXPECT_EQ(bm_get_misc_info(handle_, &info), BM_SUCCESS);
  EXPECT_EQ(info.pcie_soc_mode, 1);
  bm_free_device(handle_, mem);
}

}  // namespace
}  // namespace softtpu::host_test
