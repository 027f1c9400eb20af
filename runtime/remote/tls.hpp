// The TLS settings of both ends, in one place: TLS 1.3, a certificate that is always checked, no resumption.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <memory>
#include <string>

#include "runtime/base/result.hpp"

namespace softtpu {

using TlsStream = boost::asio::ssl::stream<boost::asio::ip::tcp::socket>;
using TlsContext = boost::asio::ssl::context;

Result<std::unique_ptr<TlsContext>> make_server_context(const std::string& certificate_file,
                                                        const std::string& key_file);
// An empty ca_file means the certificates that the system trusts.
Result<std::unique_ptr<TlsContext>> make_client_context(const std::string& ca_file);
// Makes the client's end insist that the peer's certificate is for this host (a name or an address).
void expect_host(TlsStream& stream, const std::string& host);
// The cause of a failed handshake: what is wrong with the certificate, else OpenSSL's words.
std::string handshake_error(TlsStream& stream, const boost::system::error_code& error);

}  // namespace softtpu
