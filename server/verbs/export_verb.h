// SPDX-License-Identifier: Apache-2.0
//
// File: export_verb.h
//
// An export is sent in chunks of at most a mebibyte, cut wherever that falls,
// so that a large study, or one trial's long curve, takes no more memory than a
// small one. A caller that has hung up has no more trials read.
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

// The lines of an export, each added to the end of `out`.

std::string CsvHeader(const CheckedStudy& study);
void AddCsvLine(const storage::TrialRow& row, const CheckedStudy& study,
                std::string& out);

// Adds a trial as JSON.
void AddTrialLine(const storage::TrialRow& row, const std::string& study_id,
                  const CheckedStudy& study, std::string& out);
// Adds {"trial": …, "attempt": …, "measurements": [{…}]}; `trial` is the name.
void AddMeasurementLine(const storage::TrialRow& row, const std::string& trial,
                        const Measurement& measured, std::string& out);

inline constexpr std::size_t kMostChunkBytes = std::size_t{1} << 20;

class ExportVerb {
 public:
  ExportVerb(Calls& calls, const storage::TrialStore& store)
      : calls_(calls), store_(store) {}

  void AddTo(VerbTable& table);

 private:
  // How far one export is. Its chunks are asked for one after the other, so it
  // needs no lock.
  struct Progress {
    v1::ExportTrialsRequest request;
    CancelFlag cancelled;
    std::int64_t after = -1;              // number of the last trial read
    std::vector<storage::TrialRow> rows;  // read and not yet written
    std::size_t next = 0;                 // of rows
    std::int64_t after_step = -1;         // of a curve half written
    bool in_curve = false;
    bool begun = false;
    bool over = false;    // all is written
    std::string pending;  // written and not yet sent
  };

  // Answers the next chunk, empty when nothing is left. A reader runs it.
  absl::StatusOr<std::string> NextChunk(const StudyHandle& study,
                                        Progress& progress) const;
  // Writes until a chunk is full or the study is over.
  absl::Status Write(const StudyHandle& study, Progress& progress) const;
  absl::Status WriteTrial(const StudyHandle& study, Progress& progress) const;
  // Writes measurements of the trial at hand until a chunk is full, or the
  // curve has ended.
  absl::Status WriteCurve(const StudyHandle& study, Progress& progress) const;

  Calls& calls_;
  const storage::TrialStore& store_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_VERBS_EXPORT_VERB_H_
