// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/hub.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "cli/commands/package.h"
#include "cli/process/child_process.h"
#include "cli/term/terminal.h"

namespace frostline::cli {
namespace {

constexpr std::size_t kLongestId = 64;

bool IsOfName(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' ||
         c == '_' || c == '-';
}

absl::Status CheckHubName(const char* flag, const std::string& name) {
  const std::vector<std::string> parts = absl::StrSplit(name, '/');
  const std::size_t most = flag == std::string("--data") ? 3 : 2;
  const bool is_name = parts.size() <= most &&
                       std::ranges::all_of(parts, [](const std::string& part) {
                         return !part.empty() && part[0] != '.' &&
                                part[0] != '-' &&
                                std::ranges::all_of(part, IsOfName);
                       });
  if (is_name) return absl::OkStatus();
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat("'", name, "' is no name that the Hub gives"),
      most == 2 ? "write bert-base-uncased or owner/name; a folder of your own "
                  "is added by `frostline registry add model DIR`"
                : "write imdb, glue/sst2 or owner/name/part; rows of your own "
                  "are added by `frostline registry add dataset FILE`",
      flag);
}

// As frostline-hub makes it.
std::string IdOf(const HubOrder& order) {
  if (!order.id.empty()) return order.id;
  const std::string& name = order.model.empty() ? order.data : order.model;
  std::string id = absl::AsciiStrToLower(name.substr(name.rfind('/') + 1));
  const auto end = id.find_last_not_of("-._");
  return id.substr(0, std::min(end + 1, kLongestId));
}

std::string Or(const char* variable, const char* otherwise) {
  const char* const value = std::getenv(variable);
  return value == nullptr || *value == '\0' ? otherwise : value;
}

std::vector<std::string> FlagsOf(const HubOrder& order) {
  std::vector<std::string> words;
  const auto add = [&words](const char* flag, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {flag, value});
  };
  add("--model", order.model);
  add("--data", order.data);
  add("--id", order.id);
  add("--revision", order.revision);
  add("--registry", order.folder);
  if (!order.flags.empty()) words.emplace_back("--");
  words.insert(words.end(), order.flags.begin(), order.flags.end());
  return words;
}

// `add` has flags of its own, which its verbs would let through unread.
void RefuseNamesBeside(const CLI::App& add) {
  for (const CLI::Option* const option : add.get_options()) {
    if (option->count() == 0) continue;
    throw CLI::ExcludesError(option->get_name(),
                             add.get_subcommands().front()->get_name());
  }
}

absl::StatusOr<ExitCode> AddOneFromHub(Session& /*session*/,
                                       const HubOrder& order) {
  const char* const flag = order.model.empty() ? "--data" : "--model";
  RETURN_IF_ERROR(
      CheckHubName(flag, order.model.empty() ? order.data : order.model));
  return RunOfPackage(kHubProgram, FlagsOf(order), {},
                      absl::StrCat("; by hand:\n", ByHand(order)));
}

}  // namespace

std::string ByHand(const HubOrder& order) {
  const std::string id = IdOf(order);
  std::string fetch = absl::StrCat("hf download ", order.model);
  if (!order.revision.empty()) {
    absl::StrAppend(&fetch, " --revision ", ShellWord(order.revision));
  }
  absl::StrAppend(&fetch, " --local-dir ", ShellWord(id));
  if (order.model.empty()) {
    // `datasets` takes a repository and, apart from it, one of its parts.
    std::vector<std::string> parts = absl::StrSplit(order.data, '/');
    std::vector<std::string> words = {parts[0]};
    if (parts.size() == 3) words[0] = absl::StrCat(parts[0], "/", parts[1]);
    if (parts.size() > 1) words.push_back(parts.back());
    fetch = absl::StrCat("python3 -c \"import datasets as d; [s.to_json(f'", id,
                         "/{n}.jsonl') for n, s in d.load_dataset('",
                         absl::StrJoin(words, "', '"), "').items()]\"");
  }
  std::string add = absl::StrCat("frostline registry add ",
                                 order.model.empty() ? "dataset " : "model ",
                                 ShellWord(id), " --id ", ShellWord(id),
                                 " --registry ", ShellWord(order.folder));
  for (const std::string& word : order.flags) {
    absl::StrAppend(&add, " ", ShellWord(word));
  }
  return absl::StrCat("    ", fetch, "\n    ", add);
}

void AddFromHub(CLI::App& add, Invocation& invocation) {
  const auto order = std::make_shared<HubOrder>();
  add.require_subcommand(0, 1);
  CLI::Option* const model =
      add.add_option("--model", order->model,
                     "A model by its name on the Hugging Face Hub: "
                     "bert-base-uncased, owner/name")
          ->type_name("NAME");
  CLI::Option* const data =
      add.add_option("--data", order->data,
                     "A data set by its name there: imdb, glue/sst2, "
                     "owner/name/part")
          ->type_name("NAME")
          ->excludes(model);
  add.add_option("--revision", order->revision,
                 "A commit, branch or tag; else the one that hub.json has, "
                 "else the newest")
      ->type_name("REVISION");
  add.add_option("--id", order->id, "What studies call it; from NAME")
      ->type_name("ID");
  // No option of the environment's name: the verbs below have that one.
  add.add_option("--registry", order->folder,
                 "Folder of models.yaml and datasets.yaml [registry]; "
                 "$FROSTLINE_REGISTRY")
      ->type_name("DIR");
  // What `add model` and `add dataset` take of this goes there as it is.
  const auto pass = [&add, order](const char* flag, const char* help,
                                  const char* type) {
    return add
        .add_option_function<std::string>(
            flag,
            [order, flag](const std::string& value) {
              order->flags.insert(order->flags.end(), {flag, value});
            },
            help)
        ->type_name(type);
  };
  for (const auto& [flag, help] :
       {std::pair("--text", "The column of the texts; guessed"),
        std::pair("--second", "The column of the second text of a pair"),
        std::pair("--label", "The column of the labels; guessed"),
        std::pair("--words", "Tagging: the column of the words"),
        std::pair("--tags", "Tagging: the column of the words' tags")}) {
    pass(flag, help, "COL")->needs(data);
  }
  pass("--task",
       "classification, regression, tagging, pair, answers or choices; guessed",
       "TASK")
      ->needs(data);
  add.add_flag_callback(
      "--replace", [order] { order->flags.emplace_back("--replace"); },
      "Instead of another of this id");
  add.callback([&add, order, &invocation] {
    if (!add.get_subcommands().empty()) return RefuseNamesBeside(add);
    if (order->model.empty() && order->data.empty()) {
      throw CLI::RequiredError(
          "a model or a data set: `add model DIR`, `add dataset PATH`, or by "
          "its name on the Hub `add --model NAME`, `add --data NAME`",
          CLI::ExitCodes::RequiredError);
    }
    if (order->folder.empty()) {
      order->folder = Or("FROSTLINE_REGISTRY", "registry");
    }
    invocation.action = [order](Session& session) {
      return AddOneFromHub(session, *order);
    };
  });
}

}  // namespace frostline::cli
