// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/plan_request.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "importance/measure/depth.h"

namespace frostline::importance {

absl::Status CheckPlanRequest(const Space& space, const PlanOptions& options) {
  if (!std::isfinite(options.tolerance) || options.tolerance < 0.0) {
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat("tolerance is ", options.tolerance),
                     "give a part of the score, 0 or more",
                     "options.tolerance");
  }
  if (options.evaluation_rows < 0) {
    return MakeError(
        ErrorId::kRequestInvalid,
        absl::StrCat("evaluation_rows is ", options.evaluation_rows),
        "give a number of rows, or 0 where it is not known",
        "options.evaluation_rows");
  }
  const auto& modules = space.modules();
  if (std::any_of(modules.begin(), modules.end(), [](const ModuleBinding& m) {
        return m.parameter.has_value();
      })) {
    return absl::OkStatus();
  }
  return MakeError(ErrorId::kRequestInvalid,
                   "no module of this space takes its rate from a parameter",
                   "plan for a study that searches the rates of modules",
                   "space.modules");
}

std::vector<std::size_t> ModulesInDepthOrder(const Space& space) {
  std::vector<Parameter> one_each;
  for (const ModuleBinding& binding : space.modules()) {
    one_each.push_back({binding.module, Levels{{0.0}}, std::nullopt});
  }
  std::vector<std::size_t> order;
  for (const int m : DepthOrder(Space(one_each, {}, std::nullopt))) {
    order.push_back(static_cast<std::size_t>(m));
  }
  return order;
}

}  // namespace frostline::importance
