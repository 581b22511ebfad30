// SPDX-License-Identifier: Apache-2.0
#include "server/importance/comparison.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/rng.h"
#include "proto/rules.h"
#include "proto/wire_values.h"
#include "server/importance/convert_importance.h"
#include "server/wire/convert.h"
#include "server/wire/spec.h"
#include "statistics/compare.h"
#include "study/objective.h"

namespace frostline::server {
namespace {

using statistics::Outcomes;

// How far a value that is computed from the rows may be from the metric, as a
// share of a metric above 1: for counts, for numbers stored as float32, and for
// marks stored as float16.
constexpr double kNearCounts = 1e-6;
constexpr double kNearNumbers = 1e-4;
constexpr double kNearHalves = 1e-3;
constexpr int kLookedAt = 4;

}  // namespace

std::shared_ptr<const statistics::RunScore> ScoreOf(const Outcomes& outcomes,
                                                    const std::string& metric,
                                                    double value) {
  const auto near = [value](const statistics::RunScore* score, double within) {
    // False for NaN.
    return score != nullptr && std::abs(score->At({}) - value) <=
                                   within * std::max(1.0, std::abs(value));
  };
  const bool numbers = !outcomes.true_value.empty();
  auto score = statistics::MakeRunScore(metric, outcomes);
  if (near(score.get(), numbers ? kNearNumbers : kNearCounts)) return score;
  if (!statistics::MayBeAMean(metric)) return nullptr;
  score = statistics::MakeRunScore("", outcomes);
  const bool bits = outcomes.right_or_wrong;
  return near(score.get(), bits ? kNearCounts : kNearHalves) ? score : nullptr;
}

std::shared_ptr<const statistics::RunScore> ScoreOf(
    const storage::OutcomeRow& row, const std::string& metric, double value) {
  const auto outcomes = OutcomesOfSet(row, "", "");
  return outcomes.has_value() ? ScoreOf(ReadOutcomes(*outcomes), metric, value)
                              : nullptr;
}

std::uint64_t ChanceOf(const std::string& fingerprint,
                       const std::string& metric) {
  return Fnv1a(absl::StrCat(fingerprint, "\n", metric));
}

absl::StatusOr<std::int64_t> CountEvaluationRows(
    const storage::TrialStore& store, storage::StudyKey study,
    const History& history) {
  int looked_at = 0;
  const std::vector<Observation>& trials = history.trials();
  for (auto trial = trials.rbegin(); trial != trials.rend(); ++trial) {
    if (trial->values.empty()) continue;
    if (++looked_at > kLookedAt) break;
    ASSIGN_OR_RETURN(const std::optional<storage::OutcomeRow> outcome,
                     store.FindOutcome(study, trial->number));
    if (!outcome.has_value()) continue;
    const auto score = ScoreOf(*outcome, "", trial->values[0]);
    return score == nullptr ? 0 : static_cast<std::int64_t>(score->units());
  }
  return 0;
}

// What became of each example, from the wire's packed form.

namespace {

using Packed = proto::PackedNumbers;

constexpr std::int32_t kNoClass = -1;  // of a word that was cut off

void ReadMarks(const v1::ExampleOutcomes& said, std::size_t count,
               Outcomes& outcomes) {
  const std::string& data = said.data();
  if (said.encoding() == v1::ExampleOutcomes::PACKED_BITS &&
      data.size() == (count + 7) / 8) {
    outcomes.right_or_wrong = true;
    for (std::size_t i = 0; i < count; ++i) {
      const auto byte = static_cast<std::uint8_t>(data[i / 8]);
      outcomes.marks.push_back(static_cast<float>(byte >> i % 8 & 1));
    }
  } else if (const Packed halves(data, 2);
             said.encoding() == v1::ExampleOutcomes::FLOAT16 &&
             halves.Holds(count)) {
    for (std::size_t i = 0; i < count; ++i) {
      outcomes.marks.push_back(proto::FromHalf(halves.At(i)));
    }
  }
}

void ReadClasses(const v1::ExampleOutcomes& said, std::size_t count,
                 Outcomes& outcomes) {
  const std::size_t width = proto::ClassWidth(said);
  const Packed truth(said.true_class(), width);
  const Packed predicted(said.predicted_class(), width);
  if (!truth.Holds(count) || !predicted.Holds(count)) return;
  const auto classes = static_cast<std::uint32_t>(said.classes_size());
  for (std::size_t i = 0; i < count; ++i) {
    if (truth.At(i) >= classes || predicted.At(i) > classes) return;
  }
  outcomes.classes.assign(said.classes().begin(), said.classes().end());
  for (std::size_t i = 0; i < count; ++i) {
    outcomes.true_class.push_back(static_cast<std::int32_t>(truth.At(i)));
    const std::uint32_t guess = predicted.At(i);
    outcomes.predicted_class.push_back(
        guess == classes ? kNoClass : static_cast<std::int32_t>(guess));
  }
}

void ReadValues(const v1::ExampleOutcomes& said, std::size_t count,
                Outcomes& outcomes) {
  const Packed truth(said.true_value(), 4);
  const Packed predicted(said.predicted_value(), 4);
  if (!truth.Holds(count) || !predicted.Holds(count)) return;
  for (std::size_t i = 0; i < count; ++i) {
    outcomes.true_value.push_back(truth.FloatAt(i));
    outcomes.predicted_value.push_back(predicted.FloatAt(i));
  }
}

void ReadSentences(const v1::ExampleOutcomes& said, std::size_t count,
                   Outcomes& outcomes) {
  const auto& ends = said.sentence_ends();
  const bool whole = !ends.empty() && *ends.rbegin() == count &&
                     std::is_sorted(ends.begin(), ends.end());
  if (whole && outcomes.true_value.empty()) {
    outcomes.sentence_ends.assign(ends.begin(), ends.end());
  }
}

}  // namespace

Outcomes ReadOutcomes(const v1::ExampleOutcomes& said) {
  Outcomes outcomes;
  if (said.count() < 1) return outcomes;
  const auto count = static_cast<std::size_t>(said.count());
  ReadMarks(said, count, outcomes);
  ReadClasses(said, count, outcomes);
  if (outcomes.true_class.empty()) ReadValues(said, count, outcomes);
  ReadSentences(said, count, outcomes);
  return outcomes;
}

namespace {

absl::StatusOr<ContenderTrial> FindNamed(const std::string& name,
                                         const StudiesByName& studies,
                                         const storage::TrialStore& store) {
  ASSIGN_OR_RETURN(const TrialName parsed, ParseTrialName(name));
  ContenderTrial trial;
  trial.study = &studies.at(StudyNameOf(parsed.study_id));
  ASSIGN_OR_RETURN(trial.row, store.FindTrial(trial.study->key, parsed.number));
  return trial;
}

// The trials that succeeded at the same point, in their order.
absl::StatusOr<std::vector<ContenderTrial>> RepeatsOf(
    const ContenderTrial& trial, ImportanceDesk& desk,
    const std::stop_token& stop) {
  std::vector<ContenderTrial> repeats;
  const StudyHandle& study = *trial.study;
  RETURN_IF_ERROR(desk.studies().Of(study.key)->See(
      study, desk.store(), 0, stop,
      [&](const std::map<std::int64_t, KnownTrial>& trials, std::int64_t) {
        for (const auto& [number, known] : trials) {
          if (known.row.state == TrialState::kSucceeded &&
              SamePoint(known.seen.point, trial.row.point)) {
            repeats.push_back({trial.study, known.row});
          }
        }
        return absl::OkStatus();
      }));
  return repeats;
}

}  // namespace

std::string ContenderTrial::name() const {
  return TrialNameOf(study->id, row.number);
}

absl::StatusOr<std::vector<std::string>> StudiesOf(
    const v1::CompareTrialsRequest& request) {
  std::set<std::string> names;
  for (const v1::Contender& contender : request.contenders()) {
    for (const std::string& trial : contender.trials()) {
      ASSIGN_OR_RETURN(const TrialName name, ParseTrialName(trial));
      names.insert(StudyNameOf(name.study_id));
    }
  }
  return std::vector<std::string>(names.begin(), names.end());
}

absl::StatusOr<std::vector<ContenderTrial>> TrialsOf(
    const v1::Contender& contender, const StudiesByName& studies,
    ImportanceDesk& desk, const std::stop_token& stop) {
  std::vector<ContenderTrial> trials;
  std::set<std::string> seen;
  for (const std::string& name : contender.trials()) {
    ASSIGN_OR_RETURN(ContenderTrial trial,
                     FindNamed(name, studies, desk.store()));
    std::vector<ContenderTrial> all = {std::move(trial)};
    if (contender.with_repeats()) {
      ASSIGN_OR_RETURN(std::vector<ContenderTrial> repeats,
                       RepeatsOf(all[0], desk, stop));
      all.insert(all.end(), repeats.begin(), repeats.end());
    }
    for (ContenderTrial& one : all) {
      if (seen.insert(one.name()).second) trials.push_back(std::move(one));
    }
  }
  return trials;
}

namespace {

// All runs together have no more: they are all held at once.
constexpr std::int64_t kMostExamples = 16'000'000;

absl::Status TooMany(const std::string& cause) {
  return MakeError(ErrorId::kRequestInvalid, cause, "name fewer trials",
                   "contenders");
}

class Reader {
 public:
  Reader(const v1::CompareTrialsRequest& request,
         const storage::TrialStore& store, ComparedRuns& read)
      : request_(request),
        prefix_(MetricPrefix(request.set(), request.task())),
        store_(store),
        read_(read) {}

  // "accuracy" and "test.accuracy" are the same of the test set.
  std::string Reported(const std::string& metric) const {
    return absl::StartsWith(metric, prefix_) ? metric : prefix_ + metric;
  }
  std::string Measured(const std::string& metric) const {
    return std::string(absl::StripPrefix(metric, prefix_));
  }

  absl::StatusOr<statistics::Run> Read(const ContenderTrial& trial) {
    if (!seen_.insert(trial.name()).second) {
      return MakeError(ErrorId::kRequestInvalid,
                       absl::StrCat(trial.name(), " is compared with itself"),
                       "name each trial once", "contenders");
    }
    if (seen_.size() > proto::kMaxComparedTrials) {
      return TooMany(absl::StrCat("more than ", proto::kMaxComparedTrials,
                                  " trials are compared"));
    }
    ASSIGN_OR_RETURN(const storage::OutcomeRow row, OutcomeOf(trial));
    const auto said = OutcomesOfSet(row, request_.set(), request_.task());
    if (!said.has_value()) {
      return NoOutcomes(trial.name(), request_.set(), request_.task(), &row,
                        "set");
    }
    RETURN_IF_ERROR(CheckSameData(trial, *said));
    const auto metric = trial.row.metrics.find(read_.metric);
    const statistics::Outcomes outcomes = ReadOutcomes(*said);
    if (metric == trial.row.metrics.end()) {
      return Untestable(outcomes, absl::StrCat(trial.name(), " reported no \"",
                                               read_.metric, "\""));
    }
    statistics::Run run;
    run.seed = SeedToTrainWith(trial.row, trial.study->checked->spec);
    run.value = metric->second;
    run.score = ScoreOf(outcomes, Measured(read_.metric), run.value);
    if (run.score == nullptr) {
      return Untestable(
          outcomes, absl::StrCat("the ", read_.metric, " that ", trial.name(),
                                 " reported cannot be had of its outcomes"));
    }
    return run;
  }

 private:
  absl::StatusOr<storage::OutcomeRow> OutcomeOf(
      const ContenderTrial& trial) const {
    if (trial.row.state != TrialState::kSucceeded) {
      return MakeError(ErrorId::kOutcomesMissing,
                       absl::StrCat(trial.name(), " has no result"),
                       "name trials that have succeeded", "contenders");
    }
    ASSIGN_OR_RETURN(std::optional<storage::OutcomeRow> row,
                     store_.FindOutcome(trial.study->key, trial.row.number));
    if (row.has_value()) return *std::move(row);
    return NoOutcomes(trial.name(), request_.set(), request_.task(), nullptr,
                      "contenders");
  }

  absl::Status CheckSameData(const ContenderTrial& trial,
                             const v1::ExampleOutcomes& said) {
    if (first_.empty()) {
      first_ = trial.name();
      read_.fingerprint = said.data_fingerprint();
      read_.examples = said.count();
    }
    const bool same = !said.data_fingerprint().empty() &&
                      said.data_fingerprint() == read_.fingerprint &&
                      said.count() == read_.examples;
    if (!same) {
      const std::string cause =
          said.data_fingerprint().empty()
              ? absl::StrCat(trial.name(),
                             " does not say on which data it was "
                             "evaluated")
              : absl::StrCat(trial.name(), " was evaluated on ", said.count(),
                             " examples of ", said.data_fingerprint(), ", ",
                             first_, " on ", read_.examples, " of ",
                             read_.fingerprint);
      return MakeError(ErrorId::kOutcomesDiffer, cause,
                       "evaluate both on the same data set and split",
                       "contenders");
    }
    examples_ += said.count();
    return examples_ <= kMostExamples
               ? absl::OkStatus()
               : TooMany(absl::StrCat("they have ", examples_,
                                      " examples and more in all, and ",
                                      kMostExamples, " is the most"));
  }

  static absl::Status Untestable(const statistics::Outcomes& outcomes,
                                 const std::string& cause) {
    const std::vector<std::string> names = statistics::MetricsOf(outcomes);
    return MakeError(ErrorId::kMetricUntestable, cause,
                     names.empty()
                         ? "name a metric that is the mean of what the trial "
                           "reported of each example"
                         : absl::StrCat("of these outcomes there may be: ",
                                        absl::StrJoin(names, ", ")),
                     "metric");
  }

  const v1::CompareTrialsRequest& request_;
  const std::string prefix_;
  const storage::TrialStore& store_;
  ComparedRuns& read_;
  std::string first_;
  std::int64_t examples_ = 0;
  std::set<std::string> seen_;
};

// As the studies that have it as an objective say; costs fall.
Direction DirectionOf(const std::string& metric, const StudiesByName& studies) {
  for (const auto& [name, study] : studies) {
    for (const Objective& objective : study.checked->objectives) {
      if (objective.metric == metric) return objective.direction;
    }
  }
  const MetricRange range = PresumedRange(metric);
  return range.IsBoundedBelow() && !range.IsBoundedAbove()
             ? Direction::kMinimize
             : Direction::kMaximize;
}

}  // namespace

absl::StatusOr<ComparedRuns> ReadContenders(
    const v1::CompareTrialsRequest& request, const StudiesByName& studies,
    ImportanceDesk& desk, const std::stop_token& stop) {
  ComparedRuns read;
  Reader reader(request, desk.store(), read);
  if (!request.metric().empty()) {
    read.metric = reader.Reported(request.metric());
  }
  for (const v1::Contender& contender : request.contenders()) {
    ASSIGN_OR_RETURN(const std::vector<ContenderTrial> trials,
                     TrialsOf(contender, studies, desk, stop));
    if (read.metric.empty()) {
      read.metric =
          reader.Reported(trials[0].study->checked->objectives[0].metric);
    }
    statistics::Contender& to = read.contenders.emplace_back();
    to.name = contender.name().empty() ? trials[0].name() : contender.name();
    read.trials.emplace_back();
    for (const ContenderTrial& trial : trials) {
      RETURN_IF_ERROR(importance::CheckStop(stop));
      ASSIGN_OR_RETURN(statistics::Run run, reader.Read(trial));
      if (run.score->by_sentence()) {
        read.sentences = static_cast<std::int64_t>(run.score->units());
      } else if (trial.study->checked->spec.data().task() == "tagging") {
        read.loose_words = true;
      }
      to.runs.push_back(std::move(run));
      read.trials.back().push_back(trial.name());
    }
  }
  read.set = SetNamed(request.set());
  read.task = request.task();
  read.direction = DirectionOf(reader.Measured(read.metric), studies);
  return read;
}

namespace {

using statistics::Judged;
using statistics::PairJudged;

constexpr std::int64_t kFewUnits = 30;

absl::Status CheckPaired(const ComparedRuns& read, const Judged& judged) {
  for (const PairJudged& pair : judged.pairs) {
    if (pair.pairs > 0) continue;
    return MakeError(
        ErrorId::kSeedsUnpaired,
        absl::StrCat(read.contenders[pair.first].name, " and ",
                     read.contenders[pair.second].name,
                     " have no seed in common"),
        "run both with the same seeds (seeds: paired), or name one trial of "
        "each",
        "contenders");
  }
  return absl::OkStatus();
}

v1::PairedTest::Method MethodToProto(statistics::Method method) {
  switch (method) {
    case statistics::Method::kMcNemar:
      return v1::PairedTest::MCNEMAR;
    case statistics::Method::kSigns:
      return v1::PairedTest::SIGNS;
    case statistics::Method::kBootstrap:
      return v1::PairedTest::BOOTSTRAP;
    case statistics::Method::kSeeds:
      return v1::PairedTest::SEEDS;
    case statistics::Method::kNone:
      break;
  }
  return v1::PairedTest::METHOD_UNSPECIFIED;
}

v1::PairedTest TestToProto(const PairJudged& pair) {
  v1::PairedTest test;
  test.set_method(MethodToProto(pair.method));
  test.set_pairs(static_cast<std::int32_t>(pair.pairs));
  test.set_difference(pair.difference);
  test.set_lo95(pair.interval.low);
  test.set_hi95(pair.interval.high);
  test.set_example_noise(pair.example_noise);
  test.set_seed_noise(pair.seed_noise);
  test.set_example_p(pair.example_p);
  test.set_seed_p(pair.seed_p);
  test.set_p(pair.p);
  test.set_adjusted_p(pair.adjusted_p);
  test.set_differs(pair.differs);
  test.set_smallest_difference(pair.smallest);
  test.set_worse_p(pair.worse_p);
  test.set_apart_p(pair.apart_p);
  test.set_not_worse(pair.not_worse);
  test.set_equivalent(pair.equivalent);
  return test;
}

std::string ExamplesText(const ComparedRuns& read) {
  return read.sentences > 0 ? absl::StrCat(read.examples, " words in ",
                                           read.sentences, " sentences")
                            : absl::StrCat(read.examples, " examples");
}

void AddTests(const ComparedRuns& read, const Judged& judged, double margin,
              v1::TrialComparison& proto) {
  for (const PairJudged& pair : judged.pairs) {
    const statistics::Told told = {
        .metric = read.metric,
        .first = read.contenders[pair.first].name,
        .second = read.contenders[pair.second].name,
        .examples = ExamplesText(read),
        .in_points = PresumedRange(read.metric).hi == 1.0,
        .more_is_better = read.direction == Direction::kMaximize,
        .margin = margin,
        .in_family = judged.pairs.size() > 1};
    v1::PairedTest& test = *proto.add_tests();
    test = TestToProto(pair);
    test.set_first(told.first);
    test.set_second(told.second);
    test.set_finding(statistics::FindingSentence(told, pair));
    absl::StrAppend(proto.mutable_verdict(),
                    proto.verdict().empty() ? "" : ". ", test.finding());
  }
}

void AddNotes(const ComparedRuns& read, const Judged& judged,
              v1::TrialComparison& proto) {
  for (const PairJudged& pair : judged.pairs) {
    if (!std::isnan(pair.seed_noise)) continue;
    proto.add_notes(
        "one run of a setting says nothing of its other seeds: what is judged "
        "are these trained models");
    break;
  }
  if (read.loose_words) {
    proto.add_notes(
        "the outcomes do not say where sentences end, so words are taken as "
        "independent: noise is larger than it says here");
  }
  if ((read.sentences > 0 ? read.sentences : read.examples) < kFewUnits) {
    proto.add_notes(
        absl::StrCat("with ", ExamplesText(read), " intervals are rough"));
  }
}

v1::TrialComparison ToProto(const ComparedRuns& read, const Judged& judged,
                            double margin) {
  v1::TrialComparison proto;
  proto.set_set(read.set);
  proto.set_task(read.task);
  proto.set_metric(read.metric);
  proto.set_direction(read.direction == Direction::kMaximize
                          ? v1::DIRECTION_MAXIMIZE
                          : v1::DIRECTION_MINIMIZE);
  proto.set_data_fingerprint(read.fingerprint);
  proto.set_examples(read.examples);
  proto.set_sentences(read.sentences);
  proto.set_margin(margin);
  for (std::size_t c = 0; c < read.contenders.size(); ++c) {
    v1::ComparedContender& out = *proto.add_contenders();
    out.set_name(read.contenders[c].name);
    std::vector<double> values;
    for (std::size_t r = 0; r < read.contenders[c].runs.size(); ++r) {
      const statistics::Run& run = read.contenders[c].runs[r];
      v1::ComparedRun& ran = *out.add_runs();
      ran.set_trial(read.trials[c][r]);
      ran.set_seed(run.seed);
      ran.set_value(run.value);
      values.push_back(run.value);
    }
    out.set_mean(statistics::MeanOf(values));
  }
  proto.set_seed_deviation(judged.within.deviation());
  proto.set_draws(static_cast<std::int64_t>(judged.draws));
  AddTests(read, judged, margin, proto);
  AddNotes(read, judged, proto);
  return proto;
}

// Which studies have ended what: repeats are looked for among these.
std::string CompareKeyOf(const std::vector<StudyHandle>& studies,
                         const v1::CompareTrialsRequest& request) {
  std::string key = absl::StrCat("trials ", request.SerializeAsString());
  for (const StudyHandle& study : studies) {
    absl::StrAppend(&key, "\n", study.key, "/", study.ends_stamp);
  }
  return key;
}

}  // namespace

void CompareVerb::CompareTrials(const std::vector<StudyHandle>& studies,
                                const v1::CompareTrialsRequest& request,
                                CancelFlag cancelled,
                                Reply<v1::TrialComparison> reply) {
  StudiesByName by_name;
  for (const StudyHandle& study : studies) {
    by_name.emplace(StudyNameOf(study.id), study);
  }
  desk_.Serve(
      {.key = CompareKeyOf(studies, request)}, std::move(cancelled),
      std::move(reply),
      [](const KeptAnswer& answer) {
        return MessageIn<v1::TrialComparison>(answer);
      },
      [this, request, by_name = std::move(by_name)](
          const std::stop_token& stop) -> absl::StatusOr<AnswerPtr> {
        ASSIGN_OR_RETURN(const ComparedRuns read,
                         ReadContenders(request, by_name, desk_, stop));
        const statistics::Question question = {
            .more_is_better = read.direction == Direction::kMaximize,
            .margin = request.margin(),
            .all_pairs = request.all_pairs(),
            .chance = ChanceOf(read.fingerprint, read.metric),
            .stop = stop};
        const Judged judged = statistics::Compare(read.contenders, question);
        RETURN_IF_ERROR(importance::CheckStop(stop));
        RETURN_IF_ERROR(CheckPaired(read, judged));
        return ToKeep(ToProto(read, judged, request.margin()));
      });
}

}  // namespace frostline::server
