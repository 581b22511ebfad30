// SPDX-License-Identifier: Apache-2.0
#include "cli/slurm/slurm.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "cli/slurm/fleet.h"
#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"

namespace frostline::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::SizeIs;

// The words that Slurm gets, and its answers, with programs that play it. A
// real one is beside it in tests/deploy/slurm/.

class SlurmTest : public ::testing::Test {
 protected:
  SlurmTest() {
    for (const char* const program :
         {"sbatch", "squeue", "scontrol", "scancel"}) {
      Play(program, "exit 0");
    }
    setenv("PATH",
           absl::StrCat(folder_.path().string(), ":/usr/bin:/bin").c_str(), 1);
  }
  ~SlurmTest() override { setenv("PATH", path_.c_str(), 1); }

  // A program that notes each of its words on a line, then does as `script`
  // says.
  void Play(const std::string& program, const std::string& script) {
    const std::string file = folder_.File(program);
    std::ofstream(file) << "#!/bin/sh\nprintf '%s\\n' " << program
                        << " \"$@\" >>" << folder_.File("said") << "\n"
                        << script << "\n";
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }
  std::string Said() const {
    std::stringstream text;
    text << std::ifstream(folder_.File("said")).rdbuf();
    return text.str();
  }

  TempFolder folder_;
  const std::string path_ = std::getenv("PATH");
};

ArraySpec Spec() {
  ArraySpec spec;
  spec.name = "frostline-imdb";
  spec.folder = "/srv/ana/100%/imdb-3f9c0a";
  spec.partition = "spot; rm -rf ~";
  spec.gres = "gpu:1";
  spec.tasks = 8;
  spec.at_a_time = 3;
  spec.script = spec.folder + "/worker.sbatch";
  spec.arguments = {"imdb-3f9c0a", "--label", "site=$(reboot) `x` 'y'"};
  return spec;
}

TEST_F(SlurmTest, SubmitsWordsThatNoShellHasRead) {
  Play("sbatch", "echo '123;west'");
  ASSERT_OK_AND_ASSIGN(const Slurm slurm, Slurm::Find());
  EXPECT_EQ(*slurm.Submit(Spec()), 123);
  EXPECT_EQ(Said(),
            "sbatch\n--parsable\n--job-name=frostline-imdb\n--array=0-7%3\n"
            "--chdir=/srv/ana/100%/imdb-3f9c0a\n"
            "--output=/srv/ana/100%%/imdb-3f9c0a/log/%a.log\n"
            "--gres=gpu:1\n--partition=spot; rm -rf ~\n"
            "/srv/ana/100%/imdb-3f9c0a/worker.sbatch\nimdb-3f9c0a\n--label\n"
            "site=$(reboot) `x` 'y'\n");
}

TEST_F(SlurmTest, NamesTheProgramThatIsNotThere) {
  std::filesystem::remove(folder_.File("scontrol"));
  setenv("PATH", folder_.path().c_str(), 1);
  const auto slurm = Slurm::Find();
  EXPECT_THAT(slurm, FailsWith(ErrorId::kSlurmMissing));
  EXPECT_THAT(slurm.status().message(), HasSubstr("scontrol"));
}

TEST_F(SlurmTest, AnswersARefusalInSlurmsWordsWithAFixOfOurs) {
  ASSERT_OK_AND_ASSIGN(const Slurm slurm, Slurm::Find());
  const auto fix_for = [&](const std::string& words) {
    Play("sbatch", "echo 'sbatch: error: " + words + "' >&2; exit 1");
    const absl::Status refused = slurm.Submit(Spec()).status();
    EXPECT_THAT(refused, FailsWith(ErrorId::kSlurmRefused));
    EXPECT_EQ(refused.message(), "sbatch: " + words);
    return DetailOf(refused)->fix;
  };
  EXPECT_THAT(fix_for("invalid partition specified: gold"),
              HasSubstr("--partition"));
  EXPECT_THAT(fix_for("Batch job submission failed: Job violates "
                      "accounting/QOS policy (job submit limit, ...)"),
              HasSubstr("SBATCH_ACCOUNT"));
  EXPECT_THAT(fix_for("Batch job submission failed: Invalid account or "
                      "account/partition combination specified"),
              HasSubstr("SBATCH_ACCOUNT"));
  EXPECT_THAT(fix_for("Unable to contact slurm controller (connect failure)"),
              HasSubstr("scontrol ping"));
  EXPECT_THAT(fix_for("fatal: Could not establish a configuration source"),
              HasSubstr("scontrol ping"));
  EXPECT_THAT(fix_for("Requested node configuration is not available"),
              HasSubstr("--gres"));
  EXPECT_THAT(fix_for("The moon is full"), HasSubstr("site's rule"));
}

TEST_F(SlurmTest, DoesNotWaitInSilenceForAFullCluster) {
  Play("sbatch",
       "echo 'sbatch: error: Slurm temporarily unable to accept job, sleeping "
       "and retrying' >&2; exec sleep 600");
  ASSERT_OK_AND_ASSIGN(const Slurm slurm, Slurm::Find());
  const absl::Status refused = slurm.Submit(Spec()).status();
  EXPECT_THAT(refused, FailsWith(ErrorId::kSlurmRefused));
  EXPECT_EQ(refused.message(),
            "sbatch: Slurm temporarily unable to accept job");
  EXPECT_THAT(DetailOf(refused)->fix, HasSubstr("MaxJobCount"));
}

TEST_F(SlurmTest, ReadsTasksAndLeavesOutOtherLines) {
  Play("squeue",
       "echo '7|0|RUNNING|n1|None|/srv/a|b'; echo 'slurm_load_jobs';"
       "echo '7|1|PENDING||JobArrayTaskLimit|/x'; echo '9|N/A|PENDING|||';"
       "echo '7|2|PENDING||JobHeldUser|/x'");
  ASSERT_OK_AND_ASSIGN(const Slurm slurm, Slurm::Find());
  ASSERT_OK_AND_ASSIGN(const auto tasks, slurm.Look("frostline-imdb"));
  ASSERT_THAT(tasks, SizeIs(3));
  EXPECT_TRUE(tasks[0].runs());
  EXPECT_EQ(tasks[0].node, "n1");
  EXPECT_EQ(tasks[0].reason, "");
  EXPECT_EQ(tasks[0].folder, "/srv/a|b");
  EXPECT_TRUE(tasks[1].waits());
  EXPECT_FALSE(tasks[1].is_held());
  EXPECT_TRUE(tasks[2].is_held());
  EXPECT_THAT(Said(), HasSubstr("--me\n--noheader\n--array\n"
                                "--name=frostline-imdb\n"));
}

TEST_F(SlurmTest, SetsTheThrottleAndSignalsWhatRunsAlone) {
  ASSERT_OK_AND_ASSIGN(const Slurm slurm, Slurm::Find());
  EXPECT_OK(slurm.Throttle(7, 6));
  EXPECT_OK(slurm.Hold(7));
  EXPECT_OK(slurm.Release(7));
  EXPECT_OK(slurm.CancelWaiting(7));
  EXPECT_OK(slurm.SignalRunning(7, "USR2"));
  EXPECT_EQ(Said(),
            "scontrol\nupdate\nJobId=7\nArrayTaskThrottle=6\n"
            "scontrol\nhold\n7\nscontrol\nrelease\n7\n"
            "scancel\n--state=PENDING\n7\n"
            "scancel\n--state=RUNNING\n--signal=USR2\n7\n");
}

TEST_F(SlurmTest, PassesOverTasksThatHaveEndedAndOverNothingElse) {
  ASSERT_OK_AND_ASSIGN(const Slurm slurm, Slurm::Find());
  Play("scontrol",
       "echo '7_0: Job has already finished' >&2; echo '7_1-7: No error' >&2;"
       "exit 1");
  EXPECT_OK(slurm.Throttle(7, 6));
  Play("scontrol",
       "echo '7_0: Job has already finished' >&2;"
       "echo '7_1: Access/permission denied' >&2; exit 1");
  EXPECT_THAT(slurm.Throttle(7, 6), FailsWith(ErrorId::kSlurmRefused));
}

TEST_F(SlurmTest, FindsTheNameOfTheCluster) {
  Play("scontrol",
       "echo 'Configuration data as of now'; echo 'ClusterName     = west'");
  ASSERT_OK_AND_ASSIGN(const Slurm slurm, Slurm::Find());
  EXPECT_EQ(*slurm.ClusterName(), "west");
}

v1::Study Active(int budget, int used, int running, int useful) {
  v1::Study study;
  study.set_state(v1::STUDY_STATE_ACTIVE);
  study.mutable_settings()->mutable_budget()->set_trials(budget);
  study.mutable_counts()->set_budget_used(used);
  study.mutable_counts()->set_running(running);
  study.set_useful_parallelism(useful);
  return study;
}

int Workers(const v1::Study& study, int most = 100) {
  return WorkersFor(DemandOf(study), 1, most);
}

TEST(DemandTest, IsWhatTeachesTheSampler) {
  EXPECT_EQ(Workers(Active(200, 0, 0, 14)), 14);
}

TEST(DemandTest, IsNoMoreThanTrialsAreLeft) {
  EXPECT_EQ(Workers(Active(200, 190, 4, 28)), 10);
  EXPECT_EQ(Workers(Active(200, 200, 0, 28)), 0);
}

TEST(DemandTest, IsWhatItsOwnerDecidedIfAnything) {
  v1::Study study = Active(200, 0, 0, 14);
  study.mutable_settings()->set_max_parallel(64);
  EXPECT_EQ(Workers(study), 64);
  study.mutable_settings()->set_max_parallel(2);
  EXPECT_EQ(Workers(study), 2);
}

TEST(DemandTest, CountsWhatWaitsInTheQueueThoughNoSamplerAskedForIt) {
  v1::Study study = Active(200, 0, 2, 14);
  study.mutable_counts()->set_queued(30);
  EXPECT_EQ(Workers(study), 32);
  // A retry belongs to no budget.
  study = Active(200, 200, 0, 14);
  study.mutable_counts()->set_queued(1);
  EXPECT_EQ(Workers(study), 1);
}

TEST(DemandTest, OfAPausedStudyIsWhatRunsAndOfAnEndedOneNothing) {
  v1::Study study = Active(200, 20, 3, 14);
  study.set_state(v1::STUDY_STATE_PAUSED);
  EXPECT_EQ(Workers(study), 3);
  study.set_state(v1::STUDY_STATE_STOPPED);
  EXPECT_EQ(Workers(study), 0);
}

TEST(DemandTest, OfStudiesIsTheirSumInWholeWorkersUpToTheMost) {
  const Demand both = DemandOf({Active(200, 0, 0, 14), Active(9, 0, 0, 20)});
  EXPECT_EQ(both.left, 209);
  EXPECT_EQ(both.usable, 23);
  EXPECT_EQ(WorkersFor(both, 4, 100), 6);
  EXPECT_EQ(WorkersFor(both, 4, 5), 5);
  EXPECT_EQ(WorkersFor(both, 4, 0), 0);
}

TEST(DemandTest, IsSaidInALine) {
  EXPECT_EQ(DescribeWish(DemandOf(Active(1200, 0, 0, 12)), 6, 6),
            "6 at a time (1,200 trials left, 12 useful at a time, at most 6)");
}

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
