// SPDX-License-Identifier: Apache-2.0
#include "cli/view/access_view.h"

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/clock.h"
#include "base/plain/json.h"
#include "cli/view/format.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

// The digits that are shown: enough to distinguish certificates, and `cert
// revoke` completes them.
constexpr std::size_t kShownDigits = 16;

template <typename T>
std::string LastUsed(const T& one) {
  return one.has_last_used_time() ? FormatTime(one.last_used_time()) : "never";
}

std::string StateOf(const v1::Token& token) {
  if (token.has_revoke_time()) return "revoked";
  const std::string state =
      token.has_old_secret_expire_time() ? "rotated" : "valid";
  return token.single_use() ? "once" : state;
}

WallMicros WallOf(const google::protobuf::Timestamp& time) {
  return time.seconds() * 1'000'000 + time.nanos() / 1'000;
}

}  // namespace

std::string NameOf(v1::Role role) {
  if (role == v1::ROLE_UNSPECIFIED || !v1::Role_IsValid(role)) return "none";
  return absl::AsciiStrToLower(absl::StripPrefix(v1::Role_Name(role), "ROLE_"));
}

Table TokenTable(const std::vector<v1::Token>& tokens) {
  Table table({{"ID"},
               {"ROLE"},
               {"SUBJECT"},
               {"EXPIRES"},
               {"LAST USED", Align::kLeft, 1},
               {"STATE", Align::kLeft, 0},
               {"STUDIES", Align::kLeft, 2},
               {"NOTE", Align::kLeft, 3}});
  for (const v1::Token& token : tokens) {
    table.AddRow({token.id(), NameOf(token.role()), token.subject(),
                  FormatTime(token.expire_time()), LastUsed(token),
                  StateOf(token), FormatLabels(token.study_labels()),
                  token.note()});
  }
  return table;
}

Table CertificateTable(const std::vector<v1::Certificate>& certificates) {
  Table table({{"SHA-256"},
               {"ROLE"},
               {"SUBJECT"},
               {"EXPIRES"},
               {"LAST USED", Align::kLeft, 1},
               {"STATE", Align::kLeft, 0},
               {"SINCE", Align::kLeft, 2}});
  for (const v1::Certificate& one : certificates) {
    const std::string state =
        one.has_revoke_time()
            ? absl::StrCat("revoked ", FormatTime(one.revoke_time()))
            : "valid";
    table.AddRow({one.sha256().substr(0, kShownDigits), NameOf(one.role()),
                  one.subject(), FormatTime(one.expire_time()), LastUsed(one),
                  state, FormatTime(one.create_time())});
  }
  return table;
}

Table AuditTable(const std::vector<v1::AuditEntry>& entries) {
  Table table({{"TIME"},
               {"SUBJECT"},
               {"ROLE", Align::kLeft, 2},
               {"METHOD"},
               {"RESOURCE"},
               {"OUTCOME"},
               {"FROM", Align::kLeft, 1},
               {"ENTRY", Align::kRight, 3}});
  for (const v1::AuditEntry& entry : entries) {
    table.AddRow({FormatTime(entry.time()), entry.subject(),
                  NameOf(entry.role()), entry.method(), entry.resource(),
                  entry.outcome(), entry.address(),
                  absl::StrCat(entry.sequence())});
  }
  return table;
}

std::string DescribeIdentity(const v1::Identity& who) {
  const std::string labels =
      proto::CleanText(FormatLabels(who.study_labels()), proto::kMaxCauseBytes);
  return absl::StrCat(
      who.subject().empty() ? "any worker" : who.subject(), ", ",
      NameOf(who.role()), labels.empty() ? "" : " of studies with " + labels,
      ", by ", who.proof(),
      who.has_expire_time() ? ", until " + FormatTime(who.expire_time()) : "");
}

std::string AuditJsonLine(const v1::AuditEntry& entry) {
  const bool has_role = entry.role() != v1::ROLE_UNSPECIFIED;
  return JsonObject()
             .Put("sequence", absl::StrCat(entry.sequence()))
             .PutText("time", FormatWall(WallOf(entry.time())))
             .PutText("subject", entry.subject())
             .PutText("role", has_role ? NameOf(entry.role()) : "")
             .PutText("address", entry.address())
             .PutText("method", entry.method())
             .PutText("resource", entry.resource())
             .PutText("request_id", entry.request_id())
             .PutText("outcome", entry.outcome())
             .PutText("chain_sha256",
                      absl::BytesToHexString(entry.chain_sha256()))
             .Text() +
         "\n";
}

}  // namespace frostline::cli
