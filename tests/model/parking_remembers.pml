/* parking.pml where a slice remembers the one before it, as on the host: what that one saw is not
 * looked at again, and what it left is still marked. */
#ifndef MUTANT
#define MUTANT 0
#endif
#define FORGETS_WORK (MUTANT == 13)
#define REMEMBERS 1
#include "parking.pml"
