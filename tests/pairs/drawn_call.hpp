// Calls of public functions with arguments that are drawn at random, all at once.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/grid/recipes.hpp"

namespace softtpu::pairs {

// A function that issues commands on the chip, and the recipes that it belongs to.
struct Candidate {
  const grid::Function* function = nullptr;
  const OpInfo* row = nullptr;
  const grid::Recipes* recipes = nullptr;
};
std::vector<Candidate> candidates(const Chip& chip);

struct DrawnCall {
  Candidate of;
  std::vector<grid::Value> valid;   // the recipe
  std::vector<grid::Value> values;  // what is drawn from it
};
// Depends on nothing but its arguments.
DrawnCall draw(const std::vector<Candidate>& from, const Chip& chip, std::uint64_t seed, std::uint64_t number);

// The call as a line: name(argument=value, ...).
std::string to_text(const DrawnCall& call);

}  // namespace softtpu::pairs
