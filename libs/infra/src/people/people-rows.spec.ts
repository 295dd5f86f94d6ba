import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sha256 } from '#libs/crypto';
import { idOf, type OrgId, type UserId } from '#libs/domain/kernel';
import {
  CODE_ATTEMPTS_MAX,
  MAILS_PER_HOUR,
  MISSES_MAX,
  requireMailAddress,
  type MailOrder,
  type NewSessionRow,
  type NewToken,
} from '#libs/domain/people';
import { SystemRandomness } from '#libs/infra/runtime';
import { installSchemas } from '#libs/infra/schemas';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { VaultCipher } from '../vault/index.js';
import {
  PepperSignInHasher,
  PostgresCodeMisses,
  PostgresLoginTokens,
  PostgresMailDesk,
  PostgresMailOrders,
  PostgresPeopleDirectory,
  PostgresSessionRows,
  SealedAddresses,
} from './index.js';

const T0 = Date.parse('2026-10-01T12:00:00.000Z');
const MINUTE = 60_000;
const hasher = new PepperSignInHasher(randomBytes(32));
const cipher = new VaultCipher(randomBytes(32), new SystemRandomness());
const addresses = new SealedAddresses(cipher);

let database: TestDatabase;
let pool: pg.Pool;
let people: PostgresPeopleDirectory;
let sessions: PostgresSessionRows;
let tokens: PostgresLoginTokens;
let orders: PostgresMailOrders;
let desk: PostgresMailDesk;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = new pg.Pool({ connectionString: database.connectionString, max: 20 });
  await Promise.all([installSchemas(pool, ['people']), installSchemas(pool, ['people'])]);
  people = new PostgresPeopleDirectory(pool, hasher, addresses);
  sessions = new PostgresSessionRows(pool);
  tokens = new PostgresLoginTokens(pool);
  orders = new PostgresMailOrders(pool, hasher, addresses);
  desk = new PostgresMailDesk(pool, cipher);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const newUser = (): UserId => idOf('usr', randomBytes(16));
const newOrg = (): OrgId => idOf('org', randomBytes(16));
const newAddress = () => requireMailAddress(`p${randomBytes(6).toString('hex')}@example.com`);
const sessionOf = (user: UserId, org = newOrg()): NewSessionRow => ({
  session: idOf('ses', randomBytes(16)),
  user,
  org,
  membership: idOf('mem', randomBytes(16)),
  via: 'link',
  tokenHash: randomBytes(32),
  csrfHash: randomBytes(32),
  createdAtMs: T0,
  lastSeenAtMs: T0,
  expiresAtMs: T0 + 1_000 * MINUTE,
  idleExpiresAtMs: T0 + 100 * MINUTE,
  network: SITE,
  userAgent: null,
});

const SITE = '192.0.2.1';

/** An order for a sign-in mail, and the token that the worker writes for it. */
const loginOrder = async (address = newAddress(), atMs = T0, browser = 'browser'): Promise<MailOrder> => {
  const id = randomBytes(8).toString('hex');
  const asked = { id, address, browserHash: sha256(browser), formerBrowserHash: null, site: SITE };
  await orders.requestLogin({ ...asked, next: null, requestedAtMs: atMs });
  const found = (await desk.orders(1_000, null)).orders.find((order) => order.id === id);
  expect(found).toBeDefined();
  return found as MailOrder;
};
const tokenFor = (order: MailOrder, user: UserId | null, code = '123456'): NewToken => ({
  tokenHash: randomBytes(32),
  user,
  codeHash: hasher.codeHash(order.addressHash, code),
  expiresAtMs: order.requestedAtMs + 15 * MINUTE,
});
const MAIL = { to: 'jane@example.com', subject: 'Sign in', text: 'secret words' };

describe('people', () => {
  it('of one address are one person, however many are made at once', async () => {
    const address = newAddress();
    const claimed = await Promise.all(Array.from({ length: 20 }, () => people.claim(address, newUser())));
    expect(new Set(claimed).size).toBe(1);
    expect(await people.find(hasher.addressHash(address))).toBe(claimed[0]);
  });

  it('keep the spelling of their address, which the database does not tell', async () => {
    const user = newUser();
    await people.claim(requireMailAddress('Canary.Jane@Example.com'), user);
    expect((await people.addressesOf([user])).get(user)).toBe('Canary.Jane@example.com');
    const { rows } = await pool.query('select * from people.people');
    const text = JSON.stringify(rows.map((row: Record<string, unknown>) => Object.values(row).map(String)));
    expect(text.toLowerCase()).not.toContain('canary');
  });

  it('take another address unless somebody has it', async () => {
    const [user, other] = [newUser(), newUser()];
    const [old, wanted] = [newAddress(), newAddress()];
    await people.claim(old, user);
    expect(await people.beginAddressChange(user, wanted, 'change')).toBe('change');
    expect(await people.find(hasher.addressHash(old))).toBeNull();
    expect(await people.beginAddressChange(other, wanted, 'change')).toBeNull();
  });

  it('go on with a change of their address that was cut off, and begin another once it ended', async () => {
    const [user, wanted] = [newUser(), newAddress()];
    expect(await people.beginAddressChange(user, wanted, 'first')).toBe('first');
    expect(await people.beginAddressChange(user, wanted, 'again')).toBe('first');
    await people.endAddressChange(user, 'first');
    expect(await people.beginAddressChange(user, wanted, 'second')).toBe('second');
    expect(await people.beginAddressChange(user, newAddress(), 'elsewhere')).toBe('elsewhere');
  });

  it('are shown to an organization as they were invited there', async () => {
    const [user, org, other] = [newUser(), newOrg(), newOrg()];
    await people.noteOrg(user, org);
    expect(await people.invitedAs(org, [user])).toEqual(new Map());
    await people.noteInvitation(user, org, requireMailAddress('Jane@example.com'));
    await people.noteInvitation(user, other, requireMailAddress('JANE@example.com'));
    expect(await people.invitedAs(org, [user, newUser()])).toEqual(new Map([[user, 'Jane@example.com']]));
  });

  it('that are erased leave no row', async () => {
    const user = newUser();
    const address = newAddress();
    await people.claim(address, user);
    await people.noteOrg(user, newOrg());
    await sessions.insert(sessionOf(user));
    const ended = sessionOf(user);
    await sessions.insert(ended);
    await sessions.remove(ended.session, { why: 'everywhere', atMs: T0 });
    await desk.write(await loginOrder(address), tokenFor(await loginOrder(address), user), MAIL);
    await people.erase(user);
    for (const table of ['people', 'user_orgs', 'sessions', 'ended_sessions', 'tokens', 'mail_orders', 'outbox']) {
      const column =
        table === 'people' || table.startsWith('user') || table.endsWith('sessions') ? 'user_id' : 'address_hash';
      const value = column === 'user_id' ? user : hasher.addressHash(address);
      const { rowCount } = await pool.query(`select from people.${table} where ${column} = $1`, [value]);
      expect(rowCount, table).toBe(0);
    }
  });
});

describe('a sign-in token', () => {
  it('is used by one of two hundred requests at once', async () => {
    const user = newUser();
    const order = await loginOrder();
    const token = tokenFor(order, user);
    await desk.write(order, token, MAIL);
    const used = await Promise.all(
      Array.from({ length: 200 }, () => tokens.use(token.tokenHash, T0 + MINUTE, sessionOf(user))),
    );
    expect(used.filter(Boolean)).toHaveLength(1);
    expect(await sessions.ofUser(user)).toHaveLength(1);
    expect(await tokens.find(token.tokenHash, T0 + MINUTE)).toBeNull();
  });

  it('is void at its time, and when a newer mail was written', async () => {
    const address = newAddress();
    const [first, second] = [await loginOrder(address), await loginOrder(address, T0 + MINUTE)];
    const [older, newer] = [tokenFor(first, newUser()), tokenFor(second, newUser())];
    await desk.write(first, older, MAIL);
    expect(await tokens.find(older.tokenHash, T0 + 15 * MINUTE - 1)).not.toBeNull();
    expect(await tokens.find(older.tokenHash, T0 + 15 * MINUTE)).toBeNull();
    await desk.write(second, newer, MAIL);
    expect(await tokens.find(older.tokenHash, T0 + 2 * MINUTE)).toBeNull();
    expect(await tokens.use(older.tokenHash, T0 + 2 * MINUTE, sessionOf(newUser()))).toBe(false);
    expect(await tokens.find(newer.tokenHash, T0 + 2 * MINUTE)).not.toBeNull();
  });

  it('of the request that came last stays, whichever worker writes last', async () => {
    const [address, user] = [newAddress(), newUser()];
    const [first, second] = [await loginOrder(address), await loginOrder(address, T0 + MINUTE)];
    const [older, newer] = [tokenFor(first, user), tokenFor(second, user)];
    await desk.write(second, newer, MAIL);
    expect(await desk.write(first, older, MAIL)).toBe(true);
    expect(await tokens.find(newer.tokenHash, T0 + 2 * MINUTE)).not.toBeNull();
    expect(await tokens.find(older.tokenHash, T0 + 2 * MINUTE)).toBeNull();
    const mails = await pool.query('select from people.outbox where id = any($1)', [[first.id, second.id]]);
    expect(mails.rowCount).toBe(1);
  });
});

describe('a code', () => {
  const attempt = (order: MailOrder, code: string, browser = 'browser') => ({
    addressHash: order.addressHash,
    codeHash: hasher.codeHash(order.addressHash, code),
    browserHash: sha256(browser),
    nowMs: T0 + MINUTE,
  });
  const opening = (user: UserId) => () => Promise.resolve({ row: sessionOf(user) });

  it('signs in one of two hundred right attempts at once', async () => {
    const user = newUser();
    const order = await loginOrder();
    await desk.write(order, tokenFor(order, user), MAIL);
    const tried = await Promise.all(
      Array.from({ length: 200 }, () => tokens.tryCode(attempt(order, '123456'), opening(user))),
    );
    expect(tried.filter((trial) => typeof trial === 'object')).toHaveLength(1);
    expect(await sessions.ofUser(user)).toHaveLength(1);
  });

  it('is judged five times in all', async () => {
    const user = newUser();
    const order = await loginOrder();
    await desk.write(order, tokenFor(order, user), MAIL);
    for (let count = 1; count <= CODE_ATTEMPTS_MAX; count += 1) {
      expect(await tokens.tryCode(attempt(order, '000000'), opening(user))).toBe('wrong');
    }
    expect(await tokens.tryCode(attempt(order, '123456'), opening(user))).toBe('nothing_to_guess');
  });

  it('is right in the browser that asked for it alone, and never for a decoy', async () => {
    const user = newUser();
    const order = await loginOrder();
    await desk.write(order, tokenFor(order, user), MAIL);
    // However often: what another browser tries is no guess at this one's code, and uses up none of its attempts.
    for (let count = 0; count < 2 * CODE_ATTEMPTS_MAX; count += 1) {
      expect(await tokens.tryCode(attempt(order, '123456', 'another'), opening(user))).toBe('nothing_to_guess');
    }
    expect(await tokens.tryCode(attempt(order, '123456'), opening(user))).toBeTypeOf('object');
    const unknown = await loginOrder();
    await desk.write(unknown, tokenFor(unknown, null), null);
    expect(await tokens.tryCode(attempt(unknown, '123456'), opening(user))).toBe('wrong');
  });

  it('is not used up where nothing could be opened', async () => {
    const user = newUser();
    const order = await loginOrder();
    await desk.write(order, tokenFor(order, user), MAIL);
    const broken = () => Promise.reject(new Error('the log is away'));
    await expect(tokens.tryCode(attempt(order, '123456'), broken)).rejects.toThrow('the log is away');
    expect(await tokens.tryCode(attempt(order, '123456'), opening(user))).toBeTypeOf('object');
  });
});

describe('mails', () => {
  it('are written once for an order, also by several workers', async () => {
    const order = await loginOrder();
    const written = await Promise.all(
      Array.from({ length: 10 }, () => desk.write(order, tokenFor(order, newUser()), MAIL)),
    );
    expect(written.filter(Boolean)).toHaveLength(1);
  });

  it('to one address are five in an hour; then none, for known and unknown alike', async () => {
    const address = newAddress();
    for (let count = 0; count < MAILS_PER_HOUR; count += 1) {
      const order = await loginOrder(address, T0 + count * MINUTE);
      expect(await desk.write(order, tokenFor(order, count % 2 ? newUser() : null), count % 2 ? MAIL : null)).toBe(
        true,
      );
    }
    const sixth = await loginOrder(address, T0 + 59 * MINUTE);
    expect(await desk.write(sixth, tokenFor(sixth, newUser()), MAIL)).toBe(false);
    const later = await loginOrder(address, T0 + 61 * MINUTE);
    expect(await desk.write(later, tokenFor(later, newUser()), MAIL)).toBe(true);
  });

  it('are taken by one worker at a time, are tried again, and say nothing once they are sent', async () => {
    await pool.query('delete from people.outbox');
    const order = await loginOrder(newAddress(), T0);
    await desk.write(order, tokenFor(order, newUser()), MAIL);
    const taken = await Promise.all(Array.from({ length: 5 }, () => desk.takeDue(T0 + MINUTE, MINUTE)));
    expect(taken.filter((mail) => mail !== null)).toMatchObject([{ id: order.id, mail: MAIL, tries: 0 }]);
    expect(await desk.takeDue(T0 + MINUTE, MINUTE)).toBeNull();
    await desk.retryAt(order.id, T0 + 2 * MINUTE);
    expect(await desk.takeDue(T0 + 2 * MINUTE, MINUTE)).toMatchObject({ id: order.id, tries: 1 });
    const stored = await pool.query<{ message: Buffer }>('select message from people.outbox');
    expect(stored.rows[0]?.message.includes('secret words')).toBe(false);
    await desk.sent(order.id, T0 + 2 * MINUTE);
    expect(await desk.waiting()).toEqual([]);
    expect(await desk.takeDue(T0 + 9 * MINUTE, MINUTE)).toBeNull();
  });
});

describe('orders', () => {
  it('are read page by page, and one that does not open keeps none of the others', async () => {
    await pool.query('delete from people.mail_orders');
    const ids: string[] = [];
    for (const minute of [1, 2, 3, 4]) ids.push((await loginOrder(newAddress(), T0 + minute * MINUTE)).id);
    await pool.query(`update people.mail_orders set address = '\\x00' where id = $1`, [ids[1]]);
    const first = await desk.orders(2, null);
    expect([first.orders.map(({ id }) => id), first.hasMore]).toEqual([[ids[0]], true]);
    const second = await desk.orders(2, first.orders.at(-1) as MailOrder);
    expect(second.orders.map(({ id }) => id)).toEqual([ids[2], ids[3]]);
    const { rowCount } = await pool.query('select from people.mail_orders where id = $1', [ids[1]]);
    expect(rowCount).toBe(0);
  });

  it('void no link that an operator handed over', async () => {
    const order = await loginOrder();
    const issued = { tokenHash: randomBytes(32), user: newUser(), addressHash: order.addressHash };
    await tokens.issue({ ...issued, issuedAtMs: T0, expiresAtMs: T0 + 15 * MINUTE });
    await desk.write(order, tokenFor(order, newUser()), MAIL);
    expect(await tokens.find(issued.tokenHash, T0 + MINUTE)).not.toBeNull();
  });
});

describe('misses of codes', () => {
  /** One of ten. */
  const client = (index: number) => `192.0.2.${index % 10}`;

  it('of one client pause nothing, however many they are', async () => {
    const misses = new PostgresCodeMisses(pool);
    const begin = T0 - 1_000 * MINUTE;
    for (let count = 0; count < 3 * MISSES_MAX; count += 1) await misses.count(begin + (count % 3) * MINUTE, client(0));
    expect(await misses.areTooMany(begin + 3 * MINUTE)).toBe(false);
  });

  it('of one /48 of IPv6 pause nothing either, and those of six pause as those of six addresses do', async () => {
    const misses = new PostgresCodeMisses(pool);
    const begin = T0 - 2_000 * MINUTE;
    const miss = async (site: number, networks: number): Promise<void> => {
      for (let index = 0; index < networks; index += 1)
        await misses.count(begin + (index % 3) * MINUTE, `2001:db8:${site}:${index.toString(16)}::/64`);
    };
    await miss(1, 3 * MISSES_MAX);
    for (const site of [2, 3, 4, 5]) await miss(site, 5);
    expect(await misses.areTooMany(begin + 3 * MINUTE)).toBe(false);
    await miss(6, 5);
    expect(await misses.areTooMany(begin + 3 * MINUTE)).toBe(true);
  });

  it('in the whole deployment pause codes for a quarter of an hour', async () => {
    const misses = new PostgresCodeMisses(pool);
    for (let count = 1; count < MISSES_MAX; count += 1) await misses.count(T0 + (count % 3) * MINUTE, client(count));
    expect(await misses.areTooMany(T0 + 3 * MINUTE)).toBe(false);
    await misses.count(T0 + 3 * MINUTE, client(0));
    expect(await misses.areTooMany(T0 + 3 * MINUTE)).toBe(true);
    expect(await misses.areTooMany(T0 + 17 * MINUTE)).toBe(true);
    expect(await misses.areTooMany(T0 + 19 * MINUTE)).toBe(false);
  });

  it('that are spread thinly pause nothing', async () => {
    const misses = new PostgresCodeMisses(pool);
    const begin = T0 + 1_000 * MINUTE;
    for (let minute = 0; minute < 20; minute += 1) {
      for (let count = 0; count < 5; count += 1) await misses.count(begin + minute * MINUTE, client(count));
    }
    expect(await misses.areTooMany(begin + 20 * MINUTE)).toBe(false);
  });
});

describe('a session row', () => {
  it('is found by its cookie, moves its idle end once, and goes', async () => {
    const user = newUser();
    const row = sessionOf(user);
    await sessions.insert(row);
    const { tokenHash, ...stored } = row;
    expect(await sessions.find(tokenHash)).toEqual(stored);
    await Promise.all([1, 2, 3].map((n) => sessions.touch(row, T0 + n * MINUTE, T0 + (100 + n) * MINUTE)));
    const touched = await sessions.find(tokenHash);
    expect(touched?.idleExpiresAtMs).toBe((touched?.lastSeenAtMs ?? 0) + 100 * MINUTE);
    await sessions.remove(row.session, null);
    expect(await sessions.find(tokenHash)).toBeNull();
    expect(await sessions.endOf(tokenHash, 0)).toBeNull();
  });
});

describe('rows that ended', () => {
  it('are removed a day later', async () => {
    const user = newUser();
    await sessions.insert(sessionOf(user));
    const ended = sessionOf(user);
    await sessions.insert(ended);
    await sessions.remove(ended.session, { why: 'ended', atMs: T0 + 100 * MINUTE });
    await desk.purge(T0 + 100 * MINUTE + 24 * 60 * MINUTE - 1);
    expect(await sessions.ofUser(user)).toHaveLength(1);
    expect(await sessions.endOf(ended.tokenHash, T0 + 100 * MINUTE - 1)).toBe('ended');
    expect(await sessions.endOf(ended.tokenHash, T0 + 100 * MINUTE)).toBeNull();
    expect(await desk.purge(T0 + 100 * MINUTE + 24 * 60 * MINUTE + 1)).toBeGreaterThan(0);
    expect(await sessions.ofUser(user)).toEqual([]);
    expect(await sessions.endOf(ended.tokenHash, 0)).toBeNull();
  });
});
