/// The main of a bench that measures figures: rounds of cases in child processes, table, JSON.
#pragma once

#include <span>
#include <string>

#include "figures.hpp"

namespace bench {

/// Exit code of the process. `what`: one line for --help. `more` is printed below the table.
int figure_main(int argument_count, char** arguments, const char* what,
                std::span<const Figure> figures, std::string (*more)(const Rounds&) = nullptr);

}  // namespace bench
