#include "unit/program/unit.h"
