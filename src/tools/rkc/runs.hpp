/// Runs the messages of `rkc check` in child processes: natively with sanitizers, and on Oclgrind
/// with any number of lanes.
///
/// Threading: one thread; blocks while children run.
/// Errors: backend_unavailable where there is no compiler; build_failed with the compiler's words;
/// device_error where a child cannot do its work.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backend/native/scratch_folder.hpp"
#include "backend/native/toolchain.hpp"
#include "harness/record.h"
#include "program/definition.hpp"
#include "ringkernel/result.hpp"

namespace rkc {

using Bytes = std::vector<std::byte>;

/// One message, as a child gets it.
struct Message {
  rk_check_message head{};
  Bytes payload;
};

/// What became of it.
struct Outcome {
  rk_check_result result{};
  Bytes reply;  ///< all of the room
  Bytes state;
};

struct Ran {
  std::vector<Outcome> outcomes;    ///< of the messages from the first on, up to the end
  std::string log;                  ///< marks, and words between them
  std::optional<std::string> died;  ///< why it ended before the last message
};

class Runs {
 public:
  /// `seconds`: of processor time that a message may take.
  [[nodiscard]] static ringkernel::Result<Runs> make(unsigned seconds);

  [[nodiscard]] ringkernel::Result<Ran> natively(const ringkernel::program::Definition& program,
                                                 const std::vector<Message>& messages);
  /// Each message finds the state that `before` left for it, so that runs can be compared message
  /// by message. As many messages are run as `before` has outcomes.
  [[nodiscard]] ringkernel::Result<Ran> with_lanes(const ringkernel::program::Definition& program,
                                                   unsigned lanes,
                                                   const std::vector<Message>& messages,
                                                   const std::vector<Outcome>& before);
  /// Its path; empty: it is not installed.
  [[nodiscard]] const std::string& oclgrind() const noexcept { return oclgrind_; }

 private:
  Runs(ringkernel::native::Surroundings surroundings, ringkernel::native::ScratchFolder folder,
       unsigned seconds);

  ringkernel::Result<Ran> run(const std::string& name, std::vector<std::string> words,
                              std::vector<std::string> variables,
                              const std::vector<Message>& messages, std::size_t count);
  ringkernel::Result<void> compile(const ringkernel::program::Definition& program,
                                   const std::string& binary);

  [[nodiscard]] ringkernel::Error no_room() const;

  ringkernel::native::Surroundings surroundings_;
  ringkernel::native::ScratchFolder folder_;
  unsigned seconds_;
  std::string oclgrind_;
};

}  // namespace rkc
