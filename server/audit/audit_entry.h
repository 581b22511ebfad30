// SPDX-License-Identifier: Apache-2.0
//
// File: audit_entry.h
//
//   {"sequence":7,"time":"2026-11-23T10:00:00.000001Z","subject":"ana",…
#ifndef FROSTLINE_SERVER_AUDIT_AUDIT_ENTRY_H_
#define FROSTLINE_SERVER_AUDIT_AUDIT_ENTRY_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "base/clock.h"
#include "frostline/v1/admin_service.pb.h"
#include "server/loop/call_context.h"

namespace frostline::server {

// Without sequence and chain. The outcome is "OK" or the error's reason.
v1::AuditEntry EntryOf(const CallContext& caller, const absl::Status& outcome,
                       WallMicros now);

// Fields 1 to 9, as base/plain/audit_chain.h takes them.
std::string TextOf(const v1::AuditEntry& entry);
// Reads a line of the file; nothing for what is none.
std::optional<v1::AuditEntry> ReadEntry(std::string_view line);

// The end of an entry's line, when it is one.
std::string ChainOf(const v1::AuditEntry& entry);  // hexadecimal

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_AUDIT_AUDIT_ENTRY_H_
