import { createSignedIntent, digestOfJson, SigningKey } from '#libs/crypto';
import type { BenchService } from './bench-service.js';
import { against, print, say } from './figure.js';
import { LeanClient, leanRequest } from './lean-client.js';
import { quantile } from './pace.js';

const GOAL = 1.5;
/** Unsigned calls for so long, then signed ones, and again: what drifts in a machine is in both. */
const ROUND_SECONDS = 2;
/** What the compiler needs to have seen most of the code of a signature often enough. */
const WARM_UP_SECONDS = 20;
const TOOL = 'crm.add_note';
const ARGS = { id: '42', text: 'bench' };

/**
 * What a signed intent costs a call: submit to sealed of an agent that must sign, in units of the same of one that need
 * not, in turns. One caller sends its next call when the last has ended, so that no call waits for another; the
 * signature is made before the clock starts.
 *
 * @param service with the connector of bench-crm.ts, and its upstream there
 */
export const signedCalls = async (service: BenchService, seconds: number): Promise<void> => {
  const agent = await agentOf(service);
  const key = SigningKey.generate();
  await change(service, 'POST', `/v1/agents/${agent}/intent-keys`, { public_key: key.publicKey.text });
  const client = await LeanClient.connect(new URL(service.baseUrl));
  const body = JSON.stringify({ tool: TOOL, args: ARGS });
  const send = async (tookMs: number[], headers: Record<string, string>): Promise<void> => {
    const request = leanRequest(
      'POST',
      '/v1/actions',
      { Authorization: `Bearer ${service.agentKey}`, ...headers },
      body,
    );
    const begun = performance.now();
    const answer = await client.send(request);
    tookMs.push(performance.now() - begun);
    if (!answer.body.includes('"state":"sealed"')) throw new Error(`an action did not end sealed: ${answer.body}`);
  };
  const header = (): string => {
    const iat = Date.now();
    const claims = { org: service.org, agent, tool: TOOL, args_digest: digestOfJson(ARGS), iat, exp: iat + 60_000 };
    return createSignedIntent(claims, key).header;
  };
  const [unsigned, signed]: [number[], number[]] = [[], []];
  const round = async (length: number): Promise<void> => {
    await change(service, 'PATCH', `/v1/agents/${agent}`, { intent_mode: 'off' });
    await during(length, () => send(unsigned, {}));
    await change(service, 'PATCH', `/v1/agents/${agent}`, { intent_mode: 'required' });
    await during(length, () => send(signed, { 'Service-Intent': header() }));
  };
  say(`unsigned and signed calls in turns, for ${seconds} s each ...`);
  await round(WARM_UP_SECONDS);
  unsigned.length = 0;
  signed.length = 0;
  for (let left = seconds; left > 0; left -= ROUND_SECONDS) await round(Math.min(left, ROUND_SECONDS));
  await change(service, 'PATCH', `/v1/agents/${agent}`, { intent_mode: 'off' });
  client.close();
  const of = (share: number) => [quantile(signed, share), quantile(unsigned, share)] as const;
  print(against('signed_call_p50', of(0.5), 'ms', 'at most', GOAL), service.profile);
};

const during = async (seconds: number, work: () => Promise<void>): Promise<void> => {
  const end = performance.now() + seconds * 1_000;
  while (performance.now() < end) await work();
};

const agentOf = async (service: BenchService): Promise<string> => {
  const { json } = await service.call('GET', '/v1/agents', { key: service.adminKey });
  return (json['data'] as { id: string }[])[0]?.id ?? '';
};

const change = async (service: BenchService, method: string, path: string, body: object): Promise<void> => {
  const answer = await service.call(method, path, { key: service.adminKey, body });
  if (answer.status >= 300) throw new Error(answer.text);
};
