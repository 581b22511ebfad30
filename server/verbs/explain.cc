// SPDX-License-Identifier: Apache-2.0
//
// Why nothing, or so little, is running: one call, one list of sentences.
#include "absl/strings/str_cat.h"
#include "base/ids.h"
#include "server/coordinator_impl.h"

namespace frostline {
namespace {

void Say(v1::ExplainStudyReply& reply, const char* code,
         const std::string& sentence, const std::string& fix) {
  auto* const reason = reply.add_reasons();
  reason->set_code(code);
  reason->set_sentence(sentence);
  reason->set_fix(fix);
}

// `progress` is what its worker last said, where it runs.
void ExplainTrial(const TrialRow& row, const std::string& progress,
                  v1::ExplainStudyReply& reply) {
  const std::string trial = absl::StrCat("trial ", row.number, " ");
  const std::string faults =
      absl::StrCat(row.trial_faults, " faults of the trial, ",
                   row.infrastructure_faults, " of the infrastructure");
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

std::string Coordinator::Impl::ProgressOf(const TrialRow& row) const {
  const auto found = progress_.find({row.study, row.number});
  if (found == progress_.end()) {
    return absl::StrCat("last step ", row.last_step);
  }
  const Progress& said = found->second;
  const std::string of =
      said.total_steps > 0 ? absl::StrCat(" of ", said.total_steps) : "";
  const auto ago = std::chrono::duration_cast<std::chrono::seconds>(
      clock_.Steady() - said.stepped);
  return absl::StrCat("step ", said.step, of, ", ", ago.count(), " s ago");
}

absl::StatusOr<v1::ExplainStudyReply> Coordinator::Impl::ExplainStudy(
    const v1::ExplainStudyRequest& request) {
  ASSIGN_OR_RETURN(StudyBook * book, FindStudy(request.name()));
  v1::ExplainStudyReply reply;
  const auto& required = book->checked().settings.required_worker_labels();
  int out_of_service = 0;
  for (const auto& [id, entry] : workers_.all()) {
    const v1::Worker worker = Describe(entry);
    if (worker.state() == v1::WORKER_STATE_GONE) continue;
    reply.set_live_workers(reply.live_workers() + 1);
    if (!CarriesLabels(entry.info, required)) continue;
    if (worker.state() != v1::WORKER_STATE_ACTIVE) {
      ++out_of_service;
      continue;
    }
    reply.set_matching_workers(reply.matching_workers() + 1);
    reply.set_free_slots(reply.free_slots() + worker.slots() -
                         worker.trials_size());
  }
  if (request.has_trial_number()) {
    ASSIGN_OR_RETURN(
        const Named named,
        FindTrial(TrialNameOf(book->row().id, request.trial_number())));
    ExplainTrial(named.trial.row, ProgressOf(named.trial.row), reply);
  }
  if (book->row().state == StudyState::kPaused) {
    Say(reply, "PAUSED", "the study is paused: " + book->row().state_reason,
        "resume it");
  } else if (!book->IsLeasing()) {
    Say(reply, "ENDED", "the study has ended: " + book->row().state_reason, "");
    return reply;
  }
  if (room_.room == Room::kNoNewLeases) {
    Say(reply, "DISK_NEARLY_FULL",
        absl::StrCat("the coordinator's disk has ", room_.free_bytes >> 20,
                     " MiB left; what runs may end, nothing begins"),
        "make room on it");
  }
  if (reply.live_workers() == 0) {
    Say(reply, "NO_WORKERS", "no worker has been heard of",
        "start one: frostline worker --connect HOST:PORT");
  } else if (out_of_service > 0) {
    Say(reply, "WORKERS_OUT_OF_SERVICE",
        absl::StrCat(out_of_service, " workers are drained or quarantined"),
        "see their failures, then take them back with drain --undo");
  } else if (reply.matching_workers() == 0) {
    Say(reply, "NO_MATCHING_LABELS",
        "no live worker carries the labels the study asks for",
        "start workers with --label, or change required_worker_labels");
  }
  if (book->AtParallelLimit()) {
    Say(reply, "PARALLEL_LIMIT",
        absl::StrCat("max_parallel trials (", book->Count(TrialState::kRunning),
                     ") are running"),
        "raise max_parallel");
  }
  if (reply.matching_workers() > 0 && reply.free_slots() <= 0) {
    Say(reply, "ALL_SLOTS_BUSY", "every matching worker is busy",
        "add workers or slots");
  }
  if (book->SlotsLeft(clock_.Wall()) == 0 &&
      book->Count(TrialState::kQueued) == 0 && book->reserved() == 0) {
    Say(reply, "BUDGET_REACHED",
        absl::StrCat("the last ", book->Count(TrialState::kRunning),
                     " trials of the budget are running"),
        "raise the budget for more");
  }
  return reply;
}

}  // namespace frostline
