// Types of tensors in messages.
#pragma once

#include <fmt/format.h>

#include <array>
#include <string>

namespace softtpu::bmrt {

// "float32" for a value of bm_data_type_t; programs pass any number.
inline std::string type_text(int type) {
  constexpr std::array<const char*, 11> kNames = {"float32", "float16", "int8",     "uint8", "int16", "uint16",
                                                  "int32",   "uint32",  "bfloat16", "int4",  "uint4"};
  if (type >= 0 && type < static_cast<int>(kNames.size())) return kNames[static_cast<std::size_t>(type)];
  return fmt::format("{}, which is none", type);
}

}  // namespace softtpu::bmrt
