import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { encodeHex, sha256 } from '#libs/crypto';
import { type Logger, type MembershipId, operatorMetadata, type UserId } from '#libs/domain/kernel';
import { requireMailAddress } from '#libs/domain/people';
import { RemoveMember } from '#libs/domain/people/handlers';
import { EventStreamClient } from '../support/event-stream-client.js';
import { startUpstream, type Upstream } from '../support/upstream.js';
import { type Browser, PeopleBench } from '../support/people-bench.js';

/** Stands in every address, and in nothing else. */
const CANARY = 'kanarienvogel';
const OWNER = `owner.${CANARY}@example.com`;
const FIRST = `First.${CANARY}@example.com`;
const SECOND = `second.${CANARY}@example.com`;
const STRANGER = `stranger.${CANARY}@example.com`;

let bench: PeopleBench;
let upstream: Upstream;
let stream: EventStreamClient;
let client: pg.Client;
let member: UserId;
/** What was written to the log, a line each. */
const logged: string[] = [];
/** Tokens of links, values of cookies, codes. */
const secrets = new Set<string>();
const codes = new Set<string>();

const write =
  (level: string) =>
  (message: string, attributes: object = {}): void =>
    void logged.push(`${level} ${message} ${JSON.stringify(attributes, replacer)}`);
const replacer = (_key: string, value: unknown): unknown =>
  value instanceof Error ? { ...value, message: value.message, stack: value.stack, cause: value.cause } : value;
const logger: Logger = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };

beforeAll(async () => {
  // Nobody listens there (RFC 863): every mail is tried, reported and kept.
  bench = await PeopleBench.start(
    { SERVICE_ENV: 'dev', SMTP_URL: 'smtp://127.0.0.1:9', SERVICE_MAIL_FROM: 'ags@example.com' },
    logger,
  );
  client = new pg.Client({ connectionString: bench.connectionString });
  await client.connect();
  await live();
});
afterAll(async () => {
  await client?.end();
  stream?.close();
  await bench?.close();
  await upstream?.close();
});

/** Remembers what this browser holds. */
const noted = (browser: Browser): Browser => {
  for (const name of ['session', 'csrf', 'login']) {
    const value = browser.cookie(name);
    if (value !== undefined && value !== '') secrets.add(value);
  }
  return browser;
};

const mail = async (to: string) => {
  const received = await bench.mail(to);
  secrets.add(received.token);
  if (received.code !== null) codes.add(received.code);
  return received;
};

/** Every public event, on a stream and by webhook. */
const listen = async (owner: Browser): Promise<void> => {
  upstream = await startUpstream();
  stream = await EventStreamClient.open(bench.url, { Cookie: owner.jar });
  const hook = await owner.post('/v1/webhooks', { url: `${upstream.baseUrl}/hooks`, events: ['*'] });
  expect(hook.status).toBe(201);
  secrets.add(String(hook.json['secret']));
};

/** All that people do, with addresses and secrets that are known here. */
const live = async (): Promise<void> => {
  await bench.giveAddress(bench.owner, OWNER);
  const owner = noted(await bench.ownerBrowser());
  await listen(owner);
  const invited = await owner.post('/v1/org/members', { email: FIRST, role: 'admin' });
  member = invited.json['user'] as UserId;
  const browser = bench.browser('198.51.100.1');
  const invitation = await mail(FIRST);
  await browser.post('/v1/auth/preview', { token: invitation.token });
  await browser.use(invitation.token);
  noted(browser);
  // By link, and the link again.
  await browser.post('/v1/auth/login', { email: FIRST.toLowerCase() });
  noted(browser);
  const byLink = await mail(FIRST);
  expect((await browser.use(byLink.token)).status).toBe(200);
  noted(browser);
  expect((await browser.use(byLink.token)).status).toBe(400);
  // By code, after a wrong one, a wrong address, and what is no address at all.
  const coder = bench.browser('198.51.100.2');
  await coder.post('/v1/auth/login', { email: FIRST });
  noted(coder);
  const byCode = await mail(FIRST);
  for (const email of [STRANGER, `${CANARY} at home`])
    await coder.post('/v1/auth/callback', { email, code: byCode.code });
  await coder.post('/v1/auth/login', { email: `${CANARY}@` });
  await coder.post('/v1/auth/login', { email: STRANGER });
  await coder.post('/v1/auth/login', { email: FIRST });
  noted(coder);
  const { code } = await mail(FIRST);
  expect((await coder.post('/v1/auth/callback', { email: FIRST, code })).status).toBe(200);
  noted(coder);
  // Another address, with a mail to the old one that nobody has used.
  await browser.post('/v1/auth/login', { email: FIRST });
  await mail(FIRST);
  await bench.giveAddress(member, SECOND);
  await browser.post('/v1/auth/login', { email: SECOND });
  await browser.use((await mail(SECOND)).token);
  noted(browser);
  await browser.get('/v1/me');
  await browser.get('/v1/sessions');
  await decideByMail(owner);
};

const ASKING = `version: 1
default: require_approval
`;

/** A call that waits, looked at and approved by the link of a mail, after a press too early. */
const decideByMail = async (owner: Browser): Promise<void> => {
  const tools = [{ name: 'list', description: 'Lists', method: 'GET', path: '/v1/list', args: {} }];
  const config = { base_url: upstream.baseUrl, allowed_methods: ['GET'], allowed_path_prefixes: ['/v1'], tools };
  expect((await owner.post('/v1/connectors', { type: 'rest', name: 'crm', config })).status).toBe(201);
  const policy = await owner.post('/v1/policies', { name: 'Ask', source: ASKING });
  const activate = `/v1/policies/${policy.json['id'] as string}/versions/1/activate`;
  expect((await owner.post(activate, { mode: 'enforce' })).status).toBe(200);
  const call = { tool: 'crm.list', args: {}, wait: 0 };
  expect((await bench.browser().post('/v1/actions', call, bench.agentKey)).status).toBe(202);
  const { token } = await mail(SECOND);
  const phone = bench.browser('198.51.100.3');
  const { approval } = (await phone.post('/v1/approvals/link/preview', { token })).json as {
    approval: { context_digest: string };
  };
  const word = { token, decision: 'approve', context_digest: `sha256:${'0'.repeat(64)}` };
  expect((await phone.post('/v1/approvals/link/decide', word)).status).toBe(409);
  const { context_digest } = approval;
  expect((await phone.post('/v1/approvals/link/decide', { ...word, context_digest })).status).toBe(200);
  // One that nobody has looked at, so that its link is live.
  expect((await bench.browser().post('/v1/actions', call, bench.agentKey)).status).toBe(202);
  await mail(SECOND);
};

interface Cell {
  /** `people.tokens.token_hash` */
  readonly place: string;
  /** Byte strings by their bytes, one character each. */
  readonly text: string;
}

/** Every value of every table of the database. */
const dump = async (): Promise<readonly Cell[]> => {
  const tables = await client.query<{ schema: string; name: string }>(
    `select table_schema as schema, table_name as name from information_schema.tables
      where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
  );
  const cells: Cell[] = [];
  for (const { schema, name } of tables.rows) {
    const { rows } = await client.query<Record<string, unknown>>(`select * from "${schema}"."${name}"`);
    for (const row of rows) {
      for (const [column, value] of Object.entries(row))
        cells.push({ place: `${schema}.${name}.${column}`, text: textOf(value) });
    }
  }
  expect(cells.some(({ place }) => place.startsWith('event_store.events.'))).toBe(true);
  return cells;
};

const textOf = (value: unknown): string => {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1');
  return JSON.stringify(value);
};

/** However it would be written: as itself, as its bytes, in hex, in base64, or as a hash that a dictionary undoes. */
const spellingsOf = (secret: string): readonly string[] => {
  const isToken = /^[A-Za-z0-9_-]{43}$/.test(secret);
  const bytes = Buffer.from(secret, 'base64url');
  const hash = sha256(secret.toLowerCase());
  return [
    secret,
    Buffer.from(secret).toString('hex'),
    Buffer.from(secret).toString('base64').replace(/=+$/, ''),
    // The hash of 32 random bytes tells nothing: by it a token is found.
    ...(isToken
      ? [bytes.toString('latin1'), bytes.toString('hex')]
      : [Buffer.from(hash).toString('latin1'), encodeHex(hash)]),
  ];
};

const findings = (cells: readonly Cell[], spellings: readonly string[]): readonly string[] => {
  const wanted = spellings.map((each) => each.toLowerCase());
  return cells.flatMap(({ place, text }) => {
    const lower = text.toLowerCase();
    return wanted.some((each) => lower.includes(each)) ? [place] : [];
  });
};

/** What the stream and the receiver were told. */
const told = (): readonly Cell[] => [
  { place: 'the event stream', text: stream.bytes },
  ...upstream.seen.map(({ path, headers, body }) => ({
    place: `a request to ${path}`,
    text: `${JSON.stringify(headers)} ${body}`,
  })),
];
/** Once both have heard the newest event. */
const everythingTold = async (): Promise<void> => {
  const newest = 'select evt from read_models.public_events order by seq desc limit 1';
  const { rows } = await client.query<{ evt: string }>(newest);
  const event = rows[0]?.evt ?? 'none';
  await vi.waitFor(
    () => {
      expect(stream.bytes).toContain(event);
      expect(upstream.seen.filter(({ path }) => path === '/hooks').some(({ body }) => body.includes(event))).toBe(true);
    },
    { timeout: 20_000, interval: 20 },
  );
};

const lines = (): readonly Cell[] => logged.map((text) => ({ place: `log: ${text.slice(0, 120)}`, text }));

const ADDRESSES = [OWNER, FIRST, SECOND, STRANGER];
const expectClean = async (): Promise<void> => {
  const cells = [...(await dump()), ...lines(), ...told()];
  expect(findings(cells, [CANARY, Buffer.from(CANARY).toString('hex'), ...ADDRESSES.flatMap(spellingsOf)])).toEqual([]);
  expect(findings(cells, [...secrets].flatMap(spellingsOf))).toEqual([]);
  // Six digits stand by chance within longer numbers.
  const alone = [...codes].map((code) => new RegExp(`(?<![0-9a-f.])${code}(?![0-9a-f])`));
  const readable = cells.filter(({ place, text }) => !place.endsWith('_hash') && alone.some((each) => each.test(text)));
  expect(readable.map(({ place }) => place)).toEqual([]);
};

describe('what people sign in with', () => {
  it('stands in no table, no event, no deed, no line of the log, no stream and no webhook', async () => {
    expect(secrets.size).toBeGreaterThan(12);
    expect(codes.size).toBeGreaterThan(3);
    expect(lines().some(({ text }) => text.includes('/v1/auth/callback'))).toBe(true);
    await everythingTold();
    await expectClean();
  });

  it('is looked for where it would be found', async () => {
    // What is not secret is found: the ids of people, and the hash that a token is known by.
    const cells = await dump();
    expect(findings(cells, [member])).toContain('event_store.events.data');
    const hashes = [...secrets].map((secret) => Buffer.from(sha256(secret)).toString('latin1'));
    expect(findings(cells, hashes).length).toBeGreaterThan(3);
  });
});

describe('a person who was erased', () => {
  it('is named by no row, but by an id in events and what is folded from them', async () => {
    const metadata = operatorMetadata(bench.deployment, bench.org);
    const organization = await bench.deployment.members().organization(bench.org);
    const own = [...organization.members.values()].find(({ user }) => user === member);
    await bench.deployment.commands.execute(new RemoveMember(bench.org, own?.membership as MembershipId, metadata));
    await bench.deployment.persons().erase(member, metadata);
    const cells = await dump();
    const places = new Set(findings(cells, [member]));
    expect([...places].filter((place) => !/^(event_store|read_models)\./.test(place))).toEqual([]);
    const hashes = [FIRST, SECOND].map((address) =>
      Buffer.from(bench.deployment.people.hasher.addressHash(requireMailAddress(address))).toString('latin1'),
    );
    expect(findings(cells, hashes)).toEqual([]);
    const listed = await (await bench.ownerBrowser()).get('/v1/org/members?status=removed');
    expect(listed.json['data']).toMatchObject([{ user: member, email: null }]);
    await expectClean();
  });
});
