// SPDX-License-Identifier: Apache-2.0
#include <google/protobuf/struct.pb.h>

#include <iostream>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "cli/commands/config.h"
#include "cli/commands/error_text.h"
#include "cli/commands/output_flags.h"
#include "cli/term/table.h"
#include "cli/view/output.h"

namespace frostline::cli {
namespace {

// A variable as the environment has it, or a file, or what is usual.
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

// One of the files that prove who calls: the flag, the variable or the file
// that has the very path, else the context.
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

absl::StatusOr<ExitCode> View(const Session& session, const Output& output) {
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
  RETURN_IF_ERROR(
      PrintOne(session.terminal, output, ConfigMessageOf(settings), text));
  return kExitOk;
}

}  // namespace

absl::StatusOr<std::vector<Setting>> SettingsOf(const Session& session) {
  ASSIGN_OR_RETURN(
      const Target target,
      ChooseTarget(session.flags, session.environment, session.contexts,
                   WishesOf(session.configuration)));
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
  const auto output = std::make_shared<Output>();
  CLI::App* const view =
      AddVerb(noun, "view", "Show every setting, and who says it", invocation,
              [output](Session& session) { return View(session, *output); });
  AddOneFormats(view, *output);
}

}  // namespace frostline::cli
