/* parking.pml where every slice has a record budget and the bridge launches what they leave. */
#ifndef MUTANT
#define MUTANT 0
#endif
#define BRIDGE_IGNORES_BUDGET (MUTANT == 10)
#define BOUNDED_SLICES 1
#ifndef MESSAGES
#define MESSAGES 1
#endif
#include "parking.pml"
