import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DomainError } from '../../src/errors/problems.js';
import { FairQueue } from '../../src/limits/fair-queue.js';
import { refusals } from '../../src/limits/queue-refusal.js';
import { RequestQueue, type RequestQueueLimits, type RequestTicket } from '../../src/limits/request-queue.js';

const limits = {
  ...{ slots: 2, ofTenant: 2, guaranteed: 0 },
  ...{ ticketsOfTenant: 10, tickets: 20, milliseconds: 500 },
};

/** A queue of requests with a clock that the test moves. */
function queueOf(given: Partial<RequestQueueLimits> = {}, overloaded = () => false) {
  const clock = { now: 0 };
  const queue = new RequestQueue('requests', { ...limits, ...given }, overloaded, () => clock.now);
  const log: string[] = [];
  const enter = (tenant: string, name = tenant): RequestTicket => {
    const ticket = queue.enter(tenant);
    ticket.take((refused) => log.push(refused ? `${name} refused` : name));
    return ticket;
  };
  return { queue, clock, log, enter };
}

const settled = () => new Promise((resume) => setImmediate(resume));

describe('turns', () => {
  it('begin at once while there are any, and one tenant may have them all', () => {
    const { queue, log, enter } = queueOf();
    enter('a', 'a1');
    enter('a', 'a2');
    enter('a', 'a3');
    expect([log, queue.running, queue.tickets]).toEqual([['a1', 'a2'], 2, 3]);
  });

  it('go to the tenant with the fewest, then to the longest wait, then in order of arrival', async () => {
    const { log, enter } = queueOf();
    const running = [enter('a', 'a1'), enter('a', 'a2')];
    for (const name of ['a3', 'a4', 'b1', 'b2', 'c1', 'c2']) enter(name[0]!, name);
    const order: string[] = [];
    for (const ticket of running) {
      ticket.close();
      await settled();
      order.push(log.at(-1)!);
    }
    // b and c had none while a had two. Now each of them has one, and a has none.
    expect(order).toEqual(['b1', 'c1']);
    expect(log).toEqual(['a1', 'a2', 'b1', 'c1']);
  });

  it('pass from tenant to tenant when each of them keeps its turn for a while', async () => {
    const { log, enter } = queueOf({ slots: 1, ofTenant: 1 });
    let last = enter('a', 'a1');
    const tickets = new Map<string, RequestTicket>();
    for (const name of ['a2', 'a3', 'b1', 'b2', 'c1', 'c2']) tickets.set(name, enter(name[0]!, name));
    for (let i = 0; i < 6; i++) {
      last.close();
      await settled();
      last = tickets.get(log.at(-1)!)!;
    }
    expect(log).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'c2', 'a3']);
  });

  it('count a request only when its body has arrived, and leave bodies of other senders free', () => {
    const { queue, log, enter } = queueOf({ ticketsOfTenant: 4, tickets: 20 });
    const slow = [queue.enter('a', 'x'), queue.enter('a', 'x')];
    expect(() => queue.enter('a', 'x')).toThrow(DomainError);
    const other = queue.enter('a', 'y');
    expect(() => queue.enter('a', 'y')).toThrow(DomainError);
    expect([queue.tickets, queue.isFull('a')]).toEqual([0, false]);
    for (let i = 1; i <= 3; i++) enter('a', `a${i}`);
    slow[0]!.take((refused) => log.push(refused ? 'x refused' : 'x'));
    expect([queue.tickets, queue.isFull('a')]).toEqual([4, true]);
    // It is refused when there are too many by then.
    other.take((refused) => log.push(refused ? 'y refused' : 'y'));
    expect(log).toEqual(['a1', 'a2', 'y refused']);
    for (const ticket of [...slow, other]) ticket.close();
    expect(queue.tickets).toBe(3);
    expect(() => queue.enter('a', 'x')).not.toThrow();
  });

  it('leave bodies free for another tenant, and have no more bodies and requests together than tickets', () => {
    const { queue, enter } = queueOf({ ticketsOfTenant: 8, tickets: 12 });
    const admitted = (tenant: string) => {
      let count = 0;
      try {
        // Each from a sender of its own.
        for (;;) queue.enter(tenant, `${count++}`);
      } catch {
        return count - 1;
      }
    };
    expect([admitted('a'), admitted('b'), admitted('c')]).toEqual([6, 3, 2]);
    for (let i = 0; i < 7; i++) enter('d');
    expect([queue.tickets, admitted('e')]).toEqual([7, 0]);
  });

  it('are several for a ticket with more work, at most an eighth of all', async () => {
    const { queue, log, enter } = queueOf({ slots: 16, ofTenant: 16, ticketsOfTenant: 20, tickets: 40 });
    const first = queue.enter('a');
    first.weigh(100);
    first.take(() => log.push('a1'));
    expect(queue.running).toBe(2);
    // The document of another is known when it has begun.
    const second = enter('a', 'a2');
    second.weigh(2);
    for (let i = 3; i <= 15; i++) enter('a', `a${i}`);
    expect([log.length, queue.running, queue.working]).toEqual([14, 16, 14]);
    first.close();
    await settled();
    expect([log.at(-1), queue.running, queue.working]).toEqual(['a15', 15, 14]);
    // What a ticket turns out not to need is given to the next.
    enter('b', 'b1');
    enter('b', 'b2');
    second.weigh(1);
    await settled();
    expect([log.at(-1), queue.running]).toEqual(['b2', 16]);
  });

  it('are expected to be as many as the tickets of the tenant took', async () => {
    const { queue, enter } = queueOf({ slots: 24, ofTenant: 24, ticketsOfTenant: 40, tickets: 40 });
    for (let i = 0; i < 20; i++) {
      const ticket = enter('a');
      ticket.weigh(3);
      ticket.close();
      // The tenant is known as long as it has a ticket.
      if (i === 0) queue.enter('a');
    }
    for (let i = 0; i < 20; i++) enter('a');
    expect([queue.running, queue.working]).toEqual([24, 8]);
  });

  it('are fewer while several tenants have tickets', async () => {
    const { queue, clock, log, enter } = queueOf({
      ...{ slots: 8, ofTenant: 8, guaranteed: 3, ticketsOfTenant: 20, tickets: 40 },
      contended: { slots: 3, ticketsOfTenant: 20 },
    });
    const tickets = Array.from({ length: 12 }, (_, i) => enter('a', `a${i}`));
    expect(queue.running).toBe(8);
    clock.now += 100;
    const other = enter('b', 'b1');
    // A guaranteed slot is free only when another tenant ends: all have more than this one now.
    expect(log.at(-1)).toBe('a7');
    for (const ticket of tickets.slice(0, 5)) ticket.close();
    await settled();
    expect([log.at(-1), queue.running]).toEqual(['b1', 4]);
    for (const ticket of tickets.slice(5, 8)) ticket.close();
    await settled();
    // b has one, and two of a begin.
    expect([queue.running, log.slice(-2)]).toEqual([3, ['a8', 'a9']]);
    other.close();
    clock.now += 1_001;
    tickets[8]!.close();
    await settled();
    expect([queue.running, log.slice(-2)]).toEqual([3, ['a10', 'a11']]);
    for (let i = 0; i < 10; i++) enter('a', `c${i}`);
    expect(queue.running).toBe(8);
  });

  it('are never more of one tenant than its limit, though others are free', async () => {
    const { log, enter } = queueOf({ slots: 3, ofTenant: 1 });
    const first = enter('a', 'a1');
    enter('a', 'a2');
    enter('b', 'b1');
    expect(log).toEqual(['a1', 'b1']);
    first.close();
    await settled();
    expect(log).toEqual(['a1', 'b1', 'a2']);
  });

  it('are guaranteed to tenants that have none', async () => {
    const { queue, log, enter } = queueOf({ guaranteed: 1 });
    enter('a', 'a1');
    enter('a', 'a2');
    enter('b', 'b1');
    enter('b', 'b2');
    enter('c', 'c1');
    expect([log, queue.running]).toEqual([['a1', 'a2', 'b1'], 3]);
  });

  it('are guaranteed to tenants that have fewer than their share', async () => {
    const { queue, log, enter } = queueOf({
      ...{ slots: 8, ofTenant: 8, guaranteed: 8, ticketsOfTenant: 20, tickets: 40 },
      contended: { slots: 4, ticketsOfTenant: 20 },
    });
    const tickets = Array.from({ length: 10 }, (_, i) => enter('a', `a${i}`));
    // Of four turns that two tenants share, each has two for certain.
    for (const name of ['b1', 'b2', 'b3']) enter('b', name);
    expect([log.slice(8), queue.running]).toEqual([['b1', 'b2'], 10]);
    // Of three, each has one.
    for (const name of ['c1', 'c2']) enter('c', name);
    expect([log.slice(10), queue.running]).toEqual([['c1'], 11]);
    // Beyond it, tenants wait until no more turns are taken than they share; the next ones are of those that have
    // fewest.
    for (const ticket of tickets.slice(0, 7)) ticket.close();
    await settled();
    expect([log.slice(11), queue.running]).toEqual([[], 4]);
    tickets[7]!.close();
    await settled();
    expect([log.slice(11), queue.running]).toEqual([['a8'], 4]);
  });

  it('are refused when a tenant, or all together, have too many tickets', () => {
    const { enter, queue } = queueOf({ ticketsOfTenant: 3, tickets: 5 });
    for (let i = 0; i < 3; i++) enter('a');
    expect(() => enter('a')).toThrow(DomainError);
    enter('b');
    enter('b');
    expect(() => enter('c')).toThrow(DomainError);
    expect(queue.tickets).toBe(5);
  });

  it('are refused earlier while several tenants have tickets', () => {
    const { clock, enter, queue } = queueOf({
      ...{ ticketsOfTenant: 4, tickets: 20 },
      contended: { slots: 2, ticketsOfTenant: 2 },
    });
    const tickets = Array.from({ length: 4 }, () => enter('a'));
    enter('b');
    tickets[0]!.close();
    tickets[1]!.close();
    expect(() => enter('a')).toThrow(DomainError);
    tickets[2]!.close();
    enter('a');
    expect(() => enter('a')).toThrow(DomainError);
    enter('b');
    expect(() => enter('b')).toThrow(DomainError);
    clock.now += 1_001;
    enter('a');
    enter('a');
    expect(() => enter('a')).toThrow(DomainError);
    expect(queue.tickets).toBe(6);
  });

  it('are refused after the longest wait, and not before', () => {
    const { queue, clock, log, enter } = queueOf({ slots: 1 });
    enter('a', 'a1');
    enter('a', 'a2');
    clock.now = 300;
    enter('b', 'b1');
    clock.now = 499;
    queue.poll();
    expect(log).toEqual(['a1']);
    clock.now = 500;
    queue.poll();
    expect(log).toEqual(['a1', 'a2 refused']);
    clock.now = 800;
    queue.poll();
    expect(log).toEqual(['a1', 'a2 refused', 'b1 refused']);
  });

  it('are given back once, however often and in whatever state a ticket is closed or released', async () => {
    const { queue, log, enter } = queueOf({ slots: 1 });
    const [first, waiting, next] = [enter('a', 'a1'), enter('a', 'a2'), enter('a', 'a3')];
    waiting.close();
    waiting.close();
    first.release();
    first.close();
    first.close();
    await settled();
    expect([log, queue.running, queue.tickets]).toEqual([['a1', 'a3'], 1, 1]);
    next.close();
    expect([queue.running, queue.tickets]).toEqual([0, 0]);
    // After it has left, a ticket takes no turn.
    first.take(() => log.push('late'));
    expect([log, queue.running]).toEqual([['a1', 'a3'], 0]);
  });

  it('are not begun for a ticket that is closed in the moment in which it would get one', async () => {
    const { queue, log, enter } = queueOf({ slots: 1 });
    const [first, second] = [enter('a', 'a1'), enter('a', 'a2')];
    first.close();
    second.close();
    await settled();
    expect([log, queue.running]).toEqual([['a1'], 0]);
  });

  it('leave a tenant one ticket that waits while the process is overloaded', () => {
    let overloaded = true;
    const { enter, log, queue } = queueOf({ guaranteed: 1 }, () => overloaded);
    for (const name of ['a1', 'a2', 'a3']) enter('a', name);
    expect(() => enter('a', 'a4')).toThrow(DomainError);
    enter('b', 'b1');
    overloaded = false;
    enter('a', 'a5');
    expect([log, queue.tickets]).toEqual([['a1', 'a2', 'b1'], 5]);
  });

  it('end with the work, when it fails too, and a wait ends when it is given up', async () => {
    const { queue } = queueOf({ slots: 1 });
    await expect(queue.during('a', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    expect(queue.tickets).toBe(0);
    let done = () => {};
    const long = queue.during('a', () => new Promise<void>((resolve) => (done = resolve)));
    const given: ((reason: DomainError) => void)[] = [];
    const reason = new DomainError();
    const second = queue.during(
      'a',
      () => Promise.resolve('never'),
      (leave) => {
        given.push(leave);
        return () => {};
      },
    );
    await settled();
    given[0]!(reason);
    await expect(second).rejects.toBe(reason);
    expect(queue.tickets).toBe(1);
    done();
    await long;
    expect([queue.running, queue.tickets]).toEqual([0, 0]);
  });

  it('hold their bounds, lose no ticket and leave no turn unused, whatever happens in whatever order', async () => {
    const step = fc.record({
      act: fc.constantFrom('enter', 'enter', 'close', 'release', 'again', 'poll'),
      tenant: fc.constantFrom('a', 'b', 'c'),
      at: fc.nat(20),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const given = {
          ...{ slots: 3, ofTenant: 2, guaranteed: 1 },
          ...{ ticketsOfTenant: 6, tickets: 12, milliseconds: 5 },
        };
        const clock = { now: 0 };
        const queue = new RequestQueue('requests', given, undefined, () => clock.now);
        /** The tickets that have not left, and whether each waits. */
        const tickets = new Map<RequestTicket, { tenant: string; waits: boolean }>();
        const take = (ticket: RequestTicket) => {
          const state = tickets.get(ticket)!;
          state.waits = true;
          ticket.take(() => (state.waits = false));
        };
        for (const { act, tenant, at } of steps) {
          clock.now++;
          const ticket = [...tickets.keys()][at % Math.max(tickets.size, 1)];
          if (act === 'enter') {
            const same = [...tickets.values()].filter((each) => each.tenant === tenant).length;
            const room = same < given.ticketsOfTenant && tickets.size < given.tickets;
            const entered = (() => {
              try {
                return queue.enter(tenant);
              } catch {
                return undefined;
              }
            })();
            expect(entered !== undefined).toBe(room);
            if (!entered) continue;
            tickets.set(entered, { tenant, waits: false });
            take(entered);
          } else if (act === 'poll') queue.poll();
          else if (ticket && act === 'close') {
            ticket.close();
            tickets.delete(ticket);
          } else if (ticket && act === 'release') {
            ticket.release();
            tickets.get(ticket)!.waits = false;
          } else if (ticket && !ticket.running && !tickets.get(ticket)!.waits) take(ticket);
          await Promise.resolve();
          const running = [...tickets.keys()].filter((each) => each.running);
          expect([queue.running, queue.tickets]).toEqual([running.length, tickets.size]);
          for (const name of ['a', 'b', 'c']) {
            const of = running.filter((each) => tickets.get(each)!.tenant === name).length;
            expect(of).toBeLessThanOrEqual(given.ofTenant);
            const waits = [...tickets.values()].some((each) => each.tenant === name && each.waits);
            if (waits && of < given.ofTenant) expect(running.length).toBeGreaterThanOrEqual(given.slots);
            if (waits && of === 0) expect(running.length).toBe(given.slots + given.guaranteed);
          }
          expect(running.length).toBeLessThanOrEqual(given.slots + given.guaranteed);
        }
        for (const ticket of tickets.keys()) ticket.close();
        expect([queue.running, queue.tickets]).toEqual([0, 0]);
        clock.now += 10;
        queue.poll();
      }),
      { numRuns: 200 },
    );
  });
});

describe('a fair queue', () => {
  /** A queue of work that ends when the test says so. */
  function workOf(given: Partial<typeof limits> = {}) {
    const clock = { now: 0 };
    const queue = new FairQueue('writes', { ...limits, ...given }, () => clock.now);
    const ends = new Map<string, () => void>();
    const work = (name: string, tenant: string, names: string[] = []) =>
      queue.during(tenant, () => new Promise<void>((end) => ends.set(name, end)), undefined, names);
    return { queue, clock, ends, work };
  }

  it('gives the modes of a tenant turns in turn, and both together no more than one tenant may have', async () => {
    const { queue, ends, work } = workOf({ slots: 4, ofTenant: 3 });
    const modes = ['a', 'a test', 'a live'];
    const test = ['t1', 't2', 't3', 't4', 't5'].map((name) => work(name, 'a test', modes));
    const live = ['l1', 'l2'].map((name) => work(name, 'a live', modes));
    expect([[...ends.keys()], queue.running]).toEqual([['t1', 't2', 't3'], 3]);
    // Another tenant has the turn that is left, although the live mode of the first one has none.
    const other = work('b1', 'b');
    expect([...ends.keys()].at(-1)).toBe('b1');
    for (const name of ['t1', 't2', 't3']) {
      ends.get(name)!();
      await settled();
    }
    // The live mode has fewer each time until both have as many.
    expect([...ends.keys()].slice(4)).toEqual(['l1', 'l2', 't4']);
    for (const name of ['l1', 'l2', 't4', 'b1']) ends.get(name)!();
    await settled();
    ends.get('t5')!();
    await Promise.all([...test, ...live, other]);
    expect([queue.running, queue.working, queue.tickets]).toEqual([0, 0, 0]);
  });

  it('says which queue refuses, in the error and in the number of its refusals', async () => {
    const { queue, clock, ends, work } = workOf({ slots: 1, ofTenant: 1, ticketsOfTenant: 2 });
    const before = refusals.writes;
    const first = work('a1', 'a');
    const late = work('a2', 'a');
    await expect(work('a3', 'a')).rejects.toMatchObject({
      problems: [{ code: 'service_unavailable', metadata: { reason: 'queue_writes' } }],
    });
    clock.now = 500;
    queue.poll();
    await expect(late).rejects.toMatchObject({ problems: [{ metadata: { reason: 'queue_writes' } }] });
    expect(refusals.writes - before).toBe(2);
    ends.get('a1')!();
    await first;
  });
});
