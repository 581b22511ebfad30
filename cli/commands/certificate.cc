// SPDX-License-Identifier: Apache-2.0
//
// Certificates that the coordinator has issued or seen.
#include <iostream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/plain/sums.h"
#include "cli/commands/command.h"
#include "cli/commands/output_flags.h"
#include "cli/view/access_view.h"
#include "cli/view/format.h"

namespace frostline::cli {
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

// The table shows the first digits, and those are enough where one certificate
// alone begins so. Of all digits it may be one that was never seen.
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
