// SPDX-License-Identifier: Apache-2.0
#include "server/audit/audit_entry.h"

#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "base/error.h"
#include "base/plain/audit_chain.h"
#include "base/plain/json.h"
#include "proto/wire_time.h"
#include "server/auth/roles.h"

namespace frostline::server {
namespace {

constexpr char kTimeFormat[] = "%Y-%m-%dT%H:%M:%E6SZ";
constexpr std::size_t kMostText = 256;  // of a field that the caller chose

std::string OutcomeOf(const absl::Status& status) {
  if (status.ok()) return "OK";
  const auto detail = DetailOf(status);
  return detail.has_value() ? std::string(KindOf(detail->id).reason)
                            : absl::StatusCodeToString(status.code());
}

std::string Member(const char* name, std::string_view value) {
  return absl::StrCat(",\"", name, "\":", JsonString(value));
}

// Empty where there is no such text.
std::string TextAt(const JsonValue& root, std::string_view name) {
  const JsonValue* const found = root.Find(name);
  return found == nullptr ? "" : std::string(found->text);
}

}  // namespace

v1::AuditEntry EntryOf(const CallContext& caller, const absl::Status& outcome,
                       WallMicros now) {
  v1::AuditEntry entry;
  *entry.mutable_time() = proto::TimestampToProto(now);
  entry.set_subject(caller.identity.subject);
  entry.set_role(RoleToProto(caller.identity.role));
  entry.set_address(caller.peer);
  entry.set_method(caller.method);
  entry.set_resource(caller.resource.substr(0, kMostText));
  entry.set_request_id(caller.request_id.substr(0, kMostText));
  entry.set_outcome(OutcomeOf(outcome));
  return entry;
}

std::string TextOf(const v1::AuditEntry& entry) {
  const auto role = RoleFromProto(entry.role());
  const absl::Time time = absl::FromUnixSeconds(entry.time().seconds()) +
                          absl::Nanoseconds(entry.time().nanos());
  return absl::StrCat(
      "{\"sequence\":", entry.sequence(),
      Member("time", absl::FormatTime(kTimeFormat, time, absl::UTCTimeZone())),
      Member("subject", entry.subject()),
      Member("role", role.has_value() ? NameOfRole(*role) : ""),
      Member("address", entry.address()), Member("method", entry.method()),
      Member("resource", entry.resource()),
      Member("request_id", entry.request_id()),
      Member("outcome", entry.outcome()));
}

std::optional<v1::AuditEntry> ReadEntry(std::string_view line) {
  const auto chained = ReadChainedLine(line);
  const auto parsed = Json::Parse(line);
  if (!chained.has_value() || !parsed.ok()) return std::nullopt;
  const JsonValue& root = parsed.value().root();
  const JsonValue* const sequence = root.Find("sequence");
  if (sequence == nullptr || !sequence->is(JsonKind::kNumber)) {
    return std::nullopt;
  }
  v1::AuditEntry entry;
  entry.set_sequence(static_cast<std::int64_t>(sequence->number));
  absl::Time time;
  std::string ignored;
  if (absl::ParseTime(absl::RFC3339_full, TextAt(root, "time"), &time,
                      &ignored)) {
    *entry.mutable_time() = proto::TimestampToProto(absl::ToUnixMicros(time));
  }
  entry.set_subject(TextAt(root, "subject"));
  const auto role = RoleNamed(TextAt(root, "role"));
  if (role.has_value()) entry.set_role(RoleToProto(*role));
  entry.set_address(TextAt(root, "address"));
  entry.set_method(TextAt(root, "method"));
  entry.set_resource(TextAt(root, "resource"));
  entry.set_request_id(TextAt(root, "request_id"));
  entry.set_outcome(TextAt(root, "outcome"));
  entry.set_chain_sha256(absl::HexStringToBytes(std::string(chained->chain)));
  return entry;
}

std::string ChainOf(const v1::AuditEntry& entry) {
  return absl::BytesToHexString(entry.chain_sha256());
}

}  // namespace frostline::server
