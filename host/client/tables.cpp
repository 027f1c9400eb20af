#include "host/client/tables.hpp"

#include <atomic>

namespace softtpu::host {
namespace {

template <class Thing>
HandleTable<Thing>& table_of() {
  static auto& instance = *new HandleTable<Thing>;
  return instance;
}

}  // namespace

void* new_handle_name() {
  static std::atomic<std::uintptr_t> made{0};
  return reinterpret_cast<void*>(++made << 4);
}

std::string why_unknown(std::string_view kind, const void* name, std::string_view fate) {
  return "the " + std::string(kind) + (name == nullptr ? " is NULL" : " was " + std::string(fate));
}

HandleTable<Stream>& stream_table() { return table_of<Stream>(); }
HandleTable<Event>& event_table() { return table_of<Event>(); }
HandleTable<KernelModule>& module_table() { return table_of<KernelModule>(); }
HandleTable<const Stream::Graph>& graph_table() { return table_of<const Stream::Graph>(); }

}  // namespace softtpu::host
