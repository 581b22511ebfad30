// SPDX-License-Identifier: Apache-2.0
//
// `frostline cache`: the real binary on a store as trainers leave it.
#include <sys/wait.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/temp_folder.h"
#include "worker/trainer/prefix/prefix_store.h"

namespace frostline::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class CacheCommandsTest : public ::testing::Test {
 protected:
  // A group of 1,000 rows of 1 KiB, each of which took 2 ms.
  trainer::PrefixGroup Make() const {
    const auto store =
        trainer::PrefixStore::Open(folder_.File("prefix"), 1U << 30U).value();
    auto group = store.Group(std::string(64, 'a'), "tiny, embeddings").value();
    auto filler = trainer::GroupFiller::Try(group);
    for (std::uint64_t i = 0; i < 1000; ++i) {
      const std::vector<float> row(256, 1.0F);
      EXPECT_TRUE(filler->Add({i, i}, row).ok());
    }
    EXPECT_TRUE(filler->Finish().ok());
    group.Note({2.0, 1000.0, 3000.0});
    return group;
  }

  int Frostline(const std::string& arguments) {
    const std::string command = std::string(std::getenv("FROSTLINE_BIN_DIR")) +
                                "/frostline " + arguments + " --dir '" +
                                folder_.File("prefix") + "' 2>&1";
    std::FILE* const pipe = popen(command.c_str(), "r");
    output_.clear();
    std::array<char, 4096> buffer{};
    while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) {
      output_ += buffer.data();
    }
    return WEXITSTATUS(pclose(pipe));
  }

  TempFolder folder_;
  std::string output_;
};

TEST_F(CacheCommandsTest, ListsWhatIsKeptAndClearsIt) {
  Make();
  ASSERT_EQ(Frostline("cache list"), 0) << output_;
  EXPECT_THAT(output_,
              AllOf(HasSubstr("tiny, embeddings"), HasSubstr("1.007 MiB"),
                    HasSubstr("3,000"), HasSubstr("4.0 s")));
  ASSERT_EQ(Frostline("cache list --json"), 0);
  EXPECT_THAT(output_, AllOf(HasSubstr("\"about\": \"tiny, embeddings\""),
                             HasSubstr("\"rows_taken\": 3000"),
                             HasSubstr("\"seconds_saved\": 4")));
  ASSERT_EQ(Frostline("cache clear"), 0);
  EXPECT_THAT(output_, HasSubstr("1.007 MiB removed from"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_.File("prefix/v1")));
}

TEST_F(CacheCommandsTest, LeavesWhatATrainerUses) {
  const trainer::PrefixGroup used = Make();
  ASSERT_EQ(Frostline("cache clear"), 0);
  EXPECT_THAT(output_, HasSubstr("0 B removed from"));
  EXPECT_THAT(output_, HasSubstr("1 kept, as trainers use them"));
}

TEST_F(CacheCommandsTest, SaysWhereItLookedAndMakesNothing) {
  ASSERT_EQ(Frostline("cache list"), 0);
  EXPECT_THAT(output_,
              HasSubstr("nothing is kept in " + folder_.File("prefix")));
  ASSERT_EQ(Frostline("cache list --json"), 0);
  EXPECT_EQ(output_, "{\"kept\": []}\n");
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

}  // namespace
}  // namespace frostline::cli
