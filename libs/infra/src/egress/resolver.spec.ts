import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { SLOW_LOOKUP_MS, systemResolver } from './resolver.js';

const ADDRESS = ['192.0.2.1'];

/** Lookups as the system runs them: each takes as long as its test says. */
class Names {
  readonly asked: string[] = [];
  private readonly open: { readonly host: string; readonly end: () => void }[] = [];

  readonly ask = (host: string): Promise<readonly string[]> => {
    this.asked.push(host);
    return new Promise((resolve, reject) => {
      const end = (): void => (host.startsWith('no-') ? reject(new Error('ENOTFOUND')) : resolve(ADDRESS));
      this.open.push({ host, end });
    });
  };

  /** Ends those of a name that run, and lets whoever waited for them go on. */
  async end(host: string): Promise<void> {
    for (const lookup of this.open.filter((each) => each.host === host)) {
      this.open.splice(this.open.indexOf(lookup), 1);
      lookup.end();
    }
    await vi.advanceTimersByTimeAsync(0);
  }

  get running(): readonly string[] {
    return this.open.map(({ host }) => host);
  }
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('the resolver', () => {
  it('asks the system, whose hosts file counts', async () => {
    vi.useRealTimers();
    expect(await systemResolver()('localhost')).toContain('127.0.0.1');
  });

  it('runs three lookups at a time, in the order of asking', async () => {
    const names = new Names();
    const resolve = systemResolver(names.ask);
    const answers = ['a', 'b', 'c', 'd', 'e'].map((host) => resolve(host));
    await vi.advanceTimersByTimeAsync(0);
    expect(names.running).toEqual(['a', 'b', 'c']);
    await names.end('b');
    expect(names.running).toEqual(['a', 'c', 'd']);
    for (const host of ['a', 'c', 'd', 'e']) await names.end(host);
    expect(await Promise.all(answers)).toEqual(answers.map(() => ADDRESS));
  });

  it('answers nobody by a lookup that began before the question, and many by one that begins after', async () => {
    const names = new Names();
    const resolve = systemResolver(names.ask);
    const first = resolve('a');
    await vi.advanceTimersByTimeAsync(0);
    const later = Array.from({ length: 50 }, () => resolve('a'));
    await vi.advanceTimersByTimeAsync(0);
    expect(names.asked).toEqual(['a']);
    await names.end('a');
    expect(await first).toEqual(ADDRESS);
    expect(names.asked).toEqual(['a', 'a']);
    await names.end('a');
    expect(await Promise.all(later)).toHaveLength(50);
    expect(names.asked).toHaveLength(2);
  });

  it('tells whoever asked that a name has no address, and goes on', async () => {
    const names = new Names();
    const resolve = systemResolver(names.ask);
    const refused = expect(resolve('no-such')).rejects.toThrow('ENOTFOUND');
    const other = resolve('a');
    await vi.advanceTimersByTimeAsync(0);
    await names.end('no-such');
    await refused;
    await names.end('a');
    expect(await other).toEqual(ADDRESS);
  });

  it('leaves places to other names where some are slow, however often they are asked for', async () => {
    const names = new Names();
    const resolve = systemResolver(names.ask);
    const slow = ['slow-1', 'slow-2', 'slow-3'];
    for (const host of slow) void resolve(host);
    await vi.advanceTimersByTimeAsync(SLOW_LOOKUP_MS);
    // Each is slow for the first time: nobody could know.
    expect(names.running).toEqual(slow);
    for (const host of slow) for (let turn = 0; turn < 100; turn += 1) void resolve(host);
    for (const host of slow) await names.end(host);
    expect(names.running).toEqual(['slow-1']);
    const answers = ['a', 'b'].map((host) => resolve(host));
    await vi.advanceTimersByTimeAsync(0);
    expect(names.running).toEqual(['slow-1', 'a', 'b']);
    for (const host of ['a', 'b']) await names.end(host);
    expect(await Promise.all(answers)).toEqual([ADDRESS, ADDRESS]);
    expect(names.asked).toHaveLength(6);
  });

  it('takes a name for slow no longer than it is', async () => {
    const names = new Names();
    const resolve = systemResolver(names.ask);
    for (const host of ['a', 'b']) void resolve(host);
    await vi.advanceTimersByTimeAsync(SLOW_LOOKUP_MS);
    for (const host of ['a', 'b']) await names.end(host);
    void resolve('a');
    await vi.advanceTimersByTimeAsync(SLOW_LOOKUP_MS - 1);
    await names.end('a');
    for (const host of ['a', 'b']) void resolve(host);
    await vi.advanceTimersByTimeAsync(0);
    expect(names.running).toEqual(['a', 'b']);
  });
});
