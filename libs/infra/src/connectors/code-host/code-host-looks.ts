import type { JsonValue } from '#libs/crypto';
import { type CallOutcome, type ConnectorCall, failedOutcome } from '#libs/domain/connectors';
import {
  codeHostConfigOf,
  deletionFault,
  FILES_A_PAGE,
  filesLookOf,
  mergeFault,
  type Parameter,
  pullPath,
  refPath,
} from '#libs/domain/connectors/code-host';

import type { HttpCall } from '../http-caller.js';
import type { EndedCodeHostCall } from './code-host-line.js';

export type Reader = Pick<HttpCall, 'org' | 'connector' | 'deadlineMonotonicMs' | 'mayStillSend'>;
export type ReadBeside = (reader: Reader, path: string, query?: readonly Parameter[]) => Promise<EndedCodeHostCall>;

/**
 * Looks at what a call would change before it is sent, where the host itself compares less than the call says. What
 * happens between the two is not seen: the host has no way to ask for both at once.
 */
export class CodeHostLooks {
  constructor(private readonly read: ReadBeside) {}

  /** Why nothing of a call is sent; null where it may be. */
  async refusalOf(call: ConnectorCall): Promise<CallOutcome | null> {
    switch (call.toolName) {
      case 'delete_branch':
        return this.refusalOfDeletion(call);
      case 'merge_pull_request':
        return this.refusalOfMerge(call);
      default:
        return null;
    }
  }

  /** The host deletes a branch wherever it is. */
  private async refusalOfDeletion(call: ConnectorCall): Promise<CallOutcome | null> {
    const { outcome, body } = await this.read(readerOf(call), refPath(call.args, 'ref'));
    if (outcome.status !== 'succeeded') return outcomeOfUnread(outcome, UNREADABLE_BRANCH);
    const fault = deletionFault(call.args, body);
    return fault === null ? null : failedOutcome('upstream_error', fault);
  }

  /** The host compares the head alone, and merges into whatever base the pull request has by now. */
  private async refusalOfMerge(call: ConnectorCall): Promise<CallOutcome | null> {
    const { outcome, body: pull } = await this.read(readerOf(call), pullPath(call.args));
    if (outcome.status !== 'succeeded') return outcomeOfUnread(outcome, UNREADABLE_PULL);
    const fault = mergeFault(call.args, pull);
    if (fault !== null) return failedOutcome('validation_failed', fault);
    return codeHostConfigOf(call.connector.config).allow_workflows ? null : this.refusalOfFiles(call, pull);
  }

  private async refusalOfFiles(call: ConnectorCall, pull: JsonValue | undefined): Promise<CallOutcome | null> {
    const pages: (JsonValue | undefined)[] = [];
    for (;;) {
      const look = filesLookOf(pull, pages);
      if (look.kind === 'none') return null;
      if (look.kind === 'fault') return failedOutcome('validation_failed', look.message);
      if (look.kind === 'unreadable') return failedOutcome('connector_unavailable', UNREADABLE_PULL);
      const query: readonly Parameter[] = [
        ['per_page', String(FILES_A_PAGE)],
        ['page', String(pages.length + 1)],
      ];
      const { outcome, body } = await this.read(readerOf(call), `${pullPath(call.args)}/files`, query);
      if (outcome.status !== 'succeeded') return outcomeOfUnread(outcome, UNREADABLE_PULL);
      pages.push(body);
    }
  }
}

/** Nothing is written by it: it prepares the request that is. */
const readerOf = (call: ConnectorCall): Reader => ({ ...call, mayStillSend: () => call.mayStillSend(true) });

const UNREADABLE_BRANCH =
  'The branch could not be read at the code host, and nothing was deleted. Submit the call again later.';
const UNREADABLE_PULL =
  'The pull request and its files could not be read at the code host, and nothing was merged. Submit the call again later.';

/** What keeps a thing from being read keeps the call from being sent; what is wrong is said as it is. */
const outcomeOfUnread = ({ errorCode, errorMessage, status }: CallOutcome, unreadable: string): CallOutcome =>
  status === 'failed' && errorCode !== null && errorMessage !== null
    ? failedOutcome(errorCode, errorMessage)
    : failedOutcome('connector_unavailable', unreadable);
