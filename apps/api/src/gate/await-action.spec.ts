import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { actionDecider, type LivingAction } from '#libs/domain/gate';
import { actionChannel, DomainError, idInStream, type ActionId } from '#libs/domain/kernel';
import { LedgerTails, RetentionReach } from '#libs/domain/ledger';
import { MemoryEventStore } from '#libs/infra/event-store';
import { GateBench, ManualStarter } from '../../../../test/support/gate-bench.js';
import { LedgerBench, newOrg } from '../../../../test/support/ledger-fixtures.js';
import { startUpstream, type Upstream } from '../../../../test/support/upstream.js';
import { ActionReader } from './action-reader.js';
import { AwaitAction } from './await-action.js';

const WAIT_MS = 25_000;

let upstream: Upstream;
let store: MemoryEventStore;
let bench: GateBench;

beforeEach(async () => {
  upstream = await startUpstream();
  const tools = [{ name: 'get', method: 'GET', path: '/v1/customers', args: {} }];
  store = new MemoryEventStore();
  bench = await new GateBench(store).prepare(upstream.baseUrl, tools);
});
afterEach(async () => {
  bench.close();
  await upstream.close();
});

/** Retention that has removed no bodies. */
const kept = new RetentionReach(new MemoryEventStore(), { cursorOf: () => Promise.resolve(null) });

/** Another process claims another attempt. */
const tryAgain = async (id: ActionId): Promise<void> => {
  const { attempts } = (await bench.action(id)) as LivingAction;
  const data = { executor: 'exe_2', claim: 'c2', supersedes: attempts[0]!.claim, mayHaveRun: true };
  const metadata = bench.metadata();
  await bench.runner.run(actionDecider, id, { type: 'ClaimExecution', data, metadata }, metadata);
  bench.bus.publish(actionChannel(id), 'tried again');
};

describe('a long poll by GET /v1/actions/{id} (rule GATE-10)', () => {
  it('answers when the state changes, and not when the call is tried again', async () => {
    const reader = new ActionReader(store, store, new LedgerTails(store), bench.payloads, kept);
    const reads = vi.spyOn(reader, 'read');
    const waiting = new AwaitAction(reader, bench.bus, bench.clock);
    const { action: id } = await bench.submit({}, bench.handler(new ManualStarter('exe_1', null)));
    const patience = { waitMs: WAIT_MS, ended: new AbortController().signal };
    const answered = waiting.changed(id, { org: bench.org, stillAllowed: () => Promise.resolve() }, patience);
    await vi.waitUntil(() => reads.mock.settledResults.length === 1, { timeout: 20_000 });
    await tryAgain(id);
    await vi.waitUntil(() => reads.mock.settledResults.length > 1, { timeout: 20_000 });
    const { attempts } = (await bench.action(id)) as LivingAction;
    await bench.executor.claimAndRun(id, attempts[1]!);
    expect((await answered)?.action.state).toBe('recorded');
  });

  it('ends when its caller may no longer ask, even if nothing has changed', async () => {
    const reader = new ActionReader(store, store, new LedgerTails(store), bench.payloads, kept);
    const waiting = new AwaitAction(reader, bench.bus, bench.clock);
    const { action: id } = await bench.submit({}, bench.handler(new ManualStarter('exe_1', null)));
    const stillAllowed = vi.fn().mockResolvedValueOnce(undefined).mockRejectedValue(new DomainError('api_key_revoked'));
    const patience = { waitMs: WAIT_MS, ended: new AbortController().signal };
    const answered = waiting.changed(id, { org: bench.org, stillAllowed }, patience);
    await vi.waitUntil(() => stillAllowed.mock.calls.length === 1, { timeout: 20_000 });
    bench.bus.publish(actionChannel(id), 'another attempt');
    await expect(answered).rejects.toThrow(expect.objectContaining({ code: 'api_key_revoked' }));
  });
});

describe('a wait for the seal', () => {
  it('does not read the store if this process itself has appended the deed', async () => {
    const log = new MemoryEventStore();
    const ledger = new LedgerBench(log);
    await ledger.activateKey();
    const org = newOrg();
    const stream = await ledger.recordAction(org, 'executed');
    const reader = new ActionReader(log, log, new LedgerTails(log), bench.payloads, kept);
    const waiting = new AwaitAction(reader, ledger.bus, ledger.clock);
    const heads = vi.spyOn(ledger.store, 'heads');
    const patience = { waitMs: WAIT_MS, ended: new AbortController().signal };
    const caller = { org, stillAllowed: () => Promise.resolve() };
    const answered = waiting.settled(idInStream(stream) as ActionId, caller, patience, {
      isNew: true,
      mayBeSealed: false,
    });
    await ledger.feed(ledger.sealer(), await ledger.log());
    expect((await answered)?.deed).toMatch(/^deed_/);
    expect(heads.mock.calls.flat(2)).not.toContain(stream);
  });

  it('ends at once if the deed of a refusal was in the same commit', async () => {
    const log = new MemoryEventStore();
    const ledgers = new LedgerBench(log);
    await ledgers.activateKey();
    const org = newOrg();
    const stream = await ledgers.recordAction(org, 'refused');
    await ledgers.feed(ledgers.sealer(), await ledgers.log());
    const reader = new ActionReader(log, log, new LedgerTails(log), bench.payloads, kept);
    const asks = vi.spyOn(reader, 'read');
    const waiting = new AwaitAction(reader, bench.bus, bench.clock);
    const caller = { org, stillAllowed: () => Promise.resolve() };
    const patience = { waitMs: WAIT_MS, ended: new AbortController().signal };
    const signs = { isNew: true, mayBeSealed: true };
    const read = await waiting.settled(idInStream(stream) as ActionId, caller, patience, signs);
    expect(read?.deed).toEqual(expect.stringMatching(/^deed_/));
    // A wait that has to wait for a message would have asked the store.
    expect(asks).not.toHaveBeenCalled();
  });

  it('reads the store if another process may have appended the deed', async () => {
    const log = new MemoryEventStore();
    const ledger = new LedgerBench(log);
    await ledger.activateKey();
    const org = newOrg();
    const id = idInStream(await ledger.recordAction(org, 'executed')) as ActionId;
    await ledger.feed(ledger.sealer(), await ledger.log());
    vi.spyOn(log, 'seenHeads').mockReturnValueOnce(new Map());
    const reader = new ActionReader(log, log, new LedgerTails(log), bench.payloads, kept);
    expect(await reader.readIfSeenSealed(id, org)).toBeNull();
    expect((await reader.read(id, org))?.deed).toMatch(/^deed_/);
  });
});
