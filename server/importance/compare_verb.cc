// SPDX-License-Identifier: Apache-2.0
#include "server/importance/compare_verb.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "server/importance/comparison.h"
#include "server/importance/serve.h"
#include "statistics/compare.h"
#include "study/objective.h"

namespace frostline::server {
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
