import type { Logger } from 'pino';
import type { StatementObserver } from '../../db/connect/observer.js';

/** Logs the statements that take longer than some milliseconds, by their names and without any value. */
export function slowStatements(log: Logger, milliseconds: number): StatementObserver {
  return {
    began: ({ name, pool }) => {
      // Audits read complete ledgers.
      if (pool === 'audit') return () => {};
      const since = performance.now();
      return () => {
        const took = performance.now() - since;
        if (took > milliseconds)
          log.warn({ statement: name, pool, milliseconds: Math.round(took) }, 'a slow statement');
      };
    },
  };
}
