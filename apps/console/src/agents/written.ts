import type { Schemas } from '../kernel/client.ts';

/** A label in the form. The id keeps a row's identity while its name is being typed. */
export interface LabelRow {
  readonly id: number;
  readonly name: string;
  readonly value: string;
}

let lastId = 0;
export const newLabel = (name = '', value = ''): LabelRow => ({ id: (lastId += 1), name, value });

export const labelRowsOf = (labels: Schemas['Labels']): readonly LabelRow[] =>
  Object.entries(labels).map(([name, value]) => newLabel(name, value));

/** The labels to send. A row with neither name nor value is left out. */
export const labelsOf = (rows: readonly LabelRow[]): Schemas['Labels'] =>
  Object.fromEntries(
    rows.filter(({ name, value }) => name !== '' || value !== '').map(({ name, value }) => [name, value]),
  );

/** A name that two rows have, else null. The request could hold only one of the two. */
export const doubleLabel = (rows: readonly LabelRow[]): string | null => {
  const names = rows.map(({ name }) => name).filter((name) => name !== '');
  return names.find((name, index) => names.indexOf(name) !== index) ?? null;
};

/** Budgets as typed; an empty text means no budget. */
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

/** The budgets to send. Text that is no number is sent unchanged, so that the service's error says what is expected. */
export const budgetsOf = ({ calls, amount, currency }: TypedBudgets): Schemas['Budgets'] => ({
  calls_per_day: calls.trim() === '' ? null : numberOf(calls),
  spend_per_day:
    amount.trim() === '' && currency.trim() === ''
      ? null
      : { amount: numberOf(amount), currency: currency.trim().toLowerCase() },
});

/** Only the budgets that were changed, so that a budget which the form does not show stays as it is. */
export const changedBudgets = (before: Schemas['Budgets'], next: Schemas['Budgets']): Partial<Schemas['Budgets']> => ({
  ...(next.calls_per_day === before.calls_per_day ? {} : { calls_per_day: next.calls_per_day }),
  ...(isSameSpend(before.spend_per_day, next.spend_per_day) ? {} : { spend_per_day: next.spend_per_day }),
});

const isSameSpend = (one: Schemas['Budgets']['spend_per_day'], other: Schemas['Budgets']['spend_per_day']): boolean =>
  one?.amount === other?.amount && one?.currency === other?.currency;

const numberOf = (text: string): number =>
  /^\d+$/.test(text.trim()) ? Number(text) : (text.trim() as unknown as number);
