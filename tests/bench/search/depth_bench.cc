// SPDX-License-Identifier: Apache-2.0
//
// Frozen depth as a cheap rung (Carstensen et al., Frozen Layers, AutoML 2025,
// PMLR 293) on recorded trainings: a point runs first with its lowest layers
// frozen and, if it is among the best quarter there, as it is. What a search
// has after as many seconds with the rung and without it: why there is none
// (docs/adr/0042-no-depth-rung.md, docs/measured/tables.md).
//
// T: a table; K: what the rung freezes, layers of hyperparameters' tables
// (data/README.md), parameters of tables of rates; S: random, tpe, levels-gp;
// 40 seeds (with --quick 8).
//
// With --data FOLDER the tables of hyperparameters are that folder's, and no
// others are asked.
//
//   depth.T.K.correlation   of all points, single runs below against truth
//   depth.T.K.share         seconds below by those of the whole trial, median
//   depth.T.K.S.HOW.short_P       what the trial that looks best truly lacks
//                           of the best point, after P whole trials' seconds
//   depth.T.K.S.HOW.until_W       seconds until that is W or less, in whole
//                           trials, at most kMostTrials; means over seeds,
//                           and .error, their standard error
//   depth.T.K.S.first.serving, .off    how the rung stood at the end
//
// HOW: alone; searched, with the depth as a parameter; costs, so and
// cost_aware; told, the rung where somebody knows that it serves; first, the
// first points run both ways and decide; along, it serves at once, and every
// third point climbs whatever it shows and is judged by.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/plain/statistics.h"
#include "base/rng.h"
#include "sampler/cost.h"
#include "sampler/factory.h"
#include "tests/bench/bench_main.h"
#include "tests/bench/tables/recorded_table.h"

namespace frostline::bench {
namespace {

constexpr double kMostTrials = 40.0;
constexpr std::size_t kReduction = 4;
// Pairs after which the rung may serve, and after which it is off at the
// latest.
constexpr std::size_t kFewestPairs = 8;
constexpr std::size_t kMostPairs = 16;
constexpr double kLeastCorrelation = 0.7;
constexpr std::size_t kControl = 3;

struct Shown {
  double value = 0.0;  // greater is better
  double seconds = 0.0;
};

// What is searched, and what each point shows.
struct Problem {
  std::string name;
  Space space;
  std::function<Point(Point)> lowered;
  std::function<Shown(const Point&, Rng&)> run;
  std::function<double(const Point&)> truth;
  // The recorded point nearest to a wish, none of `taken`.
  std::function<std::optional<Point>(const Point&, const std::set<Point>&)>
      nearest;
  std::vector<Point> wholes;
  double best = 0.0;
  double whole_seconds = 0.0;  // of one whole trial, in the mean
};

void Finish(Problem& problem) {
  problem.best = -std::numeric_limits<double>::infinity();
  Rng rng(1, 2);
  for (const Point& point : problem.wholes) {
    problem.best = std::max(problem.best, problem.truth(point));
    problem.whole_seconds += problem.run(point, rng).seconds /
                             static_cast<double>(problem.wholes.size());
  }
}

// A complete table of rates, whose rung freezes the first `frozen` parameters.
// Seconds are the passes of cost.h, and a twentieth of a whole trial besides.
Problem ProblemOf(const RecordedTable& table, std::size_t frozen) {
  constexpr double kFixedPasses = 0.9;
  Problem problem;
  problem.name = table.name + "." + std::to_string(frozen);
  problem.space = table.space;
  problem.lowered = [frozen](Point point) {
    std::fill_n(point.begin(), frozen, 0.0);
    return point;
  };
  problem.run = [&table](const Point& point, Rng& rng) {
    const RecordedCell& cell = *table.Find(point);
    const RecordedRun& run = cell.runs[rng.Below(cell.runs.size())];
    const double passes =
        sampler::WorkCounter(table.space).CountOf(point).passes();
    return Shown{run.succeeded ? table.Score(run.value) : -1.0,
                 kFixedPasses + passes};
  };
  problem.truth = [&table](const Point& point) {
    return table.Score(table.Find(point)->Mean());
  };
  problem.nearest = [](const Point& wish, const std::set<Point>&) {
    return std::optional(wish);
  };
  for (const RecordedCell& cell : table.cells) {
    problem.wholes.push_back(cell.point);
  }
  Finish(problem);
  return problem;
}

// Hyperparameters at several depths (data/README.md), each value as its place
// among all values of its column.
struct HyperTable {
  std::string name;
  std::vector<std::string> columns;
  std::vector<int> depths;
  std::vector<int> sizes;  // values of each column
  std::vector<Point> points;
  // By depth, as points: what each training seed showed.
  std::map<int, std::vector<std::vector<Shown>>> shown;
};

std::vector<std::string> Cells(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> cells;
  for (std::string cell; std::getline(stream, cell, ',');) {
    cells.push_back(cell);
  }
  return cells;
}

HyperTable ReadHyperTable(const std::filesystem::path& path) {
  HyperTable table;
  table.name = path.stem();
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  for (const std::string& column : Cells(line)) {
    const std::size_t at = column.find("accuracy@");
    if (at == 0) table.depths.push_back(std::stoi(column.substr(9)));
    if (column.find('@') == std::string::npos) table.columns.push_back(column);
  }
  std::vector<std::vector<double>> rows;
  while (std::getline(file, line)) {
    std::vector<double> row;
    for (const std::string& cell : Cells(line)) row.push_back(std::stod(cell));
    rows.push_back(std::move(row));
  }
  if (rows.empty()) throw std::runtime_error(path.string() + " has no lines");
  std::vector<std::set<double>> values(table.columns.size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i].insert(row[i]);
  }
  for (const auto& each : values) {
    table.sizes.push_back(static_cast<int>(each.size()));
  }
  for (const auto& row : rows) {
    Point point;
    for (std::size_t i = 0; i < values.size(); ++i) {
      point.push_back(static_cast<double>(
          std::distance(values[i].begin(), values[i].find(row[i]))));
    }
    const auto known = std::ranges::find(table.points, point);
    const auto place = static_cast<std::size_t>(known - table.points.begin());
    if (known == table.points.end()) table.points.push_back(std::move(point));
    std::size_t at = values.size();
    for (const int depth : table.depths) {
      table.shown[depth].resize(table.points.size());
      table.shown[depth][place].push_back({row[at], row[at + 1]});
      at += 2;
    }
  }
  return table;
}

// The place of a point without its depth.
std::size_t PlaceOf(const HyperTable& table, const Point& point) {
  for (std::size_t i = 0; i < table.points.size(); ++i) {
    if (std::equal(table.points[i].begin(), table.points[i].end(),
                   point.begin() + 1)) {
      return i;
    }
  }
  throw std::runtime_error("no such point in " + table.name);
}

// Six layers below a depth, which is 0 or `cheap`; without `searched` 0.
Space SpaceOf(const HyperTable& table, int cheap, bool searched) {
  constexpr int kLayers = 6;
  std::vector<Parameter> parameters = {
      {"prefix_depth", IntRange{0, searched ? cheap : 0, cheap, false}, {}}};
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    parameters.push_back(
        {"column." + table.columns[i], IntRange{0, table.sizes[i] - 1}, {}});
  }
  std::vector<ModuleBinding> modules = {{"embeddings", {}, 1e-3, 0}};
  for (int layer = 0; layer < kLayers; ++layer) {
    modules.push_back({"layer." + std::to_string(layer), {}, 1e-3, layer});
  }
  modules.push_back({"head", {}, 1e-3, {}});
  return Space(std::move(parameters), std::move(modules), 0);
}

Problem ProblemOf(const HyperTable& table, int cheap, bool searched) {
  Problem problem;
  problem.name = table.name + "." + std::to_string(cheap);
  problem.space = SpaceOf(table, cheap, searched);
  problem.lowered = [cheap](Point point) {
    point[0] = cheap;
    return point;
  };
  const auto runs_of = [&table](const Point& point) -> const auto& {
    return table.shown.at(static_cast<int>(point[0]))[PlaceOf(table, point)];
  };
  problem.run = [runs_of](const Point& point, Rng& rng) {
    const std::vector<Shown>& runs = runs_of(point);
    return runs[rng.Below(runs.size())];
  };
  problem.truth = [runs_of](const Point& point) {
    double sum = 0.0;
    for (const Shown& run : runs_of(point)) sum += run.value;
    return sum / static_cast<double>(runs_of(point).size());
  };
  problem.nearest = [&table](const Point& wish, const std::set<Point>& taken) {
    std::optional<Point> nearest;
    double least = std::numeric_limits<double>::infinity();
    for (const Point& each : table.points) {
      Point point = {wish[0]};
      point.insert(point.end(), each.begin(), each.end());
      if (taken.contains(point)) continue;
      double distance = 0.0;
      for (std::size_t i = 0; i < each.size(); ++i) {
        distance +=
            std::abs(each[i] - wish[i + 1]) / std::max(1, table.sizes[i] - 1);
      }
      if (distance >= least - 1e-9) continue;
      least = distance;
      nearest = std::move(point);
    }
    return nearest;
  };
  for (const Point& each : table.points) {
    Point point = {0.0};
    point.insert(point.end(), each.begin(), each.end());
    problem.wholes.push_back(std::move(point));
  }
  Finish(problem);
  return problem;
}

enum class How { kAlone, kCosts, kTold, kFirst, kAlong };
enum class Standing { kOpen, kServing, kOff };

// Bonett and Wright, Psychometrika 65, 2000, eq. 3: the interval of 80 %.
Standing StandingOf(const std::vector<double>& cheap,
                    const std::vector<double>& whole) {
  const double r = std::clamp(RankCorrelation(cheap, whole), -0.999, 0.999);
  const auto count = static_cast<double>(cheap.size());
  const double width = 1.2816 * std::sqrt((1.0 + r * r / 2.0) / (count - 3.0));
  if (std::tanh(std::atanh(r) - width) >= kLeastCorrelation) {
    return Standing::kServing;
  }
  const bool hopeless = std::tanh(std::atanh(r) + width) < kLeastCorrelation;
  return hopeless || cheap.size() >= kMostPairs ? Standing::kOff
                                                : Standing::kOpen;
}

struct Step {
  double trials = 0.0;  // seconds so far, in whole trials
  double value = 0.0;
  double truth = 0.0;
};

class Search {
 public:
  Search(const Problem& problem, const std::string& sampler, How how,
         std::uint64_t seed)
      : problem_(problem), how_(how), seed_(seed), luck_(seed, 0x7ab1e) {
    sampler::SamplerSpec spec{.name = sampler, .options = {}, .seed = seed};
    if (how == How::kCosts) spec.options["cost_aware"] = "true";
    auto made = sampler::MakeSampler(spec, problem.space, {objective_});
    if (!made.ok()) throw std::runtime_error(made.status().ToString());
    sampler_ = *std::move(made);
    if (how == How::kTold || how == How::kAlong) standing_ = Standing::kServing;
    if (how == How::kAlone || how == How::kCosts) standing_ = Standing::kOff;
  }

  void Run() {
    while (seconds_ < kMostTrials * problem_.whole_seconds) {
      if (standing_ != Standing::kOff && RunOwed()) continue;
      Rng rng(seed_, static_cast<std::uint64_t>(steps_.size()));
      const auto wish = sampler_->Propose(
          history_, static_cast<std::int64_t>(steps_.size()), rng);
      if (!wish.ok()) return;
      if (!RunWish(*wish)) return;
    }
  }

  const std::vector<Step>& steps() const { return steps_; }
  Standing standing() const { return standing_; }

 private:
  struct Climber {
    Point whole;
    double cheap = 0.0;
    std::optional<double> value;  // of its whole trial
  };

  // Whether a point that has been on the rung runs as it is.
  bool RunOwed() {
    const bool all = standing_ == Standing::kOpen;
    for (std::size_t i = 0; i < climbers_.size(); ++i) {
      const bool control = how_ == How::kAlong && i % kControl == 0;
      if (climbers_[i].value || !(all || control)) continue;
      Climb(i);
      return true;
    }
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < climbers_.size(); ++i) order.push_back(i);
    std::ranges::stable_sort(order, [this](std::size_t a, std::size_t b) {
      return climbers_[a].cheap > climbers_[b].cheap;
    });
    order.resize(order.size() / kReduction);
    for (const std::size_t i : order) {
      if (climbers_[i].value) continue;
      Climb(i);
      return true;
    }
    return false;
  }

  void Climb(std::size_t i) {
    const Point whole = climbers_[i].whole;
    climbers_[i].value = RunOne(whole);
    if (how_ == How::kTold) return;
    if (how_ == How::kFirst && standing_ != Standing::kOpen) return;
    std::vector<double> cheap;
    std::vector<double> values;
    for (std::size_t j = 0; j < climbers_.size(); ++j) {
      if (how_ == How::kAlong && j % kControl != 0) continue;
      if (!climbers_[j].value) continue;
      cheap.push_back(climbers_[j].cheap);
      values.push_back(*climbers_[j].value);
    }
    if (cheap.size() < kFewestPairs) return;
    const Standing now = StandingOf(cheap, values);
    if (how_ == How::kFirst || now == Standing::kOff) standing_ = now;
  }

  // The cheap version first, if nobody has run it; then the point itself.
  bool RunWish(const Point& wish) {
    if (standing_ == Standing::kOff) {
      const auto point = problem_.nearest(wish, taken_);
      if (point) RunOne(*point);
      return point.has_value();
    }
    const Point low = problem_.lowered(wish);
    std::optional<Point> cheap = problem_.nearest(low, taken_);
    if (!cheap || taken_.contains(*cheap)) {
      Point whole = wish;
      if (problem_.space.prefix_depth()) whole[0] = 0.0;
      const auto point = problem_.nearest(whole, taken_);
      if (point) RunOne(*point);
      return point.has_value();
    }
    Point whole = wish;
    if (problem_.space.prefix_depth()) {  // it may be another one than wished
      whole = *cheap;
      whole[0] = 0.0;
    }
    const double value = RunOne(*cheap);
    if (whole != *cheap && !taken_.contains(whole)) {
      climbers_.push_back({std::move(whole), value, {}});
    }
    return true;
  }

  double RunOne(const Point& point) {
    taken_.insert(point);
    const Shown shown = problem_.run(point, luck_);
    seconds_ += shown.seconds;
    Observation trial;
    trial.number = static_cast<std::int64_t>(steps_.size());
    trial.state = TrialState::kSucceeded;
    trial.point = point;
    trial.values = {shown.value};
    trial.cost_s = shown.seconds;
    const bool is_whole = !problem_.space.prefix_depth() || point[0] == 0.0;
    trial.use = {.seconds = static_cast<float>(shown.seconds),
                 .device = 1,
                 .prefix_computed = is_whole ? -1.0F : 0.0F};
    history_.Put(std::move(trial));
    steps_.push_back({seconds_ / problem_.whole_seconds, shown.value,
                      problem_.truth(point)});
    return shown.value;
  }

  const Problem& problem_;
  const How how_;
  const std::uint64_t seed_;
  Rng luck_;
  const Objective objective_ = {"value", Direction::kMaximize};
  std::unique_ptr<sampler::Sampler> sampler_;
  Standing standing_ = Standing::kOpen;
  History history_;
  std::vector<Climber> climbers_;
  std::set<Point> taken_;
  std::vector<Step> steps_;
  double seconds_ = 0.0;
};

double MeanOf(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// The standard error of the mean.
double ErrorOf(const std::vector<double>& values) {
  const double mean = MeanOf(values);
  double squares = 0.0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const auto count = static_cast<double>(values.size());
  return std::sqrt(squares / (count * (count - 1.0)));
}

// What the trial that looks best truly lacks, after each step.
std::vector<double> ShortOf(const Problem& problem,
                            const std::vector<Step>& steps) {
  std::vector<double> lacking;
  const Step* best = nullptr;
  for (const Step& step : steps) {
    if (best == nullptr || step.value > best->value) best = &step;
    lacking.push_back(problem.best - best->truth);
  }
  return lacking;
}

void PrintSearches(const Bench& bench, const Problem& problem,
                   const std::string& sampler, How how,
                   const std::string& name) {
  const int seeds = bench.quick() ? 8 : 40;
  std::map<std::string, std::vector<double>> figures;
  for (int seed = 1; seed <= seeds; ++seed) {
    Search search(problem, sampler, how, static_cast<std::uint64_t>(seed));
    search.Run();
    const std::vector<Step>& steps = search.steps();
    const std::vector<double> lacking = ShortOf(problem, steps);
    for (const int trials : {4, 8, 12, 16, 24}) {
      double now = problem.best;
      for (std::size_t i = 0; i < steps.size(); ++i) {
        if (steps[i].trials <= trials) now = lacking[i];
      }
      figures["short_" + std::to_string(trials)].push_back(now);
    }
    for (const auto& [within, end] :
         {std::pair{0.02, "until_0.02"}, std::pair{0.01, "until_0.01"},
          std::pair{0.0, "until_0"}}) {
      double until = kMostTrials;
      for (std::size_t i = 0; i < steps.size(); ++i) {
        if (lacking[i] > within + 1e-12) continue;
        until = std::min(steps[i].trials, kMostTrials);
        break;
      }
      figures[end].push_back(until);
    }
    if (how != How::kFirst && how != How::kAlong) continue;
    figures["serving"].push_back(search.standing() == Standing::kServing);
    figures["off"].push_back(search.standing() == Standing::kOff);
  }
  const std::string start =
      "depth." + problem.name + "." + sampler + "." + name + ".";
  for (const auto& [end, values] : figures) {
    bench.Figure(start + end, MeanOf(values));
    if (end.starts_with("until_")) {
      bench.Figure(start + end + ".error", ErrorOf(values));
    }
  }
}

void PrintRung(const Bench& bench, const Problem& problem) {
  std::vector<double> cheap;
  std::vector<double> whole;
  std::vector<double> shares;
  Rng rng(1, 3);
  for (const Point& point : problem.wholes) {
    const Point low = problem.lowered(point);
    if (low == point) continue;
    const Shown below = problem.run(low, rng);
    cheap.push_back(below.value);
    whole.push_back(problem.truth(point));
    shares.push_back(below.seconds / problem.run(point, rng).seconds);
  }
  const std::string start = "depth." + problem.name + ".";
  bench.Figure(start + "points", static_cast<double>(cheap.size()));
  bench.Figure(start + "best", problem.best);
  bench.Figure(start + "correlation", RankCorrelation(cheap, whole));
  bench.Figure(start + "share", Quantile(shares, 0.5));
}

constexpr const char* kSamplers[] = {"random", "tpe", "levels-gp"};
const std::pair<How, const char*> kRungs[] = {
    {How::kTold, "told"}, {How::kFirst, "first"}, {How::kAlong, "along"}};

void RunRates(const Bench& bench, const std::string& path,
              const std::vector<std::size_t>& rungs) {
  const RecordedTable table = ReadTable(path);
  for (const std::size_t frozen : rungs) {
    const Problem problem = ProblemOf(table, frozen);
    PrintRung(bench, problem);
    for (const std::string sampler : kSamplers) {
      PrintSearches(bench, problem, sampler, How::kAlone, "alone");
      for (const auto& [how, name] : kRungs) {
        PrintSearches(bench, problem, sampler, how, name);
      }
    }
  }
}

void RunHyper(const Bench& bench, const std::filesystem::path& path) {
  const HyperTable table = ReadHyperTable(path);
  for (const int depth : table.depths) {
    if (depth == 0) continue;
    const Problem whole = ProblemOf(table, depth, false);
    const Problem problem = ProblemOf(table, depth, true);
    PrintRung(bench, problem);
    for (const std::string sampler : kSamplers) {
      PrintSearches(bench, whole, sampler, How::kAlone, "alone");
      PrintSearches(bench, problem, sampler, How::kAlone, "searched");
      if (sampler != "random") {
        PrintSearches(bench, problem, sampler, How::kCosts, "costs");
      }
      for (const auto& [how, name] : kRungs) {
        PrintSearches(bench, problem, sampler, how, name);
      }
    }
  }
}

void RunAll(const Bench& bench) {
  const std::string tests = std::string(FROSTLINE_SOURCE_DIR) + "/tests/bench/";
  std::set<std::filesystem::path> paths;
  const std::string folder =
      bench.file().empty() ? tests + "search/data" : bench.file();
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".csv") paths.insert(entry.path());
  }
  for (const std::filesystem::path& path : paths) RunHyper(bench, path);
  if (!bench.file().empty()) return;
  for (const std::string task : {"reviews", "tagging"}) {
    const std::string start = tests + "tables/data/" + task;
    RunRates(bench, start + "-groups.table", {1, 2});
    RunRates(bench, start + "-modules.table", {3, 5});
  }
}

}  // namespace
}  // namespace frostline::bench

int main(int argc, char** argv) {
  return frostline::bench::RunBench(argc, argv, "--data",
                                    frostline::bench::RunAll);
}
