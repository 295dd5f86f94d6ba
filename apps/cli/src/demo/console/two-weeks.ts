import { member, type Answer, type Json, type ScratchService } from '../scratch-service.js';
import { sealed } from '../stage.js';
import { shadow, must, type AgentName, type Furnished } from './furniture.js';
import { ODD } from './invented-shop.js';
import { APPROVER, OWNER, type PeopleOfTheDemo } from './people-of-the-demo.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
export const DAYS = 14;
/** Of the story: before them nothing, at them what is special. */
const [SHADOW_DAY, BUSY_DAY, RUNAWAY_DAY] = [10, 8, 13];
/** When people open what they work with; a session that is idle for twelve hours ends. */
const LOOKS_AT_HOURS = [6, 14, 22];
/** A session lasts a week. */
const SIGN_IN_DAYS = [6, 12];

/** What happens at a moment. */
interface Happening {
  readonly atMs: number;
  readonly what: () => Promise<unknown>;
}

export interface StageOfWeeks {
  readonly service: ScratchService;
  readonly adminKey: string;
  readonly furnished: Furnished;
  readonly people: PeopleOfTheDemo;
  /** Lets the service take it for that moment, Unix milliseconds. */
  readonly moveTo: (ms: number) => Promise<void>;
}

/** The same numbers at every run (a linear congruential generator, Numerical Recipes). */
class Chance {
  private state = 20_261;

  /** From 0 to 1. */
  next(): number {
    this.state = (Math.imul(this.state, 1_664_525) + 1_013_904_223) >>> 0;
    return this.state / 2 ** 32;
  }

  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  oneOf<Item>(items: readonly Item[]): Item {
    return items[this.between(0, items.length - 1)] as Item;
  }
}

const REASONS = ['Arrived damaged', 'Wrong size', 'Came too late', 'Returned unused', 'Paid twice'];
const NOTES = [
  'Prefers to be called in the morning.',
  'Asked for the size chart of the hiking boots.',
  'Waits for the new season.',
  'Wants invoices by post.',
];

/** Two weeks of a company that does not exist: its agents work, its people decide. */
export class TwoWeeks {
  readonly chance = new Chance();
  private readonly happenings: Happening[] = [];

  /** @param endMs the present */
  constructor(
    private readonly stage: StageOfWeeks,
    private readonly endMs: number,
  ) {}

  /** @param onDay called as each day begins, from 1 */
  async play(onDay: (day: number) => void): Promise<void> {
    for (let day = 0; day < DAYS; day += 1) this.plan(day);
    this.happenings.sort((left, right) => left.atMs - right.atMs);
    let shown = -1;
    for (const { atMs, what } of this.happenings) {
      const day = Math.floor((atMs - this.startMs) / DAY_MS);
      if (day > shown) onDay((shown = day) + 1);
      await this.stage.moveTo(atMs);
      await what();
    }
    await this.ending();
  }

  private get startMs(): number {
    return this.endMs - DAYS * DAY_MS;
  }

  private at(atMs: number, what: () => Promise<unknown>): void {
    if (atMs < this.endMs - HOUR_MS) this.happenings.push({ atMs, what });
  }

  private plan(day: number): void {
    const { chance } = this;
    const beginMs = this.startMs + day * DAY_MS;
    const weekday = new Date(beginMs).getUTCDay();
    const share = weekday === 0 || weekday === 6 ? 0.4 : 1;
    const times = (low: number, high: number): readonly number[] =>
      Array.from({ length: Math.round(chance.between(low, high) * share) }, () => beginMs + this.timeOfDay());
    for (const atMs of times(9, 15)) this.at(atMs, () => this.support());
    for (const atMs of times(4, 7)) this.at(atMs, () => this.refund(chance.between(900, 18_000)));
    for (const atMs of times(1, 3)) this.largerRefund(atMs);
    for (const atMs of times(3, 6)) this.at(atMs, () => this.price(day));
    for (const atMs of times(2, 4)) this.at(atMs, () => this.import(day));
    for (const hour of LOOKS_AT_HOURS) this.at(beginMs + hour * HOUR_MS, () => this.stage.people.stayIn());
    if (SIGN_IN_DAYS.includes(day)) {
      this.at(beginMs + 1, () => this.stage.people.signIn(OWNER));
      this.at(beginMs + 2, () => this.stage.people.signIn(APPROVER));
    }
    this.special(day, beginMs);
  }

  private special(day: number, beginMs: number): void {
    const { service, adminKey, furnished } = this.stage;
    const noonMs = beginMs + 12 * HOUR_MS;
    if (day === BUSY_DAY) {
      for (let count = 0; count < 12; count += 1) this.at(noonMs + count * 4 * MINUTE_MS, () => this.refund(2_990));
    }
    if (day === SHADOW_DAY) this.at(noonMs, () => shadow(service, adminKey, furnished.policy));
    if (day === RUNAWAY_DAY) {
      this.at(noonMs + 90 * MINUTE_MS, () => this.setPrice(ODD.stuck));
      for (let count = 0; count < 7; count += 1)
        this.at(noonMs + count * 20_000, () =>
          this.call('import-agent', 'crm.delete_customer', { id: this.customer() }),
        );
      const stop = `/v1/agents/${furnished.agents['import-agent'].id}/stop`;
      const reason = 'Tried to delete customers after the import of the supplier’s file.';
      this.at(noonMs + 6 * MINUTE_MS, () =>
        this.stage.people.person(APPROVER).send('POST', stop, { reason }).then(must),
      );
    }
  }

  /** Mostly in the hours of an office, seldom at night. */
  private timeOfDay(): number {
    const hour = this.chance.next() < 0.85 ? 7 + this.chance.next() * 10 : this.chance.next() * 24;
    return Math.round(hour * HOUR_MS);
  }

  private customer = (): string => `c-${this.chance.between(1_000, 1_400)}`;
  private order = (): string => `o-${this.chance.between(48_000, 48_999)}`;

  private support(): Promise<unknown> {
    const { chance } = this;
    const id = this.customer();
    const draw = chance.next();
    if (draw < 0.4) return this.call('support-agent', 'shop.get_order', { id: this.order() }, id);
    if (draw < 0.7) return this.call('support-agent', 'crm.get_customer', { id }, id);
    if (draw < 0.87) return this.call('support-agent', 'crm.add_note', { id, text: chance.oneOf(NOTES) }, id);
    if (draw < 0.97)
      return this.call('support-agent', 'crm.set_plan', { id, plan: chance.oneOf(['basic', 'plus', 'pro']) }, id);
    return this.call('support-agent', 'crm.export_customers', { format: 'csv' });
  }

  private refund(amount: number, order = this.order()): Promise<unknown> {
    const draw = this.chance.next();
    const id = draw < 0.05 ? ODD.refunded : draw < 0.09 ? ODD.silent : order;
    const args = { id, amount, reason: this.chance.oneOf(REASONS) };
    return this.call('refund-agent', 'shop.refund_order', args, this.customer());
  }

  /** Somebody decides a while later, or nobody does in time. */
  private largerRefund(atMs: number): void {
    const { chance } = this;
    let approval = '';
    let action = '';
    this.at(atMs, async () => {
      const asked = await this.refund(chance.between(21_000, 89_000));
      [approval, action] = [String(member(asked, 'approval', 'id')), String(member(asked, 'id'))];
    });
    const draw = chance.next();
    if (draw > 0.88) return;
    const decision = draw < 0.7 ? 'approve' : 'deny';
    const reason = decision === 'deny' ? 'The order was never paid.' : undefined;
    const who = chance.oneOf([OWNER, APPROVER, APPROVER]);
    this.at(atMs + chance.between(2, 90) * MINUTE_MS, async () => {
      // A budget may have been used up before.
      if (!approval.startsWith('apr_')) return;
      await this.stage.people.decide(who, approval, decision, reason);
      await this.ended('refund-agent', action);
    });
  }

  private price(day: number): Promise<unknown> {
    const { chance } = this;
    const isStuck = day % 4 === 1 && chance.next() < 0.3;
    return this.setPrice(isStuck ? ODD.stuck : `p-${chance.between(100, 699)}`);
  }

  private setPrice(id: string): Promise<unknown> {
    return this.call('catalog-agent', 'shop.set_price', { id, price: this.chance.between(9, 320) * 100 - 10 });
  }

  private import(day: number): Promise<unknown> {
    // It is stopped at some hour of that day.
    if (day >= RUNAWAY_DAY) return Promise.resolve();
    const draw = this.chance.next();
    if (draw < 0.8) return this.call('import-agent', 'shop.get_product', { id: `p-${this.chance.between(100, 699)}` });
    return this.call('import-agent', 'shop.set_price', { id: `p-${this.chance.between(100, 699)}`, price: 1_990 });
  }

  /** Two calls wait for people when the visitor comes. */
  private async ending(): Promise<void> {
    await this.stage.moveTo(this.endMs - 25 * MINUTE_MS);
    await this.refund(48_900, 'o-48120');
    await this.stage.moveTo(this.endMs - 4 * MINUTE_MS);
    await this.refund(26_450, 'o-48307');
  }

  /** Something small, as an agent does it all day. */
  async everyday(): Promise<void> {
    await (this.chance.next() < 0.8 ? this.support() : this.price(0));
  }

  /** @returns the action, refused or not, once it is sealed or waits for a person */
  private async call(agent: AgentName, tool: string, args: object, customer: string | null = null): Promise<Json> {
    const { service, furnished } = this.stage;
    const headers = {
      authorization: `Bearer ${furnished.agents[agent].key}`,
      ...(customer === null
        ? {}
        : {
            'service-on-behalf-of': `customer:${customer}`,
            'service-session': `chat-${this.chance.between(1_000, 9_999)}`,
          }),
    };
    const answer: Answer = await service.request('POST', '/v1/actions', headers, { tool, args, wait: 0 });
    const action = answer.json['object'] === 'action' ? answer.json : (member(answer.json, 'error', 'action') as Json);
    // Whoever asks about what waits for people is answered when they have decided.
    if (answer.status >= 300 || action['status'] === 'pending_approval') return action;
    return this.ended(agent, String(action['id']));
  }

  private async ended(agent: AgentName, action: string): Promise<Json> {
    const { service, furnished } = this.stage;
    return must(await sealed({ service, agentKey: furnished.agents[agent].key }, action));
  }
}
