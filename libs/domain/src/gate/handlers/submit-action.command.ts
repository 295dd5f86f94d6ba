import { Command } from '@nestjs/cqrs';
import type { ActionId, AgentId, CommandMetadata, OrgId, QuestionNumber } from '../../kernel/index.js';
import type { ActionRequest } from '../submission.js';

export interface SubmittedAction {
  readonly action: ActionId;
  /** The Idempotency-Key named an action that exists: nothing new ran. */
  readonly isReplay: boolean;
  /** It was refused by this very call, and may be sealed already. */
  readonly isRefused: boolean;
  /** The service runs it: by this very call it has begun, or is about to. */
  readonly isExecuting: boolean;
}

/**
 * What this process remembers does not decide the call. Judge the caller anew, and submit the call again with a
 * question to the store.
 */
export class MustAsk extends Error {
  override readonly name = 'MustAsk';
}

/** One tool call of an agent. Answers as soon as it is in the log; waiting for its end is the caller's business. */
export class SubmitAction extends Command<SubmittedAction> {
  constructor(
    readonly org: OrgId,
    readonly agent: AgentId,
    readonly request: ActionRequest,
    readonly metadata: CommandMetadata,
    /**
     * What the store was asked after this question need not be asked again. `remembered`: the store is not asked about
     * what this process remembers, the key and the Stop state included; the append requires all of it instead. Default:
     * everything is asked.
     */
    readonly since?: QuestionNumber | 'remembered',
  ) {
    super();
  }
}
