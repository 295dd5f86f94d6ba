import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { everyConnector } from '../connectors/queries.ts';
import type { Schemas } from '../kernel/client.ts';
import { EvidenceBadge } from '../kit/badges.tsx';
import { Said } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { ChangeLog } from './change-log.tsx';
import { Compared } from './compared.tsx';
import styles from './gate.module.css';
import { reasonInWords } from './reasons.ts';
import { isRemoved } from './shown.ts';
import { Step } from './step.tsx';

type ActionDetail = Schemas['ActionDetail'];
type Witness = NonNullable<ActionDetail['witness']>;

/** What the witness found, and what it rests on. */
export const WitnessStep = ({ witness, after }: { readonly witness: Witness; readonly after: ReactNode }) => (
  <Step
    icon="eye"
    title="Witnessed"
    badge={<EvidenceBadge witness={witness} />}
    tone={witness.verdict === 'MISMATCH' ? 'bad' : witness.verdict === 'UNVERIFIABLE' ? 'warn' : 'plain'}
    after={after}
  >
    {witness.method === 'change_log' ? (
      <LogVerdict witness={witness} />
    ) : (
      <p>
        <Said text={witness.summary} />
      </p>
    )}
    <WitnessDetail detail={witness.detail} />
  </Step>
);

/** The verdict of a change log, with each reason in words. Where it contradicts the call, somebody must look. */
const LogVerdict = ({ witness }: { readonly witness: Witness }) => (
  <div
    className={styles['verdict']}
    data-verdict={witness.verdict}
    role={witness.verdict === 'MISMATCH' ? 'group' : undefined}
    aria-label={witness.verdict === 'MISMATCH' ? 'The change log contradicts this call' : undefined}
  >
    {witness.verdict === 'MISMATCH' ? <strong>The change log contradicts this call. Look at it.</strong> : null}
    <p>
      <Said text={witness.summary} />
    </p>
    {witness.reasons === undefined || witness.reasons.length === 0 ? null : (
      <ul className={styles['reasons']} aria-label="Reasons">
        {witness.reasons.map((reason) => (
          <li key={reason}>
            {reasonInWords(reason, witness.verdict)}{' '}
            <code>
              <Said text={reason} />
            </code>
          </li>
        ))}
      </ul>
    )}
  </div>
);

export const Removed = () => <p>Removed at the end of the retention period. The deed keeps the digest.</p>;

const WitnessDetail = ({ detail }: { readonly detail: Witness['detail'] }) => {
  if (detail === null) return null;
  if (isRemoved(detail)) return <Removed />;
  return 'differs' in detail ? <Compared evidence={detail} /> : <ChangeLog evidence={detail} />;
};

/** Stands where the witness of a call that ran has not spoken yet. */
export const AwaitedWitness = ({ tool }: { readonly tool: string }) => {
  const { data: connectors } = useQuery(everyConnector);
  const name = tool.split('.')[0];
  const isDatabase = connectors?.data.some((each) => each.name === name && each.type === 'database') === true;
  return (
    <Step icon="eye" title="Not witnessed yet" after="">
      <p role="status" className={kit['dim']}>
        {isDatabase
          ? 'The change log of the database is awaited: it shows which rows the call really changed.'
          : 'What the call did is being checked.'}
      </p>
    </Step>
  );
};
