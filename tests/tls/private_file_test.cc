// SPDX-License-Identifier: Apache-2.0
#include "tls/private_file.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"

namespace frostline::tls {
namespace {

using ::testing::HasSubstr;

class PrivateFileTest : public ::testing::Test {
 protected:
  void Make(mode_t mode) {
    std::ofstream(path_) << "secret";
    ASSERT_EQ(chmod(path_.c_str(), mode), 0);
  }

  TempFolder folder_;
  const std::string path_ = folder_.File("key.pem");
};

TEST_F(PrivateFileTest, IsReadWhereNobodyElseMay) {
  for (const mode_t mode : {0600U, 0400U}) {
    Make(mode);
    ASSERT_OK_AND_ASSIGN(const SecretString text,
                         ReadPrivateFile(path_, "--tls-key"));
    EXPECT_EQ(text.Reveal(), "secret");
  }
}

TEST_F(PrivateFileTest, IsRefusedWhereOthersMay) {
  for (const mode_t mode : {0644U, 0604U, 0666U, 0620U, 0602U}) {
    Make(mode);
    const auto read = ReadPrivateFile(path_, "--tls-key");
    EXPECT_THAT(read, FailsAt(ErrorId::kTlsFile, "--tls-key")) << mode;
    EXPECT_THAT(DetailOf(read.status())->fix, HasSubstr("chmod 600 " + path_));
  }
}

TEST_F(PrivateFileTest, IsNamedWhereItIsMissingOrNone) {
  EXPECT_THAT(ReadPrivateFile(path_, "f"), FailsAt(ErrorId::kTlsFile, "f"));
  EXPECT_THAT(ReadPublicFile(folder_.path().string(), "f"),
              FailsAt(ErrorId::kTlsFile, "f"));
}

TEST_F(PrivateFileTest, IsWrittenForItsOwnerAlone) {
  Make(0644);
  ASSERT_OK(WritePrivateFile(path_, SecretString("new"), "f"));
  struct stat made{};
  ASSERT_EQ(stat(path_.c_str(), &made), 0);
  EXPECT_EQ(made.st_mode & 0777U, 0600U);
  EXPECT_EQ(ReadPrivateFile(path_, "f")->Reveal(), "new");
  EXPECT_THAT(
      WritePrivateFile(folder_.File("none/key"), SecretString("x"), "f"),
      FailsAt(ErrorId::kTlsFile, "f"));
}

TEST_F(PrivateFileTest, AFullDiskIsTheDisksErrorAndLeavesNothing) {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit full = before;
  full.rlim_cur = 2;
  setrlimit(RLIMIT_FSIZE, &full);
  const absl::Status written =
      WritePrivateFile(path_, SecretString("secret"), "--folder");
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_THAT(written, FailsWith(ErrorId::kStoreFull));
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

}  // namespace
}  // namespace frostline::tls
