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
#include <string>
#include <string_view>
#include <vector>

#include "worker/trainer/data/dataset.h"
#include "worker/trainer/data/label_rules.h"
#include "worker/trainer/data/limits.h"
#include "worker/trainer/data/row_source.h"
#include "worker/trainer/data/text_form.h"

namespace frostline::trainer {

struct RowRoles;

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
