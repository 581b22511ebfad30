// SPDX-License-Identifier: Apache-2.0
//
// File: tables.h
//
// Rows in memory, one ordered map per table. The same shape serves two ends:
//   - as what is stored, every entry is a row;
//   - as a layer of changes above that, an entry without a row is an erasure.
// Rows are immutable once they are in a table, so a copy of a pointer is a
// snapshot of a row.
#ifndef FROSTLINE_STORAGE_MEMORY_TABLES_H_
#define FROSTLINE_STORAGE_MEMORY_TABLES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "storage/rows.h"

namespace frostline::storage {

// Every key of what belongs to a study begins with the study.
using OfStudy = std::tuple<StudyKey>;
using OfTrial = std::tuple<StudyKey, std::int64_t>;
using OfAttempt = std::tuple<StudyKey, std::int64_t, std::int64_t>;
using OfStep = std::tuple<StudyKey, std::int64_t, std::int64_t, std::int64_t>;

template <typename Key, typename Row>
using Table = std::map<Key, std::shared_ptr<const Row>>;

struct Tables {
  Table<OfStudy, StudyRow> studies;
  Table<OfTrial, TrialRow> trials;
  Table<OfAttempt, AttemptRow> attempts;
  Table<OfStep, Measurement> measurements;
  Table<OfTrial, OutcomeRow> outcomes;
  Table<OfAttempt, LogRow> logs;
  Table<std::string, WorkerRow> workers;
  Table<std::string, ReplyRow> replies;
};

// Calls f(member pointer) for each table.
template <typename F>
void ForEachTable(F f) {
  f(&Tables::studies);
  f(&Tables::trials);
  f(&Tables::attempts);
  f(&Tables::measurements);
  f(&Tables::outcomes);
  f(&Tables::logs);
  f(&Tables::workers);
  f(&Tables::replies);
}

// Moves the changes of `upper` into `lower`, over what is there.
template <typename Key, typename Row>
void Merge(Table<Key, Row>& lower, Table<Key, Row>&& upper) {
  for (auto& [key, row] : upper) lower[key] = std::move(row);
  upper.clear();
}

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_MEMORY_TABLES_H_
