// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/process/protocol.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "frostline/v1/trial.pb.h"
#include "gmock/gmock.h"
#include "proto/rules.h"
#include "tests/support/status_matchers.h"
#include "worker/trainer/data/limits.h"

namespace frostline::agent {
namespace {

using ::testing::HasSubstr;

template <typename Message>
Message Parsed(const std::string& line) {
  const auto message = ParseTrainerLine(line);
  EXPECT_OK(message);
  const Message* const got =
      message.ok() ? std::get_if<Message>(&*message) : nullptr;
  EXPECT_NE(got, nullptr) << line;
  return got == nullptr ? Message() : *got;
}

TEST(Protocol, TakesAsMuchOfEvaluationsAsOurTrainerSays) {
  EXPECT_EQ(proto::MaxBytes<v1::Outcome>("evaluations"),
            trainer::kMaxEvaluationsBytes);
}

TEST(TrainerLine, ReportKeepsStepAndMetrics) {
  const auto report = Parsed<ReportMessage>(
      R"({"type":"report","step":3,"total_steps":9,"metrics":{"f1":0.5,"n":2}})");
  EXPECT_EQ(report.step, 3);
  EXPECT_EQ(report.total_steps, 9);
  EXPECT_EQ(report.metrics, (Metrics{{"f1", 0.5}, {"n", 2.0}}));
}

TEST(TrainerLine, ReportSaysWhatItIsComputedIn) {
  const auto report = Parsed<ReportMessage>(
      R"({"type":"report","step":0,"precision":"bf16","precisions":["fp32","bf16"]})");
  EXPECT_EQ(report.precision, "bf16");
  EXPECT_EQ(report.precisions, (std::vector<std::string>{"fp32", "bf16"}));
  const auto finish = Parsed<FinishMessage>(
      R"({"type":"finish","state":"failed","class":"unfit","precisions":["fp32"]})");
  EXPECT_TRUE(finish.is_unfit);
  EXPECT_EQ(finish.precisions, std::vector<std::string>{"fp32"});
}

TEST(TrainerLine, NonFiniteNumbersComeBareAndAsStrings) {
  const auto report = Parsed<ReportMessage>(
      R"({"type":"report","step":0,"metrics":{"a":NaN,"b":-Infinity,"c":"Infinity","NaN":1}})");
  EXPECT_TRUE(std::isnan(report.metrics.at("a")));
  EXPECT_EQ(report.metrics.at("b"), -INFINITY);
  EXPECT_EQ(report.metrics.at("c"), INFINITY);
  EXPECT_EQ(report.metrics.at("NaN"), 1.0);
}

TEST(TrainerLine, WordsInsideStringsStayWhatTheyAre) {
  const auto finish = Parsed<FinishMessage>(
      R"({"type":"finish","state":"infeasible","cause":"loss \"NaN\" at Infinity"})");
  EXPECT_EQ(finish.state, FinishMessage::State::kInfeasible);
  EXPECT_EQ(finish.cause, R"(loss "NaN" at Infinity)");
}

// As when they were put in quotes before a line was read.
TEST(TrainerLine, BareWordsAreTextWhereTextIsWanted) {
  EXPECT_EQ(Parsed<LogMessage>(R"({"type":"log","text":NaN})").text, "NaN");
  const auto finish = Parsed<FinishMessage>(
      R"({"type":"finish","state":"failed","usage":{"train_seconds":NaN}})");
  EXPECT_TRUE(std::isnan(finish.usage->train_seconds()));
}

TEST(TrainerLine, OfAKeyThatStandsTwiceTheLastCounts) {
  const auto report = Parsed<ReportMessage>(
      R"({"type":"report","step":1,"metrics":{"a":"x","a":2},"step":4})");
  EXPECT_EQ(report.step, 4);
  EXPECT_EQ(report.metrics, (Metrics{{"a", 2.0}}));
  const auto finish = Parsed<FinishMessage>(
      R"({"type":"finish","state":"failed","usage":{"steps":1,"steps":2}})");
  EXPECT_EQ(finish.usage->steps(), 2);
}

TEST(TrainerLine, FinishCarriesUsageAndExamples) {
  const auto finish = Parsed<FinishMessage>(
      R"({"type":"finish","state":"succeeded","metrics":{"acc":1},)"
      R"("usage":{"train_seconds":2.5,"trained_parameters":7,"freeze":{"mode":"hard"}},)"
      R"("examples":{"encoding":"packed_bits","count":8,"data":"/w=="}})");
  EXPECT_EQ(finish.usage->trained_parameters(), 7);
  EXPECT_EQ(finish.usage->freeze().mode(), v1::FreezeSemantics::HARD);
  EXPECT_EQ(finish.examples->data(), "\xFF");
}

TEST(TrainerLine, WhatPeoplePrintIsLog) {
  for (const std::string line :
       {"", "epoch 3", "{'loss': 0.3, 'type': 1}", "{\"loss\": 0.3}",
        "\xFF\xFE", "[1, 2, \"type\"]", "  { not json"}) {
    EXPECT_EQ(Parsed<LogMessage>(line).text, line);
  }
}

struct Mistake {
  const char* line;
  const char* field;
};

TEST(TrainerLine, AReportMaySayHowFarTheTrialIs) {
  const auto report = Parsed<ReportMessage>(
      R"({"type":"report","step":7,"phase":"training","epoch":1.5,"total_epochs":3,"remaining_s":42.5})");
  ASSERT_TRUE(report.progress.has_value());
  EXPECT_EQ(report.progress->phase, "training");
  EXPECT_EQ(report.progress->epoch, 1.5);
  EXPECT_EQ(report.progress->total_epochs, 3.0);
  EXPECT_EQ(report.progress->remaining_s, 42.5);
}

TEST(TrainerLine, AReportThatSaysNothingOfItHasNone) {
  const auto report = Parsed<ReportMessage>(R"({"type":"report","step":7})");
  EXPECT_FALSE(report.progress.has_value());
}

// Who divides by a speed of 0 has no number.
TEST(TrainerLine, WhatRemainsMayBeUnknownAndNeverPastAllBounds) {
  for (const char* unknown : {"null", "NaN", "Infinity"}) {
    const auto report = Parsed<ReportMessage>(
        std::string(R"({"type":"report","step":7,"remaining_s":)") + unknown +
        "}");
    ASSERT_TRUE(report.progress.has_value()) << unknown;
    EXPECT_FALSE(report.progress->remaining_s.has_value()) << unknown;
  }
  const auto report = Parsed<ReportMessage>(
      R"({"type":"report","step":7,"remaining_s":1e300})");
  EXPECT_LT(*report.progress->remaining_s, 4e9);
}

class MistakenLine : public ::testing::TestWithParam<Mistake> {};

TEST_P(MistakenLine, IsRefusedNamingTheField) {
  const auto message = ParseTrainerLine(GetParam().line);
  EXPECT_THAT(message, FailsAt(ErrorId::kTrainerProtocol, GetParam().field));
  EXPECT_THAT(std::string(message.status().message()), HasSubstr("{"));
}

INSTANTIATE_TEST_SUITE_P(
    All, MistakenLine,
    ::testing::Values(
        Mistake{R"({"type":"report","step":1,"metr)", "line"},
        Mistake{R"({"type":"report","step":1}})", "line"},
        Mistake{"{\"type\":\"log\",\"text\":\"\xFF\"}", "line"},
        Mistake{R"({"type":"log","text":[[[[[[[[[1]]]]]]]]]})", "line"},
        Mistake{R"({"type":"reprot","step":1})", "type"},
        Mistake{R"({"type":7})", "type"},
        Mistake{R"({"type":"report"})", "step"},
        Mistake{R"({"type":"report","step":-1})", "step"},
        Mistake{R"({"type":"report","step":1.5})", "step"},
        Mistake{R"({"type":"report","step":"1"})", "step"},
        Mistake{R"({"type":"report","step":18446744073709551615})", "step"},
        Mistake{R"({"type":"report","step":1,"metric":{}})", "metric"},
        Mistake{R"({"type":"report","step":1,"metrics":[]})", "metrics"},
        Mistake{R"({"type":"report","step":1,"metrics":{"a":"x"}})",
                "metrics.a"},
        Mistake{R"({"type":"report","step":1,"metrics":{"a":true}})",
                "metrics.a"},
        Mistake{R"({"type":"report","step":1,"metrics":{"a":1e999}})",
                "metrics.a"},
        Mistake{R"({"type":"report","step":-0})", "step"},
        Mistake{R"({"type":"report","step":1e2})", "step"},
        Mistake{R"({"type":"report","step":1,"metrics":{"":1}})", "metrics."},
        Mistake{R"({"type":"report","step":1,"phase":"thinking"})", "phase"},
        Mistake{R"({"type":"report","step":1,"phase":""})", "phase"},
        Mistake{R"({"type":"report","step":1,"phase":7})", "phase"},
        Mistake{R"({"type":"report","step":1,"epoch":-0.5})", "epoch"},
        Mistake{R"({"type":"report","step":1,"epoch":NaN})", "epoch"},
        Mistake{R"({"type":"report","step":1,"total_epochs":1e10})",
                "total_epochs"},
        Mistake{R"({"type":"report","step":1,"remaining_s":-1})",
                "remaining_s"},
        Mistake{R"({"type":"report","step":1,"remaining_s":"soon"})",
                "remaining_s"},
        Mistake{R"({"type":"finish"})", "state"},
        Mistake{R"({"type":"finish","state":"done"})", "state"},
        Mistake{R"({"type":"finish","state":"failed","class":"bad"})", "class"},
        Mistake{R"({"type":"finish","state":"failed","usage":{"watts":1}})",
                "usage"},
        Mistake{
            R"({"type":"finish","state":"failed","examples":{"sett":"test"}})",
            "examples"},
        Mistake{R"({"type":"finish","state":"failed","evaluations":{}})",
                "evaluations"},
        Mistake{R"({"type":"prefixes","held":[]})", "type"},
        Mistake{R"({"type":"checkpoint","id":"../x","step":1})", "id"},
        Mistake{R"({"type":"checkpoint","id":"x"})", "step"},
        Mistake{R"({"type":"checkpoint","id":"x","step":1,"sha256":"zz"})",
                "sha256"},
        Mistake{R"({"type":"hello","protocol":2})", "protocol"}));

TEST(TrainerLine, TooManyMetricsAndTooLongNamesAreRefused) {
  nlohmann::json report = {{"type", "report"}, {"step", 1}};
  for (int i = 0; i < 65; ++i) report["metrics"]["m" + std::to_string(i)] = i;
  EXPECT_THAT(ParseTrainerLine(report.dump()),
              FailsAt(ErrorId::kTrainerProtocol, "metrics"));
  report["metrics"] = {{std::string(257, 'x'), 1}};
  EXPECT_THAT(ParseTrainerLine(report.dump()),
              FailsWith(ErrorId::kTrainerProtocol));
}

TEST(TrainerLine, DeepNestingDoesNotExhaustTheStack) {
  const std::string line =
      R"({"type":"log","text":)" + std::string(500'000, '[');
  EXPECT_THAT(ParseTrainerLine(line), FailsWith(ErrorId::kTrainerProtocol));
}

v1::Lease SmallLease() {
  v1::Lease lease;
  lease.set_trial("studies/a/trials/7");
  lease.set_attempt(2);
  lease.set_secret("s3cr3t");
  auto* const spec = lease.mutable_spec();
  spec->set_seed(18446744073709551615U);
  auto* const parameter = spec->add_parameters();
  parameter->set_name("layer.0");
  parameter->mutable_value()->set_number_value(2e-5);
  auto* const rate = spec->add_rates();
  rate->set_module("layer.0");
  rate->set_rate(2e-5);
  auto* const objective = spec->add_objectives();
  objective->set_metric("accuracy");
  objective->set_direction(v1::DIRECTION_MAXIMIZE);
  spec->mutable_training()->set_max_steps(1'000'000'000'000);
  (*spec->mutable_training()->mutable_extra()->mutable_fields())["k"]
      .set_string_value("v");
  spec->mutable_freeze()->set_mode(v1::FreezeSemantics::LR0);
  return lease;
}

TEST(TrialLine, NumbersAreNumbersAndNamesAreShort) {
  const std::string line = TrialLine(SmallLease(), "/scratch", "");
  const auto message = nlohmann::json::parse(line);
  EXPECT_EQ(line.back(), '\n');
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_EQ(message["seed"], 18446744073709551615U);
  EXPECT_EQ(message["parameters"]["layer.0"], 2e-5);
  EXPECT_EQ(message["rates"]["layer.0"], 2e-5);
  EXPECT_EQ(message["objectives"][0]["direction"], "maximize");
  EXPECT_EQ(message["training"]["max_steps"], 1'000'000'000'000);
  EXPECT_EQ(message["training"]["extra"]["k"], "v");
  EXPECT_EQ(message["freeze"]["mode"], "lr0");
  EXPECT_EQ(message["folder"], "/scratch");
  EXPECT_TRUE(message["resume_from"].is_null());
  EXPECT_EQ(line.find("s3cr3t"), std::string::npos);
}

// Python reads 2.0 as a number with a point, and 2 as one without.
TEST(TrialLine, NumbersAreWrittenSoThatTheyStayWhatTheyAre) {
  v1::Lease lease;
  const std::vector<std::pair<double, std::string>> numbers = {
      {0.0, "0.0"},       {-0.0, "-0.0"},
      {2.0, "2.0"},       {2e-5, "2e-05"},
      {1e-4, "0.0001"},   {999'999'999'999'999.0, "999999999999999.0"},
      {1e15, "1e+15"},    {1.5e22, "1.5e+22"},
      {5e-324, "5e-324"}, {NAN, "null"},
      {INFINITY, "null"}};
  for (const auto& [number, text] : numbers) {
    auto* const spec = lease.mutable_spec();
    spec->clear_rates();
    spec->add_rates()->set_rate(number);
    EXPECT_THAT(TrialLine(lease, "", ""),
                HasSubstr(R"("rates":{"":)" + text + "}"));
  }
}

TEST(TrialLine, IsThisLine) {
  EXPECT_EQ(
      TrialLine(SmallLease(), "/s\xFF\"", "", {"evaluations"}),
      R"({"attempt":2,"data":{},"folder":"/s�\"","freeze":{"mode":"lr0"},)"
      R"("labels":{},"model":{},)"
      R"("objectives":[{"direction":"maximize","metric":"accuracy"}],)"
      R"("parameters":{"layer.0":2e-05},"prefix_depth":0,"protocol":1,)"
      R"("rates":{"layer.0":2e-05},"resume_from":null,)"
      R"("seed":18446744073709551615,)"
      R"("takes":["precision","progress","evaluations"],)"
      R"("training":{"extra":{"k":"v"},"max_steps":1000000000000},)"
      R"("trial":"studies/a/trials/7","type":"trial"})"
      "\n");
}

TEST(TrialLine, NamesAllThatTheAgentTakes) {
  const auto plain = nlohmann::json::parse(TrialLine(SmallLease(), "/s", ""));
  EXPECT_EQ(plain["takes"], nlohmann::json({"precision", "progress"}));
  const auto more =
      nlohmann::json::parse(TrialLine(SmallLease(), "/s", "", {"evaluations"}));
  EXPECT_EQ(more["takes"],
            nlohmann::json({"precision", "progress", "evaluations"}));
}

TEST(TrialLine, AnAbsentCheckpointHasNoPath) {
  v1::Lease lease = SmallLease();
  lease.mutable_resume_from()->set_id("epoch-3");
  lease.mutable_resume_from()->set_step(3);
  const auto here = nlohmann::json::parse(TrialLine(lease, "/s", "/c/epoch-3"));
  EXPECT_EQ(here["resume_from"]["path"], "/c/epoch-3");
  const auto away = nlohmann::json::parse(TrialLine(lease, "/s", ""));
  EXPECT_EQ(away["resume_from"]["step"], 3);
  EXPECT_FALSE(away["resume_from"].contains("path"));
}

}  // namespace
}  // namespace frostline::agent
