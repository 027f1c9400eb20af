// Memory that keeps its size from command to command, so that a command allocates nothing: one for each use and thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>

namespace softtpu {

template <class T>
class Scratch {
  static_assert(std::is_trivial_v<T>);

 public:
  // Room for that many elements, with anything in them, from the start of a cache line.
  T* room(std::int64_t elements) {
    if (elements > size_) {
      data_.reset();
      data_.reset(static_cast<T*>(::operator new(static_cast<std::size_t>(elements) * sizeof(T), kLine)));
      size_ = elements;
    }
    return data_.get();
  }
  T* zeroed(std::int64_t elements) {
    std::fill_n(room(elements), elements, T());
    return data_.get();
  }

 private:
  static constexpr std::align_val_t kLine{64};
  struct Free {
    void operator()(T* data) const { ::operator delete(data, kLine); }
  };
  std::unique_ptr<T, Free> data_;
  std::int64_t size_ = 0;
};

// Scratch memory of this thread for one use, which a type stands for: room<float, struct Padded>(count).
template <class T, class Use>
T* room(std::int64_t elements) {
  thread_local Scratch<T> memory;
  return memory.room(elements);
}

}  // namespace softtpu
