import { Command } from '@nestjs/cqrs';
import type { ActionId, AgentId, CommandMetadata, OrgId, QuestionNumber } from '../../kernel/index.js';
import type { ActionRequest } from '../judgement/index.js';

export interface SubmittedAction {
  readonly action: ActionId;
  /** The Idempotency-Key names an existing action, so nothing new was run. */
  readonly isReplay: boolean;
  /** This call was refused, and its deed may be sealed already. */
  readonly isRefused: boolean;
  /** This call was accepted, and the service has started to run it or is about to. */
  readonly isExecuting: boolean;
}

/**
 * The cached streams are not enough to decide the call. The caller must check the API key again and submit the call
 * again without `since: 'remembered'`, so that the store is asked.
 */
export class MustAsk extends Error {
  override readonly name = 'MustAsk';
}

/** One tool call of an agent. The answer comes as soon as the call is in the log; the caller waits for its end. */
export class SubmitAction extends Command<SubmittedAction> {
  constructor(
    readonly org: OrgId,
    readonly agent: AgentId,
    readonly request: ActionRequest,
    readonly metadata: CommandMetadata,
    /**
     * Lets the handler reuse what this process has read from the store since the question with this number.
     * `remembered`: cached streams are used without asking the store, also for the key and the Stop state, and the
     * append requires their revisions. Default: everything is read from the store.
     */
    readonly since?: QuestionNumber | 'remembered',
  ) {
    super();
  }
}
