// Valid and invalid calls of every function of a chip that issues commands, made from its signature.
//
// From the valid call of its recipe, one argument after the other is changed into something that the rules of every
// function forbid. Such a call must fault with the function's name, the argument's name and the value, and must not
// change memory.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/grid/recipes.hpp"
#include "tests/unit/device_fixture.hpp"

namespace softtpu::grid {

// A change that some of these functions accept, though the grid forbids it in general; all but the reason are patterns.
struct Legal {
  std::string functions, parameter, change, reason;
};

// What messages call a parameter whose own name says less; both patterns, the words as they stand in the text.
struct Alias {
  std::string functions, parameter, words;
};

struct Description {
  std::string chip;
  const Recipes& recipes;
  std::vector<Legal> legal;
  std::vector<Alias> aliases;
};

struct Counts {
  int rows = 0, valid = 0, invalid = 0, legal = 0;
};

class CallGrid {
 public:
  struct Change {
    std::string name;                // "misaligned", "n=0"
    std::size_t parameter = 0;       // which argument
    Value value;                     // its new value
    std::vector<std::string> shown;  // the fault prints one of these
  };

  explicit CallGrid(Description description);

  // Every row of the operations table that issues commands on the chip has to be in the table of functions.
  Counts run();

 private:
  std::vector<Change> changes(const Function& function, const OpInfo& row, const std::vector<Value>& valid) const;
  std::vector<Change> changes_of(const Parameter& parameter, std::size_t at, const Value& valid,
                                 const OpInfo& row) const;
  std::vector<Change> local_changes(std::size_t at, const Value& valid) const;
  std::vector<Change> system_changes(std::size_t at, const Value& valid) const;
  std::vector<Change> union_changes(std::size_t at, const Value& valid) const;
  std::vector<Change> info_changes(const Parameter& parameter, std::size_t at, const Value& valid) const;
  std::vector<Change> variable_changes(const Parameter& parameter, std::size_t at, const Value& valid) const;

  void reset_memory(const Function& function, const std::vector<Value>& valid);
  void remember();
  bool unchanged() const;
  void check_refused(const Function& function, const Change& change, const LaunchOutcome& outcome) const;
  std::vector<std::string> names_of(const Function& function, const Parameter& parameter) const;
  bool is_legal(const Function& function, const Change& change);

  Description description_;
  TestDevice device_;
  std::vector<std::uint8_t> local_, global_;
  std::vector<bool> used_;  // which entries of `legal` some call needs
};

}  // namespace softtpu::grid
