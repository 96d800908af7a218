/// A program on a terminal of its own: what it has drawn, and keys for it. Understands what curses
/// says to an xterm.
///
/// Threading: one thread at a time.
/// Ownership: the program, which is killed with the object.
#pragma once

#include <sys/ioctl.h>
#include <sys/types.h>
#include <termios.h>

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace ringkernel::testing {

/// What an xterm would show.
class Display {
 public:
  Display(std::size_t columns, std::size_t rows) { resize(columns, rows); }

  /// What was meant for the size before may still come, until the program clears the screen.
  void resize(std::size_t columns, std::size_t rows);
  /// What the program has written.
  void feed(char byte);

  /// UTF-8, without blanks at their ends.
  [[nodiscard]] std::vector<std::string> lines() const;
  /// All of them, one below the other.
  [[nodiscard]] std::string text() const;
  /// The cell that a text of a line begins in; those of wide characters count twice.
  [[nodiscard]] std::size_t column_of(std::size_t row, const std::string& text) const;
  /// Whether it shows the program's own screen, and not the one before it.
  [[nodiscard]] bool is_alternate() const { return is_alternate_; }
  /// Characters written beyond the last column, and sequences that are not understood.
  [[nodiscard]] const std::vector<std::string>& complaints() const { return complaints_; }

 private:
  using Cells = std::vector<std::vector<std::string>>;

  void put(const std::string& character);
  void obey(char final);
  void shift_line(int count);
  void set_mode(bool is_set);
  void erase_line(int which);
  void erase_display(int which);
  /// The lines from `top_` to `bottom_`: 1 up, -1 down.
  void scroll(int lines);
  [[nodiscard]] int parameter(std::size_t index, int otherwise) const;

  Cells cells_;
  std::size_t row_ = 0;
  std::size_t column_ = 0;
  std::size_t top_ = 0;
  std::size_t bottom_ = 0;
  std::string pending_;  // an escape sequence, or a character of several bytes
  std::string last_;     // the character that REP repeats
  bool is_alternate_ = false;
  bool is_resized_ = false;  // and not cleared since
  std::vector<std::string> complaints_;
};

class Terminal {
 public:
  Terminal(const std::vector<std::string>& command,
           const std::vector<std::pair<std::string, std::string>>& environment, std::size_t columns,
           std::size_t rows);
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal();

  [[nodiscard]] const Display& display() const { return display_; }
  void press(const std::string& keys);
  void resize(std::size_t columns, std::size_t rows);
  void signal(int number) const;
  /// Reads what is written until the condition holds. False: it does not in half a minute.
  bool await(const std::function<bool()>& condition);
  /// Until the screen has this text.
  bool await_text(const std::string& text);
  /// Until it has ended: its exit code, or minus the signal that killed it; -1000: it does not.
  int await_end();
  /// As the program found it, and as it is now.
  [[nodiscard]] const termios& modes_before() const { return before_; }
  [[nodiscard]] termios modes() const;

 private:
  /// Takes what there is within a moment.
  void read_some();

  Display display_;
  int master_ = -1;
  int slave_ = -1;  // open, so that its modes stay when the program has ended
  pid_t process_ = -1;
  termios before_{};
};

}  // namespace ringkernel::testing
