// C functions that libcmodel_firmware.so exports to softtpu-device and to libbmlib.
#pragma once

extern "C" {

// The main function of softtpu-device.
__attribute__((visibility("default"))) int softtpu_device_main(int argc, char** argv);

// Kernels that constructors of this program (and of its libraries) have registered.
__attribute__((visibility("default"))) unsigned long softtpu_registered_kernel_count();

// Starts a device whose kernels run in a thread of this program. The socket to it, or -1 and the reason.
__attribute__((visibility("default"))) int softtpu_start_inprocess(char* error_text, unsigned long error_bytes);

}  // extern "C"
