// SPDX-License-Identifier: Apache-2.0
#include "cli/view/trial_view.h"

#include "cli/study_file/study_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace frostline::cli {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

v1::StudySpec SpecWith(const std::string& space) {
  const auto study = ParseStudyFile(
      "id: imdb\nmodel: {id: minilm, layers: 3, heads: 2}\ndata: imdb\n"
      "maximize: accuracy\nbudget: 3\n" +
          space,
      "imdb.yaml");
  EXPECT_TRUE(study.ok()) << study.status();
  return study.ok() ? study->spec : v1::StudySpec();
}

TEST(SpaceNames, AreThoseThatTrialsUse) {
  const v1::StudySpec spec = SpecWith(
      "space:\n"
      "  prefix_depth: {lo: 0, hi: 3}\n"
      "  modules: {\"layer.0-1\": [0, 1e-5], pooler: 1e-4}\n"
      "  ties: [{name: top, modules: [layer.2.ffn, head], levels: {rates: [0, "
      "1e-3]}}]\n"
      "  parameters: {kind: [small, large]}\n");
  EXPECT_THAT(ParameterNames(spec),
              ElementsAre("prefix_depth", "layer.0", "layer.1", "top", "kind"));
  EXPECT_THAT(ModuleNames(spec),
              ElementsAre("embeddings", "layer.0", "layer.1", "layer.2",
                          "layer.2.ffn", "pooler", "head"));
}

TEST(SpaceNames, OfADecayAreItsSearchedNumbers) {
  v1::StudySpec spec;
  v1::LayerwiseDecay& decay = *spec.mutable_space()->mutable_layerwise_decay();
  decay.mutable_base_rate()->mutable_levels()->add_rates(1e-4);
  decay.mutable_decay()->set_fixed(0.9);
  EXPECT_THAT(ParameterNames(spec), ElementsAre("base_rate"));
  EXPECT_THAT(ModuleNames(spec), IsEmpty());
}

TEST(TrialTable, HasTheColumnsOfItsStudyWithoutTrials) {
  v1::StudySpec spec =
      SpecWith("space: {modules: {head: [0, 1e-3]}, parameters: {f: [a, b]}}");
  spec.add_constraints()->set_metric("latency");
  const std::vector<std::string> names = TrialTable({}, spec, true).Names();
  EXPECT_THAT(names, IsSupersetOf({"trial", "accuracy", "head", "f", "latency",
                                   "rate.layer.2", "note"}));
  EXPECT_THAT(names, Not(Contains("f1")));
}

// An imported trial, of which nobody measured anything here.
TEST(TrialTable, LeavesEmptyWhatNobodyMeasured) {
  Trials trials;
  trials.Add()->set_attempt(2);
  trials[0].mutable_usage()->set_total_seconds(1.5);
  trials.Add();
  const Table table = TrialTable(trials, {}, true);
  std::vector<std::size_t> columns;
  for (const char* const name : {"attempt", "total_seconds", "flops_spent",
                                 "energy_joules", "trained_parameters"}) {
    columns.push_back(table.Find(name).value());
  }
  EXPECT_EQ(table.WithColumns(columns).Csv(),
            "attempt,total_seconds,flops_spent,energy_joules,"
            "trained_parameters\r\n2,1.5,,,0\r\n,,,,\r\n");
}

}  // namespace
}  // namespace frostline::cli
