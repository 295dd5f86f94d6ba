import type { ActionEvent } from '#libs/domain/gate';
import type { OrgId } from '#libs/domain/kernel';
import type { LedgerEvent } from '#libs/domain/ledger';
import { finished, sealed, started, testId, witnessed } from '../support/given-log.js';

const AGENTS = 20;
const TOOLS = 50;
/** Of so many actions one was refused upstream, and one is still under way. */
const FAILED_EVERY = 25;
const UNFINISHED_EVERY = 100;

/** All that action `number` did, as its own stream tells it. */
export const actionEvents = (number: number, org: OrgId): readonly ActionEvent[] => {
  const events = started(number, {
    org,
    agent: testId('agt', 1 + (number % AGENTS)),
    tool: `crm.tool_${number % TOOLS}`,
    on_behalf_of: number % 3 === 0 ? `customer-${number % 1_000}` : null,
  });
  if (number % UNFINISHED_EVERY === 0) return events;
  const isFailed = number % FAILED_EVERY === 1;
  const failure = { status: 'failed', error_code: 'upstream_error', error_message: 'It said no.' } as const;
  return [...events, finished(number, isFailed ? failure : {}), witnessed(number)];
};

/** Its deed; null while it is under way. */
export const deedEvent = (number: number, org: OrgId, seq = number): LedgerEvent | null =>
  number % UNFINISHED_EVERY === 0 ? null : sealed(seq, { org, action: testId('act', number) });
