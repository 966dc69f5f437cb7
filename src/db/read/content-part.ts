import { setTimeout as sleep } from 'node:timers/promises';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import { DomainError } from '../../errors/problems.js';
import type { Preparable } from './row-mapper.js';
import type { Scope } from '../scope.js';
import { presentRead, type ReadClass } from './read-class.js';

/**
 * The class of a part of a content. It is large, so it takes a connection for expensive reads, of which a tenant has
 * two at a time: on those for quick reads, the requests of all tenants would wait behind it.
 */
const contentRead: ReadClass = { ...presentRead, expensive: true };

/** How long a content that has begun waits for its next part. */
const patienceMilliseconds = 10_000;
const pauseMilliseconds = 100;

/**
 * Reads the part of a content that begins at the byte `at`. A refusal of the first part is the answer of its request.
 * It would cut off an answer that has begun, so the other parts wait while PostgreSQL is busy or unavailable.
 */
export async function readPart<T>(
  scope: Scope,
  name: string,
  build: (db: PostgresJsDatabase) => Preparable,
  values: { id: string; at: number },
  isFirst: boolean,
): Promise<T | undefined> {
  for (const until = performance.now() + patienceMilliseconds; ; await sleep(pauseMilliseconds)) {
    try {
      const [part] = await scope.read<T>(name, build, values, contentRead);
      return part;
    } catch (error) {
      const isBusy = error instanceof DomainError && error.status === 503;
      if (isFirst || !isBusy || scope.ended || performance.now() > until) throw error;
    }
  }
}
