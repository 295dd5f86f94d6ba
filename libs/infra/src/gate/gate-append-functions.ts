import type { AppendFunctions } from '#libs/infra/event-store';
import { payloadArrays } from './payload-arrays.js';

/**
 * The functions of the gate's schema that store payloads in the commit of an append (docs/adr/0011, docs/adr/0014), for
 * an event store in the same database.
 */
export const GATE_APPEND_FUNCTIONS: AppendFunctions = {
  withPayloads: {
    name: 'gate_append',
    text: 'select stream, is_recorded, revision, log_position from gate.append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)',
  },
  accompanied: {
    name: 'gate_append_accompanied',
    text: 'select stream, is_recorded, revision, log_position, is_accompanied from gate.append_accompanied($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)',
  },
  payloadArrays,
};
