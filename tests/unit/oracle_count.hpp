// Counts, for each public function, the random calls whose results an independent oracle confirmed bit for bit. The
// counts become the test's properties "oracle:FUNCTION", which the ledger is made of: no name or number is typed.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "device/core/observer.hpp"

namespace softtpu {

class OracleCount : public Observer {
 public:
  OracleCount() = default;
  OracleCount(const OracleCount&) = delete;
  OracleCount& operator=(const OracleCount&) = delete;
  ~OracleCount() override {
    for (const auto& [op, cases] : confirmed_)
      testing::Test::RecordProperty("oracle:" + std::string(info(op).name), cases);
  }

  void after(Op op, const Command&) override { called_.insert(op); }
  // What was called since the last comparison gave what the oracle expects.
  void confirm() {
    for (const Op op : called_) ++confirmed_[op];
    called_.clear();
  }
  // A function that issues no command.
  void confirm(Op op) { ++confirmed_[op]; }
  // What was called since the last comparison is compared with nothing.
  void forget() { called_.clear(); }

 private:
  std::set<Op> called_;
  std::map<Op, int> confirmed_;
};

}  // namespace softtpu
