// SPDX-License-Identifier: Apache-2.0
//
// File: audit_end.h
#ifndef FROSTLINE_STORAGE_SQLITE_AUDIT_END_H_
#define FROSTLINE_STORAGE_SQLITE_AUDIT_END_H_

#include <string>

#include "absl/status/statusor.h"
#include "storage/rows.h"

namespace frostline::storage {

// Does what ReadAuditEnd() promises (factory.h). Beside a database that was
// closed no file is made.
absl::StatusOr<AuditEnd> AuditEndIn(const std::string& data_folder);

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_SQLITE_AUDIT_END_H_
