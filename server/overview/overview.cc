// SPDX-License-Identifier: Apache-2.0
#include "server/overview/overview.h"

#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "server/overview/loop_view.h"

namespace frostline::server {
namespace {

constexpr std::array kEndStates = {TrialState::kSucceeded, TrialState::kPruned,
                                   TrialState::kInfeasible, TrialState::kFailed,
                                   TrialState::kCancelled};
constexpr std::array kAttemptEnds = {
    std::pair{AttemptState::kCompleted, "completed"},
    std::pair{AttemptState::kFailed, "failed"},
    std::pair{AttemptState::kLost, "lost"},
    std::pair{AttemptState::kPreempted, "preempted"},
    std::pair{AttemptState::kReleased, "released"},
    std::pair{AttemptState::kCancelled, "cancelled"}};

double Millionths(const Counter& counter) {
  return static_cast<double>(counter.value()) / 1e6;
}

void WriteLoop(const CommitLoop& loop, MetricsPage& page) {
  const LoopCounts& counts = loop.counts();
  page.Set("frostline_loop_busy_seconds_total", Millionths(counts.busy_us));
  page.Set("frostline_commit_seconds", counts.commit_seconds);
  page.Set("frostline_commit_group_size", counts.group_size);
  page.Set("frostline_groups_undone_total", counts.undone);
  for (const auto& [urgency, name] : {std::pair{Urgency::kLease, "lease"},
                                      std::pair{Urgency::kChange, "change"},
                                      std::pair{Urgency::kRead, "read"}}) {
    page.Set("frostline_loop_backlog",
             static_cast<std::int64_t>(loop.BacklogOf(urgency)),
             {{"urgency", name}});
  }
}

void WriteLeases(const LedgerCounts& counts, MetricsPage& page) {
  for (const TrialState state : kEndStates) {
    page.Set("frostline_trials_ended_total",
             counts.trials_ended[static_cast<std::size_t>(state)],
             {{"state", NameOf(state)}});
  }
  for (const auto& [state, name] : kAttemptEnds) {
    page.Set("frostline_attempts_ended_total",
             counts.attempts_ended[static_cast<std::size_t>(state)],
             {{"end", name}});
  }
  page.Set("frostline_leases_granted_total", counts.granted);
  page.Set("frostline_leases_expired_total", counts.expired);
  page.Set("frostline_leases_reinstated_total", counts.reinstated);
  constexpr char kLate[] = "frostline_late_results_total";
  page.Set(kLate, counts.late_accepted, {{"verdict", "accepted"}});
  page.Set(kLate, counts.late_superseded, {{"verdict", "superseded"}});
  constexpr char kRequeued[] = "frostline_trials_requeued_total";
  page.Set(kRequeued, counts.requeued_trial, {{"reason", "trial"}});
  page.Set(kRequeued, counts.requeued_infrastructure,
           {{"reason", "infrastructure"}});
  page.Set(kRequeued, counts.requeued_handed_back, {{"reason", "handed_back"}});
}

void WriteUsage(const LedgerCounts& counts, MetricsPage& page) {
  page.Set("frostline_train_seconds_total", Millionths(counts.train_us));
  page.Set("frostline_trial_seconds_total", Millionths(counts.total_us));
  const auto flops = [&page](const char* part, const Counter& mega) {
    page.Set("frostline_flops_total", static_cast<double>(mega.value()) * 1e6,
             {{"part", part}});
  };
  flops("spent", counts.mega_flops_spent);
  flops("skipped", counts.mega_flops_skipped);
  flops("shared", counts.mega_flops_shared);
  constexpr char kPrefix[] = "frostline_prefix_lookups_total";
  page.Set(kPrefix, counts.prefix_hits, {{"result", "hit"}});
  page.Set(kPrefix, counts.prefix_misses, {{"result", "miss"}});
  page.Set("frostline_prefix_bytes_total", counts.prefix_bytes);
  page.Set("frostline_energy_joules_total",
           static_cast<double>(counts.energy_millijoules.value()) / 1e3);
}

void WriteSearch(const SearchCounts& search, const ImportanceDesk& importance,
                 MetricsPage& page) {
  for (const auto& [sampler, seconds] : search.seconds()) {
    page.Set("frostline_proposal_seconds", seconds, {{"sampler", sampler}});
  }
  page.Set("frostline_proposals_failed_total", search.failed);
  constexpr char kAnswers[] = "frostline_importance_answers_total";
  const AnswerCounts& answers = importance.counts();
  page.Set(kAnswers, answers.kept, {{"source", "kept"}});
  page.Set(kAnswers, answers.joined, {{"source", "joined"}});
  page.Set(kAnswers, answers.computed, {{"source", "computed"}});
  page.Set(kAnswers, answers.refused, {{"source", "refused"}});
  page.Set("frostline_importance_seconds", importance.seconds());
}

void WriteNotifications(const NotifyCounts& counts, MetricsPage& page) {
  constexpr char kTold[] = "frostline_notifications_total";
  page.Set(kTold, counts.delivered, {{"outcome", "delivered"}});
  page.Set(kTold, counts.retried, {{"outcome", "retried"}});
  page.Set(kTold, counts.given_up, {{"outcome", "given_up"}});
  page.Set(kTold, counts.dropped, {{"outcome", "dropped"}});
}

// Outlives who waits for it.
struct AskedLoop {
  Mutex mutex;
  CondVar answered;
  std::optional<LoopView> view ABSL_GUARDED_BY(mutex);
};

}  // namespace

void Overview::Measure(MetricsPage& page) const {
  WriteLoop(rooms_.loop, page);
  WriteLeases(rooms_.ledger.counts(), page);
  WriteUsage(rooms_.ledger.counts(), page);
  WriteSearch(rooms_.proposer.counts(), rooms_.importance, page);
  WriteNotifications(rooms_.notifier.counts(), page);
  const auto asked = std::make_shared<AskedLoop>();
  // The rooms outlive the loop, and with it what is posted there.
  const bool posted = rooms_.loop.Post(
      [asked, rooms = &rooms_](Batch& batch) {
        batch.AssertOnLoop();
        LoopView view =
            LookAround(rooms->ledger, rooms->dispatcher, rooms->audit,
                       rooms->upkeep.disk(), rooms->clock);
        {
          const MutexLock lock(&asked->mutex);
          asked->view = std::move(view);
        }
        asked->answered.SignalAll();
      },
      Urgency::kRead);
  std::optional<LoopView> view;
  if (posted) {
    const auto until = std::chrono::steady_clock::now() + kPatience;
    const MutexLock lock(&asked->mutex);
    while (!asked->view.has_value()) {
      if (!asked->answered.WaitUntil(&asked->mutex, until)) break;
    }
    view = std::move(asked->view);
  }
  page.Set("frostline_loop_responsive", view.has_value() ? 1.0 : 0.0);
  if (view.has_value()) Write(*view, page);
}

}  // namespace frostline::server
