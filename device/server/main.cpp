#include "device/server/entry.hpp"

int main(int argc, char** argv) { return softtpu_device_main(argc, argv); }
