// The program of examples/order_book, of a string, of files, and as CMake built it: a stream of
// orders gets the same replies, byte for byte, everywhere.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "book_generated.h"
#include "exchange_book_program.hpp"
#include "ringkernel/typed.hpp"
#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

RK_ON_EACH_BACKEND(OrderBook);

std::string all_of_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// What an actor of the program answers, in a line: the reply's bytes, or the error.
std::string replay(RingKernelRuntime& runtime, ProgramDesc program, const char* name) {
  constexpr std::uint32_t orders = 3000;
  program.name = name;
  const auto added = runtime.add_program(program);
  if (!added) return added.error().text();
  Kernel book = runtime.launch(name, {.program = name, .auto_activate = true}).value();
  std::mt19937 random(7);  // NOLINT: the same stream each time
  flatbuffers::FlatBufferBuilder builder;
  std::string answers;
  for (std::uint32_t id = 1; id <= orders; ++id) {
    builder.Clear();
    const bool is_cancel = id % 7 == 0;  // mostly of what is filled
    const std::uint32_t price = 246 + static_cast<std::uint32_t>(random() % 20);
    if (is_cancel) {
      builder.Finish(exchange::CreateTicket(builder, id - 1 - random() % 4, price));
    } else {
      const auto side = random() % 2 == 0 ? exchange::Side::Buy : exchange::Side::Sell;
      const auto quantity = static_cast<std::uint32_t>(random() % 100);  // 0 is a fault
      builder.Finish(exchange::CreateOrder(builder, id, side, price, quantity));
    }
    const std::span bytes(reinterpret_cast<const std::byte*>(builder.GetBufferPointer()),
                          builder.GetSize());
    const auto reply = book.call(Message(is_cancel ? "Cancel" : "Submit", bytes));
    if (reply)
      answers.append(reinterpret_cast<const char*>(reply->bytes().data()), reply->bytes().size());
    else if (reply.error() == Errc::handler_fault)
      answers += "fault " + std::to_string(reply.error().fault_code) + ", " +
                 std::to_string(reply.error().fault_detail);
    else
      return reply.error().text();
  }
  return answers;
}

TEST_P(OrderBook, OfAStringOfFilesAndOfCMakeAnswersTheSameBytes) {
  auto reference = open_on(host_backend()).value();
  const std::string expected = replay(reference, exchange_book_program(), "built");
  EXPECT_GT(expected.size(), 100'000u) << expected;
  EXPECT_NE(expected.find("fault 1, "), std::string::npos);
  EXPECT_NE(expected.find("fault 3, "), std::string::npos);
  auto runtime = open();
  EXPECT_TRUE(replay(runtime, exchange_book_program(), "built") == expected);
  const ProgramDesc of_string{.name = {},
                              .source = Source::text("book.rk.cl", all_of_file(RK_BOOK_SOURCE)),
                              .schema = Schema::binary("book.fbs", all_of_file(RK_BOOK_SCHEMA))};
  EXPECT_TRUE(replay(runtime, of_string, "of_string") == expected);
  const ProgramDesc of_files{
      .name = {}, .source = Source::file(RK_BOOK_SOURCE), .schema = Schema::file(RK_BOOK_SCHEMA)};
  EXPECT_TRUE(replay(runtime, of_files, "of_files") == expected);
}

}  // namespace
}  // namespace ringkernel::test
