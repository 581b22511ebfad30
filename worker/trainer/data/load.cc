// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/load.h"

#include "base/plain/text.h"
#include "worker/trainer/data/limits.h"
#include "worker/trainer/data/load_rules.h"
#include "worker/trainer/data/split.h"

namespace frostline::trainer {
namespace {

constexpr double kDefaultValidationShare = 0.1;

}  // namespace

Expected<DataLoader> DataLoader::Open(const std::string& folder) {
  Expected<DataRoot> root = DataRoot::Open(folder);
  if (!root.ok()) return root.fault();
  VerifiedFiles files(std::move(root).value());
  Expected<InputFile> file = files.OpenUnverified("datasets.yaml");
  if (!file.ok()) return file.fault();
  Expected<std::string> yaml = file.value().ReadAll(kMaxRegistryBytes);
  if (!yaml.ok()) return yaml.fault();
  Expected<DatasetEntries> datasets =
      ParseDatasets(yaml.value(), "datasets.yaml");
  if (!datasets.ok()) return datasets.fault();
  return DataLoader(std::move(datasets).value(), std::move(files));
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
  Expected<InputFile> file =
      files_.Open(found->second.path, found->second.sha256, stop);
  if (!file.ok()) return file.fault();
  DatasetReader reader(task.kind);
  reader.WithStop(stop);
  reader.WithForm(
      {.lowercase = found->second.form.lowercase || request.form.lowercase,
       .strip_accents =
           found->second.form.strip_accents || request.form.strip_accents});
  reader.WithLabelRules(ChainOf(found->second, request));
  if (!found->second.labelled) reader.WithoutLabels();
  if (found->second.skip_unlabelled) reader.SkipUnlabelled();
  if (labels != nullptr && task.kind != TaskKind::kRegression) {
    reader.WithLabels(*labels);
  }
  return reader.Read(std::move(file).value(), found->second.format, columns);
}

Expected<TaskData> DataLoader::Load(const DataRequest& request,
                                    const StopSign& stop) {
  Expected<const DatasetEntry*> set = FindSet(request.id);
  if (!set.ok()) return set.fault();
  const DatasetEntry& entry = *set.value();
  const std::string train = SplitName(request.train_split, "train");
  if (Expected<Done> fits = CheckSplits(entry, request); !fits.ok()) {
    return fits.fault();
  }
  TaskData out;
  out.task = TaskOf(request, entry, train);
  Expected<LabelSet> declared = LabelSet::FromList(
      Apply(ChainOf(entry.splits.at(train), request), entry.labels));
  if (!declared.ok()) return declared.fault();
  Expected<Dataset> read =
      ReadSplit(entry, train, request, out.task,
                entry.labels.empty() ? nullptr : &declared.value(), stop);
  if (!read.ok()) return read.fault();
  out.labels = read.value().labels();
  if (Expected<Done> left = CheckLabelsLeft(out.task, out.labels, read.value());
      !left.ok()) {
    return left.fault();
  }
  out.train.rows = read.value().AllRows();
  out.train.data = std::make_shared<const Dataset>(std::move(read).value());
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
    Expected<Dataset> read =
        ReadSplit(entry, name, request, out.task, &out.labels, stop);
    if (!read.ok()) return read.fault();
    Expected<DataPart> part = WholePart(std::move(read).value(), stop);
    if (!part.ok()) return part.fault();
    out.validation = std::move(part).value();
    return Done{};
  }
  const double share = request.validation_share > 0.0 ? request.validation_share
                                                      : kDefaultValidationShare;
  Expected<HeldOut> held = HoldOut(*out.train.data, share, request.split_seed);
  if (!held.ok()) return held.fault();
  out.train.rows = std::move(held.value().training);
  out.validation.data = out.train.data;
  out.validation.rows = std::move(held.value().validation);
  return AddFingerprint(stop, out.validation);
}

Expected<DataPart> DataLoader::LoadTest(const DataRequest& request,
                                        const LabelSet& labels,
                                        const StopSign& stop) {
  Expected<const DatasetEntry*> set = FindSet(request.id);
  if (!set.ok()) return set.fault();
  const TaskName task =
      TaskOf(request, *set.value(), SplitName(request.train_split, "train"));
  Expected<Dataset> read =
      ReadSplit(*set.value(), SplitName(request.test_split, "test"), request,
                task, &labels, stop);
  if (!read.ok()) return read.fault();
  return WholePart(std::move(read).value(), stop);
}

Expected<DataPart> DataLoader::LoadOther(const std::string& id,
                                         const DataRequest& request,
                                         const TaskName& task,
                                         const LabelSet& labels,
                                         const StopSign& stop) {
  Expected<const DatasetEntry*> set = FindSet(id);
  if (!set.ok()) return set.fault();
  // Its columns and splits are its own.
  const DataRequest same{.form = request.form, .rules = request.rules};
  const bool has_test = set.value()->splits.contains("test") &&
                        set.value()->splits.at("test").labelled;
  Expected<Dataset> read =
      ReadSplit(*set.value(), has_test ? "test" : "validation", same, task,
                &labels, stop);
  if (!read.ok()) return read.fault();
  return WholePart(std::move(read).value(), stop);
}

}  // namespace frostline::trainer
