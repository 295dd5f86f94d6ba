import { useState } from 'react';
import { Link } from 'wouter';
import type { Schemas } from '../kernel/client.ts';
import { useList } from '../kernel/lists.ts';
import { useMay } from '../kernel/session.tsx';
import { Badge } from '../kit/badges.tsx';
import { Failure, Lag } from '../kit/failure.tsx';
import { Bones, Button, Said, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { ListFoot } from '../kit/list-foot.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { Comparison } from './editor.tsx';
import styles from './policies.module.css';
import { versionPages } from './queries.ts';
import { SlotDialog } from './slot-dialog.tsx';
import { Who } from '../kit/who.tsx';

type Version = Schemas['PolicyVersion'];
type Mode = Schemas['PolicyMode'];

const ORIGINS = { user: '', starter: ', from the setup', suggestion: ', from a suggestion' } as const;

/** All versions of a policy, newest first, each with its changes and the buttons to use it. */
export const Versions = ({ policy }: { readonly policy: Schemas['Policy'] }) => {
  const list = useList(versionPages(policy.id));
  const [chosen, setChosen] = useState<{ readonly version: Version; readonly mode: Mode } | null>(null);
  const [compared, setCompared] = useState<{ readonly before: Version; readonly after: Version } | null>(null);
  return (
    <>
      <div className={styles['toolHead']}>
        <h2>Versions</h2>
      </div>
      <Lag events={list.lag} />
      {list.error === null ? null : <Failure error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending ? <Bones count={3} /> : null}
      <ol className={styles['versions']}>
        {list.rows.map((version, index) => (
          <VersionRow
            key={version.id}
            version={version}
            before={list.rows[index + 1] ?? null}
            onCompare={setCompared}
            onMode={(mode) => setChosen({ version, mode })}
          />
        ))}
      </ol>
      <ListFoot {...list} />
      {chosen === null ? null : (
        <SlotDialog policy={policy} version={chosen.version} mode={chosen.mode} onClose={() => setChosen(null)} />
      )}
      {compared === null ? null : (
        <Dialog
          title={`From version ${compared.before.version} to version ${compared.after.version}`}
          onClose={() => setCompared(null)}
        >
          <div className={styles['comparison']}>
            <Comparison
              label={`Version ${compared.after.version}, compared with version ${compared.before.version}`}
              before={compared.before.source}
              after={compared.after.source}
            />
          </div>
        </Dialog>
      )}
    </>
  );
};

/** Names the version of a button to screen readers, because every row has the same buttons. */
const OfVersion = ({ version }: { readonly version: Version }) => (
  <span className="visually-hidden"> version {version.version}</span>
);

const VersionRow = ({
  version,
  before,
  onCompare,
  onMode,
}: {
  readonly version: Version;
  /** The version before; null for the first version, and while the one before is not loaded. */
  readonly before: Version | null;
  readonly onCompare: (pair: { readonly before: Version; readonly after: Version }) => void;
  readonly onMode: (mode: Mode) => void;
}) => {
  const may = useMay('admin');
  return (
    <li>
      <div className={styles['replayHead']}>
        <Link href={`/policies/${version.policy}?version=${version.id}&tool=versions`}>
          <strong>Version {version.version}</strong>
        </Link>
        {version.activation === 'enforce' ? (
          <Badge tone="ok" icon="checkCircle">
            Enforced
          </Badge>
        ) : version.activation === 'shadow' ? (
          <Badge tone="accent" icon="eye">
            In shadow
          </Badge>
        ) : null}
      </div>
      <p className={kit['dim']}>
        <Time at={version.created_at} /> by <Who actor={version.author} />
        {ORIGINS[version.origin]}
      </p>
      {version.notes === null ? null : (
        <p className={styles['notes']}>
          <Said text={version.notes} isMultiline />
        </p>
      )}
      <div className={styles['buttons']}>
        {before === null ? null : (
          <Button isSmall onClick={() => onCompare({ before, after: version })}>
            Show changes
            <OfVersion version={version} />
          </Button>
        )}
        {may && version.activation === null ? (
          <Button isSmall onClick={() => onMode('shadow')}>
            Run in shadow …
            <OfVersion version={version} />
          </Button>
        ) : null}
        {may && version.activation !== 'enforce' ? (
          <Button isSmall onClick={() => onMode('enforce')}>
            Enforce …
            <OfVersion version={version} />
          </Button>
        ) : null}
      </div>
    </li>
  );
};
