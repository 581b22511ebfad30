// SPDX-License-Identifier: Apache-2.0
#include "server/ledger/attempt_spans.h"

#include <optional>
#include <string>
#include <utility>

#include "base/ids.h"
#include "proto/wire_values.h"

namespace frostline::server {
namespace {

using spans::Span;

constexpr std::size_t kMostBefore = 100'000;

bool WentWell(AttemptState state) {
  return state != AttemptState::kFailed && state != AttemptState::kLost;
}

// Returns the cause, never empty, since a span without an error is one that
// went well.
std::string ErrorOf(const storage::AttemptRow& attempt) {
  if (WentWell(attempt.state)) return "";
  return attempt.cause.empty() ? NameOf(attempt.state) : attempt.cause;
}

Span Child(const Span& root, std::string name, WallMicros begin,
           WallMicros end) {
  Span child;
  child.context = ChildOf(root.context);
  child.parent = root.context.span_id;
  child.name = std::move(name);
  child.begin = begin;
  child.end = end;
  child.attributes = root.attributes;
  return child;
}

}  // namespace

void AttemptSpans::NoteEnded(const storage::TrialRow& trial,
                             const storage::AttemptRow& attempt) {
  if (sink_ != nullptr) ended_.push_back({trial, attempt});
}

void AttemptSpans::Committed() {
  for (const Ended& ended : std::exchange(ended_, {})) Tell(ended);
}

void AttemptSpans::Tell(const Ended& ended) {
  const auto& [trial, attempt] = ended;
  const TrialKey key{trial.study, trial.number};
  auto before = before_.extract(key);
  // An attempt that was lost and went on is told a second time.
  if (!before.empty() && before.mapped().attempt >= attempt.attempt) {
    before = {};
  }
  const StudyBook* const book = ledger_.Find(trial.study);
  if (book == nullptr) return;  // deleted in the same group
  const std::string study = StudyNameOf(book->row().id);
  v1::LeaseRef lease;
  lease.set_trial(TrialNameOf(book->row().id, trial.number));
  lease.set_attempt(attempt.attempt);
  lease.set_secret(ledger_.lease_secrets()
                       .Again(key, attempt.attempt, attempt.secret)
                       .Reveal());
  std::optional<WallMicros> queued;
  if (attempt.attempt == 1) queued = trial.created;
  if (!before.empty()) queued = before.mapped().ended;

  Span root;
  root.context = proto::TraceOfAttempt(lease);
  const std::string span_of_attempt =
      std::exchange(root.context.span_id, proto::RootSpanOfAttempt(lease));
  root.name = "trial";
  root.begin = queued.value_or(attempt.started);
  root.end = attempt.ended;
  root.attributes = {{"frostline.study", study},
                     {"frostline.trial", lease.trial()},
                     {"frostline.attempt", attempt.attempt},
                     {"frostline.worker", attempt.worker}};
  if (!before.empty()) root.links.push_back(before.mapped().root);
  if (queued.has_value()) {
    sink_->Take(Child(root, "queued", *queued, attempt.started));
  }
  Span run = Child(root, "attempt", attempt.started, attempt.ended);
  run.context.span_id = span_of_attempt;
  run.attributes.emplace_back("frostline.attempt.state", NameOf(attempt.state));
  run.error = ErrorOf(attempt);
  sink_->Take(std::move(run));
  root.attributes.emplace_back("frostline.trial.state", NameOf(trial.state));
  if (trial.state == TrialState::kFailed) root.error = ErrorOf(attempt);
  if (!IsTerminal(trial.state)) {
    // Trials that are cancelled while they wait leave their entry.
    if (before_.size() >= kMostBefore) before_.clear();
    before_[key] = {attempt.attempt, attempt.ended, root.context};
  }
  sink_->Take(std::move(root));
}

}  // namespace frostline::server
