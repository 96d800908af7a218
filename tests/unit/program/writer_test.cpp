// Replies of the device: the host's verifier takes them, and reads what was written.
#include <gtest/gtest.h>

#include "program/schema.hpp"
#include "support/stress.hpp"
#include "unit/program/device_message.hpp"
#include "unit/program/samples.hpp"

extern "C" {
rk_u32 trading_c(rk_message*);
rk_u32 trading_cpp(rk_message*);
rk_u32 sensor_c(rk_message*);
rk_u32 sensor_cpp(rk_message*);
}

namespace ringkernel::program::test {
namespace {

const int rounds = static_cast<int>(ringkernel::test::scaled(2000, 200));

struct Outcome {
  rk_u32 fault;
  Bytes reply;  ///< empty where there is none

  bool operator==(const Outcome&) const = default;
};

Outcome run(Entry entry, const char* behaviour, const char* method, const Bytes& request,
            std::size_t reply_bytes, rk_u8 background) {
  // More room than the reply needs, and a state as large as any of the two.
  DeviceMessage message(request, name_id(behaviour), name_id(method), reply_bytes + 64, 72,
                        background);
  const rk_u32 fault = entry(&message.message);
  if (fault != RK_OK) return {fault, {}};
  EXPECT_LE(message.message.reply_bytes, reply_bytes);
  Bytes reply = message.reply.copy();
  reply.resize(message.message.reply_bytes);
  return {fault, reply};
}

/// The same whoever compiled the program, and whatever the ring held before.
Outcome run_all(Entry c, Entry cpp, const char* behaviour, const char* method, const Bytes& request,
                std::size_t reply_bytes) {
  const Outcome outcome = run(c, behaviour, method, request, reply_bytes, 0xaa);
  EXPECT_TRUE(outcome == run(c, behaviour, method, request, reply_bytes, 0x55));
  EXPECT_TRUE(outcome == run(cpp, behaviour, method, request, reply_bytes, 0x00));
  return outcome;
}

template <class Table>
const Table* verified(const Bytes& reply) {
  flatbuffers::Verifier verifier(reply.data(), reply.size());
  return verifier.VerifyBuffer<Table>(nullptr) ? flatbuffers::GetRoot<Table>(reply.data())
                                               : nullptr;
}

TEST(FlatWriter, AnswersOrders) {
  Mutator random(4);
  for (int i = 0; i < rounds && !HasFailure(); ++i) {
    const Bytes request = make_order(random);
    const auto* const order = flatbuffers::GetRoot<trading::Order>(request.data());
    const Outcome outcome =
        run_all(trading_c, trading_cpp, "trading.Book", "trading.Book.Submit", request, ack_bytes);
    if (order->qty() == 0) {
      EXPECT_EQ(outcome.fault, RK_FAULT_HANDLER_BASE + 1u);
      continue;
    }
    const auto* const ack = verified<trading::Ack>(outcome.reply);
    ASSERT_NE(ack, nullptr);
    EXPECT_EQ(ack->orders(), 1u);
    const bool legs = order->legs() != nullptr && order->legs()->size() != 0;
    EXPECT_EQ(ack->exposure() != 0, legs);
    ASSERT_EQ(ack->best() != nullptr, legs);
    // Room that is not used is not sent.
    EXPECT_EQ(outcome.reply.size(), legs ? ack_bytes_with_one_leg : ack_bytes_without_legs);
    if (legs) {
      EXPECT_EQ(ack->best()->Get(0)->qty(), order->legs()->Get(0)->qty());
    }
  }
}

void expect_report(const plant::Reading* reading, const plant::Report* report) {
  ASSERT_NE(report, nullptr);
  EXPECT_EQ(report->text()->str(), reading->name()->str().substr(0, 12));
  ASSERT_EQ(report->last() != nullptr, reading->at() != nullptr);
  EXPECT_EQ(report->first()->x(), reading->at() ? reading->at()->y() : 0);
  if (reading->at() != nullptr) {
    EXPECT_EQ(report->last()->y(), reading->at()->y());
  }
  ASSERT_EQ(report->ok().has_value(), reading->alarm().has_value());
  if (report->ok()) {
    EXPECT_NE(*report->ok(), *reading->alarm());
  }
  EXPECT_EQ(report->worst(), plant::Quality::Bad);
  EXPECT_EQ(report->private_(), 7);
  const std::size_t samples = reading->samples() ? reading->samples()->size() : 0;
  ASSERT_EQ(report->peaks() ? report->peaks()->size() : 0u, std::min<std::size_t>(samples, 3));
  EXPECT_EQ(report->mean(), samples ? 2.25 : 0.5);
  if (samples) {
    EXPECT_EQ(report->peaks()->Get(0), 2.25);
  }
  EXPECT_EQ(report->frames() ? report->frames()->size() : 0u, reading->frames() ? 1u : 0u);
  EXPECT_EQ(report->marks() ? report->marks()->size() : 0u, reading->open() > 0 ? 2u : 0u);
  if (report->marks()) {
    EXPECT_EQ(static_cast<plant::Flags>(report->marks()->Get(1)), reading->flags());
  }
  EXPECT_EQ(report->notes(), nullptr);
}

TEST(FlatWriter, AnswersReadings) {
  Mutator random(5);
  for (int i = 0; i < rounds && !HasFailure(); ++i) {
    const Bytes request = make_reading(random);
    const auto* const reading = flatbuffers::GetRoot<plant::Reading>(request.data());
    const Outcome outcome =
        run_all(sensor_c, sensor_cpp, "plant.Sensor", "plant.Sensor.Take", request, report_bytes);
    expect_report(reading, verified<plant::Report>(outcome.reply));
    const Outcome log =
        run_all(sensor_c, sensor_cpp, "plant.Log", "plant.Log.Take", request, report_bytes);
    if (reading->previous() == nullptr) {
      EXPECT_EQ(log.fault, RK_FAULT_HANDLER_BASE + 7u);
    } else {
      expect_report(reading->previous(), verified<plant::Report>(log.reply));
    }
  }
}

// Requests that nobody vouches for: a reply is good, or there is none.
TEST(FlatWriter, AnswersDamagedReadings) {
  Mutator random(6);
  int refused = 0;
  for (int i = 0; i < 10 * rounds && !HasFailure(); ++i) {
    const Outcome outcome = run(sensor_c, "plant.Sensor", "plant.Sensor.Take",
                                random.mutate(make_reading(random)), report_bytes, 0xaa);
    refused += outcome.fault == RK_FAULT_malformed_request ? 1 : 0;
    if (outcome.fault == RK_OK) {
      EXPECT_NE(verified<plant::Report>(outcome.reply), nullptr);
    }
  }
  EXPECT_GT(refused, rounds);
}

TEST(FlatWriter, AnswersWithATableWithoutFields) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(plant::CreateNothing(builder));
  const Outcome outcome =
      run_all(sensor_c, sensor_cpp, "plant.Sensor", "plant.Sensor.Ping", bytes_of(builder), 16);
  EXPECT_NE(verified<plant::Nothing>(outcome.reply), nullptr);
}

}  // namespace
}  // namespace ringkernel::program::test
