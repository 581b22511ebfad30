// SPDX-License-Identifier: Apache-2.0
#include "tls/credentials.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"
#include "tls/authority.h"
#include "tls/private_file.h"

namespace frostline::tls {
namespace {

class AccessTest : public ::testing::Test {
 protected:
  absl::Status Open(const std::string& address) {
    return Access::Open({{}, token_}, address, clock_).status();
  }

  const SystemClock clock_;
  TempFolder folder_;
  const std::string token_ = folder_.File("token");
};

TEST_F(AccessTest, ShowsATokenInPlaintextOnThisMachineAlone) {
  ASSERT_OK(WritePrivateFile(token_, SecretString("frost_x\n"), ""));
  for (const char* near :
       {"127.0.0.1:1", "localhost:1", "[::1]:1", "unix:/run/f.sock"}) {
    EXPECT_OK(Open(near)) << near;
  }
  for (const char* far : {"10.0.0.7:1", "gpu-head.lan:1", "[fe80::1]:1",
                          "localhost.evil.com:1"}) {
    EXPECT_THAT(Open(far), FailsAt(ErrorId::kRequestInvalid, "--token-file"))
        << far;
  }
}

TEST_F(AccessTest, TakesNoTokenThatOthersMayRead) {
  ASSERT_OK(WritePrivateFile(token_, SecretString("frost_x"), ""));
  ASSERT_EQ(chmod(token_.c_str(), 0644), 0);
  EXPECT_THAT(Open("127.0.0.1:1"), FailsAt(ErrorId::kTlsFile, "--token-file"));
}

TEST_F(AccessTest, TakesOneLineWithoutBlanks) {
  for (const char* text : {"", " \n", "a b", "a\nb", "a\x01"}) {
    ASSERT_OK(WritePrivateFile(token_, SecretString(text), ""));
    const absl::Status status = Open("127.0.0.1:1");
    EXPECT_THAT(status, FailsAt(ErrorId::kTlsFile, "--token-file"));
  }
}

using ::testing::HasSubstr;

class CredentialsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(authority_, MakeAuthority("test", clock_.Wall()));
    std::ofstream(files_.ca) << authority_.certificate_pem;
    Write(clock_.Wall());
  }

  void Write(WallMicros now) {
    ASSERT_OK_AND_ASSIGN(
        pair_,
        Issue(authority_, {.name = "c", .hosts = {"h"}, .uri = ""}, now));
    std::ofstream(files_.certificate) << pair_.certificate_pem;
    ASSERT_OK(WritePrivateFile(files_.key, pair_.key_pem, ""));
  }

  const SystemClock clock_;
  TempFolder folder_;
  TlsFiles files_{folder_.File("c.crt"), folder_.File("c.key"),
                  folder_.File("ca.crt")};
  KeyPair authority_;
  KeyPair pair_;
};

TEST_F(CredentialsTest, TakesFilesThatFit) {
  EXPECT_OK(CheckTlsFiles(files_, clock_));
  EXPECT_OK(ServerCredentialsOf(files_, clock_));
  EXPECT_OK(ChannelCredentialsOf(files_, clock_));
  EXPECT_OK(ChannelCredentialsOf({}, clock_));
  EXPECT_OK(ChannelCredentialsOf({"", "", files_.ca}, clock_));
}

TEST_F(CredentialsTest, WantsKeyAndCertificateTogether) {
  EXPECT_THAT(CheckTlsFiles({files_.certificate, "", ""}, clock_),
              FailsAt(ErrorId::kRequestInvalid, "--tls-key"));
  EXPECT_THAT(CheckTlsFiles({"", files_.key, ""}, clock_),
              FailsAt(ErrorId::kRequestInvalid, "--tls-cert"));
  EXPECT_THAT(ServerCredentialsOf({"", "", files_.ca}, clock_),
              FailsAt(ErrorId::kRequestInvalid, "--tls-cert"));
}

TEST_F(CredentialsTest, NamesTheFileThatIsMissingOrNone) {
  TlsFiles missing = files_;
  missing.ca = folder_.File("none");
  EXPECT_THAT(CheckTlsFiles(missing, clock_),
              FailsAt(ErrorId::kTlsFile, "--tls-ca"));
  TlsFiles swapped = files_;
  std::swap(swapped.certificate, swapped.key);
  ASSERT_EQ(chmod(swapped.key.c_str(), 0600), 0);
  const absl::Status status = CheckTlsFiles(swapped, clock_);
  EXPECT_THAT(status, FailsAt(ErrorId::kTlsFile, "--tls-cert"));
  EXPECT_THAT(std::string(status.message()), HasSubstr(files_.key));
  EXPECT_THAT(std::string(status.message()),
              ::testing::Not(HasSubstr("PRIVATE KEY-----\nM")));
}

TEST_F(CredentialsTest, RefusesTheKeyOfAnotherAndOneThatOthersRead) {
  ASSERT_OK(WritePrivateFile(files_.key, authority_.key_pem, ""));
  EXPECT_THAT(CheckTlsFiles(files_, clock_),
              FailsAt(ErrorId::kTlsFile, "--tls-key"));
  ASSERT_OK(WritePrivateFile(files_.key, pair_.key_pem, ""));
  ASSERT_OK(CheckTlsFiles(files_, clock_));
  ASSERT_EQ(chmod(files_.key.c_str(), 0644), 0);
  EXPECT_THAT(CheckTlsFiles(files_, clock_),
              FailsAt(ErrorId::kTlsFile, "--tls-key"));
}

TEST_F(CredentialsTest, RefusesATimeThatIsOverOrHasNotBegun) {
  constexpr WallMicros kYears = WallMicros{3} * 365 * 86'400 * 1'000'000;
  Write(clock_.Wall() - kYears);
  absl::Status status = CheckTlsFiles(files_, clock_);
  EXPECT_THAT(status, FailsAt(ErrorId::kTlsFile, "--tls-cert"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("expired at"));
  Write(clock_.Wall() + kYears);
  status = CheckTlsFiles(files_, clock_);
  EXPECT_THAT(status, FailsAt(ErrorId::kTlsFile, "--tls-cert"));
  EXPECT_THAT(DetailOf(status)->fix, HasSubstr("set the clock"));
}

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
