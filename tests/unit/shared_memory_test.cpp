// Memories that several processes have mapped: what none of them can do to the others.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "device/memory/memories.hpp"
#include "device/memory/shared_ranges.hpp"
#include "device/server/core_process/shared_memory_guard.hpp"

namespace softtpu::shared_memory_test {
namespace {

constexpr std::uint64_t kBytes = 3 * 4096;

Mapping make() {
  auto made = Mapping::create("a memory", kBytes, "softtpu-test");
  EXPECT_TRUE(made);
  return *std::move(made);
}

TEST(SharedMemory, KeepsItsSize) {
  const Mapping memory = make();
  EXPECT_EQ(::ftruncate(memory.fd(), 4096), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(::ftruncate(memory.fd(), 4 * 4096), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(::fcntl(memory.fd(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(::fallocate(memory.fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096), 0);
}

TEST(SharedMemory, ThatIsReadOnlyCannotBeWrittenInAnyWay) {
  Mapping memory = make();
  std::memset(memory.data(), 0x5A, kBytes);
  memory.make_read_only();
  EXPECT_EQ(memory.data()[kBytes - 1], 0x5A);
  EXPECT_EQ(::mprotect(memory.data(), kBytes, PROT_READ | PROT_WRITE), -1);
  EXPECT_EQ(errno, EACCES);
  EXPECT_EQ(::pwrite(memory.fd(), "x", 1, 0), -1);
  EXPECT_EQ(::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.fd(), 0), MAP_FAILED);
}

// The status of a process that does this.
template <class Work>
int in_a_process(const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

// A page that is not there: of a file that ends before it, put over the memory.
void take_page(std::uint8_t* page) {
  const int file = ::memfd_create("short", MFD_CLOEXEC);
  ::mmap(page, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
}

TEST(SharedMemoryGuard, AServerGoesOnWithZerosWhereAPageIsGone) {
  const Mapping memory = make();
  memory.data()[0] = 1;
  const int status = in_a_process([&] {
    survive_shared_memory_faults();
    take_page(memory.data() + 4096);
    const bool zeros = memory.data()[4096 + 17] == 0 && memory.data()[8191] == 0;
    memory.data()[4096] = 2;
    return zeros && memory.data()[4096] == 2 && memory.data()[0] == 1 && replaced_shared_pages() == 1 ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
}

TEST(SharedMemoryGuard, OtherBusErrorsEndTheProcess) {
  const int status = in_a_process([] {
    survive_shared_memory_faults();
    auto* page = static_cast<std::uint8_t*>(::mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    take_page(page);
    return page[0] == 0 ? 0 : 1;
  });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS) << status;
  const int sent = in_a_process([] {
    survive_shared_memory_faults();
    std::raise(SIGBUS);
    return 0;
  });
  EXPECT_TRUE(WIFSIGNALED(sent) && WTERMSIG(sent) == SIGBUS) << sent;
}

TEST(SharedMemory, AForkKeepsOnlyWhatItIsTold) {
  const Mapping own = make(), other = make();
  own.data()[5] = 7;
  const int status = in_a_process([&] {
    const void* const kept[] = {own.data() + 100};
    keep_shared_ranges(kept);
    unsigned char resident = 0;
    const bool gone = ::mincore(other.data(), 4096, &resident) == -1 && errno == ENOMEM;
    return gone && own.data()[5] == 7 ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace softtpu::shared_memory_test
