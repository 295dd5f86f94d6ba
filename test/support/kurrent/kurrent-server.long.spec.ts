import { type EventData, EventStoreDBClient } from '@eventstore/db-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KurrentProgram, kurrentProgram } from '../kurrent-program.js';
import { newStream } from '../new-event.js';
import { MAX_APPEND_BYTES } from './appends.js';
import { KurrentServer } from './kurrent-server.js';
import { at, event, events, eventually, follow, idsOf, read } from './plain-client.js';

/** Where KURRENTDB_PROGRAM names one, a real server has to do the same. */
const program = kurrentProgram();
const servers: readonly { name: string; start: () => Promise<{ url: string; close(): Promise<void> }> }[] = [
  { name: 'the test server', start: () => KurrentServer.start() },
  ...(program ? [{ name: 'a real server', start: () => startProgram(program) }] : []),
];

const startProgram = async (path: string) => {
  const server = await KurrentProgram.start(path);
  return { url: server.url, close: () => server.stop() };
};

describe.each(servers)('$name', ({ start }) => {
  let server: { url: string; close(): Promise<void> };
  let client: EventStoreDBClient;

  beforeAll(async () => {
    server = await start();
    client = EventStoreDBClient.connectionString(server.url);
  });
  afterAll(async () => {
    await client.dispose();
    await server.close();
  });

  it('reads no further back than metadata of a stream let it, and goes on with its revisions', async () => {
    const stream = newStream();
    const revisions = async (options: { fromRevision?: bigint | 'end'; direction?: 'backwards' } = {}) =>
      (await read(client.readStream(stream, options))).map(({ revision }) => Number(revision));
    await client.appendToStream(stream, events(4));
    await client.setStreamMetadata(stream, { maxCount: 3 });
    expect(await revisions()).toEqual([1, 2, 3]);
    await client.setStreamMetadata(stream, { truncateBefore: 2 });
    expect(await revisions()).toEqual([2, 3]);
    expect(await revisions({ fromRevision: 3n })).toEqual([3]);
    expect(await revisions({ fromRevision: 'end', direction: 'backwards' })).toEqual([3, 2]);
    await client.deleteStream(stream);
    await expect(revisions()).rejects.toMatchObject({ type: 'stream-not-found' });
    const again = await client.appendToStream(stream, events(1), { expectedRevision: 'no_stream' });
    expect(again.nextExpectedRevision).toBe(4n);
    expect(await revisions()).toEqual([4]);
    await client.tombstoneStream(stream);
    await expect(revisions()).rejects.toMatchObject({ type: 'stream-deleted' });
    const credentials = { username: 'nobody', password: 'nobody' };
    const appended = client.appendToStream(stream, events(1), { credentials });
    await expect(appended).rejects.toMatchObject({ type: 'stream-deleted' });
  });

  // The client takes this path where an append has credentials of its own.
  const credentials = { username: 'nobody', password: 'nobody' };
  describe.each([
    ['BatchAppend', {}],
    ['Append', { credentials }],
  ])('by %s', (_, path) => {
    const append = (
      stream: string,
      expectedRevision: bigint | 'no_stream' | 'stream_exists' | 'any',
      sent: EventData[],
    ) => client.appendToStream(stream, sent, { expectedRevision, ...path });

    it('writes at the expected revision and gives back what was written', async () => {
      const stream = newStream();
      const sent = [event({ data: Buffer.from('{"a":"ż"}'), metadata: Buffer.from('[1]') }), ...events(2)];
      const first = await append(stream, 'no_stream', sent);
      const second = await append(stream, 2n, events(1));
      const recorded = await read(client.readStream(stream));
      expect(first).toEqual({ success: true, nextExpectedRevision: 2n, position: recorded[2]!.position });
      expect(second).toEqual({ success: true, nextExpectedRevision: 3n, position: recorded[3]!.position });
      expect(recorded.map(({ revision }) => revision)).toEqual([0n, 1n, 2n, 3n]);
      expect(recorded[0]).toMatchObject({ id: sent[0]!.id, type: sent[0]!.type, streamId: stream, isJson: false });
      expect(Buffer.from(recorded[0]!.data as Uint8Array).toString()).toBe('{"a":"ż"}');
      expect(recorded[0]!.metadata).toEqual([1]);
      expect(Math.abs(recorded[0]!.created.getTime() - Date.now())).toBeLessThan(60_000);
    });

    it('gives every event a position of its own, with gaps, and commit equals prepare', async () => {
      const stream = newStream();
      await append(stream, 'no_stream', events(3));
      const positions = (await read(client.readStream(stream))).map(({ position }) => position!);
      for (const { commit, prepare } of positions) expect(commit).toBe(prepare);
      const [first, second, third] = positions.map(({ commit }) => commit) as [bigint, bigint, bigint];
      expect(second - first).toBeGreaterThan(1n);
      expect(third - second).toBeGreaterThan(1n);
    });

    it.each([
      ['no_stream', 1n],
      [0n, 1n],
      [2n, 1n],
    ] as const)('refuses %s of a stream at revision 1, and says where it is', async (expectedRevision, actual) => {
      const stream = newStream();
      await append(stream, 'no_stream', events(2));
      const refused = { type: 'wrong-expected-version', actualVersion: actual, expectedVersion: expectedRevision };
      await expect(append(stream, expectedRevision, events(1))).rejects.toMatchObject(refused);
      expect(await read(client.readStream(stream))).toHaveLength(2);
    });

    it.each([0n, 'stream_exists'] as const)('refuses %s of a stream that does not exist', async (expectedRevision) => {
      const refused = { type: 'wrong-expected-version', actualVersion: 'no_stream', expectedVersion: expectedRevision };
      await expect(append(newStream(), expectedRevision, events(1))).rejects.toMatchObject(refused);
    });

    it('knows an append again, a part of it and one with other data, and answers as it did', async () => {
      const stream = newStream();
      const sent = events(3);
      const first = await append(stream, 'no_stream', sent);
      await append(stream, 2n, events(1));
      const [, second] = await read(client.readStream(stream));
      expect(await append(stream, 'no_stream', sent)).toEqual(first);
      expect(await append(stream, 0n, sent.slice(1))).toEqual(first);
      const other = [event({ id: sent[0]!.id, data: Buffer.from('other') }), sent[1]!];
      const prefix = { success: true, nextExpectedRevision: 1n, position: second!.position };
      expect(await append(stream, 'no_stream', other)).toEqual(prefix);
      expect(await append(stream, 'any', sent)).toEqual(first);
      expect(await read(client.readStream(stream))).toHaveLength(4);
    });

    it('refuses an append that is partly new', async () => {
      const stream = newStream();
      const [known, fresh] = [event(), event()];
      await append(stream, 'no_stream', [known]);
      for (const expectedRevision of ['no_stream', 'any'] as const) {
        const refused = { type: 'wrong-expected-version', actualVersion: 0n };
        await expect(append(stream, expectedRevision, [known, fresh])).rejects.toMatchObject(refused);
      }
    });

    it('writes a known id again at another revision that is right', async () => {
      const stream = newStream();
      const known = event();
      await append(stream, 'no_stream', [known]);
      expect(await append(stream, 0n, [known])).toMatchObject({ nextExpectedRevision: 1n });
      expect(idsOf(await read(client.readStream(stream)))).toEqual([known.id, known.id]);
    });

    it('takes so many bytes of data, whatever the metadata, and refuses one more', async () => {
      const stream = newStream();
      const half = () => event({ data: Buffer.alloc(MAX_APPEND_BYTES / 2), metadata: Buffer.alloc(1_000, 'm') });
      expect(await append(stream, 'no_stream', [half(), half()])).toMatchObject({ success: true });
      const refused = { type: 'maximum-append-size-exceeded', maxAppendSize: MAX_APPEND_BYTES };
      const tooLarge = append(stream, 1n, [half(), half(), event({ data: Buffer.alloc(1) })]);
      await expect(tooLarge).rejects.toMatchObject(refused);
    });
  });

  it('fails an append with an id that is no UUID', async () => {
    const append = client.appendToStream(newStream(), event({ id: 'act_1' }), { credentials });
    await expect(append).rejects.toMatchObject({ type: 'unknown', code: 2 });
  });

  it('reads a stream both ways, from where it is told, as many as it is told', async () => {
    const stream = newStream();
    const sent = events(3);
    await client.appendToStream(stream, sent, { expectedRevision: 'no_stream' });
    const revisions = async (options: Parameters<typeof client.readStream>[1]) =>
      (await read(client.readStream(stream, options))).map(({ revision }) => Number(revision));
    expect(await revisions({ fromRevision: 1n })).toEqual([1, 2]);
    expect(await revisions({ fromRevision: 3n })).toEqual([]);
    expect(await revisions({ maxCount: 2 })).toEqual([0, 1]);
    expect(await revisions({ direction: 'backwards', fromRevision: 'end' })).toEqual([2, 1, 0]);
    expect(await revisions({ direction: 'backwards', fromRevision: 1n })).toEqual([1, 0]);
    expect(await revisions({ direction: 'backwards', fromRevision: 9n, maxCount: 1 })).toEqual([2]);
    expect(await revisions({ direction: 'backwards', fromRevision: 'start' })).toEqual([0]);
    await expect(revisions({ fromRevision: 'end' })).rejects.toMatchObject({ type: 'unknown', code: 2 });
  });

  it('says that a stream does not exist', async () => {
    const [stream, missing] = [newStream(), { type: 'stream-not-found' }];
    await expect(read(client.readStream(stream))).rejects.toMatchObject(missing);
    const last = client.readStream(stream, { direction: 'backwards', fromRevision: 'end', maxCount: 1 });
    await expect(read(last)).rejects.toMatchObject(missing);
  });

  describe('the whole log', () => {
    const sent = events(3);
    let positions: readonly [bigint, bigint, bigint];
    const all = async (options: Parameters<typeof client.readAll>[0]) => idsOf(await read(client.readAll(options)));
    const [first, second, third] = idsOf(sent);

    beforeAll(async () => {
      const stream = newStream();
      await client.appendToStream(newStream(), events(1));
      await client.appendToStream(stream, sent, { expectedRevision: 'no_stream' });
      const recorded = await read(client.readStream(stream));
      positions = recorded.map(({ position }) => position!.commit) as [bigint, bigint, bigint];
    });

    it('begins with events of the server itself', async () => {
      const [found] = await read(client.readAll({ maxCount: 1 }));
      expect(found!.streamId).toMatch(/^\$/);
    });

    it('is read from a position, inclusive, and backwards exclusive', async () => {
      expect(await all({ fromPosition: at(positions[0]), maxCount: 3 })).toEqual([first, second, third]);
      expect(await all({ fromPosition: at(positions[2]), maxCount: 1 })).toEqual([third]);
      const backwards = { direction: 'backwards', maxCount: 2 } as const;
      expect(await all({ fromPosition: at(positions[2]), ...backwards })).toEqual([second, first]);
      expect(await all({ fromPosition: 'end' })).toEqual([]);
      expect(await all({ fromPosition: 'start', ...backwards })).toEqual([]);
    });

    it('has nothing beyond its end, and backwards an error there', async () => {
      const beyond = at(positions[2] + 1_000_000n);
      expect(await all({ fromPosition: beyond })).toEqual([]);
      const failed = { type: 'unknown', code: 2, message: expect.stringContaining('ReadAllResult: Error') as string };
      await expect(all({ fromPosition: beyond, direction: 'backwards' })).rejects.toMatchObject(failed);
    });

    it.each(['forwards', 'backwards'] as const)('is not read %s from where no event begins', async (direction) => {
      const failed = { type: 'unknown', code: 2, message: expect.stringContaining('InvalidPosition') as string };
      const reading = all({ fromPosition: at(positions[0] + 1n), direction, maxCount: 1 });
      await expect(reading).rejects.toMatchObject(failed);
    });

    it('is followed after a position, exclusive, then live', async () => {
      const { told, end } = follow(client, { fromPosition: at(positions[0]) });
      await eventually(() => expect(told).toContain('caught up'));
      expect(told.slice(0, 3)).toEqual(['confirmation', second, third]);
      const live = event();
      await client.appendToStream(newStream(), live);
      await eventually(() => expect(told.at(-1)).toBe(live.id));
      await end();
    });

    it('is followed from its end', async () => {
      const { told, end } = follow(client, { fromPosition: 'end' });
      await eventually(() => expect(told).toEqual(['confirmation', 'caught up']));
      const live = events(2);
      await client.appendToStream(newStream(), live);
      await eventually(() => expect(told.slice(2)).toEqual(idsOf(live)));
      await end();
    });

    it('is followed from its start', async () => {
      const { told, end } = follow(client, { fromPosition: 'start' });
      await eventually(() => expect(told).toContain('caught up'));
      expect(told.indexOf(third!)).toBeLessThan(told.indexOf('caught up'));
      await end();
    });

    it('passes over what comes, in silence, for one that follows after a position beyond its end', async () => {
      const [last] = await read(client.readAll({ direction: 'backwards', fromPosition: 'end', maxCount: 1 }));
      const beyond = follow(client, { fromPosition: at(last!.position!.commit + 1_000_000n) });
      const witness = follow(client, { fromPosition: 'end' });
      await eventually(() => expect([beyond.told.length, witness.told.length]).toEqual([2, 2]));
      await client.appendToStream(newStream(), event());
      await eventually(() => expect(witness.told).toHaveLength(3));
      expect(beyond).toMatchObject({ told: ['confirmation', 'caught up'], errors: [] });
      await Promise.all([beyond.end(), witness.end()]);
    });

    it('is not followed after a position where no event begins', async () => {
      const { told, errors } = follow(client, { fromPosition: at(positions[0] + 1n) });
      await eventually(() => expect(errors).toMatchObject([{ type: 'unknown', code: 3 }]));
      expect(told).toEqual(['confirmation']);
    });
  });
});
