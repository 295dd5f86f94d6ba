import { once } from 'node:events';
import { Readable } from 'node:stream';
import { beforeAll, describe, expect, it } from 'vitest';
import { writeBundle } from '#libs/crypto';
import type { OrgId, ReadStreamOptions, RecordedEvent } from '#libs/domain/kernel';
import { DeedEvidence, LedgerReader, SealKeyAdministration } from '#libs/domain/ledger';
import { NamesOfPeople } from '#libs/domain/people';
import { MemoryEventStore } from '#libs/infra/event-store';
import { BuildFacts } from '#libs/infra/runtime';
import { HeldPayloads } from '../../../../test/support/held-payloads.js';
import { LedgerBench, newOrg } from '../../../../test/support/ledger-fixtures.js';
import { BundleAdditionsOf } from './bundle-additions.js';
import { DeedExport } from './deed-export.js';

const DEEDS = 1_000;
const FILE_HEADER_BYTES = 10;

const nobody = () => Promise.resolve(new Map<never, string>());

/** A store that counts the deeds read from it. */
class CountingStore extends MemoryEventStore {
  deedsRead = 0;

  override async readStream(stream: string, options?: ReadStreamOptions): Promise<readonly RecordedEvent[]> {
    const events = await super.readStream(stream, options);
    if (stream.startsWith('ledger-')) this.deedsRead += events.length;
    return events;
  }
}

const store = new CountingStore();
let exports: DeedExport;
let org: OrgId;

beforeAll(async () => {
  const bench = new LedgerBench(store);
  org = newOrg();
  await bench.activateKey();
  for (let number = 0; number < DEEDS; number += 1) await bench.recordAction(org);
  await bench.feed(bench.sealer(), await bench.log());
  const keys = new SealKeyAdministration(bench.runner, bench.streams, bench.keys);
  const evidence = new DeedEvidence(store, new HeldPayloads(), { hasPassedAction: () => Promise.resolve(false) });
  const people = new NamesOfPeople(bench.streams, { addressesOf: nobody, invitedAs: nobody });
  const additions = new BundleAdditionsOf({ covering: () => Promise.resolve(null) }, evidence, store, people);
  const build = new BuildFacts('0.0.0', 'unknown', null);
  exports = new DeedExport(new LedgerReader(store), keys, additions, bench.clock, build);
});

const bundle = async (): Promise<Readable> => {
  const { content } = await exports.prepare(org, {}, 'never');
  store.deedsRead = 0;
  return Readable.from(writeBundle(content), { objectMode: false });
};

/**
 * Reads the bundle until the first bytes of the second pass are there: the header of the file, then compressed deeds.
 */
const begun = async (): Promise<Readable> => {
  const stream = await bundle();
  for (let bytes = 0; bytes <= FILE_HEADER_BYTES;) {
    const chunk = stream.read() as Buffer | null;
    if (chunk === null) await once(stream, 'readable');
    else bytes += chunk.byteLength;
  }
  return stream;
};

const settled = async (): Promise<void> => {
  for (let before = -1; before !== store.deedsRead;) {
    before = store.deedsRead;
    for (let turn = 0; turn < 200; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }
};

describe('the stream of an export', () => {
  it('reads the deeds twice: once to know their size, once to write them', async () => {
    for await (const chunk of await bundle()) expect(chunk).toBeInstanceOf(Buffer);
    expect(store.deedsRead).toBe(2 * DEEDS);
  });

  it('waits for its reader: it reads no further deeds while the reader takes nothing', async () => {
    const stream = await begun();
    await settled();
    expect(store.deedsRead).toBeGreaterThan(DEEDS);
    expect(store.deedsRead).toBeLessThan(2 * DEEDS);
    stream.destroy();
  });

  it('stops when its reader has gone', async () => {
    const stream = await begun();
    stream.destroy();
    await settled();
    expect(store.deedsRead).toBeLessThan(2 * DEEDS);
  });
});
