import type { ErrorCode } from '#libs/domain/kernel';
import type { Answer } from '../../support/service.js';
import type { DescribedOperation } from '../described-answer.js';
import { POLICY } from './lab.js';
import type { Verdict } from './refusal.js';
import type { Sent } from './sent.js';
import type { Stage } from './stage.js';

/** An operation's path with ids of what there is, so that a request gets as far as what is wrong with it. */
export const pathOf = ({ template }: DescribedOperation, { policy, spareAgent }: Stage): string =>
  template
    .replace('/v1/policies/{id}', `/v1/policies/${policy}`)
    .replace('/v1/agents/{id}', `/v1/agents/${spareAgent}`)
    .replace('/v1/connectors/{id}', '/v1/connectors/lab')
    .replace('/mcp/{name}', '/mcp/lab')
    .replace('/v1/actions/{id}', `/v1/actions/act_${'0'.repeat(26)}`)
    .replace('/v1/approvals/{id}', `/v1/approvals/apr_${'0'.repeat(26)}`)
    .replace('/v1/deeds/{id}', `/v1/deeds/deed_${'0'.repeat(26)}`)
    .replace('/v1/sessions/{id}', `/v1/sessions/ses_${'0'.repeat(26)}`)
    .replace('/v1/passkeys/{id}', `/v1/passkeys/pky_${'0'.repeat(26)}`)
    .replace('/v1/org/members/{id}', `/v1/org/members/mem_${'0'.repeat(26)}`)
    .replace('/v1/org/keys/{id}', `/v1/org/keys/key_${'0'.repeat(26)}`)
    .replace('/v1/replays/{id}', `/v1/replays/rpl_${'0'.repeat(26)}`)
    .replace('/v1/webhooks/{id}', `/v1/webhooks/whk_${'0'.repeat(26)}`)
    .replace('{key}', `key_${'0'.repeat(26)}`)
    .replace('{kid}', '0'.repeat(32))
    .replace('{type}', 'rest')
    .replace('{code}', 'not_found')
    .replace('{file}', 'auth.js')
    .replace('{v}', '1');

/** Who may call it: a key where one may, else a person. */
export const callerOf = ({ auth, role }: DescribedOperation, { service, people }: Stage): Pick<Sent, 'key' | 'as'> => {
  if (auth === 'public') return {};
  if (auth === 'agent_key') return { key: service.agentKey };
  return auth === 'session' || role === 'owner' ? { as: people.owner } : { key: service.adminKey };
};

/** A body that the operation's shape accepts. */
const bodyOf = ({ bodyExample, takesBody }: DescribedOperation): string =>
  takesBody ? JSON.stringify(bodyExample ?? { source: POLICY }) : '{}';

export interface Probe {
  readonly verdict: (operation: DescribedOperation) => Verdict;
  readonly headers?: Readonly<Record<string, string>>;
  readonly send: (operation: DescribedOperation, stage: Stage) => Promise<Answer>;
}

const invalid = (code: ErrorCode, status: number, param: string | null = null): Probe['verdict'] => {
  const verdict: Verdict = [status, 'invalid_request_error', code, param];
  return () => verdict;
};

const repeated = async (
  operation: DescribedOperation,
  stage: Stage,
  second: { readonly text: string; readonly before?: () => Promise<unknown> },
): Promise<Answer> => {
  const headers = { 'Idempotency-Key': `${operation.name} ${stage.answered.size}` };
  const sent = { ...callerOf(operation, stage), headers };
  await stage.send(operation.method, pathOf(operation, stage), { ...sent, text: bodyOf(operation) });
  await second.before?.();
  return stage.send(operation.method, pathOf(operation, stage), { ...sent, text: second.text });
};

/** How to have any operation that claims one of these codes answer it. The other codes have rules of their own. */
export const PROBES: Partial<Readonly<Record<ErrorCode, Probe>>> = {
  validation_failed: {
    verdict: (operation) => {
      const [status, param] = isMcp(operation) ? [422, SESSION] : [400, faultOf(operation)];
      return [status, 'invalid_request_error', 'validation_failed', param];
    },
    send: (operation, stage) => {
      if (isMcp(operation)) return stage.agent('POST', pathOf(operation, stage), OF_TWO_SESSIONS);
      const [path, caller] = [pathOf(operation, stage), callerOf(operation, stage)];
      if (operation.takesBody)
        return stage.send(operation.method, path, { ...caller, json: { [faultOf(operation)]: 1 } });
      return stage.send(operation.method, `${path}?${faultOf(operation)}=0`, caller);
    },
  },
  invalid_json: {
    verdict: invalid('invalid_json', 400),
    send: (operation, stage) =>
      stage.send(operation.method, pathOf(operation, stage), { ...callerOf(operation, stage), text: '{' }),
  },
  unsupported_media_type: {
    verdict: invalid('unsupported_media_type', 415),
    send: (operation, stage) =>
      stage.send(operation.method, pathOf(operation, stage), { text: '{}', headers: { 'Content-Type': 'text/yaml' } }),
  },
  request_too_large: {
    verdict: invalid('request_too_large', 413),
    send: (operation, stage) => {
      const lines = ['Host: localhost', 'Content-Type: application/json', 'Content-Length: 16777216'];
      return stage.raw([`${operation.method} ${pathOf(operation, stage)} HTTP/1.1`, ...lines, '', ''].join('\r\n'));
    },
  },
  csrf_failed: {
    verdict: (operation) => [403, 'permission_error', 'csrf_failed', hasOrigins(operation) ? null : 'Service-CSRF'],
    send: (operation, stage) => {
      const path = pathOf(operation, stage);
      if (hasOrigins(operation)) {
        const text = isMcp(operation) && operation.takesBody ? { text: bodyOf(operation) } : {};
        const headers = { Origin: 'https://evil.example' };
        return stage.send(operation.method, path, { ...callerOf(operation, stage), ...text, headers });
      }
      return stage.send(operation.method, path, { headers: { Cookie: stage.people.owner.cookie } });
    },
  },
  session_expired: {
    verdict: () => [401, 'authentication_error', 'session_expired', null],
    headers: { 'www-authenticate': 'Bearer realm="service"' },
    send: (operation, stage) =>
      stage.send(operation.method, pathOf(operation, stage), { headers: { Cookie: 'service_session=gone' } }),
  },
  idempotency_key_invalid: {
    verdict: invalid('idempotency_key_invalid', 400, 'Idempotency-Key'),
    send: (operation, stage) =>
      stage.send(operation.method, pathOf(operation, stage), {
        ...callerOf(operation, stage),
        text: bodyOf(operation),
        headers: { 'Idempotency-Key': '' },
      }),
  },
  idempotency_conflict: {
    verdict: invalid('idempotency_conflict', 422, 'Idempotency-Key'),
    // Bodies compare byte for byte, but those of actions by what they say.
    send: (operation, stage) =>
      repeated(operation, stage, {
        text: OTHER_CALLS[operation.name] ?? `${bodyOf(operation)} `,
      }),
  },
  idempotency_key_in_use: {
    verdict: invalid('idempotency_key_in_use', 409, 'Idempotency-Key'),
    headers: { 'retry-after': '1' },
    send: (operation, stage) =>
      repeated(operation, stage, {
        text: bodyOf(operation),
        // As another process of the service would have it that has not finished yet.
        before: () => stage.database.query(STILL_RUNNING),
      }),
  },
};

const OTHER_CALL = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'other' } });

/** Another call than that of the example. */
const OTHER_CALLS: Readonly<Record<string, string>> = {
  'POST /v1/actions': '{"tool":"lab.read"}',
  'POST /mcp': OTHER_CALL,
  'POST /mcp/{name}': OTHER_CALL,
};

/** What is wrong within a message is an error of the protocol; what is wrong around it is one of the service. */
const isMcp = ({ template }: DescribedOperation): boolean => template.startsWith('/mcp');

/** No cookie lets anybody in there, so what is judged is the page that a request comes from. */
const hasOrigins = (operation: DescribedOperation): boolean => operation.auth === 'public' || isMcp(operation);

const SESSION = 'Service-Session';
const OF_TWO_SESSIONS: Sent = {
  json: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'read', _meta: { 'service/session': 'one' } } },
  headers: { [SESSION]: 'other' },
};

const STILL_RUNNING = `
  update idempotency.request set answer_status = null, answer_headers = null, answer_body = null
   where expires_at_ms = (select max(expires_at_ms) from idempotency.request)`;

/** What no operation takes: an unknown field or parameter, or where unknown parameters are ignored a limit of 0. */
const faultOf = ({ takesBody, parameters }: DescribedOperation): string =>
  !takesBody && parameters.includes('Limit') ? 'limit' : 'colour';
