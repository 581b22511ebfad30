// SPDX-License-Identifier: Apache-2.0
#include "storage/postgres/copy.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "storage/postgres/connection.h"
#include "storage/postgres/seat.h"
#include "storage/postgres/sql.h"
#include "storage/trial_store.h"

namespace frostline::storage {
namespace {

// A row may have a mebibyte, and these are in memory at once.
constexpr int kRowsAtOnce = 100;

// The other side may take its time. A server still ends the transaction of a
// machine that is gone.
constexpr char kPatience[] =
    "SET statement_timeout = 0;"
    "SET idle_in_transaction_session_timeout = '15min'";

// The reading side: a source's, and a target's of what was written.
template <typename Side>
class PostgresReading : public Side {
 public:
  explicit PostgresReading(std::unique_ptr<Connection> connection)
      : connection_(std::move(connection)) {}
  ~PostgresReading() override { LeaveSeat(*connection_, !has_ended_); }

  absl::StatusOr<std::set<std::string>> ColumnNames() override {
    ASSIGN_OR_RETURN(
        const Answer answer,
        connection_->Ask(
            "SELECT convert_to(relname || '.' || attname, 'UTF8') "
            "FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid "
            "WHERE relnamespace = 'frostline'::regnamespace "
            "AND relkind = 'r' AND attnum > 0 AND NOT attisdropped "
            "AND relname <> 'schema_version'",
            {}));
    std::set<std::string> names;
    for (int i = 0; i < answer.rows(); ++i) names.insert(answer.BytesAt(i, 0));
    return names;
  }

  absl::StatusOr<std::int64_t> CountRows(const StoredTable& table) override {
    ASSIGN_OR_RETURN(
        const Answer answer,
        connection_->Ask(absl::StrCat("SELECT count(*) FROM ", table.name),
                         {}));
    return answer.IntAt(0, 0);
  }

  absl::Status ReadRows(
      const StoredTable& table,
      absl::FunctionRef<absl::Status(const StoredRow&)> visit) override {
    const std::string cursor = absl::StrCat("rows_of_", table.name);
    connection_->Queue(
        absl::StrCat("DECLARE ", cursor, " NO SCROLL CURSOR FOR ",
                     SelectStored(table)),
        {});
    const std::string fetch =
        absl::StrCat("FETCH ", kRowsAtOnce, " FROM ", cursor);
    while (true) {
      ASSIGN_OR_RETURN(const Answer answer, connection_->Ask(fetch, {}));
      for (int i = 0; i < answer.rows(); ++i) {
        RETURN_IF_ERROR(visit(TakeStored(table, RowSource{answer, i})));
      }
      if (answer.rows() < kRowsAtOnce) break;
    }
    return connection_->Ask(absl::StrCat("CLOSE ", cursor), {}).status();
  }

  absl::StatusOr<StudyKey> LastStudyKey() override {
    ASSIGN_OR_RETURN(
        const Answer answer,
        connection_->Ask(
            "SELECT last_value - CASE WHEN is_called THEN 0 ELSE 1 END "
            "FROM studies_key_seq",
            {}));
    return answer.IntAt(0, 0);
  }

 protected:
  std::unique_ptr<Connection> connection_;
  bool has_ended_ = false;  // the transaction in which all of it happens
};

using PostgresCopySource = PostgresReading<CopySource>;

class PostgresCopyTarget final : public PostgresReading<CopyTarget> {
 public:
  using PostgresReading::PostgresReading;

  absl::Status WriteRow(const StoredTable& table,
                        const StoredRow& row) override {
    Parameters parameters;
    PutStored(table, row, parameters);
    connection_->Queue(InsertStored(table, '$'), std::move(parameters));
    return connection_->IsFull() ? connection_->Settle() : absl::OkStatus();
  }

  // A sequence that is restarted so comes back with the transaction's end;
  // setval() would stay.
  absl::Status WriteLastStudyKey(StudyKey key) override {
    connection_->Queue(
        absl::StrCat("ALTER TABLE studies ALTER COLUMN key RESTART WITH ",
                     key + 1),
        {});
    return absl::OkStatus();
  }

  absl::Status EndWriting() override { return connection_->Settle(); }

  absl::Status Commit() override {
    RETURN_IF_ERROR(connection_->Ask("COMMIT", {}).status());
    has_ended_ = true;
    return absl::OkStatus();
  }
};

absl::Status CheckNoRows(Connection& connection) {
  for (const StoredTable& table : StoredTables()) {
    ASSIGN_OR_RETURN(const std::string found,
                     connection.ReadText(absl::StrCat(
                         "SELECT EXISTS (SELECT 1 FROM ", table.name, ")")));
    if (found == "f") continue;
    return MakeError(ErrorId::kStoreUnwritable,
                     absl::StrCat(connection.Describe(), " has rows in ",
                                  table.name, ", and a copy replaces nothing"),
                     "name an empty database; or remove what is there with "
                     "DROP SCHEMA frostline CASCADE, if nobody needs it",
                     "--copy-to");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<CopySource>> OpenPostgresToCopy(
    const std::string& url) {
  constexpr char kFlag[] = "--copy-from";
  ASSIGN_OR_RETURN(std::unique_ptr<Connection> connection,
                   ConnectAlone(url, kFlag));
  ASSIGN_OR_RETURN(const std::int64_t version,
                   ReadTablesVersion(*connection, kFlag));
  if (version == 0) {
    return NothingToCopy(
        connection->Describe(),
        "name the database that a coordinator has with --store");
  }
  if (version < NewestTables()) {
    return OlderTables(connection->Describe(), version, NewestTables());
  }
  RETURN_IF_ERROR(connection->Execute(kPatience));
  RETURN_IF_ERROR(connection->Execute(
      "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"));
  return std::make_unique<PostgresCopySource>(std::move(connection));
}

absl::StatusOr<std::unique_ptr<CopyTarget>> BeginPostgresCopy(
    const std::string& url) {
  constexpr char kFlag[] = "--copy-to";
  ASSIGN_OR_RETURN(std::unique_ptr<Connection> connection,
                   ConnectAlone(url, kFlag));
  RETURN_IF_ERROR(connection->Execute(kPatience));
  RETURN_IF_ERROR(connection->Execute("BEGIN"));
  Connection& begun = *connection;
  auto target = std::make_unique<PostgresCopyTarget>(std::move(connection));
  RETURN_IF_ERROR(begun.Execute(postgres::kLockLeadAlone));
  RETURN_IF_ERROR(BringForward(begun, kFlag));
  RETURN_IF_ERROR(CheckNoRows(begun));
  return target;
}

}  // namespace frostline::storage
