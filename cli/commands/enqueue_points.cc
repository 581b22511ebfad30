// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "cli/commands/trial_enqueue.h"
#include "cli/study_file/yaml_sugar.h"
#include "cli/study_file/yaml_to_proto.h"

namespace frostline::cli {
namespace {

using Kind = YamlNode::Kind;

absl::Status TakePoint(const YamlPtr& node, const std::string& file,
                       EnqueuePoints& points) {
  const auto& type = *v1::EnqueuedTrial::descriptor();
  const bool is_point =
      node->kind == Kind::kMap && !node->entries.empty() &&
      std::ranges::all_of(node->entries, [&type](const YamlEntry& entry) {
        return entry.value->kind == Kind::kScalar &&
               type.FindFieldByName(entry.key) == nullptr;
      });
  const YamlPtr full =
      is_point ? MapNode({{"values", node->mark, node}}, node->mark) : node;
  v1::EnqueuedTrial trial;
  FieldPlaces places;
  RETURN_IF_ERROR(YamlToProto(file, &places).Fill(full, "enqueue", &trial));
  points.trials.push_back(std::move(trial));
  points.places.push_back(node->mark);
  return absl::OkStatus();
}

absl::Status Take(const YamlPtr& root, const std::string& file,
                  EnqueuePoints& points) {
  const YamlEntry* const key = root->Find("enqueue");
  const YamlPtr& node =
      key != nullptr && root->entries.size() == 1 ? key->value : root;
  if (node->kind != Kind::kList) return TakePoint(node, file, points);
  for (const YamlPtr& item : node->items) {
    RETURN_IF_ERROR(TakePoint(item, file, points));
  }
  return absl::OkStatus();
}

bool IsJsonLines(const std::vector<std::string>& lines) {
  return std::ranges::all_of(lines, [](const std::string& line) {
    const auto text = absl::StripAsciiWhitespace(line);
    return text.empty() || (text.front() == '{' && text.back() == '}');
  });
}

}  // namespace

absl::StatusOr<EnqueuePoints> ParseEnqueuePoints(const std::string& text,
                                                 const std::string& file) {
  EnqueuePoints points;
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  if (absl::StripAsciiWhitespace(text).empty()) {
    return MakeError(
        ErrorId::kRequestInvalid, absl::StrCat(file, " holds no points"),
        "write a list of points, e.g. - {values: {layer.0: 2e-5}}", "FILE");
  }
  if (!IsJsonLines(lines)) {
    ASSIGN_OR_RETURN(const YamlPtr root, ParseYaml(text, file));
    RETURN_IF_ERROR(Take(root, file, points));
  } else {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (absl::StripAsciiWhitespace(lines[i]).empty()) continue;
      // Lines before it are blank, so that its place is that in the file.
      ASSIGN_OR_RETURN(const YamlPtr root,
                       ParseYaml(std::string(i, '\n') + lines[i], file));
      RETURN_IF_ERROR(Take(root, file, points));
    }
  }
  if (points.trials.empty()) {
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat(file, " holds an empty list"),
                     "add points to it", "FILE");
  }
  return points;
}

}  // namespace frostline::cli
