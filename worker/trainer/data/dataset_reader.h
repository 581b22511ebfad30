// SPDX-License-Identifier: Apache-2.0
//
// File: dataset_reader.h
//
// Makes rows examples of a task. The first that does not fit is a fault that
// names file, line and fix.
#ifndef FROSTLINE_WORKER_TRAINER_DATA_DATASET_READER_H_
#define FROSTLINE_WORKER_TRAINER_DATA_DATASET_READER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/plain/result.h"
#include "base/plain/text.h"
#include "worker/trainer/data/dataset.h"
#include "worker/trainer/data/limits.h"
#include "worker/trainer/data/row_source.h"

namespace frostline::trainer {

// Makes the labels of one set those of another: renames, merges and drops them.
//
//   {"0": neg, "1": pos}, drop neutral:  0 -> neg, neutral -> nothing, pos ->
//   pos

struct LabelRules {
  std::map<std::string, std::string, std::less<>> names;
  std::set<std::string, std::less<>> dropped;

  bool any() const { return !names.empty() || !dropped.empty(); }
  // Nothing where the label is dropped.
  std::optional<std::string_view> Apply(std::string_view label) const;
  // Says whether a rule is of this label.
  bool Has(std::string_view label) const {
    return names.contains(label) || dropped.contains(label);
  }

  friend bool operator==(const LabelRules&, const LabelRules&) = default;
};

// One after the other: a set's own, then the study's.
using LabelChain = std::vector<LabelRules>;
std::optional<std::string_view> Apply(const LabelChain& chain,
                                      std::string_view label);

// What becomes of a set's declared labels, each once, in their order.
std::vector<std::string> Apply(const LabelChain& chain,
                               const std::vector<std::string>& labels);

// Returns kMisuse, naming `where`, for a label that is mapped and dropped.
Expected<Done> Check(const LabelRules& rules, const std::string& where);

struct RowRoles {
  std::map<std::string, std::size_t, std::less<>> index;
  std::vector<std::string> columns;

  // It is null when no column has the role.
  const Cell* Find(const Row& row, std::string_view role) const {
    const auto found = index.find(role);
    return found == index.end() ? nullptr : &row.cells[found->second];
  }
  // REQUIRES: a column has the role.
  std::string ColumnOf(std::string_view role) const {
    return "column " + Shown(columns[index.find(role)->second]);
  }
};

// Returns the items of a list, or the words between the blanks of a text.
void ItemsOf(const Cell& cell, std::vector<std::string_view>& items);

// CoNLL-U writes "_" for "nothing here".
inline bool IsNoTag(std::string_view tag) { return tag.empty() || tag == "_"; }

// It leads from roles (text, second, label, weight; words, tags, weight) to
// columns.
using ColumnMap = std::map<std::string, std::string>;

ColumnMap DefaultColumns(TaskKind task, FileFormat::Kind kind);

// Returns kMisuse when `task` does not know a role.
Expected<Done> CheckRoles(TaskKind task, const ColumnMap& columns);

class DatasetReader {
 public:
  explicit DatasetReader(TaskKind task) : task_(task) {}

  // Allows only these, in this order, instead of the file's own, sorted.
  DatasetReader& WithLabels(const LabelSet& labels);
  // Leaves out and counts rows without a label, otherwise a fault.
  DatasetReader& SkipUnlabelled();
  DatasetReader& WithoutLabels();

  // Texts and words are read in this form.
  DatasetReader& WithForm(const TextForm& form);
  // Labels go by these names; rows of a dropped label are left out, words of
  // one have none. WithLabels() are names of afterwards.
  DatasetReader& WithLabelRules(LabelChain rules);

  // A row beyond so many, kMaxRows at most, is a fault.
  DatasetReader& WithMostRows(std::size_t rows);

  // Asked before each row.
  DatasetReader& WithStop(const StopSign& stop);

  // `columns` go before the defaults. An empty file is a fault.
  Expected<Dataset> Read(InputFile file, const FileFormat& format,
                         const ColumnMap& columns) const;

  // Some rows of a file, in its order; they end with the call.
  using Look = std::function<void(const Dataset& some)>;
  // Reads and judges as Read() does and keeps no row, so that a file of any
  // size takes a few mebibytes. Classes are numbered as they are met.
  Expected<Done> Scan(InputFile file, const FileFormat& format,
                      const ColumnMap& columns, const Look& look) const;

 private:
  Expected<Dataset> Run(InputFile file, const FileFormat& format,
                        const ColumnMap& columns, const Look& look) const;
  bool LacksLabel(const Row& row, const RowRoles& roles) const;
  Expected<Done> AddRow(const RowSource& source, const Row& row,
                        const RowRoles& roles, TextShaper& shaper,
                        Dataset& data) const;
  Expected<Done> AddWords(const RowSource& source, const Row& row,
                          const RowRoles& roles, TextShaper& shaper,
                          Dataset& data) const;
  Expected<Done> AddText(const RowSource& source, const Row& row,
                         const RowRoles& roles, TextShaper& shaper,
                         Dataset& data) const;
  // Says what a label is called here, and notes that a rule was of it.
  std::optional<std::string_view> Named(std::string_view label,
                                        Dataset& data) const;
  bool IsDropped(const Row& row, const RowRoles& roles, Dataset& data) const;
  Expected<std::int32_t> LabelOf(const RowSource& source, std::string_view name,
                                 Dataset& data) const;
  void SortLabels(Dataset& data) const;

  TaskKind task_;
  std::optional<LabelSet> labels_;
  std::size_t most_rows_ = kMaxRows;
  StopSign stop_;
  TextForm form_;
  LabelChain rules_;
  bool labelled_ = true;
  bool skip_unlabelled_ = false;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DATA_DATASET_READER_H_
