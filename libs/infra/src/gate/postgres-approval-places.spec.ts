import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { idOf, type ActionId } from '#libs/domain/kernel';
import { createWholeDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { PostgresApprovalPlaces } from './index.js';

const LIMIT = 5;

let database: TestDatabase;
let pool: pg.Pool;
let places: PostgresApprovalPlaces;

beforeAll(async () => {
  database = await createWholeDatabase();
  pool = new pg.Pool({ connectionString: database.connectionString, max: 10 });
  places = new PostgresApprovalPlaces(pool);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const newAgent = () => idOf('agt', randomBytes(16));
const newAction = (): ActionId => idOf('act', randomBytes(16));
const place = (agent = newAgent(), action = newAction()) => ({ agent, action, reservedMs: 1_000, limit: LIMIT });

it('places are limited, even if many calls take one at once', async () => {
  const [agent, other] = [newAgent(), newAgent()];
  const taken = await Promise.all(
    Array.from({ length: 40 }, (_, index) => places.take(place(index % 2 ? agent : other))),
  );
  expect(taken.filter(Boolean)).toHaveLength(2 * LIMIT);
  expect([(await places.heldBy(agent)).length, (await places.heldBy(other)).length]).toEqual([LIMIT, LIMIT]);
});

it('a place stays the same for the same call, even if all are taken', async () => {
  const agent = newAgent();
  const wanted = Array.from({ length: LIMIT }, () => place(agent));
  for (const each of wanted) expect(await places.take(each)).toBe(true);
  expect(await places.take(place(agent))).toBe(false);
  expect(await places.take({ ...(wanted[0] as ReturnType<typeof place>), reservedMs: 9_000 })).toBe(true);
  expect((await places.heldBy(agent)).map(({ reservedMs }) => reservedMs)).toEqual(Array(LIMIT).fill(1_000));
});

it('a place goes to another call once it is free', async () => {
  const agent = newAgent();
  const wanted = Array.from({ length: LIMIT }, () => place(agent));
  for (const each of wanted) await places.take(each);
  await places.free(agent, [wanted[2]?.action as ActionId, newAction()]);
  expect([await places.take(place(agent)), await places.take(place(agent))]).toEqual([true, false]);
});
