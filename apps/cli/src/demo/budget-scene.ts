import { member, type Answer } from './scratch-service.js';
import { act, EXPORTS_A_DAY, type Stage } from './stage.js';

/** More than there is room for. */
const CALLS_AT_ONCE = 5;

export const usedUp = async (stage: Stage): Promise<void> => {
  const { story, records } = stage;
  story.scene(`A budget of ${EXPORTS_A_DAY} exports a day, and ${CALLS_AT_ONCE} at the same moment`);
  const before = records.arrivals.length;
  story.tell(`crm.export_customer {"id":"42"}, ${CALLS_AT_ONCE} times at once`);
  const calls = Array.from({ length: CALLS_AT_ONCE }, () => act(stage, 'crm.export_customer', { id: '42' }));
  const answers = await Promise.all(calls);
  const [ran, refused] = [answers.filter(({ status }) => status === 200), answers.filter(isBeyondBudget)];
  story.tell(`→ ${answers.map(({ status }) => status).join(', ')}`);
  const [first] = refused;
  if (first) story.tell(`→ ${first.status} budget_exceeded: ${String(member(first.json, 'error', 'message'))}`);
  story.claim(
    `${EXPORTS_A_DAY} run, and the records were asked as often`,
    ran.length === EXPORTS_A_DAY && records.arrivals.length === before + EXPORTS_A_DAY,
  );
  story.claim(
    'the others are refused, sealed, and told when to come back',
    refused.length === CALLS_AT_ONCE - EXPORTS_A_DAY && refused.every(isSealedAndSaysWhen),
  );
};

const isBeyondBudget = ({ status, json }: Answer): boolean =>
  status === 429 && member(json, 'error', 'code') === 'budget_exceeded';

const isSealedAndSaysWhen = ({ json, headers }: Answer): boolean =>
  member(json, 'error', 'action', 'state') === 'sealed' && Number(headers.get('retry-after')) > 0;
