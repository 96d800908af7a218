// order_book: 64 limit order books, an actor each, which a stream of orders goes through. The same
// books behind mutexes run beside them.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "book_generated.h"
#include "exchange_program.hpp"
#include "plain_book.hpp"
#include "ringkernel/ringkernel.hpp"
#include "ringkernel/typed.hpp"

namespace rk = ringkernel;

namespace {

constexpr std::size_t symbols = 64;

struct Order {
  std::size_t symbol;
  std::uint64_t id;
  exchange::Side side;
  std::uint32_t price;
  std::uint32_t quantity;
};

/// Buyers ask for a little more than sellers, so that most orders trade soon.
std::vector<Order> make_stream(std::size_t count) {
  std::mt19937 random(7);  // NOLINT: the same stream each time
  std::vector<Order> stream(count);
  for (std::size_t i = 0; i < count; ++i) {
    const bool buys = random() % 2 == 0;
    stream[i] = {random() % symbols, i + 1, buys ? exchange::Side::Buy : exchange::Side::Sell,
                 static_cast<std::uint32_t>((buys ? 250 : 246) + random() % 16),
                 static_cast<std::uint32_t>(1 + random() % 100)};
  }
  return stream;
}

/// What single orders took.
class Times {
 public:
  void add(std::chrono::nanoseconds time) { ns_.push_back(time.count()); }
  void print(const char* who) {
    std::sort(ns_.begin(), ns_.end());
    std::cout << who << ": p50 " << ns_[ns_.size() / 2] << " ns, p99 " << ns_[ns_.size() * 99 / 100]
              << " ns an order\n";
  }

 private:
  std::vector<std::int64_t> ns_;
};

/// The error ends the program.
template <class T>
T value_of(rk::Result<T> result) {
  if (result) return *std::move(result);
  std::cerr << "order_book: " << result.error().text() << '\n';
  std::exit(EXIT_FAILURE);
}

}  // namespace

int main(int argument_count, char** arguments) {
  const std::size_t count =
      argument_count > 1 ? std::strtoul(arguments[1], nullptr, 10) : 1'000'000;
  if (count == 0) {
    std::cerr << "usage: order_book [ORDERS]\n";
    return EXIT_FAILURE;
  }
  auto runtime = value_of(rk::RingKernelRuntime::builder().build());
  value_of(runtime.add_program(exchange_program()));
  std::vector<rk::Kernel> books;
  for (std::size_t i = 0; i < symbols; ++i)
    books.push_back(value_of(runtime.launch("book" + std::to_string(i), {.program = "exchange",
                                                                         .input_bytes = 4096,
                                                                         .output_bytes = 4096,
                                                                         .auto_activate = true})));

  const auto submit = value_of(books[0].method<exchange::Order, exchange::Report>("Submit"));
  flatbuffers::FlatBufferBuilder builder;
  std::vector<PlainBook> plain_books(symbols);
  Times actors, plain;
  std::uint64_t filled = 0, filled_plainly = 0, refused = 0;
  for (const Order& order : make_stream(count)) {
    const auto begin = std::chrono::steady_clock::now();
    builder.Clear();
    builder.Finish(
        exchange::CreateOrder(builder, order.id, order.side, order.price, order.quantity));
    auto reply = books[order.symbol].call(submit(builder));
    const auto middle = std::chrono::steady_clock::now();
    const auto report = plain_books[order.symbol].submit(
        order.id, order.side == exchange::Side::Buy, order.price, order.quantity);
    plain.add(std::chrono::steady_clock::now() - middle);
    actors.add(middle - begin);
    filled_plainly += report ? report->filled : 0;
    if (reply)
      filled += (*reply)->filled();
    else if (reply.error() == rk::Errc::handler_fault)
      ++refused;  // the book is full
    else
      value_of(std::move(reply));
  }

  std::uint64_t volume = 0;  // as the actors counted it
  for (rk::Kernel& book : books) {
    if (!book.deactivate()) return EXIT_FAILURE;
    volume += value_of(book.read_state<exchange::BookState>()).volume();
  }
  std::cout << count << " orders in " << symbols << " books on " << runtime.metrics().backend
            << ": filled " << filled << ", refused " << refused << '\n';
  actors.print("an actor for each book");
  plain.print("a mutex for each book");
  return volume == filled && filled == filled_plainly ? EXIT_SUCCESS : EXIT_FAILURE;
}
