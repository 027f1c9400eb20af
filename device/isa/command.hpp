// All commands as one value type. A new command struct goes into device/isa/commands/<family>.hpp and into this list,
// before the last entry.
#pragma once

#include <variant>

#include "device/isa/commands/control.hpp"
#include "device/isa/commands/convert.hpp"
#include "device/isa/commands/dma.hpp"
#include "device/isa/commands/elementwise.hpp"
#include "device/isa/commands/integer.hpp"
#include "device/isa/commands/gather.hpp"
#include "device/isa/commands/hau.hpp"
#include "device/isa/commands/matrix.hpp"
#include "device/isa/commands/move.hpp"
#include "device/isa/commands/okk.hpp"
#include "device/isa/commands/okk_fixed.hpp"
#include "device/isa/commands/okk_nn.hpp"
#include "device/isa/commands/outer.hpp"
#include "device/isa/commands/select.hpp"
#include "device/isa/commands/sfu.hpp"
#include "device/isa/commands/window.hpp"

namespace softtpu {

using Command = std::variant<  //
    OkkWordCmd,                //
    OkkUnaryCmd,               //
    OkkTaylorCmd,              //
    OkkSelectCmd,              //
    OkkMulAddCmd,              //
    MatMulCmd,                 //
    Conv2dCmd,                 //
    PoolCmd,                   //
    RoiPoolCmd,                //
    OkkFixedCmd,               //
    OkkWidenCmd,               //
    OkkConvCmd,                //
    OkkWindowCmd,              //
    OkkMatmulCmd,              //
    ArithCmd,                  //
    DmaCopyCmd,                //
    DmaFillCmd,                //
    DmaMatrixCmd,              //
    DmaRowsCmd,                //
    DmaMaskSelectCmd,          //
    DmaNonzeroCmd,             //
    DmaCompressCmd,            //
    DmaReduceCmd,              //
    MixedArithCmd,             //
    GatherCmd,                 //
    MaskSelectCmd,             //
    HauSortCmd,                //
    HauHardNmsCmd,             //
    HauSoftNmsCmd,             //
    HauLineGatherCmd,          //
    TaylorCmd,                 //
    LookupCmd,                 //
    ExponentCmd,               //
    RootCmd,                   //
    DivideCmd,                 //
    StaticLoadCmd,             //
    UnaryCmd,                  //
    ScaleBiasCmd,              //
    MacCmd,                    //
    IntArithCmd,               //
    ShiftCmd,                  //
    IntQuantCmd,               //
    CastCmd,                   //
    FloatQuantCmd,             //
    CompareCmd,                //
    SelectCmd,                 //
    CopyCmd,                   //
    CrossCopyCmd,              //
    SequenceCmd,               //
    OuterCmd,                  //
    ControlCmd>;

}  // namespace softtpu
