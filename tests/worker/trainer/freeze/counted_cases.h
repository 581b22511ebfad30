// SPDX-License-Identifier: Apache-2.0
//
// File: counted_cases.h
//
// Steps whose cost is counted: of each family, of each thing that may train, of
// each head, of SMART. Models are tiny, and attention drops.
#ifndef FROSTLINE_TESTS_WORKER_TRAINER_FREEZE_COUNTED_CASES_H_
#define FROSTLINE_TESTS_WORKER_TRAINER_FREEZE_COUNTED_CASES_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "worker/trainer/freeze/freeze_plan.h"
#include "worker/trainer/train/smart.h"

namespace frostline::trainer {

struct CountedCase {
  std::string name;
  ModelConfig config;
  HeadSpec head = {.task = Task::kSequence, .outputs = 3};
  std::set<std::int64_t> frozen = {};  // layers
  double embeddings = 1e-4;            // their rate
  FreezeSemantics semantics = {};
  SmartOptions smart = {};
  bool stored = false;  // the batch brings its boundary
};

// Three layers, ids below 30.
ModelConfig TinyConfig(Family family);

std::vector<CountedCase> CasesOfFamilies();
std::vector<CountedCase> CasesOfSettings();
std::vector<CountedCase> CasesOfSmart();

}  // namespace frostline::trainer

#endif  // FROSTLINE_TESTS_WORKER_TRAINER_FREEZE_COUNTED_CASES_H_
