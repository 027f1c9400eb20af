#include "runtime/base/json_tree.hpp"

#include <vector>

namespace softtpu {
namespace {

using Json = nlohmann::json;

// Builds the tree in its place; false ends the reading.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  explicit Builder(Json& root) : root_(root) {}

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return open(Json::value_t::object); }
  bool start_array(std::size_t /*size*/) override { return open(Json::value_t::array); }
  bool key(string_t& name) override {
    member_ = &(*open_.back())[name];
    return true;
  }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t /*at*/, const std::string& /*token*/, const Json::exception& /*error*/) override {
    return false;
  }

 private:
  Json& next() {
    if (open_.empty()) return root_;
    return open_.back()->is_array() ? open_.back()->emplace_back() : *member_;
  }
  template <class T>
  bool add(T&& value) {
    Json& place = next();
    place = std::forward<T>(value);
    return true;
  }
  bool open(Json::value_t type) {
    if (open_.size() >= JsonTree::kMostDepth) return false;
    Json& place = next();
    place = type;
    open_.push_back(&place);
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  Json& root_;
  std::vector<Json*> open_;  // what is being read lies in the last of these
  Json* member_ = nullptr;   // of an object, by its latest name
};

}  // namespace

JsonTree JsonTree::parse(std::string_view text) {
  JsonTree tree;
  Builder builder(*tree);
  if (!Json::sax_parse(text.begin(), text.end(), &builder)) {
    dismantle(*tree);
    *tree = Json(Json::value_t::discarded);
  }
  return tree;
}

// What has become empty needs no list.
void JsonTree::dismantle(Json& json) noexcept {
  if (!json.is_structured()) return;
  for (Json& item : json) dismantle(item);
  json.clear();
}

}  // namespace softtpu
