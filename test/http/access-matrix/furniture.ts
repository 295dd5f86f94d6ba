import { expect } from 'vitest';
import { SigningKey } from '#libs/crypto';
import { operatorMetadata, type UserId } from '#libs/domain/kernel';
import type { Browser, PeopleBench } from '../../support/people-bench.js';
import { configOf, POLICY } from '../error-codes/lab.js';

type Json = Record<string, unknown>;

/** Ids that a path may name; each is somebody's. */
export interface Furniture {
  readonly agent: string;
  readonly agentKey: string;
  readonly kid: string;
  readonly connector: string;
  readonly policy: string;
  readonly action: string;
  readonly approval: string;
  readonly deed: string;
  readonly session: string;
  readonly passkey: string;
  readonly member: string;
  readonly orgKey: string;
  readonly replay: string;
  readonly webhook: string;
}

const VERSIONED = /^\/v1\/policies\/\{id\}/;

/** The path of an operation on this furniture. */
export const pathOn = (template: string, furniture: Furniture): string => {
  const {
    agent,
    agentKey,
    kid,
    connector,
    policy,
    action,
    approval,
    deed,
    session,
    passkey,
    member,
    orgKey,
    replay,
    webhook,
  } = furniture;
  return template
    .replace('/v1/agents/{id}', `/v1/agents/${agent}`)
    .replace('/v1/connectors/{id}', `/v1/connectors/${connector}`)
    .replace('/mcp/{name}', `/mcp/${connector}`)
    .replace(VERSIONED, `/v1/policies/${policy}`)
    .replace('/v1/actions/{id}', `/v1/actions/${action}`)
    .replace('/v1/approvals/{id}', `/v1/approvals/${approval}`)
    .replace('/v1/deeds/{id}', `/v1/deeds/${deed}`)
    .replace('/v1/sessions/{id}', `/v1/sessions/${session}`)
    .replace('/v1/passkeys/{id}', `/v1/passkeys/${passkey}`)
    .replace('/v1/org/members/{id}', `/v1/org/members/${member}`)
    .replace('/v1/org/keys/{id}', `/v1/org/keys/${orgKey}`)
    .replace('/v1/replays/{id}', `/v1/replays/${replay}`)
    .replace('/v1/webhooks/{id}', `/v1/webhooks/${webhook}`)
    .replace('/app/{screen}/{id}', `/app/actions/${action}`)
    .replace('{screen}', 'actions')
    .replace('{key}', agentKey)
    .replace('{kid}', kid)
    .replace('{v}', '1')
    .replace('{type}', 'rest')
    .replace('{code}', 'not_found')
    .replace('{file}', 'auth.css');
};

const NOTHING = '0'.repeat(26);

/** Of the same kinds, and nobody's. */
export const NOWHERE: Furniture = {
  agent: `agt_${NOTHING}`,
  agentKey: `key_${NOTHING}`,
  kid: '0'.repeat(32),
  connector: 'absent',
  policy: `pol_${NOTHING}`,
  action: `act_${NOTHING}`,
  approval: `apr_${NOTHING}`,
  deed: `deed_${NOTHING}`,
  session: `ses_${NOTHING}`,
  passkey: `pky_${NOTHING}`,
  member: `mem_${NOTHING}`,
  orgKey: `key_${NOTHING}`,
  replay: `rpl_${NOTHING}`,
  webhook: `whk_${NOTHING}`,
};

/** Makes what requests are about, as an owner. */
export class Furnisher {
  private made = 0;

  constructor(
    private readonly bench: PeopleBench,
    private readonly owner: Browser,
  ) {}

  /** A number that no other call gets. */
  next(): number {
    return (this.made += 1);
  }

  async make(method: string, path: string, body: object = {}): Promise<Json> {
    const answer = await this.owner.send(method, path, body);
    expect([method, path, answer.status < 300 ? 'done' : answer.error]).toEqual([method, path, 'done']);
    return answer.json;
  }

  async agent(): Promise<Pick<Furniture, 'agent' | 'agentKey' | 'kid'>> {
    const agent = String((await this.make('POST', '/v1/agents', { name: `spare ${this.next()}` }))['id']);
    const key = await this.make('POST', `/v1/agents/${agent}/keys`);
    const intentKey = await this.make('POST', `/v1/agents/${agent}/intent-keys`, { public_key: newPublicKey() });
    return { agent, agentKey: String(key['id']), kid: String(intentKey['kid']) };
  }

  async connector(): Promise<string> {
    const name = `spare-${this.next()}`;
    const config = configOf('https://crm.example.com', { auth: { kind: 'bearer' } });
    await this.make('POST', '/v1/connectors', { type: 'rest', name, config });
    await this.make('PUT', `/v1/connectors/${name}/credentials`, { kind: 'bearer', secret: { token: 'a-token' } });
    return name;
  }

  /** @param isEnforced whether it decides */
  async policy(isEnforced: boolean): Promise<string> {
    const made = await this.make('POST', '/v1/policies', { name: `spare ${this.next()}`, source: POLICY });
    const id = String(made['id']);
    if (isEnforced) await this.make('POST', `/v1/policies/${id}/versions/1/activate`, { mode: 'enforce' });
    return id;
  }

  async replay(policy: string): Promise<string> {
    return String((await this.make('POST', `/v1/policies/${policy}/versions/1/replay`))['id']);
  }

  async webhook(): Promise<string> {
    // Nobody answers for that name.
    const asked = { url: 'https://hooks.example.com', events: ['decoder.alert'] };
    return String((await this.make('POST', '/v1/webhooks', asked))['id']);
  }

  /** An event that has been sent to the endpoint. */
  async delivery(webhook: string): Promise<string> {
    return String((await this.make('POST', `/v1/webhooks/${webhook}/test`))['event']);
  }

  async orgKey(): Promise<string> {
    return String((await this.make('POST', '/v1/org/keys'))['id']);
  }

  async invited(): Promise<string> {
    const email = `spare-${this.next()}@example.com`;
    return String((await this.make('POST', '/v1/org/members', { email, role: 'viewer' }))['id']);
  }

  async joined(role: string): Promise<{ readonly browser: Browser; readonly member: string }> {
    const browser = await this.bench.member(this.owner, `spare-${this.next()}@example.com`, role);
    return { browser, member: await membershipIdOf(browser) };
  }

  /** Another session of a person who has one. */
  async sessionOf(user: UserId): Promise<Browser> {
    const { deployment, org } = this.bench;
    const token = await deployment.persons().issueLink(org, user, operatorMetadata(deployment, org));
    const browser = this.bench.browser(`198.51.100.${this.next() % 250}`);
    expect((await browser.use(token)).status).toBe(200);
    return browser;
  }

  /** Waits for whoever is a member, and was asked for by the holder of this key. */
  async approval(secret: string): Promise<string> {
    const name = `asked ${this.next()}`;
    const policy = String((await this.make('POST', '/v1/policies', { name, source: ASKS_EVERYBODY }))['id']);
    await this.make('POST', `/v1/policies/${policy}/versions/1/activate`, { mode: 'enforce' });
    const headers = { Authorization: `Bearer ${secret}` };
    const body = { tool: `${await this.connector()}.remove`, args: { id: '42' }, wait: 0 };
    const { json } = await this.bench.browser().post('/v1/actions', body, headers);
    expect(json).toMatchObject({ status: 'pending_approval' });
    return (json['approval'] as { id: string }).id;
  }

  /** An action that the starter policy denies, sealed, by the holder of this key. */
  async action(secret: string): Promise<Pick<Furniture, 'action' | 'deed'>> {
    const headers = { Authorization: `Bearer ${secret}` };
    const body = { tool: `${await this.connector()}.remove`, args: { id: '42' } };
    const { error, json } = await this.bench.browser().post('/v1/actions', body, headers);
    const { id, deed } = (error['action'] ?? json) as { id: string; deed: string };
    expect([id, deed]).toEqual([expect.stringMatching(/^act_/), expect.stringMatching(/^deed_/)]);
    return { action: id, deed };
  }
}

const ASKS_EVERYBODY = `version: 1
default: deny
rules:
  - id: asked
    match:
      tools:
        - "*.remove"
    decision: require_approval
    approval:
      approvers:
        - role:viewer
`;

export const newPublicKey = (): string => SigningKey.generate().publicKey.text;

export const sessionIdOf = async (browser: Browser): Promise<string> =>
  ((await browser.get('/v1/me')).json['session'] as { id: string }).id;

export const membershipIdOf = async (browser: Browser): Promise<string> =>
  ((await browser.get('/v1/me')).json['membership'] as { id: string }).id;

export const userIdOf = async (browser: Browser): Promise<UserId> =>
  ((await browser.get('/v1/me')).json['user'] as { id: UserId }).id;
