import type { ErrorCode } from '#libs/domain/kernel';

/**
 * A second, independent model of an action (rules GATE-5 to GATE-7), which shares no code with the deciders that it
 * checks.
 */
export interface ActionModel {
  nowMs: number;
  phase: 'none' | 'abandoned' | 'pending' | 'ready' | 'running' | 'edge' | 'unread' | 'over';
  /** How the action ended, as the API shows it; null before the end. */
  ending: 'denied' | 'expired' | 'cancelled' | 'executed' | 'failed' | null;
  mode: 'gateway' | 'proxy';
  isRepeatable: boolean;
  isReadBack: boolean;
  required: number;
  signers: Set<string>;
  /** The deadline of what the action waits for: a decision, a claim, an outcome or a report. */
  untilMs: number;
  claims: string[];
  mayHaveRun: boolean;
  outcome: Outcome | null;
  verdict: Verdict | null;
  lateReports: number;
  /** The first late report that says more than `unknown`. */
  toldLate: Outcome | null;
  amendments: number;
  /** What the action is charged to budgets: calls, and money. */
  held: { calls: number; money: number };
}

export type Outcome = 'succeeded' | 'failed' | 'unknown';
export type Verdict = 'VERIFIED' | 'MISMATCH' | 'UNVERIFIABLE';

/** What a call of the model is charged by its decision. */
export const CHARGED = { calls: 1, money: 70 };

/** The result of a command: its error code, no events, or a change. */
export type Move = { refused: ErrorCode } | 'nothing' | 'moved';

/** The action's state in the API, by phase of the model. */
export const STATE_OF_PHASE = {
  pending: 'pending_approval',
  ready: 'executing',
  running: 'executing',
  edge: 'executing',
  unread: 'witnessing',
  over: 'recorded',
} as const;

export const PATIENCE_MS = { approval: 60_000, start: 20_000, call: 10_000, edge: 30_000 };

export const unbegunModel = (nowMs: number): ActionModel => ({
  nowMs,
  phase: 'none',
  ending: null,
  mode: 'gateway',
  isRepeatable: false,
  isReadBack: false,
  required: 0,
  signers: new Set(),
  untilMs: 0,
  claims: [],
  mayHaveRun: false,
  outcome: null,
  verdict: null,
  lateReports: 0,
  toldLate: null,
  amendments: 0,
  held: { calls: 0, money: 0 },
});

const refused = (code: ErrorCode): Move => ({ refused: code });
const isLate = ({ nowMs, untilMs }: ActionModel): boolean => nowMs >= untilMs;
const isUnknown = ({ phase }: ActionModel): boolean => phase === 'none' || phase === 'abandoned';

const end = (model: ActionModel, ending: NonNullable<ActionModel['ending']>): Move => {
  const hasBegun = model.phase === 'running' || model.phase === 'edge';
  Object.assign(model, { phase: 'over', ending });
  // A call that never ran gives back its whole charge; one that ran and was certainly not applied gives back the money.
  if (ending === 'failed' && hasBegun) model.held.money = 0;
  else if (ending !== 'executed') model.held = { calls: 0, money: 0 };
  return 'moved';
};

/** A failed call has no verdict. One with a read-back waits for the read. */
const finish = (model: ActionModel, outcome: Outcome): Move => {
  model.outcome = outcome;
  if (outcome === 'failed') return end(model, 'failed');
  if (model.phase !== 'running' || !model.isReadBack)
    return conclude(model, outcome === 'succeeded' ? 'VERIFIED' : 'UNVERIFIABLE');
  model.phase = 'unread';
  return 'moved';
};

const conclude = (model: ActionModel, verdict: Verdict): Move => {
  model.verdict = verdict;
  if (model.toldLate !== null) hear(model, model.toldLate);
  return end(model, 'executed');
};

/** A late report amends the verdict if the outcome is unknown and the verdict UNVERIFIABLE, whichever came first. */
const hear = (model: ActionModel, late: Outcome): void => {
  if (model.outcome !== 'unknown' || model.verdict !== 'UNVERIFIABLE') return;
  model.verdict = late === 'succeeded' ? 'VERIFIED' : 'UNVERIFIABLE';
  model.amendments += 1;
};

const run = (model: ActionModel): Move => {
  const phase = model.mode === 'proxy' ? 'edge' : 'ready';
  const patienceMs = phase === 'edge' ? PATIENCE_MS.edge : PATIENCE_MS.start;
  Object.assign(model, { phase, untilMs: model.nowMs + patienceMs });
  return 'moved';
};

export interface Submitted {
  readonly decision: 'allow' | 'deny' | 'require_approval';
  readonly mode: ActionModel['mode'];
  readonly isRepeatable: boolean;
  readonly isReadBack: boolean;
  readonly required: number;
}

export const submit = (model: ActionModel, { decision, ...said }: Submitted): Move => {
  if (model.phase !== 'none') return refused('conflict');
  Object.assign(model, said);
  if (decision === 'deny') return end(model, 'denied');
  model.held = { ...CHARGED };
  if (decision === 'allow') return run(model);
  Object.assign(model, { phase: 'pending', untilMs: model.nowMs + PATIENCE_MS.approval });
  return 'moved';
};

export const abandon = (model: ActionModel): Move => {
  if (model.phase !== 'none') return 'nothing';
  model.phase = 'abandoned';
  return 'moved';
};

/** @param wasAsked whether an approval was ever requested */
const notOpen = (model: ActionModel, wasAsked: boolean): ErrorCode | null => {
  if (isUnknown(model) || !wasAsked) return 'not_found';
  if (model.ending === 'expired') return 'approval_expired';
  if (model.phase !== 'pending') return 'approval_decided';
  return isLate(model) ? 'approval_expired' : null;
};

const wasAsked = ({ required }: ActionModel): boolean => required > 0;

export const countersign = (model: ActionModel, person: string): Move => {
  const code = notOpen(model, wasAsked(model));
  if (code !== null) return refused(code);
  if (model.signers.has(person)) return refused('already_countersigned');
  model.signers.add(person);
  return model.signers.size < model.required ? 'moved' : run(model);
};

export const deny = (model: ActionModel): Move => {
  const code = notOpen(model, wasAsked(model));
  return code === null ? end(model, 'denied') : refused(code);
};

export const expire = (model: ActionModel): Move => {
  if (isUnknown(model)) return refused('not_found');
  return model.phase === 'pending' && isLate(model) ? end(model, 'expired') : 'nothing';
};

export const cancel = (model: ActionModel): Move => {
  if (isUnknown(model)) return refused('not_found');
  return model.phase === 'pending' && !isLate(model) ? end(model, 'cancelled') : refused('conflict');
};

export const claim = (model: ActionModel, token: string, supersedes: string | null): Move => {
  if (isUnknown(model)) return refused('not_found');
  if (model.phase !== 'ready' && model.phase !== 'running') return 'nothing';
  if (supersedes !== (model.claims.at(-1) ?? null) || isLate(model)) return 'nothing';
  const isFirst = model.phase === 'ready';
  if (!isFirst && (!model.isRepeatable || model.claims.length >= 3)) return 'nothing';
  model.claims.push(token);
  // A process that takes the call over does not know whether the attempt before had an effect.
  if (isFirst) Object.assign(model, { phase: 'running', untilMs: model.nowMs + PATIENCE_MS.call });
  else model.mayHaveRun = true;
  return 'moved';
};

export const outcome = (model: ActionModel, token: string, status: Outcome): Move => {
  if (isUnknown(model)) return refused('not_found');
  if (!model.claims.includes(token)) return refused('conflict');
  if (model.phase === 'running' && model.claims.at(-1) === token) {
    return finish(model, status === 'failed' && model.mayHaveRun ? 'unknown' : status);
  }
  model.lateReports += 1;
  // After several attempts, a failure of one does not show that the others failed too.
  const tells = status === 'succeeded' || (status === 'failed' && model.claims.length === 1);
  if (model.toldLate !== null || !tells) return 'moved';
  model.toldLate = status;
  if (model.phase === 'over') hear(model, status);
  return 'moved';
};

/** Records a read-back: the first one ends the action; a later one amends an UNVERIFIABLE verdict. */
export const readBack = (model: ActionModel, verdict: Verdict): Move => {
  if (isUnknown(model)) return refused('not_found');
  if (model.phase === 'unread') return conclude(model, verdict);
  const wasRead = model.isReadBack && model.mode === 'gateway' && model.verdict !== null;
  if (!wasRead || model.verdict !== 'UNVERIFIABLE' || verdict === 'UNVERIFIABLE') return 'nothing';
  model.verdict = verdict;
  model.amendments += 1;
  return 'moved';
};

export const giveUp = (model: ActionModel): Move => {
  if (isUnknown(model)) return refused('not_found');
  if (model.phase !== 'running') return 'nothing';
  const isTriedAgain = model.isRepeatable && model.claims.length < 3 && !isLate(model);
  return isTriedAgain ? 'nothing' : finish(model, 'unknown');
};

export const expireStart = (model: ActionModel): Move => {
  if (isUnknown(model)) return refused('not_found');
  return model.phase === 'ready' && isLate(model) ? finish(model, 'failed') : 'nothing';
};

export const report = (model: ActionModel, status: Outcome): Move => {
  if (isUnknown(model)) return refused('not_found');
  if (model.phase !== 'edge' || isLate(model)) return refused('conflict');
  return finish(model, status);
};

export const giveUpEdge = (model: ActionModel): Move => {
  if (isUnknown(model)) return refused('not_found');
  return model.phase === 'edge' && isLate(model) ? finish(model, 'unknown') : 'nothing';
};
