/** The mode of a tenant, as keys, logs and commands write it. Rows and SQL functions have `livemode` instead. */
export type Mode = 'test' | 'live';

/** The mode of a row or a caller. */
export const modeOf = (livemode: boolean): Mode => (livemode ? 'live' : 'test');

/** Whether a mode is live; without a mode, undefined. */
export function liveOf(mode: Mode | null | undefined): boolean | undefined {
  return mode == null ? undefined : mode === 'live';
}
