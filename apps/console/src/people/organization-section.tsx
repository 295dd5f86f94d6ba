import type { ReactNode } from 'react';
import type { Schemas } from '../kernel/client.ts';
import { serverNow } from '../kernel/clock.ts';
import { useVersion } from '../kernel/documentation.tsx';
import { useMay, useOrganization } from '../kernel/session.tsx';
import { Times } from '../kernel/times.ts';
import { Failure } from '../kit/failure.tsx';
import { Bones, Id, Panel, Said, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { ApprovalsForm } from './approvals-form.tsx';
import { daysInWords, doorInWords, lifeInWords } from './organization-words.ts';
import { NameForm, RetentionForm, VersionForm } from './organization-forms.tsx';
import { WhoMay } from './who-may.tsx';
import styles from './settings.module.css';

type Organization = Schemas['Organization'];

/** The settings of the organization: a form for those who may change a setting, else its value and who may. */
export const OrganizationSection = () => {
  const { data: org, error, refetch } = useOrganization();
  if (org === undefined)
    return error === null ? <Bones count={4} /> : <Failure error={error} onRetry={() => void refetch()} />;
  return (
    <>
      <NamePanel org={org} />
      <ApprovalsPanel org={org} />
      <RetentionPanel org={org} />
      <VersionPanel org={org} />
      <Panel title="Ids">
        <dl className={styles['facts']}>
          <dt>Organization</dt>
          <dd>
            <Id id={org.id} isWhole />
          </dd>
          <dt>Created</dt>
          <dd>
            <Time at={org.created_at} isExact />
          </dd>
        </dl>
      </Panel>
    </>
  );
};

const NamePanel = ({ org }: { readonly org: Organization }) => (
  <Panel title="Name and time zone">
    {useMay('admin') ? (
      <NameForm org={org} />
    ) : (
      <dl className={styles['facts']}>
        <dt>Name</dt>
        <dd>
          <Said text={org.name} />
        </dd>
        <dt>Time zone</dt>
        <dd>{new Times(org.timezone).zoneName(serverNow())}</dd>
      </dl>
    )}
  </Panel>
);

/** The value of a setting, and who may change it. */
const Owners = ({ children }: { readonly children: ReactNode }) => (
  <>
    <dl className={styles['facts']}>{children}</dl>
    <p className={kit['dim']}>
      <WhoMay may="change this" />
    </p>
  </>
);

const ApprovalsPanel = ({ org }: { readonly org: Organization }) => {
  const { mail, expires_in_s: seconds, signed } = org.approvals;
  return (
    <Panel title="Approvals">
      {useMay('owner') ? (
        <ApprovalsForm org={org} />
      ) : (
        <Owners>
          <dt>Mail</dt>
          <dd>{doorInWords(mail)}</dd>
          <dt>Approvals need a passkey</dt>
          <dd>{signed ? 'always' : 'where a rule says so'}</dd>
          <dt>Approvals expire after</dt>
          <dd>{lifeInWords(seconds)}unless a rule sets a different time</dd>
        </Owners>
      )}
    </Panel>
  );
};

const RetentionPanel = ({ org }: { readonly org: Organization }) => (
  <Panel title="Retention">
    <p className={styles['about']}>
      Bodies are the arguments that agents sent and the results that tools returned. Bodies are removed after this time.
      Deeds hold only digests: deeds stay and can still be verified.
    </p>
    {useMay('owner') ? (
      <RetentionForm org={org} />
    ) : (
      <Owners>
        <dt>Keep bodies</dt>
        <dd>{daysInWords(org.retention_days)}</dd>
      </Owners>
    )}
  </Panel>
);

const VersionPanel = ({ org }: { readonly org: Organization }) => {
  const { data: version } = useVersion();
  const latest = version?.default_api_version;
  return (
    <Panel title="API version">
      <p className={styles['about']}>
        The API version for requests without the header <code>Service-Version</code>. The behavior of a version never
        changes.
      </p>
      {useMay('owner') && version !== undefined ? (
        <VersionForm org={org} versions={version.api_versions} />
      ) : (
        <Owners>
          <dt>Pinned</dt>
          <dd>{org.pinned_version ?? `none (latest: ${latest ?? 'see GET /v1/version'})`}</dd>
        </Owners>
      )}
    </Panel>
  );
};
