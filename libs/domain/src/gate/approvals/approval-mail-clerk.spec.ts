import { describe, expect, it } from 'vitest';
import type { ActionId, FoldedStreams } from '../../kernel/index.js';
import type { ApprovalLinks } from './approval-links.port.js';
import { ApprovalMailClerk } from './approval-mail-clerk.js';

const idOf = (index: number): ActionId => `act_${String(index).padStart(26, '0')}` as ActionId;

/**
 * A clerk with so many approvals to write about, and the list of those it has read. Those in `damaged` cannot be read.
 */
const clerkOf = (count: number, damaged: ReadonlySet<ActionId> = new Set()) => {
  const all = Array.from({ length: count }, (_, index) => idOf(index));
  const looked: string[] = [];
  const streams = {
    load: async (ref: { stream: string }) => {
      looked.push(ref.stream);
      if ([...damaged].some((id) => ref.stream.endsWith(id))) throw new Error('The stream is damaged.');
      return { state: { state: 'none' } };
    },
  } as unknown as FoldedStreams;
  const links = {
    unwritten: async (limit: number, after: ActionId | null) =>
      all.filter((id) => after === null || id > after).slice(0, limit),
  } as unknown as ApprovalLinks;
  const sources = { clock: { nowMs: () => 0 }, randomness: {} } as ConstructorParameters<typeof ApprovalMailClerk>[3];
  const people = { addressesOf: async () => new Map(), usersAt: async () => [] };
  const stored = { people, payloads: { get: async () => null } };
  return { clerk: new ApprovalMailClerk(streams, links, stored, sources, (token) => token), looked };
};

describe('writing about approvals', () => {
  it('looks at one page at a time, and says whether there may be more', async () => {
    const { clerk, looked } = clerkOf(120);
    const answers: [boolean, number][] = [];
    for (let call = 0; call < 3; call += 1) answers.push([await clerk.write(), new Set(looked).size]);
    expect(answers).toEqual([
      [true, 50],
      [true, 100],
      [false, 120],
    ]);
  });

  it('begins anew after the last page', async () => {
    const { clerk, looked } = clerkOf(60);
    for (let call = 0; call < 3; call += 1) await clerk.write();
    expect(looked).toHaveLength(110);
  });

  it('throws the error of an unreadable one once, after the last page, and reads all the others', async () => {
    const { clerk, looked } = clerkOf(60, new Set([idOf(3)]));
    expect(await clerk.write()).toBe(true);
    await expect(clerk.write()).rejects.toThrow('damaged');
    expect(looked).toHaveLength(60);
    expect(await clerk.write()).toBe(true);
  });
});
