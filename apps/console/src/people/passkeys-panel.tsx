import { type ReactNode, useState } from 'react';
import { useChange } from '../kernel/change.ts';
import { api, bodyOf, type Schemas } from '../kernel/client.ts';
import { useList } from '../kernel/lists.ts';
import { useChanged } from '../kernel/refresh.ts';
import { useSession } from '../kernel/session.tsx';
import { Failure } from '../kit/failure.tsx';
import { Field } from '../kit/field.tsx';
import { FormDialog } from '../kit/form-dialog.tsx';
import { Bones, Button, Panel, Said, Time, Warning } from '../kit/kit.tsx';
import { ListFoot } from '../kit/list-foot.tsx';
import { passkeyNotes, passkeyPlaceOf } from './passkey-words.ts';
import { passkeyPages } from './queries.ts';
import { browserOf } from './session-words.ts';
import styles from './settings.module.css';
import { SignInAgain } from './sign-in-again.tsx';

type Passkey = Schemas['Passkey'];

const nameOf = ({ name }: Pick<Passkey, 'name'>): string => name ?? 'Passkey without a name';

/** The person's own passkeys in this organization. */
export const PasskeysPanel = () => {
  const changed = useChanged();
  const { me } = useSession();
  const [open, setOpen] = useState<{ readonly is: 'add' } | { readonly is: 'remove'; readonly of: Passkey } | null>(
    null,
  );
  const [news, setNews] = useState('');
  const list = useList(passkeyPages);
  const { rows, error, isPending, refetch } = list;
  const place = passkeyPlaceOf(location.href, 'PublicKeyCredential' in window);
  const close = (): void => setOpen(null);
  const done = (said: string): void => {
    close();
    setNews(said);
    changed(['passkeys']);
  };
  return (
    <Panel
      title="Passkeys"
      aside={
        place.is === 'usable' ? (
          <Button icon="key" onClick={() => setOpen({ is: 'add' })}>
            Add passkey
          </Button>
        ) : null
      }
    >
      <p className={styles['about']}>
        With a passkey you sign in to <Said text={me.org.name} /> by your fingerprint, face or PIN, without a mail.
      </p>
      {place.is === 'usable' ? null : <NotHere place={place} />}
      <p className={styles['said']} role="status">
        {news}
      </p>
      {error === null ? null : <Failure error={error} onRetry={() => void refetch()} />}
      {isPending ? <Bones count={1} /> : null}
      {!isPending && error === null && rows.length === 0 ? <p className={styles['said']}>No passkeys yet.</p> : null}
      <ul className={styles['passkeys']}>
        {rows.map((passkey) => (
          <PasskeyRow key={passkey.id} passkey={passkey} onRemove={() => setOpen({ is: 'remove', of: passkey })} />
        ))}
      </ul>
      <ListFoot {...list} />
      {open?.is === 'add' ? <AddPasskey onDone={done} onClose={close} /> : null}
      {open?.is === 'remove' ? <RemovePasskey of={open.of} onDone={done} onClose={close} /> : null}
    </Panel>
  );
};

const NotHere = ({ place }: { readonly place: Exclude<ReturnType<typeof passkeyPlaceOf>, { is: 'usable' }> }) => (
  <Warning>
    {place.is === 'unsupported' ? (
      'This browser has no passkeys. Use another one to add a passkey.'
    ) : place.elsewhere === null ? (
      `Browsers have no passkeys at an IP address such as ${place.host}. The operator gives the service a host name with SERVICE_BASE_URL.`
    ) : (
      <>
        Browsers have no passkeys at an IP address such as {place.host}.{' '}
        <a className={styles['inText']} href={place.elsewhere}>
          Open this page at localhost
        </a>{' '}
        and sign in there.
      </>
    )}
  </Warning>
);

const PasskeyRow = ({ passkey, onRemove }: { readonly passkey: Passkey; readonly onRemove: () => void }) => {
  const { created_at: added, last_used_at: used } = passkey;
  return (
    <li>
      <div>
        <Said text={nameOf(passkey)} />
        <small>
          added <Time at={added} />, {used === null ? 'not used to sign in yet' : <LastUsed at={used} />}
        </small>
        {passkeyNotes(passkey, location.hostname).map((note) => (
          <small key={note}>{note}</small>
        ))}
      </div>
      <Button isSmall kind="danger" aria-label={`Remove ${nameOf(passkey)}`} onClick={onRemove}>
        Remove
      </Button>
    </li>
  );
};

const LastUsed = ({ at }: { readonly at: string }): ReactNode => (
  <>
    last used <Time at={at} />
  </>
);

interface Doing {
  readonly onDone: (said: string) => void;
  readonly onClose: () => void;
}

const AddPasskey = ({ onDone, onClose }: Doing) => {
  const [name, setName] = useState(browserOf(navigator.userAgent) ?? '');
  const add = useChange(
    async (called: string, key) => {
      const { public_key: options } = await bodyOf(api.POST('/v1/passkeys/options'));
      const { madeBy } = await import('./passkey-device.ts');
      const body = { name: called, credential: await madeBy(options) };
      return bodyOf(api.POST('/v1/passkeys', { params: { header: { 'Idempotency-Key': key } }, body }));
    },
    () => onDone('Passkey added. You also get a mail about it.'),
  );
  return (
    <FormDialog
      title="Add passkey"
      action="Add passkey"
      busy="Waiting for your device …"
      isPending={add.isPending}
      isReady={name.trim() !== ''}
      error={add.error}
      params={['name']}
      onSubmit={() => add.mutate(name.trim())}
      onClose={onClose}
    >
      <p>
        Your browser asks for your fingerprint, face or PIN, or for a security key. The service gets its public key
        alone.
      </p>
      <Field label="Name" param="name" error={add.error} hint="For you alone, to tell your passkeys apart.">
        {(control) => (
          <input
            {...control}
            maxLength={120}
            autoComplete="off"
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
        )}
      </Field>
      <SignInAgain error={add.error} to="/app/settings/sessions" then="add the passkey" />
    </FormDialog>
  );
};

const RemovePasskey = ({ of: passkey, onDone, onClose }: Doing & { readonly of: Passkey }) => {
  const remove = useChange(
    (id: string) => bodyOf(api.DELETE('/v1/passkeys/{id}', { params: { path: { id } } })),
    () => onDone('Passkey removed.'),
  );
  return (
    <FormDialog
      title="Remove passkey"
      action="Remove passkey"
      busy="Removing …"
      kind="stop"
      isPending={remove.isPending}
      error={remove.error}
      onSubmit={() => remove.mutate(passkey.id)}
      onClose={onClose}
    >
      <p>
        <Said text={nameOf(passkey)} /> no longer signs you in. Sessions that it opened go on; end them above. Delete it
        on the device as well, or the device goes on offering it.
      </p>
    </FormDialog>
  );
};
