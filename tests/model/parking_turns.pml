/* parking.pml where ops are left unfinished for a turn of the others (docs/PROTOCOL.md, "Turns"):
 * in slices on a caller's thread, which may end in between, and in those that were launched. One
 * message of each sender.
 */
#ifndef MUTANT
#define MUTANT 0
#endif
#define UNFINISHED_IS_NO_MARK (MUTANT == 14)
#define TURNS 1
#define MESSAGES 1
#include "parking.pml"
