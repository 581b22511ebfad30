// SPDX-License-Identifier: Apache-2.0
#include "cli/context/config_file.h"

#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/plain/text.h"
#include "base/plain/yaml.h"

namespace frostline::cli {
namespace {

namespace fs = std::filesystem;

absl::Status At(const std::string& file, const YamlMark& mark,
                const std::string& cause, const std::string& fix) {
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat(file, ":", mark.line, ":", mark.column, ": ", cause), fix);
}

bool SaysNothing(const std::string& text) {
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const absl::string_view said = absl::StripAsciiWhitespace(line);
    if (!said.empty() && said.front() != '#') return false;
  }
  return true;
}

std::string FullPath(const std::string& path, const std::string& file,
                     const std::string& home) {
  if (absl::StartsWith(path, "~/") && !home.empty()) {
    return home + path.substr(1);
  }
  return (fs::path(file).parent_path() / path).lexically_normal().string();
}

absl::StatusOr<ConfigValue> Take(const YamlEntry& entry,
                                 const std::string& file, ConfigScope scope,
                                 const std::string& home) {
  const ConfigKey* const key = FindConfigKey(entry.key);
  if (key == nullptr) {
    return At(file, entry.key_mark,
              absl::StrCat("there is no key ", Shown(entry.key)),
              Suggest(entry.key, ConfigKeyNames()));
  }
  if (scope == ConfigScope::kProject && !key->in_project) {
    return At(file, entry.key_mark,
              absl::StrCat("a project file may not say ", key->name,
                           ": it may be a stranger's"),
              absl::StrCat("remove the line; `frostline config set ", key->name,
                           " VALUE` says it for you alone"));
  }
  if (entry.value->kind != YamlNode::Kind::kScalar) {
    const bool is_none = entry.value->kind == YamlNode::Kind::kNull;
    return At(file, is_none ? entry.key_mark : entry.value->mark,
              absl::StrCat(key->name,
                           is_none ? " has no value" : " wants one text alone"),
              absl::StrCat("write ", key->name, ": VALUE, or remove the line"));
  }
  const std::string wrong = WrongWith(*key, entry.value->text);
  if (!wrong.empty()) {
    return At(file, entry.value->mark, absl::StrCat(key->name, ": ", wrong),
              absl::StrCat("it is for ", key->what));
  }
  return ConfigValue{key->form == ConfigForm::kPath
                         ? FullPath(entry.value->text, file, home)
                         : entry.value->text,
                     absl::StrCat(file, ":", entry.key_mark.line)};
}

// What is right line by line may be wrong as a whole.
absl::Status CheckTogether(const YamlNode& root, const std::string& file) {
  const YamlEntry* const context = root.Find("context");
  const bool has_connect = root.Find("connect") != nullptr;
  if (has_connect && context != nullptr) {
    return At(file, context->key_mark,
              "connect and context name a coordinator each",
              "remove one of the two lines");
  }
  if (has_connect || context != nullptr) return absl::OkStatus();
  for (const char* const name :
       {"token_file", "tls_ca", "tls_cert", "tls_key"}) {
    const YamlEntry* const found = root.Find(name);
    if (found == nullptr) continue;
    return At(file, found->key_mark,
              absl::StrCat(name,
                           " is for the coordinator of this file, which "
                           "names none"),
              "write connect: HOST:PORT beside it");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ConfigValues> ParseConfig(const std::string& text,
                                         const std::string& file,
                                         ConfigScope scope,
                                         const std::string& home) {
  ConfigValues values;
  if (SaysNothing(text)) return values;
  const Expected<YamlNode> root = ParseYamlSubset(text, file);
  if (!root.ok()) {
    return MakeError(ErrorId::kRequestInvalid, root.fault().cause,
                     root.fault().fix);
  }
  if (root.value().kind != YamlNode::Kind::kMap) {
    return At(file, root.value().mark, "this is no line of the form KEY: VALUE",
              "write one key a line, as connect: HOST:PORT");
  }
  for (const YamlEntry& entry : root.value().entries) {
    ASSIGN_OR_RETURN(values[entry.key], Take(entry, file, scope, home));
  }
  RETURN_IF_ERROR(CheckTogether(root.value(), file));
  return values;
}

std::string FindProjectFile(const std::string& folder,
                            const std::string& home) {
  std::error_code error;
  fs::path at(folder);
  while (!at.empty()) {
    const fs::path file = at / kProjectFile;
    if (fs::exists(fs::symlink_status(file, error))) return file.string();
    const bool is_last = at == fs::path(home) || at == at.parent_path() ||
                         fs::exists(at / ".git", error);
    if (is_last) break;
    at = at.parent_path();
  }
  return "";
}

}  // namespace frostline::cli
