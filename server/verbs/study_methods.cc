// SPDX-License-Identifier: Apache-2.0
//
// The verbs of people, as far as they change or describe studies. On the loop.
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/failpoint.h"
#include "base/ids.h"
#include "google/protobuf/util/field_mask_util.h"
#include "google/protobuf/util/message_differencer.h"
#include "sampler/auto.h"
#include "server/coordinator_impl.h"
#include "server/search/prior_studies.h"
#include "server/search/sampler_choice.h"
#include "server/wire/convert.h"
#include "server/wire/filter.h"
#include "server/wire/page_token.h"
#include "server/wire/training_bounds.h"
#include "server/wire/training_seed.h"
#include "storage/scan.h"

namespace frostline {
namespace {

constexpr std::size_t kMostBestNames = 100;
constexpr WallMicros kDeletedFor = 7LL * 24 * 3600 * 1'000'000;

absl::Status CheckEtag(const StudyBook& book, const std::string& etag) {
  if (etag.empty() || etag == absl::StrCat(book.row().etag)) {
    return absl::OkStatus();
  }
  return MakeError(ErrorId::kEtagMismatch,
                   absl::StrCat("the etag is ", book.row().etag, " now"),
                   "read the study again, then repeat the change", "etag");
}

// Names of the spec's fields that differ, for a person to look at.
std::vector<std::string> Differences(const v1::StudySpec& stored,
                                     const v1::StudySpec& asked) {
  std::vector<std::string> fields;
  google::protobuf::util::MessageDifferencer differencer;
  const auto* const descriptor = v1::StudySpec::descriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const auto* const field = descriptor->field(i);
    // Compares this field alone.
    v1::StudySpec a = stored;
    v1::StudySpec b = asked;
    for (int other = 0; other < descriptor->field_count(); ++other) {
      if (other == i) continue;
      a.GetReflection()->ClearField(&a, descriptor->field(other));
      b.GetReflection()->ClearField(&b, descriptor->field(other));
    }
    if (!differencer.Compare(a, b)) fields.push_back(field->name());
  }
  return fields;
}

// What was left open then is what was chosen then.
void FillAsStored(const v1::StudySpec& stored, v1::StudySpec& asked) {
  if (asked.seed() == 0) asked.set_seed(stored.seed());
  if (asked.has_repeat() && stored.has_repeat()) {
    v1::RepeatLeaders& repeat = *asked.mutable_repeat();
    const v1::RepeatLeaders& then = stored.repeat();
    if (repeat.leaders() == 0) repeat.set_leaders(then.leaders());
    if (repeat.after() == 0) repeat.set_after(then.after());
  }
  const bool both_best = asked.purpose() == v1::PURPOSE_BEST &&
                         stored.purpose() == v1::PURPOSE_UNSPECIFIED;
  if (asked.purpose() == v1::PURPOSE_UNSPECIFIED || both_best) {
    asked.set_purpose(stored.purpose());
  }
  const auto& options = stored.sampler().options();
  const auto pick = options.find(kPickOption);
  if (asked.sampler().name() == stored.sampler().name() &&
      pick != options.end()) {
    asked.mutable_sampler()->mutable_options()->insert(*pick);
  }
}

v1::CreateStudyReply CreateReply(const v1::Study& study,
                                 const CheckedStudy& checked) {
  v1::CreateStudyReply reply;
  *reply.mutable_study() = study;
  for (v1::ResolvedModule& module : ResolvedModules(checked.space)) {
    *reply.add_modules() = std::move(module);
  }
  reply.set_space_size(checked.space.CountPoints());
  for (std::string& advice : AdviceFor(checked)) {
    reply.add_advice(std::move(advice));
  }
  return reply;
}

}  // namespace

v1::Study Coordinator::Impl::Describe(const StudyBook& book) const {
  v1::Study study = StudyToProto(book.row());
  study.set_revision(book.revision());
  *study.mutable_counts() = book.Counts();
  study.set_resolved_sampler(ResolvedSampler(book.checked()));
  for (const std::int64_t number : book.best().Numbers()) {
    if (static_cast<std::size_t>(study.best_trials_size()) == kMostBestNames) {
      break;
    }
    study.add_best_trials(TrialNameOf(book.row().id, number));
  }
  return study;
}

absl::StatusOr<v1::CreateStudyReply> Coordinator::Impl::CreateStudy(
    Batch& batch, const v1::CreateStudyRequest& request) {
  RETURN_IF_ERROR(CheckId(request.study_id(), "study_id"));
  v1::StudySpec spec = request.spec();
  const auto existing = key_of_study_.find(request.study_id());
  if (existing != key_of_study_.end()) {
    const StudyBook& book = studies_.at(existing->second);
    FillAsStored(book.checked().spec, spec);
    const auto fields = Differences(book.checked().spec, spec);
    if (fields.empty()) return CreateReply(Describe(book), book.checked());
    return MakeError(
        ErrorId::kStudyAlreadyExists,
        absl::StrCat("study ", request.study_id(), " exists, with another ",
                     absl::StrJoin(fields, ", ")),
        "choose another id, or create it with the same spec to go on with it",
        "study_id");
  }
  while (spec.seed() == 0) spec.set_seed(seeds_.Next());
  FillRepeat(request.settings(), spec);
  RETURN_IF_ERROR(CheckTrainingBounds(spec));
  ASSIGN_OR_RETURN(CheckedStudy checked,
                   CheckStudy(spec, request.settings(), DefaultLease()));
  if (WritePick(checked, spec)) {  // whose options may be others
    ASSIGN_OR_RETURN(checked,
                     CheckStudy(spec, request.settings(), DefaultLease()));
  }
  if (WritePurpose(checked, spec)) {
    ASSIGN_OR_RETURN(checked,
                     CheckStudy(spec, request.settings(), DefaultLease()));
  }
  checked.pruner.study = request.study_id();
  StudyRow row;
  row.id = request.study_id();
  row.spec = spec.SerializeAsString();
  row.settings = request.settings().SerializeAsString();
  row.seed = spec.seed();
  row.revision = 1;
  row.created = row.updated = clock_.Wall();
  const auto shared = std::make_shared<const CheckedStudy>(std::move(checked));
  ASSIGN_OR_RETURN(std::vector<PriorStudy> prior_studies,
                   LoadPriorStudies(*shared, row.created, store_));
  if (request.validate_only()) {
    return CreateReply(Describe(StudyBook(row, shared)), *shared);
  }
  RETURN_IF_ERROR(batch.Write([&row](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(row.key, transaction.InsertStudy(row));
    return absl::OkStatus();
  }));
  key_of_study_[row.id] = row.key;
  StudyBook& book =
      studies_.emplace(row.key, StudyBook(row, shared)).first->second;
  changed_.insert(row.key);
  proposer_.Open(row.key, shared, History(), std::move(prior_studies));
  FROSTLINE_FAILPOINT(kStudyCreated);
  for (int i = 0; i < spec.enqueue_size(); ++i) {
    RETURN_IF_ERROR(Enqueue(batch, book, spec.enqueue(i), 0,
                            absl::StrCat("enqueue[", i, "]"))
                        .status());
  }
  return CreateReply(Describe(book), *shared);
}

absl::StatusOr<v1::Study> Coordinator::Impl::SetState(
    Batch& batch, const std::string& name, StudyState state,
    const std::string& reason) {
  ASSIGN_OR_RETURN(StudyBook * book, FindStudy(name));
  if (book->row().state == state) return Describe(*book);
  const bool open = book->row().state == StudyState::kActive ||
                    book->row().state == StudyState::kPaused;
  if (!open) {
    return MakeError(
        ErrorId::kStudyNotActive,
        absl::StrCat(name, " has ended: ", book->row().state_reason),
        "create a new study, or raise the budget of a completed one", "name");
  }
  RETURN_IF_ERROR(PersistStudy(batch, *book, state, reason));
  return Describe(*book);
}

absl::StatusOr<v1::Study> Coordinator::Impl::StopStudy(
    Batch& batch, const v1::StopStudyRequest& request) {
  ASSIGN_OR_RETURN(StudyBook * book, FindStudy(request.name()));
  const std::string reason =
      request.reason().empty() ? "stopped" : request.reason();
  ASSIGN_OR_RETURN(v1::Study stopped, SetState(batch, request.name(),
                                               StudyState::kStopped, reason));
  FROSTLINE_FAILPOINT(kStudyStopped);
  std::vector<OpenTrial> to_cancel;
  for (const auto& [number, trial] : book->open()) {
    const bool running = trial.row.state == TrialState::kRunning;
    if (!running || !request.let_running_finish()) to_cancel.push_back(trial);
  }
  for (const OpenTrial& trial : to_cancel) {
    ASSIGN_OR_RETURN(
        Transition cancel,
        Cancel(trial, absl::StrCat("study stopped: ", reason), clock_.Wall()));
    RETURN_IF_ERROR(Persist(batch, *book, std::move(cancel), NothingMore));
  }
  return Describe(*book);
}

absl::StatusOr<v1::ListStudiesReply> Coordinator::Impl::ListStudies(
    const v1::ListStudiesRequest& request) {
  ASSIGN_OR_RETURN(const StudyFilter filter,
                   StudyFilter::Parse(request.filter()));
  StudyQuery query;
  query.with_deleted = request.show_deleted();
  query.limit = kScanPage;
  const std::string list = query.with_deleted ? "all studies" : "studies";
  ASSIGN_OR_RETURN(query.after, ParsePageToken(list, request.filter(),
                                               request.page_token()));
  const int page_size = PageSize(request.page_size());
  v1::ListStudiesReply reply;
  std::size_t bytes = 0;
  StudyKey last = query.after;
  while (true) {
    ASSIGN_OR_RETURN(const std::vector<StudyRow> rows,
                     store_.ListStudies(query));
    for (const StudyRow& row : rows) {
      const auto book = studies_.find(row.key);
      const v1::Study study =
          book == studies_.end() ? StudyToProto(row) : Describe(book->second);
      if (!filter.Matches(study)) continue;
      bytes += study.ByteSizeLong();
      if (reply.studies_size() == page_size || bytes > kMostPageBytes) {
        reply.set_next_page_token(MakePageToken(list, request.filter(), last));
        return reply;
      }
      last = row.key;
      *reply.add_studies() = study;
    }
    if (rows.size() < kScanPage) return reply;
    query.after = rows.back().key;
  }
}

absl::StatusOr<v1::Study> Coordinator::Impl::UpdateStudy(
    Batch& batch, const v1::UpdateStudyRequest& request) {
  using google::protobuf::util::FieldMaskUtil;
  ASSIGN_OR_RETURN(StudyBook * book, FindStudy(request.name()));
  RETURN_IF_ERROR(CheckEtag(*book, request.etag()));
  if (request.update_mask().paths().empty() ||
      !FieldMaskUtil::IsValidFieldMask<v1::StudySettings>(
          request.update_mask())) {
    return MakeError(ErrorId::kRequestInvalid,
                     "the mask names no field of the settings",
                     "list paths such as budget or labels", "update_mask");
  }
  v1::StudySettings settings = book->checked().settings;
  FieldMaskUtil::MergeOptions replace;
  replace.set_replace_message_fields(true);
  replace.set_replace_repeated_fields(true);
  FieldMaskUtil::MergeMessageTo(request.settings(), request.update_mask(),
                                replace, &settings);
  if (settings.budget().trials() < book->BudgetTaken()) {
    return MakeError(ErrorId::kBudgetInvalid,
                     absl::StrCat(book->BudgetTaken(),
                                  " trials have ended, run or wait already"),
                     absl::StrCat("ask for at least ", book->BudgetTaken(),
                                  ", or stop the study"),
                     "settings.budget.trials");
  }
  RETURN_IF_ERROR(ChangeSettings(batch, *book, settings));
  CompleteIfDone(batch, *book);
  return Describe(*book);
}

absl::Status Coordinator::Impl::ChangeSettings(
    Batch& batch, StudyBook& book, const v1::StudySettings& settings) {
  ASSIGN_OR_RETURN(CheckedStudy checked,
                   CheckStudy(book.checked().spec, settings, DefaultLease()));
  checked.pruner.study = book.row().id;
  StudyRow row = book.row();
  row.settings = settings.SerializeAsString();
  if (row.state == StudyState::kCompleted &&
      settings.budget().trials() > book.BudgetTaken()) {
    row.state = StudyState::kActive;
    row.state_reason.clear();
  }
  RETURN_IF_ERROR(PersistRow(batch, book, std::move(row)));
  book.AbsorbSettings(std::make_shared<const CheckedStudy>(std::move(checked)));
  proposer_.Refresh(book.row().key, book.shared_checked());
  return absl::OkStatus();
}

absl::StatusOr<v1::Study> Coordinator::Impl::DeleteStudy(
    Batch& batch, const v1::DeleteStudyRequest& request) {
  ASSIGN_OR_RETURN(StudyBook * book, FindStudy(request.name()));
  RETURN_IF_ERROR(CheckEtag(*book, request.etag()));
  if (!request.force() && book->Count(TrialState::kRunning) > 0) {
    return MakeError(
        ErrorId::kStudyNotActive,
        absl::StrCat(book->Count(TrialState::kRunning), " trials are running"),
        "stop the study first, or delete it with force", "force");
  }
  StudyRow row = book->row();
  row.state = StudyState::kDeleted;
  row.state_reason = "deleted";
  row.expires = clock_.Wall() + kDeletedFor;
  RETURN_IF_ERROR(PersistRow(batch, *book, std::move(row)));
  FROSTLINE_FAILPOINT(kStudyDeleted);
  some_study_ended_ = true;
  v1::Study deleted = Describe(*book);
  const StudyKey key = book->row().key;
  for (const auto& [number, trial] : book->open()) {
    leases_.Remove({key, number});
    workers_.Lets(trial.row.worker, {key, number});
    prune_wanted_.erase({key, number});
    progress_.erase({key, number});
  }
  proposer_.Close(key);
  key_of_study_.erase(book->row().id);
  studies_.erase(key);
  return deleted;
}

}  // namespace frostline
