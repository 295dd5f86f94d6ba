import { Link } from 'wouter';
import { useNew } from '../kernel/address.ts';
import type { Schemas } from '../kernel/client.ts';
import { useList } from '../kernel/lists.ts';
import { useMay } from '../kernel/session.tsx';
import { Badge } from '../kit/badges.tsx';
import { Failure, Lag } from '../kit/failure.tsx';
import { Bones, Button, Empty, Said, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { ListFoot } from '../kit/list-foot.tsx';
import { ScreenHead } from '../shell/screen.tsx';
import { CreateDialog } from './create-dialog.tsx';
import styles from './policies.module.css';
import { policyPages } from './queries.ts';
import { ShadowDiffers } from './shadow-differs.tsx';
import { Slots } from './slots.tsx';
import { Who } from '../kit/who.tsx';

/** The two slots, and the list of all policies. */
export const PoliciesScreen = () => {
  const may = useMay('admin');
  const { isNew, begin, end } = useNew();
  return (
    <>
      <ScreenHead
        title="Policies"
        about="Rules that allow calls, require approval, or deny them."
        action={
          may ? (
            <Button kind="primary" onClick={begin}>
              New policy
            </Button>
          ) : null
        }
      />
      <div className={styles['overview']}>
        <Slots />
        <ShadowDiffers />
        <PolicyList />
      </div>
      {isNew && may ? <CreateDialog onClose={end} /> : null}
    </>
  );
};

const PolicyList = () => {
  const list = useList(policyPages);
  const { rows, error, isPending, refetch } = list;
  return (
    <section aria-label="All policies" className={styles['stack']}>
      <Lag events={list.lag} />
      {error !== null ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : isPending ? (
        <Bones />
      ) : rows.length === 0 ? (
        <NoPolicies />
      ) : (
        <div className={kit['panel']}>
          <PoliciesTable rows={rows} />
        </div>
      )}
      <ListFoot {...list} />
    </section>
  );
};

const NoPolicies = () => (
  <Empty
    title="No policies yet"
    code={[
      `curl -sS '${location.origin}/v1/policies' -H "Authorization: Bearer $ADMIN_KEY" \\`,
      `  -H 'Content-Type: application/json' -d '{"name": "support", "source": "version: 1\\ndefault: deny\\n"}'`,
    ].join('\n')}
  >
    A policy is a list of rules; the first matching rule decides a call. Until a version is enforced, every call is
    denied. An admin creates policies here or with the API:
  </Empty>
);

const PoliciesTable = ({ rows }: { readonly rows: readonly Schemas['Policy'][] }) => (
  <table className={kit['table']}>
    <thead>
      <tr>
        <th scope="col">Name</th>
        <th scope="col">Status</th>
        <th scope="col">Latest version</th>
        <th scope="col">Saved by</th>
        <th scope="col">Saved</th>
      </tr>
    </thead>
    <tbody>
      {rows.map((policy) => (
        <PolicyRow key={policy.id} policy={policy} />
      ))}
    </tbody>
  </table>
);

const PolicyRow = ({ policy }: { readonly policy: Schemas['Policy'] }) => {
  const { latest_version: latest } = policy;
  return (
    <tr>
      <td>
        <Link href={`/policies/${policy.id}`} className={kit['rowLink'] ?? ''} data-row>
          <Said text={policy.name} />
        </Link>
      </td>
      <td data-end>
        {policy.enforced_version === null && policy.shadow_version === null ? (
          <span className={kit['dim']}>not in use</span>
        ) : null}
        <span className={styles['badges']}>
          {policy.enforced_version === null ? null : (
            <Badge tone="ok" icon="checkCircle">
              Enforced
            </Badge>
          )}
          {policy.shadow_version === null ? null : (
            <Badge tone="accent" icon="eye">
              In shadow
            </Badge>
          )}
        </span>
      </td>
      <td className={kit['number']}>version {latest.version}</td>
      <td data-hide>
        <Who actor={latest.author} />
      </td>
      <td data-end className={kit['number']}>
        <Time at={latest.created_at} />
      </td>
    </tr>
  );
};
