import type { Schemas } from '../kernel/client.ts';
import { Said } from './kit.tsx';
import styles from './kit.module.css';

/** A string as it is, any other value as JSON. */
const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 1));

/** Shows all members of an object, none of them shortened. */
export const Arguments = ({
  args,
  amounts = [],
  empty = 'none',
}: {
  readonly args: Readonly<Record<string, unknown>>;
  /** The arguments that are amounts of money. */
  readonly amounts?: readonly Schemas['ShownAmount'][];
  readonly empty?: string;
}) => {
  const members = Object.entries(args);
  if (members.length === 0) return <p className={styles['dim']}>{empty}</p>;
  return (
    <dl className={styles['args']}>
      {members.map(([name, value]) => (
        <div key={name}>
          <dt>
            <Said text={name} />
          </dt>
          <dd>
            <Value text={textOf(value)} amount={amounts.find(({ argument }) => argument === name) ?? null} />
          </dd>
        </div>
      ))}
    </dl>
  );
};

/**
 * A value of the object. An amount of money is formatted, with the sent value below; if it cannot be formatted, the
 * sent value stands alone, with the reason.
 */
const Value = ({ text, amount }: { readonly text: string; readonly amount: Schemas['ShownAmount'] | null }) =>
  amount === null ? (
    <Said text={text} isMultiline />
  ) : amount.display === null ? (
    <>
      <Said text={text} isMultiline />
      <small className={styles['asSentBelow']}>
        Shown as it is sent. <Said text={amount.hint ?? ''} />
      </small>
    </>
  ) : (
    <>
      <strong>{amount.display}</strong>
      <small className={styles['asSentBelow']}>sent as {text}, in minor units</small>
    </>
  );
