import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { type Digest, digestOf } from '#libs/crypto';
import { CommandRunner, encodeEvents, type EventStore, FoldedStreams, streamOf, SYSTEM } from '#libs/domain/kernel';
import type { LedgerEvent } from '#libs/domain/ledger';
import { checkpointsOf } from '#libs/infra/deployment';
import { EgressDoor } from '#libs/infra/egress';
import { SystemClock, SystemRandomness } from '#libs/infra/runtime';
import { installSchemas, startedSchemas } from '#libs/infra/schemas';
import { VaultCipher } from '#libs/infra/vault';
import { TEST_ORG, testId } from '../support/given-log.js';
import { silentLogger } from '../support/silent-logger.js';
import { openBenchLog, openBenchStores, type BenchStores } from './bench-stores.js';
import { absolute, print, say } from './figure.js';
import type { Profile } from './profile.js';

const DEEDS = 1_000_000;
/** What 500 actions a second seal between two checkpoints. */
const DEEDS_A_MINUTE = 30_000;
const DEEDS_AT_ONCE = 256;
const AT = '2026-10-01T12:00:00.000Z';
/** So that a body has the size of an action's. */
const FILLING = 'x'.repeat(1_100);

/** How fast a ledger's tree is made and signed: from nothing, and of what a busy minute adds. */
export const checkpointSpeed = async (profile: Profile): Promise<void> => {
  const stores = await openBenchStores(profile);
  try {
    await measure(stores, profile);
  } finally {
    await stores.close();
  }
};

const measure = async ({ connectionString, eventStoreUrl }: BenchStores, profile: Profile): Promise<void> => {
  await installSchemas(connectionString, startedSchemas(eventStoreUrl === null));
  const store = openBenchLog({ connectionString, eventStoreUrl });
  const durable = new pg.Pool({ connectionString, max: 2 });
  const streams = new FoldedStreams(store);
  const randomness = new SystemRandomness();
  const stateDir = await mkdtemp(join(tmpdir(), 'ags-bench-'));
  const egress = new EgressDoor({
    settings: { allowPrivate: false, allowPlainText: false, allow: [], ownEndpoints: () => [] },
  });
  const { maker } = checkpointsOf({
    database: { store, durable },
    secrets: { cipher: new VaultCipher(randomBytes(32), randomness) },
    ...{ runner: new CommandRunner(store, streams), streams, clock: new SystemClock(), randomness },
    ...{ baseUrl: 'https://governance.example', egress, config: { env: 'dev', stateDir }, logger: silentLogger },
  });
  const sign = async (): Promise<number> => {
    const begun = performance.now();
    await maker.make(TEST_ORG, { org: TEST_ORG, actor: SYSTEM, requestId: null, commandId: 'bench', now: AT });
    return performance.now() - begun;
  };
  try {
    say(`a ledger of ${DEEDS} deeds ...`);
    const ledger = new GivenLedger(store);
    await ledger.grow(DEEDS);
    print(absolute('checkpoint_deeds_per_second', (DEEDS * 1_000) / (await sign()), 'deeds/s'), profile);
    await ledger.grow(DEEDS_A_MINUTE);
    print(absolute('checkpoint_of_a_minute', await sign(), 'ms'), profile);
  } finally {
    egress.close();
    await durable.end();
    await store.close();
    await rm(stateDir, { recursive: true });
  }
};

/** A chain with bodies of some size. Its seals are none: whoever makes a tree does not look at them. */
class GivenLedger {
  private seq = 0;
  private last: Digest | null = null;

  constructor(private readonly store: EventStore) {}

  async grow(deeds: number): Promise<void> {
    const stream = streamOf('ledger', TEST_ORG);
    for (const end = this.seq + deeds; this.seq < end;) {
      const first = this.seq;
      const events = Array.from({ length: Math.min(DEEDS_AT_ONCE, end - first) }, () => this.next());
      const metadata = { org: TEST_ORG, actor: SYSTEM, request_id: null, causation: 'bench', correlation: 'bench' };
      const encoded = encodeEvents(events, { ...metadata, schema: 1, at: AT }, stream, first);
      await this.store.append({ stream, expectedRevision: first === 0 ? 'no_stream' : first - 1, events: encoded });
    }
  }

  private next(): LedgerEvent {
    this.seq += 1;
    const body = JSON.stringify({ seq: this.seq, prev: this.last, filling: FILLING });
    const data = { org: TEST_ORG, deed: testId('deed', this.seq), seq: this.seq, issued_at: AT, body };
    const chained = { body_hash: digestOf(body), prev_hash: this.last };
    this.last = chained.body_hash;
    const seal = { kid: '0'.repeat(32), signature: 'x'.repeat(86), cose_signature: 'x'.repeat(86) };
    return { type: 'DeedSealed', data: { ...data, ...chained, ...seal, kind: 'action', action: null } };
  }
}
