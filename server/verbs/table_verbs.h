// SPDX-License-Identifier: Apache-2.0
//
// File: table_verbs.h
//
// Trials by column: each column one packed array, so that a page or a data
// frame takes thousands of trials at once.
//
// A rate has few values: they are entries, and a trial has the byte that names
// its own. A score is a number for each trial. A bit for each row says whether
// it has a value.
#ifndef FROSTLINE_SERVER_VERBS_TABLE_VERBS_H_
#define FROSTLINE_SERVER_VERBS_TABLE_VERBS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "frostline/v1/study_service.pb.h"
#include "frostline/v1/trial_table.pb.h"
#include "google/protobuf/struct.pb.h"
#include "server/ledger/study_book.h"
#include "server/verbs/calls.h"
#include "storage/rows.h"
#include "storage/trial_store.h"

namespace frostline::server {

// One column while it grows.
class ColumnBuilder {
 public:
  // Levels are numbers of which few differ: they are sent as codes, unless more
  // than 256 differ.
  enum class Kind { kNumbers, kIntegers, kLevels, kWords };

  explicit ColumnBuilder(Kind kind) : kind_(kind) {}

  // Each sets the cell of a row, rows in rising order. A row that is left out
  // has no value.
  void SetNumber(std::size_t row, double value);
  void SetInteger(std::size_t row, std::int64_t value);
  void SetWord(std::size_t row, const google::protobuf::Value& value);
  void SetWord(std::size_t row, const std::string& text);

  // About how many bytes the column has so far.
  std::size_t bytes() const { return bytes_; }
  v1::TrialColumn Build(const std::string& name, std::size_t rows) const;

 private:
  void BeginRow(std::size_t row, std::size_t bytes);
  // Returns false where too many values differ.
  bool BuildLevels(v1::TrialColumn& column, std::size_t rows) const;

  const Kind kind_;
  std::vector<bool> present_;
  std::vector<double> numbers_;
  std::vector<std::int64_t> integers_;
  std::vector<std::uint32_t> codes_;
  std::vector<google::protobuf::Value> words_;
  std::unordered_map<std::string, std::uint32_t> code_of_;
  std::size_t bytes_ = 0;
};

// A table while it grows, with the columns that were asked for.
class TableBuilder {
 public:
  // The error is REQUEST_INVALID at "columns" for a name that there is not.
  // The study outlives it.
  static absl::StatusOr<TableBuilder> Of(
      const CheckedStudy& study,
      const google::protobuf::RepeatedPtrField<std::string>& columns);

  void Add(const storage::TrialRow& row);
  std::size_t rows() const { return rows_; }
  std::size_t bytes() const;
  v1::TrialTable Build() const;

 private:
  explicit TableBuilder(const CheckedStudy& study) : study_(&study) {}

  bool Wants(const std::string& name, std::string_view group) const;
  // Null when it was not asked for. Columns stand in the order in which they
  // came to have a cell.
  ColumnBuilder* Find(const std::string& name, std::string_view group,
                      ColumnBuilder::Kind kind);
  void AddFixed(const storage::TrialRow& row);
  void AddPoint(const storage::TrialRow& row);
  void AddUsage(const storage::TrialRow& row);

  const CheckedStudy* study_;
  std::set<std::string> asked_;  // empty: all but labels
  std::vector<std::pair<std::string, ColumnBuilder>> columns_;
  std::map<std::string, std::size_t> place_of_;
  std::size_t rows_ = 0;
};

// The verb GetTrialTable.
class TableVerb {
 public:
  TableVerb(Calls& calls, const storage::TrialStore& store)
      : calls_(calls), store_(store) {}

  void AddTo(VerbTable& table);

 private:
  absl::StatusOr<v1::GetTrialTableReply> GetTrialTable(
      const CallContext& caller, const StudyHandle& study,
      const v1::GetTrialTableRequest& request) const;

  Calls& calls_;
  const storage::TrialStore& store_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_VERBS_TABLE_VERBS_H_
