import {
  boolean,
  type Checked,
  closed,
  digest,
  idOf,
  integer,
  list,
  matching,
  nullable,
  oneOf,
  text,
  timestamp,
} from './closed-schema.js';
import { KID_PATTERN } from './ed25519.js';

/** The first format of a deed body. Another format is another schema, never a change of this one. */
export const FIRST_DEED_VERSION = 'service.deed/1';

/** The format of deeds that hold salted commitments in place of plain digests. */
export const DEED_VERSION = 'service.deed/2';

/** A tool's full name has at most 200 bytes (rule FORM-4); a longer one is cut and says so. */
export const MAX_TOOL_BYTES = 200;

/** Sentences written by people and policies: reasons and messages. */
export const MAX_SENTENCE_BYTES = 4_096;

/** Machine words: codes, methods, rule ids, target ids. */
export const MAX_WORD_BYTES = 256;

export const MAX_WITNESS_REASONS = 32;

/** Of one approval; no rule requires as many. */
export const MAX_SIGNATURES = 64;

/**
 * The longest body. With every text at its limit and every character escaped a body stays below it, so a deed that the
 * schema admits is never refused for its length.
 */
export const MAX_DEED_BYTES = 262_144;

/** Of a person or a session, as an agent sent it (rule FORM-6). */
export const REFERENCE_PATTERN = /^[A-Za-z0-9._~:@/+=-]{1,256}$/;

/** ISO 4217, in lower case (rule FORM-3). */
export const CURRENCY_PATTERN = /^[a-z]{3}$/;

const UUID_PATTERN = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const STREAM_PATTERN = /^[a-z]+(?:-[A-Za-z0-9_-]{1,200})?$/;
const ADMIN_ACTION_PATTERN = /^[a-z][a-z_]{0,63}\.[a-z][a-z_]{0,63}$/;
const TARGET_TYPE_PATTERN = /^[a-z][a-z_]{0,63}$/;

const kid = matching(KID_PATTERN);
const word = text(MAX_WORD_BYTES);
const sentence = text(MAX_SENTENCE_BYTES);
const reference = matching(REFERENCE_PATTERN);

/** The event that this deed seals: an auditor finds it in the event log by these three. */
const source = closed({
  stream: matching(STREAM_PATTERN),
  revision: integer(0),
  event_id: matching(UUID_PATTERN),
});

/** The link to the deed before (null at seq 1 only) and the key that sealed this one. */
const chain = closed({ prev_hash: nullable(digest), kid });

const actorMembers = {
  type: oneOf('agent', 'user', 'admin_key', 'operator', 'system'),
  id: nullable(word),
} as const;

const actor = closed(actorMembers);

const who = closed({
  actor,
  agent: nullable(idOf('agt')),
  key: nullable(idOf('key')),
  on_behalf_of: nullable(reference),
  session: nullable(reference),
  intent_signed: nullable(boolean),
  intent_hash: nullable(digest),
});

const actionMembers = {
  id: idOf('act'),
  tool: text(MAX_TOOL_BYTES),
  tool_truncated: boolean,
  mode: oneOf('gateway', 'proxy'),
  livemode: boolean,
  connector: nullable(idOf('con')),
  tool_digest: nullable(digest),
  args_digest: digest,
  request_digest: digest,
  created_at: timestamp,
} as const;

const firstAction = closed(actionMembers);

/** `undo_of` is the action whose effect this one takes back. */
const action = closed({ ...actionMembers, undo_of: nullable(idOf('act')) });

const policy = closed({
  outcome: oneOf('allow', 'deny', 'require_approval'),
  code: nullable(word),
  source: oneOf('rule', 'default', 'budget', 'stop', 'builtin'),
  rule_id: nullable(word),
  reason: nullable(sentence),
  message: nullable(sentence),
  policy: nullable(idOf('pol')),
  policy_version: nullable(idOf('pv')),
  input_digest: nullable(digest),
  decided_at: timestamp,
});

/** `context_digest` is of what the person saw whose word ended it, or of what was to be seen at first where no person did. */
const approvalMembers = {
  id: idOf('apr'),
  status: oneOf('approved', 'denied', 'expired', 'cancelled'),
  required: integer(1),
  context_digest: digest,
  expires_at: timestamp,
  decided_at: timestamp,
} as const;

const firstApproval = closed({
  ...approvalMembers,
  countersigned: list(closed({ by: idOf('usr'), at: timestamp }), MAX_SIGNATURES),
  decided_by: nullable(actor),
});

/** What a person gave with a yes or a no: why, and the assertion of a passkey. */
const wordOfPerson = { reason: nullable(digest), assertion: nullable(digest) } as const;

const approval = closed({
  ...approvalMembers,
  countersigned: list(closed({ by: idOf('usr'), at: timestamp, context: digest, ...wordOfPerson }), MAX_SIGNATURES),
  decided_by: nullable(closed({ ...actorMembers, ...wordOfPerson })),
});

const executionMembers = {
  status: oneOf('succeeded', 'failed', 'unknown'),
  attempts: integer(0),
  error_code: nullable(word),
  result_digest: nullable(digest),
  started_at: nullable(timestamp),
  finished_at: timestamp,
} as const;

const firstExecution = closed(executionMembers);

const execution = closed({ ...executionMembers, first_sent_at: nullable(timestamp), message: nullable(digest) });

const witness = closed({
  level: oneOf('L0', 'L1', 'L2'),
  verdict: oneOf('VERIFIED', 'MISMATCH', 'UNVERIFIABLE'),
  method: word,
  reasons: list(word, MAX_WITNESS_REASONS),
  evidence_digest: nullable(digest),
});

/** Money in minor units of a lowercase ISO 4217 currency (rule FORM-3). */
const cost = closed({ amount: integer(0), currency: matching(CURRENCY_PATTERN) });

const admin = closed({
  action: matching(ADMIN_ACTION_PATTERN),
  target: closed({ type: matching(TARGET_TYPE_PATTERN), id: word }),
  reason: nullable(sentence),
  data_digest: nullable(digest),
});

/** The members that both formats have, in the order in which faults are reported. */
const common = {
  id: idOf('deed'),
  org: idOf('org'),
  seq: integer(1),
  kind: oneOf('action', 'amendment', 'admin'),
  issued_at: timestamp,
  source,
  chain,
  who,
} as const;

/** Every member of a deed body of format `service.deed/1`, in the order in which faults are reported. */
export const firstDeedSchema = closed({
  v: oneOf(FIRST_DEED_VERSION),
  ...common,
  action: nullable(firstAction),
  policy: nullable(policy),
  approval: nullable(firstApproval),
  execution: nullable(firstExecution),
  witness: nullable(witness),
  cost: nullable(cost),
  admin: nullable(admin),
});

/** Every member of a deed body of format `service.deed/2`. */
export const deedSchema = closed({
  v: oneOf(DEED_VERSION),
  ...common,
  action: nullable(action),
  policy: nullable(policy),
  approval: nullable(approval),
  execution: nullable(execution),
  witness: nullable(witness),
  cost: nullable(cost),
  admin: nullable(admin),
});

/** A deed body of format `service.deed/1`. Its member names are those of the sealed bytes. */
export type FirstDeedBody = Checked<typeof firstDeedSchema>;

/** A deed body of format `service.deed/2`. */
export type SaltedDeedBody = Checked<typeof deedSchema>;

/** A deed body of any format that there is: chains mix them. */
export type DeedBody = FirstDeedBody | SaltedDeedBody;
