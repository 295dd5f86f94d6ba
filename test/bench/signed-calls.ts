import { createSignedIntent, digestOfJson, SigningKey } from '#libs/crypto';
import type { BenchService } from './bench-service.js';
import { BENCH_ARGS, BENCH_TOOL, benchAgent, callsInTurns, change } from './calls-in-turns.js';
import { against, print, say } from './figure.js';

/**
 * What a signed intent costs a call: submit to sealed of an agent that must sign, in units of the same of one that need
 * not. The signature is made before the clock starts.
 */
export const signedCalls = async (service: BenchService, seconds: number): Promise<void> => {
  const agent = await benchAgent(service);
  const key = SigningKey.generate();
  await change(service, 'POST', `/v1/agents/${agent}/intent-keys`, { public_key: key.publicKey.text });
  const mode = (intent_mode: string) => change(service, 'PATCH', `/v1/agents/${agent}`, { intent_mode });
  const headers = () => {
    const iat = Date.now();
    const args_digest = digestOfJson(BENCH_ARGS);
    const claims = { org: service.org, agent, tool: BENCH_TOOL, args_digest, iat, exp: iat + 60_000 };
    return { 'Service-Intent': createSignedIntent(claims, key).header };
  };
  say(`unsigned and signed calls in turns, for ${seconds} s each ...`);
  const turns = { turnOff: () => mode('off'), turnOn: () => mode('required'), headers };
  const { off, on } = await callsInTurns(service, seconds, turns);
  print(against('signed_call_p50', [on, off], 'ms'), service.profile);
};
