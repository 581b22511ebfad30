// SPDX-License-Identifier: Apache-2.0
//
// File: issuer.h
//
// Issues workers' certificates with the CA's key, for private keys that it
// never sees. Without the CA's key there is no issuer: certificates are then
// issued elsewhere. Any thread may call.
#ifndef FROSTLINE_SERVER_AUTH_ISSUER_H_
#define FROSTLINE_SERVER_AUTH_ISSUER_H_

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "tls/authority.h"

namespace frostline::server {

inline constexpr Duration kUsualCertificateLife = std::chrono::hours(24 * 60);

// Returns JOIN_UNAVAILABLE, for a coordinator without an issuer.
absl::Status CannotIssue(const std::string& field = "");

// The CA of a coordinator. Any thread may call.
class Issuer {
 public:
  // The error is TLS_FILE or REQUEST_INVALID when the files are not a CA and
  // its key.
  static absl::StatusOr<std::unique_ptr<Issuer>> Open(
      const std::string& ca_path, const std::string& key_path,
      Duration lifetime);
  Issuer(tls::KeyPair authority, std::string ca_sha256, Duration lifetime)
      : authority_(std::move(authority)),
        ca_sha256_(std::move(ca_sha256)),
        lifetime_(lifetime) {}

  // Sets the address where nodes reach the coordinator: "gpu-head.lan:7443".
  void ServeAt(const std::string& address);
  std::string address() const;
  const std::string& ca_pem() const { return authority_.certificate_pem; }
  const std::string& ca_sha256() const { return ca_sha256_; }

  // Returns the certificate in PEM form. The error is REQUEST_INVALID.
  absl::StatusOr<std::string> Issue(const std::string& worker_id,
                                    const std::string& request_pem,
                                    WallMicros now) const;

 private:
  const tls::KeyPair authority_;
  const std::string ca_sha256_;
  const Duration lifetime_;
  mutable Mutex mutex_;
  std::string address_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_AUTH_ISSUER_H_
