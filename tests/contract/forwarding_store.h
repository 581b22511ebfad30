// SPDX-License-Identifier: Apache-2.0
//
// File: forwarding_store.h
//
// What test doubles of a store and its transactions have in common: all that
// they do not override is done by the one below.
#ifndef FROSTLINE_TESTS_CONTRACT_FORWARDING_STORE_H_
#define FROSTLINE_TESTS_CONTRACT_FORWARDING_STORE_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/trial_store.h"

namespace frostline::test {

class ForwardingTransaction : public storage::Transaction {
 public:
  // Null needs a Pass() that does not call.
  explicit ForwardingTransaction(std::unique_ptr<storage::Transaction> below)
      : below_(std::move(below)) {}

  absl::Status Operation(absl::FunctionRef<absl::Status()> body) override {
    return below_->Operation(body);
  }
  absl::StatusOr<storage::StudyKey> InsertStudy(
      const storage::StudyRow& study) override {
    return below_->InsertStudy(study);
  }
  absl::Status UpdateStudy(const storage::StudyRow& study,
                           std::int64_t expected_etag) override {
    return Pass([&] { return below_->UpdateStudy(study, expected_etag); });
  }
  absl::StatusOr<bool> PurgeStudy(storage::StudyKey study,
                                  std::int64_t most) override {
    return PassAsked([&] { return below_->PurgeStudy(study, most); });
  }
  absl::Status InsertTrial(const storage::TrialRow& trial) override {
    return Pass([&] { return below_->InsertTrial(trial); });
  }
  absl::Status UpdateTrial(const storage::TrialRow& trial,
                           const storage::TrialGuard& guard) override {
    return Pass([&] { return below_->UpdateTrial(trial, guard); });
  }
  absl::Status PutAttempt(const storage::AttemptRow& attempt) override {
    return Pass([&] { return below_->PutAttempt(attempt); });
  }
  absl::Status AddMeasurements(
      const std::vector<storage::MeasurementRow>& rows) override {
    return Pass([&] { return below_->AddMeasurements(rows); });
  }
  absl::Status PutOutcome(const storage::OutcomeRow& outcome) override {
    return Pass([&] { return below_->PutOutcome(outcome); });
  }
  absl::Status PutLog(const storage::LogRow& log) override {
    return Pass([&] { return below_->PutLog(log); });
  }
  absl::Status PutSummary(const storage::SummaryRow& summary) override {
    return Pass([&] { return below_->PutSummary(summary); });
  }
  absl::Status PutBest(const storage::BestRow& best) override {
    return Pass([&] { return below_->PutBest(best); });
  }
  absl::Status PutWorker(const storage::WorkerRow& worker) override {
    return Pass([&] { return below_->PutWorker(worker); });
  }
  absl::Status ForgetWorker(const std::string& id) override {
    return Pass([&] { return below_->ForgetWorker(id); });
  }
  absl::Status PutToken(const storage::TokenRow& token) override {
    return Pass([&] { return below_->PutToken(token); });
  }
  absl::Status PutCertificate(const storage::CertificateRow& row) override {
    return Pass([&] { return below_->PutCertificate(row); });
  }
  absl::Status PutAudit(const storage::AuditRow& entries) override {
    return Pass([&] { return below_->PutAudit(entries); });
  }
  absl::Status ForgetAuditBefore(std::int64_t first) override {
    return Pass([&] { return below_->ForgetAuditBefore(first); });
  }
  absl::Status PutNotification(const storage::NotificationRow& row) override {
    return Pass([&] { return below_->PutNotification(row); });
  }
  absl::Status ForgetNotification(const std::string& id) override {
    return Pass([&] { return below_->ForgetNotification(id); });
  }
  absl::Status RememberReply(const storage::ReplyRow& reply) override {
    return Pass([&] { return below_->RememberReply(reply); });
  }
  absl::StatusOr<bool> ForgetRepliesBefore(WallMicros time,
                                           std::int64_t most) override {
    return PassAsked([&] { return below_->ForgetRepliesBefore(time, most); });
  }
  absl::Status Commit() override { return below_->Commit(); }

 protected:
  // Does one write, but for InsertStudy(), which gives a key.
  virtual absl::Status Pass(absl::FunctionRef<absl::Status()> write) {
    return write();
  }
  storage::Transaction* below() const { return below_.get(); }
  void RollBack() { below_.reset(); }

 private:
  // Nothing is left where the refusal is kept for later.
  absl::StatusOr<bool> PassAsked(
      absl::FunctionRef<absl::StatusOr<bool>()> write) {
    bool some_left = false;
    absl::Status passed = Pass([&] {
      const absl::StatusOr<bool> asked = write();
      some_left = asked.ok() && *asked;
      return asked.status();
    });
    if (!passed.ok()) return passed;
    return some_left;
  }

  std::unique_ptr<storage::Transaction> below_;
};

class ForwardingStore : public storage::TrialStore {
 public:
  explicit ForwardingStore(std::unique_ptr<storage::TrialStore> store)
      : store_(std::move(store)) {}

  // For what happens behind a coordinator's back.
  storage::TrialStore& below() const { return *store_; }

  absl::StatusOr<storage::Epoch> TakeLead() override {
    return store_->TakeLead();
  }
  absl::StatusOr<storage::Epoch> FindLead() const override {
    return store_->FindLead();
  }
  absl::StatusOr<std::unique_ptr<storage::Transaction>> Begin(
      storage::Epoch epoch) override {
    return store_->Begin(epoch);
  }
  absl::StatusOr<storage::StudyRow> FindStudy(
      const std::string& id) const override {
    NoteRead();
    return store_->FindStudy(id);
  }
  absl::StatusOr<std::vector<storage::StudyRow>> ListStudies(
      const storage::StudyQuery& query) const override {
    NoteRead();
    return store_->ListStudies(query);
  }
  absl::StatusOr<storage::TrialRow> FindTrial(
      storage::StudyKey study, std::int64_t number) const override {
    NoteRead();
    return store_->FindTrial(study, number);
  }
  absl::StatusOr<std::vector<storage::TrialRow>> ListTrials(
      const storage::TrialQuery& query) const override {
    NoteRead();
    return store_->ListTrials(query);
  }
  absl::StatusOr<std::vector<storage::AttemptRow>> ListAttempts(
      storage::StudyKey study, std::int64_t number) const override {
    NoteRead();
    return store_->ListAttempts(study, number);
  }
  absl::StatusOr<std::vector<storage::AttemptRow>> ListGranted(
      const std::string& request_id) const override {
    NoteRead();
    return store_->ListGranted(request_id);
  }
  absl::StatusOr<std::vector<storage::SummaryRow>> ListSummaries(
      storage::StudyKey after, int limit) const override {
    NoteRead();
    return store_->ListSummaries(after, limit);
  }
  absl::StatusOr<std::vector<storage::BestRow>> ListBest(
      storage::StudyKey study, std::int64_t after, int limit) const override {
    NoteRead();
    return store_->ListBest(study, after, limit);
  }
  absl::StatusOr<std::vector<Measurement>> ListMeasurements(
      const storage::MeasurementQuery& query) const override {
    NoteRead();
    return store_->ListMeasurements(query);
  }
  absl::StatusOr<std::optional<storage::OutcomeRow>> FindOutcome(
      storage::StudyKey study, std::int64_t number) const override {
    NoteRead();
    return store_->FindOutcome(study, number);
  }
  absl::StatusOr<std::optional<storage::LogRow>> FindLog(
      storage::StudyKey study, std::int64_t number,
      std::int64_t attempt) const override {
    NoteRead();
    return store_->FindLog(study, number, attempt);
  }
  absl::StatusOr<std::vector<storage::WorkerRow>> ListWorkers(
      const std::string& after, int limit) const override {
    NoteRead();
    return store_->ListWorkers(after, limit);
  }
  absl::StatusOr<std::vector<storage::TokenRow>> ListTokens(
      const std::string& after, int limit) const override {
    NoteRead();
    return store_->ListTokens(after, limit);
  }
  absl::StatusOr<std::vector<storage::CertificateRow>> ListCertificates(
      const std::string& after, int limit) const override {
    NoteRead();
    return store_->ListCertificates(after, limit);
  }
  absl::StatusOr<std::vector<storage::AuditRow>> ListAudit(
      std::int64_t after, int limit) const override {
    NoteRead();
    return store_->ListAudit(after, limit);
  }
  absl::StatusOr<std::vector<storage::NotificationRow>> ListNotifications(
      const std::string& after, int limit) const override {
    NoteRead();
    return store_->ListNotifications(after, limit);
  }
  absl::StatusOr<std::optional<storage::ReplyRow>> FindReply(
      const std::string& request_id) const override {
    NoteRead();
    return store_->FindReply(request_id);
  }
  storage::DiskRoom RoomLeft() const override { return store_->RoomLeft(); }
  absl::StatusOr<bool> Tend() override { return store_->Tend(); }
  absl::StatusOr<SecretString> LeaseKey() override {
    return store_->LeaseKey();
  }
  std::vector<WallMicros> NoteStart(WallMicros now) override {
    return store_->NoteStart(now);
  }
  absl::StatusOr<storage::BackupReport> Backup(
      const std::string& path) const override {
    return store_->Backup(path);
  }
  std::string Describe() const override { return store_->Describe(); }

 protected:
  // Comes before each read of rows.
  virtual void NoteRead() const {}

 private:
  const std::unique_ptr<storage::TrialStore> store_;
};

}  // namespace frostline::test

#endif  // FROSTLINE_TESTS_CONTRACT_FORWARDING_STORE_H_
