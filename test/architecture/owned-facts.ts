import * as crypto from '#libs/crypto';
import * as agents from '#libs/domain/agents';
import * as connectors from '#libs/domain/connectors';
import * as events from '#libs/domain/events';
import * as gate from '#libs/domain/gate';
import * as kernel from '#libs/domain/kernel';
import * as ledger from '#libs/domain/ledger';
import * as people from '#libs/domain/people';
import * as policies from '#libs/domain/policies';
import * as webhooks from '#libs/domain/webhooks';
import * as witness from '#libs/domain/witness';
import { SECURITY_EVENT_TYPES } from '#libs/infra/read-models';
import { LEDGER_LIST_LIMIT_DEFAULT, LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX } from '../../apps/api/src/http/query-shape.js';
import { STATS_BY } from '../../apps/api/src/insights/action-stats.js';
import { OVERVIEW_WINDOWS } from '../../apps/api/src/insights/overview-window.js';
import { STATS_WINDOWS } from '../../apps/api/src/insights/stats-window.js';
import { Q_CHARACTERS } from '../../apps/api/src/lists/filter-values.js';
import { ARGUMENT_TYPES as DATABASE_ARGUMENT_TYPES } from '../../libs/domain/src/connectors/database/database-config.js';
import { HTTP_METHODS } from '../../libs/domain/src/connectors/http-request.js';

/** A closed set, pattern or limit, and the one file that spells it (docs/adr/0027-one-owner-for-each-fact.md). */
interface Owned {
  /** The constant to import instead of spelling it again. */
  readonly name: string;
  readonly file: string;
  /** The schema that tells it in the OpenAPI document; the document is held against the owner. Null: it is not told. */
  readonly schema: string | null;
}

export interface OwnedSet extends Owned {
  readonly values: readonly string[];
}

export interface OwnedPattern extends Owned {
  readonly pattern: RegExp;
}

const KERNEL = 'libs/domain/src/kernel/closed-sets.ts';
const DECODER_ROWS = 'libs/domain/src/witness/decoder-rows.port.ts';
const ACTION_STATE = 'libs/domain/src/gate/action/action.state.ts';

const set = (schema: string, name: string, values: readonly string[], file: string): OwnedSet => ({
  name,
  file,
  schema,
  values,
});

export const OWNED_SETS: readonly OwnedSet[] = [
  set('CallMode', 'CALL_MODES', kernel.CALL_MODES, KERNEL),
  set('SideEffect', 'SIDE_EFFECTS', kernel.SIDE_EFFECTS, KERNEL),
  set('Outcome', 'DECISION_OUTCOMES', kernel.DECISION_OUTCOMES, KERNEL),
  set('ExecutionStatus', 'EXECUTION_STATUSES', kernel.EXECUTION_STATUSES, KERNEL),
  set('Level', 'WITNESS_LEVELS', kernel.WITNESS_LEVELS, KERNEL),
  set('Verdict', 'VERDICTS', kernel.VERDICTS, KERNEL),
  set('Role', 'ROLES', kernel.ROLES, KERNEL),
  set('PolicyMode', 'POLICY_MODES', kernel.POLICY_MODES, KERNEL),
  set('ErrorCode', 'ERROR_CATALOGUE', Object.keys(kernel.ERROR_CATALOGUE), 'libs/domain/src/kernel/error-catalogue.ts'),
  set('ActionState', 'ACTION_STATES', gate.ACTION_STATES, ACTION_STATE),
  set('ActionStatus', 'ACTION_STATUSES', gate.ACTION_STATUSES, ACTION_STATE),
  set('ApprovalStatus', 'APPROVAL_STATUSES', gate.APPROVAL_STATUSES, ACTION_STATE),
  set('ApprovalDecision', 'APPROVAL_DECISIONS', gate.APPROVAL_DECISIONS, 'libs/crypto/src/approval-challenge.ts'),
  set('AgentStatus', 'AGENT_STATUSES', agents.AGENT_STATUSES, 'libs/domain/src/agents/agent.state.ts'),
  set('AgentScope', 'AGENT_SCOPES', agents.AGENT_SCOPES, 'libs/domain/src/agents/agent.events.ts'),
  set('IntentMode', 'INTENT_MODES', agents.INTENT_MODES, 'libs/domain/src/agents/agent.events.ts'),
  set('MembershipStatus', 'MEMBERSHIP_STATUSES', people.MEMBERSHIP_STATUSES, 'libs/domain/src/people/membership.ts'),
  set('ApprovalDoor', 'APPROVAL_DOORS', people.APPROVAL_DOORS, 'libs/domain/src/people/organization.events.ts'),
  set('SignInMeans', 'SIGN_IN_MEANS', people.SIGN_IN_MEANS, 'libs/domain/src/people/session.decider.ts'),
  set(
    'SecurityEventType',
    'SECURITY_EVENT_TYPES',
    SECURITY_EVENT_TYPES,
    'libs/infra/src/read-models/people/security-event.row.ts',
  ),
  set('DeedKind', 'DEED_KINDS', ledger.DEED_KINDS, 'libs/domain/src/ledger/deed.events.ts'),
  set('FileMediaType', 'FILE_MEDIA_TYPES', ledger.FILE_MEDIA_TYPES, 'libs/domain/src/ledger/sealed-file.events.ts'),
  set(
    'ConnectorTypeName',
    'CONNECTOR_TYPES',
    connectors.CONNECTOR_TYPES,
    'libs/domain/src/connectors/connector.events.ts',
  ),
  set(
    'ServedConnectorTypeName',
    'SERVED_TYPES',
    connectors.SERVED_TYPES,
    'libs/domain/src/connectors/connector-types.ts',
  ),
  set(
    'ConnectorStatus',
    'CONNECTOR_STATUSES',
    connectors.CONNECTOR_STATUSES,
    'libs/domain/src/connectors/connector.events.ts',
  ),
  set(
    'CredentialKind',
    'CREDENTIAL_KINDS',
    connectors.CREDENTIAL_KINDS,
    'libs/domain/src/connectors/connector.events.ts',
  ),
  set(
    'ConnectorToolStatus',
    'DISCOVERED_STATUSES',
    connectors.DISCOVERED_STATUSES,
    'libs/domain/src/connectors/discovered-tools.ts',
  ),
  set('WitnessStatus', 'DECODER_STATUSES', witness.DECODER_STATUSES, DECODER_ROWS),
  set('WitnessReason', 'DECODER_ROW_REASONS', witness.DECODER_ROW_REASONS, DECODER_ROWS),
  set(
    'DatabaseArgumentType',
    'ARGUMENT_TYPES',
    DATABASE_ARGUMENT_TYPES,
    'libs/domain/src/connectors/database/database-config.ts',
  ),
  set('RestMethod', 'HTTP_METHODS', HTTP_METHODS, 'libs/domain/src/connectors/http-request.ts'),
  set('WebhookStatus', 'WEBHOOK_STATUSES', webhooks.WEBHOOK_STATUSES, 'libs/domain/src/webhooks/webhook.events.ts'),
  set('DeliveryStatus', 'DELIVERY_STATUSES', webhooks.DELIVERY_STATUSES, 'libs/domain/src/webhooks/delivery.ts'),
  set('EventType', 'PUBLIC_EVENT_TYPES', events.PUBLIC_EVENT_TYPES, 'libs/domain/src/events/public-event.ts'),
  set(
    'EventFamily',
    'namesOf',
    ['*', ...new Set(events.PUBLIC_EVENT_TYPES.map((type) => `${type.split('.', 1)[0] as string}.*`))],
    'libs/domain/src/webhooks/subscribed-events.ts',
  ),
  set(
    'DiagnosticCode',
    'POLICY_DIAGNOSTICS',
    Object.keys(policies.POLICY_DIAGNOSTICS),
    'libs/domain/src/policies/diagnostics.ts',
  ),
  set('OverviewWindow', 'OVERVIEW_WINDOWS', OVERVIEW_WINDOWS, 'apps/api/src/insights/overview-window.ts'),
  set('StatsWindow', 'STATS_WINDOWS', STATS_WINDOWS, 'apps/api/src/insights/stats-window.ts'),
  set('StatsBy', 'STATS_BY', Object.keys(STATS_BY), 'apps/api/src/insights/action-stats.ts'),
];

/** Closed sets that no code spells as a list: a type or a record of the one place that reads them is what knows them. */
export const TOLD_SETS: readonly string[] = [...['IntentReason', 'OrganizationStatus', 'PolicyRefusal', 'PolicyWord']];

const pattern = (schema: string | null, name: string, owned: RegExp, file: string): OwnedPattern => ({
  name,
  file,
  schema,
  pattern: owned,
});

export const OWNED_PATTERNS: readonly OwnedPattern[] = [
  pattern('Reference', 'REFERENCE_PATTERN', crypto.REFERENCE_PATTERN, 'libs/crypto/src/deed-schema.ts'),
  pattern('Digest', 'DIGEST_PATTERN', crypto.DIGEST_PATTERN, 'libs/crypto/src/digest.ts'),
  pattern('RuleId', 'RULE_ID_PATTERN', policies.RULE_ID_PATTERN, 'libs/domain/src/policies/policy-source.ts'),
  pattern(null, 'ID_PATTERN', crypto.ID_PATTERN, 'libs/crypto/src/ids.ts'),
  pattern(null, 'CURRENCY_PATTERN', crypto.CURRENCY_PATTERN, 'libs/crypto/src/deed-schema.ts'),
  pattern(null, 'HIDDEN_CHARACTERS', crypto.HIDDEN_CHARACTERS, 'libs/crypto/src/hidden-characters.ts'),
];

/** Limits that the document tells: where it tells them, and what their owners say. */
export const OWNED_LIMITS: readonly [path: string, limits: Readonly<Record<string, number>>][] = [
  ['schemas/ReasonText', { minLength: 1, maxLength: kernel.REASON_MAX_CHARACTERS }],
  ['schemas/SearchText', { minLength: Q_CHARACTERS.min, maxLength: Q_CHARACTERS.max }],
  ['schemas/ToolName', { minLength: 1, maxLength: crypto.MAX_TOOL_BYTES }],
  ['schemas/ToolGlob', { minLength: 1, maxLength: crypto.MAX_TOOL_BYTES }],
  ['parameters/Limit/schema', { minimum: 1, maximum: LIST_LIMIT_MAX, default: LIST_LIMIT_DEFAULT }],
  ['parameters/LedgerLimit/schema', { minimum: 1, maximum: LIST_LIMIT_MAX, default: LEDGER_LIST_LIMIT_DEFAULT }],
];
