// SPDX-License-Identifier: Apache-2.0
#include "server/importance/desk.h"

#include <utility>

#include "base/error.h"
#include "base/status_macros.h"
#include "importance/ranking/stability.h"
#include "server/importance/serve.h"
#include "server/wire/limits.h"

namespace frostline::server {

ImportanceDesk::ImportanceDesk(const storage::TrialStore& store,
                               const Clock& clock)
    : store_(store),
      clock_(clock),
      studies_(kMaxKnownTrialBytes),
      answers_(kMaxAnswerBytes) {}

void ImportanceDesk::Start(int threads) { threads_.Start(threads); }

void ImportanceDesk::Stop() {
  stopping_ = true;
  threads_.Stop();
}

void ImportanceDesk::Compute(const std::string& key, Computation computation) {
  threads_.Post([this, key, computation = std::move(computation)] {
    if (stopping_) {
      return answers_.Resolve(key, MakeError(ErrorId::kCoordinatorDraining,
                                             "the coordinator is shutting down",
                                             "try again when it is back"));
    }
    if (answers_.Begin(key)) answers_.Resolve(key, computation());
  });
}

absl::StatusOr<ImportanceDesk::Loaded> ImportanceDesk::Load(
    const StudyHandle& study, const ImportanceQuestion& question) {
  Loaded loaded;
  RETURN_IF_ERROR(studies_.Of(study.key)->See(
      study, store_, question.used.at_step(),
      [&](const std::map<std::int64_t, KnownTrial>& trials,
          std::int64_t revision) -> absl::Status {
        loaded.revision = revision;
        ASSIGN_OR_RETURN(loaded.history,
                         SelectHistory(question, *study.checked, trials));
        return absl::OkStatus();
      }));
  return loaded;
}

absl::StatusOr<importance::StabilityVerdict> VerdictOf(
    const StudyHandle& study, const ImportanceQuestion& question,
    const History& history) {
  importance::EvaluateOptions options = question.options;
  options.bootstraps = 0;
  options.pairs = false;
  const absl::StatusOr<importance::Stability> stability =
      importance::EvaluateStability(study.checked->space, question.objectives,
                                    history, options, kVerdictPoints);
  if (stability.ok()) return stability->verdict;
  // What a report can do with, its beginnings may lack: values that differ.
  if (!absl::IsFailedPrecondition(stability.status())) {
    return stability.status();
  }
  importance::StabilityVerdict none;
  none.sentence = std::string(stability.status().message());
  return none;
}

}  // namespace frostline::server
