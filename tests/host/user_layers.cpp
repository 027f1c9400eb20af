// A library of layers of a program's own, by the published functions: y = x * (the record's factor), as many rows as
// are positive.
#include <cstring>
#include <stdexcept>
#include <vector>

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED void* user_cpu_init();
EXPORTED void user_cpu_uninit(void* handle);
EXPORTED int user_cpu_process(void* handle, void* param, const std::vector<float*>& inputs,
                              const std::vector<std::vector<int>>& input_shapes, const std::vector<float*>& outputs,
                              std::vector<std::vector<int>>& output_shapes);

namespace {

struct Record {
  int operation;
  float factor;
};

}  // namespace

void* user_cpu_init() { return new int(42); }
void user_cpu_uninit(void* handle) { delete static_cast<int*>(handle); }

int user_cpu_process(void* handle, void* param, const std::vector<float*>& inputs,
                     const std::vector<std::vector<int>>& input_shapes, const std::vector<float*>& outputs,
                     std::vector<std::vector<int>>& output_shapes) {
  Record record{};
  std::memcpy(&record, param, sizeof record);
  if (*static_cast<int*>(handle) != 42 || record.operation != 0) return -1;
  const int columns = input_shapes[0][1];
  int rows = 0;
  for (int row = 0; row < input_shapes[0][0]; ++row) {
    const float* const from = inputs[0] + row * columns;
    if (from[0] == -7) return 3;
    if (from[0] == -8) throw std::runtime_error("a row of -8");
    if (from[0] <= 0) continue;
    for (int i = 0; i < columns; ++i) outputs[0][rows * columns + i] = from[i] * record.factor;
    ++rows;
  }
  output_shapes[0][0] = rows;
  return 0;
}
