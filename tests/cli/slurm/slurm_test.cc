// SPDX-License-Identifier: Apache-2.0
//
// The words that Slurm gets, and its answers, with programs that play it. A
// real one is beside it in tests/deploy/slurm/.
#include "cli/slurm/slurm.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"

namespace frostline::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

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

}  // namespace
}  // namespace frostline::cli
