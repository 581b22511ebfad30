// SPDX-License-Identifier: Apache-2.0
//
// File: load_rules.h
#ifndef FROSTLINE_WORKER_TRAINER_DATA_LOAD_RULES_H_
#define FROSTLINE_WORKER_TRAINER_DATA_LOAD_RULES_H_

#include <string>
#include <vector>

#include "worker/trainer/data/load.h"

namespace frostline::trainer {

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

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DATA_LOAD_RULES_H_
