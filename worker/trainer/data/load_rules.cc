// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/load_rules.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/plain/text.h"
#include "worker/trainer/data/split.h"

namespace frostline::trainer {

std::string SplitName(const std::string& split, const char* fallback) {
  return split.empty() ? fallback : split;
}

TaskName TaskOf(const DataRequest& request, const DatasetEntry& entry,
                const std::string& train_split) {
  if (request.task) return *request.task;
  if (entry.task) return *entry.task;
  const auto split = entry.splits.find(train_split);
  const bool words = split != entry.splits.end() &&
                     split->second.format.kind == FileFormat::Kind::kConllu;
  return {words ? TaskKind::kTagging : TaskKind::kClassification};
}

LabelChain ChainOf(const SplitEntry& split, const DataRequest& request) {
  LabelChain chain;
  for (const LabelRules* rules : {&split.rules, &request.rules}) {
    if (rules->any()) chain.push_back(*rules);
  }
  return chain;
}

Expected<Done> CheckLabelsLeft(const TaskName& task, const LabelSet& labels,
                               const Dataset& train) {
  if (task.kind == TaskKind::kRegression || train.ruled().empty() ||
      labels.size() >= 2) {
    return Done{};
  }
  return Fault{
      FaultKind::kMisuse,
      "label_map and drop_labels leave " +
          (labels.size() == 1 ? "the one label " + Shown(labels.names().front())
                              : std::string("no label")) +
          " of data set",
      "from one class there is nothing to learn: merge or drop fewer"};
}

std::vector<std::string> LabelsWithoutRows(const DataPart& part,
                                           const LabelSet& labels) {
  std::vector<bool> is_there(labels.size());
  const auto note = [&](std::int32_t label) {
    if (label != kNoLabel) is_there[static_cast<std::size_t>(label)] = true;
  };
  for (const std::uint32_t row : part.rows) {
    note((*part.data)[row].label);
    for (const std::int32_t label : part.data->word_labels(row)) note(label);
  }
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < is_there.size(); ++i) {
    if (!is_there[i]) missing.push_back(labels.names()[i]);
  }
  return missing;
}

Expected<Done> AddFingerprint(const StopSign& stop, DataPart& part) {
  Expected<std::string> sum = Fingerprint(*part.data, part.rows, stop);
  if (!sum.ok()) return sum.fault();
  part.fingerprint = std::move(sum).value();
  return Done{};
}

Expected<DataPart> WholePart(Dataset data, const StopSign& stop) {
  DataPart part;
  part.rows = data.AllRows();
  part.data = std::make_shared<const Dataset>(std::move(data));
  Expected<Done> added = AddFingerprint(stop, part);
  if (!added.ok()) return added.fault();
  return part;
}

void SampleTraining(const DataRequest& request, DataPart& train) {
  std::size_t count = request.train_rows;
  if (request.train_share > 0.0) {
    const double exact =
        request.train_share * static_cast<double>(train.size());
    count = static_cast<std::size_t>(std::max(std::llround(exact), 1LL));
  }
  if (count == 0 || count >= train.size()) return;
  train.rows =
      BalancedSubset(*train.data, train.rows, count, request.split_seed);
}

Fault NoSplit(const DatasetEntry& entry, const std::string& split) {
  std::string known;
  for (const auto& [name, unused] : entry.splits) {
    known += (known.empty() ? "" : ", ") + name;
  }
  return Fault{FaultKind::kMisuse,
               "data set " + Shown(entry.id) + " has no split " + Shown(split),
               "its splits are " + known};
}

Expected<Done> CheckSplits(const DatasetEntry& entry,
                           const DataRequest& request) {
  const std::string train = SplitName(request.train_split, "train");
  const std::string validation =
      SplitName(request.validation_split, "validation");
  const auto train_split = entry.splits.find(train);
  if (train_split == entry.splits.end()) return NoSplit(entry, train);
  const auto validation_split = entry.splits.find(validation);
  const bool held_out = validation_split == entry.splits.end();
  if (held_out && !request.validation_split.empty()) {
    return NoSplit(entry, validation);
  }
  if (train == validation) {
    return Fault{FaultKind::kMisuse,
                 "data.validation_split is the split that is trained on",
                 "name another, or leave it out and hold out a share"};
  }
  const bool unlabelled = !train_split->second.labelled ||
                          (!held_out && !validation_split->second.labelled);
  if (unlabelled) {
    return Fault{FaultKind::kMisuse,
                 "splits " + Shown(train) + " and " + Shown(validation) +
                     " of " + Shown(entry.id) + " are not both labelled",
                 "train and validate on labelled splits"};
  }
  if (!request.sha256.empty() && request.sha256 != train_split->second.sha256) {
    return Fault{FaultKind::kInconsistent,
                 "data.sha256 is not that of this worker's " + Shown(train),
                 "run the study where the same file is, or correct the sum"};
  }
  return Done{};
}

}  // namespace frostline::trainer
