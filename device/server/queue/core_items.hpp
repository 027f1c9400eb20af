// What a core is given to do, and what its server keeps of it until the answer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "runtime/base/result.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/protocol/core_messages.hpp"
#include "runtime/protocol/frame.hpp"

namespace softtpu {

class FindingSink;
class GroupLaunch;

// Whose an item is, and how long it may take: code of a module runs in each of them.
struct CoreTerms {
  const void* owner = nullptr;            // CoreLink::abandon() finds it by this
  std::uint32_t timeout_ms = 0;           // without a command; 0: no limit
  std::uint32_t limit_ms = 0;             // in all; 0: no limit
  std::uint32_t stream = 0;               // of a launch: CoreLink::cancel() finds it by this and the owner
  std::shared_ptr<FindingSink> findings;  // gets a launch's before the answer; null: the device is not shared
};

struct CoreItem {
  using Answer = std::function<void(Result<Bytes>)>;
  std::uint64_t number = 0;
  MessageType type{};
  Bytes frame;
  UniqueFd image;    // of a load
  std::string name;  // of the kernel, module or function, for messages
  CoreTerms terms;
  std::shared_ptr<GroupLaunch> group;  // of a launch on several cores
  std::size_t workitem = 0;
  std::uint32_t function = 0;  // of a launch
  std::uint32_t module = 0;    // of a load or a definition
  bool restores = false;       // gives a new core what the one before it had; no client waits for it
  bool dropped = false;
  bool cancelled = false;
  Answer answer;
};

// "kernel "add"", "loading kernel module add.so", the beginning of a sentence about it.
std::string what_text(const CoreItem& item);

}  // namespace softtpu
