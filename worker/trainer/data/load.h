// SPDX-License-Identifier: Apache-2.0
//
// File: load.h
//
// Finds a study's data set in the registry, verifies and reads its files, holds
// rows out, takes the balanced sample.
#ifndef FROSTLINE_WORKER_TRAINER_DATA_LOAD_H_
#define FROSTLINE_WORKER_TRAINER_DATA_LOAD_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/data/dataset.h"
#include "worker/trainer/data/input_file.h"
#include "worker/trainer/data/registry.h"

namespace frostline::trainer {

// Some rows of a data set. Parts of one file share its data.
struct DataPart {
  std::shared_ptr<const Dataset> data;
  std::vector<std::uint32_t> rows;
  std::string fingerprint;  // of these rows

  std::size_t size() const { return rows.size(); }
};

struct TaskData {
  TaskName task;
  LabelSet labels;  // of the whole training split, sampled or not
  DataPart train;
  DataPart validation;
};

// Loads the data sets that studies name. One thread uses it. A fault names what
// must change. Work on rows and files asks `stop` between slices, and returns
// kStopped when it was raised.
class DataLoader {
 public:
  // `folder` is the operator's, whose datasets.yaml is read once.
  static Expected<DataLoader> Open(const std::string& folder);
  DataLoader(DatasetEntries datasets, VerifiedFiles files)
      : datasets_(std::move(datasets)), files_(std::move(files)) {}

  // Splits without a name are `train` and `validation`. Without a validation
  // split a share of the training rows is held out (a tenth where the study
  // says none), before the sample is taken.
  Expected<TaskData> Load(const DataRequest& request,
                          const StopSign& stop = {});
  // Loads all of the test split (`test` without a name), which may lack labels
  // where the registry says so.
  Expected<DataPart> LoadTest(const DataRequest& request,
                              const LabelSet& labels,
                              const StopSign& stop = {});
  // Loads all of data set `id`: its test split if labelled, else validation. Of
  // the request its form and its rules hold.
  Expected<DataPart> LoadOther(const std::string& id,
                               const DataRequest& request, const TaskName& task,
                               const LabelSet& labels,
                               const StopSign& stop = {});

  VerifiedFiles& files() { return files_; }

 private:
  Expected<const DatasetEntry*> FindSet(const std::string& id) const;
  Expected<Dataset> ReadSplit(const DatasetEntry& entry,
                              const std::string& split,
                              const DataRequest& request, const TaskName& task,
                              const LabelSet* labels, const StopSign& stop);
  Expected<Done> AddValidation(const DatasetEntry& entry,
                               const DataRequest& request, const StopSign& stop,
                               TaskData& out);

  DatasetEntries datasets_;
  VerifiedFiles files_;
};

std::string SplitName(const std::string& split, const char* fallback);

// Takes the study's word, else the registry's, else what the format suggests.
TaskName TaskOf(const DataRequest& request, const DatasetEntry& entry,
                const std::string& train_split);

// The split's rules, then the study's.
LabelChain ChainOf(const SplitEntry& split, const DataRequest& request);

// Returns kMisuse where rules leave fewer than two classes of `train`.
Expected<Done> CheckLabelsLeft(const TaskName& task, const LabelSet& labels,
                               const Dataset& train);

// Names the labels that no row of the part has.
std::vector<std::string> LabelsWithoutRows(const DataPart& part,
                                           const LabelSet& labels);

Expected<Done> CheckSplits(const DatasetEntry& entry,
                           const DataRequest& request);

Fault NoSplit(const DatasetEntry& entry, const std::string& split);

// Both return nothing but kStopped.
Expected<Done> AddFingerprint(const StopSign& stop, DataPart& part);
Expected<DataPart> WholePart(Dataset data, const StopSign& stop);

// Leaves as many rows as the study asks for, in balance.
void SampleTraining(const DataRequest& request, DataPart& train);

// Chooses by seed which rows are trained on and which are held out, in the
// order of the file.

struct HeldOut {
  std::vector<std::uint32_t> training;
  std::vector<std::uint32_t> validation;
};

// Holds out `share` of the rows, to the nearest row, and of each class as near
// as whole rows allow, never all of one. Returns kMisuse when share is not
// within (0, 1) or leaves one side empty.
Expected<HeldOut> HoldOut(const Dataset& data, double share,
                          std::uint64_t seed);

// Takes at most `count` rows: equally many of each class, and more of the
// others where one has too few; without classes (regression, tagging) by chance
// alone. A smaller sample is part of a greater one.
std::vector<std::uint32_t> BalancedSubset(const Dataset& data,
                                          std::span<const std::uint32_t> rows,
                                          std::size_t count,
                                          std::uint64_t seed);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DATA_LOAD_H_
