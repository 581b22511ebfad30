// SPDX-License-Identifier: Apache-2.0
#include "server/proposer.h"

#include <utility>

#include "base/failpoint.h"
#include "base/log.h"
#include "base/rng.h"

namespace frostline {

Proposer::Proposer(std::function<void(Proposals)> ready)
    : ready_(std::move(ready)) {}

Proposer::Search* Proposer::Find(StudyKey study) {
  const auto found = searches_.find(study);
  return found == searches_.end() ? nullptr : &found->second;
}

void Proposer::Reset(std::int64_t epoch) {
  thread_.Post([this, epoch] {
    searches_.clear();
    epoch_ = epoch;
  });
}

void Proposer::Open(StudyKey study, std::shared_ptr<const CheckedStudy> checked,
                    History history, std::vector<PriorStudy> prior_studies) {
  thread_.Post([this, study, checked = std::move(checked),
                history = std::move(history),
                prior_studies = std::move(prior_studies)]() mutable {
    Search search{checked, std::move(history), nullptr, nullptr};
    // Both were made once when the study was checked, so they can be made.
    auto sampler =
        MakeSampler(checked->sampler, checked->space, checked->objectives,
                    std::move(prior_studies));
    auto pruner = MakePruner(checked->pruner, checked->objectives);
    if (!sampler.ok() || !pruner.ok()) {
      Log(LogLevel::kError, "search_not_made",
          {{"study", std::to_string(study)},
           {"error",
            std::string((sampler.ok() ? pruner.status() : sampler.status())
                            .message())}});
      return;
    }
    search.sampler = std::move(*sampler);
    search.pruner = std::move(*pruner);
    searches_[study] = std::move(search);
  });
}

void Proposer::Refresh(StudyKey study,
                       std::shared_ptr<const CheckedStudy> checked) {
  thread_.Post([this, study, checked = std::move(checked)] {
    Search* const search = Find(study);
    auto pruner = MakePruner(checked->pruner, checked->objectives);
    if (search == nullptr || !pruner.ok()) return;
    search->checked = checked;
    search->pruner = std::move(*pruner);
  });
}

void Proposer::Close(StudyKey study) {
  thread_.Post([this, study] { searches_.erase(study); });
}

void Proposer::Began(StudyKey study, std::int64_t number, Point point) {
  thread_.Post([this, study, number, point = std::move(point)]() mutable {
    Search* const search = Find(study);
    if (search == nullptr) return;
    Observation pending;
    pending.number = number;
    pending.state = TrialState::kRunning;
    pending.point = std::move(point);
    search->history.Put(std::move(pending));
  });
}

void Proposer::Measured(StudyKey study, std::int64_t number,
                        std::vector<IntermediateValue> values) {
  thread_.Post([this, study, number, values = std::move(values)] {
    Search* const search = Find(study);
    const Observation* const old =
        search == nullptr ? nullptr : search->history.Find(number);
    if (old == nullptr) return;
    Observation measured = *old;
    for (const IntermediateValue& value : values) {
      const bool newer = measured.intermediate.empty() ||
                         measured.intermediate.back().step < value.step;
      if (newer) measured.intermediate.push_back(value);
    }
    search->history.Put(std::move(measured));
  });
}

void Proposer::Ended(StudyKey study, std::int64_t number, TrialState state,
                     std::vector<double> values, double cost_s) {
  thread_.Post(
      [this, study, number, state, values = std::move(values), cost_s] {
        Search* const search = Find(study);
        const Observation* const old =
            search == nullptr ? nullptr : search->history.Find(number);
        if (old == nullptr) return;
        Observation ended = *old;
        ended.state = state;
        ended.values = values;
        ended.cost_s = cost_s;
        search->history.Put(std::move(ended));
      });
}

void Proposer::Propose(StudyKey study, std::int64_t first_number,
                       std::int64_t count, std::int64_t seen_revision) {
  thread_.Post([this, study, first_number, count, seen_revision] {
    Proposals request;
    request.study = study;
    request.epoch = epoch_;
    request.first_number = first_number;
    request.asked = count;
    request.seen_revision = seen_revision;
    Search* const search = Find(study);
    if (search != nullptr) ready_(Make(*search, std::move(request)));
  });
}

Proposals Proposer::Make(Search& search, Proposals request) {
  for (std::int64_t i = 0; i < request.asked; ++i) {
    const std::int64_t number = request.first_number + i;
    Rng rng(search.checked->spec.seed(), static_cast<std::uint64_t>(number));
    auto point = search.sampler->Propose(search.history, number, rng);
    if (!point.ok()) {
      request.status = point.status();
      return request;
    }
    // The next one is to see this one as pending.
    Observation pending;
    pending.number = number;
    pending.state = TrialState::kRunning;
    pending.point = *point;
    search.history.Put(std::move(pending));
    FROSTLINE_FAILPOINT(kProposalMade);
    request.made.push_back({number, *std::move(point)});
  }
  return request;
}

void Proposer::Judge(StudyKey study, std::int64_t number,
                     absl::AnyInvocable<void(PruneDecision)> answer) {
  thread_.Post([this, study, number, answer = std::move(answer)]() mutable {
    Search* const search = Find(study);
    answer(search == nullptr ? PruneDecision{}
                             : search->pruner->Judge(search->history, number));
  });
}

}  // namespace frostline
