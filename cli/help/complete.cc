// SPDX-License-Identifier: Apache-2.0
#include "cli/help/complete.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/error.h"
#include "base/ids.h"
#include "cli/client/client.h"
#include "cli/context/context_store.h"
#include "cli/help/help_format.h"
#include "cli/process/child_process.h"
#include "cli/recipe/recipe_file.h"

namespace frostline::cli {
namespace {

const CLI::App* Below(const CLI::App& at, const std::string& word) {
  for (const CLI::App* const command : at.get_subcommands(nullptr)) {
    if (command->get_name() == word) return command;
  }
  return nullptr;
}

const CLI::Option* FlagNamed(const CLI::App& root, const CLI::App& at,
                             const std::string& name) {
  for (const CLI::Option* const flag : FlagsAt(root, at)) {
    if (flag->check_name(name)) return flag;
  }
  return nullptr;
}

void NoteOption(const std::string& flag, const std::string& value,
                TargetOptions& options) {
  if (flag == "--connect") options.connect = value;
  if (flag == "--context") options.context = value;
  if (flag == "--token-file") options.access.token = value;
  if (flag == "--tls-ca") options.access.tls.ca = value;
  if (flag == "--tls-cert") options.access.tls.certificate = value;
  if (flag == "--tls-key") options.access.tls.key = value;
}

std::vector<std::string> JoinedAtSigns(const std::vector<std::string>& words) {
  std::vector<std::string> joined;
  bool after_sign = false;
  for (const std::string& word : words) {
    const bool is_sign =
        !joined.empty() &&
        (word == ":" || (word == "=" && absl::StartsWith(joined.back(), "--")));
    if (is_sign || after_sign) {
      joined.back() += word;
    } else {
      joined.push_back(word);
    }
    after_sign = is_sign;
  }
  return joined;
}

// Handles a flag before the last word. `awaits` stays set if its value is still
// to come.
void StepOverFlag(const CLI::App& root, const std::string& word, Walk& walk) {
  const std::size_t equals = word.find('=');
  const std::string name = word.substr(0, equals);
  const CLI::Option* const flag = FlagNamed(root, *walk.at, name);
  if (flag == nullptr || flag->get_type_size() == 0) return;
  if (equals == std::string::npos) {
    walk.awaits = flag;
  } else {
    NoteOption(flag->get_name(), word.substr(equals + 1), walk.options);
  }
}

void Step(const CLI::App& root, const std::string& word, Walk& walk) {
  if (walk.awaits != nullptr) {
    NoteOption(walk.awaits->get_name(), word, walk.options);
    walk.awaits = nullptr;
  } else if (walk.only_words || word.size() < 2 || word[0] != '-') {
    const CLI::App* const next =
        walk.positionals.empty() ? Below(*walk.at, word) : nullptr;
    if (next != nullptr) {
      walk.at = next;
    } else {
      walk.positionals.push_back(word);
    }
  } else if (word == "--") {
    walk.only_words = true;
  } else {
    StepOverFlag(root, word, walk);
  }
}

// Handles the last word. "--format=js" also asks for a value.
void StopAt(const CLI::App& root, const std::string& word, Walk& walk) {
  walk.begun = word;
  const std::size_t equals = word.find('=');
  if (walk.awaits != nullptr || walk.only_words ||
      !absl::StartsWith(word, "--") || equals == std::string::npos) {
    return;
  }
  walk.awaits = FlagNamed(root, *walk.at, word.substr(0, equals));
  walk.before = word.substr(0, equals + 1);
  walk.begun = word.substr(equals + 1);
}

}  // namespace

Walk WalkAlong(const CLI::App& root, const std::vector<std::string>& words) {
  Walk walk;
  walk.at = &root;
  const std::vector<std::string> joined = JoinedAtSigns(words);
  for (std::size_t i = 0; i + 1 < joined.size(); ++i) {
    Step(root, joined[i], walk);
  }
  StopAt(root, joined.empty() ? "" : joined.back(), walk);
  return walk;
}

std::vector<const CLI::Option*> FlagsAt(const CLI::App& root,
                                        const CLI::App& at) {
  const auto is_flag = [](const CLI::Option* option) {
    return option->nonpositional() && !option->get_group().empty();
  };
  std::vector<const CLI::Option*> flags = at.get_options(is_flag);
  if (&at == &root) return flags;
  for (const CLI::Option* const flag : root.get_options(is_flag)) {
    if (at.get_option_no_throw(flag->get_name()) == nullptr) {
      flags.push_back(flag);
    }
  }
  return flags;
}

const CLI::Option* PositionalAt(const Walk& walk) {
  const std::vector<const CLI::Option*> all = walk.at->get_options(
      [](const CLI::Option* option) { return option->get_positional(); });
  const std::size_t index = walk.positionals.size();
  if (index < all.size()) return all[index];
  const bool repeats = !all.empty() && all.back()->get_items_expected_max() > 1;
  return repeats ? all.back() : nullptr;
}

namespace {

bool IsOneOf(const std::string& word, const std::vector<std::string>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

void AddTopics(const CLI::App& root, NextWord& wanted) {
  for (const std::string& topic : TopicNames()) {
    wanted.candidates.push_back({topic});
  }
  for (const CLI::App* const command : root.get_subcommands(nullptr)) {
    wanted.candidates.push_back(
        {command->get_name(), command->get_description()});
  }
}

void AddErrors(NextWord& wanted) {
  for (const ErrorKind& kind : AllErrorKinds()) {
    wanted.candidates.push_back({ErrorCode(kind.id), kind.title});
  }
}

// Decides by the name of the positional in the table: "STUDY", "NUMBER",
// "FILE".
void WantNamed(const std::string& name, const std::string& noun,
               const std::vector<std::string>& before, NextWord& wanted) {
  const bool names_study =
      IsOneOf(name, {"STUDY", "FIRST", "SECOND", "FROM", "TO"});
  if (names_study || (name == "ID" && noun == "study")) {
    wanted.live = Live::kStudies;
    wanted.files = noun == "report";  // takes a record's file too
  } else if (name == "STUDY[/N]" || name == "TRIAL") {
    wanted.live = Live::kStudies;
    wanted.slash_number = true;
  } else if (name == "NUMBER" && !before.empty()) {
    wanted.live = Live::kTrials;
    wanted.study = before.front();
  } else if (name == "WORKER") {
    wanted.live = Live::kWorkers;
  } else if (name == "NAME" && (noun == "context" || noun == "logout")) {
    wanted.live = Live::kContexts;
  } else if (name == "NAME" && noun == "recipe") {
    wanted.live = Live::kRecipes;
    wanted.files = true;
  } else if (IsOneOf(name, {"DIR", "FOLDER", "DATA_DIR"})) {
    wanted.folders = true;
  } else if (IsOneOf(name, {"FILE", "PATH", "MODEL"})) {
    wanted.files = true;
  }
}

void WantPositional(const CLI::App& root, const Walk& walk, NextWord& wanted) {
  const std::string path = PathOf(*walk.at);
  const std::string noun = path.substr(0, path.find(' '));
  if (noun == "help") return AddTopics(root, wanted);
  if (noun == "explain") return AddErrors(wanted);
  const CLI::Option* const option = PositionalAt(walk);
  if (option == nullptr) return;
  for (const std::string& word : WordsOfType(option->get_type_name())) {
    wanted.candidates.push_back({word});
  }
  WantNamed(option->get_name(true), noun, walk.positionals, wanted);
  // Where a trial's number may stand behind its study, or after a slash.
  const bool takes_number = walk.at->get_option_no_throw("NUMBER") != nullptr;
  if (takes_number && wanted.live == Live::kStudies) wanted.slash_number = true;
}

// Returns the values of `--format`, which are exactly its help.
std::vector<std::string> FormatsOf(const CLI::Option& flag) {
  if (flag.get_type_name() != "FORMAT") return {};
  const std::vector<std::string> words =
      absl::StrSplit(flag.get_description(), ", ");
  const bool is_list =
      std::all_of(words.begin(), words.end(), [](const std::string& word) {
        return !word.empty() && !absl::StrContains(word, ' ');
      });
  return is_list ? words : std::vector<std::string>();
}

void WantValue(const CLI::Option& flag, NextWord& wanted) {
  const std::string type = flag.get_type_name();
  for (const std::string& word : WordsOfType(type)) {
    wanted.candidates.push_back({word});
  }
  for (const std::string& word : FormatsOf(flag)) {
    wanted.candidates.push_back({word});
  }
  if (!wanted.candidates.empty()) return;
  const std::string name = flag.get_name();
  if (name == "--context") {
    wanted.live = Live::kContexts;
  } else if (name == "--study") {
    wanted.live = Live::kStudies;
  } else if (name == "--worker") {
    wanted.live = Live::kWorkers;
  } else if (absl::StrContains(type, "DIR")) {
    wanted.folders = true;
  } else {
    // A word that nobody can know may still be a file's name.
    wanted.files = true;
  }
}

void WantFlags(const CLI::App& root, const CLI::App& at, NextWord& wanted) {
  for (const CLI::Option* const flag : FlagsAt(root, at)) {
    for (const std::string& name : flag->get_lnames()) {
      wanted.candidates.push_back(
          {absl::StrCat("--", name), flag->get_description()});
    }
    for (const std::string& name : flag->get_snames()) {
      wanted.candidates.push_back(
          {absl::StrCat("-", name), flag->get_description()});
    }
  }
}

}  // namespace

NextWord WantedAfter(const CLI::App& root,
                     const std::vector<std::string>& words) {
  const Walk walk = WalkAlong(root, words);
  NextWord wanted;
  wanted.begun = walk.begun;
  wanted.before = walk.before;
  wanted.options = walk.options;
  if (walk.awaits != nullptr) {
    WantValue(*walk.awaits, wanted);
  } else if (!walk.only_words && absl::StartsWith(walk.begun, "-")) {
    WantFlags(root, *walk.at, wanted);
  } else {
    if (walk.positionals.empty()) {
      for (const CLI::App* const below : walk.at->get_subcommands(nullptr)) {
        wanted.candidates.push_back(
            {below->get_name(), below->get_description()});
      }
    }
    WantPositional(root, walk, wanted);
  }
  return wanted;
}

namespace {

constexpr std::int64_t kMostNumbers = 10'000;

absl::StatusOr<std::unique_ptr<Client>> Open(const TargetOptions& flags) {
  ASSIGN_OR_RETURN(const Target target,
                   ChooseTarget(flags, TargetOptionsOfEnvironment(),
                                ContextStore::OfUser()));
  return Client::Open(target.connect, target.access);
}

absl::Status AddStudies(Client& client, NextWord& wanted) {
  ASSIGN_OR_RETURN(const v1::ListStudiesReply list,
                   client.CallForAll(&v1::StudyService::Stub::ListStudies,
                                     v1::ListStudiesRequest()));
  for (const v1::Study& study : list.studies()) {
    const std::string id(absl::StripPrefix(study.name(), "studies/"));
    wanted.candidates.push_back({id});
  }
  return absl::OkStatus();
}

// Adds the numbers of trials. They begin at 0 without gaps, so the counts are
// enough.
absl::Status AddTrials(Client& client, NextWord& wanted) {
  const std::string id(absl::StripPrefix(wanted.study, "studies/"));
  RETURN_IF_ERROR(CheckId(id, ""));
  ASSIGN_OR_RETURN(const v1::Study study, FetchStudy(client, StudyNameOf(id)));
  const v1::TrialCounts& counts = study.counts();
  const std::int64_t count = counts.queued() + counts.running() +
                             counts.succeeded() + counts.pruned() +
                             counts.infeasible() + counts.failed() +
                             counts.cancelled();
  for (std::int64_t i = 0; i < count && i < kMostNumbers; ++i) {
    wanted.candidates.push_back({absl::StrCat(i)});
  }
  return absl::OkStatus();
}

absl::Status AddWorkers(Client& client, NextWord& wanted) {
  ASSIGN_OR_RETURN(const v1::ListWorkersReply list,
                   client.CallForAll(&v1::WorkerService::Stub::ListWorkers,
                                     v1::ListWorkersRequest()));
  for (const v1::Worker& worker : list.workers()) {
    const std::string id(absl::StripPrefix(worker.name(), "workers/"));
    wanted.candidates.push_back({id});
  }
  return absl::OkStatus();
}

// Accepts names in the contract's full form: "studies/imdb".
void TakePrefix(const std::string& prefix, NextWord& wanted) {
  if (!absl::StartsWith(wanted.begun, prefix)) return;
  wanted.before += prefix;
  wanted.begun = wanted.begun.substr(prefix.size());
}

// Sees that "imdb/1" asks for a trial of imdb.
void TakeStudyOfSlash(NextWord& wanted) {
  const std::size_t slash = wanted.begun.rfind('/');
  if (!wanted.slash_number || slash == std::string::npos) return;
  wanted.study = wanted.begun.substr(0, slash);
  wanted.before += wanted.begun.substr(0, slash + 1);
  wanted.begun = wanted.begun.substr(slash + 1);
  wanted.live = Live::kTrials;
}

absl::Status AddOfCoordinator(NextWord& wanted) {
  ASSIGN_OR_RETURN(const auto client, Open(wanted.options));
  if (wanted.live == Live::kStudies) return AddStudies(*client, wanted);
  if (wanted.live == Live::kTrials) return AddTrials(*client, wanted);
  return AddWorkers(*client, wanted);
}

}  // namespace

void AddLive(NextWord& wanted) {
  if (wanted.live == Live::kStudies) TakePrefix("studies/", wanted);
  if (wanted.live == Live::kWorkers) TakePrefix("workers/", wanted);
  TakeStudyOfSlash(wanted);
  if (wanted.live == Live::kNone) return;
  if (wanted.live == Live::kRecipes) {
    for (const KnownRecipe& recipe : KnownRecipes()) {
      wanted.candidates.push_back({recipe.name});
    }
  } else if (wanted.live == Live::kContexts) {
    for (const std::string& name :
         ContextStore::OfUser().Names().value_or(std::vector<std::string>())) {
      wanted.candidates.push_back({name});
    }
  } else {
    (void)AddOfCoordinator(wanted);
  }
}

namespace {

using google::protobuf::Struct;
using google::protobuf::Value;

constexpr Duration kLongest = std::chrono::milliseconds(300);

std::string TextOf(const Struct& flag, const std::string& member) {
  const auto found = flag.fields().find(member);
  return found == flag.fields().end() ? "" : found->second.string_value();
}

std::vector<Struct> FlagsOfProgram(const std::string& name) {
  std::vector<Struct> flags;
  const auto path = SiblingProgram(name);
  if (!path.ok()) return flags;
  const auto ran = RunCaptured({*path, "--help=json"}, kLongest);
  Struct page;
  if (!ran.ok() ||
      !google::protobuf::util::JsonStringToMessage(ran->out, &page).ok()) {
    return flags;
  }
  const auto list = page.fields().find("flags");
  if (list == page.fields().end()) return flags;
  for (const Value& flag : list->second.list_value().values()) {
    flags.push_back(flag.struct_value());
  }
  return flags;
}

std::vector<std::string> NamesOf(const Struct& flag) {
  return absl::StrSplit(TextOf(flag, "name"), ", ");
}

void WantValueOf(const Struct& flag, NextWord& wanted) {
  wanted.candidates.clear();
  wanted.live = Live::kNone;
  const std::string type = TextOf(flag, "value");
  for (const std::string& word : WordsOfType(type)) {
    wanted.candidates.push_back({word});
  }
  wanted.folders = absl::StrContains(type, "DIR");
  wanted.files = !wanted.folders && wanted.candidates.empty();
}

}  // namespace

void AddProgramFlags(const std::string& name,
                     const std::vector<std::string>& words, NextWord& wanted) {
  if (words.size() < 2) return;
  const std::string& before = words[words.size() - 2];
  const bool wants_flag = absl::StartsWith(wanted.begun, "-");
  if (!wants_flag && !absl::StartsWith(before, "-")) return;
  if (wants_flag) wanted.candidates.clear();
  for (const Struct& flag : FlagsOfProgram(name)) {
    const std::vector<std::string> names = NamesOf(flag);
    if (wants_flag) {
      for (const std::string& one : names) {
        wanted.candidates.push_back({one, TextOf(flag, "help")});
      }
    } else if (std::count(names.begin(), names.end(), before) > 0 &&
               !TextOf(flag, "value").empty()) {
      WantValueOf(flag, wanted);
    }
  }
}

namespace {

// The time limit. With the start of the program it stays below 200 ms; people
// notice a longer pause.
constexpr suseconds_t kLongestMicroseconds = 150'000;

// Ends the program in time, whatever blocks (a name that does not resolve, a
// file system that is away), so that the person can go on typing.
void EndInTime() {
  std::signal(SIGALRM, [](int) { _exit(0); });
  itimerval timer{};
  timer.it_value.tv_usec = kLongestMicroseconds;
  setitimer(ITIMER_REAL, &timer, nullptr);
}

// Makes one line, because a shell shows one for each candidate.
std::string OneLine(std::string text) {
  std::replace_if(
      text.begin(), text.end(),
      [](char letter) { return letter == '\n' || letter == '\t'; }, ' ');
  return text;
}

void Print(const NextWord& wanted, std::ostream& out) {
  for (const Candidate& candidate : wanted.candidates) {
    if (!absl::StartsWith(candidate.word, wanted.begun)) continue;
    out << wanted.before << candidate.word;
    if (!candidate.help.empty()) out << "\t" << OneLine(candidate.help);
    out << "\n";
  }
}

}  // namespace

void Complete(const CLI::App& root, const std::vector<std::string>& words,
              const std::string& program, std::ostream& out) {
  EndInTime();
  NextWord wanted = WantedAfter(root, words);
  if (!program.empty()) AddProgramFlags(program, words, wanted);
  Print(wanted, out);
  if (wanted.folders) out << ":folders\n";
  if (wanted.files) out << ":files\n";
  out << std::flush;
  wanted.candidates.clear();
  AddLive(wanted);
  Print(wanted, out);
  out << std::flush;
}

}  // namespace frostline::cli
