import { actionDecider, type Action, type ActionEvent, type LivingAction } from '#libs/domain/gate';
import {
  categoryOf,
  idInStream,
  type DeedId,
  type EventEnvelope,
  type Timestamp,
  type EventTypes,
} from '#libs/domain/kernel';
import type { LedgerEvent } from '#libs/domain/ledger';
import { ActionRow, ApprovalRow, HourlyCountRow, HourlyTotalRow } from '#libs/infra/read-models';
import { approvalRowsOf } from '../approvals/approval-rows.js';
import { countedAs, moveCounts } from '../insights/hourly-counts.js';
import { keysToLoad, UnreadableEvent, type Projection } from '../projection.js';

const ACTION_EVENTS: EventTypes<ActionEvent> = {
  ActionSubmitted: true,
  ActionDecided: true,
  ApprovalRequested: true,
  ApprovalCountersigned: true,
  ApprovalDecided: true,
  ApprovalExpired: true,
  ActionCancelled: true,
  EdgeAuthorized: true,
  EdgeReported: true,
  EdgeLost: true,
  ExecutionReady: true,
  ExecutionStarted: true,
  ExecutionProgress: true,
  WitnessReported: true,
  ExecutionFinished: true,
  ActionWitnessed: true,
  WitnessAmended: true,
  LateReport: true,
  SubmissionAbandoned: true,
};
const LEDGER_EVENTS: EventTypes<LedgerEvent> = { DeedSealed: true };

interface ListedAction {
  readonly action: Action;
  readonly seal: { readonly deed: DeedId; readonly at: Timestamp } | null;
}

const UNKNOWN_ACTION: ListedAction = { action: actionDecider.initialState(), seal: null };

/**
 * Rows of GET /v1/actions, from the action's own stream and its deed in the ledger. An action with an approval also has
 * a row of GET /v1/approvals. Each action is counted in the hour of its submission.
 */
export const actionsProjection: Projection = {
  name: 'actions',
  version: 10,
  follows: { action: ACTION_EVENTS, ledger: LEDGER_EVENTS },
  rowTypes: [ActionRow, ApprovalRow, HourlyCountRow, HourlyTotalRow],

  async project(events, rows) {
    const loaded = await rows.select(ActionRow, keysToLoad(events, actionOf, beginsAction));
    const before = new Map(loaded.map((row) => [row.id as string, listedAction(row)]));
    const folded = new Map(before);
    for (const envelope of events) {
      const id = actionOf(envelope);
      if (id !== null) folded.set(id, evolve(folded.get(id) ?? UNKNOWN_ACTION, envelope));
    }
    const actions = new Map(
      [...folded].map(([id, listed]) => [id, { ...listed, action: withoutCommitments(listed.action) }]),
    );
    await rows.upsert(ActionRow, [...actions.values()].flatMap(actionRows));
    await rows.upsert(
      ApprovalRow,
      [...actions.values()].flatMap(({ action, seal }) => approvalRowsOf(action, seal?.deed ?? null)),
    );
    await moveCounts(
      rows,
      [...actions].map(([id, after]) => ({ before: counted(before.get(id)), after: counted(after) })),
    );
  },
};

const isOfLedger = ({ recorded }: EventEnvelope): boolean => categoryOf(recorded.stream) === 'ledger';

/**
 * The action that an event is about. Null for the deed of an amendment, because the action's stream has the amendment
 * already, and for admin deeds.
 */
const actionOf = (envelope: EventEnvelope): string | null => {
  if (!isOfLedger(envelope)) return idInStream(envelope.recorded.stream);
  const { kind, action } = (envelope.event as LedgerEvent).data;
  return kind === 'action' ? action : null;
};

const beginsAction = (envelope: EventEnvelope): boolean => !isOfLedger(envelope) && envelope.recorded.revision === 0;

const evolve = (listed: ListedAction, envelope: EventEnvelope): ListedAction => {
  if (!isOfLedger(envelope)) {
    return { ...listed, action: actionDecider.evolve(listed.action, envelope.event as ActionEvent) };
  }
  const { action, deed, issued_at: at } = (envelope.event as LedgerEvent).data;
  if (listed.action.state === 'none' || listed.action.state === 'abandoned') {
    throw new UnreadableEvent(envelope.recorded, 'corrupt', new Error(`${action} has a deed but no events before it`));
  }
  return { ...listed, seal: { deed, at } };
};

const listedAction = ({ folded, deed, sealedAt }: ActionRow): ListedAction => ({
  action: folded,
  seal: deed !== null && sealedAt !== null ? { deed, at: sealedAt } : null,
});

const counted = (listed = UNKNOWN_ACTION) => {
  const { action, seal } = listed;
  return action.state === 'none' || action.state === 'abandoned' ? null : countedAs(action, seal !== null);
};

/**
 * No deed is made from rows, so what deeds commit to is left out of them: of all of them, for the next batch goes on from
 * the row of the action.
 */
const withoutCommitments = (action: Action): Action =>
  action.state === 'none' || action.state === 'abandoned' ? action : uncommitted(action);

const uncommitted = ({ commitments: _, ...folded }: LivingAction): LivingAction => folded;

const actionRows = ({ action, seal }: ListedAction): readonly ActionRow[] => {
  // An abandoned id never became an action.
  if (action.state === 'none' || action.state === 'abandoned') return [];
  const { submission } = action;
  return [
    {
      id: submission.action,
      org: submission.org,
      agent: submission.agent,
      key: submission.key,
      tool: submission.tool,
      onBehalfOf: submission.on_behalf_of,
      session: submission.session,
      createdAt: action.createdAt,
      ...judgement(action),
      state: seal ? 'sealed' : action.state,
      deed: seal?.deed ?? null,
      sealedAt: seal?.at ?? null,
      folded: action,
    },
  ];
};

type Judged = 'decision' | 'ruleId' | 'shadowDiffers' | 'execution' | 'verdict' | 'level' | 'errorCode';

const judgement = ({ decision, shadow, outcome, witness }: LivingAction): Pick<ActionRow, Judged> => ({
  decision: decision?.outcome ?? null,
  ruleId: decision?.rule_id ?? null,
  shadowDiffers: shadow?.differs ?? false,
  execution: outcome?.status ?? null,
  verdict: witness?.verdict ?? null,
  level: witness?.level ?? null,
  errorCode: outcome?.error_code ?? decision?.code ?? null,
});
