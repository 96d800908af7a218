// The same error again is a count, another one a line, and there is an end to the lines.
#include <gtest/gtest.h>

#include <boost/asio/error.hpp>
#include <string>

#include "observe/error_log.hpp"
#include "ringkernel/limits.hpp"

namespace ringkernel::detail {
namespace {

TEST(ErrorLog, CountsTheSameErrorOnce) {
  ErrorLog log;
  log.note("a", Error(Errc::queue_full, "the first"), 10);
  log.note("a", Error(Errc::queue_full, "another text"), 20);
  log.note("b", Error(Errc::queue_full, {}), 30);
  log.note("", Error(Errc::build_failed, "log"), 40);
  const auto records = log.records();
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].kernel, "a");
  EXPECT_EQ(records[0].count, 2u);
  EXPECT_EQ(records[0].first_ns, 10u);
  EXPECT_EQ(records[0].last_ns, 20u);
  EXPECT_EQ(records[0].code, static_cast<int>(Errc::queue_full));
  EXPECT_EQ(records[0].text, Error(Errc::queue_full, "another text").text()) << "the last one's";
  EXPECT_EQ(records[1].kernel, "b");
  EXPECT_EQ(records[1].count, 1u);
  EXPECT_EQ(records[2].kernel, "");
  EXPECT_EQ(log.counts().all, 4u);
  EXPECT_EQ(log.counts().missing, 0u);
}

TEST(ErrorLog, TellsCategoriesApart) {
  ErrorLog log;
  const error_code foreign(static_cast<int>(Errc::queue_full),
                           boost::asio::error::get_system_category());
  log.note("a", Error(Errc::queue_full, {}), 1);
  log.note("a", Error(foreign), 2);
  EXPECT_EQ(log.records().size(), 2u);
}

TEST(ErrorLog, CountsWhatFindsNoPlace) {
  ErrorLog log;
  for (std::size_t i = 0; i < errors_max + 5; ++i)
    log.note("kernel " + std::to_string(i), Error(Errc::queue_full, {}), i);
  log.note("kernel 0", Error(Errc::queue_full, {}), 7777);
  EXPECT_EQ(log.records().size(), errors_max);
  EXPECT_EQ(log.records()[0].count, 2u) << "it had its place";
  EXPECT_EQ(log.counts().all, errors_max + 6);
  EXPECT_EQ(log.counts().missing, 5u);
}

}  // namespace
}  // namespace ringkernel::detail
