// SPDX-License-Identifier: Apache-2.0
//
// How a transaction begins, fails and ends; what it writes is in
// sqlite_writes.cc.
#include "storage/sqlite/sqlite_transaction.h"

#include <utility>

#include "base/failpoint.h"
#include "base/status_macros.h"
#include "storage/backend.h"
#include "storage/sqlite/row_codec.h"
#include "storage/sqlite/sql.h"
#include "storage/sqlite/sqlite_error.h"

namespace frostline::storage {

absl::Status SqliteTransaction::Start(Database& writer) {
  ASSIGN_OR_RETURN(Statement begin, writer.Prepare(sql::kBegin));
  return begin.Run();
}

SqliteTransaction::~SqliteTransaction() {
  if (over_) return;
  RollBack();
  store_.slot_.Give();
}

absl::StatusOr<Statement> SqliteTransaction::Prepare(std::string_view sql) {
  if (over_) return TransactionIsOver();
  RETURN_IF_ERROR(broken_);
  absl::StatusOr<Statement> statement = writer_.Prepare(sql);
  Note(statement.status()).IgnoreError();  // returned with the statement
  return statement;
}

absl::Status SqliteTransaction::Note(absl::Status status) {
  if (IsStoreFailure(status) && broken_.ok()) broken_ = status;
  return status;
}

absl::Status SqliteTransaction::Run(Statement& statement) {
  return Note(statement.Run());
}

absl::Status SqliteTransaction::RunPlain(std::string_view sql) {
  ASSIGN_OR_RETURN(Statement statement, Prepare(sql));
  return Run(statement);
}

absl::StatusOr<Epoch> SqliteTransaction::StoredLead() {
  ASSIGN_OR_RETURN(Statement find, Prepare(sql::kFindLead));
  const absl::StatusOr<bool> found = find.Step();
  RETURN_IF_ERROR(Note(found.status()));
  if (!*found) return Epoch{0};
  const absl::StatusOr<LeadRow> stored = ReadRow<LeadRow>(find);
  RETURN_IF_ERROR(Note(stored.status()));
  return stored->epoch;
}

absl::Status SqliteTransaction::CheckLead(Epoch epoch) {
  ASSIGN_OR_RETURN(const Epoch stored, StoredLead());
  const bool leads = epoch == stored && epoch > 0;
  return leads ? absl::OkStatus() : NotLeader(stored, epoch);
}

absl::StatusOr<Epoch> SqliteTransaction::RaiseLead() {
  ASSIGN_OR_RETURN(const Epoch stored, StoredLead());
  ASSIGN_OR_RETURN(Statement put, Prepare(sql::kPutLead));
  BindRow(LeadRow{.epoch = stored + 1}, put);
  RETURN_IF_ERROR(Run(put));
  return stored + 1;
}

absl::Status SqliteTransaction::Operation(
    absl::FunctionRef<absl::Status()> body) {
  RETURN_IF_ERROR(RunPlain(sql::kBeginOperation));
  absl::Status status = body();
  RETURN_IF_ERROR(broken_);  // the whole transaction is undone, later
  if (!status.ok()) RETURN_IF_ERROR(RunPlain(sql::kUndoOperation));
  RETURN_IF_ERROR(RunPlain(sql::kEndOperation));
  return status;
}

// SQLite may have rolled back already; asking twice would be an error that
// hides the first.
void SqliteTransaction::RollBack() {
  if (!writer_.InTransaction()) return;
  const absl::Status status = writer_.Execute(sql::kRollback);
  if (!status.ok()) store_.Failed(status);
}

absl::Status SqliteTransaction::Commit() {
  if (over_) return TransactionIsOver();
  FROSTLINE_FAILPOINT(kTransactionWritten);
  absl::Status status = RunPlain(sql::kCommit);
  FROSTLINE_FAILPOINT(kTransactionCommitted);
  // What was written to a file without a name is gone.
  if (status.ok()) status = store_.files_.Check();
  if (status.ok()) {
    store_.Committed();
  } else {
    RollBack();
    store_.Failed(status);
  }
  over_ = true;
  store_.slot_.Give();
  return status;
}

}  // namespace frostline::storage
