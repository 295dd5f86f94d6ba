import { Link } from 'wouter';
import type { Schemas } from '../kernel/client.ts';
import { useSession } from '../kernel/session.tsx';
import { Arguments } from '../kit/arguments.tsx';
import { Fact, Facts } from '../kit/facts.tsx';
import { Failure } from '../kit/failure.tsx';
import { Bones, CopyButton, Id, Panel, Said, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { ScreenHead } from '../shell/screen.tsx';
import { about } from './about.ts';
import { useDeed } from './deed.ts';
import { DeedCheck } from './deed-check.tsx';
import styles from './ledger.module.css';

type Deed = Schemas['Deed'];

export const DeedScreen = ({ id }: { readonly id: string }) => {
  const { data, error, refetch } = useDeed(id);
  const { me } = useSession();
  if (data === undefined) {
    return (
      <>
        <ScreenHead title="Deed" />
        {error === null ? <Bones /> : <Failure error={error} onRetry={() => void refetch()} />}
      </>
    );
  }
  const { envelope, before, after } = data;
  const bytes = new TextDecoder().decode(data.bytes);
  const told = about(envelope?.about ?? null);
  return (
    <>
      <ScreenHead
        title={envelope === null ? 'Deed' : `Deed #${envelope.seq}`}
        about={
          <>
            <code>
              <Said text={told.what} />
            </code>{' '}
            <Said text={told.detail} />
          </>
        }
      />
      <div className={kit['columns']}>
        <Sections bytes={bytes} />
        <div className={kit['stack']}>
          <DeedCheck id={id} />
          {envelope === null ? null : <Envelope deed={envelope} before={before} next={after} />}
          {envelope === null ? null : <Verify org={me.org.id} />}
        </div>
      </div>
    </>
  );
};

const SECTIONS: Readonly<Record<string, string>> = {
  who: 'Who',
  action: 'What was asked for',
  policy: 'By which policy',
  approval: 'Who approved',
  execution: 'What ran',
  witness: 'How it is known',
  cost: 'What it cost',
  admin: 'What was changed',
  chain: 'The deed before',
};

/** Every member of the deed, in the words of its sections, nothing left out. */
const Sections = ({ bytes }: { readonly bytes: string }) => {
  const body = JSON.parse(bytes) as Readonly<Record<string, unknown>>;
  const isSection = (value: unknown): value is Readonly<Record<string, unknown>> =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  const sections = Object.entries(body).filter(([, value]) => isSection(value));
  const plain = Object.fromEntries(Object.entries(body).filter(([, value]) => !isSection(value)));
  return (
    <div className={kit['stack']}>
      {sections.map(([name, value]) => (
        <Panel key={name} title={SECTIONS[name] ?? name}>
          <Arguments args={value as Readonly<Record<string, unknown>>} />
        </Panel>
      ))}
      <Panel title="The deed itself">
        <Arguments args={plain} />
      </Panel>
      <Panel title="The bytes" aside={<CopyButton text={bytes}>Copy</CopyButton>}>
        <pre className={kit['code']} tabIndex={0}>
          <Said text={bytes} />
        </pre>
      </Panel>
    </div>
  );
};

const Envelope = ({
  deed,
  before,
  next,
}: {
  readonly deed: Deed;
  readonly before: Deed | null;
  readonly next: Deed | null;
}) => {
  return (
    <Panel title="Its place in the chain">
      <Facts>
        <Fact name="Issued">
          <Time at={deed.issued_at} isExact />
        </Fact>
        <Fact name="Deed">
          <Id id={deed.id} />
        </Fact>
        <Fact name="Body hash">
          <Id id={deed.body_hash} />
        </Fact>
        <Fact name="Sealed by">
          <Id id={deed.kid} />
        </Fact>
        {deed.action === null ? null : (
          <Fact name="Action">
            <Link href={`/actions/${deed.action}`}>The action</Link> <Id id={deed.action} />
          </Fact>
        )}
        <Fact name="Before">
          {before === null ? 'none: it is the first' : <Link href={`/deeds/${before.id}`}>#{before.seq}</Link>}
        </Fact>
        <Fact name="After">
          {next === null ? 'none follows yet' : <Link href={`/deeds/${next.id}`}>#{next.seq}</Link>}
        </Fact>
      </Facts>
    </Panel>
  );
};

/** What a page of the service cannot prove: it comes from where the deed comes from. */
const Verify = ({ org }: { readonly org: string }) => (
  <Panel title="Check it without us">
    <p className={styles['note']}>
      This page, the keys and the deed come from the same service. Export the days around it and check them where you
      trust the program and the key:
    </p>
    <pre className={kit['code']} tabIndex={0}>
      {`npm run ags -- verify BUNDLE --org ${org} --pin FINGERPRINT`}
    </pre>
  </Panel>
);
