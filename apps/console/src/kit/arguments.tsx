import type { Schemas } from '../kernel/client.ts';
import { Said } from './kit.tsx';
import styles from './kit.module.css';

/** Strings as they are, everything else as JSON. */
const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 1));

/** The members of an object, all of them, none cut. */
export const Arguments = ({
  args,
  amounts = [],
  empty = 'none',
}: {
  readonly args: Readonly<Record<string, unknown>>;
  /** Those of them that are amounts of money. */
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

/** Money as people read it, with what is sent below; what cannot be read so as it is, with the reason. */
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
