/* Devices with settings of their own, and what they have to tell: what other languages are built on (python/), and
 * tools.
 *
 *   const char* settings[] = {"SOFTTPU_CHIP=bm1684", "SOFTTPU_CHECK=all", NULL};
 *   bm_handle_t device;
 *   if (softtpu_device_open(&device, 0, settings, SOFTTPU_KEEP_TIMES) != BM_SUCCESS) puts(softtpu_last_failure());
 *   ... the functions of bmlib_runtime.h, with this handle ...
 *   char* notes = softtpu_take_notes(device);    // what the checks found in the launches since the last call
 *   softtpu_free(notes);
 *   bm_dev_free(device);
 *
 * Texts are JSON in UTF-8. Those that are returned as char* belong to the caller, who gives them back with
 * softtpu_free(); NULL: the call has failed. Library: -lbmlib. Threads: any.
 */
#ifndef SOFTTPU_DEVICE_H
#define SOFTTPU_DEVICE_H

#include "bmlib_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

enum {
  SOFTTPU_KEEP_TIMES = 1 /* estimate how long launches take on the chip, for softtpu_take_times() */
};

/* A device of this handle's own: every call starts another one, which ends when its last handle and module are freed.
 * `settings`: "NAME=value" texts with NULL behind the last one, which count instead of the environment (`softtpu env`
 * lists them); NULL: none. Under `softtpu run` its checks are added to those given here, and what is noted and the
 * times go to its reports too. With SOFTTPU_DEVICE naming a shared device a connection of its own to device `device_id`
 * of it; what a private device alone can do (checks, times) is refused then. bm_get_devid() of the handle is a number
 * of the device's own, with which bm_dev_request() gives further handles of it. */
bm_status_t softtpu_device_open(bm_handle_t* handle, int device_id, const char* const* settings, int flags);

/* Another queue of launches on the device of a handle that softtpu_device_open() gave. Freed by bm_dev_free(). */
bm_status_t softtpu_stream_open(bm_handle_t* stream, bm_handle_t device);

/* Ends the launch that runs on this handle and those that wait on it; each fails as ended by its program. */
bm_status_t softtpu_cancel(bm_handle_t handle);

/* Device memory as this program's own: a mapping of `bytes` bytes from `address` on, all in one allocation. It stays
 * valid until softtpu_unmap() with the same values, even behind the end of the device. BM_NOT_SUPPORTED where device
 * and program share no memory (a remote device). A device that checks kernels hears from softtpu_note_mapped() that the
 * program may have written there, before kernels that read it are launched. */
bm_status_t softtpu_map(bm_handle_t handle, unsigned long long address, unsigned long long bytes, void** mapped);
bm_status_t softtpu_note_mapped(bm_handle_t handle, unsigned long long address, unsigned long long bytes);
void softtpu_unmap(void* mapped, unsigned long long bytes);

/* Says to a device that checks kernels of what type the elements of the allocation at an address are: "fp32", "fp16",
 * "bfp16", ..., as messages of the checks name types; "": of several types, or unknown, as it is without this call. */
bm_status_t softtpu_note_type(bm_handle_t handle, unsigned long long address, const char* type);

/* {"chip", "chip_id", "cores", "device_id", "in_process", "soc_mode", "shares_memory", "checks", "global_bytes"} */
char* softtpu_device_info(bm_handle_t handle);

/* What the device has noted since the last call, for all handles of the device: the JSON of `softtpu run
 * --report=json:FILE` (runtime/report/README.md), each of the findings with a member "text" for people. A finding that
 * came again is there again, with the count of this time. What a launch notes is there when it has been waited for. */
char* softtpu_take_notes(bm_handle_t handle);

/* One line of JSON for each launch since the last call, of each core (docs/time.md); "" without SOFTTPU_KEEP_TIMES. */
char* softtpu_take_times(bm_handle_t handle);

/* How this thread's last call that failed did: {"function", "status", "text"}, and of a kernel's failure {"kernel",
 * "core", "command", "file", "line"}, as far as they are known. Valid until the thread's next call of this library;
 * never NULL. */
const char* softtpu_last_failure(void);

/* For libraries over libbmlib: what softtpu_last_failure returns next on this thread. */
void softtpu_set_last_failure(const char* function, const char* text, bm_status_t status);

/* The struct that a kernel's arguments come in, from the debug information of a module: {"type", "bytes", "members":
 * [{"name", "type", "kind", "offset", "bytes", "counts", "members"}]}. `kind` is signed, unsigned, float, bool, enum,
 * pointer, struct or union; `bytes` is that of one element, `counts` has an array's dimensions. {} when the module does
 * not say. */
char* softtpu_argument_layout(const char* module_file, const char* kernel);

void softtpu_free(char* text);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
