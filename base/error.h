// SPDX-License-Identifier: Apache-2.0
//
// File: error.h
//
// An error has an id with a page (FL-2031), the cause and the fix. It travels
// as an absl::Status whose message is the cause; a payload carries the rest.
// Only server/rpc and server/http make it a wire error.
//
//   return MakeError(ErrorId::kLevelsInvalid, "levels of layer.3 are empty",
//                    "list at least one rate", "space.modules[3].levels");
//   if (HasErrorId(status, ErrorId::kLeaseLost)) StopTraining();
#ifndef FROSTLINE_BASE_ERROR_H_
#define FROSTLINE_BASE_ERROR_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// clang-format off
#define FROSTLINE_ERRORS(X)                                                                        \
  X(StudyFieldUnknown,   1001, InvalidArgument,    "STUDY_FIELD_UNKNOWN",   "the study has a key that does not exist") \
  X(StudyFieldMissing,   1002, InvalidArgument,    "STUDY_FIELD_MISSING",   "a required field is empty")              \
  X(LevelsInvalid,       1003, InvalidArgument,    "LEVELS_INVALID",        "levels are empty, unordered, repeated or not finite") \
  X(RangeInvalid,        1004, InvalidArgument,    "RANGE_INVALID",         "a range is empty, reversed or not finite") \
  X(ModuleDuplicate,     1005, InvalidArgument,    "MODULE_DUPLICATE",      "two entries give a rate to the same module") \
  X(SpaceTooLarge,       1006, InvalidArgument,    "SPACE_TOO_LARGE",       "the space is larger than the sampler or the service can hold") \
  X(ConditionInvalid,    1007, InvalidArgument,    "CONDITION_INVALID",     "a condition names a parameter or value that cannot be met") \
  X(ModuleUnknown,       1008, InvalidArgument,    "MODULE_UNKNOWN",        "a selector matches no module of the model") \
  X(ObjectiveInvalid,    1009, InvalidArgument,    "OBJECTIVE_INVALID",     "an objective has no metric, no direction or a duplicate") \
  X(SamplerInvalid,      1010, InvalidArgument,    "SAMPLER_INVALID",       "the sampler or its options do not exist or do not fit the space") \
  X(BudgetInvalid,       1011, InvalidArgument,    "BUDGET_INVALID",        "the budget is out of range, or used up") \
  X(NameInvalid,         1012, InvalidArgument,    "NAME_INVALID",          "a resource name or id is malformed")      \
  X(FieldTooLarge,       1013, InvalidArgument,    "FIELD_TOO_LARGE",       "a field is over its size limit")          \
  X(ValueOutOfSpace,     1014, InvalidArgument,    "VALUE_OUT_OF_SPACE",    "a parameter value is not in the search space") \
  X(StudyFileSyntax,     1015, InvalidArgument,    "STUDY_FILE_SYNTAX",     "the study file cannot be parsed")         \
  X(RequestInvalid,      1016, InvalidArgument,    "REQUEST_INVALID",       "what was asked is incomplete, or not understood") \
  X(PageTokenInvalid,    1017, InvalidArgument,    "PAGE_TOKEN_INVALID",    "the page token is not from this list")    \
  X(FilterInvalid,       1018, InvalidArgument,    "FILTER_INVALID",        "the filter cannot be parsed")             \
  X(ParameterDuplicate,  1019, InvalidArgument,    "PARAMETER_DUPLICATE",   "two parameters have one name")            \
  X(PrunerInvalid,       1020, InvalidArgument,    "PRUNER_INVALID",        "the pruner or its options do not exist")  \
  X(StudyNotFound,       2001, NotFound,           "STUDY_NOT_FOUND",       "no study has this name")                  \
  X(StudyAlreadyExists,  2002, AlreadyExists,      "STUDY_ALREADY_EXISTS",  "another study has this name")             \
  X(StudyNotActive,      2003, FailedPrecondition, "STUDY_NOT_ACTIVE",      "the study's state does not allow this")   \
  X(TrialNotFound,       2004, NotFound,           "TRIAL_NOT_FOUND",       "the study has no such trial")   \
  X(TrialTerminal,       2005, FailedPrecondition, "TRIAL_TERMINAL",        "it is too late: the trial has ended")             \
  X(EtagMismatch,        2006, Aborted,            "ETAG_MISMATCH",         "the study has changed since it was read") \
  X(RequestIdReused,     2007, AlreadyExists,      "REQUEST_ID_REUSED",     "this request id was used for another request") \
  X(TrialNotTerminal,    2008, FailedPrecondition, "TRIAL_NOT_TERMINAL",    "the trial has not ended yet")             \
  X(StudyUnreadable,     2009, Unavailable,        "STUDY_UNREADABLE",      "the study's stored rows cannot be loaded by this version") \
  X(LeaseLost,           2031, FailedPrecondition, "LEASE_LOST",            "the trial is leased to another attempt or has ended") \
  X(WorkerUnknown,       2032, NotFound,           "WORKER_UNKNOWN",        "no worker is registered under this name") \
  X(MetricNotFinite,     2033, InvalidArgument,    "METRIC_NOT_FINITE",     "an objective value is NaN or infinite")   \
  X(StepOutOfOrder,      2034, InvalidArgument,    "STEP_OUT_OF_ORDER",     "steps of a trial must rise")              \
  X(ObjectiveMissing,    2035, InvalidArgument,    "OBJECTIVE_MISSING",     "the final metrics lack an objective")     \
  X(WorkerQuarantined,   2036, FailedPrecondition, "WORKER_QUARANTINED",    "the worker failed too many trials in a row") \
  X(ReportConflict,      2037, AlreadyExists,      "REPORT_CONFLICT",       "this step was reported before with other values") \
  X(SpaceExhausted,      2038, OutOfRange,         "SPACE_EXHAUSTED",       "every point of the space has been proposed") \
  X(HistoryGone,         2039, OutOfRange,         "HISTORY_GONE",          "events before this revision are gone: list again, then watch") \
  X(StoreLocked,         3001, FailedPrecondition, "STORE_LOCKED",          "another coordinator holds the data folder") \
  X(StoreUnwritable,     3002, PermissionDenied,   "STORE_UNWRITABLE",      "the data folder cannot be written")       \
  X(StoreCorrupt,        3003, DataLoss,           "STORE_CORRUPT",         "the database is damaged")                 \
  X(StoreFull,           3004, ResourceExhausted,  "STORE_FULL",            "the disk is full")                        \
  X(StoreVersion,        3005, FailedPrecondition, "STORE_VERSION",         "the database is of another Frostline version") \
  X(StoreFileSystem,     3006, FailedPrecondition, "STORE_FILE_SYSTEM",     "the data folder is on a file system that cannot keep a promise") \
  X(StoreIo,             3007, Internal,           "STORE_IO",              "the disk failed a read or a write")       \
  X(StoreBusy,           3008, Unavailable,        "STORE_BUSY",            "the database is busy")                    \
  X(NotLeader,           3009, Unavailable,        "NOT_LEADER",            "another coordinator leads the store")     \
  X(StoreRemoved,        3010, Unavailable,        "STORE_REMOVED",         "the database file was removed or replaced") \
  X(FolderUnsafe,        3011, FailedPrecondition, "FOLDER_UNSAFE",         "others may write the data folder") \
  X(PortBusy,            4001, Unavailable,        "PORT_BUSY",             "the address is in use")                   \
  X(AddressNotLoopback,  4002, InvalidArgument,    "ADDRESS_NOT_LOOPBACK",  "without TLS only loopback is served")     \
  X(CoordinatorAway,     4003, Unavailable,        "COORDINATOR_AWAY",      "the coordinator cannot be reached")       \
  X(MethodNotBuilt,      4005, Unimplemented,      "METHOD_NOT_BUILT",      "this version does not serve this part of the contract yet") \
  X(CoordinatorDraining, 4006, Unavailable,        "COORDINATOR_DRAINING",  "the coordinator is shutting down")        \
  X(Overloaded,          4007, ResourceExhausted,  "OVERLOADED",            "too many requests are waiting")           \
  X(DeadlinePassed,      4008, DeadlineExceeded,   "DEADLINE_PASSED",       "the time that was given for this has passed") \
  X(CredentialsMissing,  4009, Unauthenticated,    "CREDENTIALS_MISSING",   "the call shows neither a token nor a certificate") \
  X(TokenInvalid,        4010, Unauthenticated,    "TOKEN_INVALID",         "the token is unknown, or was revoked") \
  X(TokenExpired,        4011, Unauthenticated,    "TOKEN_EXPIRED",         "the token has expired") \
  X(RoleDenied,          4012, PermissionDenied,   "PERMISSION_DENIED",     "the caller's role does not allow this") \
  X(WorkerDenied,        4013, PermissionDenied,   "WORKER_DENIED",         "the credentials are another worker's") \
  X(TlsFile,             4014, FailedPrecondition, "TLS_FILE",              "a certificate or a key cannot be used") \
  X(TlsRefused,          4015, Unauthenticated,    "TLS_REFUSED",           "client and coordinator do not trust each other's certificates") \
  X(TokenNotFound,       4016, NotFound,           "TOKEN_NOT_FOUND",       "no token has this id") \
  X(TokenUsed,           4017, Unauthenticated,    "TOKEN_USED",            "the invitation was used before") \
  X(CertificateRevoked,  4018, Unauthenticated,    "CERTIFICATE_REVOKED",   "the certificate was revoked") \
  X(CertificateExpired,  4019, Unauthenticated,    "CERTIFICATE_EXPIRED",   "the certificate has expired") \
  X(FingerprintWrong,    4020, Unauthenticated,    "FINGERPRINT_WRONG",     "another coordinator answers than the invitation names") \
  X(JoinUnavailable,     4021, FailedPrecondition, "JOIN_UNAVAILABLE",      "this coordinator cannot issue certificates") \
  X(WorkerNameTaken,     4022, AlreadyExists,      "WORKER_NAME_TAKEN",     "another node has this worker's certificate") \
  X(StudyDenied,         4023, PermissionDenied,   "STUDY_DENIED",          "the study is another's") \
  X(CallerTooFast,       4024, ResourceExhausted,  "CALLER_TOO_FAST",       "one caller asks too much") \
  X(AuditBroken,         4025, DataLoss,           "AUDIT_BROKEN",          "the audit was changed after it was written") \
  X(SlurmMissing,        4026, FailedPrecondition, "SLURM_MISSING",         "a program of Slurm is not there") \
  X(SlurmRefused,        4027, FailedPrecondition, "SLURM_REFUSED",         "Slurm refused what it was asked") \
  X(TrainerStart,        5001, FailedPrecondition, "TRAINER_START",         "the trainer program could not be started") \
  X(TrainerProtocol,     5002, InvalidArgument,    "TRAINER_PROTOCOL",      "the trainer wrote a line that is no message") \
  X(TrainerExited,       5003, Aborted,            "TRAINER_EXITED",        "the trainer ended before its trial did")  \
  X(TrainerFile,         5010, FailedPrecondition, "TRAINER_FILE",          "a file of a model or of data cannot be read") \
  X(TrainerSyntax,       5011, InvalidArgument,    "TRAINER_SYNTAX",        "a file of data or of the registry is malformed") \
  X(TrainerLimit,        5012, ResourceExhausted,  "TRAINER_LIMIT",         "a file or a text is over a limit of the trainer") \
  X(TrainerUnsupported,  5013, Unimplemented,      "TRAINER_UNSUPPORTED",   "the trainer does not do this exactly, so it does not do it") \
  X(TrainerMismatch,     5014, FailedPrecondition, "TRAINER_MISMATCH",      "data or a model do not fit what is asked of them") \
  X(TrainerMisuse,       5015, InvalidArgument,    "TRAINER_MISUSE",        "the study asks a trainer for what cannot be") \
  X(TrainerMemory,       5016, ResourceExhausted,  "TRAINER_MEMORY",        "the trial needs more memory than there is") \
  X(TrainerNotFinite,    5017, OutOfRange,         "TRAINER_NOT_FINITE",    "the loss became infinite or no number") \
  X(TrainerFrozenMoved,  5018, Internal,           "TRAINER_FROZEN_MOVED",  "a module that is frozen was changed by training") \
  X(TrialsTooFew,        6001, FailedPrecondition, "TRIALS_TOO_FEW",        "importance needs more finished trials")   \
  X(TargetConstant,      6002, FailedPrecondition, "TARGET_CONSTANT",       "every trial has the same value")          \
  X(EvaluatorUnknown,    6003, InvalidArgument,    "EVALUATOR_UNKNOWN",     "no importance evaluator has this name")   \
  X(OutcomesMissing,     6004, FailedPrecondition, "OUTCOMES_MISSING",      "a trial says nothing of its examples") \
  X(OutcomesDiffer,      6005, FailedPrecondition, "OUTCOMES_DIFFER",       "trials were evaluated on different data") \
  X(MetricUntestable,    6006, InvalidArgument,    "METRIC_UNTESTABLE",     "the outcomes do not hold the metric") \
  X(SeedsUnpaired,       6007, FailedPrecondition, "SEEDS_UNPAIRED",        "two settings have no seed in common") \
  X(PredictionsMissing,  6008, FailedPrecondition, "PREDICTIONS_MISSING",   "the trial wrote no predictions of this set") \
  X(PredictionsGone,     6009, NotFound,           "PREDICTIONS_GONE",      "the trial's predictions were cleaned away") \
  X(PredictionsAway,     6010, Unavailable,        "PREDICTIONS_AWAY",      "the worker that has the predictions does not answer") \
  X(Internal,            9001, Internal,           "INTERNAL",              "a bug in Frostline")
// clang-format on

// __LINE__ would clash in a lambda that uses them too.
#define RETURN_IF_ERROR(expression)                                   \
  FROSTLINE_RETURN_IF_ERROR_(FROSTLINE_CONCAT_(status_, __COUNTER__), \
                             expression)

#define FROSTLINE_RETURN_IF_ERROR_(holder, expression) \
  do {                                                 \
    absl::Status holder = (expression);                \
    if (!holder.ok()) return holder;                   \
  } while (false)

#define FROSTLINE_CONCAT_INNER_(a, b) a##b
#define FROSTLINE_CONCAT_(a, b) FROSTLINE_CONCAT_INNER_(a, b)

#define ASSIGN_OR_RETURN(target, expression)                               \
  FROSTLINE_ASSIGN_OR_RETURN_(FROSTLINE_CONCAT_(or_, __COUNTER__), target, \
                              expression)

#define FROSTLINE_ASSIGN_OR_RETURN_(holder, target, expression) \
  auto holder = (expression);                                   \
  if (!holder.ok()) return std::move(holder).status();          \
  target = std::move(holder).value()

// All errors. Each has an enum name, a number, a canonical code, a reason on
// the wire and a title. A test compares them with docs/reference/errors.md.
// Numbers are never reused (4004 is gone): 1xxx are study and request, 2xxx
// trials, leases and workers, 3xxx storage, 4xxx connection, 5xxx trainer, 6xxx
// importance, 9xxx our own bugs.

namespace frostline {

// The id of an error.
enum class ErrorId {
#define FROSTLINE_ENUM_(name, number, code, reason, title) k##name = number,
  FROSTLINE_ERRORS(FROSTLINE_ENUM_)
#undef FROSTLINE_ENUM_
};

// What all errors of one id have in common.
struct ErrorKind {
  ErrorId id;
  absl::StatusCode code;
  std::string reason;  // "LEASE_LOST"
  std::string title;   // a few words for people
};

// What one error says besides its cause.
struct ErrorDetail {
  ErrorId id = ErrorId::kInternal;
  std::string field;  // path in the request or study, or empty
  std::string fix;    // one sentence
};

const std::vector<ErrorKind>& AllErrorKinds();
const ErrorKind& KindOf(ErrorId id);

// Returns "FL-2031".
std::string ErrorCode(ErrorId id);

absl::Status MakeError(ErrorId id, const std::string& cause,
                       const std::string& fix, const std::string& field = "");

// Returns nothing for OK and for errors that MakeError() did not make.
std::optional<ErrorDetail> DetailOf(const absl::Status& status);
bool HasErrorId(const absl::Status& status, ErrorId id);

// Returns lines for a terminal; the third one only if there is a field:
// "error[FL-1003]: …", "  because: …", "  at: …", "  fix: …".
std::string DescribeError(const absl::Status& status);

// Exit codes of all programs. Scripts and schedulers rely on them; they never
// change.

enum ExitCode : int {
  kExitOk = 0,
  kExitFailure = 1,
  kExitUsage = 2,
  kExitNotFound = 3,
  kExitAuth = 4,
  kExitConflict = 5,
  kExitTimedOut = 6,
  kExitUnreachable = 7,    // the coordinator; trying again may help
  kExitNoResult = 8,       // the study ended without a finished trial
  kExitRequeue = 75,       // preempted: run me again
  kExitInvalidFile = 100,  // a study or data file has mistakes
  kExitInterrupted = 130,  // Ctrl-C
};

ExitCode ExitCodeOf(const absl::Status& status);

}  // namespace frostline

//   ASSIGN_OR_RETURN(StudyRow study, store.FindStudy(name));
//   RETURN_IF_ERROR(transaction.Commit());

namespace frostline {

// Returns the error for a file that could not be written: STORE_FULL when there
// is no room, STORE_IO when the disk failed. Else it is the fault of whoever
// named the file, and the result is `otherwise`. `error` is an errno, `cause`
// names the file.
absl::Status DiskErrorOr(int error, const std::string& cause,
                         absl::Status otherwise);

}  // namespace frostline

#endif  // FROSTLINE_BASE_ERROR_H_
