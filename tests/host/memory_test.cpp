// Devices, handles, allocation, descriptors.
#include <thread>

#include "tests/host/host_fixture.hpp"

namespace softtpu::host_test {
namespace {

TEST_F(Host, SeveralHandlesShareOneDevice) {
  const bm_device_mem_t mem = upload(pattern(100));
  bm_handle_t second = nullptr;
  ASSERT_EQ(bm_dev_request(&second, 0), BM_SUCCESS);
  EXPECT_NE(second, handle_);
  std::vector<std::uint8_t> bytes(100);
  EXPECT_EQ(bm_memcpy_d2s(second, bytes.data(), mem), BM_SUCCESS);
  EXPECT_EQ(bytes, pattern(100));
  bm_dev_free(second);
  EXPECT_EQ(download(mem), pattern(100)) << "memory outlives a handle";
  bm_free_device(handle_, mem);
}

TEST_F(Host, MemoryOutlivesTheLastHandle) {
  const bm_device_mem_t mem = upload(pattern(64));
  bm_dev_free(handle_);
  ASSERT_EQ(bm_dev_request(&handle_, 0), BM_SUCCESS);
  EXPECT_EQ(download(mem), pattern(64));
  bm_free_device(handle_, mem);
}

TEST_F(Host, CountsAndQueriesDevices) {
  int count = 0;
  ASSERT_EQ(bm_dev_getcount(&count), BM_SUCCESS);
  ASSERT_GE(count, 1);
  EXPECT_EQ(bm_dev_query(0), BM_SUCCESS);
  EXPECT_EQ(bm_dev_query(count - 1), BM_SUCCESS);
  EXPECT_EQ(bm_get_devid(handle_), 0);
  EXPECT_REFUSED(bm_dev_query(count), BM_ERR_PARAM, "bm_dev_query",
                 "device id " + std::to_string(count) + " is outside");
  EXPECT_REFUSED(bm_dev_query(-1), BM_ERR_PARAM, "bm_dev_query", "device id -1 is outside");
  bm_handle_t other = handle_;
  EXPECT_REFUSED(bm_dev_request(&other, count), BM_ERR_PARAM, "bm_dev_request", "is outside 0..");
  EXPECT_EQ(other, nullptr);
  EXPECT_REFUSED(bm_dev_request(nullptr, 0), BM_ERR_PARAM, "bm_dev_request", "handle is NULL");
  EXPECT_REFUSED(bm_dev_getcount(nullptr), BM_ERR_PARAM, "bm_dev_getcount", "count is NULL");
}

TEST_F(Host, NullAndFreedHandlesAreRefused) {
  bm_device_mem_t mem;
  EXPECT_REFUSED(bm_malloc_device_byte(nullptr, &mem, 4), BM_ERR_DEVNOTREADY, "bm_malloc_device_byte",
                 "handle is NULL");
  EXPECT_REFUSED(bm_memcpy_s2d(nullptr, mem, &mem), BM_ERR_DEVNOTREADY, "bm_memcpy_s2d", "handle is NULL");
  unsigned id = 0;
  EXPECT_REFUSED(bm_get_chipid(nullptr, &id), BM_ERR_DEVNOTREADY, "bm_get_chipid", "handle is NULL");
  EXPECT_REFUSED(okkernel_launch_sync(nullptr, "k", nullptr, 0), BM_ERR_DEVNOTREADY, "okkernel_launch_sync",
                 "handle is NULL");
  bm_dev_free(nullptr);
  EXPECT_ONE_LINE("bm_dev_free", "handle is NULL");

  bm_handle_t freed = nullptr;
  ASSERT_EQ(bm_dev_request(&freed, 0), BM_SUCCESS);
  bm_dev_free(freed);
  EXPECT_REFUSED(bm_thread_sync(freed), BM_ERR_DEVNOTREADY, "bm_thread_sync", "was freed or never requested");
  bm_dev_free(freed);
  EXPECT_ONE_LINE("bm_dev_free", "was freed or never requested");
  int no_handle = 0;
  EXPECT_REFUSED(bm_get_devid(reinterpret_cast<bm_handle_t>(&no_handle)), -1, "bm_get_devid", "never requested");
}

TEST_F(Host, AllocatesAtMeasuredAddresses) {
  const bm_device_mem_t first = allocate(1), second = allocate(4097), third = allocate(4096);
  EXPECT_EQ(bm_mem_get_device_addr(first), 0x105100000ULL);
  EXPECT_EQ(bm_mem_get_device_addr(second), 0x105101000ULL);
  EXPECT_EQ(bm_mem_get_device_addr(third), 0x105103000ULL);
  EXPECT_EQ(bm_mem_get_device_size(second), 4097U);
  EXPECT_EQ(bm_mem_get_type(first), BM_MEM_TYPE_DEVICE);
  EXPECT_EQ(download(third), std::vector<std::uint8_t>(4096, 0)) << "new memory reads as zero";
  bm_free_device(handle_, second);
  const bm_device_mem_t again = allocate(5000);
  EXPECT_EQ(bm_mem_get_device_addr(again), 0x105101000ULL) << "the smallest hole that suffices";
  for (const bm_device_mem_t& mem : {first, third, again}) bm_free_device(handle_, mem);
}

TEST_F(Host, EveryAllocatorGivesItsSize) {
  bm_device_mem_t small;
  sg_device_mem_t large;
  bm_device_mem_u64_t wide;
  const auto check_small = [&](bm_status_t status, unsigned bytes) {
    EXPECT_EQ(status, BM_SUCCESS);
    EXPECT_EQ(bm_mem_get_device_size(small), bytes);
    bm_free_device(handle_, small);
  };
  const auto check_large = [&](bm_status_t status, unsigned long long bytes) {
    EXPECT_EQ(status, BM_SUCCESS);
    EXPECT_EQ(sg_mem_get_device_size(large), bytes);
    sg_free_device(handle_, large);
  };
  const auto check_wide = [&](bm_status_t status, unsigned long long bytes) {
    EXPECT_EQ(status, BM_SUCCESS);
    EXPECT_EQ(bm_mem_get_device_size_u64(wide), bytes);
    bm_free_device_u64(handle_, wide);
  };
  check_small(bm_malloc_device_byte(handle_, &small, 7), 7);
  check_small(bm_malloc_device_byte(handle_, &small, 0), 0);
  check_small(bm_malloc_device_dword(handle_, &small, 7), 28);
  check_small(bm_malloc_neuron_device(handle_, &small, 2, 3, 4, 5), 480);
  check_small(bm_malloc_device_byte_heap(handle_, &small, 3, 7), 7);
  check_small(bm_malloc_device_byte_heap_mask(handle_, &small, 6, 7), 7);
  check_large(sg_malloc_device_byte(handle_, &large, 7), 7);
  check_large(sg_malloc_device_dword(handle_, &large, 7), 28);
  check_large(sg_malloc_neuron_device(handle_, &large, 2, 3, 4, 5), 480);
  check_large(sg_malloc_device_byte_heap(handle_, &large, 1, 7), 7);
  check_large(sg_malloc_device_byte_heap_mask(handle_, &large, 1, 7), 7);
  check_wide(bm_malloc_device_byte_u64(handle_, &wide, 7), 7);
  check_wide(bm_malloc_device_dword_u64(handle_, &wide, 7), 28);
  check_wide(bm_malloc_neuron_device_u64(handle_, &wide, 2, 3, 4, 5), 480);
  check_wide(bm_malloc_device_byte_heap_u64(handle_, &wide, 0, 7), 7);
  check_wide(bm_malloc_device_byte_heap_mask_u64(handle_, &wide, 15, 7), 7);
  unsigned long long address = 0;
  EXPECT_EQ(bm_malloc_device_mem(handle_, &address, 0, 100), BM_SUCCESS);
  EXPECT_EQ(address, 0x105100000ULL);
  bm_free_device_mem(handle_, address);
  EXPECT_EQ(bm_malloc_device_mem_mask(handle_, &address, 1, 100), BM_SUCCESS);
  bm_free_device_mem(handle_, address);
}

TEST_F(Host, BadSizesAndHeapsAreRefused) {
  bm_device_mem_t mem{};
  sg_device_mem_t large{};
  EXPECT_REFUSED(bm_malloc_device_byte(handle_, nullptr, 4), BM_ERR_PARAM, "bm_malloc_device_byte", "pmem is NULL");
  EXPECT_REFUSED(bm_malloc_device_byte(handle_, &mem, 0xFFFFFFFFU), BM_ERR_NOMEM, "bm_malloc_device_byte", "");
  EXPECT_REFUSED(sg_malloc_device_byte(handle_, &large, ~0ULL), BM_ERR_NOMEM, "sg_malloc_device_byte", "");
  EXPECT_REFUSED(bm_malloc_device_dword(handle_, &mem, -1), BM_ERR_PARAM, "bm_malloc_device_dword",
                 "count -1 is negative");
  EXPECT_REFUSED(bm_malloc_device_dword(handle_, &mem, 0x7FFFFFFF), BM_ERR_PARAM, "bm_malloc_device_dword",
                 "does not fit the descriptor");
  EXPECT_REFUSED(bm_malloc_neuron_device(handle_, &mem, 1, -2, 3, 4), BM_ERR_PARAM, "bm_malloc_neuron_device",
                 "[1, -2, 3, 4]");
  EXPECT_REFUSED(sg_malloc_neuron_device(handle_, &large, 1ULL << 40, 1ULL << 40, 1, 1), BM_ERR_PARAM,
                 "sg_malloc_neuron_device", "do not fit 64 bits");
  EXPECT_REFUSED(bm_malloc_device_byte_heap(handle_, &mem, 4, 8), BM_ERR_PARAM, "bm_malloc_device_byte_heap",
                 "heap_id 4 is outside 0..3");
  EXPECT_REFUSED(bm_malloc_device_byte_heap(handle_, &mem, -1, 8), BM_ERR_PARAM, "bm_malloc_device_byte_heap",
                 "heap_id -1");
  EXPECT_REFUSED(bm_malloc_device_byte_heap_mask(handle_, &mem, 0, 8), BM_ERR_DEVNOTREADY,
                 "bm_malloc_device_byte_heap_mask", "names no heap");
  bm_device_mem_t most;
  EXPECT_EQ(bm_malloc_device_byte(handle_, &most, 3900000000U), BM_SUCCESS) << "a single large allocation works";
  bm_free_device(handle_, most);
}

TEST_F(Host, WrongFreesAreRefused) {
  const bm_device_mem_t mem = allocate(100);
  bm_free_device(handle_, mem);
  bm_free_device(handle_, mem);
  EXPECT_ONE_LINE("bm_free_device", "");
  bm_free_device(handle_, bm_mem_null());
  EXPECT_ONE_LINE("bm_free_device", "");
  bm_free_device(handle_, bm_mem_from_device(0x105100800ULL, 4));
  EXPECT_ONE_LINE("bm_free_device", "");
  bm_free_device_mem(nullptr, 0);
  EXPECT_ONE_LINE("bm_free_device_mem", "handle is NULL");
}

TEST_F(Host, DescriptorsHoldWhatTheyAreGiven) {
  bm_device_mem_t mem = bm_mem_from_device(0x123456789ULL, 77);
  EXPECT_EQ(bm_mem_get_device_addr(mem), 0x123456789ULL);
  EXPECT_EQ(bm_mem_get_device_size(mem), 77U);
  bm_mem_set_device_addr(&mem, 5);
  bm_mem_set_device_size(&mem, 6);
  EXPECT_EQ(bm_mem_get_device_addr(mem), 5ULL);
  EXPECT_EQ(bm_mem_get_device_size(mem), 6U);
  bm_set_device_mem(&mem, 8, 9);
  EXPECT_EQ(bm_mem_get_device_addr(mem), 9ULL);
  EXPECT_EQ(bm_mem_get_device_size(mem), 8U);
  int here = 0;
  bm_system_mem_t system = bm_mem_from_system(&here);
  EXPECT_EQ(bm_mem_get_type(system), BM_MEM_TYPE_SYSTEM);
  EXPECT_EQ(bm_mem_get_system_addr(system), &here);
  bm_mem_set_system_addr(&system, nullptr);
  EXPECT_EQ(bm_mem_get_system_addr(system), nullptr);
  EXPECT_EQ(bm_mem_get_type(bm_mem_null()), BM_MEM_TYPE_INVALID);

  sg_device_mem_t large = sg_mem_from_device(1, 1ULL << 33);
  EXPECT_EQ(sg_mem_get_device_size(large), 1ULL << 33);
  sg_set_device_mem(&large, 2, 3);
  sg_mem_set_device_size(&large, 4);
  sg_mem_set_device_addr(&large, 5);
  EXPECT_EQ(sg_mem_get_device_addr(large), 5ULL);
  EXPECT_EQ(sg_mem_get_type(large), BM_MEM_TYPE_DEVICE);
  sg_mem_set_system_addr(&large, &here);
  EXPECT_EQ(sg_mem_get_system_addr(large), &here);

  bm_device_mem_u64_t wide = bm_mem_from_device_u64(1, 1ULL << 33);
  bm_set_device_mem_u64(&wide, 2, 3);
  bm_mem_set_device_size_u64(&wide, 1ULL << 34);
  bm_mem_set_device_addr_u64(&wide, 5);
  EXPECT_EQ(bm_mem_get_device_size_u64(wide), 1ULL << 34);
  EXPECT_EQ(bm_mem_get_device_addr_u64(wide), 5ULL);
  EXPECT_EQ(bm_mem_get_type_u64(wide), BM_MEM_TYPE_DEVICE);
  bm_mem_set_system_addr_u64(&wide, &here);
  EXPECT_EQ(bm_mem_get_system_addr_u64(wide), &here);

  bm_mem_set_device_addr(nullptr, 5);
  EXPECT_ONE_LINE("bm_mem_set_device_addr", "pmem is NULL");
}

TEST_F(Host, ThreadsAllocateAndCopySideBySide) {
  std::vector<std::thread> threads;
  for (unsigned id = 0; id < 4; ++id) {
    threads.emplace_back([this, id] {
      for (int round = 0; round < 50; ++round) {
        const bm_device_mem_t mem = upload(pattern(1000 + 100 * id, id));
        EXPECT_EQ(download(mem), pattern(1000 + 100 * id, id));
        bm_free_device(handle_, mem);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace softtpu::host_test
