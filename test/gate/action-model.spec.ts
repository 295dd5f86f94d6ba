import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { digestOf } from '#libs/crypto';
import {
  actionDecider,
  statusOf,
  type Action,
  type ActionCommand,
  type ActionEvent,
  type ApproverAnswer,
} from '#libs/domain/gate';
import {
  CommandRunner,
  decodeEvent,
  DomainError,
  FoldedStreams,
  StoreUnavailable,
  streamRef,
  timestampOf,
  type UserId,
} from '#libs/domain/kernel';
import { ACTION, allowed, denied, submission, succeeded } from '../support/gate-fixtures.js';
import { metadataAt, NOW } from '../support/given.js';
import { testId } from '../support/given-log.js';
import { LosingStore } from '../support/losing-store.js';
import * as model from './action-model.js';
import { PATIENCE_MS, STATE_OF_PHASE, unbegunModel, type ActionModel, type Move } from './action-model.js';
import { CHARGES, heldAfter } from './charged-model.js';

/**
 * What happens to the append of a command: it is written and answered, or the process ends before the append, or
 * between append and answer. Without an answer, the same command is sent again.
 */
type Fate = 'answered' | 'ended before the write' | 'ended after the write';

/** The decider with its real runner, over a store that loses appends or answers as a test says. */
class Service {
  readonly store = new LosingStore();
  readonly streams = new FoldedStreams(this.store);
  readonly runner = new CommandRunner(this.store, this.streams);
  private commands = 0;

  /** @returns the types of the events that the command led to, however often it was sent */
  async send(command: Bare, nowMs: number, fate: Fate): Promise<readonly string[]> {
    this.commands += 1;
    const metadata = { ...metadataAt(timestampOf(nowMs)), commandId: `command-${this.commands}` };
    const before = (await this.store.readStream(STREAM)).length;
    const once = () => this.runner.run(actionDecider, ACTION, { ...command, metadata }, metadata);
    this.store.fate = fate;
    await once().catch(async (error: unknown) => {
      if (!(error instanceof StoreUnavailable)) throw error;
      await once();
    });
    this.store.fate = 'answered';
    const events = await this.store.readStream(STREAM);
    return events.slice(before).map(({ type }) => type);
  }

  async action(): Promise<Action> {
    return (await this.streams.load(streamRef(actionDecider, ACTION))).state;
  }

  /** What the action is charged to budgets according to the log. */
  async held(): Promise<ActionModel['held']> {
    return heldAfter((await this.store.readStream(STREAM)).map((recorded) => decodeEvent(recorded).event));
  }

  async types(): Promise<readonly ActionEvent['type'][]> {
    return (await this.store.readStream(STREAM)).map(({ type }) => type as ActionEvent['type']);
  }
}

type Bare<Command = ActionCommand> = Command extends ActionCommand ? Omit<Command, 'metadata'> : never;

const STREAM = `action-${ACTION}`;
const APPROVAL = testId('apr', 1);
const DIGEST = digestOf('shown');
const at = (ms: number): string => timestampOf(ms);
const answer = (person: string): ApproverAnswer => ({
  by: person as UserId,
  via: 'console',
  context_digest: DIGEST,
  reason: null,
});
const executionAt = ({ nowMs, isRepeatable, isReadBack: hasReadBack }: ActionModel) => ({
  class: isRepeatable ? ('repeatable' as const) : ('once' as const),
  hasReadBack,
  timeoutMs: PATIENCE_MS.call,
  startBy: at(nowMs + PATIENCE_MS.start),
});
const edgeAt = (nowMs: number) => ({ deadline: at(nowMs + PATIENCE_MS.edge) });

/** A command, and the model's function for the same move. */
class Sent implements fc.AsyncCommand<ActionModel, Service> {
  constructor(
    private readonly title: string,
    private readonly fate: Fate,
    private readonly move: (model: ActionModel) => Move,
    private readonly command: (model: ActionModel) => Bare,
  ) {}

  check = (): boolean => true;

  async run(known: ActionModel, service: Service): Promise<void> {
    const command = this.command(known);
    const moved = this.move(known);
    const sent = service.send(command, known.nowMs, this.fate);
    if (typeof moved === 'object') {
      const error = await sent.then(
        () => null,
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(DomainError);
      expect((error as DomainError).code).toBe(moved.refused);
    } else {
      expect((await sent).length > 0).toBe(moved === 'moved');
    }
    await agree(known, service);
  }

  toString = (): string => `${this.title} (${this.fate})`;
}

/** Lets time pass. */
class Later implements fc.AsyncCommand<ActionModel, Service> {
  constructor(private readonly ms: number) {}
  check = (): boolean => true;
  run(known: ActionModel): Promise<void> {
    known.nowMs += this.ms;
    return Promise.resolve();
  }
  toString = (): string => `${this.ms} ms later`;
}

const agree = async (known: ActionModel, service: Service): Promise<void> => {
  const action = await service.action();
  // INV-11: an action is charged if it may run or has run, and is given back its charge otherwise, however often a
  // process ended.
  expect(await service.held()).toEqual(known.held);
  if (known.phase === 'none' || known.phase === 'abandoned') return expect(action.state).toBe(known.phase);
  if (action.state === 'none' || action.state === 'abandoned') throw new Error('the action is missing');
  expect(action.state).toBe(STATE_OF_PHASE[known.phase]);
  expect(statusOf(action, known.phase === 'over')).toBe(known.ending ?? statusUnderWay(known));
  expect(action.sealingRevision !== null).toBe(known.phase === 'over');
  const types = await service.types();
  expect(types.filter((type) => type === 'LateReport')).toHaveLength(known.lateReports);
  // INV-13: there is one decision, and nothing ran without the required signatures.
  const ends = ['ApprovalDecided', 'ApprovalExpired', 'ActionCancelled'];
  expect(types.filter((type) => ends.includes(type)).length).toBeLessThanOrEqual(1);
  const hasRun = types.includes('ExecutionReady') || types.includes('EdgeAuthorized');
  expect(!hasRun || known.required === 0 || known.signers.size >= known.required).toBe(true);
  // INV-03, INV-18: one outcome and one verdict at most.
  const outcomes = ['ExecutionFinished', 'EdgeReported', 'EdgeLost'];
  expect(types.filter((type) => outcomes.includes(type)).length).toBeLessThanOrEqual(1);
  expect(types.filter((type) => type === 'ActionWitnessed').length).toBeLessThanOrEqual(1);
  expect(types.filter((type) => type === 'WitnessAmended')).toHaveLength(known.amendments);
  expect(action.witness?.verdict ?? null).toBe(known.verdict);
};

const statusUnderWay = ({ phase }: ActionModel): string => {
  if (phase === 'pending') return 'pending_approval';
  return phase === 'edge' ? 'authorized' : 'processing';
};

const fates = fc.constantFrom<Fate>('answered', 'answered', 'ended before the write', 'ended after the write');
const persons = fc.constantFrom(testId('usr', 1), testId('usr', 2), testId('usr', 3));
const statuses = fc.constantFrom('succeeded' as const, 'failed' as const, 'unknown' as const);

const submitting = (fate: Fate, said: model.Submitted): Sent => {
  const { decision, mode, required } = said;
  return new Sent(
    `submit ${decision} ${mode}${said.isReadBack ? ' read back' : ''}`,
    fate,
    (known) => model.submit(known, said),
    (known) => ({
      type: 'SubmitAction',
      data: {
        submission: { ...submission, mode },
        decision: { ...(decision === 'deny' ? denied : allowed), outcome: decision },
        claimant: null,
        charges: decision === 'deny' ? [] : CHARGES,
        execution: decision === 'allow' && mode === 'gateway' ? executionAt({ ...known, ...said }) : null,
        ...(decision === 'allow' && mode === 'proxy' ? { edge: edgeAt(known.nowMs) } : {}),
        ...(decision === 'require_approval' ? { approval: termsAt(known.nowMs, required) } : {}),
      },
    }),
  );
};

const submissions = fc
  .record({
    decision: fc.constantFrom(
      'allow' as const,
      'deny' as const,
      'require_approval' as const,
      'require_approval' as const,
    ),
    mode: fc.constantFrom('gateway' as const, 'proxy' as const),
    isRepeatable: fc.boolean(),
    isReadBack: fc.boolean(),
    signatures: fc.integer({ min: 1, max: 3 }),
    fate: fates,
  })
  .map(({ fate, signatures, ...said }) =>
    submitting(fate, { ...said, required: said.decision === 'require_approval' ? signatures : 0 }),
  );

/** Submissions that are allowed in gateway mode. */
const allowances = fc
  .record({ isRepeatable: fc.boolean(), isReadBack: fc.boolean() })
  .map((said) => submitting('answered', { decision: 'allow', mode: 'gateway', required: 0, ...said }));

const termsAt = (nowMs: number, required: number) => ({
  approval: APPROVAL,
  rule_id: 'refunds',
  approvers: ['role:admin'],
  required,
  context_digest: DIGEST,
  expires_at: at(nowMs + PATIENCE_MS.approval),
});

const signatures = fc.tuple(persons, fates).map(
  ([person, fate]) =>
    new Sent(
      `${person} signs`,
      fate,
      (known) => model.countersign(known, person),
      (known) => ({
        type: 'Countersign',
        data: {
          approval: APPROVAL,
          answer: answer(person),
          stillCounting: [...known.signers] as UserId[],
          required: known.required,
          toolDigest: submission.tool_digest,
          run: known.mode === 'proxy' ? { edge: edgeAt(known.nowMs) } : { execution: executionAt(known) },
        },
      }),
    ),
);

const claims = fc.tuple(fc.nat(), fc.constantFrom(true, true, false), fates).map(([number, isHeard, fate]) => {
  const supersedes = (known: ActionModel): string | null => (isHeard ? (known.claims.at(-1) ?? null) : 'another');
  // A claim that is repeated after a crash has the same token.
  const token = (known: ActionModel): string => `claim-${known.claims.length}-${number}`;
  return new Sent(
    'claim',
    fate,
    (known) => model.claim(known, token(known), supersedes(known)),
    (known) => ({
      type: 'ClaimExecution',
      data: {
        executor: 'exe_1',
        claim: token(known),
        supersedes: supersedes(known),
        mayHaveRun: known.claims.length > 0,
      },
    }),
  );
});

/** Outcomes, mostly of the newest claim, which may have ended by then. */
const outcomes = fc.tuple(fc.constantFrom(0, 0, 0, 1, 2, 3), statuses, fates).map(([index, status, fate]) => {
  const token = (known: ActionModel): string => known.claims[known.claims.length - 1 - index] ?? 'never claimed';
  return new Sent(
    `outcome ${status}`,
    fate,
    (known) => model.outcome(known, token(known), status),
    (known) => ({
      type: 'RecordOutcome',
      data: { claim: token(known), outcome: { ...succeeded, status }, withdrawn: null },
    }),
  );
});

const reports = fc.tuple(statuses, fates).map(
  ([status, fate]) =>
    new Sent(
      `report ${status}`,
      fate,
      (known) => model.report(known, status),
      () => ({
        type: 'ReportEdge',
        data: {
          report: {
            status,
            started_at: NOW,
            finished_at: NOW,
            result_digest: null,
            has_result: false,
            error_code: null,
            error_message: null,
          },
        },
      }),
    ),
);

const verdicts = fc.constantFrom(
  'VERIFIED' as const,
  'MISMATCH' as const,
  'UNVERIFIABLE' as const,
  'UNVERIFIABLE' as const,
);
const reads = fc.tuple(verdicts, fates).map(
  ([verdict, fate]) =>
    new Sent(
      `read ${verdict}`,
      fate,
      (known) => model.readBack(known, verdict),
      () => ({ type: 'RecordReadBack', data: { verdict, reasons: [], evidenceDigest: DIGEST } }),
    ),
);

const givenUp = fates.map(
  (fate) =>
    new Sent('give up', fate, model.giveUp, (known) => ({
      type: 'GiveUpExecution',
      data: {
        claim: known.claims.at(-1) ?? 'none',
        isExecutorSilent: true,
        isPastDeadline: known.nowMs >= known.untilMs,
      },
    })),
);

const plain = (
  title: string,
  type: 'ExpireApproval' | 'CancelAction' | 'ExpireStart' | 'GiveUpEdge',
  move: Sent['move'],
) => fates.map((fate) => new Sent(title, fate, move, () => ({ type, data: {} })));

const denials = fc.tuple(persons, fates).map(
  ([person, fate]) =>
    new Sent(`${person} denies`, fate, model.deny, () => ({
      type: 'DenyApproval',
      data: { approval: APPROVAL, answer: answer(person) },
    })),
);

const abandonments = fates.map(
  (fate) => new Sent('abandon', fate, model.abandon, () => ({ type: 'AbandonSubmission', data: { action: ACTION } })),
);

const commands = fc.commands(
  [
    submissions,
    submissions,
    signatures,
    signatures,
    denials,
    claims,
    claims,
    outcomes,
    outcomes,
    reads,
    reads,
    reports,
    givenUp,
    abandonments,
    plain('expire', 'ExpireApproval', model.expire),
    plain('cancel', 'CancelAction', model.cancel),
    plain('expire start', 'ExpireStart', model.expireStart),
    plain('give up edge', 'GiveUpEdge', model.giveUpEdge),
    fc.constantFrom(1, 5_000, 9_999, 10_000, 30_000, 60_000).map((ms) => new Later(ms)),
  ],
  { maxCommands: 40 },
);

/** Only the commands of executors, readers and sweepers, because three of them seldom meet among all commands. */
const wordsOfMany = fc.commands(
  [
    claims,
    outcomes,
    outcomes,
    outcomes,
    reads,
    reads,
    givenUp,
    fc.constantFrom(1, 5_000, 10_000).map((ms) => new Later(ms)),
  ],
  { maxCommands: 20, size: '+1' },
);

const goesAsTheModelDoes = (sent: Iterable<fc.AsyncCommand<ActionModel, Service>>): Promise<void> =>
  fc.asyncModelRun(() => ({ model: unbegunModel(Date.parse(NOW)), real: new Service() }), sent);

describe('an action, whatever is sent and whenever a process ends', () => {
  it('has the states of the model, and gives the answers of the model', async () => {
    await fc.assert(fc.asyncProperty(commands, goesAsTheModelDoes), { numRuns: 600 });
  });

  it('has one outcome and one verdict, whatever the order of reports, reads and giving up', async () => {
    const property = fc.asyncProperty(allowances, claims, wordsOfMany, (allowance, claim, words) =>
      goesAsTheModelDoes([allowance, claim, ...words]),
    );
    await fc.assert(property, { numRuns: 600 });
  });
});
