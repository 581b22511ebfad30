// SPDX-License-Identifier: Apache-2.0
//
// Tokens. A secret is printed once, or written to a file of mode 0600, and is
// in no JSON.
#include <iostream>
#include <map>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/plain/sums.h"
#include "cli/commands/command.h"
#include "cli/commands/output_flags.h"
#include "cli/view/access_view.h"
#include "cli/view/format.h"
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
  request.set_request_id(NewRequestId(SystemClock()));
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
  request.set_request_id(NewRequestId(SystemClock()));
  request.set_id(id);
  ASSIGN_OR_RETURN(const v1::RotateTokenReply made,
                   client->Call(&v1::AdminService::Stub::RotateToken, request));
  return HandOut(made.token(), made.secret(), out);
}

absl::StatusOr<ExitCode> RevokeToken(Session& session, const std::string& id) {
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  v1::RevokeTokenRequest request;
  request.set_request_id(NewRequestId(SystemClock()));
  request.set_id(id);
  RETURN_IF_ERROR(
      client->Call(&v1::AdminService::Stub::RevokeToken, request).status());
  std::cout << "token " << id << " is revoked\n";
  return kExitOk;
}

absl::StatusOr<ExitCode> ListTokens(Session& session, const Output& output) {
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const v1::ListTokensReply all, FetchTokens(*client));
  RETURN_IF_ERROR(PrintList(
      session.terminal, output, all,
      [&all](bool) {
        return TokenTable({all.tokens().begin(), all.tokens().end()});
      },
      "no tokens; `frostline token create` makes one"));
  return kExitOk;
}

absl::StatusOr<ExitCode> WhoAmI(Session& session, const Output& output) {
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(
      const v1::Identity who,
      client->Call(&v1::AdminService::Stub::WhoAmI, v1::WhoAmIRequest()));
  RETURN_IF_ERROR(PrintOne(session.terminal, output, who, [&who, &session] {
    return absl::StrCat(DescribeIdentity(who), "\nat ",
                        DescribeTarget(session.target), "\n");
  }));
  return kExitOk;
}

}  // namespace

void AddTokenCommands(CLI::App& app, Invocation& invocation) {
  CLI::App* const noun =
      app.add_subcommand("token", "Who may call the coordinator, and as what");
  noun->require_subcommand(1)->fallthrough();
  const auto args = std::make_shared<TokenCreateArgs>();
  CLI::App* const create =
      AddVerb(*noun, "create", "Make a token, and show it once", invocation,
              [args](Session& session) { return CreateToken(session, *args); });
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
  const auto id = std::make_shared<std::string>();
  const auto out = std::make_shared<std::string>();
  CLI::App* const rotate = AddVerb(
      *noun, "rotate", "Give a token another secret; both hold for a day",
      invocation,
      [id, out](Session& session) { return Rotate(session, *id, *out); });
  rotate->add_option("ID", *id, "The token's id")->required();
  rotate->add_option("--out", *out, "A file for it, of mode 0600");
  CLI::App* const revoke =
      AddVerb(*noun, "revoke", "End a token at once", invocation,
              [id](Session& session) { return RevokeToken(session, *id); });
  revoke->add_option("ID", *id, "The token's id")->required();
  const auto output = std::make_shared<Output>();
  AddListFormats(
      AddVerb(
          *noun, "list", "List tokens, without their secrets", invocation,
          [output](Session& session) { return ListTokens(session, *output); }),
      *output);
}

void AddWhoAmICommand(CLI::App& app, Invocation& invocation) {
  const auto output = std::make_shared<Output>();
  AddOneFormats(
      AddVerb(app, "whoami", "Whom the coordinator takes you for", invocation,
              [output](Session& session) { return WhoAmI(session, *output); }),
      *output);
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
  RETURN_IF_ERROR(PrintList(
      session.terminal, output, all,
      [&all](bool) {
        return CertificateTable(
            {all.certificates().begin(), all.certificates().end()});
      },
      "no certificates have been issued or seen"));
  return kExitOk;
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
  request.set_request_id(NewRequestId(SystemClock()));
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
  CLI::App* const noun = app.add_subcommand(
      "cert", "Certificates that the coordinator issued or has seen");
  noun->require_subcommand(1)->fallthrough();
  const auto output = std::make_shared<Output>();
  AddListFormats(AddVerb(*noun, "list", "List certificates", invocation,
                         [output](Session& session) {
                           return ListCertificates(session, *output);
                         }),
                 *output);
  const auto digits = std::make_shared<std::string>();
  const auto subject = std::make_shared<std::string>();
  CLI::App* const revoke = AddVerb(
      *noun, "revoke", "End a certificate, or all of a subject, at once",
      invocation, [digits, subject](Session& session) {
        return RevokeCertificate(session, *digits, *subject);
      });
  revoke->add_option("SHA256", *digits, "Its digits, or the first of them");
  revoke->add_option("--subject", *subject, "All of workers/gpu03, ana")
      ->type_name("WHO");
}

}  // namespace frostline::cli
