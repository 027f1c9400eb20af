// bmcpu: programs on the processor of a board, which an emulated device does not have. Each function says so once in
// the log.
#include "host/bmlib/handle.hpp"

namespace {

constexpr const char* kReason = "a processor of its own that runs programs";

}  // namespace

using namespace softtpu::host;

extern "C" {

bm_cpu_status_t bmcpu_get_cpu_status(bm_handle_t handle) try {
  SOFTTPU_HANDLE_OR(handle, BMCPU_FAULT);
  no_feature(__func__, kReason);
  return BMCPU_IDLE;
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bmcpu_start_cpu(bm_handle_t handle, char* /*boot_file*/, char* /*core_file*/) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, kReason);
} catch (...) {
  return softtpu::caught(__func__);
}
int bmcpu_open_process(bm_handle_t handle, unsigned int /*flags*/, int /*timeout*/) try {
  SOFTTPU_HANDLE_OR(handle, -1);
  no_feature(__func__, kReason);
  return -1;
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bmcpu_load_library(bm_handle_t handle, int /*process_handle*/, char* /*library_file*/,
                               int /*timeout*/) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, kReason);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bmcpu_unload_library(bm_handle_t handle, int /*process_handle*/, char* /*library_file*/,
                                 int /*timeout*/) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, kReason);
} catch (...) {
  return softtpu::caught(__func__);
}
int bmcpu_exec_function(bm_handle_t handle, int /*process_handle*/, char* /*function_name*/, void* /*function_param*/,
                        unsigned int /*param_size*/, int /*timeout*/) try {
  SOFTTPU_HANDLE_OR(handle, BM_ERR_DEVNOTREADY);
  return no_feature(__func__, kReason);
} catch (...) {
  return softtpu::caught(__func__);
}
int bmcpu_exec_function_ext(bm_handle_t handle, int /*process_handle*/, char* /*function_name*/,
                            void* /*function_param*/, unsigned int /*param_size*/, unsigned int /*opt*/,
                            int /*timeout*/) try {
  SOFTTPU_HANDLE_OR(handle, BM_ERR_DEVNOTREADY);
  return no_feature(__func__, kReason);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bmcpu_exec_function_async(bm_handle_t handle, int /*process_handle*/, char* /*function_name*/,
                                      void* /*function_param*/, unsigned int /*param_size*/,
                                      unsigned long long* /*api_handle*/) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, kReason);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bmcpu_exec_function_async_ext(bm_handle_t handle, int /*process_handle*/, char* /*function_name*/,
                                          void* /*function_param*/, unsigned int /*param_size*/, unsigned int /*opt*/,
                                          unsigned long long* /*api_handle*/) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, kReason);
} catch (...) {
  return softtpu::caught(__func__);
}
int bmcpu_query_exec_function_result(bm_handle_t handle, unsigned long long /*api_handle*/, int /*timeout*/) try {
  SOFTTPU_HANDLE_OR(handle, BM_ERR_DEVNOTREADY);
  return no_feature(__func__, kReason);
} catch (...) {
  return softtpu::caught(__func__);
}
void* bmcpu_map_phys_addr(bm_handle_t handle, int /*process_handle*/, void* /*phys_addr*/, unsigned int /*size*/,
                          int /*timeout*/) try {
  SOFTTPU_HANDLE_OR(handle, nullptr);
  no_feature(__func__, kReason);
  return nullptr;
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bmcpu_unmap_phys_addr(bm_handle_t handle, int /*process_handle*/, void* /*phys_addr*/,
                                  int /*timeout*/) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, kReason);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bmcpu_close_process(bm_handle_t handle, int /*process_handle*/, int /*timeout*/) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, kReason);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bmcpu_reset_cpu(bm_handle_t handle) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, kReason);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bmcpu_set_log(bm_handle_t handle, unsigned int /*log_level*/, unsigned int /*log_to_console*/,
                          int /*timeout*/) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, kReason);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bmcpu_get_log(bm_handle_t handle, int /*process_handle*/, char* /*log_file*/, int /*timeout*/) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, kReason);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bmcpu_sync_time(bm_handle_t handle) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, kReason);
} catch (...) {
  return softtpu::caught(__func__);
}

}  // extern "C"
