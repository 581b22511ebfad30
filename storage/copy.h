// SPDX-License-Identifier: Apache-2.0
//
// File: copy.h
//
// Copies a database to another one, whatever their engines, and proves that
// both hold the same.
//
// Rows are taken with their seals as they are stored; each seal is checked on
// the way. A table's digest is the SHA-256 of its rows by rising key: of each
// column eight bytes, little endian, for a number; for anything else its length
// as such a number, then its bytes. So it does not depend on the engine. The
// target is read again for it, before anything of the copy may be used.
#ifndef FROSTLINE_STORAGE_COPY_H_
#define FROSTLINE_STORAGE_COPY_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/row_columns.h"
#include "storage/rows.h"

namespace frostline::storage {

// A row of any table, with its seals: the target and the source of
// row_codec.h.
class StoredRow {
 public:
  void Int(std::int64_t value) { values_.emplace_back(value); }
  void Text(const std::string& value) { values_.emplace_back(value); }
  void Blob(const std::string& value) { values_.emplace_back(value); }

  std::int64_t IntAt(int column) const {
    return std::get<std::int64_t>(values_[static_cast<std::size_t>(column)]);
  }
  const std::string& BytesAt(int column) const {
    return std::get<std::string>(values_[static_cast<std::size_t>(column)]);
  }

 private:
  std::vector<std::variant<std::int64_t, std::string>> values_;
};

// A column; a later one is of the kind that it is stored as.
struct StoredColumn {
  std::string name;
  ColumnKind kind = ColumnKind::kInt;  // or kText, or kBlob
};

// A table, as all engines have it.
struct StoredTable {
  std::string name;
  std::vector<StoredColumn> columns;  // in the order of row_codec.h
  std::size_t key_columns = 0;        // the first so many
  // Checks the seals. The error is STORE_CORRUPT and names the row.
  absl::Status (*check)(const StoredRow& row) = nullptr;
};

// Returns all tables; rows of one refer to rows of earlier ones only.
const std::vector<StoredTable>& StoredTables();

// Adds each column to `target`, by its Int(), Text() and Blob().
template <typename Target>
void PutStored(const StoredTable& table, const StoredRow& row, Target& target) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const auto at = static_cast<int>(i);
    switch (table.columns[i].kind) {
      case ColumnKind::kInt:
        target.Int(row.IntAt(at));
        break;
      case ColumnKind::kText:
        target.Text(row.BytesAt(at));
        break;
      default:
        target.Blob(row.BytesAt(at));
    }
  }
}

// Reads a row from `source`, by its IntAt() and BytesAt().
template <typename Source>
StoredRow TakeStored(const StoredTable& table, const Source& source) {
  StoredRow row;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const auto at = static_cast<int>(i);
    if (table.columns[i].kind == ColumnKind::kInt) {
      row.Int(source.IntAt(at));
    } else {
      row.Blob(source.BytesAt(at));
    }
  }
  return row;
}

// Statements: all rows by rising key; one row. `mark` is what stands before the
// number of a parameter.
std::string SelectStored(const StoredTable& table);
std::string InsertStored(const StoredTable& table, char mark);
// Returns the key for people: "study 1, number 17".
std::string DescribeKey(const StoredTable& table, const StoredRow& row);

// A database that nobody else uses while this lives. Not thread-safe.
class CopySource {
 public:
  virtual ~CopySource() = default;

  // Returns "trials.number" and so on, of all tables that the database has.
  virtual absl::StatusOr<std::set<std::string>> ColumnNames() = 0;
  virtual absl::StatusOr<std::int64_t> CountRows(const StoredTable& table) = 0;
  // Visits all rows by rising key, and ends with the first error of `visit`.
  // All calls see the same rows.
  virtual absl::Status ReadRows(
      const StoredTable& table,
      absl::FunctionRef<absl::Status(const StoredRow&)> visit) = 0;
  // Returns the last key that was given to a study, which may be gone by now;
  // 0: none.
  virtual absl::StatusOr<StudyKey> LastStudyKey() = 0;
};

// The other one: first all is written, then it is read, then it is kept. An
// object that ends before Commit(), or with its process, leaves nothing.
class CopyTarget : public CopySource {
 public:
  virtual absl::Status WriteRow(const StoredTable& table,
                                const StoredRow& row) = 0;
  virtual absl::Status WriteLastStudyKey(StudyKey key) = 0;
  // From now on the calls of CopySource read what was written.
  virtual absl::Status EndWriting() = 0;
  // When the result is OK the copy is durable.
  virtual absl::Status Commit() = 0;
};

// What one table holds, on both sides.
struct CopiedTable {
  std::string name;
  std::int64_t rows = 0;
  std::string digest;
};

// What was copied.
struct CopyReport {
  std::vector<CopiedTable> tables;
  std::int64_t rows = 0;
};

// Copies everything. The error is STORE_CORRUPT when a row of the source is
// damaged (it is named) or when the target then holds anything else, INTERNAL
// when a database has tables or columns of which StoredTables() does not know,
// and else one of the two sides'; nothing is kept after any of them.
absl::StatusOr<CopyReport> CopyAll(CopySource& source, CopyTarget& target);

// The refusals that both engines have.
absl::Status NothingToCopy(const std::string& where, const std::string& fix);
absl::Status OlderTables(const std::string& where, std::int64_t version,
                         std::int64_t newest);

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_COPY_H_
