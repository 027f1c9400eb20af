// How operands of a walk are handled, and the walk over tensors of one element: nothing is staged or joined there, so
// that the smallest commands cost little more than their checks.
#pragma once

#include <cstdint>
#include <cstring>

#include "device/memory/memories.hpp"
#include "device/numeric/wide.hpp"

namespace softtpu {

// Template arguments of for_each_row (rows.hpp), one for each operand:
//   T         stored as T; the row loop sees the stored elements themselves when they are adjacent
//   As<W>     stored in any type, the row loop sees an array of W (device/numeric/wide.hpp)
//   OrOne<T>  as T, but the row loop takes a RowOrOne: a constant is not spread over a row
//   OneAs<W>  as As<W>, but the row loop takes a ValuesOrOne: one value that holds for a row is not spread over it
//   Also<T>   one more destination
template <class W>
struct As {};
template <class T>
struct OrOne {};
template <class W>
struct OneAs {};
template <class T>
struct Also {};

// Elements of a row, or as many equal ones as a vector holds, which stand for all of the row.
struct RowOrOne {
  const void* row;
  bool one;
};
// Values of a row, or one that stands for all of them.
template <class W>
struct ValuesOrOne {
  const W* values;
  bool one;
  W operator[](int i) const { return values[one ? 0 : i]; }
};

namespace rows_detail {

// The lane of the only element.
struct OneLane {
  const Chip& chip;
  std::uint8_t* memory;
  std::uint8_t* at(const Tensor& tensor) const { return memory + chip.offset_of(tensor.addr); }
};

template <class T>
class OneSource {
 public:
  OneSource(const OneLane& lane, const Tensor& tensor) { set(lane.at(tensor)); }
  OneSource(const OneLane& lane, const Operand& operand) {
    const auto* tensor = std::get_if<Tensor>(&operand);
    set(tensor != nullptr ? lane.at(*tensor)
                          : reinterpret_cast<const std::uint8_t*>(&std::get_if<Scalar>(&operand)->bits));
  }
  const T* open() const { return &value_; }

 private:
  void set(const std::uint8_t* stored) { std::memcpy(&value_, stored, sizeof(T)); }
  T value_;
};

template <class W>
class OneSource<As<W>> {
 public:
  OneSource(const OneLane& lane, const Tensor& tensor) { set(lane.at(tensor), tensor.dtype); }
  OneSource(const OneLane& lane, const Operand& operand) {
    if (const auto* tensor = std::get_if<Tensor>(&operand)) {
      set(lane.at(*tensor), tensor->dtype);
      return;
    }
    const Scalar& scalar = std::get<Scalar>(operand);
    set(reinterpret_cast<const std::uint8_t*>(&scalar.bits), scalar.dtype);
  }
  const W* open() const { return &value_; }

 private:
  void set(const std::uint8_t* stored, Dtype type) { row_reader<W>(type)(&value_, stored, 1, 1); }
  W value_;
};

template <class T>
class OneSource<OrOne<T>> : public OneSource<T> {
 public:
  using OneSource<T>::OneSource;
  RowOrOne open() const { return {OneSource<T>::open(), false}; }
};

template <class W>
class OneSource<OneAs<W>> : public OneSource<As<W>> {
 public:
  using OneSource<As<W>>::OneSource;
  ValuesOrOne<W> open() const { return {OneSource<As<W>>::open(), true}; }
};

template <class T>
class OneTarget {
 public:
  OneTarget(const OneLane& lane, const Tensor& tensor) : at_(reinterpret_cast<T*>(lane.at(tensor))) {}
  T* open() const { return at_; }
  void close() const {}

 private:
  T* at_;
};

template <class W>
class OneTarget<As<W>> {
 public:
  OneTarget(const OneLane& lane, const Tensor& tensor) : at_(lane.at(tensor)), type_(tensor.dtype) {}
  W* open() { return &value_; }
  void close() const { row_writer<W>(type_)(at_, 1, &value_, 1); }

 private:
  std::uint8_t* at_;
  Dtype type_;
  W value_;
};

template <class T>
class OneSource<Also<T>> : public OneTarget<T> {
  using OneTarget<T>::OneTarget;
};

template <class D, class... S, class MakeBody, class... Operands>
void walk_one(const Memories& mem, const Tensor& dst, MakeBody& make_body, const Operands&... sources) {
  const int npu = mem.chip().npu_of(dst.addr);
  const OneLane lane{mem.chip(), mem.local(npu)};
  auto body = make_body(npu);
  OneTarget<D> target(lane, dst);
  body(target.open(), OneSource<S>(lane, sources).open()..., 1);
  target.close();
}

}  // namespace rows_detail
}  // namespace softtpu
