// What the libraries' functions know by name, in one place: a stream or module of one interface can be used by another.
#pragma once

#include "host/client/event.hpp"
#include "host/client/handle_table.hpp"
#include "host/client/kernel_module.hpp"
#include "host/client/stream.hpp"

#pragma GCC visibility push(default)
namespace softtpu::host {

// Never destroyed: exit handlers of the program may still use what is in them. A bm_handle_t is the name of its stream.
HandleTable<Stream>& stream_table();
HandleTable<Event>& event_table();
// By the address of what they publish.
HandleTable<KernelModule>& module_table();
// What was captured, and what was made of it to be launched: both are the same thing.
HandleTable<const Stream::Graph>& graph_table();

}  // namespace softtpu::host
#pragma GCC visibility pop
