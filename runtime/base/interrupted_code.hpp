// What a signal has interrupted, from the third argument of its handler. Nothing here allocates or locks.
#pragma once

#include <ucontext.h>

#include <cstdint>
#include <cstring>

namespace softtpu {

inline const mcontext_t& interrupted_machine(const void* signal_context) {
  return static_cast<const ucontext_t*>(signal_context)->uc_mcontext;
}

#if defined(__x86_64__)

// The instruction.
inline const void* interrupted_place(const void* signal_context) {
  return reinterpret_cast<const void*>(interrupted_machine(signal_context).gregs[REG_RIP]);
}

inline std::uintptr_t interrupted_stack_pointer(const void* signal_context) {
  return static_cast<std::uintptr_t>(interrupted_machine(signal_context).gregs[REG_RSP]);
}

// Where the function returns to of which not one instruction has run: the call has left it on the stack.
inline const void* return_of_bad_call(const void* signal_context) {
  return *reinterpret_cast<const void* const*>(interrupted_stack_pointer(signal_context));
}

// Whether the access that failed was to write.
inline bool failed_to_write(const void* signal_context) {
  constexpr greg_t kWrite = 2;  // of the processor's code for page faults
  return (interrupted_machine(signal_context).gregs[REG_ERR] & kWrite) != 0;
}

#elif defined(__aarch64__)

inline const void* interrupted_place(const void* signal_context) {
  return reinterpret_cast<const void*>(interrupted_machine(signal_context).pc);
}

inline std::uintptr_t interrupted_stack_pointer(const void* signal_context) {
  return interrupted_machine(signal_context).sp;
}

// A call leaves it in register 30.
inline const void* return_of_bad_call(const void* signal_context) {
  return reinterpret_cast<const void*>(interrupted_machine(signal_context).regs[30]);
}

// The instruction tells it where a kernel, or qemu-user, does not hand on the processor's syndrome. Atomic operations
// that read and write count as writes.
inline bool failed_to_write(const void* signal_context) {
  std::uint32_t code = 0;
  std::memcpy(&code, interrupted_place(signal_context), sizeof code);
  const auto bit = [code](unsigned place) { return (code >> place & 1U) != 0; };
  const auto field = [code](unsigned place, std::uint32_t mask) { return code >> place & mask; };
  if (field(25, 5) != 4) return false;                       // neither loads nor stores
  if (field(27, 7) == 5) return !bit(22);                    // pairs
  if (field(24, 0x3F) == 8) return !bit(22);                 // exclusive, acquire, release
  if ((code & 0xBE000000U) == 0x0C000000U) return !bit(22);  // several vectors
  if (field(27, 7) != 7) return false;                       // a literal is only read
  const bool vectors = bit(26);
  if (!bit(24) && bit(21) && field(10, 3) == 0) return true;     // atomic operations
  const std::uint32_t kind = field(22, 3);                       // 0 stores; vectors of 16 bytes: 2 stores
  if (!vectors && field(30, 3) == 3 && kind == 2) return false;  // a prefetch
  return kind == 0 || (vectors && kind == 2);
}

#else
#error "softtpu knows the signal frames of x86-64 and aarch64"
#endif

}  // namespace softtpu
