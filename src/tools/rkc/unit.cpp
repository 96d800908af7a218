#include "unit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "program/emission.hpp"

namespace rkc {

namespace {

/// The headers of the system that are included: those of rk_actor.h, and the user's. They have to
/// come before a namespace is opened; where they stand in the text they are empty then.
std::set<std::string_view> system_headers(std::string_view text) {
  std::set<std::string_view> headers{"<stddef.h>", "<stdint.h>"};
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (!line.starts_with('#')) continue;
    line.remove_prefix(1);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (!line.starts_with("include")) continue;
    const std::size_t begin = line.find('<');
    const std::size_t behind = line.find('>');
    if (begin < behind && behind != std::string_view::npos)
      headers.insert(line.substr(begin, behind - begin + 1));
  }
  return headers;
}

}  // namespace

std::string hosted_unit(const ringkernel::program::Definition& definition,
                        std::string_view handlers) {
  const std::string& text = definition.hosted_text();
  std::string unit = fmt::format("// text_hash 0x{:016x}\n// Written by rkc: the program '{}'.\n",
                                 definition.text_hash(), definition.name());
  unit += "#if defined(RK_HOSTED_NAMESPACE)\n";
  for (const std::string_view header : system_headers(handlers))
    unit += fmt::format("#if __has_include({0})\n#include {0}\n#endif\n", header);
  unit += "namespace RK_HOSTED_NAMESPACE {\n#endif\n";
  // Beside the compiler's words, which come with no remedy. A warning: a scan may be wrong.
  for (const auto& [file, line, remedy] : definition.reply_mistakes())
    unit +=
        fmt::format("#line {} {}\n#warning {}\n", line, ringkernel::program::quoted(file), remedy);
  unit += text;
  unit += "\n#if defined(RK_HOSTED_NAMESPACE)\n}\n#endif\n";
  return unit;
}

}  // namespace rkc
