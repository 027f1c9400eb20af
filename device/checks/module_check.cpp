#include "device/checks/module_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "device/isa/op.hpp"
#include "runtime/base/text.hpp"

namespace softtpu {
namespace {

// Functions that need an operating system or a heap, by the words that their names begin with, and what they need.
struct Family {
  std::string_view need;
  std::vector<std::string_view> names;     // whole names
  std::vector<std::string_view> prefixes;  // beginnings of names
};

const std::vector<Family>& families() {
  static const std::vector<Family> list = {
      {"a heap",
       {"malloc", "calloc", "realloc", "free", "aligned_alloc", "memalign", "posix_memalign", "strdup", "strndup",
        "asprintf", "mmap", "munmap", "sbrk", "brk"},
       {"_Zn", "_Zd"}},
      {"threads",
       {"thrd_create", "sem_wait", "sem_post", "fork", "vfork"},
       {"pthread_", "mtx_", "cnd_", "_ZNSt6thread"}},
      {"files",
       {"fopen",          "fclose", "fread",  "fwrite", "fprintf",        "vfprintf", "__fprintf_chk",
        "__vfprintf_chk", "fputs",  "fputc",  "fgets",  "fgetc",          "fscanf",   "__isoc99_fscanf",
        "fseek",          "ftell",  "fflush", "open",   "close",          "read",     "write",
        "opendir",        "remove", "rename", "scanf",  "__isoc99_scanf", "getline",  "stdin",
        "stdout",         "stderr"},
       {"_ZSt4cout", "_ZSt4cerr", "_ZNSo", "_ZNSi"}},
      {"a clock", {"time", "clock", "clock_gettime", "gettimeofday", "nanosleep", "usleep", "sleep"}, {}},
      {"a process",
       {"exit", "_exit", "abort", "atexit", "system", "getenv", "setenv", "signal", "raise", "kill", "getpid", "execv",
        "execvp"},
       {}},
      {"a dynamic loader", {"dlopen", "dlsym", "dlclose"}, {}},
      {"C++ exceptions", {}, {"__cxa_throw", "__cxa_begin_catch", "__gxx_personality", "_Unwind_"}},
  };
  return list;
}

const Family* find_family(std::string_view symbol) {
  for (const Family& family : families()) {
    const auto begins = [&](std::string_view prefix) { return symbol.starts_with(prefix); };
    if (std::find(family.names.begin(), family.names.end(), symbol) != family.names.end() ||
        std::any_of(family.prefixes.begin(), family.prefixes.end(), begins)) {
      return &family;
    }
  }
  return nullptr;
}

bool has(const Chip& chip, Op op) {
  return info(op).api == chip.api && !is_refused(info(op).support) && chip.has_part(part_for(info(op)));
}

void add(Findings& findings, const char* rule, const std::string& module, const std::string& symbol,
         const std::string& what) {
  findings.add({rule, what, {{symbol, fmt::format("kernel module {} needs {}", module, symbol), {}, {}}}, {}, "", {}});
}

}  // namespace

void check_symbols(Findings& findings, const std::string& module, const std::vector<std::string>& undefined) {
  findings.begin("", -1);
  for (const std::string& symbol : undefined) {
    if (const Family* family = find_family(symbol)) {
      add(findings, "constraint/symbol", module, symbol,
          fmt::format("kernel module {} needs {}, and with it {}", module, symbol, family->need));
    }
  }
  findings.report();
}

void check_portable_symbols(Findings& findings, const std::string& module, const std::vector<std::string>& undefined,
                            const std::vector<Chip>& targets) {
  findings.begin("", -1);
  for (const std::string& symbol : undefined) {
    const auto op = find_op(symbol);
    for (const Chip& target : targets) {
      if (!op || has(target, *op)) continue;
      add(findings, "constraint/portable-function", module, symbol,
          fmt::format("kernel module {} calls {}, which {} does not have", module, symbol, to_upper(target.name)));
    }
  }
  findings.report();
}

}  // namespace softtpu
