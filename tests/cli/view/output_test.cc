// SPDX-License-Identifier: Apache-2.0
#include "cli/view/output.h"

#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/study_file/study_file.h"
#include "cli/view/format.h"
#include "cli/view/message_text.h"
#include "cli/view/trial_view.h"
#include "frostline/v1/study_service.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace frostline::cli {
namespace {

using google::protobuf::util::MessageDifferencer;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Three trials, of which the second has no value, and the third the best.
v1::ListTrialsReply ThreeTrials() {
  v1::ListTrialsReply reply;
  for (int i = 0; i < 3; ++i) {
    v1::Trial& trial = *reply.add_trials();
    trial.set_name("studies/imdb/trials/" + std::to_string(i));
    trial.set_number(i);
    trial.set_state(v1::TRIAL_STATE_SUCCEEDED);
    trial.set_note(i == 0 ? "a, \"b\"" : "");
    if (i != 1) trial.add_values(i == 0 ? 0.9 : 0.91234567);
  }
  return reply;
}

struct Said {
  absl::Status status;
  std::string out;
  std::string err;
};

Said PrintTrials(const Output& output, const v1::ListTrialsReply& reply,
                 int width = 0) {
  v1::StudySpec spec;
  spec.add_objectives()->set_metric("accuracy");
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Said said;
  Terminal terminal;
  terminal.width = width;
  said.status =
      PrintList(
          terminal, output, reply,
          [&](bool wide) {
            return TrialTable({reply.trials().begin(), reply.trials().end()},
                              spec, wide);
          },
          "no such trials")
          .status();
  said.out = testing::internal::GetCapturedStdout();
  said.err = testing::internal::GetCapturedStderr();
  return said;
}

Said PrintTrials(const Output& output) {
  return PrintTrials(output, ThreeTrials());
}

TEST(Output, IsATableUnlessOneAsks) {
  EXPECT_EQ(PrintTrials({}).out,
            "TRIAL  STATE      accuracy  TIME  WORKER\n"
            "    0  SUCCEEDED       0.9\n"
            "    1  SUCCEEDED\n"
            "    2  SUCCEEDED    0.9123\n");
}

TEST(Output, SortsNumbersAsSuchWhatIsMissingLast) {
  Output output;
  output.columns = {"trial", "accuracy"};
  output.sort = "-accuracy";
  EXPECT_EQ(PrintTrials(output).out,
            "TRIAL  accuracy\n"
            "    2    0.9123\n"
            "    0       0.9\n"
            "    1\n");
  output.sort = "accuracy";
  EXPECT_THAT(PrintTrials(output).out, HasSubstr("    0       0.9\n    2"));
}

TEST(Output, CutsWhatIsSorted) {
  Output output;
  output.format = Format::kName;
  output.sort = "-accuracy";
  output.limit = 1;
  EXPECT_EQ(PrintTrials(output).out, "studies/imdb/trials/2\n");
}

TEST(Output, SortsAndCutsEveryTable) {
  for (const Format format : {Format::kTable, Format::kWide}) {
    Output output;
    output.format = format;
    output.sort = "-accuracy";
    output.limit = 2;
    const std::string out = PrintTrials(output).out;
    EXPECT_THAT(out, HasSubstr("\n    2  SUCCEEDED"));
    EXPECT_LT(out.find("\n    2  "), out.find("\n    0  "));
    EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 3) << out;
  }
}

TEST(Output, SortsJsonToo) {
  Output output;
  output.format = Format::kJsonLines;
  output.sort = "-trial";
  output.limit = 2;
  const std::string out = PrintTrials(output).out;
  EXPECT_THAT(out, StartsWith("{\"name\":\"studies/imdb/trials/2\""));
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 2);
}

TEST(Output, PrintsAListsMessageAsJson) {
  Output output;
  output.format = Format::kJson;
  EXPECT_EQ(PrintTrials(output).out, ToJson(ThreeTrials()));
}

TEST(Output, HasExactNumbersAndQuotesInCsv) {
  Output output;
  output.format = Format::kCsv;
  output.columns = {"trial", "accuracy", "note"};
  EXPECT_EQ(PrintTrials(output).out,
            "trial,accuracy,note\r\n"
            "0,0.9,\"a, \"\"b\"\"\"\r\n"
            "1,,\r\n"
            "2,0.91234567,\r\n");
  output.columns.clear();
  EXPECT_THAT(PrintTrials(output).out,
              StartsWith("trial,state,accuracy,time,worker,seed,attempt"));
}

TEST(Output, RefusesAColumnThatThereIsNot) {
  Output output;
  output.columns = {"acuracy"};
  const Said said = PrintTrials(output);
  EXPECT_EQ(ExitCodeOf(said.status), kExitUsage);
  EXPECT_THAT(DetailOf(said.status)->fix, HasSubstr("accuracy"));
  EXPECT_EQ(said.out, "");
  output = {};
  output.sort = "-tiem";
  EXPECT_THAT(DetailOf(PrintTrials(output).status)->fix, HasSubstr("time"));
}

TEST(Output, RefusesColumnsWhereThereAreNone) {
  Output output;
  output.format = Format::kJson;
  output.columns = {"trial"};
  const Said said = PrintTrials(output);
  EXPECT_EQ(ExitCodeOf(said.status), kExitUsage);
  EXPECT_EQ(said.out, "");
}

TEST(Output, NamesTheColumnsThatDidNotFit) {
  v1::ListTrialsReply reply = ThreeTrials();
  for (v1::Trial& trial : *reply.mutable_trials()) {
    trial.set_worker("workers/a-node-with-a-long-name");
    trial.set_seed(1'234'567'890);
  }
  const std::string whole = PrintTrials({}, reply).out;
  EXPECT_THAT(whole, Not(HasSubstr("too wide")));
  const std::string cut = PrintTrials({}, reply, 40).out;
  EXPECT_THAT(cut, ContainsRegex("too wide for this terminal: [^;]*WORKER,"));
  EXPECT_THAT(cut, HasSubstr("--format wide"));
}

TEST(Output, SaysToPeopleAloneThatAListIsEmpty) {
  EXPECT_EQ(PrintTrials({}, {}).err, "no such trials\n");
  EXPECT_EQ(PrintTrials({}, {}).out, "");
  Output output;
  output.format = Format::kCsv;
  const Said said = PrintTrials(output, {});
  EXPECT_EQ(said.err, "");
  EXPECT_THAT(said.out, StartsWith("trial,state"));
}

TEST(Output, NamesTogetherWhatFailedAlike) {
  v1::ListTrialsReply reply = ThreeTrials();
  for (v1::Trial& trial : *reply.mutable_trials()) {
    trial.set_state(v1::TRIAL_STATE_FAILED);
    trial.set_cause("out of memory");
  }
  EXPECT_THAT(PrintTrials({}, reply).out,
              HasSubstr("\ntrials 0, 1, 2: out of memory\n"));
}

TEST(Yaml, IsReadBackAsTheSameStudy) {
  const auto study = ParseStudyFile(
      "id: imdb\nmodel: {id: \"12\", layers: 6}\ndata: \"yes\"\n"
      "maximize: accuracy\nseed: 18446744073709551615\n"
      "sampler: {name: tpe}\nrecipe: \"a: b # c\"\nbudget: 3\n"
      "space:\n  modules: {\"layer.*\": [0, 1e-5, 0.001]}\n",
      "imdb.yaml");
  ASSERT_TRUE(study.ok()) << study.status();
  const std::string yaml = ToYaml(study->spec);
  const auto again = ParseStudyFile(yaml + "budget: 3\n", "imdb.yaml");
  ASSERT_TRUE(again.ok()) << again.status() << yaml;
  EXPECT_TRUE(MessageDifferencer::Equals(again->spec, study->spec)) << yaml;
}

TEST(Yaml, WritesTheNumberOfTheFirstTrialAndTheRateOfAFrozenModule) {
  v1::Trial trial;
  trial.add_rates()->set_module("head");
  EXPECT_EQ(ToYaml(trial),
            "number: 0\nrates:\n  - module: head\n    rate: 0\n");
}

TEST(Yaml, QuotesWhatIsNoPlainText) {
  v1::Trial trial;
  trial.set_name("studies/imdb/trials/1");
  trial.set_number(1);
  trial.set_note("2026-11-26");
  trial.set_cause("line\nbreak");
  trial.add_values(1e-5);
  EXPECT_EQ(ToYaml(trial),
            "name: studies/imdb/trials/1\n"
            "number: 1\n"
            "values:\n"
            "  - 1.0e-05\n"
            "cause: \"line\\nbreak\"\n"
            "note: \"2026-11-26\"\n");
}

}  // namespace
}  // namespace frostline::cli
