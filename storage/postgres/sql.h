// SPDX-License-Identifier: Apache-2.0
//
// File: sql.h
//
// Statements for PostgreSQL, made of a row's columns (row_columns.h), and the
// tables that they need.
#ifndef FROSTLINE_STORAGE_POSTGRES_SQL_H_
#define FROSTLINE_STORAGE_POSTGRES_SQL_H_

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "storage/row_columns.h"

namespace frostline::storage::postgres {

template <typename Columns>
void AddNames(const Columns& columns, std::vector<std::string>& names) {
  ForEachColumn(columns,
                [&](const auto& column) { names.push_back(column.name); });
}

template <typename Row>
std::vector<std::string> KeyNames() {
  std::vector<std::string> names;
  AddNames(RowColumns<Row>::kKey, names);
  return names;
}

// In the order in which a row is written (storage/row_codec.h).
template <typename Row>
std::vector<std::string> InsertedNames() {
  using Columns = RowColumns<Row>;
  std::vector<std::string> names;
  if (!Columns::kKeyIsGiven) AddNames(Columns::kKey, names);
  AddNames(Columns::kFixed, names);
  if (std::tuple_size_v<decltype(Columns::kFixed)> > 0) {
    names.push_back("fixed_crc");
  }
  AddNames(Columns::kChanging, names);
  names.push_back("crc");
  return names;
}

// "$1, $2, $3".
std::string Dollars(std::size_t count);

template <typename Row>
std::string Select(const std::string& tail) {
  std::vector<std::string> names;
  if (RowColumns<Row>::kKeyIsGiven) names = KeyNames<Row>();
  for (std::string& name : InsertedNames<Row>()) names.push_back(name);
  return absl::StrCat("SELECT ", absl::StrJoin(names, ", "), " FROM ",
                      RowColumns<Row>::kTable, tail);
}

// Writes the row if `condition` holds; none: always.
template <typename Row>
std::string InsertIf(const std::string& condition,
                     const std::string& on_conflict) {
  const std::vector<std::string> names = InsertedNames<Row>();
  return absl::StrCat("INSERT INTO ", RowColumns<Row>::kTable, " (",
                      absl::StrJoin(names, ", "), ") SELECT ",
                      Dollars(names.size()), condition.empty() ? "" : " WHERE ",
                      condition, " ON CONFLICT ", on_conflict);
}

// Writes a new row; leaves one that is there alone.
template <typename Row>
std::string Insert(const std::string& condition = "") {
  return InsertIf<Row>(condition, "DO NOTHING");
}

// Writes a row, whether or not there is one.
template <typename Row>
std::string Put(const std::string& condition = "") {
  std::vector<std::string> sets;
  for (const std::string& name : InsertedNames<Row>()) {
    sets.push_back(absl::StrCat(name, " = EXCLUDED.", name));
  }
  return InsertIf<Row>(
      condition, absl::StrCat("(", absl::StrJoin(KeyNames<Row>(), ", "),
                              ") DO UPDATE SET ", absl::StrJoin(sets, ", ")));
}

template <typename Row>
std::vector<std::string> ChangingNames() {
  std::vector<std::string> names;
  AddNames(RowColumns<Row>::kChanging, names);
  names.push_back("crc");
  return names;
}
template <typename Row>
std::size_t ChangingCount() {
  return ChangingNames<Row>().size();
}
// Replaces the columns that may change. `tail` counts its parameters from
// ChangingCount<Row>() + 1.
template <typename Row>
std::string Update(const std::string& tail) {
  std::vector<std::string> sets;
  for (const std::string& name : ChangingNames<Row>()) {
    sets.push_back(absl::StrCat(name, " = $", sets.size() + 1));
  }
  return absl::StrCat("UPDATE ", RowColumns<Row>::kTable, " SET ",
                      absl::StrJoin(sets, ", "), tail);
}

// Deletes up to $2 of the rows that `which` selects by $1.
template <typename Row>
std::string DeleteSome(const std::string& which) {
  const std::string key = absl::StrJoin(KeyNames<Row>(), ", ");
  const std::string table = RowColumns<Row>::kTable;
  return absl::StrCat("DELETE FROM ", table, " WHERE (", key, ") IN (SELECT ",
                      key, " FROM ", table, " WHERE ", which, " LIMIT $2)");
}

// A row belongs to a trial at this attempt or a later one; to a trial; to a
// study. Keys come first, so $1, $2 and $3 are theirs.
inline constexpr char kIfAttempt[] =
    "EXISTS (SELECT 1 FROM trials WHERE study = $1 AND number = $2 "
    "AND attempt >= $3)";
inline constexpr char kIfTrial[] =
    "EXISTS (SELECT 1 FROM trials WHERE study = $1 AND number = $2)";
inline constexpr char kIfStudy[] =
    "EXISTS (SELECT 1 FROM studies WHERE key = $1)";

// The lead's lock is held for a transaction: shared by whoever writes, alone by
// whoever takes the lead. The seat's is held for as long as a coordinator runs.
inline constexpr char kLockLead[] =
    "SELECT pg_advisory_xact_lock_shared(1179796564, 1)";
inline constexpr char kLockLeadAlone[] =
    "SELECT pg_advisory_xact_lock(1179796564, 1)";
inline constexpr char kTrySeat[] = "SELECT pg_try_advisory_lock(1179796564, 2)";
inline constexpr char kLeaveSeat[] = "SELECT pg_advisory_unlock(1179796564, 2)";
// Who has it, for people.
inline constexpr char kWhoHasSeat[] =
    "SELECT coalesce(host(client_addr), 'this machine') || ', connected since '"
    " || to_char(backend_start, 'YYYY-MM-DD HH24:MI:SS TZ') "
    "FROM pg_locks JOIN pg_stat_activity USING (pid) "
    "WHERE locktype = 'advisory' AND classid = 1179796564 AND objid = 2 "
    "AND granted LIMIT 1";

// Each takes the tables from one version to the next.
const std::vector<std::string>& SchemaSteps();
// The version of the first of them: earlier ones were SQLite's alone, and a
// version means the same columns in both.
inline constexpr std::int64_t kFirstVersion = 10;

}  // namespace frostline::storage::postgres

#endif  // FROSTLINE_STORAGE_POSTGRES_SQL_H_
