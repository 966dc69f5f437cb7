import DataLoader from 'dataloader';
import { and, desc, eq, getTableColumns, getTableName, type SQL, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import type { RequestBudget } from '../limits/budget.js';
import type { Caller } from '../request/caller.js';
import { DomainError, problem } from '../errors/problems.js';
import type { Listing, Page, PageArgs } from '../types/pagination.js';
import type { ScopeSource } from './doors.js';
import type { ArgumentsOf, TableOf, WriteFunction, WriteOf } from './write/write-arguments.js';
import type { Preparable } from './read/row-mapper.js';
import type { Child, Parent, Row, Rows } from './list/statement.js';
import { Pages } from './list/pages.js';
import type { Consistency, ReadSource } from './read/read-source.js';
import { type ReadClass, classOfValues, presentRead } from './read/read-class.js';
import { besideOtherReleases, refuseBesideOtherReleases } from './write/other-releases.js';
import { type VisibilityColumns, visibilityOf, visibilityPredicate, seesRow } from './read/visibility.js';

const p = sql.placeholder;

/**
 * The only access to tenant data, made for one caller. Every statement that it can build is limited to the
 * caller's tenant and mode, and to its visibility; a resolver gets no other access to the database.
 * The loaders belong to one scope, so that no caller ever sees what was read for another.
 */
export class Scope {
  #loaders = new Map<string, DataLoader<string, unknown>>();
  readonly #pages = new Pages(this);
  constructor(
    readonly caller: Caller,
    private readonly database: ScopeSource,
    /** The budget of the scope's request: once that request has ended, no further read starts. */
    private readonly budget?: RequestBudget,
    /** Where its request may read what need not be of the present; without it, everything is read on the primary. */
    private readonly source?: ReadSource,
  ) {}

  /** Reads everything on the primary from now on: a request that writes must not decide by data that are old. */
  stayOnPrimary(): void {
    this.source?.stay();
  }

  /** Whether the request of the scope has ended early. */
  get ended(): boolean {
    return this.budget?.ended !== undefined;
  }

  /** Call this after a write has succeeded, so that further reads of its account find it. */
  async noteWrite(): Promise<void> {
    await this.source?.noteWrite();
  }

  /** What later requests must ask for, on any gateway, to find the writes of this one; undefined without replicas. */
  get wrote(): Consistency | undefined {
    return this.source?.wrote;
  }

  /**
   * The object with this id. The domain error is the same for an object that is missing and one that is not visible.
   */
  async one<T extends Rows>(table: T, id: string, field = `${getTableName(table)}.id`): Promise<Row<T>> {
    const row = await this.find(table, id);
    if (!row) throw new DomainError(problem('resource_missing', field));
    return row;
  }

  /** The object with this id, if it is visible to the caller. One statement reads all ids requested in one tick. */
  find<T extends Rows>(table: T, id: string | null | undefined): Promise<Row<T> | null> {
    return id == null ? Promise.resolve(null) : this.findBy(table, table.id, id);
  }

  /** The only object with this value in a column whose values are unique, such as the setting of an account. */
  async findBy<T extends Rows>(table: T, column: PgColumn, value: string): Promise<Row<T> | null> {
    const row = await this.#loader(`${getTableName(table)}.${column.name}`, (values: readonly string[]) =>
      this.#byValue(table, column, values),
    ).load(value);
    return row && seesRow(this.caller, table, row) ? row : null;
  }

  /** One page of the caller's list of these objects. */
  page<T extends Rows>(table: T, listing: Listing, args: PageArgs): Promise<Page<Row<T>>> {
    return this.#pages.page(table, listing, args);
  }

  /**
   * One page per parent of the objects that belong to it, by their column or by links.
   * One statement reads the pages of all parents requested in one tick.
   */
  edge<T extends Rows>(
    table: T,
    listing: Listing,
    parent: Parent,
    parentId: string,
    args: PageArgs,
  ): Promise<Page<Row<T>>> {
    return this.#pages.edge(table, listing, parent, parentId, args);
  }

  /** All rows of a parent, or those with a condition. One statement reads all parents requested in one tick. */
  async all<T extends Child>(table: T, parent: PgColumn, parentId: string, where?: SQL) {
    const name = `${where ? 'some' : 'all'}:${getTableName(table)}.${parent.name}`;
    return (
      (await this.many(name, parentId, async (ids) => {
        const rows = await this.read<{ parent: string; row: T['$inferSelect'] }>(
          name,
          (db) =>
            db
              .select({ parent: sql<string>`${parent}`, row: getTableColumns(table) })
              .from(table as PgTable)
              .where(
                and(
                  eq(table.tenantId, p('tenantId')),
                  eq(table.livemode, p('livemode')),
                  sql`${parent} = any(${p('ids')})`,
                  where,
                ),
              )
              .orderBy(desc(table.created), desc(table.id)),
          { ids },
          presentRead,
        );
        const byParent = new Map<string, T['$inferSelect'][]>(ids.map((id) => [id, []]));
        for (const row of rows) byParent.get(row.parent)?.push(row.row);
        return byParent;
      })) ?? []
    );
  }

  /** What a batch finds for one key. All keys requested under the same name in one tick form one batch. */
  many<V>(name: string, key: string, batch: (keys: readonly string[]) => Promise<Map<string, V>>): Promise<V | null> {
    return this.#loader(name, batch).load(key);
  }

  /** Refuses a write of objects that the release before this one cannot read, while a gateway of it still runs. */
  refuseBesideOtherReleases(): Promise<void> {
    return refuseBesideOtherReleases(this.database);
  }

  /** Whether a gateway of another release serves the same database. */
  besideOtherReleases(): Promise<boolean> {
    return besideOtherReleases(this.database);
  }

  /** An id, by the database's clock, for a row not yet written: data encrypted for that row alone needs its id. */
  async newId(object: string): Promise<string> {
    const [row] = await this.database.call('new_id', [object]);
    return String(row!.new_id);
  }

  /** The same view of a caller that may also write. Only for a write that a caller without permission may cause. */
  asWriter(): Scope {
    return new Scope({ ...this.caller, permission: 'full' }, this.database, this.budget, this.source);
  }

  /** One write: one call of one function, with its key. The README states this rule. */
  async write<F extends WriteFunction, T extends PgTable & TableOf<F>, A extends ArgumentsOf<F>>(
    ...given: WriteOf<F, T, A>
  ): Promise<T['$inferSelect']> {
    const row = await this.writeOrNone(...given);
    if (!row) throw new Error(`${given[0]} returned no row`);
    return row;
  }

  /** Like `write`, for a function that may return no row. */
  async writeOrNone<F extends WriteFunction, T extends PgTable & TableOf<F>, A extends ArgumentsOf<F>>(
    ...[fn, table, envelope, args, content]: WriteOf<F, T, A>
  ): Promise<T['$inferSelect'] | undefined> {
    const { tenantId, livemode, permission } = this.caller;
    if (permission === 'read') throw new Error(`${fn} was called for a caller that may only read`);
    const [row] = await this.database.write(fn, tenantId, livemode, envelope, args, table, content);
    // Rows that were read before the write may be stale now.
    this.#loaders = new Map();
    return row;
  }

  /** The stored answer of this idempotency key, if there is one. */
  storedResponse<T extends PgTable>(table: T, key: string) {
    const { tenantId, livemode, actingAccountId } = this.caller;
    return this.database.storedResponse(tenantId, livemode, actingAccountId, key, table, getTableName(table));
  }

  /**
   * Runs a statement that a resource defines. The statement may use the placeholders of the tenant and mode, and must
   * use them for every table. Where its parameters have other names than the client's, `readClass` has the client's.
   */
  read<T>(
    name: string,
    build: (db: PostgresJsDatabase) => Preparable,
    values: Record<string, unknown>,
    readClass: ReadClass = classOfValues(values),
  ): Promise<T[]> {
    const asked = { tenantId: this.caller.tenantId, source: this.source, ...readClass };
    const all = this.#withTenant(values);
    return this.#onceReady(() => this.database.read<T>(name, build, all, this.budget, asked));
  }

  /**
   * Runs the statement of a compiled query. The predicates of visibility.ts limit each part of it, like the statements
   * above.
   */
  compiled(
    text: string,
    names: readonly string[],
    values: Record<string, unknown>,
    readClass: ReadClass,
  ): Promise<{ data?: string | null }[]> {
    const all = this.#withTenant(values);
    const given = names.map((name) => all[name]);
    const asked = { tenantId: this.caller.tenantId, source: this.source, ...readClass };
    return this.#onceReady(() => this.database.text(text, given, this.budget, asked));
  }

  /** Reads when the source has what the request asks for: mostly at once, since each wait costs every read. */
  #onceReady<T>(read: () => Promise<T>): Promise<T> {
    const ready = this.source?.ready();
    return ready ? ready.then(read) : read();
  }

  /**
   * Like `read`, for a statement that starts from a row by its id. `build` also gets the predicate that admits this row
   * only if it is visible to the caller.
   */
  readFrom<T>(
    name: string,
    build: (db: PostgresJsDatabase, isVisible: (table: VisibilityColumns) => SQL | undefined) => Preparable,
    values: Record<string, unknown> & { id: string },
  ): Promise<T[]> {
    const visibility = visibilityOf(this.caller);
    const isVisible = (table: VisibilityColumns) =>
      and(...visibilityPredicate(table, visibility), eq(table.id, p('id')));
    return this.read(`${name}:${visibility}`, (db) => build(db, isVisible), values);
  }

  /** The acting account whose rows alone the caller sees by their ids; null for a caller that sees all. */
  get visibleTo(): string | null {
    return visibilityOf(this.caller) === 'actingAccount' ? this.caller.actingAccountId : null;
  }

  /** The values of a statement with those of the scope, which no value of a client may replace. */
  #withTenant(values: Record<string, unknown>): Record<string, unknown> {
    const own = this.ownValues;
    for (const name in own) if (name in values) throw new Error(`the value ${name} of a statement is the scope's own`);
    return Object.assign(own, values);
  }

  /** The values that each statement of the scope may use by their names. */
  get ownValues() {
    return {
      tenantId: this.caller.tenantId,
      livemode: this.caller.livemode,
      actingAccount: this.caller.actingAccountId,
      statementSeconds: this.database.statementSeconds,
    };
  }

  #loader<V>(name: string, batch: (ids: readonly string[]) => Promise<Map<string, V>>): DataLoader<string, V | null> {
    let loader = this.#loaders.get(name);
    if (!loader) {
      loader = new DataLoader<string, unknown>(async (ids) => {
        const found = await batch([...new Set(ids)]);
        return ids.map((id) => found.get(id) ?? null);
      });
      this.#loaders.set(name, loader);
    }
    return loader as DataLoader<string, V | null>;
  }

  async #byValue<T extends Rows>(table: T, column: PgColumn, values: readonly string[]): Promise<Map<string, Row<T>>> {
    const visibility = visibilityOf(this.caller);
    // One value is compared with `=`, because PostgreSQL reuses that plan, but plans again for every list of values.
    const [value] = values;
    const alone = values.length === 1;
    const rows = await this.read<Row<T>>(
      `one${alone ? '' : 's'}:${getTableName(table)}.${column.name}:${visibility}`,
      (db) =>
        db
          .select()
          .from(table as PgTable)
          .where(
            and(
              ...visibilityPredicate(table, visibility),
              alone ? eq(column, p('value')) : sql`${column} = any(${p('values')})`,
            ),
          ),
      alone ? { value } : { values },
      presentRead,
    );
    // With one value, every row found has that value.
    if (alone) return new Map(rows.map((row) => [value!, row]));
    const property = Object.entries(getTableColumns(table)).find(
      ([, c]) => c.name === column.name,
    )?.[0] as keyof Row<T>;
    return new Map(rows.map((row) => [row[property] as string, row]));
  }
}
