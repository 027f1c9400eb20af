#include "tools/golden/bmlib_target.hpp"

#include <bmlib_runtime.h>
#include <fmt/format.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "device/chip/chip.hpp"

namespace softtpu::golden {
namespace {

int next_device_id = 0;
std::string last_log_text;

// libbmlib says why a call failed only in its log.
void keep_log(const char* /*tag*/, int level, const char* format, va_list args) {
  if (level > BMLIB_LOG_ERROR) return;
  va_list copy;
  va_copy(copy, args);
  char text[8192];
  std::vsnprintf(text, sizeof(text), format, copy);
  va_end(copy);
  last_log_text += text;
}

class BmlibTarget final : public Target {
 public:
  BmlibTarget(bm_handle_t handle, Chip chip) : handle_(handle), chip_(std::move(chip)) {}
  BmlibTarget(const BmlibTarget&) = delete;
  BmlibTarget& operator=(const BmlibTarget&) = delete;
  ~BmlibTarget() override {
    if (buffer_bytes_ != 0) bm_free_device_mem(handle_, buffer_);
    if (scratch_ != 0) bm_free_device_mem(handle_, scratch_);
    bm_dev_free(handle_);
  }

  Result<void> prepare(const std::string& kernel_path) {
    const tpu_kernel_module_t module = tpu_kernel_load_module_file(handle_, kernel_path.c_str());
    if (module == nullptr) return failure("tpu_kernel_load_module_file", BM_ERR_FAILURE);
    function_ = tpu_kernel_get_function(handle_, module, "softtpu_replay");
    if (function_ <= 0) return failure("tpu_kernel_get_function", BM_ERR_FAILURE);
    return check("bm_malloc_device_mem", bm_malloc_device_mem(handle_, &scratch_, 0, kScratchBytes));
  }

  AddressBases bases() const override {
    return {scratch_,      chip_.l2_sram.start, chip_.local_bytes, static_cast<std::uint32_t>(chip_.npu_num),
            kScratchBytes, chip_.type_numbers};
  }
  std::string chip() const override { return chip_.name; }
  Result<std::uint64_t> buffer(std::uint64_t bytes) override {
    if (bytes <= buffer_bytes_) return std::uint64_t{buffer_};
    if (buffer_bytes_ != 0) bm_free_device_mem(handle_, buffer_);
    buffer_bytes_ = 0;
    const std::uint64_t wanted = bytes * 2;
    if (auto done = check("bm_malloc_device_mem", bm_malloc_device_mem(handle_, &buffer_, 0, wanted)); !done)
      return done.error();
    buffer_bytes_ = wanted;
    return std::uint64_t{buffer_};
  }
  Result<void> write(std::uint64_t addr, const void* data, std::uint64_t bytes) override {
    return check("bm_memcpy_s2d_u64",
                 bm_memcpy_s2d_u64(handle_, bm_mem_from_device_u64(addr, bytes), const_cast<void*>(data)));
  }
  Result<void> read(std::uint64_t addr, void* data, std::uint64_t bytes) override {
    return check("bm_memcpy_d2s_u64", bm_memcpy_d2s_u64(handle_, data, bm_mem_from_device_u64(addr, bytes)));
  }
  Result<void> launch(const void* arguments, std::uint64_t bytes, std::size_t cores) override {
    auto* own = const_cast<void*>(arguments);
    if (cores == 1) return check("tpu_kernel_launch", tpu_kernel_launch(handle_, function_, own, bytes));
    if (cores > static_cast<std::size_t>(chip_.cores)) {
      return Error{ErrorKind::kUsage,
                   fmt::format("the case has {} cores, chip {} has {}", cores, chip_.name, chip_.cores)};
    }
    std::vector<tpu_launch_param_t> parts;
    for (std::size_t i = 0; i < cores; ++i) {
      parts.push_back({static_cast<int>(i), function_, own, static_cast<unsigned>(bytes)});
    }
    const bm_status_t status =
        tpu_kernel_launch_async_multicores(handle_, parts.data(), static_cast<int>(parts.size()));
    if (status != BM_SUCCESS) return failure("tpu_kernel_launch_async_multicores", status);
    return check("tpu_kernel_sync", tpu_kernel_sync(handle_));
  }

 private:
  static Error failure(const char* function, bm_status_t status) {
    Error error{ErrorKind::kUsage, last_log_text.empty()
                                       ? fmt::format("{} returns status {}", function, static_cast<int>(status))
                                       : last_log_text};
    last_log_text.clear();
    return error;
  }
  static Result<void> check(const char* function, bm_status_t status) {
    if (status == BM_SUCCESS) return {};
    return failure(function, status);
  }

  bm_handle_t handle_;
  Chip chip_;
  tpu_kernel_function_t function_ = 0;
  unsigned long long scratch_ = 0;
  unsigned long long buffer_ = 0;
  std::uint64_t buffer_bytes_ = 0;
};

}  // namespace

Result<std::unique_ptr<Target>> make_bmlib_target(const std::string& chip_name, const std::string& kernel_path) {
  auto chip = load_chip(chip_name);
  if (!chip) return chip.error();
  setenv("SOFTTPU_CHIP", chip_name.c_str(), 1);
  bmlib_log_set_callback(keep_log);
  bm_handle_t handle = nullptr;
  if (const bm_status_t status = bm_dev_request(&handle, next_device_id++); status != BM_SUCCESS) {
    return Error{ErrorKind::kConnection,
                 fmt::format("bm_dev_request returns status {}: {}", static_cast<int>(status), last_log_text)};
  }
  auto target = std::make_unique<BmlibTarget>(handle, std::move(*chip));
  if (auto ready = target->prepare(kernel_path); !ready) return ready.error();
  return std::unique_ptr<Target>(std::move(target));
}

}  // namespace softtpu::golden
