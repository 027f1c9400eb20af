#include "device/server/queue/core_items.hpp"

namespace softtpu {

std::string what_text(const CoreItem& item) {
  switch (item.type) {
    case MessageType::kCoreLaunch: return "kernel \"" + item.name + "\"";
    case MessageType::kCoreLoad: return "loading kernel module " + item.name;
    case MessageType::kCoreUnload: return "unloading kernel module " + item.name;
    default: return "looking up function \"" + item.name + "\"";
  }
}

}  // namespace softtpu
