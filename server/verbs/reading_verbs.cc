// SPDX-License-Identifier: Apache-2.0
#include "server/verbs/reading_verbs.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "base/error.h"
#include "base/ids.h"
#include "frostline/v1/study_service.pb.h"
#include "google/protobuf/util/json_util.h"
#include "proto/wire_values.h"
#include "server/ledger/study_book.h"
#include "server/verbs/describe.h"
#include "server/wire/convert.h"
#include "server/wire/filter.h"
#include "server/wire/spec.h"
#include "storage/trial_store.h"

namespace frostline::server {
namespace {

// Reads fewer trials when the filter names a state.
void Narrow(const TrialFilter& filter, storage::TrialQuery& query) {
  for (const FilterTerm& term : filter.terms()) {
    v1::TrialState state;
    if (term.field == "state" && term.op == "=" &&
        v1::TrialState_Parse("TRIAL_STATE_" + term.value, &state)) {
      query.states = {static_cast<TrialState>(state)};
    }
  }
}

absl::StatusOr<std::vector<Measurement>> WholeCurve(
    const CallContext& caller, const storage::TrialStore& store,
    const storage::MeasurementQuery& query) {
  std::vector<Measurement> all;
  RETURN_IF_ERROR(storage::ForEachMeasurement(store, query,
                                              [&](const Measurement& measured) {
                                                all.push_back(measured);
                                                return CheckWaiting(caller);
                                              }));
  return all;
}

// Adds at most `most` of them, the first and the last included; fewer when so
// many do not fit into a message.
void AddEvenlySpaced(const std::vector<Measurement>& all, std::size_t most,
                     v1::ListMeasurementsReply& reply) {
  for (std::size_t keep = std::min(all.size(), most);; keep /= 2) {
    for (std::size_t i = 0; i < keep; ++i) {
      const std::size_t at = keep == 1 ? 0 : i * (all.size() - 1) / (keep - 1);
      *reply.add_measurements() = MeasurementToProto(all[at]);
    }
    if (reply.ByteSizeLong() <= kMostPageBytes || keep <= 1) return;
    reply.clear_measurements();
  }
}

// Makes the trial small enough for a message; see the header.
void FitIntoMessage(v1::Trial& trial) {
  std::size_t bytes = trial.ByteSizeLong();
  for (const bool whole : {false, true}) {
    for (v1::Attempt& attempt : *trial.mutable_attempts()) {
      if (bytes <= kMostPageBytes) return;
      if (!attempt.has_superseded_outcome()) continue;
      bytes -= attempt.ByteSizeLong();
      if (whole) {
        attempt.clear_superseded_outcome();
      } else {
        attempt.mutable_superseded_outcome()->clear_examples();
        attempt.mutable_superseded_outcome()->clear_evaluations();
      }
      bytes += attempt.ByteSizeLong();
    }
  }
  int left_out = 0;
  while (bytes > kMostPageBytes && left_out < trial.attempts_size()) {
    bytes -= trial.attempts(left_out++).ByteSizeLong();
  }
  trial.mutable_attempts()->DeleteSubrange(0, left_out);
}

// A trial with what orders it: by how much it breaks the study's constraints,
// then the loss of the first objective, then its number.
using RankedTrial = std::tuple<double, double, std::int64_t>;

// Reads all trials that have succeeded, a page at a time.
absl::StatusOr<std::vector<RankedTrial>> RankSucceeded(
    const StudyHandle& study, const storage::TrialStore& store) {
  const Objective& first = study.checked->objectives[0];
  std::vector<RankedTrial> ranked;
  RETURN_IF_ERROR(storage::ForEachTrial(
      store, {.study = study.key, .states = {TrialState::kSucceeded}},
      [&](const storage::TrialRow& row) {
        ranked.emplace_back(ViolationOf(row, study.checked->spec),
                            AsLoss(first, row.values[0]), row.number);
        return absl::OkStatus();
      }));
  std::sort(ranked.begin(), ranked.end());
  return ranked;
}

// Returns the best trial, or the front, from those that were among them once.
absl::StatusOr<std::vector<RankedTrial>> RankBest(
    const StudyHandle& study, const storage::TrialStore& store) {
  const std::vector<Objective>& objectives = study.checked->objectives;
  BestTrials best(objectives);
  std::map<std::int64_t, double> loss_of;
  RETURN_IF_ERROR(
      storage::ForEachBest(store, study.key, [&](const storage::BestRow& row) {
        best.Offer(row.number, row.values);
        loss_of[row.number] = AsLoss(objectives[0], row.values[0]);
        return absl::OkStatus();
      }));
  std::vector<RankedTrial> ranked;
  for (const std::int64_t number : best.Numbers()) {
    ranked.emplace_back(0.0, loss_of.at(number), number);
  }
  std::sort(ranked.begin(), ranked.end());
  return ranked;
}

}  // namespace

absl::StatusOr<v1::Trial> RenderTrial(const storage::TrialRow& row,
                                      const StudyHandle& study,
                                      v1::TrialView view,
                                      const storage::TrialStore& store,
                                      const ProgressBoard& progress) {
  std::vector<storage::AttemptRow> attempts;
  if (view == v1::TRIAL_VIEW_FULL) {
    ASSIGN_OR_RETURN(attempts, store.ListAttempts(study.key, row.number));
  }
  v1::Trial trial =
      TrialToProto(row, study.id, study.checked->space, view, attempts);
  if (row.state == TrialState::kRunning) {
    auto said = progress.Of({study.key, row.number}, row.attempt);
    if (said.has_value()) *trial.mutable_progress() = *std::move(said);
  }
  if (!attempts.empty()) FitIntoMessage(trial);
  return trial;
}

void ReadingVerbs::AddTo(VerbTable& table) {
  using V = ReadingVerbs;
  const auto add = [&](const char* verb, TaskPool& lane, auto body) {
    calls_.AddRead(table, absl::StrCat("StudyService.", verb), lane, this,
                   body);
  };
  add("GetTrial", calls_.points(), &V::GetTrial);
  add("ListMeasurements", calls_.points(), &V::ListMeasurements);
  add("GetExampleOutcomes", calls_.points(), &V::GetExampleOutcomes);
  add("ListTrials", calls_.readers(), &V::ListTrials);
  add("ListBestTrials", calls_.readers(), &V::ListBestTrials);
}

absl::StatusOr<v1::Trial> ReadingVerbs::GetTrial(
    const CallContext&, const StudyHandle& study,
    const v1::GetTrialRequest& request) const {
  ASSIGN_OR_RETURN(const TrialName name, ParseTrialName(request.name()));
  ASSIGN_OR_RETURN(const storage::TrialRow row,
                   store_.FindTrial(study.key, name.number));
  // A single trial is shown whole unless the caller asks for less.
  const v1::TrialView view = request.view() == v1::TRIAL_VIEW_UNSPECIFIED
                                 ? v1::TRIAL_VIEW_FULL
                                 : request.view();
  return RenderTrial(row, study, view, store_, progress_);
}

absl::StatusOr<v1::ListTrialsReply> ReadingVerbs::ListTrials(
    const CallContext& caller, const StudyHandle& study,
    const v1::ListTrialsRequest& request) const {
  ASSIGN_OR_RETURN(
      const TrialFilter filter,
      TrialFilter::Parse(request.filter(), NamesOf(*study.checked)));
  storage::TrialQuery query;
  query.study = study.key;
  query.limit = storage::kScanPage;
  const std::string list = absl::StrCat("trials of ", study.key);
  ASSIGN_OR_RETURN(query.after, ParsePageToken(list, request.filter(),
                                               request.page_token(), -1));
  Narrow(filter, query);
  const int page_size = PageSize(request.page_size());
  v1::ListTrialsReply reply;
  std::size_t bytes = 0;
  std::int64_t last = query.after;
  while (true) {
    RETURN_IF_ERROR(CheckWaiting(caller));
    ASSIGN_OR_RETURN(const std::vector<storage::TrialRow> rows,
                     store_.ListTrials(query));
    for (const storage::TrialRow& row : rows) {
      if (!filter.Matches(row)) continue;
      ASSIGN_OR_RETURN(v1::Trial trial, RenderTrial(row, study, request.view(),
                                                    store_, progress_));
      bytes += trial.ByteSizeLong();
      // A single trial always fits (RenderTrial()), so every page makes
      // progress.
      if (reply.trials_size() == page_size ||
          (bytes > kMostPageBytes && reply.trials_size() > 0)) {
        reply.set_next_page_token(MakePageToken(list, request.filter(), last));
        return reply;
      }
      last = row.number;
      *reply.add_trials() = std::move(trial);
    }
    if (rows.size() < storage::kScanPage) return reply;
    query.after = rows.back().number;
  }
}

absl::StatusOr<v1::ListMeasurementsReply> ReadingVerbs::ListMeasurements(
    const CallContext& caller, const StudyHandle& study,
    const v1::ListMeasurementsRequest& request) const {
  ASSIGN_OR_RETURN(const TrialName name, ParseTrialName(request.name()));
  ASSIGN_OR_RETURN(const storage::TrialRow row,
                   store_.FindTrial(study.key, name.number));
  storage::MeasurementQuery query{
      .study = study.key,
      .number = name.number,
      .attempt = request.attempt() == 0 ? row.attempt : request.attempt()};
  const std::string list =
      absl::StrCat("measurements of ", request.name(), "/", query.attempt);
  ASSIGN_OR_RETURN(query.after_step,
                   ParsePageToken(list, "", request.page_token(), -1));
  v1::ListMeasurementsReply reply;
  reply.set_attempt(query.attempt);
  if (request.downsample_to() > 0) {
    ASSIGN_OR_RETURN(const std::vector<Measurement> all,
                     WholeCurve(caller, store_, query));
    AddEvenlySpaced(all, static_cast<std::size_t>(request.downsample_to()),
                    reply);
    return reply;
  }
  const int page_size = PageSize(request.page_size());
  query.limit = page_size + 1;
  ASSIGN_OR_RETURN(const std::vector<Measurement> page,
                   store_.ListMeasurements(query));
  std::size_t bytes = 0;
  for (const Measurement& measurement : page) {
    v1::Measurement shown = MeasurementToProto(measurement);
    bytes += shown.ByteSizeLong();
    const int count = reply.measurements_size();
    if (count == page_size || (bytes > kMostPageBytes && count > 0)) {
      reply.set_next_page_token(
          MakePageToken(list, "", reply.measurements(count - 1).step()));
      break;
    }
    *reply.add_measurements() = std::move(shown);
  }
  return reply;
}

absl::StatusOr<v1::ListBestTrialsReply> ReadingVerbs::ListBestTrials(
    const CallContext&, const StudyHandle& study,
    const v1::ListBestTrialsRequest& request) const {
  const bool several = study.checked->objectives.size() > 1;
  ASSIGN_OR_RETURN(const std::vector<RankedTrial> ranked,
                   several || request.limit() <= 1
                       ? RankBest(study, store_)
                       : RankSucceeded(study, store_));
  const int limit = request.limit() > 0 ? request.limit()
                    : several           ? static_cast<int>(ranked.size())
                                        : 1;
  std::set<std::vector<bool>> patterns;
  v1::ListBestTrialsReply reply;
  reply.set_revision(study.revision);
  std::size_t bytes = 0;
  for (const auto& [violation, loss, number] : ranked) {
    if (reply.trials_size() == limit) break;
    ASSIGN_OR_RETURN(const storage::TrialRow row,
                     store_.FindTrial(study.key, number));
    std::vector<bool> frozen;
    for (const ModuleRate& rate : study.checked->space.Rates(row.point)) {
      frozen.push_back(rate.rate == 0.0);
    }
    if (request.distinct() && !patterns.insert(frozen).second) continue;
    ASSIGN_OR_RETURN(
        v1::Trial trial,
        RenderTrial(row, study, v1::TRIAL_VIEW_FULL, store_, progress_));
    bytes += trial.ByteSizeLong();
    if (bytes > kMostPageBytes && reply.trials_size() > 0) {
      reply.set_truncated(true);
      break;
    }
    *reply.add_trials() = std::move(trial);
  }
  return reply;
}

absl::StatusOr<v1::ExampleOutcomes> ReadingVerbs::GetExampleOutcomes(
    const CallContext&, const StudyHandle& study,
    const v1::GetExampleOutcomesRequest& request) const {
  ASSIGN_OR_RETURN(const TrialName name, ParseTrialName(request.name()));
  RETURN_IF_ERROR(store_.FindTrial(study.key, name.number).status());
  ASSIGN_OR_RETURN(const std::optional<storage::OutcomeRow> row,
                   store_.FindOutcome(study.key, name.number));
  std::optional<v1::ExampleOutcomes> outcomes;
  if (row.has_value()) {
    outcomes = OutcomesOfSet(*row, request.set(), request.task());
  }
  if (outcomes.has_value()) return *std::move(outcomes);
  return NoOutcomes(request.name(), request.set(), request.task(),
                    row.has_value() ? &*row : nullptr,
                    row.has_value() ? "set" : "name");
}

namespace {

constexpr int kMostEvents = 256;
// What has changed already is told at the end of the group; nobody waits so
// long.
constexpr Duration kGroupTime = std::chrono::seconds(1);

v1::StudyDelta DeltaOf(StudyEvents events, std::int64_t after_revision) {
  v1::StudyDelta delta;
  delta.set_revision(events.empty() ? after_revision
                                    : events.back().revision());
  delta.set_more(!events.empty() && !events.back().has_study());
  for (v1::StudyEvent& event : events) {
    if (event.has_study()) {
      *delta.mutable_study() = std::move(*event.mutable_study());
    } else if (event.has_trial()) {
      *delta.add_trials() = std::move(*event.mutable_trial());
    }
  }
  return delta;
}

v1::StudyEvent Alive(std::int64_t revision) {
  v1::StudyEvent event;
  event.set_revision(revision);
  *event.mutable_alive() = proto::TimestampToProto(SystemClock().Wall());
  return event;
}

}  // namespace

WatchVerb::WatchVerb(Calls& calls, Ledger& ledger,
                     const storage::TrialStore& store, const Clock& clock,
                     Duration alive_every)
    : calls_(calls),
      ledger_(ledger),
      store_(store),
      clock_(clock),
      alive_every_(alive_every) {}

StreamVerb MakeWatchVerb(EventSource source) {
  using Request = v1::WatchStudyRequest;
  const auto begin = [source = std::move(source)](CallContext caller,
                                                  Request first) {
    auto request = std::make_shared<Request>(std::move(first));
    return [source, caller = std::move(caller),
            request](Reply<StudyEvents> reply) {
      source(caller, *request,
             [request, reply = std::move(reply)](
                 absl::StatusOr<StudyEvents> events) mutable {
               if (!events.ok()) return reply(std::move(events));
               if (events->empty()) {
                 events->push_back(Alive(request->after_revision()));
               }
               request->set_after_revision(events->back().revision());
               reply(std::move(events));
             });
    };
  };
  return MakeStreamVerb<Request, v1::StudyEvent>(CallerRole::kViewer, begin);
}

void WatchVerb::AddTo(VerbTable& table) {
  table.streams.emplace(
      "frostline.v1.StudyService.WatchStudy",
      MakeWatchVerb([this](CallContext caller, v1::WatchStudyRequest request,
                           Reply<StudyEvents> reply) {
        NextEvents(std::move(caller), std::move(request), alive_every_,
                   kMostEvents, std::move(reply));
      }));
  calls_.Add(table, "StudyService.GetStudyDelta", CallerRole::kViewer, this,
             &WatchVerb::GetStudyDelta);
}

// NOLINTNEXTLINE(performance-unnecessary-value-param)
void WatchVerb::GetStudyDelta(CallContext caller,
                              v1::GetStudyDeltaRequest request,
                              Reply<v1::StudyDelta> reply) {
  v1::WatchStudyRequest watch;
  watch.set_name(request.name());
  watch.set_after_revision(request.after_revision());
  watch.set_view(request.view());
  const int most =
      request.max_trials() == 0 ? kMostEvents : request.max_trials();
  NextEvents(std::move(caller), std::move(watch),
             proto::DurationFromProto(request.wait()), most,
             [after = request.after_revision(),
              reply = std::move(reply)](absl::StatusOr<Events> events) mutable {
               if (!events.ok()) return reply(events.status());
               reply(DeltaOf(*std::move(events), after));
             });
}

void WatchVerb::NextEvents(CallContext caller, v1::WatchStudyRequest request,
                           Duration wait, int most, Reply<Events> reply) {
  calls_.Wait(
      std::move(caller), std::move(reply),
      [this, wait, most, request = std::move(request)](
          Change& change, Reply<Events>& to) -> absl::Status {
        change.AssertOnLoop();
        ASSIGN_OR_RETURN(const StudyBook* book,
                         ledger_.FindStudy(request.name()));
        if (request.after_revision() > book->revision()) {
          return MakeError(ErrorId::kHistoryGone,
                           "the revision is ahead of the study, which may have "
                           "been restored from a backup",
                           "list the trials again, then watch from there",
                           "after_revision");
        }
        const bool is_behind = request.after_revision() < book->revision();
        if (!is_behind && wait == Duration::zero()) {
          std::exchange(to, nullptr)(Events());
          return absl::OkStatus();
        }
        // A watcher that has fallen behind is woken at the end of this
        // group.
        ledger_.MarkChanged(book->row().key);
        watching_.Enter(
            {.study = book->row().key,
             .after_revision = request.after_revision(),
             .view = request.view(),
             .most = most,
             .deadline = clock_.Steady() + std::max(wait, kGroupTime),
             .reply = std::exchange(to, nullptr)});
        return absl::OkStatus();
      });
}

absl::StatusOr<WatchVerb::Events> WatchVerb::EventsAfter(
    const StudyHandle& study, v1::Study now, const Parked& asked) const {
  storage::TrialQuery query;
  query.study = study.key;
  query.order = storage::TrialQuery::Order::kRevision;
  query.after = asked.after_revision;
  query.limit = asked.most;
  ASSIGN_OR_RETURN(const std::vector<storage::TrialRow> rows,
                   store_.ListTrials(query));
  Events events;
  events.reserve(rows.size() + 1);
  std::size_t bytes = 0;
  for (const storage::TrialRow& row : rows) {
    // This one is newer than `now`: it belongs to the next events, with a newer
    // study.
    if (row.revision > now.revision()) break;
    v1::StudyEvent event;
    event.set_revision(row.revision);
    ASSIGN_OR_RETURN(
        *event.mutable_trial(),
        RenderTrial(row, study, asked.view, store_, ledger_.progress()));
    bytes += event.ByteSizeLong();
    events.push_back(std::move(event));
    // The others come with the next events.
    if (bytes > kMostPageBytes && &row != &rows.back()) return events;
  }
  // The study itself comes last, with its counts, if nothing newer is left out:
  // its revision covers all that was sent.
  if (rows.size() < static_cast<std::size_t>(asked.most)) {
    v1::StudyEvent event;
    event.set_revision(now.revision());
    *event.mutable_study() = std::move(now);
    events.push_back(std::move(event));
  }
  return events;
}

void WatchVerb::Committed() {
  for (const storage::StudyKey key : ledger_.changed()) {
    const StudyBook* const book = ledger_.Find(key);
    if (book == nullptr) continue;
    for (Parked& watch : watching_.Take(key, [book](const Parked& parked) {
           return book->revision() > parked.after_revision;
         })) {
      auto shared = std::make_shared<Parked>(std::move(watch));
      calls_.readers().Post(
          [this, shared, handle = HandleOf(*book), now = SnapshotOf(*book)] {
            shared->reply(EventsAfter(handle, DescribeStudy(now), *shared));
          });
    }
  }
}

void WatchVerb::Turn(Batch& batch) {
  for (Parked& watch : watching_.TakeDue(clock_.Steady())) {
    batch.Then([reply = std::move(watch.reply)](
                   const absl::Status& committed) mutable {
      committed.ok() ? reply(Events()) : reply(committed);
    });
  }
}

void WatchVerb::Drain(Batch& batch) {
  for (Parked& watch : watching_.TakeAll()) {
    batch.Then([reply = std::move(watch.reply)](const absl::Status&) mutable {
      reply(DrainingError());
    });
  }
}

namespace {

void AddJsonLine(const google::protobuf::Message& message, std::string& out) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string line;
  // This cannot fail: it is our own message, without Any and with valid text.
  (void)google::protobuf::util::MessageToJsonString(message, &line, options);
  absl::StrAppend(&out, line, "\n");
}

// Returns a cell, quoted if it must be. A cell that a spreadsheet would run as
// a formula becomes plain text.
std::string Cell(std::string text) {
  const bool formula =
      !text.empty() && (text[0] == '=' || text[0] == '@' || text[0] == '+' ||
                        text[0] == '\t' || text[0] == '\r');
  if (formula) text = absl::StrCat("'", text);
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

// Returns the shortest text that reads back as the same number.
std::string Number(double value) {
  std::string text = absl::StrCat(value);
  if (std::strtod(text.c_str(), nullptr) != value) {
    text = absl::StrFormat("%.17g", value);
  }
  return text;
}

}  // namespace

std::string CsvHeader(const CheckedStudy& study) {
  std::string line = "number,state,origin,attempt,worker,train_seconds";
  for (const Objective& objective : study.objectives) {
    absl::StrAppend(&line, ",", Cell(objective.metric));
  }
  for (const Parameter& parameter : study.space.parameters()) {
    absl::StrAppend(&line, ",", Cell(parameter.name));
  }
  return line + ",cause,seed\n";
}

void AddCsvLine(const storage::TrialRow& row, const CheckedStudy& study,
                std::string& out) {
  v1::Usage usage;
  usage.ParseFromString(row.usage);
  absl::StrAppend(&out, row.number, ",", NameOf(row.state), ",",
                  v1::TrialOrigin_Name(static_cast<int>(row.origin)).substr(13),
                  ",", row.attempt, ",", Cell(row.worker), ",",
                  Number(usage.train_seconds()));
  for (std::size_t i = 0; i < study.objectives.size(); ++i) {
    const bool has = i < row.values.size();
    absl::StrAppend(&out, ",", has ? Number(row.values[i]) : "");
  }
  for (std::size_t i = 0; i < row.point.size(); ++i) {
    const bool has = !IsAbsent(row.point[i]);
    const Domain& domain = study.space.parameters()[i].domain;
    absl::StrAppend(&out, ",",
                    has ? Cell(FormatValue(domain, row.point[i])) : "");
  }
  const std::uint64_t seed = NotedSeedOf(row).seed;
  absl::StrAppend(&out, ",", Cell(row.cause), ",",
                  seed == 0 ? "" : absl::StrCat(seed), "\n");
}

void AddTrialLine(const storage::TrialRow& row, const std::string& study_id,
                  const CheckedStudy& study, std::string& out) {
  AddJsonLine(TrialToProto(row, study_id, study.space, v1::TRIAL_VIEW_FULL, {}),
              out);
}

void AddMeasurementLine(const storage::TrialRow& row, const std::string& trial,
                        const Measurement& measured, std::string& out) {
  v1::ListMeasurementsReply line;
  line.set_attempt(row.attempt);
  *line.add_measurements() = MeasurementToProto(measured);
  std::string json;
  AddJsonLine(line, json);
  absl::StrAppend(&out, "{\"trial\":\"", trial, "\",", json.substr(1));
}

namespace {

constexpr int kRowsAtOnce = 500;
constexpr int kStepsAtOnce = 500;

}  // namespace

void ExportVerb::AddTo(VerbTable& table) {
  using Request = v1::ExportTrialsRequest;
  using Chunks = std::vector<v1::ExportChunk>;
  const auto begin = [this](const CallContext& caller, Request request) {
    auto progress = std::make_shared<Progress>();
    progress->request = std::move(request);
    progress->cancelled = caller.cancelled;
    return [this, caller, progress](Reply<Chunks> reply) {
      if (progress->over && progress->pending.empty()) return reply(Chunks());
      calls_.Read<std::string>(
          calls_.readers(), caller, {progress->request.name()},
          [reply = std::move(reply)](absl::StatusOr<std::string> data) mutable {
            if (!data.ok()) return reply(data.status());
            if (data->empty()) return reply(Chunks());
            Chunks chunks(1);
            chunks[0].set_data(*std::move(data));
            reply(std::move(chunks));
          },
          [this, progress](const std::vector<StudyHandle>& studies,
                           Reply<std::string> answer) {
            answer(NextChunk(studies[0], *progress));
          });
    };
  };
  table.streams.emplace(
      "frostline.v1.StudyService.ExportTrials",
      MakeStreamVerb<Request, v1::ExportChunk>(CallerRole::kViewer, begin));
}

absl::StatusOr<std::string> ExportVerb::NextChunk(const StudyHandle& study,
                                                  Progress& progress) const {
  if (progress.request.format() == v1::ExportTrialsRequest::OPTUNA_JOURNAL) {
    return MakeError(ErrorId::kMethodNotBuilt,
                     "the journal format is not served yet",
                     "export JSON_LINES or CSV", "format");
  }
  RETURN_IF_ERROR(Write(study, progress));
  if (progress.pending.size() <= kMostChunkBytes) {
    return std::exchange(progress.pending, {});
  }
  std::string chunk = progress.pending.substr(0, kMostChunkBytes);
  progress.pending.erase(0, kMostChunkBytes);
  return chunk;
}

absl::Status ExportVerb::Write(const StudyHandle& study,
                               Progress& progress) const {
  ASSIGN_OR_RETURN(
      const TrialFilter filter,
      TrialFilter::Parse(progress.request.filter(), NamesOf(*study.checked)));
  const bool csv = progress.request.format() == v1::ExportTrialsRequest::CSV;
  if (!std::exchange(progress.begun, true) && csv) {
    progress.pending = CsvHeader(*study.checked);
  }
  while (progress.pending.size() < kMostChunkBytes) {
    if (progress.next < progress.rows.size()) {
      if (filter.Matches(progress.rows[progress.next])) {
        RETURN_IF_ERROR(WriteTrial(study, progress));
      }
      // If only a part of a curve fitted, it goes on in the next chunk.
      if (!progress.in_curve) ++progress.next;
      continue;
    }
    if (progress.over) return absl::OkStatus();
    if (progress.cancelled != nullptr && *progress.cancelled) {
      return absl::CancelledError("the caller has hung up");
    }
    ASSIGN_OR_RETURN(progress.rows, store_.ListTrials({.study = study.key,
                                                       .after = progress.after,
                                                       .limit = kRowsAtOnce}));
    progress.next = 0;
    progress.over = progress.rows.size() < kRowsAtOnce;
    if (!progress.rows.empty()) progress.after = progress.rows.back().number;
  }
  return absl::OkStatus();
}

absl::Status ExportVerb::WriteTrial(const StudyHandle& study,
                                    Progress& progress) const {
  const storage::TrialRow& row = progress.rows[progress.next];
  if (progress.in_curve) return WriteCurve(study, progress);
  if (progress.request.format() == v1::ExportTrialsRequest::CSV) {
    AddCsvLine(row, *study.checked, progress.pending);
    return absl::OkStatus();
  }
  AddTrialLine(row, study.id, *study.checked, progress.pending);
  if (!progress.request.with_measurements()) return absl::OkStatus();
  progress.in_curve = true;
  progress.after_step = -1;
  return WriteCurve(study, progress);
}

absl::Status ExportVerb::WriteCurve(const StudyHandle& study,
                                    Progress& progress) const {
  const storage::TrialRow& row = progress.rows[progress.next];
  const std::string name = TrialNameOf(study.id, row.number);
  while (progress.pending.size() < kMostChunkBytes) {
    ASSIGN_OR_RETURN(const std::vector<Measurement> page,
                     store_.ListMeasurements({.study = row.study,
                                              .number = row.number,
                                              .attempt = row.attempt,
                                              .after_step = progress.after_step,
                                              .limit = kStepsAtOnce}));
    for (const Measurement& measured : page) {
      AddMeasurementLine(row, name, measured, progress.pending);
      progress.after_step = measured.step;
      if (progress.pending.size() >= kMostChunkBytes) return absl::OkStatus();
    }
    if (page.size() < kStepsAtOnce) {
      progress.in_curve = false;
      return absl::OkStatus();
    }
  }
  return absl::OkStatus();
}

}  // namespace frostline::server
