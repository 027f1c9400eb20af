/* What softtpu's libbmrt shows beyond the published functions. */
#ifndef SOFTTPU_NETWORKS_H_
#define SOFTTPU_NETWORKS_H_

#include "../bmruntime_interface.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* A tensor as it was when the network had written it for the last time. `data` stays until the callback returns. */
typedef void (*softtpu_tensor_callback)(void* user, const char* name, bm_data_type_t dtype, const bm_shape_t* shape,
                                        const void* data, size_t bytes);

/* Every later launch of the runtime waits for its end and then calls back for each tensor that the file names and that
   lies in global memory: inputs, outputs, and what parts of the network hand to each other. NULL ends it. */
bool softtpu_bmrt_show_tensors(void* p_bmrt, softtpu_tensor_callback callback, void* user);

/* Networks that the runtime loads from now on may have parts that cannot run here: layers for the host's processor,
   dynamic parts with layers that are not carried out. A launch of such a network is refused. With `on` these parts are
   left out instead: the others run, but for dynamic parts that need what a missing one makes. When an output needs it,
   the launch fails, names that output and leaves its memory as it was; the others are made where the program gives the
   memory (`user_mem`). In the shapes of bmrt_launch_data() the number of dimensions of one that is not made is -1. */
bool softtpu_bmrt_run_static_parts(void* p_bmrt, bool on);

/* Networks that the runtime loads from now on: who walks the lists of layers of dynamic parts. The path of a library
   with the firmware of BM1684X (an installed compiler's, for this machine): it walks all of them, and a file with
   dynamic parts is not loaded if it cannot be used. "file": the firmware in the file walks all of them. "none":
   softtpu's own layers alone. "": these, and the file's firmware for parts that have others. NULL: as SOFTTPU_FIRMWARE
   says. */
bool softtpu_bmrt_use_firmware(void* p_bmrt, const char* firmware);

/* Networks that the runtime loads from now on: the compiler's map of tensors for one stage of the network of this name,
   the text of the `tensor_location.json` that lies beside the file. A map of another network fails the load. NULL as
   `json` ends it. */
bool softtpu_bmrt_use_tensor_map(void* p_bmrt, const char* net_name, int stage, const char* json, size_t bytes);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
