/* parking.pml where a caller asks the resident slice to yield, so that it may run slices itself. */
#ifndef MUTANT
#define MUTANT 0
#endif
#define YIELD_WITHOUT_LOOK (MUTANT == 11)
#define CALLERS_ASK_TO_YIELD 1
#ifndef MESSAGES
#define MESSAGES 1
#endif
#include "parking.pml"
