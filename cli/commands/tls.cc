// SPDX-License-Identifier: Apache-2.0
//
// A private CA in a folder: ca.crt is for everybody, ca.key for whoever issues
// certificates: a coordinator only where workers may join by invitation.
#include <sys/stat.h>

#include <filesystem>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/plain/file.h"
#include "cli/commands/command.h"
#include "tls/authority.h"
#include "tls/certificate.h"
#include "tls/private_file.h"

namespace frostline::cli {
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

absl::StatusOr<ExitCode> InitTls(const TlsArgs& args) {
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

absl::StatusOr<ExitCode> IssueOne(const TlsArgs& args) {
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
absl::StatusOr<ExitCode> Fingerprint(const std::string& path) {
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
      app.add_subcommand("tls", "A private CA, and certificates of it");
  noun->require_subcommand(1)->fallthrough();
  const auto args = std::make_shared<TlsArgs>();
  CLI::App* const init =
      AddVerb(*noun, "init", "Make a CA and the coordinator's certificate",
              invocation, [args](Session&) { return InitTls(*args); });
  init->add_option("--host", args->hosts,
                   "As nodes reach it: a DNS name or an address; repeat it")
      ->required();
  AddShared(*init, args.get());
  CLI::App* const issue = AddVerb(
      *noun, "issue",
      "Make another certificate: of the coordinator (--host), or of an owner",
      invocation, [args](Session&) { return IssueOne(*args); });
  issue->add_option("--host", args->hosts, "Of the coordinator");
  issue->add_option("--role", args->role, "Of an owner: what it may")
      ->check(CLI::IsMember({"admin", "researcher", "worker", "viewer"}));
  issue->add_option("--name", args->name, "Of an owner: a worker's id, ana");
  AddShared(*issue, args.get());
  const auto path = std::make_shared<std::string>(args->folder);
  AddVerb(*noun, "fingerprint", "The SHA-256 of the CA, as nodes are told it",
          invocation, [path](Session&) { return Fingerprint(*path); })
      ->add_option("PATH", *path, "A folder of `tls init`, or a file of a CA")
      ->capture_default_str();
}

}  // namespace frostline::cli
