// SPDX-License-Identifier: Apache-2.0
//
// Tokens. A secret is printed once, or written to a file of mode 0600, and is
// in no JSON.
#include <sys/stat.h>

#include <filesystem>
#include <iostream>
#include <map>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/plain/file.h"
#include "base/plain/sums.h"
#include "cli/commands/command.h"
#include "cli/view/access_view.h"
#include "cli/view/format.h"
#include "tls/authority.h"
#include "tls/certificate.h"
#include "tls/private_file.h"

namespace frostline::cli {
namespace {

constexpr std::int64_t kDaySeconds = 86'400;

const std::map<std::string, v1::Role>& Roles() {
  static const auto* const roles =
      new std::map<std::string, v1::Role>{{"admin", v1::ROLE_ADMIN},
                                          {"researcher", v1::ROLE_RESEARCHER},
                                          {"worker", v1::ROLE_WORKER},
                                          {"viewer", v1::ROLE_VIEWER}};
  return *roles;
}

struct TokenCreateArgs {
  std::string role;
  std::string subject;
  std::string note;
  int days = 90;
  std::string out;
  std::vector<std::string> study_labels;  // KEY=VALUE
};

// Prints the new token. Only the secret goes to standard output, so that it can
// be piped.
absl::StatusOr<ExitCode> HandOut(const v1::Token& token,
                                 const std::string& secret,
                                 const std::string& out) {
  const std::string what =
      absl::StrCat("token ", token.id(), " of ", NameOf(token.role()),
                   token.subject().empty() ? "" : " " + token.subject(),
                   ", until ", FormatTime(token.expire_time()));
  if (out.empty()) {
    std::cout << secret << "\n";
    std::cerr << what << "; it is shown this once\n";
    return kExitOk;
  }
  RETURN_IF_ERROR(
      tls::WritePrivateFile(out, SecretString(secret + "\n"), "--out"));
  std::cout << what << ", in " << out << "\n";
  return kExitOk;
}

absl::Status AddStudyLabels(const TokenCreateArgs& args,
                            v1::CreateTokenRequest* request) {
  const bool fits = request->role() == v1::ROLE_RESEARCHER ||
                    request->role() == v1::ROLE_VIEWER;
  if (!args.study_labels.empty() && !fits) {
    return MakeError(
        ErrorId::kRequestInvalid,
        absl::StrCat("--study-label is not for the role ", args.role),
        "a researcher or a viewer may be held to studies", "--study-label");
  }
  for (const std::string& label : args.study_labels) {
    const std::size_t equals = label.find('=');
    const std::string key = label.substr(0, equals);
    if (equals == std::string::npos || key.empty()) {
      return MakeError(
          ErrorId::kRequestInvalid,
          absl::StrCat("--study-label: '", label, "' is no KEY=VALUE"),
          "write --study-label team=nlp", "--study-label");
    }
    (*request->mutable_study_labels())[key] = label.substr(equals + 1);
  }
  return absl::OkStatus();
}

absl::StatusOr<ExitCode> CreateToken(Session& session,
                                     const TokenCreateArgs& args) {
  const auto role = Roles().find(args.role);
  if (role == Roles().end()) {
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat("there is no role '", args.role, "'"),
                     "give admin, researcher, worker or viewer");
  }
  v1::CreateTokenRequest request;
  request.set_role(role->second);
  RETURN_IF_ERROR(AddStudyLabels(args, &request));
  request.set_subject(args.subject);
  request.set_note(args.note);
  request.mutable_lifetime()->set_seconds(args.days * kDaySeconds);
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const v1::CreateTokenReply made,
                   client->Call(&v1::AdminService::Stub::CreateToken, request));
  return HandOut(made.token(), made.secret(), args.out);
}

absl::StatusOr<ExitCode> Rotate(Session& session, const std::string& id,
                                const std::string& out) {
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  v1::RotateTokenRequest request;
  request.set_id(id);
  ASSIGN_OR_RETURN(const v1::RotateTokenReply made,
                   client->Call(&v1::AdminService::Stub::RotateToken, request));
  return HandOut(made.token(), made.secret(), out);
}

absl::StatusOr<ExitCode> RevokeToken(Session& session, const std::string& id) {
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  v1::RevokeTokenRequest request;
  request.set_id(id);
  RETURN_IF_ERROR(
      client->Call(&v1::AdminService::Stub::RevokeToken, request).status());
  std::cout << "token " << id << " is revoked\n";
  return kExitOk;
}

absl::StatusOr<ExitCode> ListTokens(Session& session, const Output& output) {
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const v1::ListTokensReply all, FetchTokens(*client));
  return PrintList(
      session.terminal, output, all,
      [&all](bool) {
        return TokenTable({all.tokens().begin(), all.tokens().end()});
      },
      "no tokens; `frostline token create` makes one");
}

absl::StatusOr<ExitCode> WhoAmI(Session& session, const Output& output) {
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(
      const v1::Identity who,
      client->Call(&v1::AdminService::Stub::WhoAmI, v1::WhoAmIRequest()));
  return PrintOne(session.terminal, output, who, [&who, &session] {
    return absl::StrCat(DescribeIdentity(who), "\nat ",
                        DescribeTarget(session.target), "\n");
  });
}

}  // namespace

void AddTokenCommands(CLI::App& app, Invocation& invocation) {
  CLI::App* const noun =
      AddNoun(app, "token", "Who may call the coordinator, and as what");
  const auto [create, args] =
      AddVerb(*noun, "create", "Make a token, and show it once", invocation,
              CreateToken);
  create->add_option("--role", args->role, "admin, researcher, worker, viewer")
      ->required();
  create->add_option("--subject", args->subject,
                     "Whom it stands for: ana; of a worker workers/ID");
  create
      ->add_option("--study-label", args->study_labels,
                   "KEY=VALUE that its studies must have; repeat it")
      ->type_name("LABEL")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  create->add_option("--note", args->note, "What it is for");
  create->add_option("--days", args->days, "How long it holds")
      ->check(CLI::Range(1, 3650))
      ->capture_default_str();
  create->add_option("--out", args->out, "A file for it, of mode 0600");
  const auto [rotate, rotated, out] = AddVerb(
      *noun, "rotate", "Give a token another secret; both hold for a day",
      invocation, Rotate);
  rotate->add_option("ID", *rotated, "The token's id")->required();
  rotate->add_option("--out", *out, "A file for it, of mode 0600");
  const auto [revoke, revoked] =
      AddVerb(*noun, "revoke", "End a token at once", invocation, RevokeToken);
  revoke->add_option("ID", *revoked, "The token's id")->required();
  const auto [list, output] =
      AddVerb(*noun, "list", "List tokens, without their secrets", invocation,
              ListTokens);
  AddListFormats(list, *output);
}

void AddWhoAmICommand(CLI::App& app, Invocation& invocation) {
  const auto [verb, output] = AddVerb(
      app, "whoami", "Whom the coordinator takes you for", invocation, WhoAmI);
  AddOneFormats(verb, *output);
}

// Certificates that the coordinator has issued or seen.

namespace {

constexpr std::size_t kLeastDigits = 8;

absl::StatusOr<v1::ListCertificatesReply> FetchCertificates(Client& client) {
  return client.CallForAll(&v1::AdminService::Stub::ListCertificates,
                           v1::ListCertificatesRequest());
}

absl::StatusOr<ExitCode> ListCertificates(Session& session,
                                          const Output& output) {
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const auto all, FetchCertificates(*client));
  return PrintList(
      session.terminal, output, all,
      [&all](bool) {
        return CertificateTable(
            {all.certificates().begin(), all.certificates().end()});
      },
      "no certificates have been issued or seen");
}

// Completes the first digits of a certificate's hash, as the table shows them,
// if only one certificate begins with them. A full hash may be of a certificate
// that was never seen.
absl::StatusOr<std::string> CompleteSum(Client& client,
                                        const std::string& digits) {
  if (IsSha256(digits)) return digits;
  std::string found;
  int count = 0;
  if (digits.size() >= kLeastDigits) {
    ASSIGN_OR_RETURN(const auto all, FetchCertificates(client));
    for (const v1::Certificate& one : all.certificates()) {
      if (!absl::StartsWith(one.sha256(), digits)) continue;
      found = one.sha256();
      ++count;
    }
  }
  if (count == 1) return found;
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat(count == 0 ? "no certificate begins with '"
                              : "several certificates begin with '",
                   digits, "'"),
      absl::StrCat("give 64 hexadecimal digits, or ", kLeastDigits,
                   " and more of one that `frostline cert list` shows"));
}

absl::StatusOr<ExitCode> RevokeCertificate(Session& session,
                                           const std::string& digits,
                                           const std::string& subject) {
  if (digits.empty() == subject.empty()) {
    return MakeError(ErrorId::kRequestInvalid,
                     "one certificate is revoked, or all of a subject",
                     "give SHA256 or --subject WHO", "--subject");
  }
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  v1::RevokeCertificatesRequest request;
  request.set_subject(subject);
  if (!digits.empty()) {
    ASSIGN_OR_RETURN(*request.mutable_sha256(), CompleteSum(*client, digits));
  }
  ASSIGN_OR_RETURN(
      const v1::RevokeCertificatesReply reply,
      client->Call(&v1::AdminService::Stub::RevokeCertificates, request));
  if (subject.empty()) {
    std::cout << "certificate " << request.sha256() << " is revoked\n";
  } else {
    std::cout << "all certificates of " << subject << " are revoked, "
              << FormatCount(reply.revoked()) << " known ones now\n";
  }
  return kExitOk;
}

}  // namespace

void AddCertificateCommands(CLI::App& app, Invocation& invocation) {
  CLI::App* const noun = AddNoun(
      app, "cert", "Certificates that the coordinator issued or has seen");
  const auto [list, output] =
      AddVerb(*noun, "list", "List certificates", invocation, ListCertificates);
  AddListFormats(list, *output);
  const auto [revoke, digits, subject] = AddVerb(
      *noun, "revoke", "End a certificate, or all of a subject, at once",
      invocation, RevokeCertificate);
  revoke->add_option("SHA256", *digits, "Its digits, or the first of them");
  revoke->add_option("--subject", *subject, "All of workers/gpu03, ana")
      ->type_name("WHO");
}

// A private CA in a folder. Everybody may have ca.crt. Only whoever issues
// certificates needs ca.key: a coordinator does where workers may join by
// invitation.

namespace {

namespace fs = std::filesystem;

constexpr char kServer[] = "coordinator";

struct TlsArgs {
  std::string folder = "frostline-tls";
  std::vector<std::string> hosts;
  std::string role;
  std::string name;
  int days = 365;
};

absl::Status WritePublic(const std::string& path, const std::string& text) {
  const auto written = WriteFileAtomically(path, text);
  if (written.ok()) return absl::OkStatus();
  const Fault& fault = written.fault();
  const std::string cause = absl::StrCat(path, ": ", fault.cause);
  return DiskErrorOr(
      fault.system_error, cause,
      MakeError(ErrorId::kTlsFile, cause,
                "name a folder that is there and writable", "--folder"));
}

// Writes a pair; `chain` is appended to the certificate's file.
absl::Status WritePair(const TlsArgs& args, const std::string& name,
                       const tls::KeyPair& pair, const std::string& chain) {
  const std::string path = absl::StrCat(args.folder, "/", name);
  RETURN_IF_ERROR(
      tls::WritePrivateFile(path + ".key", pair.key_pem, "--folder"));
  return WritePublic(path + ".crt", pair.certificate_pem + chain);
}

// Writes the server's pair. It includes the CA, so that a node which knows only
// the CA's fingerprint can recognize the coordinator.
absl::Status WriteServer(const TlsArgs& args, const tls::KeyPair& pair,
                         const tls::KeyPair& authority) {
  return WritePair(args, kServer, pair, authority.certificate_pem);
}

absl::StatusOr<tls::KeyPair> ReadAuthority(const TlsArgs& args) {
  tls::KeyPair authority;
  ASSIGN_OR_RETURN(authority.certificate_pem,
                   tls::ReadPublicFile(args.folder + "/ca.crt", "--folder"));
  ASSIGN_OR_RETURN(authority.key_pem,
                   tls::ReadPrivateFile(args.folder + "/ca.key", "--folder"));
  RETURN_IF_ERROR(tls::CheckPair(authority.certificate_pem, authority.key_pem));
  return authority;
}

tls::LeafSpec SpecOf(const TlsArgs& args) {
  tls::LeafSpec spec;
  spec.lifetime = std::chrono::hours(24 * args.days);
  spec.name = args.role.empty() ? kServer : args.name;
  spec.hosts = args.hosts;
  if (!args.role.empty()) {
    spec.uri = tls::FormatOwnerName({args.role, args.name});
  }
  return spec;
}

absl::Status CheckHasNoCa(const std::string& folder) {
  for (const char* const name : {"/ca.crt", "/ca.key"}) {
    std::error_code error;
    if (fs::exists(folder + name, error)) {
      return MakeError(ErrorId::kTlsFile,
                       absl::StrCat(folder, " has a CA already"),
                       "`frostline tls issue` makes more certificates of it; "
                       "or give another --folder",
                       "--folder");
    }
    if (error) {
      return MakeError(
          ErrorId::kTlsFile,
          absl::StrCat("cannot look into ", folder, ": ", error.message()),
          "name a folder of yours", "--folder");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<ExitCode> InitTls(Session& /*session*/, const TlsArgs& args) {
  RETURN_IF_ERROR(CheckHasNoCa(args.folder));
  const WallMicros now = SystemClock().Wall();
  ASSIGN_OR_RETURN(const tls::KeyPair authority,
                   tls::MakeAuthority("Frostline private CA", now));
  ASSIGN_OR_RETURN(const tls::KeyPair made,
                   tls::Issue(authority, SpecOf(args), now));
  std::error_code ignored;  // what matters is whether files can be written
  fs::create_directories(args.folder, ignored);
  chmod(args.folder.c_str(), 0700);
  RETURN_IF_ERROR(WritePair(args, "ca", authority, ""));
  RETURN_IF_ERROR(WriteServer(args, made, authority));
  const std::string& at = args.folder;
  std::cout << at << "/ca.crt           for every client: --tls-ca\n"
            << at << "/ca.key           signs certificates, of workers that "
            << "join too\n"
            << at << "/coordinator.crt  frostline serve --listen 0.0.0.0:7443 "
            << "--tls " << at << "\n"
            << at << "/coordinator.key  its key\n";
  return kExitOk;
}

absl::StatusOr<ExitCode> IssueOne(Session& /*session*/, const TlsArgs& args) {
  const bool serves = args.role.empty();
  if (serves == args.hosts.empty() || serves != args.name.empty()) {
    return MakeError(ErrorId::kRequestInvalid,
                     "a certificate is the coordinator's or an owner's",
                     "give --host HOST, or --role ROLE and --name NAME");
  }
  if (!serves) RETURN_IF_ERROR(CheckId(args.name, "--name"));
  ASSIGN_OR_RETURN(const tls::KeyPair authority, ReadAuthority(args));
  ASSIGN_OR_RETURN(const tls::KeyPair made,
                   tls::Issue(authority, SpecOf(args), SystemClock().Wall()));
  const std::string name =
      serves ? kServer : absl::StrCat(args.role, "-", args.name);
  RETURN_IF_ERROR(serves ? WriteServer(args, made, authority)
                         : WritePair(args, name, made, ""));
  std::cout << args.folder << "/" << name << ".crt and .key, for " << args.days
            << " days\n";
  return kExitOk;
}

// Prints the fingerprint; a folder means the CA in it.
absl::StatusOr<ExitCode> Fingerprint(Session& /*session*/,
                                     const std::string& path) {
  std::error_code ignored;  // what is no folder is read as a file
  const std::string file =
      fs::is_directory(path, ignored) ? path + "/ca.crt" : path;
  ASSIGN_OR_RETURN(const std::string pem, tls::ReadPublicFile(file, "PATH"));
  ASSIGN_OR_RETURN(const tls::CertificateFacts facts,
                   tls::ReadCertificate(pem));
  if (!facts.is_authority) {
    return MakeError(
        ErrorId::kTlsFile, absl::StrCat(file, " is the certificate of no CA"),
        "name ca.crt, or the folder of `frostline tls init`", "PATH");
  }
  std::cout << facts.sha256 << "\n";
  return kExitOk;
}

void AddShared(CLI::App& verb, TlsArgs* args) {
  verb.add_option("--folder", args->folder, "Where the files are")
      ->capture_default_str();
  verb.add_option("--days", args->days, "How long the certificate holds")
      ->check(CLI::Range(1, 825))
      ->capture_default_str();
}

}  // namespace

void AddTlsCommands(CLI::App& app, Invocation& invocation) {
  CLI::App* const noun =
      AddNoun(app, "tls", "A private CA, and certificates of it");
  const auto [init, made] =
      AddVerb(*noun, "init", "Make a CA and the coordinator's certificate",
              invocation, InitTls);
  init->add_option("--host", made->hosts,
                   "As nodes reach it: a DNS name or an address; repeat it")
      ->required();
  AddShared(*init, made);
  const auto [issue, args] = AddVerb(
      *noun, "issue",
      "Make another certificate: of the coordinator (--host), or of an owner",
      invocation, IssueOne);
  issue->add_option("--host", args->hosts, "Of the coordinator");
  issue->add_option("--role", args->role, "Of an owner: what it may")
      ->check(CLI::IsMember({"admin", "researcher", "worker", "viewer"}));
  issue->add_option("--name", args->name, "Of an owner: a worker's id, ana");
  AddShared(*issue, args);
  const auto [fingerprint, path] = AddVerb(
      *noun, "fingerprint", "The SHA-256 of the CA, as nodes are told it",
      invocation, Fingerprint);
  *path = args->folder;
  fingerprint
      ->add_option("PATH", *path, "A folder of `tls init`, or a file of a CA")
      ->capture_default_str();
}

}  // namespace frostline::cli
