#include "device/checks/host_watch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "device/checks/module_check.hpp"
#include "device/core/call_site.hpp"
#include "runtime/base/dynamic_module.hpp"

namespace softtpu {

void HostWatch::allocated(std::uint64_t client, std::uint64_t address, std::uint64_t bytes) {
  parts_.allocations->add({.address = address, .bytes = bytes, .client = client});
  if (parts_.shadow) parts_.shadow->mark_allocated(address, bytes);
}

void HostWatch::located(std::uint64_t address, const Stack& stack) { parts_.allocations->locate(address, stack); }

void HostWatch::typed(std::uint64_t address, const std::string& type) { parts_.allocations->set_type(address, type); }

void HostWatch::freed(std::uint64_t address, std::uint64_t bytes, const Stack& stack) {
  parts_.allocations->free(address, stack);
  if (parts_.shadow) parts_.shadow->forget(address, bytes);
}

void HostWatch::wrote(std::uint64_t address, std::uint64_t bytes) {
  if (parts_.shadow && parts_.shadow->is_global(address, bytes)) parts_.shadow->mark_written(address, bytes);
}

void HostWatch::read(std::uint64_t address, std::uint64_t bytes, const Stack& stack) {
  if (!parts_.output || !parts_.shadow || !parts_.shadow->is_global(address, bytes)) return;
  const std::uint8_t* states = parts_.shadow->global(address);
  const std::uint64_t first = find_other(states, bytes, Shadow::kLastLaunch);
  if (first == bytes) return;
  std::uint64_t end = first, count = 0;
  for (std::uint64_t i = first; i < bytes; ++i) {
    if (states[i] == Shadow::kLastLaunch) continue;
    ++count;
    if (end == i) end = i + 1;
  }
  Finding finding;
  finding.rule = "init/unfilled-output";
  finding.place = ReportedRange{"global", address + first, address + end};
  finding.what = fmt::format("the program reads {} bytes of which {} were never written, the first ones at {}", bytes,
                             count, finding.place->text());
  finding.calls = {{"host", fmt::format("copy of {} bytes from 0x{:x} to the host", bytes, address), {}, stack}};
  parts_.findings->add(finding);
  parts_.findings->report();
}

void HostWatch::synced(std::uint64_t client) {
  if (parts_.touches) synced_[client] = parts_.touches->count();
}

void HostWatch::unordered_copy(std::uint64_t client, const HostCopy& copy, const Stack& stack) {
  if (!parts_.touches) return;
  const std::uint64_t end = copy.address + copy.bytes;
  const auto touch = parts_.touches->find(synced_[client], copy.address, end, copy.to_device);
  if (!touch) return;
  const std::string function = call_name(touch->op);
  const char* const does = touch->writes ? "writes" : "reads";
  Finding finding;
  finding.rule = "race/host-copy";
  finding.place = ReportedRange{"global", std::max(copy.address, touch->begin), std::min(end, touch->end)};
  finding.what =
      fmt::format("{} {} bytes that a launch before it {}, and the program has not waited for that launch: {}",
                  copy.function, copy.to_device ? "writes" : "reads", does, finding.place->text());
  finding.calls = {{function,
                    fmt::format("{} in kernel \"{}\" {} 0x{:x}..0x{:x}", function, touch->kernel.data(), does,
                                touch->begin, touch->end - 1),
                    {},
                    {}},
                   {copy.function,
                    fmt::format("copy of {} bytes {} 0x{:x}", copy.bytes, copy.to_device ? "to" : "from", copy.address),
                    {},
                    stack}};
  parts_.findings->add(finding);
  parts_.findings->report();
}

void HostWatch::refused_copy(const std::string& text, const Stack& stack) {
  if (!parts_.memory) return;
  parts_.findings->add({"memory/host-copy", text, {{"host", "the copy", {}, stack}}, {}, "", {}});
  parts_.findings->report();
}

void HostWatch::loaded(const std::string& module, const std::vector<std::string>& undefined) {
  // A module of softtpu's own is no kernel that has to run on a chip.
  if (module.ends_with(kDynamicModule)) return;
  if (parts_.symbols) check_symbols(*parts_.findings, module, undefined);
  check_portable_symbols(*parts_.findings, module, undefined, parts_.portable_to);
}

void HostWatch::closed(std::uint64_t client, const Stack& stack) {
  if (!parts_.memory) return;
  const KnownAllocations known = parts_.allocations->read();
  for (const AllocationRecord* record : known.live()) {
    if (record->client != client) continue;
    Finding finding;
    finding.rule = "memory/leak";
    finding.place = ReportedRange{"global", record->address, record->address + record->bytes};
    finding.what = fmt::format("{} bytes at 0x{:x} are still allocated", record->bytes, record->address);
    finding.calls = {
        {"bm_dev_free", "the device is given back", {}, stack},
        {"bm_malloc_device", fmt::format("allocation of {} bytes", record->bytes), {}, record->allocated_at()}};
    parts_.findings->add(finding);
  }
  parts_.findings->report();
}

}  // namespace softtpu
