// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/options.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "frostline/v1/worker.pb.h"
#include "gmock/gmock.h"
#include "proto/rules.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"
#include "worker/agent/node/gpus.h"
#include "worker/agent/process/protocol.h"
#include "worker/agent/trial/slot.h"

namespace frostline::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

absl::StatusOr<AgentOptions> Parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "frostline-worker");
  return ParseAgentOptions(static_cast<int>(arguments.size()),
                           arguments.data());
}

TEST(AgentOptions, HaveAsManySlotsAsTheContractTakes) {
  EXPECT_EQ(kMaxSlots, proto::MostOf<v1::Worker>("slots"));
}

TEST(AgentOptions, AllThatIsGivenArrives) {
  ASSERT_OK_AND_ASSIGN(const AgentOptions options, Parse({"--connect",
                                                          "h:1",
                                                          "--id",
                                                          "gpu03-0",
                                                          "--slots",
                                                          "2",
                                                          "--exec",
                                                          "sh",
                                                          "--label",
                                                          "pool=a=b",
                                                          "--study",
                                                          "s1",
                                                          "--exit-when-done",
                                                          "--idle-timeout",
                                                          "1.5",
                                                          "--hang-after",
                                                          "2h",
                                                          "--orphan-limit",
                                                          "off",
                                                          "--keep",
                                                          "failed",
                                                          "--keep-bytes",
                                                          "1.5G",
                                                          "--keep-trials",
                                                          "7",
                                                          "--prefix-dir",
                                                          "/scratch/prefix",
                                                          "--prefix-bytes",
                                                          "20G",
                                                          "--slots-per-gpu",
                                                          "3"}));
  EXPECT_EQ(options.id, "gpu03-0");
  EXPECT_EQ(options.slots, 2);
  EXPECT_EQ(options.labels.at("pool"), "a=b");
  EXPECT_TRUE(options.exit_when_done);
  EXPECT_EQ(options.idle_timeout, std::chrono::milliseconds(1500));
  EXPECT_EQ(options.hang_after, std::chrono::hours(2));
  EXPECT_EQ(options.orphan_limit, Duration::zero());
  EXPECT_EQ(options.keep.policy, KeepPolicy::kFailed);
  EXPECT_EQ(options.keep.most_bytes, std::int64_t{3} << 29);
  EXPECT_EQ(options.keep.most_trials, 7);
  EXPECT_EQ(options.prefix_dir, "/scratch/prefix");
  EXPECT_EQ(options.prefix_bytes, std::int64_t{20} << 30);
  EXPECT_EQ(options.slots_per_gpu, 3);
}

TEST(AgentOptions, ATrainerIsCalledByItsScriptOrProgram) {
  const std::pair<const char*, const char*> cases[] = {
      {"python3 /srv/train.py --fast", "train.py"},
      {"env OMP_NUM_THREADS=4 python3 -u train.py", "train.py"},
      {"'/opt/a/frostline-demo-trainer'", "frostline-demo-trainer"},
      {"python3 -W ignore train.py", "train.py"},
      {"python3 -m my.train --fast", "my.train"},
      {"python3 -c 'train()'", "python3"},
      {"bash -c 'python3 train.py'", "train.py"},
      {"sleep 60", "sleep"}};
  for (const auto& [command, name] : cases) {
    EXPECT_EQ(TrainerNameOf(command), name) << command;
  }
}

TEST(AgentOptions, ATrainerBehindALauncherIsCalledByWhatIsLaunched) {
  const std::pair<const char*, const char*> cases[] = {
      {"torchrun --standalone --nproc_per_node 2 train.py --lr 1", "train.py"},
      {"torchrun --nproc-per-node=2 -m my.train", "my.train"},
      {"torchrun --no-python /srv/rank.sh", "rank.sh"},
      {"python3 -m torch.distributed.run --nproc-per-node 2 /a/b.py", "b.py"},
      {"/venv/bin/python -m torch.distributed.run -m my.train", "my.train"},
      {"accelerate launch --cpu --num_processes 2 train.py", "train.py"},
      {"python3 -m accelerate.commands.launch train.py", "train.py"},
      {"deepspeed --num_gpus 2 train.py --deepspeed c.json", "train.py"},
      {"mpirun -np 2 --map-by node python3 -u train.py", "train.py"},
      {"uv run --with torch python train.py", "train.py"},
      {"conda run -n llm torchrun --nproc_per_node 2 train.py", "train.py"},
      {"frostline-command --metrics csv:log.csv -- python3 train.py --lr {lr}",
       "train.py"},
      {"torchrun --nproc_per_node 2", "torchrun"}};
  for (const auto& [command, name] : cases) {
    EXPECT_EQ(TrainerNameOf(command), name) << command;
  }
}

TEST(AgentOptions, AnOwnTrainerServesWhoNamesIt) {
  const AgentOptions named = *Parse({"--exec", "sh -c true"});
  EXPECT_TRUE(named.serves_who_names_it);
  EXPECT_EQ(named.labels.at("trainer"), "true");
  EXPECT_THAT(DescribeService(named), HasSubstr("say trainer: true"));
  EXPECT_FALSE(Parse({"--exec", "true", "--study", "a"})->serves_who_names_it);
  const AgentOptions any = *Parse({"--exec", "true", "--label", "trainer="});
  EXPECT_FALSE(any.serves_who_names_it);
  EXPECT_TRUE(any.labels.empty());
  EXPECT_EQ(DescribeService(any), "any study");
}

TEST(AgentOptions, MistakesNameTheOption) {
  EXPECT_THAT(Parse({}), FailsAt(ErrorId::kRequestInvalid, "--exec"));
  EXPECT_THAT(Parse({"--exec", " "}),
              FailsAt(ErrorId::kRequestInvalid, "--exec"));
  EXPECT_THAT(Parse({"--exec", "true", "--slots", "0"}),
              FailsAt(ErrorId::kRequestInvalid, "--slots"));
  EXPECT_THAT(Parse({"--exec", "true", "--label", "=v"}),
              FailsAt(ErrorId::kRequestInvalid, "--label"));
  EXPECT_THAT(
      Parse({"--exec", "true", "--slots-per-gpu", "2", "--gpus-per-slot", "2"}),
      FailsAt(ErrorId::kRequestInvalid, "--gpus-per-slot"));
  EXPECT_THAT(Parse({"--exec", "true", "--exit-when-done"}),
              FailsAt(ErrorId::kRequestInvalid, "--exit-when-done"));
  for (const char* option : {"--hang-after", "--orphan-limit", "--keep-bytes",
                             "--keep", "--prefix-bytes"}) {
    for (const char* value : {"-1", "soon", "", "nan"}) {
      EXPECT_THAT(Parse({"--exec", "true", option, value}),
                  FailsAt(ErrorId::kRequestInvalid, option))
          << option << " " << value;
    }
  }
  EXPECT_THAT(Parse({"--exec", "true", "--id", "../x"}),
              FailsWith(ErrorId::kNameInvalid));
  EXPECT_THAT(Parse({"--nonsense"}), FailsWith(ErrorId::kRequestInvalid));
}

const std::string kModel =
    "m:\n  path: m\n  sha256: " + std::string(64, 'a') + "\n";
const std::string kDataSet =
    "d:\n  splits:\n    train:\n      path: d\n      sha256: " +
    std::string(64, 'a') + "\n";

void WriteRegistry(const TempFolder& folder) {
  std::ofstream(folder.path() / "models.yaml") << kModel;
  std::ofstream(folder.path() / "datasets.yaml") << kDataSet;
}

TEST(AgentOptions, ARegistryTrainsWithTheTrainerBeside) {
  const TempFolder folder;
  WriteRegistry(folder);
  std::ofstream(folder.path() / "frostline-trainer") << "";
  AgentOptions options;
  options.registry = folder.path();
  ASSERT_OK(ChooseTrainer(folder.path(), &options));
  EXPECT_EQ(options.exec,
            "'" + (folder.path() / "frostline-trainer").string() + "'");

  options.exec = "sh -c train";  // finds the registry by its variable
  ASSERT_OK(ChooseTrainer("/nowhere", &options));
  EXPECT_EQ(options.exec, "sh -c train");
}

TEST(AgentOptions, AWorkerDoesNotBeginWithAMalformedRegistry) {
  const TempFolder folder;
  WriteRegistry(folder);
  AgentOptions options;
  options.registry = folder.path();
  options.exec = "true";
  ASSERT_OK(ChooseTrainer(folder.path(), &options));
  const std::pair<std::string, std::string> cases[] = {
      {kModel + "n:\n  path: n\n  sha265: x\n",
       "models.yaml line 6 column 3: 'n': has an unknown key 'sha265'"},
      {kModel + "\tn:\n",
       "models.yaml line 4 column 1: is indented with a tab"},
      {"m:\n  path: m\n  sha256: 12\n",
       "models.yaml line 3 column 11: 'm': sha256 is not 64"},
      {"M:\n  path: m\n  sha256: 12\n",
       "models.yaml line 1 column 1: 'M': 'M' is no id"}};
  for (const auto& [yaml, cause] : cases) {
    std::ofstream(folder.path() / "models.yaml") << yaml;
    const absl::Status status = ChooseTrainer(folder.path(), &options);
    EXPECT_THAT(status, FailsWith(ErrorId::kTrainerSyntax)) << yaml;
    EXPECT_THAT(std::string(status.message()), HasSubstr(cause));
    EXPECT_EQ(ExitCodeOf(status), kExitInvalidFile);
  }
}

TEST(AgentOptions, AProgramOrScriptThatIsNotThereIsFoundAtOnce) {
  const TempFolder folder;
  const std::string script = folder.File("train.py");
  const auto status = [](const std::string& command) {
    return CheckExec(command);
  };
  for (const std::string& command :
       {std::string("no-such-program-here --fast"), folder.File("none"),
        "sh " + script, "sh " + script + " --lr 1"}) {
    EXPECT_THAT(status(command), FailsAt(ErrorId::kRequestInvalid, "--exec"))
        << command;
  }
  std::ofstream(script) << "";
  EXPECT_OK(status("sh " + script + " --lr 1"));
  EXPECT_THAT(std::string(status(script).message()),
              HasSubstr("may not be executed"));
  // What only the shell can tell is left to it.
  for (const char* command :
       {"exec sh -c x", "FOO=1 nothing-here", "cd /x && y", "$TRAINER",
        "'/with a/blank'", "sh -c 'x'", "sh -u x"}) {
    EXPECT_OK(status(command)) << command;
  }
}

class CommandTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::string> Trainer() {
    return TrainerOf(command_, std::getenv("FROSTLINE_BIN_DIR"),
                     std::chrono::seconds(20));
  }
  // As the command line would.
  void Give(const std::string& name, const std::string& value) {
    const std::vector<Flag> flags = CommandFlags(&command_);
    const auto flag = std::ranges::find(flags, name, &Flag::name);
    ASSERT_OK(flag->take(value));
  }

  PlainCommand command_;
};

TEST_F(CommandTest, BecomesATrainerWithEachWordAsItWasGiven) {
  Give("--command", R"(python3 "it's.py" --lr {lr})");
  Give("--metrics", R"(regex:a b=(?P<x>\S+))");
  ASSERT_OK_AND_ASSIGN(const std::string line, Trainer());
  EXPECT_THAT(line, HasSubstr("/frostline-command.pyz' '--grace' '15' "
                              R"('--metrics=regex:a b=(?P<x>\S+)' '--' )"
                              R"('python3 "it'\''s.py" --lr {lr}')"));
}

TEST_F(CommandTest, MistakesAreFoundBeforeATrialIs) {
  const TempFolder folder;
  const std::string file = folder.File("c.yaml");
  std::ofstream(file) << "a: [1";
  const std::pair<const char*, std::string> cases[] = {
      {"--command", "python3 'train.py"},
      {"--command", "python3 ${FROSTLINE_TEST_NO_SUCH}"},
      {"--metrics", "xml:log"},
      {"--metrics", "regex:(a"},
      {"--metrics", "-"},
      {"--rename", "a"},
      {"--set", "a={b}"},
      {"--config", file}};
  for (const auto& [flag, value] : cases) {
    command_ = {};
    Give("--command", "python3 train.py");
    Give(flag, value);
    EXPECT_THAT(Trainer(), FailsAt(ErrorId::kRequestInvalid, flag)) << value;
  }
  EXPECT_THAT(std::string(Trainer().status().message()),
              HasSubstr("PY-1008: " + file + " cannot be read"));
  command_ = {};
  Give("--metrics", "csv:log.csv");
  EXPECT_THAT(Trainer(), FailsAt(ErrorId::kRequestInvalid, "--command"));
}

TEST_F(CommandTest, NeedsAPythonThatRuns) {
  command_.text = "true";
  for (const char* python : {"/no/python3", "false"}) {
    setenv("FROSTLINE_PYTHON", python, 1);
    EXPECT_THAT(Trainer(), FailsAt(ErrorId::kRequestInvalid, "--command"));
    EXPECT_THAT(std::string(Trainer().status().message()), HasSubstr(python));
  }
  unsetenv("FROSTLINE_PYTHON");
}

TEST(AgentOptions, ACommandIsNamedByItsScriptAndIsNoTrainerBesides) {
  EXPECT_THAT(Parse({"--command", "no-such-program-here"}),
              FailsAt(ErrorId::kRequestInvalid, "--command"));
  EXPECT_THAT(Parse({"--command", "true", "--exec", "true"}),
              FailsAt(ErrorId::kRequestInvalid, "--command"));
  EXPECT_THAT(Parse({"--rename", "a=b", "--exec", "true"}),
              FailsAt(ErrorId::kRequestInvalid, "--command"));
}

TEST(AgentOptions, ARegistryThatIsNoneOrWithoutATrainerIsAMistake) {
  const TempFolder folder;
  AgentOptions options;
  options.registry = folder.path() / "absent";
  EXPECT_THAT(ChooseTrainer(folder.path(), &options),
              FailsAt(ErrorId::kRequestInvalid, "--registry"));
  options.registry = folder.path();
  EXPECT_THAT(ChooseTrainer(folder.path(), &options),
              FailsAt(ErrorId::kRequestInvalid, "--registry"));
  WriteRegistry(folder);
  EXPECT_THAT(ChooseTrainer(folder.path(), &options),
              FailsAt(ErrorId::kRequestInvalid, "--registry"));
}

// A study counts its trials from 0.
TEST(CheckpointId, OfEveryTrialIsReadAsItWasWritten) {
  for (const int number : {0, 1, 17}) {
    v1::LeaseRef lease;
    lease.set_trial(absl::StrCat("studies/s/trials/", number));
    lease.set_attempt(2);
    const auto id = ParseCheckpointId(PrintCheckpointId(lease, "step-5"));
    ASSERT_TRUE(id.has_value()) << number;
    EXPECT_EQ(id->trial, number);
    EXPECT_EQ(id->attempt, 2);
    EXPECT_EQ(id->name, "step-5");
  }
  EXPECT_FALSE(ParseCheckpointId("1.0.step-5").has_value());
}

TEST(AgentOptions, VersionAndHelpArePrinted) {
  EXPECT_THAT(Parse({"--version"})->print, HasSubstr("frostline-worker "));
  EXPECT_THAT(Parse({"--help"})->print, HasSubstr("--run-dir"));
}

TEST(DefaultWorkerId, IsValidWhateverTheHostIsCalled) {
  EXPECT_EQ(DefaultWorkerId("GPU_03.lan", 4711), "gpu_03.lan-4711");
  for (const std::string& host :
       {std::string(), std::string(".."), std::string("-x"),
        std::string("Größe.örtlich"), std::string("a b/c"),
        std::string(300, 'h')}) {
    EXPECT_OK(CheckId(DefaultWorkerId(host, 4194304), "id")) << host;
    EXPECT_OK(CheckId(HostWorkerId(host), "id")) << host;
  }
}

TEST(GpuSlots, TheSchedulersChoiceCounts) {
  v1::Hardware hardware;
  hardware.add_gpus();
  hardware.add_gpus();
  EXPECT_THAT(GpuSlots(nullptr, hardware), ElementsAre("0", "1"));
  EXPECT_THAT(GpuSlots("3, GPU-ab", hardware), ElementsAre("3", "GPU-ab"));
  EXPECT_THAT(GpuSlots("2,-1,3", hardware), ElementsAre("2"));
  EXPECT_THAT(GpuSlots("", hardware), IsEmpty());
}

TEST(Hardware, GpusComeInTheOrderOfTheirBus) {
  const TempFolder folder;
  for (const char* bus : {"0000:5d:00.0", "0000:18:00.0", "0000:c9:00.0"}) {
    std::filesystem::create_directory(folder.File(bus));
    std::ofstream(folder.File(bus) + "/information")
        << "Model: \t\t H200\nGPU UUID: \t GPU-" << bus << "\n";
  }
  const v1::Hardware hardware = DetectHardware(folder.path().string());
  ASSERT_EQ(hardware.gpus_size(), 3);
  EXPECT_EQ(hardware.gpus(0).uuid(), "GPU-0000:18:00.0");
  EXPECT_EQ(hardware.gpus(2).uuid(), "GPU-0000:c9:00.0");
  EXPECT_EQ(hardware.gpus(1).model(), "H200");
}

class PlanSlotsTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::vector<SlotEnvironment>> Plan(int slots, int gpus) {
    options_.slots = slots;
    v1::Hardware hardware;
    hardware.set_cpu_cores(16);
    for (int i = 0; i < gpus; ++i) hardware.add_gpus();
    const auto look_up = [this](const char* name) {
      const auto found = environment_.find(name);
      return found == environment_.end() ? nullptr : found->second;
    };
    return PlanSlots(options_, hardware, look_up, driver_);
  }

  AgentOptions options_;
  std::string driver_ = "libc.so.6";  // one that is there
  // What each test is not about.
  std::map<std::string, const char*> environment_ = {
      {"OMP_WAIT_POLICY", "active"}};
};

TEST_F(PlanSlotsTest, EachSlotSeesAGpuOfItsOwnAndItsShareOfTheCores) {
  ASSERT_OK_AND_ASSIGN(const auto plan, Plan(2, 4));
  EXPECT_THAT(
      plan,
      ElementsAre(
          ElementsAre("CUDA_VISIBLE_DEVICES=0", "CUDA_DEVICE_ORDER=PCI_BUS_ID",
                      "OMP_NUM_THREADS=8", "MKL_NUM_THREADS=8"),
          ElementsAre("CUDA_VISIBLE_DEVICES=1", "CUDA_DEVICE_ORDER=PCI_BUS_ID",
                      "OMP_NUM_THREADS=8", "MKL_NUM_THREADS=8")));
}

TEST_F(PlanSlotsTest, GpusAreSharedOnlyWhenAsked) {
  EXPECT_THAT(Plan(3, 2), FailsAt(ErrorId::kRequestInvalid, "--slots"));
  options_.slots_per_gpu = 2;
  environment_["OMP_NUM_THREADS"] = "1";
  environment_["CUDA_VISIBLE_DEVICES"] = "6,7";
  ASSERT_OK_AND_ASSIGN(const auto plan, Plan(3, 8));
  EXPECT_THAT(plan, ElementsAre(ElementsAre("CUDA_VISIBLE_DEVICES=6"),
                                ElementsAre("CUDA_VISIBLE_DEVICES=7"),
                                ElementsAre("CUDA_VISIBLE_DEVICES=6")));
}

TEST_F(PlanSlotsTest, ASlotForEachGpu) {
  options_.slot_per_gpu = true;
  EXPECT_EQ(Plan(1, 4)->size(), 4U);
  options_.slots_per_gpu = 2;
  EXPECT_EQ(Plan(1, 4)->size(), 8U);
  EXPECT_THAT(Plan(1, 0), FailsAt(ErrorId::kRequestInvalid, "--slots"));
}

TEST_F(PlanSlotsTest, ASlotOfSeveralGpusSharesNone) {
  options_.slot_per_gpu = true;
  options_.gpus_per_slot = 4;
  ASSERT_OK_AND_ASSIGN(const auto plan, Plan(1, 8));
  // 16 cores, and as many processes as GPUs.
  EXPECT_THAT(
      plan, ElementsAre(ElementsAre("CUDA_VISIBLE_DEVICES=0,1,2,3",
                                    "CUDA_DEVICE_ORDER=PCI_BUS_ID",
                                    "OMP_NUM_THREADS=2", "MKL_NUM_THREADS=2"),
                        ElementsAre("CUDA_VISIBLE_DEVICES=4,5,6,7",
                                    "CUDA_DEVICE_ORDER=PCI_BUS_ID",
                                    "OMP_NUM_THREADS=2", "MKL_NUM_THREADS=2")));
  // Of the GPUs that a scheduler gave, in its order.
  options_.slot_per_gpu = false;
  options_.gpus_per_slot = 2;
  environment_["OMP_NUM_THREADS"] = "1";
  environment_["CUDA_VISIBLE_DEVICES"] = "7,GPU-ab,2";
  EXPECT_THAT(*Plan(1, 8),
              ElementsAre(ElementsAre("CUDA_VISIBLE_DEVICES=7,GPU-ab")));
}

TEST_F(PlanSlotsTest, GpusThatDoNotDivideAreRefusedWithAWayOut) {
  options_.slot_per_gpu = true;
  options_.gpus_per_slot = 3;
  EXPECT_THAT(Plan(1, 8), FailsAt(ErrorId::kRequestInvalid, "--gpus-per-slot"));
  EXPECT_EQ(DetailOf(Plan(1, 8).status())->fix,
            "take one of 1, 2, 4, 8, or leave some idle: --slots 2");
  EXPECT_THAT(Plan(1, 0), FailsAt(ErrorId::kRequestInvalid, "--gpus-per-slot"));
  EXPECT_EQ(DetailOf(Plan(1, 2).status())->fix, "take one of 1, 2");
  options_.slot_per_gpu = false;
  EXPECT_EQ(Plan(2, 8)->size(), 2U);  // as asked: two are idle
  EXPECT_EQ(DetailOf(Plan(3, 8).status())->fix, "give --slots 2");
  EXPECT_EQ(DetailOf(Plan(1, 2).status())->fix, "give --gpus-per-slot 2");
}

TEST_F(PlanSlotsTest, GpusWithoutADriverAreNoneToFrostlinesTrainer) {
  driver_ = "libfrostline-none.so.1";
  options_.exec = "'/usr/bin/frostline-trainer'";
  environment_["CUDA_VISIBLE_DEVICES"] = "0";  // as a scheduler sets it
  EXPECT_OK(Plan(1, 0));                       // on the processor, and warned
  options_.slot_per_gpu = true;
  EXPECT_THAT(Plan(1, 0), FailsAt(ErrorId::kRequestInvalid, "--slots"));
  EXPECT_THAT(Plan(1, 0).status().message(),
              HasSubstr("libfrostline-none.so.1"));
  options_.exec = "my-trainer";
  EXPECT_OK(Plan(1, 0));
}

TEST_F(PlanSlotsTest, WithoutGpusThatVariableStaysAsItIs) {
  ASSERT_OK_AND_ASSIGN(const auto plan, Plan(2, 0));
  EXPECT_THAT(plan[0], ElementsAre("OMP_NUM_THREADS=8", "MKL_NUM_THREADS=8"));
  // One slot has the node to itself.
  EXPECT_THAT(*Plan(1, 8), ElementsAre(IsEmpty()));
}

TEST_F(PlanSlotsTest, ThreadsThatWaitSleepUnlessSomebodyHasSaidHow) {
  EXPECT_THAT(*Plan(1, 0), ElementsAre(IsEmpty()));
  environment_.clear();
  EXPECT_THAT(*Plan(1, 0), ElementsAre(ElementsAre("GOMP_SPINCOUNT=2000")));
}

}  // namespace
}  // namespace frostline::agent
