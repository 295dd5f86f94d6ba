import { CHARGE } from './payments-processor.js';
import { callLine, refusalLine } from './scenes.js';
import { member, type Answer } from './scratch-service.js';
import { act, REFUNDS_A_DAY, type Stage } from './stage.js';

const LIVE_KEY = `sk_live_${'a'.repeat(24)}`;
const [FIRST, LOST, BEYOND] = [2_000, 1_500, 1_000] as const;

const euros = (cents: number): string => `€${(cents / 100).toFixed(2)}`;

/** Money, in the sandbox of a processor: each refund once, confirmed, and bounded. */
export const refunds = async (stage: Stage): Promise<void> => {
  const { story } = stage;
  story.scene('Refunds, in the sandbox of a payments processor');
  story.tell('the policy lets refunds through, each up to €50.00, of a charge that nobody disputes');
  story.tell(`its budget bounds them: ${euros(REFUNDS_A_DAY)} a day, all together`);
  await refusedKey(stage);
  await confirmed(stage);
  await answerLost(stage);
  await beyondBudget(stage);
};

const confirmedLine = ({ status, json }: Answer): string => {
  const [execution, verdict, level] = [
    ['execution', 'status'],
    ['witness', 'verdict'],
    ['witness', 'level'],
  ].map((path) => String(member(json, ...path)));
  return `→ ${status} ${execution}, ${verdict} at ${level}`;
};

const refund = async (stage: Stage, amount: number): Promise<Answer> => {
  const args = { charge: CHARGE, amount, currency: 'eur' };
  stage.story.tell(callLine('pay.create_refund', args));
  const answer = await act(stage, 'pay.create_refund', args);
  stage.story.tell(answer.status === 200 ? confirmedLine(answer) : refusalLine(answer));
  return answer;
};

const refusedKey = async ({ story, service, adminKey: key }: Stage): Promise<void> => {
  story.tell('an admin offers a live key, by mistake');
  const body = { kind: 'bearer', secret: { token: LIVE_KEY } };
  const answer = await service.call('PUT', '/v1/connectors/pay/credentials', { key, body });
  story.tell(refusalLine(answer));
  story.claim(
    'it is refused before anything of it is stored: no setting lets the connector move real money',
    member(answer.json, 'error', 'code') === 'payments_live_key_refused',
  );
};

const confirmed = async (stage: Stage): Promise<void> => {
  const { story, processor } = stage;
  const { json } = await refund(stage, FIRST);
  story.claim(
    `the processor holds one refund of ${euros(FIRST)}, under the id of the action`,
    processor.refunds.length === 1 && processor.refunds[0]?.metadata['service_action_id'] === json['id'],
  );
  story.claim(
    'it was read back there, and not taken from the answer: VERIFIED at L1',
    member(json, 'witness', 'verdict') === 'VERIFIED' && member(json, 'witness', 'level') === 'L1',
  );
};

const answerLost = async (stage: Stage): Promise<void> => {
  const { story, processor } = stage;
  story.tell('the processor makes the next one, and its answer is lost on the way');
  processor.loseNextAnswer();
  const { json } = await refund(stage, LOST);
  const asked = processor.keys.filter((key) => key === json['id']).length;
  story.claim(
    'the same request is sent once more, under the same key, and what was made is confirmed: VERIFIED',
    asked === 2 && member(json, 'witness', 'verdict') === 'VERIFIED',
  );
  story.claim(
    `no money was given back twice: ${euros(FIRST + LOST)} in all`,
    processor.refunded === FIRST + LOST && processor.refunds.length === 2,
  );
};

const beyondBudget = async (stage: Stage): Promise<void> => {
  const { story, processor } = stage;
  const { json } = await refund(stage, BEYOND);
  story.claim(
    `a third one would pass the ${euros(REFUNDS_A_DAY)} of the day: refused and sealed, and nothing is sent`,
    member(json, 'error', 'code') === 'budget_exceeded' &&
      member(json, 'error', 'action', 'state') === 'sealed' &&
      processor.refunds.length === 2,
  );
};
