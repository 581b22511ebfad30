// SPDX-License-Identifier: Apache-2.0
//
// File: imported_point.h
//
// What can be said of an imported trial's point before a coordinator judges it.
#ifndef FROSTLINE_CLI_COMMANDS_IMPORTED_POINT_H_
#define FROSTLINE_CLI_COMMANDS_IMPORTED_POINT_H_

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "frostline/v1/study_service.pb.h"

namespace frostline::cli {

// Of one study; the spec outlives it.
class PointCheck {
 public:
  explicit PointCheck(const v1::StudySpec& spec);

  // A row of names that a file begins with must have a column for each
  // parameter that every trial has a value of: what is no table of trials at
  // all has none.
  absl::Status Columns(const std::vector<std::string>& columns,
                       const std::string& file, std::size_t line) const;

  // Answers VALUE_OUT_OF_SPACE at FILE:LINE where such a parameter has no
  // value. Names that the space does not have are the coordinator's to tell.
  absl::Status Point(const v1::ImportedTrial& trial, const std::string& file,
                     std::size_t line) const;

 private:
  const v1::StudySpec& spec_;
  std::set<std::string> known_;
  // Those that no condition and no prefix depth makes inactive.
  std::vector<std::string> always_active_;
};

// Answers VALUE_OUT_OF_SPACE where a parameter has two values, of which one
// would be lost.
absl::Status CheckOnce(const v1::Trial& trial, const std::string& file,
                       std::size_t line);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_IMPORTED_POINT_H_
