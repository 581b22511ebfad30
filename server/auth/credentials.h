// SPDX-License-Identifier: Apache-2.0
//
// File: credentials.h
#ifndef FROSTLINE_SERVER_AUTH_CREDENTIALS_H_
#define FROSTLINE_SERVER_AUTH_CREDENTIALS_H_

#include <string>

#include "absl/status/status.h"
#include "server/auth/certificate_book.h"
#include "server/auth/token_book.h"

namespace frostline::server {

// All that can prove who calls. Threads and commits are those of its books.
struct Credentials {
  TokenBook tokens;
  CertificateBook certificates;

  absl::Status Load(const storage::TrialStore& store) FROSTLINE_ON_LOOP {
    const absl::Status loaded = tokens.Load(store);
    return loaded.ok() ? certificates.Load(store) : loaded;
  }
  void Committed() FROSTLINE_ON_LOOP {
    tokens.rows().Committed();
    certificates.rows().Committed();
  }
  // Says whether some were revoked since it was last asked.
  bool TakeSomeRevoked() {
    const bool of_tokens = tokens.rows().TakeSomeRevoked();
    return certificates.rows().TakeSomeRevoked() || of_tokens;
  }
  void Undo() FROSTLINE_ON_LOOP {
    tokens.rows().Undo();
    certificates.rows().Undo();
  }
  // Says whether what holds stands for this subject: its name is taken.
  bool HaveSubject(const std::string& subject, WallMicros now) const {
    return tokens.HasSubject(subject, now) ||
           certificates.HasSubject(subject, now);
  }
  // Answers WORKER_NAME_TAKEN at `field` where "workers/gpu03" is.
  absl::Status CheckFree(const std::string& worker, WallMicros now,
                         const std::string& field) const FROSTLINE_ON_LOOP;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_AUTH_CREDENTIALS_H_
