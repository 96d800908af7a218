#include "kernels/flatten.hpp"

#include <gmock/gmock.h>

#include <array>
#include <string>

namespace ringkernel {
namespace {

using testing::HasSubstr;
using testing::Not;

std::size_t occurrences(const std::string& text, const std::string& piece) {
  std::size_t count = 0;
  for (std::size_t at = text.find(piece); at != std::string::npos; at = text.find(piece, at + 1))
    ++count;
  return count;
}

TEST(Flatten, KeepsANameThatIsNoneForAString) {
  const std::array<KernelSource, 1> sources = {{{"C:\\a \"b\"\n.cl", "text\n"}}};
  const auto text = flatten(sources, sources[0].name);
  ASSERT_TRUE(text.has_value()) << text.error().text();
  EXPECT_EQ(*text, "#line 1 \"C:\\\\a \\\"b\\\"\\n.cl\"\ntext\n");
}

TEST(Flatten, PutsTheIncludedTextWhereTheDirectiveStood) {
  const std::array<KernelSource, 2> sources = {{
      {"kernels/a.cl", "first\n  #  include \"b.h\"\nlast\n"},
      {"kernels/b.h", "middle\n"},
  }};
  const auto text = flatten(sources, "kernels/a.cl");
  ASSERT_TRUE(text.has_value()) << text.error().text();
  EXPECT_EQ(*text,
            "#line 1 \"kernels/a.cl\"\nfirst\n"
            "#line 1 \"kernels/b.h\"\nmiddle\n"
            "#line 3 \"kernels/a.cl\"\nlast\n");
}

TEST(Flatten, LooksBesideTheIncludingFileThenInTheRoots) {
  const std::array<KernelSource, 5> sources = {{
      {"kernels/programs/p.cl",
       "#include \"near.h\"\n#include \"../far.h\"\n#include \"root.h\"\n"
       "#include \"ringkernel/protocol/abi.h\"\n"},
      {"kernels/programs/near.h", "near\n"},
      {"kernels/far.h", "far\n"},
      {"kernels/root.h", "root\n"},
      {"include/ringkernel/protocol/abi.h", "abi\n"},
  }};
  const auto text = flatten(sources, "kernels/programs/p.cl");
  ASSERT_TRUE(text.has_value()) << text.error().text();
  for (const char* word : {"near\n", "far\n", "root\n", "abi\n"})
    EXPECT_THAT(*text, HasSubstr(word));
  EXPECT_THAT(*text, Not(HasSubstr("#include")));
}

TEST(Flatten, TakesAHeaderOnceAndATableEveryTime) {
  const std::array<KernelSource, 3> sources = {{
      {"kernels/a.cl",
       "#include \"h.h\"\n#include \"h.h\"\n#include \"t.def\"\n#include \"t.def\"\n"},
      {"kernels/h.h", "header\n"},
      {"kernels/t.def", "table\n"},
  }};
  const auto text = flatten(sources, "kernels/a.cl");
  ASSERT_TRUE(text.has_value()) << text.error().text();
  EXPECT_EQ(occurrences(*text, "header\n"), 1u);
  EXPECT_EQ(occurrences(*text, "table\n"), 2u);
}

TEST(Flatten, LeavesSystemHeadersToTheCompiler) {
  const std::array<KernelSource, 1> sources = {{{"kernels/a.cl", "#include <atomic>\n"}}};
  const auto text = flatten(sources, "kernels/a.cl");
  ASSERT_TRUE(text.has_value()) << text.error().text();
  EXPECT_THAT(*text, HasSubstr("#include <atomic>"));
}

TEST(Flatten, NamesTheLineOfAMissingInclude) {
  const std::array<KernelSource, 1> sources = {{{"kernels/a.cl", "\n#include \"gone.h\"\n"}}};
  const auto text = flatten(sources, "kernels/a.cl");
  ASSERT_FALSE(text.has_value());
  EXPECT_TRUE(text.error() == Errc::build_failed);
  EXPECT_THAT(text.error().detail, HasSubstr("kernels/a.cl:2: no embedded source \"gone.h\""));
}

TEST(Flatten, RefusesAnUnknownProgram) {
  const auto text = flatten(kernel_sources(), "kernels/programs/nobody.cl");
  ASSERT_FALSE(text.has_value());
  EXPECT_TRUE(text.error() == Errc::program_not_found);
}

TEST(Flatten, ResolvesEveryEmbeddedProgram) {
  for (const KernelSource& source : kernel_sources()) {
    if (!source.name.ends_with(".cl")) continue;
    const auto text = flatten(kernel_sources(), source.name);
    EXPECT_TRUE(text.has_value()) << source.name << ": " << text.error().text();
  }
}

}  // namespace
}  // namespace ringkernel
