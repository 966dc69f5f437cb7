import { describe, expect, it, vi } from 'vitest';
import { eventually, givenIn, Speaker, must, tenantOf, useWorld } from '../support/world.js';
import { text } from './harness.js';
import { evidence, figures, patience, random, scale, secondsSince, seedsOf } from '../support/scale.js';

vi.setConfig(patience);

const world = useWorld();
const given = givenIn(world);
const { writers, readers, deposits } = scale.lists;

/** The objects of a page, and whether more follow in the direction of paging. */
type Page = { data: { id: string; created: number }[]; has_next: boolean };

describe(`${readers} readers page through a list that ${writers} writers add ${deposits} deposits to`, () => {
  const seeds = seedsOf('faults/list');
  it.each(seeds)('shows each deposit once and in order, with right totals at any moment, seed %i', async (seed) => {
    const began = Date.now();
    const user = await given.directUser(1);
    const other = user.at(await world.another());
    const roll = random(seed);
    /**
     * The acknowledged deposits in order, and then the counts and the sums in minor units of the sent and the completed
     * ones.
     */
    const made: Page['data'] = [];
    let [sent, sentSum, completed, completedSum, pages, walks, totals] = [0, 0n, 0, 0n, 0, 0, 0];
    let writing = true;

    const write = async (n: number) => {
      const me = n % 2 ? other : user;
      while (sent < deposits) {
        const amount = BigInt(1 + Math.floor(roll() * 100_000_000));
        sent++;
        sentSum += amount;
        const { id, created } = await must(me.post('/v1/deposits', { amount: text(amount), currency: 'USD' }));
        made.push({ id, created });
        // 400: the sandbox has already completed the deposit.
        const reply = await me.post(`/v1/test_helpers/deposits/${id}/complete`);
        expect([200, 400]).toContain(reply.status);
        completed++;
        completedSum += amount;
      }
    };

    /** Walks over all pages in either direction; every deposit that was acknowledged before the walk must be in it. */
    const walk = async (next: (cursor: string | undefined) => Promise<Page>, newest: boolean) => {
      // The deposit that is acknowledged first need not be the oldest, so sort as the list does.
      const before = made.toSorted((a, b) => (`${a.created} ${a.id}` < `${b.created} ${b.id}` ? -1 : 1));
      const seen: Page['data'] = [];
      for (let page: Page | undefined; page?.has_next ?? true; pages++) {
        const cursor = newest ? seen.at(-1)?.id : (seen[0]?.id ?? before[0]?.id);
        page = await next(cursor);
        if (newest) seen.push(...page.data);
        else seen.unshift(...page.data);
      }
      walks++;
      const ids = seen.map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      const order = seen.map(({ id, created }) => `${created} ${id}`);
      expect(order).toEqual(order.toSorted().reverse());
      const found = new Set(ids);
      expect(before.slice(newest ? 0 : 1).filter(({ id }) => !found.has(id))).toEqual([]);
    };
    const rest = (parameter: string) => (me: Speaker) => async (cursor: string | undefined) =>
      (await must(me.get(`/v1/deposits?limit=10${cursor ? `&${parameter}=${cursor}` : ''}`))) as Page;
    const graph = (me: Speaker) => async (after: string | undefined) => {
      const { data } = await must(
        me.graph(
          'query ($after: ID) { deposits(first: 100, after: $after) { nodes ' +
            '{ id created } pageInfo { hasNextPage } } }',
          { after },
        ),
      );
      const { nodes, pageInfo } = data.deposits;
      const page = nodes.map(({ id, created }: any) => ({ id, created: Date.parse(created) / 1000 }));
      return { data: page, has_next: pageInfo.hasNextPage } as Page;
    };

    const read = async (n: number) => {
      const me = n % 2 ? other : user;
      for (let first = true; writing || first; first = false) {
        if (n % 3 === 0) await walk(graph(me), true);
        else if (n % 3 === 1) await walk(rest('starting_after')(me), true);
        else if (made.length > 0) await walk(rest('ending_before')(me), false);
        else await new Promise((resume) => setTimeout(resume, 20));
      }
    };

    const from = new Date(Date.now() - 86_400_000).toISOString();
    const to = new Date(Date.now() + 7 * 86_400_000).toISOString();
    const ask = async () => {
      const { data } = await must(
        user.graph(
          'query ($from: DateTime!, $to: DateTime!) { viewer { account { depositTotals(from: $from, to: $to, ' +
            'interval: MONTH) { count amount } } } }',
          { from, to },
        ),
      );
      totals++;
      const steps = data.viewer.account.depositTotals as { count: number; amount: string }[];
      const sum = steps.reduce((all, { amount }) => all + BigInt(amount.replace('.', '')), 0n);
      return { count: steps.reduce((all, { count }) => all + count, 0), sum };
    };
    const total = async () => {
      while (writing) {
        const [count, sum] = [completed, completedSum];
        const shown = await ask();
        // The totals lie between what was acknowledged before the query and what was sent by its end.
        expect([shown.count >= count, shown.count <= sent, shown.sum >= sum, shown.sum <= sentSum]).toEqual(
          Array(4).fill(true),
        );
      }
    };

    /** Follows the events with the last one as the cursor, which must miss none. */
    const followed: string[] = [];
    const unnumbered = async () => {
      const rows = await world.sql`select from event where tenant_id = ${tenantOf(user)} and number is null`;
      return rows.length;
    };
    const follow = async () => {
      const [first] = (await must(user.get('/v1/events?limit=1'))).data;
      let last = first?.id;
      for (;;) {
        // All events are visible once they have their numbers, which is later than the writes.
        const complete = !writing && (await unnumbered()) === 0;
        const { data } = await must(user.get(`/v1/events?limit=10${last ? `&ending_before=${last}` : ''}`));
        followed.push(...data.map(({ id }: { id: string }) => id));
        last = data[0]?.id ?? last;
        if (data.length > 0) continue;
        if (complete) return first?.id as string;
        await new Promise((resume) => setTimeout(resume, 100));
      }
    };

    await eventually(
      () => must(user.get('/v1/events')),
      ({ data }) => data.length > 0,
    );
    const reading = [...Array.from({ length: readers }, (_, n) => read(n)), total()];
    const following = follow();
    const wrote = Promise.all(Array.from({ length: writers }, (_, n) => write(n))).finally(() => {
      writing = false;
    });
    await Promise.all([wrote, ...reading]);
    const first = await following;

    expect(await ask()).toEqual({ count: deposits, sum: sentSum });
    expect((await must(user.get('/v1/balance'))).pending).toEqual([{ amount: text(sentSum), currency: 'USD' }]);
    const events = await world.sql`
      select id from event where context_id = ${user.id} and not livemode
      and number > (select number from event where id = ${first} and not livemode)`;
    expect(new Set(followed).size).toBe(followed.length);
    expect(followed.toSorted()).toEqual(events.map(({ id }) => id as string).toSorted());
    expect(await world.sql`select rule, what from violations`).toEqual([]);
    evidence({ audits: 1 });
    figures('lists', { deposits, walks, pages, totals, events: followed.length, took: secondsSince(began) });
  });
});
