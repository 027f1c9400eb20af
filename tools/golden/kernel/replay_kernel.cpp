// The replay kernel: an ordinary kernel module that fills memory, calls functions by name and copies memory back.
// It uses nothing but the public device API, dlsym and libffi.
#include <dlfcn.h>
#include <ffi.h>

#include <cstring>

#include "tools/golden/kernel/script.hpp"

namespace {

using namespace softtpu::golden;  // NOLINT: the script's structures

using Pointer = std::uint8_t*;

template <class F>
F find(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_DEFAULT, name));
}

// The few device functions that the kernel itself needs, of either SDK.
struct Device {
  explicit Device(bool okkernel) {
    initialize = find<void (*)()>(okkernel ? "okk_initialize" : "tpu_initialize");
    poll = find<void (*)()>(okkernel ? "okk_poll" : "tpu_poll");
    // Each with the type that its header gives it: the two SDKs differ.
    if (okkernel) {
      okk_local_ = find<Pointer (*)(unsigned, unsigned)>("okk_local_mem_addr");
      okk_global_ = find<Pointer (*)(unsigned long long)>("okk_global_mem_addr");
      l2 = find<Pointer (*)(unsigned)>("okk_l2_sram_addr")(find<unsigned (*)()>("okk_l2_sram_start_addr")());
      dtcm = find<Pointer (*)(unsigned)>("okk_dtcm_addr")(find<unsigned (*)()>("okk_dtcm_start_addr")());
    } else {
      meet = find<void (*)()>("tpu_sync_all");
      hau_poll = find<void (*)()>("tpu_hau_poll");
      sdma_poll = find<void (*)()>("tpu_sdma_poll");
      core = static_cast<std::uint64_t>(find<int (*)()>("tpu_core_index")());
      tpu_local_ = find<void* (*)(int, unsigned)>("tpu_local_mem_addr");
      tpu_global_ = find<void* (*)(unsigned long long)>("tpu_global_mem_addr");
    }
  }
  // Not every chip of TPUKernel has it.
  void find_l2() {
    if (tpu_local_ == nullptr) return;
    l2 = static_cast<Pointer>(find<void* (*)(unsigned long long)>("tpu_l2_sram_addr")(
        find<unsigned long long (*)()>("tpu_l2_sram_get_start_addr")()));
  }
  Pointer local(unsigned npu, unsigned offset) const {
    return okk_local_ != nullptr ? okk_local_(npu, offset)
                                 : static_cast<Pointer>(tpu_local_(static_cast<int>(npu), offset));
  }
  Pointer global(unsigned long long address) const {
    return okk_global_ != nullptr ? okk_global_(address) : static_cast<Pointer>(tpu_global_(address));
  }
  void (*initialize)();
  void (*poll)();
  void (*meet)() = nullptr, (*hau_poll)() = nullptr, (*sdma_poll)() = nullptr;
  std::uint64_t core = 0;
  Pointer l2 = nullptr, dtcm = nullptr;

 private:
  Pointer (*okk_local_)(unsigned, unsigned) = nullptr;
  Pointer (*okk_global_)(unsigned long long) = nullptr;
  void* (*tpu_local_)(int, unsigned) = nullptr;
  void* (*tpu_global_)(unsigned long long) = nullptr;
};

// Local memory is its core's to fill and to read, all else the first core's.
bool is_own(const Device& device, const ScriptRegion& region) {
  return device.core == (region.space == 0 ? region.core : 0);
}

// Copies between a region and packed bytes, NPU by NPU.
void move_region(const Device& device, Pointer scratch, const ScriptRegion& region, Pointer packed, bool store) {
  if (region.space == 2 && device.l2 == nullptr) return;  // finding it has failed
  for (std::uint64_t i = 0; i < region.npus; ++i) {
    Pointer memory = nullptr;
    switch (region.space) {
      case 0: memory = device.local(static_cast<unsigned>(region.first_npu + i), 0) + region.addr; break;
      case 1: memory = scratch + region.addr; break;
      case 2: memory = device.l2 + region.addr; break;
      default: memory = device.dtcm + region.addr; break;
    }
    std::memcpy(store ? memory : packed, store ? packed : memory, region.size);
    packed += region.size;
  }
}

// Local memory as the recordings began with it, for cases that read what they have not set (BM1688's transposed
// convolutions read a bias at address 0).
void clear_local(const Device& device, const ScriptRegion* regions, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    if (regions[i].space != 0 || !is_own(device, regions[i])) continue;
    for (std::uint64_t npu = 0; npu < regions[i].npus; ++npu)
      std::memset(device.local(static_cast<unsigned>(regions[i].first_npu + npu), 0) + regions[i].addr, 0,
                  regions[i].size);
  }
}

ffi_type* to_ffi(std::uint64_t kind) {
  switch (kind) {
    case kI8: return &ffi_type_sint8;
    case kU8: return &ffi_type_uint8;
    case kI16: return &ffi_type_sint16;
    case kU16: return &ffi_type_uint16;
    case kI32: return &ffi_type_sint32;
    case kU32: return &ffi_type_uint32;
    case kI64: return &ffi_type_sint64;
    case kU64: return &ffi_type_uint64;
    case kF32: return &ffi_type_float;
    default: return &ffi_type_pointer;
  }
}

void call_function(Pointer script, const ScriptCall& call, AnswerCall& answer) {
  void (*function)() = find<void (*)()>(reinterpret_cast<const char*>(script + call.name_offset));
  if (function == nullptr) {
    answer.status = kMissingFunction;
    return;
  }
  const auto* arguments = reinterpret_cast<const ScriptArgument*>(script + call.argument_offset);
  ffi_type* types[kMaxArguments];
  void* values[kMaxArguments];
  std::uint64_t words[kMaxArguments];
  int outs = 0;
  for (std::uint64_t i = 0; i < call.arguments; ++i) {
    const ScriptArgument& argument = arguments[i];
    types[i] = to_ffi(argument.kind);
    words[i] = argument.value;
    if (argument.kind == kPointer) words[i] = reinterpret_cast<std::uint64_t>(script + argument.offset);
    if (argument.kind == kOutPointer) words[i] = reinterpret_cast<std::uint64_t>(answer.out[outs++]);
    values[i] = &words[i];
  }
  ffi_cif cif;
  ffi_type* result = call.returns_float != 0 ? &ffi_type_float : &ffi_type_uint64;
  if (ffi_prep_cif(&cif, FFI_DEFAULT_ABI, static_cast<unsigned>(call.arguments), result, types) != FFI_OK) return;
  answer.value = 0;
  ffi_call(&cif, function, &answer.value, values);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void softtpu_replay(const void* argument) {
  const auto& where = *static_cast<const ReplayArguments*>(argument);
  Device device(where.okkernel != 0);
  const Pointer script = device.global(where.script_addr);
  const auto& header = *reinterpret_cast<const ScriptHeader*>(script);
  if ((header.polls & kWithoutL2) == 0) device.find_l2();
  const Pointer scratch = device.global(where.scratch_addr);
  const Pointer answer = device.global(where.answer_addr);
  auto& answer_header = *reinterpret_cast<AnswerHeader*>(answer);
  if (device.core == 0) {
    answer_header = {0, reinterpret_cast<std::uint64_t>(device.local(0, 0)), reinterpret_cast<std::uint64_t>(scratch),
                     reinterpret_cast<std::uint64_t>(device.l2)};
  }
  const auto meet = [&] {
    if (header.cores > 1) device.meet();
  };
  auto* answers = reinterpret_cast<AnswerCall*>(answer + sizeof(AnswerHeader));
  Pointer packed = reinterpret_cast<Pointer>(answers + header.calls);
  const auto* reads = reinterpret_cast<const ScriptRegion*>(script + header.read_offset);
  const auto read_back = [&] {
    for (std::uint64_t i = 0; i < header.reads; ++i) {
      if (is_own(device, reads[i])) move_region(device, scratch, reads[i], packed, false);
      packed += reads[i].size * reads[i].npus;
    }
  };

  device.initialize();
  meet();
  const auto* setups = reinterpret_cast<const ScriptRegion*>(script + header.setup_offset);
  for (std::uint64_t i = 0; i < header.setups; ++i) {
    if (is_own(device, setups[i])) move_region(device, scratch, setups[i], script + setups[i].data_offset, true);
  }
  meet();
  if (header.snapshot != 0) read_back();
  const auto* calls = reinterpret_cast<const ScriptCall*>(script + header.call_offset);
  const auto* own_calls = reinterpret_cast<const std::uint64_t*>(script + header.core_offset);
  std::uint64_t first = 0, last = header.calls;
  if (header.cores > 0) {
    for (std::uint64_t core = 0; core < device.core; ++core) first += own_calls[core];
    last = first + own_calls[device.core];
  }
  for (std::uint64_t i = first; i < last; ++i) {
    answers[i] = {};
    // What an out-parameter holds before the call, as in the recording.
    std::memset(answers[i].out, 0xA5, sizeof(answers[i].out));
    call_function(script, calls[i], answers[i]);
  }
  device.poll();
  if ((header.polls & kHauPoll) != 0 && device.hau_poll != nullptr) device.hau_poll();
  if ((header.polls & kSdmaPoll) != 0 && device.sdma_poll != nullptr) device.sdma_poll();
  meet();
  read_back();
  clear_local(device, setups, header.setups);
  clear_local(device, reads, header.reads);
  __atomic_add_fetch(&answer_header.finished, 1, __ATOMIC_SEQ_CST);
}
