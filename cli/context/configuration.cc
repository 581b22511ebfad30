// SPDX-License-Identifier: Apache-2.0
#include "cli/context/configuration.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/nearest.h"
#include "base/plain/text.h"
#include "base/plain/yaml.h"
#include "cli/client/address.h"
#include "cli/context/context_store.h"

namespace frostline::cli {
namespace {

std::string OneOf(const std::string& value,
                  const std::vector<std::string>& words) {
  if (std::find(words.begin(), words.end(), value) != words.end()) return "";
  return absl::StrCat("'", value, "' is no value of it; ",
                      Suggest(value, words));
}

bool HasControl(const std::string& value) {
  return std::any_of(value.begin(), value.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
}

}  // namespace

const std::vector<ConfigKey>& ConfigKeys() {
  using Form = ConfigForm;
  static const auto* const keys = new std::vector<ConfigKey>{
      {"connect", Form::kAddress, true, "--connect", "FROSTLINE_CONNECT", false,
       "127.0.0.1:7070", "HOST:PORT of the coordinator"},
      {"context", Form::kName, true, "--context", "FROSTLINE_CONTEXT", false,
       "", "a context of `frostline login`, instead of connect"},
      {"token_file", Form::kPath, false, "--token-file", "FROSTLINE_TOKEN_FILE",
       false, "", "holds a token, for the coordinator of this file"},
      {"tls_ca", Form::kPath, false, "--tls-ca", "FROSTLINE_TLS_CA", false, "",
       "who signed the certificate of this file's coordinator"},
      {"tls_cert", Form::kPath, false, "--tls-cert", "FROSTLINE_TLS_CERT",
       false, "", "a certificate of yours, for this file's coordinator"},
      {"tls_key", Form::kPath, false, "--tls-key", "FROSTLINE_TLS_KEY", false,
       "", "its key"},
      {"format", Form::kFormat, true, "--format", "", false, "table",
       "how answers are printed on a terminal"},
      {"color", Form::kColor, true, "--no-color", "NO_COLOR", false, "auto",
       "auto or never"},
      {"pager", Form::kCommand, false, "", "FROSTLINE_PAGER", true, "",
       "shows what is taller than the terminal"},
      {"registry", Form::kPath, true, "--registry", "FROSTLINE_REGISTRY", true,
       "registry", "DIR of models.yaml and datasets.yaml"},
      {"cache_dir", Form::kPath, false, "", "FROSTLINE_CACHE", true,
       "~/.cache/frostline", "where downloaded models are looked for"},
      {"prefix_dir", Form::kPath, false, "", "FROSTLINE_PREFIX_DIR", true,
       "frostline-runs/prefix", "what `frostline cache` lists and clears"},
  };
  return *keys;
}

const ConfigKey* FindConfigKey(const std::string& name) {
  for (const ConfigKey& key : ConfigKeys()) {
    if (key.name == name) return &key;
  }
  return nullptr;
}

std::vector<std::string> ConfigKeyNames() {
  std::vector<std::string> names;
  for (const ConfigKey& key : ConfigKeys()) names.push_back(key.name);
  return names;
}

std::string WrongWith(const ConfigKey& key, const std::string& value) {
  if (value.empty()) return "it has no value";
  if (HasControl(value)) return "it has a control character";
  switch (key.form) {
    case ConfigForm::kAddress:
      return IsAddress(value) ? ""
                              : absl::StrCat("'", value,
                                             "' is neither HOST:PORT nor "
                                             "unix:PATH");
    case ConfigForm::kName:
      return CheckId(value, "").ok()
                 ? ""
                 : absl::StrCat("'", value, "' is no name of a context");
    case ConfigForm::kFormat:
      return OneOf(value,
                   {"table", "wide", "json", "jsonl", "yaml", "csv", "name"});
    case ConfigForm::kColor:
      return OneOf(value, {"auto", "never"});
    case ConfigForm::kPath:
    case ConfigForm::kCommand:
      break;
  }
  return "";
}

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

// Checks the settings together, because lines that are valid alone may
// conflict.
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

// Configuration files as text: reading them, and changing one line.

namespace {

class OpenFile {
 public:
  // A pipe must not hold us, and a link may lead to what is another user's.
  explicit OpenFile(const std::string& path)
      : fd_(open(path.c_str(),
                 O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)) {}
  ~OpenFile() {
    if (fd_ >= 0) close(fd_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int fd() const { return fd_; }

 private:
  int fd_;
};

absl::Status NotOurs(const std::string& cause, const std::string& fix) {
  return MakeError(ErrorId::kTlsFile, cause, fix);
}

absl::Status Unreadable(const std::string& path, int error) {
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("settings cannot be read: ", path, ": ",
                                std::strerror(error)),
                   "make the file readable for yourself");
}

bool IsBare(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' ||
         c == '/' || c == '_' || c == '-' || c == ':';
}

std::string Quoted(const std::string& value) {
  if (value.empty()) return "''";
  const bool is_bare =
      absl::ascii_isalnum(static_cast<unsigned char>(value.front())) &&
      value.back() != ':' && std::all_of(value.begin(), value.end(), IsBare);
  if (is_bare || value.front() == '/') {
    if (std::all_of(value.begin(), value.end(), IsBare)) return value;
  }
  std::string quoted = "'";
  for (const char c : value) quoted += c == '\'' ? "''" : std::string(1, c);
  return quoted + "'";
}

using Lines = std::vector<std::string>;

Lines::iterator LineOf(const std::string& key, Lines& lines) {
  return std::find_if(lines.begin(), lines.end(), [&](const auto& one) {
    return absl::StartsWith(one, key + ":");
  });
}

// Returns why the line cannot be replaced by itself, or "" if it can.
std::string WhyNotAlone(const Lines& lines, Lines::const_iterator line) {
  const auto next = line + 1;
  if (next != lines.end() &&
      (absl::StartsWith(*next, " ") || absl::StartsWith(*next, "-"))) {
    return "the value goes on in the next line";
  }
  return absl::StrContains(*line, " #")
             ? "the comment behind the value would be lost"
             : "";
}

absl::Status HandIsNeeded(const std::string& file, std::ptrdiff_t line,
                          const std::string& why, const std::string& fix) {
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat(file, ":", line + 1, ": ", why), fix);
}

}  // namespace

absl::StatusOr<std::optional<std::string>> ReadOwnFile(const std::string& path,
                                                       bool group_may_write) {
  const OpenFile file(path);
  if (file.fd() < 0 && (errno == ENOENT || errno == ENOTDIR)) {
    return std::optional<std::string>();
  }
  struct stat facts{};
  if (file.fd() < 0 || fstat(file.fd(), &facts) != 0) {
    if (errno != ELOOP) return Unreadable(path, errno);
    return NotOurs(path + " is a link",
                   "put a file of yours there, or remove it");
  }
  if (!S_ISREG(facts.st_mode)) {
    return NotOurs(path + " is no file", "remove it");
  }
  if (facts.st_uid != geteuid()) {
    return NotOurs(path + " is another user's",
                   "copy it to a file of yours, or remove it");
  }
  RETURN_IF_ERROR(CheckMode(path, facts.st_mode,
                            group_may_write ? S_IWOTH : S_IWGRP | S_IWOTH));
  std::string text;
  std::array<char, 4096> block{};
  ssize_t got = 0;
  while (text.size() <= kMaxYamlBytes &&
         (got = read(file.fd(), block.data(), block.size())) > 0) {
    text.append(block.data(), static_cast<std::size_t>(got));
  }
  if (got < 0) {
    return Unreadable(path, errno);
  }
  return std::optional<std::string>(text);
}

absl::StatusOr<std::string> SetInConfig(const std::string& text,
                                        const std::string& file,
                                        const std::string& key,
                                        const std::string& value) {
  const std::string line = absl::StrCat(key, ": ", Quoted(value));
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  const auto found = LineOf(key, lines);
  if (found == lines.end()) {
    const bool is_open = !text.empty() && text.back() != '\n';
    return absl::StrCat(text, is_open ? "\n" : "", line, "\n");
  }
  const std::string why = WhyNotAlone(lines, found);
  if (!why.empty()) {
    return HandIsNeeded(file, found - lines.begin(), why,
                        absl::StrCat("write `", line, "` there yourself"));
  }
  *found = line;
  return absl::StrJoin(lines, "\n");
}

absl::StatusOr<std::string> UnsetInConfig(const std::string& text,
                                          const std::string& file,
                                          const std::string& key) {
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  const auto found = LineOf(key, lines);
  if (found == lines.end()) return text;
  const std::string why = WhyNotAlone(lines, found);
  if (!why.empty()) {
    return HandIsNeeded(file, found - lines.begin(), why,
                        absl::StrCat("take ", key, " out there yourself"));
  }
  lines.erase(found);
  return absl::StrJoin(lines, "\n");
}

namespace {

std::string TextOf(const ConfigValues& values, const std::string& key) {
  const auto found = values.find(key);
  return found == values.end() ? "" : found->second.text;
}

ConfiguredTarget ConfiguredTargetOf(const ConfigValues& values) {
  ConfiguredTarget made;
  made.options.connect = TextOf(values, "connect");
  made.options.context = TextOf(values, "context");
  made.options.access.token = TextOf(values, "token_file");
  made.options.access.tls.ca = TextOf(values, "tls_ca");
  made.options.access.tls.certificate = TextOf(values, "tls_cert");
  made.options.access.tls.key = TextOf(values, "tls_key");
  for (const char* const key : {"connect", "context"}) {
    const auto found = values.find(key);
    if (found != values.end()) made.why = found->second.origin;
  }
  return made;
}

// Returns whether others may replace the file. Whoever may write its folder can
// put another of our files in its place.
bool AnybodyMayReplace(const std::string& file) {
  std::error_code error;
  const auto mode =
      std::filesystem::status(std::filesystem::path(file).parent_path(), error)
          .permissions();
  using std::filesystem::perms;
  return !error && (mode & perms::others_write) != perms::none &&
         (mode & perms::sticky_bit) == perms::none;
}

absl::Status LoadUser(const ConfigPlaces& places, Configuration* made) {
  if (places.user_file.empty()) return absl::OkStatus();
  const auto text = ReadOwnFile(places.user_file, false);
  if (HasErrorId(text.status(), ErrorId::kRequestInvalid)) {
    made->unread = MakeError(
        ErrorId::kRequestInvalid, std::string(text.status().message()),
        "make the file readable for yourself, say where to go with --connect "
        "HOST:PORT, or name another folder of settings: XDG_CONFIG_HOME=DIR");
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(text.status());
  if (!text->has_value()) return absl::OkStatus();
  ASSIGN_OR_RETURN(made->user, ParseConfig(**text, places.user_file,
                                           ConfigScope::kUser, places.home));
  return absl::OkStatus();
}

absl::Status LoadProject(const ConfigPlaces& places, Configuration* made) {
  const std::string file = FindProjectFile(places.working_folder, places.home);
  if (file.empty()) return absl::OkStatus();
  const auto ignore = [&](const std::string& why) {
    made->warnings.push_back(absl::StrCat(file, " is ignored: ", why));
  };
  const auto text = ReadOwnFile(file, true);
  if (!text.ok()) {
    ignore(absl::StrCat(text.status().message(), "; ",
                        DetailOf(text.status())->fix));
  } else if (AnybodyMayReplace(file)) {
    ignore("anybody may write its folder");
  } else if (text->has_value()) {
    ASSIGN_OR_RETURN(
        made->project,
        ParseConfig(**text, file, ConfigScope::kProject, places.home));
    made->project_file = file;
  }
  return absl::OkStatus();
}

}  // namespace

ConfigPlaces PlacesOfUser() {
  ConfigPlaces places;
  places.variable = [](const std::string& name) {
    const char* const value = std::getenv(name.c_str());
    return std::string(value == nullptr ? "" : value);
  };
  std::error_code error;
  places.working_folder = std::filesystem::current_path(error).string();
  const std::string home = places.variable("HOME");
  if (absl::StartsWith(home, "/")) {
    const std::filesystem::path plain(home);
    places.home = std::filesystem::weakly_canonical(plain, error).string();
  }
  const std::string settings = places.variable("XDG_CONFIG_HOME");
  if (absl::StartsWith(settings, "/")) {
    places.user_file = settings + "/frostline/config.yaml";
  } else if (absl::StartsWith(home, "/")) {
    places.user_file = home + "/.config/frostline/config.yaml";
  }
  return places;
}

const ConfigValue* Configuration::Find(const std::string& key) const {
  for (const ConfigValues* const values : {&project, &user}) {
    const auto found = values->find(key);
    if (found != values->end()) return &found->second;
  }
  return nullptr;
}

Configuration LoadConfiguration(const ConfigPlaces& places) {
  Configuration made;
  made.user_file = places.user_file;
  for (const ConfigKey& key : ConfigKeys()) {
    if (key.variable.empty()) continue;
    const std::string value = places.variable(key.variable);
    if (!value.empty()) made.variables[key.variable] = value;
  }
  made.wrong = LoadUser(places, &made);
  made.wrong.Update(LoadProject(places, &made));
  return made;
}

void PassOn(const Configuration& configuration) {
  for (const ConfigKey& key : ConfigKeys()) {
    const ConfigValue* const value = configuration.Find(key.name);
    if (!key.passed_on || value == nullptr) continue;
    // Set and empty counts as said: `FROSTLINE_PAGER=` wants no pager.
    setenv(key.variable.c_str(), value->text.c_str(), /*overwrite=*/0);
  }
}

ConfiguredTargets ConfiguredTargetsOf(const Configuration& configuration) {
  return {ConfiguredTargetOf(configuration.project),
          ConfiguredTargetOf(configuration.user)};
}

std::optional<std::string> ConfiguredFormat(const Configuration& configuration,
                                            bool out_is_tty) {
  const ConfigValue* const value = configuration.Find("format");
  if (!out_is_tty || value == nullptr) return std::nullopt;
  return value->text;
}

std::string MaskSecrets(const std::string& text) {
  constexpr char kToken[] = "frost_";
  std::string masked = text;
  const auto is_of_token = [](char c) {
    return c == '_' || absl::ascii_isxdigit(static_cast<unsigned char>(c));
  };
  std::size_t at = 0;
  while ((at = masked.find(kToken, at)) != std::string::npos) {
    at += sizeof(kToken) - 1;
    const auto begin = masked.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end = std::find_if_not(begin, masked.end(), is_of_token);
    constexpr std::ptrdiff_t kLongestWord = 8;  // "frost_data" is no secret
    if (end - begin > kLongestWord) masked.replace(begin, end, "…");
  }
  at = 0;
  while ((at = masked.find("://", at)) != std::string::npos) {
    at += 3;
    const std::size_t end = masked.find_first_of("/ \t\n?#", at);
    const std::size_t sign = masked.rfind('@', end);
    if (sign == std::string::npos || sign < at) continue;
    masked.replace(at, sign - at, "…");
  }
  return masked;
}

}  // namespace frostline::cli
