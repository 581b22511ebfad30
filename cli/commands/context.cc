// SPDX-License-Identifier: Apache-2.0
//
// Contexts. None of these verbs calls a coordinator, and none shows a token.
#include "cli/commands/context.h"

#include <google/protobuf/struct.pb.h>

#include <iostream>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/plain/sums.h"
#include "cli/client/address.h"
#include "cli/commands/command.h"
#include "cli/term/table.h"
#include "cli/term/terminal.h"
#include "cli/view/access_view.h"
#include "cli/view/format.h"
#include "tls/certificate.h"
#include "tls/credentials.h"
#include "tls/private_file.h"

namespace frostline::cli {
namespace {

// The id in "frost_ID_SECRET", or "".
std::string TokenIdOf(const Context& context) {
  const auto text = tls::ReadPrivateFile(context.access.token, "");
  if (!text.ok()) return "";
  const std::vector<std::string> parts = absl::StrSplit(text->Reveal(), '_');
  return parts.size() == 3 ? parts[1] : "";
}

// What is known about a context; `refused` says why it cannot be used.
struct ShownContext {
  std::string name;
  std::string connect;
  std::string folder;
  std::string token_id;
  std::string ca_sha256;
  std::string refused;
  bool current = false;
};

ShownContext Look(const ContextStore& contexts, const std::string& name,
                  const std::string& current) {
  ShownContext shown;
  shown.name = name;
  shown.folder = contexts.FolderOf(name);
  shown.current = name == current;
  const auto context = contexts.Read(name);
  if (!context.ok()) {
    shown.refused = std::string(context.status().message());
    return shown;
  }
  shown.connect = context->connect;
  shown.token_id = TokenIdOf(*context);
  if (context->access.tls.ca.empty()) return shown;
  const auto pem = tls::ReadPublicFile(context->access.tls.ca, "");
  const auto facts = pem.ok() ? tls::ReadCertificate(*pem) : pem.status();
  if (facts.ok()) {
    shown.ca_sha256 = facts->sha256;
  } else {
    shown.refused = std::string(facts.status().message());
  }
  return shown;
}

google::protobuf::Struct FieldsOf(const ShownContext& shown) {
  google::protobuf::Struct fields;
  const auto set = [&fields](const char* key, const std::string& text) {
    (*fields.mutable_fields())[key].set_string_value(text);
  };
  set("name", shown.name);
  set("connect", shown.connect);
  set("folder", shown.folder);
  set("token_id", shown.token_id);
  set("ca_sha256", shown.ca_sha256);
  set("refused", shown.refused);
  (*fields.mutable_fields())["current"].set_bool_value(shown.current);
  return fields;
}

absl::StatusOr<ExitCode> ListContexts(Session& session, const Output& output) {
  ASSIGN_OR_RETURN(const auto names, session.contexts.Names());
  // The list must also work when the current context is damaged.
  const std::string current = session.contexts.Current().value_or("");
  Table table({{"CONTEXT"},
               {"CURRENT"},
               {"COORDINATOR"},
               {"TLS", Align::kLeft, 2},
               {"TOKEN", Align::kLeft, 1},
               {"REFUSED"}});
  google::protobuf::Struct all;
  auto& list = *(*all.mutable_fields())["contexts"].mutable_list_value();
  for (const std::string& name : names) {
    const ShownContext shown = Look(session.contexts, name, current);
    *list.add_values()->mutable_struct_value() = FieldsOf(shown);
    table.AddRow({shown.name, shown.current ? "yes" : "", shown.connect,
                  shown.ca_sha256.empty() ? "no" : "yes", shown.token_id,
                  shown.refused});
  }
  return PrintList(
      session.terminal, output, all, [&table](bool) { return table; },
      "no contexts; make one with `frostline login HOST:PORT`");
}

// Returns the named context, else the one that commands would use.
absl::StatusOr<std::string> NameOrCurrent(const Session& session,
                                          const std::string& name) {
  if (!name.empty()) return name;
  if (!session.flags.context.empty()) return session.flags.context;
  if (!session.environment.context.empty()) return session.environment.context;
  ASSIGN_OR_RETURN(std::string current, session.contexts.Current());
  if (!current.empty()) return current;
  return MakeError(ErrorId::kRequestInvalid, "no context is the current one",
                   "name one; `frostline context list` shows them");
}

absl::StatusOr<ExitCode> ShowContext(Session& session, const std::string& name,
                                     const Output& output) {
  ASSIGN_OR_RETURN(const std::string wanted, NameOrCurrent(session, name));
  RETURN_IF_ERROR(session.contexts.Read(wanted).status());
  const ShownContext shown =
      Look(session.contexts, wanted, session.contexts.Current().value_or(""));
  return PrintOne(session.terminal, output, FieldsOf(shown), [&shown] {
    return absl::StrCat(
        KeyLine("context",
                absl::StrCat(shown.name, shown.current ? " (current)" : "")),
        KeyLine("coordinator", shown.connect), KeyLine("CA", shown.ca_sha256),
        KeyLine("token", shown.token_id), KeyLine("refused", shown.refused),
        KeyLine("folder", shown.folder));
  });
}

absl::StatusOr<ExitCode> Use(Session& session, const std::string& name) {
  ASSIGN_OR_RETURN(const Context context, session.contexts.Read(name));
  RETURN_IF_ERROR(session.contexts.SetCurrent(name));
  std::cout << "context " << name << " (" << context.connect
            << ") is the current one\n";
  // Nobody should wonder why commands go elsewhere still.
  for (const char* const key : {"connect", "context"}) {
    const ConfigValue* const value = session.configuration.Find(key);
    if (value == nullptr || value->text == name) continue;
    std::cerr << "note: " << value->origin << " stands before it: " << key
              << ": " << value->text << "\n";
  }
  return kExitOk;
}

absl::StatusOr<ExitCode> Remove(Session& session, const std::string& name) {
  ASSIGN_OR_RETURN(const std::string wanted, NameOrCurrent(session, name));
  const auto context = session.contexts.Read(wanted);
  const std::string id = context.ok() ? TokenIdOf(*context) : "";
  RETURN_IF_ERROR(session.contexts.Remove(wanted));
  std::cout << "context " << wanted << " is removed, and its token with it\n";
  if (!id.empty()) {
    std::cerr << "note: the token is valid until it expires; `frostline token "
                 "revoke "
              << id << "` ends it\n";
  }
  return kExitOk;
}

}  // namespace

void AddContextCommands(CLI::App& app, Invocation& invocation) {
  CLI::App* const noun =
      AddNoun(app, "context", "Coordinators that `frostline login` keeps");
  const auto [list, output] =
      AddVerb(*noun, "list", "List contexts, without their tokens", invocation,
              ListContexts);
  AddListFormats(list, *output);
  const auto [use, used] =
      AddVerb(*noun, "use", "Make a context the current one", invocation, Use);
  use->add_option("NAME", *used, "The context")->required();
  const auto [show, shown, how] =
      AddVerb(*noun, "show", "Show a context, without its token", invocation,
              ShowContext);
  show->add_option("NAME", *shown, "The context; the current one");
  AddOneFormats(show, *how);
  const auto [remove, removed] = AddVerb(
      *noun, "remove", "Remove a context and its token", invocation, Remove);
  remove->add_option("NAME", *removed, "The context")->required();
  const auto [logout, left] = AddVerb(
      app, "logout", "Remove a context and its token", invocation, Remove);
  logout->add_option("NAME", *left, "The context; the current one");
}

// login. The coordinator is asked who one is with the token before
// anything is kept, so that a context that is there has worked once.

namespace {

// Converts a fingerprint to our form: openssl writes AB:CD:…, we write abcd….
std::string PlainDigits(const std::string& fingerprint) {
  return absl::AsciiStrToLower(absl::StrReplaceAll(fingerprint, {{":", ""}}));
}

absl::Status CheckFingerprint(const std::string& ca_pem,
                              const Destination& to) {
  if (to.fingerprint.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const auto facts, tls::ReadCertificate(ca_pem));
  if (facts.sha256 == to.fingerprint) return absl::OkStatus();
  return MakeError(
      ErrorId::kFingerprintWrong,
      absl::StrCat("the CA of --tls-ca has the fingerprint ", facts.sha256),
      "compare with `frostline tls fingerprint` on the "
      "coordinator's machine",
      "--fingerprint");
}

}  // namespace

absl::StatusOr<Destination> DestinationOf(const std::string& address,
                                          const std::string& fingerprint) {
  const std::size_t hash = address.find('#');
  Destination to{address.substr(0, hash), PlainDigits(fingerprint)};
  if (hash != std::string::npos) {
    const std::string behind = PlainDigits(address.substr(hash + 1));
    if (!to.fingerprint.empty() && to.fingerprint != behind) {
      return MakeError(ErrorId::kRequestInvalid,
                       "--fingerprint is another than that behind #",
                       "give one of them", "--fingerprint");
    }
    to.fingerprint = behind;
  }
  if (!IsAddress(to.connect)) {
    return MakeError(
        ErrorId::kRequestInvalid,
        absl::StrCat("'", to.connect, "' is no address of a coordinator"),
        "write HOST:PORT, e.g. gpu-head.lan:7443");
  }
  const bool named = hash != std::string::npos || !fingerprint.empty();
  if (named && !IsSha256(to.fingerprint)) {
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat("'", to.fingerprint,
                                  "' is no SHA-256 of 64 hexadecimal digits"),
                     "take what `frostline tls fingerprint` prints on the "
                     "coordinator's machine",
                     "--fingerprint");
  }
  return to;
}

absl::StatusOr<Trust> TrustIn(const Destination& to,
                              const std::string& ca_file) {
  Trust trust;
  if (!ca_file.empty()) {
    ASSIGN_OR_RETURN(trust.ca_pem, tls::ReadPublicFile(ca_file, "--tls-ca"));
    RETURN_IF_ERROR(CheckFingerprint(trust.ca_pem, to));
    tls::TlsFiles files;
    files.ca = ca_file;
    ASSIGN_OR_RETURN(trust.credentials,
                     tls::ChannelCredentialsOf(files, SystemClock()));
    return trust;
  }
  if (!to.fingerprint.empty()) {
    trust.pinned.emplace(tls::Pin{HostOf(to.connect), to.fingerprint},
                         SystemClock().Wall());
    trust.credentials = trust.pinned->credentials();
    return trust;
  }
  trust.credentials = grpc::InsecureChannelCredentials();
  if (tls::IsLocalAddress(to.connect)) return trust;
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat("the token would travel to ", to.connect, " in plaintext"),
      "give --tls-ca FILE, the CA of the coordinator, or --fingerprint, what "
      "`frostline tls fingerprint` prints on its machine",
      "--tls-ca");
}

namespace {

struct LoginArgs {
  std::string address;  // HOST:PORT, HOST:PORT#FINGERPRINT
  std::string fingerprint;
  std::string name;
};

// Refuses flags that a context cannot keep: it keeps only a token and a CA.
absl::Status CheckFlags(const Session& session) {
  if (!session.flags.access.tls.certificate.empty() ||
      !session.flags.access.tls.key.empty()) {
    return MakeError(ErrorId::kRequestInvalid,
                     "a context keeps a token, not a certificate",
                     "make a token: `frostline token create --role researcher "
                     "--subject NAME`",
                     "--tls-cert");
  }
  if (session.flags.connect.empty() && session.flags.context.empty()) {
    return absl::OkStatus();
  }
  return MakeError(ErrorId::kRequestInvalid,
                   "login takes the coordinator as its argument",
                   "write `frostline login HOST:PORT`, and --name NAME for the "
                   "context");
}

// Returns the flag's value, else the variable's.
std::string Given(const std::string& flag, const std::string& variable) {
  return flag.empty() ? variable : flag;
}

absl::StatusOr<std::string> NameFor(const Session& session,
                                    const LoginArgs& args,
                                    const std::string& connect) {
  std::string name = args.name.empty() ? NameOfAddress(connect) : args.name;
  const absl::Status valid = CheckNewName(name, "--name");
  if (!valid.ok() && args.name.empty()) {
    return MakeError(
        ErrorId::kRequestInvalid,
        absl::StrCat("no name for a context can be made of ", connect),
        "give one: --name NAME", "--name");
  }
  RETURN_IF_ERROR(valid);
  const auto before = session.contexts.Read(name);
  if (!before.ok() || before->connect == connect) return name;
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat("context ", name, " is of another coordinator, ",
                   before->connect),
      absl::StrCat("give another --name, or remove that one: "
                   "`frostline logout ",
                   name, "`"),
      "--name");
}

absl::StatusOr<SecretString> TokenOf(const Session& session) {
  const std::string path =
      Given(session.flags.access.token, session.environment.access.token);
  if (path.empty()) return ReadSecret("token: ");
  ASSIGN_OR_RETURN(const SecretString text,
                   tls::ReadPrivateFile(path, "--token-file"));
  return SecretString(std::string(absl::StripAsciiWhitespace(text.Reveal())));
}

absl::Status CheckToken(const SecretString& token) {
  for (const char c : token.Reveal()) {
    if (c <= ' ' || c >= '\x7F') {
      return MakeError(ErrorId::kRequestInvalid,
                       "what was given is no token in one line",
                       "give what `frostline token create --role researcher "
                       "--subject NAME` printed",
                       "--token-file");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::Identity> AskWho(Session& session, const NewContext& made,
                                    Trust& trust) {
  ASSIGN_OR_RETURN(
      session.client,
      Client::Open(made.connect,
                   tls::Access::WithToken(trust.credentials, made.token)));
  auto who = session.client->Call(&v1::AdminService::Stub::WhoAmI,
                                  v1::WhoAmIRequest());
  if (!trust.pinned.has_value()) return who;
  // gRPC would say of a refused handshake that nobody answers.
  if (!who.ok()) RETURN_IF_ERROR(trust.pinned->refusal());
  trust.ca_pem = trust.pinned->ca_pem();
  return who;
}

absl::StatusOr<ExitCode> LogIn(Session& session, const LoginArgs& args) {
  RETURN_IF_ERROR(CheckFlags(session));
  ASSIGN_OR_RETURN(const Destination to,
                   DestinationOf(args.address, args.fingerprint));
  ASSIGN_OR_RETURN(const std::string name, NameFor(session, args, to.connect));
  ASSIGN_OR_RETURN(Trust trust,
                   TrustIn(to, Given(session.flags.access.tls.ca,
                                     session.environment.access.tls.ca)));
  NewContext made{name, to.connect, {}, ""};
  ASSIGN_OR_RETURN(made.token, TokenOf(session));
  RETURN_IF_ERROR(CheckToken(made.token));
  ASSIGN_OR_RETURN(const v1::Identity who, AskWho(session, made, trust));
  made.ca_pem = trust.ca_pem;
  RETURN_IF_ERROR(session.contexts.Keep(made));
  RETURN_IF_ERROR(session.contexts.SetCurrent(name));
  std::cout << DescribeIdentity(who) << "\n"
            << "context " << name << " (" << to.connect
            << ") is the current one\n";
  return kExitOk;
}

}  // namespace

void AddLoginCommands(CLI::App& app, Invocation& invocation) {
  const auto [login, args] =
      AddVerb(app, "login", "Keep a coordinator and a token as a context",
              invocation, LogIn);
  login
      ->add_option("ADDRESS", args->address,
                   "HOST:PORT, or HOST:PORT#FINGERPRINT of its CA")
      ->required();
  login
      ->add_option("--fingerprint", args->fingerprint,
                   "The SHA-256 of its CA, as `tls fingerprint` prints it")
      ->type_name("SHA256");
  login->add_option("--name", args->name, "Of the context; the host's")
      ->type_name("NAME");
  login->footer(
      "The token is read from --token-file, else from standard input: a\n"
      "terminal does not show it.");
}

}  // namespace frostline::cli
