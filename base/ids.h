// SPDX-License-Identifier: Apache-2.0
//
// File: ids.h
//
// Builds and parses all resource names:
//
//   studies/imdb    studies/imdb/trials/17    workers/gpu03-0
#ifndef FROSTLINE_BASE_IDS_H_
#define FROSTLINE_BASE_IDS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "base/clock.h"

namespace frostline {

// The parts of a trial's name.
struct TrialName {
  std::string study_id;
  std::int64_t number = 0;
};

// Checks an id: 1 to 64 characters of [a-z0-9._-], the first a letter or digit,
// no "..". So ids are safe in file names, labels and URLs.
absl::Status CheckId(const std::string& id, const std::string& field);

std::string StudyNameOf(const std::string& study_id);
std::string TrialNameOf(const std::string& study_id, std::int64_t number);
std::string WorkerNameOf(const std::string& worker_id);

absl::StatusOr<std::string> ParseStudyName(const std::string& name);
absl::StatusOr<TrialName> ParseTrialName(const std::string& name);
absl::StatusOr<std::string> ParseWorkerName(const std::string& name);

// Returns 128 bits from the operating system for boot ids and lease secrets,
// never for what must be replayed.
std::string RandomHexId();

// Makes a request id of 32 hexadecimal digits: milliseconds since 1970, then 80
// random bits that nobody can guess. Later ids sort later, so that the
// coordinator's index grows at its end, which costs less. Any other unique text
// of that form works too.
std::string NewRequestId(const Clock& clock);

}  // namespace frostline

#endif  // FROSTLINE_BASE_IDS_H_
