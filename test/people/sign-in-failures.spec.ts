import { describe, expect, it } from 'vitest';
import { CommandRunner, FoldedStreams, START, type OrgId, type UserId } from '#libs/domain/kernel';
import { MemoryEventStore } from '#libs/infra/event-store';
import { CODE_ATTEMPTS_MAX, SignInFailures, type MissedCode, type MissedCodes } from '#libs/domain/people';
import { testId } from '../support/given-log.js';

type Belongings = ConstructorParameters<typeof SignInFailures>[2]['belongings'];

const user = testId('usr', 1);
const code = (number: number, misses: number, of: UserId | null = user): MissedCode => ({
  tokenHash: new Uint8Array(32).fill(number),
  user: of,
  misses,
  missedAtMs: 1_000,
});

/** A worker's rows and log: what was recorded, and what is left. */
const recording = (missed: readonly MissedCode[], { orgs = [1], losesRows = false, unreadable = user } = {}) => {
  const store = new MemoryEventStore();
  const left = new Set(missed);
  const rows: MissedCodes = {
    unrecorded: async () => [...left],
    recorded: async (done) => {
      if (losesRows) throw new Error('the database is away');
      left.delete(done);
    },
  };
  const belongings = async (of: UserId): Promise<Awaited<ReturnType<Belongings>>> => {
    if (of !== user && of === unreadable) throw new Error('the stream is damaged');
    return orgs.map(
      (number) => ({ organization: { org: testId('org', number) } }) as Awaited<ReturnType<Belongings>>[number],
    );
  };
  const worker = () =>
    new SignInFailures(new CommandRunner(store, new FoldedStreams(store)), rows, { belongings }).record();
  const told = async () =>
    (await store.readAll(START, 100)).map(({ data }) => {
      const { org, why } = JSON.parse(data) as { org: OrgId; why: string };
      return [org, why];
    });
  return { worker, told, left };
};

describe('recording wrong codes', () => {
  it('tells each organization of the person, and nobody of a decoy', async () => {
    const { worker, told, left } = recording([code(1, 1), code(2, 1, null)], { orgs: [1, 2] });
    await worker();
    expect(await told()).toEqual([
      [testId('org', 1), 'wrong_code'],
      [testId('org', 2), 'wrong_code'],
    ]);
    expect(left.size).toBe(0);
  });

  it('tells it once, also where the process ends between the event and the row', async () => {
    const { worker, told } = recording([code(1, CODE_ATTEMPTS_MAX)], { losesRows: true });
    await expect(worker()).rejects.toThrow('the database is away');
    await expect(worker()).rejects.toThrow('the database is away');
    expect(await told()).toEqual([
      [testId('org', 1), 'wrong_code'],
      [testId('org', 1), 'code_used_up'],
    ]);
  });

  it('records the others where one person cannot be read', async () => {
    const broken = testId('usr', 2);
    const { worker, told, left } = recording([code(1, 1, broken), code(2, 1)], { unreadable: broken });
    await expect(worker()).rejects.toThrow('the stream is damaged');
    expect(await told()).toHaveLength(1);
    expect([...left].map((each) => each.user)).toEqual([broken]);
  });
});
