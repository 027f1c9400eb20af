// The reference of public functions (docs/reference), compiled in: what `softtpu api NAME` and `--search` show.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace softtpu::cli {

// Made when the program is built (scripts/reference/embed.py).
std::string_view embedded_reference();

class FunctionReference {
 public:
  FunctionReference();
  ~FunctionReference();

  bool has(const std::string& name) const;
  // The page of a function for a terminal; `known` tells how softtpu knows, "" for functions outside the ledger.
  std::string page(const std::string& name, const std::string& known) const;
  // The same as one JSON object.
  nlohmann::json page_as_json(const std::string& name, const std::string& known) const;
  // Names like a mistyped one, the most likely first; empty when nothing is near.
  std::vector<std::string> nearest(const std::string& name) const;

  struct Hit {
    std::string name, purpose;
  };
  // Functions whose texts hold all the words, else as many as any does, best first.
  std::vector<Hit> search(const std::string& words) const;

 private:
  struct Data;
  std::unique_ptr<Data> data_;
};

}  // namespace softtpu::cli
