import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useChange } from '../kernel/change.ts';
import { api, bodyOf, type Schemas } from '../kernel/client.ts';
import { useChanged } from '../kernel/refresh.ts';
import { Failure } from '../kit/failure.tsx';
import { Bones, Button, Id, Panel, Said, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { ScreenHead } from '../shell/screen.tsx';
import { Deliveries } from './deliveries-panel.tsx';
import { webhookQuery } from './queries.ts';
import { inWords } from './subscription.ts';
import { WebhookBadge } from './webhook-badge.tsx';
import { ChangeWebhook, DeleteWebhook, RollSecret, ShownSecret } from './webhook-dialogs.tsx';
import { answerInWords, standOfWebhook } from './webhook-words.ts';
import styles from './webhooks.module.css';

type Webhook = Schemas['Webhook'];

/** The page of one webhook: its events, its state with the reason, and its deliveries. */
export const WebhookPage = ({ id }: { readonly id: string }) => {
  const { data: webhook, error, refetch } = useQuery(webhookQuery(id));
  if (webhook === undefined) {
    return (
      <>
        <ScreenHead title="Webhook" />
        {error === null ? <Bones count={4} /> : <Failure error={error} onRetry={() => void refetch()} />}
      </>
    );
  }
  return (
    <>
      <ScreenHead
        title={webhook.url}
        name={<Said text={webhook.url} />}
        badges={<WebhookBadge webhook={webhook} />}
        about={webhook.description === null ? undefined : <Said text={webhook.description} />}
      />
      <Stand webhook={webhook} />
      <Facts webhook={webhook} />
      <Deliveries webhook={webhook} />
    </>
  );
};

type Open =
  { readonly is: 'change' | 'roll' | 'delete' } | { readonly is: 'secret'; readonly secret: string | null } | null;

const Stand = ({ webhook }: { readonly webhook: Webhook }) => {
  const refresh = useChanged();
  const [, navigate] = useLocation();
  const [open, setOpen] = useState<Open>(null);
  const close = (): void => setOpen(null);
  const changed = (to: Webhook): void => {
    refresh(['webhooks'], { of: webhookQuery(webhook.id), is: to });
    close();
  };
  return (
    <Panel title="Status">
      <div className={styles['stack']}>
        <Why webhook={webhook} />
        <Switch webhook={webhook} onChanged={changed}>
          <Button icon="key" onClick={() => setOpen({ is: 'roll' })}>
            Roll secret
          </Button>
          <Button onClick={() => setOpen({ is: 'change' })}>Change</Button>
          <Button kind="danger" onClick={() => setOpen({ is: 'delete' })}>
            Delete
          </Button>
        </Switch>
      </div>
      {open?.is === 'change' ? <ChangeWebhook webhook={webhook} onChanged={changed} onClose={close} /> : null}
      {open?.is === 'roll' ? (
        <RollSecret
          webhook={webhook}
          onMade={({ webhook: rolled, secret }) => {
            changed(rolled);
            setOpen({ is: 'secret', secret });
          }}
          onClose={close}
        />
      ) : null}
      {open?.is === 'delete' ? (
        <DeleteWebhook
          webhook={webhook}
          onDeleted={() => {
            refresh(['webhooks'], { gone: webhookQuery(webhook.id) });
            navigate('/settings/webhooks');
          }}
          onClose={close}
        />
      ) : null}
      {open?.is === 'secret' ? <ShownSecret secret={open.secret} onClose={close} /> : null}
    </Panel>
  );
};

/** The webhook's state in words, with what to do about it. */
const Why = ({ webhook }: { readonly webhook: Webhook }) => {
  const since = webhook.failing_since === null ? null : <Time at={webhook.failing_since} />;
  switch (standOfWebhook(webhook)) {
    case 'active':
      return <p>Every subscribed event is delivered as it happens.</p>;
    case 'failing':
      return (
        <p>
          Every attempt since {since} has failed; the deliveries below show why. After 72 hours of failures the service
          disables this webhook.
        </p>
      );
    case 'paused':
      return <p>This webhook is paused. Events that happen while it is paused are not delivered later.</p>;
    case 'given up':
      return (
        <p className={kit['warning']}>
          The service disabled this webhook because every attempt since {since} failed, for 72 hours. Missed events are
          still in the lists. Fix the receiver, send a test, then resume.
        </p>
      );
  }
};

/** The buttons to pause and to resume the webhook, and to send a test, whose answer is shown at once. */
const Switch = ({
  webhook,
  onChanged,
  children,
}: {
  readonly webhook: Webhook;
  readonly onChanged: (webhook: Webhook) => void;
  /** The other buttons. */
  readonly children: ReactNode;
}) => {
  const changed = useChanged();
  const isActive = webhook.status === 'active';
  const change = useChange(
    (status: Webhook['status']) =>
      bodyOf(api.PATCH('/v1/webhooks/{id}', { params: { path: { id: webhook.id } }, body: { status } })),
    onChanged,
  );
  const test = useChange(
    (id: string, key) =>
      bodyOf(api.POST('/v1/webhooks/{id}/test', { params: { path: { id }, header: { 'Idempotency-Key': key } } })),
    () => changed(['webhooks', 'deliveries']),
  );
  return (
    <>
      {change.error === null ? null : <Failure error={change.error} />}
      {test.error === null ? null : <Failure error={test.error} />}
      {test.data === undefined || test.isPending ? null : <TestAnswer delivery={test.data} />}
      <div className={styles['tools']}>
        <Button icon="send" disabled={test.isPending} onClick={() => test.mutate(webhook.id)}>
          {test.isPending ? 'Waiting for the answer …' : 'Send test'}
        </Button>
        <Button
          icon={isActive ? 'pause' : 'play'}
          disabled={change.isPending}
          onClick={() => change.mutate(isActive ? 'disabled' : 'active')}
        >
          {isActive ? 'Pause' : 'Resume'}
        </Button>
        {children}
      </div>
    </>
  );
};

const TestAnswer = ({ delivery }: { readonly delivery: Schemas['WebhookDelivery'] }) => (
  <p role="status" className={delivery.status === 'delivered' ? undefined : kit['warning']}>
    {delivery.status === 'delivered'
      ? `The receiver accepted the test with ${delivery.http_status ?? '2xx'}.`
      : `The test was not delivered: ${answerInWords(delivery) ?? 'the reason is not known'}.`}
  </p>
);

const Facts = ({ webhook }: { readonly webhook: Webhook }) => (
  <Panel title="Facts" aside={<Link href="/settings/webhooks">All webhooks</Link>}>
    <dl className={styles['facts']}>
      <dt>Events</dt>
      <dd>
        <code>{inWords(webhook.events)}</code>
      </dd>
      <dt>Secret ending</dt>
      <dd>
        <code>…{webhook.secret_hint}</code>
      </dd>
      {webhook.old_secrets_until.map((until) => (
        <OldSecret key={until} until={until} />
      ))}
      {webhook.oldest_pending_at === null ? null : (
        <>
          <dt>Oldest waiting event</dt>
          <dd>
            since <Time at={webhook.oldest_pending_at} />. If this is long ago, the receiver answers too slowly.
          </dd>
        </>
      )}
      <dt>Created</dt>
      <dd>
        <Time at={webhook.created_at} isExact />
      </dd>
      <dt>Id</dt>
      <dd>
        <Id id={webhook.id} isWhole />
      </dd>
    </dl>
  </Panel>
);

const OldSecret = ({ until }: { readonly until: string }) => (
  <>
    <dt>Previous secret</dt>
    <dd>
      signs until <Time at={until} />
    </dd>
  </>
);
