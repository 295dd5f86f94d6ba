import { useChange } from '../kernel/change.ts';
import { api, bodyOf, type Schemas } from '../kernel/client.ts';
import { useChanged } from '../kernel/refresh.ts';
import { useMay } from '../kernel/session.tsx';
import { type BadgeLook, LookBadge } from '../kit/badges.tsx';
import { Failure } from '../kit/failure.tsx';
import { Button, Panel, Said, Time } from '../kit/kit.tsx';
import { CodeBlock } from '../kit/code-block.tsx';
import kit from '../kit/kit.module.css';
import { HealthBadge } from './connector-badges.tsx';
import styles from './connectors.module.css';
import { fixOf } from './fix.ts';
import type { Connector } from './types.ts';

type Test = Schemas['ConnectorTest'];
type Check = Test['checks'][number];

/** The result of the connector's last test. Admins can run the test again. */
export const TestPanel = ({ connector }: { readonly connector: Connector }) => {
  const changed = useChanged();
  const may = useMay('admin');
  const { id, health } = connector;
  const run = useChange(
    (of: string, key) =>
      bodyOf(
        api.POST('/v1/connectors/{id}/test', { params: { path: { id: of }, header: { 'Idempotency-Key': key } } }),
      ),
    () => changed(['connectors']),
  );
  return (
    <Panel title="Connection test" aside={<HealthBadge health={health} />}>
      {health.last_test === null ? (
        <p className={kit['dim']}>
          Not tested yet. A test looks at the config, the credential, the way to the system and its certificate, and
          sends the test request where the config names one. It changes nothing.
        </p>
      ) : (
        <LastTest test={health.last_test} isOfNow={health.status !== 'not_tested'} />
      )}
      {run.error === null ? null : <Failure error={run.error} />}
      {may ? (
        <div className={kit['foot']}>
          <div className={kit['buttons']}>
            <Button icon="play" disabled={run.isPending} onClick={() => run.mutate(id)}>
              {run.isPending ? 'Testing …' : 'Test now'}
            </Button>
          </div>
        </div>
      ) : null}
    </Panel>
  );
};

const CHECKS: Readonly<Record<Check['status'], BadgeLook>> = {
  passed: ['ok', 'checkCircle', 'Passed'],
  skipped: ['plainBadge', 'question', 'Skipped'],
  failed: ['bad', 'crossCircle', 'Failed'],
};

const CHECK_NAMES: Readonly<Record<string, string>> = {
  config: 'Config',
  credentials: 'Credential',
  destination: 'Destination',
  tls: 'Certificate',
  auth: 'Test request',
  protocol: 'Protocol',
  tools: 'Tools',
  reachable: 'Login of the agents',
  version: 'Version',
  encoding: 'Encoding and statistics',
  agent_role: 'Role of the agents',
  schemas: 'Schemas',
  witness_role: 'Role of the witness',
  wal_level: 'Change log',
  free_slot: 'Free slot',
  publication: 'Publication',
  replica_identity: 'Replica identities',
  published_tables: 'Published tables',
  slot: 'Replication slot',
  slot_size: 'Size of the slot',
  lag: 'Lag of the witness',
  permissions: 'Permissions',
  repositories: 'Repositories',
  protection: 'Protected branches',
};

/** What to do. Where it has more than one line, the first is a sentence and the rest are commands to run as they stand. */
const Fix = ({ text }: { readonly text: string }) => {
  const { words, code } = fixOf(text);
  return (
    <>
      <p className={kit['dim']}>
        <Said text={words} />
      </p>
      {code === null ? null : <CodeBlock label={`${words} (commands)`} code={code} />}
    </>
  );
};

const LastTest = ({ test, isOfNow }: { readonly test: Test; readonly isOfNow: boolean }) => (
  <>
    <p className={kit['dim']}>
      Tested <Time at={test.tested_at} isExact />, with{' '}
      {isOfNow ? 'the config and the credential of now' : 'an earlier config or credential: test it again'} (config{' '}
      <code>{test.config_hash.slice(0, 'sha256:'.length + 8)}</code>).
    </p>
    <ul className={styles['tools']} aria-label="Checks" aria-live="polite">
      {test.checks.map((check) => (
        <li key={check.check}>
          <div className={styles['toolHead']}>
            <strong>{CHECK_NAMES[check.check] ?? check.check}</strong>
            <LookBadge look={CHECKS[check.status]} />
          </div>
          <p>
            <Said text={check.detail} />
          </p>
          {check.fix === null ? null : <Fix text={check.fix} />}
        </li>
      ))}
    </ul>
  </>
);
