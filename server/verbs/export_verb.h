// SPDX-License-Identifier: Apache-2.0
//
// File: export_verb.h
//
// The verb that exports a study. It sends chunks of at most a mebibyte, cut
// anywhere, so that a large study, or one trial's long curve, takes no more
// memory than a small one. When the caller has hung up, no more trials are
// read.
#ifndef FROSTLINE_SERVER_VERBS_EXPORT_VERB_H_
#define FROSTLINE_SERVER_VERBS_EXPORT_VERB_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "frostline/v1/study_service.pb.h"
#include "server/verbs/calls.h"
#include "server/wire/spec.h"
#include "storage/rows.h"

namespace frostline::server {

// Functions that write the lines of an export. Each appends to `out`.

std::string CsvHeader(const CheckedStudy& study);
void AddCsvLine(const storage::TrialRow& row, const CheckedStudy& study,
                std::string& out);

// Adds a trial as JSON.
void AddTrialLine(const storage::TrialRow& row, const std::string& study_id,
                  const CheckedStudy& study, std::string& out);
// Adds {"trial": …, "attempt": …, "measurements": [{…}]}; `trial` is the
// trial's name.
void AddMeasurementLine(const storage::TrialRow& row, const std::string& trial,
                        const Measurement& measured, std::string& out);

inline constexpr std::size_t kMostChunkBytes = std::size_t{1} << 20;

class ExportVerb {
 public:
  ExportVerb(Calls& calls, const storage::TrialStore& store)
      : calls_(calls), store_(store) {}

  void AddTo(VerbTable& table);

 private:
  // How far an export is. Its chunks are asked for one after the other, so this
  // needs no lock.
  struct Progress {
    v1::ExportTrialsRequest request;
    CancelFlag cancelled;
    std::int64_t after = -1;              // the number of the last trial read
    std::vector<storage::TrialRow> rows;  // read and not yet written
    std::size_t next = 0;                 // of rows
    std::int64_t after_step = -1;         // in a curve that is half written
    bool in_curve = false;
    bool begun = false;
    bool over = false;    // all is written
    std::string pending;  // written and not yet sent
  };

  // Returns the next chunk, empty when nothing is left. Runs on a reader.
  absl::StatusOr<std::string> NextChunk(const StudyHandle& study,
                                        Progress& progress) const;
  // Writes until a chunk is full or the study is at its end.
  absl::Status Write(const StudyHandle& study, Progress& progress) const;
  absl::Status WriteTrial(const StudyHandle& study, Progress& progress) const;
  // Writes measurements of the current trial until a chunk is full or the curve
  // is at its end.
  absl::Status WriteCurve(const StudyHandle& study, Progress& progress) const;

  Calls& calls_;
  const storage::TrialStore& store_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_VERBS_EXPORT_VERB_H_
