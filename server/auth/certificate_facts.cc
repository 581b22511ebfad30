// SPDX-License-Identifier: Apache-2.0
#include "server/auth/certificate_facts.h"

#include <utility>

#include "base/error.h"

namespace frostline::server {

absl::StatusOr<std::shared_ptr<const tls::CertificateFacts>>
CertificateFactsCache::Read(const std::string& pem) {
  {
    const MutexLock lock(&mutex_);
    const auto known = known_.find(pem);
    if (known != known_.end()) return known->second;
  }
  ASSIGN_OR_RETURN(tls::CertificateFacts facts, tls::ReadCertificate(pem));
  auto shared = std::make_shared<const tls::CertificateFacts>(std::move(facts));
  const MutexLock lock(&mutex_);
  ++reads_;
  if (known_.size() >= kMostKnownCertificates) known_.clear();
  known_.emplace(pem, shared);
  return shared;
}

std::int64_t CertificateFactsCache::reads() const {
  const MutexLock lock(&mutex_);
  return reads_;
}

}  // namespace frostline::server
