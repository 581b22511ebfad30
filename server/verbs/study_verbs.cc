// SPDX-License-Identifier: Apache-2.0
#include "server/verbs/study_verbs.h"

#include <cstdlib>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "base/ids.h"
#include "google/protobuf/util/field_mask_util.h"
#include "google/protobuf/util/message_differencer.h"
#include "sampler/auto.h"
#include "sampler/draw/random.h"
#include "server/auth/access.h"
#include "server/dispatch/supply.h"
#include "server/search/sampler_choice.h"
#include "server/search/stored_history.h"
#include "server/wire/convert.h"
#include "server/wire/filter.h"
#include "server/wire/settings.h"
#include "server/wire/spec.h"
#include "server/wire/study_checks.h"
#include "study/freezing.h"

namespace frostline::server {
namespace {

constexpr WallMicros kDeletedFor = 7LL * 24 * 3600 * 1'000'000;
// The loop looks at so many studies at a time; other calls run between.
constexpr int kListedAtOnce = 50;

absl::Status CheckEtag(const StudyBook& book, const std::string& etag) {
  if (etag.empty() || etag == absl::StrCat(book.row().etag)) {
    return absl::OkStatus();
  }
  return MakeError(ErrorId::kEtagMismatch,
                   absl::StrCat("the etag is ", book.row().etag, " now"),
                   "read the study again, then repeat the change", "etag");
}

// A stopped study stays stopped, so changing how it runs would promise what
// nobody keeps. What is written about it may always change.
absl::Status CheckStillMatters(const StudyBook& book,
                               const google::protobuf::FieldMask& mask) {
  if (book.row().state != storage::StudyState::kStopped) {
    return absl::OkStatus();
  }
  for (const std::string& path : mask.paths()) {
    if (path == "labels" || path == "notes") continue;
    return MakeError(
        ErrorId::kStudyNotActive,
        absl::StrCat(StudyNameOf(book.row().id),
                     " has ended: ", book.row().state_reason, "; its ", path,
                     " stays as it is"),
        "clone it for a study that runs on (frostline study clone); of this "
        "one only labels and notes change",
        "update_mask");
  }
  return absl::OkStatus();
}

// Refuses a change of what the first trial decides: the trials of two such
// settings would not belong to one study.
absl::Status CheckMask(const google::protobuf::FieldMask& mask) {
  for (const std::string& path : mask.paths()) {
    if (path != "auto_precision") continue;
    return MakeError(ErrorId::kRequestInvalid,
                     "auto_precision is what the study's trials are computed "
                     "in, and stays so",
                     "make another study, with training.precision",
                     "update_mask");
  }
  return absl::OkStatus();
}

}  // namespace

StudyVerbs::StudyVerbs(Calls& calls, Ledger& ledger, Proposer& proposer,
                       const storage::TrialStore& store,
                       const storage::DiskRoom& disk,
                       const Destinations& destinations, const Clock& clock)
    : calls_(calls),
      ledger_(ledger),
      proposer_(proposer),
      store_(store),
      disk_(disk),
      destinations_(destinations),
      clock_(clock) {}

void StudyVerbs::AddTo(VerbTable& table) {
  using V = StudyVerbs;
  constexpr CallerRole kChanges = CallerRole::kResearcher;
  const auto name = [](const char* verb) {
    return absl::StrCat("StudyService.", verb);
  };
  calls_.Add(table, name("CreateStudy"), kChanges, this, &V::CreateStudy);
  calls_.Add(table, name("GetStudy"), CallerRole::kViewer, this, &V::GetStudy);
  calls_.Add(table, name("ListStudies"), CallerRole::kViewer, this,
             &V::ListStudies);
  calls_.AddOnce(table, name("PauseStudy"), kChanges, this, &V::PauseStudy);
  calls_.AddOnce(table, name("ResumeStudy"), kChanges, this, &V::ResumeStudy);
  calls_.AddOnce(table, name("StopStudy"), kChanges, this, &V::StopStudy);
  calls_.AddOnce(table, name("UpdateStudy"), kChanges, this, &V::UpdateStudy);
  calls_.AddOnce(table, name("DeleteStudy"), kChanges, this, &V::DeleteStudy);
}

// NOLINTNEXTLINE(performance-unnecessary-value-param)
void StudyVerbs::GetStudy(CallContext caller, v1::GetStudyRequest request,
                          Reply<v1::Study> reply) {
  calls_.Look<StudySnapshot>(
      calls_.points(), std::move(caller), std::move(reply),
      [this,
       name = request.name()](Change& change) -> absl::StatusOr<StudySnapshot> {
        change.AssertOnLoop();
        ASSIGN_OR_RETURN(const StudyBook* book, ledger_.FindStudy(name));
        return SnapshotOf(*book);
      },
      [](const StudySnapshot& study, Reply<v1::Study> to) {
        to(DescribeStudy(study));
      });
}

absl::StatusOr<v1::Study> StudyVerbs::PauseStudy(
    Change& change, const v1::PauseStudyRequest& request) {
  return SetState(change, request.name(), storage::StudyState::kPaused,
                  request.reason());
}

absl::StatusOr<v1::Study> StudyVerbs::ResumeStudy(
    Change& change, const v1::ResumeStudyRequest& request) {
  return SetState(change, request.name(), storage::StudyState::kActive, "");
}

absl::StatusOr<v1::Study> StudyVerbs::SetState(Change& change,
                                               const std::string& name,
                                               storage::StudyState state,
                                               const std::string& reason) {
  ASSIGN_OR_RETURN(StudyBook * book, ledger_.FindStudy(name));
  if (book->row().state == state) return DescribeStudy(*book);
  if (!IsOpen(book->row().state)) {
    return MakeError(
        ErrorId::kStudyNotActive,
        absl::StrCat(name, " has ended: ", book->row().state_reason),
        "create a new study, or raise the budget of a completed one", "name");
  }
  RETURN_IF_ERROR(ledger_.SetState(change.batch, *book, state, reason));
  return DescribeStudy(*book);
}

absl::StatusOr<v1::Study> StudyVerbs::StopStudy(
    Change& change, const v1::StopStudyRequest& request) {
  ASSIGN_OR_RETURN(StudyBook * book, ledger_.FindStudy(request.name()));
  const std::string reason =
      request.reason().empty() ? "stopped" : request.reason();
  ASSIGN_OR_RETURN(
      v1::Study stopped,
      SetState(change, request.name(), storage::StudyState::kStopped, reason));
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
    RETURN_IF_ERROR(ledger_.Apply(change.batch, *book, std::move(cancel)));
  }
  return DescribeStudy(*book);
}

struct StudyVerbs::Listing {
  explicit Listing(CallContext who) : caller(std::move(who)) {}

  CallContext caller;
  StudyFilter filter;
  std::string filter_text;
  std::string list;
  storage::StudyQuery query;
  int page_size = 0;
  v1::ListStudiesReply page;
  std::size_t bytes = 0;
  storage::StudyKey last = 0;
  std::vector<storage::StudyRow> rows;  // being described
};

// NOLINTNEXTLINE(performance-unnecessary-value-param)
void StudyVerbs::ListStudies(CallContext caller, v1::ListStudiesRequest request,
                             Reply<v1::ListStudiesReply> reply) {
  absl::StatusOr<StudyFilter> filter = StudyFilter::Parse(request.filter());
  if (!filter.ok()) return reply(filter.status());
  auto listing = std::make_shared<Listing>(std::move(caller));
  listing->filter = *std::move(filter);
  listing->filter_text = request.filter();
  listing->list = request.show_deleted() ? "all studies" : "studies";
  const auto after =
      ParsePageToken(listing->list, request.filter(), request.page_token());
  if (!after.ok()) return reply(after.status());
  listing->query = {.with_deleted = request.show_deleted(),
                    .after = *after,
                    .limit = kListedAtOnce};
  listing->page_size = PageSize(request.page_size());
  listing->last = *after;
  calls_.PostTo(calls_.readers(), Urgency::kRead, std::move(reply),
                [this, listing](Reply<v1::ListStudiesReply> to) {
                  ListMore(listing, std::move(to));
                });
}

void StudyVerbs::ListMore(const std::shared_ptr<Listing>& listing,
                          Reply<v1::ListStudiesReply> reply) {
  const absl::Status waiting = CheckWaiting(listing->caller);
  if (!waiting.ok()) return reply(waiting);
  auto rows = store_.ListStudies(listing->query);
  if (!rows.ok()) return reply(rows.status());
  listing->rows = *std::move(rows);
  calls_.Look<Snapshots>(
      calls_.readers(), listing->caller, std::move(reply),
      [this, listing](Change& change) {
        change.AssertOnLoop();
        return See(*listing);
      },
      [this, listing](const Snapshots& seen, Reply<v1::ListStudiesReply> to) {
        TakeListed(listing, seen, std::move(to));
      });
}

StudyVerbs::Snapshots StudyVerbs::See(Listing& listing) const {
  Snapshots seen(listing.rows.size());
  for (std::size_t i = 0; i < seen.size(); ++i) {
    storage::StudyRow& row = listing.rows[i];
    const StudyBook* const book = ledger_.Find(row.key);
    if (book != nullptr) seen[i] = SnapshotOf(*book);
    const std::string why = ledger_.WhyUnreadable(row.id);
    if (book == nullptr && !why.empty() &&
        row.state != storage::StudyState::kDeleted) {
      row.state_reason = absl::StrCat("cannot be loaded: ", why);
    }
  }
  return seen;
}

void StudyVerbs::TakeListed(const std::shared_ptr<Listing>& listing,
                            const Snapshots& seen,
                            Reply<v1::ListStudiesReply> reply) {
  Listing& page = *listing;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    v1::Study study = seen[i].has_value() ? DescribeStudy(*seen[i])
                                          : StudyToProto(page.rows[i]);
    const bool is_seen =
        MaySee(page.caller.identity,
               {study.name(), study.owner(), study.settings().labels()});
    if (!is_seen || !page.filter.Matches(study)) continue;
    page.bytes += study.ByteSizeLong();
    const int count = page.page.studies_size();
    if (count == page.page_size || (page.bytes > kMostPageBytes && count > 0)) {
      page.page.set_next_page_token(
          MakePageToken(page.list, page.filter_text, page.last));
      return reply(std::move(page.page));
    }
    page.last = page.rows[i].key;
    *page.page.add_studies() = std::move(study);
  }
  if (page.rows.size() < kListedAtOnce) return reply(std::move(page.page));
  page.query.after = page.rows.back().key;
  ListMore(listing, std::move(reply));
}

absl::StatusOr<v1::Study> StudyVerbs::UpdateStudy(
    Change& change, const v1::UpdateStudyRequest& request) {
  using google::protobuf::util::FieldMaskUtil;
  ASSIGN_OR_RETURN(StudyBook * book, ledger_.FindStudy(request.name()));
  RETURN_IF_ERROR(CheckEtag(*book, request.etag()));
  if (request.update_mask().paths().empty() ||
      !FieldMaskUtil::IsValidFieldMask<v1::StudySettings>(
          request.update_mask())) {
    return MakeError(ErrorId::kRequestInvalid,
                     "the mask names no field of the settings",
                     "list paths such as budget or labels", "update_mask");
  }
  RETURN_IF_ERROR(CheckMask(request.update_mask()));
  RETURN_IF_ERROR(CheckStillMatters(*book, request.update_mask()));
  v1::StudySettings settings = book->checked().settings;
  FieldMaskUtil::MergeOptions replace;
  replace.set_replace_message_fields(true);
  replace.set_replace_repeated_fields(true);
  FieldMaskUtil::MergeMessageTo(request.settings(), request.update_mask(),
                                replace, &settings);
  // Ids that the study had before may have gone by now.
  if (FieldMaskUtil::IsPathInFieldMask("notify", request.update_mask())) {
    RETURN_IF_ERROR(CheckRegistered(settings.notify(), destinations_));
  }
  if (settings.budget().trials() < book->BudgetTaken()) {
    return MakeError(ErrorId::kBudgetInvalid,
                     absl::StrCat(book->BudgetTaken(),
                                  " trials have ended, run or wait already"),
                     absl::StrCat("ask for at least ", book->BudgetTaken(),
                                  ", or stop the study"),
                     "settings.budget.trials");
  }
  RETURN_IF_ERROR(CheckOwnLabels(change.caller.identity, settings.labels()));
  RETURN_IF_ERROR(ChangeSettings(change.batch, *book, settings));
  ledger_.CompleteIfDone(change.batch, *book);
  return DescribeStudy(*book);
}

absl::Status StudyVerbs::ChangeSettings(Batch& batch, StudyBook& book,
                                        const v1::StudySettings& settings) {
  ASSIGN_OR_RETURN(
      CheckedStudy checked,
      CheckStudy(book.checked().spec, settings, ledger_.default_lease()));
  checked.pruner.study = book.row().id;
  storage::StudyRow row = book.row();
  row.settings = settings.SerializeAsString();
  if (row.state == storage::StudyState::kCompleted &&
      settings.budget().trials() > book.BudgetTaken()) {
    row.state = storage::StudyState::kActive;
    row.state_reason.clear();
  }
  RETURN_IF_ERROR(ledger_.PutStudy(batch, book, std::move(row)));
  book.AbsorbSettings(std::make_shared<const CheckedStudy>(std::move(checked)));
  proposer_.Refresh(book.row().key, book.shared_checked());
  return absl::OkStatus();
}

absl::StatusOr<v1::Study> StudyVerbs::DeleteStudy(
    Change& change, const v1::DeleteStudyRequest& request) {
  ASSIGN_OR_RETURN(StudyBook * book, ledger_.FindStudy(request.name()));
  RETURN_IF_ERROR(CheckEtag(*book, request.etag()));
  if (!request.force() && book->Count(TrialState::kRunning) > 0) {
    return MakeError(
        ErrorId::kStudyNotActive,
        absl::StrCat(book->Count(TrialState::kRunning), " trials are running"),
        "stop the study first, or delete it with force", "force");
  }
  storage::StudyRow row = book->row();
  row.state = storage::StudyState::kDeleted;
  row.state_reason = "deleted";
  row.expires = clock_.Wall() + kDeletedFor;
  RETURN_IF_ERROR(ledger_.PutStudy(change.batch, *book, std::move(row)));
  FROSTLINE_FAILPOINT(kStudyDeleted);
  v1::Study deleted = DescribeStudy(*book);
  proposer_.Close(book->row().key);
  ledger_.ForgetStudy(*book);
  return deleted;
}

// CreateStudy. What the spec alone can tell is checked on a reader, then the
// study is written on the loop. The same id with the same spec is the same
// study.

namespace {

std::uint64_t DrawSeed() {
  const std::uint64_t seed =
      std::strtoull(RandomHexId().substr(0, 16).c_str(), nullptr, 16);
  return seed == 0 ? 1 : seed;
}

// A caller without credentials has no name that others could not have too.
std::string OwnerOf(const CallerIdentity& caller) {
  return caller.proof == CallerProof::kLoopback ? "" : caller.subject;
}

// Returns the names of the fields that differ, for people.
template <typename Message>
void AddDifferences(const Message& stored, const Message& asked,
                    const std::string& prefix,
                    std::vector<std::string>& fields) {
  google::protobuf::util::MessageDifferencer differencer;
  const auto* const descriptor = Message::descriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const auto* const field = descriptor->field(i);
    // Two messages that differ in this field alone, if at all.
    Message a = stored;
    Message b = asked;
    for (int other = 0; other < descriptor->field_count(); ++other) {
      if (other == i) continue;
      a.GetReflection()->ClearField(&a, descriptor->field(other));
      b.GetReflection()->ClearField(&b, descriptor->field(other));
    }
    if (!differencer.Compare(a, b)) fields.push_back(prefix + field->name());
  }
}

// Fills what was left open with what was chosen when the study was created.
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
  const auto pick = options.find(sampler::kPickOption);
  if (asked.sampler().name() == stored.sampler().name() &&
      pick != options.end()) {
    asked.mutable_sampler()->mutable_options()->insert(*pick);
  }
}

// Returns what a study needs that no worker has, although there are workers.
std::optional<std::string> WhatNobodyHas(const FleetSupply& fleet) {
  if (fleet.lacking == 0 || fleet.matching + fleet.out_of_service > 0) {
    return std::nullopt;
  }
  return absl::StrCat(
      "no worker has ", fleet.what_lacks,
      " yet: add it to a node's registry, or start one that has");
}

v1::FrozenPrefixes PrefixesOf(const CheckedStudy& checked) {
  v1::FrozenPrefixes prefixes;
  double frozen = 0.0;
  for (const double chance : FrozenPrefixChances(
           checked.space, checked.shape.num_layers, sampler::kFrozenShare)) {
    prefixes.set_expected(prefixes.expected() + frozen * chance);
    prefixes.add_chance(chance);
    frozen += 1.0;
  }
  return prefixes;
}

v1::CreateStudyReply CreateReply(const v1::Study& study,
                                 const CheckedStudy& checked,
                                 const FleetSupply& fleet) {
  v1::CreateStudyReply reply;
  *reply.mutable_study() = study;
  for (v1::ResolvedModule& module : ResolvedModules(checked.space)) {
    *reply.add_modules() = std::move(module);
  }
  reply.set_space_size(checked.space.CountPoints());
  if (checked.shape.num_layers > 0) {
    *reply.mutable_prefixes() = PrefixesOf(checked);
  }
  for (std::string& advice : AdviceFor(checked)) {
    reply.add_advice(std::move(advice));
  }
  if (auto lack = WhatNobodyHas(fleet)) reply.add_advice(*std::move(lack));
  return reply;
}

}  // namespace

void StudyVerbs::CreateStudy(CallContext caller, v1::CreateStudyRequest request,
                             Reply<v1::CreateStudyReply> reply) {
  using Created = v1::CreateStudyReply;
  auto prepare = [this, caller = std::move(caller),
                  request = std::move(request)](Reply<Created> to) mutable {
    auto create = [this, prepared = Prepare(request)](
                      Change& change, const v1::CreateStudyRequest& named) {
      change.AssertOnLoop();
      return Create(change, named, prepared);
    };
    if (request.validate_only()) {
      return calls_.Act<Created>(std::move(caller), std::move(to),
                                 [create, request](Change& change) {
                                   return create(change, request);
                                 });
    }
    calls_.ActOnce<Created, v1::CreateStudyRequest>(
        std::move(caller), "CreateStudy", std::move(request), std::move(to),
        std::move(create),
        [this](const v1::CreateStudyRequest& named)
            FROSTLINE_ON_LOOP { return MayBegin(named); });
  };
  calls_.PostTo(calls_.readers(), Urgency::kChange, std::move(reply),
                std::move(prepare));
}

absl::StatusOr<StudyVerbs::Prepared> StudyVerbs::Prepare(
    const v1::CreateStudyRequest& request) const {
  Prepared made;
  made.spec = request.spec();
  made.created = clock_.Wall();
  if (made.spec.seed() == 0) made.spec.set_seed(DrawSeed());
  FillRepeat(request.settings(), made.spec);
  RETURN_IF_ERROR(CheckTrainingBounds(made.spec));
  RETURN_IF_ERROR(CheckTestObjective(made.spec));
  RETURN_IF_ERROR(CheckRegistered(request.settings().notify(), destinations_));
  const auto check = [&] {
    return CheckStudy(made.spec, request.settings(), ledger_.default_lease());
  };
  ASSIGN_OR_RETURN(CheckedStudy checked, check());
  RETURN_IF_ERROR(CheckNewStudy(made.spec));
  // What is chosen here is written into the spec, and checked with it.
  if (WritePick(checked, made.spec)) {
    ASSIGN_OR_RETURN(checked, check());
  }
  if (WritePurpose(checked, made.spec)) {
    ASSIGN_OR_RETURN(checked, check());
  }
  checked.pruner.study = request.study_id();
  made.checked = std::make_shared<const CheckedStudy>(std::move(checked));
  ASSIGN_OR_RETURN(made.priors,
                   LoadPriorStudies(*made.checked, made.created, store_,
                                    proposer_.stop_token()));
  return made;
}

absl::Status StudyVerbs::MayBegin(const v1::CreateStudyRequest& request) const {
  const bool is_there = ledger_.HasId(request.study_id());
  if (disk_.room == storage::Room::kAmple || is_there) return absl::OkStatus();
  return MakeError(ErrorId::kStoreFull,
                   absl::StrCat("the coordinator's disk has ",
                                disk_.free_bytes >> 20, " MiB left"),
                   "make room on it; studies that are there go on meanwhile");
}

absl::StatusOr<v1::CreateStudyReply> StudyVerbs::CreatedBefore(
    const CallerIdentity& caller, const StudyBook& existing,
    const v1::CreateStudyRequest& request) const {
  const v1::StudySettings& stored = existing.checked().settings;
  RETURN_IF_ERROR(CheckAccess(caller, existing, /*changes=*/true));
  v1::StudySpec spec = request.spec();
  FillAsStored(existing.checked().spec, spec);
  std::vector<std::string> fields;
  AddDifferences(existing.checked().spec, spec, "", fields);
  v1::StudySettings settings = request.settings();
  if (settings.auto_precision().empty()) {
    settings.set_auto_precision(stored.auto_precision());
  }
  AddDifferences(stored, settings, "settings.", fields);
  if (fields.empty()) {
    return CreateReply(DescribeStudy(existing), existing.checked(),
                       CountFleet(ledger_, existing, clock_));
  }
  return MakeError(
      ErrorId::kStudyAlreadyExists,
      absl::StrCat("study ", request.study_id(), " exists, with another ",
                   absl::StrJoin(fields, ", ")),
      "choose another id, give the same as then to go on with it, or change "
      "its settings: frostline study update ID (UpdateStudy)",
      "study_id");
}

absl::StatusOr<v1::CreateStudyReply> StudyVerbs::Create(
    Change& change, const v1::CreateStudyRequest& request,
    const absl::StatusOr<Prepared>& prepared) {
  RETURN_IF_ERROR(CheckId(request.study_id(), "study_id"));
  if (ledger_.HasId(request.study_id())) {
    ASSIGN_OR_RETURN(const StudyBook* existing,
                     ledger_.FindStudy(StudyNameOf(request.study_id())));
    return CreatedBefore(change.caller.identity, *existing, request);
  }
  RETURN_IF_ERROR(prepared.status());
  RETURN_IF_ERROR(
      CheckOwnLabels(change.caller.identity, request.settings().labels()));
  RETURN_IF_ERROR(CheckFitsAModel(ledger_.workers(), prepared->spec,
                                  request.settings(), clock_.Wall(),
                                  ledger_.default_lease().ttl));
  storage::StudyRow row;
  row.owner = OwnerOf(change.caller.identity);
  row.id = request.study_id();
  row.spec = prepared->spec.SerializeAsString();
  row.settings = request.settings().SerializeAsString();
  row.seed = prepared->spec.seed();
  row.revision = 1;
  row.created = row.updated = prepared->created;
  if (request.validate_only()) {
    const StudyBook book(row, prepared->checked);
    return CreateReply(DescribeStudy(book), *prepared->checked,
                       CountFleet(ledger_, book, clock_));
  }
  ASSIGN_OR_RETURN(
      StudyBook * book,
      ledger_.InsertStudy(change.batch, std::move(row), prepared->checked));
  proposer_.Open(book->row().key, prepared->checked, History(),
                 prepared->priors);
  FROSTLINE_FAILPOINT(kStudyCreated);
  for (int i = 0; i < prepared->spec.enqueue_size(); ++i) {
    RETURN_IF_ERROR(EnqueueOne({change.batch, ledger_, proposer_}, *book,
                               prepared->spec.enqueue(i), 0,
                               absl::StrCat("enqueue[", i, "]"))
                        .status());
  }
  return CreateReply(DescribeStudy(*book), *prepared->checked,
                     CountFleet(ledger_, *book, clock_));
}

}  // namespace frostline::server
