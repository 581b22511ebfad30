// SPDX-License-Identifier: Apache-2.0
//
// File: filter_values.h
#ifndef FROSTLINE_SERVER_WIRE_FILTER_VALUES_H_
#define FROSTLINE_SERVER_WIRE_FILTER_VALUES_H_

#include <optional>
#include <string>
#include <variant>

#include "frostline/v1/admin_service.pb.h"
#include "frostline/v1/study.pb.h"
#include "frostline/v1/worker.pb.h"
#include "server/wire/filter_term.h"
#include "storage/rows.h"

namespace frostline::server {

// Nothing: the item has no such label, metric or value.
using Looked = std::optional<std::variant<std::string, double>>;

// What an item has in the field of a term. REQUIRES: CheckTerm() has let the
// term pass.
Looked LookAt(const storage::TrialRow& trial, const FilterTerm& term);
Looked LookAt(const v1::Study& study, const FilterTerm& term);
Looked LookAt(const v1::Worker& worker, const FilterTerm& term);
Looked LookAt(const v1::AuditEntry& entry, const FilterTerm& term);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_FILTER_VALUES_H_
