// softtpu bmodel: what the parts of the command share.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "device/isa/types.hpp"
#include "runtime/bmodel/container.hpp"
#include "runtime/bmodel/model_file.hpp"
#include "tools/softtpu/run.hpp"

namespace softtpu::cli {

struct BmodelOptions {
  std::string file, network;
  int stage = 0;
  bool json = false;
  bool encode = false;        // disasm: only whether instructions give their bytes again
  bool static_parts = false;  // leave out parts that cannot run
  // run, compare
  RunOptions run;
  std::string input, output, reference, layers, map;
  std::string onnx, npz, json_file, page;  // compare: layer by layer
  double margin = 4;
  std::uint64_t seed = 1;
  int repeat = 1;
  double tolerance = 0;
  // time
  std::vector<std::string> files;
  std::string with;
  std::string fit;
  bool csv = false, vendor = false, fit_rows = false;
  bool one_stage = false;      // --stage was given
  int cores = 0;               // 0: any
  int length = 0, blocks = 0;  // of a language model; 0: as the file has them
  std::size_t most_layers = 0;
  // test: the names are those of bmrt_test
  std::string context_dir, shapes, core_list;
  int devid = 0, compare = -1, accuracy_i = 0, loopnum = 1, thread_num = 1, net_idx = -1, stage_idx = -1;
  int calculate_times = 1;
  double accuracy_f = 0.01;
  bool subnet_time = false;
};

// A file, opened or (a pipe) read, and what it holds: the model's parts are views into the bytes.
struct LoadedModel {
  std::shared_ptr<const bmodel::ModelFile> file;
  std::vector<std::uint8_t> read;
  bmodel::Model model;
  bmodel::Bytes bytes() const { return file ? file->bytes() : bmodel::Bytes(read); }
};
Result<LoadedModel> load_model(const std::string& path);
// A network runs on its own chip where nothing names another one: SOFTTPU_CHIP (--chip) counts before CHIP_ARCH.
void use_chip_of(const bmodel::Model& model);

// The map of tensors of `--map` for the chosen stage; an empty path: nothing.
Result<std::string> read_map(const std::string& path);
Result<void> use_map(const BmodelOptions& options, bmodel::Model& model);

Dtype to_dtype(bmodel::DataType type);

using Extents = std::vector<std::uint64_t>;
std::string shape_text(const Extents& shape);  // "[1, 3, 224, 224]"
// "[1,3,224,224],[1]".
Result<std::vector<Extents>> read_shapes(const std::string& text);

// The subcommands; each returns its exit status.
int show_model(const BmodelOptions& options);
int disassemble_model(const BmodelOptions& options);
int time_models(const BmodelOptions& options);
int test_model(const BmodelOptions& options);
// What the networks of a file take of device memory.
void print_memory(const bmodel::Model& model);
nlohmann::json memory_json(const bmodel::Model& model);
// In the program that `softtpu bmodel run` and `compare` start under the chosen settings.
int execute_model(const BmodelOptions& options);

}  // namespace softtpu::cli
