// DMA operations.
#include <algorithm>
#include <iterator>
#include <limits>

#include "device/instruction/operands.hpp"
#include "device/isa/op_names.hpp"

namespace softtpu::stream {
namespace {

// One side of a DMA instruction.
struct Side {
  Field addr;
  Field n_stride, c_stride, h_stride, w_stride;  // kCount: the stride is 1
};
constexpr Side kSource{Field::src_addr, Field::src_nstride, Field::src_cstride, Field::src_hstride, Field::src_wstride};
constexpr Side kTarget{Field::dst_addr, Field::dst_nstride, Field::dst_cstride, Field::dst_hstride, Field::dst_wstride};

Dtype element_type(const Operands& in) { return in.type(Field::src_data_format, false); }

bool is_local(const Operands& in, Field addr) { return in.chip().local_mem.contains(in.value(addr)); }

Tensor at(const Operands& in, Field addr, const Dim4& shape, Dtype type) {
  const std::uint64_t address = in.value(addr);
  if (is_local(in, addr)) return {Space::kLocal, address - in.chip().local_mem.start, shape, {}, type, false};
  return {Space::kSystem, address, shape, {}, type, false};
}

// Without strides in the instruction: aligned in local memory, continuous elsewhere.
Tensor natural(const Operands& in, Field addr, const Dim4& shape, Dtype type) {
  Tensor tensor = at(in, addr, shape, type);
  tensor.natural = true;
  tensor.stride = tensor.space == Space::kLocal ? aligned_stride(in.chip(), in.chip().npu_of(tensor.addr), shape, type)
                                                : continuous_stride(shape);
  return tensor;
}

Tensor side(const Operands& in, const Side& which, const Dim4& shape, Dtype type, bool w_strides) {
  if (!in.flag(Field::stride_enable)) return natural(in, which.addr, shape, type);
  Tensor tensor = at(in, which.addr, shape, type);
  const auto stride = [&](Field field) { return static_cast<int>(static_cast<std::int32_t>(in.value(field))); };
  tensor.stride = {stride(which.n_stride), stride(which.c_stride), stride(which.h_stride),
                   w_strides ? stride(which.w_stride) : 1};
  return tensor;
}

// NPUs whose memory is written; the others keep what they have.
std::uint64_t npus_of(const Operands& in) { return in.value(Field::localmem_mask); }

// The function of a family whose name says where both sides lie.
struct ByMemory {
  Op s2s, s2l, l2s, l2l;
};
Op choose(const Operands& in, const ByMemory& ops) {
  const bool to_local = is_local(in, Field::dst_addr);
  if (is_local(in, Field::src_addr)) return to_local ? ops.l2l : ops.l2s;
  return to_local ? ops.s2l : ops.s2s;
}

// What a command that is not plain does to NPUs that are left out is not consistent in the recordings.
void require_all_npus(const Operands& in) {
  if (npus_of(in) != kAllNpus) in.refuse(Field::localmem_mask, "leaves NPUs out");
}

// A broadcast takes its source's elements one after the other, from the first one again where there are fewer.
void check_broadcast(const Operands& in, const Dim4& from, const Dim4& sizes) {
  require_all_npus(in);
  const auto count = [](const Dim4& shape) { return std::int64_t{shape.n} * shape.h * shape.w; };
  const bool same = from.n == sizes.n && from.h == sizes.h && from.w == sizes.w;
  if (same || (!in.flag(Field::stride_enable) && count(from) >= count(sizes))) return;
  throw Refusal(fmt::format("the source has sizes {} x {} x {}, the destination {} x {} x {}", from.n, from.h, from.w,
                            sizes.n, sizes.h, sizes.w));
}

Dim4 source_shape(const Operands& in) {
  return in.shape(Field::src_nsize, Field::src_csize, Field::src_hsize, Field::src_wsize);
}
Dim4 target_shape(const Operands& in) {
  return in.shape(Field::dst_nsize, Field::dst_csize, Field::dst_hsize, Field::dst_wsize);
}

Scalar constant_of(const Operands& in, Dtype type) { return in.constant(Field::constant_value, type); }

Issued fill(const Operands& in) {
  const Dtype type = element_type(in);
  const bool turned = in.function() == 1;
  const Dim4 from = source_shape(in);
  const Dim4 shape = turned                      ? Dim4{from.c, from.n, from.h, from.w}
                     : in.flag(Field::nchw_copy) ? from
                                                 : target_shape(in);
  // Fewer elements end the fill in the middle (golden-bmodel dma_tensor/0121); more do not count.
  const Dim4 given = target_shape(in);
  if (turned && !in.flag(Field::nchw_copy) && std::int64_t{given.h} * given.w < std::int64_t{from.h} * from.w)
    in.refuse(Field::dst_hsize,
              fmt::format("and dst_wsize ({}) are fewer elements than the source's {} x {}", given.w, from.h, from.w));
  const Op op = is_local(in, Field::dst_addr) ? Op::tpu_gdma_set_C_local : Op::tpu_gdma_set_C_system;
  const bool w_strides = in.function() == 0;
  return {op, DmaFillCmd{side(in, kTarget, shape, type, w_strides), constant_of(in, type), false, npus_of(in)}};
}

}  // namespace

Issued dma_tensor(const Operands& in) {
  if (reduces(in)) return dma_reduce(in);
  if (in.flag(Field::fill_constant_en)) return fill(in);
  // Collecting into system memory and distributing over NPUs swap c and w.
  if (in.function() == 2 || in.function() == 4) return dma_cw_transpose(in);
  const Dtype type = element_type(in);
  const Dim4 from = source_shape(in);
  const bool same = in.flag(Field::nchw_copy);
  switch (in.function()) {
    case 0: {
      const Dim4 to = same ? from : target_shape(in);
      const CopyOrder order = to == from ? CopyOrder::kNchw : CopyOrder::kReshape;
      const Op op =
          choose(in, {Op::tpu_gdma_cpy_S2S, Op::tpu_gdma_cpy_S2L, Op::tpu_gdma_cpy_L2S, Op::tpu_gdma_cpy_L2L});
      return {op,
              DmaCopyCmd{order, side(in, kTarget, to, type, true), side(in, kSource, from, type, true), npus_of(in)}};
    }
    case 1: {
      const Dim4 to{from.c, from.n, from.h, from.w};
      const Op op = choose(in, {Op::tpu_gdma_cpy_nc_trans_S2S, Op::tpu_gdma_cpy_nc_trans_S2L,
                                Op::tpu_gdma_cpy_nc_trans_L2S, Op::tpu_gdma_cpy_nc_trans_L2L});
      return {op, DmaCopyCmd{CopyOrder::kCnhw, side(in, kTarget, to, type, false), side(in, kSource, from, type, false),
                             npus_of(in)}};
    }
    case 3: {
      const Dim4 sizes = same ? from : target_shape(in);
      const Dim4 to{sizes.n, in.size(Field::dst_csize), sizes.h, sizes.w};
      check_broadcast(in, from, sizes);
      const Dim4 one{sizes.n, 1, sizes.h, sizes.w};
      const Op op = is_local(in, Field::src_addr) ? Op::tpu_gdma_channel_bcast_L2L : Op::tpu_gdma_channel_bcast_S2L;
      return {op, DmaCopyCmd{CopyOrder::kOneChannel, side(in, kTarget, to, type, false),
                             side(in, kSource, one, type, false), npus_of(in)}};
    }
    default: in.refuse_function();
  }
}

Issued dma_cw_transpose(const Operands& in) {
  const Dtype type = element_type(in);
  const Dim4 from = source_shape(in);
  const Dim4 to{from.n, from.w, from.h, from.c};
  const Op op = choose(in, {Op::tpu_gdma_cpy_cw_trans_S2S, Op::tpu_gdma_cpy_cw_trans_S2L, Op::tpu_gdma_cpy_cw_trans_L2S,
                            Op::tpu_gdma_cpy_cw_trans_L2L});
  return {op, DmaCopyCmd{CopyOrder::kNwhc, side(in, kTarget, to, type, false), side(in, kSource, from, type, false),
                         npus_of(in)}};
}

Issued dma_matrix(const Operands& in) {
  const Dtype type = element_type(in);
  const bool transposed = in.function() == 1;
  const bool to_local = is_local(in, Field::dst_addr);
  if (to_local == is_local(in, Field::src_addr)) throw Refusal("one side has to lie in local memory");
  const auto pick = [&](Field src, Field dst, bool local) { return in.size(local == to_local ? dst : src); };
  const int rows = pick(Field::src_hsize, Field::dst_hsize, false);
  const int cols = pick(Field::src_wsize, Field::dst_wsize, false);
  const int row_stride = pick(Field::src_hstride, Field::dst_hstride, false);
  const int local_rows = pick(Field::src_nsize, Field::dst_nsize, true);
  const int channels = pick(Field::src_csize, Field::dst_csize, true);
  const int width = pick(Field::src_wsize, Field::dst_wsize, true);
  const Field local_addr = to_local ? Field::dst_addr : Field::src_addr;
  const Field system_addr = to_local ? Field::src_addr : Field::dst_addr;

  Tensor system = at(in, system_addr, {rows, 1, 1, cols}, type);
  system.stride = {row_stride, 0, 0, 1};
  const int local_cols = transposed ? rows : cols;
  Tensor local = at(in, local_addr, {local_rows, channels, 1, std::min(width, local_cols)}, type);
  local.stride = {pick(Field::src_nstride, Field::dst_nstride, true),
                  pick(Field::src_cstride, Field::dst_cstride, true), width, 1};
  if (to_local) {
    return {transposed ? Op::tpu_gdma_matrix_trans_S2L : Op::tpu_gdma_matrix_S2L,
            DmaMatrixCmd{local, system, transposed, npus_of(in)}};
  }
  return {transposed ? Op::tpu_gdma_matrix_trans_L2S : Op::tpu_gdma_matrix_L2S,
          DmaMatrixCmd{system, local, transposed}};
}

Issued dma_general(const Operands& in) {
  const Dtype type = element_type(in);
  const Dim4 line{1, 1, 1, in.size(Field::src_cstride)};
  const auto block = [&](Field addr) {
    return Tensor{Space::kSystem, in.value(addr), line, continuous_stride(line), type, true};
  };
  if (in.function() == 0) {
    if (in.flag(Field::fill_constant_en)) {
      return {Op::tpu_gdma_system_set, DmaFillCmd{block(Field::dst_addr), constant_of(in, type), true}};
    }
    return {Op::tpu_gdma_system_cpy, DmaCopyCmd{CopyOrder::kBlock, block(Field::dst_addr), block(Field::src_addr)}};
  }
  if (!is_local(in, Field::dst_addr)) in.refuse(Field::dst_addr, "is no address of local memory");
  Tensor dst = at(in, Field::dst_addr, {1, in.size(Field::dst_csize), 1, line.w}, type);
  dst.stride = compact_stride(in.chip(), in.chip().npu_of(dst.addr), dst.shape);
  dst.natural = true;
  return {Op::tpu_gdma_system_bcast, DmaCopyCmd{CopyOrder::kOneChannel, dst, block(Field::src_addr), npus_of(in)}};
}

Issued dma_masked_select(const Operands& in) {
  const Dtype type = element_type(in);
  const Dim4 shape = source_shape(in);
  const Op op = is_local(in, Field::src_addr) ? Op::tpu_gdma_mask_select_L2S : Op::tpu_gdma_mask_select_S2S;
  return {op, DmaMaskSelectCmd{natural(in, Field::dst_addr, shape, type), natural(in, Field::src_addr, shape, type),
                               natural(in, Field::mask_addr, shape, in.type(Field::mask_data_format, false))}};
}

namespace {

// An element counts by its bits, whatever its type.
Dtype bits_of(const Operands& in) {
  switch (size_of(element_type(in))) {
    case 1: return Dtype::kUint8;
    case 2: return Dtype::kUint16;
    default: return Dtype::kUint32;
  }
}

}  // namespace

Issued dma_nonzero(const Operands& in) {
  const Dim4 shape = source_shape(in);
  const Op op = is_local(in, Field::src_addr) ? Op::tpu_gdma_nonzero_L2S : Op::tpu_gdma_nonzero_S2S;
  return {op, DmaNonzeroCmd{natural(in, Field::dst_addr, shape, Dtype::kUint32),
                            natural(in, Field::src_addr, shape, bits_of(in)),
                            static_cast<std::uint32_t>(in.value(Field::base_i))}};
}

Issued dma_rows(const Operands& in, RowsMode mode) {
  const Dtype type = element_type(in);
  const int index_channels = in.size(Field::index_csize);
  const int channels = std::max(in.size(Field::src_csize), index_channels);
  const int width = in.size(Field::src_wsize);
  if (mode == RowsMode::kScatter) require_all_npus(in);
  // A side with one channel serves them all, where it does not lie in one NPU only.
  // Formats without an h stride of indices have them side by side.
  const auto stride = [&](Field field) { return in.has(field) ? in.size(field) : 1; };
  const auto rows = [&](Field addr, int own_channels, int count, int columns, Field c_stride, Field h_stride,
                        Dtype of) {
    const bool repeated = own_channels == 1 && channels > 1;
    if (own_channels != channels && (!repeated || is_local(in, addr)))
      throw Refusal(fmt::format("{} has {} channels of {}", to_text(addr), own_channels, channels));
    Tensor tensor = natural(in, addr, {1, channels, count, columns}, of);
    if (in.flag(Field::stride_enable)) {
      tensor.natural = false;
      tensor.stride = {0, stride(c_stride), stride(h_stride), 1};
    }
    if (repeated) tensor.stride.c = 0;
    return tensor;
  };
  DmaRowsCmd cmd;
  if (mode == RowsMode::kScatter && in.function() == 1) mode = RowsMode::kScatterAdd;
  cmd.mode = mode;
  cmd.start = static_cast<std::uint32_t>(in.value(Field::start_pos));
  cmd.npus = npus_of(in);
  cmd.dst =
      rows(Field::dst_addr, channels, in.size(Field::dst_hsize), width, Field::dst_cstride, Field::dst_hstride, type);
  cmd.param = rows(Field::src_addr, in.size(Field::src_csize), in.size(Field::src_hsize), width, Field::src_cstride,
                   Field::src_hstride, type);
  // Each row that is scattered has an index, whatever the instruction says how many there are (golden-bmodel:
  // dma_scatter/0006, dma_scatter/0030).
  const Field indices = mode == RowsMode::kGather ? Field::index_hsize : Field::src_hsize;
  cmd.index = rows(Field::index_addr, index_channels, in.size(indices), 1, Field::index_cstride, Field::index_hstride,
                   Dtype::kUint32);
  if (mode == RowsMode::kGather) {
    cmd.fill = constant_of(in, type);
    return {choose(in, {Op::tpu_gdma_h_gather_S2S, Op::tpu_gdma_h_gather_S2L, Op::tpu_gdma_h_gather_L2S,
                        Op::tpu_gdma_h_gather_L2L}),
            cmd};
  }
  return {choose(in, {Op::tpu_gdma_h_scatter_S2S, Op::tpu_gdma_h_scatter_S2L, Op::tpu_gdma_h_scatter_L2S,
                      Op::tpu_gdma_h_scatter_L2L}),
          cmd};
}

// Reverses one direction, which is the function's: w, h, c, n.
Issued dma_reverse(const Operands& in) {
  constexpr CopyOrder kOrders[] = {CopyOrder::kReverseW, CopyOrder::kReverseH, CopyOrder::kReverseC,
                                   CopyOrder::kReverseN};
  if (in.function() >= std::size(kOrders)) in.refuse_function();
  const Dtype type = element_type(in);
  const Dim4 shape = source_shape(in);
  const Op op = choose(
      in, {Op::tpu_gdma_reverse_S2S, Op::tpu_gdma_reverse_S2L, Op::tpu_gdma_reverse_L2S, Op::tpu_gdma_reverse_L2L});
  return {op, DmaCopyCmd{kOrders[in.function()], side(in, kTarget, shape, type, false),
                         side(in, kSource, shape, type, false), npus_of(in)}};
}

namespace {

// A copy that combines what it writes with what is there: operation in bits 4 to 7, which bit 8 turns on.
struct Reduction {
  ReduceMode mode;
  bool combine;
};
constexpr std::uint64_t kReduces = 0x8000;

Reduction reduction_of(const Operands& in) {
  const std::uint64_t code = in.value(Field::all_reduce_code);
  if (code == 0) return {ReduceMode::kCopy, false};
  const std::uint64_t mode = code >> 4 & 15;
  if ((code & kReduces) == 0 || mode > static_cast<unsigned>(ReduceMode::kAdd))
    in.refuse(Field::all_reduce_code, "is no reduction that is known");
  return {static_cast<ReduceMode>(mode), (code >> 8 & 1) != 0};
}

bool in_l2(const Operands& in, Field addr) { return in.chip().l2_sram.contains(in.value(addr)); }

}  // namespace

bool reduces(const Operands& in) { return in.value(Field::all_reduce_code) != 0; }

Issued dma_reduce(const Operands& in) {
  const Dtype type = in.type(Field::src_data_format, true);
  const Dim4 shape = source_shape(in);
  const auto [mode, combine] = reduction_of(in);
  const bool same = in.flag(Field::nchw_copy) || target_shape(in) == shape;
  if (in.flag(Field::fill_constant_en) || in.function() != 0 || !same)
    in.refuse(Field::all_reduce_code, "belongs to a copy of one shape");
  const Op op = is_local(in, Field::src_addr) ? Op::tpu_gdma_cpy_reduce_L12L2
                : in_l2(in, Field::src_addr)  ? Op::tpu_gdma_cpy_reduce_L22L2
                                              : Op::tpu_gdma_cpy_reduce_S2L2;
  return {op, DmaReduceCmd{mode, combine, Lossy::kNone, side(in, kTarget, shape, type, true),
                           side(in, kSource, shape, type, true)}};
}

// f32 to and from FP20, which lies without gaps.
Issued dma_lossy(const Operands& in, bool packs) {
  const Dim4 shape = source_shape(in);
  const auto [mode, combine] = reduction_of(in);
  constexpr double kMostElements = 1e9;  // far above what memories hold
  if (1.0 * shape.n * shape.c * shape.h * shape.w > kMostElements)
    in.refuse(Field::src_nsize, "and the other sizes make too many elements");
  const std::int64_t bytes = (shape.elements() + kLossyValues - 1) / kLossyValues * kLossyBytes;
  if (bytes > std::numeric_limits<int>::max()) in.refuse(Field::src_nsize, "makes 2^31 bytes or more");
  const auto wide = [&](const Side& which) {
    Tensor tensor = at(in, which.addr, shape, Dtype::kFp32);
    const auto stride = [&](Field field) { return static_cast<int>(static_cast<std::int32_t>(in.value(field))); };
    tensor.stride = {stride(which.n_stride), stride(which.c_stride), stride(which.h_stride), 1};
    return tensor;
  };
  const auto packed = [&](const Side& which) {
    return natural(in, which.addr, {1, 1, 1, static_cast<int>(bytes)}, Dtype::kUint8);
  };
  DmaReduceCmd cmd{mode, combine, packs ? Lossy::kPacks : Lossy::kUnpacks, {}, {}};
  cmd.dst = packs ? packed(kTarget) : wide(kTarget);
  cmd.src = packs ? wide(kSource) : packed(kSource);
  if (!reduces(in)) {
    if (in.by_sdma()) return {packs ? Op::tpu_sdma_lossy_compress : Op::tpu_sdma_lossy_decompress, cmd};
    if (packs)
      return {is_local(in, Field::src_addr) ? Op::tpu_gdma_lossy_compress_L2S : Op::tpu_gdma_lossy_compress_S2S, cmd};
    return {is_local(in, Field::dst_addr) ? Op::tpu_gdma_lossy_decompress_S2L : Op::tpu_gdma_lossy_decompress_S2S, cmd};
  }
  if (packs) {
    return {is_local(in, Field::src_addr) ? Op::tpu_gdma_lossy_compress_reduce_L12L2
            : in_l2(in, Field::src_addr)  ? Op::tpu_gdma_lossy_compress_reduce_L22L2
                                          : Op::tpu_gdma_lossy_compress_reduce_S2L2,
            cmd};
  }
  return {in_l2(in, Field::src_addr) ? Op::tpu_gdma_lossy_decompress_reduce_L22L2
                                     : Op::tpu_gdma_lossy_decompress_reduce_S2L2,
          cmd};
}

Issued dma_compress(const Operands& in) { in.refuse_function(); }
Issued dma_decompress(const Operands& in) { in.refuse_function(); }

}  // namespace softtpu::stream
