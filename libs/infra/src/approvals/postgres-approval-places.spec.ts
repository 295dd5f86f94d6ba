import { approvalPlacesContract } from '../../../../test/contracts/approval-places.contract.js';
import { tableRows } from '../../../../test/support/table-rows.js';
import { PostgresApprovalPlaces } from './postgres-approval-places.js';

approvalPlacesContract('postgres', () => tableRows('gate.approval_places', (pool) => new PostgresApprovalPlaces(pool)));
