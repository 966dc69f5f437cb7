import { DomainError, problem, type MessageText, snake } from '../../errors/problems.js';
import { searchOf } from '../../types/list-search.js';
import type { Listing, PageRequest } from '../../types/pagination.js';

/** The most expensive reads of one tenant that PostgreSQL answers at once. */
export const slowOfTenantMax = 2;
/** The most that wait, and how long. A document may ask several expensive reads at once, and each waits for itself. */
export const slowWaiting = { ofTenant: 64, all: 256, milliseconds: 2_000 };

/** What is known of a read before it runs: whether its cost may grow with the rows of a tenant, and why. */
export interface ReadClass {
  expensive: boolean;
  /**
   * Whether a replica may answer it, so that the answer may be some seconds old. This is so for pages of lists, and for
   * the figures that `Statements` finds in a text; every other read is of the present, and is the primary's.
   */
  replicaOk: boolean;
  /** The parameters that bound a range, by their names in the graph; narrowing it makes the answer cheaper. */
  boundedBy: readonly string[];
  /** The other parameters that make the read expensive, by their names in the graph. */
  avoid: readonly string[];
}

const rangeOfCreation = ['created.gte', 'created.lt'];

/**
 * The class of a page. A page is quick where an index has its order: of all objects, of one account, or of a parent,
 * from a cursor and within a range of the times that order the list. With any other filter PostgreSQL may have to read
 * all rows of the list to find the few that match.
 */
export function classOfPage(listing: Listing, { filters, order }: PageRequest): ReadClass {
  // An order by a value accepts only filters that its indexes serve, and a search has an index of its own.
  if (order !== undefined || searchOf(filters)) return { expensive: false, replicaOk: true, boundedBy: [], avoid: [] };
  const ordered = listing.order === undefined;
  const slow = Object.entries(filters)
    .filter(([name]) => !(listing.fixed && name in listing.fixed))
    .filter(([name, value]) => (isCreated(name) ? !ordered : !listing.byAccount.includes(name) || Array.isArray(value)))
    .map(([name]) => name);
  const given = Object.keys(filters).filter(isCreated);
  return {
    expensive: slow.length > 0,
    replicaOk: true,
    boundedBy: ordered ? (given.length > 0 ? given : rangeOfCreation) : [],
    avoid: slow,
  };
}

/** The class of the number of objects of a list: always slow, because PostgreSQL counts rows one by one. */
export function classOfCount(listing: Listing, request: PageRequest): ReadClass {
  const { boundedBy, avoid } = classOfPage(listing, request);
  return { expensive: true, replicaOk: true, boundedBy, avoid: [...avoid, 'totalCount'] };
}

/** The class of a read of the present, such as of an object by its id: it is quick, and the primary's. */
export const presentRead: ReadClass = { expensive: false, replicaOk: false, boundedBy: [], avoid: [] };

/**
 * The class of a query of several parts: it is as slow as its slowest part, and of the present as soon as one part is.
 */
export function classOfParts(parts: readonly ReadClass[]): ReadClass {
  const slow = parts.filter((part) => part.expensive);
  const named = (of: 'boundedBy' | 'avoid') => [...new Set(slow.flatMap((part) => part[of]))];
  const replicaOk = parts.length > 0 && parts.every((part) => part.replicaOk);
  return { expensive: slow.length > 0, replicaOk, boundedBy: named('boundedBy'), avoid: named('avoid') };
}

/** The class of a statement that a resource defines; whether it is expensive and may lag, its text says. */
export function classOfValues(values: Record<string, unknown>): ReadClass {
  return { ...presentRead, boundedBy: ['from', 'to'].filter((name) => name in values) };
}

const aggregate = /\bgroup by\b|\b(?:count|sum|min|max|avg)\s*\(/i;

/** Whether a statement computes figures over rows, so that its cost grows with them. */
export function hasFigures(statement: string): boolean {
  return aggregate.test(statement);
}

/** The refusal of an expensive read that took too long: it says which parameters to change. */
export function tooSlow(seconds: number, { boundedBy, avoid }: ReadClass): DomainError {
  const took = `PostgreSQL took longer than ${seconds} s for this request, and it was ended.`;
  const said = (each: (name: string) => string): string => {
    const list = (names: readonly string[], between: string) => names.map((name) => `\`${each(name)}\``).join(between);
    const ways = [
      ...(boundedBy.length > 0 ? [`narrow ${list(boundedBy, '/')}`] : []),
      ...(avoid.length > 0 ? [`leave out ${list(avoid, ' or ')}`] : []),
    ];
    const advice = ways.length > 0 ? ways.join(', or ') : 'ask for less at once';
    return `${took} ${advice[0]!.toUpperCase()}${advice.slice(1)}.`;
  };
  const sentences: MessageText = {
    v1: said((name) => name.split('.').map(snake).join('.')),
    graph: said((name) => name),
  };
  return new ExpensiveReadError(problem('service_unavailable', undefined, sentences));
}

/** The error of an expensive read that took too long: reading it in another way would take as long. */
export class ExpensiveReadError extends DomainError {}

function isCreated(name: string): boolean {
  return name.startsWith('created.');
}
