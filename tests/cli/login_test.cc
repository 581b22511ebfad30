// SPDX-License-Identifier: Apache-2.0
//
// login, logout and context as a person types them.
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <cstdlib>

#include "base/clock.h"
#include "gmock/gmock.h"
#include "tests/cli/access_fixture.h"
#include "tls/authority.h"
#include "tls/certificate.h"

namespace frostline::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kFolder[] = "home/.config/frostline/contexts/127.0.0.1";

class LoginTest : public AccessCommandsTest {
 protected:
  void LogIn(const std::string& more = "") {
    Write("ana.token", std::string(kSecret) + "\n");
    ASSERT_EQ(Frostline("login $AT --token-file ana.token " + more), 0)
        << output_;
  }
};

TEST_F(LoginTest, AsksWhoOneIsThenKeepsIt) {
  LogIn();
  EXPECT_EQ(out_,
            "ana, researcher, by token, until 2027-01-15 08:00:00Z\n"
            "context 127.0.0.1 (" +
                address_ + ") is the current one\n");
  EXPECT_EQ(Text(std::string(kFolder) + "/token"), std::string(kSecret) + "\n");
  EXPECT_EQ(Text(std::string(kFolder) + "/connect"), address_ + "\n");
  ASSERT_EQ(Frostline("whoami"), 0) << output_;
  EXPECT_THAT(out_, HasSubstr("at " + address_ +
                              ", context 127.0.0.1 (the current one)\n"));
  EXPECT_THAT(admin_.shown_tokens,
              ElementsAre("Bearer " + std::string(kSecret),
                          "Bearer " + std::string(kSecret)));
}

TEST_F(LoginTest, KeepsNothingOfATokenThatIsRefused) {
  Write("bad.token", "frost_0000000000000000_beef\n");
  EXPECT_NE(Frostline("login $AT --token-file bad.token"), 0);
  EXPECT_FALSE(Exists("home/.config"));
  EXPECT_NE(Frostline("login 127.0.0.1:1 --token-file bad.token"), 0);
  Write("open.token", kSecret, 0644);
  EXPECT_EQ(Frostline("login $AT --token-file open.token"), 4);
  EXPECT_THAT(output_, HasSubstr("FL-4014"));
  EXPECT_FALSE(Exists("home/.config"));
  EXPECT_EQ(Frostline("login gpu-head.lan:7443 --token-file bad.token"), 2);
  EXPECT_THAT(output_, HasSubstr("in plaintext"));
}

TEST_F(LoginTest, ReadsTheTokenFromAPipe) {
  Write("ana.token", std::string(kSecret) + "\n");
  ASSERT_EQ(Shell("frostline login $AT --name lab <ana.token"), 0) << output_;
  EXPECT_THAT(out_, HasSubstr("context lab"));
  EXPECT_EQ(Shell("frostline login $AT --name lab </dev/null"), 2);
  EXPECT_THAT(output_, HasSubstr("standard input has no token"));
  EXPECT_EQ(Shell("printf 'a b' | frostline login $AT --name lab"), 2);
  EXPECT_THAT(output_, Not(HasSubstr("a b")));
}

// Types `typed` at a terminal; what it showed.
TEST_F(LoginTest, ATerminalDoesNotShowTheToken) {
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child == 0) {
    setenv("HOME", folder_.File("home").c_str(), 1);
    unsetenv("XDG_CONFIG_HOME");
    const std::string program =
        std::string(std::getenv("FROSTLINE_BIN_DIR")) + "/frostline";
    execl(program.c_str(), "frostline", "login", address_.c_str(), nullptr);
    _exit(127);
  }
  std::string shown;
  char c = '\0';
  bool typed = false;
  while (read(terminal, &c, 1) == 1) {
    shown += c;
    if (typed || !shown.ends_with("token: ")) continue;
    const std::string line = std::string(kSecret) + "\n";
    ASSERT_EQ(write(terminal, line.data(), line.size()),
              static_cast<ssize_t>(line.size()));
    typed = true;
  }
  int status = 0;
  waitpid(child, &status, 0);
  close(terminal);
  EXPECT_EQ(WEXITSTATUS(status), 0) << shown;
  EXPECT_THAT(shown, AllOf(StartsWith("token: "), HasSubstr("ana, researcher"),
                           Not(HasSubstr("0123456789abcdef"))));
}

TEST_F(LoginTest, ListsShowsAndChangesContexts) {
  LogIn("--name lab");
  LogIn("--name home");
  ASSERT_EQ(Frostline("context list"), 0);
  EXPECT_THAT(out_, AllOf(HasSubstr("home"), HasSubstr("lab"),
                          HasSubstr("3f9c0a51d2e47b68"),
                          Not(HasSubstr("0123456789abcdef"))));
  ASSERT_EQ(Frostline("context use lab"), 0) << output_;
  ASSERT_EQ(Frostline("context show"), 0) << output_;
  EXPECT_THAT(out_, AllOf(HasSubstr("lab (current)"), HasSubstr(address_)));
  for (const char* const list :
       {"context list --json", "context show --json"}) {
    ASSERT_EQ(Frostline(list), 0);
    EXPECT_THAT(out_, AllOf(HasSubstr("\"current\": true"),
                            HasSubstr("\"token_id\": \"3f9c0a51d2e47b68\""),
                            Not(HasSubstr("0123456789abcdef"))));
  }
  ASSERT_EQ(Frostline("logout"), 0) << output_;
  EXPECT_THAT(output_, AllOf(HasSubstr("context lab is removed"),
                             HasSubstr("token revoke 3f9c0a51d2e47b68")));
  EXPECT_FALSE(Exists("home/.config/frostline/contexts/lab"));
  EXPECT_EQ(Frostline("logout"), 2);
  EXPECT_THAT(output_, HasSubstr("no context is the current one"));
  EXPECT_EQ(Frostline("context use lab"), 2);
  EXPECT_THAT(output_, HasSubstr("there is no context 'lab'"));
  ASSERT_EQ(Frostline("context remove home"), 0) << output_;
  ASSERT_EQ(Frostline("context list"), 0);
  EXPECT_THAT(output_, HasSubstr("frostline login HOST:PORT"));
}

TEST_F(LoginTest, SaysWhyACoordinatorIsAsked) {
  LogIn("--name lab");
  LogIn("--name home");
  const auto why = [this](const std::string& command) {
    EXPECT_EQ(Shell(command), 0) << output_;
    return out_.substr(out_.find("at 127"));
  };
  const std::string at = "at " + address_;
  EXPECT_EQ(why("frostline whoami"), at + ", context home (the current one)\n");
  EXPECT_EQ(why("FROSTLINE_CONTEXT=lab frostline whoami"),
            at + ", context lab (FROSTLINE_CONTEXT)\n");
  EXPECT_EQ(why("FROSTLINE_CONTEXT=lab FROSTLINE_CONNECT=$AT frostline whoami"),
            at + " (FROSTLINE_CONNECT)\n");
  EXPECT_EQ(why("FROSTLINE_CONNECT=x:1 frostline whoami --context lab"),
            at + ", context lab (--context)\n");
  EXPECT_EQ(why("FROSTLINE_CONNECT=x:1 frostline --connect $AT whoami"),
            at + " (--connect)\n");
  EXPECT_EQ(Frostline("whoami --connect $AT --context lab"), 2);
  EXPECT_EQ(Frostline("whoami --context lba"), 2);
  EXPECT_THAT(output_, HasSubstr("did you mean 'lab'?"));
}

TEST_F(LoginTest, RefusesAContextThatOthersMayRead) {
  LogIn();
  Shell("chmod 644 " + std::string(kFolder) + "/token");
  EXPECT_EQ(Frostline("whoami"), 4);
  EXPECT_THAT(output_, AllOf(HasSubstr("FL-4014"), HasSubstr("chmod 600")));
  ASSERT_EQ(Frostline("context list"), 0) << output_;
  EXPECT_THAT(out_, HasSubstr("others may read"));
  EXPECT_EQ(Frostline("whoami --connect $AT"), 0) << output_;
  EXPECT_EQ(Frostline("logout"), 0) << output_;
}

TEST_F(LoginTest, DoesNotTakeOverTheNameOfAnother) {
  LogIn("--name lab");
  Write("home/.config/frostline/contexts/lab/connect", "other.lan:7443\n");
  EXPECT_EQ(Frostline("login $AT --token-file ana.token --name lab"), 2);
  EXPECT_THAT(output_, HasSubstr("another coordinator, other.lan:7443"));
  EXPECT_EQ(Frostline("login $AT --token-file ana.token --name 'Big One'"), 2);
  EXPECT_EQ(Frostline("login nowhere --token-file ana.token"), 2);
  EXPECT_EQ(Frostline("login $AT --connect $AT --token-file ana.token"), 2);
  EXPECT_EQ(Frostline("login $AT --fingerprint abc --token-file ana.token"), 2);
}

// A coordinator over TLS, of which one has the fingerprint alone.
class FingerprintTest : public LoginTest {
 protected:
  FingerprintTest() {
    const WallMicros now = SystemClock().Wall();
    const auto authority = tls::MakeAuthority("test", now);
    const auto made = tls::Issue(
        *authority, {.name = "c", .hosts = {"127.0.0.1"}, .uri = ""}, now);
    ca_pem_ = authority->certificate_pem;
    fingerprint_ = tls::ReadCertificate(ca_pem_)->sha256;
    grpc::SslServerCredentialsOptions options;
    options.pem_key_cert_pairs.push_back(
        {made->key_pem.Reveal(), made->certificate_pem + ca_pem_});
    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::SslServerCredentials(options),
                             &port);
    builder.RegisterService(&admin_);
    tls_server_ = builder.BuildAndStart();
    tls_address_ = "127.0.0.1:" + std::to_string(port);
    Write("ana.token", std::string(kSecret) + "\n");
  }
  ~FingerprintTest() override { tls_server_->Shutdown(); }

  std::string ca_pem_;
  std::string fingerprint_;
  std::unique_ptr<grpc::Server> tls_server_;
  std::string tls_address_;
};

TEST_F(FingerprintTest, IsEnoughToLogIn) {
  ASSERT_EQ(Frostline("login " + tls_address_ + "#" + fingerprint_ +
                      " --token-file ana.token"),
            0)
      << output_;
  EXPECT_EQ(Text(std::string(kFolder) + "/ca.crt"), ca_pem_);
  EXPECT_EQ(Text(std::string(kFolder) + "/connect"), tls_address_ + "\n");
  ASSERT_EQ(Frostline("whoami"), 0) << output_;
  ASSERT_EQ(Frostline("context show"), 0) << output_;
  EXPECT_THAT(out_, HasSubstr(fingerprint_));
  // As openssl writes it, and beside the CA itself.
  std::string shouted;
  for (std::size_t i = 0; i < fingerprint_.size(); ++i) {
    if (i > 0 && i % 2 == 0) shouted += ':';
    shouted += static_cast<char>(std::toupper(fingerprint_[i]));
  }
  Write("ca.crt", ca_pem_);
  ASSERT_EQ(Frostline("login " + tls_address_ + " --tls-ca ca.crt " +
                      "--token-file ana.token --fingerprint " + shouted),
            0)
      << output_;
}

TEST_F(FingerprintTest, ASwappedCoordinatorGetsNoToken) {
  const std::string other(64, 'a');
  EXPECT_EQ(Frostline("login " + tls_address_ + "#" + other +
                      " --token-file ana.token"),
            4);
  EXPECT_THAT(output_, AllOf(HasSubstr("FL-4020"), Not(HasSubstr(kSecret))));
  Write("ca.crt", ca_pem_);
  EXPECT_EQ(Frostline("login " + tls_address_ + " --tls-ca ca.crt " +
                      "--token-file ana.token --fingerprint " + other),
            4);
  EXPECT_THAT(output_, HasSubstr("FL-4020"));
  EXPECT_EQ(Frostline("login " + tls_address_ + "#" + other +
                      " --token-file ana.token --fingerprint " + fingerprint_),
            2);
  EXPECT_THAT(admin_.shown_tokens, IsEmpty());
  EXPECT_FALSE(Exists("home/.config"));
}

TEST_F(LoginTest, WithoutAHomeCommandsWorkAndLoginSaysWhy) {
  LogIn();
  EXPECT_EQ(Shell("unset HOME; frostline --connect $AT whoami"), 0) << output_;
  EXPECT_EQ(Shell("unset HOME; frostline context list"), 0) << output_;
  EXPECT_EQ(Shell("unset HOME; frostline login $AT --token-file ana.token"), 4);
  EXPECT_THAT(output_, HasSubstr("neither HOME nor XDG_CONFIG_HOME"));
  ASSERT_EQ(Shell("unset HOME; export XDG_CONFIG_HOME=$PWD/xdg; "
                  "frostline login $AT --token-file ana.token"),
            0)
      << output_;
  EXPECT_TRUE(Exists("xdg/frostline/contexts/127.0.0.1/token"));
}

}  // namespace
}  // namespace frostline::cli
