// The rows of the operations table have limits for every number of the commands that their functions issue.
#include <fmt/format.h>

#include <map>
#include <set>
#include <string>

#include "device/chip/limits.hpp"
#include "device/command/numbers.hpp"
#include "tests/grid/recipes.hpp"
#include "tests/unit/device_fixture.hpp"

namespace softtpu::grid {
namespace {

constexpr Places kPlaces;

std::set<std::string> limits_named_by(Limits set) {
  std::set<std::string> names;
  for (const Limit& limit : limits_of(set)) names.insert(limit.argument);
  return names;
}

// Compares the numbers of each command, carried out or refused, with its row.
class RowsOfNumbers : public Observer {
 public:
  void before(Op op, const Command& command) override { compare(op, command); }
  void refused(Op op, const Command& command, const Refusal&) override { compare(op, command); }

  std::map<Limits, std::set<std::string>> used;  // the limits of a set that some command has a number for

 private:
  void compare(Op op, const Command& command) {
    const Limits set = info(op).limits;
    const std::set<std::string> limits = limits_named_by(set);
    const Numbers numbers = std::visit([](const auto& cmd) { return Numbers(cmd); }, command);
    for (const Number& number : numbers.all()) {
      EXPECT_TRUE(limits.contains(number.argument)) << info(op).name << " has no limit of " << number.argument;
      used[set].insert(number.argument);
    }
  }
};

// Gives the valid calls of a chip's functions, and adds the limits that they used.
int call_each(const char* chip, const Recipes& recipes, RowsOfNumbers& rows) {
  TestDevice device(chip);
  const auto observer = std::make_shared<RowsOfNumbers>();
  device.core().add_observer(observer);
  int accepted = 0;
  for (const Function& function : recipes.functions) {
    const std::optional<Op> op = find_op(function.name);
    if (!op || info(*op).engine == Engine::kNone || info(*op).engine == Engine::kControl) continue;
    std::vector<Value> values = make_recipe(recipes, function, info(*op), device.chip(), kPlaces);
    if (const Preparation* preparation = find_preparation(recipes, function.name))
      device.run([&] { preparation->kernel(values); });
    accepted += static_cast<int>(device.run([&] { function.call(values); }).ok);
  }
  for (const auto& [set, names] : observer->used) rows.used[set].insert(names.begin(), names.end());
  return accepted;
}

TEST(RowsOfOperations, HaveALimitOfEachNumberOfTheirCommands) {
  RowsOfNumbers rows;
  EXPECT_GT(call_each("bm1684x", tpu_recipes(), rows), 250);
  EXPECT_GT(call_each("bm1690", tpu_recipes(), rows), 250);
  EXPECT_GT(call_each("bm1684", okk_recipes(), rows), 100);
  std::set<Limits> named;
  for (const OpInfo& row : all_ops()) named.insert(row.limits);
  for (const Limits set : named) {
    for (const std::string& name : limits_named_by(set))
      EXPECT_TRUE(rows.used[set].contains(name))
          << "no command of a row with set " << static_cast<int>(set) << " has a number " << name;
  }
}

}  // namespace
}  // namespace softtpu::grid
