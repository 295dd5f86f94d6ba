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

/** What a batch of events says of reservations, for one statement. An action is charged before anything else of it. */
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
        // What it was charged in the same batch need not be written.
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

  /** In the order of the parameters of `gate.settle_budgets`, without its first two. */
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

/** A submission that was tried again is charged to the period of its first try, which may be over by its decision. */
const momentOf = ({ at }: Charged, { starts_at, resets_at }: BudgetCharge): { readonly atMs: number } => ({
  atMs: Math.min(Math.max(epochMsOf(at), epochMsOf(starts_at)), epochMsOf(resets_at) - 1),
});

/** An event that cannot be read, or that a newer version wrote, changes nothing: what an action holds, it goes on holding. */
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
