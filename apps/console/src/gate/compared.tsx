import type { ReactNode } from 'react';
import type { Schemas } from '../kernel/client.ts';
import { Said } from '../kit/kit.tsx';
import styles from './gate.module.css';

/** What a read of the tool's work was expected to show, beside what it showed. */
export const Compared = ({ evidence }: { readonly evidence: Schemas['ReadBackEvidence'] }) => {
  const expected = evidence.expected as Readonly<Record<string, unknown>>;
  const observed = evidence.observed as Readonly<Record<string, unknown>>;
  const show = (value: unknown): ReactNode =>
    value === undefined ? <em>missing</em> : <Said text={JSON.stringify(value)} isMultiline />;
  return (
    <table className={styles['compare']}>
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">Expected</th>
          <th scope="col">Observed</th>
        </tr>
      </thead>
      <tbody>
        {Object.keys(expected).map((path) => (
          <tr key={path} data-differs={evidence.differs.includes(path) ? '' : undefined}>
            <th scope="row">
              <code>
                <Said text={path} />
              </code>
            </th>
            <td>
              <code>{show(expected[path])}</code>
            </td>
            <td>
              <code>{show(observed[path])}</code>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
};
