#include "firmware/dynamic/local_group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "firmware/dynamic/layers.hpp"

namespace softtpu::dynamic {
namespace {

using bmodel::ListedTransfer;
using bmodel::MovedTensor;
using bmodel::Operand;
using bmodel::OperandKind;
using bmodel::TransferType;

constexpr std::size_t kNoWork = SIZE_MAX;

struct WorkPlace {
  std::uint32_t type;
  std::size_t word;
};

constexpr WorkPlace kWorkPlaces[] = {
#define SOFTTPU_LAYER(number, name, rule, global, local, work) {number, work},
#include "runtime/bmodel/layers.def"
};

// The work memory of a layer, which has an address for it where it needs any.
local_addr_t work_of(const ListedLayer& layer) {
  for (const WorkPlace& place : kWorkPlaces) {
    if (place.type == layer.type && place.word != kNoWork) return static_cast<local_addr_t>(layer.word(place.word));
  }
  return 0;
}

// A slice of rows after the other; for each of them every stage of the pipeline runs once: its loads and layers in the
// order of the steps, then the next stage. Firmware loads a slice while it computes the one before; rows do not meet,
// so that their bits are the same.
class LocalGroup {
 public:
  LocalGroup(const bmodel::ListedGroup& group, Tensors& tensors) : group_(group), tensors_(tensors) {}

  void run() {
    find_loads();
    for (const ListedLayer& layer : group_.layers) find_results(layer);
    if (slices_.all <= slices_.most) return run_slice();
    rows_ = slices_.most;
    for (first_ = 0; first_ < slices_.all; first_ += slices_.most) {
      rows_ = std::min(slices_.most, slices_.all - first_);
      run_slice();
    }
  }

 private:
  void run_slice() {
    for (std::uint32_t stage = 0; stage < group_.stages; ++stage) {
      for (std::uint32_t step = 0; step < group_.steps; ++step) {
        for (const ListedLayer& layer : group_.layers) {
          if (layer.stage == stage && layer.step == step) carry_out_layer(layer);
        }
        for (const ListedTransfer& transfer : group_.transfers) {
          if (transfer.stage == stage && transfer.step == step) move(transfer);
        }
      }
    }
  }

  static MovedTensor moved_by(const ListedTransfer& transfer) {
    auto moved = bmodel::moved_tensor(transfer);
    if (!moved) fail(moved.error().text);
    return *std::move(moved);
  }

  const ShapedTensor& whole_shape_of(std::uint32_t id) const {
    const auto found = shapes_.find(id);
    if (found == shapes_.end()) fail(fmt::format("tensor {} is read, which nothing has made", id));
    return found->second;
  }

  // In this slice.
  ShapedTensor shape_of(std::uint32_t id) const {
    ShapedTensor shape = whole_shape_of(id);
    if (slices_.divide(shape.extents)) shape.extents[0] = rows_;
    return shape;
  }

  // Where the slice begins in a tensor in device memory.
  system_addr_t offset_of(std::uint32_t id) const {
    const ShapedTensor& shape = whole_shape_of(id);
    if (!slices_.divide(shape.extents)) return 0;
    const std::int64_t before = elements_of(shape.extents) / slices_.all * first_;
    return static_cast<system_addr_t>(before) * static_cast<system_addr_t>(tpu_data_type_size(device_type(shape.type)));
  }

  void find_loads() {
    std::vector<Extents> loaded;
    for (const ListedTransfer& transfer : group_.transfers) {
      const auto type = static_cast<TransferType>(transfer.type);
      if (type != TransferType::kLoad && type != TransferType::kLoadInput) continue;
      const MovedTensor moved = moved_by(transfer);
      const auto found = tensors_.known.find(moved.reference);
      if (found == tensors_.known.end())
        fail(fmt::format("tensor {} is loaded, which nothing has made", moved.reference));
      loaded.push_back(found->second.shape.extents);
      shapes_[moved.id] = found->second.shape;
    }
    const auto slices = bmodel::slices_of(group_, loaded);
    if (!slices) fail(slices.error().text);
    slices_ = *slices;
  }

  std::vector<ShapedTensor> inputs_of(const ListedLayer& layer, bool whole = false) const {
    std::vector<ShapedTensor> inputs;
    for (const Operand& operand : layer.inputs) {
      if (operand.kind == OperandKind::kConstant)
        inputs.push_back({operand.type.value_or(0), operand.extents});
      else
        inputs.push_back(whole ? whole_shape_of(operand.id) : shape_of(operand.id));
    }
    return inputs;
  }

  void find_results(const ListedLayer& layer) {
    const auto results = bmodel::results_in_slices(layer, inputs_of(layer, true), slices_);
    if (!results) fail(bmodel::name_of_layer(layer.type) + ": " + results.error().text);
    for (std::size_t i = 0; i < results->size(); ++i) shapes_[layer.outputs[i].id] = (*results)[i];
  }

  static LocalTensor local(local_addr_t address, const ShapedTensor& shape, bool compact = false) {
    return {address, device_type(shape.type), to_dim4(shape.extents), compact};
  }

  void carry_out_layer(const ListedLayer& layer) const {
    std::vector<LocalTensor> inputs;
    const auto shapes = inputs_of(layer);
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      inputs.push_back(local(static_cast<local_addr_t>(layer.inputs[i].address), shapes[i],
                             layer.inputs[i].kind == OperandKind::kConstant));
    }
    const Operand& output = layer.outputs[0];
    carry_out(
        LocalRun{layer, inputs, local(static_cast<local_addr_t>(output.address), shape_of(output.id)), work_of(layer)});
  }

  static void load(const LocalTensor& to, system_addr_t from) {
    const dim4 strides = strides_of(to);
    const dim4 packed = packed_strides(to.extents);
    tpu_gdma_cpy_S2L(to.address, from, &to.extents, &strides, &packed, to.type);
  }

  void move(const ListedTransfer& transfer) {
    const MovedTensor moved = moved_by(transfer);
    const auto at = static_cast<local_addr_t>(moved.local);
    switch (static_cast<TransferType>(transfer.type)) {
      case TransferType::kLoad:
      case TransferType::kLoadInput: {
        const LocalTensor to = local(at, shape_of(moved.id));
        load(to, tensors_.known.at(moved.reference).address + offset_of(moved.id));
        return;
      }
      case TransferType::kLoadConstant: {
        LocalTensor to = local(at, {moved.type, moved.constant}, true);
        // The bytes of a channel, of which weights are a part, are a row.
        constexpr std::uint32_t kInChannels = 2;
        if ((transfer.word(5) >> 8 & 0xff) == kInChannels) std::swap(to.extents.h, to.extents.w);
        load(to, transfer.address() + tensors_.constants_moved);
        return;
      }
      default: {
        const ShapedTensor shape = shape_of(moved.id);
        const LocalTensor from = local(at, shape);
        const bool is_output = static_cast<TransferType>(transfer.type) == TransferType::kStoreOutput;
        const system_addr_t to = tensors_.place(moved.id, is_output ? 0 : transfer.address());
        const dim4 strides = strides_of(from);
        const dim4 packed = packed_strides(from.extents);
        tpu_gdma_cpy_L2S(to + offset_of(moved.id), at, &from.extents, &packed, &strides, from.type);
        tensors_.known[moved.id] = {to, whole_shape_of(moved.id)};
      }
    }
  }

  const bmodel::ListedGroup& group_;
  Tensors& tensors_;
  std::map<std::uint32_t, ShapedTensor> shapes_;  // of tensors in local memory, with the rows of all slices
  bmodel::RowSlices slices_;
  std::int64_t first_ = 0, rows_ = 0;  // of the slice that runs
};

}  // namespace

void run_local_group(const bmodel::ListedGroup& group, Tensors& tensors) { LocalGroup(group, tensors).run(); }

}  // namespace softtpu::dynamic
