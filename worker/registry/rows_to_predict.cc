// SPDX-License-Identifier: Apache-2.0
#include "worker/registry/rows_to_predict.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/plain/file.h"
#include "worker/registry/check.h"
#include "worker/registry/guess.h"
#include "worker/trainer/data/format_name.h"
#include "worker/trainer/model/exported_config.h"
#include "worker/trainer/model/limits.h"

namespace frostline::registry {
namespace {

absl::StatusOr<std::string> TaskOf(const std::string& model) {
  const Expected<std::string> json =
      ReadWholeFile(model + "/config.json", trainer::kMaxConfigBytes);
  if (!json.ok()) return ErrorOf(json.fault());
  const Expected<trainer::ExportedFacts> facts =
      trainer::ReadExportedFacts(json.value());
  if (!facts.ok()) {
    Fault fault = facts.fault();
    fault.cause = absl::StrCat(model, ": ", fault.cause);
    return ErrorOf(fault);
  }
  switch (facts.value().task) {
    case trainer::Task::kTokens:
      return "tagging";
    case trainer::Task::kRegression:
      return "regression";
    case trainer::Task::kSequence:
      break;
  }
  return "classification";
}

}  // namespace

absl::StatusOr<RowsToPredict> LookAtRowsToPredict(
    const std::string& model, const std::string& file,
    const trainer::ColumnMap& said, const TableHints& hints) {
  ASSIGN_OR_RETURN(const std::string task, TaskOf(model));
  ASSIGN_OR_RETURN(const TableLook look, LookAtTable(file, hints));
  ASSIGN_OR_RETURN(RoleGuess guess,
                   GuessRoles(file, look, said, task, Labels::kIfThere));
  RowsToPredict rows;
  rows.format = look.format;
  rows.format_name = trainer::NameOf(look.format.kind);
  rows.columns = std::move(guess.columns);
  rows.labelled = rows.columns.contains(task == "tagging" ? "tags" : "label");
  return rows;
}

}  // namespace frostline::registry
