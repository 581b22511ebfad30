// SPDX-License-Identifier: Apache-2.0
#include "base/known_holes.h"

#include "gmock/gmock.h"

namespace frostline {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(KnownHoles, AreBoundedByVersions) {
  const auto has = [](const std::string& library, const std::string& version) {
    return !HolesOf(library, version, KnownHoles()).empty();
  };
  EXPECT_TRUE(has("SQLite", "3.40.1"));
  EXPECT_FALSE(has("SQLite", "3.44.6"));
  EXPECT_TRUE(has("SQLite", "3.45.0"));
  EXPECT_FALSE(has("SQLite", "3.50.7"));
  EXPECT_TRUE(has("SQLite", "3.51.2"));
  EXPECT_FALSE(has("SQLite", "3.51.3"));
  EXPECT_TRUE(has("gRPC", "1.51.1"));
  EXPECT_FALSE(has("gRPC", "1.59.2"));
  EXPECT_FALSE(has("Protobuf", "3.21.12"));
  EXPECT_TRUE(IsBefore("1.9", "1.51.1"));
  EXPECT_FALSE(IsBefore("2.6.0+cpu", "2.6"));
}

TEST(KnownHoles, OpenIsWhatNothingTakesTheOccasionOf) {
  const std::vector<KnownHole> known = {
      {"gRPC", "0", "2.0", "CVE-1", "it stops", "a door"},
      {"gRPC", "0", "2.0", "CVE-2", "it leaks", ""}};
  EXPECT_THAT(OpenHolesOf({{"gRPC", "1.51.1"}, {"SQLite", "3.40.1"}}, known),
              ElementsAre("gRPC 1.51.1 has CVE-2 (it leaks)"));
  EXPECT_THAT(OpenHolesOf({{"gRPC", "2.0"}}, known), IsEmpty());
}

}  // namespace
}  // namespace frostline
