import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createSignedIntent, digestOfJson, SigningKey } from '#libs/crypto';
import { StagePeople } from '../http/error-codes/stage-people.js';
import { headersOf, type Sent } from '../http/error-codes/sent.js';
import { connectCrm } from '../support/crm.js';
import { runAgs } from '../support/run-ags.js';
import { objectsIn, runInProcess } from '../support/run-program.js';
import { type Answer, type RunningService, startService } from '../support/service.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

const POLICY = `version: 1
default: deny
rules:
  - id: reads
    match:
      tools:
        - crm.get_customer
    decision: allow
  - id: notes-are-asked
    description: What stands in the CRM is read by customers
    match:
      tools:
        - crm.add_note
    decision: require_approval
`;
const PATIENCE = { timeout: 60_000, interval: 100 };

let service: RunningService;
let upstream: Upstream;
let people: StagePeople;
let folder: string;
let bundle: string;
let trust: readonly string[];

const send = (method: string, path: string, { json, headers = {}, as }: Sent = {}): Promise<Answer> =>
  service.call(method, path, {
    ...(json === undefined ? {} : { body: json }),
    headers: { ...headers, ...(as === undefined ? {} : headersOf(method, as)) },
  });

const sealed = async (action: string): Promise<void> => {
  await vi.waitFor(async () => {
    const { json } = await service.call('GET', `/v1/actions/${action}?wait=5`, { key: service.agentKey });
    expect(json['state']).toBe('sealed');
  }, PATIENCE);
};

const noted = async (text: string, answer: 'approve' | 'deny', reason: string): Promise<string> => {
  const body = { tool: 'crm.add_note', args: { id: '42', text }, wait: 0 };
  const { json } = await service.call('POST', '/v1/actions', {
    ...{ key: service.agentKey, body, headers: { 'Service-On-Behalf-Of': 'customer:4711' } },
  });
  expect(json).toMatchObject({ status: 'pending_approval' });
  const path = `/v1/approvals/${String(json['id']).replace('act_', 'apr_')}`;
  const { context_digest } = (await send('GET', path, { as: people.owner })).json;
  const said = answer === 'approve' ? { context_digest, reason } : { reason };
  const told = await send('POST', `${path}/${answer}`, { as: people.owner, json: said });
  expect(told.json).toMatchObject({ status: answer === 'approve' ? 'approved' : 'denied' });
  await sealed(String(json['id']));
  return String(json['id']);
};

const exported = async (name: string, query: string): Promise<string> => {
  const answer = await fetch(`${service.baseUrl}/v1/deeds/export${query}`, {
    headers: { Authorization: `Bearer ${service.adminKey}` },
  });
  expect(answer.status).toBe(200);
  const path = join(folder, name);
  await writeFile(path, Buffer.from(await answer.arrayBuffer()));
  return path;
};

const ags = (...args: readonly string[]) => runInProcess([...args, ...trust]);
const words = (text: string): string => text.replace(/\s+/g, ' ');

let approved: string;
let denied: string;
let read: string;
let refused: string;
let signed: string;

/** A call that the runtime of the agent signed with a key of its own. */
const calledSigned = async (): Promise<string> => {
  const key = SigningKey.generate();
  const { agent } = service;
  const asAdmin = { key: service.adminKey };
  const body = { public_key: key.publicKey.text };
  await service.call('POST', `/v1/agents/${agent}/intent-keys`, { ...asAdmin, body });
  await service.call('PATCH', `/v1/agents/${agent}`, { ...asAdmin, body: { intent_mode: 'optional' } });
  const [tool, args, iat] = ['crm.get_customer', { id: '42' }, Date.now()];
  const { header } = createSignedIntent(
    { org: service.org, agent, tool, args_digest: digestOfJson(args), iat, exp: iat + 60_000 },
    key,
  );
  const { json } = await service.call('POST', '/v1/actions', {
    ...{ key: service.agentKey, body: { tool, args }, headers: { 'Service-Intent': header } },
  });
  expect(json).toMatchObject({ status: 'executed' });
  return String(json['id']);
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'auditor-'));
  upstream = await startUpstream();
  service = await startService({ env: { LOG_LEVEL: 'info' } });
  people = new StagePeople({ send, printed: () => service.output, ownerToken: () => service.signInToken });
  await people.signOwnerIn();
  await connectCrm(service, upstream.baseUrl);
  const key = service.adminKey;
  const made = await service.call('POST', '/v1/policies', { key, body: { name: 'CRM', source: POLICY } });
  await service.call('POST', `/v1/policies/${String(made.json['id'])}/versions/1/activate`, {
    ...{ key, body: { mode: 'enforce' } },
  });
  approved = await noted('refund of order 4711 agreed', 'approve', 'Agreed on the phone');
  denied = await noted('insult', 'deny', 'Not in this tone');
  const asked = await service.call('POST', '/v1/actions', {
    ...{ key: service.agentKey, body: { tool: 'crm.get_customer', args: { id: '42' } } },
  });
  read = String(asked.json['id']);
  const no = await service.call('POST', '/v1/actions', {
    ...{ key: service.agentKey, body: { tool: 'crm.unknown_tool', args: {} } },
  });
  refused = String((no.error['action'] as { id: string }).id);
  signed = await calledSigned();
  await sealed(read);
  await sealed(signed);
  bundle = await exported('with-evidence.tar.gz', '?evidence=true');
  const keys = await runAgs(['seal-keys', 'list', '--json'], { env: service.environment });
  trust = ['--org', service.org, ...keys.objects.flatMap(({ fingerprint }) => ['--pin', String(fingerprint)])];
  // Nothing below asks the service.
  await service.stop();
}, 120_000);
afterAll(async () => {
  await service?.stop();
  await upstream?.close();
  await rm(folder, { recursive: true, force: true });
});

describe('an auditor with a bundle, and no service', () => {
  it('has it verified, with the checkpoint that covers it', async () => {
    const { code, stdout } = await ags('verify', bundle, '--json');
    expect([code, objectsIn(stdout)[0]]).toMatchObject([
      0,
      {
        result: 'intact',
        checkpoint: { signed: false },
        evidence: { removed: 0, missing: 0 },
        intents: { signed: 1, unchecked: 0 },
      },
    ]);
  });

  it('finds the action by a word that was in its arguments', async () => {
    const { stdout } = await ags('bundle', 'find', bundle, '--text', 'ORDER 4711', '--json');
    expect(objectsIn(stdout).map(({ action }) => action)).toEqual([approved]);
  });

  it('reads who allowed it, what that person saw and said, what was sent, what came back, by which rule', async () => {
    const { code, stdout } = await ags('bundle', 'show', bundle, approved);
    expect(code).toBe(0);
    const said = words(stdout);
    for (const part of [
      'crm.add_note: it was done',
      'on behalf of customer:4711',
      'text: "refund of order 4711 agreed"',
      'outcome require_approval',
      '- id: notes-are-asked',
      'description: What stands in the CRM is read by customers',
      'policy CRM (pol_',
      'version 1, pv_',
      'Who allowed it: approved, 1 of 1 signed',
      'reason: Agreed on the phone',
      'what this person saw:',
      'what the policy was told of the request:',
      'method: "POST"',
      'what came back:',
      'What the witness says',
    ]) {
      expect(said).toContain(part);
    }
    expect(said).not.toContain('not in this bundle');
    expect(said).not.toContain('as it stood (the word of the service');
    expect(said).toContain('no: that this person signed is the word of the service');
  });

  it('reads why another one was not done, and what was refused', async () => {
    const no = words((await ags('bundle', 'show', bundle, denied)).stdout);
    expect(no).toContain('crm.add_note: not done, its approval was denied');
    expect(no).toContain('reason: Not in this tone');
    expect(no).toContain('none: nothing was sent');
    expect(words((await ags('bundle', 'show', bundle, refused)).stdout)).toContain('crm.unknown_tool: refused');
    expect(words((await ags('bundle', 'show', bundle, read)).stdout)).toContain('crm.get_customer: it was done');
  });

  it('reads which call a key of the agent signed', async () => {
    const said = words((await ags('bundle', 'show', bundle, signed)).stdout);
    expect(said).toContain(
      'signed by the agent yes: by a key that the agent had then, over this tool and these arguments',
    );
    expect(words((await ags('bundle', 'show', bundle, read)).stdout)).toContain('none: who sent the call is the word');
  });

  it('reads that the evidence itself was exported, and by whom', async () => {
    const { stdout } = await ags('bundle', 'list', bundle, '--json');
    const deeds = objectsIn(stdout);
    expect(deeds.map(({ what }) => what)).toEqual(expect.arrayContaining(['org.created', 'policy.version_added']));
    const version = deeds.find(({ what }) => what === 'policy.version_added');
    expect(words((await ags('bundle', 'show', bundle, String(version?.['deed']))).stdout)).toContain('source_hash');
  });
});
