#include "trading.rk.h"

RK_ON(Book, Submitt) { return RK_OK; }
