/// SIGINT, SIGTERM and SIGHUP as the wish that the program come to its end.
///
/// Threading: the program's only thread.
#pragma once

namespace rkstat {

/// From now on they end nothing by themselves. They interrupt a wait in poll().
void note_end_signals();
[[nodiscard]] bool is_end_wanted();

}  // namespace rkstat
