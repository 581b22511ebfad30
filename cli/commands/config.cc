// SPDX-License-Identifier: Apache-2.0
//
// Configuration: what the files say, and who says what holds. None of these
// verbs calls a coordinator, and none shows a secret.
#include "cli/commands/config.h"

#include <filesystem>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/nearest.h"
#include "cli/commands/command.h"
#include "cli/context/own_path.h"
#include "cli/term/terminal.h"
#include "cli/term/text_file.h"
#include "tls/private_file.h"

namespace frostline::cli {
namespace {

namespace fs = std::filesystem;

struct SetArgs {
  std::string key;
  std::string value;
  bool project = false;
};

// The file that is there, or the one that would be made.
absl::StatusOr<std::string> FileFor(const SetArgs& args,
                                    const ConfigPlaces& places) {
  if (args.project) {
    const std::string found =
        FindProjectFile(places.working_folder, places.home);
    return found.empty() ? places.working_folder + "/" + kProjectFile : found;
  }
  if (!places.user_file.empty()) return places.user_file;
  return MakeError(ErrorId::kRequestInvalid,
                   "there is no folder for settings: neither HOME nor "
                   "XDG_CONFIG_HOME is set",
                   "set XDG_CONFIG_HOME=DIR, or give --project");
}

absl::StatusOr<const ConfigKey*> KeyFrom(const std::string& word) {
  const ConfigKey* const key = FindConfigKey(word);
  if (key != nullptr) return key;
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("there is no key '", word, "'"),
                   Suggest(word, ConfigKeyNames()), "KEY");
}

absl::Status CheckSetting(const SetArgs& args) {
  ASSIGN_OR_RETURN(const ConfigKey* const key, KeyFrom(args.key));
  if (args.project && !key->in_project) {
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat("a project file may not say ", args.key,
                                  ": it may be a stranger's"),
                     absl::StrCat("`frostline config set ", args.key,
                                  " VALUE`, without --project, says it for "
                                  "you alone"),
                     "--project");
  }
  const std::string wrong = WrongWith(*key, args.value);
  if (wrong.empty()) return absl::OkStatus();
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat(args.key, ": ", wrong),
                   absl::StrCat("it is for ", key->what), "VALUE");
}

absl::Status WriteUserFile(const std::string& file, const std::string& text) {
  const fs::path folder = fs::path(file).parent_path();
  std::error_code error;  // what matters is whether the file can be written
  fs::create_directories(folder.parent_path(), error);
  RETURN_IF_ERROR(MakeFolder(folder.string()));
  return tls::WritePrivateFile(file, SecretString(text), "");
}

// A path is meant from where it was typed, not from the file's folder.
std::string Settled(const SetArgs& args, const ConfigPlaces& places) {
  const ConfigKey* const key = FindConfigKey(args.key);
  const bool is_path = key != nullptr && key->form == ConfigForm::kPath;
  if (!is_path || args.project || args.value.starts_with("~/")) {
    return args.value;
  }
  return (fs::path(places.working_folder) / args.value)
      .lexically_normal()
      .string();
}

// As a whole it must be right too, or the next command would fail.
absl::Status Write(const std::string& text, const std::string& file,
                   bool project, const ConfigPlaces& places) {
  const ConfigScope scope =
      project ? ConfigScope::kProject : ConfigScope::kUser;
  RETURN_IF_ERROR(ParseConfig(text, file, scope, places.home).status());
  return project ? WriteTextFile(file, text) : WriteUserFile(file, text);
}

absl::StatusOr<ExitCode> Set(const SetArgs& args) {
  RETURN_IF_ERROR(CheckSetting(args));
  const ConfigPlaces places = PlacesOfUser();
  ASSIGN_OR_RETURN(const std::string file, FileFor(args, places));
  ASSIGN_OR_RETURN(const auto before, ReadOwnFile(file, args.project));
  ASSIGN_OR_RETURN(
      const std::string text,
      SetInConfig(before.value_or(""), file, args.key, Settled(args, places)));
  RETURN_IF_ERROR(Write(text, file, args.project, places));
  std::cout << args.key << " is " << MaskSecrets(args.value) << ", in " << file
            << "\n";
  return kExitOk;
}

absl::StatusOr<ExitCode> Unset(const SetArgs& args) {
  RETURN_IF_ERROR(KeyFrom(args.key).status());
  const ConfigPlaces places = PlacesOfUser();
  ASSIGN_OR_RETURN(const std::string file, FileFor(args, places));
  ASSIGN_OR_RETURN(const auto before, ReadOwnFile(file, args.project));
  ASSIGN_OR_RETURN(const std::string text,
                   UnsetInConfig(before.value_or(""), file, args.key));
  if (text == before.value_or("")) {
    std::cout << args.key << " was not set in " << file << "\n";
    return kExitOk;
  }
  RETURN_IF_ERROR(Write(text, file, args.project, places));
  std::cout << args.key << " is no longer set in " << file << "\n";
  return kExitOk;
}

absl::StatusOr<ExitCode> Path() {
  const ConfigPlaces places = PlacesOfUser();
  const auto line = [](const char* whose, const std::string& file) {
    std::error_code error;  // what cannot be looked at is as good as not there
    const bool is_there = !file.empty() && fs::exists(file, error);
    std::cout << whose << (file.empty() ? "none" : file)
              << (file.empty() || is_there ? "" : " (not there)") << "\n";
  };
  line("project: ", FindProjectFile(places.working_folder, places.home));
  line("user:    ", places.user_file);
  return kExitOk;
}

}  // namespace

void AddConfigCommands(CLI::App& app, Invocation& invocation) {
  CLI::App* const noun =
      app.add_subcommand("config", "Settings of yours and of a project");
  noun->require_subcommand(1)->fallthrough();
  AddConfigView(*noun, invocation);
  AddVerb(*noun, "path", "Which files are read", invocation,
          [](Session&) { return Path(); });
  const auto args = std::make_shared<SetArgs>();
  CLI::App* const set =
      AddVerb(*noun, "set", "Write a setting into your file, or the project's",
              invocation, [args](Session&) { return Set(*args); });
  set->add_option("KEY", args->key, "See `frostline config view`")->required();
  set->add_option("VALUE", args->value, "What it is to be")->required();
  CLI::App* const unset = AddVerb(
      *noun, "unset", "Take a setting out of your file, or the project's",
      invocation, [args](Session&) { return Unset(*args); });
  unset->add_option("KEY", args->key, "See `frostline config view`")
      ->required();
  for (CLI::App* const verb : {set, unset}) {
    verb->add_flag("--project", args->project,
                   "In .frostline.yaml of this folder or above it");
  }
}

}  // namespace frostline::cli
