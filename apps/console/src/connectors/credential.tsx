import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useChange } from '../kernel/change.ts';
import { api, bodyOf } from '../kernel/client.ts';
import { useChanged } from '../kernel/refresh.ts';
import { useMay } from '../kernel/session.tsx';
import { Fact, Facts } from '../kit/facts.tsx';
import { Field } from '../kit/field.tsx';
import { FormDialog } from '../kit/form-dialog.tsx';
import { Button, Panel, Time, Warning } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { connectorQuery } from './queries.ts';
import { credentialKindOf } from './needed-credential.ts';
import type { Connector, ConnectorType } from './types.ts';

type Kinds = ConnectorType['credentials'];

/** The credential of a connector: can be stored, replaced and destroyed, but is never shown. */
export const ConnectorCredential = ({
  connector,
  type,
}: {
  readonly connector: Connector;
  readonly type: ConnectorType | undefined;
}) => {
  const may = useMay('admin');
  const [open, setOpen] = useState<'store' | 'destroy' | null>(null);
  const { credential } = connector;
  const kind = credentialKindOf(connector, type);
  const known = type?.credentials.find((each) => each.kind === kind);
  return (
    <Panel title="Credential">
      {credential === null ? (
        kind === 'none' ? (
          <p className={kit['dim']}>This connector needs no credential.</p>
        ) : (
          <Warning>No credential is stored. Every call fails, and nothing is sent, until you store one.</Warning>
        )
      ) : (
        <Stored credential={credential} />
      )}
      {credential !== null && credential.kind !== kind ? (
        <Warning>
          The configuration now needs another kind of credential. Calls fail until you store one of that kind.
        </Warning>
      ) : null}
      {may && known !== undefined && (kind !== 'none' || credential !== null) ? (
        <div className={kit['foot']}>
          <div className={kit['buttons']}>
            {kind === 'none' ? null : (
              <Button icon="key" onClick={() => setOpen('store')}>
                {credential === null ? 'Store credential' : 'Replace credential'}
              </Button>
            )}
            {credential === null ? null : (
              <Button kind="danger" onClick={() => setOpen('destroy')}>
                Destroy credential …
              </Button>
            )}
          </div>
        </div>
      ) : null}
      {open === 'store' && known !== undefined ? (
        <StoreDialog connector={connector} kind={known} onClose={() => setOpen(null)} />
      ) : null}
      {open === 'destroy' ? <DestroyDialog connector={connector} onClose={() => setOpen(null)} /> : null}
    </Panel>
  );
};

const Stored = ({ credential }: { readonly credential: NonNullable<Connector['credential']> }) => (
  <Facts>
    <Fact name="Kind">{credential.kind}</Fact>
    <Fact name="Holds">{credential.fields.join(', ')}</Fact>
    {credential.hint === null ? null : (
      <Fact name="Ends with">
        <code>…{credential.hint}</code>
      </Fact>
    )}
    {credential.set_at === null ? null : (
      <Fact name="Stored">
        <Time at={credential.set_at} isExact />
      </Fact>
    )}
  </Facts>
);

const useAfterwards = (connector: Connector, onClose: () => void) => {
  const changed = useChanged();
  return (stored: Connector): void => {
    changed(['connectors'], { of: connectorQuery(connector.id), is: stored });
    onClose();
  };
};

const StoreDialog = ({
  connector,
  kind,
  onClose,
}: {
  readonly connector: Connector;
  readonly kind: Kinds[number];
  readonly onClose: () => void;
}) => {
  const fields = useRef<HTMLDivElement>(null);
  const after = useAfterwards(connector, onClose);
  const store = useMutation({
    // The secret is read from the fields only when it is sent, and not kept in any state.
    mutationFn: () => {
      const typed = [...(fields.current?.querySelectorAll('input') ?? [])];
      const isLeftOut = ({ name, value }: HTMLInputElement): boolean =>
        value === '' && kind.fields.some((field) => field.name === name && field.optional === true);
      const secret = Object.fromEntries(
        typed.filter((input) => !isLeftOut(input)).map(({ name, value }) => [name, value]),
      );
      return bodyOf(
        api.PUT('/v1/connectors/{id}/credentials', {
          params: { path: { id: connector.id } },
          body: { kind: kind.kind, secret },
        }),
      );
    },
    onSuccess: after,
  });
  return (
    <FormDialog
      title={connector.credential === null ? 'Store credential' : 'Replace credential'}
      action={connector.credential === null ? 'Store credential' : 'Replace credential'}
      busy="Storing …"
      isPending={store.isPending}
      error={store.error}
      params={kind.fields.map(({ name }) => `secret.${name}`)}
      onSubmit={() => store.mutate()}
      onClose={onClose}
    >
      <p>
        {kind.summary} The credential is encrypted immediately. It can be replaced or destroyed, but never read: not
        here, not with the API, not by an operator.
      </p>
      <div ref={fields} className={kit['stack']}>
        {kind.fields.map((field, index) => (
          <Field
            key={field.name}
            label={field.name}
            param={`secret.${field.name}`}
            error={store.error}
            hint={field.prefix_hint === null ? field.help : `${field.help} Starts with ${field.prefix_hint}.`}
          >
            {(control) => (
              <input
                {...control}
                name={field.name}
                type={field.secret ? 'password' : 'text'}
                autoComplete={field.secret ? 'new-password' : 'off'}
                spellCheck={false}
                data-first={index === 0 ? '' : undefined}
              />
            )}
          </Field>
        ))}
      </div>
    </FormDialog>
  );
};

const DestroyDialog = ({ connector, onClose }: { readonly connector: Connector; readonly onClose: () => void }) => {
  const destroy = useChange(
    (id: string) => bodyOf(api.DELETE('/v1/connectors/{id}/credentials', { params: { path: { id } } })),
    useAfterwards(connector, onClose),
  );
  return (
    <FormDialog
      title="Destroy the credential?"
      action="Destroy credential"
      busy="Destroying …"
      kind="stop"
      isPending={destroy.isPending}
      error={destroy.error}
      onSubmit={() => destroy.mutate(connector.id)}
      onClose={onClose}
    >
      <p>
        Every call of {connector.name} then fails with <code>credentials_missing</code>, and nothing is sent. A
        destroyed credential cannot be restored; you can store a new one.
      </p>
    </FormDialog>
  );
};
