// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/train/checkpoint_writer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace frostline::trainer {
namespace {

TEST(CheckpointWriter, WritesBesideWhoBeganIt) {
  CheckpointWriter writer;
  EXPECT_FALSE(writer.Take().has_value());
  std::promise<void> disk;
  writer.Begin("step-3", 3, [ready = disk.get_future().share()] {
    ready.wait();
    return Expected<Done>(Done{});
  });
  EXPECT_TRUE(writer.writes());
  EXPECT_FALSE(writer.Take().has_value());
  disk.set_value();
  const std::optional<WrittenCheckpoint> written = writer.Await();
  ASSERT_TRUE(written.has_value());
  EXPECT_EQ(written->name, "step-3");
  EXPECT_EQ(written->step, 3);
  EXPECT_TRUE(written->done.ok());
  EXPECT_FALSE(writer.writes());
}

TEST(CheckpointWriter, GivesTheFaultOfTheDisk) {
  CheckpointWriter writer;
  writer.Begin("step-1", 1, [] {
    return Expected<Done>(
        Fault{FaultKind::kUnreadable, "no room", "make some"});
  });
  EXPECT_EQ(writer.Await()->done.fault().cause, "no room");
  EXPECT_FALSE(writer.Await().has_value());
}

TEST(CheckpointWriter, ItsEndWaitsForTheDisk) {
  std::atomic<bool> written = false;
  {
    CheckpointWriter writer;
    writer.Begin("step-1", 1, [&written] {
      written = true;
      return Expected<Done>(Done{});
    });
  }
  EXPECT_TRUE(written);
}

}  // namespace
}  // namespace frostline::trainer
