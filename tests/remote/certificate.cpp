#include "tests/remote/certificate.hpp"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <cstdio>
#include <memory>
#include <stdexcept>

namespace softtpu {
namespace {

template <class T, void (*free)(T*)>
struct Free {
  void operator()(T* object) const { free(object); }
};
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY, EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Free<X509, X509_free>>;

void require(bool good) {
  if (!good) throw std::runtime_error("making a certificate failed");
}

template <class Write>
void write_file(const std::string& path, mode_t mode, Write write) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  require(file != nullptr);
  ::fchmod(::fileno(file), mode);
  const int written = write(file);
  require(std::fclose(file) == 0 && written == 1);
}

}  // namespace

void make_certificate(const std::string& certificate_file, const std::string& key_file, const std::string& host) {
  const Key key(::EVP_EC_gen("P-256"));
  const Certificate certificate(::X509_new());
  require(key && certificate);
  ::ASN1_INTEGER_set(::X509_get_serialNumber(certificate.get()), 1);
  ::X509_gmtime_adj(::X509_getm_notBefore(certificate.get()), -60);
  ::X509_gmtime_adj(::X509_getm_notAfter(certificate.get()), 86400);
  ::X509_set_version(certificate.get(), 2);
  ::X509_set_pubkey(certificate.get(), key.get());
  X509_NAME* name = ::X509_get_subject_name(certificate.get());
  const auto* text = reinterpret_cast<const unsigned char*>(host.c_str());
  require(::X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, text, -1, -1, 0) == 1);
  ::X509_set_issuer_name(certificate.get(), name);
  const std::string names = "DNS:" + host + (host == "localhost" ? ",IP:127.0.0.1" : "");
  X509_EXTENSION* extension = ::X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names.c_str());
  require(extension != nullptr && ::X509_add_ext(certificate.get(), extension, -1) == 1);
  ::X509_EXTENSION_free(extension);
  require(::X509_sign(certificate.get(), key.get(), ::EVP_sha256()) > 0);
  write_file(certificate_file, 0644, [&](std::FILE* file) { return ::PEM_write_X509(file, certificate.get()); });
  write_file(key_file, 0600, [&](std::FILE* file) {
    return ::PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
}

}  // namespace softtpu
