// The public functions as data: each with the types and names of its parameters as the header states them, callable
// with a list of values. Made from the headers when the tests are built (signatures.py).
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace softtpu::grid {

// One argument of any type. What a pointer points to, and a struct or union passed by value, lies in `words`: as many
// as any function reads.
struct Value {
  bool null = false;
  std::int64_t number = 0;
  double real = 0;
  std::array<std::int32_t, 128> words{};
};

struct Parameter {
  std::string_view type, name;
};

struct Function {
  std::string_view name;
  std::vector<Parameter> parameters;
  std::function<void(std::span<Value>)> call;
};

template <class P>
P to_argument(Value& value) {
  if constexpr (std::is_pointer_v<P>) {
    if (value.null || std::is_function_v<std::remove_pointer_t<P>>) return nullptr;
    return reinterpret_cast<P>(value.words.data());
  } else if constexpr (std::is_floating_point_v<P>) {
    return static_cast<P>(value.real);
  } else if constexpr (std::is_integral_v<P> || std::is_enum_v<P>) {
    return static_cast<P>(value.number);
  } else {
    P made;
    std::memcpy(&made, value.words.data(), sizeof(P));
    return made;
  }
}

template <class R, class... P>
std::function<void(std::span<Value>)> caller(R (*function)(P...)) {
  return [function](std::span<Value> values) {
    [&]<std::size_t... I>(std::index_sequence<I...>) { static_cast<void>(function(to_argument<P>(values[I])...)); }
    (std::index_sequence_for<P...>());
  };
}

const std::vector<Function>& tpu_functions();
const std::vector<Function>& okk_functions();

}  // namespace softtpu::grid
