// SPDX-License-Identifier: Apache-2.0
//
// File: lease_secrets.h
//
// A lease's secret is computed, shown to its worker, and stored hashed:
//
//   shown  = salt || first half of SHA-256(key, salt, study, number, attempt)
//   stored = "v1:" salt ":" SHA-256(shown)
//
// The salt is drawn for each grant, so that a database which was put back to an
// earlier day never gives the secret of an attempt a second time. The key lies
// outside of the database (TrialStore::LeaseKey()): with both, an Acquire whose
// reply was lost is answered again. Half of the sum is shown, from which nobody
// can compute the sum of a longer text.
//
//   AsStored("<salt><half>") == "v1:<salt>:<sum>"     what a worker shows
//   AsStored("<32 digits>")  == "<32 digits>"         of before there was a key
#ifndef FROSTLINE_SERVER_LEDGER_LEASE_SECRETS_H_
#define FROSTLINE_SERVER_LEDGER_LEASE_SECRETS_H_

#include <cstdint>
#include <string>
#include <utility>

#include "base/secret.h"
#include "server/ledger/lease_book.h"

namespace frostline::server {

// What a row holds when this secret was granted. It is never what was shown
// when that has the form of a stored one: who reads the database gains nothing.
SecretString AsStored(const SecretString& shown);

// Immutable: any thread may use it.
class LeaseSecrets {
 public:
  explicit LeaseSecrets(SecretString key) : key_(std::move(key)) {}

  // Another one at each call.
  SecretString Draw(TrialKey trial, std::int64_t attempt) const;
  // The one that is stored so; for another key's it is one that nobody accepts.
  SecretString Again(TrialKey trial, std::int64_t attempt,
                     const SecretString& stored) const;

 private:
  SecretString Shown(const std::string& salt, TrialKey trial,
                     std::int64_t attempt) const;

  SecretString key_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_LEDGER_LEASE_SECRETS_H_
