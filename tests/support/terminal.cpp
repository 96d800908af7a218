#include "support/terminal.hpp"

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utmp.h>

#include <algorithm>
#include <array>

namespace ringkernel::testing {

namespace {

constexpr std::chrono::seconds patience{30};
constexpr char escape = '\x1b';

std::size_t sequence_bytes(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

/// Cells of a character: two of those of East Asia that tests write.
std::size_t cells_of(const std::string& character) {
  const bool is_wide = character >= "\u1100" && character <= "\uffe6" &&
                       (character <= "\u115f" || (character >= "\u2e80" && character <= "\ud7a3") ||
                        (character >= "\uff01" && character <= "\uff60"));
  return is_wide ? 2 : 1;
}

winsize size_of(std::size_t columns, std::size_t rows) {
  winsize size{};
  size.ws_col = static_cast<unsigned short>(columns);
  size.ws_row = static_cast<unsigned short>(rows);
  return size;
}

}  // namespace

void Display::resize(std::size_t columns, std::size_t rows) {
  cells_.resize(rows);
  for (auto& line : cells_) line.resize(columns, " ");
  row_ = std::min(row_, rows - 1);
  column_ = std::min(column_, columns - 1);
  top_ = 0;
  bottom_ = rows - 1;
  is_resized_ = true;
}

void Display::feed(char byte) {
  if (pending_.empty()) {
    switch (byte) {
      case '\r': column_ = 0; return;
      case '\n':
        if (row_ == bottom_)
          scroll(1);
        else
          row_ = std::min(row_ + 1, cells_.size() - 1);
        return;
      case '\b':
        if (column_ != 0) --column_;
        return;
      case '\t': column_ = std::min(column_ / 8 * 8 + 8, cells_[row_].size() - 1); return;
      case '\a':
      case '\0':
      case '\x0e':
      case '\x0f': return;
      default: break;
    }
  }
  pending_ += byte;
  if (pending_.front() != escape) {
    if (pending_.size() < sequence_bytes(pending_.front())) return;
    put(std::exchange(pending_, ""));
    return;
  }
  if (pending_.size() == 1) return;
  if (pending_[1] == '[') {
    if (pending_.size() > 2 && byte >= '@' && byte <= '~') {
      obey(byte);
      pending_.clear();
    }
  } else if (pending_[1] == '(' || pending_[1] == ')') {
    if (pending_.size() == 3) pending_.clear();  // character sets
  } else if (pending_[1] == ']') {
    if (byte == '\a') pending_.clear();  // titles
  } else {
    if (byte == 'M' && row_ == top_)
      scroll(-1);
    else if (byte == 'M' && row_ != 0)
      --row_;
    if (std::string("=>78M").find(byte) == std::string::npos)
      complaints_.push_back("ESC " + pending_.substr(1));
    pending_.clear();
  }
}

void Display::put(const std::string& character) {
  std::vector<std::string>& line = cells_[row_];
  const std::size_t width = cells_of(character);
  if (column_ + width > line.size()) {
    if (!is_resized_)
      complaints_.push_back("'" + character + "' beyond the end of line " + std::to_string(row_));
    return;
  }
  // Half of a wide character is none.
  const std::size_t end = column_ + width;
  if (column_ != 0 && line[column_].empty()) line[column_ - 1] = " ";
  if (end < line.size() && line[end].empty()) line[end] = " ";
  line[column_] = last_ = character;
  if (width == 2) line[column_ + 1].clear();
  column_ = end;
}

std::size_t Display::column_of(std::size_t row, const std::string& text) const {
  const std::vector<std::string>& line = cells_[row];
  for (std::size_t column = 0; column < line.size(); ++column) {
    std::string rest;
    for (std::size_t i = column; i < line.size(); ++i) rest += line[i];
    if (!line[column].empty() && rest.starts_with(text)) return column;
  }
  return line.size();
}

int Display::parameter(std::size_t index, int otherwise) const {
  std::size_t at = pending_.find_first_of("0123456789;", 2);
  for (; index != 0 && at != std::string::npos; --index) {
    at = pending_.find(';', at);
    if (at != std::string::npos) ++at;
  }
  if (at == std::string::npos || pending_[at] < '0' || pending_[at] > '9') return otherwise;
  return std::stoi(pending_.substr(at));
}

void Display::obey(char final) {
  const auto rows = static_cast<int>(cells_.size());
  const auto columns = static_cast<int>(cells_.front().size());
  const auto go = [&](int row, int column) {
    row_ = static_cast<std::size_t>(std::clamp(row, 0, rows - 1));
    column_ = static_cast<std::size_t>(std::clamp(column, 0, columns - 1));
  };
  const auto row = static_cast<int>(row_);
  const auto column = static_cast<int>(column_);
  const int count = parameter(0, 1);
  switch (final) {
    case 'H':
    case 'f': return go(parameter(0, 1) - 1, parameter(1, 1) - 1);
    case 'A': return go(row - count, column);
    case 'B': return go(row + count, column);
    case 'C': return go(row, column + count);
    case 'D': return go(row, column - count);
    case 'G': return go(row, count - 1);
    case 'd': return go(count - 1, column);
    case 'J': return erase_display(parameter(0, 0));
    case 'K': return erase_line(parameter(0, 0));
    case 'Z': return go(row, (column - 1) / 8 * 8);
    case 'X':
      for (int i = 0; i < count && column + i < columns; ++i)
        cells_[row_][column_ + static_cast<std::size_t>(i)] = " ";
      return;
    case 'P':
    case '@': return shift_line(final == '@' ? count : -count);
    case 'b':
      for (int i = 0; i < count; ++i) put(std::string(last_));
      return;
    case 'h': return set_mode(true);
    case 'l': return set_mode(false);
    case 'S':
    case 'T':
    case 'L':
    case 'M': {
      const std::size_t top = std::exchange(top_, final == 'L' || final == 'M' ? row_ : top_);
      for (int i = 0; i < count; ++i) scroll(final == 'S' || final == 'M' ? 1 : -1);
      top_ = top;
      return;
    }
    case 'r':
      top_ = static_cast<std::size_t>(parameter(0, 1) - 1);
      bottom_ = std::min(static_cast<std::size_t>(parameter(1, rows)), cells_.size()) - 1;
      return go(0, 0);
    case 'm':
    case 't':
    case 'q':
    case 'c': return;
    default: complaints_.push_back("ESC " + pending_.substr(1));
  }
}

/// Inserts blanks, or deletes characters.
void Display::shift_line(int count) {
  std::vector<std::string>& line = cells_[row_];
  const auto at = line.begin() + static_cast<std::ptrdiff_t>(std::min(column_, line.size()));
  const std::size_t width = line.size();
  const std::ptrdiff_t deleted = std::min<std::ptrdiff_t>(-count, line.end() - at);
  if (count > 0)
    line.insert(at, static_cast<std::size_t>(count), " ");
  else
    line.erase(at, at + deleted);
  line.resize(width, " ");
}

void Display::set_mode(bool is_set) {
  if (pending_.find("?1049") == std::string::npos) return;
  is_alternate_ = is_set;
  if (is_set) erase_display(2);
}

void Display::erase_line(int which) {
  std::vector<std::string>& line = cells_[row_];
  const std::size_t begin = which == 0 ? std::min(column_, line.size()) : 0;
  const std::size_t end = which == 1 ? std::min(column_ + 1, line.size()) : line.size();
  std::fill(line.begin() + static_cast<std::ptrdiff_t>(begin),
            line.begin() + static_cast<std::ptrdiff_t>(end), " ");
}

void Display::erase_display(int which) {
  if (which == 2 || (which == 0 && row_ == 0 && column_ == 0)) is_resized_ = false;
  erase_line(which);
  for (std::size_t row = 0; row < cells_.size(); ++row)
    if (which == 2 || (which == 0 && row > row_) || (which == 1 && row < row_))
      std::ranges::fill(cells_[row], " ");
}

void Display::scroll(int lines) {
  const auto begin = cells_.begin() + static_cast<std::ptrdiff_t>(top_);
  const auto end = cells_.begin() + static_cast<std::ptrdiff_t>(bottom_) + 1;
  if (lines > 0)
    std::rotate(begin, begin + 1, end);
  else
    std::rotate(begin, end - 1, end);
  std::ranges::fill(lines > 0 ? *(end - 1) : *begin, " ");
}

std::vector<std::string> Display::lines() const {
  std::vector<std::string> lines;
  for (const auto& line : cells_) {
    std::string text;
    for (const std::string& cell : line) text += cell;
    text.erase(text.find_last_not_of(' ') + 1);
    lines.push_back(std::move(text));
  }
  return lines;
}

std::string Display::text() const {
  std::string text;
  for (const std::string& line : lines()) text += line + "\n";
  return text;
}

Terminal::Terminal(const std::vector<std::string>& command,
                   const std::vector<std::pair<std::string, std::string>>& environment,
                   std::size_t columns, std::size_t rows)
    : display_(columns, rows) {
  const winsize size = size_of(columns, rows);
  if (openpty(&master_, &slave_, nullptr, nullptr, &size) != 0) return;
  before_ = modes();
  process_ = fork();
  if (process_ == 0) {
    close(master_);
    login_tty(slave_);
    setenv("TERM", "xterm-256color", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
}

Terminal::~Terminal() {
  if (process_ > 0) {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  close(slave_);
  close(master_);
}

void Terminal::press(const std::string& keys) {
  if (write(master_, keys.data(), keys.size()) < 0) return;  // it has ended, which tests find out
}

void Terminal::resize(std::size_t columns, std::size_t rows) {
  const winsize size = size_of(columns, rows);
  display_.resize(columns, rows);
  ioctl(master_, TIOCSWINSZ, &size);  // tells the program
}

void Terminal::signal(int number) const { kill(process_, number); }

termios Terminal::modes() const {
  termios modes{};
  tcgetattr(slave_, &modes);
  return modes;
}

void Terminal::read_some() {
  pollfd ready{master_, POLLIN, 0};
  if (poll(&ready, 1, 20) <= 0) return;
  std::array<char, 4096> bytes;
  const ssize_t count = read(master_, bytes.data(), bytes.size());
  for (ssize_t i = 0; i < count; ++i) display_.feed(bytes[static_cast<std::size_t>(i)]);
}

bool Terminal::await(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    read_some();
  }
  return true;
}

bool Terminal::await_text(const std::string& text) {
  return await([&] { return display_.text().find(text) != std::string::npos; });
}

int Terminal::await_end() {
  int status = 0;
  if (!await([&] { return waitpid(process_, &status, WNOHANG) == process_; })) return -1000;
  process_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace ringkernel::testing
