#include "foundation/private_folder.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace ringkernel {

namespace {

std::string text_of(int error) { return std::generic_category().message(error); }

}  // namespace

std::string objection_to_place(const std::string& place) {
  struct stat what {};
  if (stat(place.c_str(), &what) != 0) return text_of(errno);
  if (!S_ISDIR(what.st_mode)) return text_of(ENOTDIR);
  const bool is_trusted = what.st_uid == geteuid() || what.st_uid == 0;
  const bool is_shared = (what.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  const bool is_sticky = (what.st_mode & S_ISVTX) != 0;
  return is_trusted && (!is_shared || is_sticky) ? "" : text_of(EACCES);
}

std::string objection_to_folder(const std::string& folder) {
  struct stat what {};
  if (lstat(folder.c_str(), &what) != 0) return text_of(errno);
  if (!S_ISDIR(what.st_mode)) return "not a folder";
  if (what.st_uid != geteuid()) return "another user's";
  if ((what.st_mode & (S_IRWXG | S_IRWXO)) != 0) return "open to other users";
  return "";
}

std::string make_private_folder(const std::string& folder) {
  const bool is_there = mkdir(folder.c_str(), S_IRWXU) == 0 || errno == EEXIST;
  return is_there ? objection_to_folder(folder) : text_of(errno);
}

}  // namespace ringkernel
