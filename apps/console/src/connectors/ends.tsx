import { useState } from 'react';
import { useLocation } from 'wouter';
import { useChange } from '../kernel/change.ts';
import { api, bodyOf, type Schemas } from '../kernel/client.ts';
import { useChanged } from '../kernel/refresh.ts';
import { Failure } from '../kit/failure.tsx';
import { FormDialog } from '../kit/form-dialog.tsx';
import { Button, Panel } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { dropDraft } from './drafts.ts';
import { connectorQuery } from './queries.ts';
import { CHANGED, type Connector } from './types.ts';

/** The buttons to disable, enable and remove a connector. */
export const ConnectorEnd = ({
  connector,
  onWarnings,
}: {
  readonly connector: Connector;
  readonly onWarnings: (findings: readonly Schemas['PolicyDiagnostic'][]) => void;
}) => {
  const changed = useChanged();
  const [isAsked, setAsked] = useState(false);
  const isActive = connector.status === 'active';
  const turn = useChange(
    (status: Connector['status']) =>
      bodyOf(api.PATCH('/v1/connectors/{id}', { params: { path: { id: connector.id } }, body: { status } })),
    (turned) => {
      changed(CHANGED, { of: connectorQuery(connector.id), is: turned });
      onWarnings(turned.policy_warnings ?? []);
    },
  );
  return (
    <Panel title="Disable and remove">
      <p className={kit['dim']}>
        {isActive
          ? 'A disabled connector denies every call. Calls already sent run to their end.'
          : 'This connector is disabled. Every call is denied, recorded and sealed.'}
      </p>
      {turn.error === null ? null : <Failure error={turn.error} />}
      <div className={kit['foot']}>
        <div className={kit['buttons']}>
          {isActive ? (
            <Button icon="pause" disabled={turn.isPending} onClick={() => turn.mutate('disabled')}>
              Disable {connector.name}
            </Button>
          ) : (
            <Button icon="play" disabled={turn.isPending} onClick={() => turn.mutate('active')}>
              Enable {connector.name}
            </Button>
          )}
          <Button kind="danger" onClick={() => setAsked(true)}>
            Remove {connector.name} …
          </Button>
        </div>
      </div>
      {isAsked ? <RemoveDialog connector={connector} onClose={() => setAsked(false)} /> : null}
    </Panel>
  );
};

const RemoveDialog = ({ connector, onClose }: { readonly connector: Connector; readonly onClose: () => void }) => {
  const changed = useChanged();
  const [, navigate] = useLocation();
  const remove = useChange(
    (id: string) => bodyOf(api.DELETE('/v1/connectors/{id}', { params: { path: { id } } })),
    () => {
      dropDraft(connector.id);
      changed(CHANGED, { gone: connectorQuery(connector.id) });
      navigate('/connectors', { replace: true });
    },
  );
  return (
    <FormDialog
      title={`Remove ${connector.name}?`}
      action={`Remove ${connector.name}`}
      busy="Removing …"
      kind="stop"
      isPending={remove.isPending}
      error={remove.error}
      onSubmit={() => remove.mutate(connector.id)}
      onClose={onClose}
    >
      <p>
        Its {connector.tools.length} {connector.tools.length === 1 ? 'tool is' : 'tools are'} removed immediately, and
        its credential is destroyed. Neither can be restored. Past calls stay in the ledger, and the name can be used
        again.
      </p>
    </FormDialog>
  );
};
