import { useState } from 'react';
import type { Schemas } from '../kernel/client.ts';
import { serverNow } from '../kernel/clock.ts';
import { useList } from '../kernel/lists.ts';
import { useChanged } from '../kernel/refresh.ts';
import { Badge } from '../kit/badges.tsx';
import { Failure } from '../kit/failure.tsx';
import { Bones, Button, Empty, Id, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { ListFoot } from '../kit/list-foot.tsx';
import { SecretDialog } from '../kit/secret-dialog.tsx';
import { SectionHead } from './section-head.tsx';
import { CreateKey, type MadeKey, RevokeKey, RollKey } from './admin-key-dialogs.tsx';
import { beginOf, isOver, standOfKey } from './key-stand.ts';
import { adminKeyPages } from './queries.ts';
import styles from './settings.module.css';

type AdminKey = Schemas['AdminKey'];

type Open =
  | { readonly is: 'create' }
  | { readonly is: 'roll' | 'revoke'; readonly of: AdminKey }
  | ({ readonly is: 'secret' } & MadeKey)
  | null;

/** The admin keys: keys of programs that may do what an admin may. */
export const AdminKeysSection = () => {
  const changed = useChanged();
  const [open, setOpen] = useState<Open>(null);
  const [news, setNews] = useState('');
  const list = useList(adminKeyPages);
  const { rows, error, isPending, refetch } = list;
  const close = (): void => setOpen(null);
  const reread = (): void => changed(['admin-keys']);
  const show = (made: MadeKey): void => {
    setOpen({ is: 'secret', ...made });
    reread();
  };
  return (
    <>
      <SectionHead
        id="admin-keys"
        action={
          <Button kind="primary" icon="key" onClick={() => setOpen({ is: 'create' })}>
            New admin key
          </Button>
        }
      />
      <p className={styles['said']} role="status" hidden={news === ''}>
        {news}
      </p>
      {error !== null ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : isPending ? (
        <Bones count={3} />
      ) : rows.length === 0 ? (
        <NoKeys />
      ) : (
        <KeysTable rows={rows} onOpen={setOpen} />
      )}
      <ListFoot {...list} />
      {open?.is === 'create' ? <CreateKey onMade={show} onClose={close} /> : null}
      {open?.is === 'roll' ? <RollKey of={open.of} onMade={show} onClose={close} /> : null}
      {open?.is === 'revoke' ? (
        <RevokeKey
          of={open.of}
          onDone={() => {
            close();
            setNews(`${beginOf(open.of)}… is revoked. Every instance denies it within two seconds.`);
            reread();
          }}
          onClose={close}
        />
      ) : null}
      {open?.is === 'secret' ? <Made {...open} onClose={close} /> : null}
    </>
  );
};

const Made = ({ secret, replaced, onClose }: MadeKey & { readonly onClose: () => void }) => (
  <SecretDialog
    title={replaced ? 'The new admin key' : 'Admin key'}
    secret={secret}
    lost={replaced ? 'Revoke the new key in this list and roll again.' : 'Revoke the key and create another one.'}
    onClose={onClose}
  >
    <p className={kit['dim']}>
      Send it as <code>Authorization: Bearer …</code>. Anyone with this key can do what an admin can do.
    </p>
  </SecretDialog>
);

const NoKeys = () => (
  <Empty
    title="No admin keys yet"
    code={[
      `curl -sS '${location.origin}/v1/agents' -H "Authorization: Bearer $ADMIN_KEY" \\`,
      `  -H 'Content-Type: application/json' -d '{"name": "support-bot"}'`,
    ].join('\n')}
  >
    Use an admin key for programs that set up agents, connectors and policies. Example: create an agent.
  </Empty>
);

interface WithOpen {
  readonly onOpen: (open: Open) => void;
}

/** Keys that work come first; expired and revoked ones are behind a disclosure. */
const KeysTable = ({ rows, onOpen }: WithOpen & { readonly rows: readonly AdminKey[] }) => {
  const nowMs = serverNow();
  const [over, working] = [true, false].map((wanted) =>
    rows.filter((key) => isOver(standOfKey(key, nowMs)) === wanted),
  ) as [AdminKey[], AdminKey[]];
  return (
    <>
      {working.length === 0 ? <NoKeys /> : <Keys rows={working} onOpen={onOpen} />}
      {over.length === 0 ? null : (
        <details>
          <summary>
            {over.length} inactive {over.length === 1 ? 'key' : 'keys'}
          </summary>
          <Keys rows={over} onOpen={onOpen} />
        </details>
      )}
    </>
  );
};

const Keys = ({ rows, onOpen }: WithOpen & { readonly rows: readonly AdminKey[] }) => (
  <div className={kit['panel']}>
    <table className={kit['table']}>
      <thead>
        <tr>
          <th scope="col">Key</th>
          <th scope="col">Status</th>
          <th scope="col">Created</th>
          <th scope="col">Last used</th>
          <th scope="col">
            <span className="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((key) => (
          <tr key={key.id}>
            <td>
              <code>{beginOf(key)}…</code>
            </td>
            <td data-end>
              <Stand of={key} />
            </td>
            <td>
              <span className={styles['onPhone']}>created </span>
              <Time at={key.created_at} /> <Maker of={key} />
            </td>
            <td>
              <span className={styles['onPhone']}>last used </span>
              {key.last_used_at === null ? 'never' : <Time at={key.last_used_at} />}
            </td>
            <td className={styles['actions']} data-wide>
              <KeyActions of={key} onOpen={onOpen} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

const Stand = ({ of: key }: { readonly of: AdminKey }) => {
  switch (standOfKey(key, serverNow())) {
    case 'works':
      return (
        <>
          <Badge tone="ok" icon="checkCircle">
            Active
          </Badge>{' '}
          {key.expires_at === null ? null : (
            <span className={kit['dim']}>
              until <Time at={key.expires_at} />
            </span>
          )}
        </>
      );
    case 'ends':
      return (
        <>
          <Badge tone="warn" icon="clock">
            Rolled
          </Badge>{' '}
          {key.expires_at === null ? null : (
            <span className={kit['dim']}>
              works until <Time at={key.expires_at} />
            </span>
          )}
        </>
      );
    case 'ended':
      return (
        <Badge tone="quiet" icon="clock">
          Expired
        </Badge>
      );
    case 'revoked':
      return (
        <Badge tone="quiet" icon="ban">
          Revoked
        </Badge>
      );
  }
};

const Maker = ({ of: { created_by: by } }: { readonly of: AdminKey }) => (
  <span className={kit['dim']}>
    {by === null ? 'by whom is not recorded' : by.id === null ? `by the ${by.type}` : <>by {<Id id={by.id} />}</>}
  </span>
);

const KeyActions = ({ of: key, onOpen }: WithOpen & { readonly of: AdminKey }) => {
  const stand = standOfKey(key, serverNow());
  if (isOver(stand)) return null;
  return (
    <span className={styles['pair']}>
      {stand === 'works' ? (
        <Button isSmall onClick={() => onOpen({ is: 'roll', of: key })}>
          Roll
          <span className="visually-hidden"> {beginOf(key)}</span>
        </Button>
      ) : null}
      <Button isSmall kind="danger" onClick={() => onOpen({ is: 'revoke', of: key })}>
        Revoke
        <span className="visually-hidden"> {beginOf(key)}</span>
      </Button>
    </span>
  );
};
