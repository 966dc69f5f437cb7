import { describe, expect, it } from 'vitest';
import { once } from '../../src/server/http/once.js';

describe('what is made once', () => {
  it('is made when it is first needed, for all who need it at the same time or later', async () => {
    let times = 0;
    const needed = once(async () => ++times);
    expect(times).toBe(0);
    expect(await Promise.all([needed(), needed()])).toEqual([1, 1]);
    expect(await needed()).toBe(1);
  });

  it('is made again after it could not be made, which all who waited learn', async () => {
    let times = 0;
    const needed = once(async () => {
      if (++times === 1) throw new Error('the first time');
      return times;
    });
    const outcomes = await Promise.allSettled([needed(), needed()]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await needed()).toBe(2);
  });
});
