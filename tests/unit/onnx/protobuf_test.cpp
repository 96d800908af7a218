// The reader of protocol buffers against bytes that are damaged: an error that says where, for
// every kind of damage.
#include "onnx/protobuf.hpp"

#include <gmock/gmock.h>

#include <initializer_list>
#include <memory>

#include "onnx/model.hpp"
#include "support/stress.hpp"

namespace ringkernel::onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Bytes of which a sanitizer notices every access beside them.
class Exact {
 public:
  Exact(std::initializer_list<int> values) : Exact(std::vector<int>(values)) {}
  explicit Exact(const std::vector<int>& values)
      : size_(values.size()), data_(std::make_unique<std::byte[]>(values.size())) {
    for (std::size_t i = 0; i < size_; ++i) data_[i] = static_cast<std::byte>(values[i]);
  }
  operator Bytes() const { return {data_.get(), size_}; }

 private:
  std::size_t size_;
  std::unique_ptr<std::byte[]> data_;
};

/// A tensor [2, 1] of f32: its dims packed, then the type, a name and the elements.
const std::vector<int> tensor_bytes{0x0a, 2, 2,   1,  //
                                    0x10, 1,          //
                                    0x42, 1, 'x',     //
                                    0x4a, 8, 0,   0, 0x80, 0x3f, 0, 0, 0, 0x40};

TEST(Protobuf, ReadsEveryWireType) {
  const Exact message{0x08, 0xac, 0x02,                          // 1: 300
                      0x15, 0,    0,    0x80, 0x3f,              // 2: 1.0f
                      0x19, 1,    2,    3,    4,    5, 6, 7, 8,  // 3: 64 bits
                      0xa2, 0x06, 2,    'o',  'k'};              // 100: "ok"
  const auto fields = read_fields(message);
  ASSERT_TRUE(fields) << fields.error().text();
  ASSERT_EQ(fields->size(), 4u);
  std::int64_t integer = 0;
  float number = 0;
  std::string text;
  ASSERT_TRUE((*fields)[0].into(integer));
  ASSERT_TRUE((*fields)[1].into(number));
  ASSERT_TRUE((*fields)[3].into(text));
  EXPECT_EQ(integer, 300);
  EXPECT_EQ(number, 1.0f);
  EXPECT_EQ((*fields)[2].value, 0x0807060504030201u);
  EXPECT_EQ((*fields)[3].number, 100u);
  EXPECT_EQ(text, "ok");
}

TEST(Protobuf, ReadsNegativeNumbersOfTenBytes) {
  const Exact message{0x08, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1};
  std::int64_t integer = 0;
  ASSERT_TRUE(read_fields(message).value().at(0).into(integer));
  EXPECT_EQ(integer, -2);
}

TEST(Protobuf, ReadsAListPackedOrNot) {
  const Exact message{0x08, 5, 0x0a, 3, 6, 0x80, 1, 0x08, 7};
  std::vector<std::int64_t> integers;
  for (const Field& field : read_fields(message).value()) ASSERT_TRUE(field.append_to(integers));
  EXPECT_THAT(integers, ElementsAre(5, 6, 128, 7));
}

TEST(Protobuf, RefusesWhatEndsWithinAField) {
  const Exact cut[] = {
      {0x80},                                                           // a key
      {0x08},                                                           // no number
      {0x08, 0x80},                                                     // half a number
      {0x15, 1, 2, 3},                                                  // 3 bytes of 4
      {0x19, 1, 2, 3, 4, 5, 6},                                         // 6 bytes of 8
      {0x0a},                                                           // no length
      {0x0a, 3, 1, 2},                                                  // 2 bytes of 3
      {0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1},  // of 2^64 - 1
  };
  for (const Exact& message : cut) {
    const auto fields = read_fields(message);
    ASSERT_TRUE(fields.has_error());
    EXPECT_EQ(fields.error(), Errc::truncated_message) << fields.error().text();
    EXPECT_THAT(fields.error().detail, HasSubstr("wanted at byte"));
  }
}

TEST(Protobuf, RefusesNumbersThatAreTooLong) {
  const Exact longer{0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0};
  const Exact larger{0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2};
  for (const Exact* message : {&longer, &larger}) {
    const auto fields = read_fields(*message);
    ASSERT_TRUE(fields.has_error());
    EXPECT_EQ(fields.error(), Errc::malformed_message);
    EXPECT_THAT(fields.error().detail, HasSubstr("more than 64 bits"));
  }
}

TEST(Protobuf, RefusesKeysThatAreNone) {
  const Exact keys[] = {
      {0x00, 0},                          // field 0
      {0x80, 0x80, 0x80, 0x80, 0x10, 0},  // field 2^29
      {0x0b},
      {0x0c},  // groups
      {0x0e},
      {0x0f},  // wire types 6 and 7
  };
  for (const Exact& message : keys) {
    const auto fields = read_fields(message);
    ASSERT_TRUE(fields.has_error());
    EXPECT_EQ(fields.error(), Errc::malformed_message) << fields.error().text();
  }
}

TEST(Protobuf, RefusesAFieldOfAnotherWireType) {
  const Exact bytes{0x08, 5, 0x12, 1, 'x'};
  const std::vector<Field> fields = read_fields(bytes).value();
  std::int64_t integer = 0;
  float number = 0;
  std::string text;
  Bytes message;
  EXPECT_EQ(fields[0].into(number).error(), Errc::malformed_message);
  EXPECT_EQ(fields[0].into(text).error(), Errc::malformed_message);
  EXPECT_EQ(fields[0].into(message).error(), Errc::malformed_message);
  EXPECT_EQ(fields[1].into(integer).error(), Errc::malformed_message);
}

TEST(OnnxTensor, IsReadFromItsBytes) {
  const auto tensor = read_tensor(Exact(tensor_bytes));
  ASSERT_TRUE(tensor) << tensor.error().text();
  EXPECT_THAT(tensor->dims, ElementsAre(2, 1));
  EXPECT_EQ(tensor->dtype(), DType::f32);
  EXPECT_EQ(tensor->bytes.size(), 8u);
}

TEST(OnnxTensor, IsRefusedIfItsShapeIsNotThatOfItsBytes) {
  for (const auto& [position, value] :
       {std::pair{2, 3}, {2, 0}, {5, 7}, {3, 0x7f}}) {  // extents, the type i64
    std::vector<int> damaged = tensor_bytes;
    damaged[static_cast<std::size_t>(position)] = value;
    EXPECT_EQ(read_tensor(Exact(damaged)).error(), Errc::malformed_message) << position;
  }
  // Extents of 2^63 - 1 and 2: their product is too large for 64 bits.
  std::vector<int> huge{0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x08, 2};
  huge.insert(huge.end(), {0x10, 1});
  EXPECT_EQ(read_tensor(Exact(huge)).error(), Errc::malformed_message);
}

TEST(OnnxTensor, CutAnywhereIsAnError) {
  for (std::size_t size = 1; size < tensor_bytes.size(); ++size) {
    const std::vector<int> cut(tensor_bytes.begin(),
                               tensor_bytes.begin() + static_cast<std::ptrdiff_t>(size));
    // Between two fields it is a shorter message: whole, but without elements for its shape; or
    // without a type, where there is nothing to compare.
    const auto tensor = read_tensor(Exact(cut));
    if (size == 4)
      EXPECT_EQ(tensor.value().dtype(), DType::none);
    else
      EXPECT_TRUE(tensor.has_error()) << size;
  }
}

TEST(OnnxTensor, SurvivesAnyDamage) {
  test::Dice dice(20261122, 0);
  int refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<int> damaged = tensor_bytes;
    for (std::uint64_t hits = 1 + dice.below(4); hits > 0; --hits)
      damaged[dice.below(damaged.size())] = static_cast<int>(dice.below(256));
    damaged.resize(dice.below(damaged.size() + 1));
    refused += read_tensor(Exact(damaged)).has_error() ? 1 : 0;
    (void)read_model(Exact(damaged)).has_error();
  }
  EXPECT_GT(refused, 10'000);  // most damage is seen
}

}  // namespace
}  // namespace ringkernel::onnx
