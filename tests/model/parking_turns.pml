/* parking.pml where ops are left unfinished for a turn of the others (docs/PROTOCOL.md, "Turns"), in
 * slices that may end in between. One message of each sender.
 */
#ifndef MUTANT
#define MUTANT 0
#endif
#define UNFINISHED_IS_NO_MARK (MUTANT == 14)
#define TURNS 1
#define BOUNDED_SLICES 1
#define MESSAGES 1
#include "parking.pml"
