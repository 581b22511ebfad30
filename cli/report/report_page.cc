// SPDX-License-Identifier: Apache-2.0
#include "cli/report/report_page.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "cli/report/trial_figures.h"
#include "cli/view/format.h"
#include "cli/view/importance_view.h"
#include "cli/view/plan_view.h"
#include "cli/view/study_view.h"
#include "cli/view/svg.h"
#include "cli/view/trial_view.h"

namespace frostline::cli {
namespace {

constexpr char kHead[] =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n";

constexpr char kStyle[] =
    "<style>\n"
    "body{font:15px/1.5 system-ui,sans-serif;color:#1f2328;max-width:60rem;"
    "margin:2rem auto;padding:0 1rem}\n"
    "h1{font-size:1.6rem;margin-bottom:.2rem}\n"
    "h2{font-size:1.2rem;border-bottom:1px solid #d1d9e0;margin-top:2rem}\n"
    ".about{color:#59636e;margin:0}\n"
    "figure{margin:1rem 0;overflow-x:auto}\n"
    "figcaption{color:#59636e;font-size:.85rem}\n"
    "svg{max-width:100%;height:auto}\n"
    ".scroll{overflow-x:auto}\n"
    "table{border-collapse:collapse;font-size:.85rem;"
    "font-variant-numeric:tabular-nums}\n"
    "th,td{border:1px solid #d1d9e0;padding:.15rem .5rem;text-align:left}\n"
    "th{background:#f6f8fa}\n"
    "pre{background:#f6f8fa;padding:.7rem;overflow-x:auto;font-size:.8rem}\n"
    "@media print{body{max-width:none;margin:0}h2{break-after:avoid}"
    "figure,tr{break-inside:avoid}thead{display:table-header-group}}\n"
    "</style>\n";

std::string HtmlTable(const ReportTable& table) {
  std::string html = "<div class=\"scroll\"><table>\n<thead><tr>";
  for (const std::string& column : table.columns) {
    absl::StrAppend(&html, "<th>", XmlText(column), "</th>");
  }
  html += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    html += "<tr>";
    for (const std::string& cell : row) {
      absl::StrAppend(&html, "<td>", XmlText(cell), "</td>");
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string HtmlSection(const ReportSection& section) {
  std::string html = absl::StrCat("<h2>", XmlText(section.heading), "</h2>\n");
  for (const std::string& paragraph : section.paragraphs) {
    absl::StrAppend(&html, "<p>", XmlText(paragraph), "</p>\n");
  }
  for (const ReportFigure& figure : section.figures) {
    absl::StrAppend(&html, "<figure>\n", figure.svg, "<figcaption>",
                    XmlText(figure.caption), "</figcaption>\n</figure>\n");
  }
  for (const ReportTable& table : section.tables) html += HtmlTable(table);
  if (!section.verbatim.empty()) {
    html += "<pre>";
    // Line by line: a text's line ends would become blanks.
    for (std::size_t at = 0; at < section.verbatim.size();) {
      const std::size_t end =
          std::min(section.verbatim.find('\n', at), section.verbatim.size());
      absl::StrAppend(&html, XmlText(section.verbatim.substr(at, end - at)),
                      "\n");
      at = end + 1;
    }
    html += "</pre>\n";
  }
  return html;
}

// Escapes "<" only where it begins a tag: before a letter or one of / ! ?.
// Elsewhere it stays, so that the text is readable on a terminal too.
std::string WithoutTags(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char next = i + 1 < text.size() ? text[i + 1] : ' ';
    const bool begins_tag =
        text[i] == '<' &&
        (absl::ascii_isalpha(static_cast<unsigned char>(next)) || next == '/' ||
         next == '!' || next == '?');
    if (begins_tag) {
      plain += "&lt;";
    } else {
      plain += text[i];
    }
  }
  return plain;
}

// Escapes characters that have a meaning in Markdown.
std::string Plain(const std::string& text) {
  return absl::StrReplaceAll(WithoutTags(text), {{"\\", "\\\\"},
                                                 {"`", "\\`"},
                                                 {"*", "\\*"},
                                                 {"_", "\\_"},
                                                 {"[", "\\["},
                                                 {"|", "\\|"},
                                                 {"\n", " "}});
}

std::string MarkdownTable(const ReportTable& table) {
  std::string text = "|";
  std::string rule = "|";
  for (const std::string& column : table.columns) {
    absl::StrAppend(&text, " ", Plain(column), " |");
    rule += " --- |";
  }
  absl::StrAppend(&text, "\n", rule, "\n");
  for (const auto& row : table.rows) {
    text += "|";
    for (const std::string& cell : row) {
      absl::StrAppend(&text, " ", Plain(cell), " |");
    }
    text += "\n";
  }
  return text + "\n";
}

}  // namespace

std::string ToHtml(const ReportPage& page) {
  std::string html =
      absl::StrCat(kHead, "<title>", XmlText(page.title), "</title>\n", kStyle,
                   "</head>\n<body>\n<h1>", XmlText(page.title), "</h1>\n");
  for (const std::string& line : page.lines) {
    absl::StrAppend(&html, "<p class=\"about\">", XmlText(line), "</p>\n");
  }
  for (const ReportSection& section : page.sections) {
    html += HtmlSection(section);
  }
  return html + "</body>\n</html>\n";
}

std::string ToMarkdown(const ReportPage& page, const std::string& figures) {
  std::string text = absl::StrCat("# ", Plain(page.title), "\n\n");
  for (const std::string& line : page.lines) {
    absl::StrAppend(&text, Plain(line), "  \n");
  }
  for (const ReportSection& section : page.sections) {
    absl::StrAppend(&text, "\n## ", Plain(section.heading), "\n\n");
    for (const std::string& paragraph : section.paragraphs) {
      absl::StrAppend(&text, Plain(paragraph), "\n\n");
    }
    for (const ReportFigure& figure : section.figures) {
      if (figures.empty()) continue;
      absl::StrAppend(&text, "![", Plain(figure.caption), "](", figures, "/",
                      figure.name, ".svg)\n\n");
    }
    for (const ReportTable& table : section.tables)
      text += MarkdownTable(table);
    if (!section.verbatim.empty()) {
      absl::StrAppend(&text, "```\n", section.verbatim, "```\n");
    }
  }
  return text;
}

namespace {

// Returns the numbers of the plan's runs; none when something else was run in
// its place.
std::vector<std::string> NumbersOfRuns(
    const v1::PlanVerification& verification) {
  std::vector<std::string> numbers;
  if (verification.rivals().empty()) return numbers;
  const v1::VerifiedRival& first = verification.rivals(0);
  if (first.name() != "plan") return numbers;
  for (const v1::VerifiedRun& run : first.runs()) {
    numbers.push_back(LastPart(run.trial()));
  }
  return numbers;
}

const v1::Trial* FindTrial(const StudyRecord& record,
                           const std::string& number) {
  for (const v1::Trial& trial : record.trials.trials()) {
    if (absl::StrCat(trial.number()) == number) return &trial;
  }
  return nullptr;
}

// Returns the first trial at the point of `run`, by number.
const v1::Trial& FirstAtPointOf(const StudyRecord& record,
                                const v1::Trial& run) {
  const auto& trials = record.trials.trials();
  const std::string point = PointKeyOf(run);
  const auto found = std::find_if(
      trials.begin(), trials.end(),
      [&point](const v1::Trial& trial) { return PointKeyOf(trial) == point; });
  return found == trials.end() ? run : *found;
}

}  // namespace

std::string EarlierPlanWords(const StudyRecord& record) {
  if (!record.plan || !record.verification) return "";
  const auto runs = NumbersOfRuns(*record.verification);
  const v1::Trial* const run =
      runs.empty() ? nullptr : FindTrial(record, runs[0]);
  if (run == nullptr ||
      PointKeyOf(record.plan->as_trial()) == PointKeyOf(*run)) {
    return "";
  }
  const v1::Trial& first = FirstAtPointOf(record, *run);
  const bool is_new = first.number() == run->number();
  return absl::StrCat(
      "the plan as it was, ",
      !is_new ? absl::StrCat("the point of trial ", first.number())
      : runs.size() > 1
          ? absl::StrCat("run as trials ", absl::StrJoin(runs, ", "))
          : absl::StrCat("run as trial ", runs[0]));
}

namespace {

void AddFigure(const char* name, const std::string& caption, std::string svg,
               ReportSection& section) {
  if (svg.empty()) return;
  section.figures.push_back({name, caption, std::move(svg)});
}

bool IsEmpty(const ReportSection& section) {
  return section.paragraphs.empty() && section.figures.empty() &&
         section.tables.empty() && section.verbatim.empty();
}

// Returns "MiniLM on imdb; accuracy, to be maximized"; what is not named is
// left out.
std::string AboutText(const v1::StudySpec& spec) {
  std::vector<std::string> data;
  if (!spec.data().id().empty()) data.push_back(spec.data().id());
  for (const v1::TaskSpec& task : spec.tasks()) {
    data.push_back(absl::StrCat(task.name(), " (", task.data().id(), ")"));
  }
  std::vector<std::string> objectives;
  for (const v1::Objective& objective : spec.objectives()) {
    objectives.push_back(absl::StrCat(
        objective.metric(), objective.direction() == v1::DIRECTION_MINIMIZE
                                ? ", to be minimized"
                                : ", to be maximized"));
  }
  std::string what = spec.model().id();
  if (!data.empty()) {
    absl::StrAppend(&what, what.empty() ? "" : " on ",
                    absl::StrJoin(data, ", "));
  }
  return absl::StrCat(what, what.empty() ? "" : "; ",
                      absl::StrJoin(objectives, "; "));
}

std::vector<std::string> LinesBelowTitle(const StudyRecord& record) {
  const v1::Study& study = record.study;
  std::vector<std::string> lines = {AboutText(study.spec())};
  lines.push_back(absl::StrCat(NameOf(study.state()), ", ", ProgressText(study),
                               ", revision ", study.revision()));
  if (!study.spec().recipe().empty()) {
    lines.push_back(absl::StrCat("recipe ", study.spec().recipe()));
  }
  return lines;
}

// Says which plan was run. If that was an earlier plan, each plan is named as
// what it is.
void SayPlans(const StudyRecord& record,
              const std::function<void(const std::string&)>& say) {
  const std::string earlier = EarlierPlanWords(record);
  const bool changed = !earlier.empty();
  if (record.verification) {
    say(changed
            ? absl::StrCat("Of ", earlier, ": ", record.verification->verdict())
            : record.verification->verdict());
  }
  if (record.plan) {
    say(changed
            ? absl::StrCat("Of the plan as it is now: ", record.plan->verdict())
            : record.plan->verdict());
    say(absl::StrCat(
        "Predicted ", FirstObjective(record).metric(),
        " of that plan: ", WithInterval(record.plan->predicted_score()),
        " over seeds; one run ", NumberInterval(record.plan->one_run()), "."));
  }
}

ReportSection VerdictSection(const StudyRecord& record) {
  ReportSection section = {.heading = "Verdict"};
  const auto say = [&section](const std::string& sentence) {
    if (!sentence.empty()) section.paragraphs.push_back(sentence);
  };
  SayPlans(record, say);
  say(BestTrialSentence(record));
  if (record.importance) say(record.importance->verdict());
  for (const std::string& warning : record.study.warnings()) say(warning);
  if (record.plan) {
    for (const v1::Warning& warning : record.plan->warnings()) {
      say(warning.sentence());
    }
  }
  for (const std::string& sentence : record.missing) say(sentence);
  return section;
}

ReportSection PlanSection(const StudyRecord& record) {
  ReportSection section = {.heading = "What to train, and how fast"};
  if (record.plan) section.tables.push_back(PlanTable(*record.plan));
  if (record.verification) {
    v1::PlanVerification told = *record.verification;
    if (const std::string earlier = EarlierPlanWords(record);
        !earlier.empty()) {
      told.set_verdict(absl::StrCat("of ", earlier, ": ", told.verdict()));
    }
    section.verbatim = RenderVerificationInShort(told, kVerbatimWidth);
  }
  return section;
}

ReportSection ImportanceSection(const StudyRecord& record) {
  ReportSection section = {.heading = "What mattered"};
  if (!record.importance) return section;
  AddFigure("importance",
            "Share of the variance that each module explains, with its 80 and "
            "95 % intervals.",
            ImportanceSvg(*record.importance), section);
  section.tables.push_back(ImportanceTable(*record.importance));
  return section;
}

ReportSection FrontierSection(const StudyRecord& record) {
  ReportSection section = {.heading = "The least to train"};
  if (!record.frontier) return section;
  section.paragraphs.push_back(record.frontier->verdict());
  AddFigure("frontier", "Predicted score of each set of trained modules.",
            FrontierSvg(*record.frontier), section);
  section.tables.push_back(FrontierTable(*record.frontier));
  return section;
}

ReportSection TrialsSection(const StudyRecord& record) {
  ReportSection section = {.heading = "Trials"};
  AddFigure("rates", "The rate of every module in every trial.",
            RateMapSvg(record), section);
  AddFigure("trade-off",
            "Score against trained parameters and against seconds.",
            TradeOffSvg(record), section);
  AddFigure("curves", "Learning curves of the best trials.", CurvesSvg(record),
            section);
  if (!record.trials.trials().empty()) {
    section.tables.push_back(TrialsTable(record));
  }
  return section;
}

ReportSection FreezingSection(const StudyRecord& record) {
  ReportSection section = {.heading = "What training did to each module"};
  ReportTable table = FreezingTable(record);
  if (table.rows.empty()) return section;
  section.paragraphs.push_back(absl::StrCat(
      "Trial ", ByScore(record).front()->number(),
      ", the best one. Lengths are shares of the module's weights before "
      "training; a frozen module has not changed by a single bit."));
  section.tables.push_back(std::move(table));
  return section;
}

ReportSection CostSection(const StudyRecord& record) {
  return {.heading = "What it cost",
          .verbatim = UsageLines(record.study.usage())};
}

ReportSection HowSection(const StudyRecord& record) {
  const v1::StudySpec& spec = record.study.spec();
  ReportSection section = {.heading = "How it was made"};
  std::string text = KeyLine("sampler", record.study.resolved_sampler().empty()
                                            ? spec.sampler().name()
                                            : record.study.resolved_sampler());
  text += KeyLine("seed", absl::StrCat(spec.seed()));
  for (const v1::Trial& trial : record.trials.trials()) {
    if (trial.usage().software().empty()) continue;
    text += KeyLine("trainer", trial.usage().software());
    text += KeyLine("device", trial.usage().device());
    text += KeyLine("precision", trial.usage().precision());
    break;
  }
  if (record.importance) {
    text +=
        KeyLine("evaluator",
                absl::StrCat(record.importance->options().evaluator(),
                             ", seed ", record.importance->options().seed()));
  }
  section.verbatim = std::move(text);
  return section;
}

}  // namespace

ReportPage ComposeReport(const StudyRecord& record) {
  ReportPage page;
  page.title = absl::StrCat("Study ", LastPart(record.study.name()));
  page.lines = LinesBelowTitle(record);
  for (ReportSection section :
       {VerdictSection(record), PlanSection(record), ImportanceSection(record),
        FrontierSection(record), TrialsSection(record), FreezingSection(record),
        CostSection(record), HowSection(record)}) {
    if (!IsEmpty(section)) page.sections.push_back(std::move(section));
  }
  return page;
}

}  // namespace frostline::cli
