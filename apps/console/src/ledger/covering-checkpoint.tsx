import { Link } from 'wouter';
import type { Schemas } from '../kernel/client.ts';
import { Badge } from '../kit/badges.tsx';
import { Fact, Facts } from '../kit/facts.tsx';
import { Failure } from '../kit/failure.tsx';
import { Bones, Panel, Said, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import styles from './ledger.module.css';
import { useCoveringCheckpoint } from './queries.ts';

/** The checkpoint that covers a deed: since when it is signed for, and who else has seen it. */
export const CoveringCheckpoint = ({ seq }: { readonly seq: number }) => {
  const { data, error, refetch } = useCoveringCheckpoint(seq);
  return (
    <Panel title="Who has witnessed it">
      {error === null ? null : <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined ? (
        error === null && <Bones count={2} />
      ) : data === null ? (
        <p className={kit['dim']}>No checkpoint covers this deed yet. One is made each minute.</p>
      ) : (
        <Covered by={data} />
      )}
    </Panel>
  );
};

const Covered = ({
  by: { size, made_at: at, witnessed_by: witnesses, quorum },
}: {
  readonly by: Schemas['WitnessedCheckpoint'];
}) => (
  <>
    <Facts>
      <Fact name="Checkpoint">
        of {size.toLocaleString('en')} {size === 1 ? 'deed' : 'deeds'}, signed <Time at={at} />
      </Fact>
      {witnesses.map(({ name, at: seenAt }) => (
        // A key that was replaced under its name has cosigned under the same one.
        <Fact key={`${name} ${seenAt}`} name="Witnessed by">
          <Said text={name} />, <Time at={seenAt} isExact />
        </Fact>
      ))}
      <Fact name="Enough">
        <Quorum is={quorum} />
      </Fact>
    </Facts>
    <p className={styles['note']}>
      {witnesses.length === 0
        ? 'A checkpoint signs the whole ledger up to a deed. Without a witness it is the word of the service alone.'
        : 'Times are by the clocks of the witnesses. This browser checks their signatures by the policy that the service gives; to check them by one of your own, export the deeds and verify the bundle.'}
    </p>
  </>
);

const Quorum = ({ is }: { readonly is: Schemas['WitnessedCheckpoint']['quorum'] }) => {
  switch (is) {
    case 'met':
      return (
        <Badge tone="ok" icon="eye">
          Witnessed
        </Badge>
      );
    case 'not_met':
      return (
        <>
          <Badge tone="warn" icon="clock">
            Not yet
          </Badge>{' '}
          <Link href="/settings/witnesses">Witnesses</Link>
        </>
      );
    case 'none':
      return (
        <>
          no witness is asked: <Link href="/settings/witnesses">add one</Link>
        </>
      );
  }
};
