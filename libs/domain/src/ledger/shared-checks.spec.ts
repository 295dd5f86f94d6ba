import { beforeEach, describe, expect, it } from 'vitest';
import type { EndSignal, OrgId } from '../kernel/index.js';
import { SharedChecks } from './shared-checks.js';

const [one, other, third] = ['org_one', 'org_other', 'org_third'] as OrgId[] as [OrgId, OrgId, OrgId];

let begun: { name: string; signal: EndSignal; end: () => void }[];
let checks: SharedChecks<string>;
beforeEach(() => {
  begun = [];
  checks = new SharedChecks();
});

const settled = () => new Promise(setImmediate);
const ask = (org: OrgId, what: string, abandoned = new AbortController().signal): Promise<string> =>
  checks.run(org, what, abandoned, (signal) => {
    const name = `${org} ${what} ${begun.length}`;
    return new Promise((resolve) => begun.push({ name, signal, end: () => resolve(name) }));
  });
const end = async (index: number): Promise<void> => {
  begun[index]?.end();
  await settled();
};

describe('checks of ledgers', () => {
  it('run one at a time for an organization, and beside those of other organizations', async () => {
    for (let last = 1; last <= 20; last += 1) void ask(one, `last ${last}`);
    void ask(other, 'last 1');
    await settled();
    expect(begun.map(({ name }) => name)).toEqual([`${one} last 1 0`, `${other} last 1 1`]);
    await end(0);
    expect(begun[2]?.name).toBe(`${one} last 2 2`);
  });

  it('run two at a time in all', async () => {
    for (const org of [one, other, third]) void ask(org, 'all');
    await settled();
    expect(begun).toHaveLength(2);
    await end(1);
    expect(begun[2]?.name).toBe(`${third} all 2`);
  });

  it('that are the same share one run while they wait, but not once it has begun', async () => {
    const first = ask(one, 'all');
    await settled();
    const second = [ask(one, 'all'), ask(one, 'all'), ask(one, 'all')];
    await end(0);
    expect(begun).toHaveLength(2);
    await end(1);
    expect(await first).not.toBe(await second[0]);
    expect(new Set(await Promise.all(second)).size).toBe(1);
  });

  it('are abandoned when the last caller has gone', async () => {
    const [first, last] = [new AbortController(), new AbortController()];
    void ask(one, 'before');
    void ask(one, 'all', first.signal);
    void ask(one, 'all', last.signal);
    await settled();
    await end(0);
    first.abort();
    expect(begun[1]?.signal.aborted).toBe(false);
    last.abort();
    expect(begun[1]?.signal.aborted).toBe(true);
  });

  it('that fail do not block the next ones', async () => {
    const failing = checks.run(one, 'fails', new AbortController().signal, () => Promise.reject(new Error('no store')));
    const next = ask(one, 'all');
    await expect(failing).rejects.toThrow('no store');
    await settled();
    await end(0);
    expect(await next).toBe(`${one} all 0`);
  });
});
