import { useState } from 'react';
import { useChange } from '../kernel/change.ts';
import { api, bodyOf, type Schemas } from '../kernel/client.ts';
import { takeSecret } from '../kernel/secret.ts';
import { Field } from '../kit/field.tsx';
import { FormDialog } from '../kit/form-dialog.tsx';
import { Said } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { type Overlap, OverlapChoice } from '../kit/overlap.tsx';
import { SecretDialog } from '../kit/secret-dialog.tsx';
import { EventPicker } from './event-picker.tsx';
import type { Pattern } from './subscription.ts';

type Webhook = Schemas['Webhook'];

/** A webhook with the secret from the answer; null if that answer was lost. */
export interface Signed {
  readonly webhook: Omit<Webhook, 'secret'>;
  readonly secret: string | null;
}

const PARAMS = ['url', 'events', 'description'];

interface Draft {
  readonly url: string;
  readonly description: string;
  readonly events: readonly Pattern[];
}

const Parts = ({
  draft,
  error,
  onChange,
}: {
  readonly draft: Draft;
  readonly error: unknown;
  readonly onChange: (draft: Draft) => void;
}) => (
  <>
    <Field
      label="Address"
      param="url"
      error={error}
      hint="The https address of your receiver. Port 443, unless an operator allows others."
    >
      {(control) => (
        <input
          {...control}
          type="url"
          inputMode="url"
          autoCapitalize="none"
          spellCheck={false}
          maxLength={2048}
          placeholder="https://example.com/hooks"
          data-first
          value={draft.url}
          onChange={({ target }) => onChange({ ...draft, url: target.value })}
        />
      )}
    </Field>
    <Field label="Description (optional)" param="description" error={error}>
      {(control) => (
        <input
          {...control}
          maxLength={1024}
          value={draft.description}
          onChange={({ target }) => onChange({ ...draft, description: target.value })}
        />
      )}
    </Field>
    <EventPicker chosen={draft.events} error={error} onChoose={(events) => onChange({ ...draft, events })} />
  </>
);

export const CreateWebhook = ({
  onMade,
  onClose,
}: {
  readonly onMade: (made: Signed) => void;
  readonly onClose: () => void;
}) => {
  const [draft, setDraft] = useState<Draft>({ url: '', description: '', events: ['approval.*', 'deed.sealed'] });
  const create = useChange(async ({ url, description, events }: Draft, key) => {
    const body = {
      url: url.trim(),
      events: [...events],
      ...(description.trim() === '' ? {} : { description: description.trim() }),
    };
    const params = { header: { 'Idempotency-Key': key } };
    const { secret, rest } = takeSecret(await bodyOf(api.POST('/v1/webhooks', { params, body })));
    onMade({ webhook: rest, secret });
  });
  return (
    <FormDialog
      title="New webhook"
      action="Create webhook"
      busy="Creating …"
      isPending={create.isPending}
      isReady={draft.url.trim() !== '' && draft.events.length > 0}
      error={create.error}
      params={PARAMS}
      onSubmit={() => create.mutate(draft)}
      onClose={onClose}
    >
      <Parts draft={draft} error={create.error} onChange={setDraft} />
    </FormDialog>
  );
};

interface Changing {
  readonly webhook: Webhook;
  readonly onClose: () => void;
}

export const ChangeWebhook = ({
  webhook,
  onChanged,
  onClose,
}: Changing & { readonly onChanged: (webhook: Webhook) => void }) => {
  const [draft, setDraft] = useState<Draft>({
    url: webhook.url,
    description: webhook.description ?? '',
    events: webhook.events,
  });
  const change = useChange(({ url, description, events }: Draft) => {
    const body = { url: url.trim(), description: description.trim() || null, events: [...events] };
    return bodyOf(api.PATCH('/v1/webhooks/{id}', { params: { path: { id: webhook.id } }, body }));
  }, onChanged);
  return (
    <FormDialog
      title="Change webhook"
      action="Save webhook"
      busy="Saving …"
      isPending={change.isPending}
      isReady={draft.url.trim() !== '' && draft.events.length > 0}
      error={change.error}
      params={PARAMS}
      onSubmit={() => change.mutate(draft)}
      onClose={onClose}
    >
      <Parts draft={draft} error={change.error} onChange={setDraft} />
    </FormDialog>
  );
};

export const RollSecret = ({ webhook, onMade, onClose }: Changing & { readonly onMade: (made: Signed) => void }) => {
  const [overlap, setOverlap] = useState<Overlap>('86400');
  const roll = useChange(async (seconds: number, key) => {
    const params = { path: { id: webhook.id }, header: { 'Idempotency-Key': key } };
    const { secret, rest } = takeSecret(
      await bodyOf(api.POST('/v1/webhooks/{id}/roll', { params, body: { overlap_seconds: seconds } })),
    );
    onMade({ webhook: rest, secret });
  });
  return (
    <FormDialog
      title="Roll secret"
      action="Roll secret"
      busy="Rolling …"
      isPending={roll.isPending}
      error={roll.error}
      onSubmit={() => roll.mutate(Number(overlap))}
      onClose={onClose}
    >
      <p>Deliveries are signed with both secrets until the old one ends. Update your receiver before then.</p>
      <OverlapChoice chosen={overlap} onChoose={setOverlap} />
    </FormDialog>
  );
};

export const DeleteWebhook = ({ webhook, onDeleted, onClose }: Changing & { readonly onDeleted: () => void }) => {
  const remove = useChange(
    (id: string) => bodyOf(api.DELETE('/v1/webhooks/{id}', { params: { path: { id } } })),
    onDeleted,
  );
  return (
    <FormDialog
      title="Delete webhook"
      action="Delete webhook"
      busy="Deleting …"
      kind="stop"
      isPending={remove.isPending}
      error={remove.error}
      onSubmit={() => remove.mutate(webhook.id)}
      onClose={onClose}
    >
      <p>
        Nothing more is sent to <Said text={webhook.url} />, its secrets are destroyed, and its deliveries are no longer
        shown. To stop deliveries for a while, pause the webhook.
      </p>
    </FormDialog>
  );
};

/** Shows the secret once, and how a receiver uses it. */
export const ShownSecret = ({ secret, onClose }: { readonly secret: string | null; readonly onClose: () => void }) => (
  <SecretDialog
    title="Webhook secret"
    secret={secret}
    lost="Roll the webhook’s secret to create another one."
    onClose={onClose}
  >
    <p className={kit['dim']}>
      Your receiver verifies each <code>Service-Signature</code> with this secret, over the raw bytes of the body.
    </p>
  </SecretDialog>
);
