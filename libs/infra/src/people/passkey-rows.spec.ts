import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeBase64url, sha256 } from '#libs/crypto';
import { idOf, type UserId } from '#libs/domain/kernel';
import { type BoundChallenge, type NewPasskeyRow, requireMailAddress } from '#libs/domain/people';
import { SystemRandomness } from '#libs/infra/runtime';
import { installSchemas } from '#libs/infra/schemas';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { VaultCipher } from '../vault/index.js';
import {
  PepperSignInHasher,
  PostgresMailDesk,
  PostgresMailOrders,
  PostgresPasskeyChallenges,
  PostgresPasskeyRows,
  PostgresPeopleDirectory,
  SealedAddresses,
} from './index.js';

const T0 = Date.parse('2026-10-01T12:00:00.000Z');
const hasher = new PepperSignInHasher(randomBytes(32));
const cipher = new VaultCipher(randomBytes(32), new SystemRandomness());
const addresses = new SealedAddresses(cipher);

let database: TestDatabase;
let pool: pg.Pool;
let rows: PostgresPasskeyRows;
let challenges: PostgresPasskeyChallenges;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = new pg.Pool({ connectionString: database.connectionString, max: 10 });
  await installSchemas(pool, ['people']);
  rows = new PostgresPasskeyRows(pool);
  challenges = new PostgresPasskeyChallenges(pool);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const user = (): UserId => idOf('usr', randomBytes(16));
const newRow = (others: Partial<NewPasskeyRow> = {}): NewPasskeyRow => ({
  credential: encodeBase64url(randomBytes(32)),
  user: user(),
  org: idOf('org', randomBytes(16)),
  membership: idOf('mem', randomBytes(16)),
  name: 'Laptop',
  isOffered: true,
  signCount: 0,
  ...others,
});

describe('the row of a passkey', () => {
  it('is what was noted, never used', async () => {
    const row = newRow({ isOffered: null, signCount: 3 });
    expect(await rows.note(row)).toBe(true);
    const known = { ...row, lastUsedAtMs: null, counterFellAtMs: null };
    expect(await rows.find(row.credential)).toEqual(known);
    expect(await rows.ofUser(row.user, row.org)).toEqual([known]);
    expect(await rows.ofUser(row.user, newRow().org)).toEqual([]);
    await rows.remove(row.credential);
    expect(await rows.find(row.credential)).toBe(null);
  });

  it('is noted anew by its person in its organization, and by nobody else', async () => {
    const row = newRow();
    await rows.note(row);
    await rows.used(row.credential, 9, T0);
    expect(await rows.note({ ...row, user: user(), name: 'Stolen' })).toBe(false);
    expect(await rows.note({ ...row, org: newRow().org, name: 'Elsewhere' })).toBe(false);
    expect(await rows.find(row.credential)).toMatchObject({ user: row.user, name: 'Laptop', signCount: 9 });
    expect(await rows.note({ ...row, membership: newRow().membership, name: 'Again' })).toBe(true);
    expect(await rows.find(row.credential)).toMatchObject({ name: 'Again', signCount: 0, lastUsedAtMs: null });
  });

  it.each([
    ['rises', [1, 2, 7], [false, false, false], 7],
    ['counts nothing', [0, 0, 0], [false, false, false], 0],
    ['stays', [5, 5], [false, true], 5],
    ['falls', [5, 4, 6], [false, true, false], 6],
    ['falls to nothing', [5, 0], [false, true], 5],
  ] as const)('tells of a counter that %s', async (_how, counts, fell, kept) => {
    const row = newRow();
    await rows.note(row);
    const told: boolean[] = [];
    for (const [index, count] of counts.entries()) told.push(await rows.used(row.credential, count, T0 + index));
    expect(told).toEqual(fell);
    expect(await rows.find(row.credential)).toMatchObject({
      signCount: kept,
      lastUsedAtMs: T0 + counts.length - 1,
      counterFellAtMs: told.includes(true) ? T0 + told.lastIndexOf(true) : null,
    });
  });

  it('tells of a fall where the same count comes twice at once', async () => {
    const row = newRow();
    await rows.note(row);
    const told = await Promise.all(Array.from({ length: 6 }, () => rows.used(row.credential, 4, T0)));
    expect(told.filter((fell) => !fell)).toHaveLength(1);
  });

  it('is found by its fall, the newest first', async () => {
    const first = newRow({ signCount: 5 });
    const second = newRow({ org: first.org, signCount: 5 });
    for (const row of [first, second, newRow({ org: first.org })]) await rows.note(row);
    await rows.used(first.credential, 1, T0 + 1);
    await rows.used(second.credential, 1, T0 + 2);
    const found = async (sinceMs: number) =>
      (await rows.fallen(first.org, sinceMs)).map(({ credential }) => credential);
    expect(await found(T0)).toEqual([second.credential, first.credential]);
    expect(await found(T0 + 1)).toEqual([second.credential]);
  });

  it('goes with its person', async () => {
    const people = new PostgresPeopleDirectory(pool, hasher, addresses);
    const row = newRow();
    await rows.note(row);
    await people.erase(row.user);
    expect(await rows.find(row.credential)).toBe(null);
  });
});

describe('a challenge', () => {
  const bound = (others: Partial<BoundChallenge> = {}): BoundChallenge => ({
    challengeHash: sha256(randomBytes(32)),
    purpose: 'sign_in',
    holder: 'browser',
    ...others,
  });

  it('is taken once, of any number of requests', async () => {
    const one = bound();
    await challenges.issue(one, T0, T0 + 10);
    const taken = await Promise.all(Array.from({ length: 8 }, () => challenges.take(one, T0 + 9)));
    expect(taken.filter(Boolean)).toHaveLength(1);
  });

  it('is for its purpose and its holder, and whoever errs uses nothing up', async () => {
    const one = bound();
    await challenges.issue(one, T0, T0 + 10);
    expect(await challenges.take({ ...one, purpose: 'register' }, T0)).toBe(false);
    expect(await challenges.take({ ...one, holder: 'another' }, T0)).toBe(false);
    expect(await challenges.take(one, T0)).toBe(true);
  });

  it('is over at its end, and its row goes with the next that is issued', async () => {
    const [one, other] = [bound(), bound()];
    await challenges.issue(one, T0, T0 + 10);
    expect(await challenges.take(one, T0 + 10)).toBe(false);
    await challenges.issue(other, T0 + 10, T0 + 20);
    expect(await challenges.take(one, T0)).toBe(false);
    expect(await challenges.take(other, T0 + 10)).toBe(true);
  });
});

describe('the mail about a new passkey', () => {
  const mail = { to: 'ada@example.com', subject: 's', text: 't' };
  const orderOf = (row: NewPasskeyRow) => ({
    id: idOf('pky', randomBytes(16)),
    address: requireMailAddress('ada@example.com'),
    ...{ user: row.user, org: row.org, membership: row.membership },
    ...{ command: 'command-1', name: 'Laptop', requestedAtMs: T0 },
  });

  it('is ordered once, told to no clerk of links, and written with the end of its order', async () => {
    const orders = new PostgresMailOrders(pool, hasher, addresses);
    const desk = new PostgresMailDesk(pool, cipher);
    const order = orderOf(newRow());
    await orders.orderPasskeyMail(order);
    await orders.orderPasskeyMail(order);
    expect((await desk.orders(10, null)).orders).toEqual([]);
    const [notice, ...others] = await desk.notices(10);
    expect([notice, others]).toEqual([{ ...order, addressHash: hasher.addressHash(order.address) }, []]);
    if (notice === undefined) throw new Error('no notice');
    await desk.notify(notice, mail, T0 + 10);
    await desk.notify(notice, mail, T0 + 10);
    expect(await desk.notices(10)).toEqual([]);
    expect(await desk.waiting()).toMatchObject([{ id: order.id, mail, expiresAtMs: T0 + 10 }]);
    await desk.giveUp(order.id, T0);
  });

  it('is not written where the person reads mail elsewhere by now', async () => {
    const orders = new PostgresMailOrders(pool, hasher, addresses);
    const desk = new PostgresMailDesk(pool, cipher);
    const people = new PostgresPeopleDirectory(pool, hasher, addresses);
    const order = orderOf(newRow());
    await people.claim(requireMailAddress('elsewhere@example.com'), order.user);
    await orders.orderPasskeyMail(order);
    const [notice] = await desk.notices(10);
    if (notice === undefined) throw new Error('no notice');
    await desk.notify(notice, mail, T0 + 10);
    expect([await desk.notices(10), await desk.waiting()]).toEqual([[], []]);
  });
});
