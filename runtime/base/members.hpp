// The members of a plain struct, which no list repeats: how many there are, their names, and a tuple of references to
// them. For aggregates without base classes; C++20 has no other way to visit what a struct declares.
#pragma once

#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace softtpu::members {
namespace detail {

// Becomes whatever a member is initialised with; never called.
struct Anything {
  template <class T>
  operator T() const;
};

template <class T, std::size_t... I>
concept TakesAll = requires {
  T{(static_cast<void>(I), Anything{})...};
};

template <class T, std::size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
  return TakesAll<T, I...>;
}

inline constexpr std::size_t kMost = 16;

template <class T, std::size_t N = kMost>
constexpr std::size_t count() {
  if constexpr (N == 0 || takes<T>(std::make_index_sequence<N>())) {
    return N;
  } else {
    return count<T, N - 1>();
  }
}

// An object that is named only, to form the addresses of its members while compiling.
template <class T>
struct Named {
  const T value;
};
template <class T>
extern const Named<T> named;

}  // namespace detail

// How many members T has.
template <class T>
inline constexpr std::size_t count = detail::count<std::remove_const_t<T>>();

// References to all members, in the order of their declaration.
template <class T>
constexpr auto tie(T& object) {
  constexpr std::size_t n = count<T>;
  static_assert(n < detail::kMost, "add a line below");
  if constexpr (n == 0) {
    return std::tie();
  } else if constexpr (n == 1) {
    auto& [a] = object;
    return std::tie(a);
  } else if constexpr (n == 2) {
    auto& [a, b] = object;
    return std::tie(a, b);
  } else if constexpr (n == 3) {
    auto& [a, b, c] = object;
    return std::tie(a, b, c);
  } else if constexpr (n == 4) {
    auto& [a, b, c, d] = object;
    return std::tie(a, b, c, d);
  } else if constexpr (n == 5) {
    auto& [a, b, c, d, e] = object;
    return std::tie(a, b, c, d, e);
  } else if constexpr (n == 6) {
    auto& [a, b, c, d, e, f] = object;
    return std::tie(a, b, c, d, e, f);
  } else if constexpr (n == 7) {
    auto& [a, b, c, d, e, f, g] = object;
    return std::tie(a, b, c, d, e, f, g);
  } else if constexpr (n == 8) {
    auto& [a, b, c, d, e, f, g, h] = object;
    return std::tie(a, b, c, d, e, f, g, h);
  } else if constexpr (n == 9) {
    auto& [a, b, c, d, e, f, g, h, i] = object;
    return std::tie(a, b, c, d, e, f, g, h, i);
  } else if constexpr (n == 10) {
    auto& [a, b, c, d, e, f, g, h, i, j] = object;
    return std::tie(a, b, c, d, e, f, g, h, i, j);
  } else if constexpr (n == 11) {
    auto& [a, b, c, d, e, f, g, h, i, j, k] = object;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k);
  } else if constexpr (n == 12) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l] = object;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l);
  } else if constexpr (n == 13) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = object;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m);
  } else if constexpr (n == 14) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, o] = object;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, o);
  } else {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, o, p] = object;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, o, p);
  }
}

namespace detail {

// Clang 14 takes the address of a member as a template's argument only inside of a class.
template <class T>
struct Address {
  const T* at;
};
template <class T>
Address(const T*) -> Address<T>;

template <auto Member>
constexpr const char* spelled_member() {
  return __PRETTY_FUNCTION__;
}
template <class T>
constexpr const char* spelled_type() {
  return __PRETTY_FUNCTION__;
}

// The identifier that `text` has last.
constexpr std::string_view last_identifier(std::string_view text) {
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  while (!text.empty() && !is_part(text.back())) text.remove_suffix(1);
  std::size_t begin = text.size();
  while (begin > 0 && is_part(text[begin - 1])) --begin;
  return text.substr(begin);
}

}  // namespace detail

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#endif
// The name of member I of T.
template <class T, std::size_t I>
constexpr std::string_view name() {
  return detail::last_identifier(detail::spelled_member<detail::Address{&std::get<I>(tie(detail::named<T>.value))}>());
}
#ifdef __clang__
#pragma clang diagnostic pop
#endif

// Without its namespace.
template <class T>
constexpr std::string_view type_name() {
  return detail::last_identifier(detail::spelled_type<T>());
}

// Calls f with a name and a reference, for each member in order.
template <class T, class F>
constexpr void visit(T& object, F&& f) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    [[maybe_unused]] auto all = tie(object);
    (f(name<std::remove_const_t<T>, I>(), std::get<I>(all)), ...);
  }
  (std::make_index_sequence<count<T>>());
}

}  // namespace softtpu::members
