// SPDX-License-Identifier: Apache-2.0
//
// File: spool_frames.h
//
// Where records lie in a spool file: each is a frame of length, sum and body
// (spool_record.h). A damaged frame hides none behind it. Nothing here writes,
// and a place that the disk cannot read counts as damaged.
#ifndef FROSTLINE_WORKER_AGENT_SPOOL_FRAMES_H_
#define FROSTLINE_WORKER_AGENT_SPOOL_FRAMES_H_

#include <cstdint>
#include <optional>
#include <string>

#include "worker/agent/spool_record.h"

namespace frostline::agent {

// Fills all of `bytes`, or answers false.
bool ReadAt(int fd, std::int64_t at, std::string* bytes);

// Returns the body of the frame at `at`, nothing if it is damaged or not whole
// by `end`.
std::optional<std::string> ReadBody(int fd, std::int64_t at, std::int64_t end);

struct FoundRecord {
  SpoolRecord record;
  std::int64_t at = 0;   // of its frame
  std::int64_t end = 0;  // of the frame
};
// Returns the record at `at`, or else the next one that is whole by `end`.
std::optional<FoundRecord> FindRecord(int fd, std::int64_t at,
                                      std::int64_t end);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_SPOOL_FRAMES_H_
