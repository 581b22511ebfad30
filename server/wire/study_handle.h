// SPDX-License-Identifier: Apache-2.0
//
// File: study_handle.h
//
// A reader gets this of a study that the loop has looked up.
#ifndef FROSTLINE_SERVER_WIRE_STUDY_HANDLE_H_
#define FROSTLINE_SERVER_WIRE_STUDY_HANDLE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "server/wire/spec_check.h"
#include "storage/rows.h"

namespace frostline::server {

struct StudyHandle {
  storage::StudyKey key = 0;
  std::string id;
  std::int64_t revision = 0;
  storage::StudyState state = storage::StudyState::kActive;
  bool running = false;  // active or paused
  std::int64_t budget_left = 0;
  std::int64_t ended = 0;  // trials, which change no more but for labels
  // It is another one whenever a trial has ended or one that had ended got
  // other labels, and never the same again in this process.
  std::int64_t ends_stamp = 0;
  std::shared_ptr<const CheckedStudy> checked;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_STUDY_HANDLE_H_
