// Compiled networks through libbmrt and a device process of its own, one for each family: a launch with arrays of the
// host, beside the vendor's runtime with its emulator. And what making a network ready costs.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "bmruntime_interface.h"
#include "device/instruction/instruction.hpp"
#include "device/network/program.hpp"
#include "runtime/bmodel/container.hpp"
#include "tests/bench/work.hpp"

namespace softtpu::bench {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;

// Best times of the vendor's runtime for one launch, ms: of the networks in tests/golden-networks; the complete
// collection has them beside its files.
const std::map<std::string, double> kVendorMs = {
    {"addtwoioalone_F16", 156.8}, {"attention_small_F16", 95.4}, {"conv_3d_F32", 126.2},
    {"reduce_INT8", 262.1},       {"resize_F32", 102.0},         {"softmax_INT8", 71.4},
};

void need(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "benchmark: %s\n", what);
  std::exit(1);
}

Bytes read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

double vendor_ms(const fs::path& network) {
  std::ifstream beside(fs::path(network).replace_extension(".json"));
  if (beside) return nlohmann::json::parse(beside).value("vendor_seconds", 0.0) * 1000;
  const auto known = kVendorMs.find(network.stem().string());
  return known == kVendorMs.end() ? 0 : known->second;
}

// A network with its inputs, ready to be launched.
class Network {
 public:
  explicit Network(const fs::path& path) : input_(read_file(fs::path(path).replace_extension(".input.bin"))) {
    setenv("SOFTTPU_DEVICE", "embedded", 1);
    setenv("SOFTTPU_CHIP", "bm1684x", 1);
    bm_handle_t handle = nullptr;
    need(bm_dev_request(&handle, 0) == BM_SUCCESS, "no device");
    runtime_ = bmrt_create(handle);
    need(runtime_ != nullptr && bmrt_load_bmodel(runtime_, path.c_str()), "a network is not loaded");
    const char** names = nullptr;
    bmrt_get_network_names(runtime_, &names);
    info_ = bmrt_get_network_info(runtime_, names[0]);
    std::free(names);
    std::size_t at = 0;
    for (int i = 0; i < info_->input_num; ++i) {
      inputs_.push_back(input_.data() + at);
      at += info_->max_input_bytes[i];
    }
    for (int i = 0; i < info_->output_num; ++i) {
      results_.emplace_back(info_->max_output_bytes[i]);
      outputs_.push_back(results_.back().data());
    }
    shapes_.resize(outputs_.size());
  }

  void launch() {
    need(bmrt_launch_data(runtime_, info_->name, inputs_.data(), info_->stages[0].input_shapes, info_->input_num,
                          outputs_.data(), shapes_.data(), info_->output_num, true),
         "a network failed");
  }

 private:
  Bytes input_;
  void* runtime_ = nullptr;
  const bm_net_info_t* info_ = nullptr;
  std::vector<void*> inputs_, outputs_;
  std::vector<Bytes> results_;
  std::vector<bm_shape_t> shapes_;
};

std::vector<Work> networks() {
  // The complete collection where it lies beside the checkout; the first file of each family.
  const fs::path folder = fs::exists(SOFTTPU_NETWORKS) ? SOFTTPU_NETWORKS : SOFTTPU_OWN_NETWORKS;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".bmodel") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<Work> list;
  std::string family;
  for (const fs::path& file : files) {
    const std::string name = file.stem().string();
    const std::string of = name.substr(0, name.rfind('_'));
    if (of == family) continue;
    family = of;
    Work work;
    work.group = "network";
    work.name = name + ", one launch";
    work.unit = "ms";
    const auto network = std::make_shared<std::unique_ptr<Network>>();
    work.figure = [network, file] {
      if (*network == nullptr) {
        *network = std::make_unique<Network>(file);
        (*network)->launch();
      }
      return seconds_of([&] { (*network)->launch(); }) * 1000;
    };
    work.vendor = vendor_ms(file);
    work.required_vendor_ratio = 20;
    work.quick = list.size() < 2;
    list.push_back(work);
  }
  return list;
}

// The streams of a network, repeated until they have this many instructions of TIU, none of which waits.
Bytes long_stream(std::size_t count) {
  const Bytes file = read_file(fs::path(SOFTTPU_OWN_NETWORKS) / "attention_small_F16.bmodel");
  const auto model = bmodel::read_model(file);
  need(bool(model), "a network is not read");
  const auto& set = stream::InstructionSet::bm1684x();
  const auto once = stream::read_stream(set, stream::Unit::kTiu, model->networks[0].stages[0].groups[0].tiu);
  need(bool(once), "instructions are not read");
  Bytes bytes;
  for (std::size_t i = 0; i <= count; ++i) {
    stream::Instruction instruction = i < count ? (*once)[i % (once->size() - 1)] : once->back();
    instruction[stream::Field::cmd_id] = i + 1;
    instruction[stream::Field::cmd_id_dep] = 0;
    const auto encoded = stream::encode(instruction);
    need(bool(encoded), "an instruction is not encoded");
    bytes.insert(bytes.end(), encoded->begin(), encoded->end());
  }
  return bytes;
}

// Instructions are decoded when a network is loaded; a launch finds that its streams are still the same bytes.
Work decoding_of_a_launch() {
  Work work;
  work.group = "network";
  work.name = "attention_small_F16, decoded instructions found again, of a launch";
  work.unit = "%";
  work.figure = [] {
    static const fs::path file = fs::path(SOFTTPU_OWN_NETWORKS) / "attention_small_F16.bmodel";
    static Network network(file);
    static const Bytes streams = [] {
      const Bytes bytes = read_file(file);
      const auto model = bmodel::read_model(bytes);
      const auto& group = model->networks[0].stages[0].groups[0];
      Bytes both(group.tiu.begin(), group.tiu.end());
      both.insert(both.end(), group.dma.begin(), group.dma.end());
      return both;
    }();
    static const Bytes copy = streams;
    network.launch();
    const double launch = seconds_of([] { network.launch(); });
    const double found = seconds_of([] { need(streams == copy, "a copy differs"); });
    return 100 * found / launch;
  };
  work.at_most = 5;
  return work;
}

std::vector<Work> decoding() {
  constexpr std::size_t kInstructions = 10000;
  Work work;
  work.group = "network";
  work.name = "10,000 instructions made ready";
  work.unit = "ms";
  work.figure = [] {
    static const auto chip = load_chip("bm1684x");
    static const Bytes tiu = long_stream(kInstructions);
    static const Bytes dma = [] {
      const Bytes file = read_file(fs::path(SOFTTPU_OWN_NETWORKS) / "attention_small_F16.bmodel");
      const auto model = bmodel::read_model(file);
      const auto& stream = model->networks[0].stages[0].groups[0].dma;
      const auto all = stream::read_stream(stream::InstructionSet::bm1684x(), stream::Unit::kDma, stream);
      return *stream::encode(all->back());
    }();
    const auto make = [] { need(bool(network::make_program(*chip, {tiu, dma, {}}, {})), "instructions are refused"); };
    return seconds_of(make) * 1000;
  };
  work.at_most = 100;
  return {work, decoding_of_a_launch()};
}

const bool added = add_work([] {
  std::vector<Work> list = networks();
  for (const Work& work : decoding()) list.push_back(work);
  return list;
});

}  // namespace
}  // namespace softtpu::bench
