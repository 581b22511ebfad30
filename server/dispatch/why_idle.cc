// SPDX-License-Identifier: Apache-2.0
#include "server/dispatch/why_idle.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace frostline::server {
namespace {

// "1 worker", "2 workers".
std::string Counted(std::int64_t count, const std::string& one) {
  return absl::StrCat(count, " ", one, count == 1 ? "" : "s");
}

std::optional<IdleReason> WhyNobodyTakes(const StudySupply& study,
                                         const FleetSupply& fleet) {
  if (fleet.live == 0) {
    return IdleReason{
        v1::NO_MATCHING_LABELS, "NO_WORKERS", "no worker has been heard of",
        "start one: frostline worker --connect HOST:PORT --registry "
        "DIR"};
  }
  if (fleet.out_of_service > 0) {
    return IdleReason{
        v1::QUARANTINED, "WORKERS_OUT_OF_SERVICE",
        absl::StrCat(Counted(fleet.out_of_service, "worker"),
                     fleet.out_of_service == 1 ? " is" : " are",
                     " drained or quarantined"),
        "see their failures, then take them back with drain --undo"};
  }
  if (fleet.matching == 0 && fleet.kept > 0) {
    return IdleReason{
        v1::QUARANTINED, "WORKERS_KEPT_AWAY",
        absl::StrCat(study.name, " failed too often on ", fleet.who, ": ",
                     fleet.why_kept),
        "mend the cause, then drain --undo the worker; it is tried again after "
        "a pause"};
  }
  if (fleet.matching == 0 && fleet.lacking > 0) {
    if (absl::StartsWith(fleet.what_lacks, "the precision ")) {
      return IdleReason{
          v1::NOT_IN_STOCK, "NOT_IN_STOCK",
          absl::StrCat(study.name, " goes on in ", fleet.what_lacks,
                       ", as its first trial began, and ", fleet.who,
                       " does not compute in it at full speed"),
          "start a worker like the first one, or make the study anew with "
          "training.precision: fp32"};
    }
    return IdleReason{
        v1::NOT_IN_STOCK, "NOT_IN_STOCK",
        absl::StrCat(study.name, " needs ", fleet.what_lacks,
                     ", which is in no registry of ", fleet.who),
        "add it to models.yaml or datasets.yaml of a node, with its files; "
        "workers see it within seconds"};
  }
  if (fleet.matching == 0) {
    return IdleReason{
        v1::NO_MATCHING_LABELS, "NO_MATCHING_LABELS",
        absl::StrCat(study.name, " asks for labels that are not carried by ",
                     fleet.who),
        "start workers with --label, or change required_worker_labels"};
  }
  return std::nullopt;
}

IdleReason AllGiven(const StudySupply& study) {
  return {v1::BUDGET_REACHED, "BUDGET_REACHED",
          absl::StrCat(study.name, ": all trials of the budget are ended or ",
                       "leased, ", study.running, " running"),
          "raise the budget for more"};
}

}  // namespace

std::vector<IdleReason> WhyIdle(const StudySupply& study,
                                const FleetSupply& fleet,
                                const storage::DiskRoom& disk) {
  std::vector<IdleReason> reasons;
  const auto say = [&reasons](IdleReason reason) {
    reasons.push_back(std::move(reason));
  };
  const std::string why =
      study.state_reason.empty() ? "" : absl::StrCat(": ", study.state_reason);
  if (study.state == storage::StudyState::kPaused) {
    say({v1::STUDY_PAUSED, "PAUSED",
         absl::StrCat(study.name, " is paused", why), "resume it"});
  } else if (study.state != storage::StudyState::kActive) {
    say({v1::STUDY_ENDED, "ENDED", absl::StrCat(study.name, " has ended", why),
         ""});
    return reasons;
  }
  if (disk.room == storage::Room::kNoNewLeases) {
    say({v1::DISK_NEARLY_FULL, "DISK_NEARLY_FULL",
         absl::StrCat("the coordinator's disk has ", disk.free_bytes >> 20,
                      " MiB left; what runs may end, nothing begins"),
         "make room on it"});
  }
  if (auto nobody = WhyNobodyTakes(study, fleet)) say(*std::move(nobody));
  if (study.at_parallel_limit) {
    say({v1::PARALLEL_LIMIT, "PARALLEL_LIMIT",
         absl::StrCat(study.name, " runs max_parallel trials (", study.running,
                      ")"),
         "raise max_parallel"});
  }
  if (study.is_ramping && study.budget_left && fleet.free_slots > 0) {
    say({v1::PARALLEL_LIMIT, "RAMPING",
         absl::StrCat(study.name, " runs as many trials as its sampler can ",
                      "learn from yet (", study.running,
                      "); more would begin blind"),
         "wait, or set max_parallel to begin so many at a time"});
  }
  if (fleet.matching > 0 && fleet.free_slots <= 0) {
    say({v1::NONE_REASON_UNSPECIFIED, "ALL_SLOTS_BUSY",
         "every matching worker is busy", "add workers or slots"});
  }
  const bool nothing_queued = study.queued == 0;
  if (nothing_queued && study.proposing > 0 && study.running == 0) {
    say({v1::SAMPLER_BUSY, "SAMPLER_BUSY",
         absl::StrCat(study.name, " is proposing ",
                      Counted(study.proposing, "trial")),
         ""});
  }
  if (nothing_queued && study.proposing == 0 && !study.budget_left) {
    say(AllGiven(study));
  }
  return reasons;
}

std::optional<IdleReason> WhyNotInService(const WorkerStanding& worker) {
  if (worker.coordinator_drains) {
    return IdleReason{v1::DRAINING, "DRAINING",
                      "the coordinator is shutting down", ""};
  }
  if (!worker.is_registered) {
    return IdleReason{v1::DRAINING, "DRAINING",
                      "the worker has registered anew", ""};
  }
  if (worker.state == storage::WorkerState::kDraining) {
    return IdleReason{v1::DRAINING, "DRAINING", "this worker is drained", ""};
  }
  if (worker.state == storage::WorkerState::kQuarantined) {
    return IdleReason{
        v1::QUARANTINED, "QUARANTINED",
        absl::StrCat(Counted(worker.failures_in_a_row, "failure"), " in a row",
                     worker.cause.empty() ? "" : "; the last: ", worker.cause,
                     "; mend the cause, then frostline worker drain ID --undo, "
                     "or start it again; it is tried again after a pause"),
        ""};
  }
  return std::nullopt;
}

IdleReason WhyNothingOf(const StudySupply& study, const FleetSupply& worker,
                        const storage::DiskRoom& disk) {
  std::vector<IdleReason> reasons = WhyIdle(study, worker, disk);
  if (!reasons.empty()) return std::move(reasons.front());
  if (study.proposing > 0) {
    return {v1::SAMPLER_BUSY, "SAMPLER_BUSY", study.name + " is proposing", ""};
  }
  return AllGiven(study);
}

bool IsNearer(const IdleReason& candidate, const IdleReason& than) {
  return than.none == v1::NO_STUDY || candidate.none > than.none;
}

}  // namespace frostline::server
