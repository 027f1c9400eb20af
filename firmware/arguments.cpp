// What the firmware asks of arguments before there is a command: the rules that functions share, each with its
// sentence. The rules of commands are beside them (device/engines/*/*/rules.cpp).
#include <climits>

#include "firmware/call.hpp"

namespace softtpu {

bool Call::given(std::string_view name, const void* pointer) const {
  return require(pointer != nullptr, "{argument} is NULL.", name);
}

bool Call::is_in_range(std::string_view name, std::int64_t value, std::int64_t low, std::int64_t high) const {
  return require(value >= low && value <= high, "{argument} ({value}) is outside {limit}.", name, value,
                 Range{low, high});
}

bool Call::not_negative(std::string_view name, std::int64_t value) const {
  return require(value >= 0, "{argument} ({value}) is negative.", name, value);
}

bool Call::positive(std::string_view name, std::int64_t value) const {
  return require(value >= 1, "{argument} ({value}) must be positive.", name, value);
}

bool Call::multiple_of(std::string_view name, std::uint64_t address, std::uint64_t step) const {
  return require(address % step == 0, "{argument} address ({value}) is not a multiple of {limit}.", name,
                 Address{address}, step);
}

bool Call::inside(std::string_view name, std::uint64_t address, const MemoryRange& memory,
                  std::string_view memory_name) const {
  if (memory.contains(address)) return true;
  return require(false, "{argument} ({value}) is outside {limit}.", name, Address{address},
                 fmt::format("{} (0x{:x}..0x{:x})", memory_name, memory.start, memory.start + memory.bytes - 1));
}

bool Call::in_local_memory(std::string_view name, std::uint64_t address) const {
  return require(address < chip().local_mem.bytes, "{argument} ({value}) lies beyond local memory ({limit} bytes).",
                 name, Address{address}, chip().local_mem.bytes);
}

bool Call::in_one_memory(std::uint64_t address, std::uint64_t bytes) const {
  if (core_.memories().find_system(address, bytes).data != nullptr) return true;
  return require(false, "{value} does not lie inside one memory of {limit}.", {},
                 fmt::format("[0x{:x}, +{} bytes)", address, bytes), chip().name);
}

bool Call::whole_bytes(Dtype type) const {
  return require(size_of(type) != 0, "{value} has no byte size.", {}, to_text(type));
}

bool Call::float_type(std::string_view name, Dtype type) const {
  return require(is_float(type), "{argument} is not a float type.", name);
}

int Call::to_int(std::int64_t answer) const {
  const bool fits =
      require(answer >= INT_MIN && answer <= INT_MAX, "the result ({value}) does not fit into an int.", {}, answer);
  return fits ? static_cast<int>(answer) : 0;
}

}  // namespace softtpu
