/** Settings of a gateway on a busy machine: it refuses nothing for being late, unless a test is about that. */
export const patient = { WAIT_MILLISECONDS_MAX: '60000', LOOP_DELAY_MILLISECONDS_MAX: '60000' };
