// Information, log, and functions that an emulator has no use for.
#include <thread>

#include "bmlib_internal.h"
#include "tests/host/host_fixture.hpp"

namespace softtpu::host_test {
namespace {

TEST_F(Host, TellsWhatTheDeviceIs) {
  unsigned chip_id = 0, cores = 0, heaps = 0, heap = 9, card = 9, cards = 0, chips = 0, first = 9;
  EXPECT_EQ(bm_get_chipid(handle_, &chip_id), BM_SUCCESS);
  EXPECT_EQ(chip_id, 0x1686U);
  EXPECT_EQ(bm_get_tpu_scalar_num(handle_, &cores), BM_SUCCESS);
  EXPECT_EQ(cores, 1U);
  struct bm_misc_info info;
  EXPECT_EQ(bm_get_misc_info(handle_, &info), BM_SUCCESS);
  EXPECT_EQ(info.chipid, 0x1686U);
  EXPECT_EQ(info.chipid_bit_mask, static_cast<unsigned long>(BM1686_CHIPID_BIT_MASK));
  EXPECT_EQ(info.pcie_soc_mode, 0);
  EXPECT_EQ(info.ddr0a_size, 4LL << 30);
  int version = 0, status = 9;
  EXPECT_EQ(bm_get_driver_version(handle_, &version), BM_SUCCESS);
  EXPECT_EQ(static_cast<unsigned>(version), info.driver_version);
  EXPECT_EQ(bm_get_status(handle_, &status), BM_SUCCESS);
  EXPECT_EQ(status, 0);
  char name[64] = {};
  EXPECT_EQ(bm_get_board_name(handle_, name), BM_SUCCESS);
  EXPECT_STREQ(name, "1684X-EMU");
  EXPECT_EQ(bm_get_card_id(handle_, &card), BM_SUCCESS);
  EXPECT_EQ(card, 0U);
  EXPECT_EQ(bm_get_card_num(&cards), BM_SUCCESS);
  EXPECT_EQ(bm_get_chip_num_from_card(cards - 1, &chips, &first), BM_SUCCESS);
  EXPECT_EQ(chips, 1U);
  EXPECT_EQ(first, cards - 1);
  EXPECT_REFUSED(bm_get_chip_num_from_card(cards, &chips, &first), BM_ERR_PARAM, "bm_get_chip_num_from_card",
                 "is outside 0..");
  EXPECT_EQ(bm_get_gmem_total_heap_num(handle_, &heaps), BM_SUCCESS);
  EXPECT_EQ(heaps, 1U);
  // What bm-smi asks for.
  unsigned long long total = 0, before = 0, after = 0;
  EXPECT_EQ(bm_get_carveout_heap_id(handle_), BM_SUCCESS);
  EXPECT_EQ(bm_total_gmem(handle_, &total), BM_SUCCESS);
  EXPECT_EQ(bm_avail_gmem(handle_, &before), BM_SUCCESS);
  EXPECT_LE(before, total);
  EXPECT_REFUSED(bm_total_gmem(handle_, nullptr), BM_ERR_PARAM, "bm_total_gmem", "total is NULL");
  EXPECT_REFUSED(bm_avail_gmem(handle_, nullptr), BM_ERR_PARAM, "bm_avail_gmem", "avail is NULL");
  bm_device_mem_t mem = allocate(10);
  EXPECT_EQ(bm_avail_gmem(handle_, &after), BM_SUCCESS);
  EXPECT_GE(before - after, 10U);
  EXPECT_EQ(bm_get_gmem_heap_id(handle_, &mem, &heap), BM_SUCCESS);
  EXPECT_EQ(heap, 0U);
  sg_device_mem_t large = sg_mem_from_device(bm_mem_get_device_addr(mem), 10);
  EXPECT_EQ(sg_get_gmem_heap_id(handle_, &large, &heap), BM_SUCCESS);
  bm_device_mem_u64_t wide = bm_mem_from_device_u64(bm_mem_get_device_addr(mem), 10);
  EXPECT_EQ(bm_get_gmem_heap_id_u64(handle_, &wide, &heap), BM_SUCCESS);
  bm_free_device(handle_, mem);
  EXPECT_EQ(bm_gmem_arm_reserved_request(handle_), 0x100000000ULL);
  bm_gmem_arm_reserved_release(handle_);
}

TEST_F(Host, TracesTheCallsOfAThreadThatAsksForIt) {
  const bm_device_mem_t mem = upload(pattern(64)), other = allocate(64);
  long long number = 9;
  struct bm_trace_item_data item {
  }, all[8] = {};
  EXPECT_EQ(bm_traceitem_number(handle_, &number), BM_SUCCESS);
  EXPECT_EQ(number, 0) << "not asked for yet";
  EXPECT_REFUSED(bm_trace_dump(handle_, &item), BM_ERR_FAILURE, "bm_trace_dump", "has no item");
  ASSERT_EQ(bm_trace_enable(handle_), BM_SUCCESS);
  download(mem);
  ASSERT_EQ(bm_memcpy_d2d_byte(handle_, other, 0, mem, 0, 64), BM_SUCCESS);
  EXPECT_REFUSED(tpu_kernel_launch_sync(handle_, "no_such_function", nullptr, 0), BM_ERR_FAILURE,
                 "tpu_kernel_launch_sync", "no_such_function");
  std::thread([&] { download(mem); }).join();
  ASSERT_EQ(bm_trace_disable(handle_), BM_SUCCESS);
  upload(pattern(64));
  EXPECT_EQ(bm_traceitem_number(handle_, &number), BM_SUCCESS);
  ASSERT_EQ(number, 3) << "neither the other thread's nor what came after bm_trace_disable";
  ASSERT_EQ(bm_trace_dump(handle_, &item), BM_SUCCESS);
  EXPECT_EQ(item.trace_type, 0);
  EXPECT_EQ(item.cdma_dir, 1);
  EXPECT_LE(item.sent_time, item.start_time);
  EXPECT_LE(item.start_time, item.end_time);
  ASSERT_EQ(bm_trace_dump_all(handle_, all), BM_SUCCESS);
  EXPECT_EQ(all[0].cdma_dir, 2);
  EXPECT_EQ(all[1].trace_type, 1);
  EXPECT_LE(item.end_time, all[1].sent_time);
  EXPECT_EQ(all[2].end_time, 0U);
  EXPECT_REFUSED(bm_trace_dump_all(handle_, all), BM_ERR_FAILURE, "bm_trace_dump_all", "has no item");
  EXPECT_REFUSED(bm_trace_dump(handle_, nullptr), BM_ERR_PARAM, "bm_trace_dump", "trace_data is NULL");
}

TEST_F(Host, KnowsFunctionsOfToolsAndRefusesWhatOnlyACardHas) {
  bm_device_mem_t mem = allocate(100);
  EXPECT_EQ(bm_mem_get_size(mem), 100U);
  EXPECT_EQ(sg_mem_get_size(sg_mem_from_device(0, 5ULL << 32)), 5ULL << 32);
  EXPECT_EQ(bm_mem_get_size_u64(bm_mem_from_device_u64(0, 6ULL << 32)), 6ULL << 32);
  bm_enable_iommu(handle_);
  bm_disable_iommu(handle_);
  struct bm_reg reg {};
  struct bm_rw rw {};
  EXPECT_REFUSED(bm_get_reg(handle_, &reg), BM_ERR_NOFEATURE, "bm_get_reg", "registers of the chip");
  EXPECT_REFUSED(bm_set_reg(handle_, &reg), BM_ERR_NOFEATURE, "bm_set_reg", "registers of the chip");
  EXPECT_REFUSED(bm_rw_host(handle_, &rw), BM_ERR_NOFEATURE, "bm_rw_host", "memory of the host");
  EXPECT_REFUSED(bm_rw_mix(handle_, &rw), BM_ERR_NOFEATURE, "bm_rw_mix", "memory of the host");
  bm_profile_record_send_api(handle_, 0, nullptr, 0);
  EXPECT_ONE_LINE("bm_profile_record_send_api", "softtpu run --trace");
  bm_profile_record_sync_begin(handle_, 0);
  EXPECT_ONE_LINE("bm_profile_record_sync_begin", "softtpu run --trace");
  bm_profile_record_sync_end(handle_, 0);
  EXPECT_ONE_LINE("bm_profile_record_sync_end", "softtpu run --trace");
  bm_profile_record_memcpy_begin(handle_);
  EXPECT_ONE_LINE("bm_profile_record_memcpy_begin", "softtpu run --trace");
  bm_profile_record_memcpy_end(handle_, 0, 0, 0, 0);
  EXPECT_ONE_LINE("bm_profile_record_memcpy_end", "softtpu run --trace");
  bm_profile_record_mem_begin(handle_);
  EXPECT_ONE_LINE("bm_profile_record_mem_begin", "softtpu run --trace");
  bm_profile_record_mem_end(handle_, ALLOC, 0, 0);
  EXPECT_ONE_LINE("bm_profile_record_mem_end", "softtpu run --trace");
}

TEST_F(Host, CountsMemory) {
  bm_heap_stat_byte_t before, after;
  ASSERT_EQ(bm_get_gmem_heap_stat_byte_by_id(handle_, &before, 0), BM_SUCCESS);
  EXPECT_EQ(before.mem_start_addr, 0x105100000ULL);
  EXPECT_EQ(before.mem_total, before.mem_avail + before.mem_used);
  const bm_device_mem_t mem = allocate(100U << 20);
  ASSERT_EQ(bm_get_gmem_heap_stat_byte_by_id(handle_, &after, 0), BM_SUCCESS);
  EXPECT_EQ(after.mem_used, before.mem_used + (100ULL << 20));
  bm_dev_stat_t stat;
  ASSERT_EQ(bm_get_stat(handle_, &stat), BM_SUCCESS);
  EXPECT_GE(stat.mem_used, 100);
  EXPECT_GT(stat.mem_total, 3900);
  EXPECT_EQ(stat.heap_num, 1);
  EXPECT_EQ(stat.heap_stat[0].mem_total, static_cast<unsigned>(stat.mem_total));
  EXPECT_REFUSED(bm_get_gmem_heap_stat_byte_by_id(handle_, &after, 1), BM_ERR_PARAM, "bm_get_gmem_heap_stat_byte_by_id",
                 "heap_id 1");
  EXPECT_REFUSED(bm_get_stat(handle_, nullptr), BM_ERR_PARAM, "bm_get_stat", "stat is NULL");
  bm_free_device(handle_, mem);
}

TEST_F(Host, NoFeatureIsToldOnceForEachFunction) {
  unsigned value = 0;
  EXPECT_REFUSED(bm_get_fan_speed(handle_, &value), BM_ERR_NOFEATURE, "bm_get_fan_speed", "no such feature");
  EXPECT_EQ(bm_get_fan_speed(handle_, &value), BM_ERR_NOFEATURE);
  EXPECT_THAT(take_log(), ::testing::IsEmpty());
  EXPECT_REFUSED(bm_get_chip_temp(handle_, &value), BM_ERR_NOFEATURE, "bm_get_chip_temp", "sensors");
  EXPECT_REFUSED(bm_get_board_power(nullptr, &value), BM_ERR_DEVNOTREADY, "bm_get_board_power", "handle is NULL");
  EXPECT_REFUSED(bmcpu_open_process(handle_, 0, 0), -1, "bmcpu_open_process", "no such feature");
  EXPECT_REFUSED(bmcpu_start_cpu(handle_, nullptr, nullptr), BM_ERR_NOFEATURE, "bmcpu_start_cpu", "no such feature");
  EXPECT_REFUSED(bmcpu_exec_function(handle_, 0, nullptr, nullptr, 0, 0), BM_ERR_NOFEATURE, "bmcpu_exec_function",
                 "no such feature");
  EXPECT_REFUSED(bmcpu_map_phys_addr(handle_, 0, nullptr, 0, 0), nullptr, "bmcpu_map_phys_addr", "no such feature");
  EXPECT_REFUSED(bmcpu_get_cpu_status(handle_), BMCPU_IDLE, "bmcpu_get_cpu_status", "no such feature");
  EXPECT_REFUSED(bmkernel_launch(handle_, nullptr, 0), BM_ERR_NOFEATURE, "bmkernel_launch", "no such feature");
}

// Every function of these groups answers "no feature", and with a NULL handle "not ready".
TEST_F(Host, BoardFunctionsAnswer) {
  unsigned u = 0;
  int i = 0;
  unsigned long l = 0;
  float f = 0;
  char text[64];
  boot_loader_version version;
  bm_perf_monitor_t monitor{};
  unsigned long long api = 0;
  const bm_handle_t h = handle_;
  const bm_status_t answers[] = {
      bm_get_tpu_current(h, &u),
      bm_get_board_max_power(h, &u),
      bm_get_board_power(h, &u),
      bm_get_ecc_correct_num(h, &l),
      bm_get_12v_atx(h, &i),
      bm_get_product_sn(text),
      bm_get_sn(h, text),
      bm_get_board_temp(h, &u),
      bm_get_tpu_power(h, &f),
      bm_get_tpu_volt(h, &u),
      bm_set_clk_tpu_freq(h, 1),
      bm_get_clk_tpu_freq(h, &i),
      bm_get_tpu_maxclk(h, &u),
      bm_get_tpu_minclk(h, &u),
      bm_get_dynfreq_status(h, &i),
      bm_change_dynfreq_status(h, 1),
      bm_get_boot_loader_version(h, &version),
      bm_get_vpu_instant_usage(h, &i),
      bm_get_jpu_core_usage(h, &i),
      bm_get_vpp_instant_usage(h, &i),
      bm_enable_perf_monitor(h, &monitor),
      bm_disable_perf_monitor(h, &monitor),
      bmkernel_load_lookup_table(h, nullptr, 0),
      bmcpu_load_library(h, 0, text, 0),
      bmcpu_unload_library(h, 0, text, 0),
      bmcpu_exec_function_async(h, 0, text, nullptr, 0, &api),
      bmcpu_exec_function_async_ext(h, 0, text, nullptr, 0, 0, &api),
      bmcpu_unmap_phys_addr(h, 0, nullptr, 0),
      bmcpu_close_process(h, 0, 0),
      bmcpu_reset_cpu(h),
      bmcpu_set_log(h, 0, 0, 0),
      bmcpu_get_log(h, 0, text, 0),
      bmcpu_sync_time(h),
  };
  for (const bm_status_t answer : answers) EXPECT_EQ(answer, BM_ERR_NOFEATURE);
  EXPECT_EQ(bmcpu_exec_function_ext(h, 0, text, nullptr, 0, 0, 0), BM_ERR_NOFEATURE);
  EXPECT_EQ(bmcpu_query_exec_function_result(h, 0, 0), BM_ERR_NOFEATURE);
  bm_set_debug_mode(h, 1);
  bmlib_set_api_dbg_callback(nullptr);
  EXPECT_EQ(take_log().size(), std::size(answers) + 4) << "one line each";
}

TEST_F(Host, FirmwareIsNotNeeded) {
  bmlib_log_set_level(BMLIB_LOG_VERBOSE);
  EXPECT_EQ(okkernel_load_firmware(handle_, "tcm.bin", "ddr.bin"), BM_SUCCESS);
  EXPECT_ONE_LINE("okkernel_load_firmware", "needs no firmware");
  EXPECT_EQ(bm_load_firmware(handle_, nullptr, nullptr), BM_SUCCESS);
  EXPECT_ONE_LINE("bm_load_firmware", "needs no firmware");
  bmlib_log_set_level(BMLIB_LOG_ERROR);
  EXPECT_EQ(okkernel_load_firmware(handle_, "tcm.bin", "ddr.bin"), BM_SUCCESS);
}

TEST(Log, LevelDecidesWhatIsWritten) {
  EXPECT_EQ(bmlib_log_get_level(), BMLIB_LOG_ERROR);
  testing::internal::CaptureStderr();
  bmlib_log("tool", BMLIB_LOG_ERROR, "value %d", 7);
  bmlib_log("tool", BMLIB_LOG_WARNING, "hidden\n");
  bmlib_log_set_level(BMLIB_LOG_WARNING);
  bmlib_log("tool", BMLIB_LOG_WARNING, "shown\n");
  bmlib_log_set_level(BMLIB_LOG_QUIET);
  bmlib_log("tool", BMLIB_LOG_PANIC, "hidden\n");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "[tool][error] value 7\n[tool][warning] shown\n");
}

TEST(Log, ACallbackTakesTheLines) {
  bmlib_log_set_callback(&keep_log_line);
  testing::internal::CaptureStderr();
  bmlib_log("tool", BMLIB_LOG_ERROR, "value %d", 7);
  EXPECT_THAT(take_log(), ::testing::ElementsAre("value 7"));
  bmlib_log_set_callback(nullptr);
  bmlib_log("tool", BMLIB_LOG_ERROR, "again");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "[tool][error] again\n");
}

TEST(Md5, IsShownAsHexadecimal) {
  unsigned char md5[MD5SUM_LEN];
  for (unsigned i = 0; i < MD5SUM_LEN; ++i) md5[i] = static_cast<unsigned char>(17 * i);
  testing::internal::CaptureStdout();
  show_md5(md5);
  fflush(stdout);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "00112233445566778899aabbccddeeff\n");
}

}  // namespace
}  // namespace softtpu::host_test
