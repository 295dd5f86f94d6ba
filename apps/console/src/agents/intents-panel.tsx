import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useChange } from '../kernel/change.ts';
import { api, bodyOf, type Schemas } from '../kernel/client.ts';
import { useChanged } from '../kernel/refresh.ts';
import { useMay } from '../kernel/session.tsx';
import { Failure } from '../kit/failure.tsx';
import { OtherFailure } from '../kit/field.tsx';
import { SelectField, TextField } from '../kit/fields.tsx';
import { FormDialog } from '../kit/form-dialog.tsx';
import { Bones, Button, Id, Panel, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { intentKeys } from './queries.ts';

type Agent = Schemas['Agent'];
type IntentKey = Schemas['IntentKey'];
type Mode = Agent['intent_mode'];

const KEYS_MAX = 2;

const MODES: readonly (readonly [Mode, string])[] = [
  ['off', 'Off: signatures are ignored'],
  ['optional', 'Optional: signatures are checked when present'],
  ['required', 'Required: unsigned calls are denied'],
];

/** The agent's intent mode, and the keys that its runtime signs intents with. */
export const IntentsPanel = ({ agent }: { readonly agent: Agent }) => {
  const may = useMay('admin');
  const [isAdding, setAdding] = useState(false);
  const [removed, setRemoved] = useState<IntentKey | null>(null);
  const { data, error, refetch } = useQuery(intentKeys(agent.id));
  const keys = data?.data as readonly IntentKey[] | undefined;
  return (
    <Panel
      title="Signed intents"
      aside={
        may && keys !== undefined && keys.length < KEYS_MAX ? (
          <Button isSmall onClick={() => setAdding(true)}>
            Add intent key
          </Button>
        ) : null
      }
    >
      <div className={kit['stack']}>
        {may ? (
          <ModeChoice key={agent.intent_mode} agent={agent} />
        ) : (
          <p>{MODES.find(([mode]) => mode === agent.intent_mode)?.[1]}</p>
        )}
        {error === null ? null : <Failure error={error} onRetry={() => void refetch()} />}
        {keys === undefined && error === null ? <Bones count={1} /> : null}
        {keys?.length === 0 ? (
          <p className={kit['dim']}>
            No intent keys. With an intent key, the agent’s runtime signs each call, so that a leaked API key alone is
            not enough.
          </p>
        ) : null}
        <ul className={kit['rows']}>
          {keys?.map((key) => (
            <li key={key.kid}>
              <Id id={key.kid} />
              <small>
                added <Time at={key.created_at} />
              </small>
              {may ? (
                <Button isSmall kind="danger" onClick={() => setRemoved(key)}>
                  Remove<span className="visually-hidden"> intent key {key.kid}</span>
                </Button>
              ) : null}
            </li>
          ))}
        </ul>
      </div>
      {isAdding ? <AddIntentKey agent={agent} onClose={() => setAdding(false)} /> : null}
      {removed === null ? null : <RemoveIntentKey agent={agent} of={removed} onClose={() => setRemoved(null)} />}
    </Panel>
  );
};

const ModeChoice = ({ agent }: { readonly agent: Agent }) => {
  const [mode, setMode] = useState(agent.intent_mode);
  const changed = useChanged();
  const set = useChange(
    (wanted: Mode) =>
      bodyOf(api.PATCH('/v1/agents/{id}', { params: { path: { id: agent.id } }, body: { intent_mode: wanted } })),
    () => changed(['agents']),
  );
  return (
    <>
      <SelectField
        label="Mode"
        param="intent_mode"
        error={set.error}
        choices={MODES}
        value={mode}
        onChange={(value) => setMode(value as Mode)}
      />
      <OtherFailure error={set.error} params={['intent_mode']} />
      {mode === agent.intent_mode ? null : (
        <div>
          <Button kind="primary" disabled={set.isPending} onClick={() => set.mutate(mode)}>
            {set.isPending ? 'Setting …' : `Set mode to ${mode}`}
          </Button>
        </div>
      )}
    </>
  );
};

const AddIntentKey = ({ agent, onClose }: { readonly agent: Agent; readonly onClose: () => void }) => {
  const [text, setText] = useState('');
  const changed = useChanged();
  const add = useChange(
    (publicKey: string, key) =>
      bodyOf(
        api.POST('/v1/agents/{id}/intent-keys', {
          params: { path: { id: agent.id }, header: { 'Idempotency-Key': key } },
          body: { public_key: publicKey },
        }),
      ),
    () => {
      changed(['agents']);
      onClose();
    },
  );
  return (
    <FormDialog
      title="Add intent key"
      action="Add key"
      busy="Adding …"
      isPending={add.isPending}
      error={add.error}
      params={['public_key']}
      onSubmit={() => add.mutate(text.trim())}
      onClose={onClose}
    >
      <p>
        Create the key pair where the agent runs and keep the private key there. Paste the public key here:{' '}
        <code>npm run --silent ags -- intent keygen intent.pem --json</code>
      </p>
      <TextField
        label="Public key"
        hint="Starts with ed25519: followed by 43 characters."
        param="public_key"
        error={add.error}
        placeholder="ed25519:…"
        spellCheck={false}
        data-first=""
        value={text}
        onChange={setText}
      />
    </FormDialog>
  );
};

const RemoveIntentKey = ({
  agent,
  of,
  onClose,
}: {
  readonly agent: Agent;
  readonly of: IntentKey;
  readonly onClose: () => void;
}) => {
  const changed = useChanged();
  const remove = useChange(
    (kid: string) =>
      bodyOf(api.DELETE('/v1/agents/{id}/intent-keys/{kid}', { params: { path: { id: agent.id, kid } } })),
    () => {
      changed(['agents']);
      onClose();
    },
  );
  return (
    <FormDialog
      title="Remove this intent key?"
      action="Remove intent key"
      busy="Removing …"
      kind="stop"
      isPending={remove.isPending}
      error={remove.error}
      onSubmit={() => remove.mutate(of.kid)}
      onClose={onClose}
    >
      <p>Calls signed with this key are denied from now on. You can add the key again later.</p>
    </FormDialog>
  );
};
