// SPDX-License-Identifier: Apache-2.0
//
// The trainer in docs/reference/trainer-protocol.md is cut out and really run.
#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/worker/agent/rig.h"
#include "worker/agent/file.h"

namespace frostline::agent {
namespace {

constexpr char kFence[] = "```python\n";

std::string Example() {
  const auto text = ReadFile(std::string(std::getenv("FROSTLINE_SOURCE_DIR")) +
                             "/docs/reference/trainer-protocol.md");
  EXPECT_OK(text);
  const std::size_t begin = text->find(kFence) + sizeof(kFence) - 1;
  return text->substr(begin, text->find("```", begin) - begin);
}

TEST(DocumentedTrainer, IsShort) {
  const std::string example = Example();
  EXPECT_LE(std::count(example.begin(), example.end(), '\n'), 15);
}

TEST(DocumentedTrainer, TrainsTwoTrials) {
  Rig rig("pass");
  std::ofstream(rig.File("train.py")) << Example();
  rig.options().exec = "python3 " + rig.File("train.py");
  rig.coordinator().Offer(1);
  v1::Lease lease = ScriptedCoordinator::LeaseOf(2);
  auto* const rate = lease.mutable_spec()->add_rates();
  rate->set_module("layer.0");
  rate->set_rate(0.5);
  rig.coordinator().Offer(lease);
  rig.Start();
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return heard.finishes.size() == 2; }));
  rig.coordinator().EndStudy();
  EXPECT_EQ(rig.Join(), 0);
  const Heard heard = rig.coordinator().heard();
  const double full = 1.0 + 1.0 / 2 + 1.0 / 3;
  for (const auto& finish : heard.finishes) {
    EXPECT_EQ(finish.outcome().kind(), v1::Outcome::SUCCEEDED);
  }
  EXPECT_NEAR(heard.finishes[0].outcome().metrics().at("score"), full, 1e-12);
  EXPECT_NEAR(heard.finishes[1].outcome().metrics().at("score"), full - 1.5,
              1e-12);
}

}  // namespace
}  // namespace frostline::agent
