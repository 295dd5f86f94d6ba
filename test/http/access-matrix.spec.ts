import { CreateAdminKey, CreateOrganization } from '#libs/domain/agents/handlers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { operatorMetadata } from '#libs/domain/kernel';
import { isChanging } from '../../apps/api/src/http/csrf.js';
import { type Browser, PeopleBench } from '../support/people-bench.js';
import { type Caller, CALLERS, namesWhatIsOwned, type Verdict, verdictOf } from './access-matrix/expected.js';
import { Furnisher, type Furniture, membershipIdOf, NOWHERE, sessionIdOf } from './access-matrix/furniture.js';
import { allowedScene, refusedScene, type Scene, type Stage } from './access-matrix/scenes.js';
import { type DescribedOperation, OPERATIONS, undescribedIn } from './described-answer.js';

/**
 * Reviewed: operations that answer something else than 2xx to a caller whom the guard lets through, and why. Whatever the
 * reason, it is none of the guard's.
 */
const OTHERWISE: Readonly<Record<string, { readonly answers: Verdict; readonly because: string }>> = {
  'POST /v1/actions/{id}/witness': {
    answers: [409, 'conflict'],
    because: 'the action of this bench was denied: nothing ran that could be read back',
  },
  'GET /': { answers: [302, null], because: 'it leads to the Console' },
  'GET /app/assets/{file}': { answers: [404, null], because: 'the names of assets are those of one build' },
  'POST /v1/actions': { answers: [404, 'tool_unknown'], because: 'its example names a tool of nobody' },
  'POST /v1/actions/{id}/cancel': { answers: [409, 'conflict'], because: 'nothing here waits for a person' },
  'POST /v1/actions/{id}/result': { answers: [409, 'conflict'], because: 'nothing here runs at the edge' },
  'GET /v1/connectors/{id}/witness': {
    answers: [409, 'witness_not_configured'],
    because: 'the connectors here lead to no database',
  },
  'POST /v1/connectors/{id}/tools/accept': {
    answers: [409, 'conflict'],
    because: 'the config of the connectors here names the tools, and no server changes any',
  },
  'POST /v1/connectors/{id}/tools/refresh': {
    answers: [409, 'conflict'],
    because: 'the config of the connectors here names the tools, and there is no server to ask',
  },
  'POST /v1/approvals/link/preview': {
    answers: [401, 'approval_link_invalid'],
    because: 'its example is no token of anybody',
  },
  'POST /v1/approvals/link/passkey/options': {
    answers: [401, 'approval_link_invalid'],
    because: 'its example is no token of anybody',
  },
  'POST /v1/approvals/link/decide': {
    answers: [401, 'approval_link_invalid'],
    because: 'its example is no token of anybody',
  },
  'POST /v1/auth/preview': { answers: [400, 'login_link_invalid'], because: 'its example is no token of anybody' },
  'POST /v1/auth/passkey/verify': {
    answers: [400, 'passkey_invalid'],
    because: 'its example is no answer of a device',
  },
  'POST /v1/auth/callback': { answers: [400, 'login_code_invalid'], because: 'its example is no code of anybody' },
};

/**
 * Reviewed: admin keys are made by people and by no other admin key, which is judged where the key is made
 * (rule KEY-7).
 */
const BY_PEOPLE_ALONE = ['POST /v1/org/keys', 'POST /v1/org/keys/{id}/roll'];

/** Reviewed: keys are let in to be told that only people decide, of what they may know of. */
const DECIDED_BY_PEOPLE = ['approve', 'deny', 'passkey/options'].map((route) => `POST /v1/approvals/{id}/${route}`);

let bench: PeopleBench;
let standing: Furniture;
let furnisher: Furnisher;
let credentials: Readonly<Record<Caller, { readonly browser: Browser | null; readonly key: string | null }>>;
/** Request ids of what was refused. */
const refused: string[] = [];
let lastAddress = 0;

beforeAll(async () => {
  bench = await PeopleBench.start();
  await bench.giveAddress(bench.owner, 'owner@example.com');
  const owner = await bench.ownerBrowser();
  const admin = await bench.member(owner, 'admin@example.com', 'admin');
  const viewer = await bench.member(owner, 'viewer@example.com', 'viewer');
  const target = await bench.member(owner, 'target@example.com', 'viewer');
  furnisher = new Furnisher(bench, owner);
  const acting = await agentKeyWith(['actions:execute', 'actions:read', 'deeds:read', 'actions:undo']);
  const idle = await agentKeyWith(['actions:undo']);
  const adminKey = bench.prepared.adminKey as string;
  const other = await otherOrganization();
  const policy = await furnisher.policy(false);
  standing = {
    ...(await furnisher.agent()),
    ...(await furnisher.action(acting)),
    approval: await furnisher.approval(acting),
    connector: await furnisher.connector(),
    policy,
    session: await sessionIdOf(target),
    // Each request that removes one makes it.
    passkey: `pky_${'0'.repeat(26)}`,
    member: await membershipIdOf(target),
    orgKey: await furnisher.orgKey(),
    replay: await furnisher.replay(policy),
    webhook: await furnisher.webhook(),
  };
  credentials = {
    nobody: { browser: null, key: null },
    'an agent key with every scope': { browser: null, key: acting },
    'an agent key without the scope': { browser: null, key: idle },
    'an admin key': { browser: null, key: adminKey },
    'a viewer': { browser: viewer, key: null },
    'an admin': { browser: admin, key: null },
    'an owner': { browser: owner, key: null },
    'an owner without the CSRF token': { browser: owner, key: null },
    'an owner beside a bad key': { browser: owner, key: `${adminKey.slice(0, -1)}_` },
    'an owner of another organization': { browser: other.owner, key: null },
    'an admin key of another organization': { browser: null, key: other.adminKey },
  };
  for (const key of [adminKey, other.adminKey]) await checkpointOf(key);
});
afterAll(() => bench?.close());

/** Of what was sealed so far: without one there is none to read. */
const checkpointOf = (key: string): Promise<void> =>
  vi.waitFor(
    async () => {
      const init = { method: 'POST', headers: { Authorization: `Bearer ${key}` } };
      expect((await fetch(`${bench.url}/v1/ledger/checkpoint`, init)).status).toBe(200);
    },
    { timeout: 20_000 },
  );

const agentKeyWith = async (scopes: readonly string[]): Promise<string> => {
  const made = await furnisher.make('POST', '/v1/agents', { name: scopes.join(' ').slice(0, 60), key: { scopes } });
  return String((made['key'] as { secret?: string })?.secret ?? made['secret']);
};

const otherOrganization = async (): Promise<{ readonly owner: Browser; readonly adminKey: string }> => {
  const { deployment } = bench;
  const { organization } = await deployment.commands.execute(
    new CreateOrganization('Next door', operatorMetadata(deployment, null)),
  );
  const { org, owner } = organization;
  const token = await deployment.persons().issueLink(org, owner, operatorMetadata(deployment, org));
  const browser = bench.browser();
  expect((await browser.use(token)).status).toBe(200);
  const { secret } = await deployment.commands.execute(
    new CreateAdminKey(org, true, operatorMetadata(deployment, org)),
  );
  return { owner: browser, adminKey: secret as string };
};

/** Of a stream, which has no end of its own, the begin is answer enough. */
const wholeOf = async (response: Response): Promise<string> => {
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) return response.text();
  await response.body?.cancel();
  return '';
};

interface Answer {
  readonly status: number;
  readonly code: string | null;
  readonly requestId: string;
  readonly error: Readonly<Record<string, unknown>> | null;
}

/** Each from an address of its own: sign-in and bad keys are limited by address. */
const send = async (operation: DescribedOperation, caller: Caller, scene: Scene): Promise<Answer> => {
  const { method } = operation;
  const { key } = credentials[caller];
  const browser = scene.browser ?? credentials[caller].browser;
  lastAddress += 1;
  const response = await fetch(`${bench.url}${scene.path}`, {
    method,
    redirect: 'manual',
    headers: {
      'X-Forwarded-For': `10.${lastAddress >> 16}.${(lastAddress >> 8) & 255}.${lastAddress & 255}`,
      ...(key === null ? {} : { Authorization: `Bearer ${key}` }),
      ...(browser === null ? {} : { Cookie: browser.jar }),
      ...(browser?.csrf && caller !== 'an owner without the CSRF token' ? { 'Service-CSRF': browser.csrf } : {}),
      ...(method === 'GET' ? {} : { Origin: 'https://ags.example.com', 'Sec-Fetch-Site': 'same-origin' }),
      ...(scene.body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(scene.body === undefined ? {} : { body: JSON.stringify(scene.body) }),
  });
  const text = await wholeOf(response);
  const json = text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : null;
  const { status, headers } = response;
  expect(undescribedIn(method, scene.path, { status, headers, json })).toEqual([]);
  const error = (json?.['error'] ?? null) as Answer['error'];
  const code = typeof error?.['code'] === 'string' ? error['code'] : null;
  return { status, code, requestId: headers.get('service-request-id') ?? '', error };
};

const stage = (): Stage => ({
  furnisher,
  standing,
  org: bench.org,
  agentKey: credentials['an agent key with every scope'].key as string,
  browserOf: (caller) => credentials[caller].browser,
});

/** Nobody here has one: which is said to who may decide alone. */
const NO_PASSKEY: Verdict = [403, 'approval_needs_passkey'];

/** What an operation does once the guard has let the caller through; null: 2xx. */
const afterwards = ({ name }: DescribedOperation, caller: Caller): Verdict => {
  if (BY_PEOPLE_ALONE.includes(name) && caller.startsWith('an admin key')) return [403, 'insufficient_scope'];
  if (DECIDED_BY_PEOPLE.includes(name)) return afterDeciding(caller) ?? (name.endsWith('options') ? NO_PASSKEY : null);
  return OTHERWISE[name]?.answers ?? null;
};

const afterDeciding = (caller: Caller): Verdict => {
  if (caller === 'an agent key without the scope') return [404, 'not_found'];
  return caller.includes('key') ? [403, 'approval_needs_person'] : null;
};

/** Where nothing is named that an organization has, its own are told the same; where nothing changes, no token is asked for. */
const isAsAnother = (operation: DescribedOperation, caller: Caller): boolean =>
  (caller.endsWith('of another organization') && !namesWhatIsOwned(operation)) ||
  (caller === 'an owner without the CSRF token' && !isChanging(operation.method));

describe.each(OPERATIONS.map((operation) => [operation.name, operation] as const))('%s', (_name, operation) => {
  const verdicts = CALLERS.filter((caller) => !isAsAnother(operation, caller)).map(
    (caller) => [caller, verdictOf(operation, caller)] as const,
  );

  it('refuses everybody whom its description does not name', async () => {
    for (const [caller, verdict] of verdicts) {
      if (verdict === null) continue;
      const answer = await send(operation, caller, refusedScene(operation, standing, verdict));
      expect([caller, answer.status, answer.code]).toEqual([caller, ...verdict]);
      refused.push(answer.requestId);
      if (verdict[1] !== 'not_found') continue;
      // Whether it is another organization's or nobody's is told to nobody.
      const absent = await send(operation, caller, refusedScene(operation, NOWHERE, verdict));
      expect({ ...answer.error, request_id: null }).toEqual({ ...absent.error, request_id: null });
    }
  });

  it('serves everybody whom it does', async () => {
    for (const [caller, verdict] of verdicts) {
      if (verdict !== null) continue;
      const scene = await allowedScene(stage(), operation, caller);
      const answer = await send(operation, caller, scene);
      await scene.after?.();
      const otherwise = afterwards(operation, caller);
      if (otherwise !== null) expect([caller, answer.status, answer.code]).toEqual([caller, ...otherwise]);
      else expect([caller, operation.successes]).toEqual([caller, expect.arrayContaining([answer.status])]);
    }
  });
});

describe('the matrix', () => {
  it('lists nothing that is not there, or that answers 2xx', () => {
    const names = OPERATIONS.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining([...Object.keys(OTHERWISE), ...BY_PEOPLE_ALONE, ...DECIDED_BY_PEOPLE]),
    );
  });

  it('has callers of every kind that may do something, and of every kind that may not', () => {
    const told = new Set(
      OPERATIONS.flatMap((each) => CALLERS.map((caller) => verdictOf(each, caller)?.[1] ?? 'allowed')),
    );
    expect([...told].sort()).toEqual([
      'allowed',
      'authentication_required',
      'csrf_failed',
      'insufficient_role',
      'insufficient_scope',
      'invalid_api_key',
      'not_found',
    ]);
    expect(OPERATIONS.filter(namesWhatIsOwned).length).toBeGreaterThan(20);
  });

  it('left no event of anything that was refused', async () => {
    const { durable } = bench.deployment.database;
    const { rows } = await durable.query(
      `select type from event_store.events where metadata::jsonb ->> 'request_id' = any($1)`,
      [refused],
    );
    expect(refused.length).toBeGreaterThan(300);
    expect(rows).toEqual([]);
  });
});
