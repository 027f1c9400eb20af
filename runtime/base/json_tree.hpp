// Trees of JSON in functions that programs call: their end needs no memory. nlohmann::json lists what an array or
// object holds before it destroys it, and a destructor that finds no memory ends the program.
//
// A tree is built in its place: values are numbers, texts, or empty arrays and objects, which are then filled; a value
// that holds others is moved to where it belongs (`Json& at = tree["list"].emplace_back(); at = to_json(item);`). What
// is null is given its type before it is filled: the library leaves a value of half a type when that fails.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace softtpu {

class JsonTree {
 public:
  // An object without members.
  JsonTree() : root_(nlohmann::json::object()) {}
  // Discarded when the text is not JSON, or deeper than kMostDepth.
  static JsonTree parse(std::string_view text);
  ~JsonTree() { dismantle(root_); }
  JsonTree(JsonTree&& other) noexcept : root_(std::move(other.root_)) {}
  JsonTree& operator=(JsonTree&&) = delete;

  static constexpr std::size_t kMostDepth = 64;

  nlohmann::json& operator*() { return root_; }
  nlohmann::json& operator[](const char* name) { return root_[name]; }
  void erase(const char* name) {
    if (const auto found = root_.find(name); found != root_.end()) {
      dismantle(*found);
      root_.erase(found);
    }
  }
  // To be assigned to a part of another tree, which is there already.
  nlohmann::json take() { return std::move(root_); }
  // In one line; bytes that are no UTF-8 are replaced.
  std::string text() const { return root_.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace); }

 private:
  static void dismantle(nlohmann::json& json) noexcept;
  nlohmann::json root_;
};

}  // namespace softtpu
