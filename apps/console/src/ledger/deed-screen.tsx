import { Link } from 'wouter';
import type { Schemas } from '../kernel/client.ts';
import { useSession } from '../kernel/session.tsx';
import { EvidenceBadge } from '../kit/badges.tsx';
import { Fact } from '../kit/facts.tsx';
import { Failure } from '../kit/failure.tsx';
import { Bones, CopyButton, Id, Panel, Said } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { ScreenHead } from '../shell/screen.tsx';
import { AboutLine } from './about-line.tsx';
import { toldBy } from './about.ts';
import { bodyIn } from './body.ts';
import { CoveringCheckpoint } from './covering-checkpoint.tsx';
import { type ReadDeed, useDeed } from './queries.ts';
import { DeedCheck } from './deed-check.tsx';
import styles from './ledger.module.css';
import { useNames } from './names.ts';
import { Sections } from './sections.tsx';
import { VerifyLine } from './verify-line.tsx';

/** Shows a deed in full, from its bytes. Only the neighbours come from the list of deeds. */
export const DeedScreen = ({ id }: { readonly id: string }) => {
  const { data, error, refetch } = useDeed(id);
  const { me } = useSession();
  const names = useNames();
  if (data === undefined) {
    return (
      <>
        <ScreenHead title="Deed" />
        {error === null ? <Bones /> : <Failure error={error} onRetry={() => void refetch()} />}
      </>
    );
  }
  const bytes = new TextDecoder().decode(data.bytes);
  const body = bodyIn(data.bytes);
  const told = body === null ? null : toldBy(body);
  return (
    <>
      <ScreenHead
        title={body === null ? 'Deed' : `Deed #${body.seq}`}
        badges={told?.kind === 'action' && told.witness !== null ? <EvidenceBadge witness={told.witness} /> : null}
        about={
          told === null ? (
            'These bytes are not a valid deed.'
          ) : (
            <>
              {body?.kind === 'amendment' ? 'A later verdict about ' : null}
              <AboutLine told={told} names={names} />
            </>
          )
        }
      />
      <div className={kit['columns']}>
        <div className={kit['stack']}>
          {body === null ? null : <Sections body={body} place={<Neighbours deed={data} />} />}
        </div>
        <div className={kit['stack']}>
          <DeedCheck id={id} />
          {body === null ? null : <CoveringCheckpoint seq={body.seq} />}
          <Verify org={me.org.id} />
        </div>
        <Panel title="Canonical bytes" aside={<CopyButton text={bytes}>Copy</CopyButton>}>
          <pre className={kit['code']} tabIndex={0}>
            <Said text={bytes} />
          </pre>
        </Panel>
      </div>
    </>
  );
};

const Neighbours = ({ deed: { envelope, before, after } }: { readonly deed: ReadDeed }) => {
  if (envelope === null) return null;
  return (
    <>
      <Fact name="Its own hash">
        <Id id={envelope.body_hash} />
      </Fact>
      <Fact name="Before">
        <Neighbour deed={before} none="none (first deed)" />
      </Fact>
      <Fact name="After">
        <Neighbour deed={after} none="none yet" />
      </Fact>
    </>
  );
};

const Neighbour = ({ deed, none }: { readonly deed: Schemas['Deed'] | null; readonly none: string }) =>
  deed === null ? none : <Link href={`/deeds/${deed.id}`}>#{deed.seq}</Link>;

/**
 * Tells how to verify the deed without the service: a page cannot prove that, because it comes from the same service as
 * the deed.
 */
const Verify = ({ org }: { readonly org: string }) => (
  <Panel title="Verify independently">
    <p className={styles['note']}>
      This page, the keys and the deed come from the same service. To verify independently, export all deeds from the
      Deeds page and check them on a machine that you trust:
    </p>
    <VerifyLine org={org} />
  </Panel>
);
