// SPDX-License-Identifier: Apache-2.0
//
// File: field_changes.h
//
// Which fields of two messages of one type differ.
#ifndef FROSTLINE_CLI_VIEW_FIELD_CHANGES_H_
#define FROSTLINE_CLI_VIEW_FIELD_CHANGES_H_

#include <google/protobuf/message.h>

#include <string>
#include <vector>

namespace frostline::cli {

// Without a value it is empty: the field is not there, or has its default.
struct FieldChange {
  std::string path;  // "space.modules[layer.0].levels.rates"
  std::string from;
  std::string to;
};

// By path. What a list holds is compared by its select, name or metric, so that
// another order is no change; numbers are exact.
std::vector<FieldChange> FieldChanges(const google::protobuf::Message& from,
                                      const google::protobuf::Message& to);

// "budget.trials: 100 -> 200", a line each; "-" stands for no value.
std::string RenderFieldChanges(const std::vector<FieldChange>& changes);
std::string FieldChangesToJson(const std::vector<FieldChange>& changes);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_FIELD_CHANGES_H_
