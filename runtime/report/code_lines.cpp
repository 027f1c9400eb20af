#include "runtime/report/code_lines.hpp"

#include <link.h>

#include <boost/core/demangle.hpp>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

// libbacktrace, as GCC brings it along (its header is found by GCC alone), under names of its own, because
// Boost.Stacktrace has another copy. Left to itself it reads the debug information of everything that is loaded, and of
// the C library's package of debug information where that is installed: a tenth of a second for the first line. It asks
// dl_iterate_phdr() for what is loaded; runtime/CMakeLists.txt makes it ask softtpu_iterate_objects() instead, which
// tells of one object.
extern "C" {
struct backtrace_state;
using backtrace_error_callback = void (*)(void*, const char*, int);
using backtrace_full_callback = int (*)(void*, std::uintptr_t, const char*, int, const char*);
using backtrace_syminfo_callback = void (*)(void*, std::uintptr_t, const char*, std::uintptr_t, std::uintptr_t);
backtrace_state* softtpu_backtrace_create_state(const char*, int, backtrace_error_callback, void*);
int softtpu_backtrace_pcinfo(backtrace_state*, std::uintptr_t, backtrace_full_callback, backtrace_error_callback,
                             void*);
int softtpu_backtrace_syminfo(backtrace_state*, std::uintptr_t, backtrace_syminfo_callback, backtrace_error_callback,
                              void*);
using object_callback = int (*)(dl_phdr_info*, std::size_t, void*);
int softtpu_iterate_objects(object_callback, void*);
}

namespace softtpu {
namespace {

bool covers(const dl_phdr_info& object, std::uintptr_t address) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const auto& part = object.dlpi_phdr[i];
    if (part.p_type == PT_LOAD && address - (object.dlpi_addr + part.p_vaddr) < part.p_memsz) return true;
  }
  return false;
}

// The address whose object alone libbacktrace sees on this thread; 0: all.
thread_local std::uintptr_t seen_address = 0;

struct SeenObject {
  explicit SeenObject(std::uintptr_t address) { seen_address = address; }
  ~SeenObject() { seen_address = 0; }
};

struct ObjectAddress {
  std::uintptr_t address;
  std::string path;  // empty: unknown
  std::uintptr_t base = 0;
  unsigned long long unloaded = 0;  // how many objects have ever been unloaded
};

ObjectAddress find_object(std::uintptr_t address) {
  ObjectAddress place{address, {}};
  const auto look = [](dl_phdr_info* info, std::size_t, void* data) {
    ObjectAddress& found = *static_cast<ObjectAddress*>(data);
    found.unloaded = info->dlpi_subs;
    if (!covers(*info, found.address)) return 0;
    const bool is_program = info->dlpi_name == nullptr || *info->dlpi_name == '\0';
    found.path = is_program ? "/proc/self/exe" : info->dlpi_name;
    found.base = info->dlpi_addr;
    return 1;
  };
  ::dl_iterate_phdr(look, &place);
  return place;
}

using Lines = std::vector<SourceLine>;

void ignore(void*, const char*, int) {}

Lines resolve(backtrace_state* state, std::uintptr_t call) {
  Lines lines;
  const auto add_line = [](void* data, std::uintptr_t, const char* file, int line, const char* function) {
    if (file == nullptr) return 1;
    const std::string name = function != nullptr ? boost::core::demangle(function) : "";
    static_cast<Lines*>(data)->push_back({file, line, name});
    return 0;
  };
  ::softtpu_backtrace_pcinfo(state, call, add_line, ignore, &lines);
  // The function that the address is in is last. Debug information of lines alone may leave its name out (Clang's does
  // where nothing is inlined into the function); the table of symbols has it.
  if (lines.empty() || lines.back().function.empty()) {
    std::string name;
    const auto take_name = [](void* data, std::uintptr_t, const char* symbol, std::uintptr_t, std::uintptr_t) {
      if (symbol != nullptr) *static_cast<std::string*>(data) = boost::core::demangle(symbol);
    };
    ::softtpu_backtrace_syminfo(state, call, take_name, ignore, &name);
    if (lines.empty() && !name.empty()) lines.emplace_back();
    if (!lines.empty()) lines.back().function = name;
  }
  return lines;
}

// Reads the debug information of each object once. What libbacktrace takes for it is never given back.
class Objects {
 public:
  const Lines& lines_at(std::uintptr_t call) {
    const ObjectAddress place = find_object(call);
    if (place.unloaded != unloaded_) forget(place.unloaded);
    const auto [known, is_new] = lines_.try_emplace(call);
    if (!is_new || place.path.empty()) return known->second;
    const SeenObject seen(call);
    Object& object = objects_[place.base];
    if (object.state == nullptr) {
      object.path = place.path;
      object.state = ::softtpu_backtrace_create_state(object.path.c_str(), 1, ignore, nullptr);
    }
    if (object.state != nullptr) known->second = resolve(object.state, call);
    return known->second;
  }

 private:
  struct Object {
    std::string path;  // stays where it is: the state refers to it
    backtrace_state* state = nullptr;
  };

  // Addresses may mean something else now.
  void forget(unsigned long long unloaded) {
    unloaded_ = unloaded;
    lines_.clear();
    if (!objects_.empty()) forgotten_.push_back(std::exchange(objects_, {}));
  }

  using ByBase = std::map<std::uintptr_t, Object>;

  ByBase objects_;
  std::vector<ByBase> forgotten_;
  std::map<std::uintptr_t, Lines> lines_;
  unsigned long long unloaded_ = 0;
};

}  // namespace

std::vector<SourceLine> lines_at(const void* code) {
  static std::mutex mutex;
  static auto& objects = *new Objects;
  const std::lock_guard lock(mutex);
  return objects.lines_at(reinterpret_cast<std::uintptr_t>(code));
}

}  // namespace softtpu

// The object in question comes as libbacktrace expects the program itself: it has opened that file already.
int softtpu_iterate_objects(object_callback callback, void* data) {
  if (softtpu::seen_address == 0) return ::dl_iterate_phdr(callback, data);
  struct Call {
    object_callback callback;
    void* data;
  } call{callback, data};
  const auto pass_on = [](dl_phdr_info* info, std::size_t size, void* raw) {
    if (!softtpu::covers(*info, softtpu::seen_address)) return 0;
    const Call& wanted = *static_cast<const Call*>(raw);
    dl_phdr_info object = *info;
    object.dlpi_name = "";
    return wanted.callback(&object, size, wanted.data);
  };
  return ::dl_iterate_phdr(pass_on, &call);
}
