/// The process of `rkc check` that runs the messages of a file natively, one after the other.
/// Arguments: the messages, the results, the log, seconds of processor time for each.
#ifndef RINGKERNEL_RKC_MAIN_H
#define RINGKERNEL_RKC_MAIN_H

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

extern "C" uint32_t rk_check_handle(uint8_t* payload, uint32_t payload_bytes, uint32_t selector,
                                    uint8_t* reply, uint32_t reply_bytes, uint8_t* state,
                                    uint32_t state_bytes, uint32_t behaviour, uint32_t is_migration,
                                    uint64_t* out);

namespace rk_check {

uint8_t* make(size_t bytes, int fill) {
  void* memory = nullptr;
  // Not one byte more than there is: the sanitizer watches what lies behind.
  if (posix_memalign(&memory, 64, bytes) != 0) abort();
  memset(memory, fill, bytes);
  return static_cast<uint8_t*>(memory);
}

bool read_padded(FILE* from, void* to, size_t bytes) {
  unsigned char padding[8];
  const size_t rest = (8 - bytes % 8) % 8;
  return fread(to, 1, bytes, from) == bytes && fread(padding, 1, rest, from) == rest;
}

void write_padded(FILE* to, const void* from, size_t bytes) {
  const unsigned char padding[8] = {};
  fwrite(from, 1, bytes, to);
  fwrite(padding, 1, (8 - bytes % 8) % 8, to);
}

void run(const rk_check_message& what, uint8_t* payload, uint8_t* state, FILE* results) {
  uint8_t* const reply = make(what.reply_bytes, 0xa5);
  uint64_t said[2] = {};
  const uint32_t outcome =
      rk_check_handle(payload, what.payload_bytes, what.selector, reply, what.reply_bytes, state,
                      what.state_bytes, what.behaviour, what.is_migration, said);
  const rk_check_result result = {said[0], outcome, (uint32_t)said[1]};
  fwrite(&result, sizeof result, 1, results);
  write_padded(results, reply, what.reply_bytes);
  write_padded(results, state, what.state_bytes);
  fflush(results);
  free(reply);
}

void run_all(FILE* messages, FILE* results, const itimerval& limit) {
  rk_check_message what;
  uint32_t actor = ~0u;
  uint8_t* state = nullptr;
  for (unsigned number = 0; fread(&what, sizeof what, 1, messages) == 1; ++number) {
    if (what.actor != actor) {
      free(state);
      state = make(what.state_bytes, 0);
      actor = what.actor;
    }
    uint8_t* const payload = make(what.payload_bytes, 0);
    if (!read_padded(messages, payload, what.payload_bytes)) abort();
    dprintf(2, RK_CHECK_MARK "%u\n", number);
    setitimer(ITIMER_PROF, &limit, nullptr);
    run(what, payload, state, results);
    free(payload);
  }
  free(state);
}

}  // namespace rk_check

int main(int count, char** arguments) {
  if (count != 5) return 2;
  const int log = open(arguments[3], O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (log < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0) return 2;
  FILE* const messages = fopen(arguments[1], "rb");
  FILE* const results = fopen(arguments[2], "wb");
  if (messages == nullptr || results == nullptr) return 2;
  itimerval limit = {};
  limit.it_value.tv_sec = atoi(arguments[4]);
  rk_check::run_all(messages, results, limit);
  return fclose(results) == 0 && fclose(messages) == 0 ? 0 : 2;
}

#endif
