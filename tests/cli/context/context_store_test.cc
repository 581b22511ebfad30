// SPDX-License-Identifier: Apache-2.0
#include "cli/context/context_store.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "cli/client/address.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"

namespace frostline::cli {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ContextStoreTest : public ::testing::Test {
 protected:
  void Keep(const std::string& name, const std::string& connect,
            const std::string& ca = "") {
    EXPECT_OK(store_.Keep({name, connect, SecretString("frost_1_abc"), ca}));
  }
  std::string File(const std::string& name, const std::string& file) const {
    return store_.FolderOf(name) + "/" + file;
  }
  static mode_t ModeOf(const std::string& path) {
    struct stat found{};
    EXPECT_EQ(stat(path.c_str(), &found), 0) << path;
    return found.st_mode & 07777U;
  }
  static std::string TextOf(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void ExpectRefused(const std::string& name, const std::string& cause) {
    const auto read = store_.Read(name);
    EXPECT_THAT(read, FailsWith(ErrorId::kTlsFile));
    EXPECT_THAT(std::string(read.status().message()), HasSubstr(cause));
  }

  TempFolder folder_;
  ContextStore store_{folder_.File("settings/frostline")};
};

TEST_F(ContextStoreTest, KeepsForItsUserAlone) {
  umask(0);
  Keep("lab", "gpu-head.lan:7443", "a CA");
  ASSERT_OK_AND_ASSIGN(const Context lab, store_.Read("lab"));
  EXPECT_EQ(lab.connect, "gpu-head.lan:7443");
  EXPECT_EQ(TextOf(lab.access.token), "frost_1_abc\n");
  EXPECT_EQ(TextOf(lab.access.tls.ca), "a CA");
  EXPECT_EQ(ModeOf(store_.FolderOf("lab")), 0700u);
  for (const char* const file : {"token", "connect", "ca.crt"}) {
    EXPECT_EQ(ModeOf(File("lab", file)), 0600u) << file;
  }
  EXPECT_THAT(*store_.Names(), ElementsAre("lab"));
}

TEST_F(ContextStoreTest, ReplacesAllOfOne) {
  Keep("lab", "a:1", "a CA");
  Keep("lab", "b:2");
  ASSERT_OK_AND_ASSIGN(const Context lab, store_.Read("lab"));
  EXPECT_EQ(lab.connect, "b:2");
  EXPECT_EQ(lab.access.tls.ca, "");  // not that of the one before
  const fs::path contexts = fs::path(store_.FolderOf("lab")).parent_path();
  EXPECT_EQ(std::distance(fs::directory_iterator(contexts), {}), 1);
}

TEST_F(ContextStoreTest, HasACurrentOneUntilThatGoes) {
  EXPECT_EQ(*store_.Current(), "");
  Keep("lab", "a:1");
  Keep("other", "b:2");
  EXPECT_OK(store_.SetCurrent("lab"));
  EXPECT_OK(store_.Remove("other"));
  EXPECT_EQ(*store_.Current(), "lab");
  EXPECT_OK(store_.Remove("lab"));
  EXPECT_EQ(*store_.Current(), "");
  EXPECT_THAT(*store_.Names(), IsEmpty());
  EXPECT_FALSE(fs::exists(store_.FolderOf("lab")));
}

TEST_F(ContextStoreTest, RefusesWhatOthersMayRead) {
  Keep("lab", "a:1", "a CA");
  for (const char* const file : {"token", "connect", "ca.crt"}) {
    fs::permissions(File("lab", file), fs::perms(0640));
    ExpectRefused("lab", "mode 0640");
    fs::permissions(File("lab", file), fs::perms(0600));
  }
  const fs::path folder = store_.FolderOf("lab");
  fs::permissions(folder, fs::perms(0750));
  ExpectRefused("lab", "mode 0750");
  fs::permissions(folder, fs::perms(0700));
  EXPECT_OK(store_.Read("lab"));
  fs::permissions(folder.parent_path(), fs::perms(0777));
  ExpectRefused("lab", "others may write");
}

TEST_F(ContextStoreTest, SaysWhatIsDamaged) {
  Keep("lab", "a:1", "a CA");
  std::ofstream(File("lab", "connect")) << "nowhere\n";
  ExpectRefused("lab", "holds no HOST:PORT");
  fs::remove(File("lab", "connect"));
  ExpectRefused("lab", "connect is missing");
  Keep("lab", "a:1");
  fs::remove(File("lab", "token"));
  ExpectRefused("lab", "token is missing");
  fs::create_directory(File("lab", "token"));
  ExpectRefused("lab", "token is no file");
  fs::remove_all(store_.FolderOf("lab"));
  std::ofstream(store_.FolderOf("lab")) << "x";
  ExpectRefused("lab", "is no folder");
  EXPECT_OK(store_.Remove("lab"));  // the way out
}

TEST_F(ContextStoreTest, AForeignFolderOfContextsIsNone) {
  fs::create_directories(folder_.File("settings/frostline"));
  std::ofstream(folder_.File("settings/frostline/contexts")) << "x";
  EXPECT_THAT(store_.Names(), FailsWith(ErrorId::kTlsFile));
  EXPECT_THAT(store_.Keep({"lab", "a:1", SecretString("t"), ""}),
              FailsWith(ErrorId::kTlsFile));
  const std::string current =
      folder_.File("settings/frostline/current-context");
  std::ofstream(current) << "../../etc\n";
  fs::permissions(current, fs::perms(0600));
  EXPECT_THAT(store_.Current(), FailsWith(ErrorId::kTlsFile));
}

TEST_F(ContextStoreTest, ANameIsNoPath) {
  Keep("lab", "a:1");
  fs::create_directories(folder_.File("settings/frostline/elsewhere"));
  for (const char* const name : {"../elsewhere", "", ".", "lab/", "Lab"}) {
    EXPECT_THAT(store_.Read(name), FailsWith(ErrorId::kRequestInvalid)) << name;
    EXPECT_THAT(store_.Remove(name), FailsWith(ErrorId::kRequestInvalid))
        << name;
    EXPECT_FALSE(store_.Keep({name, "a:1", SecretString("t"), ""}).ok())
        << name;
  }
  EXPECT_TRUE(fs::exists(folder_.File("settings/frostline/elsewhere")));
  EXPECT_EQ(DetailOf(store_.Read("lba").status())->fix, "did you mean 'lab'?");
}

TEST_F(ContextStoreTest, WithoutAHomeThereIsNone) {
  const ContextStore none("");
  EXPECT_THAT(*none.Names(), IsEmpty());
  EXPECT_EQ(*none.Current(), "");
  EXPECT_FALSE(none.Has("lab"));
  const absl::Status kept = none.Keep({"lab", "a:1", SecretString("t"), ""});
  EXPECT_THAT(std::string(kept.message()), HasSubstr("XDG_CONFIG_HOME"));
}

// What a login that was killed left is not shown, and hinders no other.
TEST_F(ContextStoreTest, SurvivesALoginThatWasKilled) {
  Keep("lab", "a:1");
  fs::create_directories(store_.FolderOf(".lab.new"));
  std::ofstream(store_.FolderOf(".lab.new") + "/token") << "half";
  EXPECT_THAT(*store_.Names(), ElementsAre("lab"));
  Keep("lab", "b:2");
  EXPECT_EQ(store_.Read("lab")->connect, "b:2");
  EXPECT_FALSE(fs::exists(store_.FolderOf(".lab.new")));
}

}  // namespace

// Who wins: every pair of neighbours in the order of context_store.h.

namespace {

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
