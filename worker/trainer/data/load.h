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
#include <string>
#include <utility>
#include <vector>

#include "worker/trainer/data/data_request.h"
#include "worker/trainer/data/dataset.h"
#include "worker/trainer/data/registry.h"
#include "worker/trainer/data/verified_files.h"

namespace frostline::trainer {

// Parts of one file share its data.
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

// One thread uses it. A fault names what must change. Work on rows and files
// asks `stop` between slices, and returns kStopped when it was raised.
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

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DATA_LOAD_H_
