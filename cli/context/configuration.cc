// SPDX-License-Identifier: Apache-2.0
#include "cli/context/configuration.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"

namespace frostline::cli {
namespace {

std::string TextOf(const ConfigValues& values, const std::string& key) {
  const auto found = values.find(key);
  return found == values.end() ? "" : found->second.text;
}

FileWish WishOf(const ConfigValues& values) {
  FileWish made;
  made.wish.connect = TextOf(values, "connect");
  made.wish.context = TextOf(values, "context");
  made.wish.access.token = TextOf(values, "token_file");
  made.wish.access.tls.ca = TextOf(values, "tls_ca");
  made.wish.access.tls.certificate = TextOf(values, "tls_cert");
  made.wish.access.tls.key = TextOf(values, "tls_key");
  for (const char* const key : {"connect", "context"}) {
    const auto found = values.find(key);
    if (found != values.end()) made.why = found->second.origin;
  }
  return made;
}

// Others who may write the folder can put another file of ours in its place.
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

FileWishes WishesOf(const Configuration& configuration) {
  return {WishOf(configuration.project), WishOf(configuration.user)};
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
