import { useMutation } from '@tanstack/react-query';
import { Link } from 'wouter';
import { Icon } from '../design/icon.tsx';
import { api, bodyOf, type Schemas } from '../kernel/client.ts';
import { serverNow } from '../kernel/clock.ts';
import { LIST_DEEDS_FILTERS } from '../kernel/contract.ts';
import { useFilteredList } from '../kernel/filtered-list.ts';
import { useMay, useSession } from '../kernel/session.tsx';
import { Badge, EvidenceBadge } from '../kit/badges.tsx';
import { Failure } from '../kit/failure.tsx';
import { ChoiceChip, choicesOf, GivenChips, TimeChip } from '../kit/filters.tsx';
import { Button, Empty, Id, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { ListFrame } from '../kit/list-frame.tsx';
import { ScreenHead } from '../shell/screen.tsx';
import { AboutLine } from './about-line.tsx';
import { told } from './about.ts';
import styles from './ledger.module.css';
import { type Names, useNames } from './names.ts';
import { deedPages } from './queries.ts';
import { VerifyLine } from './verify-line.tsx';

type Deed = Schemas['Deed'];

/** The list has an order of its own, and no numbers to begin with. */
const FILTERS = LIST_DEEDS_FILTERS.filter((name) => name !== 'order' && !name.startsWith('seq['));

/** The ledger, newest first; each row tells what its deed is about. */
export const DeedsScreen = () => {
  const list = useFilteredList(FILTERS, deedPages);
  return (
    <>
      <ScreenHead title="Deeds" about="Sealed, chained records of every outcome. Deeds are never changed or removed." />
      <LedgerCheck />
      <ListFrame list={list} one="deed" chips={<Chips />} none={<NoDeeds />}>
        <DeedsTable rows={list.rows} />
      </ListFrame>
    </>
  );
};

const Chips = () => (
  <>
    <ChoiceChip
      name="kind"
      choices={choicesOf<Schemas['DeedKind']>({ action: 'actions', amendment: 'amendments', admin: 'admin changes' })}
    />
    <TimeChip name="issued_at" />
    <GivenChips names={FILTERS} except={['kind', 'issued_at']} />
  </>
);

const NoDeeds = () => (
  <Empty title="No deeds yet">
    A deed is the sealed record of an action, of a later verdict, or of an administrative change.
  </Empty>
);

const DAY_MS = 86_400_000;

/**
 * Lets the service check the deeds of the last 24 hours, and tells how to check the whole chain without the service.
 */
const LedgerCheck = () => {
  const { me } = useSession();
  const mayExportEvidence = useMay('admin');
  const check = useMutation({
    mutationFn: () =>
      bodyOf(
        api.GET('/v1/ledger/check', {
          params: { query: { from: new Date(Math.floor(serverNow()) - DAY_MS).toISOString() } },
        }),
      ),
  });
  const { data } = check;
  return (
    <div className={styles['check']}>
      <Button icon="shield" disabled={check.isPending} onClick={() => check.mutate()}>
        {check.isPending ? 'Checking …' : 'Check the last 24 hours'}
      </Button>
      <a className={kit['button']} href="/v1/deeds/export" download={`deeds-${me.org.id}.tar.gz`}>
        <Icon name="stamp" /> Export all deeds
      </a>
      {mayExportEvidence ? (
        <a
          className={kit['button']}
          href="/v1/deeds/export?evidence=true"
          download={`evidence-${me.org.id}.tar.gz`}
          title="With arguments, results, reasons and policies, as far as retention has not taken them. This export is sealed."
        >
          <Icon name="stamp" /> Export with evidence
        </a>
      ) : null}
      <span role="status">
        {data === undefined ? null : (
          <>
            {data.result === 'intact' ? (
              <Badge tone="ok" icon="shield">
                Intact
              </Badge>
            ) : (
              <Badge tone={data.result === 'broken' ? 'bad' : 'warn'} icon="shieldCross">
                {data.result === 'broken' ? 'Broken' : 'Incomplete'}
              </Badge>
            )}{' '}
            {data.checked} {data.checked === 1 ? 'deed is valid' : 'deeds are valid'}
            {data.reason === null ? '' : `; ${data.reason}`}
            {data.first_bad_seq === null ? '' : ` at #${data.first_bad_seq}`}. This check was run by the service itself.
          </>
        )}
      </span>
      <details>
        <summary>Verify without the service</summary>
        <VerifyLine org={me.org.id} />
      </details>
      {check.error === null ? null : <Failure error={check.error} onRetry={() => check.mutate()} />}
    </div>
  );
};

const KINDS = { action: 'action', amendment: 'amendment', admin: 'change' } as const;

const DeedsTable = ({ rows }: { readonly rows: readonly Deed[] }) => {
  const names = useNames();
  return (
    <table className={kit['table']}>
      <thead>
        <tr>
          <th scope="col">#</th>
          <th scope="col">Issued</th>
          <th scope="col">Kind</th>
          <th scope="col">About</th>
          <th scope="col">Evidence</th>
          <th scope="col">Deed</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((deed) => (
          <DeedRow key={deed.id} deed={deed} names={names} />
        ))}
      </tbody>
    </table>
  );
};

const DeedRow = ({ deed, names }: { readonly deed: Deed; readonly names: Names }) => {
  const about = told(deed.about);
  return (
    <tr>
      <td className={kit['number']}>
        <Link href={`/deeds/${deed.id}`} className={kit['rowLink'] ?? ''} data-row>
          #{deed.seq}
        </Link>
      </td>
      <td data-end className={kit['number']}>
        <Time at={deed.issued_at} />
      </td>
      <td data-hide>{KINDS[deed.kind]}</td>
      <td data-wide>
        <AboutLine told={about} names={names} />
      </td>
      <td>
        <EvidenceBadge witness={about.kind === 'action' ? about.witness : null} />
      </td>
      <td data-hide className={styles['above']}>
        <Id id={deed.id} />
      </td>
    </tr>
  );
};
