import { type AccountsArgs, pageSizeOf } from './inputs.js';
import type { ListFilter } from '../paging.js';
import { liveOf } from '../../request/mode.js';

/** The filter of a list, from its arguments; null means no filter. */
export function filterOf<S>(object: string, { status, mode, tenantId, first, after }: ListArgs<S>): ListFilter<S> {
  return {
    status: status ?? undefined,
    livemode: liveOf(mode),
    tenantId: tenantId ?? undefined,
    after: after ?? undefined,
    limit: pageSizeOf(object, first),
  };
}

type ListArgs<S> = Pick<AccountsArgs, 'mode' | 'tenantId' | 'first' | 'after'> & { status?: S | null };
