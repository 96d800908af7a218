#include "program/unit.h"
