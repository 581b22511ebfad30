// SPDX-License-Identifier: Apache-2.0
#include "server/verbs/told_verbs.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "sampler/factory.h"
#include "server/search/proposer.h"
#include "server/search/sampler_choice.h"
#include "server/search/stored_history.h"
#include "server/verbs/trial_verbs.h"
#include "server/wire/convert.h"
#include "server/wire/study_checks.h"

namespace frostline::server {
namespace {

bool IsLeftOpen(v1::TrialState state) {
  return state == v1::TRIAL_STATE_QUEUED || state == v1::TRIAL_STATE_RUNNING ||
         state == v1::TRIAL_STATE_CANCELLED;
}

// A told study has no budget: "auto" never becomes a sampler that tries every
// point, and its pick does not change while trials come.
v1::StudySettings SettingsOfTold() {
  v1::StudySettings settings;
  settings.mutable_budget()->set_trials(1);
  return settings;
}

absl::StatusOr<CheckedStudy> CheckTold(const v1::ToldStudy& told,
                                       const v1::SamplerSpec& sampler,
                                       v1::Purpose purpose,
                                       const LeaseRules& defaults) {
  v1::StudySpec spec;
  *spec.mutable_space() = told.space();
  *spec.mutable_model() = told.model();
  *spec.mutable_objectives() = told.objectives();
  *spec.mutable_constraints() = told.constraints();
  spec.set_seed(told.seed());
  spec.set_purpose(purpose);
  // What the caller chooses by is the caller's own affair.
  spec.set_allow_test_objective(true);
  *spec.mutable_sampler() = sampler;
  const auto check = [&] {
    return CheckStudy(spec, SettingsOfTold(), defaults);
  };
  ASSIGN_OR_RETURN(CheckedStudy checked, check());
  RETURN_IF_ERROR(CheckNewStudy(spec));
  if (WritePick(checked, spec)) {
    ASSIGN_OR_RETURN(checked, check());
  }
  if (WritePurpose(checked, spec)) {
    ASSIGN_OR_RETURN(checked, check());
  }
  return checked;
}

absl::StatusOr<storage::TrialRow> ToldRow(const v1::ImportedTrial& trial,
                                          const CheckedStudy& study,
                                          std::int64_t number) {
  const std::string field = absl::StrCat("study.trials[", number, "]");
  v1::ImportedTrial ended = trial;
  if (IsLeftOpen(trial.state())) {  // it has a point, and no result
    ended.set_state(v1::TRIAL_STATE_FAILED);
    ended.clear_metrics();
  }
  ASSIGN_OR_RETURN(storage::TrialRow row, ImportedRow(ended, study, field));
  row.state = static_cast<TrialState>(trial.state());
  row.number = number;
  return row;
}

Observation SeenIn(const ToldStudy& told, std::size_t i) {
  Observation seen = ObservationOf(told.rows[i]);
  seen.constraints = ConstraintsOf(told.rows[i], told.checked.spec);
  seen.intermediate = IntermediateOf(told.curves[i], told.checked);
  return seen;
}

History HistoryOf(const ToldStudy& told) {
  History history;
  for (std::size_t i = 0; i < told.rows.size(); ++i) {
    history.Put(SeenIn(told, i));
  }
  return history;
}

v1::Suggestion SuggestionOf(const Proposal& proposal, const Space& space) {
  storage::TrialRow row;
  row.number = proposal.number;
  row.point = proposal.point;
  v1::Trial trial = TrialToProto(row, "told", space, v1::TRIAL_VIEW_FULL, {});
  v1::Suggestion suggestion;
  suggestion.set_number(proposal.number);
  suggestion.mutable_parameters()->Swap(trial.mutable_parameters());
  suggestion.mutable_rates()->Swap(trial.mutable_rates());
  return suggestion;
}

}  // namespace

absl::StatusOr<ToldStudy> ReadTold(const v1::ToldStudy& told,
                                   const v1::SamplerSpec& sampler,
                                   v1::Purpose purpose,
                                   const LeaseRules& defaults) {
  ToldStudy read;
  ASSIGN_OR_RETURN(read.checked, CheckTold(told, sampler, purpose, defaults));
  for (int i = 0; i < told.trials_size(); ++i) {
    ASSIGN_OR_RETURN(storage::TrialRow row,
                     ToldRow(told.trials(i), read.checked, i));
    ASSIGN_OR_RETURN(
        const std::vector<storage::MeasurementRow> steps,
        MeasurementRows(told.trials(i).measurements(), row, 0,
                        absl::StrCat("study.trials[", i, "].measurements")));
    std::vector<Measurement> curve;
    curve.reserve(steps.size());
    for (const storage::MeasurementRow& step : steps) {
      curve.push_back(step.measurement);
    }
    read.rows.push_back(std::move(row));
    read.curves.push_back(std::move(curve));
  }
  return read;
}

void ToldVerbs::AddTo(VerbTable& table) {
  calls_.Add(table, "StudyService.Suggest", CallerRole::kViewer, this,
             &ToldVerbs::Suggest);
  calls_.Add(table, "ImportanceService.Explain", CallerRole::kViewer, this,
             &ToldVerbs::Explain);
}

void ToldVerbs::Suggest(CallContext caller, v1::SuggestRequest request,
                        Reply<v1::SuggestReply> reply) {
  const Urgency urgency = caller.urgency;
  calls_.PostTo<v1::SuggestReply>(
      calls_.readers(), urgency, std::move(reply),
      [this, caller = std::move(caller), request = std::move(request)](
          Reply<v1::SuggestReply> to) { to(Propose(caller, request)); });
}

absl::StatusOr<v1::SuggestReply> ToldVerbs::Propose(
    const CallContext& caller, const v1::SuggestRequest& request) const {
  RETURN_IF_ERROR(CheckWaiting(caller));
  ASSIGN_OR_RETURN(const ToldStudy told,
                   ReadTold(request.study(), request.sampler(),
                            request.purpose(), defaults_));
  const CheckedStudy& study = told.checked;
  ASSIGN_OR_RETURN(
      const std::unique_ptr<sampler::Sampler> sampler,
      sampler::MakeSampler(study.sampler, study.space, study.objectives));
  History history = HistoryOf(told);
  v1::SuggestReply reply;
  reply.set_resolved_sampler(ResolvedSampler(study));
  const auto first = static_cast<std::int64_t>(told.rows.size());
  const std::int64_t count = std::max(request.count(), 1);
  for (std::int64_t number = first; number < first + count; ++number) {
    RETURN_IF_ERROR(CheckWaiting(caller));
    const absl::StatusOr<Proposal> made =
        MakeProposal(study, *sampler, history, number, stop_);
    if (HasErrorId(made.status(), ErrorId::kSpaceExhausted)) {
      reply.set_exhausted(true);
      break;
    }
    if (absl::IsCancelled(made.status())) return DrainingError();
    RETURN_IF_ERROR(made.status());
    *reply.add_suggestions() = SuggestionOf(*made, study.space);
    Observation pending;
    pending.number = number;
    pending.state = TrialState::kRunning;
    pending.point = made->point;
    history.Put(std::move(pending));
  }
  return reply;
}

namespace {

// Trials as a question looks at them. Cancelled ones and those that wait or run
// have nothing to say.
std::map<std::int64_t, KnownTrial> KnownIn(const ToldStudy& told,
                                           std::int64_t step) {
  std::map<std::int64_t, KnownTrial> trials;
  for (std::size_t i = 0; i < told.rows.size(); ++i) {
    if (!IsTerminal(told.rows[i].state)) continue;
    KnownTrial known{.row = told.rows[i], .seen = SeenIn(told, i), .steps = {}};
    std::optional<Metrics>& at_step = known.steps[step];
    for (const Measurement& measured : told.curves[i]) {
      if (measured.step == step) at_step = measured.metrics;
    }
    trials.emplace(known.row.number, std::move(known));
  }
  return trials;
}

}  // namespace

void ToldVerbs::Explain(CallContext caller, v1::ExplainRequest request,
                        Reply<v1::ExplainReply> reply) {
  const Urgency urgency = caller.urgency;
  calls_.PostTo<v1::ExplainReply>(
      calls_.readers(), urgency, std::move(reply),
      [this, caller = std::move(caller),
       request = std::move(request)](Reply<v1::ExplainReply> to) mutable {
        const absl::Status waiting = CheckWaiting(caller);
        if (!waiting.ok()) return to(waiting);
        auto read = ReadTold(request.study(), v1::SamplerSpec(),
                             v1::PURPOSE_BEST, defaults_);
        if (!read.ok()) return to(read.status());
        auto told = std::make_shared<ToldTrials>();
        told->trials = KnownIn(*read, request.options().at_step());
        told->checked = std::move(read->checked);
        reports_.Explain(std::move(told), request, std::move(caller.cancelled),
                         std::move(to));
      });
}

}  // namespace frostline::server
