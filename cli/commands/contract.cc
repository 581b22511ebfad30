// SPDX-License-Identifier: Apache-2.0
//
// `frostline rpc`: any method of the contract, with its request as JSON.
#include <google/protobuf/message.h>

#include <iostream>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "cli/commands/command.h"
#include "cli/contract/catalogue.h"
#include "cli/contract/request_json.h"
#include "cli/term/text_file.h"
#include "cli/view/format.h"

namespace frostline::cli {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::Message;
using google::protobuf::MethodDescriptor;

// What a coordinator takes at most.
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
  const auto args = std::make_shared<RpcArgs>();
  CLI::App* const verb = AddVerb(
      app, "rpc", "Call any method of the coordinator, in JSON", invocation,
      [args](Session& session) { return Rpc(session, *args); });
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

}  // namespace frostline::cli
