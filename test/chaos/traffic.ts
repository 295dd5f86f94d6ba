import { setTimeout as delay } from 'node:timers/promises';
import type { ChaosScene } from './chaos-scene.js';
import { ASKS_A_PERSON } from '../support/crm.js';
import type { Caller } from './client-log.js';
import type { ClientAnswer } from './evidence.js';
import { effectOf, MANNERS, type Manner } from './oracle.js';
import type { Chance } from './random.js';
import { membersOf, textOf } from './dossier.js';

/** A submission that is sent again, after a while, until it has led to an action. */
interface Submission {
  readonly caller: Caller;
  readonly idempotencyKey: string;
  readonly body: {
    readonly tool: string;
    readonly args: Readonly<Record<string, string>>;
    readonly wait: number;
    readonly mode?: 'proxy';
  };
  /** Null until an answer named it. */
  action: string | null;
}

const LONGEST_ANSWER_MS = 60;
const SPREAD_MS = 120;
const WAITS_S = [0, 1, 5];
/** How often what led nowhere is asked for again. */
const SETTLING_ROUNDS = 5;
/** What is sent at once when everything is asked for again. */
const AT_ONCE = 24;
/** Of a round's calls: what must be among them, so that every kind of end and each failpoint is met sooner or later. */
const FIXED: readonly (readonly [tool: string, manner: Manner])[] = [
  ['crm.add_note', 'ok'],
  ['crm.add_note', 'refused'],
  ['crm.add_note', 'lost'],
  ['crm.get_customer', 'busy'],
  ['crm.set_name', 'busy'],
  ['crm.set_name', 'gone'],
  ['crm.set_status', 'ok'],
  ['crm.set_status', 'gone'],
  ['crm.delete_customer', 'ok'],
];

/** More at once than the budget of checks has room for. */
const CHECKS_OF_A_ROUND = 4;

const TAKES_TEXT: ReadonlySet<string> = new Set(['crm.add_note', 'crm.set_name', 'crm.set_status']);

/** What agents and an operator do: reads, writes, refusals, repeated keys, polls, lists, exports, and some nonsense. */
export class Traffic {
  private readonly submissions: Submission[] = [];
  /** What nobody but its agent ends: how, and whether an answer said that it is. */
  private readonly unended = new Map<Submission, (action: string, caller: Caller) => Promise<ClientAnswer | null>>();

  constructor(
    private readonly scene: ChaosScene,
    private readonly chance: Chance,
  ) {}

  get submitted(): number {
    return this.submissions.length;
  }

  /** So many calls at about the same time. Resolves when each has its answer, or has lost it. */
  async round(calls: number): Promise<void> {
    const some = Array.from({ length: Math.max(0, calls - FIXED.length) }, () => this.randomCall());
    const submissions = [...FIXED, ...some].map(([tool, manner]) => this.submission(tool, manner));
    await Promise.all([
      ...submissions.map((submission) => this.during(() => this.submitAndLook(submission))),
      ...Array.from({ length: CHECKS_OF_A_ROUND }, () =>
        this.during(() => this.submitTwice(this.submission('crm.check_customer', 'ok'))),
      ),
      this.during(() => this.submitTwice(this.submission('crm.add_note', 'ok'))),
      this.during(() => this.endItself(this.withheld(), (action, caller) => this.cancel(action, caller))),
      this.during(() => this.endItself(this.atTheEdge(), (action, caller) => this.report(action, caller))),
      this.during(() => this.repeatAnEarlierOne()),
      this.during(async () => void (await this.scene.exported())),
      this.during(() => this.browse()),
      this.during(() => this.nonsense()),
    ]);
  }

  /**
   * Every submission that led nowhere, and every second of the others, once more, until each has led to its action; then each
   * action is read. What leads nowhere all the same is in the evidence, and the checker names its key.
   */
  async settle(): Promise<void> {
    let due = this.submissions.filter(({ action }) => this.chance.next() < 0.5 || action === null);
    for (let round = 0; round < SETTLING_ROUNDS; round += 1) {
      const leadingNowhere: Submission[] = [];
      await inTurns(due, async (submission) => {
        if ((await this.submit(submission)) === null) leadingNowhere.push(submission);
      });
      due = leadingNowhere;
    }
    await inTurns([...this.unended.keys()], (submission) => this.endAgain(submission));
    await inTurns(this.submissions, async ({ action, caller }) => {
      if (action !== null) await this.scene.log.call('GET', `/v1/actions/${action}?wait=2`, { caller });
    });
    await this.browse();
  }

  private randomCall(): readonly [string, Manner] {
    const tool = this.chance.oneOf([
      'crm.add_note',
      'crm.add_note',
      'crm.get_customer',
      'crm.set_name',
      'crm.set_status',
      'crm.delete_customer',
      'crm.x',
    ]);
    return [tool, this.chance.next() < 0.5 ? 'ok' : this.chance.oneOf(MANNERS)];
  }

  private submission(tool: string, manner: Manner): Submission {
    const id = effectOf(manner, this.chance.between(0, LONGEST_ANSWER_MS), this.chance.hex(16));
    const args: Record<string, string> = TAKES_TEXT.has(tool) ? { id, text: `note ${this.chance.hex(32)}` } : { id };
    const submission = {
      caller: this.chance.oneOf(this.scene.agents),
      idempotencyKey: `key-${this.chance.hex(24)}`,
      body: { tool, args, wait: this.chance.oneOf(WAITS_S) },
      action: null,
    };
    this.submissions.push(submission);
    return submission;
  }

  /** A note that waits for a person, who never comes. */
  private withheld(): Submission {
    const submission = this.submission('crm.add_note', 'ok');
    const { args } = submission.body;
    return this.changed(submission, { args: { ...args, text: `${ASKS_A_PERSON}${args['text'] ?? ''}` }, wait: 0 });
  }

  /** A call that its agent runs itself. */
  private atTheEdge(): Submission {
    return this.changed(this.submission('crm.set_name', 'ok'), { mode: 'proxy' });
  }

  private changed(submission: Submission, changes: Partial<Submission['body']>): Submission {
    const changed = { ...submission, body: { ...submission.body, ...changes } };
    this.submissions.splice(this.submissions.indexOf(submission), 1, changed);
    return changed;
  }

  private async endItself(
    submission: Submission,
    end: (action: string, caller: Caller) => Promise<ClientAnswer | null>,
  ): Promise<void> {
    this.unended.set(submission, end);
    await this.submit(submission);
    await this.endOnce(submission);
  }

  /** It ended with an answer that says so, also where an earlier one that said so was lost. */
  private async endOnce(submission: Submission): Promise<void> {
    const { action, caller } = submission;
    const answer = action === null ? null : await this.unended.get(submission)?.(action, caller);
    if (answer?.status === 200 || answer?.status === 409) this.unended.delete(submission);
  }

  private async endAgain(submission: Submission): Promise<void> {
    for (let round = 0; round < SETTLING_ROUNDS && this.unended.has(submission); round += 1) {
      if (submission.action === null) await this.submit(submission);
      await this.endOnce(submission);
    }
  }

  private async cancel(action: string, caller: Caller): Promise<ClientAnswer | null> {
    return (await this.scene.log.call('POST', `/v1/actions/${action}/cancel`, { caller })).answer;
  }

  private async report(action: string, caller: Caller): Promise<ClientAnswer | null> {
    const at = new Date().toISOString();
    const body = { status: 'succeeded', started_at: at, finished_at: at, result: { done: true } };
    return (await this.scene.log.call('POST', `/v1/actions/${action}/result`, { caller, body })).answer;
  }

  /** Calls of a round do not all begin at one instant. */
  private async during(task: () => Promise<void>): Promise<void> {
    await delay(this.chance.between(0, SPREAD_MS));
    await task();
  }

  /** @returns what the answer named; null where it named none or there was none */
  private async submit(submission: Submission): Promise<string | null> {
    const { caller, idempotencyKey, body } = submission;
    const { answer } = await this.scene.log.call('POST', '/v1/actions', { caller, idempotencyKey, body });
    const { id, error } = answer?.json ?? {};
    const refused = membersOf(membersOf(error)['action'])['id'];
    const named = textOf(id ?? refused) || null;
    submission.action ??= named;
    return named;
  }

  private async submitAndLook(submission: Submission): Promise<void> {
    await this.submit(submission);
    const { action, caller } = submission;
    if (action !== null) await this.scene.log.call('GET', `/v1/actions/${action}?wait=2`, { caller });
  }

  private async submitTwice(submission: Submission): Promise<void> {
    await Promise.all([this.submit(submission), this.submit(submission)]);
  }

  /** The same request once more, and then another one under its key. */
  private async repeatAnEarlierOne(): Promise<void> {
    const earlier = this.chance.oneOf(this.submissions);
    await this.submit(earlier);
    const { caller, idempotencyKey, body, action } = earlier;
    if (action === null) return;
    const other = { ...body, args: { ...body.args, id: `${body.args['id'] ?? ''}0` } };
    await this.scene.log.call('POST', '/v1/actions', { caller, idempotencyKey, body: other });
  }

  private async browse(): Promise<void> {
    await this.scene.log.call('GET', '/v1/actions?limit=20', { caller: this.chance.oneOf(this.scene.agents) });
    await this.scene.log.call('GET', '/v1/deeds?limit=20', { caller: this.scene.admin });
    await this.scene.log.call('GET', '/v1/health', { caller: null });
  }

  /** What a client gets wrong, each answered with an envelope. */
  private async nonsense(): Promise<void> {
    const [caller] = this.scene.agents as [Caller];
    await this.scene.log.call('GET', '/v1/nowhere', { caller });
    await this.scene.log.call('GET', '/v1/actions', { caller: null });
    await this.scene.log.call('POST', '/v1/actions', { caller, body: { tool: '', args: [] } });
    await this.scene.log.call('GET', `/v1/actions/act_0${this.chance.hex(25)}`, { caller });
  }
}

const inTurns = async <Item>(items: readonly Item[], task: (item: Item) => Promise<void>): Promise<void> => {
  for (let start = 0; start < items.length; start += AT_ONCE) {
    await Promise.all(items.slice(start, start + AT_ONCE).map(task));
  }
};
