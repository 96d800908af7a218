#include "runtime/memory/tensor_table.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "ringkernel/ops.hpp"

namespace ringkernel::test {
namespace {

using ::testing::HasSubstr;

constexpr TensorDesc four_floats{DType::f32, {4}};

/// A table over 64 KiB of memory that the test can look into.
class Tensors : public ::testing::Test {
 protected:
  static constexpr std::uint64_t arena_bytes = 64 * 1024;

  TensorId tensor(const TensorDesc& desc = four_floats) { return table.allocate(desc).value(); }
  void fill(TensorId id, std::uint64_t bytes, int value) {
    const std::vector<std::byte> elements(bytes, static_cast<std::byte>(value));
    ASSERT_TRUE(table.try_write(id, elements).value());
  }
  /// Bytes of the arena that are not zero.
  [[nodiscard]] std::ptrdiff_t bytes_set() const {
    return static_cast<std::ptrdiff_t>(arena_bytes) -
           std::count(memory.get(), memory.get() + arena_bytes, std::byte{0});
  }
  static TensorView view(TensorId id, const TensorDesc& desc = four_floats) {
    TensorView result(desc, nullptr);
    result.tensor = id;
    return result;
  }
  Result<TensorTable::Held*> hold(const Request& request, const TensorDesc& result = four_floats) {
    return table.hold(request, result);
  }

  const std::unique_ptr<std::byte[], decltype(&std::free)> memory{
      static_cast<std::byte*>(std::aligned_alloc(128, arena_bytes)), &std::free};
  Arena arena{(std::fill_n(memory.get(), arena_bytes, std::byte{0}), memory.get()), arena_bytes};
  TensorTable table{arena, BackendTarget::cpu};
};

TEST_F(Tensors, AreZeroWhateverTheMemoryHeldBefore) {
  const std::uint64_t used = arena.allocate(arena_bytes).value();
  std::fill_n(memory.get(), arena_bytes, std::byte{0xff});
  arena.free(used, arena_bytes);
  std::vector<std::byte> elements(16, std::byte{1});
  ASSERT_TRUE(table.try_read(tensor(), elements).value());
  EXPECT_EQ(std::count(elements.begin(), elements.end(), std::byte{0}), 16);
}

/// Who may not wait is told so, as long as the host copies.
TEST(TensorCopies, AreNotWaitedForByThoseWhoMayNot) {
  constexpr std::uint64_t bytes = std::uint64_t{32} << 20;
  const TensorDesc large{DType::f32, {bytes / 4}};
  const std::unique_ptr<std::byte[], decltype(&std::free)> memory{
      static_cast<std::byte*>(std::aligned_alloc(128, 2 * bytes)), &std::free};
  Arena arena(memory.get(), 2 * bytes);
  TensorTable table(arena, BackendTarget::cpu);
  const TensorId id = table.allocate(large).value();
  TensorView view(large, nullptr);
  view.tensor = id;
  const Request request = ops::relu(view);
  std::atomic<bool> enough{false};
  std::thread host([&] {
    const std::vector<std::byte> elements(bytes);
    while (!enough.load()) EXPECT_TRUE(table.try_write(id, elements));
  });
  TensorTable::Held* held = nullptr;
  do {
    if (held != nullptr) held->release();
    held = table.hold(request, large, false).value();
  } while (held != nullptr);
  enough.store(true);
  host.join();
  held = table.hold(request, large, false).value();
  ASSERT_NE(held, nullptr);
  held->release();
}

TEST_F(Tensors, AreWipedWhenDeallocated) {
  const TensorId id = tensor();
  fill(id, 16, 0xff);
  EXPECT_EQ(bytes_set(), 16);
  table.deallocate(id).value();
  EXPECT_EQ(bytes_set(), 0);
  EXPECT_EQ(arena.free_bytes(), arena_bytes);
  EXPECT_EQ(table.count(), 0u);
  EXPECT_EQ(table.bytes(), 0u);
}

TEST_F(Tensors, InAMessageAreNeitherWipedNorGivenAwayBeforeItsEnd) {
  const TensorId id = tensor();
  fill(id, 16, 0xff);
  TensorTable::Held* const first = hold(ops::add(view(id), view(id))).value();
  TensorTable::Held* const second = hold(ops::relu(view(id)).into(view(id))).value();
  table.deallocate(id).value();
  EXPECT_EQ(bytes_set(), 16);
  first->release();
  EXPECT_EQ(bytes_set(), 16);
  EXPECT_LT(arena.free_bytes(), arena_bytes);
  second->release();
  EXPECT_EQ(bytes_set(), 0);
  EXPECT_EQ(arena.free_bytes(), arena_bytes);
}

TEST_F(Tensors, GiveAMessageTheOffsetsOfItsOwnBytesOnly) {
  const TensorId a = tensor();
  const TensorId b = tensor({DType::f32, {100}});
  fill(a, 16, 1);
  TensorTable::Held* const held = hold(ops::relu(view(a)).into(view(a))).value();
  EXPECT_EQ(held->offsets()[0], held->offsets()[inputs_max]);
  EXPECT_EQ(held->offsets()[0] % 64, 0u);
  EXPECT_EQ(memory[held->offsets()[0]], std::byte{1});
  EXPECT_EQ(memory[held->offsets()[0] + 16], std::byte{0});
  held->release();
  // A view that claims more, or another tensor's place, gets nothing.
  EXPECT_EQ(hold(ops::relu(view(a, {DType::f32, {100}}))).error(), Errc::invalid_argument);
  EXPECT_EQ(hold(ops::relu(view(b))).error(), Errc::invalid_argument);
}

TEST_F(Tensors, OfARefusedMessageAreNotHeld) {
  const TensorId id = tensor();
  const TensorId gone = tensor();
  table.deallocate(gone).value();
  const auto held = hold(ops::add(view(id), view(gone)));
  EXPECT_EQ(held.error(), Errc::tensor_not_found);
  EXPECT_THAT(held.error().text(), HasSubstr("tensor " + std::to_string(gone)));
  EXPECT_EQ(hold(ops::relu(view(id)).into(view(gone))).error(), Errc::tensor_not_found);
  table.deallocate(id).value();
  EXPECT_EQ(table.count(), 0u);
}

TEST_F(Tensors, WithAWriterAreNotReadAndWithAnyMessageNotWritten) {
  const TensorId in = tensor();
  const TensorId out = tensor();
  std::vector<std::byte> elements(16);
  TensorTable::Held* const held = hold(ops::relu(view(in)).into(view(out))).value();
  EXPECT_TRUE(table.try_read(in, elements).value());
  EXPECT_FALSE(table.try_write(in, elements).value());
  EXPECT_FALSE(table.try_read(out, elements).value());
  EXPECT_FALSE(table.try_write(out, elements).value());
  held->release();
  EXPECT_TRUE(table.try_write(in, elements).value());
  EXPECT_TRUE(table.try_read(out, elements).value());
}

TEST_F(Tensors, DoNotMoveWhileAMessageHoldsThem) {
  const TensorId hole = tensor();
  const TensorId held_one = tensor();
  const TensorId free_one = tensor();
  fill(free_one, 16, 7);
  TensorTable::Held* const held = hold(ops::relu(view(held_one))).value();
  table.deallocate(hole).value();
  const Defragmentation done = table.defragment().value();
  EXPECT_EQ(done.tensors_in_use, 1u);
  EXPECT_EQ(done.tensors_moved, 1u);  // into the hole
  EXPECT_EQ(done.bytes_moved, 16u);
  EXPECT_EQ(done.fragmentation_score, 0);
  EXPECT_EQ(held->offsets()[0], arena_bytes - 128);
  held->release();
  std::vector<std::byte> elements(16);
  ASSERT_TRUE(table.try_read(free_one, elements).value());
  EXPECT_EQ(std::count(elements.begin(), elements.end(), std::byte{7}), 16);
}

TEST_F(Tensors, HeldBeyondTheEndOfTheRuntimeTouchNoMemory) {
  const TensorId id = tensor();
  fill(id, 16, 0xff);
  TensorTable::Held* const held = hold(ops::relu(view(id))).value();
  table.deallocate(id).value();
  table.close();
  held->release();
  EXPECT_EQ(bytes_set(), 16);
  EXPECT_EQ(table.count(), 0u);
}

/// More of them than any op has, in two places, and with objects that ops used before.
TEST_F(Tensors, OfAFunctionAreHeldLikeThoseOfAnOp) {
  const std::string name = "many", unnamed;
  std::vector<TensorTable::Binding> bindings;
  std::vector<TensorId> ids;
  for (std::size_t i = 0; i < 32; ++i) {
    ids.push_back(tensor());
    bindings.push_back({ids.back(), four_floats, false, false, i, &unnamed});
  }
  bindings.push_back({ids[3], four_floats, true, false, 0, &name});
  hold(ops::relu(view(ids[0]))).value()->release();
  for (int round = 0; round < 2; ++round) {
    TensorTable::Held* const held = table.hold(bindings).value();
    ASSERT_EQ(held->bound_offsets().size(), 33u);
    EXPECT_EQ(held->bound_offsets()[3], held->bound_offsets()[32]);
    std::vector<std::byte> elements(16);
    EXPECT_TRUE(table.try_read(ids[0], elements).value());
    EXPECT_FALSE(table.try_read(ids[3], elements).value());
    EXPECT_FALSE(table.try_write(ids[31], elements).value());
    EXPECT_EQ(table.defragment().value().tensors_in_use, 32u);
    held->release();
    EXPECT_TRUE(table.try_read(ids[3], elements).value());
    EXPECT_TRUE(table.try_write(ids[31], elements).value());
  }
  TensorTable::Held* const of_an_op = hold(ops::relu(view(ids[0]))).value();
  EXPECT_TRUE(of_an_op->bound_offsets().empty());
  of_an_op->release();
  fill(ids[3], 16, 0xff);
  TensorTable::Held* const last = table.hold(bindings).value();
  table.deallocate(ids[3]).value();
  EXPECT_EQ(bytes_set(), 16);
  last->release();
  EXPECT_EQ(bytes_set(), 0);
  const auto refused = table.hold(bindings);
  EXPECT_EQ(refused.error(), Errc::tensor_not_found);
  EXPECT_THAT(refused.error().text(), HasSubstr("input 3: tensor"));
  bindings[3].tensor = ids[4];
  EXPECT_THAT(table.hold(bindings).error().text(), HasSubstr("output 0 ('many'): tensor"));
  for (const TensorId id : ids)
    if (id != ids[3]) table.deallocate(id).value();
  EXPECT_EQ(table.count(), 0u) << "what is refused holds nothing";
}

TEST_F(Tensors, OfAFunctionKeepTheRulesOfAGpu) {
  TensorTable gpu(arena, BackendTarget::gpu);
  const std::string unnamed;
  constexpr TensorDesc three_integers{DType::i64, {3}}, scalar{DType::f32, {}};
  const TensorId integers = gpu.allocate(three_integers).value();
  const TensorId floats = gpu.allocate(four_floats).value();
  const auto code_of = [&](const TensorTable::Binding& binding) -> error_code {
    const auto held = gpu.hold(std::span(&binding, 1));
    if (!held) return held.error().code;
    (*held)->release();
    return {};
  };
  EXPECT_EQ(code_of({integers, three_integers, false, true, 0, &unnamed}), error_code());
  EXPECT_EQ(code_of({integers, three_integers, false, false, 0, &unnamed}), Errc::invalid_dtype);
  EXPECT_EQ(code_of({integers, three_integers, true, false, 0, &unnamed}), Errc::invalid_dtype);
  EXPECT_EQ(code_of({floats, scalar, true, false, 0, &unnamed}), error_code());
  EXPECT_EQ(code_of({floats, scalar, false, false, 0, &unnamed}), Errc::invalid_argument);
}

TEST_F(Tensors, OnAGpuHaveCountsThatAreMultiplesOfFour) {
  TensorTable gpu(arena, BackendTarget::gpu);
  for (const Shape& shape : {Shape{}, Shape{3}, Shape{3, 5}}) {
    const auto refused = gpu.allocate({DType::f32, shape});
    EXPECT_EQ(refused.error(), Errc::allocation_failure) << shape.text();
    EXPECT_THAT(refused.error().text(), HasSubstr("multiple of 4"));
  }
  for (const Shape& shape : {Shape{4}, Shape{2, 6}}) EXPECT_TRUE(gpu.allocate({DType::f32, shape}));
  EXPECT_TRUE(gpu.allocate({DType::i32, {3}})) << "indices are exempt";
}

TEST_F(Tensors, TakeAScalarWhereItsZerosHaveRoomOnAGpuOnly) {
  TensorTable gpu(arena, BackendTarget::gpu);
  constexpr TensorDesc scalar{DType::f32, {}};
  for (const Shape& shape : {Shape{4}, Shape{2, 2}, Shape{12}}) {
    const TensorDesc desc{DType::f32, shape};
    const Request request = ops::sum_all(std::array{1.0f, 2.0f});
    const auto held = gpu.hold(request.into(view(gpu.allocate(desc).value(), desc)), scalar);
    ASSERT_TRUE(held) << held.error().text();
    (*held)->release();
    const auto refused = hold(request.into(view(tensor(desc), desc)), scalar);
    EXPECT_EQ(refused.error(), Errc::dimension_mismatch) << shape.text();
  }
  // Only a scalar: other results have the shape of their output.
  const auto refused = gpu.hold(
      ops::relu(std::array{1.0f}).into(view(gpu.allocate(four_floats).value())), {DType::f32, {1}});
  EXPECT_EQ(refused.error(), Errc::dimension_mismatch);
}

TEST_F(Tensors, OfIntegersAreOnAGpuTheIndicesOfAGatherAndNothingElse) {
  TensorTable gpu(arena, BackendTarget::gpu);
  for (const DType dtype : {DType::i32, DType::i64}) {
    const TensorDesc desc{dtype, {3}};
    const TensorView integers = view(gpu.allocate(desc).value(), desc);
    const TensorView floats = view(gpu.allocate(four_floats).value());
    const auto held = gpu.hold(ops::gather(floats, integers), {DType::f32, {3}});
    ASSERT_TRUE(held) << held.error().text();
    (*held)->release();
    for (const Request& request :
         {ops::gather(integers, integers), ops::copy(integers), ops::add(integers, integers)}) {
      const auto refused = gpu.hold(request, desc);
      EXPECT_EQ(refused.error(), Errc::invalid_dtype);
      EXPECT_THAT(refused.error().detail, HasSubstr(desc.text()));
    }
    // As an output, of inline operands.
    const std::array<std::int32_t, 3> numbers{1, 2, 3};
    const Request request = ops::copy({desc, numbers.data()}).into(integers);
    EXPECT_EQ(gpu.hold(request, desc).error(), Errc::invalid_dtype);
    const TensorView on_cpu = view(tensor(desc), desc);
    const auto allowed = hold(request.into(on_cpu), desc);
    ASSERT_TRUE(allowed) << allowed.error().text();
    (*allowed)->release();
  }
}

}  // namespace
}  // namespace ringkernel::test
