// Element addresses of a tensor in any memory, for walks that are not lane by lane (DMA, gathers, transposes).
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/memory/memories.hpp"

namespace softtpu {

class TensorView {
 public:
  // The tensor has been validated: it lies inside its memory.
  TensorView(const Memories& mem, const Tensor& tensor)
      : stride_(tensor.stride), npu_num_(mem.chip().npu_num), local_bytes_(mem.chip().local_bytes) {
    switch (tensor.space) {
      case Space::kLocal:
        local_ = true;
        start_npu_ = mem.chip().npu_of(tensor.addr);
        base_ = mem.local(0) + mem.chip().offset_of(tensor.addr);
        break;
      case Space::kSystem: base_ = mem.find_system(tensor.addr, 1).data; break;
      case Space::kStatic: base_ = mem.static_mem() + tensor.addr; break;
    }
  }

  // Elements from `first` on, in no memory of a chip.
  TensorView(std::uint8_t* first, const Stride4& stride)
      : base_(first), stride_(stride), npu_num_(1), local_bytes_(0) {}

  std::int64_t row_step() const { return stride_.h; }

  template <class T>
  T* at(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) const {
    return reinterpret_cast<T*>(byte_at(n, c, h, w, sizeof(T)));
  }

  // visit(i, first element) for the channels c + i, i < count, of batch n.
  template <class T, class Visit>
  void each_channel(std::int64_t n, std::int64_t c, int count, Visit visit) const {
    std::int64_t npu = local_ ? remainder(start_npu_ + c, npu_num_) : 0;
    T* first = at<T>(n, c, 0, 0);
    const std::int64_t lane = local_bytes_ / static_cast<std::int64_t>(sizeof(T));
    for (int i = 0; i < count; ++i) {
      visit(i, first);
      if (!local_ || ++npu == npu_num_) {
        first += local_ ? stride_.c - (npu_num_ - 1) * lane : stride_.c;
        npu = 0;
      } else {
        first += lane;
      }
    }
  }

  // As at() for elements of `size` bytes, which need not be aligned.
  std::uint8_t* byte_at(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w, std::size_t size) const {
    std::int64_t element = n * stride_.n + h * stride_.h + w * stride_.w;
    std::int64_t lane_bytes = 0;
    if (local_) {
      const std::int64_t slot = start_npu_ + c;
      element += quotient(slot, npu_num_) * stride_.c;
      lane_bytes = remainder(slot, npu_num_) * local_bytes_;
    } else {
      element += c * stride_.c;
    }
    return base_ + lane_bytes + element * static_cast<std::int64_t>(size);
  }

 private:
  std::uint8_t* base_ = nullptr;
  Stride4 stride_;
  std::int64_t npu_num_;
  std::int64_t local_bytes_;
  int start_npu_ = 0;
  bool local_ = false;
};

}  // namespace softtpu
