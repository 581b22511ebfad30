// SPDX-License-Identifier: Apache-2.0
#include "storage/copy.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "base/plain/sums.h"
#include "storage/row_codec.h"
#include "storage/trial_store.h"

namespace frostline::storage {
namespace {

constexpr ColumnKind StoredKind(ColumnKind kind) {
  if (kind == ColumnKind::kLaterText) return ColumnKind::kText;
  if (kind == ColumnKind::kLaterBlob) return ColumnKind::kBlob;
  return kind;
}

template <typename Columns>
void AddColumns(const Columns& columns, StoredTable& table) {
  ForEachColumn(columns, [&]<ColumnKind kind, typename Row, typename Value>(
                             const Column<kind, Row, Value>& column) {
    table.columns.push_back({column.name, StoredKind(kind)});
  });
}

template <typename Row>
StoredTable TableOf() {
  using Columns = RowColumns<Row>;
  StoredTable table{.name = Columns::kTable, .columns = {}};
  AddColumns(Columns::kKey, table);
  table.key_columns = table.columns.size();
  if constexpr (kHasFixed<Row>) {
    AddColumns(Columns::kFixed, table);
    table.columns.push_back({"fixed_crc", ColumnKind::kInt});
  }
  AddColumns(Columns::kChanging, table);
  table.columns.push_back({"crc", ColumnKind::kInt});
  table.check = [](const StoredRow& row) {
    return ReadSealed<Row>(row).status();
  };
  return table;
}

std::vector<std::string> NamesOf(const StoredTable& table, std::size_t count) {
  std::vector<std::string> names;
  names.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    names.push_back(table.columns[i].name);
  }
  return names;
}

}  // namespace

const std::vector<StoredTable>& StoredTables() {
  static const auto* const tables = new std::vector<StoredTable>{
      TableOf<StudyRow>(),        TableOf<TrialRow>(),
      TableOf<AttemptRow>(),      TableOf<MeasurementRow>(),
      TableOf<OutcomeRow>(),      TableOf<LogRow>(),
      TableOf<SummaryRow>(),      TableOf<BestRow>(),
      TableOf<WorkerRow>(),       TableOf<TokenRow>(),
      TableOf<CertificateRow>(),  TableOf<AuditRow>(),
      TableOf<NotificationRow>(), TableOf<ReplyRow>(),
      TableOf<LeadRow>()};
  return *tables;
}

std::string SelectStored(const StoredTable& table) {
  return absl::StrCat("SELECT ",
                      absl::StrJoin(NamesOf(table, table.columns.size()), ", "),
                      " FROM ", table.name, " ORDER BY ",
                      absl::StrJoin(NamesOf(table, table.key_columns), ", "));
}

std::string InsertStored(const StoredTable& table, char mark) {
  std::vector<std::string> parameters;
  for (std::size_t i = 1; i <= table.columns.size(); ++i) {
    parameters.push_back(absl::StrCat(std::string(1, mark), i));
  }
  return absl::StrCat("INSERT INTO ", table.name, " (",
                      absl::StrJoin(NamesOf(table, table.columns.size()), ", "),
                      ") VALUES (", absl::StrJoin(parameters, ", "), ")");
}

std::string DescribeKey(const StoredTable& table, const StoredRow& row) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < table.key_columns; ++i) {
    const auto at = static_cast<int>(i);
    const StoredColumn& column = table.columns[i];
    parts.push_back(column.kind == ColumnKind::kInt
                        ? absl::StrCat(column.name, " ", row.IntAt(at))
                        : absl::StrCat(column.name, " ", row.BytesAt(at)));
  }
  return absl::StrJoin(parts, ", ");
}

namespace {

// A digest, as a target of PutStored().
class Digest {
 public:
  void Int(std::int64_t value) {
    sum_.AddNumber(static_cast<std::uint64_t>(value));
  }
  void Text(const std::string& value) { sum_.AddField(value); }
  void Blob(const std::string& value) { sum_.AddField(value); }
  std::string Finish() { return sum_.Finish(); }

 private:
  Sha256Sum sum_;
};

// Reads a table to its end; `also` gets each row.
absl::StatusOr<CopiedTable> ReadTable(
    CopySource& side, const StoredTable& table,
    absl::FunctionRef<absl::Status(const StoredRow&)> also) {
  CopiedTable read;
  read.name = table.name;
  Digest digest;
  RETURN_IF_ERROR(side.ReadRows(table, [&](const StoredRow& row) {
    ++read.rows;
    PutStored(table, row, digest);
    return also(row);
  }));
  read.digest = digest.Finish();
  // Says whether the reading left any out.
  ASSIGN_OR_RETURN(const std::int64_t rows, side.CountRows(table));
  if (rows == read.rows) return read;
  return StoreCorrupt(absl::StrCat(table.name, " has ", rows, " rows, and ",
                                   read.rows, " could be read"));
}

absl::StatusOr<CopiedTable> CopyTable(CopySource& source,
                                      const StoredTable& table,
                                      CopyTarget& target) {
  return ReadTable(source, table, [&](const StoredRow& row) -> absl::Status {
    RETURN_IF_ERROR(table.check(row));
    return target.WriteRow(table, row);
  });
}

absl::Status CopyDiffers(const std::string& cause) {
  return MakeError(ErrorId::kStoreCorrupt,
                   absl::StrCat("the copy is not what its source is: ", cause,
                                "; nothing of it was kept"),
                   "copy again; if it happens again, report it, and look at "
                   "both disks");
}

std::string DescribeTable(const CopiedTable& table) {
  return absl::StrCat(table.rows, " rows, digest ", table.digest);
}

absl::Status CompareTables(const CopiedTable& source,
                           const CopiedTable& target) {
  if (source.rows == target.rows && source.digest == target.digest) {
    return absl::OkStatus();
  }
  return CopyDiffers(absl::StrCat(source.name, " has ", DescribeTable(target),
                                  " instead of ", DescribeTable(source)));
}

// Finds what StoredTables() leaves out: it would be lost without a word.
absl::Status CheckColumns(CopySource& side) {
  std::set<std::string> known;
  for (const StoredTable& table : StoredTables()) {
    for (const StoredColumn& column : table.columns) {
      known.insert(absl::StrCat(table.name, ".", column.name));
    }
  }
  ASSIGN_OR_RETURN(const std::set<std::string> found, side.ColumnNames());
  std::vector<std::string> differ;
  std::ranges::set_symmetric_difference(known, found,
                                        std::back_inserter(differ));
  if (differ.empty()) return absl::OkStatus();
  return MakeError(
      ErrorId::kInternal,
      absl::StrCat("columns that a copy would lose: ",
                   absl::StrJoin(differ, ", ")),
      "this is a bug in Frostline, or somebody changed the tables: "
      "report it");
}

}  // namespace

absl::StatusOr<CopyReport> CopyAll(CopySource& source, CopyTarget& target) {
  RETURN_IF_ERROR(CheckColumns(source));
  RETURN_IF_ERROR(CheckColumns(target));
  CopyReport report;
  for (const StoredTable& table : StoredTables()) {
    ASSIGN_OR_RETURN(CopiedTable copied, CopyTable(source, table, target));
    report.rows += copied.rows;
    report.tables.push_back(std::move(copied));
  }
  ASSIGN_OR_RETURN(const StudyKey last, source.LastStudyKey());
  RETURN_IF_ERROR(target.WriteLastStudyKey(last));
  RETURN_IF_ERROR(target.EndWriting());
  std::size_t at = 0;
  for (const StoredTable& table : StoredTables()) {
    ASSIGN_OR_RETURN(const CopiedTable written,
                     ReadTable(target, table, [](const StoredRow&) {
                       return absl::OkStatus();
                     }));
    RETURN_IF_ERROR(CompareTables(report.tables[at++], written));
  }
  ASSIGN_OR_RETURN(const StudyKey written, target.LastStudyKey());
  if (written != last) {
    return CopyDiffers(absl::StrCat("the last key of a study is ", written,
                                    " instead of ", last));
  }
  RETURN_IF_ERROR(target.Commit());
  return report;
}

absl::Status NothingToCopy(const std::string& where, const std::string& fix) {
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("there is no database of Frostline in ", where),
                   fix, "--copy-from");
}

absl::Status OlderTables(const std::string& where, std::int64_t version,
                         std::int64_t newest) {
  return MakeError(ErrorId::kStoreVersion,
                   absl::StrCat(where, " has version ", version,
                                ", this program copies ", newest),
                   "start a coordinator on it once, which brings it forward, "
                   "and stop it",
                   "--copy-from");
}

}  // namespace frostline::storage
