// SPDX-License-Identifier: Apache-2.0
//
// File: field_changes.h
//
// The fields in which two messages of one type differ.
#ifndef FROSTLINE_CLI_VIEW_FIELD_CHANGES_H_
#define FROSTLINE_CLI_VIEW_FIELD_CHANGES_H_

#include <google/protobuf/message.h>

#include <string>
#include <vector>

namespace frostline::cli {

// A changed field. A side is empty when the field is missing or has its
// default.
struct FieldChange {
  std::string path;  // "space.modules[layer.0].levels.rates"
  std::string from;
  std::string to;
};

// Returns the changes by path. Items of lists are matched by their select, name
// or metric, so a new order is no change. Numbers are compared exactly.
std::vector<FieldChange> FieldChanges(const google::protobuf::Message& from,
                                      const google::protobuf::Message& to);

// Returns a line for each change: "budget.trials: 100 -> 200". "-" means no
// value.
std::string RenderFieldChanges(const std::vector<FieldChange>& changes);
std::string FieldChangesToJson(const std::vector<FieldChange>& changes);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_FIELD_CHANGES_H_
