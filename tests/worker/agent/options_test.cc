// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/options.h"

#include <vector>

#include "base/ids.h"
#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "worker/agent/hardware.h"

namespace frostline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

absl::StatusOr<AgentOptions> Parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "frostline-worker");
  return ParseAgentOptions(static_cast<int>(arguments.size()),
                           arguments.data());
}

TEST(AgentOptions, AllThatIsGivenArrives) {
  ASSERT_OK_AND_ASSIGN(
      const AgentOptions options,
      Parse({"--connect", "h:1", "--id", "gpu03-0", "--slots", "2", "--exec",
             "train", "--label", "pool=a=b", "--study", "s1",
             "--exit-when-done", "--idle-timeout", "1.5"}));
  EXPECT_EQ(options.id, "gpu03-0");
  EXPECT_EQ(options.slots, 2);
  EXPECT_EQ(options.labels.at("pool"), "a=b");
  EXPECT_TRUE(options.exit_when_done);
  EXPECT_EQ(options.idle_timeout, std::chrono::milliseconds(1500));
}

TEST(AgentOptions, MistakesNameTheOption) {
  EXPECT_THAT(Parse({}), FailsAt(ErrorId::kRequestInvalid, "--exec"));
  EXPECT_THAT(Parse({"--exec", " "}),
              FailsAt(ErrorId::kRequestInvalid, "--exec"));
  EXPECT_THAT(Parse({"--exec", "x", "--slots", "0"}),
              FailsAt(ErrorId::kRequestInvalid, "--slots"));
  EXPECT_THAT(Parse({"--exec", "x", "--label", "=v"}),
              FailsAt(ErrorId::kRequestInvalid, "--label"));
  EXPECT_THAT(Parse({"--exec", "x", "--exit-when-done"}),
              FailsAt(ErrorId::kRequestInvalid, "--exit-when-done"));
  EXPECT_THAT(Parse({"--exec", "x", "--id", "../x"}),
              FailsWith(ErrorId::kNameInvalid));
  EXPECT_THAT(Parse({"--nonsense"}), FailsWith(ErrorId::kRequestInvalid));
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
  }
}

TEST(GpuSlots, TheSchedulersChoiceCounts) {
  v1::Hardware hardware;
  hardware.add_gpus();
  hardware.add_gpus();
  EXPECT_THAT(GpuSlots(nullptr, hardware), ElementsAre("0", "1"));
  EXPECT_THAT(GpuSlots("3,GPU-ab", hardware), ElementsAre("3", "GPU-ab"));
  EXPECT_THAT(GpuSlots("", hardware), IsEmpty());
}

}  // namespace
}  // namespace frostline
