// SPDX-License-Identifier: Apache-2.0
//
// `frostline study export`: all trials as a file, whole or not at all.
#include "cli/commands/study_export.h"

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "cli/commands/study.h"
#include "cli/term/text_file.h"
#include "cli/view/format.h"

namespace frostline::cli {
namespace {

using FileFormat = v1::ExportTrialsRequest::Format;

// A format and its file extension. The first is the default.
struct KnownFormat {
  const char* name;
  FileFormat format;
  const char* ending;
};
constexpr std::array kFormats = {
    KnownFormat{"jsonl", v1::ExportTrialsRequest::JSON_LINES, ".jsonl"},
    KnownFormat{"csv", v1::ExportTrialsRequest::CSV, ".csv"}};

struct ExportArgs {
  std::string id;
  std::string file;
  std::string format;  // empty: as the file's ending says
  std::string filter;
  bool with_measurements = false;
  bool force = false;
};

// Returns the format of the file's extension, or null.
const KnownFormat* ExportFormatOfEnding(const std::string& file) {
  for (const KnownFormat& known : kFormats) {
    if (absl::EndsWithIgnoreCase(file, known.ending)) return &known;
  }
  return nullptr;
}

std::vector<std::string> FormatNamesOfFiles() {
  std::vector<std::string> names;
  for (const KnownFormat& known : kFormats) names.emplace_back(known.name);
  return names;
}

absl::StatusOr<FileFormat> ExportFormatOf(const ExportArgs& args) {
  const KnownFormat* const ends = ExportFormatOfEnding(args.file);
  if (args.format.empty()) return (ends ? ends : kFormats.data())->format;
  const auto* const said = std::find_if(
      kFormats.begin(), kFormats.end(),
      [&args](const KnownFormat& one) { return args.format == one.name; });
  if (ends == nullptr || ends == said) return said->format;
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat(args.file, " ends as a file of --format ", ends->name,
                   " does, and --format says ", said->name),
      absl::StrCat("leave --format out, or end the name in ", said->ending),
      "--output");
}

absl::Status ToStandardOutput(Client& client,
                              const v1::ExportTrialsRequest& request) {
  return StreamTrials(client, request, [](const std::string& piece) {
    std::cout << piece << std::flush;
    return std::cout ? absl::OkStatus()
                     : MakeError(ErrorId::kRequestInvalid,
                                 "standard output cannot be written",
                                 "name a file with -o FILE", "--output");
  });
}

absl::Status ToFile(Client& client, const v1::ExportTrialsRequest& request,
                    const std::string& path) {
  // Made with the first piece, so that a refused call leaves no trace.
  std::unique_ptr<OutputFile> file;
  std::int64_t bytes = 0;
  const auto take = [&](const std::string& piece) -> absl::Status {
    if (file == nullptr) {
      ASSIGN_OR_RETURN(file, OutputFile::Open(path));
    }
    bytes += static_cast<std::int64_t>(piece.size());
    return file->Append(piece);
  };
  RETURN_IF_ERROR(StreamTrials(client, request, take));
  // The file of a study without trials is empty.
  RETURN_IF_ERROR(take(""));
  RETURN_IF_ERROR(file->Commit());
  std::cerr << "wrote " << path << ", " << FormatBytes(bytes) << "\n";
  return absl::OkStatus();
}

absl::StatusOr<ExitCode> ExportStudy(Session& session, const ExportArgs& args) {
  v1::ExportTrialsRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(), StudyNameFrom(args.id));
  RETURN_IF_ERROR(CheckMayReplace(args.file, args.force));
  ASSIGN_OR_RETURN(const FileFormat format, ExportFormatOf(args));
  request.set_format(format);
  request.set_with_measurements(args.with_measurements);
  request.set_filter(args.filter);
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  RETURN_IF_ERROR(IsStandardOutput(args.file)
                      ? ToStandardOutput(*client, request)
                      : ToFile(*client, request, args.file));
  return kExitOk;
}

}  // namespace

absl::Status StreamTrials(
    Client& client, const v1::ExportTrialsRequest& request,
    const std::function<absl::Status(const std::string&)>& take) {
  grpc::ClientContext context;
  client.ShowToken(&context);
  const auto reader = client.studies().ExportTrials(&context, request);
  v1::ExportChunk chunk;
  absl::Status taken;
  while (reader->Read(&chunk)) {
    if (!taken.ok()) continue;
    taken = take(chunk.data());
    if (!taken.ok()) context.TryCancel();
  }
  const grpc::Status status = reader->Finish();
  RETURN_IF_ERROR(taken);
  return status.ok() ? absl::OkStatus() : client.Explain(status);
}

void AddStudyExport(CLI::App& noun, Invocation& invocation) {
  const auto args = std::make_shared<ExportArgs>();
  CLI::App* const verb =
      AddVerb(noun, "export", "Write all trials as JSON lines or as a table",
              invocation,
              [args](Session& session) { return ExportStudy(session, *args); });
  verb->add_option("ID", args->id, "The study")->required();
  verb->add_option("-o,--output", args->file,
                   "Into this file; else, or with -, to standard output");
  verb->add_option("--format", args->format,
                   "Else as the file's name ends, else jsonl")
      ->transform(CLI::IsMember(FormatNamesOfFiles(), CLI::ignore_case));
  verb->add_flag("--with-measurements", args->with_measurements,
                 "Behind each trial what it measured; of JSON lines");
  verb->add_option("--filter", args->filter,
                   "Only such trials: 'state = SUCCEEDED'; "
                   "`frostline help filter`")
      ->type_name("TERMS");
  verb->add_flag("--force", args->force, "Replace a file that is there");
}

}  // namespace frostline::cli
