// SPDX-License-Identifier: Apache-2.0
//
// File: access_view.h
//
// Views of access: who may call the coordinator, and who did what.
#ifndef FROSTLINE_CLI_VIEW_ACCESS_VIEW_H_
#define FROSTLINE_CLI_VIEW_ACCESS_VIEW_H_

#include <string>
#include <vector>

#include "cli/term/table.h"
#include "frostline/v1/admin_service.pb.h"

namespace frostline::cli {

// Returns a name such as "admin", or "none" for a role that this version does
// not know.
std::string NameOf(v1::Role role);

Table TokenTable(const std::vector<v1::Token>& tokens);
Table CertificateTable(const std::vector<v1::Certificate>& certificates);
// Returns the entries as a table, in the given order.
Table AuditTable(const std::vector<v1::AuditEntry>& entries);

// Returns "ana, researcher, by token, until 2027-02-21 06:07:34Z".
std::string DescribeIdentity(const v1::Identity& who);

// Returns one line of JSON with the keys of the audit's own file.
std::string AuditJsonLine(const v1::AuditEntry& entry);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_ACCESS_VIEW_H_
