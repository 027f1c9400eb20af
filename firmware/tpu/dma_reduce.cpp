// Entry points of copies that reduce with what lies in L2 SRAM or global memory, and of lossy ones, by GDMA and SDMA.
#include <fmt/format.h>

#include "device/chip/rules.hpp"
#include "device/isa/op_names.hpp"
#include "firmware/call.hpp"
#include "firmware/tpu/address.hpp"
#include "tpu_kernel.h"

namespace softtpu {
namespace {

struct Side {
  Space space;
  std::uint64_t addr;
  const dim4* stride;
};

struct Reduction {
  int psum, opcode;
};
constexpr Reduction kPlainCopy{ALL_REDUCE_PSUM_WO, ALL_REDUCE_NOP};
constexpr Reduction kSum{ALL_REDUCE_PSUM_WR, ALL_REDUCE_ADD};

ReduceMode mode_of(const Call& call, int opcode) {
  switch (opcode) {
    case ALL_REDUCE_NOP: return ReduceMode::kCopy;
    case ALL_REDUCE_MUL: return ReduceMode::kMul;
    case ALL_REDUCE_MAX: return ReduceMode::kMax;
    case ALL_REDUCE_MIN: return ReduceMode::kMin;
    case ALL_REDUCE_ADD: return ReduceMode::kAdd;
    default: break;
  }
  call.in_range("reduce_opcode", opcode, ALL_REDUCE_NOP, ALL_REDUCE_ADD);
  return ReduceMode::kCopy;
}

DmaReduceCmd command(const Call& call, const Reduction& reduction) {
  call.in_range("reduce_psum_op", reduction.psum, ALL_REDUCE_PSUM_WO, ALL_REDUCE_PSUM_WR);
  return {mode_of(call, reduction.opcode), reduction.psum == ALL_REDUCE_PSUM_WR, Lossy::kNone, {}, {}};
}

void check_l2(const Call& call, const char* name, std::uint64_t addr) {
  call.inside(fmt::format("{} address", name), call.shared_address(addr), call.chip().l2_sram, "L2 SRAM");
}

// The bytes of the packed side of a lossy copy, which are continuous whatever its strides (golden bm1690-varied:
// m_a/sdma_lossy_compress/000) and begin with a word (m_a/sdma_lossy_decompress/000).
Tensor packed(const Call& call, const char* name, const Side& side, const Dim4& shape) {
  const std::int64_t bytes = (shape.elements() + kLossyValues - 1) / kLossyValues * kLossyBytes;
  call.multiple_of(name, side.addr, sizeof(std::uint32_t));
  const int count = call.in_range("packed bytes", bytes, 1, INT32_MAX);
  return call.in(side.space, side.addr, Dim4{1, 1, 1, count}, nullptr, Dtype::kUint8);
}

void reduce(const Call& call, const Side& dst, const Side& src, const dim4* shape, data_type_t dtype,
            const Reduction& reduction, bool src_in_l2, bool dst_in_l2 = true) {
  const Dim4 dim = call.dim("shape", shape);
  const Dtype type = call.dtype("dtype", dtype);
  DmaReduceCmd cmd = command(call, reduction);
  call.require(is_float(type) || cmd.mode != ReduceMode::kMul, "integers are not multiplied.");
  if (info(call.op()).engine == Engine::kSdma && !src_in_l2 && call.chip().has(Quirk::kNoSdmaProduct))
    call.require(cmd.mode != ReduceMode::kMul, "SDMA does not multiply what comes from system memory.");
  if (dst_in_l2) check_l2(call, "dst", dst.addr);
  if (src_in_l2) check_l2(call, "src", src.addr);
  cmd.dst = call.in(dst.space, dst.addr, dim, dst.stride, type);
  cmd.src = call.in(src.space, src.addr, dim, src.stride, type);
  call.issue(cmd);
}

void lossy(const Call& call, Lossy lossy, const Side& dst, const Side& src, const dim4* shape,
           const Reduction& reduction) {
  const Dim4 dim = call.dim("shape", shape);
  DmaReduceCmd cmd = command(call, reduction);
  cmd.lossy = lossy;
  const auto side = [&](const char* name, const Side& of, bool packs) {
    return packs ? packed(call, name, of, dim) : call.in(of.space, of.addr, dim, of.stride, Dtype::kFp32);
  };
  cmd.dst = side("dst", dst, lossy == Lossy::kPacks);
  cmd.src = side("src", src, lossy == Lossy::kUnpacks);
  call.issue(cmd);
}

void lossy_reduce(const Call& call, Lossy way, const Side& dst, const Side& src, const dim4* shape,
                  const Reduction& reduction) {
  check_l2(call, "dst", dst.addr);
  lossy(call, way, dst, src, shape, reduction);
}

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

#define REDUCE(name, src_space, src_in_l2)                                                                          \
  void name(system_addr_t dst_addr, AddressIn<src_space> src_addr, const dim4* shape, const dim4* dst_stride,       \
            const dim4* src_stride, data_type_t dtype, int reduce_psum_op, int reduce_opcode) {                     \
    reduce(Call(Op::name), {Space::kSystem, dst_addr, dst_stride}, {src_space, src_addr, src_stride}, shape, dtype, \
           {reduce_psum_op, reduce_opcode}, src_in_l2);                                                             \
  }
REDUCE(tpu_gdma_cpy_reduce_L12L2, Space::kLocal, false)
REDUCE(tpu_gdma_cpy_reduce_S2L2, Space::kSystem, false)
REDUCE(tpu_gdma_cpy_reduce_L22L2, Space::kSystem, true)
REDUCE(tpu_sdma_cpy_reduce_S2L2, Space::kSystem, false)
REDUCE(tpu_sdma_cpy_reduce_L22L2, Space::kSystem, true)

// Into global memory. The chip adds the source itself where a factor is given (golden bm1684x2/reduce).
#define REDUCE_INTO_GLOBAL(name, src_space)                                                                         \
  void name(system_addr_t dst_addr, AddressIn<src_space> src_addr, const dim4* shape, const dim4* dst_stride,       \
            const dim4* src_stride, data_type_t dtype, all_reduce_psum_t psum_op, all_reduce_opcode_t opcode) {     \
    reduce(Call(Op::name), {Space::kSystem, dst_addr, dst_stride}, {src_space, src_addr, src_stride}, shape, dtype, \
           {psum_op, opcode}, false, false);                                                                        \
  }
REDUCE_INTO_GLOBAL(tpu_gdma_cpy_reduce_S2S, Space::kSystem)
REDUCE_INTO_GLOBAL(tpu_gdma_cpy_reduce_L2S, Space::kLocal)

void tpu_gdma_cpy_reduce_mac_S2S(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape,
                                 const dim4* dst_stride, const dim4* src_stride, data_type_t dtype, scalar_t) {
  const Call call(Op::tpu_gdma_cpy_reduce_mac_S2S);
  call.require(size_of(call.dtype("dtype", dtype)) == 2, "{argument} has to be fp16 or bfp16 here.", "dtype");
  reduce(call, {Space::kSystem, dst_addr, dst_stride}, {Space::kSystem, src_addr, src_stride}, shape, dtype, kSum,
         false, false);
}
void tpu_gdma_cpy_reduce_mac_L2S(system_addr_t dst_addr, local_addr_t src_addr, const dim4* shape,
                                 const dim4* dst_stride, const dim4* src_stride, data_type_t dtype, scalar_t) {
  reduce(Call(Op::tpu_gdma_cpy_reduce_mac_L2S), {Space::kSystem, dst_addr, dst_stride},
         {Space::kLocal, src_addr, src_stride}, shape, dtype, kSum, false, false);
}

#define LOSSY(name, way, dst_space, src_space)                                                                       \
  void name(AddressIn<dst_space> dst_addr, AddressIn<src_space> src_addr, const dim4* shape, const dim4* dst_stride, \
            const dim4* src_stride) {                                                                                \
    lossy(Call(Op::name), way, {dst_space, dst_addr, dst_stride}, {src_space, src_addr, src_stride}, shape,          \
          kPlainCopy);                                                                                               \
  }
LOSSY(tpu_gdma_lossy_compress_L2S, Lossy::kPacks, Space::kSystem, Space::kLocal)
LOSSY(tpu_gdma_lossy_compress_S2S, Lossy::kPacks, Space::kSystem, Space::kSystem)
LOSSY(tpu_gdma_lossy_decompress_S2L, Lossy::kUnpacks, Space::kLocal, Space::kSystem)
LOSSY(tpu_gdma_lossy_decompress_S2S, Lossy::kUnpacks, Space::kSystem, Space::kSystem)
LOSSY(tpu_sdma_lossy_compress, Lossy::kPacks, Space::kSystem, Space::kSystem)
LOSSY(tpu_sdma_lossy_decompress, Lossy::kUnpacks, Space::kSystem, Space::kSystem)

#define LOSSY_REDUCE(name, way, src_space)                                                                       \
  void name(system_addr_t dst_addr, AddressIn<src_space> src_addr, const dim4* shape, const dim4* dst_stride,    \
            const dim4* src_stride, int reduce_psum_op, int reduce_opcode) {                                     \
    lossy_reduce(Call(Op::name), way, {Space::kSystem, dst_addr, dst_stride}, {src_space, src_addr, src_stride}, \
                 shape, {reduce_psum_op, reduce_opcode});                                                        \
  }
LOSSY_REDUCE(tpu_gdma_lossy_compress_reduce_S2L2, Lossy::kPacks, Space::kSystem)
LOSSY_REDUCE(tpu_gdma_lossy_compress_reduce_L12L2, Lossy::kPacks, Space::kLocal)
LOSSY_REDUCE(tpu_gdma_lossy_compress_reduce_L22L2, Lossy::kPacks, Space::kSystem)
LOSSY_REDUCE(tpu_gdma_lossy_decompress_reduce_S2L2, Lossy::kUnpacks, Space::kSystem)
LOSSY_REDUCE(tpu_gdma_lossy_decompress_reduce_L22L2, Lossy::kUnpacks, Space::kSystem)
LOSSY_REDUCE(tpu_sdma_lossy_compress_reduce_S2L2, Lossy::kPacks, Space::kSystem)
LOSSY_REDUCE(tpu_sdma_lossy_compress_reduce_L22L2, Lossy::kPacks, Space::kSystem)
LOSSY_REDUCE(tpu_sdma_lossy_decompress_reduce_S2L2, Lossy::kUnpacks, Space::kSystem)
LOSSY_REDUCE(tpu_sdma_lossy_decompress_reduce_L22L2, Lossy::kUnpacks, Space::kSystem)
}
