// SPDX-License-Identifier: Apache-2.0
//
// File: join_rig.h
//
// A coordinator over TLS that issues certificates as the real one does: once
// for a token, the same again for the same request.
#ifndef FROSTLINE_TESTS_WORKER_AGENT_JOIN_RIG_H_
#define FROSTLINE_TESTS_WORKER_AGENT_JOIN_RIG_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/clock.h"
#include "tests/support/temp_folder.h"
#include "tests/worker/agent/scripted_coordinator.h"
#include "tls/authority.h"
#include "tls/credentials.h"

namespace frostline::agent {

inline const std::string kJoinSecret(64, 'e');
inline const std::string kJoinToken = "frost_0123456789abcdef_" + kJoinSecret;

class JoinRig {
 public:
  // Its certificate has the hosts 127.0.0.1 and head.test. With `chain` that of
  // the CA is in the handshake, where OpenSSL also takes it from the CA of
  // clients; without, clients are not asked for certificates.
  explicit JoinRig(bool chain = true);

  ScriptedCoordinator& coordinator() { return *coordinator_; }
  int port() const;
  std::string File(const std::string& name) const { return folder_.File(name); }
  const std::string& ca_sha256() const { return ca_sha256_; }
  // TOKEN@HOST:PORT#FINGERPRINT.
  std::string Line(const std::string& host = "127.0.0.1", int port = 0) const;
  // Sets the lifetime of the certificates that it issues.
  void SetLifetime(Duration lifetime);
  // Called before a Join or a renewal is answered.
  void BeforeAnswer(std::function<void()> before);

  v1::JoinReply ReplyFor(const std::string& worker_id,
                         const std::string& request_pem) const;

 private:
  absl::StatusOr<v1::JoinReply> Answer(const std::string& request_id,
                                       const std::string& request_pem);

  TempFolder folder_;
  const SystemClock clock_;
  tls::KeyPair authority_;
  std::string ca_sha256_;
  mutable std::mutex mutex_;
  Duration lifetime_ = std::chrono::hours(24);
  std::function<void()> before_;
  std::map<std::string, v1::JoinReply> answered_;
  std::unique_ptr<ScriptedCoordinator> coordinator_;
};

}  // namespace frostline::agent

#endif  // FROSTLINE_TESTS_WORKER_AGENT_JOIN_RIG_H_
