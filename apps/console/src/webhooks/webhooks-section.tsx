import { useState } from 'react';
import { Link } from 'wouter';
import type { Schemas } from '../kernel/client.ts';
import { useList } from '../kernel/lists.ts';
import { useChanged } from '../kernel/refresh.ts';
import { Failure } from '../kit/failure.tsx';
import { Bones, Button, Empty, None, Said, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { ListFoot } from '../kit/list-foot.tsx';
import { SectionHead } from '../people/section-head.tsx';
import { webhookPages } from './queries.ts';
import { inWords } from './subscription.ts';
import { WebhookBadge } from './webhook-badge.tsx';
import { CreateWebhook, ShownSecret } from './webhook-dialogs.tsx';
import styles from './webhooks.module.css';

type Open = { readonly is: 'create' } | { readonly is: 'secret'; readonly secret: string | null } | null;

export const WebhooksSection = () => {
  const changed = useChanged();
  const [open, setOpen] = useState<Open>(null);
  const list = useList(webhookPages);
  const { rows, error, isPending, refetch } = list;
  const close = (): void => setOpen(null);
  return (
    <>
      <SectionHead
        id="webhooks"
        action={
          <Button kind="primary" icon="send" onClick={() => setOpen({ is: 'create' })}>
            New webhook
          </Button>
        }
      />
      {error !== null ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : isPending ? (
        <Bones count={3} />
      ) : rows.length === 0 ? (
        <NoWebhooks />
      ) : (
        <div className={kit['panel']}>
          <WebhooksTable rows={rows} />
        </div>
      )}
      <ListFoot {...list} />
      {open?.is === 'create' ? (
        <CreateWebhook
          onMade={({ secret }) => {
            setOpen({ is: 'secret', secret });
            changed(['webhooks']);
          }}
          onClose={close}
        />
      ) : null}
      {open?.is === 'secret' ? <ShownSecret secret={open.secret} onClose={close} /> : null}
    </>
  );
};

const NoWebhooks = () => (
  <Empty
    title="No webhooks yet"
    code={[
      `curl -sS '${location.origin}/v1/webhooks' -H "Authorization: Bearer $ADMIN_KEY" \\`,
      `  -H 'Content-Type: application/json' \\`,
      `  -d '{"url": "https://your-receiver.example/hooks", "events": ["approval.*", "deed.sealed"]}'`,
    ].join('\n')}
  >
    A webhook delivers signed events to your address as they happen, and retries until your receiver answers with 2xx.
    Example, for approvals and deeds:
  </Empty>
);

const WebhooksTable = ({ rows }: { readonly rows: readonly Schemas['Webhook'][] }) => (
  <table className={kit['table']}>
    <thead>
      <tr>
        <th scope="col">Address</th>
        <th scope="col">Status</th>
        <th scope="col">Events</th>
        <th scope="col">Failing since</th>
      </tr>
    </thead>
    <tbody>
      {rows.map((webhook) => (
        <tr key={webhook.id}>
          <td className={styles['where']}>
            <Link href={`/settings/${webhook.id}`} className={kit['rowLink'] ?? ''} data-row>
              <Said text={webhook.url} />
            </Link>
            {webhook.description === null ? null : (
              <small>
                <Said text={webhook.description} />
              </small>
            )}
          </td>
          <td data-end>
            <WebhookBadge webhook={webhook} />
          </td>
          <td data-wide className={kit['dim']}>
            {inWords(webhook.events)}
          </td>
          <td data-wide>
            {webhook.failing_since === null ? (
              <None />
            ) : (
              <>
                <span className={styles['onPhone']}>failing since </span>
                <Time at={webhook.failing_since} />
              </>
            )}
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);
