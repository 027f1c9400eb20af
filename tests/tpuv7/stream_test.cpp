// Streams, events and callbacks of libtpuv7_rt.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "tests/tpuv7/rt_fixture.hpp"
#include "tpu_runtime_api/tpu_runtime_api.h"
#include "tpudnn/tpuDNN.h"

namespace softtpu::host_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

tpuRtStream_t make_stream() {
  tpuRtStream_t stream = nullptr;
  EXPECT_EQ(tpuRtStreamCreate(&stream), tpuRtSuccess);
  return stream;
}
// What the stream is given from now on waits until then.
void hold(tpuRtStream_t stream, std::atomic<bool>& until) {
  const auto wait = [](void* data) {
    while (!static_cast<std::atomic<bool>*>(data)->load()) ::usleep(1000);
    return 0;
  };
  EXPECT_EQ(tpuRtStreamAddCallback(stream, wait, &until), tpuRtSuccess);
}
tpuRtEvent_t make_event() {
  tpuRtEvent_t event = nullptr;
  EXPECT_EQ(tpuRtEventCreate(&event), tpuRtSuccess);
  return event;
}

TEST_F(Rt, AStreamDoesItsWorkInOrder) {
  int first = 0, word = 40, last = 0;
  EXPECT_EQ(queue("slow_append", 20), tpuRtSuccess);
  EXPECT_EQ(tpuRtMemcpyD2SAsync(&first, memory_, 4, stream_), tpuRtSuccess);
  EXPECT_EQ(tpuRtMemcpyS2DAsync(static_cast<int*>(memory_) + 2, &word, 4, stream_), tpuRtSuccess);
  EXPECT_EQ(queue("append", 3), tpuRtSuccess);  // overwrites what was copied
  EXPECT_EQ(queue("append", 4), tpuRtSuccess);
  EXPECT_EQ(tpuRtMemcpyD2DAsync(static_cast<int*>(memory_) + 4, memory_, 4, stream_), tpuRtSuccess);
  EXPECT_EQ(tpuRtMemcpyD2SAsync(&last, static_cast<int*>(memory_) + 4, 4, stream_), tpuRtSuccess);
  EXPECT_EQ(tpuRtStreamSynchronize(stream_), tpuRtSuccess);
  EXPECT_EQ(first, 1);
  EXPECT_EQ(last, 3);
  EXPECT_THAT(appended(), ElementsAre(20, 3, 4));
}

TEST_F(Rt, ALaunchWaitsForWhatItsStreamWasGivenBefore) {
  std::atomic<bool> called = false;
  EXPECT_EQ(queue("slow_append", 30), tpuRtSuccess);
  EXPECT_EQ(tpuRtStreamAddCallback(
                stream_, [](void* data) { return static_cast<std::atomic<bool>*>(data)->store(true), 0; }, &called),
            tpuRtSuccess);
  EXPECT_EQ(launch("append", 2), tpuRtSuccess);
  EXPECT_TRUE(called);
  EXPECT_THAT(appended(), ElementsAre(30, 2));
}

// Behind a running kernel the recorded runtime's copies wait as well.
TEST_F(Rt, ACopyWaitsForTheLaunchesBeforeIt) {
  EXPECT_EQ(queue("slow_append", 50), tpuRtSuccess);
  EXPECT_THAT(appended(), ElementsAre(50));
  EXPECT_EQ(queue("assertion", 0), tpuRtSuccess);
  EXPECT_THAT(appended(), ElementsAre(50));
  EXPECT_REFUSED(tpuRtStreamSynchronize(stream_), tpuRtErrFailure, "tpuRtStreamSynchronize", "1 + 1 == 3");
}

TEST_F(Rt, ACopyWaitsForLaunchesThatWaitInTheirStream) {
  int first = 0;
  EXPECT_EQ(queue("slow_append", 50), tpuRtSuccess);
  EXPECT_EQ(tpuRtMemcpyD2SAsync(&first, memory_, 4, stream_), tpuRtSuccess);
  EXPECT_EQ(queue("append", 3), tpuRtSuccess);
  EXPECT_THAT(appended(), ElementsAre(50, 3));
}

TEST_F(Rt, AFailedLaunchIsToldBehindCallbacks) {
  std::atomic<int> calls = 0;
  const auto count = [](void* data) { return ++*static_cast<std::atomic<int>*>(data), -1; };  // the value has no effect
  EXPECT_EQ(queue("assertion", 0), tpuRtSuccess);
  EXPECT_EQ(tpuRtStreamAddCallback(stream_, count, &calls), tpuRtSuccess);
  EXPECT_EQ(queue("append", 1), tpuRtSuccess);
  EXPECT_EQ(tpuRtStreamAddCallback(stream_, count, &calls), tpuRtSuccess);
  EXPECT_REFUSED(tpuRtStreamSynchronize(stream_), tpuRtErrFailure, "tpuRtStreamSynchronize", "1 + 1 == 3");
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(tpuRtStreamSynchronize(stream_), tpuRtSuccess);
  EXPECT_THAT(appended(), ElementsAre(1));
}

TEST_F(Rt, StreamsThatAreNoneAreRefused) {
  EXPECT_REFUSED(tpuRtStreamSynchronize(nullptr), tpuRtErrorInvalidResourceHandle, "tpuRtStreamSynchronize", "is NULL");
  EXPECT_REFUSED(tpuRtStreamDestroy(nullptr), tpuRtErrorInvalidResourceHandle, "tpuRtStreamDestroy", "is NULL");
  const tpuRtStream_t stream = make_stream();
  EXPECT_EQ(tpuRtStreamDestroy(stream), tpuRtSuccess);
  EXPECT_REFUSED(tpuRtStreamDestroy(stream), tpuRtErrorInvalidResourceHandle, "tpuRtStreamDestroy", "was destroyed");
  EXPECT_REFUSED(queue("append", 1, stream), tpuRtErrorInvalidResourceHandle, "tpuRtKernelLaunchAsync",
                 "was destroyed");
  EXPECT_REFUSED(tpuRtStreamCreate(nullptr), tpuRtErrorInvalidValue, "tpuRtStreamCreate", "pStream is NULL");
  int word = 0;
  EXPECT_REFUSED(tpuRtMemcpyD2SAsync(&word, memory_, 4, stream), tpuRtErrorInvalidResourceHandle, "tpuRtMemcpyD2SAsync",
                 "was destroyed");
}

TEST_F(Rt, ADestroyedStreamStillDoesItsWork) {
  const tpuRtStream_t stream = make_stream();
  std::atomic<bool> called = false;
  EXPECT_EQ(queue("slow_append", 30, stream), tpuRtSuccess);
  EXPECT_EQ(tpuRtStreamAddCallback(
                stream, [](void* data) { return static_cast<std::atomic<bool>*>(data)->store(true), 0; }, &called),
            tpuRtSuccess);
  EXPECT_EQ(queue("append", 2, stream), tpuRtSuccess);
  EXPECT_EQ(tpuRtStreamDestroy(stream), tpuRtSuccess);
  EXPECT_EQ(tpuRtDeviceSynchronize(), tpuRtSuccess);
  EXPECT_TRUE(called);
  EXPECT_THAT(appended(), ElementsAre(30, 2));
}

TEST_F(Rt, ManyStreamsWorkByThemselves) {
  constexpr int kStreams = 300;
  std::atomic<int> calls = 0;
  std::vector<tpuRtStream_t> streams;
  for (int i = 0; i < kStreams; ++i) streams.push_back(make_stream());
  for (int round = 0; round < 2; ++round) {
    for (const tpuRtStream_t stream : streams) {
      EXPECT_EQ(queue("append", round, stream), tpuRtSuccess);
      EXPECT_EQ(tpuRtStreamAddCallback(
                    stream, [](void* data) { return ++*static_cast<std::atomic<int>*>(data), 0; }, &calls),
                tpuRtSuccess);
    }
  }
  for (const tpuRtStream_t stream : streams) EXPECT_EQ(tpuRtStreamSynchronize(stream), tpuRtSuccess);
  EXPECT_EQ(calls, 2 * kStreams);
  EXPECT_EQ(appended().size(), 2U * kStreams);
  for (const tpuRtStream_t stream : streams) EXPECT_EQ(tpuRtStreamDestroy(stream), tpuRtSuccess);
}

// Copies, callbacks, events and launches of other streams go on while one stream waits for the program.
TEST_F(Rt, AStreamThatWaitsDoesNotHoldUpAnother) {
  const tpuRtStream_t other = make_stream();
  const tpuRtEvent_t event = make_event();
  std::atomic<bool> go = false, called = false;
  int word = 0;
  hold(stream_, go);
  EXPECT_EQ(queue("append", 1), tpuRtSuccess);
  EXPECT_EQ(queue("append", 2, other), tpuRtSuccess);
  EXPECT_EQ(tpuRtMemcpyD2SAsync(&word, memory_, 4, other), tpuRtSuccess);
  EXPECT_EQ(tpuRtStreamAddCallback(
                other, [](void* data) { return static_cast<std::atomic<bool>*>(data)->store(true), 0; }, &called),
            tpuRtSuccess);
  EXPECT_EQ(tpuRtEventRecord(event, other), tpuRtSuccess);
  EXPECT_EQ(tpuRtEventSynchronize(event), tpuRtSuccess);
  EXPECT_EQ(launch("append", 3, other), tpuRtSuccess);
  EXPECT_EQ(tpuRtStreamSynchronize(other), tpuRtSuccess);
  EXPECT_EQ(word, 1);
  EXPECT_TRUE(called);
  EXPECT_THAT(appended(), ElementsAre(2, 3)) << "a copy does not wait for what the stream keeps back";
  go = true;
  EXPECT_EQ(tpuRtStreamSynchronize(stream_), tpuRtSuccess);
  EXPECT_THAT(appended(), ElementsAre(2, 3, 1));
}

// Observed: kernels of two streams run one after the other.
TEST_F(Rt, KernelsOfTwoStreamsDoNotOverlap) {
  const tpuRtStream_t other = make_stream();
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(queue("slow_append", 40), tpuRtSuccess);
  EXPECT_EQ(queue("slow_append", 41, other), tpuRtSuccess);
  EXPECT_EQ(tpuRtDeviceSynchronize(), tpuRtSuccess);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(81));
  EXPECT_THAT(appended(), ElementsAre(40, 41));
}

// One kind of handle is none of another kind, whatever it points to.
TEST_F(Rt, HandlesOfAnotherKindAreRefused) {
  const tpuRtEvent_t event = make_event();
  int word = 0;
  EXPECT_REFUSED(tpuRtStreamSynchronize(reinterpret_cast<tpuRtStream_t>(event)), tpuRtErrorInvalidResourceHandle,
                 "tpuRtStreamSynchronize", "was destroyed or never created");
  EXPECT_REFUSED(tpuRtEventQuery(reinterpret_cast<tpuRtEvent_t>(stream_)), tpuRtErrorInvalidResourceHandle,
                 "tpuRtEventQuery", "was destroyed or never created");
  EXPECT_REFUSED(tpuRtEventRecord(reinterpret_cast<tpuRtEvent_t>(&word), stream_), tpuRtErrorInvalidResourceHandle,
                 "tpuRtEventRecord", "was destroyed or never created");
  EXPECT_REFUSED(tpuRtKernelUnloadModule(reinterpret_cast<tpuRtKernelModule_t>(stream_), stream_),
                 tpuRtErrorInvalidResourceHandle, "tpuRtKernelUnloadModule", "never loaded");
  EXPECT_REFUSED(tpuRtStreamDestroy(reinterpret_cast<tpuRtStream_t>(module_)), tpuRtErrorInvalidResourceHandle,
                 "tpuRtStreamDestroy", "never created");
  EXPECT_REFUSED(tpuRtMemcpyS2D(&word, &word, 4), tpuRtErrParam, "tpuRtMemcpyS2D", "the destination");
  void* host = &word;
  EXPECT_REFUSED(static_cast<unsigned>(tpuRtFree(&host, 0)), kMemoryRefused, "tpuRtFree", "is not allocated");
  EXPECT_EQ(launch("append", 1), tpuRtSuccess) << "nothing else is disturbed";
}

// Observed: leaving main while a kernel runs ends the program with 0, without waiting.
TEST_F(Rt, LeavingMainWhileAKernelRunsDoesNotWait) {
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    // A fork has no device; a program of its own has.
    ::execl(SOFTTPU_TEST_LEAVER, SOFTTPU_TEST_LEAVER, SOFTTPU_TEST_RT_KERNELS, nullptr);
    ::_exit(99);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30)) << "the kernel takes a minute";
}

TEST_F(Rt, AForkHasNoDevice) {
  const pid_t child = ::fork();
  if (child == 0) {
    take_log();
    void* pointer = nullptr;
    const bool refused = tpuRtMalloc(&pointer, 16, 0) != tpuRtSuccess && queue("append", 1) != tpuRtSuccess &&
                         tpuRtStreamSynchronize(stream_) != tpuRtSuccess && take_log().size() == 3;
    ::_exit(refused ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(launch("append", 1), tpuRtSuccess) << "the parent's goes on";
}

TEST_F(Rt, DeviceSynchronizeWaitsForEveryStream) {
  const tpuRtStream_t other = make_stream();
  EXPECT_EQ(queue("slow_append", 30, other), tpuRtSuccess);
  EXPECT_EQ(queue("append", 1), tpuRtSuccess);
  EXPECT_EQ(queue("assertion", 1, other), tpuRtSuccess);
  EXPECT_REFUSED(tpuRtDeviceSynchronize(), tpuRtErrFailure, "tpuRtDeviceSynchronize", "1 + 1 == 3");
  EXPECT_EQ(appended().size(), 2U);
  EXPECT_EQ(tpuRtStreamSynchronize(other), tpuRtSuccess);
}

// ---- Callbacks ----

TEST_F(Rt, CallbacksRunInOrderOnAnotherThread) {
  struct Calls {
    std::vector<int> order;
    std::thread::id thread;
  } calls;
  struct Call {
    Calls* all;
    int number;
  };
  Call list[3] = {{&calls, 1}, {&calls, 2}, {&calls, 3}};
  for (Call& call : list) {
    EXPECT_EQ(tpuRtStreamAddCallback(
                  stream_,
                  [](void* data) {
                    const auto* mine = static_cast<Call*>(data);
                    mine->all->order.push_back(mine->number);
                    mine->all->thread = std::this_thread::get_id();
                    return 0;
                  },
                  &call),
              tpuRtSuccess);
  }
  EXPECT_EQ(tpuRtStreamSynchronize(stream_), tpuRtSuccess);
  EXPECT_THAT(calls.order, ElementsAre(1, 2, 3));
  EXPECT_NE(calls.thread, std::this_thread::get_id());
  EXPECT_REFUSED(tpuRtStreamAddCallback(stream_, nullptr, nullptr), tpuRtErrorInvalidValue, "tpuRtStreamAddCallback",
                 "callback is NULL");
}

TEST_F(Rt, ACallbackMayCallEverythingButNotWaitForItself) {
  struct Both {
    Rt* test;
    tpuRtStream_t stream;
    tpuRtEvent_t event;
    tpuRtKernelModule_t module;
    rt_param_t param;
    std::vector<int> statuses;
  } both{this, stream_, make_event(), module_, args(9), {}};
  EXPECT_EQ(tpuRtStreamAddCallback(
                stream_,
                [](void* data) {
                  auto& with = *static_cast<Both*>(data);
                  rt_param_t& param = with.param;
                  auto note = [&](tpuRtStatus_t status) { with.statuses.push_back(status); };
                  note(tpuRtStreamSynchronize(with.stream));
                  note(tpuRtDeviceSynchronize());
                  note(tpuRtKernelLaunch(with.module, "append", &param, sizeof param, 1, 1, with.stream));
                  note(tpuRtKernelLaunchAsync(with.module, "append", &param, sizeof param, 1, 1, with.stream));
                  note(tpuRtEventRecord(with.event, with.stream));
                  note(tpuRtEventSynchronize(with.event));
                  int word = 0;
                  note(tpuRtMemcpyD2S(&word, reinterpret_cast<void*>(param.address), 4));
                  return 0;
                },
                &both),
            tpuRtSuccess);
  EXPECT_EQ(tpuRtStreamSynchronize(stream_), tpuRtSuccess);
  EXPECT_EQ(tpuRtEventSynchronize(both.event), tpuRtSuccess);
  EXPECT_THAT(both.statuses, ElementsAre(tpuRtErrBusy, tpuRtErrBusy, tpuRtErrBusy, 0, 0, tpuRtErrBusy, 0));
  EXPECT_EQ(take_log().size(), 4U);
  EXPECT_EQ(tpuRtStreamSynchronize(stream_), tpuRtSuccess);
  EXPECT_THAT(appended(), ElementsAre(9));
}

TEST_F(Rt, ACallbackMayDestroyItsStream) {
  struct Own {
    tpuRtStream_t stream;
    std::atomic<int> status{-1};
  } own{make_stream(), {}};
  EXPECT_EQ(tpuRtStreamAddCallback(
                own.stream,
                [](void* data) {
                  auto& with = *static_cast<Own*>(data);
                  with.status = tpuRtStreamDestroy(with.stream);
                  return 0;
                },
                &own),
            tpuRtSuccess);
  while (own.status == -1) std::this_thread::yield();
  EXPECT_EQ(own.status, tpuRtSuccess);
}

// ---- Events ----

TEST_F(Rt, AnEventThatWasNeverRecorded) {
  const tpuRtEvent_t event = make_event();
  float ms = 7;
  EXPECT_REFUSED(tpuRtEventQuery(event), tpuRtDevnotready, "tpuRtEventQuery", "never recorded");
  EXPECT_EQ(tpuRtEventSynchronize(event), tpuRtSuccess);
  EXPECT_EQ(tpuRtEventElapsedTime(&ms, event, event), tpuRtSuccess);
  EXPECT_EQ(ms, 0);
  EXPECT_REFUSED(tpuRtStreamWaitEvent(stream_, event), tpuRtErrorInitializationError, "tpuRtStreamWaitEvent",
                 "never recorded");
}

TEST_F(Rt, EventsSayWhatIsDone) {
  const tpuRtEvent_t event = make_event();
  EXPECT_EQ(queue("slow_append", 60), tpuRtSuccess);
  EXPECT_EQ(tpuRtEventRecord(event, stream_), tpuRtSuccess);
  EXPECT_EQ(tpuRtEventQuery(event), tpuRtDevnotready);
  EXPECT_EQ(tpuRtEventSynchronize(event), tpuRtSuccess);
  EXPECT_EQ(tpuRtEventQuery(event), tpuRtSuccess);
  EXPECT_EQ(appended().size(), 1U);
  EXPECT_EQ(tpuRtEventFree(event, stream_), tpuRtSuccess);
}

TEST_F(Rt, EventsThatAreNoneAreRefused) {
  float ms = 0;
  const tpuRtEvent_t event = make_event();
  EXPECT_REFUSED(tpuRtEventRecord(nullptr, stream_), tpuRtErrorInvalidValue, "tpuRtEventRecord", "the event is NULL");
  EXPECT_REFUSED(tpuRtEventRecord(event, nullptr), tpuRtErrorInvalidResourceHandle, "tpuRtEventRecord", "is NULL");
  EXPECT_REFUSED(tpuRtEventCreate(nullptr), tpuRtErrorInvalidValue, "tpuRtEventCreate", "pEvent is NULL");
  EXPECT_REFUSED(tpuRtEventElapsedTime(nullptr, event, event), tpuRtErrorInvalidValue, "tpuRtEventElapsedTime",
                 "ms is NULL");
  EXPECT_EQ(tpuRtEventFree(event, nullptr), tpuRtSuccess);
  EXPECT_REFUSED(tpuRtEventFree(event, nullptr), tpuRtErrorInvalidResourceHandle, "tpuRtEventFree", "was destroyed");
  EXPECT_REFUSED(tpuRtEventQuery(event), tpuRtErrorInvalidResourceHandle, "tpuRtEventQuery", "was destroyed");
  EXPECT_REFUSED(tpuRtEventSynchronize(event), tpuRtErrorInvalidResourceHandle, "tpuRtEventSynchronize", "destroyed");
  EXPECT_REFUSED(tpuRtStreamWaitEvent(stream_, event), tpuRtErrorInvalidResourceHandle, "tpuRtStreamWaitEvent",
                 "destroyed");
  EXPECT_REFUSED(tpuRtEventElapsedTime(&ms, event, event), tpuRtErrorInvalidResourceHandle, "tpuRtEventElapsedTime",
                 "destroyed");
}

TEST_F(Rt, AnEventOrdersTwoStreams) {
  const tpuRtStream_t other = make_stream();
  const tpuRtEvent_t event = make_event();
  std::atomic<bool> go = false;
  hold(stream_, go);
  EXPECT_EQ(queue("append", 1), tpuRtSuccess);
  EXPECT_EQ(tpuRtEventRecord(event, stream_), tpuRtSuccess);
  EXPECT_EQ(tpuRtStreamWaitEvent(other, event), tpuRtSuccess);
  EXPECT_EQ(queue("append", 2, other), tpuRtSuccess);
  EXPECT_EQ(tpuRtEventFree(event, stream_), tpuRtSuccess);  // what waits for it goes on waiting
  go = true;
  EXPECT_EQ(tpuRtStreamSynchronize(other), tpuRtSuccess);
  EXPECT_THAT(appended(), ElementsAre(1, 2));
}

TEST_F(Rt, WaitEventSyncWaitsHereToo) {
  const tpuRtStream_t other = make_stream();
  const tpuRtEvent_t event = make_event();
  EXPECT_EQ(queue("slow_append", 40), tpuRtSuccess);
  EXPECT_EQ(tpuRtEventRecord(event, stream_), tpuRtSuccess);
  EXPECT_EQ(tpuRtStreamWaitEventSync(other, event), tpuRtSuccess);
  EXPECT_EQ(tpuRtEventQuery(event), tpuRtSuccess);
}

TEST_F(Rt, ElapsedTimeIsWhatPassed) {
  const tpuRtEvent_t start = make_event(), end = make_event();
  float ms = -1, reversed = 1;
  EXPECT_EQ(tpuRtEventRecord(start, stream_), tpuRtSuccess);
  EXPECT_EQ(queue("slow_append", 60), tpuRtSuccess);
  EXPECT_EQ(tpuRtEventRecord(end, stream_), tpuRtSuccess);
  EXPECT_REFUSED(tpuRtEventElapsedTime(&ms, start, end), tpuRtDevnotready, "tpuRtEventElapsedTime",
                 "has not happened yet");
  EXPECT_EQ(tpuRtStreamSynchronize(stream_), tpuRtSuccess);
  EXPECT_EQ(tpuRtEventElapsedTime(&ms, start, end), tpuRtSuccess);
  EXPECT_GE(ms, 59);
  EXPECT_EQ(tpuRtEventElapsedTime(&reversed, end, start), tpuRtSuccess);
  EXPECT_EQ(reversed, -ms);
}

class TimedRt : public Rt {
  void SetUp() override {
    ::setenv("SOFTTPU_TIME", "on", 1);
    ::setenv("SOFTTPU_JOURNAL", "/dev/null", 1);  // no report of times
    Rt::SetUp();
  }
};

TEST_F(TimedRt, ElapsedTimeIsTheEstimate) {
  const tpuRtEvent_t start = make_event(), middle = make_event(), end = make_event();
  memory_ = allocate(3 * 64 * 256 * 4);
  float first = 0, both = 0, none = 1;
  EXPECT_EQ(tpuRtEventRecord(start, stream_), tpuRtSuccess);
  EXPECT_EQ(queue("add_tensors", 256), tpuRtSuccess);
  EXPECT_EQ(tpuRtEventRecord(middle, stream_), tpuRtSuccess);
  ::usleep(20000);  // is no time on the chip
  EXPECT_EQ(queue("add_tensors", 256), tpuRtSuccess);
  EXPECT_EQ(tpuRtEventRecord(end, stream_), tpuRtSuccess);
  EXPECT_EQ(tpuRtStreamSynchronize(stream_), tpuRtSuccess);
  EXPECT_EQ(tpuRtEventElapsedTime(&first, start, middle), tpuRtSuccess);
  EXPECT_EQ(tpuRtEventElapsedTime(&both, start, end), tpuRtSuccess);
  EXPECT_EQ(tpuRtEventElapsedTime(&none, end, end), tpuRtSuccess);
  EXPECT_GT(first, 0);
  EXPECT_LT(first, 5) << "of a few hundred KB";
  EXPECT_FLOAT_EQ(both, 2 * first);
  EXPECT_EQ(none, 0);
}

// ---- A device that ends, a process that forks ----

// Its device process is known by a variable of its own.
class MortalRt : public Rt {
 protected:
  void SetUp() override {
    ::setenv("SOFTTPU_TEST_MARK", mark_.c_str(), 1);
    Rt::SetUp();
  }
  bool kill_device() const {
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      std::string name, variables;
      std::getline(std::ifstream(entry.path() / "comm"), name);
      if (!name.starts_with("softtpu-device")) continue;
      std::getline(std::ifstream(entry.path() / "environ"), variables, '\n');
      if (variables.find("SOFTTPU_TEST_MARK=" + mark_) != std::string::npos)
        return ::kill(std::stoi(entry.path().filename()), SIGKILL) == 0;
    }
    return false;
  }

 private:
  const std::string mark_ = std::to_string(::getpid()) + ".";
};

TEST_F(MortalRt, ADeviceThatHasDiedIsToldAndReplaced) {
  const tpuRtEvent_t event = make_event();
  EXPECT_EQ(queue("slow_append", 100), tpuRtSuccess);
  EXPECT_EQ(tpuRtEventRecord(event, stream_), tpuRtSuccess);
  ASSERT_TRUE(kill_device());
  EXPECT_REFUSED(tpuRtStreamSynchronize(stream_), tpuRtDevnotready, "tpuRtStreamSynchronize", "has ended");
  EXPECT_EQ(tpuRtEventSynchronize(event), tpuRtSuccess) << "the wait ends";
  void* pointer = nullptr;
  EXPECT_REFUSED(tpuRtMalloc(&pointer, 16, 0), tpuRtDevnotready, "tpuRtMalloc", "has ended");
  EXPECT_EQ(tpuRtSetDevice(0), tpuRtSuccess);
  EXPECT_EQ(tpuRtMalloc(&pointer, 16, 0), tpuRtSuccess);
  take_log();
}

// Another device goes on, and callbacks behind lost launches are still called.
TEST_F(MortalRt, ADeviceThatHasDiedDisturbsNoOther) {
  ::setenv("SOFTTPU_TEST_MARK", "another", 1);
  ASSERT_EQ(tpuRtSetDevice(1), tpuRtSuccess);
  const tpuRtStream_t other = make_stream();
  const tpuRtKernelModule_t module = tpuRtKernelLoadModuleFile(SOFTTPU_TEST_RT_KERNELS, other);
  ASSERT_NE(module, nullptr);
  ASSERT_EQ(tpuRtSetDevice(0), tpuRtSuccess);
  const tpudnnHandle_t handle = tpudnnHandleFromStream(0, stream_, module_);
  std::atomic<bool> called = false;
  EXPECT_EQ(queue("slow_append", 200), tpuRtSuccess);
  EXPECT_EQ(tpuRtStreamAddCallback(
                stream_, [](void* data) { return static_cast<std::atomic<bool>*>(data)->store(true), 0; }, &called),
            tpuRtSuccess);
  ASSERT_TRUE(kill_device());
  EXPECT_REFUSED(tpuStreamSynchronize(stream_), tpuErrorFailure, "tpuStreamSynchronize", "has ended");
  EXPECT_TRUE(called);
  EXPECT_REFUSED(tpudnnLaunchKernel(handle, "append", nullptr, 0, 1, 1), TPUDNN_STATUS_FAILED, "tpudnnLaunchKernel",
                 "has ended");
  int word = 0;
  EXPECT_REFUSED(tpuMemcpyH2DAsync(memory_, &word, 4, stream_), tpuErrorFailure, "tpuMemcpyH2DAsync", "has ended");
  EXPECT_EQ(tpuRtKernelLaunch(module, "nothing", nullptr, 0, 1, 1, other), tpuRtSuccess);
  EXPECT_EQ(tpuRtStreamDestroy(stream_), tpuRtSuccess);
}

TEST_F(Rt, ManyThreadsShareAStream) {
  constexpr int kThreads = 4, kRounds = 50;
  std::atomic<int> calls = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        EXPECT_EQ(queue("append", 1), tpuRtSuccess);
        EXPECT_EQ(tpuRtStreamAddCallback(
                      stream_, [](void* data) { return ++*static_cast<std::atomic<int>*>(data), 0; }, &calls),
                  tpuRtSuccess);
        if (round % 8 == 0) {
          EXPECT_EQ(tpuRtStreamSynchronize(stream_), tpuRtSuccess);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(tpuRtStreamSynchronize(stream_), tpuRtSuccess);
  EXPECT_EQ(calls, kThreads * kRounds);
  EXPECT_EQ(appended().size(), static_cast<std::size_t>(kThreads * kRounds));
}

TEST_F(Rt, MemoryIsFilledAndCopiedBetweenDevices) {
  ASSERT_EQ(tpuRtMemset(memory_, 0x101 * 3, 8), tpuRtSuccess);
  ASSERT_EQ(tpuRtMemsetAsync(static_cast<char*>(memory_) + 4, 5, 2, stream_), tpuRtSuccess);
  ASSERT_EQ(tpuRtStreamSynchronize(stream_), tpuRtSuccess);
  const std::vector<int> filled = words();
  EXPECT_EQ(std::vector<int>(filled.begin(), filled.begin() + 3), (std::vector<int>{0x03030303, 0x03030505, 0}));
  ASSERT_EQ(tpuRtSetDevice(1), tpuRtSuccess);
  void* const other = allocate(16);
  ASSERT_EQ(tpuRtMemcpyP2P(other, 1, memory_, 0, 8), tpuRtSuccess);
  int back[2] = {};
  ASSERT_EQ(tpuRtMemcpyD2S(back, other, 8), tpuRtSuccess);
  EXPECT_EQ(std::vector<int>(back, back + 2), (std::vector<int>{0x03030303, 0x03030505}));
  ASSERT_EQ(tpuRtSetDevice(0), tpuRtSuccess);
  ASSERT_EQ(tpuRtMemcpyP2PAsync(memory_, 0, other, 1, 4, stream_), tpuRtSuccess);
  ASSERT_EQ(tpuRtMemcpyP2PAsync(static_cast<char*>(memory_) + 8, 0, other, 1, 4, stream_), tpuRtSuccess);
  ASSERT_EQ(tpuRtStreamSynchronize(stream_), tpuRtSuccess);
  EXPECT_EQ(words()[2], 0x03030303);
  EXPECT_NE(tpuRtMemcpyP2P(other, 5, memory_, 0, 8), tpuRtSuccess);
  EXPECT_ONE_LINE("tpuRtMemcpyP2P", "device 5 is out of range");
}

}  // namespace
}  // namespace softtpu::host_test
