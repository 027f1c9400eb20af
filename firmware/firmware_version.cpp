// Names the build that libcmodel_firmware.so comes from, so that a mixed installation can be told apart.
extern "C" {
__attribute__((visibility("default"))) const char* softtpu_firmware_version();
__attribute__((visibility("default"))) const char* softtpu_firmware_version() { return SOFTTPU_VERSION; }
}
