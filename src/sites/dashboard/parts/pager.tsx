import { useState } from 'react';
import { useFilters } from './filters';

/** Where a page of a list is. A list that is read in both directions also has the ways to newer pages. */
export interface PageInfo {
  hasNextPage: boolean;
  endCursor: string | null;
  hasPreviousPage?: boolean;
  startCursor?: string | null;
}

/** How many rows a page of a list has. */
const rowsOfPage = 25;
/** The most that the gateway counts of a list. */
const countMax = 10_000;

/** The place in the address as arguments of a list. */
export function usePlace() {
  const { params } = useFilters();
  const before = params.get('before');
  return before ? { last: rowsOfPage, before } : { first: rowsOfPage, after: params.get('after') };
}

interface PagerProps {
  pageInfo: PageInfo;
  /** How many rows the page has. */
  rows?: number;
  /** How many the list has: null where they are more than the gateway counts. */
  total?: number | null | undefined;
}

/** How much of the list the page shows, and the ways to its other pages. */
export function Pager({ pageInfo, rows = 0, total }: PagerProps) {
  const { params: asked, set } = useFilters();
  const { hasNextPage, endCursor, startCursor, hasPreviousPage = false } = pageInfo;
  // A list keeps its rows until it has those that the address asks for, and so it keeps their numbers.
  const [shown, setShown] = useState({ pageInfo, params: asked });
  if (shown.pageInfo !== pageInfo) setShown({ pageInfo, params: asked });
  const { params } = shown;
  const later = params.has('after') || params.has('before');
  const start = startOf({ pageInfo, rows, total }, later ? Number(params.get('from')) : 1);
  const both = startCursor !== undefined;
  if (!later && !hasNextPage && (!both || rows === 0)) return null;
  // The first page is that of the list as it is now.
  const isSecond = start !== undefined && start <= rowsOfPage + 1;
  const from = start === undefined ? null : String(start - rowsOfPage);
  // A list that is read in one direction has no cursor of the page before: the viewer goes back the way they came.
  const cameByNext = !both && (history.state as { next?: true } | null)?.next === true;
  const previous = () => (cameByNext ? history.back() : set(both && !isSecond ? { before: startCursor, from } : {}));
  return (
    <nav className="pager" aria-label="Pages of the list">
      {both && <p className="pager-place">{placeOf(start, rows, total)}</p>}
      {(later || hasNextPage) && (
        <>
          <button
            type="button"
            className="button small"
            disabled={!later || (both && rows > 0 && !hasPreviousPage)}
            onClick={previous}
          >
            {both || cameByNext ? 'Previous page' : 'First page'}
          </button>
          <button
            type="button"
            className="button small"
            disabled={!hasNextPage}
            onClick={() =>
              set(
                { after: endCursor, from: start === undefined ? null : String(start + rows) },
                { state: { next: true } },
              )
            }
          >
            Next page
          </button>
        </>
      )}
    </nav>
  );
}

/**
 * The number of the first row of a page. That of the last page follows from how many rows there are. Between both it is
 * what it was when the viewer came: rows that were added since are not counted.
 */
function startOf({ pageInfo, rows = 0, total }: PagerProps, came: number): number | undefined {
  if (came !== 1 && !pageInfo.hasNextPage && typeof total === 'number') return Math.max(total - rows + 1, 1);
  return Number.isInteger(came) && came > 0 && !(typeof total === 'number' && came + rows - 1 > total)
    ? came
    : undefined;
}

/** Which rows of how many the page shows: `26–50 of 89`. */
function placeOf(start: number | undefined, rows: number, total: number | null | undefined): string {
  const [first, last] = [start?.toLocaleString(), start && (start + rows - 1).toLocaleString()];
  const shown = first === undefined ? String(rows) : first === last ? first : `${first}–${last}`;
  if (total === undefined) return shown;
  return `${shown} of ${total === null ? `more than ${countMax.toLocaleString()}` : total.toLocaleString()}`;
}
