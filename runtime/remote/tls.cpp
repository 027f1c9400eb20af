#include "runtime/remote/tls.hpp"

#include <fmt/format.h>
#include <openssl/ssl.h>

#include <boost/asio/ip/address.hpp>

#include "runtime/remote/secret.hpp"

namespace softtpu {

namespace ssl = boost::asio::ssl;

namespace {

Error file_error(const char* what, const std::string& path, const boost::system::error_code& error) {
  return Error{ErrorKind::kUsage, fmt::format("{} {}: {}.", what, path, error.message())};
}

}  // namespace

Result<std::unique_ptr<TlsContext>> make_server_context(const std::string& certificate_file,
                                                        const std::string& key_file) {
  if (auto good = check_private_file(key_file, "TLS key"); !good) return good.error();
  auto context = std::make_unique<TlsContext>(TlsContext::tlsv13_server);
  // A session that could be resumed would outlive a changed certificate.
  ::SSL_CTX_set_num_tickets(context->native_handle(), 0);
  boost::system::error_code error;
  if (context->use_certificate_chain_file(certificate_file, error); error)
    return file_error("TLS certificate", certificate_file, error);
  // A key that does not belong to the certificate is refused here.
  if (context->use_private_key_file(key_file, TlsContext::pem, error); error)
    return file_error("TLS key", key_file, error);
  return context;
}

Result<std::unique_ptr<TlsContext>> make_client_context(const std::string& ca_file) {
  auto context = std::make_unique<TlsContext>(TlsContext::tlsv13_client);
  boost::system::error_code error;
  if (ca_file.empty()) {
    context->set_default_verify_paths(error);
  } else {
    context->load_verify_file(ca_file, error);
  }
  if (error) return file_error("SOFTTPU_TLS_CA", ca_file, error);
  context->set_verify_mode(ssl::verify_peer);
  return context;
}

void expect_host(TlsStream& stream, const std::string& host) {
  boost::system::error_code no_address;
  boost::asio::ip::make_address(host, no_address);
  if (!no_address) {
    ::X509_VERIFY_PARAM_set1_ip_asc(::SSL_get0_param(stream.native_handle()), host.c_str());
    return;
  }
  ::SSL_set1_host(stream.native_handle(), host.c_str());
  // Server names are sent for names only, not for addresses (RFC 6066).
  ::SSL_set_tlsext_host_name(stream.native_handle(), host.c_str());
}

std::string handshake_error(TlsStream& stream, const boost::system::error_code& error) {
  const long verified = ::SSL_get_verify_result(stream.native_handle());
  if (verified != X509_V_OK)
    return fmt::format("its certificate is not accepted ({})", ::X509_verify_cert_error_string(verified));
  return error.message();
}

}  // namespace softtpu
