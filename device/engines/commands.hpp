// What the core can do with each command: find its first violated rule, and execute it. One pair of overloads per
// command; the rules live in device/core/validate_*.cpp, the meaning in device/{bdc,dma,hau}.
#pragma once

#include <cstdint>

#include "device/command/refusal.hpp"
#include "device/engines/command.hpp"
#include "device/isa/op.hpp"
#include "device/memory/memories.hpp"

namespace softtpu {

Violation violation(const Memories& mem, Op op, const ArithCmd& cmd);
void execute(Memories& mem, const ArithCmd& cmd);

Violation violation(const Memories& mem, Op op, const MixedArithCmd& cmd);
void execute(Memories& mem, const MixedArithCmd& cmd);

Violation violation(const Memories& mem, Op op, const TaylorCmd& cmd);
void execute(Memories& mem, const TaylorCmd& cmd);

Violation violation(const Memories& mem, Op op, const LookupCmd& cmd);
void execute(Memories& mem, const LookupCmd& cmd);

Violation violation(const Memories& mem, Op op, const ExponentCmd& cmd);
void execute(Memories& mem, const ExponentCmd& cmd);

Violation violation(const Memories& mem, Op op, const RootCmd& cmd);
void execute(Memories& mem, const RootCmd& cmd);

Violation violation(const Memories& mem, Op op, const DivideCmd& cmd);
void execute(Memories& mem, const DivideCmd& cmd);

Violation violation(const Memories& mem, Op op, const StaticLoadCmd& cmd);
void execute(Memories& mem, const StaticLoadCmd& cmd);
Violation violation(const Memories& mem, Op op, const UnaryCmd& cmd);
void execute(Memories& mem, const UnaryCmd& cmd);

Violation violation(const Memories& mem, Op op, const ScaleBiasCmd& cmd);
void execute(Memories& mem, const ScaleBiasCmd& cmd);

Violation violation(const Memories& mem, Op op, const MacCmd& cmd);
void execute(Memories& mem, const MacCmd& cmd);

Violation violation(const Memories& mem, Op op, const IntArithCmd& cmd);
void execute(Memories& mem, const IntArithCmd& cmd);

Violation violation(const Memories& mem, Op op, const ShiftCmd& cmd);
void execute(Memories& mem, const ShiftCmd& cmd);

Violation violation(const Memories& mem, Op op, const IntQuantCmd& cmd);
void execute(Memories& mem, const IntQuantCmd& cmd);

Violation violation(const Memories& mem, Op op, const CastCmd& cmd);
void execute(Memories& mem, const CastCmd& cmd);

Violation violation(const Memories& mem, Op op, const FloatQuantCmd& cmd);
void execute(Memories& mem, const FloatQuantCmd& cmd);

Violation violation(const Memories& mem, Op op, const CompareCmd& cmd);
void execute(Memories& mem, const CompareCmd& cmd);

Violation violation(const Memories& mem, Op op, const SelectCmd& cmd);
void execute(Memories& mem, const SelectCmd& cmd);

Violation violation(const Memories& mem, Op op, const CopyCmd& cmd);
void execute(Memories& mem, const CopyCmd& cmd);

Violation violation(const Memories& mem, Op op, const CrossCopyCmd& cmd);
void execute(Memories& mem, const CrossCopyCmd& cmd);

Violation violation(const Memories& mem, Op op, const SequenceCmd& cmd);
void execute(Memories& mem, const SequenceCmd& cmd);
Violation violation(const Memories& mem, Op op, const RandomCmd& cmd);
void execute(Memories& mem, const RandomCmd& cmd);

Violation violation(const Memories& mem, Op op, const OuterCmd& cmd);
void execute(Memories& mem, const OuterCmd& cmd);

Violation violation(const Memories& mem, Op op, const DmaCopyCmd& cmd);
void execute(Memories& mem, const DmaCopyCmd& cmd);
Violation violation(const Memories& mem, Op op, const DmaFillCmd& cmd);
void execute(Memories& mem, const DmaFillCmd& cmd);
Violation violation(const Memories& mem, Op op, const DmaMatrixCmd& cmd);
void execute(Memories& mem, const DmaMatrixCmd& cmd);
Violation violation(const Memories& mem, Op op, const DmaRowsCmd& cmd);
void execute(Memories& mem, const DmaRowsCmd& cmd);
Violation violation(const Memories& mem, Op op, const DmaMaskSelectCmd& cmd);
std::uint32_t execute(Memories& mem, const DmaMaskSelectCmd& cmd);
Violation violation(const Memories& mem, Op op, const DmaNonzeroCmd& cmd);
std::uint32_t execute(Memories& mem, const DmaNonzeroCmd& cmd);
Violation violation(const Memories& mem, Op op, const DmaCompressCmd& cmd);
void execute(Memories& mem, const DmaCompressCmd& cmd);
Violation violation(const Memories& mem, Op op, const DmaReduceCmd& cmd);
void execute(Memories& mem, const DmaReduceCmd& cmd);
Violation violation(const Memories& mem, Op op, const GatherCmd& cmd);
void execute(Memories& mem, const GatherCmd& cmd);
Violation violation(const Memories& mem, Op op, const MaskSelectCmd& cmd);
void execute(Memories& mem, const MaskSelectCmd& cmd);
Violation violation(const Memories& mem, Op op, const HauSortCmd& cmd);
void execute(Memories& mem, const HauSortCmd& cmd);
Violation violation(const Memories& mem, Op op, const HauHardNmsCmd& cmd);
void execute(Memories& mem, const HauHardNmsCmd& cmd);
Violation violation(const Memories& mem, Op op, const HauSoftNmsCmd& cmd);
void execute(Memories& mem, const HauSoftNmsCmd& cmd);
Violation violation(const Memories& mem, Op op, const HauLineGatherCmd& cmd);
void execute(Memories& mem, const HauLineGatherCmd& cmd);

Violation violation(const Memories& mem, Op op, const OkkFixedCmd& cmd);
void execute(Memories& mem, const OkkFixedCmd& cmd);

Violation violation(const Memories& mem, Op op, const OkkWidenCmd& cmd);
void execute(Memories& mem, const OkkWidenCmd& cmd);

Violation violation(const Memories& mem, Op op, const OkkConvCmd& cmd);
void execute(Memories& mem, const OkkConvCmd& cmd);

Violation violation(const Memories& mem, Op op, const OkkWindowCmd& cmd);
void execute(Memories& mem, const OkkWindowCmd& cmd);

Violation violation(const Memories& mem, Op op, const OkkMatmulCmd& cmd);
void execute(Memories& mem, const OkkMatmulCmd& cmd);

Violation violation(const Memories& mem, Op op, const OkkWordCmd& cmd);
void execute(Memories& mem, const OkkWordCmd& cmd);

Violation violation(const Memories& mem, Op op, const OkkUnaryCmd& cmd);
void execute(Memories& mem, const OkkUnaryCmd& cmd);

Violation violation(const Memories& mem, Op op, const OkkTaylorCmd& cmd);
void execute(Memories& mem, const OkkTaylorCmd& cmd);

Violation violation(const Memories& mem, Op op, const OkkSelectCmd& cmd);
void execute(Memories& mem, const OkkSelectCmd& cmd);

Violation violation(const Memories& mem, Op op, const OkkMulAddCmd& cmd);
void execute(Memories& mem, const OkkMulAddCmd& cmd);
Violation violation(const Memories& mem, Op op, const MatMulCmd& cmd);
void execute(Memories& mem, const MatMulCmd& cmd);

Violation violation(const Memories& mem, Op op, const Conv2dCmd& cmd);
void execute(Memories& mem, const Conv2dCmd& cmd);

Violation violation(const Memories& mem, Op op, const PoolCmd& cmd);
void execute(Memories& mem, const PoolCmd& cmd);

Violation violation(const Memories& mem, Op op, const RoiPoolCmd& cmd);
void execute(Memories& mem, const RoiPoolCmd& cmd);

}  // namespace softtpu
