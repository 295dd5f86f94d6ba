import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sha256 } from '#libs/crypto';
import { idOf, type UserId } from '#libs/domain/kernel';
import { MAILS_PER_HOUR, requireMailAddress, type MailOrder, type NewToken } from '#libs/domain/people';
import { SystemRandomness } from '#libs/infra/runtime';
import { installSchemas } from '#libs/infra/schemas';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { VaultCipher } from '../vault/index.js';
import {
  PepperSignInHasher,
  PostgresLoginTokens,
  PostgresMailDesk,
  PostgresMailOrders,
  PostgresSessionRows,
  SealedAddresses,
} from './index.js';

const T0 = Date.parse('2026-10-01T12:00:00.000Z');
const MINUTE = 60_000;
const SITE = '192.0.2.1';
const MAIL = { to: 'jane@example.com', subject: 'Sign in', text: 'secret words' };
const hasher = new PepperSignInHasher(randomBytes(32));
const cipher = new VaultCipher(randomBytes(32), new SystemRandomness());

let database: TestDatabase;
let pool: pg.Pool;
let sessions: PostgresSessionRows;
let tokens: PostgresLoginTokens;
let orders: PostgresMailOrders;
let desk: PostgresMailDesk;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = new pg.Pool({ connectionString: database.connectionString, max: 5 });
  await installSchemas(pool, ['people']);
  sessions = new PostgresSessionRows(pool);
  tokens = new PostgresLoginTokens(pool);
  orders = new PostgresMailOrders(pool, hasher, new SealedAddresses(cipher));
  desk = new PostgresMailDesk(pool, cipher);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const newUser = (): UserId => idOf('usr', randomBytes(16));
const newAddress = () => requireMailAddress(`p${randomBytes(6).toString('hex')}@example.com`);
const sessionAtSite = (user: UserId) => ({
  session: idOf('ses', randomBytes(16)),
  user,
  org: idOf('org', randomBytes(16)),
  membership: idOf('mem', randomBytes(16)),
  via: 'link' as const,
  tokenHash: randomBytes(32),
  csrfHash: randomBytes(32),
  createdAtMs: T0,
  lastSeenAtMs: T0,
  expiresAtMs: T0 + 1_000 * MINUTE,
  idleExpiresAtMs: T0 + 100 * MINUTE,
  network: SITE,
  userAgent: null,
});
const loginOrder = async (
  address: ReturnType<typeof newAddress>,
  atMs: number,
  browser: string,
  { site = SITE, former = null as string | null } = {},
): Promise<MailOrder> => {
  const id = randomBytes(8).toString('hex');
  const formerBrowserHash = former === null ? null : sha256(former);
  const asked = { id, address, browserHash: sha256(browser), formerBrowserHash, site };
  await orders.requestLogin({ ...asked, next: null, requestedAtMs: atMs });
  return (await desk.orders(1_000, null)).orders.find((order) => order.id === id) as MailOrder;
};
const tokenFor = (order: MailOrder, user: UserId): NewToken => ({
  tokenHash: randomBytes(32),
  user,
  codeHash: hasher.codeHash(order.addressHash, '123456'),
  expiresAtMs: order.requestedAtMs + 15 * MINUTE,
});

describe('mails that a stranger asks for', () => {
  const live = (written: NewToken) => tokens.find(written.tokenHash, T0 + 5 * MINUTE).then((found) => found !== null);
  const written = async (user: UserId, order: MailOrder): Promise<NewToken> => {
    const token = tokenFor(order, user);
    expect(await desk.write(order, token, MAIL)).toBe(true);
    return token;
  };

  it('void no link that the person holds; what the person asks for anew does', async () => {
    const [user, address] = [newUser(), newAddress()];
    const own = await written(user, await loginOrder(address, T0, 'own'));
    const strangers = await written(user, await loginOrder(address, T0 + 1, 'theirs', { site: '198.51.100.1' }));
    expect([await live(own), await live(strangers)]).toEqual([true, true]);
    const fromHome = await written(user, await loginOrder(address, T0 + 2, 'own again'));
    expect([await live(own), await live(strangers), await live(fromHome)]).toEqual([false, true, true]);
    const moved = { site: '203.0.113.1', former: 'own again' };
    await written(user, await loginOrder(address, T0 + 3, 'own on the way', moved));
    expect([await live(fromHome), await live(strangers)]).toEqual([false, true]);
  });

  it('use up no mail of the person, and end before those of who is signed in there', async () => {
    const [user, address] = [newUser(), newAddress()];
    const asked = async (site: string, minute: number) => {
      const order = await loginOrder(address, T0 + minute * MINUTE, 'any', { site });
      return desk.write(order, tokenFor(order, user), MAIL);
    };
    for (let count = 0; count < MAILS_PER_HOUR; count += 1) expect(await asked('198.51.100.1', count)).toBe(true);
    expect(await asked('198.51.100.1', 9)).toBe(false);
    expect(await asked(SITE, 10)).toBe(true);
    for (let count = 2; count < 16; count += 1) expect(await asked(`198.51.100.${count}`, 10 + count)).toBe(true);
    expect([await asked('198.51.100.99', 30), await asked(SITE, 30)]).toEqual([false, false]);
    await sessions.insert(sessionAtSite(user));
    expect([await asked('198.51.100.99', 31), await asked(SITE, 31)]).toEqual([false, true]);
  });
});
