// All commands as one value type. A new command struct goes into device/isa/commands/<family>.hpp and into this list,
// before the last entry.
#pragma once

#include <variant>

#include "device/command/control.hpp"
#include "device/engines/bdc/bm1684_fixed/command.hpp"
#include "device/engines/bdc/bm1684_layers/command.hpp"
#include "device/engines/bdc/bm1684_words/command.hpp"
#include "device/engines/bdc/compare/command.hpp"
#include "device/engines/bdc/convert/command.hpp"
#include "device/engines/bdc/elementwise/command.hpp"
#include "device/engines/bdc/gather/command.hpp"
#include "device/engines/bdc/integer/command.hpp"
#include "device/engines/bdc/move/command.hpp"
#include "device/engines/bdc/outer/command.hpp"
#include "device/engines/bdc/product/command.hpp"
#include "device/engines/bdc/special/command.hpp"
#include "device/engines/bdc/window/command.hpp"
#include "device/engines/dma/copy/command.hpp"
#include "device/engines/hau/sort/command.hpp"

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
    RandomCmd,                 //
    OuterCmd,                  //
    ControlCmd>;

}  // namespace softtpu
