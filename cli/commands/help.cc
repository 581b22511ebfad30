// SPDX-License-Identifier: Apache-2.0
#include <google/protobuf/message.h>
#include <google/protobuf/stubs/common.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "base/flags.h"
#include "base/nearest.h"
#include "cli/commands/command.h"
#include "cli/contract/catalogue.h"
#include "cli/contract/explain.h"
#include "cli/contract/schema.h"
#include "cli/help/complete.h"
#include "cli/help/help_format.h"
#include "cli/term/text_file.h"
#include "cli/view/format.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

constexpr std::size_t kMaxHelpWord = 100;

Flag FlagOf(const CLI::Option& option) {
  Flag flag;
  if (option.get_positional()) {
    flag.name = option.get_required()
                    ? option.get_name(true)
                    : absl::StrCat("[", option.get_name(true), "]");
  } else {
    std::vector<std::string> names;  // "-o, --out"
    for (const std::string& name : option.get_snames()) {
      names.push_back(absl::StrCat("-", name));
    }
    for (const std::string& name : option.get_lnames()) {
      names.push_back(absl::StrCat("--", name));
    }
    flag.name = absl::StrJoin(names, ", ");
  }
  if (option.get_items_expected_max() > 0) {
    flag.value = ShownType(option.get_type_name());
  }
  flag.help = option.get_description();
  flag.unless_given = option.get_default_str();
  flag.repeats = option.get_items_expected_max() > 1;
  return flag;
}

// Returns the text at the end; a page for people begins with the examples.
std::string FooterOf(const CLI::App& app) {
  std::string text;
  for (const std::string& line : ExamplesOf(PathOf(app))) {
    absl::StrAppend(&text, "  ", line, "\n");
  }
  return absl::StrCat(text, app.get_footer());
}

CommandPage HelpPageOf(const CLI::App& app) {
  CommandPage page;
  page.name = app.get_name();
  page.summary = app.get_description();
  page.footer = FooterOf(app);
  for (const CLI::Option* const option : app.get_options()) {
    (option->get_positional() ? page.words : page.flags)
        .push_back(FlagOf(*option));
  }
  for (const CLI::App* const command : app.get_subcommands(nullptr)) {
    page.commands.push_back(HelpPageOf(*command));
  }
  return page;
}

absl::StatusOr<ExitCode> HelpJson(const CLI::App& app) {
  CommandPage page = HelpPageOf(app);
  page.version = FROSTLINE_VERSION;
  std::cout << CommandJson(page);
  return kExitOk;
}

// Returns the help of `app` itself, whichever of its commands was parsed.
std::string HelpOf(const CLI::App& app) {
  return app.get_formatter()->make_help(&app, "", CLI::AppFormatMode::Normal);
}

absl::Status NoHelpOn(const CLI::App& app, const std::string& topic) {
  std::vector<std::string> known = TopicNames();
  for (const CLI::App* const command : app.get_subcommands(nullptr)) {
    known.push_back(command->get_name());
  }
  return MakeError(ErrorId::kRequestInvalid, "no help on " + topic,
                   Suggest(topic, known));
}

absl::StatusOr<ExitCode> Help(const CLI::App& app,
                              const std::vector<std::string>& words) {
  const std::string topic =
      words.size() == 1 ? TopicText(words.front()) : std::string();
  if (!topic.empty()) {
    std::cout << topic;
    return kExitOk;
  }
  const CLI::App* command = &app;
  for (const std::string& word : words) {
    const CLI::App* const next = FindCommand(*command, word);
    if (next == nullptr) {
      return NoHelpOn(*command, proto::CleanText(word, kMaxHelpWord));
    }
    command = next;
  }
  std::cout << HelpOf(*command);
  return kExitOk;
}

absl::StatusOr<ExitCode> Version(Session& /*session*/) {
  std::cout << "frostline " << FROSTLINE_VERSION << " (gRPC " << grpc::Version()
            << ", Protobuf "
            << google::protobuf::internal::VersionString(
                   GOOGLE_PROTOBUF_VERSION)
            << ")\n";
  return kExitOk;
}

}  // namespace

void AddHelpCommands(CLI::App& app, Invocation& invocation) {
  const auto topic = std::make_shared<std::vector<std::string>>();
  const auto json = std::make_shared<bool>(false);
  CLI::App* const help =
      AddVerb(app, "help", "Help on a command or a topic", invocation,
              [&app, topic, json](Session&) {
                return *json ? HelpJson(app) : Help(app, *topic);
              });
  help->add_option("TOPIC", *topic,
                   "A command, or " + absl::StrJoin(TopicNames(), ", "));
  help->add_flag("--json", *json,
                 "All commands with their flags, as JSON, for programs");
  AddVerb(app, "version", "The versions of this program", invocation, Version);
}

void AddCompletionCommands(CLI::App& app, Invocation& invocation) {
  CLI::App* const noun =
      AddNoun(app, "completion",
              "Print what makes a shell complete this program's words");
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    AddVerb(*noun, shell, "The script for " + shell, invocation,
            [shell](Session&) -> absl::StatusOr<ExitCode> {
              std::cout << CompletionScript(shell);
              return kExitOk;
            });
  }
}

// `frostline rpc`: any method of the contract, with its request as JSON.

namespace {

using google::protobuf::Descriptor;
using google::protobuf::Message;
using google::protobuf::MethodDescriptor;

// The longest text of a request that is read: a coordinator takes a message of
// 1 MiB, and as JSON it is longer.
constexpr std::size_t kMaxRequestBytes = std::size_t{4} << 20;

struct RpcArgs {
  std::string method;
  std::string request;
  bool list = false;
  bool show_template = false;
};

std::unique_ptr<Message> NewMessage(const Descriptor& type) {
  return std::unique_ptr<Message>(
      google::protobuf::MessageFactory::generated_factory()
          ->GetPrototype(&type)
          ->New());
}

absl::StatusOr<std::string> RequestText(const std::string& word) {
  if (word.empty()) return std::string("{}");
  const bool is_file = absl::StartsWith(word, "@");
  if (!is_file && word != "-") return word;
  ASSIGN_OR_RETURN(
      std::string text,
      ReadTextFile(is_file ? word.substr(1) : word, kMaxRequestBytes));
  if (text.size() <= kMaxRequestBytes) return text;
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat("the request has more than ", kMaxRequestBytes, " bytes"),
      "send it in parts");
}

absl::StatusOr<ExitCode> Call(Session& session, const RpcArgs& args,
                              const MethodDescriptor& method) {
  const auto request = NewMessage(*method.input_type());
  ASSIGN_OR_RETURN(const std::string text, RequestText(args.request));
  RETURN_IF_ERROR(ReadRequest(text, SystemClock(), request.get()));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  const auto reply = NewMessage(*method.output_type());
  RETURN_IF_ERROR(
      client->CallByName(method, *request, reply.get(), [&method, &reply] {
        std::cout << (method.server_streaming() ? ReplyLine(*reply)
                                                : ToJson(*reply))
                  << std::flush;
        return absl::OkStatus();
      }));
  return kExitOk;
}

absl::StatusOr<ExitCode> Rpc(Session& session, const RpcArgs& args) {
  if (args.list) {
    std::cout << MethodTable(session.terminal.width);
    return kExitOk;
  }
  if (args.method.empty()) {
    return MakeError(ErrorId::kRequestInvalid, "no method is named",
                     "`frostline rpc --list` shows the methods there are",
                     "METHOD");
  }
  ASSIGN_OR_RETURN(const MethodDescriptor* const method,
                   FindMethod(args.method));
  if (!args.show_template) return Call(session, args, *method);
  std::cout << RequestTemplate(*method->input_type());
  return kExitOk;
}

}  // namespace

void AddRpcCommand(CLI::App& app, Invocation& invocation) {
  const auto [verb, args] =
      AddVerb(app, "rpc", "Call any method of the coordinator, in JSON",
              invocation, Rpc);
  verb->add_option("METHOD", args->method,
                   "CreateStudy, or StudyService.CreateStudy");
  verb->add_option("JSON", args->request,
                   "The request; - is standard input, @FILE a file [{}]");
  verb->add_flag("--list", args->list, "Which methods there are");
  verb->add_flag("--template", args->show_template,
                 "An example of the method's request, with comments");
  verb->footer(
      "A stream is answered with an object a line. Methods of WorkerService "
      "are for\nlooking for faults: who acquires a trial holds it until its "
      "lease ends.");
}

// `frostline schema`: JSON Schema for editors and for programs.

namespace {

constexpr std::size_t kMaxSchemaWord = 100;

struct SchemaArgs {
  std::string what;
  std::string file;
  bool force = false;
};

absl::StatusOr<std::string> SchemaOf(const std::string& what) {
  // The file, since the message is what answers have: `schema StudySpec`.
  if (what == "study") return StudyFileSchema();
  if (const auto* const type = FindMessage(what)) return MessageSchema(*type);
  std::vector<std::string> names = {"study", "trial"};
  for (const auto* const type : AllMessages()) {
    names.push_back(ShortNameOf(*type));
  }
  const std::string near = Nearest(what, names);
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat("nothing is called '",
                   proto::CleanText(what, kMaxSchemaWord), "'"),
      near.empty() ? "write study, trial, or a message such as ListTrialsReply"
                   : absl::StrCat("did you mean '", near, "'?"),
      "WHAT");
}

absl::StatusOr<ExitCode> Schema(Session& /*session*/, const SchemaArgs& args) {
  ASSIGN_OR_RETURN(const std::string schema, SchemaOf(args.what));
  if (IsStandardOutput(args.file)) {
    std::cout << schema;
    return kExitOk;
  }
  RETURN_IF_ERROR(CheckMayReplace(args.file, args.force));
  ASSIGN_OR_RETURN(const auto file, OutputFile::Open(args.file));
  RETURN_IF_ERROR(file->Append(schema));
  RETURN_IF_ERROR(file->Commit());
  std::cerr << "written: " << args.file << "\n";
  return kExitOk;
}

}  // namespace

void AddSchemaCommand(CLI::App& app, Invocation& invocation) {
  const auto [verb, args] =
      AddVerb(app, "schema", "JSON Schema of study files and of answers",
              invocation, Schema);
  verb->add_option("WHAT", args->what,
                   "study (a study file), trial, or a message of the contract")
      ->required();
  verb->add_option("-o,--out", args->file, "Write it there")->type_name("FILE");
  verb->add_flag("--force", args->force, "Replace a file that is there");
  verb->footer(
      "Editors that know YAML check and complete a study file that begins "
      "with\n  # yaml-language-server: $schema=study.schema.json");
}

// `frostline explain`: the meaning of a field or of an error.

namespace {

// Longer lines are hard to read, on a wide terminal too.
constexpr int kWidestExplanation = 100;
constexpr int kOffTerminal = 80;

struct ExplainArgs {
  std::string path;
  bool recursive = false;
};

absl::StatusOr<ExitCode> ExplainWord(Session& session,
                                     const ExplainArgs& args) {
  const int terminal = session.terminal.width;
  const int width =
      terminal == 0 ? kOffTerminal : std::min(terminal, kWidestExplanation);
  if (args.path == "exit-codes") {
    return MakeError(ErrorId::kRequestInvalid,
                     "exit codes are no part of the contract",
                     "`frostline help exit-codes` lists them", "PATH");
  }
  const absl::StatusOr<std::string> page =
      IsErrorId(args.path) ? ExplainError(args.path, width)
      : args.recursive     ? ExplainTree(args.path)
                           : ExplainPath(args.path, width);
  const std::string term = ExplainTerm(args.path, width);
  if (term.empty()) RETURN_IF_ERROR(page.status());
  if (page.ok()) std::cout << *page;
  if (!term.empty()) {
    std::cout << (page.ok() ? "\nIN THE GLOSSARY\n" : "") << term;
  }
  return kExitOk;
}

}  // namespace

void AddExplainCommand(CLI::App& app, Invocation& invocation) {
  const auto [verb, args] =
      AddVerb(app, "explain",
              "What a field, a word on the screen, or an error's id means",
              invocation, ExplainWord);
  verb->add_option("PATH", args->path,
                   "space.modules, StudySettings.budget, within, FL-2001")
      ->required();
  verb->add_flag("--recursive", args->recursive,
                 "The names of all that is below, as a tree");
  verb->footer("Steps in the middle of a path may be left out.");
}

}  // namespace frostline::cli
