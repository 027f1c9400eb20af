// All commands as one value type. A new command struct goes into device/isa/commands/<family>.hpp and into this list.
#pragma once

#include <variant>

#include "device/isa/commands/control.hpp"
#include "device/isa/commands/dma.hpp"
#include "device/isa/commands/elementwise.hpp"
#include "device/isa/commands/okk.hpp"
#include "device/isa/commands/matrix.hpp"
#include "device/isa/commands/okk_fixed.hpp"
#include "device/isa/commands/okk_nn.hpp"
#include "device/isa/commands/sfu.hpp"
#include "device/isa/commands/window.hpp"

namespace softtpu {

using Command = std::variant<  //
    ControlCmd,                //
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
    TaylorCmd,                 //
    LookupCmd,                 //
    ExponentCmd,               //
    RootCmd,                   //
    DivideCmd,                 //
    StaticLoadCmd>;

}  // namespace softtpu
