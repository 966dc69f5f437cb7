import { problem, DomainError } from '../request/problems.js';
import { type AccountsArgs, pageSizeDefault, pageSizeMax } from './inputs.js';
import type { Sought } from './paging.js';

/** Whether a mode is live; without a mode, undefined. */
export function liveOf(mode: 'test' | 'live' | null | undefined): boolean | undefined {
  return mode == null ? undefined : mode === 'live';
}

/** The filter of a list, from its arguments; null means no filter. */
export function filterOf<S>(object: string, { status, mode, tenantId, first, after }: ListArgs<S>): Sought<S> {
  const limit = first ?? pageSizeDefault;
  if (limit < 1 || limit > pageSizeMax)
    throw new DomainError({
      ...problem('parameter_invalid', `${object}.limit`, `must be from 1 to ${pageSizeMax}`),
      path: ['first'],
    });
  return {
    status: status ?? undefined,
    livemode: liveOf(mode),
    tenantId: tenantId ?? undefined,
    after: after ?? undefined,
    limit,
  };
}

type ListArgs<S> = Pick<AccountsArgs, 'mode' | 'tenantId' | 'first' | 'after'> & { status?: S | null };
