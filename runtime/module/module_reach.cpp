#include "runtime/module/module_reach.hpp"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "runtime/module/this_machine.hpp"

namespace softtpu {
namespace {

using namespace std::string_view_literals;

// Functions and data of the C library that leave the process as it is, beginning with a prefix ("str*") or whole. What
// is missing here costs a check at each launch, nothing more.
constexpr std::array kHarmless = {
    // the chip's functions and what their headers call
    "tpu_*"sv,
    "okk_*"sv,
    "okkernel_*"sv,
    "softtpu_*"sv,
    // compilers
    "_ITM_*"sv,
    "__gmon_start__"sv,
    "__cxa_*"sv,
    "__gxx_personality*"sv,
    "_Unwind_*"sv,
    "__stack_chk_fail"sv,
    "__tls_get_addr"sv,
    "__errno_location"sv,
    "__assert*"sv,
    "__udiv*"sv,
    "__div*"sv,
    "__umod*"sv,
    "__mod*"sv,
    "__mul*"sv,
    "__fix*"sv,
    "__float*"sv,
    "__extend*"sv,
    "__trunc*"sv,
    "__popcount*"sv,
    "__ctype*"sv,
    // memory and text
    "mem*"sv,
    "__mem*"sv,
    "str*"sv,
    "__str*"sv,
    "bcmp"sv,
    "bcopy"sv,
    "bzero"sv,
    "malloc"sv,
    "calloc"sv,
    "realloc"sv,
    "reallocarray"sv,
    "free"sv,
    "aligned_alloc"sv,
    "posix_memalign"sv,
    "ato*"sv,
    "__isoc*"sv,
    "is*"sv,
    "to*"sv,
    "qsort*"sv,
    "bsearch"sv,
    "labs"sv,
    "llabs"sv,
    "rand"sv,
    "rand_r"sv,
    "srand"sv,
    "random"sv,
    "srandom"sv,
    // output and time
    "printf"sv,
    "fprintf"sv,
    "sprintf"sv,
    "snprintf"sv,
    "vprintf"sv,
    "vfprintf"sv,
    "vsprintf"sv,
    "vsnprintf"sv,
    "__printf_chk"sv,
    "__fprintf_chk"sv,
    "__sprintf_chk"sv,
    "__snprintf_chk"sv,
    "__vprintf_chk"sv,
    "__vfprintf_chk"sv,
    "__vsprintf_chk"sv,
    "__vsnprintf_chk"sv,
    "puts"sv,
    "putchar"sv,
    "fputs"sv,
    "fputc"sv,
    "putc"sv,
    "fflush"sv,
    "fwrite"sv,
    "stdout"sv,
    "stderr"sv,
    "perror"sv,
    "time"sv,
    "clock"sv,
    "clock_gettime"sv,
    "gettimeofday"sv,
    "difftime"sv,
    "localtime_r"sv,
    "gmtime_r"sv,
    "nanosleep"sv,
    "usleep"sv,
    "sleep"sv,
    "sched_yield"sv,
    // ends and jumps
    "exit"sv,
    "_exit"sv,
    "_Exit"sv,
    "abort"sv,
    "longjmp"sv,
    "_setjmp"sv,
    "setjmp"sv,
    "__longjmp_chk"sv,
    "getenv"sv,
    "sysconf"sv,
    "getpid"sv,
};

// Of the floating-point environment, which is set back before every launch in any case, and mathematics.
constexpr std::array kMathematics = {
    "fe*"sv,        "acos*"sv,      "asin*"sv,         "atan*"sv,   "cos*"sv,       "sin*"sv,        "tan*"sv,
    "exp*"sv,       "log*"sv,       "ilogb*"sv,        "pow*"sv,    "sqrt*"sv,      "cbrt*"sv,       "hypot*"sv,
    "erf*"sv,       "tgamma*"sv,    "lgamma*"sv,       "ceil*"sv,   "floor*"sv,     "nearbyint*"sv,  "rint*"sv,
    "lrint*"sv,     "llrint*"sv,    "round*"sv,        "lround*"sv, "llround*"sv,   "trunc*"sv,      "fmod*"sv,
    "remainder*"sv, "remquo*"sv,    "copysign*"sv,     "nan*"sv,    "nextafter*"sv, "nexttoward*"sv, "fdim*"sv,
    "fmax*"sv,      "fmin*"sv,      "fma"sv,           "fmaf"sv,    "fmal"sv,       "fabs*"sv,       "ldexp*"sv,
    "scalbn*"sv,    "scalbln*"sv,   "frexp*"sv,        "modf*"sv,   "abs"sv,        "__finite*"sv,   "__isnan*"sv,
    "__isinf*"sv,   "__signbit*"sv, "__fpclassify*"sv, "div"sv,     "ldiv"sv,       "lldiv"sv,       "j0*"sv,
    "j1*"sv,        "jn*"sv,
};

// Of the C++ library: everything but threads, files and the global locale.
constexpr std::array kCppPrefixes = {"_ZSt"sv, "_ZNSt"sv, "_ZNKSt"sv, "_ZTI"sv,          "_ZTV"sv,         "_ZTS"sv,
                                     "_ZTT"sv, "_Zn"sv,   "_Zd"sv,    "_ZN9__gnu_cxx"sv, "_ZN10__cxxabi"sv};
constexpr std::array kCppOthers = {"thread"sv, "filesystem"sv, "filebuf"sv, "fstream"sv, "6locale6global"sv};

// Exactly these names: prefixes above would let them in.
constexpr std::array kNotHarmless = {"fexecve"sv, "memfd_create"sv, "memfd_secret"sv, "__libc_start_main"sv};

constexpr std::array kKnownLibraries = {"libc.so."sv,
                                        "libm.so."sv,
                                        "libstdc++.so."sv,
                                        "libgcc_s.so."sv,
                                        "ld-linux"sv,
                                        "libpthread.so."sv,
                                        "libdl.so."sv,
                                        "librt.so."sv,
                                        "libasan.so."sv,
                                        "libubsan.so."sv,
                                        "libcmodel_firmware.so"sv};

template <std::size_t N>
bool is_in(const std::array<std::string_view, N>& list, std::string_view name) {
  return std::any_of(list.begin(), list.end(), [name](std::string_view row) {
    return row.ends_with('*') ? name.starts_with(row.substr(0, row.size() - 1)) : name == row;
  });
}

bool is_harmless(std::string_view name) {
  if (is_in(kNotHarmless, name)) return false;
  if (is_in(kHarmless, name) || is_in(kMathematics, name)) return true;
  const bool cpp = std::any_of(kCppPrefixes.begin(), kCppPrefixes.end(),
                               [name](std::string_view prefix) { return name.starts_with(prefix); });
  return cpp && std::none_of(kCppOthers.begin(), kCppOthers.end(),
                             [name](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

bool is_known_library(std::string_view name) {
  return std::any_of(kKnownLibraries.begin(), kKnownLibraries.end(),
                     [name](std::string_view prefix) { return name.starts_with(prefix); });
}

// What the loader works by. Tables that the file says nothing about are empty.
struct Dynamic {
  explicit Dynamic(const link_map& module) {
    for (const ElfW(Dyn)* row = module.l_ld; row->d_tag != DT_NULL; ++row) {
      switch (row->d_tag) {
        case DT_STRTAB: names = address<char>(module, row->d_un.d_ptr); break;
        case DT_SYMTAB: symbols = address<ElfW(Sym)>(module, row->d_un.d_ptr); break;
        case DT_RELA: relocations[0].rows = address<ElfW(Rela)>(module, row->d_un.d_ptr); break;
        case DT_RELASZ: relocations[0].count = row->d_un.d_val / sizeof(ElfW(Rela)); break;
        case DT_JMPREL: relocations[1].rows = address<ElfW(Rela)>(module, row->d_un.d_ptr); break;
        case DT_PLTRELSZ: relocations[1].count = row->d_un.d_val / sizeof(ElfW(Rela)); break;
        default: break;
      }
    }
  }
  // The loader has made addresses of most offsets, not of those in a table that it may not write to.
  template <class T>
  static const T* address(const link_map& module, ElfW(Addr) value) {
    return reinterpret_cast<const T*>(value < module.l_addr ? value + module.l_addr : value);
  }
  struct Relocations {
    const ElfW(Rela) * rows = nullptr;
    std::size_t count = 0;
  };
  const char* names = nullptr;
  const ElfW(Sym) * symbols = nullptr;
  std::array<Relocations, 2> relocations{};
};

// Nothing is called or read in another library without a relocation.
bool imports_only_harmless(const Dynamic& dynamic) {
  if (dynamic.names == nullptr || dynamic.symbols == nullptr) return false;
  for (const auto& table : dynamic.relocations) {
    for (std::size_t i = 0; table.rows != nullptr && i < table.count; ++i) {
      const std::size_t symbol = ELF64_R_SYM(table.rows[i].r_info);
      if (symbol == 0 || dynamic.symbols[symbol].st_shndx != SHN_UNDEF) continue;
      if (!is_harmless(dynamic.names + dynamic.symbols[symbol].st_name)) return false;
    }
  }
  return true;
}

bool needs_only_known_libraries(const link_map& module, const Dynamic& dynamic) {
  for (const ElfW(Dyn)* row = module.l_ld; row->d_tag != DT_NULL; ++row) {
    if (row->d_tag == DT_NEEDED && !is_known_library(dynamic.names + row->d_un.d_val)) return false;
  }
  return true;
}

struct CodeSearch {
  ElfW(Addr) base;
  bool found = false, calls = false;
};

int look_at_code(dl_phdr_info* info, std::size_t, void* data) {
  auto& search = *static_cast<CodeSearch*>(data);
  if (info->dlpi_addr != search.base) return 0;
  search.found = true;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    const auto* begin = reinterpret_cast<const char*>(info->dlpi_addr + part.p_vaddr);
    const bool can_be_written = (part.p_flags & PF_W) != 0;
    search.calls = search.calls || can_be_written || (part.p_flags & PF_R) == 0 ||
                   has_system_call(std::string_view(begin, part.p_filesz));
  }
  return 1;
}

}  // namespace

bool may_change_process(const link_map& module) {
  const Dynamic dynamic(module);
  if (!imports_only_harmless(dynamic) || !needs_only_known_libraries(module, dynamic)) return true;
  CodeSearch search{module.l_addr};
  ::dl_iterate_phdr(look_at_code, &search);
  return !search.found || search.calls;
}

}  // namespace softtpu
