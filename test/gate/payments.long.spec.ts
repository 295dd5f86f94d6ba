import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { ActionExecutor, type LivingAction } from '#libs/domain/gate';
import { type ActionId, START } from '#libs/domain/kernel';
import { ManualStarter } from '../support/gate-bench.js';
import type { HeldPayloads } from '../support/held-payloads.js';
import { PaymentsWire, type Quirk, WIRE_KEY, WIRE_VERSION } from '../support/payments-wire.js';
import { FoldedOpenExecutions, isRecorded, RecoveryScene } from '../support/recovery-scene.js';
import { silentLogger } from '../support/silent-logger.js';

const POLICY = `version: 1
default: deny
rules:
  - id: pay
    match:
      tools:
        - pay.*
    decision: allow
`;

let scene: RecoveryScene;
let wire: PaymentsWire;

const set = async (): Promise<void> => {
  [scene, wire] = [await RecoveryScene.set(), await PaymentsWire.start()];
  const { bench } = scene;
  const config = { api_version: WIRE_VERSION, refund_limits: { eur: 10_000 }, base_url: wire.baseUrl };
  await bench.connect('payments', 'pay', config);
  bench.vault.token = WIRE_KEY;
  await bench.storeCredentialElsewhere('pay');
  await bench.enforce(POLICY);
};
const close = async (): Promise<void> => {
  await scene.close();
  await wire.close();
};

/** What the processor does with the write of a refund. */
const DEEDS = ['fine', 'drop', 'answer_lost', 'fault', 'fault_always', 'only_said', 'tampered'] as const;
type Deed = (typeof DEEDS)[number];
/** What becomes of the process that runs it: it goes before it sends, or it cannot record what came back. */
const CRASHES = ['none', 'lost', 'unrecorded'] as const;
interface Step {
  readonly deed: Deed;
  readonly crash: (typeof CRASHES)[number];
}

/** Each refund of a sequence has an amount of its own, by which the processor knows what to do with it. */
const amountOf = (index: number): number => 100 + index;

const quirkOf = (steps: readonly Step[]): Quirk => {
  const faults = new Set<string>();
  const deedOf = (amount: unknown): Deed => steps[Number(amount) - amountOf(0)]?.deed ?? 'fine';
  return ({ method, path, form, headers }, { refunds }) => {
    if (method === 'GET') {
      const read = refunds.find(({ id }) => path.endsWith(`/${id}`));
      if (read !== undefined && deedOf(read['amount']) === 'tampered') Object.assign(read, { amount: 1 });
      return null;
    }
    const [amount, key] = [form.get('amount'), String(headers['idempotency-key'])];
    const deed = deedOf(amount);
    if (deed === 'drop' || deed === 'answer_lost') return deed;
    if (deed === 'fault_always' || (deed === 'fault' && !faults.has(key))) {
      faults.add(key);
      return { status: 500, body: { error: { type: 'api_error' } } };
    }
    if (deed !== 'only_said') return null;
    const said = {
      object: 'refund',
      amount: Number(amount),
      currency: 'eur',
      status: 'succeeded',
      charge: form.get('charge'),
    };
    return { status: 200, body: { id: `re_said${String(amount)}`, ...said, metadata: { service_action_id: key } } };
  };
};

const refund = async ({ crash }: Step, args: { charge: string; amount: number }): Promise<ActionId> => {
  const { bench } = scene;
  const call = { tool: 'pay.create_refund', args };
  if (crash === 'lost') return (await bench.submit(call, bench.handler(new ManualStarter('exe_lost', null)))).action;
  if (crash === 'none') return (await bench.submit(call)).action;
  const { action } = await bench.submit(call, bench.handler(new ManualStarter(null, null)));
  await forgetful()
    .claimAndRun(action, null)
    .catch(() => undefined);
  return action;
};

/** A process that sends, cannot store what came back, and is gone then. Where there is nothing to store, it records. */
const forgetful = (): ActionExecutor => {
  const { gate, payloads, bus } = scene.bench;
  const put = (): Promise<never> => Promise.reject(new Error('this result cannot be stored'));
  return new ActionExecutor(
    gate,
    'exe_forgetful',
    Object.assign(Object.create(payloads) as HeldPayloads, { put }),
    bus,
    silentLogger,
  );
};

const rest = async (): Promise<void> => {
  const open = new FoldedOpenExecutions(scene.bench);
  const deadline = performance.now() + 60_000;
  while ((await open.list(START, 100)).length > 0) {
    if (performance.now() > deadline) throw new Error('refunds are open still');
    await scene.turn();
  }
};

const heldUnder = (action: ActionId) =>
  wire.refunds.filter(({ metadata }) => (metadata as Record<string, unknown>)['service_action_id'] === action);

afterEach(() => close());

describe('refunds, whatever the processor does and whoever is killed', () => {
  it('are VERIFIED to the cent that the processor holds under our ids, and never made twice', async () => {
    const step = fc.record({ deed: fc.constantFrom(...DEEDS), crash: fc.constantFrom(...CRASHES) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 8 }), async (steps) => {
        await set();
        wire.quirk = quirkOf(steps);
        const charge = wire.charge({ amount: 1_000_000 });
        const actions: ActionId[] = [];
        for (const [index, one] of steps.entries()) {
          actions.push(await refund(one, { charge, amount: amountOf(index) }));
        }
        await rest();
        let [verified, held] = [0, 0];
        for (const [index, id] of actions.entries()) {
          const { outcome, witness } = (await scene.bench.action(id, isRecorded)) as LivingAction;
          const made = heldUnder(id);
          const seen = { step: steps[index], status: outcome?.status, verdict: witness?.verdict, made: made.length };
          expect(made.length, JSON.stringify(seen)).toBeLessThanOrEqual(1);
          if (outcome?.status === 'failed') expect(seen).toMatchObject({ made: 0 });
          if (witness?.verdict !== 'VERIFIED') continue;
          expect(seen).toMatchObject({ made: 1 });
          verified += amountOf(index);
          held += Number(made[0]?.['amount']);
        }
        expect(verified).toBe(held);
      }),
      { numRuns: 8, endOnFailure: true, plugins: [fc.afterEach(() => close())] },
    );
    await set();
  });

  it.each<[Deed, string, string]>([
    ['fine', 'succeeded', 'VERIFIED'],
    ['fault', 'succeeded', 'VERIFIED'],
    ['answer_lost', 'unknown', 'VERIFIED'],
    ['drop', 'unknown', 'UNVERIFIABLE'],
    ['fault_always', 'unknown', 'UNVERIFIABLE'],
    ['only_said', 'succeeded', 'UNVERIFIABLE'],
    ['tampered', 'succeeded', 'MISMATCH'],
  ])('%s: %s, %s', async (deed, status, verdict) => {
    await set();
    const one = { deed, crash: 'none' } as const;
    wire.quirk = quirkOf([one]);
    const id = await refund(one, { charge: wire.charge(), amount: amountOf(0) });
    await rest();
    expect(await scene.bench.action(id, isRecorded)).toMatchObject({ outcome: { status }, witness: { verdict } });
  });
});
