// SPDX-License-Identifier: Apache-2.0
#include "cli/view/plan_view.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "cli/term/table.h"
#include "cli/view/format.h"
#include "cli/view/importance_view.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

constexpr int kMostShort = 4;  // rows of a report's head
constexpr char kLayer[] = "layer.";

// Returns the number in "layer.7", or -1 for any other name.
int FrontierLayerOf(const std::string& module) {
  int layer = -1;
  const bool whole =
      absl::StartsWith(module, kLayer) &&
      absl::SimpleAtoi(module.substr(sizeof(kLayer) - 1), &layer);
  return whole ? layer : -1;
}

std::string SecondsOrDash(double seconds) {
  return std::isnan(seconds) ? "-" : FormatSeconds(seconds);
}

std::vector<std::string> TrainedIn(const v1::FrontierSet& set) {
  return {set.trained().begin(), set.trained().end()};
}

// Returns how many layers the sets name, or 0 when they name none.
int LayersIn(const v1::Frontier& frontier) {
  int layers = 0;
  for (const v1::FrontierSet& set : frontier.by_modules()) {
    for (const std::string& module : set.trained()) {
      int layer = 0;
      const std::string number =
          module.substr(std::min(module.size(), sizeof("layer.") - 1));
      const bool is_layer =
          absl::StartsWith(module, "layer.") &&
          absl::SimpleAtoi(number.substr(0, number.find('.')), &layer);
      if (is_layer) layers = std::max(layers, layer + 1);
    }
  }
  return layers;
}

// A tolerance is no more exact than this.
std::string SayTolerance(double tolerance) {
  return absl::StrFormat("%.2g", tolerance);
}

std::string FrontierCaptionOf(const v1::Frontier& frontier) {
  return absl::StrCat("the least to train in ", LastPart(frontier.study()),
                      ": ", frontier.options().target(), " within ",
                      SayTolerance(frontier.tolerance()), " of the best");
}

// Returns the index of the most probable set, which is worth a look when none
// is certain.
int Likeliest(const v1::Frontier& frontier) {
  const auto& sets = frontier.by_modules();
  const auto best =
      std::max_element(sets.begin(), sets.end(),
                       [](const v1::FrontierSet& a, const v1::FrontierSet& b) {
                         // NaN, which is not known, is least of all.
                         return !(a.within_tolerance_probability() >=
                                  b.within_tolerance_probability()) &&
                                !std::isnan(b.within_tolerance_probability());
                       });
  return static_cast<int>(best - sets.begin());
}

// Returns the rows of a short report: the first, the last, and those around the
// important one.
std::set<int> RowsInShort(const v1::Frontier& frontier) {
  const int rows = frontier.by_modules_size();
  const int chosen = frontier.chosen();
  const int middle =
      chosen >= 0 && chosen < rows ? chosen : Likeliest(frontier);
  std::set<int> shown;
  for (const int row : {middle, 0, rows - 1, middle - 1, middle + 1, middle - 2,
                        middle + 2, middle - 3, middle + 3}) {
    if (static_cast<int>(shown.size()) == kMostShort) break;
    if (row >= 0 && row < rows) shown.insert(row);
  }
  return shown;
}

std::string Legend(const v1::Frontier& frontier) {
  if (frontier.chosen() < 0) return "";
  return "* the least that is within it with 90 %\n";
}

std::string CountOf(const v1::Frontier& frontier, int row) {
  return absl::StrCat(frontier.by_modules(row).trained_size(),
                      row == frontier.chosen() ? " *" : "  ");
}

// A number that the coordinator keeps as a label; empty: it does not know.
std::string LabelOf(const v1::EnqueuedTrial& trial, const char* label) {
  const auto found = trial.labels().find(label);
  return found == trial.labels().end() ? "" : found->second;
}

std::string MemoryOf(const v1::EnqueuedTrial& trial) {
  return LabelOf(trial, "predicted_peak_memory_mib");
}

// Sets as rows, by what `first` says of each. The memory is shown where it is
// known.
class SetTable {
 public:
  SetTable(const v1::Frontier& frontier, const Column& first)
      : shows_memory_(std::ranges::any_of(
            frontier.by_modules(),
            [](const auto& set) { return !MemoryOf(set.as_trial()).empty(); })),
        table_(ColumnsOf(first, shows_memory_)) {}

  void Add(const std::string& first, const v1::FrontierSet& set) {
    std::vector<std::string> cells = {
        first, WithInterval(set.predicted()),
        Probability(set.within_tolerance_probability()),
        CountOrDash(set.trained_parameters()), SecondsOrDash(set.seconds())};
    if (shows_memory_) {
      const std::string mib = MemoryOf(set.as_trial());
      double number = 0.0;
      cells.push_back(absl::SimpleAtod(mib, &number)
                          ? absl::StrFormat("%.0f", number)
                          : "-");
    }
    cells.push_back(absl::StrCat(set.trials()));
    cells.push_back(ModuleList(TrainedIn(set)));
    table_.AddRow(cells);
  }
  std::string Render(int width) const { return table_.Render(width); }

 private:
  static std::vector<Column> ColumnsOf(const Column& first, bool memory) {
    std::vector<Column> columns = {first,
                                   {"PREDICTED, 80 %"},
                                   {"WITHIN", Align::kRight},
                                   {"PARAMETERS", Align::kRight, 1},
                                   {"SECONDS", Align::kRight, 2}};
    if (memory) columns.push_back({"MIB", Align::kRight, 2});
    columns.push_back({"TRIALS", Align::kRight, 3});
    columns.push_back({.title = "MODULES", .wraps = true});
    return columns;
  }

  bool shows_memory_;
  Table table_;
};

std::string ByModules(const v1::Frontier& frontier, int width) {
  SetTable table(frontier, {"TRAINED  ", Align::kRight});
  for (int i = 0; i < frontier.by_modules_size(); ++i) {
    table.Add(CountOf(frontier, i), frontier.by_modules(i));
  }
  return table.Render(width);
}

std::string ByPrefix(const v1::Frontier& frontier, int width) {
  SetTable table(frontier, {"FROZEN"});
  for (const v1::FrontierSet& set : frontier.by_prefix()) {
    table.Add(FrozenPrefix(frontier, set), set);
  }
  return table.Render(width);
}

void AddCsvRow(const std::string& kind, const v1::FrontierSet& set,
               bool is_chosen, std::string& text) {
  const v1::Interval& score = set.predicted();
  text += CsvLine({kind, absl::StrCat(set.trained_size()),
                   absl::StrJoin(set.trained(), " "),
                   absl::StrCat(set.prefix_frozen()), CsvNumber(score.value()),
                   CsvNumber(score.lo80()), CsvNumber(score.hi80()),
                   CsvNumber(score.lo95()), CsvNumber(score.hi95()),
                   CsvNumber(set.within_tolerance_probability()),
                   CsvNumber(set.trained_parameters()),
                   CsvNumber(set.seconds()), absl::StrCat(set.trials()),
                   is_chosen ? "true" : "false", MemoryOf(set.as_trial())});
}

}  // namespace

std::string ModuleList(const std::vector<std::string>& modules) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < modules.size(); ++i) {
    const int first = FrontierLayerOf(modules[i]);
    std::size_t last = i;
    while (first >= 0 && last + 1 < modules.size() &&
           FrontierLayerOf(modules[last + 1]) ==
               FrontierLayerOf(modules[last]) + 1) {
      ++last;
    }
    parts.push_back(last == i ? modules[i]
                              : absl::StrCat(modules[i], "-",
                                             FrontierLayerOf(modules[last])));
    i = last;
  }
  return parts.empty() ? "nothing" : absl::StrJoin(parts, ", ");
}

std::string FrozenPrefix(const v1::Frontier& frontier,
                         const v1::FrontierSet& set) {
  if (set.prefix_frozen() == 0) return "nothing";
  if (set.prefix_frozen() == 1) return "embeddings";
  const int layers = set.prefix_frozen() - 1;
  // There is no layer above them that they could be below.
  if (layers == LayersIn(frontier)) return "all layers";
  return absl::StrCat("below layer.", layers);
}

std::string RenderFrontier(const v1::Frontier& frontier, int width) {
  std::string text = absl::StrCat(
      Caption(FrontierCaptionOf(frontier), frontier.provisional(), width),
      Verdict(frontier.verdict(), width), ByModules(frontier, width),
      Legend(frontier));
  if (frontier.by_prefix_size() > 0) {
    absl::StrAppend(
        &text,
        "\nby what is frozen from below; above it the best set is trained\n\n",
        ByPrefix(frontier, width));
  }
  std::string warnings;
  for (const v1::Warning& warning : frontier.warnings()) {
    warnings += Sentence("warning", warning.sentence(), width);
  }
  return absl::StrCat(text, warnings.empty() ? "" : "\n", warnings);
}

namespace {

constexpr int kBarCells = 20;

// Returns a bar from `lo` (nothing) to `hi` (all cells).
std::string BarOf(double value, double lo, double hi) {
  if (!(hi > lo)) return "";
  const double share = std::clamp((value - lo) / (hi - lo), 0.0, 1.0);
  std::string bar;
  for (int k = 0; k < std::lround(share * kBarCells); ++k) bar += "█";
  return bar;
}

bool IsChosen(const v1::Frontier& frontier, const v1::FrontierSet& set) {
  return frontier.chosen() >= 0 &&
         std::ranges::equal(set.trained(),
                            frontier.by_modules(frontier.chosen()).trained());
}

}  // namespace

std::string RenderPrefixBars(const v1::Frontier& frontier, int width) {
  double lo = std::numeric_limits<double>::infinity();
  double hi = -lo;
  for (const v1::FrontierSet& set : frontier.by_prefix()) {
    lo = std::min(lo, set.predicted().lo80());
    hi = std::max(hi, set.predicted().value());
  }
  Table table({{"FROZEN"},
               {"PREDICTED, 80 %"},
               {"WITHIN", Align::kRight},
               {"SECONDS", Align::kRight, 1},
               {""}});
  for (const v1::FrontierSet& set : frontier.by_prefix()) {
    table.AddRow({absl::StrCat(FrozenPrefix(frontier, set),
                               IsChosen(frontier, set) ? " *" : ""),
                  WithInterval(set.predicted()),
                  Probability(set.within_tolerance_probability()),
                  SecondsOrDash(set.seconds()),
                  BarOf(set.predicted().value(), lo, hi)});
  }
  return absl::StrCat(VerdictLines(frontier.verdict(), width), "\n",
                      table.Render(width));
}

std::string RenderFrontierInShort(const v1::Frontier& frontier, int width) {
  Table table({{"TRAINED  ", Align::kRight},
               {"PREDICTED, 80 %"},
               {"WITHIN", Align::kRight},
               {"MODULES"}});
  const std::set<int> rows = RowsInShort(frontier);
  for (const int i : rows) {
    const v1::FrontierSet& set = frontier.by_modules(i);
    table.AddRow({CountOf(frontier, i), WithInterval(set.predicted()),
                  Probability(set.within_tolerance_probability()),
                  ModuleList(TrainedIn(set))});
  }
  return absl::StrCat(VerdictLines(frontier.verdict(), width),
                      table.Render(width));
}

std::string FrontierCsv(const v1::Frontier& frontier) {
  std::string text = CsvLine(
      {"by", "trained", "modules", "prefix_frozen", "predicted",
       "predicted_lo80", "predicted_hi80", "predicted_lo95", "predicted_hi95",
       "within_tolerance_probability", "trained_parameters", "seconds",
       "trials", "chosen", "peak_memory_mib"});
  for (int i = 0; i < frontier.by_modules_size(); ++i) {
    AddCsvRow("modules", frontier.by_modules(i), i == frontier.chosen(), text);
  }
  for (const v1::FrontierSet& set : frontier.by_prefix()) {
    AddCsvRow("prefix", set, false, text);
  }
  return text;
}

namespace {

std::string PredictedText(const v1::FreezePlan& plan) {
  std::string text =
      absl::StrCat(WithInterval(plan.predicted_score()), " over seeds");
  if (!std::isnan(plan.one_run().lo80())) {
    absl::StrAppend(&text, "; one run ", NumberInterval(plan.one_run()));
  }
  return text;
}

std::string BestPlanText(const v1::FreezePlan& plan) {
  std::string text =
      absl::StrCat(FormatNumber(plan.best_seen_value()), ", trial ",
                   LastPart(plan.best_seen_trial()), "; its luck taken off ",
                   WithInterval(plan.best_seen_score()));
  const bool is_plan =
      plan.differs_in() == 0 && plan.nearest_trial() == plan.best_seen_trial();
  if (is_plan) {
    absl::StrAppend(&text, "; it is the plan");
  } else if (!std::isnan(plan.at_least_best_probability())) {
    absl::StrAppend(&text, "; the plan is as good with ",
                    Probability(plan.at_least_best_probability()));
  }
  return text;
}

std::string NearestText(const v1::FreezePlan& plan) {
  if (plan.nearest_trial().empty()) return "";
  const std::string trial = "trial " + LastPart(plan.nearest_trial());
  if (plan.differs_in() == 0) return trial + " is the plan";
  return absl::StrCat("the plan differs from ", trial, " in ",
                      plan.differs_in(),
                      plan.differs_in() == 1 ? " module" : " modules");
}

std::string SavingText(const v1::FreezePlan& plan) {
  std::vector<std::string> parts;
  if (plan.trained_parameters_known()) {
    parts.push_back(absl::StrCat(FormatCount(plan.trained_parameters_saved()),
                                 " trained parameters"));
  }
  if (!std::isnan(plan.seconds_saved_share())) {
    parts.push_back(
        absl::StrCat(Percent(plan.seconds_saved_share()), " of the seconds"));
  }
  return absl::StrJoin(parts, ", ");
}

// Empty while the study's trials do not tell.
std::string MemoryText(const v1::FreezePlan& plan) {
  const std::string most = MemoryOf(plan.as_trial());
  if (most.empty()) return "";
  const std::string moments =
      LabelOf(plan.as_trial(), "predicted_optimizer_mib");
  return absl::StrCat(most, " MiB at most at once",
                      moments.empty() ? ""
                                      : absl::StrCat(", of which ", moments,
                                                     " are the optimizer's"));
}

std::string ModulesTable(const v1::FreezePlan& plan, int width) {
  Table table({{"MODULE"},
               {"ADVICE"},
               {"RATE", Align::kRight},
               {"FREEZING SAFE", Align::kRight},
               {"COST OF FREEZING, 80 %"}});
  for (const v1::PlannedModule& module : plan.modules()) {
    table.AddRow({module.module(), AdviceText(module), FormatTrained(module),
                  Probability(module.freeze_probability()),
                  WithInterval(module.cost_of_freezing())});
  }
  return table.Render(width);
}

}  // namespace

std::string RenderFreezePlan(const v1::FreezePlan& plan, int width) {
  std::string text = absl::StrCat(
      Caption(absl::StrCat("freeze plan for ", LastPart(plan.study()), ": ",
                           plan.options().target(),
                           plan.tolerance() > 0.0
                               ? absl::StrCat("; losing ",
                                              SayTolerance(plan.tolerance()),
                                              " does not matter")
                               : ""),
              plan.provisional(), width),
      Verdict(plan.verdict(), width), ModulesTable(plan, width), "\n");
  absl::StrAppend(&text, Sentence("predicted", PredictedText(plan), width),
                  Sentence("best seen", BestPlanText(plan), width),
                  Sentence("nearest", NearestText(plan), width),
                  Sentence("saves", SavingText(plan), width),
                  Sentence("takes", MemoryText(plan), width));
  std::set<std::string> said;  // no warning twice
  for (const v1::Warning& warning : plan.warnings()) {
    if (!said.insert(warning.sentence()).second) continue;
    absl::StrAppend(&text, Sentence("warning", warning.sentence(), width));
  }
  for (const std::string& command : plan.verify()) {
    absl::StrAppend(&text, Sentence("to verify it", command, width));
  }
  return text;
}

std::string RenderFreezePlanInShort(const v1::FreezePlan& plan, int width) {
  google::protobuf::RepeatedPtrField<v1::ModuleRate> rates;
  for (const v1::PlannedModule& module : plan.modules()) {
    v1::ModuleRate* const rate = rates.Add();
    rate->set_module(module.module());
    rate->set_rate(module.freeze() ? 0.0 : module.rate());
    if (module.has_rank()) rate->set_rank(module.rank());
  }
  const bool is_trial = plan.differs_in() == 0 && !plan.nearest_trial().empty();
  std::string score =
      absl::StrCat(FormatNumber(plan.best_seen_value()), ", trial ",
                   LastPart(plan.best_seen_trial()));
  if (!std::isnan(plan.one_run().lo80())) {
    absl::StrAppend(&score,
                    "; one run of the plan: ", NumberInterval(plan.one_run()),
                    " (80 %)");
  }
  return absl::StrCat(
      VerdictLines(plan.verdict(), width),
      Sentence("its rates",
               is_trial ? "those of trial " + LastPart(plan.nearest_trial())
                        : RatesInShort(rates),
               width),
      Sentence("best seen", score, width));
}

std::string RenderComparison(const v1::StudyComparison& comparison, int width) {
  Table table({{"MODULE"},
               {FitToWidth(LastPart(comparison.first()), 16), Align::kRight},
               {"80 % INTERVAL", Align::kRight},
               {FitToWidth(LastPart(comparison.second()), 16), Align::kRight},
               {"80 % INTERVAL", Align::kRight},
               {""}});
  for (const auto& shift : comparison.shifts()) {
    table.AddRow({shift.parameter(), Percent(shift.first_share().value()),
                  PercentInterval(shift.first_share()),
                  Percent(shift.second_share().value()),
                  PercentInterval(shift.second_share()),
                  shift.distinguishable() ? "differs" : ""});
  }
  std::string text = absl::StrCat(
      Caption(absl::StrCat("importance for ", comparison.options().target(),
                           " in ", LastPart(comparison.first()), " and ",
                           LastPart(comparison.second()),
                           ", shares among what both search"),
              comparison.provisional(), width),
      table.Render(width), "\n");
  absl::StrAppend(&text, Sentence("rank agreement",
                                  TauText(comparison.rank_agreement()), width));
  absl::StrAppend(&text, Sentence("in short", comparison.sentence(), width));
  absl::StrAppend(
      &text, Sentence("only first",
                      absl::StrJoin(comparison.only_first(), ", "), width));
  absl::StrAppend(
      &text, Sentence("only second",
                      absl::StrJoin(comparison.only_second(), ", "), width));
  return text;
}

namespace {

constexpr std::size_t kMaxVerifiedName = 40;

std::string VerifiedSigned(double value) {
  return std::isnan(value) ? "-" : absl::StrFormat("%+.3f", value);
}

std::string VerifiedPText(double p) {
  if (std::isnan(p)) return "-";
  return p < 0.001 ? "< 0.001" : absl::StrFormat("%.3f", p);
}

// Returns the noise, marked when the difference is larger.
std::string NoiseText(double noise, bool is_exceeded) {
  if (std::isnan(noise)) return "-";
  return absl::StrFormat("±%.3f%s", noise, is_exceeded ? "*" : " ");
}

std::int64_t ResultsOf(const v1::VerifiedRival& rival) {
  std::int64_t results = 0;
  for (const v1::VerifiedRun& run : rival.runs()) {
    if (!std::isnan(run.value())) ++results;
  }
  return results;
}

std::string SeenText(const v1::VerifiedRival& rival) {
  if (std::isnan(rival.seen().value())) return "-";
  return absl::StrFormat("%.3f", rival.seen().value());
}

std::string VerdictOf(const v1::PlanVerification& verification) {
  const bool open = verification.ended() < verification.total();
  return absl::StrCat(verification.verdict(), open ? ", so far" : "");
}

// Returns the header of the column of differences to the first: "LESS PLAN".
std::string LessFirst(const v1::PlanVerification& verification) {
  if (verification.rivals().empty()) return "LESS PLAN";
  return absl::StrCat("LESS ",
                      absl::AsciiStrToUpper(proto::CleanText(
                          verification.rivals(0).name(), kMaxVerifiedName)));
}

// `short_of_room` writes intervals tight and leaves out what tells nothing:
// RUNS where all have as many, which the line above says, and ROWS where none
// has any.
Table TableOfRivals(const v1::PlanVerification& verification,
                    bool short_of_room) {
  std::set<std::int64_t> runs;
  bool has_rows = false;
  for (const v1::VerifiedRival& rival : verification.rivals()) {
    runs.insert(ResultsOf(rival));
    has_rows = has_rows || !std::isnan(rival.row_noise());
  }
  Table table({{"RIVAL"},
               {"PREDICTED, 80 %"},
               {"SEEN", Align::kRight},
               {"RUNS", Align::kRight, 0, short_of_room && runs.size() == 1},
               {LessFirst(verification), Align::kRight},
               {"SEEDS ", Align::kRight},
               {"ROWS ", Align::kRight, 0, short_of_room && !has_rows},
               {"p", Align::kRight, 1}});
  for (const v1::VerifiedRival& rival : verification.rivals()) {
    std::string predicted = WithInterval(rival.predicted());
    if (short_of_room) absl::StrReplaceAll({{" – ", "–"}}, &predicted);
    table.AddRow({rival.name(), predicted, SeenText(rival),
                  absl::StrCat(ResultsOf(rival)),
                  VerifiedSigned(rival.difference().value()),
                  NoiseText(rival.seed_noise(), rival.exceeds_seeds()),
                  NoiseText(rival.row_noise(), rival.exceeds_rows()),
                  VerifiedPText(rival.adjusted_p())});
  }
  return table;
}

std::string RivalsTable(const v1::PlanVerification& verification, int width) {
  const Table whole = TableOfRivals(verification, /*short_of_room=*/false);
  if (whole.LeftOut(width).empty()) return whole.Render(width);
  return TableOfRivals(verification, /*short_of_room=*/true).Render(width);
}

}  // namespace

std::string RenderVerification(const v1::PlanVerification& verification,
                               int width) {
  return absl::StrCat(
      Caption(
          absl::StrCat("predicted and seen in ", LastPart(verification.study()),
                       ": ", verification.target(), ", ", verification.ended(),
                       " of ", verification.total(), " trials have ended"),
          false, width),
      Verdict(VerdictOf(verification), width), RivalsTable(verification, width),
      "SEEDS, ROWS: what noise makes of equal points, 19 times in 20; * "
      "exceeded\n"
      "p: of both, Holm's\n");
}

std::string RenderVerificationInShort(const v1::PlanVerification& verification,
                                      int width) {
  return absl::StrCat(VerdictLines(VerdictOf(verification), width),
                      RivalsTable(verification, width));
}

std::string VerificationCsv(const v1::PlanVerification& verification) {
  std::string text = CsvLine({"rival", "predicted", "predicted_lo80",
                              "predicted_hi80", "one_run_lo80", "one_run_hi80",
                              "trial", "seed", "state", "value", "difference",
                              "seed_noise", "row_noise", "p", "adjusted_p"});
  for (const v1::VerifiedRival& rival : verification.rivals()) {
    for (const v1::VerifiedRun& run : rival.runs()) {
      text += CsvLine(
          {rival.name(), CsvNumber(rival.predicted().value()),
           CsvNumber(rival.predicted().lo80()),
           CsvNumber(rival.predicted().hi80()),
           CsvNumber(rival.one_run().lo80()), CsvNumber(rival.one_run().hi80()),
           LastPart(run.trial()), absl::StrCat(run.seed()), NameOf(run.state()),
           CsvNumber(run.value()), CsvNumber(rival.difference().value()),
           CsvNumber(rival.seed_noise()), CsvNumber(rival.row_noise()),
           CsvNumber(rival.p()), CsvNumber(rival.adjusted_p())});
    }
  }
  return text;
}

std::string RatesInShort(
    const google::protobuf::RepeatedPtrField<v1::ModuleRate>& rates) {
  // By rate, then by rank.
  using Key = std::tuple<double, int, std::string>;
  std::map<Key, std::vector<std::string>, std::greater<>> modules;
  for (const v1::ModuleRate& rate : rates) {
    modules[{rate.rate(), rate.rank(), FormatTrained(rate)}].push_back(
        rate.module());
  }
  std::vector<std::string> parts;
  parts.reserve(modules.size());
  for (const auto& [key, names] : modules) {
    parts.push_back(absl::StrCat(std::get<2>(key), " ", ModuleList(names)));
  }
  return absl::StrJoin(parts, "; ");
}

std::string RenderAsked(const v1::AskPlanReply& reply, int width) {
  std::string text = Caption(
      absl::StrCat("trials that would tell most of what the plan leaves open: ",
                   reply.options().target()),
      reply.provisional(), width);
  for (int i = 0; i < reply.trials_size(); ++i) {
    const v1::AskedTrial& asked = reply.trials(i);
    absl::StrAppend(
        &text,
        Sentence(absl::StrCat(i + 1),
                 absl::StrCat(asked.reason(), " (so far ",
                              Probability(asked.expected_reduction()),
                              " of what is open)"),
                 width),
        Sentence("  rates", RatesInShort(asked.rates()), width));
  }
  return text;
}

std::string AskedCsv(const v1::AskPlanReply& reply) {
  std::string text = CsvLine({"rank", "expected_reduction", "reason", "rates"});
  for (int i = 0; i < reply.trials_size(); ++i) {
    const v1::AskedTrial& asked = reply.trials(i);
    text += CsvLine({absl::StrCat(i + 1), CsvNumber(asked.expected_reduction()),
                     asked.reason(), RatesInShort(asked.rates())});
  }
  return text;
}

}  // namespace frostline::cli
