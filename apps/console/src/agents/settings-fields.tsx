import { faultAt } from '../kernel/errors.ts';
import { Fault, FieldGroup, TextField } from '../kit/fields.tsx';
import { Button } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import styles from './agents.module.css';
import { type LabelRow, newLabel, type TypedBudgets } from './written.ts';

const LABELS_MAX = 16;

/** The fields for an agent's labels, a row for each. */
export const LabelsFields = ({
  rows,
  error,
  onChange,
}: {
  readonly rows: readonly LabelRow[];
  readonly error: Error | null;
  readonly onChange: (rows: readonly LabelRow[]) => void;
}) => {
  const change = (id: number, part: Partial<LabelRow>): void =>
    onChange(rows.map((row) => (row.id === id ? { ...row, ...part } : row)));
  const faults = ['labels', ...rows.map(({ name }) => `labels.${name}`)].flatMap((at) => faultAt(error, at) ?? []);
  return (
    <FieldGroup
      legend="Labels"
      hint="Policies can match on labels, such as team, tier or region."
      fault={faults[0] ?? null}
    >
      {rows.map(({ id, name, value }, index) => (
        <div key={id} className={styles['label']}>
          <input
            className={kit['field']}
            aria-label={`Name of label ${index + 1}`}
            placeholder="team"
            autoComplete="off"
            maxLength={32}
            value={name}
            onChange={({ target }) => change(id, { name: target.value })}
          />
          <input
            className={kit['field']}
            aria-label={`Value of label ${index + 1}`}
            placeholder="support"
            autoComplete="off"
            maxLength={128}
            value={value}
            onChange={({ target }) => change(id, { value: target.value })}
          />
          <Button
            isSmall
            icon="cross"
            aria-label={`Remove label ${name === '' ? index + 1 : name}`}
            onClick={() => onChange(rows.filter((row) => row.id !== id))}
          />
        </div>
      ))}
      {rows.length < LABELS_MAX ? (
        <div>
          <Button isSmall onClick={() => onChange([...rows, newLabel()])}>
            Add {rows.length === 0 ? 'a' : 'another'} label
          </Button>
        </div>
      ) : null}
    </FieldGroup>
  );
};

/** The fields for an agent's daily budgets. */
export const BudgetFields = ({
  budgets,
  error,
  onChange,
}: {
  readonly budgets: TypedBudgets;
  readonly error: Error | null;
  readonly onChange: (budgets: TypedBudgets) => void;
}) => (
  <FieldGroup legend="Daily budget">
    <TextField
      label="Calls"
      hint="Leave empty for no limit. Denied calls do not count."
      param="budgets.calls_per_day"
      error={error}
      inputMode="numeric"
      value={budgets.calls}
      onChange={(calls) => onChange({ ...budgets, calls })}
    />
    <SpendFields budgets={budgets} error={error} onChange={onChange} />
  </FieldGroup>
);

const SpendFields = ({
  budgets,
  error,
  onChange,
}: {
  readonly budgets: TypedBudgets;
  readonly error: Error | null;
  readonly onChange: (budgets: TypedBudgets) => void;
}) => (
  <div className={styles['money']}>
    <TextField
      label="Spend, in the smallest unit"
      hint="Cents for eur: 5000 is €50.00. Only tools that say what they spend count. Leave both fields empty for no limit."
      param="budgets.spend_per_day.amount"
      error={error}
      inputMode="numeric"
      value={budgets.amount}
      onChange={(amount) => onChange({ ...budgets, amount })}
    />
    <TextField
      label="Currency"
      param="budgets.spend_per_day.currency"
      error={error}
      placeholder="eur"
      maxLength={3}
      value={budgets.currency}
      onChange={(currency) => onChange({ ...budgets, currency })}
    />
  </div>
);

/** Warns of a label name that is used twice, before the form is sent. */
export const DoubleLabel = ({ name }: { readonly name: string | null }) => (
  <Fault text={name === null ? null : `The label ${name} is used twice. Rename one of them.`} />
);
