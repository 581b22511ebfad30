// SPDX-License-Identifier: Apache-2.0
//
// `frostline schema`: JSON Schema for editors and for programs.
#include "cli/contract/schema.h"

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/nearest.h"
#include "cli/commands/command.h"
#include "cli/contract/catalogue.h"
#include "cli/term/output_file.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

constexpr std::size_t kMaxSchemaWord = 100;

struct SchemaArgs {
  std::string what;
  std::string file;
  bool force = false;
};

absl::StatusOr<std::string> SchemaOf(const std::string& what) {
  // The file, since the message is what answers have: `schema StudySpec`.
  if (what == "study") return StudyFileSchema();
  if (const auto* const type = FindMessage(what)) return MessageSchema(*type);
  std::vector<std::string> names = {"study", "trial"};
  for (const auto* const type : AllMessages()) {
    names.push_back(ShortNameOf(*type));
  }
  const std::string near = Nearest(what, names);
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat("nothing is called '",
                   proto::CleanText(what, kMaxSchemaWord), "'"),
      near.empty() ? "write study, trial, or a message such as ListTrialsReply"
                   : absl::StrCat("did you mean '", near, "'?"),
      "WHAT");
}

absl::StatusOr<ExitCode> Schema(const SchemaArgs& args) {
  ASSIGN_OR_RETURN(const std::string schema, SchemaOf(args.what));
  if (IsStandardOutput(args.file)) {
    std::cout << schema;
    return kExitOk;
  }
  RETURN_IF_ERROR(CheckMayReplace(args.file, args.force));
  ASSIGN_OR_RETURN(const auto file, OutputFile::Open(args.file));
  RETURN_IF_ERROR(file->Append(schema));
  RETURN_IF_ERROR(file->Commit());
  std::cerr << "written: " << args.file << "\n";
  return kExitOk;
}

}  // namespace

void AddSchemaCommand(CLI::App& app, Invocation& invocation) {
  const auto args = std::make_shared<SchemaArgs>();
  CLI::App* const verb =
      AddVerb(app, "schema", "JSON Schema of study files and of answers",
              invocation, [args](Session&) { return Schema(*args); });
  verb->add_option("WHAT", args->what,
                   "study (a study file), trial, or a message of the contract")
      ->required();
  verb->add_option("-o,--out", args->file, "Write it there")->type_name("FILE");
  verb->add_flag("--force", args->force, "Replace a file that is there");
  verb->footer(
      "Editors that know YAML check and complete a study file that begins "
      "with\n  # yaml-language-server: $schema=study.schema.json");
}

}  // namespace frostline::cli
