#include "trading.rk.h"
