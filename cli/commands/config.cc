// SPDX-License-Identifier: Apache-2.0
//
// The verbs of `frostline config`: what the files say, and which source a
// setting comes from. None of them calls a coordinator, and none shows a
// secret.
#include "cli/commands/config.h"

#include <google/protobuf/struct.pb.h>

#include <filesystem>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/nearest.h"
#include "cli/commands/command.h"
#include "cli/context/context_store.h"
#include "cli/term/table.h"
#include "cli/term/terminal.h"
#include "cli/term/text_file.h"
#include "cli/view/output.h"
#include "tls/private_file.h"

namespace frostline::cli {
namespace {

bool IsGiven(CLI::App& verb, const std::string& flag) {
  const CLI::Option* const option = verb.get_option_no_throw(flag);
  return option != nullptr && option->count() > 0;
}

void SetFormat(CLI::App& verb, const std::string& format) {
  CLI::Option* const option = verb.get_option_no_throw("--format");
  if (option == nullptr || IsGiven(verb, "--format") ||
      IsGiven(verb, "--json") || IsGiven(verb, "--wide")) {
    return;
  }
  // What somebody types says more than what they once set: `-o all.csv`.
  CLI::Option* const output = verb.get_option_no_throw("--output");
  if (output != nullptr && output->count() > 0 &&
      !FormatOfEnding(output->as<std::string>()).empty()) {
    return;
  }
  // CLI11 throws where the verb has no such format; it ends here.
  try {
    option->add_result(format);
    option->run_callback();
  } catch (const CLI::Error&) {
    option->clear();
  }
}

// Returns the innermost command of the command line, or null.
CLI::App* Reached(const CLI::App& app) {
  CLI::App* verb = nullptr;
  auto chosen = app.get_subcommands();
  while (!chosen.empty()) {
    verb = chosen.front();
    chosen = verb->get_subcommands();
  }
  return verb;
}

}  // namespace

void ApplyConfiguration(const CLI::App& app, Session& session) {
  const ConfigValue* const color = session.configuration.Find("color");
  if (color != nullptr && color->text == "never") {
    session.terminal.color = false;
  }
  const auto format =
      ConfiguredFormat(session.configuration, session.terminal.out_is_tty);
  CLI::App* const verb = Reached(app);
  if (format.has_value() && verb != nullptr) SetFormat(*verb, *format);
}

namespace {

// Returns the setting from the environment, from a file, or the default.
Setting ConfigSettingOf(const ConfigKey& key,
                        const Configuration& configuration) {
  const auto variable = configuration.variables.find(key.variable);
  const ConfigValue* const value = configuration.Find(key.name);
  Setting made{key.name, key.unless_said, "default"};
  if (key.form == ConfigForm::kColor) {
    if (variable != configuration.variables.end()) {
      return {key.name, "never", "$" + key.variable};
    }
  } else if (variable != configuration.variables.end()) {
    return {key.name, variable->second, "$" + key.variable};
  }
  if (value != nullptr) made = {key.name, value->text, value->origin};
  return made;
}

std::string SettingOriginOf(const Target& target) {
  if (target.why == kNobodyNames) return "default";
  const bool is_variable = target.why.starts_with("FROSTLINE_");
  const std::string why = absl::StrCat(is_variable ? "$" : "", target.why);
  return target.context.empty()
             ? why
             : absl::StrCat("context ", target.context, " (", why, ")");
}

// Returns the setting for one of the credential files. Its origin is the flag,
// the variable or the file with this very path, else the context.
Setting CredentialOf(const ConfigKey& key, const std::string& used,
                     const std::string& flag, const Session& session,
                     const Target& target) {
  if (used.empty()) return {key.name, "", "default"};
  if (used == flag) return {key.name, used, key.flag};
  const Setting said = ConfigSettingOf(key, session.configuration);
  if (said.value == used) return {key.name, used, said.origin};
  return {key.name, used, SettingOriginOf(target)};
}

google::protobuf::Struct ConfigMessageOf(const std::vector<Setting>& settings) {
  google::protobuf::Struct message;
  auto& list = *(*message.mutable_fields())["settings"].mutable_list_value();
  for (const Setting& setting : settings) {
    auto& fields = *list.add_values()->mutable_struct_value()->mutable_fields();
    fields["key"].set_string_value(setting.key);
    fields["value"].set_string_value(setting.value);
    fields["origin"].set_string_value(setting.origin);
  }
  return message;
}

bool IsJson(Format format) {
  return format == Format::kJson || format == Format::kJsonLines;
}

absl::StatusOr<ExitCode> View(Session& session, const Output& output) {
  // Whoever looks for the mistake sees it beside what holds.
  if (!session.configured.ok()) {
    std::cerr << (IsJson(output.format) ? ErrorJson(session.configured)
                                        : ErrorText(session.configured) + "\n");
  }
  ASSIGN_OR_RETURN(const auto settings, SettingsOf(session));
  const auto text = [&] {
    Table table({{"KEY"}, {"VALUE"}, {"ORIGIN"}});
    for (const Setting& setting : settings) {
      table.AddRow({setting.key, setting.value, setting.origin});
    }
    return table.Render(session.terminal.width);
  };
  return PrintOne(session.terminal, output, ConfigMessageOf(settings), text);
}

}  // namespace

absl::StatusOr<std::vector<Setting>> SettingsOf(const Session& session) {
  ASSIGN_OR_RETURN(
      const Target target,
      ChooseTarget(session.flags, session.environment, session.contexts,
                   ConfiguredTargetsOf(session.configuration)));
  const tls::AccessFiles& used = target.access;
  const tls::AccessFiles& flags = session.flags.access;
  std::vector<Setting> settings;
  for (const ConfigKey& key : ConfigKeys()) {
    const auto credential = [&](const std::string& path,
                                const std::string& flag) {
      return CredentialOf(key, path, flag, session, target);
    };
    Setting setting = ConfigSettingOf(key, session.configuration);
    if (key.name == "connect") {
      setting = {key.name, target.connect, SettingOriginOf(target)};
    } else if (key.name == "context") {
      const bool is_of_one = !target.context.empty();
      setting = {key.name, target.context,
                 is_of_one ? SettingOriginOf(target) : "default"};
    } else if (key.name == "token_file") {
      setting = credential(used.token, flags.token);
    } else if (key.name == "tls_ca") {
      setting = credential(used.tls.ca, flags.tls.ca);
    } else if (key.name == "tls_cert") {
      setting = credential(used.tls.certificate, flags.tls.certificate);
    } else if (key.name == "tls_key") {
      setting = credential(used.tls.key, flags.tls.key);
    } else if (key.name == "color" && session.no_color) {
      setting = {key.name, "never", key.flag};
    }
    setting.value = MaskSecrets(setting.value);
    settings.push_back(setting);
  }
  return settings;
}

void AddConfigView(CLI::App& noun, Invocation& invocation) {
  const auto [view, output] = AddVerb(
      noun, "view", "Show every setting, and who says it", invocation, View);
  AddOneFormats(view, *output);
}

namespace {

namespace fs = std::filesystem;

struct SetArgs {
  std::string key;
  std::string value;
  bool project = false;
};

// Returns the existing file, or the one that would be created.
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

// Makes a path absolute from the working folder, not from the file's folder.
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

// Writes the file after a check of its whole text; otherwise the next command
// would fail.
absl::Status Write(const std::string& text, const std::string& file,
                   bool project, const ConfigPlaces& places) {
  const ConfigScope scope =
      project ? ConfigScope::kProject : ConfigScope::kUser;
  RETURN_IF_ERROR(ParseConfig(text, file, scope, places.home).status());
  return project ? WriteTextFile(file, text) : WriteUserFile(file, text);
}

absl::StatusOr<ExitCode> Set(Session& /*session*/, const SetArgs& args) {
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

absl::StatusOr<ExitCode> Unset(Session& /*session*/, const SetArgs& args) {
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

absl::StatusOr<ExitCode> Path(Session& /*session*/) {
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

void AddWhichFile(CLI::App& verb, SetArgs& args) {
  verb.add_flag("--project", args.project,
                "In .frostline.yaml of this folder or above it");
}

}  // namespace

void AddConfigCommands(CLI::App& app, Invocation& invocation) {
  CLI::App* const noun =
      AddNoun(app, "config", "Settings of yours and of a project");
  AddConfigView(*noun, invocation);
  AddVerb(*noun, "path", "Which files are read", invocation, Path);
  const auto [set, args] =
      AddVerb(*noun, "set", "Write a setting into your file, or the project's",
              invocation, Set);
  set->add_option("KEY", args->key, "See `frostline config view`")->required();
  set->add_option("VALUE", args->value, "What it is to be")->required();
  AddWhichFile(*set, *args);
  const auto [unset, key] = AddVerb(
      *noun, "unset", "Take a setting out of your file, or the project's",
      invocation, Unset);
  unset->add_option("KEY", key->key, "See `frostline config view`")->required();
  AddWhichFile(*unset, *key);
}

}  // namespace frostline::cli
