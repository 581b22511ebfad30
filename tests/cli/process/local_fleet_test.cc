// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "cli/process/child_process.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"

namespace frostline::cli {
namespace {

TEST(LocalFleet, FindsTheAddressOnceItsLineIsWhole) {
  EXPECT_EQ(ListenAddressIn("info x\nlistening on 127.0.0.1:4711\nmore\n"),
            "127.0.0.1:4711");
  EXPECT_EQ(ListenAddressIn("listening on 127.0.0.1:47"), "");
  EXPECT_EQ(ListenAddressIn(""), "");
}

TEST(WorkFolder, RemovesOnlyWhatIsTemporary) {
  const TempFolder parent;
  std::string temporary;
  std::string kept;
  {
    ASSERT_OK_AND_ASSIGN(const WorkFolder a, WorkFolder::Make("", false));
    ASSERT_OK_AND_ASSIGN(const WorkFolder b,
                         WorkFolder::Make(parent.File("x/y"), false));
    temporary = a.path();
    kept = b.path();
    EXPECT_TRUE(std::filesystem::is_directory(temporary));
  }
  EXPECT_FALSE(std::filesystem::exists(temporary));
  EXPECT_TRUE(std::filesystem::is_directory(kept));
  EXPECT_THAT(WorkFolder::Make("/proc/no/such", false),
              FailsWith(ErrorId::kStoreUnwritable));
}

}  // namespace
}  // namespace frostline::cli
