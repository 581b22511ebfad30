// SPDX-License-Identifier: Apache-2.0
//
// `frostline study import`: trials that ended elsewhere.
#include <iostream>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "cli/commands/imported_lines.h"
#include "cli/commands/study_verbs.h"
#include "cli/commands/trial_import.h"
#include "cli/term/text_file.h"
#include "cli/view/format.h"

namespace frostline::cli {
namespace {

constexpr std::size_t kMostStudyImportBytes = std::size_t{1} << 30;

struct ImportArgs {
  std::string id;
  std::string file;
};

absl::StatusOr<std::string> ReadTrials(const std::string& path) {
  ASSIGN_OR_RETURN(std::string text, ReadTextFile(path, kMostStudyImportBytes));
  if (text.size() > kMostStudyImportBytes) {
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat(path, " has more than ",
                                  FormatBytes(kMostStudyImportBytes)),
                     "split it, and import one part after the other", "FILE");
  }
  // Spreadsheets begin a file with these three bytes.
  constexpr char kMark[] = "\xEF\xBB\xBF";
  if (text.starts_with(kMark)) text.erase(0, sizeof(kMark) - 1);
  return text;
}

absl::StatusOr<ExitCode> ImportStudy(Session& session, const ImportArgs& args) {
  ASSIGN_OR_RETURN(const std::string name, StudyNameFrom(args.id));
  ASSIGN_OR_RETURN(const std::string text, ReadTrials(args.file));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const v1::Study study, FetchStudy(*client, name));
  const std::string file = args.file == "-" ? "stdin" : args.file;
  ASSIGN_OR_RETURN(const ImportedLines read,
                   ParseImportedLines(text, file, study.spec()));
  ASSIGN_OR_RETURN(const ImportDone done,
                   ImportAll(*client, study, read, file));
  std::cout << "imported " << FormatCount(done.imported) << " trials into "
            << LastPart(name);
  if (done.already > 0) {
    std::cout << "; " << FormatCount(done.already) << " were there already";
  }
  std::cout << "\n";
  if (read.skipped > 0) {
    std::cerr << "left out " << read.skipped
              << " that have not ended, or were cancelled\n";
  }
  return kExitOk;
}

}  // namespace

void AddStudyImport(CLI::App& noun, Invocation& invocation) {
  const auto args = std::make_shared<ImportArgs>();
  CLI::App* const verb =
      AddVerb(noun, "import",
              "Add trials that ended elsewhere, outside the budget", invocation,
              [args](Session& session) { return ImportStudy(session, *args); });
  verb->add_option("ID", args->id, "The study they are added to")->required();
  verb->add_option("FILE", args->file,
                   "JSON lines or CSV, as study export writes them; - is "
                   "standard input")
      ->required();
}

}  // namespace frostline::cli
