// CoreChild: the process of a core, or its thread, as the server sees it: started, signalled, found to have ended, and
// what it says in its status pages. Of its messages and its work it knows nothing; those are CoreLink's.
//
// Lives on the server's thread. A core is a forked process; in a program with linked-in kernels it is a thread, which
// can neither be ended nor survive a crash of its kernel.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "device/memory/memories.hpp"
#include "device/server/core_process/core_process.hpp"
#include "device/server/core_process/status_pages.hpp"
#include "device/server/crash/crash_info.hpp"
#include "runtime/base/result.hpp"
#include "runtime/base/unique_fd.hpp"

namespace softtpu {

class EventLoop;
class LaunchPage;
class CoreRings;
struct DeviceObservers;

class CoreChild {
 public:
  struct Options {
    int index = 0;
    bool in_process = false;  // a thread of this process
    bool sandbox = false;
    bool own_namespace = true;       // of the core's process, where the system allows it
    std::string dump_folder;         // gets what a core that ended has left; empty: it is not kept
    LaunchPage* launches = nullptr;  // of launches on several cores; null: the chip has one
    CoreRings* rings = nullptr;      // of all cores of the device; null: it is a thread
  };
  CoreChild(EventLoop& loop, Memories& memories, const DeviceObservers& observers, const Options& options);
  ~CoreChild();
  CoreChild(const CoreChild&) = delete;
  CoreChild& operator=(const CoreChild&) = delete;

  // The socket to it. Its items go on from the last number; `ended` is called when the process has gone.
  Result<UniqueFd> start(std::uint64_t last_number, std::function<void()> ended);

  int index() const { return options_.index; }
  CoreRings* rings() const { return options_.rings; }
  bool is_thread() const { return options_.in_process; }
  bool has_own_namespace() const { return options_.own_namespace; }
  Memories& memories() const { return memories_; }
  pid_t pid() const { return process_.pid(); }

  CoreStatus& status() const { return *pages_.status; }
  // The copy that is not damaged; nullptr when both are.
  const CoreProgress* progress() const;
  // The number of the item that it works on, as far as is known; 0: none.
  std::uint64_t running() const;
  // The page of the core that has ended, for the explanation; the next one gets another. Nothing: no memory.
  std::optional<StatusPages> take_pages();

  // SIGKILL, for this reason.
  void kill(Error reason);
  // Asks it for a last look at where it is, then ends it.
  void end(Error reason);
  // One that runs nothing and was stopped, or does not begin: it goes on where it was. If that was tried before and it
  // has done nothing since, it is replaced.
  void wake();
  // By SIGSTOP, which any process of this user can send: a core that runs nothing has no limit that would end it.
  bool is_stopped() const;
  // It has finished an item: wake() begins anew, and so does the count of is_unlucky().
  void note_work();
  // Counts this death without a running item; true: so many in a row that the next item has to be blamed.
  bool is_unlucky();

  struct End {
    std::string text;               // how it ended
    bool asks_for_another = false;  // it is to be replaced through no fault of a launch
  };
  // After `ended`: nothing of it is left.
  End finish();
  // Why it was ended, if this process did it, until the next start.
  const std::optional<Error>& end_reason() const { return end_reason_; }
  void forget_end_reason() { end_reason_.reset(); }

  struct Remnant {
    std::string cause;
    std::uint64_t commands = 0;
    msg::CoreExplain question;
    std::string said;  // by a sanitizer
  };
  // What its pages and the sanitizers' file say of its end.
  Remnant examine(const std::string& how_it_ended);
  // The next launch finds clean memories on the chip; those of this one stay readable for "softtpu dump". What cores
  // share goes on as it is.
  void renew_memories();

 private:
  EventLoop& loop_;
  Memories& memories_;
  const DeviceObservers& observers_;
  const Options options_;
  StatusPages pages_;  // shared with the core
  UniqueFd reports_;   // gets what sanitizers report
  CoreProcess process_;
  std::optional<Error> end_reason_;
  int idle_deaths_ = 0;  // in a row, without an item to blame
  bool woken_ = false;   // has been stopped while it had nothing to do, and was continued
};

}  // namespace softtpu
