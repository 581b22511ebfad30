# SPDX-License-Identifier: Apache-2.0
"""What ./dev record runs: a row for each fault, what must hold in spite of it, and
the tests that try it. A figure is what a test counts itself: the words of its line
`record: kills=12 violations=0` (tests/support/record.h), or how many tests passed."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Run:
    test: str  # of ctest; empty for a command
    only: str = ""  # GoogleTest's filter
    size: str = ""  # the variable by which the run is made longer
    usual: int = 0  # what the test does without it
    command: tuple = ()  # of a run that is no test of ctest


@dataclasses.dataclass(frozen=True)
class Row:
    id: int
    fault: str
    promise: str
    runs: tuple = ()
    goal: dict = dataclasses.field(default_factory=dict)  # by the words of figures
    lacks: str = ""  # what no test does yet
    slow: bool = False  # hours: runs only when it is named


def run(test, only="", size="", usual=0):
    return Run(test, only, size, usual)


COUNT = "FROSTLINE_FAULT_COUNT"
REPEAT = "--gtest_repeat"

ROWS = (
    Row(1, "The coordinator is killed (`kill -9`) at any moment, under load",
        "Nothing acknowledged is lost, no trial ends twice",
        (run("fault_kill", "KillTest.NothingAcknowledgedIsLostWithTheCoordinator", COUNT, 12),),
        {"kills": 100_000, "acknowledged": 10_000_000}),
    Row(2, "A kill at each named place in the code: commit, reply, backup, migration, spool",
        "Nothing acknowledged is lost; what was half done is done or undone at the next start",
        (run("fault_failpoint", "*FailpointKill.*", REPEAT, 1),
         run("fault_storage_kill", "", REPEAT, 1),
         run("worker_failpoints", "", REPEAT, 1)),
        {"kills": 40_000}),
    Row(3, "The power goes at any write or sync; sectors are torn or reordered",
        "All acknowledged rows are there and whole; a store that does not sync is caught",
        (run("fault_storage", "PowerCutTest.NothingAcknowledgedIsLost", COUNT, 1500),
         run("fault_storage", "PowerCutTest.ALogThatIsNotSyncedIsCaughtInAFewCuts")),
        {"cuts": 1_000_000}),
    Row(4, "The n-th write, sync, truncation or removal fails, once or for ever",
        "An error or an end of the process, never an OK to what is not stored",
        (run("fault_storage", "BadDiskTest.NoCallThatFailsIsTakenForOneThatWorked", COUNT, 1),),
        {"workflows": 200}, lacks="an allocation that fails"),
    Row(5, "A change is stored, but the connection ends before the reply arrives",
        "The repeated request gets the stored answer, nothing happens twice",
        (run("fault_network", "NetworkTest.EveryReplyIsLostOnceAndNothingHappensTwice", COUNT,
             100),),
        {"lost_replies": 100_000}),
    Row(6, "Workers and their trainers die without a word",
        "Each trial goes to another worker, and ends once",
        (run("fault_kill", "KillTest.EveryTrialEndsThoughHalfOfTheWorkersVanish", COUNT, 400),
         run("fault_kill", "RealWorkerTest.KilledWorkersAndTrainersLoseNoTrial", COUNT, 30)),
        {"expired_leases": 10_000}),
    Row(7, "A worker is stopped for longer than its lease, and wakes up",
        "It overwrites nothing; its late result counts where it is the only one",
        (run("fault_zombie", "ZombieTest.AHundredOfThemOverwriteNothing", COUNT, 150),
         run("fault_zombie", "ZombieTest.StopsTrainingWhenAnotherHasItsTrial:"
             "ZombieTest.ItsLateResultDoesNotCountBesidesAnother:"
             "ZombieTest.ItsLateResultCountsWhenItIsTheOnlyOne")),
        {"expired_leases": 1_000}),
    Row(8, "The network is cut in one or both directions, for shorter or longer than a lease",
        "A short cut costs nothing; after a long one the trial runs elsewhere, once",
        (run("nodes_cuts"),), {"partitions": 1_000}),
    Row(9, "Latency, dripping bytes, stalls, half-open connections, resets",
        "It goes slower, and no state is wrong",
        (run("fault_network", "NetworkTest.ResetsAtRandomLoseNothing", COUNT, 300),
         run("fault_network", "NetworkTest.AHalfOpenConnectionIsLeftAndTheLeaseComesBack",
             COUNT, 2),
         run("fault_network", "NetworkTest.LatencyOnlyCostsTime:NetworkTest.BytesThatDripAreRead"
             "AsAny:NetworkTest.AStallLongerThanALeaseIsSurvived")),
        {"hours": 24}),
    Row(10, "All of these at once, in simulated histories of the lease protocol",
        "Every promise of leases holds in each history; each planted mistake is found",
        (run("lease_simulator", "LeaseSimulator.EveryPromiseHoldsInEveryHistory",
             "FROSTLINE_SIM_SEEDS", 2000),
         run("lease_simulator", "All/MutantTest.*")),
        {"seeds": 10_000_000}),
    Row(11, "The coordinator restarts while a fleet is at work",
        "No trial fails for it, living workers keep theirs, dead ones do not",
        (run("server", "RestartGraceTest.*"),), {"workers": 10_000}),
    Row(12, "10,000 workers at work for a day",
        "Answers stay quick, memory stays bounded",
        goal={"workers": 10_000, "hours": 24}, lacks="a day under load"),
    Row(13, "The machine's date is set by hours and years, forth and back",
        "No lease ends early, none outlives its time",
        (run("fault_clock", "ClockTest.NoLeaseEndsEarlyWhenTheDateIsSet", COUNT, 60),
         run("fault_clock", "ClockTest.NoLeaseOutlivesItsTimeWhenTheDateIsSetBack:"
             "ClockTest.NothingIsLostWhenEveryClockJumps")),
        {"jumps": 10_000}),
    Row(14, "The disk is full, at any point of the work",
        "What is refused is said; running trials may end; with room it goes on by itself",
        (run("fault_disk", "DiskTest.*"),
         run("fault_storage", "BadDiskTest.AFullDiskAtEveryPointLosesNothingAndIsNoReasonToRestart"),
         run("storage_sqlite", "FullDiskTest.*"))),
    Row(15, "Bytes of the database change on the disk",
        "What is read is what was written, or an error that names the damage",
        (run("fault_storage", "FlipTest.Anywhere", COUNT, 500),
         run("fault_storage", "FlipTest.InTheHeadersOfFileAndPages"),
         run("storage_sqlite", "DamageTest.GarbledPagesNeverGiveAWrongRow")),
        {"flips": 100_000}),
    Row(16, "A reader never ends",
        "The reader is cut, and the log of the database stays small",
        (run("storage_sqlite", "SqliteStoreTest.AReadThatTakesTooLongIsEndedAndTheLogIsFree:"
             "SqliteStoreTest.TheLog*:SqliteStoreTest.ALogThatGrowsIsReportedOnce"),),
        {"hours": 24}),
    Row(17, "Eight coordinators are started on one folder at a time",
        "One serves, the others end and say why",
        (run("fault_replay", "RaceTest.OfManyCoordinatorsOnOneFolderOneServes", COUNT, 5),),
        {"races": 1_000}),
    Row(18, "The power goes while a database is made or brought forward from an older version",
        "It is of the old or the new version, with all its rows",
        (run("fault_storage", "MigrationTest.*"),
         run("fault_storage_kill", "FailpointKillTest.OfAMigrationAndItsCopy:"
             "FailpointKillTest.OfTheMakingOfADatabase"))),
    Row(19, "SIGTERM, or a kill in the middle of a step",
        "The trial is handed back, or goes on from its checkpoint with equal bits",
        (run("worker_agent", "All/Signal.*:AgentBinary.AtSigusr2*:Resume.*"),
         run("server_main", "CoordinatorMainTest.SaysWhereItListensAndEndsCleanlyOnSigterm"),
         run("trainer_resume", "Resume.IsBitEqualHoweverOftenItIsKilled", REPEAT, 1)),
        {"kills": 1_000}),
    Row(20, "Every worker is taken away once a minute",
        "The study ends all the same", goal={"trials": 10_000},
        lacks="a fleet that is taken away for hours (`machine_spot` has one node)"),
    Row(21, "No descriptors left, handshakes that never end, floods of connections",
        "Others are answered meanwhile, and newcomers within 5 s afterwards",
        (run("server_rpc_siege", "SiegeTest.ForgetsThoseWhoConnectAndGo",
             "FROSTLINE_SIEGE_CONNECTS", 5000),
         run("server_rpc_siege", "SiegeTest.EndsWhoNeverFinishesItsHandshake:"
             "SiegeTest.ServesAgainAfterDescriptorsRanOut:"
             "SiegeTest.KeepsToItsCapAndServesThoseWhoAreIn:"
             "SiegeTest.GivesThePlaceOfWhoNeverCallsToWhoComes")),
        {"attacks": 50_000}),
    Row(22, "Streams that are cancelled without end, giant headers, floods of frames",
        "The connection is cut, memory stays bounded, others are answered",
        (run("server_rpc_siege", "SiegeTest.Cuts*:SiegeTest.RefusesHeadersOfSixtyFourKib:"
             "SiegeTest.ServesOthersWhileAHeaderDoesNotEnd:SiegeTest.BoundsMessagesThatDoNotEnd"),
         ), {"attacks": 10_000_000}),
    Row(23, "The same by somebody with a certificate",
        "The caller is cut, others are answered as before",
        (run("server_rpc_door", "TlsDoorTest.CutsWhoseHeadersAreHuge"),),
        lacks="a flood of streams behind TLS"),
    Row(24, "A wrong role, a foreign certificate, a revoked token, another's study or lease",
        "Refused, and written into the audit",
        (run("server_rpc_auth", "AuthMatrixTest.*:OwnershipTest.*:"
             "AuthTest.AStolenLeaseSecretIsOfNoUseToAnotherWorker"),)),
    Row(25, "Malformed requests, models, tokenizers, data sets",
        "An error with cause and fix; nothing changes, nothing crashes",
        (run("server_rpc_hostile"), run("trainer_bad_input"),
         run("trainer_text_hostile", "HostileFile.AnyByteMayBeWrong", COUNT, 600),
         run("trainer_text_hostile", "-HostileFile.AnyByteMayBeWrong")),
        {"requests": 100_000_000, "bad_files": 1_000_000_000}, lacks="coverage-guided fuzzing"),
    Row(26, "Names that lead out of their folder: `..`, absolute paths, links",
        "Nothing outside is opened",
        (run("trainer_bad_input", "BadFiles.NothingOutsideTheRegistryIsOpened"),),
        {"bad_files": 10_000}),
    Row(27, "Hostile texts in every field, over HTTP and on the page",
        "They are text everywhere, and come back as they were",
        (run("server_http", "HttpSecurityTest.HostileTexts*"), run("page_hostile")),
        {"texts": 10_000}),
    Row(28, "Histories with NaN, infinities and values of any size",
        "A sampler proposes a point of the space, and the same one when asked again",
        (run("sampler_property"),), {"histories": 1_000_000}),
    Row(29, "Another site's origin or host name, a method that does not belong",
        "403 or 400, and nothing changes",
        (run("server_http", "HttpEdgeTest.AnswersOnlyToNamesOfThisMachine:"
             "HttpEdgeTest.AnswersNoOtherSite:HttpEdgeTest.OnlyReadsUnlessItIsToldOtherwise:"
             "HttpEdgeTest.RefusesWhatIsNoRequest:"
             "HttpEdgeTest.EveryVerbIsRefusedToWhomGrpcRefusesIt"),)),
    Row(30, "Ten times more calls than can be served",
        "Some are put off with a time, the others are served",
        lacks="a load of ten times the most"),
    Row(31, "Secrets in files, logs, output, command lines and core dumps",
        "Each secret is in its own file alone",
        (run("secrets_flow"),)),
    Row(32, "Data races, undefined behaviour, leaks",
        "ThreadSanitizer, AddressSanitizer and UBSan report nothing",
        (Run("", command=("./dev", "test", "--preset", "asan")),
         Run("", command=("./dev", "test", "--preset", "tsan"))), slow=True),
    Row(33, "A process that writes the store is killed (`kill -9`) at any moment",
        "What was acknowledged is there, and groups are whole",
        (run("storage_kill", "", "FROSTLINE_KILL_ROUNDS", 25),), {"kills": 100_000}),
    Row(34, "Every call that changes something is sent again, also after a crash",
        "The same answer, and nothing more happens",
        (run("fault_replay", "ReplayTest.*"),)),
    Row(35, "Random transactions on SQLite, held against a model of the store",
        "Every answer, and all that can be read, is the model's",
        (run("storage_sqlite_contract", "*AgreesWithTheModelOnRandomTransactions*",
             "FROSTLINE_MODEL_SEEDS", 200),), {"seeds": 100_000}),
    Row(36, "The same on PostgreSQL",
        "Every answer, and all that can be read, is the model's",
        (run("storage_postgres", "*AgreesWithTheModelOnRandomTransactions*",
             "FROSTLINE_MODEL_SEEDS", 200),), {"seeds": 100_000}),
    Row(37, "PostgreSQL loses its power, goes away, or another coordinator takes the seat",
        "Rows stay, who lost the seat writes nothing, a commit without an answer ends the process",
        (run("storage_postgres", "PostgresStoreTest.*"),)),
    Row(38, "Other hosts' clocks, addresses and data; a NAT that forgets; half-open connections",
        "Workers come back by themselves, and no trial runs twice",
        (run("nodes_hosts"), run("nodes_idle"))),
    Row(39, "Under an open page a study is deleted, the clock is set, the coordinator is gone",
        "The page says so, goes on, and has no error of its own",
        (run("page_trouble"),)),
    Row(40, "A Python script is killed, sleeps past its lease, or its coordinator restarts",
        "The trial is handed on or goes on, and the script is told",
        (run("python_loop"), run("python_local"))),
    Row(41, "A hostile model or table lets a reader of the trainer run other code",
        "It writes nowhere else, starts no program, reaches no network, touches no process",
        (run("trainer_containment"),)),
)
