// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "base/plain/text.h"
#include "worker/trainer/data/dataset_reader.h"
#include "worker/trainer/data/limits.h"
#include "worker/trainer/data/row_roles.h"

namespace frostline::trainer {

std::optional<std::string_view> DatasetReader::Named(std::string_view label,
                                                     Dataset& data) const {
  std::optional<std::string_view> name = label;
  for (const LabelRules& rules : rules_) {
    if (!name) break;
    if (rules.Has(*name)) data.ruled_.emplace(*name);
    name = rules.Apply(*name);
  }
  return name;
}

// In tagging words lose their label, and the row stays.
bool DatasetReader::IsDropped(const Row& row, const RowRoles& roles,
                              Dataset& data) const {
  if (!labelled_ || rules_.empty() || task_ != TaskKind::kClassification) {
    return false;
  }
  const Cell* const cell = roles.Find(row, "label");
  return cell != nullptr && !Named(Trimmed(cell->text), data).has_value();
}

Expected<std::int32_t> DatasetReader::LabelOf(const RowSource& source,
                                              std::string_view name,
                                              Dataset& data) const {
  if (const auto id = data.labels_.Find(name)) return *id;
  if (labels_) {
    return source.Here(
        FaultKind::kInconsistent,
        "label " + Shown(name) + " is unknown: training has " +
            ListOfLabels(*labels_),
        "correct the row, or train on a split that has this label");
  }
  if (name.size() > kMaxLabelBytes) {
    return source.Here(FaultKind::kTooLarge,
                       "its label has more than 256 bytes",
                       "is this the label's column? see `columns`");
  }
  if (data.labels_.size() == kMaxLabels) {
    return source.Here(FaultKind::kTooLarge, "brings label number 10,001",
                       "is this the label's column? numbers are learnt by the "
                       "task 'regression'");
  }
  return data.labels_.FindOrAdd(name);
}

// Ids must not depend on the order of the rows.
void DatasetReader::SortLabels(Dataset& data) const {
  if (labels_ || !labelled_ || task_ == TaskKind::kRegression) return;
  const std::vector<std::int32_t> ids = data.labels_.Sort();
  for (Example& example : data.examples_) {
    if (example.label == kNoLabel) continue;
    example.label = ids[static_cast<std::size_t>(example.label)];
  }
  for (std::int32_t& label : data.word_labels_) {
    if (label != kNoLabel) label = ids[static_cast<std::size_t>(label)];
  }
}

}  // namespace frostline::trainer
