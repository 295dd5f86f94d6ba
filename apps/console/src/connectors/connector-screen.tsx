import { useEffect, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useFilters } from '../kernel/address.ts';
import { ApiError, type Schemas } from '../kernel/client.ts';
import { useMay } from '../kernel/session.tsx';
import { Failure } from '../kit/failure.tsx';
import { Bones, cx, Id, Panel, Said, Time, Warning } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { RecentActions } from '../gate/recent-actions.tsx';
import { ScreenHead } from '../shell/screen.tsx';
import { StandsBadge } from './connector-badges.tsx';
import { ConfigFacts } from './config-facts.tsx';
import { ConnectorCredential } from './credential.tsx';
import { EditConnector } from './edit-connector.tsx';
import { ConnectorEnd } from './ends.tsx';
import { Misfit } from './draft.ts';
import { draftOf, dropDraft, hasDraft } from './drafts.ts';
import { ServedToolsPanel } from './served-tools-panel.tsx';
import { StarterPanel } from './starter-panel.tsx';
import { StrandedDrafts } from './stranded-drafts.tsx';
import { TestPanel } from './test-panel.tsx';
import { ToolsPanel } from './tools-panel.tsx';
import { TryPanel } from './try-panel.tsx';
import { WitnessPanel } from './witness-panel.tsx';
import { isCredentialMissing } from './needed-credential.ts';
import { type Connector, type ConnectorType, useConnector, useTypes } from './types.ts';
import { whyDisabled } from './why-disabled.ts';

type Finding = Schemas['PolicyDiagnostic'];

/** A connector and its tools. With `?edit` in the address, the form to change it. */
export const ConnectorScreen = ({ id }: { readonly id: string }) => {
  const { data: connector, error, refetch } = useConnector(id);
  const { data: types, error: typesError, refetch: readTypes } = useTypes();
  const { filters } = useFilters();
  const may = useMay('admin');
  const [, navigate] = useLocation();
  const [warnings, setWarnings] = useState<readonly Finding[]>([]);
  const isGone = error instanceof ApiError && error.code === 'not_found';
  // Somebody else has removed the connector: what was typed about it can neither be saved nor discarded any more.
  useEffect(() => {
    if (isGone) dropDraft(id);
  }, [isGone, id]);
  const failure = connector === undefined ? error : types === undefined ? typesError : null;
  if (connector === undefined || types === undefined) {
    return (
      <>
        <ScreenHead title="Connector" />
        {failure === null ? (
          <Bones />
        ) : (
          <Failure error={failure} onRetry={() => void (connector === undefined ? refetch() : readTypes())} />
        )}
      </>
    );
  }
  const type = types.find((each) => each.type === connector.type);
  const mayEdit = may && type !== undefined && isDrawn(type, connector);
  if (filters.has('edit') && mayEdit) {
    return (
      <EditConnector
        connector={connector}
        type={type}
        onRead={() => void refetch()}
        onDone={(changed) => {
          setWarnings(changed?.policy_warnings ?? []);
          navigate(`/connectors/${id}`, { replace: true });
        }}
      />
    );
  }
  const credential = <ConnectorCredential connector={connector} type={type} />;
  const isMissing = isCredentialMissing(connector, type);
  return (
    <>
      <Head connector={connector} mayEdit={mayEdit} />
      {mayEdit ? null : <StrandedDrafts names={[id]} />}
      <div className={kit['columns']}>
        <div className={kit['stack']}>
          <WhyDisabled connector={connector} />
          {may && !mayEdit ? <NoForm /> : null}
          <PolicyWarnings findings={warnings} />
          {isMissing ? credential : null}
          <Tools connector={connector} type={type} />
          <TryPanel connector={connector} />
          <RecentCalls name={connector.name} />
        </div>
        <div className={kit['stack']}>
          {isMissing ? null : credential}
          <WitnessPanel connector={connector} />
          <TestPanel connector={connector} />
          {may ? <StarterPanel connector={connector} type={type} /> : null}
          <ConfigFacts connector={connector} type={type} />
          {may ? <ConnectorEnd connector={connector} onWarnings={setWarnings} /> : null}
        </div>
      </div>
    </>
  );
};

const Tools = ({ connector, type }: { readonly connector: Connector; readonly type: ConnectorType | undefined }) =>
  type?.tools_from === 'server' ? <ServedToolsPanel connector={connector} /> : <ToolsPanel connector={connector} />;

/** Whether the type's form can hold all of the connector's config. */
const isDrawn = (type: ConnectorType, connector: Connector): boolean => {
  try {
    draftOf(type.config_schema, connector);
    return true;
  } catch (error) {
    if (error instanceof Misfit) return false;
    throw error;
  }
};

const NoForm = () => (
  <Warning>
    The Console has no form for this configuration. Change it with the API: <code>PATCH /v1/connectors/…</code>
  </Warning>
);

const Head = ({ connector, mayEdit }: { readonly connector: Connector; readonly mayEdit: boolean }) => (
  <>
    <ScreenHead
      title={connector.name}
      name={<code>{connector.name}</code>}
      badges={<StandsBadge connector={connector} />}
      action={
        mayEdit ? (
          <Link href={`/connectors/${connector.id}?edit=`} className={cx(kit['button'], kit['primary'])}>
            {hasDraft(connector.id) ? 'Continue your draft' : `Change ${connector.name}`}
          </Link>
        ) : null
      }
      about={connector.description === null ? undefined : <Said text={connector.description} />}
    />
    <p className={kit['meta']}>
      <Id id={connector.id} /> created <Time at={connector.created_at} isExact />
    </p>
  </>
);

const WhyDisabled = ({ connector: { health } }: { readonly connector: Connector }) =>
  health.reason === null ? null : (
    <Warning>
      The service disabled this connector: <Said text={whyDisabled(health.reason)} />. Resolve the cause, then enable
      the connector.
    </Warning>
  );

/** Findings of the enforced policy that a change of the connector has caused. */
const PolicyWarnings = ({ findings }: { readonly findings: readonly Finding[] }) =>
  findings.length === 0 ? null : (
    <Panel title="Findings of the enforced policy about this change">
      <div className={kit['stack']} role="status">
        {findings.map((finding) => (
          <Warning key={`${finding.line}:${finding.column}:${finding.code}`}>
            <Said text={finding.message} />
            <div>
              <small>
                <Said text={finding.hint} /> Line {finding.line}
                {finding.rule_id === null ? '' : `, rule ${finding.rule_id}`}. <code>{finding.code}</code>
              </small>
            </div>
          </Warning>
        ))}
      </div>
    </Panel>
  );

const RecentCalls = ({ name }: { readonly name: string }) => {
  const tool = `${name}.*`;
  return (
    <RecentActions
      title="Recent calls"
      of="connectors"
      filter={{ tool }}
      more={{ to: `/actions?tool=${encodeURIComponent(tool)}&execution=failed,unknown`, words: 'Failed calls' }}
      none="No calls yet. A call runs when the enforced policy allows the tool for the agent."
    />
  );
};
