// SPDX-License-Identifier: Apache-2.0
//
// File: recordings.h
//
// What scikit-learn and scipy gave for random arrays: tests/…/tasks/data.
#ifndef FROSTLINE_TESTS_WORKER_TRAINER_TASKS_RECORDINGS_H_
#define FROSTLINE_TESTS_WORKER_TRAINER_TASKS_RECORDINGS_H_

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace frostline::trainer {

inline nlohmann::json ReadRecordings(const std::string& name) {
  const char* root = std::getenv("FROSTLINE_SOURCE_DIR");
  std::ifstream file(std::string(root == nullptr ? "." : root) +
                     "/tests/worker/trainer/tasks/data/" + name);
  return nlohmann::json::parse(file);
}

}  // namespace frostline::trainer

#endif  // FROSTLINE_TESTS_WORKER_TRAINER_TASKS_RECORDINGS_H_
