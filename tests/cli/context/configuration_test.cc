// SPDX-License-Identifier: Apache-2.0
//
// What files may say, who says it first, and what a stranger's file cannot.
#include "cli/context/configuration.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"

namespace frostline::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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
  Target Choose(const Wish& environment) const {
    const auto target = ChooseTarget({}, environment, store_, WishesOf(Load()));
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
  Wish environment;
  environment.connect = "env:3";
  EXPECT_EQ(Choose(environment).connect, "env:3");
}

TEST_F(ConfigurationTest, AStrangersCoordinatorGetsNoCredential) {
  Write("user.yaml", "connect: mine:2\ntoken_file: /t\n");
  Wish environment;
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
