// SPDX-License-Identifier: Apache-2.0
//
// Who wins: every pair of neighbours in the order of target.h.
#include "cli/context/target.h"

#include <filesystem>

#include "cli/client/address.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"

namespace frostline::cli {
namespace {

using ::testing::HasSubstr;

class TargetTest : public ::testing::Test {
 protected:
  TargetTest() {
    EXPECT_OK(store_.Keep({"lab", "lab:1", SecretString("t1"), "CA"}));
    EXPECT_OK(store_.Keep({"home", "home:2", SecretString("t2"), ""}));
  }
  Target Choose() const {
    auto target = ChooseTarget(flags_, environment_, store_);
    EXPECT_OK(target);
    return target.value_or(Target());
  }
  std::string TokenOf(const std::string& name) const {
    return store_.FolderOf(name) + "/token";
  }

  TempFolder folder_;
  ContextStore store_{folder_.File("frostline")};
  Wish flags_;
  Wish environment_;
};

TEST_F(TargetTest, EachNameBeatsTheOnesBelow) {
  EXPECT_EQ(DescribeTarget(Choose()), "127.0.0.1:7070 (nothing names another)");
  EXPECT_OK(store_.SetCurrent("lab"));
  EXPECT_EQ(DescribeTarget(Choose()), "lab:1, context lab (the current one)");
  environment_.context = "home";
  EXPECT_EQ(DescribeTarget(Choose()),
            "home:2, context home (FROSTLINE_CONTEXT)");
  environment_.connect = "env:3";
  EXPECT_EQ(DescribeTarget(Choose()), "env:3 (FROSTLINE_CONNECT)");
  flags_.context = "lab";
  EXPECT_EQ(DescribeTarget(Choose()), "lab:1, context lab (--context)");
  flags_ = Wish{"flag:4", "", {}};
  EXPECT_EQ(DescribeTarget(Choose()), "flag:4 (--connect)");
}

TEST_F(TargetTest, ATokenGoesToItsOwnCoordinatorAlone) {
  EXPECT_OK(store_.SetCurrent("lab"));
  EXPECT_EQ(Choose().access.token, TokenOf("lab"));
  EXPECT_NE(Choose().access.tls.ca, "");
  environment_.connect = "elsewhere:1";
  EXPECT_EQ(Choose().access.token, "");
  EXPECT_EQ(Choose().access.tls.ca, "");
  environment_ = Wish();
  flags_.connect = "lab:1";  // even of the same address
  EXPECT_EQ(Choose().access.token, "");
}

TEST_F(TargetTest, CredentialsOfFlagsAndEnvironmentStandBefore) {
  EXPECT_OK(store_.SetCurrent("lab"));
  environment_.access.token = "env.token";
  EXPECT_EQ(Choose().access.token, "env.token");
  EXPECT_NE(Choose().access.tls.ca, "");  // the context's still
  flags_.access.token = "flag.token";
  EXPECT_EQ(Choose().access.token, "flag.token");
  flags_ = Wish{"", "lab", {}};
  EXPECT_EQ(Choose().access.token, TokenOf("lab"));  // --context was said
  flags_.access.tls.ca = "flag.crt";
  EXPECT_EQ(Choose().access.tls.ca, "flag.crt");
}

TEST_F(TargetTest, TwoNamesAreOneTooMany) {
  flags_.connect = "a:1";
  flags_.context = "lab";
  EXPECT_THAT(ChooseTarget(flags_, environment_, store_),
              FailsWith(ErrorId::kRequestInvalid));
}

TEST_F(TargetTest, ADamagedContextHindersNobodyWhoNamesAnother) {
  EXPECT_OK(store_.SetCurrent("lab"));
  std::filesystem::remove(TokenOf("lab"));
  EXPECT_THAT(ChooseTarget(flags_, environment_, store_),
              FailsWith(ErrorId::kTlsFile));
  flags_.context = "home";
  EXPECT_EQ(Choose().connect, "home:2");
  flags_ = Wish{"a:1", "", {}};
  EXPECT_EQ(Choose().connect, "a:1");
  std::filesystem::remove_all(store_.FolderOf("lab"));
  flags_ = Wish();
  const auto gone = ChooseTarget(flags_, environment_, store_);
  EXPECT_THAT(gone, FailsWith(ErrorId::kTlsFile));
  EXPECT_THAT(std::string(gone.status().message()),
              HasSubstr("not there any more"));
}

TEST(Address, NamesItsContext) {
  EXPECT_EQ(NameOfAddress("GPU-Head.lan:7443"), "gpu-head.lan");
  EXPECT_EQ(NameOfAddress("127.0.0.1:7070"), "127.0.0.1");
  EXPECT_EQ(NameOfAddress("[fd00::7]:7443"), "fd00--7");
  EXPECT_EQ(HostOf("[fd00::7]:7443"), "fd00::7");
  EXPECT_EQ(NameOfAddress("unix:/run/frost.sock"), "local");
}

TEST(Address, IsHostAndPortOrASocket) {
  for (const char* const good : {"a:1", "[::1]:7070", "unix:/x", "a.b:65535"}) {
    EXPECT_TRUE(IsAddress(good)) << good;
  }
  for (const char* const bad : {"", "a", ":1", "a:0", "a:65536", "a:b", "a b:1",
                                "http://a:1", "unix:", "a:1#ff"}) {
    EXPECT_FALSE(IsAddress(bad)) << bad;
  }
}

}  // namespace
}  // namespace frostline::cli
