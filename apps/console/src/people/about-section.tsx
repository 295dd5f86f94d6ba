import { useQuery } from '@tanstack/react-query';
import type { Schemas } from '../kernel/client.ts';
import { useVersion } from '../kernel/documentation.tsx';
import { useOrganization } from '../kernel/session.tsx';
import { Badge } from '../kit/badges.tsx';
import { Failure } from '../kit/failure.tsx';
import { Bones, CopyButton, Id, Panel, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { fingerprintQuery, sealKeys } from './queries.ts';
import styles from './settings.module.css';

type SealKey = Schemas['SealKey'];

/** The running version, the seal keys, and links to the documentation. */
export const AboutSection = () => {
  const docsUrl = useVersion().data?.docs_url ?? null;
  return (
    <>
      <VersionPanel />
      <KeysPanel />
      <Panel title="Read on">
        <ul className={styles['links']}>
          {docsUrl === null ? null : (
            <li>
              <a href={docsUrl}>Documentation</a>
            </li>
          )}
          <li>
            <a href="/api/openapi.yaml">OpenAPI document</a>
          </li>
          <li>
            <a href={docsUrl === null ? '/docs/errors' : `${docsUrl}/errors`}>Error codes and how to resolve them</a>
          </li>
          <li>
            <a href="/.well-known/service/keys.json">Seal keys as JSON</a>
          </li>
        </ul>
      </Panel>
    </>
  );
};

const VersionPanel = () => {
  const { data: org } = useOrganization();
  const { data: version, error, refetch } = useVersion();
  return (
    <Panel title="The service">
      {error === null ? null : <Failure error={error} onRetry={() => void refetch()} />}
      {version === undefined ? (
        error === null && <Bones count={2} />
      ) : (
        <dl className={styles['facts']}>
          <dt>Version</dt>
          <dd>{version.version}</dd>
          <dt>Commit</dt>
          <dd>
            <Id id={version.commit} isWhole />
          </dd>
          <dt>Built</dt>
          <dd>{version.built_at === null ? 'from source' : <Time at={version.built_at} isExact />}</dd>
          <dt>Node.js</dt>
          <dd>{version.node}</dd>
          <dt>API versions</dt>
          <dd>{version.api_versions.join(', ')}</dd>
          <dt>Default API version</dt>
          <dd>
            {org === undefined || org.pinned_version === null
              ? `${version.default_api_version} (latest; no version is pinned)`
              : `${org.pinned_version} (pinned)`}
          </dd>
        </dl>
      )}
    </Panel>
  );
};

const KeysPanel = () => {
  const { data, error, refetch } = useQuery(sealKeys);
  return (
    <Panel title="Seal keys">
      <p className={styles['about']}>
        Compare this fingerprint with a copy that you received another way, for example in print: this page comes from
        the service that the fingerprint is to prove. Pass the fingerprint to <code>verify --pin</code>.
      </p>
      {error === null ? null : <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null ? <Bones count={2} /> : null}
      <ul>
        {data?.keys.toReversed().map((key) => (
          <Key key={key.kid} of={key} />
        ))}
      </ul>
      {data?.keys.length === 0 ? <p className={kit['dim']}>No seal key yet. The first deed creates one.</p> : null}
    </Panel>
  );
};

/**
 * The fingerprint of a seal key; null while it is computed, and if the page is not in a secure context (plain http
 * other than localhost), where browsers offer no hash function.
 */
const useFingerprint = (publicKey: string): string | null =>
  useQuery({ ...fingerprintQuery(publicKey), enabled: isSecureContext }).data ?? null;

const Key = ({ of: key }: { readonly of: SealKey }) => {
  const fingerprint = useFingerprint(key.public_key);
  return (
    <li className={styles['key']}>
      <code>{fingerprint ?? `${key.kid} (first half of the fingerprint)`}</code>
      <span className={styles['tools']}>
        {key.revoked_at !== null ? (
          <Badge tone="bad" icon="shieldCross">
            Revoked
          </Badge>
        ) : key.retired_at !== null ? (
          <Badge tone="quiet" icon="clock">
            Retired
          </Badge>
        ) : (
          <Badge tone="ok" icon="shield">
            Active
          </Badge>
        )}
        {fingerprint === null ? null : <CopyButton text={fingerprint}>Copy fingerprint</CopyButton>}
      </span>
      <small className={kit['dim']}>
        since <Time at={key.activated_at} />
        {key.retired_at === null ? null : (
          <>
            , until <Time at={key.retired_at} />
          </>
        )}
        {key.revoked_at === null ? null : (
          <>
            , revoked <Time at={key.revoked_at} />
          </>
        )}
      </small>
      <small className={kit['dim']}>
        public key <Id id={key.public_key} isWhole />
      </small>
    </li>
  );
};
