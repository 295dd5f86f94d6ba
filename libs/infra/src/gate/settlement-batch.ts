import {
  actionDecider,
  countedPeriodOf,
  settlementChange,
  type BudgetCharge,
  type SettlementChange,
} from '#libs/domain/gate';
import {
  categoryOf,
  DamagedEvent,
  decodeEvent,
  epochMsOf,
  UnknownEventType,
  type RecordedEvent,
} from '#libs/domain/kernel';

type Charged = Extract<SettlementChange, { change: 'charged' }>;
type Spent = Extract<SettlementChange, { change: 'spent' }>;

/**
 * The changes that a batch of events makes to reservations, for one call of `gate.settle_budgets`. An action's charge
 * always comes before its other changes.
 */
export class SettlementBatch {
  private readonly charged = new Map<string, Charged>();
  private readonly givenBack = new Set<string>();
  private readonly unspent = new Set<string>();
  private readonly spent = new Map<string, Spent>();

  static of(events: readonly RecordedEvent[]): SettlementBatch {
    const batch = new SettlementBatch();
    for (const recorded of events) {
      const change = changeIn(recorded);
      if (change !== null) batch.add(change);
    }
    return batch;
  }

  private add(change: SettlementChange): void {
    switch (change.change) {
      case 'charged':
        this.charged.set(change.action, change);
        return;
      case 'given_back':
        // A charge in the same batch need not be written.
        this.charged.delete(change.action);
        this.givenBack.add(change.action);
        return;
      case 'unspent':
        this.unspent.add(change.action);
        return;
      case 'spent':
        this.spent.set(change.action, change);
        return;
    }
  }

  /** The parameters of `gate.settle_budgets`, in order, without the first two. */
  values(): readonly unknown[] {
    const rows = [...this.charged.values()].flatMap((charged) =>
      charged.charges.map((charge) => ({
        action: charged.action,
        charge,
        ...countedPeriodOf(charge),
        ...momentOf(charged, charge),
      })),
    );
    const spent = [...this.spent.values()];
    return [
      rows.map(({ action }) => action),
      rows.map(({ budget }) => budget),
      rows.map(({ unit }) => unit),
      rows.map(({ charge }) => charge.period),
      rows.map(({ startsMs }) => startsMs),
      rows.map(({ endsMs }) => endsMs),
      rows.map(({ charge }) => charge.amount ?? charge.calls),
      rows.map(({ atMs }) => atMs),
      [...this.givenBack],
      [...this.unspent],
      spent.map(({ action }) => action),
      spent.map(({ cost }) => cost.currency),
      spent.map(({ cost }) => cost.amount),
    ];
  }
}

/**
 * The time at which a charge counts: the decision, moved into the charge's period. A retried submission is charged to
 * the period of its first try, which may have ended before the decision.
 */
const momentOf = ({ at }: Charged, { starts_at, resets_at }: BudgetCharge): { readonly atMs: number } => ({
  atMs: Math.min(Math.max(epochMsOf(at), epochMsOf(starts_at)), epochMsOf(resets_at) - 1),
});

/**
 * The change that an event makes to reservations. An event that cannot be read, or has an unknown type from a newer
 * version, changes nothing: the action keeps its charges.
 */
const changeIn = (recorded: RecordedEvent): SettlementChange | null => {
  if (categoryOf(recorded.stream) !== actionDecider.category) return null;
  try {
    return settlementChange(decodeEvent(recorded).event);
  } catch (error) {
    const isUnreadable = error instanceof DamagedEvent || error instanceof SyntaxError || error instanceof TypeError;
    if (isUnreadable || error instanceof UnknownEventType) return null;
    throw error;
  }
};
