// SPDX-License-Identifier: Apache-2.0
#include "cli/recipe/earlier_values.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/error.h"
#include "base/ids.h"
#include "cli/report/ranked_points.h"
#include "cli/study_file/yaml_sugar.h"
#include "cli/view/format.h"
#include "frostline/v1/importance_service.grpc.pb.h"

namespace frostline::cli {
namespace {

using google::protobuf::Value;

// As a study file would have it: numbers in full, words in quotes.
YamlPtr NodeOf(const Value& value) {
  if (value.kind_case() == Value::kNumberValue) {
    return ScalarNode(absl::StrFormat("%.17g", value.number_value()), {});
  }
  auto node = std::make_shared<YamlNode>(*ScalarNode(FormatValue(value), {}));
  node->quoted = value.kind_case() == Value::kStringValue;
  return node;
}

YamlPtr MapOf(const google::protobuf::Map<std::string, Value>& values) {
  std::vector<YamlEntry> entries;
  entries.reserve(values.size());
  for (const auto& [name, value] : values) {
    entries.push_back({name, {}, NodeOf(value)});
  }
  return MapNode(std::move(entries), {});
}

YamlPtr MapOf(const RankedPoint& point) {
  std::vector<YamlEntry> entries;
  entries.reserve(static_cast<std::size_t>(point.values().size()));
  for (const v1::ParameterValue& value : point.values()) {
    entries.push_back({value.name(), {}, NodeOf(value.value())});
  }
  return MapNode(std::move(entries), {});
}

absl::Status NothingToTake(const StageStudy& earlier, const std::string& what,
                           const std::string& why) {
  const std::string& id = earlier.study.id;
  return MakeError(ErrorId::kTrialsTooFew,
                   absl::StrCat("stage ", NameOfEntry(earlier), " left no ",
                                what, ": ", why),
                   absl::StrCat("see `frostline trial list ", id,
                                "` and `frostline trial "
                                "log ",
                                id,
                                " 0`; mend what they say and begin again with "
                                "--as ID"),
                   what);
}

// 1 of "best", 2 of "best-2"; 0 of other words.
std::size_t RankOf(const std::string& what) {
  if (what == "best") return 1;
  std::size_t rank = 0;
  const bool is_rank = absl::StartsWith(what, "best-") &&
                       absl::SimpleAtoi(what.substr(5), &rank);
  return is_rank ? rank : 0;
}

absl::StatusOr<std::vector<RankedPoint>> FetchPoints(
    Client& client, const StageStudy& earlier) {
  return FetchRankedPoints(client, StudyNameOf(earlier.study.id));
}

absl::StatusOr<YamlPtr> FetchPlan(Client& client, const StageStudy& earlier) {
  v1::GetPlanRivalsRequest request;
  request.set_study(StudyNameOf(earlier.study.id));
  request.set_seeds(1);
  const auto rivals =
      client.Call(&v1::ImportanceService::Stub::GetPlanRivals, request);
  if (!rivals.ok()) {
    return NothingToTake(earlier, "plan",
                         std::string(rivals.status().message()));
  }
  for (const v1::EnqueuedTrial& trial : rivals->trials()) {
    const auto rival = trial.labels().find("rival");
    if (rival != trial.labels().end() && rival->second == "plan") {
      return MapOf(trial.values());
    }
  }
  return NothingToTake(earlier, "plan", "none was named");
}

absl::StatusOr<YamlPtr> ValueIn(const RankedPoint& best,
                                const StageStudy& earlier,
                                const std::string& name) {
  for (const v1::ParameterValue& value : best.values()) {
    if (value.name() == name) return NodeOf(value.value());
  }
  return NothingToTake(earlier, "best." + name,
                       "its best point has no such value");
}

}  // namespace

absl::StatusOr<YamlPtr> FetchEarlierValue(Client& client,
                                          const StageStudy& earlier,
                                          const std::string& what) {
  if (what == "plan") return FetchPlan(client, earlier);
  ASSIGN_OR_RETURN(const std::vector<RankedPoint> points,
                   FetchPoints(client, earlier));
  if (points.empty()) {
    return NothingToTake(earlier, what, "none of its trials succeeded");
  }
  if (absl::StartsWith(what, "best.")) {
    return ValueIn(points[0], earlier, what.substr(5));
  }
  const std::size_t rank = RankOf(what);
  if (rank == 0) {
    return MakeError(ErrorId::kStudyFieldUnknown,
                     absl::StrCat("a stage has no '", what, "'"),
                     "take best, best-2, best.PARAMETER or plan", what);
  }
  if (rank > points.size()) {
    return NothingToTake(
        earlier, what,
        absl::StrCat("it tried ", points.size(), " different points"));
  }
  return MapOf(points[rank - 1]);
}

}  // namespace frostline::cli
