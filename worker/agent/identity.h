// SPDX-License-Identifier: Apache-2.0
//
// File: identity.h
//
// Who a worker is that has joined. Of its folder others may write nothing:
//
//   DIR/agents/ID/identity/address   HOST:PORT of the coordinator
//   DIR/agents/ID/identity/token     the id of the token that was traded
//   DIR/agents/ID/identity/next/     worker.key and the request that it signed
//   DIR/agents/ID/identity/7/        worker.key, worker.crt, ca.crt
//
// A folder with a number is whole when it appears and is never written again,
// so nobody reads a key beside another key's certificate. The highest counts;
// the one before stays for connections that were made with it. Whoever holds
// the agent's lock (run_folder.h) writes, on one thread.
#ifndef FROSTLINE_WORKER_AGENT_IDENTITY_H_
#define FROSTLINE_WORKER_AGENT_IDENTITY_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "frostline/v1/worker_service.pb.h"
#include "tls/credentials.h"

namespace frostline::agent {

struct IdentityFacts {
  std::string address;
  std::string token_id;  // may be empty: of which one is not known
  std::string ca_sha256;
  WallMicros begins = 0;  // when the certificate does, or came if that is later
  WallMicros expires = 0;
};

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

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_IDENTITY_H_
