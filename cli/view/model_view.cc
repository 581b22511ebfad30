// SPDX-License-Identifier: Apache-2.0
#include "cli/view/model_view.h"

#include <google/protobuf/struct.pb.h>

#include "absl/strings/str_cat.h"
#include "cli/term/terminal.h"
#include "cli/term/utf8.h"
#include "cli/view/format.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

std::string CleanModelText(const std::string& text) {
  return proto::CleanText(text, proto::kMaxCauseBytes);
}

}  // namespace

bool ExportsModels(const v1::StudySpec& spec) {
  const auto& fields = spec.training().extra().fields();
  const auto word = fields.find("export");
  if (word == fields.end()) return false;
  const std::string& text = word->second.string_value();
  return word->second.bool_value() || text == "best" || text == "all";
}

std::string RenderModelCopy(const v1::Trial& trial, const std::string& folder,
                            std::size_t files, std::int64_t bytes) {
  return absl::StrCat("copied the model of trial ", trial.number(), ": ", files,
                      " files, ", FormatCount(bytes),
                      " bytes, each as its SHA-256 says, to\n  ", folder,
                      "\nNext: transformers loads it, with its tokenizer, by\n"
                      "  from_pretrained(\"",
                      folder, "\")\n");
}

std::string RenderModelElsewhere(const v1::Trial& trial,
                                 const std::string& folder, int width) {
  const v1::TrainedModel& model = trial.usage().model();
  const std::string host = CleanModelText(model.host());
  const std::string from = CleanModelText(model.folder());
  const std::string target = ShellWord(CleanModelText(folder));
  return absl::StrCat(
      KeyLine("trial", CleanModelText(trial.name())), KeyLine("host", host),
      KeyLine("folder", from), KeyLine("bytes", FormatCount(model.bytes())),
      "\n",
      WrapText("The model is on another machine, where it stays while its "
               "trial is the best that this worker has seen. Copy it, and "
               "compare its sums:",
               width),
      // Commands are pasted: they stay on a line.
      "  rsync -a ", ShellWord(absl::StrCat(host, ":", from, "/")), " ", target,
      "/\n  (cd ", target, " && sha256sum -c SHA256SUMS)\n");
}

std::string ModelJson(const v1::Trial& trial, const std::string& to,
                      const std::vector<std::string>& files) {
  const v1::TrainedModel& model = trial.usage().model();
  google::protobuf::Struct json;
  const auto set = [&json](const char* name, const std::string& text) {
    (*json.mutable_fields())[name].set_string_value(text);
  };
  set("trial", trial.name());
  set("host", model.host());
  set("folder", model.folder());
  set("bytes", absl::StrCat(model.bytes()));
  set("sums_sha256", model.sums_sha256());
  set("to", to);
  (*json.mutable_fields())["copied"].set_bool_value(!to.empty());
  auto& list = *(*json.mutable_fields())["files"].mutable_list_value();
  for (const std::string& file : files) {
    list.add_values()->set_string_value(file);
  }
  return ToJson(json);
}

}  // namespace frostline::cli
