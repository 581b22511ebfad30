// SPDX-License-Identifier: Apache-2.0
//
// File: tables.h
//
// Each table is an ordered map. In a layer of changes above what is stored, an
// entry without a row is an erasure. Rows are immutable, so that a copied
// pointer is a snapshot.
#ifndef FROSTLINE_STORAGE_MEMORY_TABLES_H_
#define FROSTLINE_STORAGE_MEMORY_TABLES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "storage/rows.h"

namespace frostline::storage {

// Keys of what belongs to a study begin with it.
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
  Table<OfStudy, SummaryRow> summaries;
  Table<OfTrial, BestRow> best;
  Table<std::string, WorkerRow> workers;
  Table<std::string, TokenRow> tokens;
  Table<std::string, CertificateRow> certificates;
  Table<std::int64_t, AuditRow> audit;
  Table<std::string, NotificationRow> notifications;
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
  f(&Tables::summaries);
  f(&Tables::best);
  f(&Tables::workers);
  f(&Tables::tokens);
  f(&Tables::certificates);
  f(&Tables::audit);
  f(&Tables::notifications);
  f(&Tables::replies);
}

// `upper` wins, and is empty then.
template <typename Key, typename Row>
void Merge(Table<Key, Row>& lower, Table<Key, Row>&& upper) {
  for (auto& [key, row] : upper) lower[key] = std::move(row);
  upper.clear();
}

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_MEMORY_TABLES_H_
