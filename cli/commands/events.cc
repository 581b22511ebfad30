// SPDX-License-Identifier: Apache-2.0
//
// `frostline events`: what changed, in order; and `study watch --all`, which is
// the same of all studies from now on.
#include "cli/commands/events.h"

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "cli/client/notes.h"
#include "cli/client/studies_watcher.h"
#include "cli/commands/connection_news.h"
#include "cli/live/event_lines.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

constexpr std::size_t kMaxEventWord = 100;

struct EventsArgs {
  std::vector<std::string> studies;
  std::string since;
  bool json = false;
  bool once = false;
};

absl::StatusOr<std::optional<std::int64_t>> RevisionOf(const EventsArgs& args) {
  if (args.since == "all") return 0;
  // What has happened until now is all that there is to tell once.
  if (args.since.empty()) {
    return args.once ? std::optional<std::int64_t>(0) : std::nullopt;
  }
  std::int64_t revision = 0;
  if (!absl::SimpleAtoi(args.since, &revision) || revision < 0) {
    return MakeError(
        ErrorId::kRequestInvalid,
        absl::StrCat("--since: '", proto::CleanText(args.since, kMaxEventWord),
                     "' is no revision"),
        "give a study's revision, a number from 0, or all", "--since");
  }
  return revision;
}

// Prints at once, or, where all is told once, in the order of time.
class EventPrinter {
 public:
  EventPrinter(bool json, bool waits) : json_(json), waits_(waits) {}

  void Know(const v1::Study& study) { lines_.Know(study); }

  void Take(const v1::StudyEvent& event) {
    const std::string line = json_ ? EventJson(event) : lines_.LineOf(event);
    if (line.empty()) return;
    if (waits_) {
      waiting_.emplace_back(TimeOf(event), line);
    } else {
      std::cout << line << std::endl;
    }
  }

  void PrintWaiting() {
    std::stable_sort(
        waiting_.begin(), waiting_.end(),
        [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [time, line] : waiting_) std::cout << line << "\n";
  }

 private:
  const bool json_;
  const bool waits_;
  EventLines lines_;
  std::vector<std::pair<std::int64_t, std::string>> waiting_;
};

absl::StatusOr<ExitCode> Events(Session& session, const EventsArgs& args) {
  StudiesWatchOptions options;
  ASSIGN_OR_RETURN(options.after_revision, RevisionOf(args));
  options.follows = !args.once;
  for (const std::string& study : args.studies) {
    ASSIGN_OR_RETURN(std::string name, StudyNameFrom(study));
    options.studies.push_back(std::move(name));
  }
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  // Of one study events have their own order already.
  EventPrinter printer(args.json, args.once && options.studies.size() != 1);
  ConnectionNews news(Notes());
  RETURN_IF_ERROR(
      WatchStudies(*client, options,
                   {.on_study = [&](const auto& study) { printer.Know(study); },
                    .on_event = [&](const auto& event) { printer.Take(event); },
                    .on_break = [&](const auto& status) { news.Lost(status); },
                    .on_back = [&] { news.Back(); }}));
  printer.PrintWaiting();
  return kExitOk;
}

}  // namespace

absl::StatusOr<ExitCode> WatchAllStudies(Session& session, bool json) {
  EventsArgs args;
  args.json = json;
  return Events(session, args);
}

void AddEventsCommand(CLI::App& app, Invocation& invocation) {
  const auto args = std::make_shared<EventsArgs>();
  CLI::App* const verb = AddVerb(
      app, "events", "What changed, of one study or of all, in order",
      invocation, [args](Session& session) { return Events(session, *args); });
  verb->add_option("STUDY", args->studies,
                   "Of these; without any of all, and of those to come");
  verb->add_option("--since", args->since,
                   "Begin behind this revision of each study, or with all")
      ->type_name("REVISION|all");
  verb->add_flag("--once", args->once,
                 "End when all up to now is told; begins with all");
  verb->add_flag("--json", args->json, "A StudyEvent on each line");
}

}  // namespace frostline::cli
