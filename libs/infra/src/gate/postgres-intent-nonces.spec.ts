import { intentNoncesContract } from '../../../../test/contracts/intent-nonces.contract.js';
import { tableRows } from '../../../../test/support/table-rows.js';
import { PostgresIntentNonces } from './postgres-intent-nonces.js';

intentNoncesContract('postgres', () => tableRows('gate.intent_nonces', (pool) => new PostgresIntentNonces(pool)));
