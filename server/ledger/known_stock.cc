// SPDX-License-Identifier: Apache-2.0
#include "server/ledger/known_stock.h"

#include "absl/strings/str_cat.h"

namespace frostline::server {
namespace {

std::map<std::string, std::string> SumsOf(
    const google::protobuf::RepeatedPtrField<v1::StockItem>& items) {
  std::map<std::string, std::string> sums;
  for (const v1::StockItem& item : items) sums[item.id()] = item.sha256();
  return sums;
}

// Ids and sums hold neither of the two separators.
void AddToStock(std::string& mark,
                const std::map<std::string, std::string>& sums) {
  for (const auto& [id, sum] : sums) absl::StrAppend(&mark, id, " ", sum, "\n");
  absl::StrAppend(&mark, "\n");
}

// `what` is "model"; an empty id asks for nothing.
std::string Lacks(const std::map<std::string, std::string>& sums,
                  const char* what, const std::string& id,
                  const std::string& sum) {
  if (id.empty()) return "";
  const auto found = sums.find(id);
  if (found == sums.end()) return absl::StrCat("the ", what, " ", id);
  const bool fits =
      sum.empty() || found->second.empty() || found->second == sum;
  if (fits) return "";
  return absl::StrCat("the ", what, " ", id, " of SHA-256 ", sum);
}

}  // namespace

KnownStock::KnownStock(const v1::Worker& worker)
    : says_stock_(worker.has_stock()),
      models_(SumsOf(worker.stock().models())),
      data_sets_(SumsOf(worker.stock().data_sets())),
      precisions_(worker.precisions().begin(), worker.precisions().end()) {
  AddToStock(mark_, models_);
  AddToStock(mark_, data_sets_);
  for (const std::string& each : precisions_) {
    absl::StrAppend(&mark_, each, "\n");
  }
  absl::StrAppend(&mark_, says_stock_ ? "\n" : "all\n");
}

std::string KnownStock::WhatLacks(const v1::StudySpec& spec,
                                  const std::string& precision) const {
  if (!precision.empty() && !precisions_.empty() &&
      !precisions_.contains(precision)) {
    return absl::StrCat("the precision ", precision);
  }
  if (!says_stock_) return "";
  std::string lacks =
      Lacks(models_, "model", spec.model().id(), spec.model().sha256());
  if (!lacks.empty()) return lacks;
  lacks = Lacks(data_sets_, "data set", spec.data().id(), spec.data().sha256());
  for (const v1::TaskSpec& task : spec.tasks()) {
    if (!lacks.empty()) break;
    lacks =
        Lacks(data_sets_, "data set", task.data().id(), task.data().sha256());
  }
  for (const std::string& id : spec.training().also_evaluate()) {
    if (lacks.empty()) lacks = Lacks(data_sets_, "data set", id, "");
  }
  return lacks;
}

StockPtr StockOf(const v1::Worker& worker) {
  if (!worker.has_stock() && worker.precisions().empty()) return nullptr;
  return std::make_shared<const KnownStock>(worker);
}

std::string WhatLacks(const StockPtr& stock, const v1::StudySpec& spec,
                      const std::string& precision) {
  return stock == nullptr ? "" : stock->WhatLacks(spec, precision);
}

}  // namespace frostline::server
