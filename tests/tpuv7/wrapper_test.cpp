// libtpu_runtime_api and libtpudnn: their own errors, graphs, and streams of other interfaces.
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <tuple>

#include "tests/tpuv7/rt_fixture.hpp"
#include "tpu_runtime_api/tpu_runtime_api.h"
#include "tpudnn/tpuDNN.h"

namespace softtpu::host_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(Rt, TheWrapperHasItsOwnErrorsAndNames) {
  int device = -1;
  void* pointer = nullptr;
  float ms = 0;
  tpuEvent_t event = nullptr;
  EXPECT_EQ(tpuInit(), tpuSuccess);
  EXPECT_REFUSED(tpuSetDevice(9), tpuErrorInvalidDevice, "tpuSetDevice", "device 9 is out of range");
  EXPECT_EQ(tpuGetDevice(&device), tpuSuccess);
  EXPECT_EQ(device, 0);
  EXPECT_REFUSED(tpuMalloc(&pointer, std::size_t{1} << 40), tpuErrorOutOfMemory, "tpuMalloc", "");
  EXPECT_REFUSED(tpuMalloc(&pointer, 0), tpuErrorInvalidParam, "tpuMalloc", "size is 0");
  EXPECT_REFUSED(tpuFree(&device), tpuErrorFailure, "tpuFree", "is not allocated");
  EXPECT_REFUSED(tpuStreamSynchronize(nullptr), tpuErrorInvalidValue, "tpuStreamSynchronize", "the stream is NULL");
  EXPECT_EQ(tpuEventCreate(&event), tpuSuccess);
  EXPECT_REFUSED(tpuEventQuery(event), tpuErrorTimeout, "tpuEventQuery", "never recorded");
  EXPECT_REFUSED(tpuStreamWaitEvent(stream_, event), tpuErrorFailure, "tpuStreamWaitEvent", "never recorded");
  EXPECT_EQ(tpuEventRecord(event, stream_), tpuSuccess);
  EXPECT_EQ(tpuEventSynchronize(event), tpuSuccess);
  EXPECT_EQ(tpuEventQuery(event), tpuSuccess);
  EXPECT_EQ(tpuEventElapsedTime(&ms, event, event), tpuSuccess);
  EXPECT_EQ(tpuStreamWaitEvent(stream_, event), tpuSuccess);
  EXPECT_EQ(tpuEventDestroy(event, stream_), tpuSuccess);
  EXPECT_EQ(tpuKernelModuleLoadFromFile("/nowhere.so", stream_), nullptr);
  EXPECT_ONE_LINE("tpuKernelModuleLoadFromFile", "/nowhere.so");
}

TEST_F(Rt, TheWrapperMovesDataAndRunsKernels) {
  void* pointer = nullptr;
  int words[2] = {11, 12}, back[2] = {};
  std::size_t all = 0, free = 0, peak = 0;
  int count = 0;
  tpuTopology_t* topology = nullptr;
  tpuStream_t stream = nullptr;
  ASSERT_EQ(tpuStreamCreate(&stream), tpuSuccess);
  ASSERT_EQ(tpuMalloc(&pointer, 16), tpuSuccess);
  EXPECT_EQ(tpuMemcpyH2D(pointer, words, 8), tpuSuccess);
  EXPECT_EQ(tpuMemcpyD2D(static_cast<char*>(pointer) + 8, pointer, 8), tpuSuccess);
  EXPECT_EQ(tpuMemcpyD2H(back, static_cast<char*>(pointer) + 8, 8), tpuSuccess);
  EXPECT_THAT(back, ElementsAre(11, 12));
  words[0] = 21;
  EXPECT_EQ(tpuMemcpyH2DAsync(pointer, words, 8, stream), tpuSuccess);
  EXPECT_EQ(tpuMemcpyD2DAsync(static_cast<char*>(pointer) + 8, pointer, 8, stream), tpuSuccess);
  EXPECT_EQ(tpuMemcpyD2HAsync(back, static_cast<char*>(pointer) + 8, 8, stream), tpuSuccess);
  EXPECT_EQ(tpuStreamSynchronize(stream), tpuSuccess);
  EXPECT_THAT(back, ElementsAre(21, 12));
  const tpuKernelModule_t module = tpuKernelModuleLoadFromFileFlag(SOFTTPU_TEST_RT_KERNELS, stream, 0);
  EXPECT_EQ(module, module_) << "one module of both interfaces";
  const rt_param_t param = args(8);
  EXPECT_EQ(tpuKernelLaunch(module, "append", &param, sizeof param, 1, 1, stream), tpuSuccess);
  EXPECT_EQ(tpuKernelLaunchAsync(module, "append", &param, sizeof param, 1, 1, stream), tpuSuccess);
  EXPECT_REFUSED(tpuKernelLaunch(module, "crash", &param, sizeof param, 1, 1, stream), tpuErrorFailure,
                 "tpuKernelLaunch", "signal 11");
  EXPECT_THAT(appended(), ElementsAre(8, 8));
  EXPECT_EQ(tpuKernelUnloadModuleFlag(module, stream, 0), tpuSuccess);
  EXPECT_EQ(tpuGetAllMemory(&all), tpuSuccess);
  EXPECT_EQ(tpuGetFreeMemory(&free), tpuSuccess);
  EXPECT_EQ(tpuResetPeakMemory(), tpuSuccess);
  EXPECT_EQ(tpuGetPeakMemory(&peak), tpuSuccess);
  EXPECT_LT(free, all);
  EXPECT_EQ(peak, 16 + kWords * 4);
  EXPECT_EQ(tpuGetDeviceCount(&count), tpuSuccess);
  EXPECT_EQ(tpuSetupTopology(), tpuSuccess);
  EXPECT_EQ(tpuGetTopology(&topology), tpuSuccess);
  EXPECT_EQ(topology->device_num, static_cast<std::uint32_t>(count));
  EXPECT_EQ(topology->parent_port, -1);
  void* block = nullptr;
  EXPECT_EQ(tpuMallocHost(&block, 8), tpuSuccess);
  EXPECT_EQ(tpuFreeHost(block), tpuSuccess);
  EXPECT_EQ(tpuFree(pointer), tpuSuccess);
  EXPECT_EQ(tpuStreamDestroy(stream), tpuSuccess);
}

TEST_F(Rt, AGraphIsReplayedInItsOrder) {
  int first = 0, calls = 0;
  tpuGraph_t graph = nullptr;
  tpuGraphExec_t exec = nullptr;
  tpuEvent_t event = nullptr;
  rt_param_t one = args(1), two = args(2);
  ASSERT_EQ(tpuEventCreate(&event), tpuSuccess);
  ASSERT_EQ(tpuStreamBeginCapture(stream_), tpuSuccess);
  EXPECT_REFUSED(tpuStreamBeginCapture(stream_), tpuErrorInvalidParam, "tpuStreamBeginCapture", "already");
  EXPECT_EQ(tpuKernelLaunchAsync(module_, "append", &one, sizeof one, 1, 1, stream_), tpuSuccess);
  EXPECT_EQ(tpuMemcpyD2HAsync(&first, memory_, 4, stream_), tpuSuccess);
  EXPECT_EQ(tpuEventRecord(event, stream_), tpuSuccess);
  EXPECT_EQ(tpuStreamWaitEvent(stream_, event), tpuSuccess);
  EXPECT_EQ(tpuRtStreamAddCallback(
                stream_, [](void* data) { return ++*static_cast<int*>(data); }, &calls),
            tpuRtSuccess);
  EXPECT_EQ(tpuKernelLaunchAsync(module_, "append", &two, sizeof two, 1, 1, stream_), tpuSuccess);
  two.value = 99;  // the arguments were copied
  EXPECT_REFUSED(tpuStreamSynchronize(stream_), tpuErrorFailure, "tpuStreamSynchronize", "is being captured");
  EXPECT_REFUSED(tpuKernelLaunch(module_, "append", &one, sizeof one, 1, 1, stream_), tpuErrorFailure,
                 "tpuKernelLaunch", "is being captured");
  ASSERT_EQ(tpuStreamEndCapture(stream_, &graph), tpuSuccess);
  EXPECT_REFUSED(tpuStreamEndCapture(stream_, &graph), tpuErrorInvalidParam, "tpuStreamEndCapture", "not being");
  EXPECT_EQ(words()[0], 0) << "nothing has run";
  ASSERT_EQ(tpuGraphInstantiate(&exec, graph, nullptr), tpuSuccess);
  EXPECT_EQ(tpuGraphDestroy(graph), tpuSuccess);
  EXPECT_EQ(tpuGraphLaunch(exec, stream_), tpuSuccess);
  EXPECT_EQ(tpuGraphLaunch(exec, stream_), tpuSuccess);
  EXPECT_EQ(tpuStreamSynchronize(stream_), tpuSuccess);
  EXPECT_THAT(appended(), ElementsAre(1, 2, 1, 2));
  EXPECT_EQ(first, 3);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(tpuEventQuery(event), tpuSuccess);
  EXPECT_EQ(tpuGraphExecDestroy(exec), tpuSuccess);
  EXPECT_REFUSED(tpuGraphLaunch(exec, stream_), tpuErrorInvalidValue, "tpuGraphLaunch", "was destroyed");
  EXPECT_REFUSED(tpuGraphDestroy(graph), tpuErrorInvalidValue, "tpuGraphDestroy", "was destroyed");
  EXPECT_REFUSED(tpuGraphExecDestroy(nullptr), tpuErrorInvalidValue, "tpuGraphExecDestroy", "the graph is NULL");
}

// What a stream was given in several kinds: each replay does all of it again, in order, on whichever stream.
TEST_F(Rt, ADestroyedStreamIsNotCapturedAnyMore) {
  tpuStream_t stream = nullptr;
  ASSERT_EQ(tpuStreamCreate(&stream), tpuSuccess);
  // With a step of its own it has a thread, which stays for a while.
  EXPECT_EQ(tpuMemcpyD2DAsync(static_cast<int*>(memory_) + 8, memory_, 4, stream), tpuSuccess);
  EXPECT_EQ(tpuStreamSynchronize(stream), tpuSuccess);
  ASSERT_EQ(tpuStreamBeginCapture(stream), tpuSuccess);
  EXPECT_REFUSED(tpuRtDeviceSynchronize(), tpuRtErrFailure, "tpuRtDeviceSynchronize", "is being captured");
  EXPECT_EQ(tpuStreamDestroy(stream), tpuSuccess);
  EXPECT_EQ(tpuRtDeviceSynchronize(), tpuRtSuccess);
}

TEST_F(Rt, AGraphHasCopiesAndEventsInTheirPlaces) {
  tpuStream_t other = nullptr;
  tpuGraph_t graph = nullptr;
  tpuGraphExec_t exec = nullptr;
  tpuEvent_t before = nullptr, after = nullptr;
  int counts[2] = {}, zero = 0;
  float ms = -1;
  ASSERT_EQ(tpuStreamCreate(&other), tpuSuccess);
  ASSERT_EQ(tpuEventCreate(&before), tpuSuccess);
  ASSERT_EQ(tpuEventCreate(&after), tpuSuccess);
  const rt_param_t slow = args(20);
  ASSERT_EQ(tpuStreamBeginCapture(stream_), tpuSuccess);
  EXPECT_EQ(tpuMemcpyH2DAsync(memory_, &zero, 4, stream_), tpuSuccess);
  EXPECT_EQ(tpuEventRecord(before, stream_), tpuSuccess);
  EXPECT_EQ(tpuKernelLaunchAsync(module_, "slow_append", &slow, sizeof slow, 1, 1, stream_), tpuSuccess);
  EXPECT_EQ(tpuEventRecord(after, stream_), tpuSuccess);
  EXPECT_EQ(tpuMemcpyD2HAsync(&counts[0], memory_, 4, stream_), tpuSuccess);
  EXPECT_EQ(tpuKernelLaunchAsync(module_, "append", &slow, sizeof slow, 1, 1, stream_), tpuSuccess);
  EXPECT_EQ(tpuMemcpyD2DAsync(static_cast<int*>(memory_) + 8, memory_, 4, stream_), tpuSuccess);
  EXPECT_EQ(tpuMemcpyD2HAsync(&counts[1], static_cast<int*>(memory_) + 8, 4, stream_), tpuSuccess);
  ASSERT_EQ(tpuStreamEndCapture(stream_, &graph), tpuSuccess);
  EXPECT_REFUSED(tpuEventQuery(after), tpuErrorTimeout, "tpuEventQuery", "never recorded");
  ASSERT_EQ(tpuGraphInstantiate(&exec, graph, nullptr), tpuSuccess);
  for (const tpuStream_t stream : {tpuStream_t{stream_}, other}) {
    counts[0] = counts[1] = 0;
    EXPECT_EQ(tpuGraphLaunch(exec, stream), tpuSuccess);
    EXPECT_EQ(tpuStreamSynchronize(stream), tpuSuccess);
    EXPECT_THAT(counts, ElementsAre(1, 2));
    EXPECT_EQ(tpuEventQuery(after), tpuSuccess);
    EXPECT_EQ(tpuEventElapsedTime(&ms, before, after), tpuSuccess);
    EXPECT_GE(ms, 19) << "of the replay's own marks";
  }
  EXPECT_EQ(tpuGraphExecDestroy(exec), tpuSuccess);
  EXPECT_EQ(tpuGraphDestroy(graph), tpuSuccess);
}

// Its function numbers would be other kernels there.
TEST_F(Rt, AGraphOfAnotherDeviceIsRefused) {
  tpuGraph_t graph = nullptr;
  tpuStream_t other = nullptr;
  const rt_param_t param = args(1);
  ASSERT_EQ(tpuStreamBeginCapture(stream_), tpuSuccess);
  EXPECT_EQ(tpuKernelLaunchAsync(module_, "append", &param, sizeof param, 1, 1, stream_), tpuSuccess);
  ASSERT_EQ(tpuStreamEndCapture(stream_, &graph), tpuSuccess);
  ASSERT_EQ(tpuSetDevice(1), tpuSuccess);
  ASSERT_EQ(tpuStreamCreate(&other), tpuSuccess);
  EXPECT_REFUSED(tpuGraphLaunch(graph, other), tpuErrorInvalidParam, "tpuGraphLaunch",
                 "the graph was captured on device 0, the stream belongs to device 1");
  const tpudnnHandle_t handle = tpudnnHandleFromStream(1, other, nullptr);
  EXPECT_REFUSED(tpudnnGraphLaunch(graph, handle), TPUDNN_STATUS_FAILED, "tpudnnGraphLaunch", "captured on device 0");
  ASSERT_EQ(tpuSetDevice(0), tpuSuccess);
  EXPECT_EQ(tpuGraphLaunch(graph, stream_), tpuSuccess);
  EXPECT_EQ(tpuStreamSynchronize(stream_), tpuSuccess);
  EXPECT_THAT(appended(), ElementsAre(1));
}

// A wait that was captured means the event's last mark when its turn comes, but never one behind it in its own stream.
TEST_F(Rt, ACapturedWaitDoesNotWaitForWhatStandsBehindIt) {
  tpuGraph_t graph = nullptr;
  tpuEvent_t event = nullptr;
  std::atomic<bool> go = false;
  ASSERT_EQ(tpuEventCreate(&event), tpuSuccess);
  ASSERT_EQ(tpuEventRecord(event, stream_), tpuSuccess);
  ASSERT_EQ(tpuStreamBeginCapture(stream_), tpuSuccess);
  EXPECT_EQ(tpuStreamWaitEvent(stream_, event), tpuSuccess);
  ASSERT_EQ(tpuStreamEndCapture(stream_, &graph), tpuSuccess);
  EXPECT_EQ(tpuRtStreamAddCallback(
                stream_,
                [](void* data) {
                  while (!static_cast<std::atomic<bool>*>(data)->load()) ::usleep(1000);
                  return 0;
                },
                &go),
            tpuRtSuccess);
  EXPECT_EQ(tpuGraphLaunch(graph, stream_), tpuSuccess);
  EXPECT_EQ(tpuEventRecord(event, stream_), tpuSuccess);
  go = true;
  EXPECT_EQ(tpuStreamSynchronize(stream_), tpuSuccess);
}

TEST_F(Rt, AGraphWhoseModuleIsGoneFailsOnce) {
  tpuGraph_t graph = nullptr;
  const rt_param_t param = args(1);
  ASSERT_EQ(tpuStreamBeginCapture(stream_), tpuSuccess);
  EXPECT_EQ(tpuKernelLaunchAsync(module_, "append", &param, sizeof param, 1, 1, stream_), tpuSuccess);
  ASSERT_EQ(tpuStreamEndCapture(stream_, &graph), tpuSuccess);
  EXPECT_EQ(tpuKernelUnloadModule(module_, stream_), tpuSuccess);
  EXPECT_EQ(tpuGraphLaunch(graph, stream_), tpuSuccess);
  EXPECT_REFUSED(tpuStreamSynchronize(stream_), tpuErrorFailure, "tpuStreamSynchronize", "");
  EXPECT_EQ(tpuStreamSynchronize(stream_), tpuSuccess);
  EXPECT_THAT(appended(), ::testing::IsEmpty());
}

// ---- tpuDNN ----

TEST_F(Rt, TpudnnRefusesHandlesThatAreNone) {
  int word = 0;
  const tpudnnHandle_t none[] = {nullptr, reinterpret_cast<tpudnnHandle_t>(&word),
                                 reinterpret_cast<tpudnnHandle_t>(stream_)};
  for (const tpudnnHandle_t handle : none) {
    EXPECT_REFUSED(tpudnnSync(handle), TPUDNN_STATUS_FAILED, "tpudnnSync", "the handle");
    EXPECT_REFUSED(tpudnnFlush(handle), TPUDNN_STATUS_FAILED, "tpudnnFlush", "the handle");
    EXPECT_REFUSED(tpudnnLaunchKernel(handle, "append", nullptr, 0, 1, 1), TPUDNN_STATUS_FAILED, "tpudnnLaunchKernel",
                   "the handle");
    EXPECT_REFUSED(tpudnnMemcpyHostToDevice(handle, 0, &word, 4), TPUDNN_STATUS_FAILED, "tpudnnMemcpyHostToDevice",
                   "the handle");
    EXPECT_REFUSED(tpudnnPhysToVirt(handle, 0), nullptr, "tpudnnPhysToVirt", "the handle");
    EXPECT_REFUSED(tpudnnVirtToPhys(handle, nullptr), 0U, "tpudnnVirtToPhys", "the handle");
    EXPECT_REFUSED(tpudnnEnableProfile(handle, 1, 0), TPUDNN_STATUS_FAILED, "tpudnnEnableProfile", "the handle");
    take_log();
    tpudnnDestroy(handle);
    EXPECT_ONE_LINE("tpudnnDestroy", "the handle");
  }
  EXPECT_EQ(launch("append", 1), tpuRtSuccess);
}

TEST_F(Rt, TpudnnLaunchesByNameInAnyStream) {
  bm_handle_t bm = nullptr;
  ASSERT_EQ(bm_dev_request(&bm, 0), BM_SUCCESS);
  const tpudnnHandle_t handles[] = {tpudnnHandleFromStream(0, stream_, module_), tpudnnHandleFromStream(0, bm, nullptr),
                                    tpudnnHandleFromStreamV2(0, stream_, {nullptr, module_}), tpudnnCreate(0)};
  int value = 0;
  for (const tpudnnHandle_t handle : handles) {
    ASSERT_NE(handle, nullptr) << value;
    rt_param_t param = args(++value);
    EXPECT_EQ(tpudnnLaunchKernel(handle, "append", &param, sizeof param, 1, 1), TPUDNN_STATUS_SUCCESS);
    EXPECT_EQ(tpudnnSync(handle), TPUDNN_STATUS_SUCCESS);
  }
  EXPECT_THAT(appended(), ElementsAre(1, 2, 3, 4));
  for (const tpudnnHandle_t handle : handles) tpudnnDestroy(handle);
  bm_dev_free(bm);
  EXPECT_REFUSED(tpudnnSync(handles[0]), TPUDNN_STATUS_FAILED, "tpudnnSync", "was destroyed");
}

TEST_F(Rt, TpudnnCopiesBehindItsLaunches) {
  const tpudnnHandle_t handle = tpudnnHandleFromStream(0, stream_, module_);
  const auto address = reinterpret_cast<std::uintptr_t>(memory_);
  rt_param_t param = args(30);
  int word = 5, count = 0;
  EXPECT_EQ(tpudnnVirtToPhys(handle, tpudnnPhysToVirt(handle, address)), address);
  EXPECT_EQ(tpudnnLaunchKernel(handle, "slow_append", &param, sizeof param, 1, 1), TPUDNN_STATUS_SUCCESS);
  EXPECT_EQ(tpudnnMemcpyDeviceToHost(handle, &count, address, 4), TPUDNN_STATUS_SUCCESS);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(tpudnnMemcpyHostToDevice(handle, address + 8, &word, 4), TPUDNN_STATUS_SUCCESS);
  EXPECT_EQ(words()[2], 5);
  EXPECT_REFUSED(tpudnnMemcpyHostToDevice(handle, 16, &word, 4), TPUDNN_STATUS_FAILED, "tpudnnMemcpyHostToDevice",
                 "the destination");
  EXPECT_EQ(tpudnnFlush(handle), TPUDNN_STATUS_SUCCESS);
}

TEST_F(Rt, TpudnnRefusesWhatIsWrong) {
  const tpudnnHandle_t handle = tpudnnHandleFromStream(0, stream_, module_);
  rt_param_t param = args(1);
  const auto launch = [&](const char* name, void* block, std::size_t bytes, int groups, int size) {
    return tpudnnLaunchKernel(handle, name, block, bytes, groups, size);
  };
  EXPECT_REFUSED(launch("unknown", &param, 16, 1, 1), TPUDNN_STATUS_FAILED, "tpudnnLaunchKernel", "unknown");
  EXPECT_REFUSED(launch(nullptr, &param, 16, 1, 1), TPUDNN_STATUS_FAILED, "tpudnnLaunchKernel", "kernelName is NULL");
  EXPECT_REFUSED(launch("append", nullptr, 16, 1, 1), TPUDNN_STATUS_FAILED, "tpudnnLaunchKernel",
                 "are NULL with size 16");
  EXPECT_REFUSED(launch("append", &param, 70000, 1, 1), TPUDNN_STATUS_FAILED, "tpudnnLaunchKernel",
                 "above the limit (65536 bytes)");
  EXPECT_REFUSED(launch("append", &param, 16, 0, 1), TPUDNN_STATUS_FAILED, "tpudnnLaunchKernel", "0 groups");
  EXPECT_EQ(launch("crash", &param, 16, 1, 1), TPUDNN_STATUS_SUCCESS);
  EXPECT_REFUSED(tpudnnSync(handle), TPUDNN_STATUS_FAILED, "tpudnnSync", "signal 11");
  EXPECT_EQ(tpudnnHandleFromStream(0, nullptr, module_), nullptr);
  EXPECT_ONE_LINE("tpudnnHandleFromStream", "the stream is NULL");
  EXPECT_EQ(tpudnnHandleFromStream(0, stream_, &param), nullptr);
  EXPECT_ONE_LINE("tpudnnHandleFromStream", "never loaded");
  EXPECT_EQ(tpudnnCreate(7), nullptr);
  EXPECT_ONE_LINE("tpudnnCreate", "device 7 is out of range");
}

TEST(Tpudnn, LoadsTheModuleThatTheEnvironmentNames) {
  bmlib_log_set_callback(&keep_log_line);
  ::setenv("TPU_KERNEL_PATH", "/nowhere.so", 1);
  ::setenv("PPL_KERNEL_PATH", SOFTTPU_TEST_RT_KERNELS, 1);
  const tpudnnHandle_t handle = tpudnnCreate(0);
  ASSERT_NE(handle, nullptr) << ::testing::PrintToString(take_log());
  EXPECT_EQ(tpudnnLaunchKernel(handle, "nothing", nullptr, 0, 1, 1), TPUDNN_STATUS_SUCCESS);
  EXPECT_EQ(tpudnnSync(handle), TPUDNN_STATUS_SUCCESS);
  ::unsetenv("PPL_KERNEL_PATH");
  EXPECT_EQ(tpudnnCreate(0), nullptr);
  EXPECT_ONE_LINE("tpudnnCreate", "/nowhere.so");
}

// A handle without a module and without a path finds the kernels of the module that every device loads.
TEST(Tpudnn, KernelsComeFromTheFirmwarePathToo) {
  bmlib_log_set_callback(&keep_log_line);
  ::setenv("TPUKERNEL_FIRMWARE_PATH", SOFTTPU_TEST_RT_KERNELS, 1);
  const tpudnnHandle_t handle = tpudnnCreate(0);
  ASSERT_NE(handle, nullptr) << ::testing::PrintToString(take_log());
  EXPECT_EQ(tpudnnLaunchKernel(handle, "nothing", nullptr, 0, 1, 1), TPUDNN_STATUS_SUCCESS);
  EXPECT_EQ(tpudnnSync(handle), TPUDNN_STATUS_SUCCESS) << ::testing::PrintToString(take_log());
  ::setenv("TPU_KERNEL_PATH", SOFTTPU_TEST_RT_KERNELS, 1);
  const tpudnnHandle_t other = tpudnnCreate(0);
  EXPECT_REFUSED(tpudnnLaunchKernel(other, "unknown", nullptr, 0, 1, 1), TPUDNN_STATUS_FAILED, "tpudnnLaunchKernel",
                 "unknown");
}

TEST_F(Rt, TpudnnCapturesProfilesAndKnowsOneChip) {
  const tpudnnHandle_t handle = tpudnnHandleFromStream(0, stream_, module_);
  tpudnnGraph_t graph = nullptr;
  tpudnnGraphExec_t exec = nullptr;
  rt_param_t param = args(7);
  EXPECT_EQ(tpudnnEnableProfile(handle, 100, 0), TPUDNN_STATUS_SUCCESS);
  EXPECT_EQ(tpudnnStreamBeginCapture(handle), TPUDNN_STATUS_SUCCESS);
  EXPECT_EQ(tpudnnLaunchKernel(handle, "append", &param, sizeof param, 1, 1), TPUDNN_STATUS_SUCCESS);
  EXPECT_EQ(tpudnnStreamEndCapture(handle, &graph), TPUDNN_STATUS_SUCCESS);
  EXPECT_EQ(tpudnnGraphInstantiate(&exec, graph, nullptr), TPUDNN_STATUS_SUCCESS);
  EXPECT_EQ(tpudnnGraphLaunch(exec, handle), TPUDNN_STATUS_SUCCESS);
  EXPECT_EQ(tpudnnSync(handle), TPUDNN_STATUS_SUCCESS);
  EXPECT_THAT(appended(), ElementsAre(7));
  EXPECT_EQ(tpudnnGraphDestroy(graph), TPUDNN_STATUS_SUCCESS);
  EXPECT_EQ(tpudnnGraphExecDestroy(exec), TPUDNN_STATUS_SUCCESS);
  EXPECT_REFUSED(tpudnnGraphLaunch(exec, handle), TPUDNN_STATUS_FAILED, "tpudnnGraphLaunch", "was destroyed");
  bmlib_log_set_level(BMLIB_LOG_INFO);
  EXPECT_EQ(tpudnnDisableProfile(handle), TPUDNN_STATUS_SUCCESS);
  EXPECT_ONE_LINE("tpudnnDisableProfile", "SOFTTPU_TIME");
  int chips = 0, map[2] = {5, 5};
  const int* topology = nullptr;
  char id[2] = {'x', 'x'};
  EXPECT_EQ(tpudnnSetupC2CTopology(), TPUDNN_STATUS_SUCCESS);
  EXPECT_EQ(tpudnnGetC2CTopology(&chips, &topology), TPUDNN_STATUS_SUCCESS);
  EXPECT_EQ(chips, 2);
  EXPECT_EQ(topology[1], 1);
  EXPECT_EQ(tpudnnCheckChipMap(1, map), TPUDNN_STATUS_SUCCESS);
  EXPECT_EQ(tpudnnGetC2CRing(1, map), TPUDNN_STATUS_SUCCESS);
  EXPECT_EQ(map[0], 0);
  EXPECT_REFUSED(tpudnnGetC2CRing(2, map), TPUDNN_STATUS_FAILED, "tpudnnGetC2CRing", "not linked");
  EXPECT_EQ(tpudnnGetUniqueId(handle, id), TPUDNN_STATUS_SUCCESS);
  EXPECT_STREQ(id, "0");
}

}  // namespace
}  // namespace softtpu::host_test
