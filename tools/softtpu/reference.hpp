// The reference of public functions (docs/reference), compiled in: what `softtpu api NAME` and `--search` show.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace softtpu::cli {

// Made when the program is built (scripts/reference/embed.py).
std::string_view embedded_reference();

class FunctionReference {
 public:
  FunctionReference();
  ~FunctionReference();

  bool has(const std::string& name) const;
  // What is shown of a function besides what is written about it.
  struct View {
    std::string known;     // how softtpu knows; "" for functions outside the ledger
    std::string chip;      // name of the chip that the page is about; "": the first one that has the function
    std::string here;      // how that chip differs from the text, a sentence
    bool refused = false;  // the chip refuses every call: what calls have to be like is not said
    // What the chip asks of arguments: name and range. Those that the text gives are not repeated.
    std::vector<std::pair<std::string, std::string>> ranges;
  };
  // The page of a function for a terminal.
  std::string page(const std::string& name, const View& view) const;
  // The same as one JSON object.
  nlohmann::json page_as_json(const std::string& name, const View& view) const;

  // The chips that a sample runs on; nullopt: it is no sample that a search finds.
  std::optional<std::vector<std::string>> chips_of_sample(const std::string& name) const;
  // Whether it is a host function that an emulated device refuses.
  bool is_refused_on_hosts(const std::string& name) const;

  // A type, an enumerator, a macro or a function without a page of the public headers; nullopt: there is none of that
  // name.
  struct Name {
    std::string kind, declaration, header, of;  // `of`: the enum of an enumerator; no declaration: the chip has none
    std::string about;                          // what a function is for
    std::vector<std::string> chips;             // that declare it otherwise than most
  };
  // As it is on a chip; "": as most chips have it.
  std::optional<Name> find_name(const std::string& name, const std::string& chip) const;
  // Functions whose prototype names a type.
  std::vector<std::string> users_of(const std::string& type) const;
  // Names like a mistyped one, the most likely first; empty when nothing is near.
  std::vector<std::string> nearest(const std::string& name) const;

  struct Hit {
    std::string name, purpose;
  };
  // Functions and samples whose texts hold all the words, else as many as any does, best first. Those that `is_refused`
  // come last.
  std::vector<Hit> search(const std::string& words, const std::function<bool(const std::string&)>& is_refused) const;

 private:
  struct Data;
  std::unique_ptr<Data> data_;
};

}  // namespace softtpu::cli
