// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "cli/slurm/fleet.h"
#include "gmock/gmock.h"

namespace frostline::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

v1::Worker Worker(const std::string& id, const std::string& cluster,
                  const std::string& job, const std::string& task) {
  v1::Worker worker;
  worker.set_name("workers/" + id);
  worker.set_state(v1::WORKER_STATE_ACTIVE);
  auto& labels = *worker.mutable_labels();
  if (!cluster.empty()) labels["slurm_cluster"] = cluster;
  if (!job.empty()) labels["slurm_job"] = job;
  if (!task.empty()) labels["slurm_task"] = task;
  return worker;
}

ArrayTask Task(int index, const std::string& state, const std::string& reason) {
  ArrayTask task;
  task.array = 7;
  task.index = index;
  task.state = state;
  task.reason = reason;
  return task;
}

FleetFacts Facts() {
  FleetFacts facts;
  facts.job_name = "frostline-imdb";
  facts.cluster = "east";
  facts.tasks = {Task(0, "RUNNING", ""), Task(1, "RUNNING", ""),
                 Task(2, "PENDING", "JobArrayTaskLimit")};
  facts.workers = {Worker("imdb-a-0", "east", "7", "0"),
                   Worker("theirs", "west", "7", "1"),
                   Worker("gpu03", "", "", "")};
  return facts;
}

TEST(FleetViewTest, PutsEachTaskBesideItsWorker) {
  const std::string text = RenderFleet(Facts(), 0);
  EXPECT_THAT(text,
              MatchesRegex("(.|\n)*7_0 +RUNNING +imdb-a-0 +ACTIVE(.|\n)*"));
  EXPECT_THAT(text, MatchesRegex("(.|\n)*7_1 +RUNNING +- +not there(.|\n)*"));
  EXPECT_THAT(text, HasSubstr("JobArrayTaskLimit"));
}

TEST(FleetViewTest, AnArrayOfThatNumberElsewhereHasSlotsOfItsOwn) {
  FleetFacts facts = Facts();
  facts.workers[0].set_slots(2);
  facts.workers[1].set_slots(8);
  EXPECT_EQ(SlotsOfFleet(facts), 2);
  facts.cluster = "west";
  EXPECT_EQ(SlotsOfFleet(facts), 8);
  facts.cluster = "north";
  EXPECT_EQ(SlotsOfFleet(facts), 1);
}

TEST(FleetViewTest, NamesWhoElseFeedsTheCoordinator) {
  EXPECT_THAT(RenderFleet(Facts(), 0),
              HasSubstr("other workers of this coordinator: 1 of array 7 of "
                        "cluster west, 1 of no Slurm\n"));
  FleetFacts alone = Facts();
  alone.workers.resize(1);
  EXPECT_THAT(RenderFleet(alone, 0), Not(HasSubstr("other workers")));
}

TEST(FleetViewTest, PassesOverAWorkerThatHasGone) {
  FleetFacts facts = Facts();
  facts.workers[0].set_state(v1::WORKER_STATE_GONE);
  EXPECT_THAT(RenderFleet(facts, 0), Not(HasSubstr("imdb-a-0")));
}

TEST(FleetViewTest, IsJsonForPrograms) {
  const auto json = nlohmann::json::parse(SlurmFleetJson(Facts()));
  EXPECT_EQ(json["cluster"], "east");
  EXPECT_EQ(json["tasks"][0]["worker"], "workers/imdb-a-0");
  EXPECT_FALSE(json["tasks"][1].contains("worker"));
  EXPECT_EQ(json["other_workers"].size(), 2u);
}

TEST(FleetTest, IsNamedAfterItsStudyOrAfterNone) {
  EXPECT_EQ(JobNameOf({.study = "imdb"}), "frostline-imdb");
  EXPECT_EQ(JobNameOf({.study = "", .all = true}), "frostline");
  EXPECT_THAT(NewFleetId({.study = "imdb"}), MatchesRegex("imdb-[0-9a-f]{6}"));
  EXPECT_NE(NewFleetId({.study = "imdb"}), NewFleetId({.study = "imdb"}));
  EXPECT_EQ(NewFleetId({.study = std::string(64, 'x')}).size(), 47u);
}

}  // namespace
}  // namespace frostline::cli
