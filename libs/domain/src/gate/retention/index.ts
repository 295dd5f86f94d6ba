export { type PayloadName, payloadsNamedBy } from './named-payload.js';
export { type NamedPayload, PayloadComparison, type PayloadFault } from './payload-comparison.port.js';
export { type PayloadPage, type PayloadRow, PayloadRows } from './payload-rows.port.js';
export { PayloadSweeper, type SweptPage } from './payload-sweeper.js';
