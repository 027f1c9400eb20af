// What the core can do with each command: find its first violated rule, and execute it. One pair of overloads per
// command; the rules live in device/core/validate_*.cpp, the meaning in device/{bdc,dma,hau}.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "device/isa/command.hpp"
#include "device/isa/op.hpp"
#include "device/memory/memories.hpp"

namespace softtpu {

using Violation = std::optional<std::string>;

Violation violation(const Memories& mem, Op op, const ArithCmd& cmd);
void execute(Memories& mem, const ArithCmd& cmd);

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

Violation violation(const Memories& mem, Op op, const DmaCopyCmd& cmd);
void execute(Memories& mem, const DmaCopyCmd& cmd);
Violation violation(const Memories& mem, Op op, const DmaFillCmd& cmd);
void execute(Memories& mem, const DmaFillCmd& cmd);
Violation violation(const Memories& mem, Op op, const DmaMatrixCmd& cmd);
void execute(Memories& mem, const DmaMatrixCmd& cmd);

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
