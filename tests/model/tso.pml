/* Memory as x86 gives it (TSO): a store goes into its thread's own first-in-first-out buffer and
 * reaches memory some time later; a load takes what is in memory; a fence, and any locked
 * instruction, waits until the thread's buffer is empty. Without this, Spin's sequentially
 * consistent memory would prove protocols right that need a fence.
 *
 * The includer defines THREADS and LOCATIONS first. Loads of a thread's own buffered store are not
 * modelled: the models keep what a thread knows of its own words in variables.
 */
#define STORES_BUFFERED 2

chan store_buffer[THREADS] = [STORES_BUFFERED] of { byte, byte };  /* location, value */
byte memory[LOCATIONS];

#define store(thread, location, value) store_buffer[thread]!location,value
#define fence(thread) len(store_buffer[thread]) == 0

/* The first processes of a model: their number is the number of the thread that they serve. */
active [THREADS] proctype drain_store_buffer() {
  byte location, value;
end:
  do
  :: atomic {
       store_buffer[_pid]?location,value ->
       memory[location] = value;
       location = 0;
       value = 0
     }
  od
}
