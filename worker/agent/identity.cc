// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/identity.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/plain/sums.h"
#include "tls/authority.h"
#include "tls/certificate.h"
#include "tls/credentials.h"
#include "tls/join.h"
#include "tls/private_file.h"
#include "worker/agent/file.h"
#include "worker/agent/link/rpc_client.h"
#include "worker/agent/trial/trial_folders.h"

namespace frostline::agent {
namespace {

namespace fs = std::filesystem;

constexpr char kField[] = "--run-dir";
constexpr char kAddress[] = "/address";
constexpr char kToken[] = "/token";
constexpr char kKey[] = "/worker.key";
constexpr char kCertificate[] = "/worker.crt";
constexpr char kCa[] = "/ca.crt";
constexpr char kRequest[] = "/request.pem";
constexpr std::size_t kRequestIdDigits = 32;

absl::Status CheckFolder(const std::string& folder) {
  struct stat found{};
  if (lstat(folder.c_str(), &found) != 0) return FileError("read", folder);
  if (S_ISDIR(found.st_mode) && (found.st_mode & (S_IWGRP | S_IWOTH)) == 0) {
    return absl::OkStatus();
  }
  return MakeError(
      ErrorId::kTlsFile,
      absl::StrCat("others may write ", folder, ", which has mode ",
                   absl::StrFormat("%04o", found.st_mode & 07777U)),
      absl::StrCat("`chmod 700 ", folder, "`, if nobody has been there"),
      kField);
}

// A folder that is there stays as it is, for CheckFolder() to judge.
absl::Status MakePrivateFolder(const std::string& folder) {
  if (mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) {
    return absl::OkStatus();
  }
  return FileError("create the folder", folder);
}

WallMicros WrittenAt(const std::string& path) {
  struct stat found{};
  if (stat(path.c_str(), &found) != 0) return 0;
  return found.st_mtim.tv_sec * WallMicros{1'000'000} +
         found.st_mtim.tv_nsec / 1000;
}

absl::Status WriteFile(const std::string& path, const std::string& text) {
  return tls::WritePrivateFile(path, SecretString(text), kField);
}

std::string IdentityFolder(const std::string& run_dir,
                           const std::string& worker_id) {
  return absl::StrCat(fs::absolute(run_dir).lexically_normal().string(),
                      "/agents/", worker_id, "/identity");
}

absl::Status Unfit(const std::string& cause) {
  return MakeError(ErrorId::kTlsFile,
                   absl::StrCat("the coordinator answered ", cause),
                   "use a coordinator of this version, and its own address");
}

}  // namespace

Identity::Identity(const std::string& run_dir, const std::string& worker_id)
    : worker_id_(worker_id),
      folder_(IdentityFolder(run_dir, worker_id)),
      next_(folder_ + "/next") {}

std::vector<std::string> Identity::JoinedFrom(const std::string& run_dir) {
  std::vector<std::string> ids;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(run_dir + "/agents", error)) {
    const std::string id = entry.path().filename().string();
    if (Identity(run_dir, id).exists()) ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

int Identity::Newest() const {
  int newest = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    int number = 0;
    if (absl::SimpleAtoi(entry.path().filename().string(), &number)) {
      newest = std::max(newest, number);
    }
  }
  return newest;
}

std::string Identity::NumberedFolder(int number) const {
  return absl::StrCat(folder_, "/", number);
}

bool Identity::exists() const { return Newest() > 0; }

tls::TlsFiles Identity::files() const {
  const std::string folder = NumberedFolder(Newest());
  return {folder + kCertificate, folder + kKey, folder + kCa};
}

absl::StatusOr<IdentityFacts> Identity::Read() const {
  const tls::TlsFiles files = this->files();
  RETURN_IF_ERROR(CheckFolder(folder_));
  RETURN_IF_ERROR(CheckFolder(fs::path(files.key).parent_path().string()));
  RETURN_IF_ERROR(tls::ReadPrivateFile(files.key, kField).status());
  ASSIGN_OR_RETURN(const std::string address,
                   tls::ReadPublicFile(folder_ + kAddress, kField));
  ASSIGN_OR_RETURN(const std::string certificate,
                   tls::ReadPublicFile(files.certificate, kField));
  ASSIGN_OR_RETURN(const std::string ca, tls::ReadPublicFile(files.ca, kField));
  ASSIGN_OR_RETURN(const tls::CertificateFacts own,
                   tls::ReadCertificate(certificate));
  ASSIGN_OR_RETURN(const tls::CertificateFacts issuer,
                   tls::ReadCertificate(ca));
  const auto token_id = tls::ReadPublicFile(folder_ + kToken, kField);
  IdentityFacts facts;
  facts.address = std::string(absl::StripAsciiWhitespace(address));
  if (token_id.ok()) {
    facts.token_id = std::string(absl::StripAsciiWhitespace(*token_id));
  }
  facts.ca_sha256 = issuer.sha256;
  facts.begins = std::max(own.begins, WrittenAt(files.certificate));
  facts.expires = own.expires;
  return facts;
}

absl::StatusOr<Identity::Question> Identity::Ask(const std::string& purpose) {
  RETURN_IF_ERROR(MakeFolders(fs::path(folder_).parent_path().string()));
  RETURN_IF_ERROR(MakePrivateFolder(folder_));
  RETURN_IF_ERROR(CheckFolder(folder_));
  // The request is written last: if it is there, everything is.
  if (!fs::exists(next_ + kRequest)) {
    fs::remove_all(next_);
    RETURN_IF_ERROR(MakePrivateFolder(next_));
    ASSIGN_OR_RETURN(const tls::KeyRequest made, tls::MakeRequest(worker_id_));
    RETURN_IF_ERROR(tls::WritePrivateFile(next_ + kKey, made.key_pem, kField));
    RETURN_IF_ERROR(SyncFolder(next_));
    RETURN_IF_ERROR(WriteFile(next_ + kRequest, made.request_pem));
    RETURN_IF_ERROR(SyncFolder(next_));
    RETURN_IF_ERROR(SyncFolder(folder_));
  }
  ASSIGN_OR_RETURN(const std::string request,
                   tls::ReadPublicFile(next_ + kRequest, kField));
  Sha256Sum sum;
  sum.AddField(purpose);
  sum.AddField(request);
  return Question{sum.Finish().substr(0, kRequestIdDigits), request};
}

absl::Status Identity::CheckAnswer(const v1::JoinReply& reply,
                                   const std::string& ca_sha256) const {
  ASSIGN_OR_RETURN(const SecretString key,
                   tls::ReadPrivateFile(next_ + kKey, kField));
  RETURN_IF_ERROR(tls::CheckPair(reply.certificate(), key));
  ASSIGN_OR_RETURN(const tls::CertificateFacts own,
                   tls::ReadCertificate(reply.certificate()));
  const bool ours = std::any_of(
      own.uris.begin(), own.uris.end(), [this](const std::string& uri) {
        const tls::OwnerName owner = tls::ParseOwnerName(uri);
        return owner.role == "worker" && owner.name == worker_id_;
      });
  if (!ours) return Unfit("a certificate that is not this worker's");
  ASSIGN_OR_RETURN(const tls::CertificateFacts issuer,
                   tls::ReadCertificate(reply.ca()));
  if (!issuer.is_authority) return Unfit("a CA that is none");
  if (ca_sha256.empty() || issuer.sha256 == ca_sha256) return absl::OkStatus();
  return Unfit("another CA than that of the fingerprint");
}

absl::Status Identity::Store(const v1::JoinReply& reply,
                             const std::string& ca_sha256) {
  RETURN_IF_ERROR(CheckAnswer(reply, ca_sha256));
  RETURN_IF_ERROR(WriteFile(next_ + kCertificate, reply.certificate()));
  RETURN_IF_ERROR(WriteFile(next_ + kCa, reply.ca()));
  RETURN_IF_ERROR(SyncFolder(next_));
  const int number = Newest() + 1;
  std::error_code error;
  fs::rename(next_, NumberedFolder(number), error);
  if (error) {
    errno = error.value();
    return FileError("name", NumberedFolder(number));
  }
  RETURN_IF_ERROR(SyncFolder(folder_));
  fs::remove(NumberedFolder(number) + kRequest, error);
  fs::remove_all(NumberedFolder(number - 2), error);
  return absl::OkStatus();
}

absl::Status Identity::StoreLine(const char* name, const std::string& line) {
  RETURN_IF_ERROR(WriteFile(folder_ + name, line + "\n"));
  return SyncFolder(folder_);
}

absl::Status Identity::StoreAddress(const std::string& address) {
  return StoreLine(kAddress, address);
}

absl::Status Identity::StoreTokenId(const std::string& token_id) {
  return StoreLine(kToken, token_id);
}

namespace {

constexpr Duration kFirstJoinPause = std::chrono::milliseconds(200);
constexpr Duration kLongestJoinPause = std::chrono::seconds(5);

// Tries once, over a connection of its own, so that the refusal is known.
absl::StatusOr<v1::JoinReply> AskOnce(const tls::JoinLine& line,
                                      const v1::JoinRequest& request,
                                      WallMicros now) {
  const tls::PinnedChannel pinned({line.host, line.ca_sha256}, now);
  RpcClient client(line.address,
                   tls::Access::WithToken(pinned.credentials(), line.token));
  auto reply = client.Join(request);
  if (reply.ok()) return reply;
  RETURN_IF_ERROR(pinned.refusal());
  if (!HasErrorId(reply.status(), ErrorId::kTlsRefused)) return reply;
  return MakeError(ErrorId::kTlsRefused, std::string(reply.status().message()),
                   "name an address at which the coordinator serves TLS: "
                   "`frostline serve --data frost --listen 0.0.0.0:7443 --tls "
                   "DIR`");
}

absl::StatusOr<v1::JoinReply> AskUntilAnswered(const tls::JoinLine& line,
                                               const v1::JoinRequest& request,
                                               const Clock& clock,
                                               const JoinPause& pause) {
  Backoff backoff(kFirstJoinPause, kLongestJoinPause);
  Rng rng(std::hash<std::string>()(request.request_id()));
  while (true) {
    auto reply = AskOnce(line, request, clock.Wall());
    if (reply.ok() || !WorthRetrying(reply.status())) return reply;
    Log(LogLevel::kWarning, "not_joined",
        {{"coordinator", line.address},
         {"cause", std::string(reply.status().message())}});
    if (!pause(backoff.Next(rng))) {
      return absl::CancelledError("told to end before it had joined");
    }
  }
}

// The agent's lock keeps out a second agent of this id meanwhile.
absl::Status Join(const tls::JoinLine& line, const AgentOptions& options,
                  const Clock& clock, const JoinPause& pause,
                  Identity* identity) {
  ASSIGN_OR_RETURN(const auto lock,
                   RunFolder::Open(options.run_dir, options.id));
  ASSIGN_OR_RETURN(const Identity::Question question,
                   identity->Ask(absl::StrCat("Join ", line.token_id)));
  v1::JoinRequest request;
  request.set_request_id(question.request_id);
  request.set_worker_id(options.id);
  request.set_certificate_request(question.request_pem);
  ASSIGN_OR_RETURN(const v1::JoinReply reply,
                   AskUntilAnswered(line, request, clock, pause));
  RETURN_IF_ERROR(identity->StoreAddress(line.address));
  RETURN_IF_ERROR(identity->Store(reply, line.ca_sha256));
  RETURN_IF_ERROR(identity->StoreTokenId(line.token_id));
  Log(LogLevel::kInfo, "joined",
      {{"worker", options.id},
       {"coordinator", line.address},
       {"identity", identity->folder()}});
  return absl::OkStatus();
}

enum class Kept {
  kNothing,       // that holds
  kOfAnotherOne,  // another invitation of the same coordinator
  kOfThisOne,
};

// Looks at the certificate that the worker has. The line may have another
// address, since the coordinator may have moved: it is stored.
absl::StatusOr<Kept> LookAtKept(const tls::JoinLine& line, WallMicros now,
                                Identity* identity) {
  if (!identity->exists()) return Kept::kNothing;
  ASSIGN_OR_RETURN(const IdentityFacts facts, identity->Read());
  if (now >= facts.expires) return Kept::kNothing;
  if (facts.ca_sha256 != line.ca_sha256) {
    return MakeError(
        ErrorId::kFingerprintWrong,
        absl::StrCat("this worker has joined another coordinator, at ",
                     facts.address),
        absl::StrCat("give another --run-dir or --id, or remove ",
                     identity->folder(), " to leave that one"),
        "--join");
  }
  if (facts.address != line.address) {
    RETURN_IF_ERROR(identity->StoreAddress(line.address));
  }
  return facts.token_id == line.token_id ? Kept::kOfThisOne
                                         : Kept::kOfAnotherOne;
}

// Tries once to join with another invitation, which a worker needs whose
// certificate was revoked. If the certificate still holds, the coordinator
// refuses a second one.
void JoinAgain(const tls::JoinLine& line, const AgentOptions& options,
               const Clock& clock, Identity* identity) {
  const absl::Status joined =
      Join(line, options, clock, [](Duration) { return false; }, identity);
  if (joined.ok()) return;
  Log(LogLevel::kWarning, "not_joined_again",
      {{"cause", std::string(joined.message())},
       {"uses", identity->files().certificate}});
}

// Returns the id of the worker that has joined; "" if none is meant.
absl::StatusOr<std::string> JoinedId(const AgentOptions& options) {
  const auto exists = [&options](const std::string& id) {
    return Identity(options.run_dir, id).exists();
  };
  if (options.id_is_given) return exists(options.id) ? options.id : "";
  if (exists(options.host_id)) return options.host_id;
  const std::vector<std::string> ids = Identity::JoinedFrom(options.run_dir);
  if (ids.size() < 2) return ids.empty() ? "" : ids.front();
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat("several workers have joined from ", options.run_dir, ": ",
                   absl::StrJoin(ids, ", ")),
      "say which one this is: --id NAME", "--id");
}

absl::Status Use(const Identity& identity, WallMicros now,
                 AgentOptions* options) {
  ASSIGN_OR_RETURN(const IdentityFacts facts, identity.Read());
  if (now >= facts.expires) {
    return MakeError(
        ErrorId::kCertificateExpired,
        absl::StrCat("the certificate of ", options->id, " expired at ",
                     FormatWall(facts.expires)),
        "have a line made by `frostline worker invite`, and start the worker "
        "with it");
  }
  options->connect = facts.address;
  options->access.tls = identity.files();
  options->has_joined = true;
  return absl::OkStatus();
}

absl::Status UseFound(const Clock& clock, AgentOptions* options) {
  const bool says_how =
      !options->access.tls.empty() || !options->access.token.empty();
  if (says_how) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::string id, JoinedId(*options));
  if (id.empty()) return absl::OkStatus();
  const Identity identity(options->run_dir, id);
  ASSIGN_OR_RETURN(const IdentityFacts facts, identity.Read());
  if (options->connect_is_given && options->connect != facts.address) {
    return absl::OkStatus();
  }
  options->id = id;
  return Use(identity, clock.Wall(), options);
}

}  // namespace

absl::Status SettleIdentity(const std::optional<tls::JoinLine>& line,
                            const Clock& clock, const JoinPause& pause,
                            AgentOptions* options) {
  if (!line.has_value()) return UseFound(clock, options);
  if (!options->id_is_given) options->id = options->host_id;
  Identity identity(options->run_dir, options->id);
  ASSIGN_OR_RETURN(const Kept kept, LookAtKept(*line, clock.Wall(), &identity));
  if (kept == Kept::kNothing) {
    RETURN_IF_ERROR(Join(*line, *options, clock, pause, &identity));
  } else if (kept == Kept::kOfAnotherOne) {
    JoinAgain(*line, *options, clock, &identity);
  }
  return Use(identity, clock.Wall(), options);
}

namespace {

constexpr Duration kLongestRenewalPause = std::chrono::minutes(1);
constexpr Duration kShortestRenewalPause = std::chrono::milliseconds(100);
constexpr int kTriesPerRest = 10;  // of the life that is left

}  // namespace

WallMicros RenewalDue(const IdentityFacts& facts) {
  return facts.expires - (facts.expires - facts.begins) / 3;
}

Duration UntilNextLook(const IdentityFacts& facts, WallMicros now) {
  const WallMicros due = RenewalDue(facts);
  const WallMicros pause =
      now < due ? due - now : (facts.expires - now) / kTriesPerRest;
  // A life of centuries has too many nanoseconds for a Duration.
  if (pause > std::chrono::microseconds(std::chrono::minutes(1)).count()) {
    return kLongestRenewalPause;
  }
  return std::max(kShortestRenewalPause,
                  Duration(std::chrono::microseconds(pause)));
}

CertificateKeeper::CertificateKeeper(Identity identity, RpcClient& client,
                                     const Clock& clock)
    : identity_(std::move(identity)), client_(client), clock_(clock) {}

void CertificateKeeper::Start() {
  thread_ = std::thread([this] { Live(); });
}

void CertificateKeeper::Stop() {
  stopped_ = true;
  wakeup_.Ring();
  if (thread_.joinable()) thread_.join();
}

void CertificateKeeper::Live() {
  while (!stopped_) wakeup_.WaitFor(LookOnce());
}

Duration CertificateKeeper::LookOnce() {
  const auto facts = identity_.Read();
  if (!facts.ok()) {
    Log(LogLevel::kError, "identity_unreadable",
        {{"cause", std::string(facts.status().message())}});
    return kLongestRenewalPause;
  }
  const WallMicros now = clock_.Wall();
  if (now < RenewalDue(*facts)) return UntilNextLook(*facts, now);
  if (now >= facts->expires) {
    Log(LogLevel::kError, "certificate_expired",
        {{"expired", FormatWall(facts->expires)},
         {"fix",
          "have a line made by `frostline worker invite`, and start the worker "
          "with it"}});
    return kLongestRenewalPause;
  }
  const absl::Status renewed = Renew();
  if (renewed.ok()) return kShortestRenewalPause;  // look at the new one
  Log(LogLevel::kWarning, "certificate_not_renewed",
      {{"expires", FormatWall(facts->expires)},
       {"cause", std::string(renewed.message())},
       {"fix", DetailOf(renewed).value_or(ErrorDetail()).fix}});
  return UntilNextLook(*facts, now);
}

absl::Status CertificateKeeper::Renew() {
  ASSIGN_OR_RETURN(const Identity::Question question,
                   identity_.Ask("RenewCertificate"));
  v1::RenewCertificateRequest request;
  request.set_request_id(question.request_id);
  request.set_certificate_request(question.request_pem);
  ASSIGN_OR_RETURN(const v1::JoinReply reply,
                   client_.RenewCertificate(request));
  RETURN_IF_ERROR(identity_.Store(reply, /*ca_sha256=*/""));
  ASSIGN_OR_RETURN(const IdentityFacts facts, identity_.Read());
  ASSIGN_OR_RETURN(
      tls::Access access,
      tls::Access::Open({identity_.files(), ""}, facts.address, clock_));
  client_.Reconnect(std::move(access));
  Log(LogLevel::kInfo, "certificate_renewed",
      {{"expires", FormatWall(facts.expires)}});
  return absl::OkStatus();
}

}  // namespace frostline::agent
