// SPDX-License-Identifier: Apache-2.0
#include "importance/report.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "importance/measure/dataset.h"
#include "importance/measure/numbers.h"

namespace frostline::importance {
namespace {

constexpr int kEmbeddings = -1;
constexpr int kPooler = std::numeric_limits<int>::max() - 2;
constexpr int kHead = std::numeric_limits<int>::max() - 1;
constexpr std::array kGroups = {"embeddings", "lower", "middle", "upper",
                                "head"};

// Returns 3 for "layer.3" and "layer.3.ffn"; nullopt for names of other kinds.
std::optional<int> DepthOf(std::string_view module) {
  const std::string_view first = module.substr(0, module.find('.'));
  if (first == "embeddings") return kEmbeddings;
  if (first == "pooler") return kPooler;
  if (first == "head") return kHead;
  if (first != "layer" || first.size() == module.size()) return std::nullopt;
  const std::string_view digits = module.substr(first.size() + 1);
  int number = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool whole = end == digits.data() + digits.size() || *end == '.';
  if (error != std::errc() || !whole || number < 0) return std::nullopt;
  return number;
}

// Returns by parameter the depths of the modules that take their rate from it.
// If no module does, as in a space of plain parameters, its own name gives a
// depth.
std::vector<std::vector<int>> DepthsOf(const Space& space) {
  std::vector<std::vector<int>> depths(static_cast<std::size_t>(space.size()));
  for (const ModuleBinding& binding : space.modules()) {
    const std::optional<int> depth = DepthOf(binding.module);
    if (!binding.parameter.has_value() || !depth.has_value()) continue;
    depths[static_cast<std::size_t>(*binding.parameter)].push_back(*depth);
  }
  for (std::size_t i = 0; i < depths.size(); ++i) {
    const auto depth = DepthOf(space.parameters()[i].name);
    if (depths[i].empty() && depth.has_value()) depths[i].push_back(*depth);
  }
  return depths;
}

int LayersOf(const Space& space, const std::vector<std::vector<int>>& depths) {
  int layers = 0;
  const auto see = [&layers](int depth) {
    if (depth < kPooler) layers = std::max(layers, depth + 1);
  };
  for (const std::vector<int>& own : depths) {
    for (const int depth : own) see(depth);
  }
  for (const ModuleBinding& binding : space.modules()) {
    see(DepthOf(binding.module).value_or(0));
  }
  return layers;
}

std::size_t GroupOf(int depth, int layers) {
  if (depth == kEmbeddings) return 0;
  if (depth >= kPooler) return 4;
  return 1 + static_cast<std::size_t>(std::min(3 * depth / layers, 2));
}

}  // namespace

std::vector<int> DepthOrder(const Space& space) {
  const auto depths = DepthsOf(space);
  const auto lowest = [&depths](int i) {
    const std::vector<int>& own = depths[static_cast<std::size_t>(i)];
    return own.empty() ? std::numeric_limits<int>::max()
                       : *std::min_element(own.begin(), own.end());
  };
  std::vector<int> order;
  order.reserve(static_cast<std::size_t>(space.size()));
  for (int i = 0; i < space.size(); ++i) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return lowest(a) < lowest(b); });
  return order;
}

std::vector<LayerGroup> LayerGroups(const Space& space) {
  const auto depths = DepthsOf(space);
  const int layers = LayersOf(space, depths);
  std::array<LayerGroup, kGroups.size()> groups;
  for (const int i : DepthOrder(space)) {
    const std::vector<int>& own = depths[static_cast<std::size_t>(i)];
    if (own.empty()) continue;
    const std::size_t group = GroupOf(own.front(), layers);
    const bool alone = std::all_of(own.begin(), own.end(), [&](int depth) {
      return GroupOf(depth, layers) == group;
    });
    if (alone) groups[group].parameters.push_back(i);
  }
  std::vector<LayerGroup> there;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (groups[g].parameters.empty()) continue;
    groups[g].name = kGroups[g];
    there.push_back(std::move(groups[g]));
  }
  return there;
}

const PairImportance* FindPair(const std::vector<PairImportance>& pairs,
                               const std::vector<int>& subset) {
  if (subset.size() != 2) return nullptr;
  for (const PairImportance& pair : pairs) {
    if ((pair.first == subset[0] && pair.second == subset[1]) ||
        (pair.first == subset[1] && pair.second == subset[0])) {
      return &pair;
    }
  }
  return nullptr;
}

namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

double RestOf(const std::vector<double>& shares) {
  const double rest = 1.0 - std::accumulate(shares.begin(), shares.end(), 0.0);
  // Shares of their own sum leave nothing but rounding.
  return rest > 1e-12 ? rest : 0.0;
}

}  // namespace

std::string JoinInWords(std::vector<std::string> words) {
  std::string last = std::move(words.back());
  words.pop_back();
  if (words.empty()) return last;
  return absl::StrCat(absl::StrJoin(words, ", "), " and ", last);
}

std::string NameTrials(const std::vector<std::int64_t>& trials) {
  std::vector<std::string> numbers;
  numbers.reserve(trials.size());
  for (const std::int64_t trial : trials) {
    numbers.push_back(absl::StrCat(trial));
  }
  return absl::StrCat(trials.size() == 1 ? "trial " : "trials ",
                      JoinInWords(std::move(numbers)));
}

Report MakePlainReport(const PlainShares& shares) {
  Report report;
  const std::vector<int> ranks = RankByFalling(shares.shares);
  const std::vector<double> top3 =
      Top3Probabilities(shares.shares, shares.replicates);
  for (std::size_t i = 0; i < shares.shares.size(); ++i) {
    std::vector<double> draws;
    draws.reserve(shares.replicates.size());
    for (const auto& draw : shares.replicates) draws.push_back(draw[i]);
    ParameterImportance one;
    one.parameter = static_cast<int>(i);
    one.main = ShareInterval(shares.shares[i], draws);
    one.total = {kNoNumber, kNoNumber, kNoNumber, kNoNumber, kNoNumber};
    one.direction = kNoNumber;
    one.rank = ranks[i];
    one.top3_probability = top3[i];
    one.distinguishable = one.main.lo95 > shares.chance[i];
    report.parameters.push_back(one);
  }
  std::vector<double> rests;
  rests.reserve(shares.replicates.size());
  for (const auto& draw : shares.replicates) rests.push_back(RestOf(draw));
  report.unexplained = ShareInterval(RestOf(shares.shares), rests);
  report.main_draws = shares.replicates;
  report.out_of_bag_r2 = kNoNumber;
  report.noise_share = kNoNumber;
  return report;
}

std::vector<double> Normalized(std::vector<double> values) {
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  if (!(sum > 0.0)) return values;
  for (double& value : values) value /= sum;
  return values;
}

std::vector<ReportWarning> WarnOfLeftOut(const std::vector<int>& partial) {
  if (partial.empty()) return {};
  return {{"PARAMETER_LEFT_OUT",
           "Parameters that some trials do not have are left out, as Optuna "
           "leaves them out here; fanova has them.",
           partial}};
}

namespace {

constexpr std::size_t kFewTrials = 30;
constexpr std::size_t kFewPerParameter = 5;
constexpr int kNamedInWarnings = 5;  // parameters a sentence names
// ln of the chance at which uniform trials would be called adaptive.
const double kLogUnlikely = std::log(1e-4);

std::string NamesOf(const Space& space, const std::vector<int>& parameters) {
  std::vector<std::string> names;
  for (const int i : parameters) {
    if (names.size() == kNamedInWarnings) break;
    names.push_back(space.parameters()[static_cast<std::size_t>(i)].name);
  }
  const std::size_t more = parameters.size() - names.size();
  return absl::StrCat(absl::StrJoin(names, ", "),
                      more > 0 ? absl::StrCat(" and ", more, " more") : "");
}

std::optional<ReportWarning> FewTrials(const Dataset& data) {
  const std::size_t wanted =
      std::max(kFewTrials, kFewPerParameter * data.axes.size());
  if (data.rows() >= wanted) return std::nullopt;
  return ReportWarning{
      "FEW_TRIALS",
      absl::StrCat(data.rows(), " trials for ", data.axes.size(),
                   data.axes.size() == 1 ? " parameter" : " parameters",
                   ": the ranking may still change"),
      {}};
}

// What evens the trials out: a plan's own questions, where there are modules.
std::string HowToEven(const Space& space) {
  const auto& modules = space.modules();
  const bool has_modules = std::any_of(
      modules.begin(), modules.end(),
      [](const ModuleBinding& one) { return one.parameter.has_value(); });
  return has_modules ? "`plan --ask 8 --enqueue` runs trials that tell more"
                     : "let the sampler random or qmc draw a third of them";
}

std::optional<ReportWarning> AdaptiveSampling(const Space& space,
                                              const Dataset& data) {
  const double least =
      kLogUnlikely - std::log(static_cast<double>(data.axes.size()));
  std::vector<int> uneven;
  for (std::size_t i = 0; i < data.axes.size(); ++i) {
    if (LogChanceOfUneven(data.axes[i], data.codes[i]) < least) {
      uneven.push_back(static_cast<int>(i));
    }
  }
  if (uneven.empty()) return std::nullopt;
  return ReportWarning{
      "ADAPTIVE_SAMPLING",
      absl::StrCat(
          "the trials are not spread evenly over ", NamesOf(space, uneven),
          ", so weak parameters may look too important: ", HowToEven(space)),
      uneven};
}

std::optional<ReportWarning> LevelNeverTried(const Space& space,
                                             const Dataset& data) {
  constexpr std::size_t kMostValues = 64;  // of longer ranges none need be seen
  std::vector<int> gaps;
  for (std::size_t i = 0; i < data.axes.size(); ++i) {
    const std::vector<double> codes = data.axes[i].CountableCodes();
    if (codes.size() > kMostValues) continue;
    const bool has_gap =
        std::any_of(codes.begin(), codes.end(), [&](double code) {
          return std::find(data.codes[i].begin(), data.codes[i].end(), code) ==
                 data.codes[i].end();
        });
    if (has_gap) gaps.push_back(static_cast<int>(i));
  }
  if (gaps.empty()) return std::nullopt;
  return ReportWarning{
      "LEVEL_NEVER_TRIED",
      absl::StrCat("not every value of ", NamesOf(space, gaps),
                   " was tried: what the others do is guessed from their "
                   "neighbours"),
      gaps};
}

}  // namespace

std::vector<ReportWarning> FindWarnings(const Space& space,
                                        const Dataset& data) {
  std::vector<ReportWarning> warnings;
  for (auto& warning : {FewTrials(data), AdaptiveSampling(space, data),
                        LevelNeverTried(space, data)}) {
    if (warning.has_value()) warnings.push_back(*warning);
  }
  return warnings;
}

namespace {

ReportWarning OffScaleWarning(const std::string& metric,
                              const std::vector<OffScaleTrial>& trials,
                              const std::string& why, const std::string& so) {
  const OffScaleTrial& first = trials.front();
  const std::string others =
      trials.size() == 1
          ? ""
          : absl::StrCat(", and ", trials.size() - 1, " more like it");
  return {"VALUES_OFF_SCALE",
          absl::StrCat("trial ", first.trial->number, " has ", metric, " ",
                       first.value, ", ", why, others, ": ", so),
          {}};
}

}  // namespace

std::vector<ReportWarning> FindOffScaleWarnings(const Selection& selection) {
  const Objective& target = *selection.target;
  std::vector<ReportWarning> warnings;
  if (!selection.off_better.empty()) {
    warnings.push_back(OffScaleWarning(
        target.metric, selection.off_better,
        absl::StrCat("better than ", DescribeRange(ClaimedRange(target)),
                     " allows"),
        "left out as a mistake"));
  }
  if (!selection.off_worse.empty()) {
    warnings.push_back(OffScaleWarning(
        target.metric, selection.off_worse, "off the scale of the others",
        selection.off_worse.size() == 1 ? "it counts as diverged"
                                        : "they count as diverged"));
  }
  return warnings;
}

std::optional<ReportWarning> FindDiverged(const Selection& selection,
                                          bool informs) {
  const std::size_t count =
      selection.diverged.size() - selection.off_worse.size();
  if (selection.diverged.empty() || count == 0) return std::nullopt;
  const auto out_of_memory = std::count_if(
      selection.diverged.begin(), selection.diverged.end(),
      [](const Observation* trial) { return trial->out_of_memory; });
  return ReportWarning{
      "TRIALS_DIVERGED",
      absl::StrCat(
          count, count == 1 ? " trial" : " trials", " could not be trained",
          out_of_memory == 0
              ? ""
              : absl::StrCat(" (", out_of_memory, " ran out of memory)"),
          " and so ", count == 1 ? "has" : "have", " no ",
          selection.target->metric,
          informs ? ": each counts as bad as the worst, with doubt"
                  : absl::StrCat(": what is said is of the other ",
                                 selection.trials.size())),
      {}};
}

std::optional<ReportWarning> FindOutOfRange(const Selection& selection) {
  const Objective& target = *selection.target;
  std::vector<double> seen = selection.losses;
  if (target.direction == Direction::kMaximize) {
    for (double& value : seen) value = -value;
  }
  const RangeInForce range = EffectiveRange(target, seen);
  if (!range.broken_by.has_value()) return std::nullopt;
  const std::int64_t trial = selection.trials[*range.broken_by]->number;
  return ReportWarning{
      "METRIC_OUT_OF_RANGE", OutOfRangeSentence(target, range, trial), {}};
}

ReportWarning WarnOfTestObjective(std::string sentence) {
  return {"TEST_OBJECTIVE", std::move(sentence), {}};
}

ReportWarning WarnOfNoIntervals(std::size_t rows, std::size_t parameters) {
  return {"INTERVALS_LEFT_OUT",
          absl::StrCat("Intervals on ", rows, " trials of ", parameters,
                       " parameters would take many minutes and are left out, "
                       "and with them what is distinguishable from chance; "
                       "fanova has them."),
          {}};
}

}  // namespace frostline::importance
