// SPDX-License-Identifier: Apache-2.0
//
// `frostline model`: what trials leave on their workers.
#include "cli/commands/model.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iostream>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/error.h"
#include "base/plain/file.h"
#include "base/plain/sums.h"
#include "cli/commands/command.h"
#include "cli/view/format.h"
#include "cli/view/registry_view.h"
#include "cli/view/trial_view.h"

namespace frostline::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kSums[] = "SHA256SUMS";
constexpr std::size_t kMostSumsBytes = std::size_t{16} << 20;
constexpr std::size_t kChunkBytes = std::size_t{1} << 20;
constexpr std::size_t kSumDigits = 64;
constexpr std::size_t kNameAt = kSumDigits + 2;  // two blanks between them

struct ListedFile {
  std::string name;
  std::string sum;
};

absl::Status StatusOf(const Fault& fault) {
  return MakeError(ErrorId::kStoreIo, fault.cause, fault.fix);
}

absl::Status Changed(const std::string& path) {
  return MakeError(ErrorId::kStoreIo,
                   absl::StrCat(path, " is not what SHA256SUMS says"),
                   "look at the worker's disk; `sha256sum -c SHA256SUMS` in "
                   "the folder says what else has changed");
}

// Returns whether a name stays inside the folder that it is put in.
bool IsPlainName(const std::string& name) {
  const fs::path path = name;
  return !name.empty() && path.is_relative() && !name.ends_with('/') &&
         std::none_of(path.begin(), path.end(), [](const fs::path& part) {
           return part == ".." || part == ".";
         });
}

absl::StatusOr<std::vector<ListedFile>> ListedModels(const std::string& sums) {
  std::vector<ListedFile> files;
  for (const absl::string_view line :
       absl::StrSplit(sums, '\n', absl::SkipEmpty())) {
    ListedFile file;
    if (line.size() > kNameAt) {
      file = {std::string(line.substr(kNameAt)),
              std::string(line.substr(0, kSumDigits))};
    }
    if (!IsSha256(file.sum) || !IsPlainName(file.name)) {
      return MakeError(ErrorId::kStoreIo,
                       absl::StrCat(kSums, " has a line that is none of ours"),
                       "export the trial's model again, or another trial's");
    }
    files.push_back(std::move(file));
  }
  return files;
}

// Returns the bytes that were copied.
absl::StatusOr<std::int64_t> CopyFile(const std::string& from,
                                      const std::string& to,
                                      const std::string& sum) {
  const Expected<SourceFile> source = SourceFile::Open(from);
  if (!source.ok()) return StatusOf(source.fault());
  Expected<AtomicFile> target = AtomicFile::Create(to);
  if (!target.ok()) return StatusOf(target.fault());
  Sha256Sum seen;
  std::string chunk;
  for (std::uint64_t at = 0; at < source.value().size(); at += chunk.size()) {
    const std::uint64_t left = source.value().size() - at;
    chunk.resize(
        static_cast<std::size_t>(std::min<std::uint64_t>(left, kChunkBytes)));
    const Expected<Done> read =
        source.value().ReadAt(at, chunk.data(), chunk.size());
    if (!read.ok()) return StatusOf(read.fault());
    seen.Add(chunk);
    const Expected<Done> put =
        target.value().Append(chunk.data(), chunk.size());
    if (!put.ok()) return StatusOf(put.fault());
  }
  if (seen.Finish() != sum) return Changed(from);
  const Expected<Done> committed = target.value().Commit();
  if (!committed.ok()) return StatusOf(committed.fault());
  return static_cast<std::int64_t>(source.value().size());
}

absl::Status FolderError(const std::string& what, const std::error_code& code) {
  return MakeError(ErrorId::kStoreIo, absl::StrCat(what, ": ", code.message()),
                   "name a folder that you may write to");
}

// Copies into the temporary folder, which is renamed later.
absl::StatusOr<ModelCopy> Fill(const v1::TrainedModel& model,
                               const std::string& folder) {
  ModelCopy copy;
  const Expected<std::string> sums =
      ReadWholeFile(absl::StrCat(model.folder(), "/", kSums), kMostSumsBytes);
  if (!sums.ok()) return StatusOf(sums.fault());
  ASSIGN_OR_RETURN(std::vector<ListedFile> files, ListedModels(sums.value()));
  files.push_back({kSums, model.sums_sha256()});
  for (const ListedFile& file : files) {
    const fs::path to = fs::path(folder) / file.name;
    std::error_code error;
    fs::create_directories(to.parent_path(), error);
    if (error) return FolderError(to.parent_path().string(), error);
    ASSIGN_OR_RETURN(const std::int64_t bytes,
                     CopyFile(absl::StrCat(model.folder(), "/", file.name),
                              to.string(), file.sum));
    copy.bytes += bytes;
    copy.files.push_back(file.name);
  }
  return copy;
}

// Removes the last slash: "out/" and "out" are the same folder.
fs::path Plain(const std::string& folder) {
  std::error_code error;
  const fs::path full = fs::absolute(folder, error);
  // Without a working folder what was typed is all there is.
  const fs::path path = (error ? fs::path(folder) : full).lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

}  // namespace

bool IsHere(const v1::TrainedModel& model) {
  const Expected<std::string> sums =
      ReadWholeFile(absl::StrCat(model.folder(), "/", kSums), kMostSumsBytes);
  if (!sums.ok()) return false;
  Sha256Sum sum;
  sum.Add(sums.value());
  return sum.Finish() == model.sums_sha256();
}

absl::Status CheckTarget(const std::string& folder) {
  const fs::path path = Plain(folder);
  std::error_code error;
  const bool is_free = !fs::exists(fs::symlink_status(path, error)) ||
                       (fs::is_directory(fs::symlink_status(path, error)) &&
                        fs::is_empty(path, error) && !error);
  if (is_free) return absl::OkStatus();
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat(folder, " is there, and is no empty folder"),
                   "name a folder that is not there yet");
}

absl::StatusOr<ModelCopy> CopyModel(const v1::TrainedModel& model,
                                    const std::string& folder) {
  const fs::path target = Plain(folder);
  const fs::path beside =
      target.parent_path() /
      absl::StrCat(".", target.filename().string(), ".frostline-part");
  std::error_code error;
  fs::remove_all(beside, error);
  if (!error) fs::create_directories(beside, error);
  if (error) return FolderError(beside.string(), error);
  absl::StatusOr<ModelCopy> copy = Fill(model, beside.string());
  if (copy.ok()) {
    fs::rename(beside, target, error);
    if (error) copy = FolderError(target.string(), error);
  }
  if (!copy.ok()) {
    fs::remove_all(beside, error);
    return copy.status();
  }
  copy->folder = target.string();
  return copy;
}

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

// Parses "imdb", "imdb/17", "studies/imdb" or "studies/imdb/trials/17".
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

// Returns the error for a trial that reports no model: why there is nothing to
// copy.
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

// Prints where the model is, when it is on another machine or no longer on this
// one.
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
