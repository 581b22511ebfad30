// SPDX-License-Identifier: Apache-2.0
#include "server/verbs/explain_verb.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/ids.h"
#include "server/dispatch/dispatcher.h"
#include "server/dispatch/supply.h"
#include "server/dispatch/why_idle.h"
#include "server/search/sampler_choice.h"
#include "server/verbs/describe.h"

namespace frostline::server {
namespace {

void Say(v1::ExplainStudyReply& reply, const char* code,
         const std::string& sentence, const std::string& fix) {
  auto* const reason = reply.add_reasons();
  reason->set_code(code);
  reason->set_sentence(sentence);
  reason->set_fix(fix);
}

// `progress` is what its worker last said, where it runs.
void ExplainTrial(const storage::TrialRow& row, const std::string& progress,
                  v1::ExplainStudyReply& reply) {
  const std::string trial = absl::StrCat("trial ", row.number, " ");
  const std::string faults = absl::StrCat(
      row.trial_faults, row.trial_faults == 1 ? " fault" : " faults",
      " of the trial, ", row.infrastructure_faults, " of the infrastructure");
  switch (row.state) {
    case TrialState::kQueued:
      Say(reply, "QUEUED",
          absl::StrCat(trial, "waits for a worker; ", faults,
                       row.cause.empty() ? "" : "; last: " + row.cause),
          "see the study's reasons");
      return;
    case TrialState::kRunning:
      Say(reply, "RUNNING",
          absl::StrCat(trial, "runs on ", row.worker, ", attempt ", row.attempt,
                       ", ", progress),
          "");
      return;
    default:
      Say(reply, NameOf(row.state),
          absl::StrCat(trial, "has ended ", NameOf(row.state),
                       row.cause.empty() ? "" : ": " + row.cause),
          row.state == TrialState::kFailed ? "mend the cause, then retry it"
                                           : "");
  }
}

}  // namespace

// What the loop saw at one moment.
struct ExplainVerb::Seen {
  StudySupply study;
  std::shared_ptr<const CheckedStudy> checked;
  v1::TrialCounts counts;
  FleetSupply fleet;
  storage::DiskRoom disk;
  std::optional<storage::TrialRow> trial;
  std::string progress;  // of the trial
};

void ExplainVerb::AddTo(VerbTable& table) {
  calls_.Add(table, "StudyService.ExplainStudy", CallerRole::kViewer, this,
             &ExplainVerb::ExplainStudy);
}

void ExplainVerb::ExplainStudy(CallContext caller,
                               v1::ExplainStudyRequest request,
                               Reply<v1::ExplainStudyReply> reply) {
  calls_.Look<Seen>(
      std::move(caller), std::move(reply),
      [this, request = std::move(request)](Change& change) {
        change.AssertOnLoop();
        return See(change, request);
      },
      [](const Seen& seen) {
        v1::ExplainStudyReply explained;
        if (seen.trial.has_value()) {
          ExplainTrial(*seen.trial, seen.progress, explained);
        }
        const FleetSupply& fleet = seen.fleet;
        explained.set_live_workers(static_cast<std::int32_t>(fleet.live));
        explained.set_matching_workers(
            static_cast<std::int32_t>(fleet.matching));
        explained.set_free_slots(static_cast<std::int32_t>(fleet.free_slots));
        if (IsOpen(seen.study.state)) {
          explained.set_useful_parallelism(
              UsefulParallelismOf(*seen.checked, seen.counts));
        }
        for (const IdleReason& reason : WhyIdle(seen.study, fleet, seen.disk)) {
          Say(explained, reason.code.c_str(), reason.sentence, reason.fix);
        }
        return explained;
      });
}

absl::StatusOr<ExplainVerb::Seen> ExplainVerb::See(
    Change& change, const v1::ExplainStudyRequest& request) const {
  ASSIGN_OR_RETURN(const StudyBook* book, ledger_.FindStudy(request.name()));
  Seen seen;
  if (request.has_trial_number()) {
    ASSIGN_OR_RETURN(
        const NamedTrial named,
        ledger_.FindTrial(TrialNameOf(book->row().id, request.trial_number()),
                          change.rows));
    seen.trial = named.trial.row;
    seen.progress = ProgressOf(named.trial.row);
  }
  Ramp ramp;
  seen.study = SupplyOf(*book, ramp, clock_.Wall());
  seen.checked = book->shared_checked();
  seen.counts = book->Counts();
  seen.fleet = CountFleet(ledger_, *book, clock_);
  seen.disk = disk_;
  return seen;
}

std::string ExplainVerb::ProgressOf(const storage::TrialRow& row) const {
  const auto said = ledger_.running().ProgressOf({row.study, row.number});
  if (!said.has_value()) return absl::StrCat("last step ", row.last_step);
  const std::string of =
      said->total_steps > 0 ? absl::StrCat(" of ", said->total_steps) : "";
  const auto ago = std::chrono::duration_cast<std::chrono::seconds>(
      clock_.Steady() - said->stepped);
  return absl::StrCat("step ", said->step, of, ", ", ago.count(), " s ago");
}

}  // namespace frostline::server
