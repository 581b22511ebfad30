// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/full_rows.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "base/error.h"

namespace frostline::test {

storage::StudyRow FullStudy(const std::string& id) {
  return storage::StudyRow{
      .id = id,
      .state = storage::StudyState::kPaused,
      .spec = std::string("spec\0\xff", 6),
      .settings = "settings",
      .seed = std::numeric_limits<std::uint64_t>::max() - 1,
      .etag = 7,
      .revision = 8,
      .created = 9,
      .updated = 10,
      .expires = 11,
      .state_reason = "a person said so"};
}

storage::TrialRow FullTrial(storage::StudyKey study, std::int64_t number) {
  return storage::TrialRow{
      .study = study,
      .number = number,
      .state = TrialState::kRunning,
      .origin = storage::TrialOrigin::kEnqueued,
      .point = {1.0, kAbsent, -0.0, 2e-5},
      .attempt = 3,
      .secret = SecretString(absl::StrCat("secret ", number)),
      .worker = "gpu03",
      .trial_faults = 1,
      .infrastructure_faults = 2,
      .priority = -5,
      .revision = 100 + number,
      .created = 20,
      .started = 21,
      .ended = 22,
      .last_step = 23,
      .metrics = {{"accuracy", 0.875}, {"", -0.0}},
      .values = {0.875, 1e-310},
      .failure = FailureClass::kOutOfMemory,
      .cause = "\"quoted\"\nand \xc3\xa4",
      .usage = std::string("\0usage", 6),
      .labels = "labels",
      .seen_revision = 24,
      .ended_revision = 25};
}

storage::AttemptRow FullAttempt(storage::StudyKey study, std::int64_t number,
                                std::int64_t attempt) {
  return storage::AttemptRow{.study = study,
                             .number = number,
                             .attempt = attempt,
                             .state = AttemptState::kPreempted,
                             .secret = SecretString("attempt's secret"),
                             .worker = "gpu03",
                             .boot_id = "boot",
                             .started = 1,
                             .ended = 2,
                             .failure = FailureClass::kInfrastructure,
                             .cause = "preempted",
                             .checkpoint = "checkpoint",
                             .outcome = std::string("out\0come", 8),
                             .request_id = "request"};
}

storage::MeasurementRow FullMeasurement(storage::StudyKey study,
                                        std::int64_t number,
                                        std::int64_t attempt,
                                        std::int64_t step) {
  return storage::MeasurementRow{
      .study = study,
      .number = number,
      .attempt = attempt,
      .measurement = {
          .step = step,
          .metrics = {{"loss", 1.0 / static_cast<double>(step + 3)}},
          .elapsed_s = 0.1}};
}

storage::OutcomeRow FullOutcome(storage::StudyKey study, std::int64_t number) {
  return storage::OutcomeRow{.study = study,
                             .number = number,
                             .data_fingerprint = "sha256",
                             .encoding = 2,
                             .count = 9,
                             .data = std::string("\0data", 5),
                             .evaluations = std::string("\0sets", 5)};
}

storage::LogRow FullLog(storage::StudyKey study, std::int64_t number,
                        std::int64_t attempt) {
  return storage::LogRow{.study = study,
                         .number = number,
                         .attempt = attempt,
                         .tail = std::string("epoch 1\n\0\xff", 10),
                         .written = 60,
                         .place = std::string("\0place", 6)};
}

storage::SummaryRow FullSummary(storage::StudyKey study) {
  return storage::SummaryRow{.study = study,
                             .succeeded = 1,
                             .pruned = 2,
                             .infeasible = 3,
                             .failed = 4,
                             .cancelled = 5,
                             .budget_used = 6,
                             .train_us = 7,
                             .next_number = 8,
                             .revision = 9,
                             .costed = 10,
                             .total_us = 11,
                             .mega_flops_spent = 12,
                             .mega_flops_skipped = 13,
                             .mega_flops_shared = 14,
                             .prefix_hits = 15,
                             .prefix_misses = 16,
                             .prefix_bytes = 17,
                             .fastest_mega_flops = 18};
}

storage::BestRow FullBest(storage::StudyKey study, std::int64_t number) {
  return storage::BestRow{
      .study = study, .number = number, .values = {0.875, -0.0}};
}

storage::WorkerRow FullWorker(const std::string& id) {
  return storage::WorkerRow{.id = id,
                            .boot_id = "boot",
                            .state = storage::WorkerState::kDraining,
                            .info = std::string("\0info", 5),
                            .failures_in_a_row = 2,
                            .registered = 3,
                            .last_seen = 4};
}

storage::TokenRow FullToken(const std::string& id) {
  return storage::TokenRow{.id = id,
                           .role = 3,
                           .subject = "workers/w",
                           .note = "of ana",
                           .secret_sha256 = "5a",
                           .old_secret_sha256 = "5b",
                           .created = 1,
                           .expires = 2,
                           .old_secret_expires = 3,
                           .last_used = 4,
                           .revoked = 5,
                           .request_id = "q",
                           .study_labels = "team=nlp",
                           .single_use = 1};
}

storage::CertificateRow FullCertificate(const std::string& id) {
  return storage::CertificateRow{.id = id,
                                 .subject = "workers/w",
                                 .role = 3,
                                 .created = 1,
                                 .expires = 2,
                                 .last_used = 3,
                                 .revoked = 4};
}

storage::AuditRow FullAudit(std::int64_t first) {
  return storage::AuditRow{
      .first = first, .last = first + 1, .lines = "{}\n{}\n"};
}

storage::NotificationRow FullNotification(const std::string& id) {
  return storage::NotificationRow{
      .id = id, .name = "mail", .study = "imdb", .body = "{}", .created = 1};
}

storage::ReplyRow FullReply(const std::string& request_id) {
  return storage::ReplyRow{
      .request_id = request_id,
      .method = "CreateStudy",
      .request_hash = std::numeric_limits<std::uint64_t>::max(),
      .reply = std::string("re\0ply", 6),
      .created = 50};
}

storage::TrialQuery TrialsOf(storage::StudyKey study, int limit) {
  storage::TrialQuery query;
  query.study = study;
  query.limit = limit;
  return query;
}

storage::TrialGuard GuardOf(const storage::TrialRow& trial) {
  return storage::TrialGuard{
      .state = trial.state, .attempt = trial.attempt, .secret = trial.secret};
}

namespace {

absl::StatusOr<storage::Epoch> SomeLead(storage::TrialStore& store) {
  ASSIGN_OR_RETURN(const storage::Epoch epoch, store.FindLead());
  return epoch > 0 ? epoch : store.TakeLead();
}

}  // namespace

absl::StatusOr<std::unique_ptr<storage::Transaction>> Begin(
    storage::TrialStore& store) {
  ASSIGN_OR_RETURN(const storage::Epoch epoch, SomeLead(store));
  return store.Begin(epoch);
}

absl::Status Write(storage::TrialStore& store, Body body) {
  ASSIGN_OR_RETURN(const storage::Epoch epoch, SomeLead(store));
  return WriteIn(store, epoch, body);
}

absl::Status WriteIn(storage::TrialStore& store, storage::Epoch epoch,
                     Body body) {
  ASSIGN_OR_RETURN(const std::unique_ptr<storage::Transaction> transaction,
                   store.Begin(epoch));
  const absl::Status written =
      transaction->Operation([&] { return body(*transaction); });
  RETURN_IF_ERROR(transaction->Commit());
  return written;
}

}  // namespace frostline::test
