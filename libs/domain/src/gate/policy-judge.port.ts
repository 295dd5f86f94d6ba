import type { JsonObject } from '#libs/crypto';
import type { RequestFacts } from '../connectors/index.js';
import type { OrgId, Timestamp } from '../kernel/index.js';
import type { ActivePolicy } from '../people/index.js';
import type { ActionMode, Decision, SideEffect } from './action.events.js';

/**
 * Everything a policy may judge. Written down whole as one payload document before the decision, so that dry runs and
 * replays judge what was judged (architecture, step 1).
 */
export interface PolicyInput {
  readonly tool: string;
  readonly args: JsonObject;
  readonly agent: { readonly id: string; readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly user: { readonly ref: string | null };
  readonly session: { readonly ref: string | null };
  readonly intent: { readonly signed: boolean };
  readonly mode: ActionMode;
  readonly side_effect: SideEffect;
  readonly now: Timestamp;
  readonly request: RequestFacts;
}

/** Asks the enforced policy. Answers for every failure of its own with `policy_unavailable`; never throws for them. */
export abstract class PolicyJudge {
  abstract judge(org: OrgId, enforced: ActivePolicy | null, input: PolicyInput): Promise<Decision>;
}
