// SPDX-License-Identifier: Apache-2.0
//
// `frostline model`: what trials leave on their workers.
#include "cli/commands/model.h"

#include <unistd.h>

#include <iostream>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "base/error.h"
#include "cli/commands/command.h"
#include "cli/commands/model_export.h"
#include "cli/view/format.h"
#include "cli/view/model_view.h"
#include "cli/view/trial_view.h"

namespace frostline::cli {
namespace {

struct ModelArgs {
  std::string trial;
  std::string folder;
  bool json = false;
};

struct NamedTrial {
  std::string study;
  std::optional<std::int64_t> number;  // absent: the best
};

// Takes "imdb", "imdb/17", "studies/imdb" and "studies/imdb/trials/17".
absl::StatusOr<NamedTrial> ParseModelWords(const std::string& argument) {
  const std::string text = absl::StrReplaceAll(
      absl::StripPrefix(argument, "studies/"), {{"/trials/", "/"}});
  const std::size_t slash = text.find('/');
  NamedTrial named;
  ASSIGN_OR_RETURN(named.study, StudyNameFrom(text.substr(0, slash)));
  if (slash == std::string::npos) return named;
  std::int64_t number = -1;
  const std::string digits = text.substr(slash + 1);
  if (!absl::SimpleAtoi(digits, &number) || number < 0) {
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat("\"", digits, "\" is no trial's number"),
                     "write STUDY/N, e.g. imdb/17, or STUDY for its best");
  }
  named.number = number;
  return named;
}

absl::Status SeveralAreBest(const v1::Study& study,
                            const v1::ListBestTrialsReply& best, int width) {
  std::cerr << RenderFront({best.trials().begin(), best.trials().end()},
                           study.spec(), width);
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat(LastPart(study.name()), " has ",
                                study.spec().objectives_size(),
                                " objectives, and no one trial is its best"),
                   absl::StrCat("name one of the front: frostline model "
                                "export ",
                                LastPart(study.name()), "/",
                                best.trials(0).number(), " DIR"));
}

// Why there is nothing to copy of a trial that says of no model.
absl::Status NoModel(const v1::Study& study, const v1::Trial& trial) {
  const std::string id = LastPart(study.name());
  const std::string name = absl::StrCat("trial ", trial.number(), " of ", id);
  if (!IsEnded(trial.state())) {
    return MakeError(ErrorId::kTrialNotTerminal, name + " has not ended",
                     "wait for it: frostline study watch " + id);
  }
  if (!ExportsModels(study.spec())) {
    return MakeError(ErrorId::kTrialTerminal,
                     id + " exports no models, so " + name + " has left none",
                     "create a study with training: {extra: {export: best}}");
  }
  if (trial.state() != v1::TRIAL_STATE_SUCCEEDED) {
    return MakeError(ErrorId::kTrialTerminal,
                     absl::StrCat(name, " is ", NameOf(trial.state()),
                                  ", and only one that succeeds leaves a "
                                  "model"),
                     "frostline model export " + id + " DIR takes the best");
  }
  return MakeError(
      ErrorId::kTrialTerminal,
      name +
          " has left no model: its worker had a better one already, or "
          "keeps none (--keep), or the trial was imported",
      "frostline model export " + id +
          " DIR takes the best; a study with "
          "`export: all` keeps every one");
}

absl::StatusOr<ExitCode> Copy(const v1::Trial& trial, const ModelArgs& args) {
  ASSIGN_OR_RETURN(const ModelCopy copy,
                   CopyModel(trial.usage().model(), args.folder));
  if (args.json) {
    std::cout << ModelJson(trial, copy.folder, copy.files);
  } else {
    std::cout << RenderModelCopy(trial, copy.folder, copy.files.size(),
                                 copy.bytes);
  }
  return kExitOk;
}

// It is on another machine, or no longer on this one.
absl::StatusOr<ExitCode> SayWhere(const v1::Study& study,
                                  const v1::Trial& trial, const ModelArgs& args,
                                  int width) {
  const v1::TrainedModel& model = trial.usage().model();
  std::string host(256, '\0');
  const bool is_ours = gethostname(host.data(), host.size() - 1) == 0 &&
                       model.host() == host.c_str();
  if (is_ours) {
    return MakeError(
        ErrorId::kTrialTerminal,
        absl::StrCat("the model of trial ", trial.number(), " is no longer in ",
                     model.folder(),
                     ": a better trial of this worker took its place, its "
                     "folder was cleaned, or another file system is meant"),
        absl::StrCat("frostline model export ", LastPart(study.name()),
                     " DIR takes the best; `export: all` keeps every one"));
  }
  std::cout << (args.json ? ModelJson(trial, "", {})
                          : RenderModelElsewhere(trial, args.folder, width));
  return kExitConflict;
}

absl::StatusOr<ExitCode> ExportModel(Session& session, const ModelArgs& args) {
  ASSIGN_OR_RETURN(const NamedTrial named, ParseModelWords(args.trial));
  RETURN_IF_ERROR(CheckTarget(args.folder));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const v1::Study study, FetchStudy(*client, named.study));
  v1::GetTrialRequest request;
  if (named.number.has_value()) {
    request.set_name(absl::StrCat(study.name(), "/trials/", *named.number));
  } else {
    ASSIGN_OR_RETURN(const auto best, FetchBestTrials(*client, study.name()));
    if (best.trials().empty()) {
      std::cerr << "no trial of " << LastPart(study.name())
                << " has succeeded, so there is no model\n";
      return kExitNoResult;
    }
    if (study.spec().objectives_size() > 1) {
      return SeveralAreBest(study, best, session.terminal.width);
    }
    request.set_name(best.trials(0).name());
  }
  request.set_view(v1::TRIAL_VIEW_FULL);
  ASSIGN_OR_RETURN(const v1::Trial trial,
                   client->Call(&v1::StudyService::Stub::GetTrial, request));
  if (!trial.usage().has_model()) return NoModel(study, trial);
  if (IsHere(trial.usage().model())) return Copy(trial, args);
  return SayWhere(study, trial, args, session.terminal.width);
}

}  // namespace

absl::StatusOr<ExitCode> ExportBestModel(Session& session,
                                         const std::string& study,
                                         const std::string& folder) {
  return ExportModel(session,
                     {.trial = study, .folder = folder, .json = false});
}

void AddModelCommands(CLI::App& app, Invocation& invocation) {
  CLI::App* const noun =
      app.add_subcommand("model", "Fetch the models that trials have trained");
  noun->require_subcommand(1)->fallthrough();
  const auto args = std::make_shared<ModelArgs>();
  CLI::App* const verb = AddVerb(
      *noun, "export", "Copy a trained model, or say where it is", invocation,
      [args](Session& session) { return ExportModel(session, *args); });
  verb->add_option("STUDY[/N]", args->trial, "A study's best trial, or one")
      ->required();
  verb->add_option("DIR", args->folder, "A folder that is not there yet")
      ->required();
  verb->add_flag("--json", args->json, "What was copied, or where it is");
  verb->footer("Of a study with training.extra.export.");
}

}  // namespace frostline::cli
