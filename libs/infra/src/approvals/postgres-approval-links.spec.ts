import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  APPROVAL_MAILS_AN_AGENT,
  APPROVAL_MAILS_AN_HOUR,
  approvalOf,
  type ApprovalMail,
  type ApprovalMails,
} from '#libs/domain/gate';
import { idOf, type ActionId, type UserId } from '#libs/domain/kernel';
import { requireMailAddress } from '#libs/domain/people';
import { SystemRandomness } from '#libs/infra/runtime';
import { installSchemas } from '#libs/infra/schemas';
import { createWholeDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { VaultCipher } from '../vault/index.js';
import {
  PepperSignInHasher,
  PostgresLoginTokens,
  PostgresMailDesk,
  PostgresPeopleDirectory,
  SealedAddresses,
  SealedMails,
} from '../people/index.js';
import { PostgresApprovalLinks } from './index.js';

const T0 = Date.parse('2026-10-01T12:00:00.000Z');
const HOUR = 60 * 60 * 1_000;
const EXPIRES = T0 + 24 * HOUR;
const hasher = new PepperSignInHasher(randomBytes(32));
const cipher = new VaultCipher(randomBytes(32), new SystemRandomness());

let database: TestDatabase;
let pool: pg.Pool;
let people: PostgresPeopleDirectory;
let links: PostgresApprovalLinks;
let desk: PostgresMailDesk;

beforeAll(async () => {
  database = await createWholeDatabase();
  pool = new pg.Pool({ connectionString: database.connectionString, max: 10 });
  await installSchemas(pool, ['people']);
  people = new PostgresPeopleDirectory(pool, hasher, new SealedAddresses(cipher));
  links = new PostgresApprovalLinks(pool, hasher, new SealedMails(cipher));
  desk = new PostgresMailDesk(pool, cipher);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const newAction = (): ActionId => idOf('act', randomBytes(16));
const person = async (): Promise<{ user: UserId; to: string }> => {
  const to = `p${randomBytes(6).toString('hex')}@example.com`;
  return { user: await people.claim(requireMailAddress(to), idOf('usr', randomBytes(16))), to };
};
const mailTo = ({ user, to }: { user: UserId; to: string }): ApprovalMail => ({
  user,
  tokenHash: randomBytes(32),
  mail: { to, subject: 'Approval needed', text: 'Look at it.' },
});
const ORG = idOf('org', randomBytes(16));
const about = (action: ActionId, ...mails: readonly ApprovalMail[]): ApprovalMails => ({
  org: ORG,
  agent: idOf('agt', randomBytes(16)),
  approval: approvalOf(action),
  expiresAtMs: EXPIRES,
  mails,
});
/** How many mails wait for one address. Not by the desk, which hands out a hundred at a time. */
const recipients = async (to: string): Promise<number> => {
  const { rowCount } = await pool.query('select from people.outbox where message is not null and address_hash = $1', [
    hasher.addressHash(requireMailAddress(to)),
  ]);
  return rowCount ?? 0;
};

describe('mails about an approval', () => {
  it('are owed for what waits for a person, page by page, until they are written', async () => {
    const actions = [newAction(), newAction(), newAction()].sort();
    const due = (kind: string) => (action: ActionId) =>
      pool.query(`insert into gate.due_actions (action, kind, due_at) values ($1, $2, $3)`, [action, kind, '2026']);
    await Promise.all(actions.map(due('approval')));
    await due('edge')(newAction());
    expect(await links.unwritten(2, null)).toEqual(actions.slice(0, 2));
    expect(await links.unwritten(2, actions[1] as ActionId)).toEqual(actions.slice(2));
    for (const action of actions) await links.write(about(action), T0);
    expect(await links.unwritten(2, null)).toEqual([]);
  });

  it('are written once, by whichever worker is first', async () => {
    const [action, anna] = [newAction(), await person()];
    const written = Array.from({ length: 8 }, () => about(action, mailTo(anna)));
    await Promise.all(written.map((mails) => links.write(mails, T0)));
    expect(await recipients(anna.to)).toBe(1);
    const found = await Promise.all(written.map(({ mails: [mail] }) => links.find(mail!.tokenHash, T0)));
    expect(found.filter((link) => link !== null)).toEqual([
      { org: expect.stringMatching(/^org_/) as string, approval: approvalOf(action), user: anna.user },
    ]);
  });

  it('are written all or none', async () => {
    const [action, anna] = [newAction(), await person()];
    const broken = { ...mailTo(anna), tokenHash: null as unknown as Uint8Array };
    await expect(links.write(about(action, broken), T0)).rejects.toThrow();
    await links.write(about(action, mailTo(anna)), T0);
    expect(await recipients(anna.to)).toBe(1);
  });

  it('are at most so many an hour for one person, however many are written at once', async () => {
    const [anna, ben] = [await person(), await person()];
    const written = Array.from({ length: APPROVAL_MAILS_AN_HOUR + 5 }, () =>
      about(newAction(), mailTo(anna), mailTo(ben)),
    );
    await Promise.all(written.map((mails) => links.write(mails, T0)));
    expect(await recipients(anna.to)).toBe(APPROVAL_MAILS_AN_HOUR);
    expect(await recipients(ben.to)).toBe(APPROVAL_MAILS_AN_HOUR);
    await links.write(about(newAction(), mailTo(anna)), T0 + HOUR - 1);
    expect(await recipients(anna.to)).toBe(APPROVAL_MAILS_AN_HOUR);
    await links.write(about(newAction(), mailTo(anna)), T0 + HOUR);
    expect(await recipients(anna.to)).toBe(APPROVAL_MAILS_AN_HOUR + 1);
  });

  it('are counted by organization: one that asks for much silences no other', async () => {
    const anna = await person();
    const written = Array.from({ length: APPROVAL_MAILS_AN_HOUR }, () => about(newAction(), mailTo(anna)));
    for (const mails of written) await links.write(mails, T0);
    await links.write(about(newAction(), mailTo(anna)), T0);
    expect(await recipients(anna.to)).toBe(APPROVAL_MAILS_AN_HOUR);
    await links.write({ ...about(newAction(), mailTo(anna)), org: idOf('org', randomBytes(16)) }, T0);
    expect(await recipients(anna.to)).toBe(APPROVAL_MAILS_AN_HOUR + 1);
  });

  it('are counted by agent, too: one that floods people silences no other', async () => {
    const anna = await person();
    const agent = idOf('agt', randomBytes(16));
    const flood = Array.from({ length: 3 * APPROVAL_MAILS_AN_AGENT }, () => ({
      ...about(newAction(), mailTo(anna)),
      agent,
    }));
    await Promise.all(flood.map((mails) => links.write(mails, T0)));
    expect(await recipients(anna.to)).toBe(APPROVAL_MAILS_AN_AGENT);
    await links.write(about(newAction(), mailTo(anna)), T0);
    expect(await recipients(anna.to)).toBe(APPROVAL_MAILS_AN_AGENT + 1);
  });

  it('are not sent to an address that its person has no more', async () => {
    const anna = await person();
    const mail = mailTo(anna);
    await people.beginAddressChange(anna.user, requireMailAddress(`new.${anna.to}`), 'change-1');
    await links.write(about(newAction(), mail), T0);
    expect(await recipients(anna.to)).toBe(0);
    expect(await links.find(mail.tokenHash, T0)).toBeNull();
  });
});

describe('a link', () => {
  const written = async (anna?: { user: UserId; to: string }): Promise<ApprovalMail> => {
    const mail = mailTo(anna ?? (await person()));
    await links.write(about(newAction(), mail), T0);
    return mail;
  };

  it('is used once, and again when it was given back', async () => {
    const { tokenHash } = await written();
    const uses = await Promise.all(Array.from({ length: 8 }, () => links.use(tokenHash, T0)));
    expect(uses.filter((isUsed) => isUsed)).toHaveLength(1);
    expect(await links.find(tokenHash, T0)).toBeNull();
    await links.giveBack(tokenHash);
    expect(await links.find(tokenHash, T0)).not.toBeNull();
    expect(await links.use(tokenHash, T0)).toBe(true);
  });

  it('lives as long as its approval', async () => {
    const { tokenHash } = await written();
    expect(await links.find(tokenHash, EXPIRES - 1)).not.toBeNull();
    expect(await links.find(tokenHash, EXPIRES)).toBeNull();
    expect(await links.use(tokenHash, EXPIRES)).toBe(false);
  });

  it('is void with all else that was mailed to its person, and what waits is not sent', async () => {
    const anna = await person();
    const { tokenHash } = await written(anna);
    await new PostgresLoginTokens(pool).voidAll(anna.user, T0);
    expect(await links.find(tokenHash, T0)).toBeNull();
    expect(await recipients(anna.to)).toBe(0);
  });

  it('is gone with a person who is erased', async () => {
    const anna = await person();
    const { tokenHash } = await written(anna);
    await people.erase(anna.user);
    expect(await links.find(tokenHash, T0)).toBeNull();
    const { rows } = await pool.query(`select 1 from people.outbox where id like '%' || $1`, [anna.user]);
    expect(rows).toEqual([]);
  });

  it('is removed a day after its approval has expired', async () => {
    await written();
    const count = async () => (await pool.query(`select 1 from people.approval_links`)).rowCount;
    await desk.purge(EXPIRES + 24 * HOUR);
    expect(await count()).toBeGreaterThan(0);
    await desk.purge(EXPIRES + 24 * HOUR + 1);
    expect(await count()).toBe(0);
    expect((await pool.query(`select 1 from people.mailed_approvals`)).rowCount).toBe(0);
  });
});
