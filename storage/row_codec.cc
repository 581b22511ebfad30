// SPDX-License-Identifier: Apache-2.0
#include "storage/row_codec.h"

#include <array>
#include <string>

#include "absl/strings/str_cat.h"
#include "storage/trial_store.h"

namespace frostline::storage {

void RowSum::AddInt(std::int64_t value) {
  std::array<unsigned char, 8> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<unsigned char>(
        (static_cast<std::uint64_t>(value) >> (8 * i)) & 0xff);
  }
  AddBytes(bytes.data(), bytes.size());
}

void RowSum::AddString(const std::string& value) {
  AddInt(static_cast<std::int64_t>(value.size()));
  AddBytes(value.data(), value.size());
}

std::string NameOf(const StudyRow& row) {
  return absl::StrCat("study ", row.key);
}
std::string NameOf(const TrialRow& row) {
  return DescribeTrial(row.study, row.number);
}
namespace {

template <typename Row>
std::string NameOfAttempts(const Row& row) {
  return absl::StrCat("attempt ", row.attempt, " of ",
                      DescribeTrial(row.study, row.number));
}

}  // namespace

std::string NameOf(const AttemptRow& row) { return NameOfAttempts(row); }
std::string NameOf(const MeasurementRow& row) {
  return absl::StrCat("step ", row.measurement.step, ", ", NameOfAttempts(row));
}
std::string NameOf(const OutcomeRow& row) {
  return DescribeTrial(row.study, row.number);
}
std::string NameOf(const LogRow& row) { return NameOfAttempts(row); }
std::string NameOf(const WorkerRow& row) {
  return absl::StrCat("worker ", row.id);
}
std::string NameOf(const TokenRow& row) {
  return absl::StrCat("token ", row.id);
}
std::string NameOf(const CertificateRow& row) {
  return absl::StrCat("certificate ", row.id);
}
std::string NameOf(const AuditRow& row) {
  return absl::StrCat("audit entry ", row.first);
}
std::string NameOf(const NotificationRow& row) {
  return absl::StrCat("notification ", row.id);
}
std::string NameOf(const ReplyRow& row) {
  return absl::StrCat("request ", row.request_id);
}
std::string NameOf(const SummaryRow& row) {
  return absl::StrCat("study ", row.study);
}
std::string NameOf(const BestRow& row) {
  return DescribeTrial(row.study, row.number);
}
std::string NameOf(const LeadRow& row) {
  return absl::StrCat("epoch ", row.epoch);
}

}  // namespace frostline::storage
