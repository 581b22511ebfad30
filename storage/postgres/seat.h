// SPDX-License-Identifier: Apache-2.0
//
// File: seat.h
//
// What comes before a database of PostgreSQL is used: it is looked at, its seat
// is taken, so that nobody else uses it, and its tables are brought forward.
#ifndef FROSTLINE_STORAGE_POSTGRES_SEAT_H_
#define FROSTLINE_STORAGE_POSTGRES_SEAT_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/postgres/connection.h"

namespace frostline::storage {

// Connects and takes the seat, which the connection keeps; waits half a second
// for one that has just ended. `flag` is the one that gave the URL. The errors
// are Connection::Open's, STORE_LOCKED (another coordinator has the seat) and
// STORE_UNWRITABLE (a replica, a pooler in between, a password in the URL,
// which everybody on the machine could read).
absl::StatusOr<std::unique_ptr<Connection>> ConnectAlone(
    const std::string& url, const std::string& flag = "--store");

// The last two steps of ConnectAlone().
absl::Status CheckServer(Connection& connection,
                         const std::string& flag = "--store");
absl::Status TakeSeat(Connection& connection,
                      const std::string& flag = "--store");

// Undoes an open transaction and gives the seat back, so that who comes next
// need not wait until the server has noticed that the connection is closed.
void LeaveSeat(Connection& connection, bool is_in_transaction);

// Returns the version of the tables; 0: there are none. The error is
// STORE_VERSION when they are of a later version or of somebody else.
absl::StatusOr<std::int64_t> ReadTablesVersion(
    Connection& connection, const std::string& flag = "--store");
// Makes the tables, or brings them up to date. The errors are the same. Nothing
// may have been queued on the connection.
absl::Status BringForward(Connection& connection,
                          const std::string& flag = "--store");

// Returns the version that this program writes.
std::int64_t NewestTables();

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_POSTGRES_SEAT_H_
