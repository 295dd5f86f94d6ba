import { useEffect } from 'react';
import { Link } from 'wouter';
import { useFilters } from '../kernel/address.ts';
import { useFilteredList } from '../kernel/filtered-list.ts';
import { useMay } from '../kernel/session.tsx';
import { cx, Empty, None, Said, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { ListFrame } from '../kit/list-frame.tsx';
import { ScreenHead } from '../shell/screen.tsx';
import { AddConnector } from './add-connector.tsx';
import { HealthBadge, StandsBadge } from './connector-badges.tsx';
import styles from './connectors.module.css';
import { draftNames } from './drafts.ts';
import { heldToolsInWords } from './held-tools.ts';
import { connectorPages } from './queries.ts';
import { StrandedDrafts } from './stranded-drafts.tsx';
import { isCredentialMissing } from './needed-credential.ts';
import { type Connector, type ConnectorType, useTypes } from './types.ts';

/** The list of connectors. With `?add` in the address, the form for a new one. */
export const ConnectorsScreen = () => {
  const { filters } = useFilters();
  const may = useMay('admin');
  const adding = filters.get('add');
  return adding !== null && may ? <AddConnector type={adding} /> : <ConnectorsList mayAdd={may} />;
};

const ConnectorsList = ({ mayAdd }: { readonly mayAdd: boolean }) => {
  const list = useFilteredList<Connector>([], connectorPages);
  useCatchingUp(list);
  return (
    <>
      <ScreenHead
        title="Connectors"
        about="Systems that agents act on, each with its tools and credential."
        action={
          mayAdd ? (
            <Link href="/connectors?add=" className={cx(kit['button'], kit['primary'])}>
              New connector
            </Link>
          ) : null
        }
      />
      {mayAdd ? null : <StrandedDrafts names={draftNames()} />}
      <ListFrame list={list} one="connector" none={<NoConnectors mayAdd={mayAdd} />}>
        <ConnectorsTable rows={list.rows} />
      </ListFrame>
    </>
  );
};

const CATCH_UP_MS = 1_000;

/** Reads the list again every second while it is behind: no event tells when its rows have caught up. */
const useCatchingUp = ({ lag, dataUpdatedAt, refetch }: ReturnType<typeof useFilteredList>): void => {
  useEffect(() => {
    if (lag === 0) return undefined;
    const timer = setTimeout(() => void refetch(), CATCH_UP_MS);
    return () => clearTimeout(timer);
  }, [lag, dataUpdatedAt, refetch]);
};

const NoConnectors = ({ mayAdd }: { readonly mayAdd: boolean }) => (
  <Empty
    title="No connectors yet"
    code={[
      `curl -sS '${location.origin}/v1/connectors' -H "Authorization: Bearer $ADMIN_KEY" \\`,
      `  -H 'Content-Type: application/json' -d '{"type": "rest", "name": "crm", "config": {`,
      `    "base_url": "https://crm.example.com", "auth": {"kind": "none"},`,
      `    "allowed_methods": ["GET"], "allowed_path_prefixes": ["/v1/customers"],`,
      `    "tools": [{"name": "get_customer", "description": "Read a customer", "method": "GET",`,
      `      "path": "/v1/customers/{id}", "args": {"id": {"in": "path", "type": "string", "required": true}}}]}}'`,
    ].join('\n')}
  >
    A connector turns a system, such as an HTTP API or an MCP server, into tools that agents can call. The service adds
    the credential when it sends a call; agents never see the credential.{' '}
    {mayAdd ? <Link href="/connectors?add=">Add a connector</Link> : 'An admin adds connectors, here or with the API:'}
  </Empty>
);

const ConnectorsTable = ({ rows }: { readonly rows: readonly Connector[] }) => {
  const { data: types } = useTypes();
  return (
    <table className={kit['table']}>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Status</th>
          <th scope="col">Description</th>
          <th scope="col">Tools</th>
          <th scope="col">Credential</th>
          <th scope="col">Changed</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((connector) => (
          <tr key={connector.id}>
            <td>
              <Link href={`/connectors/${connector.id}`} className={kit['rowLink'] ?? ''} data-row>
                <code>{connector.name}</code>
              </Link>
            </td>
            <td data-end>
              <StandsBadge connector={connector} />{' '}
              {connector.health.status === 'not_tested' ? null : <HealthBadge health={connector.health} />}
            </td>
            <td data-wide>{connector.description === null ? <None /> : <Said text={connector.description} />}</td>
            <td className={kit['number']}>
              {connector.tools.length}
              <span className={styles['onPhone']}> {connector.tools.length === 1 ? 'tool' : 'tools'}</span>
              {connector.held_tools === 0 ? null : (
                <strong className={styles['held']}>{heldToolsInWords(connector.held_tools)}</strong>
              )}
            </td>
            <td data-end>
              <span className={styles['onPhone']}>credential </span>
              <CredentialWord connector={connector} type={types?.find(({ type }) => type === connector.type)} />
            </td>
            <td data-hide className={kit['number']}>
              <Time at={connector.updated_at} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
};

/** Whether the connector has the credential that it needs, in a word. */
const CredentialWord = ({
  connector,
  type,
}: {
  readonly connector: Connector;
  readonly type: ConnectorType | undefined;
}) =>
  isCredentialMissing(connector, type) ? (
    <strong className={styles['missing']}>missing</strong>
  ) : connector.credential === null ? (
    <span className={kit['dim']}>none needed</span>
  ) : (
    <span>stored</span>
  );
