#include "program/source_content.hpp"

#include <fstream>
#include <iterator>

namespace ringkernel::program {

Result<std::string> content_of(const Source& source) {
  std::string content = source.content();
  if (source.is_file()) {
    std::ifstream file(source.name(), std::ios::binary);
    content.assign(std::istreambuf_iterator<char>(file), {});
    if (!file.is_open() || file.bad())
      return Error(Errc::invalid_argument, "'" + source.name() + "' cannot be read");
  }
  if (content.size() > source_bytes_max)
    return Error(Errc::invalid_argument, "'" + source.name() + "' has more than " +
                                             std::to_string(source_bytes_max) + " bytes");
  return content;
}

}  // namespace ringkernel::program
