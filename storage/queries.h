// SPDX-License-Identifier: Apache-2.0
//
// File: queries.h
#ifndef FROSTLINE_STORAGE_QUERIES_H_
#define FROSTLINE_STORAGE_QUERIES_H_

#include <cstdint>
#include <vector>

#include "storage/rows.h"

namespace frostline::storage {

struct StudyQuery {
  bool with_deleted = false;
  StudyKey after = 0;  // last key already seen
  int limit = 100;
};

struct TrialQuery {
  enum class Order { kNumber, kRevision };
  StudyKey study = 0;
  std::vector<TrialState> states = {};  // empty: all
  Order order = Order::kNumber;
  std::int64_t after = -1;  // last number or revision already seen
  int limit = 100;
};

struct MeasurementQuery {
  StudyKey study = 0;
  std::int64_t number = 0;
  std::int64_t attempt = 0;
  std::int64_t after_step = -1;
  int limit = 1000;
};

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_QUERIES_H_
