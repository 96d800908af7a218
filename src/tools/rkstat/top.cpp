#include "top.hpp"

#include <curses.h>
#include <langinfo.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

#include "end_signal.hpp"
#include "outcome.hpp"
#include "top_model.hpp"
#include "top_screen.hpp"

// Last, because of its macros.
#include <term.h>

namespace rkstat {
namespace {

using std::chrono::steady_clock;

constexpr int escape = 27;

/// The terminal, in curses' hands until the object goes.
class Terminal {
 public:
  explicit Terminal(SCREEN* screen) : screen_(screen) {
    set_term(screen);
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    set_escdelay(25);  // of a key that sends several characters, also over ssh
    curs_set(0);
    if (has_colors()) {
      start_color();
      use_default_colors();
      init_pair(1, COLOR_RED, -1);
    }
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() {
    endwin();
    delscreen(screen_);
  }

  void draw(const TopModel& model, bool is_utf8) const {
    const ScreenSize size{static_cast<std::size_t>(std::max(getmaxx(stdscr), 0)),
                          static_cast<std::size_t>(std::max(getmaxy(stdscr), 0))};
    erase();
    int row = 0;
    for (const ScreenLine& line : render_top(model, size, is_utf8)) {
      const attr_t attributes = attributes_of(line.emphasis);
      attron(attributes);
      mvaddstr(row++, 0, line.text.c_str());
      attroff(attributes);
    }
    refresh();
  }

 private:
  static attr_t attributes_of(Emphasis emphasis) {
    switch (emphasis) {
      case Emphasis::none: return A_NORMAL;
      case Emphasis::title: return A_BOLD;
      case Emphasis::heading: return A_UNDERLINE;
      case Emphasis::selected: return A_REVERSE;
      case Emphasis::alarm: return A_BOLD | (has_colors() ? COLOR_PAIR(1) : A_NORMAL);
      case Emphasis::faint: break;
    }
    return A_DIM;
  }

  SCREEN* const screen_;
};

void type_filter(TopModel& model, int key) {
  std::string filter = model.filter();
  switch (key) {
    case escape: filter.clear(); [[fallthrough]];
    case '\r':
    case '\n':
    case KEY_ENTER: model.is_typing = false; break;
    case KEY_BACKSPACE:
    case 127:
    case '\b':
      while (!filter.empty() && (filter.back() & 0xc0) == 0x80) filter.pop_back();
      if (!filter.empty()) filter.pop_back();
      break;
    default:
      if (key >= ' ' && key <= 0xff) filter += static_cast<char>(key);
  }
  model.set_filter(std::move(filter));
}

/// False: it was enough.
bool obey(TopModel& model, int key) {
  constexpr std::ptrdiff_t page = 10;
  constexpr std::ptrdiff_t all = 1'000;
  if (model.is_typing) {
    type_filter(model, key);
    return true;
  }
  switch (key) {
    case 'q': return false;
    case KEY_UP: model.move(-1); break;
    case KEY_DOWN: model.move(1); break;
    case KEY_PPAGE: model.move(-page); break;
    case KEY_NPAGE: model.move(page); break;
    case KEY_HOME: model.move(-all); break;
    case KEY_END: model.move(all); break;
    case '\r':
    case '\n':
    case KEY_ENTER:
      model.select(0);  // from here on that kernel, wherever it goes
      model.show(TopModel::View::kernel);
      break;
    case '<': model.sort_by_next(-1); break;
    case '>': model.sort_by_next(1); break;
    case 'r': model.reverse(); break;
    case '/':
      model.view = TopModel::View::kernels;
      model.is_typing = true;
      break;
    case 'e': model.show(TopModel::View::errors); break;
    case 'h':
    case '?': model.show(TopModel::View::help); break;
    case 'p':
    case ' ': model.is_paused = !model.is_paused; break;
    case escape:
      if (model.view == TopModel::View::kernels) model.set_filter("");
      model.view = TopModel::View::kernels;
      break;
    default: break;
  }
  return true;
}

/// The terminal has been closed: it answers at once, for ever.
bool is_gone() {
  pollfd terminal{STDIN_FILENO, 0, 0};
  return poll(&terminal, 1, 0) > 0;
}

/// Until its user or a signal ends it.
void follow(TopModel& model, const Terminal& terminal, const Scope& scope,
            std::chrono::duration<double> delay, bool is_utf8) {
  steady_clock::time_point next_look = steady_clock::now();
  while (!is_end_wanted()) {
    const auto now = steady_clock::now();
    if (now >= next_look) {
      if (!model.is_paused)
        model.look(ringkernel::telemetry::read_all(scope), folder_problems(scope));
      next_look = now + std::chrono::duration_cast<steady_clock::duration>(delay);
    }
    terminal.draw(model, is_utf8);
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(next_look - now);
    timeout(static_cast<int>(std::max<std::int64_t>(wait.count(), 1)));
    const int key = getch();
    if (key != ERR && !obey(model, key)) return;
    if (key == ERR && is_gone()) return;
  }
}

}  // namespace

TopEnd run_top(const Scope& scope, std::chrono::duration<double> delay) {
  if (isatty(STDOUT_FILENO) == 0 || isatty(STDIN_FILENO) == 0)
    return {usage_error, "top needs a terminal; try rkstat --watch"};
  std::setlocale(LC_ALL, "");
  const bool is_utf8 = std::string_view(nl_langinfo(CODESET)) == "UTF-8";
  int known = 0;  // asked for first: where newterm fails it leaks what it has begun
  bool is_known = setupterm(nullptr, STDOUT_FILENO, &known) == OK;
  if (is_known) {
    is_known = cursor_address != nullptr;  // one that only prints has none
    del_curterm(cur_term);
  }
  SCREEN* const screen = is_known ? newterm(nullptr, stdout, stdin) : nullptr;
  if (screen == nullptr) {
    const char* const terminal = std::getenv("TERM");
    return {usage_error, "the terminal '" + std::string(terminal != nullptr ? terminal : "") +
                             "' ($TERM) is not known, or has no cursor to be placed; "
                             "try rkstat --watch"};
  }
  TopModel model;
  const Terminal terminal(screen);
  note_end_signals();
  follow(model, terminal, scope, delay, is_utf8);
  return {exit_code(model.now(), model.unreadable().empty()), {}};
}

}  // namespace rkstat
