// SPDX-License-Identifier: Apache-2.0
//
// File: access_view.h
//
// Who may call the coordinator, and who did what.
#ifndef FROSTLINE_CLI_VIEW_ACCESS_VIEW_H_
#define FROSTLINE_CLI_VIEW_ACCESS_VIEW_H_

#include <string>
#include <vector>

#include "cli/term/table.h"
#include "frostline/v1/admin_service.pb.h"

namespace frostline::cli {

// "admin"; "none" for what this version does not know.
std::string NameOf(v1::Role role);

Table TokenTable(const std::vector<v1::Token>& tokens);
Table CertificateTable(const std::vector<v1::Certificate>& certificates);
// In the order that is given.
Table AuditTable(const std::vector<v1::AuditEntry>& entries);

// Says "ana, researcher, by token, until 2027-02-21 06:07:34Z".
std::string DescribeIdentity(const v1::Identity& who);

// One line, with the keys of the audit's own file.
std::string AuditJsonLine(const v1::AuditEntry& entry);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_ACCESS_VIEW_H_
