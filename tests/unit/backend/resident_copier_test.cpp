// Copies by a resident kernel: each byte where it belongs, whatever comes between.
#include "backend/opencl/resident_copier.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "backend/opencl/copy_queue.hpp"
#include "backend/opencl/memory.hpp"
#include "backend/opencl/program.hpp"
#include "support/skip.hpp"
#include "support/stress.hpp"

namespace ringkernel::opencl {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t arena_bytes = std::size_t{64} * 1024;

/// The mailbox is memory that the driver allocates for the host, which a processor shares anyway.
class ResidentCopierOpenCl : public ::testing::Test {
 protected:
  void SetUp() override {
    if (discover().devices.empty()) RK_SKIP_WITHOUT("opencl", "no device");
    found_ = &discover().devices.front();
    if (found_->description.kind != RK_DEVICE_KIND_CPU) RK_SKIP_UNSUPPORTED("no processor");
    cl_int status = CL_SUCCESS;
    context_ = Context(cl().clCreateContext(nullptr, 1, &found_->id, nullptr, nullptr, &status));
    ASSERT_EQ(status, CL_SUCCESS);
    options_ = build_options(found_->id).value();
    cache_ = std::make_unique<BinaryCache>(*found_);
    arena_ = make_buffer(context_.get(), arena_bytes).value();
    copies_ = std::make_unique<CopyQueue>(make_queue(context_.get(), found_->id).value(), false);
  }

  /// Where this driver has no shared host memory, or too few threads, the library goes without.
  void use_copier() {
    const Probe probe{context_.get(), found_->id, options_, *cache_};
    auto copier = ResidentCopier::open(*found_, probe, arena_.get(), ResidentCopier::Memory::any);
    ASSERT_TRUE(copier) << copier.error().text();
    copier_ = copier->get();
    copies_->use(*std::move(copier));
  }

  Result<std::uint64_t> start(std::span<const rk_copy> copies) {
    copies_->ensure_copier_runs();
    return copies_->start(arena_.get(), copies);
  }
  void copy(std::span<const rk_copy> copies) {
    const auto ticket = start(copies);
    ASSERT_TRUE(ticket) << ticket.error().text();
    const auto ended = copies_->wait(*ticket, 30s);
    ASSERT_TRUE(ended) << ended.error().text();
  }

  const FoundDevice* found_ = nullptr;
  Context context_;
  std::string options_;
  std::unique_ptr<BinaryCache> cache_;
  Buffer arena_;
  std::unique_ptr<CopyQueue> copies_;
  const ResidentCopier* copier_ = nullptr;
};

/// Random copies, as many at once as there may be, beside a model of the arena.
TEST_F(ResidentCopierOpenCl, CopiesWhatTheQueueWould) {
  use_copier();
  std::mt19937 random(7);
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
  std::vector<std::byte> model(arena_bytes);
  copy({{rk_copy{RK_COPY_TO_DEVICE, 0, 0, arena_bytes, model.data(), 0}}});  // too large: the queue
  const auto deadline = std::chrono::steady_clock::now() + 30s;
  while (copier_->batches() == 0) {  // until the kernel is there
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    copy({{rk_copy{RK_COPY_TO_DEVICE, 0, 0, 16, model.data(), 0}}});
  }
  const int rounds = static_cast<int>(test::scaled(2000, 200));
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    std::vector<std::vector<std::byte>> host;
    std::vector<std::vector<std::byte>> expected;
    std::vector<rk_copy> copies;
    for (std::size_t i = 1 + below(12); i != 0; --i) {
      const std::size_t grain = std::size_t{1} << below(7);
      const std::size_t bytes = grain * (1 + below(2000 / grain));
      const std::size_t offset = below((arena_bytes - bytes) / grain) * grain;
      std::vector<std::byte> bytes_here(bytes);
      if (below(2) == 0) {
        for (std::byte& byte : bytes_here) byte = static_cast<std::byte>(random());
        std::copy(bytes_here.begin(), bytes_here.end(),
                  model.begin() + static_cast<std::ptrdiff_t>(offset));
        copies.push_back({RK_COPY_TO_DEVICE, 0, offset, bytes, nullptr, 0});
        expected.push_back(bytes_here);
      } else {
        copies.push_back({RK_COPY_TO_HOST, 0, offset, bytes, nullptr, 0});
        const auto begin = model.begin() + static_cast<std::ptrdiff_t>(offset);
        expected.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(bytes));
      }
      host.push_back(std::move(bytes_here));
      copies.back().host = host.back().data();
    }
    copy(copies);
    EXPECT_EQ(host, expected) << "round " << round;
  }
}

TEST_F(ResidentCopierOpenCl, WhoLeavesMeanwhileLosesNoBatch) {
  use_copier();
  std::atomic<bool> over{false};
  std::thread holder([&] {
    while (!over.load()) {
      const Residency::Hold hold(&found_->residency);
      std::this_thread::yield();
    }
  });
  std::uint32_t received = 0;
  const int rounds = static_cast<int>(test::scaled(2000, 200));
  for (std::uint32_t round = 1; round <= static_cast<std::uint32_t>(rounds); ++round) {
    copy({{rk_copy{RK_COPY_TO_DEVICE, 0, 64, sizeof round, &round, 0},
           rk_copy{RK_COPY_TO_HOST, 0, 64, sizeof received, &received, 0}}});
    ASSERT_EQ(received, round);
  }
  over.store(true);
  holder.join();
}

TEST_F(ResidentCopierOpenCl, ThreadsTakeTurns) {
  use_copier();
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < 3; ++thread)
    threads.emplace_back([&, thread] {
      const int rounds = static_cast<int>(test::scaled(500, 50));
      for (int round = 0; round < rounds; ++round) {
        // One in four is too large for a batch, and goes into the queue in its turn.
        const std::size_t bytes = round % 4 == 3 ? 20'000 : 200;
        std::vector<std::byte> sent(bytes, static_cast<std::byte>(round + 1));
        std::vector<std::byte> back(bytes);
        copy({{rk_copy{RK_COPY_TO_DEVICE, 0, thread * 20'480, bytes, sent.data(), 0},
               rk_copy{RK_COPY_TO_HOST, 0, thread * 20'480, bytes, back.data(), 0}}});
        ASSERT_EQ(sent, back);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(ResidentCopierOpenCl, IsNotThereWithoutMemoryThatAKernelShares) {
  const Probe probe{context_.get(), found_->id, options_, *cache_};
  const auto copier =
      ResidentCopier::open(*found_, probe, arena_.get(), ResidentCopier::Memory::of_nvidia);
  ASSERT_FALSE(copier);
  EXPECT_EQ(copier.error(), Errc::backend_unavailable);
}

}  // namespace
}  // namespace ringkernel::opencl
