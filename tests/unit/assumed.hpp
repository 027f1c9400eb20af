// For the ledger: functions whose oracle assumes what neither a recording nor a document says (firmware/README.md).
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "device/isa/op.hpp"

namespace softtpu {

inline void record_assumed(std::initializer_list<Op> functions) {
  for (const Op op : functions) testing::Test::RecordProperty("assumed:" + std::string(info(op).name), 1);
}

}  // namespace softtpu
