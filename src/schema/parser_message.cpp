#include "schema/parser_message.hpp"

#include <flatbuffers/util.h>

#include <regex>
#include <sstream>
#include <string_view>

namespace ringkernel::program {
namespace {

// Of the language's style, which is not ours to judge.
constexpr std::string_view style_warning = "field names should be lowercase snake_case";

}  // namespace

std::string first_reason(const std::string& said, const std::string& file) {
  static const std::regex shape("(.*):([0-9]+): ([0-9]+): (error|warning): (.*)");
  std::istringstream lines(said);
  std::smatch parts;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.find(style_warning) != std::string::npos) continue;
    if (!std::regex_match(line, parts, shape)) return line;
    const std::string where = parts[1] == flatbuffers::AbsolutePath(file) ? file : parts[1].str();
    return where + ":" + parts[2].str() + ":" + parts[3].str() + ": " + parts[5].str();
  }
  return {};
}

}  // namespace ringkernel::program
