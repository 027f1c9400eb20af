// One network, loaded on a device: memory, instructions, and how its launches look.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "bmruntime_interface.h"
#include "host/bmrt/constants.hpp"
#include "host/bmrt/device_memory.hpp"
#include "host/bmrt/host_work.hpp"
#include "host/bmrt/walker.hpp"
#include "runtime/bmodel/container.hpp"
#include "runtime/bmodel/layer_list.hpp"
#include "runtime/protocol/launch.hpp"

namespace softtpu::bmrt {

// Memory that all networks of a runtime work in, where they were asked to share it.
struct SharedContext {
  std::shared_ptr<DeviceMemory> memory;
};

struct MadeResult;  // network_results.cpp

class Network {
 public:
  // Judges a network completely and makes its memory; nothing stays when there is an error. The context is `shared`
  // where it is large enough. `static_parts`: parts that cannot run are left out (not_made()).
  static Result<std::shared_ptr<Network>> load(MemorySource& memory, const bmodel::Network& network, Walkers& walkers,
                                               SharedContext* shared, bool static_parts);
  ~Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  const std::string& name() const { return name_; }
  const bm_net_info_t& info() const { return info_; }
  std::size_t stages() const { return stages_.size(); }

  // The stage for inputs of these shapes. An error says which shapes there are.
  Result<std::size_t> find_stage(const bm_tensor_t* inputs, int count) const;
  // Queues a launch. Tensors are those of the stage, and large enough. `cores` are as many as the stage needs, or none:
  // the first ones.
  // Dynamic parts end before this returns, and give the outputs their shapes.
  bm_status_t launch(bm_handle_t handle, std::size_t stage, const bm_tensor_t* inputs, bm_tensor_t* outputs,
                     std::span<const int> cores = {});
  // Why this stage cannot run; empty: it can.
  const std::string& refusal(std::size_t stage) const { return stages_[stage].refusal; }
  // Parts that cannot run.
  const std::vector<std::string>& left_out(std::size_t stage) const { return stages_[stage].left_out; }
  // Tensors that are not right without these parts.
  const std::set<std::string>& not_made(std::size_t stage) const { return stages_[stage].not_made; }
  // Whether inputs may be smaller than the stage's shapes.
  bool is_dynamic(std::size_t stage) const { return stages_[stage].dynamic; }
  // How many cores a stage runs on.
  std::uint32_t cores(std::size_t stage) const { return stages_[stage].cores; }
  // The same; waits, and shows each tensor that the file names as it was after its last write.
  using Show = std::function<void(const bmodel::Tensor& tensor, const std::vector<std::uint8_t>& bytes)>;
  bm_status_t launch_and_show(bm_handle_t handle, std::size_t stage, const bm_tensor_t* inputs, bm_tensor_t* outputs,
                              const Show& show);
  // Whether the constants on the device are still those of the file.
  Result<void> check_constants() const;

  // Memory between the layers of the first stage; empty where there is none.
  bm_device_mem_t memory_between() const {
    const auto& memory = stages_[0].context;
    return memory == nullptr ? bm_device_mem_t{} : to_memory(memory->address(), memory->bytes());
  }
  // Keeps the constants of all stages, on the device.
  void add_constants(std::vector<std::shared_ptr<const Constants>>& to) const {
    for (const Stage& stage : stages_) {
      if (bring_constants(stage)) to.push_back(stage.constants);
    }
  }

  // Bytes of one input or output of a stage.
  std::uint64_t input_bytes(std::size_t stage, std::size_t i) const { return stages_[stage].inputs[i].bytes; }
  std::uint64_t output_bytes(std::size_t stage, std::size_t i) const { return stages_[stage].outputs[i].bytes; }

 private:
  using Tables = std::vector<msg::MemoryRange>;  // layers of each group of a core, with what is to be stored
  struct Stage {
    std::vector<bmodel::Tensor> inputs, outputs, between;
    std::set<std::string> on_host_alone;
    std::shared_ptr<const Constants> constants;
    std::shared_ptr<DeviceMemory> context;
    DeviceMemory io;
    std::vector<DeviceMemory> apart;  // inputs and outputs that lie in no area
    std::uint32_t cores = 1;
    std::vector<DeviceMemory> streams;
    std::string refusal;
    std::vector<std::string> left_out;
    std::set<std::string> not_made;
    bool dynamic = false;
    struct Dynamic {
      std::vector<bmodel::Tensor> inputs, outputs;
      DeviceMemory list, shapes;
      std::uint32_t id = 0, list_bytes = 0;
      std::size_t groups_before = 0;
      std::shared_ptr<WalkerModule> walker;
      // What softtpu's own layers walk, to judge a launch's shapes; views point into the bytes.
      std::vector<std::uint8_t> list_copy;
      bmodel::LayerList layers;
      bool gathers_rows = false;
      std::shared_ptr<const HostWork> host;  // null: not for the host's processor
    };
    std::vector<Dynamic> dynamic_parts;
    bool is_written_at_once(const std::string& output) const;
    std::uint64_t context_address = 0, coefficient_address = 0;  // as compiled
    std::vector<std::uint64_t> context_pieces;
    std::vector<msg::NetworkArea> areas;
    std::vector<std::vector<msg::NetworkGroup>> groups;  // of each core
    // Of each group of each core.
    std::vector<std::vector<std::vector<bmodel::Layer>>> layers;
    std::vector<bm_shape_t> input_shapes, output_shapes;
    std::vector<bm_device_mem_t> input_mems, output_mems;
  };

  Network() = default;
  // False, with a line in the log: a launch cannot have them.
  bool bring_constants(const Stage& of) const;
  bm_status_t launch_and_show(bm_handle_t handle, const Stage& stage, const bm_tensor_t* inputs,
                              const bm_tensor_t* outputs, std::span<const bmodel::Tensor* const> tensors,
                              const Show& show);
  Result<Stage> load_stage(MemorySource& memory, const bmodel::Stage& stage, Walkers& walkers, SharedContext* shared);
  Result<void> load_groups(MemorySource& source, const bmodel::Stage& stage, Stage& loaded);
  bm_status_t show_results(bm_handle_t handle, const Stage& of, const bm_tensor_t* inputs, const bm_tensor_t* outputs,
                           const Show& show);
  bm_status_t store_results(bm_handle_t handle, const Stage& of, const bm_tensor_t* inputs, const bm_tensor_t* outputs,
                            std::span<const MadeResult> results, const std::vector<std::uint8_t>& before,
                            std::vector<std::uint8_t>& stored);
  Result<msg::MemoryRange> load_layers(bm_handle_t handle, const bmodel::Stage& stage,
                                       const bmodel::CommandGroup& group, Stage& loaded);
  Result<void> place_apart(MemorySource& source, const bmodel::Stage& stage, Stage& loaded);
  Result<void> check_streams(bm_handle_t handle, const Stage& stage) const;
  bm_status_t issue_on_cores(bm_handle_t handle, const Stage& of, const bm_tensor_t* inputs, const bm_tensor_t* outputs,
                             std::span<const int> cores, bool wait, std::span<const Tables> tables = {}) const;
  Result<void> load_dynamic(MemorySource& source, const bmodel::Stage& stage, Walkers& walkers, Stage& loaded);
  // Tensors of a launch, by name.
  struct KnownTensor {
    std::uint64_t address = 0;
    bm_shape_t shape{};
    bm_tensor_t* output = nullptr;                                // the program's, which gets the shape
    std::shared_ptr<const std::vector<std::uint8_t>> bytes = {};  // where the host's processor has made it
  };
  using KnownTensors = std::map<std::string, KnownTensor>;
  bm_status_t gather_rows(bm_handle_t handle, const bmodel::Tensor& kind, const KnownTensor& table,
                          const KnownTensor& indices, std::uint64_t to) const;
  bm_status_t launch_mixed(bm_handle_t handle, const Stage& of, const bm_tensor_t* inputs, bm_tensor_t* outputs) const;
  bm_status_t run_dynamic(bm_handle_t handle, const Stage& of, const Stage::Dynamic& part, KnownTensors& known) const;
  bm_status_t run_on_host(bm_handle_t handle, const Stage& of, const Stage::Dynamic& part, KnownTensors& known) const;
  KnownTensor& known_tensor(const Stage& of, const bmodel::Tensor& tensor, KnownTensors& known) const;
  void describe();
  std::uint64_t place(const Stage& stage, std::uint64_t address) const;
  std::vector<msg::NetworkStep> steps_of(const Stage& stage, const bm_tensor_t* inputs, const bm_tensor_t* outputs,
                                         const std::vector<msg::NetworkCopy>& keeps,
                                         std::span<const msg::MemoryRange> tables = {}) const;
  // The groups from `first` to those before `behind` alone: inputs go in with the first ones, outputs come out behind
  // the last ones.
  std::vector<msg::NetworkStep> steps_of(const Stage& stage, const bm_tensor_t* inputs, const bm_tensor_t* outputs,
                                         const std::vector<msg::NetworkCopy>& keeps,
                                         std::span<const msg::MemoryRange> tables, std::size_t first,
                                         std::size_t behind) const;
  bm_status_t issue(bm_handle_t handle, const std::vector<msg::NetworkStep>& steps, bool wait, int core = 0) const;
  msg::NetworkCall call(std::vector<msg::NetworkStep> steps) const;

  std::string name_;
  int address_mode_ = 0;
  std::vector<Stage> stages_;
  std::mutex launching_;  // launches of several parts stay together
  // What info_ points to.
  bm_net_info_t info_{};
  std::vector<bm_stage_info_t> stage_infos_;
  struct Description {
    std::deque<std::string> names;
    std::vector<const char*> name_list;
    std::vector<bm_data_type_t> types;
    std::vector<float> scales;
    std::vector<int> zero_points, devices;
    std::vector<std::size_t> bytes;
  };
  Description inputs_, outputs_;
  void describe(Description& to, bool inputs);
};

// What the interface cannot say of a tensor is an error.
Result<void> check_tensor(const bmodel::Tensor& tensor);
// The extents of a tensor of the file as the interface has them.
bm_shape_t to_shape(const std::vector<std::uint64_t>& extents);
std::string to_text(const bm_shape_t& shape);

}  // namespace softtpu::bmrt
