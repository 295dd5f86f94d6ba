/** Streams that break again and again while events go on (INV-08). */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentKey, EventScene } from '../support/event-scene.js';
import { EventStreamClient } from '../support/event-stream-client.js';

const READERS = 6;
const RECONNECTS = Number(process.env['STREAM_RECONNECTS'] ?? 1_200);
const DEADLINE_MS = 1_800_000;
/** Of one stream. */
const EVENTS_MOST = 5;

let scene: EventScene;
let acting: AgentKey;

beforeAll(async () => {
  scene = await EventScene.start();
  acting = await scene.agentKey('acting');
});
afterAll(() => scene?.bench.close());

/** Takes some events of a stream, ends it wherever its bytes then are, and comes back behind what it understood. */
class Reader {
  readonly heard: string[] = [];
  private cursor = '';

  constructor(private readonly number: number) {}

  async comeBack(round: number): Promise<void> {
    const headers = { ...scene.bench.adminKey, ...(this.cursor === '' ? {} : { 'Last-Event-ID': this.cursor }) };
    const stream = await EventStreamClient.open(scene.bench.url, headers);
    expect(stream.response.statusCode).toBe(200);
    await stream.untilType('hello');
    expect([stream.hello['resumed'], stream.types.includes('resync')]).toEqual([this.cursor !== '', false]);
    const wanted = (round * 7 + this.number) % (EVENTS_MOST + 1);
    // Whoever never heard anything has nowhere to come back to.
    await stream.until(this.cursor === '' ? 1 : wanted, ({ data }) => data['object'] === 'event');
    stream.close();
    this.heard.push(...stream.events.map(({ data }) => String(data['id'])));
    this.cursor = stream.parser.lastEventId || this.cursor;
  }
}

const publicEvents = async (): Promise<readonly string[]> => {
  const client = new pg.Client({ connectionString: scene.bench.connectionString });
  await client.connect();
  try {
    const { rows } = await client.query<{ evt: string }>('select evt from read_models.public_events order by seq');
    return rows.map(({ evt }) => evt);
  } finally {
    await client.end();
  }
};

describe('streams that break', () => {
  it(
    `tell everything once and in order over ${RECONNECTS} reconnects`,
    async () => {
      const readers = Array.from({ length: READERS }, (_, number) => new Reader(number));
      let areDone = false;
      const acts = (async () => {
        while (!areDone) await scene.act(acting);
      })();
      await Promise.all(
        readers.map(async (reader) => {
          for (let round = 0; round < RECONNECTS / READERS; round += 1) await reader.comeBack(round);
        }),
      ).finally(() => (areDone = true));
      await acts;
      const all = await publicEvents();
      for (const { heard } of readers) {
        const start = all.indexOf(heard[0] ?? '');
        expect(heard.length).toBeGreaterThan(RECONNECTS / READERS);
        expect(heard).toEqual(all.slice(start, start + heard.length));
      }
    },
    DEADLINE_MS,
  );
});
