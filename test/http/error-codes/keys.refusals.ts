import { DOORS, tell } from './mcp.refusals.js';
import type { Refusal, RefusalGroup, Verdict } from './refusal.js';
import type { Stage } from './stage.js';

const challenge = (rest = ''): Record<string, string> => ({ 'www-authenticate': `Bearer realm="service"${rest}` });
const invalidToken = (why: string) => challenge(`, error="invalid_token", error_description="${why}"`);
const missingScope = (scope: string) =>
  challenge(`, error="insufficient_scope", error_description="The key lacks a scope", scope="${scope}"`);

const NOT_A_KEY = {
  verdict: [401, 'authentication_error', 'invalid_api_key', null] as Verdict,
  headers: invalidToken('The API key is not valid'),
};
const NO_SCOPE: Verdict = [403, 'permission_error', 'insufficient_scope', null];

/** Same prefix, another secret. */
const withAnotherSecret = (key: string): string => `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;

/** Keys of an agent that the command line made for these tests, by what became of them. */
export const spent = { revoked: '', expired: '', executeOnly: '', readOnly: '' };

const makeKeys = async (stage: Stage): Promise<void> => {
  const make = async (...args: string[]): Promise<{ id: string; secret: string }> => {
    const { object } = await stage.ags('keys', 'create', '--agent', stage.service.agent, ...args);
    return { id: String(object['id']), secret: String(object['secret']) };
  };
  const revoked = await make();
  const expired = await make();
  spent.executeOnly = (await make('--scopes', 'actions:execute')).secret;
  spent.readOnly = (await make('--scopes', 'actions:read')).secret;
  await stage.ags('keys', 'revoke', revoked.id);
  await stage.ags('keys', 'roll', expired.id, '--overlap', '0');
  [spent.revoked, spent.expired] = [revoked.secret, expired.secret];
};

/** What a key is judged by, in its order (rule KEY-2). */
export const KEYS: RefusalGroup = {
  title: 'the key pipeline',
  enter: makeKeys,
  refusals: [
    {
      rule: 'a request without credentials',
      verdict: [401, 'authentication_error', 'authentication_required', null],
      headers: challenge(),
      provoke: ({ send }) => send('POST', '/v1/actions', { json: {} }),
    },
    {
      rule: 'a scheme other than Bearer',
      ...NOT_A_KEY,
      provoke: ({ send }) => send('GET', '/v1/actions', { headers: { Authorization: 'Basic YTpi' } }),
    },
    { rule: 'what is no key', ...NOT_A_KEY, provoke: ({ send }) => send('GET', '/v1/actions', { key: 'sk_live_x' }) },
    {
      rule: 'a key that nobody was given',
      ...NOT_A_KEY,
      provoke: ({ send }) => send('GET', '/v1/policies', { key: `svc_live_00000000_${'0'.repeat(32)}` }),
    },
    {
      rule: 'a key with another secret',
      ...NOT_A_KEY,
      provoke: ({ send, service }) => send('GET', '/v1/actions', { key: withAnotherSecret(service.agentKey) }),
    },
    {
      rule: 'two Authorization headers',
      ...NOT_A_KEY,
      provoke: ({ raw, service }) => {
        const line = `Authorization: Bearer ${service.agentKey}\r\n`;
        return raw(`GET /v1/actions HTTP/1.1\r\nHost: localhost\r\n${line}${line}\r\n`);
      },
    },
    {
      rule: 'a key that was revoked',
      verdict: [401, 'authentication_error', 'api_key_revoked', null],
      headers: invalidToken('The API key was revoked'),
      provoke: ({ send }) => send('GET', '/v1/actions', { key: spent.revoked }),
    },
    {
      rule: 'a key that was rolled, after its overlap',
      verdict: [401, 'authentication_error', 'api_key_expired', null],
      headers: invalidToken('The API key was rolled and its overlap has ended'),
      provoke: ({ send }) => send('GET', '/v1/actions', { key: spent.expired }),
    },
    {
      rule: 'an agent’s key on the control plane, reads included',
      verdict: NO_SCOPE,
      headers: missingScope('admin'),
      provoke: ({ agent }) => agent('GET', '/v1/connectors/lab'),
    },
    {
      rule: 'an admin key where an agent acts',
      verdict: NO_SCOPE,
      headers: missingScope('actions:execute'),
      provoke: ({ admin }) => admin('POST', '/v1/actions', { json: { tool: 'lab.read' } }),
    },
    {
      rule: 'an agent’s key without the scope of the endpoint',
      verdict: NO_SCOPE,
      headers: missingScope('actions:read'),
      provoke: ({ send }) => send('GET', '/v1/actions', { key: spent.executeOnly }),
    },
    {
      rule: 'an agent’s key without the scope of the ledger',
      verdict: NO_SCOPE,
      headers: missingScope('deeds:read'),
      provoke: ({ send }) => send('GET', '/v1/deeds', { key: spent.executeOnly }),
    },
  ],
};

/** Every call is refused; an attempt to act is recorded and sealed first (rule AGENT-1). */
const whileStopped = (
  title: string,
  code: 'agent_stopped' | 'agent_suspended' | 'org_stopped',
  stop: (stage: Stage) => readonly string[],
  start: (stage: Stage) => readonly string[],
): RefusalGroup => {
  const verdict: Verdict = [403, 'permission_error', code, null];
  const refusals: Refusal[] = [
    {
      rule: 'an action, which is sealed',
      verdict,
      carries: 'action',
      provoke: ({ act }) => act('lab.write', 'open'),
    },
    { rule: 'a read', verdict, provoke: ({ agent }) => agent('GET', '/v1/deeds') },
    {
      rule: 'a wait for an action',
      verdict,
      provoke: ({ agent }) => agent('GET', `/v1/actions/act_${'0'.repeat(26)}?wait=25`),
    },
    ...DOORS.flatMap((door): Refusal[] => [
      { rule: `a list of the tools at ${door}`, verdict, provoke: (stage) => tell(stage, door, 'tools/list') },
      { rule: `a listener at ${door}`, verdict, provoke: ({ agent }) => agent('GET', door) },
    ]),
  ];
  return {
    title,
    enter: (stage) => stage.ags(...stop(stage)),
    leave: (stage) => stage.ags(...start(stage)),
    refusals,
  };
};

const resume = ({ service }: Stage): readonly string[] => ['agents', 'resume', service.agent];

export const STOPS: readonly RefusalGroup[] = [
  whileStopped(
    'while the agent is stopped, the service',
    'agent_stopped',
    ({ service }) => ['agents', 'stop', service.agent],
    resume,
  ),
  whileStopped(
    'while the agent is suspended, the service',
    'agent_suspended',
    ({ service }) => ['agents', 'suspend', service.agent],
    resume,
  ),
  whileStopped(
    'while the organization is stopped, the service',
    'org_stopped',
    () => ['org', 'stop'],
    () => ['org', 'start'],
  ),
];
