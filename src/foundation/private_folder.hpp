/// Folders into which no other user can put anything.
///
/// Threading: any thread.
/// Errors: text, empty where all is well.
#pragma once

#include <string>

namespace ringkernel {

/// Why another user could put a folder of theirs where this user has made one.
std::string objection_to_place(const std::string& place);

/// Why a folder is not this user's alone.
std::string objection_to_folder(const std::string& folder);

/// Makes a folder of mode 0700 where there is none. Why there is none of this user's alone.
std::string make_private_folder(const std::string& folder);

}  // namespace ringkernel
