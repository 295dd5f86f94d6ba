import { TimeLeft } from '../approvals/time-left.tsx';
import { heldToolsInWords } from '../connectors/held-tools.ts';
import { whyDisabled } from '../connectors/why-disabled.ts';
import { Icon } from '../design/icon.tsx';
import type { Schemas } from '../kernel/client.ts';
import { useSession } from '../kernel/session.tsx';
import { Said, Time } from '../kit/kit.tsx';
import { Who } from '../kit/who.tsx';
import { StoppedSince } from '../shell/stopped.tsx';
import { MismatchLine } from './mismatch-line.tsx';
import { NeedLine } from './need-line.tsx';
import type { Need } from './needs.ts';
import styles from './overview.module.css';

type Attention = Schemas['Attention'];

/**
 * The list of what needs attention, each with its next step.
 * @param needs null while it is not known whether there is anything
 * @param from the beginning of the window
 */
export const AttentionList = ({ needs, from }: { readonly needs: readonly Need[] | null; readonly from: string }) => {
  if (needs === null) {
    return (
      <p className={styles['calm']} data-unsure="" role="status">
        Loading …
      </p>
    );
  }
  if (needs.length === 0) {
    return (
      <p className={styles['calm']}>
        <Icon name="checkCircle" size={18} /> Nothing needs your attention.
      </p>
    );
  }
  return (
    <ul className={styles['attention']} aria-label="Needs attention">
      {needs.map((need) => (
        <Line key={keyOf(need)} need={need} from={from} />
      ))}
    </ul>
  );
};

const keyOf = (need: Need): string => {
  switch (need.is) {
    case 'told':
      return `${need.item.kind}${need.item.ids.join()}${need.item.budget ?? ''}`;
    case 'expiring':
      return need.approval.id;
    case 'mismatches':
      return `mismatches${need.items.at(-1)?.ids.join() ?? ''}`;
    case 'waiting':
      return 'waiting';
  }
};

const Line = ({ need, from }: { readonly need: Need; readonly from: string }) => {
  switch (need.is) {
    case 'told':
      return <Told item={need.item} />;
    case 'mismatches':
      return <MismatchLine items={need.items} from={from} />;
    case 'expiring':
      return (
        <NeedLine icon="clock" tone="warn" to={`/approvals/${need.approval.id}`} step="Decide">
          <code>
            <Said text={need.approval.tool} />
          </code>{' '}
          by <Said text={need.approval.agent.name} /> waits for approval: <TimeLeft until={need.approval.expires_at} />.
        </NeedLine>
      );
    case 'waiting':
      return (
        <NeedLine icon="people" tone="warn" to={need.to} step={need.isOne ? 'Decide' : 'View'}>
          {need.isOne ? 'A call waits for approval: ' : `${need.count} calls wait for approval, the first has `}
          <TimeLeft until={need.firstEndsAt} />.
        </NeedLine>
      );
  }
};

const firstOf = ({ ids }: Attention, prefix: string): string => ids.find((id) => id.startsWith(prefix)) ?? '';

const Told = ({ item }: { readonly item: Attention }) => {
  switch (item.kind) {
    case 'chain_broken':
      return <BrokenChain item={item} />;
    case 'ledger_inconsistent':
      return <InconsistentLedger item={item} />;
    case 'org_stopped':
      return (
        <NeedLine icon="octagon" tone="bad" to="/actions?decision=deny" step="View denied calls">
          All agents are stopped
          <StoppedSince org={{ stopped_at: item.stopped_at ?? null, stopped_by: item.stopped_by ?? null }} />.
        </NeedLine>
      );
    case 'budget_near':
      return <BudgetLine item={item} />;
    case 'connector_disabled':
      return <DisabledConnector item={item} />;
    case 'connector_failing':
      return <FailingConnector item={item} />;
    case 'slot_invalidated':
      return (
        <NeedLine icon="plug" tone="bad" to={`/connectors/${firstOf(item, 'con_')}`} step="View connector">
          The change log of the connector <code>{item.connector ?? ''}</code> is lost to its witness. Nothing on it is
          verified until the operator sets the slot up anew.
        </NeedLine>
      );
    case 'slot_lagging':
      return (
        <NeedLine icon="plug" tone="warn" to={`/connectors/${firstOf(item, 'con_')}`} step="View connector">
          The witness of the connector <code>{item.connector ?? ''}</code>{' '}
          {item.reason === 'decoder_down' ? 'has no connection' : 'is behind the change log'}
          {item.since === undefined ? (
            '.'
          ) : (
            <>
              {' '}
              since <Time at={item.since} />.
            </>
          )}
        </NeedLine>
      );
    case 'passkey_counter_fell':
      return <CopiedPasskey user={firstOf(item, 'usr_')} />;
    case 'tools_held':
      return (
        <NeedLine icon="plug" tone="warn" to={`/connectors/${firstOf(item, 'con_')}`} step="See what changed">
          {heldToolsInWords(item.tools ?? 0)} at the connector <code>{item.connector ?? ''}</code>, whose server has
          changed what it says. Calls of {item.tools === 1 ? 'it' : 'them'} are denied until then.
        </NeedLine>
      );
    case 'witness_unknown_log':
      return <UnknownLog item={item} />;
    case 'ledger_unwitnessed':
      return <UnwitnessedLedger item={item} />;
    // Mismatches and expiring approvals have line components of their own.
    case 'mismatch':
    case 'approval_expiring':
      return null;
  }
};

const BrokenChain = ({ item }: { readonly item: Attention }) => (
  <NeedLine icon="shieldCross" tone="bad" to="/deeds" step="View deeds">
    The chain of deeds is broken
    {item.first_bad_seq === null || item.first_bad_seq === undefined ? '' : ` at #${item.first_bad_seq}`}:{' '}
    {item.reason ?? 'the check failed'}. Tell the operator.
  </NeedLine>
);

const InconsistentLedger = ({ item }: { readonly item: Attention }) => (
  <NeedLine icon="shieldCross" tone="bad" to="/deeds" step="View deeds">
    The ledger does not continue what was signed before: it had {item.size ?? 'fewer'} deeds where{' '}
    {item.signed_size ?? 'more'} were signed. Nothing more is signed. Tell the operator.
  </NeedLine>
);

const UnknownLog = ({ item }: { readonly item: Attention }) => (
  <NeedLine icon="alert" tone="warn" to="/deeds" step="View deeds">
    The witness <Said text={item.witness ?? ''} /> does not know this ledger. Give its operator the verifier key{' '}
    <code>{(item.verifier_keys ?? []).join(' ')}</code>
  </NeedLine>
);

const UnwitnessedLedger = ({ item }: { readonly item: Attention }) => (
  <NeedLine icon="alert" tone="warn" to="/deeds" step="View deeds">
    Too few witnesses have cosigned the ledger: {item.signed_size ?? 0} of {item.size ?? 0} deeds
    {item.since === undefined ? (
      '.'
    ) : (
      <>
        , since <Time at={item.since} />.
      </>
    )}
  </NeedLine>
);

const CopiedPasskey = ({ user }: { readonly user: string }) => {
  const { me } = useSession();
  const isOwn = user === me.user.id;
  return (
    <NeedLine
      icon="key"
      tone="warn"
      to={isOwn ? '/settings/sessions' : '/settings/members'}
      step={isOwn ? 'View your passkeys' : 'View members'}
    >
      A passkey of {isOwn ? 'yours' : <Who actor={{ type: 'user', id: user }} />} counted its signatures wrongly, as a
      copy would.{' '}
      {isOwn ? 'Remove it, unless nobody else can have it.' : 'Ask them to remove it, unless nobody else can have it.'}
    </NeedLine>
  );
};

const BudgetLine = ({ item }: { readonly item: Attention }) => {
  const agent = firstOf(item, 'agt_');
  const unit = item.currency === null || item.currency === undefined ? 'calls' : `${item.currency} (smallest unit)`;
  return (
    <NeedLine
      icon="alert"
      tone="warn"
      to={agent === '' ? '/actions' : `/agents/${agent}`}
      step={agent === '' ? 'View actions' : 'View agent'}
    >
      Budget {item.budget ?? ''}: {item.used ?? 0} of {item.limit ?? 0} {unit} used
      {item.resets_at === undefined ? (
        '.'
      ) : (
        <>
          , resets <Time at={item.resets_at} />.
        </>
      )}
    </NeedLine>
  );
};

const DisabledConnector = ({ item }: { readonly item: Attention }) => (
  <NeedLine icon="plug" tone="bad" to={`/connectors/${firstOf(item, 'con_')}`} step="See why">
    The service disabled the connector <code>{item.connector ?? ''}</code>:{' '}
    <Said text={whyDisabled(item.reason ?? '')} />. Its calls are denied.
  </NeedLine>
);

const FailingConnector = ({ item }: { readonly item: Attention }) => (
  <NeedLine icon="plug" tone="warn" to={`/connectors/${firstOf(item, 'con_')}`} step="See its checks">
    The connector <code>{item.connector ?? ''}</code> failed its test
    {item.tested_at === undefined ? (
      '.'
    ) : (
      <>
        {' '}
        <Time at={item.tested_at} />.
      </>
    )}
  </NeedLine>
);
