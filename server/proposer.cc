// SPDX-License-Identifier: Apache-2.0
#include "server/proposer.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/failpoint.h"
#include "base/log.h"
#include "base/rng.h"

namespace frostline {
namespace {

Observation Pending(std::int64_t number, Point point) {
  Observation pending;
  pending.number = number;
  pending.state = TrialState::kRunning;
  pending.point = std::move(point);
  return pending;
}

}  // namespace

Proposer::Proposer(std::function<void(Proposals)> ready)
    : ready_(std::move(ready)) {}

void Proposer::Start() {
  threads_.Start(static_cast<int>(
      std::clamp(std::thread::hardware_concurrency(), 2u, 4u)));
}

void Proposer::Stop() {
  stopping_ = true;
  threads_.Stop();
}

std::shared_ptr<Proposer::Search> Proposer::Find(StudyKey study) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = searches_.find(study);
  return found == searches_.end() ? nullptr : found->second;
}

void Proposer::Reset(std::int64_t epoch) {
  const std::lock_guard<std::mutex> lock(mutex_);
  searches_.clear();
  epoch_ = epoch;
}

void Proposer::Open(StudyKey study, std::shared_ptr<const CheckedStudy> checked,
                    History history, std::vector<PriorStudy> prior_studies) {
  const auto search = std::make_shared<Search>(threads_);
  search->Post([search = search.get(), study, checked = std::move(checked),
                history = std::move(history),
                prior_studies = std::move(prior_studies)]() mutable {
    // Both were made once when the study was checked, so they can be made.
    auto sampler = MakeSampler(checked->sampler, checked->space,
                               checked->objectives, std::move(prior_studies));
    auto pruner = MakePruner(checked->pruner, checked->objectives);
    if (!sampler.ok() || !pruner.ok()) {
      Log(LogLevel::kError, "search_not_made",
          {{"study", std::to_string(study)},
           {"error",
            std::string((sampler.ok() ? pruner.status() : sampler.status())
                            .message())}});
      return;
    }
    search->checked = std::move(checked);
    search->history = std::move(history);
    search->sampler = std::move(*sampler);
    search->pruner = std::move(*pruner);
  });
  const std::lock_guard<std::mutex> lock(mutex_);
  searches_[study] = search;
}

void Proposer::Refresh(StudyKey study,
                       std::shared_ptr<const CheckedStudy> checked) {
  const auto search = Find(study);
  if (search == nullptr) return;
  search->Post([search = search.get(), checked = std::move(checked)] {
    auto pruner = MakePruner(checked->pruner, checked->objectives);
    if (search->sampler == nullptr || !pruner.ok()) return;
    search->checked = checked;
    search->pruner = std::move(*pruner);
  });
}

void Proposer::Close(StudyKey study) {
  const std::lock_guard<std::mutex> lock(mutex_);
  searches_.erase(study);
}

void Proposer::Began(StudyKey study, std::int64_t number, Point point) {
  const auto search = Find(study);
  if (search == nullptr) return;
  search->Post(
      [search = search.get(), number, point = std::move(point)]() mutable {
        search->history.Put(Pending(number, std::move(point)));
      });
}

void Proposer::Amend(StudyKey study, std::int64_t number,
                     absl::AnyInvocable<void(Observation&)> change) {
  const auto search = Find(study);
  if (search == nullptr) return;
  search->Post(
      [search = search.get(), number, change = std::move(change)]() mutable {
        const Observation* const old = search->history.Find(number);
        if (old == nullptr) return;
        Observation amended = *old;
        change(amended);
        search->history.Put(std::move(amended));
      });
}

void Proposer::Measured(StudyKey study, std::int64_t number,
                        std::vector<IntermediateValue> values) {
  Amend(study, number, [values = std::move(values)](Observation& trial) {
    for (const IntermediateValue& value : values) {
      const bool newer = trial.intermediate.empty() ||
                         trial.intermediate.back().step < value.step;
      if (newer) trial.intermediate.push_back(value);
    }
  });
}

void Proposer::Ended(StudyKey study, std::int64_t number, TrialState state,
                     std::vector<double> values, double cost_s) {
  Amend(study, number,
        [state, values = std::move(values), cost_s](Observation& trial) {
          trial.state = state;
          trial.values = values;
          trial.cost_s = cost_s;
        });
}

void Proposer::Propose(StudyKey study, std::int64_t first_number,
                       std::int64_t count, std::int64_t seen_revision) {
  const auto search = Find(study);
  if (search == nullptr) return;
  Proposals request{.study = study,
                    .epoch = 0,
                    .first_number = first_number,
                    .asked = count,
                    .seen_revision = seen_revision,
                    .made = {},
                    .status = absl::OkStatus()};
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    request.epoch = epoch_;
  }
  search->Post(
      [this, search = search.get(), request = std::move(request)]() mutable {
        if (search->sampler != nullptr) Make(*search, std::move(request));
      });
}

// One task for all of them: an end that is told meanwhile is not seen by some.
void Proposer::Make(Search& search, Proposals request) {
  for (; request.asked > 0 && !stopping_; --request.asked) {
    const std::int64_t number = request.first_number++;
    Rng rng(search.checked->spec.seed(), static_cast<std::uint64_t>(number));
    auto point = search.sampler->Propose(search.history, number, rng);
    if (!point.ok()) {
      request.first_number = number;
      request.status = point.status();
      return ready_(std::move(request));
    }
    // The next one is to see this one as pending.
    search.history.Put(Pending(number, *point));
    FROSTLINE_FAILPOINT(kProposalMade);
    Proposals one = request;
    one.first_number = number;
    one.asked = 1;
    one.made = {{number, *std::move(point)}};
    ready_(std::move(one));
  }
}

void Proposer::Judge(StudyKey study, std::int64_t number,
                     absl::AnyInvocable<void(PruneDecision)> answer) {
  const auto search = Find(study);
  if (search == nullptr) return answer(PruneDecision{});
  search->Post(
      [search = search.get(), number, answer = std::move(answer)]() mutable {
        answer(search->pruner == nullptr
                   ? PruneDecision{}
                   : search->pruner->Judge(search->history, number));
      });
}

}  // namespace frostline
