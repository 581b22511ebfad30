// SPDX-License-Identifier: Apache-2.0
#include "server/search/proposer.h"

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "base/log.h"
#include "base/rng.h"
#include "frostline/v1/trial.pb.h"
#include "server/search/answers.h"
#include "server/search/stored_history.h"
#include "server/wire/convert.h"
#include "server/wire/spec.h"
#include "statistics/seed_luck.h"
#include "study/space.h"

namespace frostline::server {

std::shared_ptr<Judges::Desk> Judges::Find(storage::StudyKey study) {
  const MutexLock lock(&mutex_);
  const auto found = desks_.find(study);
  return found == desks_.end() ? nullptr : found->second;
}

// Removes all desks. Each desk answers the calls that it still owes when it
// goes, which happens after the lock is released.
void Judges::Reset() {
  std::map<storage::StudyKey, std::shared_ptr<Desk>> closed;
  const MutexLock lock(&mutex_);
  closed.swap(desks_);
}

Judges::Desk::~Desk() {
  for (Early& one : early) {
    if (one.answer) one.answer(sampler::PruneDecision{});
  }
}

bool Judges::Open(storage::StudyKey study, const CheckedStudy& checked,
                  bool waits) {
  if (checked.pruner.name == "none") {
    Close(study);
    return false;
  }
  // Not expected to fail: it was made once when the study was checked.
  auto pruner = sampler::MakePruner(checked.pruner, checked.objectives);
  if (!pruner.ok()) {
    Log(LogLevel::kError, "pruner_not_made",
        {{"study", std::to_string(study)},
         {"error", std::string(pruner.status().message())}});
    return false;
  }
  bool is_new = false;
  std::shared_ptr<Desk> desk;
  {
    const MutexLock lock(&mutex_);
    std::shared_ptr<Desk>& place = desks_[study];
    is_new = place == nullptr;
    if (is_new) place = std::make_shared<Desk>(thread_);
    desk = place;
  }
  desk->Post([desk = desk.get(), pruner = *std::move(pruner), waits]() mutable {
    desk->pruner = std::move(pruner);
    desk->waits = desk->waits || waits;
  });
  return is_new;
}

void Judges::Fill(storage::StudyKey study, History history) {
  const auto desk = Find(study);
  if (desk == nullptr) return;
  desk->Post([desk = desk.get(), history = std::move(history)]() mutable {
    desk->history = std::move(history);
    desk->is_filled = true;
    for (Early& one : std::exchange(desk->early, {})) {
      if (one.change) one.change(desk->history);
      if (one.answer) desk->Judge(one.number, std::move(one.answer));
    }
  });
}

void Judges::Close(storage::StudyKey study) {
  std::shared_ptr<Desk> closed;
  const MutexLock lock(&mutex_);
  const auto found = desks_.find(study);
  if (found == desks_.end()) return;
  closed = std::move(found->second);
  desks_.erase(found);
}

void Judges::Tell(storage::StudyKey study, const HistoryChange& change) {
  const auto desk = Find(study);
  if (desk == nullptr) return;
  desk->Post([desk = desk.get(), change] {
    if (desk->is_filled) return change(desk->history);
    desk->early.push_back({change, 0, nullptr});
  });
}

void Judges::Judge(storage::StudyKey study, std::int64_t number,
                   absl::AnyInvocable<void(sampler::PruneDecision)> answer) {
  const auto desk = Find(study);
  if (desk == nullptr) return answer(sampler::PruneDecision{});
  desk->Post([desk = desk.get(), number, answer = std::move(answer)]() mutable {
    if (!desk->is_filled && desk->waits) {
      return desk->early.push_back({nullptr, number, std::move(answer)});
    }
    desk->Judge(number, std::move(answer));
  });
}

void Judges::Desk::Judge(std::int64_t number, Answer answer) {
  const Observation* const trial = history.Find(number);
  const bool runs_again = trial != nullptr && trial->repeat > 0;
  answer(!is_filled || runs_again ? sampler::PruneDecision{}
                                  : pruner->Judge(history, number));
}

namespace {

// What is known of one point.
struct Candidate {
  const Point* point = nullptr;
  int runs = 0;
  bool diverged = false;
  std::vector<const Observation*> results;
  std::vector<double> losses;  // by objective, as judged
};

void Add(const Observation& trial, const std::vector<Objective>& objectives,
         Candidate& candidate) {
  ++candidate.runs;
  candidate.diverged |= trial.state == TrialState::kInfeasible;
  if (trial.state != TrialState::kSucceeded ||
      trial.values.size() != objectives.size()) {
    return;
  }
  candidate.results.push_back(&trial);
}

// Returns the trials below `number`, by number, since after a restart the
// history is in another order.
std::vector<const Observation*> TrialsBelow(const History& history,
                                            std::int64_t number) {
  std::vector<const Observation*> trials;
  for (const Observation& trial : history.trials()) {
    if (trial.number < number) trials.push_back(&trial);
  }
  std::sort(trials.begin(), trials.end(),
            [](const Observation* a, const Observation* b) {
              return a->number < b->number;
            });
  return trials;
}

// Returns the points in the order in which they were first run.
std::vector<Candidate> CandidatesOf(const std::vector<Objective>& objectives,
                                    const History& history,
                                    std::int64_t number) {
  std::vector<Candidate> candidates;
  PointPlaces places;
  for (const Observation* const trial : TrialsBelow(history, number)) {
    const std::size_t place = places.PlaceOf(trial->point);
    if (place == candidates.size()) {
      candidates.push_back(
          {.point = &trial->point, .results = {}, .losses = {}});
    }
    Add(*trial, objectives, candidates[place]);
  }
  std::erase_if(candidates, [](const Candidate& candidate) {
    return candidate.results.empty() || candidate.diverged;
  });
  return candidates;
}

void Judge(const std::vector<Objective>& objectives,
           std::vector<Candidate>& candidates) {
  for (std::size_t k = 0; k < objectives.size(); ++k) {
    std::vector<statistics::PointRun> runs;
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      for (const Observation* const run : candidates[c].results) {
        runs.push_back({c, run->seed, AsLoss(objectives[k], run->values[k])});
      }
    }
    const auto judged = statistics::JudgePoints(candidates.size(), runs);
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      candidates[c].losses.push_back(judged[c]);
    }
  }
}

// Returns the points that no other one dominates, in their order.
std::vector<Candidate> FrontOf(const std::vector<Candidate>& candidates) {
  std::vector<Candidate> front;
  for (const Candidate& candidate : candidates) {
    const bool beaten =
        std::any_of(front.begin(), front.end(), [&](const Candidate& other) {
          return Dominates(other.losses, candidate.losses);
        });
    if (beaten) continue;
    std::erase_if(front, [&](const Candidate& other) {
      return Dominates(candidate.losses, other.losses);
    });
    front.push_back(candidate);
  }
  return front;
}

}  // namespace

std::int32_t RunsBefore(const History& history, const Point& point,
                        std::int64_t number) {
  std::int32_t runs = 0;
  for (const Observation& trial : history.trials()) {
    runs += trial.number < number && SamePoint(trial.point, point);
  }
  return runs;
}

std::optional<Point> LeaderToRepeat(const RepeatRule& rule,
                                    const std::vector<Objective>& objectives,
                                    const History& history,
                                    std::int64_t number) {
  if (rule.times == 0) return std::nullopt;
  std::vector<Candidate> leaders = CandidatesOf(objectives, history, number);
  if (leaders.empty()) return std::nullopt;
  Judge(objectives, leaders);
  if (objectives.size() > 1) {
    leaders = FrontOf(leaders);
  } else {
    std::stable_sort(leaders.begin(), leaders.end(),
                     [](const Candidate& a, const Candidate& b) {
                       return a.losses[0] < b.losses[0];
                     });
  }
  const auto most = static_cast<std::size_t>(rule.leaders);
  if (leaders.size() > most) leaders.resize(most);
  const auto next = std::min_element(
      leaders.begin(), leaders.end(),
      [](const Candidate& a, const Candidate& b) { return a.runs < b.runs; });
  if (next->runs >= rule.times) return std::nullopt;
  return *next->point;
}

namespace {

Observation Pending(std::int64_t number, Point point, NotedSeed seed) {
  Observation pending;
  pending.number = number;
  pending.state = TrialState::kRunning;
  pending.point = std::move(point);
  pending.seed = seed.seed;
  pending.repeat = seed.repeat;
  return pending;
}

absl::StatusOr<Point> NextPoint(const CheckedStudy& study,
                                sampler::Sampler& sampler,
                                const History& history, std::int64_t number,
                                const std::stop_token& stop) {
  const auto leader = [&] {
    return LeaderToRepeat(study.repeat, study.objectives, history, number);
  };
  if (number >= study.repeat.after) {
    if (std::optional<Point> again = leader()) return *std::move(again);
  }
  if (IsForAnswer(study, number)) {
    ASSIGN_OR_RETURN(std::optional<Point> asked,
                     PointForAnswer(study, history, stop));
    if (asked.has_value() && sampler.MayFit(history, *asked)) {
      return *std::move(asked);
    }
  }
  Rng rng(study.spec.seed(), static_cast<std::uint64_t>(number));
  absl::StatusOr<Point> point = sampler.Propose(history, number, rng, stop);
  // When no new point is left, there is no reason to wait before repeating.
  if (!HasErrorId(point.status(), ErrorId::kSpaceExhausted)) return point;
  std::optional<Point> again = leader();
  if (again.has_value()) return *std::move(again);
  return point;
}

}  // namespace

absl::StatusOr<Proposal> MakeProposal(const CheckedStudy& study,
                                      sampler::Sampler& sampler,
                                      const History& history,
                                      std::int64_t number,
                                      const std::stop_token& stop) {
  Proposal made{.number = number, .point = {}, .seed = {}};
  ASSIGN_OR_RETURN(made.point,
                   NextPoint(study, sampler, history, number, stop));
  if (CountsRuns(study.spec)) {
    made.seed.repeat = RunsBefore(history, made.point, number);
  }
  made.seed.seed = TrainingSeed(study.spec, number, made.seed.repeat);
  return made;
}

Proposer::Proposer(std::function<void(Proposals)> ready, StoredStudies stored)
    : ready_(std::move(ready)), stored_(std::move(stored)) {}

void Proposer::Start() {
  const unsigned cores = std::thread::hardware_concurrency();
  threads_.Start(static_cast<int>(std::clamp(cores, 2u, 4u)));
  judges_.Start();
}

void Proposer::AddThreadIfStuck() {
  threads_.AddThreadIfStuck(kMostSamplerThreads);
}

void Proposer::Stop() {
  stop_.request_stop();
  threads_.Stop();
  judges_.Stop();
}

std::shared_ptr<Proposer::Search> Proposer::Find(storage::StudyKey study) {
  const MutexLock lock(&mutex_);
  const auto found = searches_.find(study);
  return found == searches_.end() ? nullptr : found->second;
}

void Proposer::Reset(std::int64_t epoch) {
  const MutexLock lock(&mutex_);
  judges_.Reset();
  searches_.clear();
  held_.clear();
  epoch_ = epoch;
}

void Proposer::Reset(std::int64_t epoch,
                     const std::set<storage::StudyKey>& studies) {
  for (const storage::StudyKey study : studies) Close(study);
  const MutexLock lock(&mutex_);
  epoch_ = epoch;
}

std::shared_ptr<Proposer::Search> Proposer::FindOrOpen(storage::StudyKey study,
                                                       OpenedFor why) {
  auto search = Find(study);
  if (search != nullptr || !stored_.look) return search;
  std::optional<Opening> opening = stored_.look(study, why);
  if (!opening.has_value()) return nullptr;
  const bool fills_judges =
      judges_.Open(study, *opening->checked, /*waits=*/true);
  search = std::make_shared<Search>(threads_);
  const MutexLock lock(&mutex_);
  Hold(search);
  search->held.push_back(
      [this, search = search.get(), opening = *std::move(opening),
       fills_judges] { Fill(*search, opening, fills_judges); });
  return searches_[study] = search;
}

void Proposer::Hold(const std::shared_ptr<Search>& search) {
  if (std::exchange(search->is_held, true)) return;
  held_.push_back(search);
}

void Proposer::Committed() {
  const MutexLock lock(&mutex_);
  for (const auto& search : std::exchange(held_, {})) {
    search->is_held = false;
    for (auto& task : std::exchange(search->held, {})) {
      search->Strand::Post(std::move(task));
    }
  }
}

void Proposer::Post(Search& search, absl::AnyInvocable<void()> task) {
  const MutexLock lock(&mutex_);
  if (search.is_held) return search.held.push_back(std::move(task));
  search.Strand::Post(std::move(task));
}

absl::StatusOr<History> Proposer::ReadOrClose(Search& search,
                                              const Opening& opening) {
  const storage::StudyKey study = opening.row.key;
  absl::StatusOr<History> history = absl::CancelledError("ending");
  if (!stopping())
    history = ReadHistory(opening, *stored_.store, stop_.get_token());
  if (history.ok()) return history;
  if (!stopping()) {
    Log(LogLevel::kError, "search_not_opened",
        {{"study", opening.row.id},
         {"error", std::string(history.status().message())}});
  }
  search.sampler = history.status();
  IfCurrent(study, search, [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    judges_.Close(study);
    searches_.erase(study);
  });
  return history;
}

void Proposer::Fill(Search& search, const Opening& opening, bool fills_judges) {
  const storage::StudyKey study = opening.row.key;
  search.checked = opening.checked;
  absl::StatusOr<History> history = ReadOrClose(search, opening);
  if (!history.ok()) return;
  if (fills_judges) {
    IfCurrent(study, search, [&] { judges_.Fill(study, *history); });
  }
  search.history = *std::move(history);
  auto priors = PriorStudiesLeft(opening.row, *opening.checked, *stored_.store,
                                 stop_.get_token());
  if (!priors.ok()) {  // it ends: nobody asks this search any more
    search.sampler = priors.status();
    return;
  }
  // Not expected to fail: it was made once when the study was checked.
  search.sampler =
      sampler::MakeSampler(opening.checked->sampler, opening.checked->space,
                           opening.checked->objectives, *std::move(priors));
}

SearchCounts::SearchCounts() {
  for (const std::string& name : sampler::SamplerNames()) seconds_[name];
}

void SearchCounts::Observe(const std::string& sampler, Duration took) {
  const auto found = seconds_.find(sampler);
  if (found != seconds_.end()) found->second.Observe(took);
}

void Proposer::Open(storage::StudyKey study,
                    std::shared_ptr<const CheckedStudy> checked,
                    History history,
                    std::vector<sampler::PriorStudy> prior_studies) {
  if (judges_.Open(study, *checked)) judges_.Fill(study, history);
  const auto search = std::make_shared<Search>(threads_);
  search->Post([search = search.get(), study, checked = std::move(checked),
                history = std::move(history),
                prior_studies = std::move(prior_studies)]() mutable {
    // Not expected to fail: it was made once when the study was checked.
    search->sampler =
        sampler::MakeSampler(checked->sampler, checked->space,
                             checked->objectives, std::move(prior_studies));
    if (!search->sampler.ok()) {
      Log(LogLevel::kError, "sampler_not_made",
          {{"study", std::to_string(study)},
           {"error", std::string(search->sampler.status().message())}});
    }
    search->checked = std::move(checked);
    search->history = std::move(history);
  });
  const MutexLock lock(&mutex_);
  searches_[study] = search;
}

void Proposer::Refresh(storage::StudyKey study,
                       std::shared_ptr<const CheckedStudy> checked) {
  const auto search = Find(study);
  if (search == nullptr) return;
  std::optional<Opening> opening;
  const bool must_fill = judges_.Open(study, *checked, /*waits=*/true);
  // The search may have been opened without curves, because none were wanted
  // then.
  if (must_fill && stored_.look) {
    opening = stored_.look(study, OpenedFor::kJudgement);
  }
  if (opening.has_value()) {
    const MutexLock lock(&mutex_);
    Hold(search);
  }
  Post(*search, [this, search = search.get(), study, must_fill,
                 opening = std::move(opening),
                 checked = std::move(checked)]() mutable {
    search->checked = std::move(checked);
    if (!must_fill) return;
    absl::StatusOr<History> history =
        opening.has_value() ? ReadOrClose(*search, *opening) : search->history;
    if (!history.ok()) return;
    IfCurrent(study, *search,
              [&] { judges_.Fill(study, *std::move(history)); });
  });
}

void Proposer::Close(storage::StudyKey study) {
  judges_.Close(study);
  const MutexLock lock(&mutex_);
  searches_.erase(study);
}

void Proposer::Tell(storage::StudyKey study, const HistoryChange& change) {
  const auto search = Find(study);
  if (search == nullptr) return;
  Post(*search, [search = search.get(), change] { change(search->history); });
  judges_.Tell(study, change);
}

void Proposer::IfCurrent(storage::StudyKey study, const Search& search,
                         absl::FunctionRef<void()> what) {
  const MutexLock lock(&mutex_);
  const auto found = searches_.find(study);
  if (found != searches_.end() && found->second.get() == &search) what();
}

void Proposer::Began(storage::StudyKey study, std::int64_t number, Point point,
                     NotedSeed seed) {
  Tell(study, [pending = Pending(number, std::move(point), seed)](
                  History& history) { history.Put(pending); });
}

void Proposer::Measured(storage::StudyKey study, std::int64_t number,
                        std::vector<IntermediateValue> values) {
  (void)FindOrOpen(study, OpenedFor::kJudgement);
  Tell(study, [number, values = std::move(values)](History& history) {
    for (const IntermediateValue& value : values) history.Append(number, value);
  });
}

void Proposer::Ended(storage::StudyKey study, Observation ended) {
  Tell(study, [ended = std::move(ended)](History& history) {
    history.Amend(ended.number, [&](Observation& trial) {
      trial.state = ended.state;
      trial.out_of_memory = ended.out_of_memory;
      trial.values = ended.values;
      trial.constraints = ended.constraints;
      trial.cost_s = ended.cost_s;
      trial.use = ended.use;
      trial.trained_parameters = ended.trained_parameters;
    });
  });
}

void Proposer::Propose(storage::StudyKey study, std::int64_t first_number,
                       std::int64_t count, std::int64_t seen_revision) {
  Proposals request{.study = study,
                    .epoch = 0,
                    .first_number = first_number,
                    .asked = count,
                    .seen_revision = seen_revision,
                    .made = {},
                    .status = absl::OkStatus(),
                    .answer = {}};
  {
    const MutexLock lock(&mutex_);
    request.epoch = epoch_;
  }
  const auto search = FindOrOpen(study, OpenedFor::kProposal);
  if (search == nullptr) {
    request.status = absl::NotFoundError("the study's search is closed");
    threads_.Post([this, request = std::move(request)]() mutable {
      ready_(std::move(request));
    });
    return;
  }
  Post(*search,
       [this, search = search.get(), request = std::move(request)]() mutable {
         if (search->sampler.ok()) return Make(*search, std::move(request));
         request.status = search->sampler.status();
         ready_(std::move(request));
       });
}

// Makes all proposals in one task, so that an end told meanwhile is seen by all
// of them or by none.
void Proposer::Make(Search& search, Proposals request) {
  for (; request.asked > 0 && !stopping(); --request.asked) {
    // False when the study was closed or loaded again: nobody waits for them.
    bool is_current = false;
    IfCurrent(request.study, search, [&] { is_current = true; });
    if (!is_current) return;
    const std::int64_t number = request.first_number++;
    absl::StatusOr<std::string> answer =
        FindAnswer(*search.checked, search.history, stop_.get_token());
    if (!answer.ok()) return;  // stopped
    if (!answer->empty()) {
      request.first_number = number;
      request.answer = *std::move(answer);
      return ready_(std::move(request));
    }
    const SteadyTime begun = SystemClock().Steady();
    auto proposal = MakeProposal(*search.checked, **search.sampler,
                                 search.history, number, stop_.get_token());
    if (absl::IsCancelled(proposal.status())) return;
    counts_.Observe(search.checked->sampler.name,
                    SystemClock().Steady() - begun);
    if (!proposal.ok()) {
      counts_.failed.Add();
      request.first_number = number;
      request.status = proposal.status();
      return ready_(std::move(request));
    }
    // The next proposal has to see this one as pending.
    const Observation pending =
        Pending(number, proposal->point, proposal->seed);
    search.history.Put(pending);
    IfCurrent(request.study, search, [&] {
      judges_.Tell(request.study,
                   [pending](History& history) { history.Put(pending); });
    });
    FROSTLINE_FAILPOINT(kProposalMade);
    Proposals one = request;
    one.first_number = number;
    one.asked = 1;
    one.made = {*std::move(proposal)};
    ready_(std::move(one));
  }
}

void TellEnded(const storage::TrialRow& row, const CheckedStudy& study,
               Proposer& proposer) {
  Observation ended = ObservationOf(row);
  ended.constraints = ConstraintsOf(row, study.spec);
  proposer.Ended(row.study, std::move(ended));
}

}  // namespace frostline::server
