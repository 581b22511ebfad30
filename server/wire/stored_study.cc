// SPDX-License-Identifier: Apache-2.0
#include "server/wire/stored_study.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

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
  ASSIGN_OR_RETURN(CheckedStudy checked, CheckStudy(spec, settings, defaults));
  checked.pruner.study = row.id;
  return checked;
}

}  // namespace frostline::server
