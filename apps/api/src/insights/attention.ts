import type { JsonObject } from '#libs/crypto';
import { budgetIdOf, budgetOwnerOf, CALLS } from '#libs/domain/gate';
import { timestampOf } from '#libs/domain/kernel';
import type { LivingOrganization } from '#libs/domain/people';
import type { BrokenLedger, LedgerCheck, UnintroducedWitness, WitnessLag } from '#libs/domain/ledger';
import type { ActionRow, ApprovalRow } from '#libs/infra/read-models';
import type { BlindConnector, DisabledConnector, FailingConnector, HeldConnector } from './connectors-in-need.js';
import type { CopiedPasskey } from './copied-passkeys.js';
import type { BudgetUse } from './near-budgets.js';

/** So many things at most that a person must look at (rule INSIGHT-1). */
export const ATTENTION_MAX = 8;
/** An approval that ends within it is pressing. */
export const EXPIRING_MS = 30 * 60_000;

/** What may need a person, each in the order in which it is shown. */
export interface AttentionSources {
  readonly organization: LivingOrganization;
  readonly ledger: Pick<LedgerCheck, 'result' | 'reason' | 'first_bad_seq'>;
  /** Where the ledger does not continue what was signed. */
  readonly broken: BrokenLedger | null;
  /** Connectors whose change log is not read as it should be, those of which some is lost first. */
  readonly blind: readonly BlindConnector[];
  /** With the verdict MISMATCH, newest first. */
  readonly mismatches: readonly Pick<ActionRow, 'id' | 'tool' | 'createdAt' | 'folded'>[];
  /** Pending ones that end soon, soonest first. */
  readonly expiring: readonly Pick<ApprovalRow, 'id' | 'action' | 'tool' | 'expiresAt'>[];
  /** Passkeys whose sign counter fell lately, the last one first. */
  readonly copied: readonly CopiedPasskey[];
  /** Nearly used up, the fullest first. */
  readonly budgets: readonly BudgetUse[];
  /** Connectors that the service disabled for what it saw, the last one first. */
  readonly disabled: readonly DisabledConnector[];
  /** Connectors that fail their test, the last one tested first. */
  readonly failing: readonly FailingConnector[];
  /** Connectors with tools that wait for an admin, the one with the most of them first. */
  readonly held: readonly HeldConnector[];
  /** Witnesses of the ledger that do not know it, in the order of the policy. */
  readonly unintroduced: readonly UnintroducedWitness[];
  /** Deeds that have waited for the quorum of witnesses for too long. */
  readonly unwitnessed: WitnessLag | null;
}

/**
 * What must be looked at, the most pressing kind first. Kinds and data, so that whoever shows them finds the words; of
 * a mismatch alone the witness' own sentence (rule INSIGHT-1).
 */
export const attentionOf = (sources: AttentionSources): JsonObject[] =>
  [
    ...brokenChain(sources),
    ...inconsistentLedger(sources),
    ...stoppedOrganization(sources),
    ...sources.blind.map(unreadLog),
    ...sources.mismatches.map(({ id, tool, createdAt, folded }) => ({
      kind: 'mismatch',
      ids: [id],
      tool,
      created_at: createdAt,
      summary: folded.witness?.summary ?? null,
    })),
    ...sources.expiring.map(({ id, action, tool, expiresAt }) => ({
      kind: 'approval_expiring',
      ids: [id, action],
      tool,
      expires_at: expiresAt,
    })),
    ...sources.copied.map(({ passkey, user, fellAt }) => ({
      kind: 'passkey_counter_fell',
      ids: [passkey, user],
      fell_at: fellAt,
    })),
    ...sources.budgets.map(nearBudget),
    // After the kinds above, which keep their order: the first is the most pressing (rule INSIGHT-1).
    ...sources.disabled.map(({ id, name, reason, since }) => ({
      kind: 'connector_disabled',
      ids: [id],
      connector: name,
      reason,
      since,
    })),
    ...sources.failing.map(({ id, name, testedAt }) => ({
      kind: 'connector_failing',
      ids: [id],
      connector: name,
      tested_at: testedAt,
    })),
    ...sources.held.map(({ id, name, tools }) => ({ kind: 'tools_held', ids: [id], connector: name, tools })),
    ...sources.unintroduced.map(({ name, verifierKeys }) => ({
      kind: 'witness_unknown_log',
      ids: [sources.organization.org],
      witness: name,
      verifier_keys: [...verifierKeys],
    })),
    ...unwitnessedDeeds(sources),
  ].slice(0, ATTENTION_MAX);

/** A check that came to no end proves nothing, and is no finding. */
const brokenChain = ({ ledger, organization }: AttentionSources): JsonObject[] =>
  ledger.result === 'broken'
    ? [{ kind: 'chain_broken', ids: [organization.org], reason: ledger.reason, first_bad_seq: ledger.first_bad_seq }]
    : [];

const inconsistentLedger = ({ broken }: AttentionSources): JsonObject[] =>
  broken === null
    ? []
    : [
        {
          kind: 'ledger_inconsistent',
          ids: [broken.org],
          reason: broken.reason,
          size: broken.size,
          signed_size: broken.signedSize,
          since: broken.since,
        },
      ];

const unwitnessedDeeds = ({ unwitnessed, organization }: AttentionSources): JsonObject[] =>
  unwitnessed === null
    ? []
    : [
        {
          kind: 'ledger_unwitnessed',
          ids: [organization.org],
          size: unwitnessed.sealed,
          signed_size: unwitnessed.size,
          since: unwitnessed.since,
        },
      ];

const stoppedOrganization = ({ organization }: AttentionSources): JsonObject[] =>
  organization.status === 'stopped'
    ? [
        {
          kind: 'org_stopped',
          ids: [organization.org],
          stopped_at: organization.stop?.at ?? null,
          stopped_by: organization.stop?.by ? { type: organization.stop.by.type, id: organization.stop.by.id } : null,
        },
      ]
    : [];

/** Of a decoder that is down nobody knows how far its slot is behind: it lags all the same. */
const unreadLog = ({ id, name, status, reason, lagBytes, since }: BlindConnector): JsonObject => ({
  kind: status === 'invalidated' ? 'slot_invalidated' : 'slot_lagging',
  ids: [id],
  connector: name,
  reason,
  lag_bytes: lagBytes,
  since,
});

const nearBudget = ({ charge: { budget, unit, limit, period }, used }: BudgetUse): JsonObject => ({
  kind: 'budget_near',
  ids: [budgetOwnerOf(budget)],
  budget: budgetIdOf(budget),
  currency: unit === CALLS ? null : unit,
  used,
  limit,
  resets_at: timestampOf(period.endsMs),
});
