// SPDX-License-Identifier: Apache-2.0
#include "cli/context/config_key.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "base/ids.h"
#include "base/nearest.h"
#include "cli/client/address.h"

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

}  // namespace frostline::cli
