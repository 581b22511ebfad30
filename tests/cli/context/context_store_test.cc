// SPDX-License-Identifier: Apache-2.0
#include "cli/context/context_store.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "cli/client/address.h"
#include "cli/context/configuration.h"
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
  const mode_t before = umask(0);
  Keep("lab", "gpu-head.lan:7443", "a CA");
  umask(before);
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
  TargetOptions flags_;
  TargetOptions environment_;
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
  flags_ = TargetOptions{"flag:4", "", {}};
  EXPECT_EQ(DescribeTarget(Choose()), "flag:4 (--connect)");
}

TEST_F(TargetTest, ATokenGoesToItsOwnCoordinatorAlone) {
  EXPECT_OK(store_.SetCurrent("lab"));
  EXPECT_EQ(Choose().access.token, TokenOf("lab"));
  EXPECT_NE(Choose().access.tls.ca, "");
  environment_.connect = "elsewhere:1";
  EXPECT_EQ(Choose().access.token, "");
  EXPECT_EQ(Choose().access.tls.ca, "");
  environment_ = TargetOptions();
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
  flags_ = TargetOptions{"", "lab", {}};
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
  flags_ = TargetOptions{"a:1", "", {}};
  EXPECT_EQ(Choose().connect, "a:1");
  std::filesystem::remove_all(store_.FolderOf("lab"));
  flags_ = TargetOptions();
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

// What files may say, who says it first, and what a stranger's file cannot.

class ConfigurationTest : public ::testing::Test {
 protected:
  ConfigurationTest() {
    std::filesystem::create_directories(folder_.File("home/work/deep"));
    places_.working_folder = folder_.File("home/work/deep");
    places_.home = folder_.File("home");
    places_.user_file = folder_.File("user.yaml");
    places_.variable = [this](const std::string& name) {
      const auto found = variables_.find(name);
      return found == variables_.end() ? std::string() : found->second;
    };
  }
  std::string Write(const std::string& name, const std::string& text,
                    mode_t mode = 0600) const {
    std::ofstream(folder_.File(name)) << text;
    chmod(folder_.File(name).c_str(), mode);
    return folder_.File(name);
  }
  Configuration Load() const {
    Configuration loaded = LoadConfiguration(places_);
    EXPECT_OK(loaded.wrong);
    return loaded;
  }
  std::string CauseOf() const {
    return std::string(LoadConfiguration(places_).wrong.message());
  }
  Target Choose(const TargetOptions& environment) const {
    const auto target =
        ChooseTarget({}, environment, store_, ConfiguredTargetsOf(Load()));
    EXPECT_OK(target);
    return target.value_or(Target());
  }

  TempFolder folder_;
  ConfigPlaces places_;
  std::map<std::string, std::string> variables_;
  ContextStore store_{folder_.File("frostline")};
};

TEST_F(ConfigurationTest, TheProjectStandsBeforeTheUser) {
  const std::string user =
      Write("user.yaml", "# mine\nformat: csv\ncolor: never\n");
  EXPECT_EQ(Load().Find("format")->text, "csv");
  EXPECT_EQ(Load().Find("format")->origin, user + ":2");
  const std::string project =
      Write("home/work/.frostline.yaml", "format: wide\n");
  EXPECT_EQ(Load().Find("format")->text, "wide");
  EXPECT_EQ(Load().Find("format")->origin, project + ":1");
  EXPECT_EQ(Load().Find("color")->text, "never");
  EXPECT_EQ(Load().Find("registry"), nullptr);
}

TEST_F(ConfigurationTest, APathIsMeantFromItsFile) {
  Write("home/work/.frostline.yaml", "registry: shelf\n");
  EXPECT_EQ(Load().Find("registry")->text, folder_.File("home/work/shelf"));
  Write("home/work/.frostline.yaml", "registry: ~/shelf\n");
  EXPECT_EQ(Load().Find("registry")->text, folder_.File("home/shelf"));
}

TEST_F(ConfigurationTest, AMistakeIsPlacedAndExplained) {
  const std::string file = Write("user.yaml", "format: csv\n  \nconect: a:1\n");
  EXPECT_THAT(LoadConfiguration(places_).wrong,
              FailsWith(ErrorId::kRequestInvalid));
  EXPECT_THAT(CauseOf(), HasSubstr(file + ":3:1: there is no key 'conect'"));
  EXPECT_THAT(DetailOf(LoadConfiguration(places_).wrong)->fix,
              HasSubstr("'connect'"));
  for (const char* const wrong :
       {"format: xml\n", "connect: nowhere\n", "context: A B\n", "format:\n",
        "format: [csv]\n", "- format\n", "color: pink\n", "format: csv\n\tx: 1",
        "connect: a:1\ncontext: lab\n", "token_file: t\n"}) {
    Write("user.yaml", wrong);
    EXPECT_THAT(LoadConfiguration(places_).wrong,
                FailsWith(ErrorId::kRequestInvalid))
        << wrong;
  }
}

TEST_F(ConfigurationTest, AProjectNamesNoCredentialAndNoProgram) {
  for (const char* const key : {"token_file", "tls_ca", "tls_cert", "tls_key",
                                "pager", "cache_dir", "prefix_dir"}) {
    Write("home/work/.frostline.yaml",
          std::string("connect: a:1\n") + key + ": x\n");
    EXPECT_THAT(CauseOf(), HasSubstr(":2:1: a project file may not say"))
        << key;
  }
}

TEST_F(ConfigurationTest, AProjectOfOthersIsIgnoredAndSaid) {
  Write("home/work/.frostline.yaml", "connect: evil:1\n", 0666);
  EXPECT_EQ(Load().Find("connect"), nullptr);
  EXPECT_THAT(Load().warnings, ElementsAre(HasSubstr("is ignored")));
  chmod(folder_.File("home/work/.frostline.yaml").c_str(), 0664);
  EXPECT_THAT(Load().warnings, IsEmpty());
  chmod(folder_.File("home/work").c_str(), 0777);
  EXPECT_EQ(Load().Find("connect"), nullptr);
  EXPECT_THAT(Load().warnings, ElementsAre(HasSubstr("write its folder")));
}

TEST_F(ConfigurationTest, ALinkToElsewhereIsIgnored) {
  Write("elsewhere.yaml", "connect: evil:1\n");
  std::filesystem::create_symlink(folder_.File("elsewhere.yaml"),
                                  folder_.File("home/work/.frostline.yaml"));
  EXPECT_EQ(Load().Find("connect"), nullptr);
  EXPECT_THAT(Load().warnings, ElementsAre(HasSubstr("is a link")));
}

TEST_F(ConfigurationTest, AUserFileThatOthersWriteIsRefused) {
  Write("user.yaml", "format: csv\n", 0666);
  EXPECT_THAT(LoadConfiguration(places_).wrong, FailsWith(ErrorId::kTlsFile));
}

TEST_F(ConfigurationTest, AUserFileThatCannotBeReadIsNoMistake) {
  places_.user_file = folder_.File(std::string(300, 'x'));  // too long a name
  const std::string project =
      Write("home/work/.frostline.yaml", "format: csv\n");
  const Configuration made = Load();
  EXPECT_THAT(made.unread, FailsWith(ErrorId::kRequestInvalid));
  EXPECT_EQ(made.project_file, project);
}

TEST_F(ConfigurationTest, WhatIsRightHoldsBesideWhatIsWrong) {
  Write("user.yaml", "format: csv\n");
  Write("home/work/.frostline.yaml", "registri: x\n");
  const Configuration made = LoadConfiguration(places_);
  EXPECT_THAT(made.wrong, FailsWith(ErrorId::kRequestInvalid));
  ASSERT_NE(made.Find("format"), nullptr);
  EXPECT_EQ(made.Find("format")->text, "csv");
}

TEST_F(ConfigurationTest, TheSearchEndsAtHomeAndAtARepository) {
  Write(".frostline.yaml", "format: csv\n");  // above home
  EXPECT_EQ(Load().project_file, "");
  const std::string at_home = Write("home/.frostline.yaml", "format: csv\n");
  EXPECT_EQ(Load().project_file, at_home);
  std::filesystem::create_directory(folder_.File("home/work/.git"));
  EXPECT_EQ(Load().project_file, "");
  const std::string at_root = Write("home/work/.frostline.yaml", "");
  EXPECT_EQ(Load().project_file, at_root);
}

TEST_F(ConfigurationTest, FilesStandBetweenEnvironmentAndCurrentContext) {
  EXPECT_OK(store_.Keep({"lab", "lab:1", SecretString("t1"), ""}));
  EXPECT_OK(store_.SetCurrent("lab"));
  const std::string user = Write("user.yaml", "connect: mine:2\n");
  EXPECT_EQ(DescribeTarget(Choose({})), "mine:2 (" + user + ":1)");
  const std::string project =
      Write("home/work/.frostline.yaml", "context: lab\n");
  EXPECT_EQ(DescribeTarget(Choose({})),
            "lab:1, context lab (" + project + ":1)");
  TargetOptions environment;
  environment.connect = "env:3";
  EXPECT_EQ(Choose(environment).connect, "env:3");
}

TEST_F(ConfigurationTest, AStrangersCoordinatorGetsNoCredential) {
  Write("user.yaml", "connect: mine:2\ntoken_file: /t\n");
  TargetOptions environment;
  environment.access.token = "/env.token";
  EXPECT_EQ(Choose({}).access.token, "/t");
  EXPECT_EQ(Choose(environment).access.token, "/env.token");
  Write("home/work/.frostline.yaml", "connect: evil:1\n");
  EXPECT_EQ(Choose(environment).connect, "evil:1");
  EXPECT_EQ(Choose(environment).access.token, "");
  environment.connect = "env:3";  // the user's token goes nowhere else either
  environment.access.token = "";
  EXPECT_EQ(Choose(environment).access.token, "");
}

TEST_F(ConfigurationTest, AFormatIsForTerminalsAlone) {
  Write("user.yaml", "format: json\n");
  EXPECT_EQ(ConfiguredFormat(Load(), true), "json");
  EXPECT_EQ(ConfiguredFormat(Load(), false), std::nullopt);
  Write("user.yaml", "# nothing\n");
  EXPECT_EQ(ConfiguredFormat(Load(), true), std::nullopt);
}

TEST_F(ConfigurationTest, VariablesAreRememberedAsTheyWere) {
  variables_["FROSTLINE_REGISTRY"] = "/shelf";
  EXPECT_EQ(Load().variables.at("FROSTLINE_REGISTRY"), "/shelf");
  EXPECT_EQ(Load().variables.count("FROSTLINE_CONNECT"), 0U);
}

TEST(SetInConfig, ReplacesOneLineAndKeepsTheOthers) {
  const auto set = [](const std::string& text, const std::string& value) {
    return SetInConfig(text, "f", "pager", value).value_or("refused");
  };
  EXPECT_EQ(set("", "less"), "pager: less\n");
  EXPECT_EQ(set("# why\nformat: csv", "less"),
            "# why\nformat: csv\npager: less\n");
  EXPECT_EQ(set("# why\npager: more\nformat: csv\n", "less -F 'x'"),
            "# why\npager: 'less -F ''x'''\nformat: csv\n");
  EXPECT_EQ(set("pager: more # since 2020\n", "less"), "refused");
  EXPECT_EQ(set("pager:\n  more\n", "less"), "refused");
}

TEST(UnsetInConfig, TakesOneLineAndKeepsTheOthers) {
  const auto unset = [](const std::string& text) {
    return UnsetInConfig(text, "f", "pager").value_or("refused");
  };
  EXPECT_EQ(unset("pager: less\n"), "");
  EXPECT_EQ(unset("# why\npager: more\nformat: csv\n"), "# why\nformat: csv\n");
  EXPECT_EQ(unset("pagers: more\n"), "pagers: more\n");
  EXPECT_EQ(unset("pager: more # since 2020\n"), "refused");
  EXPECT_EQ(unset("pager:\n  more\n"), "refused");
}

TEST(SetInConfig, WritesWhatIsReadBackTheSame) {
  for (const char* const value : {"[::1]:7070", "unix:/run/frost.sock",
                                  "gpu-head.lan:7443", "127.0.0.1:7070"}) {
    ASSERT_OK_AND_ASSIGN(const std::string text,
                         SetInConfig("", "f", "connect", value));
    ASSERT_OK_AND_ASSIGN(const ConfigValues read,
                         ParseConfig(text, "f", ConfigScope::kProject, ""));
    EXPECT_EQ(read.at("connect").text, value);
  }
}

TEST(MaskSecrets, HidesTokensAndPasswords) {
  EXPECT_EQ(MaskSecrets("frost_3f9c0a51d2e47b68_0123456789abcdef@lab:1"),
            "frost_…@lab:1");
  EXPECT_EQ(MaskSecrets("see https://ana:pw@lab/x and frost_data"),
            "see https://…@lab/x and frost_data");
  EXPECT_EQ(MaskSecrets("https://lab/a@b"), "https://lab/a@b");
}

}  // namespace
}  // namespace frostline::cli
