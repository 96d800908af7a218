// Stores records without a pause, each of one number, until somebody ends it: `telemetry_child
// FOLDER`. Says where, then goes on.
#include <unistd.h>

#include <chrono>
#include <string>

#include "telemetry/counters_writer.hpp"
#include "unit/telemetry/sample_metrics.hpp"

int main(int argument_count, char** arguments) {
  using namespace ringkernel;
  if (argument_count != 2) return 2;
  const auto writer = telemetry::CountersWriter::create(arguments[1], std::chrono::milliseconds(1));
  if (!writer) return 1;
  (void)(*writer)->store(0, 1, testing::kernel_of(1), {});
  const std::string path = (*writer)->path().string() + "\n";
  if (write(STDOUT_FILENO, path.data(), path.size()) < 0) return 1;
  for (std::uint64_t number = 2;; ++number) {
    (void)(*writer)->store(0, 1, testing::kernel_of(number), {});
    const TraceEvent event = testing::event_of(number);
    (*writer)->append({&event, 1}, 0);
    (*writer)->beat(0);
  }
}
