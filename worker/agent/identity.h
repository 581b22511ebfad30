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
// A folder with a number is whole when it appears and is never written again,
// so nobody reads a key beside another key's certificate. The highest counts;
// the one before stays for connections that were made with it. Whoever holds
// the agent's lock (trial_folders.h) writes, on one thread.
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

struct IdentityFacts {
  std::string address;
  std::string token_id;  // may be empty: of which one is not known
  std::string ca_sha256;
  WallMicros begins = 0;  // when the certificate does, or came if that is later
  WallMicros expires = 0;
};

// The folder with the keys and certificates of one worker.
class Identity {
 public:
  // What is asked for, again with the same id after a crash: the coordinator
  // then answers the same certificate, whose key is still here.
  struct Question {
    std::string request_id;
    std::string request_pem;
  };

  Identity(const std::string& run_dir, const std::string& worker_id);

  // The workers that have joined from a run folder, by name.
  static std::vector<std::string> JoinedFrom(const std::string& run_dir);

  bool exists() const;
  // Answers TLS_FILE for what others may write or, of the key, read.
  absl::StatusOr<IdentityFacts> Read() const;
  tls::TlsFiles files() const;  // of the highest number
  const std::string& folder() const { return folder_; }

  // `purpose` is a part of the request id. The key is on disk when it returns.
  absl::StatusOr<Question> Ask(const std::string& purpose);
  // Takes the answer for the key of Ask(). What it refuses changes nothing:
  // another key's certificate, another worker's, or a CA other than `ca_sha256`
  // (empty: any).
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
// starts with the same --join, or without: it finds who it is in its run folder
//, and where its coordinator is.
//
// Sleeps for so long; false means that the worker is to end.
using JoinPause = std::function<bool(Duration)>;

// Joins if there is a line and no certificate that holds, and sets id, address
// and files of `options` for a worker that has joined; any other stays as it
// is. While nobody answers it asks again. Answers CANCELLED when `pause` says
// so, FINGERPRINT_WRONG where another coordinator answers or was joined before,
// CERTIFICATE_EXPIRED where only a new invitation helps, and what the
// coordinator refuses.
absl::Status SettleIdentity(const std::optional<tls::JoinLine>& line,
                            const Clock& clock, const JoinPause& pause,
                            AgentOptions* options);

// Renews the certificate of a worker that has joined, on a thread of its own,
// once a third of its life is left. It asks with a new key over the connection
// of the old certificate; then calls go over a new connection, and the
// trainings notice nothing. What fails is logged and tried again until the
// certificate has expired: its worker then has to be invited again. A denied
// one ends the agent, as any denied call does.

// When two thirds of its life have passed.
WallMicros RenewalDue(const IdentityFacts& facts);
// Until the next look: a minute, or less where a life is short. Where a renewal
// is due it is the pause before the next try.
Duration UntilNextLook(const IdentityFacts& facts, WallMicros now);

// The thread that renews the certificate.
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
