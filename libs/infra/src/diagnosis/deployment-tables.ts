type TablePrivilege = 'select' | 'insert' | 'update' | 'delete' | 'truncate';

/** Rows that are written once and stay. */
const KEPT = ['select', 'insert'] as const;
const REPLACED = [...KEPT, 'update'] as const;
const REMOVED = [...KEPT, 'delete'] as const;
const ANY = [...REPLACED, 'delete'] as const;
/** Of a projection that folds the log anew, all rows go at once. */
const PROJECTED = [...REPLACED, 'truncate'] as const;

/**
 * Every table of a prepared deployment, read models included, and what the statements of the service and of its commands
 * need there. The log is only ever appended to.
 */
export const DEPLOYMENT_TABLES: Readonly<Record<string, readonly TablePrivilege[]>> = {
  'agents.first_organization': KEPT,
  'agents.key_prefixes': REPLACED,
  'agents.pepper_check': KEPT,
  'connectors.decoders': ANY,
  'connectors.health': ANY,
  'connectors.tool_definitions': ANY,
  'event_store.event_store_schema': KEPT,
  'event_store.events': KEPT,
  'gate.approval_places': ANY,
  'gate.budget_counters': ANY,
  'gate.budget_reservations': ANY,
  'gate.checkpoint': ANY,
  'gate.due_actions': ANY,
  'gate.intent_nonces': ANY,
  'gate.liveness': ANY,
  'gate.open_executions': ANY,
  'gate.payload_salts': REMOVED,
  'gate.payloads': REMOVED,
  'gate.retention': REPLACED,
  'idempotency.request': ANY,
  'ledger.broken_ledgers': REMOVED,
  'ledger.checkpoint_keys': KEPT,
  'ledger.frontiers': ANY,
  'ledger.low_water': REPLACED,
  'ledger.parked': ANY,
  'ledger.seal_keys': KEPT,
  'ledger.tiles': ANY,
  'ledger.witness_disputes': KEPT,
  'ledger.witness_standings': ANY,
  'people.approval_links': ANY,
  'people.code_misses': ANY,
  'people.ended_sessions': REMOVED,
  'people.mail_orders': REMOVED,
  'people.mailed_approvals': REMOVED,
  'people.outbox': ANY,
  'people.passkey_challenges': REMOVED,
  'people.passkey_mails': KEPT,
  'people.passkeys': ANY,
  'people.people': ANY,
  'people.sessions': ANY,
  'people.tokens': ANY,
  'people.user_orgs': ANY,
  // Replaced by `migrate events`.
  'public.known_event_store': REPLACED,
  'public.vault_key_check': KEPT,
  'public.vault_secrets': ANY,
  'read_models.actions': PROJECTED,
  'read_models.agents': PROJECTED,
  'read_models.approvals': PROJECTED,
  'read_models.briefed_actions': PROJECTED,
  'read_models.briefed_connectors': [...PROJECTED, 'delete'],
  'read_models.checkpoints': PROJECTED,
  'read_models.cosignatures': PROJECTED,
  'read_models.connectors': [...PROJECTED, 'delete'],
  'read_models.deeds': PROJECTED,
  'read_models.hourly_counts': [...PROJECTED, 'delete'],
  'read_models.hourly_totals': [...PROJECTED, 'delete'],
  'read_models.migrations': KEPT,
  'read_models.policies': PROJECTED,
  'read_models.policy_slots': PROJECTED,
  'read_models.policy_versions': PROJECTED,
  'read_models.projection_checkpoints': REPLACED,
  'read_models.public_event_floors': REPLACED,
  'read_models.public_events': [...PROJECTED, 'delete'],
  'read_models.security_events': PROJECTED,
  'replays.replays': ANY,
  'schema_steps.applied': REPLACED,
  'webhooks.checkpoint': REPLACED,
  'webhooks.deliveries': ANY,
  'webhooks.endpoints': REPLACED,
};

/** @param hasLog whether the log is in this database, too */
export const tablesOf = (hasLog: boolean): readonly string[] =>
  Object.keys(DEPLOYMENT_TABLES).filter((name) => hasLog || !name.startsWith('event_store.'));
