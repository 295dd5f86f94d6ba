import type { Schemas } from '../kernel/client.ts';

/** A row of labels, the same row while its name is typed. */
export interface LabelRow {
  readonly id: number;
  readonly name: string;
  readonly value: string;
}

let lastId = 0;
export const newLabel = (name = '', value = ''): LabelRow => ({ id: (lastId += 1), name, value });

export const labelRowsOf = (labels: Schemas['Labels']): readonly LabelRow[] =>
  Object.entries(labels).map(([name, value]) => newLabel(name, value));

/** As they are sent; a row in which nothing stands is none. */
export const labelsOf = (rows: readonly LabelRow[]): Schemas['Labels'] =>
  Object.fromEntries(
    rows.filter(({ name, value }) => name !== '' || value !== '').map(({ name, value }) => [name, value]),
  );

/** A name that two rows have: as labels one of them would be lost. */
export const doubleLabel = (rows: readonly LabelRow[]): string | null => {
  const names = rows.map(({ name }) => name).filter((name) => name !== '');
  return names.find((name, index) => names.indexOf(name) !== index) ?? null;
};

/** Budgets as they are typed; empty is none. */
export interface TypedBudgets {
  readonly calls: string;
  readonly amount: string;
  readonly currency: string;
}

export const typedBudgetsOf = ({ calls_per_day: calls, spend_per_day: spend }: Schemas['Budgets']): TypedBudgets => ({
  calls: calls === null ? '' : String(calls),
  amount: spend === null ? '' : String(spend.amount),
  currency: spend?.currency ?? '',
});

/** As they are sent: what is no number goes as it is, and the service says what it should have been. */
export const budgetsOf = ({ calls, amount, currency }: TypedBudgets): Schemas['Budgets'] => ({
  calls_per_day: calls.trim() === '' ? null : numberOf(calls),
  spend_per_day:
    amount.trim() === '' && currency.trim() === ''
      ? null
      : { amount: numberOf(amount), currency: currency.trim().toLowerCase() },
});

/** Those that were changed: a budget that the form does not show stays as it is. */
export const changedBudgets = (before: Schemas['Budgets'], next: Schemas['Budgets']): Partial<Schemas['Budgets']> => ({
  ...(next.calls_per_day === before.calls_per_day ? {} : { calls_per_day: next.calls_per_day }),
  ...(isSameSpend(before.spend_per_day, next.spend_per_day) ? {} : { spend_per_day: next.spend_per_day }),
});

const isSameSpend = (one: Schemas['Budgets']['spend_per_day'], other: Schemas['Budgets']['spend_per_day']): boolean =>
  one?.amount === other?.amount && one?.currency === other?.currency;

const numberOf = (text: string): number =>
  /^\d+$/.test(text.trim()) ? Number(text) : (text.trim() as unknown as number);
