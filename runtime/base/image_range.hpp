// The addresses of a loaded program or library.
#pragma once

#include <link.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace softtpu {

// Whether an address lies in it takes a comparison; dladdr() searches the symbols of the image.
struct ImageRange {
  std::uintptr_t begin = 0, end = 0;

  bool contains(const void* place) const {
    const auto address = reinterpret_cast<std::uintptr_t>(place);
    return begin <= address && address < end;
  }
};

// That of the image that holds `place`; empty if there is none.
inline ImageRange image_range_of(const void* place) {
  struct Search {
    const void* place;
    ImageRange found;
  } search{place, {}};
  const auto look = [](dl_phdr_info* info, std::size_t, void* data) {
    Search& wanted = *static_cast<Search*>(data);
    ImageRange range{UINTPTR_MAX, 0};
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const auto& part = info->dlpi_phdr[i];
      if (part.p_type != PT_LOAD) continue;
      range.begin = std::min<std::uintptr_t>(range.begin, info->dlpi_addr + part.p_vaddr);
      range.end = std::max<std::uintptr_t>(range.end, info->dlpi_addr + part.p_vaddr + part.p_memsz);
    }
    if (!range.contains(wanted.place)) return 0;
    wanted.found = range;
    return 1;
  };
  ::dl_iterate_phdr(look, &search);
  return search.found;
}

}  // namespace softtpu
