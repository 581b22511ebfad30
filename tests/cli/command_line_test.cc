// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.h"

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cli/commands/plan.h"
#include "cli/commands/tuned_rules.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"

namespace frostline::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// The real binary: what it says and with which code it ends, where no
// coordinator is needed.

struct Ran {
  int code = -1;
  std::string output;  // standard error too
};

// `arguments` are words for the shell.
Ran Frostline(const std::string& arguments) {
  const std::string command = std::string(std::getenv("FROSTLINE_BIN_DIR")) +
                              "/frostline " + arguments + " 2>&1";
  Ran ran;
  std::FILE* const pipe = popen(command.c_str(), "r");
  std::array<char, 4096> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) {
    ran.output += buffer.data();
  }
  ran.code = WEXITSTATUS(pclose(pipe));
  return ran;
}

TEST(CommandLine, SuggestsTheCommandThatWasMeant) {
  const Ran noun = Frostline("studdy list");
  EXPECT_EQ(noun.code, 2);
  EXPECT_THAT(noun.output, HasSubstr("did you mean 'study'?"));
  const Ran verb = Frostline("study lst");
  EXPECT_EQ(verb.code, 2);
  EXPECT_THAT(verb.output, HasSubstr("did you mean 'list'?"));
}

TEST(CommandLine, SuggestsTheFlagThatWasMeant) {
  const Ran late = Frostline("trial list demo --stat SUCCEEDED --bogus");
  EXPECT_EQ(late.code, 2);
  EXPECT_THAT(late.output, AllOf(HasSubstr("there is no flag --stat\n"),
                                 HasSubstr("did you mean --state?"),
                                 Not(HasSubstr("bogus"))));
  // The parser would say that ID is required.
  EXPECT_THAT(Frostline("study show --fromat=json").output,
              HasSubstr("did you mean --format?"));
  EXPECT_THAT(Frostline("study list --conect here").output,
              HasSubstr("did you mean --connect?"));
  EXPECT_THAT(Frostline("study list --xyzzy").output,
              HasSubstr("see `frostline study list --help`"));
}

TEST(CommandLine, TakesAValueThatLooksLikeAFlagForNone) {
  EXPECT_EQ(Frostline("--connect 127.0.0.1:1 study list --sort -done").code, 7);
}

TEST(CommandLine, NamesTheFirstWordTooMany) {
  const Ran ran = Frostline("study show a b c");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.output, HasSubstr("'b' is a word too many"));
}

TEST(CommandLine, RefusesWordsThatAreNoUtf8) {
  const Ran note = Frostline("trial note h 0 \"$(printf '\\377')\" --json");
  EXPECT_EQ(note.code, 2);
  EXPECT_THAT(note.output, testing::StartsWith("{"));
  EXPECT_THAT(note.output,
              AllOf(HasSubstr("FL-1016"), HasSubstr("TEXT is no UTF-8 text"),
                    Not(HasSubstr("libprotobuf"))));
  const Ran flag = Frostline("study update a --notes \"$(printf '\\377')\"");
  EXPECT_EQ(flag.code, 2);
  EXPECT_THAT(flag.output, HasSubstr("fix: give --notes in UTF-8"));
}

TEST(CommandLine, RefusesWrongUseWithCode2) {
  for (const char* const arguments : {"",
                                      "study",
                                      "study show",
                                      "study show x y",
                                      "study list --bogus",
                                      "demo --trials 0",
                                      "demo --trials x",
                                      "trial list x --state NO",
                                      "trial list x --limit 0",
                                      "study show BIG",
                                      "help nothing",
                                      "--connect nowhere study list",
                                      "study create /no/such.yaml",
                                      "importance",
                                      "importance x --top 0",
                                      "importance x --top 200%",
                                      "importance x --at-step 0",
                                      "importance x --format pdf",
                                      "importance x --json --format csv",
                                      "importance x --subset a,,b",
                                      "importance x --subset ,",
                                      "plan",
                                      "plan x --tolerance -1",
                                      "plan x --tolerance nan",
                                      "plan x --tolerance inf",
                                      "plan x --format svg",
                                      "plan x -o plan.svg",
                                      "plan x --ask 3 --format svg",
                                      "plan x --ask 0",
                                      "plan x --ask 1000000000",
                                      "plan x --ask 3 --frontier",
                                      "plan x --ask 3 --verify",
                                      "plan x --frontier --verify",
                                      "plan x --frontier --enqueue",
                                      "plan x --verify --enqueue",
                                      "plan x --verify --seeds 0",
                                      "plan x --seeds 3",
                                      "plan x --wait",
                                      "plan x --anew",
                                      "compare x",
                                      "compare x y -o both.svg",
                                      "compare x BIG"}) {
    EXPECT_EQ(Frostline(arguments).code, 2) << arguments;
  }
}

TEST(CommandLine, TakesWholeNumbersInDecimalAlone) {
  for (const char* const arguments :
       {"study create x --seed -1", "study create x --seed 010",
        "study create x --seed 99999999999999999999",
        "study create x --trials 010", "study create x --trials 0x10",
        "study update x --priority 1e3", "study update x --priority -01",
        "trial list x --limit 010", "audit --limit 010", "doctor --port 0100",
        "init x --trials 07", "trial retry x 1 --seed +1"}) {
    const Ran ran = Frostline(arguments);
    EXPECT_EQ(ran.code, 2) << arguments;
    EXPECT_THAT(ran.output, AllOf(HasSubstr("FL-1016"), HasSubstr("fix: ")));
  }
  EXPECT_THAT(Frostline("study create x --seed 010").output,
              HasSubstr("write it without"));
  for (const char* const arguments :
       {"trial list x --limit abc", "trial list x --limit 1e3",
        "study best x --top 3.5"}) {
    EXPECT_THAT(Frostline(arguments).output, HasSubstr("is no whole number"));
  }
  // The largest seed is read; that there is no file comes after it.
  EXPECT_THAT(
      Frostline("study create /no/x --seed 18446744073709551615").output,
      HasSubstr("/no/x"));
}

// As `--connect "$HEAD"` of a script that never set HEAD.
TEST(CommandLine, AsksNoOtherCoordinatorWhereTheNamedOneIsEmpty) {
  for (const char* const arguments :
       {"--connect '' study list", "study delete x --yes --connect ''",
        "status --context ''"}) {
    const Ran ran = Frostline(arguments);
    EXPECT_EQ(ran.code, 2) << arguments;
    EXPECT_THAT(ran.output, AllOf(HasSubstr(" is empty"), HasSubstr("leave ")));
  }
}

TEST(CommandLine, SaysWhoDoesNotAnswerWithCode7) {
  const Ran ran = Frostline("--connect 127.0.0.1:1 study list");
  EXPECT_EQ(ran.code, 7);
  EXPECT_THAT(ran.output, HasSubstr("error[FL-4003]"));
  EXPECT_THAT(ran.output, HasSubstr("127.0.0.1:1"));
  EXPECT_THAT(ran.output, HasSubstr("frostline serve"));
}

TEST(CommandLine, NamesThePlaceInABadFileWithCode100) {
  const TempFolder folder;
  std::ofstream(folder.File("bad.yaml")) << "maximize: f1\nsead: 3\n";
  const Ran ran = Frostline("study create " + folder.File("bad.yaml"));
  EXPECT_EQ(ran.code, 100);
  EXPECT_THAT(ran.output, HasSubstr("error[FL-1001]"));
  EXPECT_THAT(ran.output, HasSubstr("bad.yaml:2:1: unknown key 'sead'"));
  EXPECT_THAT(ran.output, HasSubstr("did you mean 'seed'?"));
}

TEST(CommandLine, HelpsOnEveryCommand) {
  for (const char* const command : {"",
                                    "demo",
                                    "study",
                                    "study create",
                                    "study list",
                                    "study show",
                                    "study watch",
                                    "study pause",
                                    "study resume",
                                    "study stop",
                                    "trial",
                                    "trial list",
                                    "trial show",
                                    "importance",
                                    "plan",
                                    "compare",
                                    "worker list",
                                    "worker invite",
                                    "worker revoke",
                                    "login",
                                    "logout",
                                    "context list",
                                    "cert revoke",
                                    "audit",
                                    "audit verify",
                                    "cache list",
                                    "cache clear",
                                    "tls fingerprint",
                                    "version"}) {
    const Ran ran = Frostline(std::string(command) + " --help");
    EXPECT_EQ(ran.code, 0) << command;
    EXPECT_THAT(ran.output, HasSubstr(std::string("Usage: frostline") +
                                      (*command == '\0' ? "" : " ") + command));
  }
  EXPECT_THAT(Frostline("help exit-codes").output, HasSubstr("130  "));
  EXPECT_THAT(
      Frostline("help environment").output,
      AllOf(HasSubstr("FROSTLINE_CONNECT"), HasSubstr("FROSTLINE_CONTEXT"),
            HasSubstr("FROSTLINE_CORE_DUMPS")));
}

TEST(CommandLine, HelpsInWordsForPeople) {
  const std::string help = Frostline("study export --help").output;
  EXPECT_THAT(help, HasSubstr("--format jsonl|csv|optuna-journal\n"));
  const std::string all = Frostline("help --json").output;
  for (const char* const parsers : {"ENUM:", "INT in [", "TEXT:{", "csv->"}) {
    EXPECT_THAT(all, Not(HasSubstr(parsers)));
  }
  // "…" is one column of three bytes.
  EXPECT_THAT(Frostline("trial list --help").output,
              AllOf(HasSubstr("  --columns NAME,…            Only these"),
                    HasSubstr("  --limit INT from 1          At most")));
}

// The flags of a help text: "--top", "--at-step".
std::set<std::string> FlagsOf(const std::string& help) {
  std::set<std::string> flags;
  for (std::size_t at = help.find("--"); at != std::string::npos;
       at = help.find("--", at + 2)) {
    const std::size_t end =
        help.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", at);
    if (end > at + 2) flags.insert(help.substr(at, end - at));
  }
  return flags;
}

// Without the flags that all commands have.
std::string OwnHelp(const std::string& help) {
  return help.substr(0, help.find("\nGlobal flags:"));
}

TEST(CommandLine, HasEveryFlagOfImportanceInTheReference) {
  std::ifstream file(std::string(std::getenv("FROSTLINE_SOURCE_DIR")) +
                     "/docs/reference/importance.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  for (const char* const command : {"importance", "plan", "compare"}) {
    EXPECT_THAT(page, HasSubstr(std::string("frostline ") + command));
    for (const std::string& flag :
         FlagsOf(OwnHelp(Frostline(std::string(command) + " --help").output))) {
      EXPECT_THAT(page, HasSubstr(flag)) << command;
    }
  }
}

// "study create", "study list", … as --help has them.
std::vector<std::string> CommandsBelow(const std::string& prefix) {
  std::vector<std::string> commands;
  std::istringstream help(Frostline(prefix + " --help").output);
  std::string line;
  bool listed = false;
  while (std::getline(help, line)) {
    if (listed && line.empty()) break;  // the global flags follow
    if (line.starts_with("Subcommands:")) listed = true;
    if (!listed || !line.starts_with("  ") || line[2] == ' ') continue;
    const std::string name = line.substr(2, line.find(' ', 2) - 2);
    const std::string command = prefix.empty() ? name : prefix + " " + name;
    const auto below = CommandsBelow(command);
    commands.insert(commands.end(), below.begin(), below.end());
    if (below.empty()) commands.push_back(command);
  }
  return commands;
}

TEST(CommandLine, HasEveryCommandAndItsFlagsInTheReference) {
  const std::string folder =
      std::string(std::getenv("FROSTLINE_SOURCE_DIR")) + "/docs/reference/";
  std::string pages;
  for (const auto& page : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(page.path());
    pages.append(std::istreambuf_iterator<char>(file), {});
  }
  const std::vector<std::string> commands = CommandsBelow("");
  EXPECT_GE(commands.size(), 25U);
  for (const std::string& command : commands) {
    const std::string verb = command.substr(command.rfind(' ') + 1);
    EXPECT_THAT(pages, HasSubstr(verb)) << command;
    for (const std::string& flag :
         FlagsOf(Frostline(command + " --help").output)) {
      EXPECT_THAT(pages, HasSubstr(flag)) << command;
    }
  }
}

TEST(CommandLine, WritesNoEscapeSequencesOffATerminal) {
  EXPECT_THAT(Frostline("studdy").output, Not(HasSubstr("\x1b")));
}

TEST(OtherProgram, TakesServeAndWorkerButNotVerbsAboutWorkers) {
  EXPECT_EQ(OtherProgram({"serve", "--data", "x"})->name,
            "frostline-coordinator");
  EXPECT_THAT(OtherProgram({"serve", "--data", "x"})->arguments,
              ElementsAre("--data", "x"));
  EXPECT_EQ(OtherProgram({"worker"})->name, "frostline-worker");
  EXPECT_FALSE(OtherProgram({"worker", "list"}).has_value());
  EXPECT_FALSE(OtherProgram({"worker", "drain", "w1"}).has_value());
  EXPECT_FALSE(OtherProgram({"worker", "invite"}).has_value());
  EXPECT_FALSE(OtherProgram({"worker", "revoke", "w1"}).has_value());
  EXPECT_FALSE(OtherProgram({"study", "list"}).has_value());
  EXPECT_FALSE(OtherProgram({}).has_value());
}

TEST(OtherProgram, GivesAWorkerTheAddressOfTheEnvironment) {
  setenv("FROSTLINE_CONNECT", "host:1", 1);
  EXPECT_THAT(OtherProgram({"worker", "--exec", "x"})->arguments,
              ElementsAre("--connect", "host:1", "--exec", "x"));
  EXPECT_THAT(OtherProgram({"worker", "--connect=b:2"})->arguments,
              ElementsAre("--connect=b:2"));
  EXPECT_THAT(OtherProgram({"worker", "--join", "x"})->arguments,
              ElementsAre("--join", "x"));
  unsetenv("FROSTLINE_CONNECT");
}

class ApplyRequestTest : public ::testing::Test {
 protected:
  ApplyRequestTest() {
    searched_.set_name("studies/films");
    v1::StudySpec& spec = *searched_.mutable_spec();
    spec.set_seed(4);
    spec.mutable_training()->set_epochs(3);
    spec.add_enqueue()->mutable_labels()->insert({"of", "the search"});
    searched_.mutable_settings()->mutable_budget()->set_trials(200);
    searched_.mutable_settings()->mutable_pruner()->set_name("median");
    searched_.mutable_settings()->set_auto_precision("bf16");
    for (const char* const rival : {"plan", "best trial", "plan"}) {
      v1::EnqueuedTrial& trial = *rivals_.add_trials();
      (*trial.mutable_labels())["rival"] = rival;
      (*trial.mutable_labels())["predicted"] = "0.9 0.8 1 0.7 1";
      (*trial.mutable_values())["layer.0"].set_number_value(1e-4);
      trial.set_seed(static_cast<std::uint64_t>(rivals_.trials_size()));
    }
  }

  v1::Study searched_;
  v1::GetPlanRivalsReply rivals_;
};

TEST_F(ApplyRequestTest, RunsTheRivalsAndNothingElse) {
  ASSERT_OK_AND_ASSIGN(const v1::CreateStudyRequest request,
                       ApplyRequest(searched_, rivals_, {"films-apply"}));
  EXPECT_EQ(request.study_id(), "films-apply");
  EXPECT_EQ(request.spec().enqueue_size(), 3);
  EXPECT_EQ(request.settings().budget().trials(), 3);
  EXPECT_EQ(request.spec().training().epochs(), 3);
  EXPECT_EQ(request.spec().enqueue(2).seed(), 3u);
  EXPECT_FALSE(request.settings().has_pruner());
  EXPECT_EQ(request.settings().labels().at("applies"), "films");
}

TEST_F(ApplyRequestTest, TrainsInThePrecisionOfTheSearch) {
  ASSERT_OK_AND_ASSIGN(const v1::CreateStudyRequest request,
                       ApplyRequest(searched_, rivals_, {"a"}));
  EXPECT_EQ(request.spec().training().precision(), "bf16");
  searched_.mutable_spec()->mutable_training()->set_precision("fp32");
  ASSERT_OK_AND_ASSIGN(const v1::CreateStudyRequest asked,
                       ApplyRequest(searched_, rivals_, {"a"}));
  EXPECT_EQ(asked.spec().training().precision(), "fp32");
}

TEST_F(ApplyRequestTest, RulesAreTunedInTheSettingsOfTheSearch) {
  v1::StudySpec& searched = *searched_.mutable_spec();
  searched.mutable_model()->set_id("minilm");
  searched.mutable_model()->set_layers(6);
  searched.mutable_data()->set_train_rows(77);
  searched.mutable_training()->mutable_lora()->set_rank(8);
  searched.mutable_training()->set_trains("biases");
  auto& extra = *searched.mutable_training()->mutable_extra()->mutable_fields();
  extra["dropout"].set_number_value(0.2);
  extra["layers_by"].set_string_value("lisa");
  extra["layers_at_once"].set_number_value(3);
  StageStudy study;
  v1::StudySpec& rule = study.study.spec;
  rule.mutable_sampler()->set_name("grid");
  rule.mutable_data()->set_train_rows(2560);
  rule.mutable_training()->set_epochs(1);
  auto& own = *rule.mutable_training()->mutable_extra()->mutable_fields();
  own["layers_by"].set_string_value("spectrum");
  TakeSettingsOf(searched_, study);
  EXPECT_EQ(rule.model().id(), "minilm");
  EXPECT_EQ(rule.data().train_rows(), 77);
  EXPECT_EQ(rule.training().epochs(), 3);
  EXPECT_EQ(rule.training().precision(), "bf16");
  EXPECT_EQ(rule.sampler().name(), "grid");
  // What makes the rule is the rule's alone.
  EXPECT_FALSE(rule.training().has_lora());
  EXPECT_EQ(rule.training().trains(), "");
  const auto& fields = rule.training().extra().fields();
  EXPECT_EQ(fields.at("dropout").number_value(), 0.2);
  EXPECT_EQ(fields.at("layers_by").string_value(), "spectrum");
  EXPECT_FALSE(fields.contains("layers_at_once"));
}

TEST_F(ApplyRequestTest, RulesNeedOneTaskAndAModelWithLayers) {
  EXPECT_THAT(CheckHasRules(searched_.spec()).message(),
              HasSubstr("a registered model with layers"));
  searched_.mutable_spec()->mutable_model()->set_id("minilm");
  searched_.mutable_spec()->mutable_model()->set_layers(6);
  EXPECT_OK(CheckHasRules(searched_.spec()));
  searched_.mutable_spec()->add_tasks();
  EXPECT_THAT(CheckHasRules(searched_.spec()).message(),
              HasSubstr("of one task"));
}

TEST_F(ApplyRequestTest, ANamedTrialTakesThePlansPlaceUnpredicted) {
  v1::Trial named;
  named.set_number(17);
  v1::ParameterValue& value = *named.add_parameters();
  value.set_name("layer.0");
  value.mutable_value()->set_number_value(0);
  ASSERT_OK_AND_ASSIGN(const v1::CreateStudyRequest request,
                       ApplyRequest(searched_, rivals_, {"a", false, &named}));
  for (const int i : {0, 2}) {
    const v1::EnqueuedTrial& trial = request.spec().enqueue(i);
    EXPECT_EQ(trial.labels().at("rival"), "trial 17");
    EXPECT_EQ(trial.labels().at("predicted"), "nan nan nan nan nan");
    EXPECT_EQ(trial.values().at("layer.0").number_value(), 0);
    EXPECT_EQ(trial.seed(), static_cast<std::uint64_t>(i + 1));
  }
  EXPECT_EQ(request.spec().enqueue(1).labels().at("rival"), "best trial");
}

TEST_F(ApplyRequestTest, ANamedTrialIsNotRunAgainstItself) {
  // It is the best trial, and the plan another.
  for (const int i : {0, 2}) {
    (*rivals_.mutable_trials(i)->mutable_values())["layer.0"].set_number_value(
        0);
  }
  auto& best = *rivals_.mutable_trials(1)->mutable_labels();
  best["predicted"] = "0.8 0.7 0.9 0.6 1";
  best["one_run"] = "0.8 0.6 1 0.5 1";
  v1::Trial named;
  named.set_number(17);
  v1::ParameterValue& value = *named.add_parameters();
  value.set_name("layer.0");
  value.mutable_value()->set_number_value(1e-4);
  ASSERT_OK_AND_ASSIGN(const v1::CreateStudyRequest request,
                       ApplyRequest(searched_, rivals_, {"a", false, &named}));
  ASSERT_EQ(request.spec().enqueue_size(), 2);
  EXPECT_EQ(request.settings().budget().trials(), 2);
  for (const v1::EnqueuedTrial& trial : request.spec().enqueue()) {
    EXPECT_EQ(trial.labels().at("rival"), "trial 17");
    EXPECT_EQ(trial.labels().at("predicted"), "0.8 0.7 0.9 0.6 1");
    EXPECT_EQ(trial.labels().at("one_run"), "0.8 0.6 1 0.5 1");
    EXPECT_EQ(trial.labels().at("of"), "2");
  }
}

TEST_F(ApplyRequestTest, APlanThatIsTheBestTrialStaysARivalOfAnother) {
  (*rivals_.mutable_trials(1)->mutable_labels())["rival"] = "head only";
  v1::Trial named;
  named.set_number(17);
  v1::ParameterValue& value = *named.add_parameters();
  value.set_name("layer.0");
  value.mutable_value()->set_number_value(0);
  ASSERT_OK_AND_ASSIGN(const v1::CreateStudyRequest request,
                       ApplyRequest(searched_, rivals_, {"a", false, &named}));
  std::vector<std::string> names;
  for (const v1::EnqueuedTrial& trial : request.spec().enqueue()) {
    names.push_back(trial.labels().at("rival"));
  }
  EXPECT_THAT(names, testing::ElementsAre("trial 17", "best trial", "head only",
                                          "trial 17", "best trial"));
  EXPECT_EQ(request.spec().enqueue(1).labels().at("predicted"),
            "0.9 0.8 1 0.7 1");
  EXPECT_EQ(request.spec().enqueue(1).values().at("layer.0").number_value(),
            1e-4);
  EXPECT_EQ(request.settings().budget().trials(), 5);
}

TEST_F(ApplyRequestTest, ExportsWhereTransformersKnowsTheHead) {
  ASSERT_OK_AND_ASSIGN(const v1::CreateStudyRequest request,
                       ApplyRequest(searched_, rivals_, {"a", true}));
  EXPECT_EQ(
      request.spec().training().extra().fields().at("export").string_value(),
      "best");
  searched_.mutable_spec()->mutable_training()->mutable_head()->set_kind("mlp");
  EXPECT_THAT(ApplyRequest(searched_, rivals_, {"a", true}).status(),
              FailsWith(ErrorId::kRequestInvalid));
  EXPECT_OK(ApplyRequest(searched_, rivals_, {"a", false}).status());
  searched_.mutable_spec()->mutable_training()->clear_head();
  searched_.mutable_spec()->add_tasks()->set_name("sst");
  EXPECT_THAT(ApplyRequest(searched_, rivals_, {"a", true}).status(),
              FailsWith(ErrorId::kRequestInvalid));
}

}  // namespace
}  // namespace frostline::cli
