// Texts of the corpus, each changed many times from a fixed seed: read, or refused with a reason.
// MLIR itself reads them first, so the changes are small enough that many get past it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "mlir/corpus.hpp"
#include "ringkernel/mlir.hpp"
#include "support/skip.hpp"

namespace ringkernel::mlir::test {
namespace {

/// Changes numbers, and has lines twice. Names and signs stay: where these are wrong the parsers of
/// MLIR 19 and 22 may use memory that they have freed, or a null pointer.
class TextMutator {
 public:
  std::string mutate(const std::string& text) {
    std::vector<std::string> words = words_of(text);
    for (std::size_t edits = 1 + below(2); edits > 0; --edits) edit(words);
    std::string changed;
    for (const std::string& word : words) changed += word;
    return changed;
  }

 private:
  static bool is_digit(char letter) {
    return std::isdigit(static_cast<unsigned char>(letter)) != 0;
  }
  static bool is_letter(char letter) {
    return std::isalpha(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '.';
  }

  /// Names, among them those of values with their sign; runs of digits; single characters.
  static std::vector<std::string> words_of(const std::string& text) {
    std::vector<std::string> words;
    for (std::size_t i = 0; i < text.size();) {
      std::size_t end = i + 1;
      if (is_digit(text[i]))
        while (end < text.size() && is_digit(text[end])) ++end;
      else if (is_letter(text[i]) ||
               std::string_view("%#^@").find(text[i]) != std::string_view::npos)
        while (end < text.size() && (is_letter(text[end]) || is_digit(text[end]))) ++end;
      words.push_back(text.substr(i, end - i));
      i = end;
    }
    return words;
  }

  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : random_() % bound; }

  /// The first word from there on that begins so.
  static std::size_t next(const std::vector<std::string>& words, std::size_t at,
                          bool (*begins)(char)) {
    for (std::size_t i = 0; i < words.size() && !begins(words[at][0]); ++i)
      at = (at + 1) % words.size();
    return at;
  }

  void edit(std::vector<std::string>& words) {
    if (words.empty()) return;
    std::size_t at = below(words.size());
    if (below(4) == 0) {
      double_line(words, at);
    } else {
      at = next(words, at, is_digit);
      words[at] = std::to_string(below(8));
    }
  }

  /// Has it twice.
  static void double_line(std::vector<std::string>& words, std::size_t at) {
    const auto middle = words.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end = std::find(middle, words.end(), "\n");
    const auto begin =
        std::find(std::make_reverse_iterator(middle), words.rend(), std::string("\n")).base();
    std::vector<std::string> line(begin, end);
    line.insert(line.begin(), "\n");
    words.insert(end, line.begin(), line.end());
  }

  std::mt19937_64 random_{0x6d6c'6972};
};

TEST(MlirMutations, AreReadOrRefusedWithAReason) {
  const auto library = find_library();
  if (!library) RK_SKIP_WITHOUT("mlir", "none is found");
  constexpr std::size_t mutations_per_text = 40;
  TextMutator mutator;
  std::size_t known = 0;
  std::size_t past_mlir = 0;
  for (const std::string& name : corpus_names()) {
    // With other numbers, the passes of MLIR 19 that take TOSA apart use a null pointer.
    if (!is_for(name, library->major) || name.starts_with("tosa_")) continue;
    std::string text = corpus_file(name).text;
    text.resize(std::min(text.find("\n// in "), text.size()));
    for (std::size_t i = 0; i < mutations_per_text; ++i) {
      const std::string changed = mutator.mutate(text);
      SCOPED_TRACE(changed);
      Diagnostics told;
      const auto graph = read(changed, {.diagnostics = &told});
      known += graph ? 1 : 0;
      if (graph) continue;
      past_mlir += graph.error().code == Errc::unsupported_operation ? 1 : 0;
      ASSERT_FALSE(graph.error().detail.empty());
    }
  }
  EXPECT_GT(known, 100u);
  EXPECT_GT(past_mlir, 0u);
}

}  // namespace
}  // namespace ringkernel::mlir::test
