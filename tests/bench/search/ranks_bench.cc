// SPDX-License-Identifier: Apache-2.0
//
// Is a search over ranks by layer worth it beside LoRA of one rank that is
// tuned as hard? On recorded trainings (data/README.md): three groups of layers
// x five ranks, at five rates. Both searches are of one kind, have as many
// seconds and use the last quarter of them to run the points that lead again.
//
// T: a table; S: random, tpe, levels-gp; N: seconds, in trainings of one rank
// for all layers; 100 seeds (with --quick 20).
//
//   ranks.T.best, .best_one   the best mean of all points, and of those with
//                             one rank: of two runs, so a little too good
//   ranks.T.S.N.one, .search, .after    that of the point which is handed over
//   ranks.T.S.N.one.weights, …          what it trains, in thousands
//   ranks.T.S.N.search.not_worse, …     seeds in which it is at least as good
//                                       as that of one rank
//   ranks.T.S.N.search.not_worse_01, …  or worse by .01 at most
//
// one: one rank for all; search: a rank for each group; after: the first half
// as one does, and then a rank for each group, knowing what was seen.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/rng.h"
#include "sampler/factory.h"
#include "tests/bench/bench_main.h"
#include "tests/bench/tables/recorded_table.h"

namespace frostline::bench {
namespace {

constexpr double kToRunAgain = 0.25;  // of the seconds
constexpr const char* kSamplers[] = {"random", "tpe", "levels-gp"};
constexpr int kBudgets[] = {20, 36, 60, 100};

// What is searched, and which point of the table a point of it is.
struct Choice {
  Space space;
  std::function<Point(const Point&)> whole;
};

// The table's own points: the rate, then a rank for each group.
Choice AllRanks(const RecordedTable& table) {
  return {table.space, [](const Point& point) { return point; }};
}

// The rate and one rank, not 0, for all groups.
Choice OneRank(const RecordedTable& table) {
  std::vector<Parameter> parameters = {table.space.parameters()[0],
                                       table.space.parameters()[1]};
  auto& ranks = std::get<Levels>(parameters[1].domain).rates;
  ranks.erase(ranks.begin());
  std::vector<ModuleBinding> modules = table.space.modules();
  for (ModuleBinding& module : modules) {
    if (module.adapter) {
      module.parameter = 1;
      module.adapter->rank_parameter = 1;
    }
  }
  const std::size_t groups = table.space.parameters().size() - 1;
  return {Space(std::move(parameters), std::move(modules), std::nullopt),
          [groups](const Point& point) {
            Point whole(groups + 1, point[1] + 1.0);
            whole[0] = point[0];
            return whole;
          }};
}

double SecondsOf(const RecordedCell& cell) {
  double sum = 0.0;
  for (const RecordedRun& run : cell.runs) {
    sum += run.metrics.at("total_seconds");
  }
  return sum / static_cast<double>(cell.runs.size());
}

class Search {
 public:
  Search(const RecordedTable& table, const std::string& sampler,
         std::uint64_t seed)
      : table_(table), name_(sampler), seed_(seed), luck_(seed, 0x4a2c) {}

  // Proposes points of the choice until so many seconds are spent in all, or
  // there is no other.
  void Propose(const Choice& choice, double seconds) {
    auto made =
        sampler::MakeSampler({.name = name_, .options = {}, .seed = seed_},
                             choice.space, {table_.objective});
    if (!made.ok()) throw std::runtime_error(made.status().ToString());
    History history;
    for (const Observation& trial : trials_) history.Put(trial);
    while (spent_ < seconds && ProposeOne(choice, **made, history)) continue;
  }

  // Spends the rest on points that lead; returns what is handed over.
  const RecordedCell* HandOver(double seconds) {
    while (spent_ < seconds && RunAgain()) continue;
    return Leader([](const Tried&) { return true; })->first;
  }

 private:
  struct Tried {
    std::vector<double> shown;  // greater is better
    std::vector<const RecordedRun*> left;
    double Mean() const {
      return std::accumulate(shown.begin(), shown.end(), 0.0) /
             static_cast<double>(shown.size());
    }
  };
  // In the order of recording, so that of equals the first leads.
  using Tries = std::map<const RecordedCell*, Tried>;

  bool ProposeOne(const Choice& choice, sampler::Sampler& sampler,
                  History& history) {
    const auto number = static_cast<std::int64_t>(trials_.size());
    Rng rng(seed_, trials_.size());
    const auto point = sampler.Propose(history, number, rng);
    if (!point.ok()) return false;  // there is no other
    const RecordedCell& cell = *table_.Find(choice.whole(*point));
    Tried& tried = tries_[&cell];
    if (tried.shown.empty()) {
      for (const RecordedRun& run : cell.runs) tried.left.push_back(&run);
    }
    if (tried.left.empty()) return false;
    Observation trial;
    trial.number = number;
    const RecordedRun& run = RunCell(cell, tried);
    trial.state =
        run.succeeded ? TrialState::kSucceeded : TrialState::kInfeasible;
    trial.point = *point;
    if (run.succeeded) trial.values = {run.value};
    history.Put(trial);
    trial.point = cell.point;  // for a wider choice
    trials_.push_back(std::move(trial));
    return true;
  }

  // The cell that looks best of those that have another run.
  bool RunAgain() {
    const auto found =
        Leader([](const Tried& tried) { return !tried.left.empty(); });
    if (found == tries_.end()) return false;
    RunCell(*found->first, found->second);
    return true;
  }

  template <typename Wanted>
  Tries::iterator Leader(Wanted wanted) {
    auto best = tries_.end();
    for (auto at = tries_.begin(); at != tries_.end(); ++at) {
      if (!wanted(at->second)) continue;
      if (best == tries_.end() || at->second.Mean() > best->second.Mean()) {
        best = at;
      }
    }
    return best;
  }

  const RecordedRun& RunCell(const RecordedCell& cell, Tried& tried) {
    const std::size_t at = luck_.Below(tried.left.size());
    const RecordedRun& run = *tried.left[at];
    tried.left.erase(tried.left.begin() + static_cast<std::ptrdiff_t>(at));
    tried.shown.push_back(run.succeeded ? table_.Score(run.value) : -1.0);
    spent_ += SecondsOf(cell);
    return run;
  }

  const RecordedTable& table_;
  const std::string name_;
  const std::uint64_t seed_;
  Rng luck_;
  std::vector<Observation> trials_;  // by the table's points
  Tries tries_;
  double spent_ = 0.0;
};

struct Recording {
  RecordedTable table;
  Choice all;
  Choice one;
  double seconds = 0.0;  // of a training of one rank, in the mean

  double ScoreOf(const RecordedCell* cell) const {
    return table.Score(cell->Mean());
  }
};

bool HasOneRank(const Point& point) {
  return point[1] > 0.0 &&
         std::adjacent_find(point.begin() + 1, point.end(),
                            std::not_equal_to<>()) == point.end();
}

std::unique_ptr<Recording> Load(const std::string& path) {
  auto recording = std::make_unique<Recording>();
  recording->table = ReadTable(path);
  const RecordedTable& table = recording->table;
  recording->all = AllRanks(table);
  recording->one = OneRank(table);
  int count = 0;
  for (const RecordedCell& cell : table.cells) {
    if (!HasOneRank(cell.point)) continue;
    recording->seconds += SecondsOf(cell);
    ++count;
  }
  recording->seconds /= count;
  return recording;
}

double ThousandsTrained(const RecordedCell* cell) {
  return cell->runs.front().metrics.at("trained_parameters") / 1000.0;
}

// The points that are handed over, by how they were found.
std::map<std::string, const RecordedCell*> HandedOver(
    const Recording& recording, const std::string& sampler, std::uint64_t seed,
    int budget) {
  const double seconds = budget * recording.seconds;
  const double proposing = (1.0 - kToRunAgain) * seconds;
  const auto make = [&] { return Search(recording.table, sampler, seed); };
  Search one = make();
  one.Propose(recording.one, proposing);
  Search search = make();
  search.Propose(recording.all, proposing);
  Search after = make();
  after.Propose(recording.one, proposing / 2.0);
  after.Propose(recording.all, proposing);
  return {{"one", one.HandOver(seconds)},
          {"search", search.HandOver(seconds)},
          {"after", after.HandOver(seconds)}};
}

void RunSampler(const Bench& bench, const Recording& recording,
                const std::string& sampler, int budget) {
  const int seeds = bench.quick() ? 20 : 100;
  std::map<std::string, double> means;
  for (int seed = 1; seed <= seeds; ++seed) {
    const auto handed = HandedOver(recording, sampler,
                                   static_cast<std::uint64_t>(seed), budget);
    const double theirs = recording.ScoreOf(handed.at("one"));
    for (const auto& [how, cell] : handed) {
      const double ours = recording.ScoreOf(cell);
      means[how] += ours / seeds;
      means[how + ".weights"] += ThousandsTrained(cell) / seeds;
      if (how == "one") continue;
      means[how + ".not_worse"] += (ours >= theirs - 1e-12 ? 1.0 : 0.0) / seeds;
      means[how + ".not_worse_01"] +=
          (ours >= theirs - 0.01 ? 1.0 : 0.0) / seeds;
    }
  }
  for (const auto& [name, mean] : means) {
    bench.Figure(absl::StrCat("ranks.", recording.table.name, ".", sampler, ".",
                              budget, ".", name),
                 mean);
  }
}

void RunTable(const Bench& bench, const std::string& path) {
  const std::unique_ptr<Recording> recording = Load(path);
  double best = -1e300;
  double best_one = best;
  for (const RecordedCell& cell : recording->table.cells) {
    const double score = recording->ScoreOf(&cell);
    best = std::max(best, score);
    if (HasOneRank(cell.point)) best_one = std::max(best_one, score);
  }
  const std::string start = "ranks." + recording->table.name + ".";
  bench.Figure(start + "best", best);
  bench.Figure(start + "best_one", best_one);
  for (const std::string sampler : kSamplers) {
    for (const int budget : kBudgets) {
      RunSampler(bench, *recording, sampler, budget);
    }
  }
}

void Run(const Bench& bench) {
  const std::string folder =
      std::string(FROSTLINE_SOURCE_DIR) + "/tests/bench/search/data/";
  for (const std::string name : {"reviews-ranks", "tagging-ranks"}) {
    RunTable(bench, folder + name + ".table");
  }
}

}  // namespace
}  // namespace frostline::bench

int main(int argc, char** argv) {
  return frostline::bench::RunBench(argc, argv, "", frostline::bench::Run);
}
