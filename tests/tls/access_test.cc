// SPDX-License-Identifier: Apache-2.0
#include "tls/access.h"

#include <sys/stat.h>

#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"
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

}  // namespace
}  // namespace frostline::tls
