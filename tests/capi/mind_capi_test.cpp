// The C interface of the MIND runtime: what it does, and every function with null and nonsense.
#include <gmock/gmock.h>

#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "capi/nonsense.hpp"
#include "ringkernel/mind_runtime.h"

namespace ringkernel::test {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::size_t endless = std::numeric_limits<std::size_t>::max();

std::string mind_error() {
  const char* const text = mind_runtime_last_error();
  return text == nullptr ? "none" : text;
}

class MindCapi : public ::testing::Test {
 protected:
  MindCapi() : runtime_(open()) {}
  ~MindCapi() override { mind_runtime_free(runtime_); }
  MindCapi(const MindCapi&) = delete;
  MindCapi& operator=(const MindCapi&) = delete;

  static mind_runtime_t* open() {
    mind_runtime_options_t options{};
    options.struct_size = sizeof options;
    options.backend = "native";
    mind_runtime_t* runtime = nullptr;
    EXPECT_EQ(mind_runtime_open(MIND_DEVICE_CPU, &options, &runtime), MIND_STATUS_OK)
        << mind_error();
    return runtime;
  }
  mind_tensor_t* tensor(std::vector<std::int64_t> shape, mind_dtype_t dtype = MIND_DTYPE_F32) {
    mind_tensor_t* made = nullptr;
    EXPECT_EQ(mind_tensor_alloc(runtime_, dtype, shape.data(), shape.size(), &made), MIND_STATUS_OK)
        << mind_error();
    return made;
  }
  mind_tensor_t* filled(std::vector<float> elements) {
    mind_tensor_t* const made = tensor({static_cast<std::int64_t>(elements.size())});
    EXPECT_EQ(mind_tensor_write_f32(runtime_, made, elements.data(), elements.size()),
              MIND_STATUS_OK);
    return made;
  }
  std::vector<float> contents(mind_tensor_t* of, std::size_t count) {
    std::vector<float> elements(count, -1);
    EXPECT_EQ(mind_tensor_read_f32(runtime_, of, elements.data(), count), MIND_STATUS_OK)
        << mind_error();
    return elements;
  }
  static void expect_refused(mind_status_t status, const char* what, mind_status_t wanted,
                             const char* text) {
    EXPECT_EQ(status, wanted) << what << ": " << mind_error();
    EXPECT_THAT(mind_error(), HasSubstr(text)) << what;
  }

  mind_runtime_t* runtime_;
};

TEST_F(MindCapi, RunsOpsByNameByTextAndWithAttributes) {
  mind_tensor_t* const x = tensor({2, 3});
  const float elements[] = {1, 2, 3, 4, 5, 6};
  ASSERT_EQ(mind_tensor_write_f32(runtime_, x, elements, 6), MIND_STATUS_OK);
  mind_tensor_t* const rows = tensor({2});
  ASSERT_EQ(mind_runtime_run_op(runtime_, "Sum(%0, [1], false)", &x, 1, &rows, 1), MIND_STATUS_OK);
  EXPECT_THAT(contents(rows, 2), ElementsAre(6, 15));
  ASSERT_EQ(mind_runtime_run_op_attr(runtime_, "mean", "[1], false", &x, 1, &rows, 1),
            MIND_STATUS_OK);
  EXPECT_THAT(contents(rows, 2), ElementsAre(2, 5));
  mind_tensor_t* const both[] = {x, x};
  ASSERT_EQ(mind_runtime_run_op(runtime_, "tensor.add", both, 2, &x, 1), MIND_STATUS_OK);
  ASSERT_EQ(mind_runtime_run_op_attr(runtime_, "Mul", " ", both, 2, &x, 1), MIND_STATUS_OK);
  EXPECT_THAT(contents(x, 6), ElementsAre(4, 16, 36, 64, 100, 144));
  ASSERT_EQ(mind_runtime_run_op_attr(runtime_, "noop", "", nullptr, 0, nullptr, 0), MIND_STATUS_OK);
  EXPECT_EQ(mind_runtime_last_error(), nullptr);
}

TEST_F(MindCapi, HasIntegers) {
  mind_tensor_t* const x = filled({10, 20, 30});
  mind_tensor_t* const indices = tensor({2}, MIND_DTYPE_I32);
  mind_tensor_t* const wide = tensor({2}, MIND_DTYPE_I64);
  const std::int32_t narrow_indices[] = {2, 0};
  const std::int64_t wide_indices[] = {1, -1};
  ASSERT_EQ(mind_tensor_write_i32(runtime_, indices, narrow_indices, 2), MIND_STATUS_OK);
  ASSERT_EQ(mind_tensor_write_i64(runtime_, wide, wide_indices, 2), MIND_STATUS_OK);
  std::int32_t narrow_copy[2] = {};
  std::int64_t wide_copy[2] = {};
  ASSERT_EQ(mind_tensor_read_i32(runtime_, indices, narrow_copy, 2), MIND_STATUS_OK);
  ASSERT_EQ(mind_tensor_read_i64(runtime_, wide, wide_copy, 2), MIND_STATUS_OK);
  EXPECT_THAT(narrow_copy, ElementsAre(2, 0));
  EXPECT_THAT(wide_copy, ElementsAre(1, -1));
  mind_tensor_t* const out = tensor({2});
  mind_tensor_t* const gather[] = {x, indices};
  ASSERT_EQ(mind_runtime_run_op(runtime_, "gather", gather, 2, &out, 1), MIND_STATUS_OK);
  EXPECT_THAT(contents(out, 2), ElementsAre(30, 10));
  mind_tensor_t* const outside[] = {x, wide};
  expect_refused(mind_runtime_run_op(runtime_, "gather", outside, 2, &out, 1), "gather",
                 MIND_STATUS_INVALID_ARG, "E6001");
}

TEST_F(MindCapi, GivesOpsWithoutWaitingAndTellsTheirErrorsOnce) {
  mind_tensor_t* const x = filled({-1, 2});
  ASSERT_EQ(mind_runtime_run_op_async(runtime_, "relu", nullptr, &x, 1, &x, 1), MIND_STATUS_OK);
  ASSERT_EQ(mind_runtime_synchronize(runtime_), MIND_STATUS_OK);
  EXPECT_THAT(contents(x, 2), ElementsAre(0, 2));
  ASSERT_EQ(mind_runtime_run_op_async(runtime_, "sum", "[7], false", &x, 1, &x, 1), MIND_STATUS_OK);
  expect_refused(mind_runtime_synchronize(runtime_), "sum", MIND_STATUS_INVALID_ARG, "E3004");
  EXPECT_EQ(mind_runtime_synchronize(runtime_), MIND_STATUS_OK);
  EXPECT_EQ(mind_runtime_recover(runtime_), MIND_STATUS_OK) << "nothing to do";
}

TEST_F(MindCapi, MapsTheCodesOfTheSpecification) {
  mind_tensor_t* const x = filled({1, 2});
  mind_tensor_t* const scalar = tensor({});
  mind_tensor_t* const integers = tensor({2}, MIND_DTYPE_I32);
  const auto run = [&](const char* op, mind_tensor_t* in, mind_tensor_t* out) {
    return mind_runtime_run_op(runtime_, op, &in, 1, &out, 1);
  };
  expect_refused(run("add", x, x), "add", MIND_STATUS_INVALID_ARG, "E2007");
  expect_refused(run("copy", x, integers), "copy", MIND_STATUS_INVALID_ARG, "E2004");
  expect_refused(run("copy", x, scalar), "copy", MIND_STATUS_INVALID_ARG, "E3003");
  expect_refused(run("Index(%0, [2])", x, scalar), "Index", MIND_STATUS_INVALID_ARG, "E6001");
  expect_refused(run("Index(%0, [2)", x, scalar), "Index", MIND_STATUS_INVALID_ARG, "column 13");
  expect_refused(run("frobnicate", x, x), "frobnicate", MIND_STATUS_UNSUPPORTED, "E6003");
  mind_tensor_t* made = nullptr;
  const std::int64_t huge[] = {1 << 30, 2};
  expect_refused(mind_tensor_alloc(runtime_, MIND_DTYPE_F32, huge, 2, &made), "huge",
                 MIND_STATUS_RUNTIME_ERROR, "E6004");
  EXPECT_EQ(made, nullptr);
}

TEST_F(MindCapi, ReportsADeviceThatIsNotThere) {
  mind_runtime_options_t options{};
  options.struct_size = sizeof options;
  options.backend = "native";
  mind_runtime_t* runtime = nullptr;
  expect_refused(mind_runtime_open(MIND_DEVICE_GPU, &options, &runtime), "gpu",
                 MIND_STATUS_UNSUPPORTED, "E6002");
  EXPECT_EQ(runtime, nullptr);
}

TEST_F(MindCapi, KeepsTheLastErrorForItsThread) {
  EXPECT_EQ(mind_runtime_synchronize(nullptr), MIND_STATUS_INVALID_ARG);
  std::thread([] { EXPECT_EQ(mind_runtime_last_error(), nullptr); }).join();
  EXPECT_THAT(mind_error(), HasSubstr("rt is null"));
}

// --- null and nonsense ------------------------------------------------------------------------

/// Every function that takes a runtime and returns a status.
TEST_F(MindCapi, RefusesWhatIsNoRuntime) {
  mind_tensor_t* x = filled({1, 2});
  const std::int64_t shape[] = {2};
  float floats[2] = {};
  std::int32_t narrow[2] = {};
  std::int64_t wide[2] = {};
  mind_tensor_t* made = nullptr;
  for (mind_runtime_t* const none : no_handles<mind_runtime_t>(x)) {
    const mind_status_t statuses[] = {
        mind_tensor_alloc(none, MIND_DTYPE_F32, shape, 1, &made),
        mind_tensor_write_f32(none, x, floats, 2),
        mind_tensor_read_f32(none, x, floats, 2),
        mind_tensor_write_i32(none, x, narrow, 2),
        mind_tensor_read_i32(none, x, narrow, 2),
        mind_tensor_write_i64(none, x, wide, 2),
        mind_tensor_read_i64(none, x, wide, 2),
        mind_runtime_run_op(none, "relu", &x, 1, &x, 1),
        mind_runtime_run_op_attr(none, "relu", "", &x, 1, &x, 1),
        mind_runtime_run_op_async(none, "relu", "", &x, 1, &x, 1),
        mind_runtime_synchronize(none),
        mind_runtime_recover(none),
    };
    EXPECT_THAT(statuses, Each(MIND_STATUS_INVALID_ARG)) << none;
    EXPECT_THAT(mind_error(), HasSubstr("rt is n"));
    mind_runtime_free(none);
    mind_tensor_free(none, x);
  }
  EXPECT_EQ(made, nullptr);
  EXPECT_THAT(contents(x, 2), ElementsAre(1, 2)) << "nothing happened to the tensor";
}

TEST_F(MindCapi, RefusesWhatIsNoTensor) {
  mind_tensor_t* x = filled({1, 2});
  float floats[2] = {};
  std::int32_t narrow[2] = {};
  std::int64_t wide[2] = {};
  for (mind_tensor_t* const none : no_handles<mind_tensor_t>(runtime_)) {
    mind_tensor_t* const two[] = {x, none};
    const mind_status_t statuses[] = {
        mind_tensor_write_f32(runtime_, none, floats, 2),
        mind_tensor_read_f32(runtime_, none, floats, 2),
        mind_tensor_write_i32(runtime_, none, narrow, 2),
        mind_tensor_read_i32(runtime_, none, narrow, 2),
        mind_tensor_write_i64(runtime_, none, wide, 2),
        mind_tensor_read_i64(runtime_, none, wide, 2),
        mind_runtime_run_op(runtime_, "add", two, 2, &x, 1),
        mind_runtime_run_op(runtime_, "relu", &x, 1, &none, 1),
        mind_runtime_run_op_attr(runtime_, "relu", "", &none, 1, &x, 1),
        mind_runtime_run_op_async(runtime_, "relu", "", &none, 1, &x, 1),
    };
    EXPECT_THAT(statuses, Each(MIND_STATUS_INVALID_ARG)) << none;
    mind_tensor_free(runtime_, none);
  }
  expect_refused(mind_runtime_run_op(runtime_, "relu", &x, 1, nullptr, 1), "null array",
                 MIND_STATUS_INVALID_ARG, "outputs is null");
}

TEST_F(MindCapi, TellsTheExactCode) {
  mind_tensor_t* x = filled({1, 2});
  mind_tensor_t* y = filled({1, 2, 3});
  EXPECT_EQ(mind_runtime_last_code(), 0);
  mind_tensor_t* const both[] = {x, y};
  EXPECT_EQ(mind_runtime_run_op(runtime_, "add", both, 2, &x, 1), MIND_STATUS_INVALID_ARG);
  EXPECT_EQ(mind_runtime_last_code(), 3001);
  EXPECT_EQ(mind_runtime_run_op(runtime_, "relu", &x, 1, &x, 1), MIND_STATUS_OK);
  EXPECT_EQ(mind_runtime_last_code(), 0);
}

TEST_F(MindCapi, RefusesNullAndNonsenseForEverythingElse) {
  mind_tensor_t* x = filled({1, 2});
  mind_tensor_t* made = nullptr;
  mind_runtime_t* runtime = nullptr;
  const std::int64_t shape[] = {2}, negative[] = {-2}, zero[] = {0};
  float floats[3] = {};
  std::int32_t narrow[2] = {};
  std::int64_t wide[2] = {};
  mind_runtime_options_t no_size{}, huge_size{}, no_backend{}, no_queues{}, no_arena{}, unknown{};
  huge_size.struct_size = 1u << 20;
  no_backend.struct_size = no_queues.struct_size = no_arena.struct_size = sizeof no_backend;
  no_backend.backend = "abacus";
  no_queues.queues = 1000;
  unknown.struct_size = sizeof unknown;
  unknown.reserved = 1;
  no_arena.arena_bytes = std::numeric_limits<std::uint64_t>::max();
  const auto f32 = MIND_DTYPE_F32;
  const std::pair<mind_status_t, const char*> refused[] = {
      {mind_runtime_new(MIND_DEVICE_CPU, nullptr), "out_rt"},
      {mind_runtime_new(static_cast<mind_device_t>(7), &runtime), "device 7"},
      {mind_runtime_new(static_cast<mind_device_t>(0x7ffffffe), &runtime), "huge device"},
      {mind_runtime_new(MIND_DEVICE_MAX_ENUM, &runtime), "max device"},
      {mind_runtime_open(MIND_DEVICE_CPU, &no_size, &runtime), "no size"},
      {mind_runtime_open(MIND_DEVICE_CPU, &huge_size, &runtime), "huge size"},
      {mind_runtime_open(MIND_DEVICE_CPU, &no_queues, &runtime), "1000 queues"},
      {mind_runtime_open(MIND_DEVICE_CPU, &unknown, &runtime), "a reserved field"},
      {mind_tensor_alloc(runtime_, f32, nullptr, 1, &made), "null shape"},
      {mind_tensor_alloc(runtime_, f32, shape, 1, nullptr), "null out"},
      {mind_tensor_alloc(runtime_, f32, shape, 9, &made), "rank 9"},
      {mind_tensor_alloc(runtime_, f32, shape, endless, &made), "endless rank"},
      {mind_tensor_alloc(runtime_, f32, negative, 1, &made), "negative"},
      {mind_tensor_alloc(runtime_, f32, zero, 1, &made), "zero"},
      {mind_tensor_alloc(runtime_, static_cast<mind_dtype_t>(9), shape, 1, &made), "dtype 9"},
      {mind_tensor_alloc(runtime_, MIND_DTYPE_MAX_ENUM, shape, 1, &made), "max dtype"},
      {mind_tensor_write_f32(runtime_, x, nullptr, 2), "null data"},
      {mind_tensor_read_f32(runtime_, x, nullptr, 2), "null data"},
      {mind_tensor_write_f32(runtime_, x, floats, 3), "3 of 2"},
      {mind_tensor_read_f32(runtime_, x, floats, endless), "endless"},
      {mind_tensor_write_i32(runtime_, x, narrow, 2), "i32 into f32"},
      {mind_tensor_read_i32(runtime_, x, narrow, 2), "i32 of f32"},
      {mind_tensor_write_i64(runtime_, x, wide, 2), "i64 into f32"},
      {mind_tensor_read_i64(runtime_, x, wide, 2), "i64 of f32"},
      {mind_runtime_run_op(runtime_, nullptr, &x, 1, &x, 1), "null op"},
      {mind_runtime_run_op(runtime_, "", &x, 1, &x, 1), "empty op"},
      {mind_runtime_run_op(runtime_, "relu(", &x, 1, &x, 1), "half an op"},
      {mind_runtime_run_op(runtime_, "relu", nullptr, 1, &x, 1), "null inputs"},
      {mind_runtime_run_op(runtime_, "relu", &x, endless, &x, 1), "endless inputs"},
      {mind_runtime_run_op(runtime_, "relu", &x, 1, &x, endless), "endless outputs"},
      {mind_runtime_run_op(runtime_, "relu", &x, 1, nullptr, 0), "no output"},
      {mind_runtime_run_op_attr(runtime_, nullptr, "", &x, 1, &x, 1), "null op"},
      {mind_runtime_run_op_attr(runtime_, "relu", "[1]", &x, 1, &x, 1), "needless attributes"},
      {mind_runtime_run_op_attr(runtime_, "Sum(%0", "[1], false", &x, 1, &x, 1), "half an op"},
      {mind_runtime_run_op_async(runtime_, nullptr, nullptr, &x, 1, &x, 1), "null op"},
  };
  for (const auto& [status, what] : refused) EXPECT_EQ(status, MIND_STATUS_INVALID_ARG) << what;
  EXPECT_EQ(mind_runtime_open(MIND_DEVICE_CPU, &no_backend, &runtime), MIND_STATUS_UNSUPPORTED);
  EXPECT_NE(mind_runtime_open(MIND_DEVICE_CPU, &no_arena, &runtime), MIND_STATUS_OK);
  for (const auto dtype : {MIND_DTYPE_U8, MIND_DTYPE_F16})
    EXPECT_EQ(mind_tensor_alloc(runtime_, dtype, shape, 1, &made), MIND_STATUS_UNSUPPORTED);
  EXPECT_EQ(made, nullptr);
  EXPECT_EQ(runtime, nullptr);
  EXPECT_THAT(contents(x, 2), ElementsAre(1, 2));
}

TEST_F(MindCapi, RefusesHandlesThatWereFreedOrBelongElsewhere) {
  mind_runtime_t* const other = open();
  mind_tensor_t* const x = filled({1, 2});
  float floats[2] = {};
  expect_refused(mind_tensor_read_f32(other, x, floats, 2), "other runtime",
                 MIND_STATUS_INVALID_ARG, "another runtime");
  expect_refused(mind_runtime_run_op(other, "relu", &x, 1, &x, 1), "other runtime",
                 MIND_STATUS_INVALID_ARG, "another runtime");
  mind_tensor_free(other, x);
  EXPECT_THAT(mind_error(), HasSubstr("another runtime"));
  EXPECT_THAT(contents(x, 2), ElementsAre(1, 2));
  mind_tensor_free(runtime_, x);
  mind_tensor_free(runtime_, x);
  EXPECT_THAT(mind_error(), HasSubstr("tensor is no live handle"));
  mind_tensor_t* left = nullptr;
  const std::int64_t shape[] = {2};
  ASSERT_EQ(mind_tensor_alloc(other, MIND_DTYPE_F32, shape, 1, &left), MIND_STATUS_OK);
  mind_runtime_free(other);
  EXPECT_EQ(mind_runtime_synchronize(other), MIND_STATUS_INVALID_ARG);
  expect_refused(mind_tensor_read_f32(runtime_, left, floats, 2), "went with its runtime",
                 MIND_STATUS_INVALID_ARG, "no live handle");
  mind_runtime_free(other);
  EXPECT_THAT(mind_error(), HasSubstr("rt is no live handle"));
  mind_runtime_free(nullptr);
  EXPECT_EQ(mind_runtime_last_error(), nullptr);
}

TEST(MindCapiNoop, AllocatesHandlesAndDoesNothing) {
  mind_runtime_t* runtime = nullptr;
  ASSERT_EQ(mind_runtime_new(MIND_DEVICE_NOOP, &runtime), MIND_STATUS_OK);
  mind_tensor_t* x = nullptr;
  const std::int64_t shape[] = {2};
  ASSERT_EQ(mind_tensor_alloc(runtime, MIND_DTYPE_F32, shape, 1, &x), MIND_STATUS_OK);
  float elements[] = {1, 2};
  EXPECT_EQ(mind_tensor_write_f32(runtime, x, elements, 2), MIND_STATUS_OK);
  EXPECT_EQ(mind_runtime_run_op(runtime, "demo_op", &x, 1, nullptr, 0), MIND_STATUS_OK);
  EXPECT_EQ(mind_runtime_run_op_attr(runtime, "demo_op", "[?]", &x, 1, &x, 1), MIND_STATUS_OK);
  EXPECT_EQ(mind_runtime_run_op_async(runtime, "demo_op", nullptr, &x, 1, &x, 1), MIND_STATUS_OK);
  EXPECT_EQ(mind_runtime_synchronize(runtime), MIND_STATUS_OK);
  EXPECT_EQ(mind_runtime_recover(runtime), MIND_STATUS_OK);
  EXPECT_EQ(mind_tensor_read_f32(runtime, x, elements, 2), MIND_STATUS_OK);
  EXPECT_THAT(elements, Each(0.0f)) << "a tensor is zero, and nothing is done to it";
  EXPECT_EQ(mind_tensor_read_f32(runtime, x, elements, 3), MIND_STATUS_INVALID_ARG);
  EXPECT_EQ(mind_runtime_run_op(runtime, nullptr, &x, 1, nullptr, 0), MIND_STATUS_INVALID_ARG);
  mind_tensor_free(runtime, x);
  EXPECT_EQ(mind_runtime_run_op(runtime, "demo_op", &x, 1, nullptr, 0), MIND_STATUS_INVALID_ARG);
  mind_runtime_free(runtime);
}

TEST_F(MindCapi, MayBeFreedWhileOthersUseIt) {
  mind_runtime_t* const shared = open();
  mind_tensor_t* x = nullptr;
  const std::int64_t shape[] = {2};
  ASSERT_EQ(mind_tensor_alloc(shared, MIND_DTYPE_F32, shape, 1, &x), MIND_STATUS_OK);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([shared, x] {
      mind_status_t status = MIND_STATUS_OK;
      while (status == MIND_STATUS_OK) status = mind_runtime_run_op(shared, "relu", &x, 1, &x, 1);
      EXPECT_EQ(status, MIND_STATUS_INVALID_ARG) << mind_error();
    });
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(mind_runtime_run_op(shared, "relu", &x, 1, &x, 1), MIND_STATUS_OK) << mind_error();
  mind_runtime_free(shared);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace ringkernel::test
