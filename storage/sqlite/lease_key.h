// SPDX-License-Identifier: Apache-2.0
//
// File: lease_key.h
//
// The key that lease secrets are computed from lies beside the database, in a
// file of mode 0600, and not in it: who has the database or a backup alone
// cannot compute one.
#ifndef FROSTLINE_STORAGE_SQLITE_LEASE_KEY_H_
#define FROSTLINE_STORAGE_SQLITE_LEASE_KEY_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/secret.h"

namespace frostline::storage {

// Makes it where there is none, or none of the right form. One that cannot be
// written serves until the process ends, and a warning says so: of leases that
// it gave, only an Acquire whose reply was lost is not answered again. It
// answers STORE_UNWRITABLE when others may read the file.
absl::StatusOr<SecretString> KeepLeaseKey(const std::string& path);

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_SQLITE_LEASE_KEY_H_
