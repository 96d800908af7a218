#include "kernels/flatten.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

namespace ringkernel {

namespace {

/// What stands between the quotes of `#include "..."`, if the line is one.
std::optional<std::string_view> included_name(std::string_view line) {
  static constexpr std::string_view blanks = " \t";
  const auto skip_blanks = [&line] {
    line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
  };
  skip_blanks();
  if (!line.starts_with('#')) return std::nullopt;
  line.remove_prefix(1);
  skip_blanks();
  constexpr std::string_view directive = "include";
  if (!line.starts_with(directive)) return std::nullopt;
  line.remove_prefix(directive.size());
  skip_blanks();
  if (!line.starts_with('"')) return std::nullopt;
  line.remove_prefix(1);
  const std::size_t end = line.find('"');
  if (end == std::string_view::npos) return std::nullopt;
  return line.substr(0, end);
}

class Flattener {
 public:
  explicit Flattener(std::span<const KernelSource> sources) : sources_(sources) {}

  [[nodiscard]] const KernelSource* find(std::string_view name) const {
    const auto found = std::ranges::find(sources_, name, &KernelSource::name);
    return found == sources_.end() ? nullptr : &*found;
  }

  Result<void> append(const KernelSource& source) {
    if (!source.name.ends_with(".def") && !taken_.insert(source.name).second) return {};
    mark(1, source.name);
    std::size_t number = 0;
    for (std::size_t begin = 0; begin < source.text.size();) {
      const std::size_t end = std::min(source.text.find('\n', begin), source.text.size());
      const std::string_view line = source.text.substr(begin, end - begin);
      begin = end + 1;
      ++number;
      const std::optional<std::string_view> name = included_name(line);
      if (!name) {
        text_.append(line).push_back('\n');
        continue;
      }
      const KernelSource* included = resolve(source.name, *name);
      if (included == nullptr)
        return Error(Errc::build_failed, std::string(source.name) + ":" + std::to_string(number) +
                                             ": no embedded source \"" + std::string(*name) + "\"");
      RK_TRY_VOID(append(*included));
      mark(number + 1, source.name);
    }
    return {};
  }

  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  void mark(std::size_t line, std::string_view name) {
    text_.append("#line ").append(std::to_string(line)).append(" \"");
    for (const char character : name) {
      if (character == '"' || character == '\\') text_.push_back('\\');
      if (character == '\n')
        text_.append("\\n");
      else
        text_.push_back(character);
    }
    text_.append("\"\n");
  }

  [[nodiscard]] const KernelSource* resolve(std::string_view from, std::string_view name) const {
    const std::filesystem::path folders[] = {std::filesystem::path(from).parent_path(), "kernels",
                                             "include", ""};
    for (const std::filesystem::path& folder : folders)
      if (const KernelSource* found = find((folder / name).lexically_normal().string()))
        return found;
    return nullptr;
  }

  std::span<const KernelSource> sources_;
  std::set<std::string_view> taken_;
  std::string text_;
};

}  // namespace

Result<std::string> flatten(std::span<const KernelSource> sources, std::string_view name) {
  Flattener flattener(sources);
  const KernelSource* top = flattener.find(name);
  if (top == nullptr)
    return Error(Errc::program_not_found, "no embedded source \"" + std::string(name) + "\"");
  RK_TRY_VOID(flattener.append(*top));
  return flattener.take();
}

}  // namespace ringkernel
