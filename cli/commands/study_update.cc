// SPDX-License-Identifier: Apache-2.0
//
// `frostline study update`: what may change of a study that is there.
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "cli/commands/command.h"
#include "cli/commands/label_words.h"
#include "cli/commands/output_flags.h"
#include "cli/commands/study_changes.h"
#include "cli/study_file/yaml_scalar.h"
#include "cli/view/format.h"
#include "cli/view/study_view.h"

namespace frostline::cli {
namespace {

constexpr std::int64_t kMostBudget = 1'000'000;
constexpr int kMostStudyPriority = 1'000;
constexpr char kNone[] = "none";

struct UpdateArgs {
  std::string id;
  std::optional<std::int64_t> budget;  // trials
  std::optional<std::string> time;
  std::optional<std::string> training_time;
  std::optional<int> priority;
  std::optional<int> max_parallel;
  std::optional<std::string> pruner;  // by name
  std::optional<std::string> notes;
  std::vector<std::string> labels;
  std::vector<std::string> worker_labels;
  std::vector<std::string> notify;
  Output output = {};
};

absl::StatusOr<google::protobuf::Duration> UpdateTimeOf(
    const std::string& text, const std::string& flag) {
  const auto time = ReadDuration(text);
  if (time.has_value() && time->seconds() >= 0 && time->nanos() >= 0) {
    return *time;
  }
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("'", text, "' is no time"),
                   "write it like 90s, 30m or 2h; 0 is no limit", flag);
}

absl::Status SetTimes(const UpdateArgs& args, v1::Budget& budget,
                      google::protobuf::FieldMask& mask) {
  if (args.time) {
    ASSIGN_OR_RETURN(*budget.mutable_time(),
                     UpdateTimeOf(*args.time, "--time"));
    mask.add_paths("budget.time");
  }
  if (args.training_time) {
    ASSIGN_OR_RETURN(const google::protobuf::Duration time,
                     UpdateTimeOf(*args.training_time, "--training-time"));
    budget.set_training_seconds(static_cast<double>(time.seconds()) +
                                static_cast<double>(time.nanos()) * 1e-9);
    mask.add_paths("budget.training_seconds");
  }
  return absl::OkStatus();
}

absl::Status SetLists(const UpdateArgs& args, v1::StudySettings& settings,
                      google::protobuf::FieldMask& mask) {
  if (!args.labels.empty()) {
    RETURN_IF_ERROR(
        ChangeLabels(args.labels, "--label", *settings.mutable_labels()));
    mask.add_paths("labels");
  }
  if (!args.worker_labels.empty()) {
    RETURN_IF_ERROR(ChangeLabels(args.worker_labels, "--require",
                                 *settings.mutable_required_worker_labels()));
    mask.add_paths("required_worker_labels");
  }
  if (!args.notify.empty()) {
    const bool none = args.notify.size() == 1 && args.notify[0] == kNone;
    settings.clear_notify();
    for (const std::string& id : args.notify) {
      if (!none) settings.add_notify(id);
    }
    mask.add_paths("notify");
  }
  return absl::OkStatus();
}

// Alters what was asked for and names it in the mask.
absl::Status ApplyChanges(const UpdateArgs& args,
                          v1::UpdateStudyRequest& request) {
  v1::StudySettings& settings = *request.mutable_settings();
  google::protobuf::FieldMask& mask = *request.mutable_update_mask();
  if (args.budget) {
    settings.mutable_budget()->set_trials(*args.budget);
    mask.add_paths("budget.trials");
  }
  if (args.priority) {
    settings.set_priority(*args.priority);
    mask.add_paths("priority");
  }
  if (args.max_parallel) {
    settings.set_max_parallel(*args.max_parallel);
    mask.add_paths("max_parallel");
  }
  if (args.pruner) {
    settings.mutable_pruner()->Clear();
    settings.mutable_pruner()->set_name(*args.pruner);
    mask.add_paths("pruner");
  }
  if (args.notes) {
    settings.set_notes(*args.notes);
    mask.add_paths("notes");
  }
  RETURN_IF_ERROR(SetTimes(args, *settings.mutable_budget(), mask));
  return SetLists(args, settings, mask);
}

absl::StatusOr<ExitCode> UpdateStudy(Session& session, const UpdateArgs& args) {
  ASSIGN_OR_RETURN(const std::string name, StudyNameFrom(args.id));
  // What cannot be read is refused before anybody is asked.
  v1::UpdateStudyRequest tried;
  RETURN_IF_ERROR(ApplyChanges(args, tried));
  if (tried.update_mask().paths().empty()) {
    return MakeError(ErrorId::kRequestInvalid, "nothing is to be changed",
                     "say what: --budget, --time, --training-time, "
                     "--priority, --max-parallel, --pruner, --notes, "
                     "--label, --require or --notify");
  }
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(
      const v1::Study study,
      ChangeSettings(*client, name, [&args](v1::UpdateStudyRequest& request) {
        return ApplyChanges(args, request);
      }));
  RETURN_IF_ERROR(PrintOne(session.terminal, args.output, study, [&study] {
    return absl::StrCat("study ", LastPart(study.name()), " is ",
                        NameOf(study.state()), ", ", ProgressText(study), "\n");
  }));
  return kExitOk;
}

void AddLists(CLI::App* verb, UpdateArgs& args) {
  verb->add_option("--label", args.labels,
                   "KEY=VALUE sets a label, KEY- takes "
                   "it away")
      ->expected(1)
      ->take_all();
  verb->add_option("--require", args.worker_labels,
                   "KEY=VALUE that a worker must carry; KEY- takes it away")
      ->expected(1)
      ->take_all();
  verb->add_option("--notify", args.notify,
                   "Whom the coordinator tells of its end, instead of those "
                   "so far; none: nobody")
      ->expected(1)
      ->take_all();
}

}  // namespace

void AddStudyUpdate(CLI::App& noun, Invocation& invocation) {
  const auto args = std::make_shared<UpdateArgs>();
  CLI::App* const verb =
      AddVerb(noun, "update",
              "Change settings of a study; its spec never changes", invocation,
              [args](Session& session) { return UpdateStudy(session, *args); });
  verb->add_option("ID", args->id, "The study")->required();
  verb->add_option("--budget", args->budget,
                   "So many trials in all; more let a complete study go on")
      ->check(CLI::Range(std::int64_t{1}, kMostBudget));
  verb->add_option("--time", args->time,
                   "Propose no more after this much time, e.g. 12h; 0: no "
                   "limit");
  verb->add_option("--training-time", args->training_time,
                   "The same of training, over all trials; 0: no limit");
  verb->add_option("--priority", args->priority,
                   "Higher goes first among studies that compete for workers")
      ->check(CLI::Range(-kMostStudyPriority, kMostStudyPriority));
  verb->add_option("--max-parallel", args->max_parallel,
                   "At most so many trials at a time; 0: as many as the "
                   "sampler can use")
      ->check(AtLeastZero());
  verb->add_option("--pruner", args->pruner,
                   "Another pruner, with its usual options; none: no pruner");
  verb->add_option("--notes", args->notes, "Other notes, in Markdown");
  AddLists(verb, *args);
  AddOneFormats(verb, args->output);
}

}  // namespace frostline::cli
