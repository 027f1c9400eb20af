// softtpu/device.h: devices with settings of their own, and what they have to tell, as JSON.
#include "softtpu/device.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "host/bmlib/device_notes.hpp"
#include "host/bmlib/launch.hpp"
#include "runtime/base/config.hpp"
#include "runtime/base/json_tree.hpp"
#include "runtime/base/log.hpp"
#include "runtime/module/module_arguments.hpp"
#include "runtime/report/fault_location.hpp"
#include "runtime/report/report.hpp"

namespace softtpu::host {
namespace {

using Json = nlohmann::json;

// For a caller in C; nullptr when there is no memory.
char* give(const std::string& text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy != nullptr) std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

std::vector<std::string> to_list(const char* const* texts) {
  std::vector<std::string> list;
  for (; texts != nullptr && *texts != nullptr; ++texts) list.emplace_back(*texts);
  return list;
}

// What only a private device can do must not be asked of a shared one in vain.
Result<void> check_shared(const Settings& settings, bool times) {
  const std::string name = shared_device_name(settings);
  if (name.empty()) return {};
  if (!settings.checks.empty()) {
    return Error{ErrorKind::kUsage,
                 fmt::format("SOFTTPU_CHECK watches a private device; set it for \"softtpu serve\" of {}.", name)};
  }
  if (times || !settings.time.empty()) {
    return Error{ErrorKind::kUsage,
                 fmt::format("estimated times are those of a private device, and this is {}.", name)};
  }
  return {};
}

bool is_given(const std::vector<std::string>& given, std::string_view name) {
  return std::any_of(given.begin(), given.end(), [&](const std::string& text) {
    return text.starts_with(name) && text.size() > name.size() && text[name.size()] == '=';
  });
}

// `softtpu run` sets checks and a chip in the environment, the program in its settings. The device has the checks of
// both. The program's chip wins; where it is not the one of `softtpu run`, a line of the log says which chip the report
// is about.
Result<void> add_outer_settings(const Settings& settings, std::vector<std::string>& given) {
  if (settings.journal_path.empty() || is_given(given, "SOFTTPU_JOURNAL")) return {};
  const auto outer = read_settings();
  if (!outer) return outer.error();
  if (is_given(given, "SOFTTPU_CHECK") && outer->checks != settings.checks) {
    const char* comma = settings.checks.empty() || outer->checks.empty() ? "" : ",";
    given.push_back("SOFTTPU_CHECK=" + settings.checks + comma + outer->checks);
  }
  if (is_given(given, "SOFTTPU_CHIP") && outer->chip != settings.chip && std::getenv("SOFTTPU_CHIP") != nullptr) {
    log_warning(fmt::format("the program's device is a {}, as it asks for, not the {} of SOFTTPU_CHIP (--chip).",
                            settings.chip, outer->chip));
  }
  return {};
}

bm_status_t open(const char* function, bm_handle_t* handle, int device_id, std::vector<std::string> given, int flags) {
  const auto settings = read_settings(given);
  if (!settings) return fail(function, settings.error());
  const bool times = (flags & SOFTTPU_KEEP_TIMES) != 0;
  if (auto good = check_shared(*settings, times); !good) return fail(function, good.error());
  if (auto good = add_outer_settings(*settings, given); !good) return fail(function, good.error());
  const auto effective = read_settings(given);
  if (!effective) return fail(function, effective.error());
  auto notes =
      DeviceNotes::create({times, settings->journal_path, times ? settings->time_record_path : "", effective->checks});
  if (!notes) return fail(function, notes.error());
  for (std::string& text : (*notes)->settings()) given.push_back(std::move(text));
  auto device = DeviceClient::open_alone(device_id, given);
  if (!device) return fail(function, device.error());
  auto made = std::make_shared<Handle>(Stream::make(*device));
  made->notes = *std::move(notes);
  *handle = add_handle(std::move(made));
  return BM_SUCCESS;
}

// The handle with notes; nullptr after a message.
std::shared_ptr<Handle> find_with_notes(const char* function, bm_handle_t handle) {
  std::shared_ptr<Handle> found = find_handle(function, handle);
  if (found == nullptr || found->notes != nullptr) return found;
  fail(function, BM_ERR_PARAM, "the handle is not one of softtpu_device_open");
  return nullptr;
}

std::string notes_text(Handle& handle) {
  RunReport report{{}, handle.device().info().chip_name, "", 0, handle.notes->take()};
  JsonTree json = JsonTree::parse(to_json_text(report));
  for (std::size_t i = 0; i < report.contents.found.size(); ++i)
    json["findings"][i]["text"] = to_text(report.contents.found[i], false);
  return json.text();
}

void add_members(Json& list, const std::vector<ArgumentMember>& members) {
  list = Json::array();
  for (const ArgumentMember& member : members) {
    Json& json = list.emplace_back();
    json = Json::object();
    json["name"] = member.name;
    json["type"] = member.type;
    json["kind"] = to_text(member.kind);
    json["offset"] = member.offset;
    json["bytes"] = member.bytes;
    Json& counts = json["counts"];
    counts = member.counts;
    add_members(json["members"], member.members);
  }
}

std::string failure_text(const LastFailure& failure) {
  JsonTree json;
  json["function"] = failure.function;
  json["status"] = static_cast<int>(failure.status);
  json["text"] = failure.text;
  if (const auto place = parse_fault_location(failure.text)) {
    json["kernel"] = place->kernel;
    json["core"] = place->core;
    if (place->command) json["command"] = *place->command;
    if (!place->file.empty()) {
      json["file"] = place->file;
      json["line"] = place->line;
    }
  }
  return json.text();
}

}  // namespace
}  // namespace softtpu::host

using namespace softtpu;
using namespace softtpu::host;

extern "C" {

bm_status_t softtpu_device_open(bm_handle_t* handle, int device_id, const char* const* settings, int flags) try {
  SOFTTPU_NOT_NULL(handle);
  *handle = nullptr;
  if (device_id < 0) return fail(__func__, BM_ERR_PARAM, fmt::format("device_id {} is negative", device_id));
  if ((flags & ~SOFTTPU_KEEP_TIMES) != 0)
    return fail(__func__, BM_ERR_PARAM, fmt::format("flags 0x{:x} has bits without a meaning", flags));
  return open(__func__, handle, device_id, to_list(settings), flags);
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t softtpu_stream_open(bm_handle_t* stream, bm_handle_t device) try {
  SOFTTPU_NOT_NULL(stream);
  *stream = nullptr;
  const std::shared_ptr<Handle> h = find_with_notes(__func__, device);
  if (h == nullptr) return BM_ERR_DEVNOTREADY;
  auto made = std::make_shared<Handle>(Stream::make(h->shared_device()));
  made->notes = h->notes;
  *stream = add_handle(std::move(made));
  return BM_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t softtpu_cancel(bm_handle_t handle) try {
  SOFTTPU_HANDLE(handle);
  h->device().cancel(h->stream().id());
  return BM_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t softtpu_map(bm_handle_t handle, unsigned long long address, unsigned long long bytes, void** mapped) try {
  SOFTTPU_NOT_NULL(mapped);
  *mapped = nullptr;
  SOFTTPU_HANDLE(handle);
  if (bytes == 0) return fail(__func__, BM_ERR_PARAM, "bytes is 0");
  std::uint64_t into_page = 0;
  const auto at = h->device().map_alone(address, bytes, into_page);
  if (!at) return fail(__func__, at.error());
  *mapped = static_cast<std::uint8_t*>(*at) + into_page;
  return BM_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t softtpu_note_mapped(bm_handle_t handle, unsigned long long address, unsigned long long bytes) try {
  SOFTTPU_HANDLE(handle);
  return to_status(__func__, h->device().note_mapped(address, bytes));
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t softtpu_note_type(bm_handle_t handle, unsigned long long address, const char* type) try {
  SOFTTPU_HANDLE(handle);
  SOFTTPU_NOT_NULL(type);
  h->device().note_type(address, type);
  return BM_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}

void softtpu_unmap(void* mapped, unsigned long long bytes) try {
  if (mapped == nullptr) return;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::uintptr_t into_page = reinterpret_cast<std::uintptr_t>(mapped) % page;
  ::munmap(static_cast<std::uint8_t*>(mapped) - into_page, into_page + bytes);
} catch (...) {
  softtpu::caught(__func__);
}

char* softtpu_device_info(bm_handle_t handle) try {
  SOFTTPU_HANDLE_OR(handle, nullptr);
  const DeviceInfo& info = h->device().info();
  JsonTree json;
  json["chip"] = info.chip_name;
  json["chip_id"] = info.chip_id;
  json["cores"] = info.core_count;
  json["device_id"] = h->device().device_id();
  json["in_process"] = info.in_process;
  json["soc_mode"] = info.soc_mode;
  json["shares_memory"] = h->device().shares_memory();
  json["checks"] = h->notes == nullptr ? "" : h->notes->checks();
  json["global_bytes"] = info.global_bytes;
  return give(json.text());
} catch (...) {
  return softtpu::caught(__func__);
}

char* softtpu_take_notes(bm_handle_t handle) try {
  const std::shared_ptr<Handle> h = find_with_notes(__func__, handle);
  return h == nullptr ? nullptr : give(notes_text(*h));
} catch (...) {
  return softtpu::caught(__func__);
}

char* softtpu_take_times(bm_handle_t handle) try {
  const std::shared_ptr<Handle> h = find_with_notes(__func__, handle);
  return h == nullptr ? nullptr : give(h->notes->take_times());
} catch (...) {
  return softtpu::caught(__func__);
}

const char* softtpu_last_failure(void) try {
  thread_local std::string text;
  text = failure_text(last_failure());
  return text.c_str();
} catch (...) {
  return softtpu::caught(__func__);
}

void softtpu_set_last_failure(const char* function, const char* text, bm_status_t status) try {
  set_last_failure(function, text, status);
} catch (...) {
  softtpu::caught(__func__);
}

char* softtpu_argument_layout(const char* module_file, const char* kernel) try {
  if (module_file == nullptr || kernel == nullptr) {
    fail(__func__, BM_ERR_PARAM, module_file == nullptr ? "module_file is NULL" : "kernel is NULL");
    return nullptr;
  }
  const UniqueFd file(::open(module_file, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) {
    fail(__func__, BM_ERR_PARAM, fmt::format("{}: {}", module_file, std::strerror(errno)));
    return nullptr;
  }
  const auto layout = find_argument_layout(file.get(), kernel);
  if (!layout) return give("{}");
  JsonTree json;
  json["type"] = layout->type;
  json["bytes"] = layout->bytes;
  add_members(json["members"], layout->members);
  return give(json.text());
} catch (...) {
  return softtpu::caught(__func__);
}

void softtpu_free(char* text) { std::free(text); }

}  // extern "C"
