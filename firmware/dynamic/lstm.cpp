#include "firmware/dynamic/layers.hpp"
#include "runtime/bmodel/layer_words.hpp"

namespace softtpu::dynamic {

// A step at a time, with the recorded calls. Elements of a row stand in an NPU each.
void lstm(const LayerRun& run) {
  using Words = bmodel::LstmWords;
  constexpr local_addr_t kTable = 0, kInput[] = {0x380, 0x3c0}, kHidden[] = {0x400, 0x440}, kCell = 0x480,
                         kRight = 0x4c0, kLine = 0x40;
  const auto steps = static_cast<int>(run.inputs[0].shape.extents[0]);
  const int width = run.layer.word(Words::kInput);
  const int hidden = run.layer.word(Words::kHidden);
  const int gates = 4 * hidden;
  // Behind each other: weights of the input, those of the state, a bias for each, the gates, work memory.
  const auto lines = [](int count) { return static_cast<local_addr_t>(count) * kLine; };
  const local_addr_t state_weights = kRight + lines(width);
  const local_addr_t bias = state_weights + lines(hidden);
  const local_addr_t state_bias = bias + kLine;
  const local_addr_t sums = state_bias + kLine;
  const local_addr_t in_gate = sums + kLine;
  const local_addr_t forget_gate = in_gate + kLine;
  const local_addr_t out_gate = forget_gate + kLine;
  const local_addr_t candidate = out_gate + kLine;
  const auto elements = [](int count) { return static_cast<system_addr_t>(count * tpu_data_type_size(DT_FP32)); };
  const system_addr_t buffer = run.layer.address(Words::kBuffer) + run.context_moved;
  const auto load = [](local_addr_t to, system_addr_t from, int rows, int columns) {
    tpu_gdma_matrix_S2L(to, from, rows, columns, 1, columns, DT_FP32);
  };
  const auto store = [](system_addr_t to, local_addr_t from, int columns) {
    tpu_gdma_matrix_L2S(to, from, 1, columns, 1, columns, DT_FP32);
  };
  tpu_bdc_load_fp32_exp_coeff(kTable);
  load(kRight, run.inputs[1].address, width, gates);
  load(state_weights, run.inputs[1].address + elements(width * gates), hidden, gates);
  load(bias, run.inputs[2].address, 1, gates);
  load(state_bias, run.inputs[2].address + elements(gates), 1, gates);
  load(kHidden[0], run.inputs[3].address, 1, hidden);
  load(kCell, run.inputs[4].address, 1, hidden);
  const auto load_input = [&](int step) {
    load(kInput[step % 2], run.inputs[0].address + elements(step * width), 1, width);
  };
  const dim4 all{1, gates, 1, 1};
  const dim4 one{1, hidden, 1, 1};
  // The first three gates, which lie in one NPU behind another, are brought together.
  const dim4 three{3, hidden, 1, 1};
  const dim4 gate_strides{tpu_eu_num(DT_FP32), tpu_npu_num(), 1, 1};
  const dim4 packed{hidden, 1, 1, 1};
  const auto npu_bytes = static_cast<local_addr_t>(tpu_local_mem_size_per_npu());
  if (steps > 0) load_input(0);
  for (int step = 0; step < steps; ++step) {
    const local_addr_t before = kHidden[step % 2];
    const local_addr_t after = kHidden[(step + 1) % 2];
    tpu_bdc_fp32_mm(sums, before, state_weights, state_bias, 1, hidden, gates, 1, 1, true, false);
    tpu_bdc_fp32_mm(sums, kInput[step % 2], kRight, bias, 1, width, gates, 1, 1, true, true);
    store(buffer, sums + static_cast<local_addr_t>(3 * hidden) * npu_bytes, hidden);
    tpu_bdc_fp32_sigmoid(sums, sums, in_gate, forget_gate, kTable, 0, &all);
    load(after, buffer, 1, hidden);
    tpu_bdc_fp32_tanh(candidate, after, in_gate, forget_gate, kTable, 0, &one);
    store(buffer + elements(hidden), sums, 3 * hidden);
    tpu_gdma_cpy_S2L(in_gate, buffer + elements(hidden), &three, &gate_strides, &packed, DT_FP32);
    tpu_bdc_fp_mul(kCell, kCell, forget_gate, &one, nullptr, nullptr, nullptr, DT_FP32);
    tpu_bdc_fp32_mac(kCell, in_gate, candidate, &one, nullptr, nullptr, nullptr);
    tpu_bdc_fp32_tanh(in_gate, kCell, forget_gate, candidate, kTable, 0, &one);
    tpu_bdc_fp_mul(after, in_gate, out_gate, &one, nullptr, nullptr, nullptr, DT_FP32);
    if (step + 1 < steps) load_input(step + 1);
    store(run.outputs[0].address + elements(step * hidden), after, hidden);
  }
}

}  // namespace softtpu::dynamic
