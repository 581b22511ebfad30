// SPDX-License-Identifier: Apache-2.0
#include "server/wire/stored_study.h"

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/log.h"

namespace frostline::server {

absl::StatusOr<CheckedStudy> CheckStored(const storage::StudyRow& row,
                                         const LeaseRules& defaults) {
  v1::StudySpec spec;
  v1::StudySettings settings;
  if (!spec.ParseFromString(row.spec) ||
      !settings.ParseFromString(row.settings)) {
    return MakeError(
        ErrorId::kStoreCorrupt,
        absl::StrCat("the spec of study ", row.id, " cannot be read"),
        "restore the database from a backup");
  }
  // Early versions took it. Nobody could have been judged by it.
  const std::string& pruner = settings.pruner().name();
  if (spec.objectives_size() > 1 && !pruner.empty() && pruner != "none") {
    Log(LogLevel::kWarning, "pruner_ignored",
        {{"study", row.id},
         {"pruner", pruner},
         {"why", "it compares one metric, and there are several objectives"}});
    settings.clear_pruner();
  }
  ASSIGN_OR_RETURN(CheckedStudy checked, CheckStudy(spec, settings, defaults));
  checked.pruner.study = row.id;
  return checked;
}

}  // namespace frostline::server
