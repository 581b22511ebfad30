// SPDX-License-Identifier: Apache-2.0
//
// File: statement.h
//
//   ASSIGN_OR_RETURN(Statement statement, database.Prepare(kFindTrial));
//   statement.Int(study);
//   ASSIGN_OR_RETURN(const bool found, statement.Step());
//
// The end of a use resets it in its Database's cache. It is not thread-safe.
#ifndef FROSTLINE_STORAGE_SQLITE_STATEMENT_H_
#define FROSTLINE_STORAGE_SQLITE_STATEMENT_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct sqlite3_stmt;

namespace frostline::storage {

class Statement {
 public:
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  Statement(Statement&& other) noexcept
      : statement_(std::exchange(other.statement_, nullptr)),
        code_(other.code_),
        bound_(other.bound_) {}
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  // Each binds the next parameter. A failure shows in Step().
  void Int(std::int64_t value);
  void Text(const std::string& value);
  void Blob(const std::string& value);

  // Answers false when there are no more rows.
  absl::StatusOr<bool> Step();
  // Serves statements without rows.
  absl::Status Run();
  // Is SQLite's extended result of the last call.
  int code() const { return code_; }
  // Counts the rows changed by Run().
  std::int64_t changes() const;

  // Columns of the current row count from 0.
  std::int64_t IntAt(int column) const;
  std::string BytesAt(int column) const;  // of TEXT and BLOB

 private:
  void Bound(int code);

  sqlite3_stmt* statement_;
  int code_ = 0;
  int bound_ = 0;
};

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_SQLITE_STATEMENT_H_
