#include "check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <regex>
#include <utility>

#include "findings.hpp"
#include "ringkernel/protocol/fault.h"
#include "runs.hpp"
#include "traffic.hpp"

namespace rkc {

namespace {

using ringkernel::Errc;
using ringkernel::Error;
using ringkernel::Result;
using ringkernel::program::Definition;

/// Of a message's fields, as many as a person reads.
constexpr std::size_t shown_bytes_max = 400;
constexpr const char* oclgrind_has_enough = "suppressing further errors";

std::string count_of(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// JSON with the first elements of each array.
std::string shortened(const std::string& json) {
  constexpr std::size_t elements_max = 4;
  std::string text;
  std::vector<std::size_t> elements;  // of the arrays that are open; 0 for an object
  std::size_t hidden = 0;             // how many are open, where the first hidden one began
  bool is_string = false;
  for (const char c : json) {
    if (c == '"') is_string = !is_string;
    if (!is_string && (c == ']' || c == '}')) {
      if (hidden == elements.size()) hidden = 0;
      elements.pop_back();
    }
    const bool is_comma = !is_string && c == ',' && !elements.empty() && elements.back() != 0;
    if (is_comma && ++elements.back() > elements_max && hidden == 0) {
      text += ", ...";
      hidden = elements.size();
    }
    if (hidden == 0) text += c;
    if (!is_string && (c == '[' || c == '{')) elements.push_back(c == '[' ? 1 : 0);
  }
  return text;
}

std::string outcome_text(const rk_check_result& result) {
  if (result.outcome == RK_FAULT_NONE) return "a reply";
  if (result.outcome == RK_FAULT_malformed_request) return "malformed_request";
  if (result.outcome > RK_FAULT_HANDLER_BASE)
    return fmt::format("fault {} with detail {}", result.outcome - RK_FAULT_HANDLER_BASE,
                       result.fault_detail);
  return fmt::format("{}, which is neither RK_OK nor a fault of 1 to 65535",
                     result.outcome == RK_FAULT_bad_outcome ? result.fault_detail : result.outcome);
}

bool is_of_handlers(const rk_check_result& result) {
  return result.outcome == RK_FAULT_NONE || result.outcome == RK_FAULT_malformed_request ||
         result.outcome > RK_FAULT_HANDLER_BASE;
}

/// One check, from the messages to the report.
class Check {
 public:
  Check(const Definition& program, const std::string& source, const std::string& handlers,
        const CheckOptions& options, Traffic traffic)
      : program_(program),
        source_(source),
        handlers_(handlers),
        options_(options),
        traffic_(std::move(traffic)) {}

  Result<CheckReport> run() {
    RK_TRY(runs, Runs::make(options_.seconds));
    RK_TRY(natively, runs.natively(program_, traffic_.messages()));
    take(natively, "natively", &Check::of_sanitizers);
    for (std::size_t i = 0; i < natively.outcomes.size(); ++i) judge(i, natively.outcomes[i]);
    count_outcomes(natively.outcomes);
    has_oclgrind_ = !runs.oclgrind().empty();
    if (has_oclgrind_) {
      for (const unsigned lanes : options_.lanes) {
        const std::string name = "with " + count_of(lanes, "lane");
        RK_TRY(ran, runs.with_lanes(program_, lanes, traffic_.messages(), natively.outcomes));
        take(ran, name, &Check::of_oclgrind);
        for (std::size_t i = 0; i < ran.outcomes.size(); ++i)
          // Migrations are run with one lane.
          if (lanes == 1 || !traffic_.is_migration(i))
            compare(i, natively.outcomes[i], ran.outcomes[i], name);
      }
    }
    return report();
  }

 private:
  using Complaints = std::vector<Complaint>;

  [[nodiscard]] Complaints of_sanitizers(std::string_view words) const {
    return sanitizer_complaints(words, source_);
  }
  [[nodiscard]] Complaints of_oclgrind(std::string_view words) const {
    return oclgrind_complaints(words, source_);
  }

  void take(const Ran& ran, const std::string& name,
            Complaints (Check::*read)(std::string_view) const) {
    for (const Words& words : by_message(ran.log))
      for (Complaint complaint : (this->*read)(words.text)) {
        // What handlers call is ours, and its lines tell them little.
        if (!complaint.place.starts_with(source_ + ":")) {
          if (!complaint.place.empty()) complaint.what += " in " + complaint.place;
          complaint.place = place_of(words.message);
        }
        findings_.add(words.message, name, complaint);
      }
    if (ran.log.find(oclgrind_has_enough) != std::string::npos)
      notes_.push_back(name + ": Oclgrind has said no more after the first 20000 reports");
    if (!ran.died) return;
    const std::size_t last = ran.outcomes.size();
    if (last >= traffic_.messages().size()) return;
    const bool is_told = std::ranges::any_of(findings_.all(), [&](const Finding& finding) {
      return std::ranges::find(finding.messages, last) != finding.messages.end();
    });
    if (!is_told) findings_.add(last, name, {.place = place_of(last), .what = *ran.died});
    notes_.push_back(fmt::format("{}: {}, message {}, {}; {} after it were not run", name,
                                 traffic_.handler(last), last, *ran.died,
                                 count_of(traffic_.messages().size() - last - 1, "message")));
  }

  void count_outcomes(const std::vector<Outcome>& outcomes) {
    const auto count = [&](auto is_one) {
      return std::ranges::count_if(outcomes, is_one,
                                   [](const Outcome& outcome) { return outcome.result.outcome; });
    };
    outcomes_ = fmt::format(
        "replies: {}, faults: {}, malformed: {}",
        count([](std::uint32_t outcome) { return outcome == RK_FAULT_NONE; }),
        count([](std::uint32_t outcome) { return outcome > RK_FAULT_HANDLER_BASE; }),
        count([](std::uint32_t outcome) { return outcome == RK_FAULT_malformed_request; }));
  }

  /// Whether the message's handler has shown a mistake that may be why results differ. With other
  /// messages, too: sanitizers tell some mistakes once.
  [[nodiscard]] bool has_cause(std::size_t message) const {
    return std::ranges::any_of(findings_.all(), [&](const Finding& finding) {
      return !finding.is_difference &&
             traffic_.handler(finding.message) == traffic_.handler(message);
    });
  }

  /// What the runtime would send.
  void judge(std::size_t message, const Outcome& outcome) {
    const auto complain = [&](std::string what) {
      findings_.add(message, "natively", {.place = place_of(message), .what = std::move(what)});
    };
    if (!is_of_handlers(outcome.result))
      complain(fmt::format("returns {}", outcome_text(outcome.result)));
    if (outcome.result.outcome == RK_FAULT_NONE && !has_cause(message) &&
        !traffic_.is_reply(message, outcome.reply))
      complain(
          fmt::format("spoils its reply, which is no {} any more", traffic_.method(message).reply));
  }

  void compare(std::size_t message, const Outcome& one, const Outcome& other,
               const std::string& name) {
    if (has_cause(message)) return;
    const std::optional<std::string> difference = difference_of(message, one, other);
    if (!difference) return;
    findings_.add(message, name,
                  {.place = place_of(message),
                   .what = "the result is not that of the native run: " + *difference,
                   .is_difference = true});
  }

  [[nodiscard]] std::optional<std::string> difference_of(std::size_t message, const Outcome& one,
                                                         const Outcome& other) const {
    if (one.result.outcome != other.result.outcome ||
        one.result.fault_detail != other.result.fault_detail)
      return fmt::format("{} and {}", outcome_text(one.result), outcome_text(other.result));
    if (one.state != other.state)
      if (const auto field = traffic_.state_fields(message).difference(one.state, other.state))
        return "state->" + *field;
    if (one.result.outcome == RK_FAULT_NONE && one.reply != other.reply)
      if (const auto field = traffic_.reply_fields(message).difference(one.reply, other.reply))
        return "reply->" + *field;
    return std::nullopt;
  }

  /// Where the message's handler begins.
  [[nodiscard]] std::string place_of(std::size_t message) const {
    const std::string& behaviour = traffic_.behaviour(message).name;
    const std::regex shape(traffic_.is_migration(message)
                               ? fmt::format("RK_MIGRATE\\s*\\(\\s*{}\\s*\\)", behaviour)
                               : fmt::format("RK_ON\\s*\\(\\s*{}\\s*,\\s*{}\\s*\\)", behaviour,
                                             traffic_.method(message).name));
    std::smatch found;
    if (!std::regex_search(handlers_, found, shape)) return source_;
    const auto line = 1 + std::count(handlers_.begin(), found[0].first, '\n');
    return fmt::format("{}:{}", source_, line);
  }

  [[nodiscard]] std::string text_of(const Finding& finding) const {
    std::string shown = shortened(traffic_.shown(finding.message));
    if (shown.size() > shown_bytes_max) shown = shown.substr(0, shown_bytes_max) + " ...";
    std::string text = fmt::format("{}: {} ({})\n  {}, message {}: {}\n", finding.place,
                                   finding.what, fmt::join(finding.runs, ", "),
                                   traffic_.handler(finding.message), finding.message, shown);
    if (finding.messages.size() > 1)
      text += fmt::format("  and {}\n", count_of(finding.messages.size() - 1, "more message"));
    return text;
  }

  [[nodiscard]] std::string summary() const {
    std::size_t handlers = 0;
    for (const auto& behaviour : traffic_.plan().behaviours) handlers += behaviour.methods.size();
    for (const int old_state : traffic_.plan().old_states) handlers += old_state >= 0 ? 1 : 0;
    std::vector<std::string> runs{"natively"};
    if (has_oclgrind_)
      runs.push_back(fmt::format("with {} lanes on Oclgrind", fmt::join(options_.lanes, ", ")));
    const std::size_t found = findings_.all().size();
    return fmt::format("{}: {} in {}, {}\n  {} of seed {} ({})\n", source_,
                       found == 0 ? "nothing found" : count_of(found, "finding"),
                       count_of(handlers, "handler"), fmt::join(runs, " and "),
                       count_of(traffic_.messages().size(), "message"), options_.seed, outcomes_);
  }

  [[nodiscard]] CheckReport report() const {
    CheckReport report{.text = {}, .is_clean = findings_.all().empty()};
    std::vector<const Finding*> sorted;
    for (const Finding& finding : findings_.all()) sorted.push_back(&finding);
    std::ranges::stable_sort(sorted, {}, &Finding::message);
    for (const Finding* const finding : sorted) report.text += text_of(*finding);
    if (std::ranges::any_of(findings_.all(), [](const Finding& finding) {
          return finding.what.starts_with("data race");
        }))
      report.text +=
          "One lane writes what there is once, as state and reply: if (rk_leads(self)) ...\n";
    for (const std::string& note : notes_) report.text += note + "\n";
    report.text += summary();
    if (!has_oclgrind_)
      report.text +=
          "Oclgrind is not installed: data races, barriers, uninitialised values and numbers of "
          "lanes were not checked (Debian: apt install oclgrind)\n";
    return report;
  }

  const Definition& program_;
  const std::string& source_;
  const std::string& handlers_;
  const CheckOptions& options_;
  Traffic traffic_;
  Findings findings_;
  std::vector<std::string> notes_;
  std::string outcomes_;  ///< of the native run
  bool has_oclgrind_ = false;
};

}  // namespace

Result<CheckReport> check(const ringkernel::ProgramDesc& program, const Definition& made,
                          const CheckOptions& options) {
  RK_TRY_VOID(made.check_handlers());
  RK_TRY(traffic, Traffic::make(program.schema, options.seed, options.count));
  return Check(made, program.source.name(), program.source.content(), options, std::move(traffic))
      .run();
}

}  // namespace rkc
