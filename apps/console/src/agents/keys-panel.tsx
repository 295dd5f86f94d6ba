import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { useChange } from '../kernel/change.ts';
import { api, bodyOf, type Schemas } from '../kernel/client.ts';
import { serverNow } from '../kernel/clock.ts';
import { plain } from '../kernel/said.ts';
import { useChanged } from '../kernel/refresh.ts';
import { useSecretChange } from '../kernel/secret-change.ts';
import { useMay } from '../kernel/session.tsx';
import { Failure } from '../kit/failure.tsx';
import { FormDialog } from '../kit/form-dialog.tsx';
import { Bones, Button, Panel, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { type Overlap, OverlapChoice } from '../kit/overlap.tsx';
import { SecretDialog } from '../kit/secret-dialog.tsx';
import styles from './agents.module.css';
import { FIRST_KEY, KeyFields, type TypedKey } from './key-fields.tsx';
import { agentKeys } from './queries.ts';

type Agent = Schemas['Agent'];
type Key = Schemas['ApiKey'];
type Asked = { readonly what: 'new' } | { readonly what: 'roll' | 'revoke'; readonly key: Key };

/** The agent's API keys: creates, rolls and revokes them. A key's secret is shown once. */
export const KeysPanel = ({ agent }: { readonly agent: Agent }) => {
  const may = useMay('admin');
  const [asked, setAsked] = useState<Asked | null>(null);
  const { data, error, refetch } = useQuery(agentKeys(agent.id));
  const close = (): void => setAsked(null);
  const keys = data?.data;
  const ended = keys?.filter(hasEnded) ?? [];
  return (
    <Panel
      title="Keys"
      aside={
        may ? (
          <Button isSmall onClick={() => setAsked({ what: 'new' })}>
            New key
          </Button>
        ) : null
      }
    >
      {error === null ? null : <Failure error={error} onRetry={() => void refetch()} />}
      {keys === undefined && error === null ? <Bones count={2} /> : null}
      {keys?.length === ended.length ? <p className={kit['dim']}>No active key. The agent cannot call tools.</p> : null}
      <ul className={kit['rows']}>
        {keys
          ?.filter((key) => !hasEnded(key))
          .map((key) => (
            <KeyRow key={key.id} of={key} onAsk={may ? setAsked : null} />
          ))}
      </ul>
      <Ended keys={ended} />
      {asked?.what === 'new' ? <NewKey agent={agent} onClose={close} /> : null}
      {asked?.what === 'roll' ? <RollKey agent={agent} of={asked.key} onClose={close} /> : null}
      {asked?.what === 'revoke' ? <RevokeKey agent={agent} of={asked.key} onClose={close} /> : null}
    </Panel>
  );
};

const Ended = ({ keys }: { readonly keys: readonly Key[] }) =>
  keys.length === 0 ? null : (
    <details className={styles['ended']}>
      <summary>
        {keys.length} {keys.length === 1 ? 'inactive key' : 'inactive keys'}
      </summary>
      <ul className={kit['rows']}>
        {keys.map((key) => (
          <KeyRow key={key.id} of={key} onAsk={null} />
        ))}
      </ul>
    </details>
  );

const hasEnded = ({ revoked_at: revokedAt, expires_at: expiresAt }: Key): boolean =>
  revokedAt !== null || (expiresAt !== null && Date.parse(expiresAt) <= serverNow());

const KeyRow = ({ of: key, onAsk }: { readonly of: Key; readonly onAsk: ((asked: Asked) => void) | null }) => (
  <li>
    <code>{key.prefix}…</code>
    <small>
      {key.livemode ? 'live' : 'test (tools run all the same)'}, {key.scopes.join(', ')}, created{' '}
      <Time at={key.created_at} />
      {key.revoked_at !== null ? (
        <>
          , revoked <Time at={key.revoked_at} />
        </>
      ) : key.expires_at !== null ? (
        <>
          , rolled: {hasEnded(key) ? 'ended' : 'works until'} <Time at={key.expires_at} />
        </>
      ) : null}
    </small>
    <Link href={`/actions?key=${key.prefix}`}>
      Calls of this key<span className="visually-hidden"> {key.prefix}</span>
    </Link>
    {onAsk === null ? null : (
      <div className={kit['buttons']}>
        {key.expires_at === null ? (
          <Button isSmall onClick={() => onAsk({ what: 'roll', key })}>
            Roll<span className="visually-hidden"> key {key.prefix}</span>
          </Button>
        ) : null}
        <Button isSmall kind="danger" onClick={() => onAsk({ what: 'revoke', key })}>
          Revoke<span className="visually-hidden"> key {key.prefix}</span>
        </Button>
      </div>
    )}
  </li>
);

const Issued = ({
  agent,
  secret,
  onClose,
  children,
}: {
  readonly agent: Agent;
  readonly secret: string | null;
  readonly onClose: () => void;
  readonly children: string;
}) => (
  <SecretDialog
    title={`API key of ${plain(agent.name)}`}
    secret={secret}
    lost="Revoke the newest key in the list and create another one."
    onClose={onClose}
  >
    <p className={kit['dim']}>{children}</p>
  </SecretDialog>
);

interface Dialogue {
  readonly agent: Agent;
  readonly onClose: () => void;
}

const NewKey = ({ agent, onClose }: Dialogue) => {
  const [typed, setTyped] = useState(FIRST_KEY);
  const changed = useChanged();
  const make = useSecretChange(
    ({ livemode, scopes }: TypedKey, key) =>
      bodyOf(
        api.POST('/v1/agents/{id}/keys', {
          params: { path: { id: agent.id }, header: { 'Idempotency-Key': key } },
          body: { livemode, scopes: [...scopes] },
        }),
      ),
    () => changed(['agents']),
  );
  if (make.shown !== null) {
    return (
      <Issued agent={agent} secret={make.shown.secret} onClose={onClose}>
        Give this key to the agent. Its other keys keep working.
      </Issued>
    );
  }
  return (
    <FormDialog
      title={`New API key for ${plain(agent.name)}`}
      action="Create key"
      busy="Creating …"
      isPending={make.isPending}
      error={make.error}
      params={['scopes']}
      onSubmit={() => make.mutate(typed)}
      onClose={onClose}
    >
      <KeyFields typed={typed} error={make.error} onChange={setTyped} />
    </FormDialog>
  );
};

const RollKey = ({ agent, of, onClose }: Dialogue & { readonly of: Key }) => {
  const [overlap, setOverlap] = useState<Overlap>('86400');
  const changed = useChanged();
  const roll = useSecretChange(
    (seconds: number, key) =>
      bodyOf(
        api.POST('/v1/agents/{id}/keys/{key}/roll', {
          params: { path: { id: agent.id, key: of.id }, header: { 'Idempotency-Key': key } },
          body: { overlap_seconds: seconds },
        }),
      ),
    () => changed(['agents']),
  );
  if (roll.shown !== null) {
    return (
      <Issued agent={agent} secret={roll.shown.secret} onClose={onClose}>
        Replace the old key in the agent with this one.
      </Issued>
    );
  }
  return (
    <FormDialog
      title={`Roll key ${of.prefix}…`}
      action="Roll key"
      busy="Rolling …"
      isPending={roll.isPending}
      error={roll.error}
      onSubmit={() => roll.mutate(Number(overlap))}
      onClose={onClose}
    >
      <p>A new key with the same permissions replaces this key and works immediately.</p>
      <OverlapChoice chosen={overlap} onChoose={setOverlap} />
    </FormDialog>
  );
};

const RevokeKey = ({ agent, of, onClose }: Dialogue & { readonly of: Key }) => {
  const changed = useChanged();
  const revoke = useChange(
    (key: string) => bodyOf(api.DELETE('/v1/agents/{id}/keys/{key}', { params: { path: { id: agent.id, key } } })),
    () => {
      changed(['agents']);
      onClose();
    },
  );
  return (
    <FormDialog
      title={`Revoke key ${of.prefix}…?`}
      action="Revoke key"
      busy="Revoking …"
      kind="stop"
      isPending={revoke.isPending}
      error={revoke.error}
      onSubmit={() => revoke.mutate(of.id)}
      onClose={onClose}
    >
      <p>
        Requests with this key are denied from now on. A revoked key cannot be restored; you can create a new one at any
        time.
      </p>
    </FormDialog>
  );
};
