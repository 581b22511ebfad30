// SPDX-License-Identifier: Apache-2.0
//
// File: join_rig.h
//
// What stands between a worker and its coordinator in a network: a relay on
// loopback, or a proxy that is asked by HTTP CONNECT. It keeps all bytes that
// clients sent through it.
#ifndef FROSTLINE_TESTS_WORKER_AGENT_JOIN_RIG_H_
#define FROSTLINE_TESTS_WORKER_AGENT_JOIN_RIG_H_

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "tests/support/temp_folder.h"
#include "tests/worker/agent/scripted_coordinator.h"
#include "tls/authority.h"
#include "tls/credentials.h"

namespace frostline::agent {

class Relay {
 public:
  enum class Kind { kPlain, kConnectProxy };

  // To 127.0.0.1:`port`, whatever host a proxy is asked for.
  Relay(Kind kind, int port);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  int port() const { return port_; }
  // What clients sent, without the words to the proxy.
  std::string sent() const;
  // The first lines that a proxy was told.
  std::vector<std::string> asked() const;

 private:
  void Listen();
  void Serve(int client);
  bool AnswerConnect(int client);

  const Kind kind_;
  const int to_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> over_{false};
  mutable std::mutex mutex_;
  std::string sent_;
  std::vector<std::string> asked_;
  std::vector<std::thread> threads_;
};

// A coordinator over TLS that issues certificates as the real one does: once
// for a token, the same again for the same request.

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
