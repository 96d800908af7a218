#include "end_signal.hpp"

#include <signal.h>

#include <initializer_list>

namespace rkstat {

namespace {

volatile sig_atomic_t end_wanted = 0;

extern "C" void want_end(int) { end_wanted = 1; }

}  // namespace

void note_end_signals() {
  struct sigaction action {};
  action.sa_handler = want_end;  // without SA_RESTART
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaction(number, &action, nullptr);
}

bool is_end_wanted() { return end_wanted != 0; }

}  // namespace rkstat
