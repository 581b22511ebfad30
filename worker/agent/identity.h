// SPDX-License-Identifier: Apache-2.0
//
// File: identity.h
//
// The identity of a worker that has joined: its key and its certificate, in a
// folder where nobody else may write:
//
//   DIR/agents/ID/identity/address   HOST:PORT of the coordinator
//   DIR/agents/ID/identity/token     the id of the token that was traded
//   DIR/agents/ID/identity/next/     worker.key and the request that it signed
//   DIR/agents/ID/identity/7/        worker.key, worker.crt, ca.crt
//
// A folder with a number is complete when it appears, and is never written
// again. So nobody reads a key beside the certificate of another key. The
// highest number counts; the one before stays, for connections that were made
// with it. Only the process that holds the agent's lock (trial_folders.h)
// writes, on one thread.
#ifndef FROSTLINE_WORKER_AGENT_IDENTITY_H_
#define FROSTLINE_WORKER_AGENT_IDENTITY_H_

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "frostline/v1/worker_service.pb.h"
#include "tls/credentials.h"
#include "tls/join.h"
#include "worker/agent/link/rpc_client.h"
#include "worker/agent/options.h"
#include "worker/agent/wakeup.h"

namespace frostline::agent {

// What a worker's identity says.
struct IdentityFacts {
  std::string address;
  std::string token_id;  // empty when it is not known
  std::string ca_sha256;
  // When the certificate becomes valid, or when it was stored if that is later.
  WallMicros begins = 0;
  WallMicros expires = 0;
};

// The folder with the keys and certificates of one worker.
class Identity {
 public:
  // A request for a certificate. After a crash it is sent again with the same
  // id: the coordinator then answers the same certificate, and its key is still
  // here.
  struct Question {
    std::string request_id;
    std::string request_pem;
  };

  Identity(const std::string& run_dir, const std::string& worker_id);

  // Returns the ids of the workers that have joined from a run folder, sorted.
  static std::vector<std::string> JoinedFrom(const std::string& run_dir);

  bool exists() const;
  // The error is TLS_FILE when others may write a file or read the key.
  absl::StatusOr<IdentityFacts> Read() const;
  tls::TlsFiles files() const;  // those in the folder with the highest number
  const std::string& folder() const { return folder_; }

  // Makes a key, if none waits for an answer, and the request for its
  // certificate. `purpose` is a part of the request id. The key is on disk when
  // this returns.
  absl::StatusOr<Question> Ask(const std::string& purpose);
  // Stores the answer for the key of Ask(). It refuses a certificate of another
  // key or another worker, and a CA other than `ca_sha256` (empty: any CA is
  // right); nothing changes then.
  absl::Status Store(const v1::JoinReply& reply, const std::string& ca_sha256);
  absl::Status StoreAddress(const std::string& address);
  absl::Status StoreTokenId(const std::string& token_id);

 private:
  absl::Status StoreLine(const char* name, const std::string& line);
  int Newest() const;  // 0: none
  std::string NumberedFolder(int number) const;
  absl::Status CheckAnswer(const v1::JoinReply& reply,
                           const std::string& ca_sha256) const;

  const std::string worker_id_;
  const std::string folder_;
  const std::string next_;
};

// A worker that was invited trades its token for a certificate, once. Later it
// may start with the same --join or without: its run folder says who it is and
// where its coordinator is.

// Sleeps for that long. Returns false when the worker is to end.
using JoinPause = std::function<bool(Duration)>;

// Joins, if there is a line and no valid certificate. For a worker that has
// joined it sets the id, the address and the files in `options`; otherwise it
// leaves them. It asks again while nobody answers. The error is CANCELLED when
// `pause` returns false, FINGERPRINT_WRONG when another coordinator answers or
// the worker joined another one before, CERTIFICATE_EXPIRED when only a new
// invitation helps, or the coordinator's refusal.
absl::Status SettleIdentity(const std::optional<tls::JoinLine>& line,
                            const Clock& clock, const JoinPause& pause,
                            AgentOptions* options);

// Returns when a certificate is to be renewed: after two thirds of its life.
WallMicros RenewalDue(const IdentityFacts& facts);
// Returns the time until the keeper looks again: a minute, or less when the
// certificate lives shortly. It is also the pause after a failed renewal.
Duration UntilNextLook(const IdentityFacts& facts, WallMicros now);

// The thread that renews the certificate of a worker that has joined, once a
// third of its life is left. It asks with a new key over the connection of the
// old certificate. Then calls go over a new connection; no training notices. A
// failure is logged, and tried again until the certificate has expired: then
// the worker has to be invited again. A denied renewal ends the agent, as any
// denied call does.
class CertificateKeeper {
 public:
  // `client` and `clock` outlive it, and the agent's lock is held while it
  // lives.
  CertificateKeeper(Identity identity, RpcClient& client, const Clock& clock);
  ~CertificateKeeper() { Stop(); }
  CertificateKeeper(const CertificateKeeper&) = delete;
  CertificateKeeper& operator=(const CertificateKeeper&) = delete;

  void Start();
  void Stop();  // waits for a call under way

 private:
  void Live();
  Duration LookOnce();
  absl::Status Renew();

  Identity identity_;  // touched by the thread alone
  RpcClient& client_;
  const Clock& clock_;
  Wakeup wakeup_;
  std::atomic<bool> stopped_{false};
  std::thread thread_;
};

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_IDENTITY_H_
