// Certificates that the tests make for themselves.
#pragma once

#include <string>

namespace softtpu {

// Writes a new key (0600) and a certificate for the host "localhost" and 127.0.0.1 that is signed by that key.
void make_certificate(const std::string& certificate_file, const std::string& key_file,
                      const std::string& host = "localhost");

}  // namespace softtpu
