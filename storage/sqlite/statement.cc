// SPDX-License-Identifier: Apache-2.0
#include "storage/sqlite/statement.h"

#include <sqlite3.h>

#include "base/status_macros.h"
#include "storage/sqlite/sqlite_error.h"

namespace frostline::storage {

Statement::~Statement() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);  // repeats an error that Step() has told
  sqlite3_clear_bindings(statement_);
}

void Statement::Bound(int code) {
  ++bound_;
  if (code_ == SQLITE_OK) code_ = code;
}

void Statement::Int(std::int64_t value) {
  Bound(sqlite3_bind_int64(statement_, bound_ + 1, value));
}

void Statement::Text(const std::string& value) {
  Bound(sqlite3_bind_text64(statement_, bound_ + 1, value.data(), value.size(),
                            SQLITE_TRANSIENT, SQLITE_UTF8));
}

void Statement::Blob(const std::string& value) {
  Bound(sqlite3_bind_blob64(statement_, bound_ + 1, value.data(), value.size(),
                            SQLITE_TRANSIENT));
}

absl::StatusOr<bool> Statement::Step() {
  const bool bound = code_ == SQLITE_OK || code_ == SQLITE_ROW;
  if (bound) code_ = sqlite3_step(statement_);
  if (code_ == SQLITE_ROW) return true;
  if (code_ == SQLITE_DONE) return false;
  return SqliteError(sqlite3_db_handle(statement_), code_,
                     sqlite3_sql(statement_));
}

absl::Status Statement::Run() {
  ASSIGN_OR_RETURN(const bool row, Step());
  static_cast<void>(row);
  return absl::OkStatus();
}

std::int64_t Statement::changes() const {
  return sqlite3_changes64(sqlite3_db_handle(statement_));
}

std::int64_t Statement::IntAt(int column) const {
  return sqlite3_column_int64(statement_, column);
}

std::string Statement::BytesAt(int column) const {
  const void* const bytes = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  if (bytes == nullptr) return "";  // of an empty value, too
  return std::string(static_cast<const char*>(bytes),
                     static_cast<std::size_t>(size));
}

}  // namespace frostline::storage
