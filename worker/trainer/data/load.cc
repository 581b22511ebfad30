// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/load.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/plain/text.h"
#include "worker/trainer/data/limits.h"
#include "worker/trainer/data/token_store.h"

namespace frostline::trainer {
namespace {

constexpr double kDefaultValidationShare = 0.1;

}  // namespace

Expected<DataLoader> DataLoader::Open(const std::string& folder) {
  ASSIGN_OR_FAULT(DataRoot root, DataRoot::Open(folder));
  VerifiedFiles files(std::move(root));
  ASSIGN_OR_FAULT(InputFile file, files.OpenUnverified("datasets.yaml"));
  ASSIGN_OR_FAULT(std::string yaml, file.ReadAll(kMaxRegistryBytes));
  ASSIGN_OR_FAULT(DatasetEntries datasets,
                  ParseDatasets(yaml, "datasets.yaml"));
  return DataLoader(std::move(datasets), std::move(files));
}

Expected<const DatasetEntry*> DataLoader::FindSet(const std::string& id) const {
  const auto found = datasets_.find(id);
  if (found != datasets_.end()) return &found->second;
  return Fault{FaultKind::kUnreadable,
               "this worker's registry has no data set " + Shown(id),
               "add it to datasets.yaml on this worker, or let the study "
               "require a label that only workers with it carry"};
}

Expected<Dataset> DataLoader::ReadSplit(const DatasetEntry& entry,
                                        const std::string& split,
                                        const DataRequest& request,
                                        const TaskName& task,
                                        const LabelSet* labels,
                                        const StopSign& stop) {
  const auto found = entry.splits.find(split);
  if (found == entry.splits.end()) return NoSplit(entry, split);
  ColumnMap columns = request.columns;
  columns.insert(found->second.columns.begin(), found->second.columns.end());
  if (task.pair && !columns.contains("second")) {
    return Fault{FaultKind::kMisuse,
                 "the task 'pair' needs a column for the second text",
                 "name it in columns: {second: …}"};
  }
  ASSIGN_OR_FAULT(InputFile file,
                  files_.Open(found->second.path, found->second.sha256, stop));
  DatasetReader reader(task.kind);
  reader.WithStop(stop);
  reader.WithForm(
      {.lowercase = found->second.form.lowercase || request.form.lowercase,
       .strip_accents =
           found->second.form.strip_accents || request.form.strip_accents,
       .chat = found->second.form.chat});
  reader.WithLabelRules(ChainOf(found->second, request));
  if (!found->second.labelled) reader.WithoutLabels();
  if (found->second.skip_unlabelled) reader.SkipUnlabelled();
  if (labels != nullptr && HasClasses(task.kind)) {
    reader.WithLabels(*labels);
  }
  return reader.Read(std::move(file), found->second.format, columns);
}

Expected<TaskData> DataLoader::Load(const DataRequest& request,
                                    const StopSign& stop) {
  ASSIGN_OR_FAULT(const DatasetEntry* set, FindSet(request.id));
  const DatasetEntry& entry = *set;
  const std::string train = SplitName(request.train_split, "train");
  RETURN_IF_FAULT(CheckSplits(entry, request));
  TaskData out;
  out.task = TaskOf(request, entry, train);
  ASSIGN_OR_FAULT(LabelSet declared,
                  LabelSet::FromList(Apply(
                      ChainOf(entry.splits.at(train), request), entry.labels)));
  ASSIGN_OR_FAULT(Dataset read,
                  ReadSplit(entry, train, request, out.task,
                            entry.labels.empty() ? nullptr : &declared, stop));
  out.labels = read.labels();
  RETURN_IF_FAULT(CheckLabelsLeft(out.task, out.labels, read));
  out.train.rows = read.AllRows();
  out.train.data = std::make_shared<const Dataset>(std::move(read));
  Expected<Done> added = AddValidation(entry, request, stop, out);
  if (!added.ok()) return added.fault();
  SampleTraining(request, out.train);
  added = AddFingerprint(stop, out.train);
  if (!added.ok()) return added.fault();
  return out;
}

// Either the set's own split, or rows that training then lacks.
Expected<Done> DataLoader::AddValidation(const DatasetEntry& entry,
                                         const DataRequest& request,
                                         const StopSign& stop, TaskData& out) {
  const std::string name = SplitName(request.validation_split, "validation");
  if (entry.splits.contains(name)) {
    ASSIGN_OR_FAULT(Dataset read, ReadSplit(entry, name, request, out.task,
                                            &out.labels, stop));
    ASSIGN_OR_FAULT(DataPart part, WholePart(std::move(read), stop));
    out.validation = std::move(part);
    return Done{};
  }
  const double share = request.validation_share > 0.0 ? request.validation_share
                                                      : kDefaultValidationShare;
  ASSIGN_OR_FAULT(HeldOut held,
                  HoldOut(*out.train.data, share, request.split_seed));
  out.train.rows = std::move(held.training);
  out.validation.data = out.train.data;
  out.validation.rows = std::move(held.validation);
  return AddFingerprint(stop, out.validation);
}

Expected<DataPart> DataLoader::LoadTest(const DataRequest& request,
                                        const LabelSet& labels,
                                        const StopSign& stop) {
  ASSIGN_OR_FAULT(const DatasetEntry* set, FindSet(request.id));
  const TaskName task =
      TaskOf(request, *set, SplitName(request.train_split, "train"));
  ASSIGN_OR_FAULT(Dataset read,
                  ReadSplit(*set, SplitName(request.test_split, "test"),
                            request, task, &labels, stop));
  return WholePart(std::move(read), stop);
}

Expected<DataPart> DataLoader::LoadOther(const std::string& id,
                                         const DataRequest& request,
                                         const TaskName& task,
                                         const LabelSet& labels,
                                         const StopSign& stop) {
  ASSIGN_OR_FAULT(const DatasetEntry* set, FindSet(id));
  // Its columns and splits are its own.
  const DataRequest same{.form = request.form, .rules = request.rules};
  const bool has_test =
      set->splits.contains("test") && set->splits.at("test").labelled;
  ASSIGN_OR_FAULT(Dataset read,
                  ReadSplit(*set, has_test ? "test" : "validation", same, task,
                            &labels, stop));
  return WholePart(std::move(read), stop);
}

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
  if (!HasClasses(task.kind) || train.ruled().empty() || labels.size() >= 2) {
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
  ASSIGN_OR_FAULT(std::string sum, Fingerprint(*part.data, part.rows, stop));
  part.fingerprint = std::move(sum);
  return Done{};
}

Expected<DataPart> WholePart(Dataset data, const StopSign& stop) {
  DataPart part;
  part.rows = data.AllRows();
  part.data = std::make_shared<const Dataset>(std::move(data));
  RETURN_IF_FAULT(AddFingerprint(stop, part));
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

namespace {

using RowList = std::vector<std::uint32_t>;

// The rows of each class in chance order; all in one where there are none.
std::vector<RowList> Strata(const Dataset& data,
                            std::span<const std::uint32_t> rows,
                            std::uint64_t seed, std::uint64_t stream) {
  const bool classes =
      data.task() == TaskKind::kClassification && data.labelled();
  std::vector<RowList> strata(classes ? data.labels().size() : 1);
  for (const std::uint32_t row : ShuffledRows(rows, seed, stream)) {
    const auto label = static_cast<std::size_t>(data[row].label);
    strata[classes ? label : 0].push_back(row);
  }
  return strata;
}

// How many each class gives to `total`: its share rounded down, then one more
// to the greatest remainders. A class keeps at least one row.
std::vector<std::size_t> Quotas(const std::vector<RowList>& strata,
                                double share, std::size_t total) {
  std::vector<std::size_t> quotas(strata.size());
  std::vector<double> remainders(strata.size());
  std::size_t given = 0;
  for (std::size_t c = 0; c < strata.size(); ++c) {
    const double exact = share * static_cast<double>(strata[c].size());
    quotas[c] = static_cast<std::size_t>(exact);
    remainders[c] = exact - std::floor(exact);
    given += quotas[c];
  }
  std::vector<std::size_t> order(strata.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
    return remainders[a] > remainders[b];
  });
  bool progress = true;
  while (given < total && progress) {
    progress = false;
    for (const std::size_t c : order) {
      if (given == total || quotas[c] + 1 >= strata[c].size()) continue;
      ++quotas[c];
      ++given;
      progress = true;
    }
  }
  return quotas;
}

}  // namespace

Expected<HeldOut> HoldOut(const Dataset& data, double share,
                          std::uint64_t seed) {
  const double exact = share * static_cast<double>(data.size());
  if (!(share > 0.0 && share < 1.0)) {
    return Fault{FaultKind::kMisuse, "validation_share is not between 0 and 1",
                 "give a share such as 0.1"};
  }
  const auto total = static_cast<std::size_t>(std::llround(exact));
  const RowList all = data.AllRows();
  const std::vector<RowList> strata = Strata(data, all, seed, kHoldOutStream);
  const std::vector<std::size_t> quotas = Quotas(strata, share, total);
  HeldOut out;
  for (std::size_t c = 0; c < strata.size(); ++c) {
    const auto middle =
        strata[c].begin() + static_cast<std::ptrdiff_t>(quotas[c]);
    out.validation.insert(out.validation.end(), strata[c].begin(), middle);
    out.training.insert(out.training.end(), middle, strata[c].end());
  }
  if (out.validation.empty() || out.training.empty()) {
    return Fault{FaultKind::kMisuse,
                 "validation_share holds out " +
                     std::to_string(out.validation.size()) + " of " +
                     std::to_string(data.size()) + " rows",
                 "give a share that leaves rows on both sides"};
  }
  std::sort(out.training.begin(), out.training.end());
  std::sort(out.validation.begin(), out.validation.end());
  return out;
}

std::vector<std::uint32_t> BalancedSubset(const Dataset& data,
                                          std::span<const std::uint32_t> rows,
                                          std::size_t count,
                                          std::uint64_t seed) {
  // Round robin over the classes: a class that has run dry is passed over, and
  // a smaller sample is the beginning of a greater one.
  const std::vector<RowList> strata = Strata(data, rows, seed, kSubsetStream);
  RowList sample;
  count = std::min(count, rows.size());
  sample.reserve(count);
  for (std::size_t turn = 0; sample.size() < count; ++turn) {
    for (const RowList& stratum : strata) {
      if (turn < stratum.size() && sample.size() < count) {
        sample.push_back(stratum[turn]);
      }
    }
  }
  std::sort(sample.begin(), sample.end());
  return sample;
}

}  // namespace frostline::trainer
