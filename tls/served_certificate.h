// SPDX-License-Identifier: Apache-2.0
//
// File: served_certificate.h
//
// The certificate of a server that is not gRPC's. Its files are looked at when
// a connection begins, and read again when they have changed: that connection
// sees the new certificate, open ones stay as they are.
#ifndef FROSTLINE_TLS_SERVED_CERTIFICATE_H_
#define FROSTLINE_TLS_SERVED_CERTIFICATE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "tls/credentials.h"

struct ssl_ctx_st;  // OpenSSL's SSL_CTX

namespace frostline::tls {

// The certificate that a server shows, read anew when its files change. Any
// thread may use one. What is in use is never changed: a handshake takes a
// share of what was read last, and keeps it for as long as it needs it.
class ServedCertificate {
 public:
  // Reads certificate and key; the first certificate of the file is the
  // server's, those after it are sent with it. The error is TLS_FILE, and names
  // the flag.
  static absl::StatusOr<std::unique_ptr<ServedCertificate>> Open(
      const TlsFiles& files);
  ~ServedCertificate();
  ServedCertificate(const ServedCertificate&) = delete;
  ServedCertificate& operator=(const ServedCertificate&) = delete;

  // Lets every handshake of the context show it, by TLS 1.2 or newer. It
  // outlives the context. New files that cannot be used are logged once, and
  // the last good ones are shown on: half a renewal is no outage.
  void ServeIn(ssl_ctx_st* context);

 private:
  class Impl;
  explicit ServedCertificate(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace frostline::tls

#endif  // FROSTLINE_TLS_SERVED_CERTIFICATE_H_
