#include "findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <regex>

#include "harness/record.h"

namespace rkc {

namespace {

/// Takes the next line, without its end.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

using Match = std::match_results<std::string_view::const_iterator>;

bool matches(std::string_view line, Match& parts, const std::regex& shape) {
  return std::regex_search(line.begin(), line.end(), parts, shape);
}

std::string file_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// AddressSanitizer's kinds of memory that has an end.
bool is_overflow(const std::string& kind) {
  return kind.ends_with("-overflow") && kind != "stack-overflow";
}

/// One report of AddressSanitizer, from the line that says what it is of.
Complaint address_complaint(const std::string& kind, std::string_view& words,
                            const std::string& source) {
  static const std::regex access("^(READ|WRITE) of size ([0-9]+)");
  static const std::regex frame("^ +#[0-9]+ 0x[0-9a-f]+ (?:in .* )?([^ :]+):([0-9]+)");
  Complaint complaint{.place = {}, .what = kind};
  bool is_users = false;
  Match parts;
  while (!words.empty()) {
    const std::string_view line = take_line(words);
    if (matches(line, parts, access)) {
      const bool is_read = parts[1] == "READ";
      complaint.what = fmt::format("{} {} bytes {}", is_read ? "reads" : "writes", parts[2].str(),
                                   is_overflow(kind) ? "out of bounds" : "of " + kind);
    } else if (matches(line, parts, frame) && !is_users) {
      const std::string file = file_of(parts[1].str());
      is_users = file == source;
      if (is_users || complaint.place.empty())
        complaint.place = fmt::format("{}:{}", file, parts[2].str());
    } else if (line.empty()) {
      break;  // the first stack is whole
    }
  }
  return complaint;
}

constexpr std::string_view missed_barrier = "not all lanes reach this barrier";

/// What Oclgrind says, in our words.
std::string oclgrind_words(std::string_view headline) {
  static const std::regex access("^Invalid (read|write) of size ([0-9]+)");
  Match parts;
  if (matches(headline, parts, access))
    return fmt::format("{}s {} bytes out of bounds", parts[1].str(), parts[2].str());
  if (headline.find("data race") != std::string_view::npos)
    return headline.starts_with("Read") ? "data race: one lane reads what another writes"
                                        : "data race: several lanes write the same place";
  if (headline.find("divergence") != std::string_view::npos) return std::string(missed_barrier);
  if (headline.starts_with("Controlflow depends on uninit"))
    return "a branch depends on an uninitialised value";
  if (headline.starts_with("Uninitialized value written"))
    return "an uninitialised value is written";
  if (headline.starts_with("Uninitialized address"))
    return "an uninitialised value is an address, or an index";
  // Addresses differ from run to run.
  return std::string(headline.substr(0, headline.find(" address 0x")));
}

/// Whether the line begins a report of Oclgrind's: what belongs to one is indented. It also says
/// how many there are.
bool begins_report(std::string_view line) {
  return !line.empty() && line.front() != '\t' && line.front() != ' ' &&
         !line.starts_with("Oclgrind:");
}

}  // namespace

void Findings::add(std::size_t message, const std::string& run, const Complaint& complaint) {
  // Numbers differ from message to message: "signed integer overflow: 2147483647 + 1 ...".
  const auto kind = [](const Complaint& of) { return of.what.substr(0, of.what.find(": ")); };
  const auto same = [&](const Finding& finding) {
    return finding.place == complaint.place && kind(finding) == kind(complaint);
  };
  auto found = std::ranges::find_if(all_, same);
  if (found == all_.end()) {
    all_.push_back({complaint, message, {}, {}});
    found = std::prev(all_.end());
  }
  if (std::ranges::find(found->runs, run) == found->runs.end()) found->runs.push_back(run);
  if (std::ranges::find(found->messages, message) == found->messages.end())
    found->messages.push_back(message);
}

std::vector<Complaint> sanitizer_complaints(std::string_view words, const std::string& source) {
  static const std::regex undefined("^([^ ]+):([0-9]+):[0-9]+: runtime error: (.*)$");
  static const std::regex address("ERROR: AddressSanitizer: ([^ ]+)");
  std::vector<Complaint> complaints;
  Match parts;
  while (!words.empty()) {
    const std::string_view line = take_line(words);
    if (matches(line, parts, undefined))
      complaints.push_back({.place = fmt::format("{}:{}", file_of(parts[1].str()), parts[2].str()),
                            .what = parts[3].str()});
    else if (matches(line, parts, address))
      complaints.push_back(address_complaint(parts[1].str(), words, source));
  }
  return complaints;
}

std::vector<Complaint> oclgrind_complaints(std::string_view words, const std::string& source) {
  static const std::regex place("^\tAt line ([0-9]+) \\(column [0-9]+\\) of (.*):$");
  std::vector<Complaint> complaints;
  bool is_users = false;  // the place of the last one
  Match parts;
  while (!words.empty()) {
    const std::string_view line = take_line(words);
    if (begins_report(line)) {
      // Lanes that have missed each other once go on doing so.
      if (!complaints.empty() && complaints.back().what.starts_with(missed_barrier)) break;
      complaints.push_back({.place = {}, .what = oclgrind_words(line)});
      is_users = false;
    } else if (!complaints.empty() && matches(line, parts, place)) {
      const std::string file = file_of(parts[2].str());
      std::string at = fmt::format("{}:{}", file, parts[1].str());
      Complaint& last = complaints.back();
      if (!is_users && file == source) std::swap(last.place, at);
      is_users = is_users || file == source;
      if (last.place.empty()) std::swap(last.place, at);
      if (!at.empty() && at != last.place) last.what += ": the other place is " + at;
    }
  }
  return complaints;
}

std::vector<Words> by_message(std::string_view log) {
  constexpr std::string_view mark = RK_CHECK_MARK;
  std::vector<Words> all;
  for (std::size_t at = log.find(mark); at != std::string_view::npos;) {
    std::size_t next = log.find(mark, at + mark.size());
    std::string_view text = log.substr(at + mark.size(), next - at - mark.size());
    std::size_t message = 0;
    const std::string_view number = take_line(text);
    std::from_chars(number.data(), number.data() + number.size(), message);
    all.push_back({message, text});
    at = next;
  }
  return all;
}

}  // namespace rkc
