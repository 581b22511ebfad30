// SPDX-License-Identifier: Apache-2.0
#include "storage/postgres/seat.h"

#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "storage/postgres/libpq.h"
#include "storage/postgres/sql.h"

namespace frostline::storage {
namespace {

absl::Status CannotServe(const std::string& flag, const std::string& cause,
                         const std::string& fix) {
  return MakeError(ErrorId::kStoreUnwritable, cause, fix, flag);
}

// A password on a command line is everybody's.
absl::Status CheckUrl(const std::string& url, const std::string& flag) {
  ASSIGN_OR_RETURN(const Libpq* const libpq, LoadLibpq());
  char* message = nullptr;
  PQconninfoOption* const options =
      libpq->PQconninfoParse(url.c_str(), &message);
  if (options == nullptr) {
    const std::string why = message == nullptr ? "" : message;
    libpq->PQfreemem(message);
    return CannotServe(
        flag,
        absl::StrCat(flag, " cannot be read: ", why.substr(0, why.find('\n'))),
        "give postgres://USER@HOST/DATABASE");
  }
  bool has_password = false;
  for (const PQconninfoOption* one = options; one->keyword != nullptr; ++one) {
    has_password = has_password || (std::string(one->keyword) == "password" &&
                                    one->val != nullptr);
  }
  libpq->PQconninfoFree(options);
  return has_password
             ? CannotServe(
                   flag,
                   absl::StrCat(flag,
                                " has a password, which every user of this "
                                "machine could read"),
                   "leave it out and write it into ~/.pgpass, or name "
                   "such a file in PGPASSFILE")
             : absl::OkStatus();
}

}  // namespace

// Refuses what would make promises of ours hollow.
absl::Status CheckServer(Connection& connection, const std::string& flag) {
  ASSIGN_OR_RETURN(const std::string pid,
                   connection.ReadText("SELECT pg_backend_pid()"));
  if (pid != absl::StrCat(connection.backend_pid())) {
    return CannotServe(flag,
                       "there is a pooler between us and PostgreSQL: locks of "
                       "a session would be another's",
                       "name PostgreSQL's own address and port");
  }
  ASSIGN_OR_RETURN(const std::string replica,
                   connection.ReadText("SELECT pg_is_in_recovery()"));
  if (replica == "t") {
    return CannotServe(flag, "this server is a replica, which takes no writes",
                       "name the primary, or all of them with "
                       "target_session_attrs=read-write");
  }
  ASSIGN_OR_RETURN(const std::string syncs, connection.ReadText("SHOW fsync"));
  if (syncs == "on") return absl::OkStatus();
  return CannotServe(flag,
                     "this server has fsync = off: what is committed may be "
                     "lost with its machine",
                     "set fsync = on in its configuration");
}

absl::Status TakeSeat(Connection& connection, const std::string& flag) {
  ASSIGN_OR_RETURN(const std::string has_it,
                   connection.ReadText(postgres::kTrySeat));
  if (has_it == "t") return absl::OkStatus();
  const auto who = connection.ReadText(postgres::kWhoHasSeat);
  return MakeError(ErrorId::kStoreLocked,
                   absl::StrCat("another coordinator uses this database: ",
                                who.ok() && !who->empty() ? *who : "just now"),
                   "stop that one first; one coordinator writes at a time",
                   flag);
}

absl::StatusOr<std::unique_ptr<Connection>> ConnectAlone(
    const std::string& url, const std::string& flag) {
  RETURN_IF_ERROR(CheckUrl(url, flag));
  ASSIGN_OR_RETURN(std::unique_ptr<Connection> connection,
                   Connection::Open(url));
  RETURN_IF_ERROR(CheckServer(*connection, flag));
  absl::Status seat = TakeSeat(*connection, flag);
  // The server may not have noticed yet that whoever had it has ended.
  for (int i = 0; i < 10 && HasErrorId(seat, ErrorId::kStoreLocked); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    seat = TakeSeat(*connection, flag);
  }
  RETURN_IF_ERROR(seat);
  return connection;
}

void LeaveSeat(Connection& connection, bool is_in_transaction) {
  // A connection that is lost has neither; each error is of such a one, or was
  // told before.
  connection.Settle().IgnoreError();
  if (!connection.IsAlive()) return;
  if (is_in_transaction) connection.Ask("ROLLBACK", {}).status().IgnoreError();
  connection.Ask(postgres::kLeaveSeat, {}).status().IgnoreError();
}

namespace {

absl::Status WrongTables(const std::string& flag, const std::string& cause) {
  return MakeError(ErrorId::kStoreVersion, cause,
                   "use the Frostline that wrote it, or a newer one; or name "
                   "another database",
                   flag);
}

}  // namespace

std::int64_t NewestTables() {
  return postgres::kFirstVersion +
         static_cast<std::int64_t>(postgres::SchemaSteps().size()) - 1;
}

absl::StatusOr<std::int64_t> ReadTablesVersion(Connection& connection,
                                               const std::string& flag) {
  ASSIGN_OR_RETURN(
      const std::string tables,
      connection.ReadText("SELECT count(*) FROM pg_class JOIN pg_namespace n "
                          "ON n.oid = relnamespace "
                          "WHERE nspname = 'frostline' AND relkind = 'r'"));
  if (tables == "0") return 0;
  ASSIGN_OR_RETURN(
      const std::string ours,
      connection.ReadText("SELECT to_regclass('frostline.schema_version')"));
  if (ours.empty()) {
    return WrongTables(flag,
                       "the schema `frostline` of this database is somebody "
                       "else's");
  }
  ASSIGN_OR_RETURN(
      const std::string stored,
      connection.ReadText("SELECT version FROM frostline.schema_version"));
  std::int64_t version = 0;
  if (!absl::SimpleAtoi(stored, &version)) {
    return WrongTables(flag, "frostline.schema_version is empty");
  }
  if (version < postgres::kFirstVersion || version > NewestTables()) {
    return WrongTables(flag,
                       absl::StrCat("the tables have version ", version,
                                    ", this program knows ", NewestTables()));
  }
  return version;
}

absl::Status BringForward(Connection& connection, const std::string& flag) {
  const auto& steps = postgres::SchemaSteps();
  const std::int64_t newest = NewestTables();
  ASSIGN_OR_RETURN(std::int64_t version, ReadTablesVersion(connection, flag));
  for (; version < newest; ++version) {
    const bool is_first = version == 0;
    if (is_first) version = postgres::kFirstVersion - 1;
    const std::string note =
        is_first ? "CREATE TABLE schema_version (version BIGINT NOT NULL);"
                   "INSERT INTO schema_version VALUES ("
                 : "UPDATE schema_version SET version = (";
    // Several statements at once are one transaction.
    RETURN_IF_ERROR(connection.Execute(absl::StrCat(
        "CREATE SCHEMA IF NOT EXISTS frostline;",
        steps[static_cast<std::size_t>(version + 1 - postgres::kFirstVersion)],
        note, version + 1, ")")));
  }
  return absl::OkStatus();
}

}  // namespace frostline::storage
