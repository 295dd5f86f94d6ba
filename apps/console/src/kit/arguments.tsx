import { Said } from './kit.tsx';
import styles from './kit.module.css';

/** Strings as they are, everything else as JSON. */
const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 1));

/** The members of an object, all of them, none cut. */
export const Arguments = ({
  args,
  empty = 'none',
}: {
  readonly args: Readonly<Record<string, unknown>>;
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
            <Said text={textOf(value)} isMultiline />
          </dd>
        </div>
      ))}
    </dl>
  );
};
