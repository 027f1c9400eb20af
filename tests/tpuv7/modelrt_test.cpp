// libtpuv7_modelrt: recorded networks in streams of libtpuv7_rt, byte for byte; and what is refused.
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/tpuv7/rt_fixture.hpp"
#include "tpuv7/tpuv7_modelrt.h"

namespace softtpu::host_test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using Bytes = std::vector<char>;

constexpr const char* kNetworks[] = {"addtwoioalone_F16", "attention_small_F16", "conv_3d_F32",
                                     "reduce_INT8",       "resize_F32",          "softmax_INT8"};

std::string path_of(const std::string& name) { return SOFTTPU_TEST_NETWORKS "/" + name + ".bmodel"; }
Bytes read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
std::size_t bytes_of(tpuRtDataType_t type, const tpuRtShape_t& shape) {
  constexpr std::size_t kBytes[] = {4, 2, 1, 1, 2, 2, 4, 4, 2};
  std::size_t count = kBytes[type];
  for (int i = 0; i < shape.num_dims; ++i) count *= static_cast<std::size_t>(shape.dims[i]);
  return count;
}

class ModelRt : public Rt {
 protected:
  explicit ModelRt(const char* chip = "bm1684x") : chip_(chip) {}  // whose networks are recorded
  void SetUp() override {
    ::setenv("SOFTTPU_CHIP", chip_, 1);
    Rt::SetUp();
    ASSERT_EQ(tpuRtCreateNetContext(&context_), tpuRtSuccess);
  }
  void TearDown() override {
    EXPECT_EQ(tpuRtDestroyNetContext(context_), tpuRtSuccess);
    Rt::TearDown();
  }

  // The tensors of a network, and their recorded contents.
  struct Case {
    tpuRtNet_t net = nullptr;
    std::string name;
    std::vector<tpuRtTensor_t> inputs, outputs;
    Bytes in, out;
  };
  Case load(const std::string& file) {
    Case made;
    EXPECT_EQ(tpuRtLoadNet(path_of(file).c_str(), context_, &made.net), tpuRtSuccess)
        << ::testing::PrintToString(take_log());
    made.name = name_of(made.net);
    made.in = read_file(fs::path(path_of(file)).replace_extension(".input.bin"));
    made.out = read_file(fs::path(path_of(file)).replace_extension(".output.bin"));
    const tpuRtNetInfo_t info = tpuRtGetNetInfo(made.net, made.name.c_str());
    EXPECT_EQ(info.name, made.name);
    EXPECT_GE(info.stage_num, 1);
    for (int i = 0; i < info.input.num; ++i)
      made.inputs.push_back(tensor(info.input.dtypes[i], info.stages[0].input_shapes[i]));
    for (int i = 0; i < info.output.num; ++i) {
      made.outputs.push_back(tensor(info.output.dtypes[i], info.stages[0].output_shapes[i]));
      // A launch fills these in.
      made.outputs.back().dtype = TPU_UINT4;
      made.outputs.back().shape = {};
    }
    return made;
  }
  tpuRtTensor_t tensor(tpuRtDataType_t type, const tpuRtShape_t& shape) {
    tpuRtTensor_t made{};
    made.dtype = type;
    made.shape = shape;
    made.data = allocate(bytes_of(type, shape));
    return made;
  }
  static std::string name_of(tpuRtNet_t net) {
    char** names = nullptr;
    EXPECT_EQ(tpuRtGetNetNames(net, &names), 1);
    std::string name = names[0];
    tpuRtFreeNetNames(names);
    return name;
  }
  // Queues the inputs' contents behind what the stream has.
  void queue_inputs(const Case& of) {
    std::size_t at = 0;
    for (const tpuRtTensor_t& input : of.inputs) {
      const std::size_t bytes = bytes_of(input.dtype, input.shape);
      ASSERT_LE(at + bytes, of.in.size());
      EXPECT_EQ(tpuRtMemcpyS2DAsync(input.data, of.in.data() + at, bytes, stream_), tpuRtSuccess);
      at += bytes;
    }
  }
  Bytes queue_outputs(const Case& of, Bytes& to) {
    std::size_t at = 0;
    for (const tpuRtTensor_t& output : of.outputs) {
      const std::size_t bytes = bytes_of(output.dtype, output.shape);
      EXPECT_LE(at + bytes, to.size());
      EXPECT_EQ(tpuRtMemcpyD2SAsync(to.data() + at, output.data, bytes, stream_), tpuRtSuccess);
      at += bytes;
    }
    EXPECT_EQ(at, to.size());
    return to;
  }
  // Inputs, launch and outputs, one behind the other.
  Bytes run_in_stream(Case& of) {
    queue_inputs(of);
    EXPECT_EQ(tpuRtLaunchNetAsync(of.net, of.inputs.data(), of.outputs.data(), of.name.c_str(), stream_), tpuRtSuccess);
    Bytes result(of.out.size());
    queue_outputs(of, result);
    EXPECT_EQ(tpuRtStreamSynchronize(stream_), tpuRtSuccess);
    return result;
  }
  tpuRtStatus_t launch(Case& of) {
    return tpuRtLaunchNet(of.net, of.inputs.data(), of.outputs.data(), of.name.c_str(), stream_);
  }

  const char* chip_;
  tpuRtNetContext_t context_ = nullptr;
};

TEST_F(ModelRt, NetworksInAStreamGiveTheRecordedBytes) {
  for (const char* file : kNetworks) {
    Case of = load(file);
    Bytes result = run_in_stream(of);
    EXPECT_TRUE(result == of.out) << file;
    std::fill(result.begin(), result.end(), 0);
    EXPECT_EQ(launch(of), tpuRtSuccess) << "the same again, waiting";
    queue_outputs(of, result);
    EXPECT_EQ(tpuRtStreamSynchronize(stream_), tpuRtSuccess);
    EXPECT_TRUE(result == of.out) << file;
    EXPECT_EQ(tpuRtUnloadNet(of.net), tpuRtSuccess);
  }
}

// The program does not wait for the network: copies and fills that wait by themselves came before it.
TEST_F(ModelRt, CopiesWaitForTheNetworkBeforeThem) {
  Case of = load("attention_small_F16");
  ASSERT_THAT(of.outputs, SizeIs(1));
  queue_inputs(of);
  void* const made = of.outputs[0].data;
  const std::size_t bytes = of.out.size();
  void* const other = allocate(bytes);
  const auto queue_network = [&] {
    EXPECT_EQ(tpuRtMemset(made, 0, bytes), tpuRtSuccess);
    EXPECT_EQ(tpuRtLaunchNetAsync(of.net, of.inputs.data(), of.outputs.data(), of.name.c_str(), stream_), tpuRtSuccess);
  };
  const auto bytes_at = [&](const void* memory) {
    Bytes read(bytes);
    EXPECT_EQ(tpuRtMemcpyD2S(read.data(), memory, bytes), tpuRtSuccess);
    return read;
  };
  for (int i = 0; i < 5; ++i) {
    queue_network();
    EXPECT_TRUE(bytes_at(made) == of.out);
    queue_network();
    EXPECT_EQ(tpuRtMemcpyD2D(other, made, bytes), tpuRtSuccess);
    EXPECT_TRUE(bytes_at(other) == of.out);
    queue_network();
    EXPECT_EQ(tpuRtMemcpyP2P(other, 0, made, 0, bytes), tpuRtSuccess);
    EXPECT_TRUE(bytes_at(other) == of.out);
    queue_network();
    EXPECT_EQ(tpuRtMemset(made, 7, bytes), tpuRtSuccess);
    EXPECT_EQ(tpuRtStreamSynchronize(stream_), tpuRtSuccess);
    EXPECT_TRUE(bytes_at(made) == Bytes(bytes, 7));
  }
}

TEST_F(ModelRt, ANetworkOfBytesIsThatOfTheFile) {
  const Bytes file = read_file(path_of("softmax_INT8"));
  tpuRtNet_t net = nullptr;
  ASSERT_EQ(tpuRtLoadNetFromMem(file.data(), file.size(), context_, &net), tpuRtSuccess);
  Case other = load("softmax_INT8");
  EXPECT_EQ(name_of(net), other.name);
  std::swap(net, other.net);
  queue_inputs(other);
  EXPECT_EQ(launch(other), tpuRtSuccess);
  Bytes result(other.out.size());
  queue_outputs(other, result);
  EXPECT_EQ(tpuRtStreamSynchronize(stream_), tpuRtSuccess);
  EXPECT_TRUE(result == other.out);
  const tpuRtNetInfo_t info = tpuRtGetNetInfo(net, other.name.c_str());
  EXPECT_FALSE(info.is_dynamic);
  EXPECT_GT(std::strlen(info.input.names[0]), 0U);
  EXPECT_NE(info.input.scales[0], 0);
  EXPECT_NE(info.stages[0].output_mems[0], nullptr);
}

TEST_F(ModelRt, ALaunchThatWasQueuedOutlivesItsNetAndContext) {
  tpuRtNetContext_t context = nullptr;
  ASSERT_EQ(tpuRtCreateNetContext(&context), tpuRtSuccess);
  std::swap(context, context_);
  Case of = load("reduce_INT8");
  EXPECT_EQ(queue("slow_append", 50), tpuRtSuccess);
  queue_inputs(of);
  EXPECT_EQ(tpuRtLaunchNetAsync(of.net, of.inputs.data(), of.outputs.data(), of.name.c_str(), stream_), tpuRtSuccess);
  EXPECT_EQ(tpuRtUnloadNet(of.net), tpuRtSuccess);
  EXPECT_EQ(tpuRtDestroyNetContext(context_), tpuRtSuccess);
  std::swap(context, context_);
  Bytes result(of.out.size());
  queue_outputs(of, result);
  EXPECT_EQ(tpuRtStreamSynchronize(stream_), tpuRtSuccess);
  EXPECT_TRUE(result == of.out);
}

TEST_F(ModelRt, WhatIsNoNetworkIsNotLoaded) {
  tpuRtNet_t net = nullptr;
  const Bytes file = read_file(path_of("softmax_INT8"));
  EXPECT_REFUSED(tpuRtLoadNet("/nowhere.bmodel", context_, &net), tpuRtErrParam, "tpuRtLoadNet", "/nowhere.bmodel");
  EXPECT_REFUSED(tpuRtLoadNet(nullptr, context_, &net), tpuRtErrParam, "tpuRtLoadNet", "net_path is NULL");
  EXPECT_REFUSED(tpuRtLoadNet(SOFTTPU_TEST_TEXT_FILE, context_, &net), tpuRtErrData, "tpuRtLoadNet", "");
  EXPECT_REFUSED(tpuRtLoadNetFromMem(file.data(), 100, context_, &net), tpuRtErrData, "tpuRtLoadNetFromMem", "");
  EXPECT_REFUSED(tpuRtLoadNetFromMem(nullptr, 100, context_, &net), tpuRtErrParam, "tpuRtLoadNetFromMem", "is NULL");
  EXPECT_REFUSED(tpuRtLoadNetFromMem(file.data(), file.size(), nullptr, &net), tpuRtErrorInvalidResourceHandle,
                 "tpuRtLoadNetFromMem", "the context is NULL");
  EXPECT_REFUSED(tpuRtLoadNetFromMem(file.data(), file.size(), &net, &net), tpuRtErrorInvalidResourceHandle,
                 "tpuRtLoadNetFromMem", "was destroyed or never created");
  EXPECT_REFUSED(tpuRtLoadNetFromMem(file.data(), file.size(), context_, nullptr), tpuRtErrorInvalidValue,
                 "tpuRtLoadNetFromMem", "net is NULL");
  EXPECT_EQ(net, nullptr);
}

TEST_F(ModelRt, HandlesThatAreNoneAreRefused) {
  Case of = load("softmax_INT8");
  tpuRtNetContext_t context = nullptr;
  ASSERT_EQ(tpuRtCreateNetContext(&context), tpuRtSuccess);
  EXPECT_EQ(tpuRtDestroyNetContext(context), tpuRtSuccess);
  EXPECT_REFUSED(tpuRtDestroyNetContext(context), tpuRtErrorInvalidResourceHandle, "tpuRtDestroyNetContext",
                 "was destroyed");
  EXPECT_REFUSED(tpuRtCreateNetContext(nullptr), tpuRtErrorInvalidValue, "tpuRtCreateNetContext", "context is NULL");
  EXPECT_EQ(tpuRtUnloadNet(of.net), tpuRtSuccess);
  EXPECT_REFUSED(tpuRtUnloadNet(of.net), tpuRtErrorInvalidResourceHandle, "tpuRtUnloadNet", "was destroyed");
  EXPECT_REFUSED(launch(of), tpuRtErrorInvalidResourceHandle, "tpuRtLaunchNet", "the net was destroyed");
  char** names = nullptr;
  EXPECT_REFUSED(tpuRtGetNetNames(of.net, &names), -1, "tpuRtGetNetNames", "was destroyed");
  take_log();
  EXPECT_EQ(tpuRtGetNetInfo(of.net, "x").name, nullptr);
  EXPECT_ONE_LINE("tpuRtGetNetInfo", "was destroyed");
  tpuRtFreeNetNames(nullptr);
  EXPECT_THAT(take_log(), IsEmpty());
  tpuRtFreeNetNames(reinterpret_cast<char**>(&of));
  EXPECT_ONE_LINE("tpuRtFreeNetNames", "are not from tpuRtGetNetNames");
}

TEST_F(ModelRt, LaunchesWithOtherTensorsAreRefused) {
  Case of = load("softmax_INT8");
  const Case good = of;
  const auto again = [&] { of = good; };
  EXPECT_REFUSED(tpuRtLaunchNet(of.net, of.inputs.data(), of.outputs.data(), "other", stream_), tpuRtErrParam,
                 "tpuRtLaunchNet", "no network \"other\"");
  EXPECT_REFUSED(tpuRtLaunchNet(of.net, of.inputs.data(), of.outputs.data(), nullptr, stream_), tpuRtErrParam,
                 "tpuRtLaunchNet", "net_name is NULL");
  EXPECT_REFUSED(tpuRtLaunchNetAsync(of.net, nullptr, of.outputs.data(), of.name.c_str(), stream_), tpuRtErrParam,
                 "tpuRtLaunchNetAsync", "input is NULL");
  EXPECT_REFUSED(tpuRtLaunchNetAsync(of.net, of.inputs.data(), nullptr, of.name.c_str(), stream_), tpuRtErrParam,
                 "tpuRtLaunchNetAsync", "output is NULL");
  EXPECT_REFUSED(tpuRtLaunchNet(of.net, of.inputs.data(), of.outputs.data(), of.name.c_str(), nullptr),
                 tpuRtErrorInvalidResourceHandle, "tpuRtLaunchNet", "the stream is NULL");
  of.inputs[0].shape.dims[0] += 1;
  EXPECT_REFUSED(launch(of), tpuRtErrParam, "tpuRtLaunchNet", "was not compiled for inputs of these shapes");
  again();
  of.inputs[0].shape.num_dims = -1;
  EXPECT_REFUSED(launch(of), tpuRtErrParam, "tpuRtLaunchNet", "of these shapes");
  again();
  of.inputs[0].dtype = static_cast<tpuRtDataType_t>(of.inputs[0].dtype + 1);
  EXPECT_REFUSED(launch(of), tpuRtErrParam, "tpuRtLaunchNet", "is of type");
  again();
  of.inputs[0].data = nullptr;
  EXPECT_REFUSED(launch(of), tpuRtErrParam, "tpuRtLaunchNet", "tensor");
  again();
  of.outputs[0].data = static_cast<char*>(of.outputs[0].data) + 4096;
  EXPECT_REFUSED(launch(of), tpuRtErrParam, "tpuRtLaunchNet", "tensor");
  again();
  queue_inputs(of);
  EXPECT_EQ(launch(of), tpuRtSuccess) << "nothing else is disturbed";
  EXPECT_EQ(of.outputs[0].dtype, tpuRtGetNetInfo(of.net, of.name.c_str()).output.dtypes[0]);
}

TEST_F(ModelRt, AStreamOfAnotherDeviceIsRefused) {
  Case of = load("softmax_INT8");
  ASSERT_EQ(tpuRtSetDevice(1), tpuRtSuccess);
  tpuRtStream_t other = nullptr;
  ASSERT_EQ(tpuRtStreamCreate(&other), tpuRtSuccess);
  ASSERT_EQ(tpuRtSetDevice(0), tpuRtSuccess);
  EXPECT_REFUSED(tpuRtLaunchNet(of.net, of.inputs.data(), of.outputs.data(), of.name.c_str(), other),
                 tpuRtErrorInvalidResourceHandle, "tpuRtLaunchNet", "on another device than the stream's");
}

TEST_F(ModelRt, AFailureBeforeANetworkIsTheStreams) {
  Case of = load("softmax_INT8");
  EXPECT_EQ(queue("assertion", 0), tpuRtSuccess);
  EXPECT_EQ(launch(of), tpuRtSuccess) << "its own outcome";
  EXPECT_REFUSED(tpuRtStreamSynchronize(stream_), tpuRtErrFailure, "tpuRtStreamSynchronize", "1 + 1 == 3");
  EXPECT_EQ(tpuRtStreamSynchronize(stream_), tpuRtSuccess);
}

TEST(ModelRtChip, AnotherChipRefusesNetworksByName) {
  bmlib_log_set_callback(&keep_log_line);
  ::setenv("SOFTTPU_CHIP", "bm1690", 1);
  tpuRtNetContext_t context = nullptr;
  EXPECT_REFUSED(tpuRtCreateNetContext(&context), tpuRtErrorNoDevice, "tpuRtCreateNetContext", "no device is chosen");
  ASSERT_EQ(tpuRtSetDevice(0), tpuRtSuccess);
  ASSERT_EQ(tpuRtCreateNetContext(&context), tpuRtSuccess);
  tpuRtNet_t net = nullptr;
  EXPECT_REFUSED(tpuRtLoadNet(path_of("softmax_INT8").c_str(), context, &net), tpuRtErrData, "tpuRtLoadNet",
                 "the file is for chip BM1684X, the device is a 2260");
  EXPECT_EQ(tpuRtDestroyNetContext(context), tpuRtSuccess);
}

struct ModelRtBm1690 : ModelRt {
  ModelRtBm1690() : ModelRt("bm1690") {}
};

TEST_F(ModelRtBm1690, NetworksOfOneAndOfEightCoresGiveTheRecordedBytes) {
  for (const char* file : {"bm1690/embedding_F16", "bm1690/conv_relu_INT8", "bm1690_8/conv_3d_F32"}) {
    Case of = load(file);
    EXPECT_TRUE(run_in_stream(of) == of.out) << file;
    EXPECT_EQ(tpuRtUnloadNet(of.net), tpuRtSuccess);
  }
}

}  // namespace
}  // namespace softtpu::host_test
