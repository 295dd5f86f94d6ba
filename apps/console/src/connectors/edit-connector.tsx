import { useEffect, useRef } from 'react';
import { useChange } from '../kernel/change.ts';
import { api, bodyOf } from '../kernel/client.ts';
import { ApiError } from '../kernel/errors.ts';
import { useChanged } from '../kernel/refresh.ts';
import { Button, CopyButton } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { ScreenHead } from '../shell/screen.tsx';
import { changedPlaces } from './changes.ts';
import { ConnectorForm, type Written } from './connector-form.tsx';
import { consequencesOf } from './consequences.ts';
import { type Json, toJson } from './draft.ts';
import { type ConnectorDraft, draftOf, useKeptDraft } from './drafts.ts';
import { connectorQuery } from './queries.ts';
import type { Schema } from './schema.ts';
import { CHANGED, type Connector, type ConnectorType } from './types.ts';

interface Props {
  readonly connector: Connector;
  readonly type: ConnectorType;
  readonly onRead: () => void;
  /** Called with the changed connector; with null if nothing was changed. */
  readonly onDone: (changed: Connector | null) => void;
}

/** The form to change a connector. If somebody else has changed it meanwhile, the draft is kept. */
export const EditConnector = ({ connector, type, onRead, onDone }: Props) => {
  const schema = type.config_schema as Schema;
  const changed = useChanged();
  const { draft, change, drop } = useKeptDraft(connector.id, () => draftOf(schema, connector));
  const save = useChange(
    (written: Written) =>
      bodyOf(
        api.PATCH('/v1/connectors/{id}', {
          params: { path: { id: connector.id } },
          body: {
            description: written.description === '' ? null : written.description,
            config: written.config as never,
            expected_config_hash: draft.base?.hash ?? connector.config_hash,
          },
        }),
      ),
    (saved) => {
      drop();
      changed(CHANGED, { of: connectorQuery(connector.id), is: saved });
      onDone(saved);
    },
  );
  const { error } = save;
  const isOvertaken = error instanceof ApiError && error.code === 'conflict' && error.param === 'expected_config_hash';
  // After a lost answer, the conflict may be with this person's own change, which was saved.
  const wasLost = useRef(false);
  if (error instanceof ApiError && error.isAnswerLost) wasLost.current = true;
  const discard = (): void => {
    drop();
    onDone(null);
  };
  return (
    <>
      <ScreenHead title={`Change ${connector.name}`} about="Calls that are already running are not affected." />
      <ConnectorForm
        schema={schema}
        type={type.type}
        draft={draft}
        onChange={change}
        error={isOvertaken ? null : error}
        isPending={save.isPending}
        save="Save changes"
        notice={
          isOvertaken ? (
            <Overtaken
              connector={connector}
              draft={draft}
              wasLost={wasLost.current}
              onRead={onRead}
              onGoOn={(base) => {
                change({ base });
                save.reset();
              }}
            />
          ) : undefined
        }
        brings={consequencesOf(
          { ...connector, config: storedOf(connector) },
          toJson(schema, draft.config, 'config', []) ?? {},
        )}
        onSave={(written) => save.mutate(written)}
        onLeave={() => onDone(null)}
        onDiscard={discard}
      />
    </>
  );
};

const storedOf = ({ config }: Connector): Json => config as unknown as Json;

/** Shown if somebody else changed the connector meanwhile: what changed, and the choice to go on or not. */
const Overtaken = ({
  connector,
  draft,
  wasLost,
  onRead,
  onGoOn,
}: {
  readonly connector: Connector;
  readonly draft: ConnectorDraft;
  /** Whether the answer to an earlier press was lost. */
  readonly wasLost: boolean;
  readonly onRead: () => void;
  readonly onGoOn: (base: ConnectorDraft['base']) => void;
}) => {
  useEffect(onRead, []);
  const config = storedOf(connector);
  const isRead = connector.config_hash !== draft.base?.hash;
  const places = isRead ? changedPlaces(draft.base?.config ?? null, config) : [];
  return (
    <div className={kit['notice']} role="alert">
      <strong>
        {wasLost
          ? 'This connector has changed since you started editing: by your previous save, whose answer was lost, or by another person.'
          : 'Another person changed this connector after you started editing. Your draft is kept, and nothing was saved.'}
      </strong>
      {isRead ? (
        <>
          <div>
            Changed fields: <code>{places.join(', ')}</code>. Copy what you want to keep into your draft, then continue
            and save.
          </div>
          <div className={kit['buttons']}>
            <Button isSmall onClick={() => onGoOn({ hash: connector.config_hash, config })}>
              Continue with my draft
            </Button>
            <CopyButton text={JSON.stringify(config, null, 2)}>Copy the saved version as JSON</CopyButton>
          </div>
        </>
      ) : (
        <div>Loading the changes …</div>
      )}
    </div>
  );
};
