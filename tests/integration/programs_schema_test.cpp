// Programs with a schema: typed messages, methods by name, behaviours, and what is refused.
#include <gmock/gmock.h>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "ringkernel/as_result.hpp"
#include "ringkernel/typed.hpp"
#include "shop_generated.h"
#include "shop_program.hpp"
#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A purchase of `lines` lines, of which number i costs i + 1 and is bought twice.
class Purchase {
 public:
  Purchase(std::uint64_t id, std::uint32_t lines, const char* coupon = "") {
    std::vector<shop::Line> bought;
    for (std::uint32_t i = 0; i < lines; ++i) bought.emplace_back(static_cast<float>(i + 1), 2);
    builder_.Finish(shop::CreatePurchaseDirect(builder_, id, &bought, coupon));
  }
  [[nodiscard]] TypedRequest<shop::Purchase> typed() const {
    return ringkernel::typed<shop::Purchase>(builder_);
  }
  [[nodiscard]] Bytes bytes() const { return typed().bytes; }

 private:
  flatbuffers::FlatBufferBuilder builder_;
};

class ProgramsWithSchema : public OnEachBackend {
 public:
  /// With the program added.
  static RingKernelRuntime open_shop() {
    auto runtime = open_on(GetParam()).value();
    const auto added = runtime.add_program(shop_program());
    EXPECT_TRUE(added) << added.error().text();
    return runtime;
  }
  static Kernel till(RingKernelRuntime& runtime, const std::string& id = "till") {
    return active(runtime, id, {.program = "shop", .behaviour = "Till"});
  }
};
INSTANTIATE_TEST_SUITE_P(Backends, ProgramsWithSchema, ::testing::ValuesIn(backend_names()),
                         backend_label);

TEST_P(ProgramsWithSchema, ATypedCallIsAnsweredInPlace) {
  auto runtime = open_shop();
  Kernel kernel = till(runtime);
  float total = 0;
  for (std::uint32_t lines = 1; lines <= 8; ++lines) {
    const auto receipt = kernel.call<shop::Receipt>("Buy", Purchase(lines * 100, lines).typed());
    ASSERT_TRUE(receipt) << receipt.error().text();
    const auto expected = static_cast<float>(lines * (lines + 1));
    total += expected;
    EXPECT_EQ((*receipt)->id(), lines * 100);
    EXPECT_EQ((*receipt)->purchases(), lines);
    EXPECT_EQ((*receipt)->total(), expected);
    ASSERT_EQ((*receipt)->lines()->size(), std::min(lines, 4u));
    EXPECT_EQ((*receipt)->lines()->Get((*receipt)->lines()->size() - 1)->price(),
              static_cast<float>(std::min(lines, 4u)));
  }
  flatbuffers::FlatBufferBuilder question;
  question.Finish(shop::CreateQuestion(question));
  const auto sum = kernel.call<shop::Sum>("shop.Till.Total", typed<shop::Question>(question));
  ASSERT_TRUE(sum) << sum.error().text();
  EXPECT_EQ((*sum)->purchases(), 8u);
  EXPECT_EQ((*sum)->total(), total);
  EXPECT_EQ((*sum)->coupons(), 0u);
}

TEST_P(ProgramsWithSchema, ATimeoutAloneStandsWhereOptionsDo) {
  auto runtime = open_shop();
  Kernel kernel = till(runtime);
  const Purchase purchase(1, 1);
  const auto buy = kernel.method<shop::Purchase, shop::Receipt>("Buy");
  ASSERT_TRUE(buy) << buy.error().text();
  const Message message("Buy", purchase.bytes());
  EXPECT_TRUE(kernel.call<shop::Receipt>("Buy", purchase.typed(), 10s));
  EXPECT_TRUE(kernel.call((*buy)(purchase.typed()), 10s));
  EXPECT_TRUE(kernel.call("Buy", purchase.bytes(), 10s));
  EXPECT_TRUE(kernel.call(message, 10s));
  const auto late = Errc::deadline_exceeded;
  EXPECT_EQ(kernel.call<shop::Receipt>("Buy", purchase.typed(), -1ns).error(), late);
  EXPECT_EQ(kernel.call((*buy)(purchase.typed()), -1ns).error(), late);
  EXPECT_EQ(kernel.call("Buy", purchase.bytes(), -1ns).error(), late);
  EXPECT_EQ(kernel.call(message, -1ns).error(), late);
}

TEST_P(ProgramsWithSchema, TheRuntimeKnowsWhatTheSchemaSays) {
  auto runtime = open_shop();
  const auto info = runtime.program("shop");
  ASSERT_TRUE(info) << info.error().text();
  ASSERT_EQ(info->behaviours.size(), 2u);
  const BehaviourInfo& shelf = info->behaviours[0];
  const BehaviourInfo& till = info->behaviours[1];
  EXPECT_EQ(shelf.name, "Shelf");
  EXPECT_EQ(shelf.state, "shop.ShelfState");
  EXPECT_EQ(shelf.state_version, 3u);
  EXPECT_EQ(till.state_bytes, sizeof(shop::TillState));
  ASSERT_EQ(till.methods.size(), 2u);
  EXPECT_EQ(till.methods[0].request, "shop.Purchase");
  EXPECT_EQ(till.methods[0].reply, "shop.Receipt");
  EXPECT_THAT(info->header, HasSubstr("RK_ON_Till_Buy"));
}

TEST_P(ProgramsWithSchema, ItsOwnFaultNamesTheMethod) {
  auto runtime = open_shop();
  Kernel kernel = till(runtime);
  const auto refused = kernel.call<shop::Receipt>("Buy", Purchase(77, 0).typed());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), Errc::handler_fault);
  EXPECT_EQ(refused.error().fault_code, 1u);
  EXPECT_EQ(refused.error().fault_detail, 77u);
  EXPECT_THAT(refused.error().text(),
              HasSubstr("'till', shop.Till.Buy: code 1, detail 77: a purchase without lines"));
  EXPECT_TRUE(kernel.call<shop::Receipt>("Buy", Purchase(78, 1).typed()));
}

TEST_P(ProgramsWithSchema, BehavioursOfOneProgramLiveSideBySide) {
  auto runtime = open_shop();
  Kernel kernel = till(runtime);
  Kernel shelf = active(runtime, "shelf", {.program = "shop", .behaviour = "shop.Shelf"});
  flatbuffers::FlatBufferBuilder item;
  item.Finish(shop::CreateItemDirect(item, "apple", 5));
  EXPECT_EQ((*shelf.call<shop::Level>("Put", typed<shop::Item>(item)))->count(), 5u);
  EXPECT_EQ((*shelf.call<shop::Level>("Put", typed<shop::Item>(item)))->count(), 10u);
  EXPECT_EQ((*kernel.call<shop::Receipt>("Buy", Purchase(1, 1).typed()))->purchases(), 1u);
  // A method of the one, sent to the other.
  const auto put = shelf.method("Put");
  ASSERT_TRUE(put);
  EXPECT_EQ(kernel.call(Message{*put, typed<shop::Item>(item).bytes}).error(),
            Errc::unknown_method);
}

TEST_P(ProgramsWithSchema, WhatTheBehaviourDoesNotHaveIsRefusedWithWhatItHas) {
  auto runtime = open_shop();
  const auto none = runtime.launch("a", {.program = "shop"});
  EXPECT_EQ(none.error(), Errc::invalid_argument);
  EXPECT_THAT(none.error().text(), HasSubstr("Shelf, Till"));
  Kernel kernel = till(runtime);
  const auto unknown = kernel.method("Sell");
  EXPECT_EQ(unknown.error(), Errc::unknown_method);
  EXPECT_THAT(unknown.error().text(),
              HasSubstr("shop.Till has no method 'Sell'; it has: Buy, Total"));
  EXPECT_THAT(kernel.call(plain(64)).error().text(), HasSubstr("Buy, Total"));
  EXPECT_EQ(kernel.call(Request{}).error(), Errc::unsupported_operation);
  const auto swapped = kernel.call<shop::Sum>("Buy", Purchase(1, 1).typed());
  EXPECT_EQ(swapped.error(), Errc::invalid_argument);
  EXPECT_THAT(swapped.error().text(),
              HasSubstr("shop.Till.Buy takes shop.Purchase and answers with shop.Receipt; the call "
                        "gives shop.Purchase and wants shop.Sum"));
}

TEST_P(ProgramsWithSchema, BytesThatAreNoSuchTableAreRefusedOnTheDevice) {
  auto runtime = open_shop();
  Kernel kernel = till(runtime);
  EXPECT_EQ(kernel.call("Buy", Bytes()).error(), Errc::malformed_request);
  EXPECT_EQ(kernel.call("Buy", plain(4, 255)).error(), Errc::malformed_request);
  EXPECT_EQ(kernel.call("Buy", plain(64, 255)).error(), Errc::malformed_request);
  Purchase purchase(5, 8, "coupon");
  const Bytes whole = purchase.bytes();
  std::size_t malformed = 0;
  for (std::size_t bytes = 0; bytes < whole.size(); bytes += 4) {
    const auto reply = kernel.call("Buy", whole.first(bytes));
    if (!reply) malformed += reply.error() == Errc::malformed_request ? 1 : 0;
  }
  EXPECT_GT(malformed, whole.size() / 8);
  EXPECT_TRUE(kernel.call("Buy", whole)) << "it does not serve any more";
}

TEST_P(ProgramsWithSchema, MessagesAreSentReceivedAndAwaited) {
  auto runtime = open_shop();
  Kernel kernel = till(runtime);
  const auto buy = kernel.method("Buy");
  ASSERT_TRUE(buy);
  const Purchase first(1, 1), second(2, 2);
  ASSERT_TRUE(kernel.send(Message{*buy, first.bytes()}));
  const std::array messages{Message{*buy, second.bytes()}, Message{*buy, first.bytes()}};
  EXPECT_EQ(kernel.send_all(messages).value(), 2u);
  std::vector<std::uint64_t> ids;
  for (int i = 0; i < 3; ++i) {
    auto reply = kernel.receive(10s);
    ASSERT_TRUE(reply) << reply.error().text();
    const auto receipt = read<shop::Receipt>(*std::move(reply));
    ASSERT_TRUE(receipt) << receipt.error().text();
    ids.push_back((*receipt)->id());
  }
  EXPECT_THAT(ids, ElementsAre(1, 2, 1));
  auto reply = kernel.async_call(Message{*buy, second.bytes()}, boost::asio::use_future).get();
  EXPECT_EQ((*read<shop::Receipt>(std::move(reply)))->purchases(), 4u);
}

TEST_P(ProgramsWithSchema, AMethodWithItsTypesIsComparedOnce) {
  auto runtime = open_shop();
  Kernel kernel = till(runtime);
  const auto buy = kernel.method<shop::Purchase, shop::Receipt>("Buy");
  ASSERT_TRUE(buy) << buy.error().text();
  const Purchase first(1, 1), none(2, 0);
  const auto receipt = kernel.call((*buy)(first.typed()));
  ASSERT_TRUE(receipt) << receipt.error().text();
  EXPECT_EQ((*receipt)->id(), 1u);
  EXPECT_EQ(kernel.call((*buy)(none.typed())).error(), Errc::handler_fault);
  ASSERT_TRUE(kernel.send((*buy)(first.typed())));
  const auto received = read<shop::Receipt>(kernel.receive(10s));
  ASSERT_TRUE(received) << received.error().text();
  EXPECT_EQ((*received)->purchases(), 2u);
  EXPECT_EQ(read<shop::Receipt>(kernel.receive(1ms)).error(), Errc::deadline_exceeded);
  const auto wrong = kernel.method<shop::Purchase, shop::Sum>("Buy");
  EXPECT_EQ(wrong.error(), Errc::invalid_argument);
  EXPECT_THAT(wrong.error().text(), HasSubstr("answers with shop.Receipt"));
}

TEST_P(ProgramsWithSchema, TypedCallsAreAwaited) {
  auto runtime = open_shop();
  Kernel kernel = till(runtime);
  const auto buy = kernel.method<shop::Purchase, shop::Receipt>("Buy");
  ASSERT_TRUE(buy);
  const Purchase first(7, 1), none(8, 0);
  TypedReply<shop::Receipt> receipt =
      kernel.async_call((*buy)(first.typed()), boost::asio::use_future).get();
  EXPECT_EQ(receipt->id(), 7u);
  const auto fault =
      kernel.async_call((*buy)(none.typed()), as_result(boost::asio::use_future)).get();
  EXPECT_EQ(fault.error(), Errc::handler_fault);
  EXPECT_THAT(fault.error().text(), HasSubstr("code 1, detail 8"));
  // Its handler runs where a handler of Asio's own would: on the executor that it is bound to.
  boost::asio::io_context context;
  bool called = false;
  kernel.async_call(
      (*buy)(first.typed()), SendOptions{.timeout = 10s},
      boost::asio::bind_executor(context, [&](error_code code, TypedReply<shop::Receipt> reply) {
        called =
            !code && context.get_executor().running_in_this_thread() && reply->purchases() == 2;
      }));
  context.run();
  EXPECT_TRUE(called);
}

/// A reply that is no such table: the method's number with another one's types.
TEST_P(ProgramsWithSchema, ATypedReplyIsVerifiedBeforeItIsRead) {
  auto runtime = open_shop();
  Kernel kernel = till(runtime);
  const TypedMethod<shop::Purchase, shop::Item> buy{*kernel.method("Buy")};
  const Purchase first(1, 1);
  const auto reply = kernel.call(buy(first.typed()));
  EXPECT_EQ(reply.error(), Errc::malformed_message);
  const auto awaited =
      kernel.async_call(buy(first.typed()), as_result(boost::asio::use_future)).get();
  EXPECT_EQ(awaited.error(), Errc::malformed_message);
  EXPECT_THAT(awaited.error().text(), HasSubstr("shop.Item"));
}

TEST_P(ProgramsWithSchema, AMessageNamesItsMethod) {
  auto runtime = open_shop();
  Kernel kernel = till(runtime);
  const Purchase first(1, 1);
  ASSERT_TRUE(kernel.send(Message("Buy", first.bytes())));
  const std::array messages{Message("shop.Till.Buy", first.bytes()), Message("Buy", first.bytes())};
  EXPECT_EQ(kernel.send_all(messages).value(), 2u);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(kernel.receive(10s));
  const std::array partly{Message("Buy", first.bytes()), Message("Sell", first.bytes())};
  EXPECT_EQ(kernel.send_all(partly).value(), 1u) << "those before the one that is refused";
  EXPECT_TRUE(kernel.receive(10s));
  Reply reply = kernel.async_call(Message("Buy", first.bytes()), boost::asio::use_future).get();
  EXPECT_EQ((*read<shop::Receipt>(std::move(reply)))->purchases(), 5u);
  const auto unknown =
      kernel.async_call(Message("Sell", first.bytes()), as_result(boost::asio::use_future)).get();
  EXPECT_EQ(unknown.error(), Errc::unknown_method);
  EXPECT_THAT(unknown.error().text(), HasSubstr("it has: Buy, Total"));
  EXPECT_EQ(kernel.send(Message("Sell", first.bytes())).error(), Errc::unknown_method);
  EXPECT_THAT(kernel.call("", first.bytes()).error().text(), HasSubstr("no method ''"));
  EXPECT_EQ(runtime.call("till", Message("Sell", first.bytes())).error(), Errc::unknown_method);
  std::uint64_t noted = 0;
  for (const ErrorRecord& record : runtime.errors())
    if (record.code == static_cast<int>(Errc::unknown_method)) noted += record.count;
  EXPECT_EQ(noted, 4u) << "each is noted once";
}

TEST_P(ProgramsWithSchema, TheStateIsTheStructOfTheSchema) {
  auto runtime = open_shop();
  Kernel kernel = till(runtime);
  ASSERT_TRUE(kernel.call("Buy", Purchase(1, 2, "ten percent").bytes()));
  ASSERT_TRUE(kernel.deactivate());
  const auto state = kernel.read_state<shop::TillState>();
  ASSERT_TRUE(state) << state.error().text();
  EXPECT_EQ(state->purchases(), 1u);
  EXPECT_EQ(state->total(), 6.0f);
  EXPECT_EQ(state->coupons(), 1u);
  ASSERT_TRUE(kernel.write_state(shop::TillState(41, 0, 0)));
  ASSERT_TRUE(kernel.activate());
  const auto receipt = kernel.call<shop::Receipt>("Buy", Purchase(1, 1).typed());
  EXPECT_EQ((*receipt)->purchases(), 42u);
}

TEST_P(ProgramsWithSchema, ItsMethodsAreCountedByThemselves) {
  auto runtime = open_shop();
  Kernel kernel = till(runtime);
  EXPECT_TRUE(kernel.metrics().methods.empty());
  for (std::uint32_t id = 0; id < 5; ++id) (void)kernel.call("Buy", Purchase(id, id % 2).bytes());
  flatbuffers::FlatBufferBuilder question;
  question.Finish(shop::CreateQuestion(question));
  ASSERT_TRUE(kernel.call("Total", typed<shop::Question>(question).bytes));
  const auto methods = kernel.metrics().methods;
  ASSERT_EQ(methods.size(), 2u);
  EXPECT_EQ(methods[0].name, "Buy");
  EXPECT_EQ(methods[0].answered, 5u);
  EXPECT_EQ(methods[0].faults, 3u);
  EXPECT_EQ(methods[1].name, "Total");
  EXPECT_EQ(methods[1].answered, 1u);
  EXPECT_EQ(methods[1].faults, 0u);
  ASSERT_TRUE(kernel.terminate());
  EXPECT_EQ(kernel.metrics().methods.size(), 2u) << "its last ones";
}

TEST_P(ProgramsWithSchema, AHandlerThatIsMissingIsNamedWithItsLine) {
  auto runtime = open();
  ProgramDesc program = shop_program();
  std::string source = content(RK_SHOP_SOURCE);
  source.resize(source.find("RK_ON(Shelf, Put)"));
  program.source = Source::text("shop.rk.cl", source);
  const auto added = runtime.add_program(program);
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error(), Errc::build_failed);
  EXPECT_THAT(added.error().text(), HasSubstr("shop.fbs:29: no RK_ON(Shelf, Put) in shop.rk.cl"));
  EXPECT_LT(added.error().text().size(), 200u) << "a compiler has been asked";
  program.source = Source::text("shop.rk.cl", source + "RK_ON(Shelf, Putt) { return RK_OK; }\n");
  const auto misspelt = runtime.add_program(program);
  ASSERT_FALSE(misspelt);
  EXPECT_THAT(misspelt.error().text(), HasSubstr("Shelf has no method Putt; it has Put"));
  // Where the preprocessor makes handlers, the compiler decides.
  program.source = Source::text("shop.rk.cl", source +
                                                  "#define MAKE(METHOD) RK_ON(Shelf, METHOD)\n"
                                                  "MAKE(Put) { return RK_OK; }\n");
  const auto made = runtime.add_program(program);
  EXPECT_TRUE(made) << made.error().text();
}

TEST_P(ProgramsWithSchema, AMistakeIsNamedWithItsFileAndLine) {
  auto runtime = open();
  ProgramDesc program = shop_program();
  program.source = Source::text("wrong.rk.cl",
                                "#include \"shop.rk.h\"\n\nRK_ON(Till, Buy) {\n"
                                "  return rk_fault(self, 1, Purchase_ident(request));\n}\n"
                                "RK_ON(Till, Total) { return RK_OK; }\n"
                                "RK_ON(Shelf, Put) { return RK_OK; }\n");
  const auto added = runtime.add_program(program);
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error(), Errc::build_failed);
  EXPECT_THAT(added.error().text(), AllOf(HasSubstr("wrong.rk.cl:4"), HasSubstr("Purchase_ident")));
  program.source = Source::text("wrong.rk.cl", "#include \"chop.rk.h\"\n");
  EXPECT_THAT(runtime.add_program(program).error().text(),
              AllOf(HasSubstr("wrong.rk.cl:1"), HasSubstr("own header is \"shop.rk.h\"")));
}

TEST_P(ProgramsWithSchema, WhatIsNoSchemaIsRefused) {
  auto runtime = open();
  ProgramDesc program = shop_program();
  program.schema = Schema::binary("noise.bfbs", "this is no schema at all");
  const auto added = runtime.add_program(program);
  EXPECT_EQ(added.error(), Errc::invalid_argument);
  EXPECT_THAT(added.error().text(), HasSubstr("noise.bfbs"));
  program.schema = Schema::file(RK_SHOP_TEXT);
  const auto text = runtime.add_program(program);
  EXPECT_EQ(text.error(), Errc::invalid_argument);
  EXPECT_THAT(text.error().text(), HasSubstr("flatc"));
}

}  // namespace
}  // namespace ringkernel::test
