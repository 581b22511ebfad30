// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/dataset_reader.h"

#include <algorithm>
#include <utility>

#include "base/plain/text.h"
#include "worker/trainer/data/row_roles.h"

namespace frostline::trainer {
namespace {

constexpr std::size_t kScanned = 1'024;  // rows that a scan holds at a time

}  // namespace

DatasetReader& DatasetReader::WithLabels(const LabelSet& labels) {
  labels_ = labels;
  return *this;
}

DatasetReader& DatasetReader::SkipUnlabelled() {
  skip_unlabelled_ = true;
  return *this;
}

DatasetReader& DatasetReader::WithForm(const TextForm& form) {
  form_ = form;
  return *this;
}

DatasetReader& DatasetReader::WithLabelRules(LabelChain rules) {
  rules_ = std::move(rules);
  return *this;
}

DatasetReader& DatasetReader::WithMostRows(std::size_t rows) {
  most_rows_ = std::min(rows, kMaxRows);
  return *this;
}

DatasetReader& DatasetReader::WithStop(const StopSign& stop) {
  stop_ = stop;
  return *this;
}

DatasetReader& DatasetReader::WithoutLabels() {
  labelled_ = false;
  return *this;
}

Expected<Dataset> DatasetReader::Read(InputFile file, const FileFormat& format,
                                      const ColumnMap& columns) const {
  return Run(std::move(file), format, columns, nullptr);
}

Expected<Done> DatasetReader::Scan(InputFile file, const FileFormat& format,
                                   const ColumnMap& columns,
                                   const Look& look) const {
  Expected<Dataset> rest = Run(std::move(file), format, columns, look);
  if (!rest.ok()) return rest.fault();
  if (rest.value().size() > 0) look(rest.value());
  return Done{};
}

// With `look` what it returns are the last rows alone.
Expected<Dataset> DatasetReader::Run(InputFile file, const FileFormat& format,
                                     const ColumnMap& columns,
                                     const Look& look) const {
  if (Expected<Done> known = CheckRoles(task_, columns); !known.ok()) {
    return known.fault();
  }
  ColumnMap all = columns;
  all.merge(DefaultColumns(task_, format.kind));
  if (!labelled_) all.erase(task_ == TaskKind::kTagging ? "tags" : "label");
  RowRoles roles;
  for (const auto& [role, column] : all) {
    roles.index[role] = roles.columns.size();
    roles.columns.push_back(column);
  }
  const std::string name = file.name();
  auto source = OpenRows(std::move(file), format, roles.columns);
  if (!source.ok()) return source.fault();

  Dataset data(task_);
  data.labelled_ = labelled_;
  data.form_ = form_;
  data.is_pair_ = all.contains("second");
  if (labels_) data.labels_ = *labels_;
  Row row;
  TextShaper shaper(form_);
  std::size_t looked_at = 0;
  while (true) {
    if (look && data.size() == kScanned) {
      look(data);
      looked_at += data.size();
      data.ForgetRows();
    }
    if (Expected<Done> wanted = stop_.Check(); !wanted.ok()) {
      return wanted.fault();
    }
    Expected<bool> more = source.value()->Next(row);
    if (!more.ok()) return more.fault();
    if (!more.value()) break;
    if (looked_at + data.size() == most_rows_ ||
        data.words_.size() > kMaxWords) {
      return source.value()->Here(FaultKind::kTooLarge,
                                  "is beyond the " +
                                      std::to_string(looked_at + data.size()) +
                                      " rows that a split may have",
                                  "split the file, or take a part of it");
    }
    Expected<Done> added = AddRow(*source.value(), row, roles, shaper, data);
    if (!added.ok()) return added.fault();
  }
  if (looked_at + data.size() == 0 && data.dropped_ > 0) {
    return Fault{FaultKind::kMisuse,
                 name + ": all of its " + std::to_string(data.dropped_) +
                     " rows have labels that data.drop_labels drops",
                 "drop fewer labels"};
  }
  if (looked_at + data.size() == 0) {
    return Fault{FaultKind::kInconsistent, name + ": has no rows",
                 "give a file with at least one row"};
  }
  if (!look) SortLabels(data);
  return data;
}

bool DatasetReader::LacksLabel(const Row& row, const RowRoles& roles) const {
  const bool tagging = task_ == TaskKind::kTagging;
  const Cell* cell = roles.Find(row, tagging ? "tags" : "label");
  if (cell == nullptr) return false;
  if (!cell->present) return true;
  if (!tagging) return Trimmed(cell->text).empty();
  std::vector<std::string_view> tags;
  ItemsOf(*cell, tags);
  return std::any_of(tags.begin(), tags.end(), IsNoTag);
}

Expected<Done> DatasetReader::AddRow(const RowSource& source, const Row& row,
                                     const RowRoles& roles, TextShaper& shaper,
                                     Dataset& data) const {
  if (skip_unlabelled_ && LacksLabel(row, roles)) {
    ++data.skipped_;
    return Done{};
  }
  for (const auto& [role, index] : roles.index) {
    if (row.cells[index].present) continue;
    return source.Here(
        FaultKind::kInconsistent, "has nothing in " + roles.ColumnOf(role),
        "give every row a value, or name another column for " + role);
  }
  if (IsDropped(row, roles, data)) {
    ++data.dropped_;
    return Done{};
  }
  data.examples_.emplace_back();
  Expected<Done> added = task_ == TaskKind::kTagging
                             ? AddWords(source, row, roles, shaper, data)
                             : AddText(source, row, roles, shaper, data);
  if (!added.ok()) return added;
  if (const Cell* weight = roles.Find(row, "weight")) {
    const auto number = ParseNumber(Trimmed(weight->text));
    if (!number || *number < 0.0) {
      return source.Here(FaultKind::kInconsistent,
                         roles.ColumnOf("weight") + " is no weight",
                         "write a number that is 0 or more");
    }
    data.examples_.back().weight = *number;
  }
  return Done{};
}

}  // namespace frostline::trainer
