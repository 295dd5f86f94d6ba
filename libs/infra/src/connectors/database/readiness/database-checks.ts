import { type CheckFinding, type ConnectorCheck, skippedCheck, type TestedConnector } from '#libs/domain/connectors';
import { publicationFinding, publishedTablesFinding, replicaIdentityFinding } from './publication-findings.js';
import { type AgentSide, type Found, readAgentSide, readWitnessSide, type WitnessedLog } from './readiness-facts.js';
import type { ReadinessTerms } from './readiness-terms.js';
import {
  agentRoleFinding,
  encodingFinding,
  reachableFinding,
  schemasFinding,
  tlsFinding,
  unreached,
  versionFinding,
} from './server-findings.js';
import type { OpenSession } from './session.js';
import {
  freeSlotFinding,
  lagFinding,
  slotFinding,
  slotSizeFinding,
  walLevelFinding,
  witnessRoleFinding,
} from './witness-findings.js';

export interface DatabaseCheckParts {
  readonly termsOf: (tested: TestedConnector) => ReadinessTerms;
  readonly openAgent: OpenSession;
  readonly openWitness: OpenSession;
}

/** What checks of one test share: every question is asked once, over one connection a role, which is closed again. */
interface Reading {
  readonly terms: ReadinessTerms;
  readonly agent: Found<AgentSide>;
}

type Witness = NonNullable<ReadinessTerms['witness']>;

const NOT_WITNESSED = skippedCheck('The config says witness.enabled: false.');
const NOT_READ = skippedCheck('The database could not be asked.');

/** The checklist of a database connector, for one test. `tls` takes the place of the common check of that name. */
export const databaseChecks = (parts: DatabaseCheckParts): readonly ConnectorCheck[] => {
  let reading: Promise<Reading> | null = null;
  const readOnce = (tested: TestedConnector): Promise<Reading> => {
    const terms = parts.termsOf(tested);
    return (reading ??= readAgentSide(parts.openAgent, tested, terms).then((agent) => ({ terms, agent })));
  };
  const check = (
    name: string,
    restsOn: readonly string[],
    find: (read: Reading, tested: TestedConnector) => Answer,
  ): ConnectorCheck => ({
    name,
    restsOn,
    run: async (tested) => find(await readOnce(tested), tested),
  });
  const asked = (
    name: string,
    restsOn: readonly string[],
    find: (side: AgentSide, terms: ReadinessTerms) => CheckFinding,
  ) => check(name, restsOn, ({ agent, terms }) => (agent.ok ? find(agent.facts, terms) : NOT_READ));
  const witnessed = (
    name: string,
    restsOn: readonly string[],
    find: (log: WitnessedLog, witness: Witness, terms: ReadinessTerms) => CheckFinding,
  ) =>
    asked(name, restsOn, ({ log }, terms) =>
      terms.witness === null ? NOT_WITNESSED : log === null ? NOT_READ : find(log, terms.witness, terms),
    );
  return [
    check('tls', ['config', 'credentials', 'destination'], ({ terms, agent }) => tlsFinding(terms, agent)),
    check('reachable', ['config', 'credentials', 'destination', 'tls'], ({ terms, agent }) =>
      reachableFinding(terms, agent),
    ),
    asked('version', ['reachable'], ({ server }) => versionFinding(server)),
    asked('encoding', ['version'], ({ server, role }, terms) => encodingFinding(server, terms, role.role)),
    asked('agent_role', ['version'], ({ server, role }) => agentRoleFinding(role, server.owned)),
    asked('schemas', ['version'], ({ server, role }) => schemasFinding(server, role.role)),
    check('witness_role', ['version'], (read, tested) => witnessRole(read, tested, parts.openWitness)),
    witnessed('wal_level', ['version'], ({ log }) => walLevelFinding(log)),
    witnessed('free_slot', ['version'], ({ log }) => freeSlotFinding(log)),
    witnessed('publication', ['version'], (log, { publication }) => publicationFinding(log, publication)),
    witnessed('replica_identity', ['version'], (log, { publication }) => replicaIdentityFinding(log, publication)),
    witnessed('published_tables', ['publication'], (log) => publishedTablesFinding(log)),
    witnessed('slot', ['wal_level'], ({ log }, { slot }, { database }) => slotFinding(log, slot, database)),
    witnessed('slot_size', ['version'], ({ log }) => slotSizeFinding(log)),
    witnessed('lag', ['slot'], ({ log }) => lagFinding(log)),
  ];
};

type Answer = CheckFinding | Promise<CheckFinding>;

const witnessRole = async (
  { terms, agent }: Reading,
  tested: TestedConnector,
  open: OpenSession,
): Promise<CheckFinding> => {
  if (terms.witness === null) return NOT_WITNESSED;
  if (!agent.ok) return NOT_READ;
  const found = await readWitnessSide(open, tested, terms.witness.publication);
  if (!found.ok) return unreached(found.failure, 'the witness', terms.database);
  return witnessRoleFinding(found.facts, agent.facts.role.role);
};
