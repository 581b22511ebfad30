// SPDX-License-Identifier: Apache-2.0
//
// File: copy.h
//
// The two sides of a copy (storage/copy.h) in PostgreSQL. Each takes the seat
// of its database, and is one transaction.
#ifndef FROSTLINE_STORAGE_POSTGRES_COPY_H_
#define FROSTLINE_STORAGE_POSTGRES_COPY_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "storage/copy.h"

namespace frostline::storage {

// Opens a database and changes nothing in it. The error is one of
// ConnectAlone(), REQUEST_INVALID when there are no tables of ours, and
// STORE_VERSION when these are not of this version.
absl::StatusOr<std::unique_ptr<CopySource>> OpenPostgresToCopy(
    const std::string& url);

// Begins a copy; its tables, too, are there only after Commit(). The error is
// one of ConnectAlone(), STORE_VERSION when the tables are not of this version,
// and STORE_UNWRITABLE when they hold a row.
absl::StatusOr<std::unique_ptr<CopyTarget>> BeginPostgresCopy(
    const std::string& url);

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_POSTGRES_COPY_H_
