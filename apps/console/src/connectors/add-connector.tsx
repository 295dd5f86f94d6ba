import { Link, useLocation } from 'wouter';
import { useChange } from '../kernel/change.ts';
import { api, bodyOf } from '../kernel/client.ts';
import { useChanged } from '../kernel/refresh.ts';
import { Badge } from '../kit/badges.tsx';
import { Failure } from '../kit/failure.tsx';
import { Bones, Said } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { ScreenHead } from '../shell/screen.tsx';
import { ConnectorForm, type Written } from './connector-form.tsx';
import styles from './connectors.module.css';
import { hasDraft, newDraft, useKeptDraft } from './drafts.ts';
import type { Schema } from './schema.ts';
import { CHANGED, type ConnectorType, useTypes } from './types.ts';

/** The form for a new connector of a type from the catalogue. */
export const AddConnector = ({ type }: { readonly type: string }) => {
  const { data: types, error, refetch } = useTypes();
  if (types === undefined) {
    return (
      <>
        <ScreenHead title="New connector" />
        {error === null ? <Bones count={3} /> : <Failure error={error} onRetry={() => void refetch()} />}
      </>
    );
  }
  const chosen = types.find((each) => each.type === type);
  return chosen === undefined ? <Catalogue types={types} /> : <NewConnector key={chosen.type} type={chosen} />;
};

const STATUS = { stable: 'Stable', beta: 'Beta', dev: 'For development' } as const;

const MODES = {
  sandbox_only: 'Works with sandbox accounts only, never with live accounts.',
  drafts_only: 'Creates drafts only; a person sends them.',
  dev_only: 'For development only.',
} as const;

const Catalogue = ({ types }: { readonly types: readonly ConnectorType[] }) => (
  <>
    <ScreenHead title="New connector" about="Choose the kind of system that agents act on." />
    <ul className={styles['catalogue']}>
      {types.map((type) => (
        <li key={type.type}>
          <h2>
            {type.title}{' '}
            <Badge
              tone={type.status === 'stable' ? 'ok' : 'warn'}
              icon={type.status === 'stable' ? 'checkCircle' : 'alert'}
            >
              {STATUS[type.status]}
            </Badge>
          </h2>
          <p>{type.summary}</p>
          {type.modes.length === 0 ? null : (
            <p className={kit['dim']}>{type.modes.map((mode) => MODES[mode]).join(' ')}</p>
          )}
          {type.tools.length === 0 ? null : (
            <p className={kit['dim']}>
              Tools: <code>{type.tools.map(({ name }) => name).join(', ')}</code>
            </p>
          )}
          <Link href={`/connectors?add=${type.type}`} className={kit['button'] ?? ''}>
            {hasDraft(`new:${type.type}`) ? 'Continue your draft' : `Set up: ${type.title}`}
          </Link>
          <Steps steps={type.setup_steps} />
        </li>
      ))}
    </ul>
  </>
);

const Steps = ({ steps }: { readonly steps: readonly string[] }) => (
  <ol className={styles['steps']}>
    {steps.map((step) => (
      <li key={step}>
        <Said text={step} />
      </li>
    ))}
  </ol>
);

const NewConnector = ({ type }: { readonly type: ConnectorType }) => {
  const schema = type.config_schema as Schema;
  const changed = useChanged();
  const [, navigate] = useLocation();
  const { draft, change, drop } = useKeptDraft(`new:${type.type}`, () => newDraft(schema));
  const create = useChange(
    ({ name, description, config }: Written, key) =>
      bodyOf(
        api.POST('/v1/connectors', {
          params: { header: { 'Idempotency-Key': key } },
          body: {
            type: type.type as 'rest',
            name,
            ...(description === '' ? {} : { description }),
            config: config as never,
          },
        }),
      ),
    (made) => {
      drop();
      changed(CHANGED);
      navigate(`/connectors/${made.id}`, { replace: true });
    },
  );
  return (
    <>
      <ScreenHead title={`New connector: ${type.title}`} about="Nothing is stored until you press Create." />
      <div className={kit['columns']}>
        <ConnectorForm
          schema={schema}
          type={type.type}
          draft={draft}
          onChange={change}
          error={create.error}
          isPending={create.isPending}
          save="Create connector"
          onSave={(written) => create.mutate(written)}
          onLeave={() => navigate('/connectors')}
          onDiscard={() => {
            drop();
            navigate('/connectors');
          }}
        />
        <aside className={styles['aside']} aria-label="Setup guide">
          <h2>Setup guide</h2>
          <Steps steps={type.setup_steps} />
        </aside>
      </div>
    </>
  );
};
