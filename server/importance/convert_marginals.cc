// SPDX-License-Identifier: Apache-2.0
//
// Curves, tables, and the answers of which only some parameters are wanted.
#include <algorithm>

#include "importance/measure/depth.h"
#include "server/importance/convert_importance.h"
#include "server/wire/space.h"

namespace frostline::server {
namespace {

const Parameter& In(const Space& space, int parameter) {
  return space.parameters()[static_cast<std::size_t>(parameter)];
}

// Removes those elements of a repeated field for which `goes` holds.
template <typename Field, typename Goes>
void RemoveIf(Field& field, Goes goes) {
  field.erase(std::remove_if(field.begin(), field.end(), goes), field.end());
}

}  // namespace

v1::GetMarginalsReply CurvesToProto(
    const std::vector<importance::MarginalCurve>& curves, const Space& space) {
  v1::GetMarginalsReply reply;
  for (const int i : importance::DepthOrder(space)) {
    const importance::MarginalCurve& curve =
        curves[static_cast<std::size_t>(i)];
    const Parameter& parameter = In(space, curve.parameter);
    v1::Marginal* const marginal = reply.add_marginals();
    marginal->set_parameter(parameter.name);
    *marginal->mutable_best() = ValueToProto(parameter.domain, curve.best);
    for (const importance::CurvePoint& point : curve.points) {
      v1::MarginalPoint* const out = marginal->add_points();
      *out->mutable_value() = ValueToProto(parameter.domain, point.value);
      *out->mutable_expected() = IntervalToProto(point.expected);
      out->set_trials(point.trials);
    }
  }
  return reply;
}

v1::PairMarginal TableToProto(const importance::MarginalTable& table,
                              const Space& space) {
  const Parameter& first = In(space, table.first);
  const Parameter& second = In(space, table.second);
  v1::PairMarginal proto;
  proto.set_first(first.name);
  proto.set_second(second.name);
  for (const double value : table.first_values) {
    *proto.add_first_values() = ValueToProto(first.domain, value);
  }
  for (const double value : table.second_values) {
    *proto.add_second_values() = ValueToProto(second.domain, value);
  }
  proto.mutable_expected()->Assign(table.expected.begin(),
                                   table.expected.end());
  proto.mutable_trials()->Assign(table.trials.begin(), table.trials.end());
  return proto;
}

void KeepNamed(const ParameterNames& names, v1::ImportanceReport& report) {
  if (names.empty()) return;
  RemoveIf(*report.mutable_parameters(), [&names](const auto& importance) {
    return !names.contains(importance.parameter());
  });
  RemoveIf(*report.mutable_pairs(), [&names](const auto& pair) {
    return !names.contains(pair.first()) && !names.contains(pair.second());
  });
  report.set_total_pairs(report.pairs_size());
}

void KeepNamed(const ParameterNames& names, v1::GetStabilityReply& reply) {
  if (names.empty()) return;
  for (v1::StabilityPoint& point : *reply.mutable_points()) {
    RemoveIf(*point.mutable_parameters(), [&names](const auto& importance) {
      return !names.contains(importance.parameter());
    });
  }
}

void KeepNamed(const ParameterNames& names, v1::GetMarginalsReply& reply) {
  if (names.empty()) return;
  RemoveIf(*reply.mutable_marginals(), [&names](const auto& marginal) {
    return !names.contains(marginal.parameter());
  });
}

void KeepNamed(const ParameterNames& names, v1::StudyComparison& comparison) {
  if (names.empty()) return;
  RemoveIf(*comparison.mutable_shifts(), [&names](const auto& shift) {
    return !names.contains(shift.parameter());
  });
}

}  // namespace frostline::server
