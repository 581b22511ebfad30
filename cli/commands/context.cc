// SPDX-License-Identifier: Apache-2.0
//
// Contexts. None of these verbs calls a coordinator, and none shows a token.
#include <google/protobuf/struct.pb.h>

#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "cli/commands/command.h"
#include "cli/commands/output_flags.h"
#include "cli/term/table.h"
#include "cli/view/format.h"
#include "tls/certificate.h"
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

absl::StatusOr<ExitCode> ListContexts(const Session& session,
                                      const Output& output) {
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
  RETURN_IF_ERROR(PrintList(
      session.terminal, output, all, [&table](bool) { return table; },
      "no contexts; make one with `frostline login HOST:PORT`"));
  return kExitOk;
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

absl::StatusOr<ExitCode> ShowContext(const Session& session,
                                     const std::string& name,
                                     const Output& output) {
  ASSIGN_OR_RETURN(const std::string wanted, NameOrCurrent(session, name));
  RETURN_IF_ERROR(session.contexts.Read(wanted).status());
  const ShownContext shown =
      Look(session.contexts, wanted, session.contexts.Current().value_or(""));
  RETURN_IF_ERROR(PrintOne(session.terminal, output, FieldsOf(shown), [&shown] {
    return absl::StrCat(
        KeyLine("context",
                absl::StrCat(shown.name, shown.current ? " (current)" : "")),
        KeyLine("coordinator", shown.connect), KeyLine("CA", shown.ca_sha256),
        KeyLine("token", shown.token_id), KeyLine("refused", shown.refused),
        KeyLine("folder", shown.folder));
  }));
  return kExitOk;
}

absl::StatusOr<ExitCode> Use(const Session& session, const std::string& name) {
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

absl::StatusOr<ExitCode> Remove(const Session& session,
                                const std::string& name) {
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
  CLI::App* const noun = app.add_subcommand(
      "context", "Coordinators that `frostline login` keeps");
  noun->require_subcommand(1)->fallthrough();
  const auto name = std::make_shared<std::string>();
  const auto output = std::make_shared<Output>();
  AddListFormats(
      AddVerb(*noun, "list", "List contexts, without their tokens", invocation,
              [output](Session& session) {
                return ListContexts(session, *output);
              }),
      *output);
  AddVerb(*noun, "use", "Make a context the current one", invocation,
          [name](Session& session) { return Use(session, *name); })
      ->add_option("NAME", *name, "The context")
      ->required();
  CLI::App* const show =
      AddVerb(*noun, "show", "Show a context, without its token", invocation,
              [name, output](Session& session) {
                return ShowContext(session, *name, *output);
              });
  show->add_option("NAME", *name, "The context; the current one");
  AddOneFormats(show, *output);
  AddVerb(*noun, "remove", "Remove a context and its token", invocation,
          [name](Session& session) { return Remove(session, *name); })
      ->add_option("NAME", *name, "The context")
      ->required();
  AddVerb(app, "logout", "Remove a context and its token", invocation,
          [name](Session& session) { return Remove(session, *name); })
      ->add_option("NAME", *name, "The context; the current one");
}

}  // namespace frostline::cli
