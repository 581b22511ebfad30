// SPDX-License-Identifier: Apache-2.0
//
// File: reading_verbs.h
#ifndef FROSTLINE_SERVER_VERBS_READING_VERBS_H_
#define FROSTLINE_SERVER_VERBS_READING_VERBS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frostline/v1/study_service.pb.h"
#include "server/dispatch/acquire_line.h"
#include "server/verbs/calls.h"
#include "server/wire/spec.h"
#include "storage/rows.h"

namespace frostline::server {

// The verbs that read lists and trials. Lists run on readers and stop between
// two pages when the caller has hung up; what is about one trial is a point
// read.
class ReadingVerbs {
 public:
  ReadingVerbs(Calls& calls, const storage::TrialStore& store,
               const ProgressBoard& progress)
      : calls_(calls), store_(store), progress_(progress) {}

  void AddTo(VerbTable& table);

 private:
  absl::StatusOr<v1::Trial> GetTrial(const CallContext& caller,
                                     const StudyHandle& study,
                                     const v1::GetTrialRequest& request) const;
  absl::StatusOr<v1::ListTrialsReply> ListTrials(
      const CallContext& caller, const StudyHandle& study,
      const v1::ListTrialsRequest& request) const;
  absl::StatusOr<v1::ListMeasurementsReply> ListMeasurements(
      const CallContext& caller, const StudyHandle& study,
      const v1::ListMeasurementsRequest& request) const;
  absl::StatusOr<v1::ListBestTrialsReply> ListBestTrials(
      const CallContext& caller, const StudyHandle& study,
      const v1::ListBestTrialsRequest& request) const;
  absl::StatusOr<v1::ExampleOutcomes> GetExampleOutcomes(
      const CallContext& caller, const StudyHandle& study,
      const v1::GetExampleOutcomesRequest& request) const;

  Calls& calls_;
  const storage::TrialStore& store_;
  const ProgressBoard& progress_;
};

// Shows a trial, in the FULL view with its attempts, and a running one with its
// progress. A trial that does not fit into a message (kMostPageBytes) is shown
// without examples of superseded outcomes, then without these outcomes, then
// without its oldest attempts; shown attempts keep their numbers.
absl::StatusOr<v1::Trial> RenderTrial(const storage::TrialRow& row,
                                      const StudyHandle& study,
                                      v1::TrialView view,
                                      const storage::TrialStore& store,
                                      const ProgressBoard& progress);

// The streams of what changes. Watchers are answered from snapshots, a page of
// changes at a time. While nothing changes they get a sign of life now and
// then.

using StudyEvents = std::vector<v1::StudyEvent>;
// Returns what came after the request's revision. No events mean that nothing
// has changed for a while.
using EventSource =
    std::function<void(CallContext, v1::WatchStudyRequest, Reply<StudyEvents>)>;

// Makes a stream that asks `source` each time for what comes after the last
// event, and sends an `alive` event when there is nothing. The stream ends with
// the source's error.
StreamVerb MakeWatchVerb(EventSource source);

// The verbs that tell what changes in a study: WatchStudy as a stream, and
// GetStudyDelta in one answer.
class WatchVerb {
 public:
  using Events = StudyEvents;

  WatchVerb(Calls& calls, Ledger& ledger, const storage::TrialStore& store,
            const Clock& clock, Duration alive_every);

  void AddTo(VerbTable& table);

  // Returns the changes after a revision, by rising revision, of at most `most`
  // trials; waits up to `wait` for one.
  void NextEvents(CallContext caller, v1::WatchStudyRequest request,
                  Duration wait, int most, Reply<Events> reply);

  // Called when a group is on disk: answers those for whom it brings news.
  void Committed() FROSTLINE_ON_LOOP;
  void Turn(Batch& batch) FROSTLINE_ON_LOOP;
  void Drain(Batch& batch) FROSTLINE_ON_LOOP;
  std::optional<SteadyTime> NextDue() const FROSTLINE_ON_LOOP {
    return watching_.NextDue();
  }

 private:
  struct Parked {
    storage::StudyKey study = 0;
    std::int64_t after_revision = 0;
    v1::TrialView view = v1::TRIAL_VIEW_BASIC;
    int most = 0;
    SteadyTime deadline{};
    Reply<Events> reply;

    storage::StudyKey Key() const { return study; }
  };

  void GetStudyDelta(CallContext caller, v1::GetStudyDeltaRequest request,
                     Reply<v1::StudyDelta> reply);
  // Runs on a reader.
  absl::StatusOr<Events> EventsAfter(const StudyHandle& study, v1::Study now,
                                     const Parked& asked) const;

  Calls& calls_;
  Ledger& ledger_;
  const storage::TrialStore& store_;
  const Clock& clock_;
  const Duration alive_every_;
  WaitingRoom<Parked> watching_ ABSL_GUARDED_BY(kLoopThread);
};

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

// The verb that exports a study. It sends chunks of at most a mebibyte, cut
// anywhere, so that a large study, or one trial's long curve, takes no more
// memory than a small one. When the caller has hung up, no more trials are
// read.
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

#endif  // FROSTLINE_SERVER_VERBS_READING_VERBS_H_
