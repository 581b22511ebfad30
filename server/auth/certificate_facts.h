// SPDX-License-Identifier: Apache-2.0
//
// File: certificate_facts.h
//
// A client shows its certificate with every call; it is read once, not at each.
#ifndef FROSTLINE_SERVER_AUTH_CERTIFICATE_FACTS_H_
#define FROSTLINE_SERVER_AUTH_CERTIFICATE_FACTS_H_

#include <memory>
#include <string>
#include <unordered_map>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "tls/certificate.h"

namespace frostline::server {

inline constexpr std::size_t kMostKnownCertificates = 16'384;  // 2 KiB each

// Any thread may call. When it is full it begins anew.
class CertificateFactsCache {
 public:
  // The error is TLS_FILE: gRPC took it for a certificate, OpenSSL does not.
  absl::StatusOr<std::shared_ptr<const tls::CertificateFacts>> Read(
      const std::string& pem);
  // Counts how often one was read, to guard what a call costs.
  std::int64_t reads() const;

 private:
  mutable Mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const tls::CertificateFacts>>
      known_ ABSL_GUARDED_BY(mutex_);
  std::int64_t reads_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_AUTH_CERTIFICATE_FACTS_H_
