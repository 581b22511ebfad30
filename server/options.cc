// SPDX-License-Identifier: Apache-2.0
#include "server/options.h"

#include <CLI/CLI.hpp>
#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/error.h"
#include "base/status_macros.h"

namespace frostline {
namespace {

constexpr char kProgram[] = "frostline-coordinator";
constexpr Duration kShortestTtl = std::chrono::milliseconds(100);
constexpr Duration kLongestTime = std::chrono::hours(1);

const std::map<std::string, LogLevel>& LogLevels() {
  static const auto* levels =
      new std::map<std::string, LogLevel>{{"debug", LogLevel::kDebug},
                                          {"info", LogLevel::kInfo},
                                          {"warning", LogLevel::kWarning},
                                          {"error", LogLevel::kError}};
  return *levels;
}

// As typed.
struct RawTimes {
  std::string lease_ttl = "60s";
  std::string heartbeat_interval = "auto";
  std::string restart_grace = "120s";
};

absl::Status BadOption(const std::string& option, const std::string& cause,
                       const std::string& fix) {
  return MakeError(ErrorId::kRequestInvalid, absl::StrCat(option, " ", cause),
                   fix, option);
}

absl::Status ReadTime(const std::string& option, const std::string& text,
                      Duration shortest, Duration* time) {
  absl::Duration parsed;
  double seconds = 0.0;
  if (absl::SimpleAtod(text, &seconds)) {
    parsed = absl::Seconds(seconds);
  } else if (!absl::ParseDuration(text, &parsed)) {
    return BadOption(option, absl::StrCat("is '", text, "', which is no time"),
                     "write it like 60s, 1m30s or 500ms");
  }
  // Compared as Abseil's, in which nothing overflows.
  if (parsed < absl::FromChrono(shortest) ||
      parsed > absl::FromChrono(kLongestTime)) {
    return BadOption(
        option, absl::StrCat("is ", text),
        absl::StrCat("give a time from ",
                     absl::FormatDuration(absl::FromChrono(shortest)),
                     " to 1h"));
  }
  *time = absl::ToChronoNanoseconds(parsed);
  return absl::OkStatus();
}

absl::Status ReadTimes(const RawTimes& raw, ServeOptions* options) {
  RETURN_IF_ERROR(ReadTime("--lease-ttl", raw.lease_ttl, kShortestTtl,
                           &options->lease_ttl));
  if (raw.heartbeat_interval == "auto") {
    options->heartbeat_interval = options->lease_ttl / 4;
  } else {
    RETURN_IF_ERROR(ReadTime("--heartbeat-interval", raw.heartbeat_interval,
                             kShortestTtl / 10, &options->heartbeat_interval));
  }
  RETURN_IF_ERROR(ReadTime("--restart-grace", raw.restart_grace,
                           Duration::zero(), &options->restart_grace));
  if (options->heartbeat_interval * 3 <= options->lease_ttl) {
    return absl::OkStatus();
  }
  return BadOption("--heartbeat-interval",
                   "is more than a third of the lease TTL",
                   "make it shorter, or --lease-ttl longer");
}

void Declare(CLI::App* app, ServeOptions* options, RawTimes* times) {
  app->set_version_flag("--version",
                        absl::StrCat(kProgram, " ", FROSTLINE_VERSION));
  auto* data = app->add_option("--data", options->data_folder,
                               "Folder of the database; made if missing")
                   ->type_name("DIR");
  app->add_flag("--ephemeral", options->ephemeral,
                "Keep everything in memory only")
      ->excludes(data);
  app->add_option("--listen", options->listen, "Port 0 picks a free one")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  const auto add_time = [app](const char* name, std::string* time,
                              const char* help) {
    app->add_option(name, *time, help)
        ->type_name("TIME")
        ->capture_default_str();
  };
  add_time("--lease-ttl", &times->lease_ttl,
           "A worker silent for so long loses its trial");
  add_time("--heartbeat-interval", &times->heartbeat_interval,
           "How often workers report in; auto: a quarter of the TTL");
  add_time("--restart-grace", &times->restart_grace,
           "Added to every lease after a restart");
  app->add_option("--disk-reserve", options->disk_reserve_bytes,
                  "With less free, nothing new is leased; 256MiB unless given")
      ->type_name("SIZE")
      ->transform(CLI::AsSizeValue(false).description(""));
  app->add_option("--restore", options->restore,
                  "Make this backup the database in --data, then end")
      ->type_name("FILE");
  app->add_option("--log-level", options->log_level,
                  "debug, info, warning or error; info unless given")
      ->type_name("LEVEL")
      ->transform(CLI::CheckedTransformer(LogLevels(), CLI::ignore_case)
                      .description(""));
}

// What CLI11 throws ends here.
absl::Status Parse(CLI::App* app, int argc, const char* const* argv,
                   std::string* print) {
  try {
    app->parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    *print = app->help();
  } catch (const CLI::CallForVersion& version) {
    *print = absl::StrCat(version.what(), "\n");
  } catch (const CLI::Error& error) {
    return MakeError(ErrorId::kRequestInvalid, error.what(),
                     absl::StrCat("see ", kProgram, " --help"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ServeOptions> ParseServeOptions(int argc,
                                               const char* const* argv) {
  ServeOptions options;
  RawTimes times;
  CLI::App app("The coordinator: keeps studies, proposes trials, leases them.",
               kProgram);
  Declare(&app, &options, &times);
  RETURN_IF_ERROR(Parse(&app, argc, argv, &options.print));
  if (!options.print.empty()) return options;
  if (options.data_folder.empty() && !options.ephemeral) {
    return BadOption("--data", "is missing",
                     "give --data DIR, or --ephemeral to keep nothing");
  }
  if (!options.restore.empty() && options.ephemeral) {
    return BadOption("--restore", "needs a folder to restore to",
                     "give --data DIR instead of --ephemeral");
  }
  if (options.disk_reserve_bytes < 0) {
    return BadOption("--disk-reserve", "is negative", "write it like 256MiB");
  }
  RETURN_IF_ERROR(ReadTimes(times, &options));
  return options;
}

}  // namespace frostline
