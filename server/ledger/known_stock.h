// SPDX-License-Identifier: Apache-2.0
//
// File: known_stock.h
//
// What a worker said that its trainer can open, so that a study goes only to
// workers that have its model and its data.
#ifndef FROSTLINE_SERVER_LEDGER_KNOWN_STOCK_H_
#define FROSTLINE_SERVER_LEDGER_KNOWN_STOCK_H_

#include <map>
#include <memory>
#include <set>
#include <string>

#include "frostline/v1/study.pb.h"
#include "frostline/v1/worker.pb.h"

namespace frostline::server {

// It is immutable.
class KnownStock {
 public:
  explicit KnownStock(const v1::Worker& worker);

  // Answers "" where all is there, else "the data set sst5". An item or a study
  // without a sum fits any sum; a `precision` is one that the study's trials
  // share.
  std::string WhatLacks(const v1::StudySpec& spec,
                        const std::string& precision) const;
  // Two stocks of one mark have the same items.
  const std::string& mark() const { return mark_; }

 private:
  using Sums = std::map<std::string, std::string>;  // by id
  bool says_stock_ = false;
  Sums models_;
  Sums data_sets_;
  std::set<std::string> precisions_;  // none: it did not say
  std::string mark_;
};

// Null stands for a worker that did not say: it is taken to have all.
using StockPtr = std::shared_ptr<const KnownStock>;

StockPtr StockOf(const v1::Worker& worker);
std::string WhatLacks(const StockPtr& stock, const v1::StudySpec& spec,
                      const std::string& precision = "");

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_LEDGER_KNOWN_STOCK_H_
