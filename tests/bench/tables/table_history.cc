// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/tables/table_history.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "base/rng.h"
#include "sampler/auto.h"
#include "sampler/factory.h"
#include "server/search/proposer.h"
#include "server/wire/spec.h"

namespace frostline::bench {
namespace {

template <typename T>
T Made(absl::StatusOr<T> made) {
  if (made.ok()) return *std::move(made);
  throw std::runtime_error(std::string(made.status().message()));
}

// Steps between levels, each axis as long as every other.
double Distance(const Space& space, const Point& a, const Point& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double steps = CountValues(space.parameters()[i].domain) - 1.0;
    if (steps > 0.0) sum += std::abs(a[i] - b[i]) / steps;
  }
  return sum;
}

class TableRun {
 public:
  TableRun(const RecordedTable& table, const HistorySetup& setup)
      : table_(table),
        setup_(setup),
        has_gaps_(!table.IsComplete()),
        luck_(setup.seed, 0x7ab1e),
        study_(MakeStudy()),
        sampler_(Made(sampler::MakeSampler(study_.sampler, study_.space,
                                           study_.objectives))) {}

  std::vector<Observation> Run() {
    int started = 0;
    while (static_cast<int>(ended_.size()) < setup_.trials) {
      while (!covered_ && started < setup_.trials &&
             static_cast<int>(running_.size()) < setup_.workers) {
        if (Start(started)) ++started;
      }
      if (running_.empty()) break;
      EndOne();
    }
    return std::move(ended_);
  }

 private:
  server::CheckedStudy MakeStudy() const {
    server::CheckedStudy study;
    study.spec.set_seed(setup_.seed);
    study.space = table_.space;
    study.objectives = {table_.objective};
    study.sampler = {setup_.sampler, {}, setup_.seed, setup_.purpose};
    if (setup_.sampler == "auto") {  // as the coordinator does for a study
      study.sampler.options[sampler::kPickOption] =
          sampler::ChooseSampler(table_.space, {table_.objective},
                                 setup_.trials)
              .name;
    }
    return study;
  }

  const RecordedCell* Nearest(const Point& point) {
    const RecordedCell* nearest = nullptr;
    double least = std::numeric_limits<double>::infinity();
    std::uint64_t equal = 0;  // of several, one by lot
    for (const RecordedCell& cell : table_.cells) {
      if (taken_.contains(&cell)) continue;
      const double distance = Distance(table_.space, point, cell.point);
      if (distance > least + 1e-9) continue;
      equal = distance < least - 1e-9 ? 1 : equal + 1;
      if (equal == 1 || luck_.Below(equal) == 0) nearest = &cell;
      least = std::min(least, distance);
    }
    return nearest;
  }

  const RecordedCell* DrawCell() {
    std::vector<const RecordedCell*> left;
    for (const RecordedCell& cell : table_.cells) {
      if (!taken_.contains(&cell)) left.push_back(&cell);
    }
    return left.empty() ? nullptr : left[luck_.Below(left.size())];
  }

  const RecordedCell* CellFor(int number) {
    if (has_gaps_ && setup_.sampler == "random") return DrawCell();
    const auto made = server::MakeProposal(study_, *sampler_, history_, number);
    if (HasErrorId(made.status(), ErrorId::kSpaceExhausted)) return nullptr;
    const Point point = Made(made).point;
    const RecordedCell* const cell = table_.Find(point);
    return cell != nullptr ? cell : Nearest(point);
  }

  bool Start(int number) {
    const RecordedCell* const cell = CellFor(number);
    covered_ = cell == nullptr;
    if (covered_) return false;
    taken_.insert(cell);
    Observation trial;
    trial.number = number;
    trial.state = TrialState::kRunning;
    trial.point = cell->point;
    history_.Put(trial);
    running_.push_back(std::move(trial));
    return true;
  }

  // By lot, and none again while the cell has another: a study that comes back
  // to a point sees another run, too.
  const RecordedRun& NextRun(const RecordedCell& cell) {
    std::vector<const RecordedRun*>& left = runs_left_[&cell];
    if (left.empty()) {
      for (const RecordedRun& run : cell.runs) left.push_back(&run);
    }
    const std::size_t at = luck_.Below(left.size());
    const RecordedRun& run = *left[at];
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(at));
    return run;
  }

  void EndOne() {
    const std::size_t i = luck_.Below(running_.size());
    Observation trial = std::move(running_[i]);
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
    const RecordedRun& run = NextRun(*table_.Find(trial.point));
    trial.state =
        run.succeeded ? TrialState::kSucceeded : TrialState::kInfeasible;
    if (run.succeeded) trial.values = {run.value};
    const auto metric = [&run](const char* name) {
      const auto found = run.metrics.find(name);
      return found == run.metrics.end() ? 0.0 : found->second;
    };
    trial.cost_s = metric("train_seconds");
    trial.trained_parameters = metric("trained_parameters");
    history_.Put(trial);
    ended_.push_back(std::move(trial));
  }

  const RecordedTable& table_;
  const HistorySetup& setup_;
  const bool has_gaps_;
  Rng luck_;
  History history_;
  std::vector<Observation> running_;
  std::vector<Observation> ended_;
  std::set<const RecordedCell*> taken_;
  std::map<const RecordedCell*, std::vector<const RecordedRun*>> runs_left_;
  bool covered_ = false;
  const server::CheckedStudy study_;
  std::unique_ptr<sampler::Sampler> sampler_;
};

}  // namespace

std::vector<Observation> RecordedTrials(const RecordedTable& table,
                                        const HistorySetup& setup) {
  return TableRun(table, setup).Run();
}

History Beginning(const std::vector<Observation>& trials, int count) {
  History history;
  for (int i = 0; i < count && i < static_cast<int>(trials.size()); ++i) {
    history.Put(trials[static_cast<std::size_t>(i)]);
  }
  return history;
}

}  // namespace frostline::bench
