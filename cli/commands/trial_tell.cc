// SPDX-License-Identifier: Apache-2.0
//
// `frostline trial tell`: the outcome of one trial that ended elsewhere.
#include <iostream>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "cli/client/notes.h"
#include "cli/commands/imported_lines.h"
#include "cli/commands/label_words.h"
#include "cli/commands/set_field.h"
#include "cli/commands/trial_verbs.h"
#include "cli/study_file/yaml_scalar.h"
#include "cli/view/format.h"
#include "cli/view/objective_range.h"

namespace frostline::cli {
namespace {

struct TellArgs {
  std::string study;
  std::vector<std::string> values;
  std::vector<std::string> metrics;
  std::vector<std::string> labels;
  std::string state = NameOf(v1::TRIAL_STATE_SUCCEEDED);
  std::uint64_t seed = 0;  // 0: unknown
};

std::vector<std::string> StatesWithResult() {
  std::vector<std::string> names;
  for (int i = v1::TrialState_MIN + 1; i <= v1::TrialState_MAX; ++i) {
    const auto state = static_cast<v1::TrialState>(i);
    if (HasResult(state)) names.push_back(NameOf(state));
  }
  return names;
}

absl::Status SetMetrics(const std::vector<std::string>& words,
                        v1::ImportedTrial& trial) {
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const auto value = equals == std::string::npos
                           ? std::nullopt
                           : ReadDouble(word.substr(equals + 1));
    if (!value.has_value() || equals == 0 ||
        !trial.mutable_metrics()
             ->insert({word.substr(0, equals), *value})
             .second) {
      return MakeError(
          ErrorId::kRequestInvalid,
          absl::StrCat("'", word, "' gives no metric its one number"),
          "write each once as METRIC=NUMBER, e.g. accuracy=0.91", "--metric");
    }
  }
  return absl::OkStatus();
}

// What was told is kept all the same, so that not knowing the study's ranges
// is no failure.
void NoteRanges(Client& client, const v1::ImportTrialsRequest& told) {
  v1::GetStudyRequest request;
  request.set_name(told.name());
  const auto study = client.Call(&v1::StudyService::Stub::GetStudy, request);
  if (!study.ok()) return;
  const std::string text = OutOfRangeText(study->spec(), told.trials(0));
  if (!text.empty()) Notes() << "note: " << text << "\n";
}

absl::StatusOr<ExitCode> Tell(Session& session, const TellArgs& args) {
  v1::ImportTrialsRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(), StudyNameFrom(args.study));
  request.set_request_id(NewRequestId(SystemClock()));
  v1::ImportedTrial& trial = *request.add_trials();
  trial.set_state(static_cast<v1::TrialState>(
      ReadEnum(args.state, *v1::TrialState_descriptor())->number()));
  RETURN_IF_ERROR(SetPointValues(args.values, *trial.mutable_parameters()));
  RETURN_IF_ERROR(SetMetrics(args.metrics, trial));
  RETURN_IF_ERROR(
      ChangeLabels(args.labels, "--label", *trial.mutable_labels()));
  trial.set_seed(args.seed);
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(
      const v1::ImportTrialsReply reply,
      client->Call(&v1::StudyService::Stub::ImportTrials, request));
  std::cout << request.name() << "/trials/" << reply.first_number() << " is "
            << NameOf(trial.state()) << "\n"
            << std::flush;
  if (trial.state() == v1::TRIAL_STATE_SUCCEEDED) {
    NoteRanges(*client, request);
  }
  return kExitOk;
}

}  // namespace

void AddTrialTell(CLI::App& noun, Invocation& invocation) {
  const auto args = std::make_shared<TellArgs>();
  CLI::App* const verb = AddVerb(
      noun, "tell",
      "Tell a study how a point did elsewhere, outside the budget", invocation,
      [args](Session& session) { return Tell(session, *args); });
  verb->add_option("STUDY", args->study, "The study")->required();
  verb->add_option("--set", args->values,
                   "NAME=VALUE of each parameter, e.g. layer.0=frozen")
      ->expected(1)
      ->take_all()
      ->required();
  verb->add_option("--metric", args->metrics,
                   "NAME=NUMBER, the objectives among them")
      ->expected(1)
      ->take_all();
  verb->add_option("--state", args->state, "How it ended [SUCCEEDED]")
      ->transform(CLI::IsMember(StatesWithResult(), CLI::ignore_case));
  verb->add_option("--label", args->labels, "KEY=VALUE")
      ->expected(1)
      ->take_all();
  verb->add_option("--seed", args->seed, "What it was trained with");
}

}  // namespace frostline::cli
