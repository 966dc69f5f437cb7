import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DomainError } from '../../src/errors/problems.js';
import { type TurnLimits, Turns } from '../../src/limits/fair-queue.js';
import type { Visit } from '../../src/limits/ticket.js';

const limits = { slots: 2, perKey: 2, reserve: 0, ofKey: 10, all: 20, milliseconds: 500 };

/** Turns with a clock that the test moves. */
function turnsOf(given: Partial<TurnLimits> = {}, strained = () => false) {
  const clock = { now: 0 };
  const turns = new Turns({ ...limits, ...given }, strained, () => clock.now);
  const log: string[] = [];
  const enter = (key: string, name = key): Visit => {
    const visit = turns.visit(key);
    visit.take((refused) => log.push(refused ? `${name} refused` : name));
    return visit;
  };
  return { turns, clock, log, enter };
}

const settled = () => new Promise((resume) => setImmediate(resume));

describe('turns', () => {
  it('begin at once while there are any, and one key may have them all', () => {
    const { turns, log, enter } = turnsOf();
    enter('a', 'a1');
    enter('a', 'a2');
    enter('a', 'a3');
    expect([log, turns.running, turns.visitors]).toEqual([['a1', 'a2'], 2, 3]);
  });

  it('go to the key with the fewest, then to the one that has waited longest, then in order of arrival', async () => {
    const { log, enter } = turnsOf();
    const running = [enter('a', 'a1'), enter('a', 'a2')];
    for (const name of ['a3', 'a4', 'b1', 'b2', 'c1', 'c2']) enter(name[0]!, name);
    const order: string[] = [];
    for (const visit of running) {
      visit.leave();
      await settled();
      order.push(log.at(-1)!);
    }
    // b and c had none while a had two. Now each of them has one, and a has none.
    expect(order).toEqual(['b1', 'c1']);
    expect(log).toEqual(['a1', 'a2', 'b1', 'c1']);
  });

  it('pass from key to key when each of them keeps its turn for a while', async () => {
    const { log, enter } = turnsOf({ slots: 1, perKey: 1 });
    let last = enter('a', 'a1');
    const visits = new Map<string, Visit>();
    for (const name of ['a2', 'a3', 'b1', 'b2', 'c1', 'c2']) visits.set(name, enter(name[0]!, name));
    for (let i = 0; i < 6; i++) {
      last.leave();
      await settled();
      last = visits.get(log.at(-1)!)!;
    }
    expect(log).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'c2', 'a3']);
  });

  it('count a visitor only when its body has arrived, and leave bodies of other senders free', () => {
    const { turns, log, enter } = turnsOf({ ofKey: 4, all: 20 });
    const slow = [turns.visit('a', 'x'), turns.visit('a', 'x')];
    expect(() => turns.visit('a', 'x')).toThrow(DomainError);
    const other = turns.visit('a', 'y');
    expect(() => turns.visit('a', 'y')).toThrow(DomainError);
    expect([turns.visitors, turns.isFull('a')]).toEqual([0, false]);
    for (let i = 1; i <= 3; i++) enter('a', `a${i}`);
    slow[0]!.take((refused) => log.push(refused ? 'x refused' : 'x'));
    expect([turns.visitors, turns.isFull('a')]).toEqual([4, true]);
    // It is refused when there are too many by then.
    other.take((refused) => log.push(refused ? 'y refused' : 'y'));
    expect(log).toEqual(['a1', 'a2', 'y refused']);
    for (const visit of [...slow, other]) visit.leave();
    expect(turns.visitors).toBe(3);
    expect(() => turns.visit('a', 'x')).not.toThrow();
  });

  it('leave bodies free for another key, and have no more bodies and visitors together than visitors', () => {
    const { turns, enter } = turnsOf({ ofKey: 8, all: 12 });
    const admitted = (key: string) => {
      let count = 0;
      try {
        // Each from a sender of its own.
        for (;;) turns.visit(key, `${count++}`);
      } catch {
        return count - 1;
      }
    };
    expect([admitted('a'), admitted('b'), admitted('c')]).toEqual([6, 3, 2]);
    for (let i = 0; i < 7; i++) enter('d');
    expect([turns.visitors, admitted('e')]).toEqual([7, 0]);
  });

  it('are several for a visit with more work, at most an eighth of all', async () => {
    const { turns, log, enter } = turnsOf({ slots: 16, perKey: 16, ofKey: 20, all: 40 });
    const first = turns.visit('a');
    first.weigh(100);
    first.take(() => log.push('a1'));
    expect(turns.running).toBe(2);
    // The document of another is known when it has begun.
    const second = enter('a', 'a2');
    second.weigh(2);
    for (let i = 3; i <= 15; i++) enter('a', `a${i}`);
    expect([log.length, turns.running, turns.working]).toEqual([14, 16, 14]);
    first.leave();
    await settled();
    expect([log.at(-1), turns.running, turns.working]).toEqual(['a15', 15, 14]);
    // What a visit turns out not to need is given to the next.
    enter('b', 'b1');
    enter('b', 'b2');
    second.weigh(1);
    await settled();
    expect([log.at(-1), turns.running]).toEqual(['b2', 16]);
  });

  it('are expected to be as many as the visits of the key took', async () => {
    const { turns, enter } = turnsOf({ slots: 24, perKey: 24, ofKey: 40, all: 40 });
    for (let i = 0; i < 20; i++) {
      const visit = enter('a');
      visit.weigh(3);
      visit.leave();
      // The key is known as long as it has a visitor.
      if (i === 0) turns.visit('a');
    }
    for (let i = 0; i < 20; i++) enter('a');
    expect([turns.running, turns.working]).toEqual([24, 8]);
  });

  it('are fewer while several keys have visitors', async () => {
    const { turns, clock, log, enter } = turnsOf({ slots: 8, perKey: 8, shared: 3, reserve: 3, ofKey: 20, all: 40 });
    const visits = Array.from({ length: 12 }, (_, i) => enter('a', `a${i}`));
    expect(turns.running).toBe(8);
    clock.now += 100;
    const other = enter('b', 'b1');
    // It has one of the reserve only when there is one: all have more than it now.
    expect(log.at(-1)).toBe('a7');
    for (const visit of visits.slice(0, 5)) visit.leave();
    await settled();
    expect([log.at(-1), turns.running]).toEqual(['b1', 4]);
    for (const visit of visits.slice(5, 8)) visit.leave();
    await settled();
    // b has one, and two of a begin.
    expect([turns.running, log.slice(-2)]).toEqual([3, ['a8', 'a9']]);
    other.leave();
    clock.now += 1_001;
    visits[8]!.leave();
    await settled();
    expect([turns.running, log.slice(-2)]).toEqual([3, ['a10', 'a11']]);
    for (let i = 0; i < 10; i++) enter('a', `c${i}`);
    expect(turns.running).toBe(8);
  });

  it('are never more of one key than its limit, though others are free', async () => {
    const { log, enter } = turnsOf({ slots: 3, perKey: 1 });
    const first = enter('a', 'a1');
    enter('a', 'a2');
    enter('b', 'b1');
    expect(log).toEqual(['a1', 'b1']);
    first.leave();
    await settled();
    expect(log).toEqual(['a1', 'b1', 'a2']);
  });

  it('are kept in reserve for keys that have none', async () => {
    const { turns, log, enter } = turnsOf({ reserve: 1 });
    enter('a', 'a1');
    enter('a', 'a2');
    enter('b', 'b1');
    enter('b', 'b2');
    enter('c', 'c1');
    expect([log, turns.running]).toEqual([['a1', 'a2', 'b1'], 3]);
  });

  it('are kept in reserve for keys that have fewer than their share', async () => {
    const { turns, log, enter } = turnsOf({ slots: 8, perKey: 8, shared: 4, reserve: 8, ofKey: 20, all: 40 });
    const visits = Array.from({ length: 10 }, (_, i) => enter('a', `a${i}`));
    // Of four turns that two keys share, each has two for certain.
    for (const name of ['b1', 'b2', 'b3']) enter('b', name);
    expect([log.slice(8), turns.running]).toEqual([['b1', 'b2'], 10]);
    // Of three, each has one.
    for (const name of ['c1', 'c2']) enter('c', name);
    expect([log.slice(10), turns.running]).toEqual([['c1'], 11]);
    // Beyond it, keys wait until no more turns are taken than they share; the next ones are of those that have fewest.
    for (const visit of visits.slice(0, 7)) visit.leave();
    await settled();
    expect([log.slice(11), turns.running]).toEqual([[], 4]);
    visits[7]!.leave();
    await settled();
    expect([log.slice(11), turns.running]).toEqual([['a8'], 4]);
  });

  it('are refused when a key, or all keys, have too many visitors', () => {
    const { enter, turns } = turnsOf({ ofKey: 3, all: 5 });
    for (let i = 0; i < 3; i++) enter('a');
    expect(() => enter('a')).toThrow(DomainError);
    enter('b');
    enter('b');
    expect(() => enter('c')).toThrow(DomainError);
    expect(turns.visitors).toBe(5);
  });

  it('are refused earlier while several keys have visitors', () => {
    const { clock, enter, turns } = turnsOf({ ofKey: 4, ofKeyShared: 2, shared: 2, all: 20 });
    const visits = Array.from({ length: 4 }, () => enter('a'));
    enter('b');
    visits[0]!.leave();
    visits[1]!.leave();
    expect(() => enter('a')).toThrow(DomainError);
    visits[2]!.leave();
    enter('a');
    expect(() => enter('a')).toThrow(DomainError);
    enter('b');
    expect(() => enter('b')).toThrow(DomainError);
    clock.now += 1_001;
    enter('a');
    enter('a');
    expect(() => enter('a')).toThrow(DomainError);
    expect(turns.visitors).toBe(6);
  });

  it('are refused after the longest wait, and not before', () => {
    const { turns, clock, log, enter } = turnsOf({ slots: 1 });
    enter('a', 'a1');
    enter('a', 'a2');
    clock.now = 300;
    enter('b', 'b1');
    clock.now = 499;
    turns.look();
    expect(log).toEqual(['a1']);
    clock.now = 500;
    turns.look();
    expect(log).toEqual(['a1', 'a2 refused']);
    clock.now = 800;
    turns.look();
    expect(log).toEqual(['a1', 'a2 refused', 'b1 refused']);
  });

  it('are given back once, however often and in whatever state a visitor leaves or rests', async () => {
    const { turns, log, enter } = turnsOf({ slots: 1 });
    const [first, waiting, next] = [enter('a', 'a1'), enter('a', 'a2'), enter('a', 'a3')];
    waiting.leave();
    waiting.leave();
    first.rest();
    first.leave();
    first.leave();
    await settled();
    expect([log, turns.running, turns.visitors]).toEqual([['a1', 'a3'], 1, 1]);
    next.leave();
    expect([turns.running, turns.visitors]).toEqual([0, 0]);
    // After it has left, a visitor takes no turn.
    first.take(() => log.push('late'));
    expect([log, turns.running]).toEqual([['a1', 'a3'], 0]);
  });

  it('are not begun for a visitor that leaves in the moment in which it would get one', async () => {
    const { turns, log, enter } = turnsOf({ slots: 1 });
    const [first, second] = [enter('a', 'a1'), enter('a', 'a2')];
    first.leave();
    second.leave();
    await settled();
    expect([log, turns.running]).toEqual([['a1'], 0]);
  });

  it('leave a key one visitor that waits while the process is strained', () => {
    let strained = true;
    const { enter, log, turns } = turnsOf({ reserve: 1 }, () => strained);
    for (const name of ['a1', 'a2', 'a3']) enter('a', name);
    expect(() => enter('a', 'a4')).toThrow(DomainError);
    enter('b', 'b1');
    strained = false;
    enter('a', 'a5');
    expect([log, turns.visitors]).toEqual([['a1', 'a2', 'b1'], 5]);
  });

  it('end with the work, when it fails too, and a wait ends when it is given up', async () => {
    const { turns } = turnsOf({ slots: 1 });
    await expect(turns.during('a', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    expect(turns.visitors).toBe(0);
    let done = () => {};
    const long = turns.during('a', () => new Promise<void>((resolve) => (done = resolve)));
    const given: ((reason: DomainError) => void)[] = [];
    const reason = new DomainError();
    const second = turns.during(
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
    expect(turns.visitors).toBe(1);
    done();
    await long;
    expect([turns.running, turns.visitors]).toEqual([0, 0]);
  });

  it('hold their bounds, lose no visitor and leave no turn unused, whatever happens in whatever order', async () => {
    const step = fc.record({
      act: fc.constantFrom('enter', 'enter', 'leave', 'rest', 'again', 'look'),
      key: fc.constantFrom('a', 'b', 'c'),
      at: fc.nat(20),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const given = { slots: 3, perKey: 2, reserve: 1, ofKey: 6, all: 12, milliseconds: 5 };
        const clock = { now: 0 };
        const turns = new Turns(given, undefined, () => clock.now);
        /** The visits that have not left, and whether each waits. */
        const visits = new Map<Visit, { key: string; waits: boolean }>();
        const take = (visit: Visit) => {
          const state = visits.get(visit)!;
          state.waits = true;
          visit.take(() => (state.waits = false));
        };
        for (const { act, key, at } of steps) {
          clock.now++;
          const visit = [...visits.keys()][at % Math.max(visits.size, 1)];
          if (act === 'enter') {
            const same = [...visits.values()].filter((each) => each.key === key).length;
            const room = same < given.ofKey && visits.size < given.all;
            const entered = (() => {
              try {
                return turns.visit(key);
              } catch {
                return undefined;
              }
            })();
            expect(entered !== undefined).toBe(room);
            if (!entered) continue;
            visits.set(entered, { key, waits: false });
            take(entered);
          } else if (act === 'look') turns.look();
          else if (visit && act === 'leave') {
            visit.leave();
            visits.delete(visit);
          } else if (visit && act === 'rest') {
            visit.rest();
            visits.get(visit)!.waits = false;
          } else if (visit && !visit.running && !visits.get(visit)!.waits) take(visit);
          await Promise.resolve();
          const running = [...visits.keys()].filter((each) => each.running);
          expect([turns.running, turns.visitors]).toEqual([running.length, visits.size]);
          for (const name of ['a', 'b', 'c']) {
            const of = running.filter((each) => visits.get(each)!.key === name).length;
            expect(of).toBeLessThanOrEqual(given.perKey);
            const waits = [...visits.values()].some((each) => each.key === name && each.waits);
            if (waits && of < given.perKey) expect(running.length).toBeGreaterThanOrEqual(given.slots);
            if (waits && of === 0) expect(running.length).toBe(given.slots + given.reserve);
          }
          expect(running.length).toBeLessThanOrEqual(given.slots + given.reserve);
        }
        for (const visit of visits.keys()) visit.leave();
        expect([turns.running, turns.visitors]).toEqual([0, 0]);
        clock.now += 10;
        turns.look();
      }),
      { numRuns: 200 },
    );
  });
});
