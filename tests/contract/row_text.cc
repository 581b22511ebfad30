// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/row_text.h"

#include <bit>
#include <cstdint>
#include <initializer_list>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace frostline::test {
namespace {

std::string Join(std::initializer_list<std::string> parts) {
  return absl::StrJoin(parts, "|");
}

std::string Quote(const std::string& text) {
  return absl::StrCat("\"", absl::CHexEscape(text), "\"");
}

template <typename Number>
std::string Num(Number number) {
  return absl::StrCat(static_cast<std::int64_t>(number));
}

std::string Bits(double value) {
  return absl::StrCat(value, "=",
                      absl::Hex(std::bit_cast<std::uint64_t>(value)));
}

std::string Bits(const std::vector<double>& values) {
  return absl::StrCat("[",
                      absl::StrJoin(values, " ",
                                    [](std::string* out, double value) {
                                      absl::StrAppend(out, Bits(value));
                                    }),
                      "]");
}

std::string Bits(const Metrics& metrics) {
  std::string text = "{";
  for (const auto& [name, value] : metrics) {
    absl::StrAppend(&text, Quote(name), ":", Bits(value), " ");
  }
  return text + "}";
}

}  // namespace

std::string Text(const storage::StudyRow& row) {
  return Join({"study", Num(row.key), Quote(row.id), Num(row.state),
               Quote(row.spec), Quote(row.settings), absl::StrCat(row.seed),
               Num(row.etag), Num(row.revision), Num(row.created),
               Num(row.updated), Num(row.expires), Quote(row.state_reason),
               Quote(row.owner)});
}

std::string Text(const storage::TrialRow& row) {
  return Join({"trial",
               Num(row.study),
               Num(row.number),
               Num(row.state),
               Num(row.origin),
               Bits(row.point),
               Num(row.attempt),
               Quote(row.secret.Reveal()),
               Quote(row.worker),
               Num(row.trial_faults),
               Num(row.infrastructure_faults),
               Num(row.priority),
               Num(row.revision),
               Num(row.created),
               Num(row.started),
               Num(row.ended),
               Num(row.last_step),
               Bits(row.metrics),
               Bits(row.values),
               Num(row.failure),
               Quote(row.cause),
               Quote(row.usage),
               Quote(row.labels),
               Num(row.seen_revision),
               Num(row.ended_revision)});
}

std::string Text(const storage::AttemptRow& row) {
  return Join({"attempt", Num(row.study), Num(row.number), Num(row.attempt),
               Num(row.state), Quote(row.secret.Reveal()), Quote(row.worker),
               Quote(row.boot_id), Num(row.started), Num(row.ended),
               Num(row.failure), Quote(row.cause), Quote(row.checkpoint),
               Quote(row.outcome), Quote(row.request_id)});
}

std::string Text(const Measurement& measurement) {
  return Join({"measurement", Num(measurement.step), Bits(measurement.metrics),
               Bits(measurement.elapsed_s)});
}

std::string Text(const storage::OutcomeRow& row) {
  return Join({"outcome", Num(row.study), Num(row.number),
               Quote(row.data_fingerprint), Num(row.encoding), Num(row.count),
               Quote(row.data), Quote(row.evaluations)});
}

std::string Text(const storage::LogRow& row) {
  return Join({"log", Num(row.study), Num(row.number), Num(row.attempt),
               Quote(row.tail), Num(row.written), Quote(row.place)});
}

std::string Text(const storage::SummaryRow& row) {
  return Join({"summary",
               Num(row.study),
               Num(row.succeeded),
               Num(row.pruned),
               Num(row.infeasible),
               Num(row.failed),
               Num(row.cancelled),
               Num(row.budget_used),
               Num(row.train_us),
               Num(row.next_number),
               Num(row.revision),
               Num(row.costed),
               Num(row.total_us),
               Num(row.mega_flops_spent),
               Num(row.mega_flops_skipped),
               Num(row.mega_flops_shared),
               Num(row.prefix_hits),
               Num(row.prefix_misses),
               Num(row.prefix_bytes),
               Num(row.fastest_mega_flops)});
}

std::string Text(const storage::BestRow& row) {
  return Join({"best", Num(row.study), Num(row.number), Bits(row.values)});
}

std::string Text(const storage::WorkerRow& row) {
  return Join({"worker", Quote(row.id), Quote(row.boot_id), Num(row.state),
               Quote(row.info), Num(row.failures_in_a_row), Num(row.registered),
               Num(row.last_seen)});
}

std::string Text(const storage::TokenRow& row) {
  return Join({"token", Quote(row.id), Num(row.role), Quote(row.subject),
               Quote(row.note), Quote(row.secret_sha256),
               Quote(row.old_secret_sha256), Num(row.created), Num(row.expires),
               Num(row.old_secret_expires), Num(row.last_used),
               Num(row.revoked), Quote(row.request_id), Quote(row.study_labels),
               Num(row.single_use)});
}

std::string Text(const storage::CertificateRow& row) {
  return Join({"certificate", Quote(row.id), Quote(row.subject), Num(row.role),
               Num(row.created), Num(row.expires), Num(row.last_used),
               Num(row.revoked)});
}

std::string Text(const storage::AuditRow& row) {
  return Join({"audit", Num(row.first), Num(row.last), Quote(row.lines)});
}

std::string Text(const storage::NotificationRow& row) {
  return Join({"notification", Quote(row.id), Quote(row.name), Quote(row.study),
               Quote(row.body), Num(row.created)});
}

std::string Text(const storage::ReplyRow& row) {
  return Join({"reply", Quote(row.request_id), Quote(row.method),
               absl::StrCat(row.request_hash), Quote(row.reply),
               Num(row.created)});
}

}  // namespace frostline::test
